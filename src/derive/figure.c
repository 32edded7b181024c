/* Rows to figures: what each row covers, averages weighted with it, integrals, peaks, holes. */
#include <math.h>

#include "pass.h"

#define MEDIAN_SAMPLES 4096

const struct figure figure_none = {NAN, NAN, NAN};

/* ---- what a row covers ---------------------------------------------------------------------- */

bool pass_find(const struct table *t, const struct figure_row *row, struct pass *ret)
{
	size_t a = t ? table_column(t, row->column) : SIZE_MAX;
	size_t b = t && row->plus ? table_column(t, row->plus) : SIZE_MAX;

	if (a == SIZE_MAX || (row->plus && b == SIZE_MAX))
		return false;
	*ret = (struct pass){.a = t->values[a], .b = row->plus ? t->values[b] : NULL};
	return true;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median time between two values of a thing, from a sample of them; else what is stated. */
galvo_status pass_find_period(const struct ledger *s, struct pass *p, struct account *accounts,
                              galvo_error *reterr)
{
	const struct table *t = s->table;
	size_t stride = t->rows_len / MEDIAN_SAMPLES + 1, seen = 0, n = 0, i;
	uint64_t *sample = alloc_array(MEDIAN_SAMPLES, sizeof(*sample));

	if (!sample)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for a median");
	for (i = 0; i < t->rows_len; i++) {
		struct account *a = ledger_slot(s, i) == SLOT_NONE ? NULL : &accounts[ledger_slot(s, i)];

		if (!a || !isfinite(pass_value(p, i)))
			continue;
		if (a->any && t->mono_ns[i] > a->last_mono_ns && seen++ % stride == 0 &&
		    n < MEDIAN_SAMPLES)
			sample[n++] = t->mono_ns[i] - a->last_mono_ns;
		a->any = true;
		a->last_mono_ns = t->mono_ns[i];
	}
	qsort(sample, n, sizeof(*sample), compare_u64);
	p->period_ns = n ? sample[n / 2] : s->period_ns ? s->period_ns : 1;
	free(sample);
	return GALVO_OK;
}

/* Rows that are close together are of one tick. Answers whether this one begins another. */
bool pass_advance(struct pass *p, uint64_t mono_ns)
{
	if (mono_ns <= p->tick_ns + p->period_ns / 2 && p->tick_ns)
		return false;
	p->holes += p->tick_ns && (mono_ns - p->tick_ns) / GAP_FACTOR > p->period_ns;
	p->last_tick_ns = p->tick_ns;
	p->tick_ns = mono_ns;
	return true;
}

/*
 * The time a row's value stands for. After a hole that is one period, unless nothing was lost, and
 * either its source was at times read that rarely, or no row of the whole table came in between: then
 * the reading was late, and covers all of it.
 */
uint64_t pass_covered_ns(const struct ledger *s, const struct pass *p, const struct account *a,
                         uint64_t mono_ns)
{
	uint64_t d;

	if (!a->any) {
		d = mono_ns > s->start_mono_ns ? mono_ns - s->start_mono_ns : 0;
		return s->start_mono_ns && d < p->period_ns ? d : p->period_ns;
	}
	d = mono_ns > a->last_mono_ns ? mono_ns - a->last_mono_ns : 0;
	if (d / GAP_FACTOR <= p->period_ns ||
	    (!s->is_lossy && (d / GAP_FACTOR <= s->longest_ns ||
	                      (!s->is_of_instants && p->last_tick_ns <= a->last_mono_ns))))
		return d;
	return p->period_ns;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void account_add(struct account *a, double value, uint64_t mono_ns, double dt_s)
{
	double mean;

	if (!a->any || value > a->highest)
		a->highest = value;
	if (!a->any || mono_ns > a->last_mono_ns)
		a->last_mono_ns = mono_ns;
	a->any = true;
	a->integral += value * dt_s;
	a->covered_s += dt_s;
	a->window += value * dt_s;
	a->window_s += dt_s;
	/* Ticks come a little early or late: a window is full when nearly so. */
	if (a->window_s < 0.95 * (double)PEAK_WINDOW_NS / (double)NS_PER_S)
		return;
	mean = fmin(a->window / a->window_s, a->highest); /* rounding makes it no more than what was read */
	if (isnan(a->peak) || mean > a->peak)
		a->peak = mean;
	a->window = a->window_s = 0;
}

static struct figure account_figure(const struct account *a, const struct figure_row *row)
{
	double scale = row->total_scale != 0 ? row->total_scale : 1;
	struct figure f = figure_none;

	if (!a->any)
		return f;
	f.avg = a->covered_s > 0 ? fmin(a->integral / a->covered_s, a->highest) : a->highest;
	if (row->is_level) {
		f.peak = a->highest;
		return f;
	}
	f.peak = a->peak; /* of what was too short for a window nothing is known */
	/* A lone row of a stream that does not tell its frequency covers nobody knows what. */
	f.total = a->covered_s > 1e-6 ? a->integral * scale : NAN;
	return f;
}

static galvo_status pass_run(const struct ledger *s, struct pass *p, struct account *accounts,
                             galvo_error *reterr)
{
	const struct table *t = s->table;
	galvo_status status = pass_find_period(s, p, accounts, reterr);
	size_t i;

	if (status != GALVO_OK)
		return status;
	for (i = 0; i < s->slots_len; i++)
		accounts[i] = (struct account){.peak = NAN};
	for (i = 0; i < t->rows_len; i++) {
		uint32_t slot = ledger_slot(s, i);
		double v = pass_value(p, i);

		pass_advance(p, t->mono_ns[i]);
		if (slot != SLOT_NONE && isfinite(v))
			account_add(&accounts[slot], v, t->mono_ns[i],
			            (double)pass_covered_ns(s, p, &accounts[slot], t->mono_ns[i]) /
			                    (double)NS_PER_S);
	}
	return GALVO_OK;
}

galvo_status ledger_figures(const struct ledger *s, const struct figure_row *rows, size_t rows_len,
                            void *things, size_t stride, galvo_error *reterr)
{
	struct account *accounts = alloc_array(s->slots_len, sizeof(*accounts));
	galvo_status status = GALVO_OK;
	size_t r, i;

	if (!accounts)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu accounts", s->slots_len);
	for (r = 0; r < rows_len && status == GALVO_OK; r++) {
		struct pass p;

		memset(accounts, 0, s->slots_len * sizeof(*accounts));
		if (pass_find(s->table, &rows[r], &p))
			status = pass_run(s, &p, accounts, reterr);
		for (i = 0; i < s->slots_len; i++) {
			struct figure f = account_figure(&accounts[i], &rows[r]);

			memcpy((char *)things + i * stride + rows[r].offset, &f, sizeof(f));
		}
	}
	free(accounts);
	return status;
}

galvo_status ledger_gaps(const struct ledger *s, size_t *ret, galvo_error *reterr)
{
	struct account *accounts;
	galvo_status status = GALVO_OK;
	struct pass p = {0};

	if (s->is_lossy && s->table && s->table->columns_len) {
		accounts = alloc_array(s->slots_len, sizeof(*accounts));
		if (!accounts)
			return err_set(reterr, GALVO_ERR_NOMEM, "no memory for gaps");
		p.a = s->table->values[0];
		status = pass_run(s, &p, accounts, reterr);
		free(accounts);
	}
	*ret = p.holes;
	return status;
}
