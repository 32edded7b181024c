/* The run directory: metadata there and back, what check says, what repair leaves. */
#include "galvo/galvo.h"
#include "stream_sample.h"
#include "tap.h"

static const struct session_probe probes[] = {{STREAM_SYSTEM, "system_metrics.pb", 100}};
static const struct session_note notes[] = {{"source disk", "not \xff allowed"}};
static const struct session_finding findings[] = {
	{"process-io", GALVO_VERDICT_NO, GALVO_NEED_SOME, "closed \xff", "missing", "sudo"},
	{"strange", 77, -1, "", "", ""},
};
static const char *const argv_sample[] = {"make", "-j2", "\xfe"};

static struct session session_sample(void)
{
	return (struct session){
		.hostname = "host\xc3\xa9",
		.start_wall_ns = UINT64_C(1700000000) * NS_PER_S + 5,
		.start_mono_ns = 11,
		.start_boot_ns = 12,
		.stop_mono_ns = 99,
		.probes = probes,
		.probes_len = 1,
		.notes = notes,
		.notes_len = 1,
		.findings = findings,
		.findings_len = 2,
		.workload = {.present = true, .argv = argv_sample, .argv_len = 3, .pid = 5,
		             .start_mono_ns = 1, .end_mono_ns = 2, .exited = true, .exit_code = -3,
		             .term_signal = 9, .user_ns = 4, .system_ns = 6, .max_rss_bytes = 7,
		             .minor_faults = 8, .major_faults = 9, .read_blocks = 10,
		             .write_blocks = 11, .voluntary_switches = 12,
		             .involuntary_switches = 13},
		.cost = {.present = true, .user_ns = 1, .system_ns = 2, .max_rss_bytes = 3,
		         .bytes_written = 4, .messages = 5, .dropped_batches = 0, .dropped_rows = 7,
		         .kind = COST_THREADS, .threads_ns = 8},
		.following = {.present = true, .way = WAY_EVENTS, .why_no_events = "no \xff",
		              .forks = 1, .short_children = 2, .short_without_totals = 3,
		              .short_cpu_ns = 4, .lost_events = 5, .put_off = 6,
		              .scan_interval_ns = 7, .longest_interval_ns = 8},
		.kernel = "6.1",
		.boot_id = "id",
		.galvo_version = "0.1.0",
		.root = "/",
		.cpu_count = 2,
		.clk_tck = 100,
		.page_bytes = 4096,
		.tick_resolution_ns = 4000000,
		.recorder_pid = 77,
		.flush_interval_ns = 5 * NS_PER_S,
		.budget_pct = 0.5,
	};
}

/* A run of three messages with its metadata. */
static int run_make(char *path)
{
	struct session s = session_sample();
	int fd = sample_dir(path);

	OK(sample_write(fd, 3) == GALVO_OK);
	OK(session_write(fd, &s, sample_catalog, NULL) == GALVO_OK);
	return fd;
}

static struct galvo_run *run_open(const char *path)
{
	struct galvo_run *run = NULL;

	OK(galvo_run_open(path, &run, NULL) == GALVO_OK);
	return run;
}

static void workload_is_back(const struct session_workload *w)
{
	OK(w->present && w->argv_len == 3 && strcmp(w->argv[2], "\xfe") == 0);
	OK(w->pid == 5 && w->exited && w->exit_code == -3 && w->term_signal == 9);
	OK(w->start_mono_ns == 1 && w->end_mono_ns == 2 && w->user_ns == 4 && w->system_ns == 6);
	OK(w->read_blocks == 10 && w->write_blocks == 11 && w->involuntary_switches == 13);
}

static void following_is_back(const struct session_following *f)
{
	OK(f->present && f->way == WAY_EVENTS && !strcmp(f->why_no_events, "no \xef\xbf\xbd"));
	OK(f->forks == 1 && f->short_children == 2 && f->short_without_totals == 3);
	OK(f->short_cpu_ns == 4 && f->lost_events == 5 && f->put_off == 6);
	OK(f->scan_interval_ns == 7 && f->longest_interval_ns == 8);
}

