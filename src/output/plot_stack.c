/* Curves that are stacked: their means in each column, and where their sum stood out of these. */
#include <math.h>

#include "plot.h"

#define JOINT_PARTS 5  /* two of them, of the time between two ticks */
#define END_PARTS 10
#define LEAST_TIP 0.01 /* of the highest sum */

/* All of a panel's curves at once, each at its point that ends after the time at hand. */
struct sweep {
	struct plot *plot;
	struct points *points;
	size_t *at;
	size_t len;
	double *known; /* of each column: how much of it any curve covers */
	struct stacked *out;
};

static double column_of(const struct sweep *s, uint64_t mono_ns)
{
	const struct plot *p = s->plot;

	return (double)(mono_ns - p->from_mono_ns) / (double)(p->end_mono_ns - p->from_mono_ns) *
	       (double)s->out->columns;
}

/* The columns that a point reaches over, in parts; false: none of those that are drawn. */
static bool columns_of(const struct sweep *s, const struct points *p, size_t i, double *ret_from,
                       double *ret_end)
{
	const struct plot *plot = s->plot;

	if (p->end_mono_ns[i] <= plot->from_mono_ns || p->from_mono_ns[i] >= plot->end_mono_ns)
		return false;
	*ret_from = p->from_mono_ns[i] <= plot->from_mono_ns ? 0 : column_of(s, p->from_mono_ns[i]);
	*ret_end = p->end_mono_ns[i] >= plot->end_mono_ns ? (double)s->out->columns
	                                                  : column_of(s, p->end_mono_ns[i]);
	return true;
}

static void put_known(struct sweep *s, uint64_t from_ns, uint64_t end_ns)
{
	double from = column_of(s, from_ns), end = column_of(s, end_ns);
	size_t c = (size_t)from;

	for (; c < s->out->columns && (double)c < end; c++)
		s->known[c] += fmin(end, (double)c + 1) - fmax(from, (double)c);
}

/* When anything is known of any of them. */
static void sweep_known(struct sweep *s)
{
	uint64_t t = s->plot->from_mono_ns, next;
	size_t k;

	for (; t < s->plot->end_mono_ns; t = next) {
		bool is_known = false;

		next = s->plot->end_mono_ns;
		for (k = 0; k < s->len; k++) {
			const struct points *p = &s->points[k];
			size_t i = s->at[k];

			while (i < p->len && p->end_mono_ns[i] <= t)
				i++;
			s->at[k] = i;
			if (i == p->len)
				continue;
			if (p->from_mono_ns[i] > t) {
				next = next < p->from_mono_ns[i] ? next : p->from_mono_ns[i];
				continue;
			}
			is_known = true;
			next = next < p->end_mono_ns[i] ? next : p->end_mono_ns[i];
		}
		if (is_known)
			put_known(s, t, next);
	}
}

/* The mean of one curve over what is known of each column. */
static void put_means(struct sweep *s, const struct points *p, double *mean)
{
	double from, end;
	size_t i, c;

	for (i = 0; i < p->len; i++) {
		if (!columns_of(s, p, i, &from, &end))
			continue;
		for (c = (size_t)from; c < s->out->columns && (double)c < end; c++)
			mean[c] += p->value[i] * (fmin(end, (double)c + 1) - fmax(from, (double)c));
	}
	for (c = 0; c < s->out->columns; c++)
		mean[c] = s->known[c] > 0 ? mean[c] / s->known[c] : 0;
}

/*
 * A value that fills a column is seen in it as it is. One that fills none stands out of the means, where
 * most of it is: a column that merely has the end of one and the beginning of the next is no peak.
 */
static void put_tips(struct sweep *s, const struct points *total)
{
	struct stacked *out = s->out;
	double from, end;
	size_t i, c;

	for (i = 0; i < total->len; i++) {
		if (!columns_of(s, total, i, &from, &end) || ceil(from) + 1 <= end)
			continue;
		c = (size_t)((from + end) / 2);
		if (c < out->columns)
			out->highest[c] = fmax(out->highest[c], total->value[i]);
	}
}

