/* What was used inside of regions: in proportion, nested, overlapping, and where nothing is known. */
#include "fake_run.h"
#include "derive/derive.h"
#include "tap.h"

#define MIB 1048576.0
#define RATE(name) name ".sum.per_second"

static galvo_summary *derive(const struct fake_run *f)
{
	galvo_summary *s = NULL;

	OK(galvo_summary_create(&f->run, &s, NULL) == GALVO_OK);
	return s;
}

static struct summary_region of(const galvo_summary *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->regions_len; i++)
		if (span_eq_str(s->regions[i].name, name))
			return s->regions[i];
	printf("# no region '%s'\n", name);
	tap_failures++;
	return (struct summary_region){0};
}

static bool is_near(double got, double want)
{
	if (fabs(got - want) < 1e-9)
		return true;
	printf("# %.12g, not %.12g\n", got, want);
	return false;
}

/* Two processes, a row a second: one at 100 % all the time, the other at 50 % from 104 s to 106 s. */
static struct fake_run *two_processes(void)
{
	static const char *const fast[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	static const char *const io[] = {RATE("proc__io_read_bytes"), RATE("proc__io_write_bytes")};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t t, d;
	uint64_t i;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, fast, 2, NULL, 0);
	d = fake_table(f, STREAM_DISK, SCOPE_PROCESS, io, 2, NULL, 0);
	fake_process(f, 10, 1, 5, "a");
	fake_process(f, 20, 10, 6, "b");
	for (i = 1; i <= 10; i++) {
		ROW(f, t, (100 + i) * S, 10, 100, MIB * (double)i);
		if (i == 5 || i == 6)
			ROW(f, t, (100 + i) * S, 20, 50, 100 * MIB);
		ROW(f, d, (100 + i) * S, 10, i == 3 ? 4000 : 0, 1000);
	}
	return f;
}

static void usage(void)
{
	struct fake_run *f = two_processes();
	struct summary_region r;
	galvo_summary *s;

	fake_region(f, "all", 0, 10000);
	fake_region(f, "inside", 2500, 4500);
	fake_region(f, "overlap", 4500, 6500);
	fake_region(f, "in one tick", 7100, 7200);
	fake_region(f, "twice", 1000, 2000);
	fake_region(f, "twice", 8000, 8500);
	s = derive(f);
	r = of(s, "all");
	OK(r.count == 1 && r.unfinished == 0 && is_near(r.total_s, 10) && is_near(r.first_s, 0));
	OK(is_near(r.cpu_s, 11) && is_near(r.peak_rss_bytes, 106 * MIB));
	OK(is_near(r.read_bytes, 4000) && is_near(r.write_bytes, 10000));
	r = of(s, "inside"); /* half of the second up to 103, all up to 104, half of the one to 105 */
	OK(is_near(r.cpu_s, 2.25) && is_near(r.read_bytes, 2000) && is_near(r.write_bytes, 2000));
	OK(is_near(r.peak_rss_bytes, 4 * MIB));
	r = of(s, "overlap");
	OK(is_near(r.cpu_s, 2.75) && is_near(r.peak_rss_bytes, 106 * MIB));
	r = of(s, "in one tick");
	OK(is_near(r.cpu_s, 0.1) && is_near(r.peak_rss_bytes, 7 * MIB));
	r = of(s, "twice");
	OK(r.count == 2 && is_near(r.total_s, 1.5) && is_near(r.mean_s, 0.75));
	OK(is_near(r.min_s, 0.5) && is_near(r.max_s, 1) && is_near(r.cpu_s, 1.5));
	EQ(s->regions_len, 5);
	OK(span_eq_str(s->regions[0].name, "all") && span_eq_str(s->regions[1].name, "twice"));
	galvo_summary_destroy(s);
	free(f);
}

static void what_is_not_known(void)
{
	struct fake_run *f = two_processes();
	struct summary_region r;
	galvo_summary *s;

	fake_region(f, "open", 9000, 0);
	fake_region(f, "behind the last row", 20000, 21000);
	fake_region(f, "backwards", 5000, 4000);
	fake_region(f, "gpu", 5000, 6000)->domain = DOMAIN_GPU;
	f->regions[3].error_ns = 0; /* when it was asked for */
	*fake_region(f, "gpu placed", 5000, 6000) = (struct region){
		.domain = DOMAIN_GPU, .name = span_str("gpu placed"), .start_mono_ns = 105 * S,
		.end_mono_ns = 106 * S, .error_ns = 5000};
	fake_region(f, "gpu", 5000, 6000);
	s = derive(f);
	r = of(s, "open");
	OK(r.unfinished == 1 && is_near(r.total_s, 1) && is_near(r.cpu_s, 1));
	r = of(s, "behind the last row");
	OK(isnan(r.cpu_s) && isnan(r.read_bytes));
	r = of(s, "backwards");
	OK(is_near(r.total_s, 0) && is_near(r.cpu_s, 0));
	r = of(s, "gpu placed");
	OK(is_near(r.total_s, 1) && is_near(r.error_s, 5e-6) && !isnan(r.cpu_s));
	EQ(s->regions_len, 6); /* the same name on two clocks is two */
	galvo_summary_destroy(s);
	f->run.tables_len = 0;
	s = derive(f);
	r = of(s, "open");
	OK(is_near(r.total_s, 1) && isnan(r.cpu_s) && isnan(r.peak_rss_bytes));
	galvo_summary_destroy(s);
	free(f);
}

/* A process that comes long after the other went: nothing is used in between. */
static void a_hole_is_no_use(void)
{
	static const char *const fast[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	galvo_summary *s;
	uint64_t i;
	size_t t;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, fast, 2, NULL, 0);
	fake_process(f, 10, 1, 5, "a");
	fake_process(f, 20, 1, 6, "b")->first_mono_ns = 107 * S;
	for (i = 1; i <= 20; i++)
		ROW(f, t, 100 * S + i * 100 * MS, 10, 100, MIB);
	for (i = 71; i <= 80; i++)
		ROW(f, t, 100 * S + i * 100 * MS, 20, 100, MIB);
	fake_region(f, "first", 0, 2000);
	fake_region(f, "hole", 2000, 7000);
	fake_region(f, "second", 7000, 8000);
	s = derive(f);
	OK(is_near(of(s, "first").cpu_s, 2));
	OK(is_near(of(s, "hole").cpu_s, 0));
	OK(is_near(of(s, "second").cpu_s, 1));
	galvo_summary_destroy(s);
	free(f);
}

static void marks(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	galvo_summary *s;

	fake_init(f);
	fake_mark(f, "b", 7000);
	fake_mark(f, "a", 3000);
	fake_mark(f, "b", 1000);
	s = derive(f);
	EQ(s->marks_len, 2);
	OK(span_eq_str(s->marks[0].name, "b") && s->marks[0].count == 2);
	OK(is_near(s->marks[0].first_s, 1) && is_near(s->marks[0].last_s, 7));
	OK(s->marks[1].count == 1 && is_near(s->marks[1].first_s, 3));
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"what was used inside", usage},
	{"what is not known", what_is_not_known},
	{"a hole is no use", a_hole_is_no_use},
	{"marks", marks},
};
TAP_MAIN(tests)
