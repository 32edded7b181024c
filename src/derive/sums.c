/* Sums over all things of a table: tick by tick, as a figure, and how they grew. */
#include <math.h>

#include "pass.h"

/* What a thing said last, and of which tick that row was. */
struct word {
	double value;
	uint64_t mono_ns;
	size_t tick;
};

/* What the passes need for each thing. */
struct scratch {
	struct account *accounts;
	struct word *words;
	uint32_t *speakers; /* things whose word stands */
	size_t speakers_len;
};

static void scratch_finish(struct scratch *x)
{
	free(x->accounts);
	free(x->words);
	free(x->speakers);
}

/*
 * Things are read at different ticks where they are many: a word stands until the next is due. Where
 * it is not known when that is, all are read at each tick.
 */
static bool stands(const struct ledger *s, const struct pass *p, uint32_t slot,
                   const struct word *word, uint64_t tick_ns)
{
	uint64_t period_ns = s->longest_ns > p->period_ns ? s->longest_ns : p->period_ns;
	uint64_t end_ns = s->processes ? s->processes[slot].end_mono_ns : 0;

	if (word->mono_ns >= tick_ns || !s->longest_ns)
		return word->mono_ns >= tick_ns;
	return tick_ns - word->mono_ns <= period_ns + period_ns / 2 && (!end_ns || tick_ns < end_ns);
}

static void forget_silent(const struct ledger *s, const struct pass *p, struct scratch *x,
                          uint64_t tick_ns)
{
	size_t i = 0;

	while (x->words && i < x->speakers_len) {
		uint32_t slot = x->speakers[i];

		if (stands(s, p, slot, &x->words[slot], tick_ns)) {
			i++;
			continue;
		}
		x->words[slot].tick = 0;
		x->speakers[i] = x->speakers[--x->speakers_len];
	}
}

/* Who takes the ticks, with all that stands in each. */
struct tick_sink {
	void (*tick)(struct tick_sink *, const struct scratch *, uint64_t mono_ns);
};

/*
 * Goes through the rows tick by tick. A thing that has a row again is in the next tick, however soon
 * that came.
 */
static void take_ticks(const struct ledger *s, struct pass *p, struct scratch *x,
                       struct tick_sink *sink)
{
	const struct table *t = s->table;
	uint64_t tick_ns = 0;
	size_t n = 0, i;

	for (i = 0; i <= t->rows_len; i++) {
		uint32_t slot = i < t->rows_len ? ledger_slot(s, i) : SLOT_NONE;
		struct word *word = slot == SLOT_NONE ? NULL : &x->words[slot];

		if (i == t->rows_len || pass_advance(p, t->mono_ns[i]) || n == 0 ||
		    (word && word->tick == n)) {
			if (n) {
				forget_silent(s, p, x, tick_ns);
				sink->tick(sink, x, tick_ns);
			}
			n++;
			tick_ns = i < t->rows_len ? t->mono_ns[i] : 0;
		}
		if (!word)
			continue;
		if (!word->tick)
			x->speakers[x->speakers_len++] = slot;
		word->tick = n;
		word->mono_ns = t->mono_ns[i];
		if (isfinite(pass_value(p, i)))
			word->value = pass_value(p, i);
	}
}

/* A point a tick: the sum. */
struct line_sink {
	struct tick_sink sink; /* first */
	struct line *line;
};

static void sum_tick(struct tick_sink *sink, const struct scratch *x, uint64_t mono_ns)
{
	struct line *l = ((struct line_sink *)sink)->line;
	double sum = NAN;
	size_t i;

	for (i = 0; i < x->speakers_len; i++)
		if (!isnan(x->words[x->speakers[i]].value))
			add_known(&sum, x->words[x->speakers[i]].value);
	l->mono_ns[l->len] = mono_ns;
	l->value[l->len++] = sum;
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
	galvo_status status;
	size_t i;

	*ret_scratch = (struct scratch){
		.accounts = alloc_array(s->slots_len, sizeof(struct account)),
		.words = alloc_array(s->slots_len, sizeof(struct word)),
		.speakers = alloc_array(s->slots_len, sizeof(uint32_t)),
	};
	for (i = 0; ret_scratch->words && i < s->slots_len; i++)
		ret_scratch->words[i].value = NAN;
	status = line_make(ret, points, reterr);
	if (status != GALVO_OK)
		return status;
	if (!ret_scratch->accounts || !ret_scratch->words || !ret_scratch->speakers)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu sums", s->slots_len);
	return pass_find_period(s, p, ret_scratch->accounts, reterr);
}

galvo_status ledger_ticks(const struct ledger *s, const struct figure_row *row, struct line *ret,
                          galvo_error *reterr)
{
	struct line_sink to = {{sum_tick}, ret};
	struct scratch x;
	struct pass p;
	galvo_status status;

	*ret = (struct line){0};
	if (!pass_find(s->table, row, &p))
		return GALVO_OK;
	status = line_init(s, &p, s->table->rows_len, &x, ret, reterr);
	if (status == GALVO_OK)
		take_ticks(s, &p, &x, &to.sink);
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

/* The highest sum of each group. */
struct peaks_sink {
	struct tick_sink sink; /* first */
	const uint32_t *group_of;
	double *sums, *peaks;
};

static void sum_groups(struct tick_sink *sink, const struct scratch *x, uint64_t mono_ns)
{
	struct peaks_sink *to = (struct peaks_sink *)sink;
	size_t i;

	(void)mono_ns;
	for (i = 0; i < x->speakers_len; i++)
		to->sums[to->group_of[x->speakers[i]]] = 0;
	for (i = 0; x->words && i < x->speakers_len; i++) {
		const uint32_t slot = x->speakers[i], g = to->group_of[slot];

		if (isnan(x->words[slot].value))
			continue;
		to->sums[g] += x->words[slot].value;
		to->peaks[g] = fmax(to->peaks[g], to->sums[g]);
	}
}

galvo_status ledger_group_peaks(const struct ledger *s, const struct figure_row *row,
                                const uint32_t *group_of, double *ret_peaks, size_t groups_len,
                                galvo_error *reterr)
{
	struct peaks_sink to = {{sum_groups}, group_of, alloc_array(groups_len, sizeof(double)),
	                        ret_peaks};
	struct scratch x = {0};
	galvo_status status = GALVO_OK;
	struct line none = {0};
	struct pass p;
	size_t i;

	for (i = 0; i < groups_len; i++)
		ret_peaks[i] = NAN;
	if (!to.sums)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu groups", groups_len);
	else if (pass_find(s->table, row, &p)) {
		status = line_init(s, &p, 0, &x, &none, reterr);
		if (status == GALVO_OK)
			take_ticks(s, &p, &x, &to.sink);
	}
	line_finish(&none);
	scratch_finish(&x);
	free(to.sums);
	return status;
}

/* ---- how a total grew ----------------------------------------------------------------------- */

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
