/* The public reader: every call on a run that is known, on damaged and empty ones, and called wrongly. */
#include "galvo/galvo.h"
#include "stream_sample.h"
#include "tap.h"

#define GIVEN(type, name) type name = {.struct_size = sizeof(type)}

static const struct session_probe probes[] = {{STREAM_SYSTEM, "system_metrics.pb", 100}};
static const struct session_note notes[] = {{"source disk", "not allowed"}};
static const struct session_finding findings[] = {
	{"process-io", GALVO_VERDICT_NO, GALVO_NEED_SOME, "closed", "missing", "sudo"}};
static const char *const argv_sample[] = {"make", "\xfe"};

/* Three messages of the system, two of events, metadata. Its directory; remove with sample_remove. */
static int make(char *path, bool with_session)
{
	const struct session s = {
		.hostname = "node", .kernel = "6.1", .boot_id = "b", .galvo_version = "0.1.0",
		.start_wall_ns = 1002, .start_mono_ns = 10, .stop_mono_ns = 5000, .cpu_count = 2,
		.recorder_pid = 77, .probes = probes, .probes_len = 1, .notes = notes, .notes_len = 1,
		.findings = findings, .findings_len = 1,
		.workload = {.present = true, .argv = argv_sample, .argv_len = 2, .pid = 7,
		             .exited = true, .exit_code = 143, .term_signal = 15},
	};
	int fd = sample_dir(path);

	EQ(sample_write(fd, 3), GALVO_OK);
	EQ(sample_write_kind(fd, 2, STREAM_EVENTS), GALVO_OK);
	if (with_session)
		EQ(session_write(fd, &s, sample_catalog, NULL), GALVO_OK);
	return fd;
}

