/* The budget: lanes whose sources cost too much are read at every n-th turn only. */
#include "internal.h"

enum {
	DIVISOR_MAX = 1 << 12,
	CLIP = 4, /* a reading this many times the mean was most likely interrupted */
};
#define SLOWEST_NS NS_PER_S /* nothing is slowed beyond one reading a second */

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

static double share(const struct probe *p, const struct lane *lane, uint32_t divisor)
{
	uint64_t cost_ns = 0;
	size_t i;

	for (i = 0; i < lane->pens_len; i++)
		cost_ns += lane->pens[i]->mean_ns;
	return (double)cost_ns / ((double)lane->period_ticks * divisor * (double)p->config.period_ns);
}

/* Divisors that bring the sum of shares below `limit`: the dearest gives first. */
static void choose(const struct probe *p, double limit, uint32_t divisor[LANES_MAX])
{
	size_t i;

	for (i = 0; i < p->lanes_len; i++)
		divisor[i] = 1;
	for (;;) {
		double sum = 0, most = 0;
		size_t dearest = p->lanes_len;

		for (i = 0; i < p->lanes_len; i++) {
			const struct lane *lane = &p->lanes[i];
			double s = share(p, lane, divisor[i]);
			uint64_t period_ns = lane->period_ticks * divisor[i] * p->config.period_ns;

			sum += s;
			if (s > most && period_ns * 2 <= SLOWEST_NS && divisor[i] < DIVISOR_MAX) {
				most = s;
				dearest = i;
			}
		}
		if (sum <= limit || dearest == p->lanes_len)
			return;
		divisor[dearest] *= 2;
	}
}

void budget_judge(struct probe *p)
{
	uint32_t tight[LANES_MAX], loose[LANES_MAX];
	double limit = p->config.budget_pct / 100;
	size_t i;

	p->judged_mono_ns = probe_now(p);
	if (limit <= 0)
		return;
	choose(p, limit, tight);
	/* Faster again only with room to spare, or a cost near the limit would swing. */
	choose(p, limit * 0.7, loose);
	for (i = 0; i < p->lanes_len; i++) {
		struct lane *lane = &p->lanes[i];

		if (tight[i] > lane->divisor)
			lane->divisor = tight[i];
		else if (loose[i] < lane->divisor)
			lane->divisor = loose[i];
	}
}
