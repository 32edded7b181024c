/* Columns to figures: what a row covers, holes, things that come and go, trees that lie. */
#include "derive/derive.h"
#include "derive/figure.h"
#include "fake_run.h"
#include "tap.h"

#define BUSY "cpu__cycles_busy.avg.pct_of_peak_sustained_elapsed"
#define CORE_BUSY "core__cycles_busy.avg.pct_of_peak_sustained_elapsed"
#define ACTIVE "proc__cycles_active.sum.per_second"
#define READ "disk__read_bytes.sum.per_second"
#define WRITE "disk__write_bytes.sum.per_second"

static const char *const active[] = {ACTIVE, "proc__rss_bytes"};
static const char *const moved[] = {READ, WRITE};

/* Close enough for sums of a few doubles; NaN is like NaN. */
static bool is(double got, double want)
{
	if ((isnan(got) && isnan(want)) || fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))
		return true;
	printf("# got %.17g, want %.17g\n", got, want);
	return false;
}

static struct galvo_summary *summary_of(const struct fake_run *f)
{
	galvo_summary *s = NULL;
	galvo_error e = {0};

	if (!OK(galvo_summary_create(&f->run, &s, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return s;
}

static void an_empty_run(void)
{
	struct galvo_run none = {0};
	galvo_summary *s = NULL;

	OK(galvo_summary_create(&none, &s, NULL) == GALVO_OK);
	OK(!s->has_session && !s->finished && s->workload.state == WORKLOAD_NONE);
	OK(isnan(s->recorded_s) && isnan(s->cpu.time.busy_pct.avg) && isnan(s->cpu.imbalance_ratio));
	OK(isnan(s->memory.followed_rss_bytes.peak) && isnan(s->cost.cpu_s));
	OK(isnan(s->disk_read_bytes_per_s.total));
	EQ(s->disks_len + s->interfaces_len + s->processes_len + s->notes_len, 0);
	galvo_summary_destroy(s);
	galvo_summary_destroy(NULL);
	OK(galvo_summary_create(NULL, &s, NULL) == GALVO_ERR_INVALID);
}

static void averages_weigh_time(void)
{
	static const char *const columns[] = {BUSY, "mem__used_bytes", "mem__capacity_bytes"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM, columns, 3, NULL, 0);
	ROW(f, t, 101 * S, 0, 10, 1000, NAN);
	ROW(f, t, 102 * S, 0, 20, 2000, NAN);
	ROW(f, t, 103 * S, 0, NAN, NAN, NAN);
	ROW(f, t, 105 * S, 0, 40, 4000, NAN); /* absent at 103 s: this one covers 3 s */
	s = summary_of(f);
	OK(is(s->cpu.time.busy_pct.avg, (10 + 20 + 3 * 40) / 5.0) && is(s->cpu.time.busy_pct.peak, 40));
	OK(is(s->memory.used_bytes.avg, (1000 + 2000 + 3 * 4000) / 5.0));
	OK(is(s->memory.used_bytes.peak, 4000) && isnan(s->memory.used_bytes.total));
	OK(isnan(s->memory.capacity_bytes.avg) && isnan(s->memory.cached_bytes.avg));
	OK(is(s->recorded_s, 10));
	galvo_summary_destroy(s);
	free(f);
}

static void peaks_are_over_a_window(void)
{
	static const char *const columns[] = {BUSY};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t, i;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM, columns, 1, NULL, 0);
	for (i = 1; i <= 30; i++) /* every 10 ms; in the second 100 ms half of them are at 100 */
		ROW(f, t, 100 * S + i * 10 * MS, 0, i > 10 && i <= 20 && i % 2 ? 100 : 0);
	s = summary_of(f);
	OK(is(s->cpu.time.busy_pct.peak, 50) && is(s->cpu.time.busy_pct.avg, 50 / 3.0));
	galvo_summary_destroy(s);
	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM, columns, 1, NULL, 0);
	for (i = 1; i <= 3; i++) /* 30 ms: no window was ever full */
		ROW(f, t, 100 * S + i * 10 * MS, 0, 100);
	s = summary_of(f);
	OK(isnan(s->cpu.time.busy_pct.peak) && is(s->cpu.time.busy_pct.avg, 100));
	galvo_summary_destroy(s);
	free(f);
}

static double read_total(struct fake_run *f)
{
	struct galvo_summary *s = summary_of(f);
	double total = s->disks[0].read_bytes_per_s.total;

	galvo_summary_destroy(s);
	return total;
}

static void holes_are_not_integrated(void)
{
	static const char *const names[] = {"sda", "sdb"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;
	uint64_t i;

	fake_init(f);
	t = fake_table(f, STREAM_DISK, SCOPE_DEVICE, moved, 2, names, 2);
	for (i = 1; i <= 10; i++)
		ROW(f, t, (100 + i) * S, 0, 100, 0);
	ROW(f, t, 130 * S, 0, 100, 0); /* 20 s after the last one */
	ROW(f, t, 131 * S, 0, 100, 0);
	OK(is(read_total(f), 1000 + 2000 + 100)); /* nothing was lost: the tick was late */
	f->session.start_mono_ns = 100 * S + 500 * MS;
	OK(is(read_total(f), 950 + 2000 + 100)); /* no row covers what was before the start */
	f->session.start_mono_ns = 100 * S;
	f->streams[1].missing_messages = 3;
	OK(is(read_total(f), 1000 + 100 + 100));
	s = summary_of(f);
	EQ(s->streams[1].gaps, 1);
	EQ(s->streams[0].gaps, 0);
	OK(is(s->disks[0].read_bytes_per_s.avg, 100));
	OK(isnan(s->disks[1].read_bytes_per_s.total) && isnan(s->disks[1].moved_bytes_per_s.peak));
	galvo_summary_destroy(s);
	free(f);
}

/* A device that was unplugged for a while: others had rows meanwhile, so nobody was late. */
static void a_thing_that_came_back(void)
{
	static const char *const names[] = {"sda", "sdb"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t t;
	uint64_t i;

	fake_init(f);
	t = fake_table(f, STREAM_DISK, SCOPE_DEVICE, moved, 2, names, 2);
	for (i = 1; i <= 30; i++) {
		if (i <= 5 || i > 25)
			ROW(f, t, (100 + i) * S, 0, 10, 0);
		ROW(f, t, (100 + i) * S + 1000, 1, 10, 0);
	}
	OK(is(read_total(f), 100));
	free(f);
}

/* What a counter grew by is the same however it was sampled. */
static void integrals_do_not_depend_on_sampling(void)
{
	static const char *const names[] = {"sda"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	int round;

	for (round = 0; round < 50; round++) {
		uint64_t now = 100 * S, grown = 0;
		size_t t, i;

		fake_init(f);
		t = fake_table(f, STREAM_DISK, SCOPE_DEVICE, moved, 2, names, 1);
		for (i = 0; i < 300; i++) {
			uint64_t dt, bytes;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			dt = i ? (50 + seed % 100) * MS : 100 * MS;
			bytes = (seed >> 32) % 100000;
			now += dt;
			grown += bytes;
			ROW(f, t, now, 0, (double)bytes / ((double)dt / 1e9), 0);
		}
		/* The first row is taken to cover a median period. */
		if (!OK(fabs(read_total(f) - (double)grown) < 50000))
			printf("# round %d\n", round);
	}
	free(f);
}

static void disks_are_not_counted_twice(void)
{
	static const char *const names[] = {"sda",  "sda1", "dm-0",    "nvme0n1p2",
	                                    "sdab", "sdb1", "mmcblk0", "mmcblk0p1"};
	static const bool counted[] = {true, false, false, true, true, true, true, false};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	uint32_t i;
	size_t t;

	fake_init(f);
	t = fake_table(f, STREAM_DISK, SCOPE_DEVICE, moved, 2, names, 8);
	for (i = 0; i < 8; i++) {
		f->devices[i] = (struct run_device){names[i], i % 2 == 0, i == 2};
		ROW(f, t, 101 * S, i, 1, 2);
		ROW(f, t, 102 * S, i, 1, 2);
	}
	f->run.devices_len = 8;
	s = summary_of(f);
	for (i = 0; i < 8; i++)
		if (!OK(s->disks[i].counted == counted[i]))
			printf("# %s\n", names[i]);
	OK(is(s->disk_read_bytes_per_s.total, 10) && is(s->disk_write_bytes_per_s.total, 20));
	OK(is(s->disks[0].moved_bytes_per_s.avg, 3) && is(s->disks[0].moved_bytes_per_s.total, 6));
	galvo_summary_destroy(s);
	free(f);
}

static void the_loopback_is_not_in_totals(void)
{
	static const char *const columns[] = {"net__rx_bytes.sum.per_second",
	                                      "net__tx_bytes.sum.per_second"};
	static const char *const names[] = {"lo", "eth0", "eth1"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;

	fake_init(f);
	f->run.sources = &(struct run_source){STREAM_SYSTEM, "net", "", 1, 1 * S, 1, 0, 0, 0, 0, 0};
	f->run.sources_len = 1;
	t = fake_table(f, STREAM_SYSTEM, SCOPE_INTERFACE, columns, 2, names, 3);
	ROW(f, t, 101 * S, 0, 1000, 1000); /* one row each: the source tells its period */
	ROW(f, t, 101 * S, 1, 10, NAN);
	ROW(f, t, 101 * S, 2, 5, 1);
	ROW(f, t, 101 * S, 99, 5, 1); /* no such name */
	s = summary_of(f);
	OK(s->interfaces[1].counted && !s->interfaces[0].counted);
	OK(is(s->net_rx_bytes_per_s.total, 15) && is(s->net_tx_bytes_per_s.total, 1));
	OK(isnan(s->interfaces[1].tx_bytes_per_s.total) && isnan(s->interfaces[1].drops_count));
	galvo_summary_destroy(s);
	free(f);
}

static void cores_and_their_imbalance(void)
{
	static const char *const columns[] = {CORE_BUSY};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	uint64_t i;
	size_t t;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_CORE, columns, 1, NULL, 0);
	for (i = 1; i <= 4; i++) {
		ROW(f, t, (100 + i) * S, 0, 90);
		ROW(f, t, (100 + i) * S, 2, 20); /* CPU 1 is offline */
		ROW(f, t, (100 + i) * S, 3, 10);
		ROW(f, t, (100 + i) * S, 4000000000U, 10);
	}
	s = summary_of(f);
	EQ(s->cpu.cores_len, 4);
	OK(!s->cpu.cores[1].present && isnan(s->cpu.cores[1].time.busy_pct.avg));
	OK(s->cpu.busiest && s->cpu.busiest->cpu == 0 && s->cpu.idlest && s->cpu.idlest->cpu == 3);
	OK(is(s->cpu.imbalance_ratio, (90 - 40) / 40.0));
	galvo_summary_destroy(s);
	free(f);
}

/* Two lives of one pid, and the sum over processes tick by tick. */
static void processes_by_identity(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;

	fake_init(f);
	fake_process(f, 10, 1, 50, "root")->root = true;
	fake_process(f, 20, 10, 60, "first")->end_mono_ns = 103 * S;
	fake_process(f, 20, 10, 90, "second")->first_mono_ns = 104 * S;
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, active, 2, NULL, 0);
	ROW(f, t, 101 * S, 10, 100, 1000);
	ROW(f, t, 101 * S, 20, 50, 500);
	ROW(f, t, 102 * S, 10, 100, 1000);
	ROW(f, t, 102 * S, 20, 50, NAN); /* not read at this tick: the last one stands */
	ROW(f, t, 103 * S, 10, 100, 1000);
	ROW(f, t, 104 * S, 10, 100, 1000);
	ROW(f, t, 105 * S, 10, 100, 1000);
	ROW(f, t, 105 * S, 20, 20, 100);
	ROW(f, t, 105 * S, 77, 20, 100); /* nobody we know */
	s = summary_of(f);
	EQ(s->processes_len, 3);
	OK(is(s->processes[0].cpu_pct_of_core.total, 5) && is(s->processes[0].lifetime_s, 10));
	OK(span_eq_str(span_str(s->processes[1].info->comm), "first"));
	OK(is(s->processes[1].cpu_pct_of_core.total, 1) && is(s->processes[1].lifetime_s, 3));
	OK(is(s->processes[2].cpu_pct_of_core.total, 0.2));
	OK(is(s->processes[2].rss_bytes.peak, 100));
	OK(is(s->processes[2].seen_s, 4) && is(s->processes[2].lifetime_s, 6));
	OK(is(s->memory.followed_rss_bytes.peak, 1500));
	OK(is(s->memory.followed_rss_bytes.avg, (1500 + 1500 + 1000 + 1000 + 1100) / 5.0));
	OK(is(s->cpu.followed_pct_of_core.total, 6.2) && is(s->cpu.followed_pct_of_core.peak, 150));
	galvo_summary_destroy(s);
	free(f);
}

/* Two ticks that follow each other at once are two all the same: nobody is counted twice in one. */
static void a_tick_has_each_once(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;

	fake_init(f);
	fake_process(f, 10, 1, 50, "root")->root = true;
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, active, 2, NULL, 0);
	ROW(f, t, 101 * S, 10, 100, 1000);
	ROW(f, t, 102 * S, 10, 100, 1000);
	ROW(f, t, 102 * S + 100, 10, 100, 1000);
	s = summary_of(f);
	OK(is(s->memory.followed_rss_bytes.peak, 1000));
	galvo_summary_destroy(s);
	free(f);
}

/* Names in the order of the tree, a dot for each level. */
static void tree_is(struct fake_run *f, const char *want)
{
	struct galvo_summary *s = summary_of(f);
	char text[512];
	size_t n = 0, i, k;

	for (i = 0; i < s->processes_len; i++) {
		for (k = 0; k < s->processes[i].depth && n < sizeof(text); k++)
			text[n++] = '.';
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ",
		                      s->processes[i].info->comm);
		OK(s->processes[i].parent == SIZE_MAX || s->processes[i].parent < i);
	}
	if (!OK(span_eq_str(span_of(text, n), want)))
		printf("# got %s\n", text);
	galvo_summary_destroy(s);
}

static void trees(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	uint32_t deepest = 0, i;
	size_t n;

	fake_init(f);
	fake_process(f, 30, 20, 7, "grandchild");
	fake_process(f, 20, 10, 6, "child");
	fake_process(f, 10, 1, 5, "root")->root = true;
	fake_process(f, 40, 99, 8, "stray");        /* its parent was never seen */
	fake_process(f, 20, 1, 9, "reused");        /* another life of pid 20 */
	fake_process(f, 50, 20, 9, "its");          /* whose parent is the new one */
	tree_is(f, "root .child ..grandchild .stray .reused ..its ");
	f->processes[4].root = true; /* with two roots nobody knows whose the stray was */
	tree_is(f, "root .child ..grandchild reused .its stray ");

	fake_init(f); /* a cycle, one of itself, and twins of one tick */
	fake_process(f, 1, 2, 5, "a");
	fake_process(f, 2, 3, 5, "b");
	fake_process(f, 3, 1, 5, "c");
	fake_process(f, 4, 4, 5, "self");
	fake_process(f, 4, 4, 5, "twin");
	tree_is(f, "c .b ..a twin .self ");

	fake_init(f); /* a chain within one tick goes only so deep */
	for (i = 1; i <= 100; i++)
		fake_process(f, i, i - 1, 5, "");
	s = summary_of(f);
	for (n = 0; n < s->processes_len; n++)
		deepest = s->processes[n].depth > deepest ? s->processes[n].depth : deepest;
	OK(deepest >= 60 && deepest <= 65);
	galvo_summary_destroy(s);
	free(f);
}

static void workloads(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct session_workload *w = &f->session.workload;
	struct galvo_summary *s;

	fake_init(f);
	*w = (struct session_workload){.present = true, .pid = 10, .start_mono_ns = 101 * S,
	                               .end_mono_ns = 106 * S, .exited = true, .exit_code = 3,
	                               .user_ns = 6 * S, .system_ns = 1 * S};
	s = summary_of(f);
	OK(s->workload.state == WORKLOAD_EXITED && is(s->workload.wall_s, 5));
	OK(is(s->workload.pct_of_core, 140) && isnan(s->workload.max_rss_bytes));
	OK(is(s->cpu.unseen_s, 7)); /* no process has a row */
	galvo_summary_destroy(s);
	w->term_signal = 9;
	s = summary_of(f);
	OK(s->workload.state == WORKLOAD_KILLED);
	galvo_summary_destroy(s);
	w->exited = false;
	w->end_mono_ns = 0;
	s = summary_of(f);
	OK(s->workload.state == WORKLOAD_RUNNING && is(s->workload.wall_s, 9));
	OK(isnan(s->workload.user_s));
	galvo_summary_destroy(s);
	f->session.stop_mono_ns = 0;
	f->streams[1].last_mono_ns = 104 * S;
	s = summary_of(f);
	OK(s->workload.state == WORKLOAD_UNKNOWN && is(s->workload.wall_s, 3));
	OK(!s->finished && is(s->recorded_s, 4));
	galvo_summary_destroy(s);
	free(f);
}

/* First every 10 ms, then every 160 ms, at other ticks than another one. */
static void readings_that_became_rare(void)
{
	struct run_source source = {.stream = STREAM_SYSTEM, .name = "process", .reason = "",
	                            .divisor = 1, .period_ns = 10 * MS, .longest_period_ns = 160 * MS};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	uint64_t ms = 0;
	size_t t, i;

	fake_init(f);
	f->run.sources = &source;
	f->run.sources_len = 1;
	fake_process(f, 7, 1, 10, "a");
	fake_process(f, 8, 1, 20, "b")->end_mono_ns = 102 * S + 100 * MS;
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, active, 2, NULL, 0);
	for (i = 0; i < 100; i++) {
		ms += 10;
		ROW(f, t, 100 * S + ms * MS, 7, 50, 1000);
		ROW(f, t, 100 * S + ms * MS + 1000, 8, 20, 100);
	}
	for (i = 0; i < 10; i++) {
		ms += 160;
		if (i < 6)
			ROW(f, t, 100 * S + (ms - 80) * MS, 8, 20, 100);
		ROW(f, t, 100 * S + ms * MS, 7, 50, 1000);
	}
	s = summary_of(f); /* 1 s of 10 ms, then 1.6 s, the other one 0.88 s */
	OK(is(s->processes[0].cpu_pct_of_core.total, 0.5 * 2.6));
	OK(fabs(s->processes[1].cpu_pct_of_core.total - 0.2 * 1.88) < 1e-5);
	OK(is(s->memory.followed_rss_bytes.peak, 1100));
	OK(s->memory.followed_rss_bytes.avg > 1070 && s->memory.followed_rss_bytes.avg < 1090);
	galvo_summary_destroy(s);
	source.longest_period_ns = 0; /* as older recordings have it: what came late is not known to */
	s = summary_of(f);
	OK(s->processes[0].cpu_pct_of_core.total < 0.5 * 2);
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"an empty run", an_empty_run},
	{"averages weigh time, NaN is absent", averages_weigh_time},
	{"peaks are over a window", peaks_are_over_a_window},
	{"holes are not integrated", holes_are_not_integrated},
	{"a thing that came back", a_thing_that_came_back},
	{"readings that became rare", readings_that_became_rare},
	{"integrals do not depend on sampling", integrals_do_not_depend_on_sampling},
	{"disks are not counted twice", disks_are_not_counted_twice},
	{"the loopback is not in totals", the_loopback_is_not_in_totals},
	{"cores and their imbalance", cores_and_their_imbalance},
	{"a tick has each process once", a_tick_has_each_once},
	{"processes by identity", processes_by_identity},
	{"trees", trees},
	{"workloads", workloads},
};
TAP_MAIN(tests)
