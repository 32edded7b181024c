/* What readings of GPUs may cost: CPU time as the budget has it, and a part of each GPU's time. */
#include "telemetry_internal.h"

enum { DIVISOR_MAX = 1 << 12 };
#define SLOWEST_FAST_NS NS_PER_S
#define SLOWEST_NS (10 * NS_PER_S)

static double period_of(const struct telemetry *t, unsigned g, uint32_t divisor)
{
	return (double)t->groups[g].period_ticks * divisor * (double)t->config.period_ns;
}

static bool can_slow(const struct telemetry *t, unsigned g, uint32_t divisor)
{
	uint64_t slowest_ns = g == GPU_FAST || g == GPU_LINK ? SLOWEST_FAST_NS : SLOWEST_NS;

	return divisor < DIVISOR_MAX && period_of(t, g, divisor) * 2 <= (double)slowest_ns;
}

/* Of all GPUs, as a part of one CPU. */
static double cpu_share(const struct telemetry *t, unsigned g, uint32_t divisor)
{
	uint64_t cpu_ns = 0;
	size_t i;

	for (i = 0; i < t->units_len; i++)
		cpu_ns += t->units[i]->mean_cpu_ns[g];
	return (double)cpu_ns / period_of(t, g, divisor);
}

/*
 * Of that GPU's thread which is busiest with it. Calls may wait for the GPU: what is read most often must
 * find the thread idle when its turn comes.
 */
static double thread_share(const struct telemetry *t, unsigned g, uint32_t divisor)
{
	uint64_t most_ns = 0;
	size_t i;

	for (i = 0; i < t->units_len; i++)
		if (t->units[i]->mean_ns[g] > most_ns)
			most_ns = t->units[i]->mean_ns[g];
	return (double)most_ns / period_of(t, g, divisor);
}

/* What is read most often may take half of it, the others a quarter each … */
static double thread_limit(unsigned g)
{
	return g == GPU_FAST ? 0.5 : 0.25;
}

/* … and half of it together: else what is read most often seldom finds it idle. */
static void share_thread(const struct telemetry *t, double limit, uint32_t divisor[GPU_GROUPS])
{
	double sum, most, share;
	unsigned g, slowest;

	do {
		sum = most = 0;
		slowest = GPU_GROUPS;
		for (g = 0; g < GPU_GROUPS; g++) {
			share = g == GPU_FAST ? 0 : thread_share(t, g, divisor[g]);
			sum += share;
			if (share > most && can_slow(t, g, divisor[g])) {
				most = share;
				slowest = g;
			}
		}
		if (sum > limit && slowest < GPU_GROUPS)
			divisor[slowest] *= 2;
	} while (sum > limit && slowest < GPU_GROUPS);
}

/* With `part` of what there is. */
static void choose(const struct telemetry *t, double part, uint32_t divisor[GPU_GROUPS])
{
	double sum, most, share, limit = t->config.budget_pct / 100 * part;
	unsigned g, dearest;

	for (g = 0; g < GPU_GROUPS; g++)
		for (divisor[g] = 1; thread_share(t, g, divisor[g]) > thread_limit(g) * part &&
		                     can_slow(t, g, divisor[g]);)
			divisor[g] *= 2;
	share_thread(t, 0.5 * part, divisor);
	do {
		sum = most = 0;
		dearest = GPU_GROUPS;
		for (g = 0; g < GPU_GROUPS; g++) {
			share = cpu_share(t, g, divisor[g]);
			sum += share;
			if (share > most && can_slow(t, g, divisor[g])) {
				most = share;
				dearest = g;
			}
		}
		if (limit > 0 && sum > limit && dearest < GPU_GROUPS)
			divisor[dearest] *= 2;
	} while (limit > 0 && sum > limit && dearest < GPU_GROUPS);
}

static void publish(struct telemetry *t)
{
	uint64_t largest = 0, bits = 0;
	unsigned g;

	for (g = 0; g < GPU_GROUPS; g++) {
		if (t->groups[g].divisor <= 1)
			continue;
		bits |= UINT64_C(1) << g;
		largest = t->groups[g].divisor > largest ? t->groups[g].divisor : largest;
	}
	atomic_store_explicit(&t->slowed, largest << 32 | bits, memory_order_relaxed);
}

void telemetry_judge(struct telemetry *t)
{
	uint32_t tight[GPU_GROUPS], loose[GPU_GROUPS];
	unsigned g;

	t->judged_mono_ns = telemetry_now(t);
	choose(t, 1, tight);
	/* Faster again only with room to spare, or a cost near the limit would swing. */
	choose(t, 0.7, loose);
	for (g = 0; g < GPU_GROUPS; g++) {
		struct group *group = &t->groups[g];

		if (tight[g] > group->divisor)
			group->divisor = tight[g];
		else if (loose[g] < group->divisor)
			group->divisor = loose[g];
		if (group->divisor > group->largest_divisor)
			group->largest_divisor = group->divisor;
	}
	publish(t);
}

uint32_t telemetry_slowed(const struct telemetry *t, char *names, size_t cap)
{
	uint64_t slowed = atomic_load_explicit(&t->slowed, memory_order_relaxed);
	size_t at = strnlen(names, cap);
	unsigned g;

	for (g = 0; g < GPU_GROUPS; g++)
		if (at < cap && slowed >> g & 1)
			at += (size_t)snprintf(names + at, cap - at, "%s%s", at ? ", " : "",
			                       gpu_sources[g]->name);
	return slowed ? (uint32_t)(slowed >> 32) : 1;
}