/* Sums of the means; then what stands out of them by more than can be overlooked. */
static galvo_status measure_sum(struct sweep *s, struct plot_panel *panel, const struct points *total,
                                galvo_error *reterr)
{
	double *sum = alloc_array(s->out->columns, sizeof(*sum));
	size_t k, c;

	if (!sum)
		return plot_no_memory(reterr);
	for (k = 0; k < s->len; k++)
		for (c = 0; c < s->out->columns; c++)
			sum[c] += s->out->mean[k * s->out->columns + c];
	memcpy(s->out->highest, sum, s->out->columns * sizeof(*sum));
	put_tips(s, total);
	panel->max = -INFINITY;
	for (c = 0; c < s->out->columns; c++)
		if (s->known[c] > 0)
			panel->max = fmax(panel->max, s->out->highest[c]);
	for (c = 0; c < s->out->columns; c++) {
		if (!(s->known[c] > 0))
			s->out->highest[c] = NAN;
		else if (s->out->highest[c] - sum[c] > panel->max * LEAST_TIP)
			s->plot->has_tips = true;
		else
			s->out->highest[c] = sum[c];
	}
	free(sum);
	return GALVO_OK;
}

/*
 * The end of a point of the sum that is near: what is read of one tick is read at moments that differ a
 * little, and drawn as one; those between two values of one curve, joints, are moved further than when it
 * began or ended. *at: of the sum, does not go back.
 */
static uint64_t snapped(const struct points *total, size_t *at, uint64_t mono_ns, bool is_joint)
{
	const uint64_t parts = is_joint ? JOINT_PARTS : END_PARTS;
	uint64_t from, end, near;

	while (*at < total->len && total->end_mono_ns[*at] < mono_ns)
		++*at;
	if (*at == total->len) {
		if (total->len == 0)
			return mono_ns;
		from = total->from_mono_ns[total->len - 1];
		end = total->end_mono_ns[total->len - 1];
		return mono_ns - end < (end - from) / parts * 2 ? end : mono_ns;
	}
	from = total->from_mono_ns[*at];
	end = total->end_mono_ns[*at];
	near = (end - from) / parts * 2;
	if (end - mono_ns < near)
		return end;
	return (mono_ns > from ? mono_ns - from : from - mono_ns) < near ? from : mono_ns;
}

/* What follows each other still does, and never overlaps: a point that is shorter than the move is gone. */
static void snap(struct points *p, const struct points *total)
{
	uint64_t old_end, new_end = 0, from, end;
	size_t i, at = 0, from_at;
	bool is_joint = false;

	for (i = 0; i < p->len; i++) {
		from = snapped(total, &at, p->from_mono_ns[i], is_joint);
		if (is_joint || from < new_end)
			from = new_end;
		from_at = at;
		old_end = p->end_mono_ns[i];
		is_joint = i + 1 < p->len && p->from_mono_ns[i + 1] == old_end;
		end = snapped(total, &at, old_end, is_joint);
		at = from_at;
		new_end = end > from ? end : from;
		p->from_mono_ns[i] = from;
		p->end_mono_ns[i] = new_end;
	}
}

static galvo_status stack_all(struct sweep *s, struct plot_panel *panel, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	struct points total = {0};
	size_t k;

	if (panel->panel->total)
		status = curve_points(s->plot->panels, panel->panel->total, &total, reterr);
	for (k = 0; k < s->len && status == GALVO_OK; k++)
		status = curve_points(s->plot->panels, panel->curves[k].curve, &s->points[k], reterr);
	if (status == GALVO_OK) {
		for (k = 0; k < s->len; k++)
			snap(&s->points[k], &total);
		sweep_known(s);
		for (k = 0; k < s->len; k++)
			put_means(s, &s->points[k], s->out->mean + k * s->out->columns);
		status = measure_sum(s, panel, &total, reterr);
	}
	points_finish(&total);
	return status;
}

galvo_status plot_stack(struct plot *p, struct plot_panel *panel, galvo_error *reterr)
{
	struct sweep s = {.plot = p, .len = panel->curves_len, .out = &panel->stacked};
	galvo_status status = GALVO_ERR_NOMEM;
	size_t k, columns = p->columns;

	panel->stacked = (struct stacked){.columns = columns};
	panel->stacked.mean = alloc_array(columns * s.len, sizeof(double));
	panel->stacked.highest = alloc_array(columns, sizeof(double));
	s.known = alloc_array(columns, sizeof(double));
	s.points = alloc_array(s.len, sizeof(*s.points));
	s.at = alloc_array(s.len, sizeof(*s.at));
	if (panel->stacked.mean && panel->stacked.highest && s.known && s.points &&
	    s.at)
		status = stack_all(&s, panel, reterr);
	else
		status = plot_no_memory(reterr);
	for (k = 0; k < s.len && s.points; k++)
		points_finish(&s.points[k]);
	free(s.points);
	free(s.at);
	free(s.known);
	return status;
}
