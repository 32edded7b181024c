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
};

void reference_tick(struct reference *);

#endif