static galvo_run *open_run(const char *path)
{
	galvo_run *run = NULL;

	EQ(galvo_run_open(path, &run, NULL), GALVO_OK);
	return run;
}

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static void info_of_run(void)
{
	GIVEN(galvo_run_info, info);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);

	EQ(galvo_run_get_info(run, &info, NULL), GALVO_OK);
	OK(is(info.hostname, "node") && is(info.kernel, "6.1") && is(info.boot_id, "b") &&
	   is(info.galvo_version, "0.1.0") && info.struct_size == sizeof(info));
	OK(info.start_wall_ns == 1002 && info.start_mono_ns == 10 && info.stop_mono_ns == 5000 &&
	   info.last_mono_ns == 3000 && info.cpu_count == 2 && info.recorder_pid == 77);
	OK(info.argv_len == 2 && is(info.argv[1], "\xfe") && info.workload_pid == 7 &&
	   info.workload_exited == 1 && info.exit_code == 143 && info.term_signal == 15);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void streams_and_notes(void)
{
	GIVEN(galvo_run_stream, s);
	GIVEN(galvo_run_note, note);
	GIVEN(galvo_finding, finding);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);

	EQ(galvo_run_stream_at(run, 0, &s, NULL), GALVO_OK);
	OK(is(s.file, "system_metrics.pb") && s.kind == GALVO_STREAM_SYSTEM && s.is_present == 1);
	OK(s.frequency_hz == 100 && s.messages == 3 && s.rows == 12 && s.bytes > 100);
	OK(!s.damaged_messages && !s.missing_messages && s.ticks == 6 && s.missed_ticks == 2);
	EQ(galvo_run_stream_at(run, 1, &s, NULL), GALVO_OK);
	OK(s.kind == GALVO_STREAM_EVENTS && s.rows == 6);
	EQ(galvo_run_stream_at(run, 2, &s, NULL), GALVO_DONE);

	EQ(galvo_run_note_at(run, 0, &note, NULL), GALVO_OK);
	OK(is(note.subject, "source disk") && is(note.text, "not allowed") && !note.is_damage);
	EQ(galvo_run_note_at(run, 1, &note, NULL), GALVO_DONE);

	EQ(galvo_run_finding_at(run, 0, &finding, NULL), GALVO_OK);
	OK(is(finding.id, "process-io") && is(finding.found, "closed") &&
	   is(finding.meaning, "missing") && is(finding.remedy, "sudo") && is(finding.group, "") &&
	   is(finding.title, ""));
	OK(finding.verdict == GALVO_VERDICT_NO && finding.need == GALVO_NEED_SOME);
	EQ(galvo_run_finding_at(run, 1, &finding, NULL), GALVO_DONE);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void tables_and_columns(void)
{
	GIVEN(galvo_run_table, t);
	GIVEN(galvo_run_column, c);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);
	size_t table = 9, column = 9;
	galvo_error e;

	EQ(galvo_run_table_at(run, 0, &t, NULL), GALVO_OK);
	OK(t.stream == GALVO_STREAM_SYSTEM && is(t.scope, "system") && t.key_kind == GALVO_KEY_NONE);
	OK(t.rows_len == 6 && t.columns_len == 2 && t.mono_ns[5] == 2002 && t.key[5] == 0);
	EQ(galvo_run_column_at(run, 0, 1, &c, NULL), GALVO_OK);
	OK(is(c.name, "mem__used_bytes") && is(c.unit, "bytes") && is(c.type, "counter") &&
	   is(c.source, "memory") && is(c.help, "Used."));
	OK(isnan(c.values[0]) && c.values[1] == 0.1);
	EQ(galvo_run_column_at(run, 0, 2, &c, NULL), GALVO_DONE);
	EQ(galvo_run_column_at(run, 9, 0, &c, &e), GALVO_ERR_INVALID);
	EQ(galvo_run_table_at(run, 1, &t, NULL), GALVO_OK);
	OK(is(t.scope, "process") && t.key_kind == GALVO_KEY_PROCESS && t.key[0] == 7);
	EQ(galvo_run_table_at(run, 2, &t, NULL), GALVO_OK);
	OK(is(t.scope, "interface") && t.key_kind == GALVO_KEY_NAME && is(t.names[t.key[2]], "eth0"));
	EQ(galvo_run_table_at(run, 3, &t, NULL), GALVO_DONE);

	EQ(galvo_run_column_find(run, "net__rx_bytes.sum.per_second", &table, &column, NULL), GALVO_OK);
	OK(table == 2 && column == 0);
	EQ(galvo_run_column_find(run, "net__rx", &table, &column, &e), GALVO_ERR_ABSENT);
	OK(is(e.text, "the run has no column net__rx") && table == 2);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void processes(void)
{
	GIVEN(galvo_run_process, p);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);

	EQ(galvo_run_process_at(run, 0, &p, NULL), GALVO_OK);
	OK(p.pid == 7 && p.ppid == 1 && p.start_ticks == 99 && p.first_mono_ns == 5 &&
	   p.end_mono_ns == 2500 && p.is_root == 1);
	OK(is(p.alias, "job") && is(p.comm, "s\xffh") && is(p.command, "sh -c x"));
	OK(p.has_status == 1 && p.exit_code == 143 && p.term_signal == 15 && p.has_rusage == 1);
	OK(p.user_ns == 8 && p.system_ns == 9 && p.max_rss_bytes == 4096 && p.minor_faults == 1 &&
	   p.major_faults == 2 && p.read_blocks == 3 && p.write_blocks == 4);
	OK(p.voluntary_switches == 5 && p.involuntary_switches == 6);
	EQ(galvo_run_process_at(run, 1, &p, NULL), GALVO_DONE);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void what_processes_used(void)
{
	GIVEN(galvo_run_usage, u);
	GIVEN(galvo_run_earlier_name, n);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);
	galvo_error e;
	size_t i;

	EQ(galvo_run_usage_at(run, 0, 0, &u, NULL), GALVO_OK);
	OK(u.kind == GALVO_USAGE_CPU_NS && u.is_known == 1 && u.head == 1 && u.sampled == 20);
	OK(u.tail == 3 && u.unseen == 4 && u.mixed == UINT64_MAX);
	for (i = 1; galvo_run_usage_at(run, 0, i, &u, NULL) == GALVO_OK; i++)
		OK(u.kind == (int)i + 1 && !u.is_known && u.head == 0 && u.mixed == 0);
	EQ(i, GALVO_USAGE_CANCELLED_WRITE_BYTES);
	EQ(galvo_run_usage_at(run, 0, i, &u, NULL), GALVO_DONE);
	EQ(galvo_run_usage_at(run, 1, 0, &u, &e), GALVO_ERR_INVALID);
	OK(is(e.text, "the run has no process number 1"));
	EQ(galvo_run_earlier_name_at(run, 0, 0, &n, NULL), GALVO_OK);
	OK(is(n.comm, "b\xff") && n.until_mono_ns == 6);
	EQ(galvo_run_earlier_name_at(run, 0, 1, &n, NULL), GALVO_DONE);
	EQ(galvo_run_earlier_name_at(run, 1, 0, &n, NULL), GALVO_ERR_INVALID);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void regions_and_marks(void)
{
	GIVEN(galvo_run_region, r);
	GIVEN(galvo_run_mark, m);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);

	EQ(galvo_run_region_at(run, 0, &r, NULL), GALVO_OK);
	OK(r.name_len == 4 && memcmp(r.name, "a\xff\0b", 5) == 0 && r.id == 1);
	OK(r.start_mono_ns == 1 && r.end_mono_ns == 2 && r.pid == 7 && r.begin_thread == 8 &&
	   r.end_thread == 9 && !r.is_unfinished && !r.is_gpu);
	EQ(galvo_run_region_at(run, 2, &r, NULL), GALVO_OK);
	OK(is(r.name, "open") && !r.end_mono_ns && r.is_unfinished);
	EQ(galvo_run_region_at(run, 3, &r, NULL), GALVO_DONE);

	EQ(galvo_run_mark_at(run, 1, &m, NULL), GALVO_OK);
	OK(is(m.name, "gpu") && m.name_len == 3 && m.mono_ns == 5 && m.pid == 7 && m.thread == 8 &&
	   m.is_gpu == 1);
	EQ(galvo_run_mark_at(run, 4, &m, NULL), GALVO_DONE);
	galvo_run_close(run);
	sample_remove(path, fd);
}

