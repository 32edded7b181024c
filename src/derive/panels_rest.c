/* Sums over things, as means from tick to tick: of those that are too many, and of a whole stack. */
#include <float.h>
#include <math.h>

#include "panels_parts.h"

#define STEPS_MAX 32 /* a value that covers more intervals is added to all of them at once */

/* Intervals of time, each from one of these moments to the next, and what all values come to there. */
struct sums {
	uint64_t *at_mono_ns;
	size_t len, cap; /* of moments */
	uint64_t first_mono_ns;
	double *amount; /* value times ns */
	double *slope;  /* by how much the sum of values that cover all of it changes with it */
	int64_t *more;  /* by how many those values are more */
	bool *is_known;
};

static void sums_finish(struct sums *s)
{
	free(s->at_mono_ns);
	free(s->amount);
	free(s->slope);
	free(s->more);
	free(s->is_known);
}

/* ---- the rows of all that are summed up -------------------------------------------------------- */

struct rest_row {
	uint64_t from_ns, end_ns;
	double value;
};

/* Goes through rows, and in each of them through columns. */
struct rest_walk {
	const struct curve_way *way;
	struct cover_walk *walks; /* by column */
	size_t columns_len;
	struct account *accounts; /* of a column's things, then of the next one's */
	size_t row, column;
	uint64_t period_ns; /* of the column that is read most often */
};

static void rest_rewind(struct rest_walk *x)
{
	const struct curve_way *w = x->way;
	size_t i;

	x->row = x->column = 0;
	x->period_ns = UINT64_MAX;
	for (i = 0; i < x->columns_len; i++) {
		x->walks[i] = cover_walk_of(w->feed, w->columns_len ? w->columns[i].column : w->column,
		                            w->is_level);
		if (x->walks[i].pass.period_ns < x->period_ns)
			x->period_ns = x->walks[i].pass.period_ns;
	}
	memset(x->accounts, 0,
	       x->columns_len * w->feed->ledger.slots_len * sizeof(*x->accounts));
}

static galvo_status rest_open(struct rest_walk *x, galvo_error *reterr)
{
	const size_t things = x->way->feed->ledger.slots_len;

	x->columns_len = x->way->columns_len ? x->way->columns_len : 1;
	x->walks = alloc_array(x->columns_len, sizeof(*x->walks));
	x->accounts = alloc_array(things, x->columns_len * sizeof(*x->accounts));
	return x->walks && x->accounts
	       ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu things", things);
}

static void rest_close(struct rest_walk *x)
{
	free(x->walks);
	free(x->accounts);
}

