/* The budget: sources that would cost too much are read at every n-th turn only. */
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

static double share(const struct probe *p, const struct pen *pen, uint32_t divisor)
{
	return (double)pen->mean_ns /
	       ((double)pen->period_ticks * divisor * (double)p->config.period_ns);
}

/* Divisors that bring the sum of shares below `limit`: the dearest gives first. */
static void choose(const struct probe *p, double limit, uint32_t divisor[PENS_MAX])
{
	size_t i;

	for (i = 0; i < p->pens_len; i++)
		divisor[i] = 1;
	for (;;) {
		double sum = 0, most = 0;
		size_t dearest = p->pens_len;

		for (i = 0; i < p->pens_len; i++) {
			const struct pen *pen = &p->pens[i];
			double s = share(p, pen, divisor[i]);
			uint64_t period_ns = pen->period_ticks * divisor[i] * p->config.period_ns;

			sum += s;
			if (s > most && period_ns * 2 <= SLOWEST_NS && divisor[i] < DIVISOR_MAX) {
				most = s;
				dearest = i;
			}
		}
		if (sum <= limit || dearest == p->pens_len)
			return;
		divisor[dearest] *= 2;
	}
}

void budget_judge(struct probe *p)
{
	uint32_t tight[PENS_MAX], loose[PENS_MAX];
	double limit = p->config.budget_pct / 100;
	size_t i;

	p->judged_mono_ns = probe_now(p);
	if (limit <= 0)
		return;
	choose(p, limit, tight);
	/* Faster again only with room to spare, or a cost near the limit would swing. */
	choose(p, limit * 0.7, loose);
	for (i = 0; i < p->pens_len; i++) {
		struct pen *pen = &p->pens[i];

		if (tight[i] > pen->divisor)
			pen->divisor = tight[i];
		else if (loose[i] < pen->divisor)
			pen->divisor = loose[i];
	}
}
