/* What the files of this room share. */
#ifndef GALVO_TRACK_INTERNAL_H
#define GALVO_TRACK_INTERNAL_H

#include <pthread.h>

#include "track.h"

#define BUCKETS 1024

enum { MAX_PROCESSES = 1 << 16 };

struct identity {
	uint32_t pid;
	uint64_t start_ticks;
};

/* A new process that nobody we follow has forked, as far as is known. */
struct stranger {
	uint32_t pid, ppid;
};

struct track {
	struct track_config config;
	size_t max;
	int epoll_fd;               /* every pidfd */
	_Atomic uint64_t generation;
	pthread_mutex_t lock;       /* guards all below */
	struct tracked **list;      /* in order of serial; ended ones until they are released */
	size_t len, cap, alive, roots_alive;
	uint64_t last_serial;
	struct tracked *buckets[BUCKETS]; /* living ones by pid */
	struct tracked *free_list;
	struct identity *ignored;
	size_t ignored_len, ignored_cap;
	struct identity *refused;   /* descendants there was no room for */
	size_t refused_len, refused_cap;
	bool has_refused, refused_are_more;
	bool must_walk;             /* at the next scan, whatever was forked */
	bool follows, follows_tree; /* anybody's descendants; and theirs */
	uint64_t polled_mono_ns;    /* the last look at ends began */
	uint64_t start_ticks;       /* who started then or later was born in the recording */
	bool keeps_io;              /* we may not open the files of zombies */
	struct tracked **zombies;   /* ended, nobody has waited for them yet; a reference each */
	size_t zombies_len, zombies_cap;
	struct tracked **untold;    /* ended, and not given to all streams yet; a reference each */
	size_t untold_len, untold_cap;
	/* of whoever holds the lock */
	struct buf text;
	/* the lead's own */
	struct kept loadavg;
	struct buf children;
	uint64_t last_fork;      /* the newest number at the last scan; 0: not known */
	uint64_t look_from;      /* numbers from here on are due for a second look; 0: none */
	uint64_t walked_mono_ns;
	size_t asked;            /* children files read by the last walk */
	struct stranger *strangers;
	size_t strangers_len, strangers_cap;
	size_t names_at; /* in the list: whose names are renewed next */
};

/* All of these under the lock. */
struct tracked *track_find(struct track *t, uint32_t pid);
/* NULL: no room. It is published, or recycled. */
struct tracked *track_new_entry(struct track *t);
void track_publish(struct track *t, struct tracked *e);
void track_recycle(struct track *t, struct tracked *e);
/* The process has ended, or is let go: it leaves when the last sampler has released it. */
void track_end(struct track *t, struct tracked *e, bool has_exited);
void track_unref(struct track *t, struct tracked *e);
/* What joins: named, or found below another one. */
struct newcomer {
	uint32_t pid, streams;
	enum follow follow;
	bool is_root;
	const char *alias;
};
galvo_status track_admit(struct track *t, const struct newcomer *who, uint64_t mono_ns,
                         galvo_error *reterr);
/* The same for a descendant; one that finds no room is counted. */
void track_admit_child(struct track *t, const struct newcomer *who, uint64_t mono_ns);
/* Whose child it is has its descendants followed: how the child is to be. */
bool track_is_wanted(struct track *t, uint32_t ppid, struct newcomer *ret);
void track_set_follow(struct track *t, struct tracked *e, enum follow follow);
/* As its child is: for those of `e`, or orphans where that is NULL. False: they are not wanted. */
bool track_child_of(const struct track *t, const struct tracked *e, struct newcomer *ret);
/* Finds descendants: all there are, or those that were forked since the last time. */
void track_walk(struct track *t, uint64_t mono_ns);
void track_look(struct track *t, uint64_t mono_ns, bool is_whole);
/* It is for these streams too, but those it was taken from. */
void track_widen(struct track *t, struct tracked *e, uint32_t streams);
bool track_has_exited(const struct tracked *e);
/* There is a stream which is to record it, and does not know of it. */
bool track_is_untold(const struct track *t, const struct tracked *e);
/* comm and command as they are now; what cannot be read stays as it was. False: no command. */
bool track_read_names(struct track *t, struct tracked *e);
/* Of those whose turn it is, so many at once that no scan is long because of them; or of all. */
void track_renew_names(struct track *t, uint64_t mono_ns, bool all);
void track_ignore(struct track *t, uint32_t pid, uint64_t start_ticks);
/* What is the adopter's child already is no orphan of the tree, unless it is added by name. */
void track_ignore_children(struct track *t, uint32_t pid);
void track_drop_files(struct tracked *e);

/* ---- books.c, under the lock too ----------------------------------------------------------------- */

/* A process joins: whose child it is, and what of it will be read when it has ended. */
void books_open(struct track *t, struct tracked *e);
/* It has ended: a last look at what is left of it, and its parent's account learns of it. */
void books_close(struct track *t, struct tracked *e);
/* It has another parent now, who will wait for it; the one that forked it stays what info tells. */
void books_move(struct track *t, struct tracked *e, uint32_t ppid);
/* Zombies that were waited for meanwhile. */
void books_settle_zombies(struct track *t);
void books_tell(const struct tracked *e, struct usage usage[USAGE_END]);

#endif
