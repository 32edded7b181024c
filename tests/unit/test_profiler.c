/* Profilers alone and together, by the public headers: their files, their processes, their ends. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "galvo/galvo.h"
#include "scratch.h"
#include "stream/stream.h"
#include "tap.h"

enum { SUITES = 3 };

static char base[] = "/tmp/galvo-profiler-XXXXXX";
static uint64_t cycles = 200; /* of starting and stopping; the first argument */

static const char *in_base(const char *name)
{
	return scratch_path(base, name);
}

/* The stream of a file that has no metadata beside it. */
static struct galvo_run *stream_of(enum stream_kind kind, const char *path)
{
	struct galvo_run *run = NULL;
	struct buf buf;
	struct span text = {0};
	galvo_error e = {0};

	buf_init(&buf, 1 << 24);
	if (!OK(file_read(AT_FDCWD, path, &buf, &text, &e) == GALVO_OK) ||
	    !OK(run_read_bytes(kind, text, &run, &e) == GALVO_OK))
		printf("# %s: %s\n", path, e.text);
	buf_finish(&buf);
	return run;
}

static size_t rows_of(const struct galvo_run *run, enum stream_kind kind, enum scope scope,
                      uint32_t key)
{
	const struct table *t = run ? run_table(run, kind, scope) : NULL;
	size_t i, n = 0;

	for (i = 0; t && i < t->rows_len; i++)
		n += t->key[i] == key;
	return n;
}

static const struct process_info *info_of(const struct galvo_run *run, uint32_t pid)
{
	size_t i;

	for (i = 0; run && i < run->processes_len; i++)
		if (run->processes[i].pid == pid)
			return &run->processes[i];
	return NULL;
}

static void wait_ticks(const galvo_suite *suite, uint64_t n)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	uint64_t until, give_up = clock_real.mono_ns(&clock_real) + 20 * NS_PER_S;
	_Atomic uint32_t stop = 0;

	galvo_suite_get_stats(suite, &stats, NULL);
	for (until = stats.ticks + n;
	     stats.ticks < until && clock_real.mono_ns(&clock_real) < give_up;) {
		clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + NS_PER_MS, &stop);
		galvo_suite_get_stats(suite, &stats, NULL);
	}
	OK(stats.ticks >= until);
}

static void pass_time(uint64_t ns)
{
	_Atomic uint32_t stop = 0;

	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ns, &stop);
}

/* ---- alone ------------------------------------------------------------------------------------------ */

static void system_alone(void)
{
	galvo_system_config config = galvo_system_config_default();
	galvo_process self = {0};
	galvo_profiler *p;
	struct galvo_run *run;
	galvo_error e;

	config.frequency_hz = 1000;
	config.budget_pct = 100;
	config.processes = &self;
	config.processes_len = 1;
	config.output_file = in_base("system.pb");
	if (!OK(galvo_system_profiler_create(&config, &p, &e) == GALVO_OK))
		return;
	EQ(galvo_profiler_stop(p, &e), GALVO_ERR_STATE);
	EQ(galvo_profiler_add_process(p, 1, NULL, &e), GALVO_ERR_STATE);
	OK(galvo_profiler_start(p, &e) == GALVO_OK);
	EQ(galvo_profiler_start(p, &e), GALVO_ERR_STATE);
	pass_time(100 * NS_PER_MS);
	galvo_profiler_signal_stop(p);
	OK(galvo_profiler_stop(p, &e) == GALVO_OK);
	EQ(galvo_profiler_start(p, &e), GALVO_ERR_STATE); /* once */
	galvo_profiler_destroy(p);
	run = stream_of(STREAM_SYSTEM, in_base("system.pb"));
	OK(rows_of(run, STREAM_SYSTEM, SCOPE_SYSTEM, 0) > 3);
	OK(rows_of(run, STREAM_SYSTEM, SCOPE_PROCESS, (uint32_t)getpid()) > 3);
	galvo_run_close(run);
	OK(access(in_base("session_metadata.pb"), F_OK) != 0); /* that is a suite's */
}

static void disk_alone(void)
{
	galvo_disk_config config = galvo_disk_config_default();
	galvo_process self = {.pid = (uint32_t)getpid(), .alias = "me"};
	galvo_profiler *p;
	struct galvo_run *run;
	galvo_error e;

	config.frequency_hz = 1000;
	config.budget_pct = 100;
	config.processes = &self;
	config.processes_len = 1;
	config.output_file = in_base("disk.pb");
	if (!OK(galvo_disk_profiler_create(&config, &p, &e) == GALVO_OK))
		return;
	OK(galvo_profiler_start(p, &e) == GALVO_OK);
	pass_time(100 * NS_PER_MS);
	OK(galvo_profiler_stop(p, &e) == GALVO_OK);
	galvo_profiler_destroy(p);
	run = stream_of(STREAM_DISK, in_base("disk.pb"));
	OK(rows_of(run, STREAM_DISK, SCOPE_PROCESS, (uint32_t)getpid()) > 3);
	OK(info_of(run, (uint32_t)getpid()) && !strcmp(info_of(run, (uint32_t)getpid())->alias, "me"));
	galvo_run_close(run);
}

