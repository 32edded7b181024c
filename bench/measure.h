/* Clocks of a measurement, loops that take it, and medians. */
#ifndef GALVO_BENCH_MEASURE_H
#define GALVO_BENCH_MEASURE_H

#include "base/base.h"

enum { ROUNDS_MAX = 64 };

/* One figure a round. */
struct figures {
	double at[ROUNDS_MAX];
	size_t len;
};

void figures_put(struct figures *, double);
double figures_median(const struct figures *); /* NaN: none */

/* Something that is measured tick by tick. */
struct work {
	void (*tick)(void *ctx);
	void *ctx;
};

uint64_t cpu_now_ns(void); /* CPU time of this process, all of its threads */
/* One CPU for this thread and those it makes, the first priority we may have, sharp timers. */
void measure_settle(void);
/* CPU time of one tick, in µs: `ticks` of them in a tight loop. */
double measure_hot_us(const struct work *, size_t ticks);
/*
 * The same with a deadline for each tick, the wake included. Deadlines that had passed when a tick
 * was over are skipped and added to *missed.
 */
double measure_paced_us(const struct work *, size_t ticks, uint64_t period_ns, uint64_t *missed);

void measure_sleep(uint64_t ns);

#endif
