/* What a run of bench/tick finds, and the tables it is shown in. */
#ifndef GALVO_BENCH_TICK_H
#define GALVO_BENCH_TICK_H

#include "base/base.h"
#include "scan.h"

enum way { NOTHING, FLOOR_SYSTEM, FLOOR_FULL, SYSTEM, FULL, REFERENCE, THREADS, WAYS };

enum { MODES_MAX = 3 };

/* The processes of one block of the table, and how often they are looked at. */
struct population {
	size_t processes, threads;
	unsigned hz[MODES_MAX]; /* 0: hot */
	size_t hot_rounds, paced_rounds;
	bool is_quick;          /* measured by --quick too */
};

/* What one block found: µs of CPU a tick. */
struct result {
	const struct population *of;
	unsigned hz;
	double us[WAYS];
	uint64_t missed[WAYS];
};

/* What one look for descendants costs. */
struct scan {
	const struct population *of;
	struct scan_us us;
};

void print_head(void);
void print_result(const struct result *);
void print_scans(const struct scan *, size_t len);
/* Ratios against their targets. */
void print_verdicts(const struct result *, size_t len);

#endif