static void events_alone(void)
{
	galvo_event_config config = galvo_event_config_default();
	galvo_profiler *p;
	galvo_tracker *host;
	struct galvo_run *run;
	galvo_error e;
	uint64_t id;

	config.output_file = in_base("events.pb");
	if (!OK(galvo_event_profiler_create(&config, &p, &e) == GALVO_OK))
		return;
	host = galvo_profiler_host_tracker(p);
	galvo_profiler_signal_stop(p);
	EQ(galvo_region_begin(host, "early", 5), 0); /* not started: nothing, and no harm */
	OK(galvo_profiler_start(p, &e) == GALVO_OK);
	id = galvo_region_begin(host, "work", 4);
	galvo_mark(host, "now", 3);
	galvo_region_end(host, id);
	EQ(galvo_tracker_status(galvo_profiler_gpu_tracker(p), &e), GALVO_ERR_ABSENT);
	EQ(galvo_tracker_domain(host), GALVO_DOMAIN_HOST);
	EQ(galvo_tracker_domain(galvo_profiler_gpu_tracker(p)), GALVO_DOMAIN_GPU);
	EQ(galvo_tracker_set_stream(host, NULL, &e), GALVO_ERR_INVALID);
	EQ(galvo_tracker_set_stream(galvo_profiler_gpu_tracker(p), NULL, &e), GALVO_ERR_ABSENT);
	EQ(galvo_profiler_add_process(p, 1, NULL, &e), GALVO_ERR_INVALID);
	galvo_profiler_signal_stop(p);
	EQ(galvo_region_begin(host, "late", 4), 0);
	galvo_profiler_signal_stop(p);
	OK(galvo_profiler_stop(p, &e) == GALVO_OK);
	galvo_profiler_destroy(p);
	run = stream_of(STREAM_EVENTS, in_base("events.pb"));
	OK(run && run->regions_len == 1 && run->marks_len == 1);
	galvo_run_close(run);
}

static void wrong_configs(void)
{
	galvo_system_config config = galvo_system_config_default();
	struct {
		galvo_system_config known;
		uint64_t unknown;
	} larger = {.known = galvo_system_config_default()};
	galvo_profiler *p;
	galvo_error e;

	EQ(galvo_system_profiler_create(&config, &p, &e), GALVO_ERR_INVALID);
	OK(strstr(e.text, "output_file") != NULL);
	config.output_file = in_base("no/such/dir.pb");
	EQ(galvo_system_profiler_create(&config, &p, &e), GALVO_ERR_ABSENT);
	config.output_file = in_base("x.pb");
	config.frequency_hz = -1;
	EQ(galvo_system_profiler_create(&config, &p, &e), GALVO_ERR_INVALID);
	config.struct_size = 0;
	EQ(galvo_system_profiler_create(&config, &p, &e), GALVO_ERR_INVALID);
	larger.known.struct_size = sizeof(larger);
	larger.known.output_file = in_base("x.pb");
	larger.unknown = 1;
	EQ(galvo_system_profiler_create(&larger.known, &p, &e), GALVO_ERR_NEWER);
	larger.unknown = 0; /* a member we do not know, not asked for */
	OK(galvo_system_profiler_create(&larger.known, &p, &e) == GALVO_OK);
	galvo_profiler_destroy(p);
	galvo_profiler_destroy(NULL);
	OK(access(in_base("x.pb"), F_OK) != 0); /* never started: nothing is left */
}

/* Callers with an older and with a newer header: they get what both know, and nothing is beyond it. */
static void structs_of_other_sizes(void)
{
	struct {
		galvo_metric known;
		uint64_t unknown;
	} newer = {.known.struct_size = sizeof(newer), .unknown = 7};
	galvo_metric older = {.struct_size = offsetof(galvo_metric, scope), .scope = "mine"};
	galvo_metric none = {0};
	galvo_error e;

	OK(galvo_metric_at(0, &newer.known, &e) == GALVO_OK && newer.known.help && !newer.unknown);
	EQ(newer.known.struct_size, sizeof(newer));
	OK(galvo_metric_at(0, &older, &e) == GALVO_OK && older.name && older.stream);
	OK(!strcmp(older.scope, "mine")); /* the caller's own memory */
	EQ(galvo_metric_at(0, &none, &e), GALVO_ERR_INVALID);
	EQ(galvo_metric_at(100000, &older, &e), GALVO_DONE);
}

