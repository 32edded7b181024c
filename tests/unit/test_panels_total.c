/* Sums of stacks, levels that nobody read, and runs that do not know when they began. */
#include "full_run.h"
#include "panels_rig.h"

/* Two that hand over to each other; what is read of one tick is read 50 µs apart. */
static struct fake_run *handing_over(uint64_t hole_ms)
{
	static const char *const columns[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	uint64_t i;
	size_t t;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 2, NULL, 0);
	fake_process(f, 10, 1, 5, "a");
	fake_process(f, 20, 1, 6, "b");
	for (i = 1; i <= 60; i++) {
		uint64_t at_ns = 100 * S + i * 20 * MS + (i > 30 ? hole_ms : 0) * MS;

		ROW(f, t, at_ns, 10, i / 2 % 2 ? 100 : 0, 1000);
		ROW(f, t, at_ns + 50000, 20, i / 2 % 2 ? 0 : 100, 3000);
	}
	return f;
}

static void never_at_once(void)
{
	struct fake_run *f = handing_over(0);
	struct drawn d = draw(&f->run, NULL);
	const struct panel *p = panel_named(&d, "process-cpu");
	struct sums_of_points a = curve_sum(&d, &p->curves[0]), b = curve_sum(&d, &p->curves[1]);
	struct sums_of_points all = curve_sum(&d, p->total);

	OK(a.max >= 100 && b.max >= 100);
	OK(all.max > 99 && all.max < 101);
	is(all.integral, a.integral + b.integral);
	OK(!strcmp(p->total->key, "process-cpu/total") && !p->total->is_level && !p->total->is_rest);
	OK(panel_named(&d, "process-memory")->total->is_level);
	is(curve_sum(&d, panel_named(&d, "process-memory")->total).max, 4000);
	undraw(&d);
	free(f);
}

/* Shown ones, others, and columns beside each other, in any stack that there is. */
static void all_of_it(void)
{
	const struct panels_options few = {.processes_max = 1};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct drawn d;
	size_t i, k, stacks = 0;

	full(f);
	full_gpus(f, 2);
	d = draw(&f->run, &few);
	for (i = 0; i < d.panels.panels_len; i++) {
		const struct panel *p = &d.panels.panels[i];
		double sum = 0, whole;

		OK((p->total != NULL) == (p->shape == PANEL_STACK));
		if (!p->total)
			continue;
		for (k = 0; k < p->curves_len; k++)
			sum += curve_sum(&d, &p->curves[k]).integral;
		whole = curve_sum(&d, p->total).integral;
		if (!OK(fabs(whole - sum) <= 1e-9 * fabs(sum)))
			printf("# %s: %g, not %g\n", p->id, whole, sum);
		stacks++;
	}
	OK(stacks > 3);
	undraw(&d);
	free(f);
}

static size_t gaps_of(const struct drawn *d, const struct curve *c)
{
	struct points p = points_of(d, c);
	size_t gaps = 0, i;

	for (i = 1; i < p.len; i++)
		gaps += p.from_mono_ns[i] > p.end_mono_ns[i - 1];
	points_finish(&p);
	return gaps;
}

/* The recorder was stopped: what counters grew by is known, what memory was in between is not. */
static void nobody_read(void)
{
	struct fake_run *f = handing_over(2000);
	struct drawn d = draw(&f->run, NULL);

	EQ(gaps_of(&d, curve_named(&d, "process-cpu/10:5")), 0);
	EQ(gaps_of(&d, panel_named(&d, "process-cpu")->total), 0);
	EQ(gaps_of(&d, curve_named(&d, "process-memory/10:5")), 1);
	EQ(gaps_of(&d, panel_named(&d, "process-memory")->total), 1);
	undraw(&d);
	free(f);
}

/* Cores are read once a second: their first value does not say that the recording began a second before. */
static void unknown_start(void)
{
	static const char *const core[] = {SHARE("core__cycles_busy")};
	static const char *const whole[] = {SHARE("cpu__cycles_user")};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct points points;
	struct drawn d;
	size_t fast, slow;
	uint64_t i;

	fake_init(f);
	f->run.session = NULL;
	fast = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM, whole, 1, NULL, 0);
	slow = fake_table(f, STREAM_SYSTEM, SCOPE_CORE, core, 1, NULL, 0);
	for (i = 1; i <= 300; i++) {
		ROW(f, fast, 100 * S + i * 10 * MS, 0, 50);
		if (i % 100 == 5)
			ROW(f, slow, 100 * S + i * 10 * MS, 0, 40);
	}
	d = draw(&f->run, NULL);
	EQ(d.panels.zero_mono_ns, 100 * S + 10 * MS);
	is((double)(d.panels.end_mono_ns - d.panels.zero_mono_ns) / 1e9, d.summary->recorded_s);
	points = points_of(&d, curve_named(&d, "cores/0"));
	EQ(points.len, 3);
	EQ(points.from_mono_ns[0], d.panels.zero_mono_ns);
	points_finish(&points);
	undraw(&d);
	free(f);
}

static const struct tap_test tests[] = {
	{"what was never at once is no sum", never_at_once},
	{"a sum has all of its stack", all_of_it},
	{"levels have gaps where nobody read them", nobody_read},
	{"nothing begins before what is known", unknown_start},
};
TAP_MAIN(tests)
