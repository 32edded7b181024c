/* Sums over all things of a table: tick by tick, as a figure, and how they grew. */
#include <math.h>

#include "pass.h"

/* What the passes need for each thing. */
struct scratch {
	struct account *accounts;
	double *last;
	size_t *tick_of;
};

static void scratch_finish(struct scratch *x)
{
	free(x->accounts);
	free(x->last);
	free(x->tick_of);
}

/* Is the row of another tick than the n-th, which is the last so far? */
static bool tick_begins(const struct ledger *s, struct pass *p, const struct scratch *x, size_t row,
                        size_t n)
{
	uint32_t slot = ledger_slot(s, row);

	/* A thing that has a row again is in the next tick, however soon that came. */
	return pass_advance(p, s->table->mono_ns[row]) || n == 0 ||
	       (slot != SLOT_NONE && x->tick_of[slot] == n);
}

/* What the thing counts for in the n-th tick, which has a row of it. */
static double tick_value(const struct pass *p, struct scratch *x, uint32_t slot, size_t row, size_t n)
{
	x->tick_of[slot] = n;
	if (isfinite(pass_value(p, row)))
		x->last[slot] = pass_value(p, row);
	return x->last[slot];
}

/* A tick a row: their times and sums. Returns how many there are. */
static size_t sum_ticks(const struct ledger *s, struct pass *p, struct scratch *x, uint64_t *mono_ns,
                        double *sums)
{
	size_t n = 0, i;

	for (i = 0; i < s->table->rows_len; i++) {
		uint32_t slot = ledger_slot(s, i);

		if (tick_begins(s, p, x, i, n)) {
			mono_ns[n] = s->table->mono_ns[i];
			sums[n++] = NAN;
		}
		if (slot != SLOT_NONE)
			add_known(&sums[n - 1], tick_value(p, x, slot, i, n));
	}
	return n;
}

static galvo_status sum_figure(const struct ledger *s, const struct figure_row *row,
                               uint64_t *mono_ns, double *sums, size_t n, struct figure *ret,
                               galvo_error *reterr)
{
	static const char *const name[] = {"sum"};
	const double *const values[] = {sums};
	struct table t = {.columns_len = 1, .columns = name, .rows_len = n, .mono_ns = mono_ns,
	                  .values = values};
	struct ledger whole = *s;
	struct figure_row sum_row = *row;

	whole.table = &t;
	whole.slots = NULL;
	whole.slots_len = 1;
	sum_row.column = name[0];
	sum_row.plus = NULL;
	sum_row.offset = 0;
	return ledger_figures(&whole, &sum_row, 1, ret, sizeof(*ret), reterr);
}

/* Room for `points`, and the period; false: reterr says why. */
static galvo_status line_init(const struct ledger *s, struct pass *p, size_t points,
                              struct scratch *ret_scratch, struct line *ret, galvo_error *reterr)
{
	size_t i;

	*ret_scratch = (struct scratch){
		.accounts = alloc_array(s->slots_len, sizeof(struct account)),
		.last = alloc_array(s->slots_len, sizeof(double)),
		.tick_of = alloc_array(s->slots_len, sizeof(size_t)),
	};
	for (i = 0; ret_scratch->last && i < s->slots_len; i++)
		ret_scratch->last[i] = NAN;
	ret->mono_ns = alloc_array(points, sizeof(*ret->mono_ns));
	ret->value = alloc_array(points, sizeof(*ret->value));
	if (!ret_scratch->accounts || !ret_scratch->last || !ret_scratch->tick_of ||
	    !ret->mono_ns || !ret->value)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu ticks", points);
	return pass_find_period(s, p, ret_scratch->accounts, reterr);
}

void line_finish(struct line *l)
{
	free(l->mono_ns);
	free(l->value);
	*l = (struct line){0};
}

galvo_status ledger_ticks(const struct ledger *s, const struct figure_row *row, struct line *ret,
                          galvo_error *reterr)
{
	struct scratch x;
	struct pass p;
	galvo_status status;

	*ret = (struct line){0};
	if (!pass_find(s->table, row, &p))
		return GALVO_OK;
	status = line_init(s, &p, s->table->rows_len, &x, ret, reterr);
	if (status == GALVO_OK)
		ret->len = sum_ticks(s, &p, &x, ret->mono_ns, ret->value);
	scratch_finish(&x);
	return status;
}

