/* What is drawn of a run: panels, curves and the time that their points cover, as the report has it. */
#include "full_run.h"
#include "gpu_run.h"
#include "derive/derive.h"

static struct panels panels_of(const struct fake_run *f, const galvo_summary *s,
                               const struct panels_options *options)
{
	struct panels p;
	galvo_error e = {0};

	if (!OK(panels_make(&p, &f->run, s, options, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return p;
}

static void show(const struct panels *p)
{
	size_t i, k;

	for (i = 0; i < p->panels_len; i++) {
		printf("# %s: %s (%s), %s, peaks %zu\n", p->panels[i].id, p->panels[i].title,
		       p->panels[i].group, unit_name(p->panels[i].unit), p->panels[i].peaks_len);
		for (k = 0; k < p->panels[i].curves_len; k++) {
			const struct curve *c = &p->panels[i].curves[k];
			struct points points;

			OK(curve_points(p, c, &points, NULL) == GALVO_OK);
			printf("#   %s | %s | %s: %zu points\n", c->key, c->label, c->metric, points.len);
			points_finish(&points);
		}
	}
}

static void everything(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	galvo_summary *s;
	struct panels p;

	full(f);
	full_gpus(f, 2);
	s = summary_of(f);
	p = panels_of(f, s, NULL);
	show(&p);
	panels_finish(&p);
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"everything", everything},
};
TAP_MAIN(tests)