/* Messages were written at 1000, 2000 and 3000, when it was 2 ns more. */
static void time_of_day(void)
{
	uint64_t t[] = {0, 1499, 1501, 999999};
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path), *empty = NULL;
	galvo_error e;

	EQ(galvo_run_to_wall(run, t, 4, t, NULL), GALVO_OK);
	OK(t[0] == 2 && t[1] == 1501 && t[2] == 1503 && t[3] == 1000001);
	EQ(galvo_run_to_wall(run, NULL, 0, NULL, NULL), GALVO_OK);
	EQ(galvo_run_to_wall(run, NULL, 1, t, &e), GALVO_ERR_INVALID);
	EQ(galvo_run_to_wall(NULL, t, 1, t, &e), GALVO_ERR_INVALID);
	EQ(run_read_bytes(STREAM_SYSTEM, span_of(NULL, 0), &empty, NULL), GALVO_OK);
	EQ(galvo_run_to_wall(empty, t, 1, t, &e), GALVO_ERR_ABSENT);
	galvo_run_close(empty);
	galvo_run_close(run);
	sample_remove(path, fd);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void row_by_row(void)
{
	GIVEN(galvo_instance, of);
	GIVEN(galvo_row, row);
	GIVEN(galvo_row, last);
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);
	galvo_reader *reader = NULL;
	size_t n;

	EQ(galvo_reader_create(run, 1, &reader, NULL), GALVO_OK);
	EQ(galvo_reader_instance_at(reader, 0, &of, NULL), GALVO_OK);
	OK(of.key == 7 && of.process == 0 && is(of.name, "job") && of.rows_len == 3 && of.rows[2] == 2);
	EQ(galvo_reader_instance_at(reader, 1, &of, NULL), GALVO_DONE);
	for (n = 0; galvo_reader_next(reader, &row, NULL) == GALVO_OK; n++) {
		OK(row.mono_ns == 1000 * n + 2 && row.key == 7 && row.instance == 0);
		OK(row.values_len == 1 && row.values[0] == 4096.0 * (double)n);
	}
	EQ(n, 3);
	EQ(galvo_reader_next(reader, &row, NULL), GALVO_DONE);
	EQ(galvo_reader_select(reader, 0, NULL), GALVO_OK);
	for (n = 0; galvo_reader_next(reader, &last, NULL) == GALVO_OK; n++)
		;
	OK(n == 3 && last.mono_ns == 2002);
	EQ(galvo_reader_select(reader, SIZE_MAX, NULL), GALVO_OK);
	EQ(galvo_reader_next(reader, &row, NULL), GALVO_OK);
	EQ(row.mono_ns, 2);
	galvo_reader_destroy(reader);

	EQ(galvo_reader_create(run, 2, &reader, NULL), GALVO_OK);
	EQ(galvo_reader_instance_at(reader, 0, &of, NULL), GALVO_OK);
	OK(is(of.name, "eth0") && of.process == SIZE_MAX && !of.is_whole_disk && !of.is_stacked);
	galvo_reader_destroy(reader);
	galvo_run_close(run);
	sample_remove(path, fd);
}

