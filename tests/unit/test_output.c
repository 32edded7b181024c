/* Reports: a golden page, hostile names, 80 columns, JSON that parses, nothing of the locale. */
#include <locale.h>

#include "allocations.h"
#include "full_run.h"
#include "galvo/summary.h"
#include "gpu_run.h"
#include "json_reader.h"
#include "output/output.h"
#include "tap.h"

/* ---- what a report says --------------------------------------------------------------------- */

struct taken {
	char text[1 << 20];
	size_t len, pieces, stop_after; /* stop_after 0: takes all */
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct taken *t = ctx;

	if (t->stop_after && t->pieces == t->stop_after)
		return 1;
	if (n >= sizeof(t->text) - t->len)
		return 1;
	memcpy(t->text + t->len, bytes, n);
	t->len += n;
	t->text[t->len] = '\0';
	t->pieces++;
	return 0;
}

static struct taken *report(const struct fake_run *f, galvo_report_format format)
{
	struct taken *t = alloc_array(1, sizeof(*t));
	galvo_summary *s = NULL;

	OK(galvo_summary_create(&f->run, &s, NULL) == GALVO_OK);
	OK(galvo_summary_write(s, format, take, t, NULL) == GALVO_OK);
	galvo_summary_destroy(s);
	return t;
}