static bool rest_next(struct rest_walk *x, struct rest_row *ret)
{
	const struct ledger *s = &x->way->feed->ledger;

	while (x->row < s->table->rows_len) {
		const uint32_t slot = ledger_slot(s, x->row);
		const size_t row = x->row, column = x->column;
		bool has_value = slot < s->slots_len &&
		                 !(x->way->is_shown && x->way->is_shown[slot]) &&
		                 cover_walk_row(&x->walks[column], &x->accounts[column * s->slots_len + slot],
		                                row, &ret->from_ns, &ret->value);

		x->column = column + 1 < x->columns_len ? column + 1 : 0;
		x->row += x->column == 0;
		ret->end_ns = s->table->mono_ns[row];
		if (has_value && ret->from_ns < ret->end_ns)
			return true;
	}
	return false;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static bool part_at(struct sums *s, uint64_t mono_ns)
{
	if (s->len && mono_ns <= s->at_mono_ns[s->len - 1])
		return true;
	if (!grow_array((void **)&s->at_mono_ns, &s->cap, s->len, sizeof(*s->at_mono_ns), SIZE_MAX / 2))
		return false;
	s->at_mono_ns[s->len++] = mono_ns;
	return true;
}

/* One interval a tick, to where its last row is. What begins behind a hole begins one of its own. */
static bool end_tick(struct sums *s, uint64_t from_ns, uint64_t end_ns, uint64_t period_ns)
{
	if ((s->len == 0 || from_ns > s->at_mono_ns[s->len - 1] + period_ns / 2) &&
	    !part_at(s, from_ns))
		return false;
	return part_at(s, end_ns);
}

static bool find_intervals(struct sums *s, struct rest_walk *x)
{
	const uint64_t period_ns = x->period_ns;
	uint64_t tick_ns = 0, from_ns = 0, end_ns = 0;
	struct rest_row r;

	s->first_mono_ns = UINT64_MAX;
	while (rest_next(x, &r)) {
		if (tick_ns && r.end_ns > tick_ns + period_ns / 2) {
			if (!end_tick(s, from_ns, end_ns, period_ns))
				return false;
			tick_ns = 0;
		}
		if (!tick_ns) {
			tick_ns = end_ns = r.end_ns;
			from_ns = r.from_ns;
		}
		from_ns = r.from_ns < from_ns ? r.from_ns : from_ns;
		end_ns = r.end_ns > end_ns ? r.end_ns : end_ns;
		s->first_mono_ns = r.from_ns < s->first_mono_ns ? r.from_ns : s->first_mono_ns;
	}
	if (tick_ns && !end_tick(s, from_ns, end_ns, period_ns))
		return false;
	/* Of rows that are out of order, too. */
	if (s->len)
		s->at_mono_ns[0] = s->first_mono_ns;
	return true;
}

/* The interval that ends at that moment or behind it. */
static size_t interval_before(const struct sums *s, uint64_t mono_ns)
{
	return s->len > 2 ? count_below(s->at_mono_ns + 1, s->len - 2, mono_ns) : 0;
}

static void add_to(struct sums *s, size_t i, double value, uint64_t from_ns, uint64_t end_ns)
{
	s->amount[i] += value * (double)(end_ns - from_ns);
	s->is_known[i] = true;
}

static void add_row(struct sums *s, const struct rest_row *r)
{
	size_t i = interval_before(s, r->end_ns), steps, first;
	uint64_t end_ns = r->end_ns;

	for (steps = 0; s->at_mono_ns[i] > r->from_ns && steps < STEPS_MAX; steps++) {
		add_to(s, i, r->value, s->at_mono_ns[i], end_ns);
		end_ns = s->at_mono_ns[i--];
	}
	if (s->at_mono_ns[i] > r->from_ns) {
		first = interval_before(s, r->from_ns + 1);
		s->slope[first + 1] += r->value;
		s->slope[i + 1] -= r->value;
		s->more[first + 1]++;
		s->more[i + 1]--;
		i = first;
		end_ns = s->at_mono_ns[i + 1];
	}
	add_to(s, i, r->value, r->from_ns, end_ns);
}

static galvo_status sums_make(struct sums *s, struct rest_walk *x, galvo_error *reterr)
{
	struct rest_row r;
	bool ok;
	size_t n;

	rest_rewind(x);
	ok = find_intervals(s, x);
	n = s->len + 1;
	s->amount = alloc_array(n, sizeof(*s->amount));
	s->slope = alloc_array(n, sizeof(*s->slope));
	s->more = alloc_array(n, sizeof(*s->more));
	s->is_known = alloc_array(n, sizeof(*s->is_known));
	if (!ok || !s->amount || !s->slope || !s->more || !s->is_known)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu ticks", n);
	rest_rewind(x);
	while (s->at_mono_ns && rest_next(x, &r))
		add_row(s, &r);
	return GALVO_OK;
}

/* Sums of what is near the largest number are that number. */
static double as_finite(double v)
{
	return fmin(fmax(v, -DBL_MAX), DBL_MAX);
}

galvo_status rest_points(const struct curve_way *w, struct points *ret, galvo_error *reterr)
{
	struct rest_walk x = {.way = w};
	struct sums s = {0};
	galvo_status status;
	double slope = 0;
	int64_t n = 0;
	size_t i;

	*ret = (struct points){0};
	status = rest_open(&x, reterr);
	if (status == GALVO_OK)
		status = sums_make(&s, &x, reterr);
	if (status == GALVO_OK)
		status = points_make(ret, s.len, reterr);
	for (i = 0; status == GALVO_OK && i + 1 < s.len; i++) {
		const uint64_t from_ns = s.at_mono_ns[i], end_ns = s.at_mono_ns[i + 1];

		n += s.more[i];
		slope = n ? slope + s.slope[i] : 0;
		if (n || s.is_known[i])
			points_add(ret, from_ns, end_ns,
			           as_finite(s.amount[i] / (double)(end_ns - from_ns) + slope));
	}
	sums_finish(&s);
	rest_close(&x);
	return status;
}