/* Two processes that had one pid, one that nobody named, and CPUs. */
static void put_reused(struct stream *s)
{
	const struct process_info a = {.pid = 7, .start_ticks = 1, .first_mono_ns = 10, .comm = "a"},
	                          b = {.pid = 7, .start_ticks = 2, .first_mono_ns = 100, .comm = "b"};
	const struct process_info *const processes[] = {&b, &a};
	struct flush_info info = sample_flush(1000);
	double v[] = {1};
	uint64_t t;

	for (t = 50; t < 200; t += 50) {
		stream_row(s, SCOPE_PROCESS, t, (struct row_key){.number = 7}, v, 1);
		stream_row(s, SCOPE_PROCESS, t, (struct row_key){.number = 8}, v, 1);
	}
	info.processes = processes;
	info.processes_len = 2;
	stream_flush(s, &info);
}

static void pids_are_used_again(void)
{
	struct stream_config config = sample_config(STREAM_SYSTEM);
	static const uint32_t keys[] = {7, 8, 7};
	static const size_t owners[] = {1, SIZE_MAX, 0}, rows[] = {1, 3, 2};
	static const char *const names[] = {"a", "", "b"};
	GIVEN(galvo_instance, of);
	GIVEN(galvo_row, row);
	galvo_reader *reader = NULL;
	struct writer *w = NULL;
	struct stream *s;
	char path[64];
	int fd = sample_dir(path);
	galvo_run *run;
	size_t i;

	EQ(writer_create(fd, &w, NULL), GALVO_OK);
	EQ(writer_add(w, &config, &s, NULL), GALVO_OK);
	EQ(writer_start(w, NULL), GALVO_OK);
	put_reused(s);
	EQ(writer_stop(w, 10 * NS_PER_S, NULL), GALVO_OK);
	writer_destroy(w);
	run = open_run(path);
	EQ(galvo_reader_create(run, 0, &reader, NULL), GALVO_OK);
	for (i = 0; i < 3; i++) {
		EQ(galvo_reader_instance_at(reader, i, &of, NULL), GALVO_OK);
		OK(of.key == keys[i] && of.process == owners[i] && is(of.name, names[i]));
		EQ(of.rows_len, rows[i]);
	}
	EQ(galvo_reader_instance_at(reader, 3, &of, NULL), GALVO_DONE);
	EQ(galvo_reader_select(reader, 2, NULL), GALVO_OK);
	EQ(galvo_reader_next(reader, &row, NULL), GALVO_OK);
	OK(row.mono_ns == 100 && row.instance == 2);
	galvo_reader_destroy(reader);
	galvo_run_close(run);
	sample_remove(path, fd);
}

