/* What the files of this room share. */
#ifndef GALVO_TRACK_INTERNAL_H
#define GALVO_TRACK_INTERNAL_H

#include <pthread.h>

#include "track.h"

#define BUCKETS 1024

enum { MAX_PROCESSES = 1 << 16, FEWEST_PROCESSES = 8, WHY_BYTES = 128, MAX_TEXT = 1 << 20 };

struct identity {
	uint32_t pid;
	uint64_t start_ticks;
};

/* A new process that nobody we follow has forked, as far as is known. */
struct stranger {
	uint32_t pid, ppid;
};

/* What the kernel has told, and what became of it. */
struct seen {
	uint64_t forks, short_children, late_children, short_without_totals, put_off, lost, longest_scan_ns;
	struct exit_account short_used;
};

struct track {
	struct track_config config;
	size_t max;
	struct fd_budget fds;
	int epoll_fd;               /* every pidfd */
	_Atomic uint64_t generation;
	/* For whoever cannot wait: a reading under the lock may hang in the kernel. */
	pthread_mutex_t counted_lock;
	struct track_counts counted; /* the last time that was asked */
	pthread_mutex_t lock;       /* guards all below */
	size_t own_fds;             /* of identities, out of the budget: files that are kept give way */
	struct tracked **list;      /* in order of serial; ended ones until they are released */
	size_t len, cap, alive, roots_alive;
	uint64_t last_serial;
	struct tracked *buckets[BUCKETS]; /* living ones by pid */
	struct tracked *free_list;
	struct identity *ignored;
	size_t ignored_len, ignored_cap;
	struct identity *refused;   /* descendants there was no room for */
	size_t refused_len, refused_cap;
	_Atomic(struct kernel_events *) kernel; /* set once; NULL: files tell who is new */
	bool has_refused, refused_are_more;
	bool must_walk;             /* at the next scan, whatever was forked */
	bool has_unwalked;          /* something was forked since the last walk */
	bool kernel_was_tried;
	bool follows, follows_tree; /* anybody's descendants; and theirs */
	bool keeps_io;              /* we may not open the files of zombies */
	bool is_behind;             /* the last scan was: the lead's own, as is the next one */
	bool admits_all;            /* the last scan, however long it takes: the lead's own, too */
	char why_no_events[WHY_BYTES], why_no_exits[WHY_BYTES];
	struct seen seen;
	uint64_t polled_mono_ns;    /* the last look at ends began */
	uint64_t alive_mono_ns;     /* whoever ends now was alive then */
	_Atomic uint64_t quiet_mono_ns; /* whoever is not marked to have ended was alive then */
	uint64_t start_ticks;       /* who started then or later was born in the recording */
	struct tracked **zombies;   /* ended, nobody has waited for them yet; a reference each */
	size_t zombies_len, zombies_cap;
	struct tracked **untold;    /* ended, and not given to all streams yet; a reference each */
	size_t untold_len, untold_cap;
	/* of whoever holds the lock */
	struct buf text;
	/* the lead's own */
	uint64_t scanned_mono_ns;
	uint64_t admit_left_ns;  /* for those that are new */
	struct kept loadavg;
	struct buf children;     /* and other files that are read without the lock */
	uint32_t *turns;         /* candidates of this scan */
	size_t turns_cap;
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
/* As many as may be are followed, or those that ended have the descriptors still. */
bool track_is_full(const struct track *t);
/* NULL: no room. It is published, with room for it, or recycled. */
struct tracked *track_new_entry(struct track *t);
bool track_make_room(struct track *t);
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
	bool at_once; /* not when a later scan has time */
	const char *alias;
};
/*
 * The lock is given up while files of it are read, which takes as long as an exec of it does. DONE: it is
 * not to join, or somebody else has let it in meanwhile. STATE: a descendant, amid an exec.
 */
galvo_status track_admit(struct track *t, const struct newcomer *who, uint64_t mono_ns,
                         galvo_error *reterr);
/* The same for a descendant; one that finds no room is counted. STATE: it waits for a later scan. */
galvo_status track_admit_child(struct track *t, const struct newcomer *who, uint64_t mono_ns);
/* Whose child it is has its descendants followed: how the child is to be. */
bool track_is_wanted(struct track *t, uint32_t ppid, struct newcomer *ret);
void track_set_follow(struct track *t, struct tracked *e, enum follow follow);
/* As its child is: for those of `e`, or orphans where that is NULL. False: they are not wanted. */
bool track_child_of(const struct track *t, const struct tracked *e, struct newcomer *ret);
/*
 * Finds descendants: all there are, or those that were forked since the last time. The lock is given up
 * now and then, so that others come and go.
 */
