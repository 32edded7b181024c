/* Loops that take a measurement: tight, and paced by deadlines as a sampler is. */
#include "measure.h"

#include <math.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { NICE = -10 };

void figures_put(struct figures *f, double v)
{
	if (f->len < ROUNDS_MAX)
		f->at[f->len++] = v;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double figures_median(const struct figures *f)
{
	struct figures sorted = *f;

	if (!f->len)
		return NAN;
	qsort(sorted.at, sorted.len, sizeof(sorted.at[0]), by_size);
	return (sorted.at[(sorted.len - 1) / 2] + sorted.at[sorted.len / 2]) / 2;
}

uint64_t cpu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void measure_settle(void)
{
	cpu_set_t may, one;
	size_t i;

	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, NICE);
	if (sched_getaffinity(0, sizeof(may), &may) != 0)
		return;
	for (i = CPU_SETSIZE - 1; i > 0 && !CPU_ISSET(i, &may); i--)
		;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

double measure_hot_us(const struct work *work, size_t ticks)
{
	uint64_t from;
	size_t i;

	work->tick(work->ctx);
	from = cpu_now_ns();
	for (i = 0; i < ticks; i++)
		work->tick(work->ctx);
	return (double)(cpu_now_ns() - from) / 1e3 / (double)ticks;
}

double measure_paced_us(const struct work *work, size_t ticks, uint64_t period_ns, uint64_t *missed)
{
	const struct clock *clock = &clock_real;
	uint64_t deadline_ns = clock->mono_ns(clock) + period_ns, from = 0, late;
	_Atomic uint32_t stop = 0;
	size_t i;

	for (i = 0; i <= ticks; i++) {
		uint64_t now_ns;

		clock->sleep_until(clock, deadline_ns, &stop);
		work->tick(work->ctx);
		if (i == 0)
			from = cpu_now_ns(); /* the first one warms up */
		deadline_ns += period_ns;
		now_ns = clock->mono_ns(clock);
		late = now_ns < deadline_ns ? 0 : (now_ns - deadline_ns) / period_ns + 1;
		deadline_ns += late * period_ns;
		*missed += late;
	}
	return (double)(cpu_now_ns() - from) / 1e3 / (double)ticks;
}

void measure_sleep(uint64_t ns)
{
	_Atomic uint32_t stop = 0;

	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ns, &stop);
}