/* ---- what is wrong ------------------------------------------------------------------------- */

/* A caller that was built with a shorter struct gets no more than that. */
static void sizes_of_structs(void)
{
	galvo_run_stream s;
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);
	galvo_error e;

	memset(&s, 0x55, sizeof(s));
	s.struct_size = offsetof(galvo_run_stream, messages);
	EQ(galvo_run_stream_at(run, 0, &s, NULL), GALVO_OK);
	OK(s.frequency_hz == 100 && s.bytes > 100 && s.messages == UINT64_C(0x5555555555555555));
	s.struct_size = 0;
	EQ(galvo_run_stream_at(run, 0, &s, &e), GALVO_ERR_INVALID);
	OK(is(e.text, "stream: struct_size is not set"));
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void called_wrongly(void)
{
	GIVEN(galvo_row, row);
	GIVEN(galvo_instance, of);
	galvo_reader *reader = NULL;
	char path[64];
	int fd = make(path, true);
	galvo_run *run = open_run(path);
	size_t n;

#define WRONG(call) EQ((call), GALVO_ERR_INVALID)
	WRONG(galvo_run_get_info(NULL, NULL, NULL));
	WRONG(galvo_run_get_info(run, NULL, NULL));
	WRONG(galvo_run_stream_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_stream_at(run, 0, NULL, NULL));
	WRONG(galvo_run_note_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_note_at(run, 0, NULL, NULL));
	WRONG(galvo_run_finding_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_finding_at(run, 0, NULL, NULL));
	WRONG(galvo_run_table_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_table_at(run, 0, NULL, NULL));
	WRONG(galvo_run_column_at(NULL, 0, 0, NULL, NULL));
	WRONG(galvo_run_column_at(run, 0, 0, NULL, NULL));
	WRONG(galvo_run_column_find(NULL, "a", &n, &n, NULL));
	WRONG(galvo_run_column_find(run, NULL, &n, &n, NULL));
	WRONG(galvo_run_column_find(run, "a", NULL, &n, NULL));
	WRONG(galvo_run_process_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_process_at(run, 0, NULL, NULL));
	WRONG(galvo_run_usage_at(NULL, 0, 0, NULL, NULL));
	WRONG(galvo_run_usage_at(run, 0, 0, NULL, NULL));
	WRONG(galvo_run_earlier_name_at(NULL, 0, 0, NULL, NULL));
	WRONG(galvo_run_earlier_name_at(run, 0, 0, NULL, NULL));
	WRONG(galvo_run_region_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_region_at(run, 0, NULL, NULL));
	WRONG(galvo_run_mark_at(NULL, 0, NULL, NULL));
	WRONG(galvo_run_mark_at(run, 0, NULL, NULL));
	WRONG(galvo_reader_create(NULL, 0, &reader, NULL));
	WRONG(galvo_reader_create(run, 99, &reader, NULL));
	WRONG(galvo_reader_create(run, 0, NULL, NULL));
	WRONG(galvo_reader_instance_at(NULL, 0, &of, NULL));
	WRONG(galvo_reader_select(NULL, 0, NULL));
	WRONG(galvo_reader_next(NULL, &row, NULL));
	OK(!reader);
	EQ(galvo_reader_create(run, 0, &reader, NULL), GALVO_OK);
	WRONG(galvo_reader_instance_at(reader, 0, NULL, NULL));
	WRONG(galvo_reader_select(reader, 1, NULL));
	WRONG(galvo_reader_next(reader, NULL, NULL));
	EQ(galvo_reader_next(reader, &row, NULL), GALVO_OK); /* no row was lost */
	EQ(row.mono_ns, 1);
	galvo_reader_destroy(reader);
	galvo_reader_destroy(NULL);
	galvo_run_close(run);
	galvo_run_close(NULL);
	sample_remove(path, fd);
}

