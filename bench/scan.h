/* What one look for new descendants costs. */
#ifndef GALVO_BENCH_SCAN_H
#define GALVO_BENCH_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Names of young processes are read more often: so long after their start they are settled. */
#define SETTLE_NS (1100 * NS_PER_MS)

/* In us of CPU: while nothing was forked on the machine, and after something was. */
struct scan_us {
	double idle, forked;
};

bool scan_measure(const pid_t *pids, size_t pids_len, struct scan_us *ret);

#endif