void track_walk(struct track *t, uint64_t mono_ns);
void track_look(struct track *t, uint64_t mono_ns, bool is_whole);
/* It is for these streams too, but those it was taken from. */
void track_widen(struct track *t, struct tracked *e, uint32_t streams);
bool track_has_exited(const struct tracked *e);
/* The stat file of a process that is not followed; not under the lock. */
galvo_status track_read_stat_of(const struct world *w, uint32_t pid, struct buf *into,
                                struct process_stat *ret);
/* Whoever has ended until now is marked so: before others are, who may have waited for them. */
void track_notice(struct track *t);
/* There is a stream which is to record it, and does not know of it. */
bool track_is_untold(const struct track *t, const struct tracked *e);
/* comm and command as they are now; what cannot be read stays as it was. False: no command. */
bool track_read_names(const struct track *t, struct tracked *e, struct buf *into);
void track_take_name(const struct track *t, struct tracked *e, struct span comm);
/* Of those whose turn it is, so many at once that no scan is long because of them; or of all. */
void track_renew_names(struct track *t, uint64_t mono_ns, bool all);
void track_ignore(struct track *t, uint32_t pid, uint64_t start_ticks);
/* What is the adopter's child already is no orphan of the tree, unless it is added by name. */
void track_ignore_children(struct track *t, uint32_t pid);
/* Of one that has ended, or was let go, and that nobody reads any more. */
void track_let_files_go(struct track *t, struct tracked *e);
/* For threads that are not the lead's: false after a second. */
bool track_lock_soon(struct track *t);
static inline void track_count_files(struct track *t, size_t n)
{
	fd_budget_add(&t->fds, n);
	t->own_fds += n;
}
void track_drop_files(struct track *t, struct tracked *e);

/* ---- books.c, under the lock too ----------------------------------------------------------------- */

/* What a source tells of a zombie, which waits for nobody any more; `now` is spoilt. */
void books_enter_last(const struct track *t, struct tracked *e, const struct source *source,
                      struct raw *now);
/* There will be no more readings. */
void books_finish(const struct track *t, struct tracked *e);
/* What wait4 said of it. */
void books_enter_wait(struct tracked *e, const struct process_end *end);
/* Nobody will wait for it any more: its parent's account learns of it, or it is lost to that. */
void books_settle(struct track *t, struct tracked *e, bool is_lost);
void books_set_parent(struct track *t, struct tracked *e, struct tracked *parent);
/* It has another parent now, who will wait for it; the one that forked it stays what info tells. */
void books_move(struct track *t, struct tracked *e, uint32_t ppid);
/* All that it used by itself, but for the very end, as the kernel told when it exited. */
void books_enter_exit(struct track *t, struct tracked *e, const struct exit_account *x);
void books_tell(const struct tracked *e, struct usage usage[USAGE_END]);

/* ---- ends.c, under the lock too ------------------------------------------------------------------ */

/* A process joins: whose child it is, and what of it will be read when it has ended. */
void books_open(struct track *t, struct tracked *e);
/* It has ended: a last look at what is left of it, and its parent's account learns of it. */
void books_close(struct track *t, struct tracked *e);
/* The one that has this number now and that nobody has waited for yet; or NULL. */
struct tracked *books_find_zombie(struct track *t, uint32_t pid);
/* Zombies that were waited for meanwhile. */
void books_settle_zombies(struct track *t);
/* This is one that has ended before. */
bool books_has_ended(const struct track *t, const struct tracked *e);

/* ---- what the kernel tells by itself: births.c --------------------------------------------------- */

/*
 * Before the first process whose descendants are wanted is followed, under the lock: each fork on the
 * machine costs a little while somebody listens. Where it does not work, the reason is kept.
 */
void kernel_begin(struct track *t);
void kernel_finish(struct track *t);
void kernel_read(struct track *t, uint64_t mono_ns); /* what has come; not under the lock */
/* Admits who has come and is still there. False: the kernel does not tell, so files have to. */
bool kernel_look(struct track *t, uint64_t mono_ns);
/* More may come of what has ended; or no more, the recording is over. */
void kernel_has_ended(struct track *t, struct tracked *e);
void kernel_settle(struct track *t);
/* How it ended, where nobody who waited for it has said so. */
void kernel_tell(const struct tracked *e, struct process_end *end);
#endif