static void damaged_and_torn(void)
{
	GIVEN(galvo_run_stream, s);
	GIVEN(galvo_run_note, note);
	GIVEN(galvo_run_table, t);
	char path[64];
	int fd = make(path, true), file = openat(fd, "system_metrics.pb", O_RDWR);
	struct stat st;
	galvo_run *run;

	fstat(file, &st);
	EQ(ftruncate(file, st.st_size - 3), 0);
	run = open_run(path);
	EQ(galvo_run_stream_at(run, 0, &s, NULL), GALVO_OK);
	OK(s.messages == 2 && s.rows == 8 && !s.damaged_messages);
	EQ(galvo_run_table_at(run, 0, &t, NULL), GALVO_OK);
	EQ(t.rows_len, 4);
	EQ(galvo_run_note_at(run, 1, &note, NULL), GALVO_OK);
	OK(note.is_damage && note.is_torn_tail && is(note.subject, "system_metrics.pb"));
	OK(note.offset > 100 && note.offset < s.bytes);
	galvo_run_close(run);

	EQ(pwrite(file, "\xff", 1, 60), 1);
	run = open_run(path);
	EQ(galvo_run_stream_at(run, 0, &s, NULL), GALVO_OK);
	OK(s.messages == 1 && s.damaged_messages == 1);
	EQ(galvo_run_note_at(run, 1, &note, NULL), GALVO_OK);
	OK(note.is_damage && !note.is_torn_tail && note.offset == 0);
	galvo_run_close(run);
	close(file);
	sample_remove(path, fd);
}

/* Without metadata this galvo's own catalog describes what it knows. */
static void empty_and_bare(void)
{
	GIVEN(galvo_run_info, info);
	GIVEN(galvo_run_stream, s);
	GIVEN(galvo_run_table, t);
	GIVEN(galvo_run_column, c);
	char path[64];
	int fd = make(path, false);
	galvo_run *run = open_run(path);

	EQ(galvo_run_get_info(run, &info, NULL), GALVO_OK);
	OK(is(info.hostname, "") && info.argv_len == 0 && info.stop_mono_ns == 0);
	EQ(galvo_run_column_at(run, 1, 0, &c, NULL), GALVO_OK);
	OK(is(c.name, "proc__rss_bytes") && is(c.unit, "bytes") && strlen(c.help) > 20);
	EQ(galvo_run_column_at(run, 0, 0, &c, NULL), GALVO_OK);
	OK(is(c.name, "cpu__busy.avg.pct_of_peak_sustained_elapsed") && is(c.unit, "") && is(c.help, ""));
	galvo_run_close(run);
	EQ(unlinkat(fd, "events.pb", 0), 0);
	close(openat(fd, "system_metrics.pb", O_WRONLY | O_TRUNC));
	run = open_run(path);
	EQ(galvo_run_stream_at(run, 0, &s, NULL), GALVO_OK);
	OK(s.is_present && s.bytes == 0 && s.messages == 0);
	EQ(galvo_run_table_at(run, 0, &t, NULL), GALVO_DONE);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"the run", info_of_run},
	{"streams and notes", streams_and_notes},
	{"tables and columns", tables_and_columns},
	{"processes", processes},
	{"what processes used", what_processes_used},
	{"regions and marks", regions_and_marks},
	{"the time of day", time_of_day},
	{"row by row", row_by_row},
	{"pids are used again", pids_are_used_again},
	{"structs of another size", sizes_of_structs},
	{"called wrongly", called_wrongly},
	{"damaged and torn", damaged_and_torn},
	{"empty, and without metadata", empty_and_bare},
};
TAP_MAIN(tests)
