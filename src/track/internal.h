/* What the files of this room share. */
#ifndef GALVO_TRACK_INTERNAL_H
#define GALVO_TRACK_INTERNAL_H

#include <pthread.h>

#include "track.h"

#define BUCKETS 1024

struct ignored {
	uint32_t pid;
	uint64_t start_ticks;
};

struct track {
	struct track_config config;
	size_t max;
	int epoll_fd;               /* every pidfd */
	_Atomic uint64_t generation;
	pthread_mutex_t lock;       /* guards all below */
	struct tracked **list;      /* in order of serial; ended ones until they are released */
	size_t len, cap, alive, roots_alive;
	uint64_t last_serial, refused;
	struct tracked *buckets[BUCKETS]; /* living ones by pid */
	struct tracked *free_list;
	struct ignored *ignored;
	size_t ignored_len, ignored_cap;
	bool ended_since_scan;      /* a number may be used again without a fork we see: scan */
	/* of whoever holds the lock */
	struct buf text;
	/* the lead's own */
	struct kept loadavg;
	struct buf children;
	uint64_t last_fork;
	size_t names_at; /* in the list: whose names are renewed next */
};

/* All of these under the lock. */
struct tracked *track_find(struct track *t, uint32_t pid);
galvo_status track_admit(struct track *t, uint32_t pid, bool root, const char *alias,
                         uint32_t streams, uint64_t mono_ns, galvo_error *reterr);
/* It is for these streams too, but those it was taken from. */
void track_widen(struct track *t, struct tracked *e, uint32_t streams);
bool track_has_exited(const struct tracked *e);
/* comm and command as they are now; what cannot be read stays as it was. False: no command. */
bool track_read_names(struct track *t, struct tracked *e);
/* The names of those whose turn it is, so many at once that no scan is long because of them. */
void track_renew_some(struct track *t, uint64_t mono_ns);
void track_ignore(struct track *t, uint32_t pid, uint64_t start_ticks);
/* What is the adopter's child already is no orphan of the tree, unless it is added by name. */
void track_ignore_children(struct track *t, uint32_t pid);
void track_drop_files(struct tracked *e);

#endif
