/* The budget: what costs too much is done at every n-th of its turns only. */
#include <math.h>

#include "internal.h"

enum {
	DIVISOR_MAX = 1 << 12,
	CLIP = 4, /* a reading this many times the mean was most likely interrupted */
};
/* Nothing is slowed beyond one reading a second, but what grows with processes where they are many. */
#define SLOWEST_NS NS_PER_S
#define SLOWEST_OF_MANY_NS (NS_PER_S * 10)
#define THREADS_SHARE (1.0 / 3) /* of the budget, at most */

void budget_account(struct pen *pen, uint64_t took_ns)
{
	if (pen->mean_ns == 0) {
		pen->mean_ns = took_ns;
		return;
	}
	if (took_ns > pen->mean_ns * CLIP)
		took_ns = pen->mean_ns * CLIP;
	pen->mean_ns = (pen->mean_ns * 15 + took_ns) / 16;
}

/*
 * Readings are timed by the wall, as that costs next to nothing. Where others want the CPU too, or it
 * is taken away, they last longer than they work: what part of it was work is known for all of them
 * together.
 */
static double cpu_of(const struct probe *p, const struct lane *lane)
{
	return lane == &p->follow_lane || p->cpu_of_wall <= 0 ? 1 : p->cpu_of_wall;
}

/* All that the thread did counts, so it is rather too much. */
static void weigh(struct probe *p)
{
	uint64_t cpu_ns = probe_cpu_ns(p);
	double part;

	if (p->judged_cpu_ns && cpu_ns > p->judged_cpu_ns && p->read_ns) {
		part = (double)(cpu_ns - p->judged_cpu_ns) / (double)p->read_ns;
		part = part < 1 ? part : 1;
		p->cpu_of_wall = p->cpu_of_wall > 0 ? (p->cpu_of_wall * 3 + part) / 4 : part;
	}
	p->judged_cpu_ns = cpu_ns;
	p->read_ns = 0;
}

static double share(const struct probe *p, const struct lane *lane, uint32_t divisor)
{
	uint64_t cost_ns = 0;
	size_t i;

	for (i = 0; i < lane->pens_len; i++)
		cost_ns += lane->pens[i]->mean_ns;
	return cpu_of(p, lane) * (double)cost_ns /
	       ((double)lane->period_ticks * divisor * (double)p->config.period_ns);
}

/* Following comes behind the lanes. */
static struct lane *lane_at(struct probe *p, size_t i)
{
	return i < p->lanes_len ? &p->lanes[i] : &p->follow_lane;
}

static bool is_per_process(const struct probe *p, const struct lane *lane)
{
	return lane == &p->follow_lane || is_in_slices(lane->pens[0]);
}

static bool can_slow(const struct probe *p, const struct lane *lane, uint32_t divisor)
{
	uint64_t period_ns = lane->period_ticks * divisor * p->config.period_ns;
	size_t things = lane == &p->follow_lane ? p->living : pen_things(p, lane->pens[0]);
	bool are_many = things >= MANY && is_per_process(p, lane);

	return divisor < DIVISOR_MAX && period_ns * 2 <= (are_many ? SLOWEST_OF_MANY_NS : SLOWEST_NS);
}

static bool is_of_threads(const struct lane *lane)
{
	return lane->pens[0]->source->shape == SHAPE_THREAD;
}

/* There may be any number of threads, and the rest is worth more: they give way first, to a point. */
static bool goes_first(const struct probe *p, const struct lane *lane, uint32_t divisor)
{
	return is_of_threads(lane) &&
	       lane->period_ticks * divisor * p->config.period_ns * 2 <= SLOWEST_NS;
}

/* What is above the limit at its slowest is slowed, and no reason to slow the others, which cannot help. */
static bool is_hopeless(const struct probe *p, const struct lane *lane, double limit)
{
	uint32_t divisor = 1;

	while (can_slow(p, lane, divisor))
		divisor *= 2;
	return share(p, lane, divisor) > limit;
}