static void findings_are_back(const struct session *s)
{
	EQ(s->findings_len, 2);
	OK(strcmp(s->findings[0].id, "process-io") == 0 &&
	   strcmp(s->findings[0].found, "closed \xef\xbf\xbd") == 0 &&
	   strcmp(s->findings[0].meaning, "missing") == 0 &&
	   strcmp(s->findings[0].remedy, "sudo") == 0);
	OK(s->findings[0].verdict == GALVO_VERDICT_NO && s->findings[0].need == GALVO_NEED_SOME);
	/* of a galvo to come */
	OK(s->findings[1].verdict == GALVO_VERDICT_UNKNOWN && s->findings[1].need == GALVO_NEED_NONE);
}

static void session_there_and_back(void)
{
	char path[64];
	int fd = run_make(path);
	struct galvo_run *run = run_open(path);
	const struct session *s = run->session;

	EQ(run->damages_len, 0);
	OK(strcmp(s->hostname, "host\xc3\xa9") == 0);
	OK(s->start_wall_ns == UINT64_C(1700000000) * NS_PER_S + 5 && s->start_mono_ns == 11 &&
	   s->start_boot_ns == 12 && s->stop_mono_ns == 99);
	OK(s->probes_len == 1 && s->probes[0].kind == STREAM_SYSTEM &&
	   s->probes[0].frequency_hz == 100);
	OK(s->notes_len == 1 && strcmp(s->notes[0].text, "not \xef\xbf\xbd allowed") == 0);
	findings_are_back(s);
	OK(s->cost.present && s->cost.messages == 5 && s->cost.dropped_rows == 7);
	OK(s->cost.kind == COST_THREADS && s->cost.threads_ns == 8);
	workload_is_back(&s->workload);
	following_is_back(&s->following);
	OK(strcmp(s->kernel, "6.1") == 0 && strcmp(s->boot_id, "id") == 0 &&
	   strcmp(s->galvo_version, "0.1.0") == 0 && strcmp(s->root, "/") == 0);
	OK(s->cpu_count == 2 && s->clk_tck == 100 && s->page_bytes == 4096 &&
	   s->tick_resolution_ns == 4000000 && s->recorder_pid == 77);
	OK(s->flush_interval_ns == 5 * NS_PER_S && s->budget_pct == 0.5);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void put_file(int fd, const char *name, const char *bytes, size_t n)
{
	OK(file_replace(fd, name, bytes, n, NULL) == GALVO_OK);
}

/* Metadata cut anywhere or with any bit wrong: the streams are read all the same. */
static void session_hostile(void)
{
	char path[64];
	int fd = run_make(path);
	struct buf b = {.max = 1 << 20};
	struct span file;
	size_t i;

	OK(file_read(fd, "session_metadata.pb", &b, &file, NULL) == GALVO_OK);
	unlinkat(fd, "system_metrics.pb", 0);
	put_file(fd, "system_metrics.pb", "", 0);
	for (i = 0; i < file.n; i++) {
		put_file(fd, "session_metadata.pb", b.p, i);
		galvo_run_close(run_open(path));
	}
	for (i = 0; i < file.n; i++) {
		b.p[i] = (char)(b.p[i] ^ 1 << i % 8);
		put_file(fd, "session_metadata.pb", b.p, file.n);
		galvo_run_close(run_open(path));
		b.p[i] = (char)(b.p[i] ^ 1 << i % 8);
	}
	/* Ten thousand empty notes and a probe whose file is elsewhere. */
	b.len = 0;
	for (i = 0; i < 10000; i++)
		buf_put(&b, "\xb2\x06\x00", 3);
	buf_put(&b, "\x22\x10\x08\x02\x12\x0c../../passwd", 18);
	put_file(fd, "session_metadata.pb", b.p, b.len);
	galvo_run_close(run_open(path));
	buf_finish(&b);
	sample_remove(path, fd);
}

static int collect(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return 0;
}

static int refuse(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 1;
}

static bool check_says(const char *path, const char *want, galvo_check_result *ret)
{
	struct buf b = {.max = 1 << 16};
	bool same = galvo_run_check(path, collect, &b, ret, NULL) == GALVO_OK &&
	            span_eq_str(span_of(b.p, b.len), want);

	if (!same)
		printf("# says: %.*s", (int)b.len, b.p);
	buf_finish(&b);
	return same;
}

static void check_and_repair(void)
{
	char path[64], fixed[80], want[512];
	int fd = run_make(path), fixed_fd, stream;
	struct session s = session_sample();
	galvo_check_result r;
	galvo_error e = {0};
	struct stat st;

	OK(check_says(path, "system_metrics.pb: 3 messages, 12 rows, 1.04 KiB\n"
	                    "system_metrics.pb: 2 of 8 ticks missed; longest hole 0.0000 s\n", &r));
	OK(r.is_sound && r.is_complete && r.messages == 3 && r.rows == 12);
	EQ(galvo_run_check(path, refuse, NULL, &r, &e), GALVO_ERR_CALLBACK);
	EQ(galvo_run_check(path, NULL, NULL, &r, &e), GALVO_OK);

	s.stop_mono_ns = 0;
	s.cost.dropped_batches = 2;
	OK(session_write(fd, &s, sample_catalog, NULL) == GALVO_OK);
	stream = openat(fd, "system_metrics.pb", O_WRONLY);
	fstat(stream, &st);
	OK(ftruncate(stream, st.st_size - 10) == 0);
	close(stream);
	EQ(galvo_run_check(path, NULL, NULL, &r, NULL), GALVO_OK);
	OK(!r.is_sound && !r.is_complete && r.torn_bytes > 300);
	snprintf(want, sizeof(want),
	         "system_metrics.pb: 2 messages, 8 rows, 1.03 KiB\n"
	         "system_metrics.pb: 1 of 5 ticks missed; longest hole 0.0000 s\n"
	         "system_metrics.pb: torn tail: %lld bytes after offset %lld are a message that was "
	         "never finished\n"
	         "session_metadata.pb: the recorder did not end the recording (killed, or no room)\n"
	         "session_metadata.pb: 2 messages were dropped at the end of the recording\n",
	         (long long)r.torn_bytes, (long long)st.st_size - 10 - (long long)r.torn_bytes);
	OK(check_says(path, want, &r));

	snprintf(fixed, sizeof(fixed), "%s-fixed", path);
	EQ(galvo_run_repair(path, fixed, &r, &e), GALVO_OK);
	EQ(r.messages, 2);
	EQ(galvo_run_repair(path, fixed, &r, &e), GALVO_ERR_IO);
	OK(strstr(e.text, "-fixed: File exists"));
	fixed_fd = open(fixed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	OK(check_says(fixed, "system_metrics.pb: 2 messages, 8 rows, 675 B\n"
	                     "system_metrics.pb: 1 of 5 ticks missed; longest hole 0.0000 s\n"
	                     "session_metadata.pb: a message cut short at the end of system_metrics.pb "
	                     "was left out by galvo check --repair\n"
	                     "session_metadata.pb: not ended by the recorder; ends here with its last "
	                     "message\n"
	                     "session_metadata.pb: 2 messages were dropped at the end of the recording\n",
	              &r));
	OK(r.is_complete && r.torn_bytes == 0 && !r.is_sound);
	sample_remove(fixed, fixed_fd);
	sample_remove(path, fd);
}

/* What is missing is said; what is no run is refused. */
static void missing_parts(void)
{
	char path[64];
	int fd = run_make(path);
	struct galvo_run *run;
	galvo_check_result r;
	galvo_error e = {0};

	unlinkat(fd, "system_metrics.pb", 0);
	OK(check_says(path, "system_metrics.pb: cannot be read: No such file or directory\n", &r));
	OK(!r.is_sound && r.is_complete);
	unlinkat(fd, "session_metadata.pb", 0);
	EQ(galvo_run_open(path, &run, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "not a recorded run"));
	OK(sample_write(fd, 1) == GALVO_OK);
	OK(check_says(path, "system_metrics.pb: 1 message, 4 rows, 323 B\n"
	                    "session_metadata.pb: cannot be read: No such file or directory\n", &r));
	unlinkat(fd, "system_metrics.pb", 0);
	OK(mkfifoat(fd, "system_metrics.pb", 0600) == 0); /* must not be waited for */
	EQ(galvo_run_open(path, &run, &e), GALVO_ERR_ABSENT);
	sample_remove(path, fd);
	EQ(galvo_run_open(path, &run, &e), GALVO_ERR_ABSENT);
	galvo_run_close(NULL);
}

static const struct tap_test tests[] = {
	{"metadata there and back", session_there_and_back},
	{"hostile metadata", session_hostile},
	{"check and repair", check_and_repair},
	{"missing parts", missing_parts},
};
TAP_MAIN(tests)