galvo_status ledger_sum(const struct ledger *s, const struct figure_row *row, struct figure *ret,
                        galvo_error *reterr)
{
	struct line ticks;
	galvo_status status = ledger_ticks(s, row, &ticks, reterr);

	*ret = figure_none;
	if (status == GALVO_OK && ticks.len)
		status = sum_figure(s, row, ticks.mono_ns, ticks.value, ticks.len, ret, reterr);
	line_finish(&ticks);
	return status;
}

galvo_status ledger_group_peaks(const struct ledger *s, const struct figure_row *row,
                                const uint32_t *group_of, double *ret_peaks, size_t groups_len,
                                galvo_error *reterr)
{
	double *sums = alloc_array(groups_len, sizeof(*sums));
	size_t *summed_in = alloc_array(groups_len, sizeof(*summed_in)); /* which tick */
	struct scratch x = {0};
	galvo_status status = GALVO_OK;
	struct line none = {0};
	struct pass p;
	size_t n = 0, i;

	for (i = 0; i < groups_len; i++)
		ret_peaks[i] = NAN;
	if (!sums || !summed_in)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu groups", groups_len);
	else if (pass_find(s->table, row, &p))
		status = line_init(s, &p, 0, &x, &none, reterr);
	for (i = 0; x.last && status == GALVO_OK && i < s->table->rows_len; i++) {
		uint32_t slot = ledger_slot(s, i), g;

		n += tick_begins(s, &p, &x, i, n);
		if (slot == SLOT_NONE || isnan(tick_value(&p, &x, slot, i, n)))
			continue;
		g = group_of[slot];
		sums[g] = x.last[slot] + (summed_in[g] == n ? sums[g] : 0);
		summed_in[g] = n;
		ret_peaks[g] = fmax(ret_peaks[g], sums[g]);
	}
	line_finish(&none);
	scratch_finish(&x);
	free(sums);
	free(summed_in);
	return status;
}

/* ---- how a total grew ----------------------------------------------------------------------- */

static void line_add(struct line *l, uint64_t mono_ns, double value)
{
	l->mono_ns[l->len] = mono_ns;
	l->value[l->len++] = value;
}

/* Before what a tick's first row covers, and behind the tick before, nothing is known to grow. */
static void grow_tick(struct line *l, const struct pass *p, uint64_t mono_ns, uint64_t covered_ns)
{
	double before = l->len ? l->value[l->len - 1] : 0;
	uint64_t from_ns = mono_ns > covered_ns ? mono_ns - covered_ns : 0;

	if (l->len == 0 || from_ns > l->mono_ns[l->len - 1] + p->period_ns / 2)
		line_add(l, from_ns, before);
	line_add(l, mono_ns, before);
}

galvo_status ledger_growth(const struct ledger *s, const struct figure_row *row, struct line *ret,
                           galvo_error *reterr)
{
	double scale = row->total_scale != 0 ? row->total_scale : 1;
	struct scratch x;
	galvo_status status;
	struct pass p;
	size_t i;

	*ret = (struct line){0};
	if (!pass_find(s->table, row, &p))
		return GALVO_OK;
	status = line_init(s, &p, 2 * s->table->rows_len, &x, ret, reterr);
	for (i = 0; status == GALVO_OK && i < s->slots_len; i++)
		x.accounts[i] = (struct account){0};
	for (i = 0; status == GALVO_OK && i < s->table->rows_len; i++) {
		uint64_t mono_ns = s->table->mono_ns[i], covered_ns;
		uint32_t slot = ledger_slot(s, i);
		double v = pass_value(&p, i);
		bool is_new = pass_advance(&p, mono_ns);

		if (slot == SLOT_NONE || !isfinite(v))
			continue;
		covered_ns = pass_covered_ns(s, &p, &x.accounts[slot], mono_ns);
		if (is_new || ret->len == 0 || mono_ns > ret->mono_ns[ret->len - 1] + p.period_ns / 2)
			grow_tick(ret, &p, mono_ns, covered_ns);
		ret->value[ret->len - 1] += v * scale * (double)covered_ns / (double)NS_PER_S;
		x.accounts[slot].any = true;
		x.accounts[slot].last_mono_ns = mono_ns;
	}
	scratch_finish(&x);
	return status;
}