/* Lines of at most 80 characters, printable, without blanks at their ends. */
static void is_a_page(const struct taken *t)
{
	struct span rest = span_of(t->text, t->len), line;
	size_t i;

	OK(t->len > 0 && t->text[t->len - 1] == '\n');
	while (span_take_line(&rest, &line)) {
		bool printable = true;

		for (i = 0; i < line.n; i++)
			printable &= (unsigned char)line.p[i] >= 0x20 && line.p[i] != 0x7f;
		if (!OK(printable && text_columns(line) <= LINE_COLUMNS &&
		        (line.n == 0 || line.p[line.n - 1] != ' ')))
			printf("# %.*s\n", (int)line.n, line.p);
	}
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void a_golden_page(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;
	FILE *file = fopen(FIXTURES "/report/full.txt", "r");
	char *want = alloc_array(1, 1 << 16);
	size_t n = 0;

	full(f);
	t = report(f, GALVO_REPORT_TEXT);
	if (OK(file != NULL))
		n = fread(want, 1, 1 << 16, file);
	if (!OK(span_eq(span_of(want, n), span_of(t->text, t->len))))
		printf("%s", t->text);
	is_a_page(t);
	if (file)
		fclose(file);
	free(want);
	free(t);
	free(f);
}

/* One line of the page, which may have to be wrapped, for each guarantee. */
static void how_they_were_followed(void)
{
	const struct {
		struct session_following f;
		const char *want[2];
	} rows[] = {
		{{.way = WAY_EVENTS, .scan_interval_ns = 100 * MS},
		 {"followed   every fork and exit was seen (kernel events)\n", "\n"}},
		{{.way = WAY_EVENTS, .forks = 9, .short_children = 8, .short_without_totals = 8,
		  .scan_interval_ns = 100 * MS, .longest_interval_ns = 150 * MS},
		 {"(kernel events): 9 forked, 8 ended", "within 100 ms and are not listed\n"}},
		{{.way = WAY_EVENTS, .forks = 9, .short_children = 8, .short_without_totals = 1,
		  .short_cpu_ns = 20 * MS, .scan_interval_ns = 100 * MS, .longest_interval_ns = S},
		 {"8 ended", "within 1.00 s and are not listed (at least 20.0 ms CPU)\n"}},
		{{.way = WAY_EVENTS, .lost_events = 5, .scan_interval_ns = 100 * MS},
		 {"followed   forks and exits were seen but for 5 lost kernel events\n", "\n"}},
		{{.way = WAY_NUMBERS, .scan_interval_ns = 100 * MS, .longest_interval_ns = 2 * S},
		 {"descendants were looked for every 100 ms, at worst after 2.00 s: one\n",
		  "that lived shorter may be missing\n"}},
		{{.way = WAY_FILES, .scan_interval_ns = 100 * MS, .put_off = 7},
		 {"every 100 ms: one that lived shorter may", "; 7 times a new one had to wait"}},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct fake_run *f = alloc_array(1, sizeof(*f));
		struct taken *t;

		full(f);
		f->session.following = rows[i].f;
		f->session.following.present = true;
		t = report(f, GALVO_REPORT_TEXT);
		if (!OK(strstr(t->text, rows[i].want[0]) && strstr(t->text, rows[i].want[1])))
			printf("# %.900s\n", t->text);
		is_a_page(t);
		free(t);
		t = report(f, GALVO_REPORT_JSON);
		OK(json_is_sound(span_of(t->text, t->len)) && strstr(t->text, "\n  \"following\": {"));
		free(t);
		free(f);
	}
}

static void json_of_everything(void)
{
	static const char *const lines[] = {
		"\n  \"galvo_report\": 1,", "\n  \"start_wall_ns\": 1782907200000000000,",
		"\n      \"CFLAGS=-O2 -g\",", "\n    \"exit_code\": 0,",
		"\n    \"term_signal\": null,",
		"\n    \"user_s\": 11.234,", "\n    \"imbalance_ratio\": 0.8,",
		"\n    \"disk_read_bytes\": 46080,", "\n      \"alias\": null,",
		"\n    \"cancelled_write_bytes\": null,",
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;
	size_t i;

	full(f);
	t = report(f, GALVO_REPORT_JSON);
	OK(json_is_sound(span_of(t->text, t->len)));
	OK(t->pieces > 3);
	for (i = 0; i + 1 < ARRAY_LEN(lines); i++)
		if (!OK(strstr(t->text, lines[i])))
			printf("# %s\n", lines[i]);
	free(t);
	free(f);
}

/* Every key of the JSON report has its line in the manual page. */
static void every_key_is_documented(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	FILE *file = fopen(FIXTURES "/../../man/galvo-report.1", "r");
	char *page = alloc_array(1, 1 << 16), key[128];
	struct span rest, line, head;
	struct taken *t;

	full(f);
	full_gpus(f, 2);
	f->run.damages = &(struct damage){"x", 1, "y", false};
	f->run.damages_len = 1;
	f->run.threads = &(struct thread_info){.pid = 4711, .tid = 4800, .first_mono_ns = 101 * S};
	f->run.threads_len = 1;
	t = report(f, GALVO_REPORT_JSON);
	if (OK(file != NULL))
		page[fread(page, 1, (1 << 16) - 1, file)] = '\0';
	rest = span_of(t->text, t->len);
	while (span_take_line(&rest, &line)) {
		line = span_trim(line);
		if (!span_starts(line, "\"") || !span_cut(&line, ':', &head) || head.n < 3)
			continue;
		snprintf(key, sizeof(key), "\n.It Va %.*s\n", (int)head.n - 2, head.p + 1);
		if (!OK(strstr(page, key)))
			printf("# no%s", key);
	}
	if (file)
		fclose(file);
	free(page);
	free(t);
	free(f);
}

static void nothing_to_say(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;

	memset(&f->run, 0, sizeof(f->run));
	t = report(f, GALVO_REPORT_TEXT);
	is_a_page(t);
	OK(strstr(t->text, "no session metadata"));
	OK(!strstr(t->text, "disks") && !strstr(t->text, "\ncpu") && !strstr(t->text, "nan"));
	free(t);
	t = report(f, GALVO_REPORT_JSON);
	OK(json_is_sound(span_of(t->text, t->len)));
	OK(strstr(t->text, "\"workload\": null") && !strstr(t->text, "nan"));
	free(t);
	fake_init(f);
	t = report(f, GALVO_REPORT_TEXT);
	OK(strstr(t->text, "the machine alone"));
	is_a_page(t);
	free(t);
	fake_process(f, 12, 1, 1, "python")->root = true;
	t = report(f, GALVO_REPORT_TEXT);
	fake_process(f, 13, 1, 1, "bash")->root = true;
	free(t);
	t = report(f, GALVO_REPORT_TEXT);
	OK(strstr(t->text, "attached   to 12 python, 13 bash\n"));
	free(t);
	free(f);
}

static void damage_is_said_first(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;

	full(f);
	f->session.workload.exited = false;
	f->session.workload.end_mono_ns = f->session.stop_mono_ns = 0;
	f->session.cost.present = false;
	f->streams[0].stats.thread_cpu_ns = 9 * MS;
	f->streams[0].missing_messages = 2;
	f->streams[0].dropped_rows = 17;
	f->streams[1].kind = STREAM_EVENTS;
	f->streams[1].missing_messages = 1;
	f->streams[1].gpu_events = (struct gpu_events){1, 2, 3, 0, 5, "cuEventQuery: \x1bX"};
	f->run.damages = &(struct damage){"disk_metrics.pb", 99, "the message ends early", true};
	f->run.damages_len = 1;
	t = report(f, GALVO_REPORT_TEXT);
	is_a_page(t);
	OK(strstr(t->text, "result     not known: the recording has no end\n"));
	OK(strstr(t->text, "WARNING    unfinished") && !strstr(t->text, "not reached") &&
	   strstr(t->text, "of its sampling threads only"));
	OK(strstr(t->text, "WARNING    system_metrics.pb: 2 messages missing, 17 rows dropped\n") &&
	   strstr(t->text, ": 1 message missing\n"));
	OK(strstr(t->text, "WARNING    disk_metrics.pb: the last message is cut short\n"));
	OK(strstr(t->text, "\n  GPU: 1 left out, as their stream was being captured\n"));
	OK(strstr(t->text, "\n  GPU: 3 lost to an error of CUDA: cuEventQuery: \\x1bX\n"));
	OK(strstr(t->text, "\n  GPU: 5 left out, as no stream was set\n"));
	free(t);
	f->session.stop_mono_ns = 110 * S;
	f->session.workload.exited = true;
	f->session.workload.term_signal = 9;
	t = report(f, GALVO_REPORT_TEXT);
	OK(strstr(t->text, "killed by signal 9 (SIGKILL) after 10.0 s\n"));
	free(t);
	free(f);
}

/* What is not known is not on the page, and never 0. */
static void the_cost_is_known_or_not_there(void)
{
	static const struct {
		struct session_cost cost;
		const char *page, *json;
	} rows[] = {
		{{.kind = COST_THREADS, .threads_ns = 12 * MS, .bytes_written = 2048},
		 "galvo itself: 12.0 ms CPU (0.120 % of one) of its threads, 2.00 KiB written\n",
		 "\"cpu_of\": \"threads\",\n    \"sampling_threads_only\": false,\n    \"cpu_s\": 0.012,"},
		{{.kind = COST_NONE, .bytes_written = 2048}, "galvo itself: 2.00 KiB written\n",
		 "\"cpu_of\": null,\n    \"sampling_threads_only\": false,\n    \"cpu_s\": null,"},
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct taken *t;

		full(f);
		f->session.cost = rows[i].cost;
		f->session.cost.present = true;
		t = report(f, GALVO_REPORT_TEXT);
		OK(strstr(t->text, rows[i].page));
		free(t);
		t = report(f, GALVO_REPORT_JSON);
		OK(strstr(t->text, rows[i].json));
		free(t);
	}
	free(f);
}

/* What a child moved is in its parent's row too, once it ended; without I/O there is nothing to say. */
static void io_of_children_is_said_to_be_there(void)
{
	static const char line[] = "\n  read and written include those of children that ended\n";
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;

	full(f);
	without_usage(f);
	t = report(f, GALVO_REPORT_TEXT);
	OK(!strstr(t->text, line)); /* neither make nor sh moved anything */
	free(t);
	ROW(f, f->run.tables_len - 1, 111 * S, 4712, 0, 4096);
	t = report(f, GALVO_REPORT_TEXT);
	OK(strstr(t->text, line) && !strstr(t->text, "\nbalance"));
	free(t);
	free(f);
}

static void hostile_names(void)
{
	static const char evil[] = "\x1b[2J\n\r\t\xff\xc3(\"\\\xe2\x80\xae\xc2\x9b" "31m";
	static const char *const words[] = {evil, "", "a b", evil};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;
	size_t i;

	full(f);
	f->session.workload.argv = words;
	f->session.hostname = f->session.kernel = evil;
	f->session.notes = &(struct session_note){evil, evil};
	for (i = 0; i < f->run.processes_len; i++) {
		struct process_info *p = &f->processes[i];

		snprintf(p->comm, sizeof(p->comm), "%s", evil);
		snprintf(p->command, sizeof(p->command), "%s%s", evil, evil);
		snprintf(p->alias, sizeof(p->alias), "%s", i % 2 ? evil : "");
		p->earlier_len = EARLIER_NAMES;
		memset(p->earlier, '\x1b', sizeof(p->earlier));
		memcpy(p->earlier[1].comm, evil, sizeof(p->earlier[1].comm));
	}
	f->run.damages = &(struct damage){evil, 1, evil, true};
	f->run.damages_len = 1;
	t = report(f, GALVO_REPORT_TEXT);
	is_a_page(t);
	OK(strstr(t->text, "command    '\\x1b[2J\\n\\x0d\\t\\xff\\xc3(\"\\\\"));
	free(t);
	t = report(f, GALVO_REPORT_JSON);
	OK(json_is_sound(span_of(t->text, t->len)));
	free(t);
	free(f);
}

static void the_locale_does_not_matter(void)
{
	static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
	                                      "ps_AF.UTF-8"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	galvo_report_format format;
	size_t i;

	full(f);
	for (format = GALVO_REPORT_TEXT; format <= GALVO_REPORT_JSON; format++) {
		struct taken *a = report(f, format);

		for (i = 0; i < ARRAY_LEN(locales); i++) {
			struct taken *b;

			setlocale(LC_ALL, locales[i]);
			b = report(f, format);
			setlocale(LC_ALL, "C");
			OK(span_eq(span_of(a->text, a->len), span_of(b->text, b->len)));
			free(b);
		}
		free(a);
	}
	free(f);
}

static void the_receiver_may_stop(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t = alloc_array(1, sizeof(*t));
	galvo_summary *s = NULL;
	galvo_error e = {0};

	full(f);
	t->stop_after = 1;
	OK(galvo_summary_create(&f->run, &s, NULL) == GALVO_OK);
	OK(galvo_summary_write(s, GALVO_REPORT_JSON, take, t, &e) == GALVO_ERR_CALLBACK);
	OK(e.status == GALVO_ERR_CALLBACK && e.text[0]);
	EQ(t->pieces, 1);
	OK(galvo_summary_write(s, (galvo_report_format)9, take, t, NULL) == GALVO_ERR_INVALID);
	galvo_summary_destroy(s);
	free(t);
	free(f);
}

static void memory_runs_out(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t = alloc_array(1, sizeof(*t));
	galvo_report_format format = GALVO_REPORT_TEXT;
	galvo_status status = GALVO_ERR_NOMEM;
	long n;

	full(f);
	full_gpus(f, 2);
	for (n = 0; n < 5000 && (status != GALVO_OK || format < GALVO_REPORT_JSON); n++) {
		galvo_summary *s = NULL;
		galvo_error e = {0};

		if (status == GALVO_OK)
			format++;
		t->len = t->pieces = 0;
		allocations_left = n;
		status = galvo_summary_create(&f->run, &s, &e);
		if (status == GALVO_OK)
			status = galvo_summary_write(s, format, take, t, &e);
		allocations_left = -1;
		OK(status == GALVO_OK || (status == GALVO_ERR_NOMEM && e.text[0]));
		galvo_summary_destroy(s);
	}
	OK(status == GALVO_OK && n > 20);
	free(t);
	free(f);
}

static void numbers_for_people(void)
{
	static const struct {
		void (*put)(struct buf *, double);
		double v;
		const char *want;
	} rows[] = {
		{put_bytes, 0, "0 B"}, {put_bytes, 999, "999 B"}, {put_bytes, 1000, "0.98 KiB"},
		{put_bytes, 1024, "1.00 KiB"}, {put_bytes, 10239, "10.0 KiB"},
		{put_bytes, 102400, "100 KiB"}, {put_bytes, 1023.9 * 1024, "1.00 MiB"},
		{put_bytes, 1.5 * 1073741824, "1.50 GiB"}, {put_bytes, NAN, "-"},
		{put_bytes, 1e30, "867361737988 EiB"},
		{put_short_bytes, 0, "0"}, {put_short_bytes, 999, "999"}, {put_short_bytes, 1000, "0.98K"},
		{put_short_bytes, 102400, "100K"}, {put_short_bytes, 1.5 * 1073741824, "1.50G"},
		{put_short_bytes, NAN, "-"}, {put_bytes_per_s, 2048, "2.00 KiB/s"},
		{put_bytes_per_s, NAN, "-"}, {put_pct, 0, "0.0 %"}, {put_pct, 42.06, "42.1 %"},
		{put_pct, 1590, "1590 %"}, {put_pct, NAN, "-"}, {put_small_pct, 0.0421, "0.042 %"},
		{put_duration, 0, "0 ms"}, {put_duration, 0.0123, "12.3 ms"},
		{put_duration, 5.034, "5.03 s"}, {put_duration, 59.999, "1 min 00 s"},
		{put_duration, 125.4, "2 min 05 s"}, {put_duration, 3599.9, "60 min 00 s"},
		{put_duration, 3725, "1 h 02 min"}, {put_duration, 90061, "1 d 01 h"},
		{put_brief, 0, "0 ns"}, {put_brief, 24e-9, "24.0 ns"}, {put_brief, 8.5e-4, "850 \xc2\xb5s"},
		{put_brief, 0.99951, "1.00 s"}, {put_brief, 744, "12.4 min"}, {put_brief, 1e6, "11.6 d"},
		{put_brief, -1, "-"}, {put_count, 99999, "99999"}, {put_count, 99999.6, "100 k"},
		{put_count, 2.5e6, "2.50 M"}, {put_count, 0, "0"}, {put_count, NAN, "-"},
		{put_duration, NAN, "-"}, {put_duration, -1, "-"},
		{put_fine_seconds, 0.0016, "0.002"}, {put_fine_seconds, 9.9996, "10.00"}, {put_seconds, 123.456, "123.5"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf b;

		buf_init(&b, 512);
		rows[i].put(&b, rows[i].v);
		if (!OK(span_eq_str(span_of(b.p, b.len), rows[i].want)))
			printf("# got %.*s, want %s\n", (int)b.len, b.p, rows[i].want);
		buf_finish(&b);
	}
}

static const struct tap_test tests[] = {
	{"a golden page", a_golden_page},
	{"how they were followed", how_they_were_followed},
	{"JSON of everything", json_of_everything},
	{"every key is documented", every_key_is_documented},
	{"nothing to say", nothing_to_say},
	{"damage is said first", damage_is_said_first},
	{"the cost is known, or not there", the_cost_is_known_or_not_there},
	{"I/O of children is said to be there", io_of_children_is_said_to_be_there},
	{"hostile names", hostile_names},
	{"the locale does not matter", the_locale_does_not_matter},
	{"the receiver may stop", the_receiver_may_stop},
	{"memory runs out", memory_runs_out},
	{"numbers for people", numbers_for_people},
};
TAP_MAIN(tests)
