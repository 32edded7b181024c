/* Panels where memory runs out: at each allocation in turn, which is said, and nothing is left behind. */
#include "allocations.h"
#include "full_run.h"
#include "panels_rig.h"

static void refused(galvo_status status, const galvo_error *e)
{
	OK(status == GALVO_ERR_NOMEM && e->status == status && strstr(e->text, "no memory for"));
}

static void panels(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	galvo_summary *s;
	galvo_status status = GALVO_ERR_NOMEM;
	long n;

	full(f);
	full_gpus(f, 2);
	s = summary_of(f);
	for (n = 0; status != GALVO_OK && n < 100000; n++) {
		struct panels p;
		galvo_error e = {0};

		allocations_left = n;
		status = panels_make(&p, &f->run, s, &(struct panels_options){.processes_max = 3}, &e);
		allocations_left = -1;
		if (status != GALVO_OK)
			refused(status, &e);
		panels_finish(&p);
	}
	OK(n > 50 && n < 100000);
	galvo_summary_destroy(s);
	free(f);
}

static void points(void)
{
	static const char *const keys[] = {"process-cpu/others", "cpu/user",
	                                   "gpu0-counters-pct/memory busy"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct drawn d;
	size_t i;

	full(f);
	full_gpus(f, 2);
	d = draw(&f->run, &(struct panels_options){.processes_max = 3});
	for (i = 0; i < ARRAY_LEN(keys); i++) {
		const struct curve *c = curve_named(&d, keys[i]);
		galvo_status status = GALVO_ERR_NOMEM;
		struct bucket *buckets;
		struct points p;
		galvo_error e;
		size_t len;
		long n;

		if (!OK(c != NULL))
			continue;
		for (n = 0; status != GALVO_OK && n < 100; n++) {
			e = (galvo_error){0};
			allocations_left = n;
			status = curve_points(&d.panels, c, &p, &e);
			allocations_left = -1;
			if (status != GALVO_OK) {
				refused(status, &e);
				points_finish(&p);
			}
		}
		OK(n > 3 && n < 100 && p.len > 0);
		allocations_left = 0;
		status = points_buckets(&p, 0, UINT64_MAX, 10, &buckets, &len, &e);
		allocations_left = -1;
		refused(status, &e);
		points_finish(&p);
	}
	undraw(&d);
	free(f);
}

static const struct tap_test tests[] = {
	{"making them", panels},
	{"their points", points},
};
TAP_MAIN(tests)
