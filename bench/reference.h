/* What galvo is measured against: every file opened, read and closed at each tick, and scanned. */
#ifndef GALVO_BENCH_REFERENCE_H
#define GALVO_BENCH_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct reference {
	const pid_t *pids;
	size_t pids_len;
	bool has_threads; /* also each thread of each process, as tools with a row a thread do */
	double sum;       /* of all that was read, so that nothing is optimised away */
	/* of reference_track alone */
	size_t tick, tasks_len, tasks_cap;
	struct reference_task *tasks;
};

struct reference_task {
	pid_t pid, tid;
};

void reference_tick(struct reference *);
/*
 * The same for a tool that follows processes with all of their threads: stat, status and io of each
 * process, stat and schedstat of each thread; at every 10th tick the threads are listed and the whole
 * of /proc is looked through for children.
 */
void reference_track(struct reference *);
void reference_finish(struct reference *);

#endif
