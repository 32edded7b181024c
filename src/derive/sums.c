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

/* Of all that stands at that tick; NaN: nothing does. */
static double sum_words(const struct ledger *s, const struct pass *p, struct scratch *x,
                        uint64_t tick_ns)
{
	double sum = NAN;
	size_t i = 0;

	while (i < x->speakers_len) {
		struct word *word = &x->words[x->speakers[i]];

		if (!stands(s, p, x->speakers[i], word, tick_ns)) {
			word->tick = 0;
			x->speakers[i] = x->speakers[--x->speakers_len];
			continue;
		}
		if (!isnan(word->value))
			sum = isnan(sum) ? word->value : sum + word->value;
		i++;
	}
	return sum;
}

/*
 * A tick a row: their times and sums. A thing that has a row again is in the next tick, however soon
 * that came. Returns how many there are.
 */
static size_t sum_ticks(const struct ledger *s, struct pass *p, struct scratch *x,
                        uint64_t *mono_ns, double *sums)
{
	const struct table *t = s->table;
	size_t n = 0, i;

	for (i = 0; i < s->slots_len; i++)
		x->words[i] = (struct word){.value = NAN};
	for (i = 0; i < t->rows_len; i++) {
		uint32_t slot = ledger_slot(s, i);
		struct word *word = slot == SLOT_NONE ? NULL : &x->words[slot];

		if (pass_advance(p, t->mono_ns[i]) || n == 0 || (word && word->tick == n)) {
			if (n)
				sums[n - 1] = sum_words(s, p, x, mono_ns[n - 1]);
			mono_ns[n++] = t->mono_ns[i];
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
	if (n)
		sums[n - 1] = sum_words(s, p, x, mono_ns[n - 1]);
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
	*ret_scratch = (struct scratch){
		.accounts = alloc_array(s->slots_len, sizeof(struct account)),
		.words = alloc_array(s->slots_len, sizeof(struct word)),
		.speakers = alloc_array(s->slots_len, sizeof(uint32_t)),
	};
	ret->mono_ns = alloc_array(points, sizeof(*ret->mono_ns));
	ret->value = alloc_array(points, sizeof(*ret->value));
	if (!ret_scratch->accounts || !ret_scratch->words || !ret_scratch->speakers ||
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