static void stats_and_workloads_of_other_sizes(void)
{
	static const char *const argv[] = {"make"};
	galvo_suite_config config = galvo_suite_config_default();
	struct {
		galvo_suite_stats known;
		uint64_t unknown;
	} stats = {.known.struct_size = sizeof(stats), .unknown = 7};
	galvo_suite_stats few = {.struct_size = offsetof(galvo_suite_stats, processes_alive),
	                         .elapsed_ns = 7};
	struct {
		galvo_workload known;
		uint64_t unknown;
	} job = {{.struct_size = sizeof(job), .argv = argv, .argv_len = 1, .pid = 5}, 1};
	galvo_workload old = {.struct_size = offsetof(galvo_workload, exited), .pid = 6, .exited = 1};
	galvo_suite *suite = NULL;
	galvo_run *run = NULL;
	galvo_error e;

	config.output_dir = in_base("sizes");
	if (!OK(galvo_suite_create(&config, &suite, &e) == GALVO_OK))
		return;
	EQ(galvo_suite_set_workload(suite, &job.known, &e), GALVO_ERR_NEWER);
	job.unknown = 0;
	OK(galvo_suite_set_workload(suite, &job.known, &e) == GALVO_OK);
	OK(galvo_suite_set_workload(suite, &old, &e) == GALVO_OK); /* argv stays */
	OK(galvo_suite_start(suite, &e) == GALVO_OK);
	OK(galvo_suite_get_stats(suite, &stats.known, &e) == GALVO_OK);
	OK(stats.known.elapsed_ns > 0 && stats.unknown == 0);
	OK(galvo_suite_get_stats(suite, &few, &e) == GALVO_OK && few.elapsed_ns == 7);
	few.struct_size = 0;
	EQ(galvo_suite_get_stats(suite, &few, &e), GALVO_ERR_INVALID);
	OK(galvo_suite_stop(suite, &e) == GALVO_OK);
	galvo_suite_destroy(suite);
	if (OK(galvo_run_open(in_base("sizes"), &run, &e) == GALVO_OK))
		OK(run->session->workload.pid == 6 && !run->session->workload.exited &&
		   run->session->workload.argv_len == 1);
	galvo_run_close(run);
}

/* ---- together --------------------------------------------------------------------------------------- */

struct adding {
	galvo_suite *suite;
	pid_t both, system_only;
};

static void *add_from_a_thread(void *ctx)
{
	struct adding *a = ctx;

	OK(galvo_suite_add_process(a->suite, (uint32_t)a->both, "both", NULL) == GALVO_OK);
	OK(galvo_profiler_add_process(galvo_suite_system_profiler(a->suite), (uint32_t)a->system_only,
	                              NULL, NULL) == GALVO_OK);
	return NULL;
}

static void processes_of_each(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_process named = {.profilers = GALVO_FOR_DISK};
	struct adding a = {.both = a_child(), .system_only = a_child()};
	struct galvo_run *run = NULL;
	pthread_t thread;
	galvo_error e;

	named.pid = (uint32_t)getpid();
	config.output_dir = in_base("each");
	config.system_hz = config.disk_hz = 500;
	config.budget_pct = 100;
	config.processes = &named;
	config.processes_len = 1;
	if (!OK(galvo_suite_create(&config, &a.suite, &e) == GALVO_OK) ||
	    !OK(galvo_suite_start(a.suite, &e) == GALVO_OK))
		return;
	OK(galvo_profiler_start(galvo_suite_disk_profiler(a.suite), &e) == GALVO_ERR_STATE);
	OK(galvo_profiler_stop(galvo_suite_event_profiler(a.suite), &e) == GALVO_ERR_STATE);
	galvo_profiler_destroy(galvo_suite_disk_profiler(a.suite)); /* not ours to destroy */
	pthread_create(&thread, NULL, add_from_a_thread, &a);
	pthread_join(thread, NULL);
	wait_ticks(a.suite, 20);
	/* From one of them, then from both. */
	OK(galvo_profiler_remove_process(galvo_suite_disk_profiler(a.suite), (uint32_t)a.both, &e) ==
	   GALVO_OK);
	EQ(galvo_profiler_remove_process(galvo_suite_disk_profiler(a.suite), (uint32_t)a.both, &e),
	   GALVO_ERR_ABSENT);
	OK(galvo_suite_remove_process(a.suite, (uint32_t)a.system_only, &e) == GALVO_OK);
	wait_ticks(a.suite, 20);
	OK(galvo_suite_stop(a.suite, &e) == GALVO_OK);
	galvo_suite_destroy(a.suite);
	if (OK(galvo_run_open(in_base("each"), &run, &e) == GALVO_OK)) {
		/* No recorder of its own: what its threads used is known, and that is not nothing. */
		OK(run->session->cost.kind == COST_THREADS && run->session->cost.threads_ns > 0);
		EQ(rows_of(run, STREAM_SYSTEM, SCOPE_PROCESS, (uint32_t)getpid()), 0);
		OK(rows_of(run, STREAM_DISK, SCOPE_PROCESS, (uint32_t)getpid()) > 3);
		OK(rows_of(run, STREAM_SYSTEM, SCOPE_PROCESS, (uint32_t)a.both) > 20);
		OK(rows_of(run, STREAM_DISK, SCOPE_PROCESS, (uint32_t)a.both) > 3);
		OK(rows_of(run, STREAM_SYSTEM, SCOPE_PROCESS, (uint32_t)a.system_only) > 3);
		EQ(rows_of(run, STREAM_DISK, SCOPE_PROCESS, (uint32_t)a.system_only), 0);
		OK(info_of(run, (uint32_t)a.system_only) &&
		   info_of(run, (uint32_t)a.system_only)->removed);
	}
	galvo_run_close(run);
	let_go(a.both);
	let_go(a.system_only);
}

