/* Energy of GPUs in two ways, by a counter and by power over time, and how far they agree. */
#include <math.h>

#include "gpu.h"

#define ENERGY "gpu__energy_joules"
#define COVERED_S 1e-6 /* so much may be missing by rounding */

/* Between those readings of the counter that the power is known in between of, too. */
static void compare(struct summary_energy *e, const struct gpu_rows *r, size_t gpu,
                    const struct gpu_sum *power)
{
	size_t c = table_column(r->table, ENERGY), n, i;
	const size_t *rows = gpu_rows_of(r, gpu, &n);
	double counted = 0, integral = 0, last = NAN;
	uint64_t last_ns = 0;

	for (i = 0; c != SIZE_MAX && i < n; i++) {
		double v = r->table->values[c][rows[i]], s;
		uint64_t mono_ns = r->table->mono_ns[rows[i]];

		if (!isfinite(v) || v < 0 || (!isnan(last) && mono_ns <= last_ns))
			continue;
		s = (double)(mono_ns - last_ns) / (double)NS_PER_S;
		if (v >= last && line_grown(&power->whole, last_ns, mono_ns) >= s - COVERED_S) {
			counted += v - last;
			integral += line_grown(&power->part, last_ns, mono_ns);
			e->compared_s += s;
		}
		last = v;
		last_ns = mono_ns;
	}
	if (counted > 0)
		e->difference_pct = 100 * (integral - counted) / counted;
}

static galvo_status derive_one(struct summary_gpu *g, const struct gpu_rows *r, uint64_t limit_ns,
                               galvo_error *reterr)
{
	struct summary_energy *e = &g->energy;
	const struct line *whole;
	struct gpu_sum power;
	galvo_status status = gpu_integral(r, g->number, gpu_power_column(r, g->number), true, limit_ns,
	                                   &power, reterr);

	e->counter = gpu_growth(r, g->number, table_column(r->table, ENERGY));
	whole = &power.whole;
	if (status == GALVO_OK && whole->len && whole->value[whole->len - 1] > 0) {
		e->integral_joules = power.part.value[whole->len - 1];
		e->integral_s = whole->value[whole->len - 1];
		e->gaps_s = (double)(whole->mono_ns[whole->len - 1] - whole->mono_ns[0]) /
		            (double)NS_PER_S - e->integral_s;
		if (e->gaps_s < COVERED_S)
			e->gaps_s = 0;
		compare(e, r, g->number, &power);
	}
	gpu_sum_finish(&power);
	return status;
}

galvo_status gpu_energy_derive(struct galvo_summary *s, const struct galvo_run *run,
                               galvo_error *reterr)
{
	struct gpu_rows r;
	galvo_status status = gpu_rows_init(&r, run, STREAM_TELEMETRY, SCOPE_GPU, reterr);
	size_t i;

	for (i = 0; i < s->gpus_len; i++)
		s->gpus[i].energy = (struct summary_energy){
			.counter = {.amount = NAN, .over_s = NAN}, .integral_joules = NAN,
			.integral_s = NAN, .gaps_s = NAN, .difference_pct = NAN};
	for (i = 0; status == GALVO_OK && r.table && i < s->gpus_len; i++)
		status = derive_one(&s->gpus[i], &r, gpu_gap_limit_ns(run), reterr);
	gpu_rows_finish(&r);
	return status;
}
