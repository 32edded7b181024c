/* Sleeping processes to follow: made for a measurement, gone with it. */
#ifndef GALVO_BENCH_CHILDREN_H
#define GALVO_BENCH_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct children {
	pid_t *pids;
	size_t len;
};

/* Forks `n` processes of `threads` threads each, all asleep. Before the caller has threads. */
bool children_start(struct children *, size_t n, size_t threads);
/* Kills and reaps them. */
void children_stop(struct children *);

#endif