/* A suite that samples nothing has regions, and numbers of its own. */
static void a_suite_of_events(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	galvo_suite *suite;
	galvo_error e;

	config.output_dir = in_base("said");
	config.no_system = config.no_disk = 1;
	if (!OK(galvo_suite_create(&config, &suite, &e) == GALVO_OK))
		return;
	OK(!galvo_suite_system_profiler(suite) && !galvo_suite_disk_profiler(suite));
	OK(galvo_suite_start(suite, &e) == GALVO_OK);
	galvo_suite_signal_stop(suite);
	OK(galvo_region_begin(galvo_suite_host_tracker(suite), "still", 5) != 0);
	OK(galvo_suite_get_stats(suite, &stats, &e) == GALVO_OK);
	EQ(stats.ticks, 0);
	OK(galvo_suite_stop(suite, &e) == GALVO_OK);
	galvo_suite_destroy(suite);
}

static void several_suites(void)
{
	galvo_suite *suites[SUITES] = {0};
	galvo_error e;
	size_t i;

	for (i = 0; i < SUITES; i++) {
		galvo_suite_config config = galvo_suite_config_default();
		char name[16];

		snprintf(name, sizeof(name), "suite%zu", i);
		config.output_dir = in_base(name);
		config.system_hz = 200;
		OK(galvo_suite_create(&config, &suites[i], &e) == GALVO_OK);
		OK(galvo_suite_start(suites[i], &e) == GALVO_OK);
	}
	for (i = 0; i < SUITES; i++)
		wait_ticks(suites[i], 3);
	for (i = 0; i < SUITES; i++)
		OK(galvo_suite_stop(suites[i], &e) == GALVO_OK);
	for (i = 0; i < SUITES; i++)
		galvo_suite_destroy(suites[i]);
}

/* In every state: created, started, stopped. */
static void again_and_again(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_process self = {0};
	uint64_t i;
	int failed = 0;

	config.output_dir = in_base("again");
	config.overwrite = 1;
	config.processes = &self;
	config.processes_len = 1;
	for (i = 0; i < cycles && !failed; i++) {
		galvo_suite *suite;

		failed |= galvo_suite_create(&config, &suite, NULL) != GALVO_OK;
		if (i % 3 > 0 && !failed)
			failed |= galvo_suite_start(suite, NULL) != GALVO_OK;
		if (i % 3 > 1 && !failed)
			failed |= galvo_suite_stop(suite, NULL) != GALVO_OK;
		galvo_suite_destroy(suite);
	}
	OK(!failed);
}

static void remove_all(const char *dir)
{
	static const char *const names[] = {
		"system.pb", "disk.pb", "events.pb", "session_metadata.pb", "system_metrics.pb",
		"disk_metrics.pb", "each", "said", "sizes", "suite0", "suite1", "suite2", "again",
	};
	char path[192];
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (unlink(path) != 0 && access(path, F_OK) == 0)
			remove_all(path);
	}
	OK(rmdir(dir) == 0);
}

static const struct tap_test tests[] = {
	{"system alone", system_alone},
	{"disk alone", disk_alone},
	{"events alone", events_alone},
	{"wrong configs", wrong_configs},
	{"structs of other sizes", structs_of_other_sizes},
	{"stats and workloads of other sizes", stats_and_workloads_of_other_sizes},
	{"processes of each profiler", processes_of_each},
	{"a suite of events", a_suite_of_events},
	{"several suites", several_suites},
	{"again and again", again_and_again},
};

int main(int argc, char **argv)
{
	int failed;

	if (argc > 1 && !span_to_u64(span_str(argv[1]), &cycles))
		return 2;
	failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));

	remove_all(base);
	return failed || tap_failures;
}
