/* What tests of panels share: panels of a run, curves by their keys, what points come to. */
#ifndef GALVO_PANELS_RIG_H
#define GALVO_PANELS_RIG_H

#include "derive/derive.h"
#include "gpu_run.h"

struct drawn {
	const struct galvo_run *run;
	galvo_summary *summary;
	struct panels panels;
};

static inline struct drawn draw(const struct galvo_run *run, const struct panels_options *options)
{
	struct drawn d = {.run = run};
	galvo_error e = {0};

	if (!OK(galvo_summary_create(run, &d.summary, &e) == GALVO_OK) ||
	    !OK(panels_make(&d.panels, run, d.summary, options, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return d;
}

static inline void undraw(struct drawn *d)
{
	panels_finish(&d->panels);
	galvo_summary_destroy(d->summary);
}

/* NULL: there is none of that id. */
static inline const struct panel *panel_named(const struct drawn *d, const char *id)
{
	size_t i;

	for (i = 0; i < d->panels.panels_len; i++)
		if (!strcmp(d->panels.panels[i].id, id))
			return &d->panels.panels[i];
	return NULL;
}

static inline const struct curve *curve_named(const struct drawn *d, const char *key)
{
	size_t i, k;

	for (i = 0; i < d->panels.panels_len; i++)
		for (k = 0; k < d->panels.panels[i].curves_len; k++)
			if (!strcmp(d->panels.panels[i].curves[k].key, key))
				return &d->panels.panels[i].curves[k];
	return NULL;
}

static inline struct points points_of(const struct drawn *d, const struct curve *c)
{
	struct points p = {0};
	galvo_error e = {0};

	if (!OK(c != NULL) || !OK(curve_points(&d->panels, c, &p, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return p;
}

/* What they come to, weighted with time; false: they are not as panels.h has them. */
struct sums_of_points {
	double integral, s, mean, max;
};

static inline struct sums_of_points points_sum(const struct points *p)
{
	struct sums_of_points sum = {.mean = NAN, .max = NAN};
	size_t i;

	for (i = 0; i < p->len; i++) {
		double s = (double)(p->end_mono_ns[i] - p->from_mono_ns[i]) / 1e9;

		if (p->from_mono_ns[i] >= p->end_mono_ns[i] || !isfinite(p->value[i]) ||
		    (i && p->from_mono_ns[i] < p->end_mono_ns[i - 1])) {
			printf("# point %zu of %zu is wrong\n", i, p->len);
			tap_failures++;
		}
		sum.integral += p->value[i] * s;
		sum.s += s;
		sum.max = fmax(sum.max, p->value[i]);
	}
	if (sum.s > 0)
		sum.mean = sum.integral / sum.s;
	return sum;
}

static inline struct sums_of_points curve_sum(const struct drawn *d, const struct curve *c)
{
	struct points p = points_of(d, c);
	struct sums_of_points sum = points_sum(&p);

	points_finish(&p);
	return sum;
}

/* As the report has it: the mean, of rates the total, of levels the highest value. */
static inline bool agrees(const struct drawn *d, const struct curve *c, const struct figure *f,
                          double scale)
{
	struct sums_of_points sum;

	if (!c)
		return isnan(f->avg);
	sum = curve_sum(d, c);
	if (!is(sum.mean, f->avg) || (c->is_level && !is(sum.max, f->peak)) ||
	    (!c->is_level && !isnan(f->total) && !is(sum.integral * scale, f->total))) {
		printf("# %s\n", c->key);
		return false;
	}
	return true;
}

#endif