/* Divisors that bring the sum of shares below `limit`: the dearest gives first. */
static void choose(struct probe *p, double limit, uint32_t divisor[LANES_MAX + 1])
{
	size_t i, len = p->lanes_len + probe_follows(p);
	bool hopeless[LANES_MAX + 1];

	for (i = 0; i < len; i++) {
		const struct lane *lane = lane_at(p, i);

		divisor[i] = 1;
		hopeless[i] = is_hopeless(p, lane, limit);
		while (hopeless[i] && can_slow(p, lane, divisor[i]))
			divisor[i] *= 2;
		while (is_of_threads(lane) && share(p, lane, divisor[i]) > limit * THREADS_SHARE &&
		       can_slow(p, lane, divisor[i]))
			divisor[i] *= 2;
	}
	for (;;) {
		double sum = 0, most = 0;
		size_t dearest = len;

		for (i = 0; i < len; i++) {
			double s = share(p, lane_at(p, i), divisor[i]);

			if (hopeless[i])
				continue;
			sum += s;
			if (goes_first(p, lane_at(p, i), divisor[i]))
				s = INFINITY;
			if (s > most && can_slow(p, lane_at(p, i), divisor[i])) {
				most = s;
				dearest = i;
			}
		}
		if (sum <= limit || dearest == len)
			return;
		divisor[dearest] *= 2;
	}
}

/* For whoever asks, on any thread. Following has the bit behind those of the pens. */
static void publish(struct probe *p)
{
	uint64_t largest = 0, bits = 0;
	size_t i;

	for (i = 0; i < p->pens_len + probe_follows(p); i++) {
		uint32_t divisor = i < p->pens_len ? p->pens[i].lane->divisor : p->follow_lane.divisor;

		if (divisor <= 1)
			continue;
		bits |= UINT64_C(1) << i;
		largest = divisor > largest ? divisor : largest;
	}
	atomic_store_explicit(&p->slowed, largest << 32 | bits, memory_order_relaxed);
}

/* Turns are unlike each other, a whole walk or nothing at all, so they are not clipped, but weighed. */
void budget_account_following(struct probe *p)
{
	struct pen *pen = &p->follow_pen;
	uint64_t mean_ns;

	if (!p->follow_turns)
		return;
	mean_ns = p->follow_ns / p->follow_turns;
	pen->mean_ns = pen->mean_ns ? (pen->mean_ns * 3 + mean_ns) / 4 : mean_ns;
	p->follow_turns = p->follow_ns = 0;
}

static void foresee(struct probe *p)
{
	size_t i;

	for (i = 0; i < p->pens_len; i++) {
		struct pen *pen = &p->pens[i];
		size_t things = pen_things(p, pen);

		if (!is_in_slices(pen) || !things)
			continue;
		if (pen->mean_things)
			pen->mean_ns = pen->mean_ns * things / pen->mean_things;
		pen->mean_things = things;
	}
}

void budget_judge(struct probe *p)
{
	uint32_t tight[LANES_MAX + 1] = {0}, loose[LANES_MAX + 1] = {0};
	double limit = p->config.budget_pct / 100;
	size_t i, len = p->lanes_len + probe_follows(p);

	p->judged_mono_ns = probe_now(p);
	p->judged_members = p->living;
	budget_account_following(p);
	foresee(p);
	weigh(p);
	if (limit <= 0)
		return;
	choose(p, limit, tight);
	/* Faster again only with room to spare, or a cost near the limit would swing. */
	choose(p, limit * 0.7, loose);
	for (i = 0; i < len; i++) {
		struct lane *lane = lane_at(p, i);

		if (tight[i] > lane->divisor)
			lane->divisor = tight[i];
		else if (loose[i] < lane->divisor)
			lane->divisor = loose[i];
		if (lane->divisor > lane->largest_divisor)
			lane->largest_divisor = lane->divisor;
	}
	publish(p);
}

uint32_t probe_slowed(const struct probe *p, char *names, size_t cap)
{
	uint64_t slowed = atomic_load_explicit(&p->slowed, memory_order_relaxed);
	size_t i, at = strnlen(names, cap);

	for (i = 0; i <= p->pens_len; i++) {
		const struct pen *pen = i < p->pens_len ? &p->pens[i] : &p->follow_pen;

		if (at < cap && slowed >> i & 1)
			at += (size_t)snprintf(names + at, cap - at, "%s%s", at ? ", " : "", pen->source->name);
	}
	return slowed ? (uint32_t)(slowed >> 32) : 1;
}

void budget_foresee(struct probe *p)
{
	foresee(p);
	if (p->living >= MANY && p->living / 2 >= p->judged_members)
		budget_judge(p);
}
