/* Points of curves: each value of a column with the time that it covers. */
#include <math.h>

#include "panels_parts.h"

galvo_status points_make(struct points *p, size_t len, galvo_error *reterr)
{
	*p = (struct points){.from_mono_ns = alloc_array(len, sizeof(*p->from_mono_ns)),
	                     .end_mono_ns = alloc_array(len, sizeof(*p->end_mono_ns)),
	                     .value = alloc_array(len, sizeof(*p->value))};
	if (p->from_mono_ns && p->end_mono_ns && p->value)
		return GALVO_OK;
	points_finish(p);
	return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu points", len);
}

void points_finish(struct points *p)
{
	free(p->from_mono_ns);
	free(p->end_mono_ns);
	free(p->value);
	*p = (struct points){0};
}

void points_add(struct points *p, uint64_t from_ns, uint64_t end_ns, double value)
{
	p->from_mono_ns[p->len] = from_ns;
	p->end_mono_ns[p->len] = end_ns;
	p->value[p->len++] = value;
}

/* ---- what values cover ----------------------------------------------------------------------- */

struct cover_walk cover_walk_of(const struct feed *f, size_t column, bool is_level)
{
	return (struct cover_walk){.feed = f, .values = f->ledger.table->values[column],
	                           .pass = {.period_ns = f->column[column].period_ns},
	                           .ticks = f->column[column].ticks, .is_level = is_level};
}

/* When the tick before that of the row began; 0: there is none. */
static uint64_t tick_before_ns(const struct ticks *t, size_t row)
{
	size_t low = 0, high = t ? t->len : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->row[middle] <= row)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 1 ? t->mono_ns[low - 2] : 0;
}

bool cover_walk_row(struct cover_walk *w, struct account *a, size_t row, uint64_t *ret_from_ns,
                    double *ret_value)
{
	const uint64_t mono_ns = w->feed->ledger.table->mono_ns[row];
	uint64_t covered_ns;

	if (!isfinite(w->values[row]))
		return false;
	/* Ticks matter behind a hole only, and are not looked up elsewhere. */
	if (a->any && mono_ns > a->last_mono_ns &&
	    (mono_ns - a->last_mono_ns) / GAP_FACTOR > w->pass.period_ns)
		w->pass.last_tick_ns = w->is_level ? UINT64_MAX : tick_before_ns(w->ticks, row);
	covered_ns = pass_covered_ns(&w->feed->ledger, &w->pass, a, mono_ns);
	*ret_from_ns = covered_ns < mono_ns ? mono_ns - covered_ns : 0;
	*ret_value = w->values[row];
	if (!a->any || mono_ns > a->last_mono_ns)
		a->last_mono_ns = mono_ns;
	a->any = true;
	return true;
}

/* ---- one curve ------------------------------------------------------------------------------- */

static galvo_status column_points(const struct curve_way *w, struct points *ret,
                                  galvo_error *reterr)
{
	const struct feed *f = w->feed;
	const uint32_t *rows = f->order + f->first[w->thing];
	const size_t n = f->first[w->thing + 1] - f->first[w->thing];
	struct cover_walk walk = cover_walk_of(f, w->column, w->is_level);
	struct account a = {0};
	galvo_status status;
	size_t values = 0, i;

	for (i = 0; i < n; i++)
		values += isfinite(walk.values[rows[i]]) != 0;
	status = points_make(ret, values, reterr);
	for (i = 0; status == GALVO_OK && i < n; i++) {
		const uint64_t end_ns = f->ledger.table->mono_ns[rows[i]];
		uint64_t from_ns;
		double value;

		/* Of two values at one moment the second covers nothing. */
		if (cover_walk_row(&walk, &a, rows[i], &from_ns, &value) && from_ns < end_ns)
			points_add(ret, from_ns, end_ns, value);
	}
	return status;
}

static galvo_status sample_points(const struct panels *p, const struct curve_way *w,
                                  struct points *ret, galvo_error *reterr)
{
	struct counter_samples all = gpu_samples_begin(w->samples, p->run, w->gpu), counted = all;
	struct counter_sample sample;
	galvo_status status;
	size_t n = 0;

	while (gpu_samples_next(&counted, &w->value, &sample))
		n++;
	status = points_make(ret, n, reterr);
	while (status == GALVO_OK && gpu_samples_next(&all, &w->value, &sample))
		points_add(ret, sample.from_ns, sample.to_ns, sample.value);
	return status;
}

/* Where nobody says when the recording began, a first row may claim time before there was any. */
static void cut_before(struct points *p, uint64_t zero_ns)
{
	size_t n = 0, i;

	for (i = 0; i < p->len; i++) {
		uint64_t from_ns = p->from_mono_ns[i] > zero_ns ? p->from_mono_ns[i] : zero_ns;

		if (p->end_mono_ns[i] <= zero_ns)
			continue;
		p->from_mono_ns[n] = from_ns;
		p->end_mono_ns[n] = p->end_mono_ns[i];
		p->value[n++] = p->value[i];
	}
	p->len = n;
}

galvo_status curve_points(const struct panels *p, const struct curve *c, struct points *ret,
                          galvo_error *reterr)
{
	galvo_status status = GALVO_OK;

	*ret = (struct points){0};
	switch (c->way->kind) {
	case WAY_COLUMN: status = column_points(c->way, ret, reterr); break;
	case WAY_REST:
	case WAY_TOTAL: status = rest_points(c->way, ret, reterr); break;
	case WAY_SAMPLES: status = sample_points(p, c->way, ret, reterr); break;
	}
	if (!p->run->session || !p->run->session->start_mono_ns)
		cut_before(ret, p->zero_mono_ns);
	return status;
}
