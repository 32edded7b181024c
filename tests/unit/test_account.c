/* The books of a run: CPU time that adds up, what recording cost, what is missing and why. */
#include "derive/derive.h"
#include "fake_run.h"
#include "tap.h"

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

/* Two that are read at different paces, the second late: each row counts once in the sum. */
static void cpu_time_adds_up(void)
{
	static const char *const columns[] = {"proc__cycles_active.sum.per_second"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;
	uint64_t i;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 1, NULL, 0);
	fake_process(f, 10, 1, 100, "a")->root = true;
	fake_process(f, 11, 10, 101, "b");
	for (i = 1; i <= 20; i++) {
		ROW(f, t, 100 * S + i * 100 * MS, 10, 50);
		if (i % 3 == 0)
			ROW(f, t, 100 * S + i * 100 * MS + MS, 11, 90);
	}
	f->session.workload = (struct session_workload){.present = true, .pid = 10,
		.start_mono_ns = 100 * S, .end_mono_ns = 103 * S, .exited = true, .user_ns = 4 * S};
	s = summary_of(f);
	OK(is(s->processes[1].cpu_pct_of_core.total, 1.44));
	OK(is(s->cpu.followed_pct_of_core.total, s->processes[0].cpu_pct_of_core.total +
	                                         s->processes[1].cpu_pct_of_core.total));
	OK(is(s->cpu.unseen_s, 4 - s->cpu.followed_pct_of_core.total));
	galvo_summary_destroy(s);
	free(f);
}

static void costs_and_notes(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct session_note note = {"source pressure", "proc/pressure/cpu: No such file"};
	struct damage damage = {"disk_metrics.pb", 99, "torn", true};
	struct run_source sources[] = {{STREAM_DISK, "disk", "", 1, 0, 50, 0, 0, 7, 0, 0},
	                               {STREAM_DISK, "process_io", "denied", 4, 0, 50, 3, 0, 7,
	                                103 * S, 0}};
	struct galvo_summary *s;

	fake_init(f);
	f->session.notes = &note;
	f->session.notes_len = 1;
	f->run.sources = sources;
	f->run.sources_len = 2;
	f->run.damages = &damage;
	f->run.damages_len = 1;
	f->streams[0].stats = (struct probe_stats){.ticks = 100, .missed_ticks = 2,
	                                           .rejected_values = 1, .thread_cpu_ns = 20 * MS};
	f->streams[1].stats = (struct probe_stats){.ticks = 50, .thread_cpu_ns = 30 * MS};
	f->streams[1].dropped_rows = 5;
	s = summary_of(f);
	OK(s->cost.sampling_only && is(s->cost.cpu_s, 0.05) && is(s->cost.pct_of_core, 0.5));
	OK(isnan(s->cost.max_rss_bytes) && is(s->cost.bytes_written, 3072));
	OK(s->cost.ticks == 150 && s->cost.missed_ticks == 2 && s->cost.dropped_rows == 5);
	EQ(s->notes_len, 4);
	OK(s->notes[0].kind == NOTE_SESSION && s->notes[1].kind == NOTE_SOURCE);
	OK(is(s->notes[1].first_failure_s, 3) && is(s->sources[1].first_failure_s, 3));
	OK(isnan(s->sources[0].first_failure_s));
	OK(s->notes[1].count == 3 && s->notes[2].torn_tail && s->notes[3].kind == NOTE_REJECTED);
	galvo_summary_destroy(s);
	f->streams[0].messages = f->streams[1].messages = 0; /* killed before the first flush */
	s = summary_of(f);
	OK(isnan(s->cost.cpu_s) && isnan(s->cost.bytes_written));
	galvo_summary_destroy(s);
	f->session.cost = (struct session_cost){.present = true, .user_ns = 80 * MS,
		.system_ns = 20 * MS, .max_rss_bytes = 4096, .bytes_written = 77,
		.dropped_rows = 6};
	s = summary_of(f);
	OK(!s->cost.sampling_only && is(s->cost.cpu_s, 0.1) && is(s->cost.pct_of_core, 1));
	OK(is(s->cost.max_rss_bytes, 4096) && is(s->cost.bytes_written, 77));
	EQ(s->cost.dropped_rows, 6);
	galvo_summary_destroy(s);
	free(f);
}

static void the_cost_of_a_library_and_of_none(void)
{
	static const struct {
		struct session_cost cost;
		enum cost_of of;
		double cpu_s; /* below 0: not known */
	} rows[] = {
		{{.kind = COST_PROCESS, .user_ns = 80 * MS, .threads_ns = 1}, COST_OF_PROCESS, 0.08},
		{{.kind = COST_PROCESS}, COST_OF_PROCESS, 0},
		{{.kind = COST_UNSPECIFIED, .user_ns = 80 * MS}, COST_OF_PROCESS, 0.08},
		{{.kind = COST_UNSPECIFIED}, COST_OF_SAMPLING, 0.02},
		{{.kind = COST_THREADS, .user_ns = 9, .threads_ns = 30 * MS}, COST_OF_THREADS, 0.03},
		{{.kind = COST_NONE, .threads_ns = 9}, COST_OF_NOTHING, -1},
		{{.kind = (enum cost_kind)77, .user_ns = 9}, COST_OF_SAMPLING, 0.02},
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct galvo_summary *s;

		fake_init(f);
		f->streams[0].stats.thread_cpu_ns = 20 * MS; /* the closing account goes before it */
		f->session.cost = rows[i].cost;
		f->session.cost.present = true;
		s = summary_of(f);
		OK(s->cost.of == rows[i].of && s->cost.sampling_only == (rows[i].of == COST_OF_SAMPLING));
		OK(rows[i].cpu_s < 0 ? isnan(s->cost.cpu_s) && isnan(s->cost.pct_of_core)
		                     : is(s->cost.cpu_s, rows[i].cpu_s));
		galvo_summary_destroy(s);
	}
	free(f);
}

/* What guarantee held: of events all, or what was lost; of files the interval that really was. */
static void how_complete_it_is(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;

	fake_init(f);
	s = summary_of(f);
	OK(!s->following.is_known);
	galvo_summary_destroy(s);
	f->session.following = (struct session_following){
		.present = true, .way = WAY_EVENTS, .why_no_events = "", .forks = 9, .short_children = 4,
		.short_without_totals = 1, .short_cpu_ns = 3 * MS, .scan_interval_ns = 100 * MS,
		.longest_interval_ns = 101 * MS};
	s = summary_of(f);
	OK(s->following.is_known && s->following.is_complete && !s->following.why_no_events);
	OK(is(s->following.short_cpu_s, 0.003) && is(s->following.longest_interval_s, 0.101));
	galvo_summary_destroy(s);
	f->session.following.lost_events = 1;
	f->session.following.short_without_totals = 4;
	s = summary_of(f);
	OK(!s->following.is_complete && isnan(s->following.short_cpu_s));
	galvo_summary_destroy(s);
	f->session.following.way = WAY_NUMBERS;
	f->session.following.why_no_events = "not permitted";
	f->session.following.lost_events = 0;
	s = summary_of(f);
	OK(!s->following.is_complete && !strcmp(s->following.why_no_events, "not permitted"));
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"CPU time adds up", cpu_time_adds_up},
	{"costs and notes", costs_and_notes},
	{"the cost of a library, and of none", the_cost_of_a_library_and_of_none},
	{"how complete it is", how_complete_it_is},
};
TAP_MAIN(tests)
