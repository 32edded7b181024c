/* Curves that are stacked: summed up over the time of each column, with the highest sum there was. */
#include <math.h>

#include "plot.h"

/* All of a panel's curves at once, each at its point that ends after the time at hand. */
struct sweep {
	const struct plot *plot;
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

/* From one instant to the next all sums are the same. */
static void put_sum(struct sweep *s, uint64_t from_ns, uint64_t end_ns, double sum)
{
	double from = column_of(s, from_ns), end = column_of(s, end_ns);
	size_t c = (size_t)from;

	for (; c < s->out->columns && (double)c < end; c++) {
		s->known[c] += fmin(end, (double)c + 1) - fmax(from, (double)c);
		s->out->highest[c] = fmax(s->out->highest[c], sum);
	}
}

static void sweep_sums(struct sweep *s)
{
	uint64_t t = s->plot->from_mono_ns, next;
	size_t k;

	for (; t < s->plot->end_mono_ns; t = next) {
		bool is_known = false;
		double sum = 0;

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
			sum += p->value[i];
			next = next < p->end_mono_ns[i] ? next : p->end_mono_ns[i];
		}
		if (is_known)
			put_sum(s, t, next, sum);
	}
}

/* The mean of one curve over what is known of each column. */
static void put_means(struct sweep *s, const struct points *p, double *mean)
{
	const struct plot *plot = s->plot;
	size_t i, c;

	for (i = 0; i < p->len; i++) {
		double from, end;

		if (p->end_mono_ns[i] <= plot->from_mono_ns || p->from_mono_ns[i] >= plot->end_mono_ns)
			continue;
		from = p->from_mono_ns[i] <= plot->from_mono_ns ? 0 : column_of(s, p->from_mono_ns[i]);
		end = p->end_mono_ns[i] >= plot->end_mono_ns ? (double)s->out->columns
		                                             : column_of(s, p->end_mono_ns[i]);
		for (c = (size_t)from; c < s->out->columns && (double)c < end; c++)
			mean[c] += p->value[i] * (fmin(end, (double)c + 1) - fmax(from, (double)c));
	}
	for (c = 0; c < s->out->columns; c++)
		mean[c] = s->known[c] > 0 ? mean[c] / s->known[c] : 0;
}

static galvo_status stack_all(struct sweep *s, struct plot_panel *panel, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	double known = 0;
	size_t k, c;

	for (k = 0; k < s->len && status == GALVO_OK; k++)
		status = curve_points(s->plot->panels, panel->curves[k].curve, &s->points[k], reterr);
	if (status != GALVO_OK)
		return status;
	for (c = 0; c < s->out->columns; c++)
		s->out->highest[c] = -INFINITY;
	sweep_sums(s);
	for (k = 0; k < s->len; k++)
		put_means(s, &s->points[k], s->out->mean + k * s->out->columns);
	for (c = 0; c < s->out->columns; c++) {
		known += s->known[c];
		if (s->known[c] > 0)
			panel->max = fmax(panel->max, s->out->highest[c]);
		else
			s->out->highest[c] = NAN;
	}
	/* Time of which nothing is known has no part in means. */
	for (k = 0; k < s->len && known > 0; k++)
		panel->curves[k].mean *= (double)s->out->columns / known;
	return GALVO_OK;
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
		status = err_set(reterr, status, "no memory for a picture");
	for (k = 0; k < s.len && s.points; k++)
		points_finish(&s.points[k]);
	free(s.points);
	free(s.at);
	free(s.known);
	return status;
}
