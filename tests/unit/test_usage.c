/* Use beside samples, ends and names: how it adds up to the kernel's account, and what is said of it. */
#include "base/base.h"
#include "derive/derive.h"
#include "full_run.h"
#include "json_reader.h"
#include "output/output.h"
#include "tap.h"

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

	OK(galvo_summary_create(&f->run, &s, NULL) == GALVO_OK);
	return s;
}

static int take(void *ctx, const void *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_put(b, bytes, n);
	return b->failed;
}

/* NUL-terminated; the caller frees it. */
static char *written(const struct galvo_summary *s, galvo_report_format format, galvo_report_by by)
{
	const galvo_report_options o = {sizeof(o), (int32_t)format, (int32_t)by};
	struct buf b;

	buf_init(&b, 1 << 24);
	OK(galvo_summary_report(s, &o, take, &b, NULL) == GALVO_OK);
	buf_put(&b, "", 1);
	if (format == GALVO_REPORT_JSON)
		OK(json_is_sound(span_of(b.p, b.len - 1)));
	return b.p;
}

static char *report_of(const struct fake_run *f, galvo_report_format format, galvo_report_by by)
{
	struct galvo_summary *s = summary_of(f);
	char *text = written(s, format, by);

	galvo_summary_destroy(s);
	return text;
}

static bool says(const char *text, const char *what)
{
	if (strstr(text, what))
		return true;
	printf("# not there: %s\n", what);
	return false;
}

/* Lines of at most 80 columns without control characters. */
static void is_a_page(const char *text)
{
	struct span rest = span_str(text), line;
	size_t i;

	while (span_take_line(&rest, &line)) {
		bool printable = true;

		for (i = 0; i < line.n; i++)
			printable &= (unsigned char)line.p[i] >= 0x20 && line.p[i] != 0x7f;
		if (!OK(printable && text_columns(line) <= LINE_COLUMNS))
			printf("# %.*s\n", (int)line.n, line.p);
	}
}

static struct usage parts(uint64_t head, uint64_t sampled, uint64_t tail, uint64_t unseen,
                          uint64_t mixed)
{
	return (struct usage){true, head, sampled, tail, unseen, mixed};
}

/* A shell and a child of it, whose account is user_ns; rows of the child alone: 2 s at 50 %. */
static void two(struct fake_run *f, uint64_t user_ns)
{
	static const char *const columns[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	size_t t;
	uint64_t i;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 2, NULL, 0);
	fake_process(f, 10, 1, 100, "sh")->root = true;
	fake_process(f, 11, 10, 101, "work")->end_mono_ns = 104 * S;
	for (i = 1; i <= 20; i++)
		ROW(f, t, 100 * S + i * 100 * MS, 11, 50, 1000 * (double)i);
	f->session.workload = (struct session_workload){.present = true, .pid = 10,
		.start_mono_ns = 100 * S, .end_mono_ns = 105 * S, .exited = true,
		.exit_code = 3, .user_ns = user_ns, .read_blocks = 16, .write_blocks = 8};
}

static void parts_add_up_to_the_account(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	const struct summary_balance *b;
	struct galvo_summary *s;

	two(f, 4 * S);
	f->processes[0].usage[USAGE_CPU_NS] = parts(100 * MS, 200 * MS, 0, 1500 * MS, 300 * MS);
	f->processes[1].usage[USAGE_CPU_NS] = parts(50 * MS, 1 * S, 150 * MS, 0, 0);
	f->processes[0].usage[USAGE_READ] = parts(1024, 2048, 0, 4096, 0);
	f->processes[1].usage[USAGE_READ] = parts(0, 512, 0, 0, 512);
	s = summary_of(f);
	OK(is(s->processes[0].use[USAGE_CPU_NS].own, 0.3));
	OK(is(s->processes[1].use[USAGE_CPU_NS].own, 1.2)); /* its rows come to 1 s */
	OK(is(s->processes[1].cpu_pct_of_core.total, 1));
	b = &s->balance[USAGE_CPU_NS];
	OK(is(b->account_all, 4) && is(b->own, 1.5) && is(b->sampled, 1.2) && is(b->between, 0.3));
	OK(is(b->unseen, 1.5) && is(b->mixed, 0.3) && is(b->rest, 0.7) && is(b->rest_pct, 17.5));
	OK(is(b->whole, 4) && b->silent == 0);
	OK(is(s->cpu.followed_pct_of_core.total, 1.5) && is(s->cpu.unseen_s, 2.5));
	b = &s->balance[USAGE_READ];
	OK(is(b->account_all, 8192) && is(b->own, 3584) && is(b->between, 1024));
	OK(is(b->unseen, 4096) && is(b->mixed, 512) && is(b->rest, 0) && is(b->rest_pct, 0));
	b = &s->balance[USAGE_WRITE]; /* nobody told of it */
	OK(is(b->account_all, 4096) && isnan(b->own) && isnan(b->rest) && isnan(b->whole));
	EQ(b->silent, 2);
	galvo_summary_destroy(s);
	free(f);
}

/* The rows of who told nothing stand in for CPU time, and for no bytes. */
static void some_parts_are_not_known(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	const struct summary_balance *b;
	struct galvo_summary *s;
	char *text;

	two(f, 2 * S);
	f->processes[0].usage[USAGE_CPU_NS] = parts(0, 500 * MS, 0, 0, 0);
	s = summary_of(f);
	b = &s->balance[USAGE_CPU_NS];
	OK(is(b->own, 1.5) && is(b->sampled, 1.5) && is(b->between, 0) && is(b->rest, 0.5));
	EQ(b->silent, 1);
	OK(isnan(s->processes[1].use[USAGE_CPU_NS].head) &&
	   isnan(s->processes[1].use[USAGE_CPU_NS].unseen));
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
	OK(says(text, "\n  of 1 process no more is known than rows tell\n"));
	OK(says(text, "\n  in the account, but in nobody's rows       0.500\n"));
	free(text);
	text = written(s, GALVO_REPORT_JSON, GALVO_REPORT_BY_PID);
	OK(says(text, "\"usage\": {\n        \"cpu\": null,"));
	OK(says(text, "\"tail_s\": 0,\n          \"unseen_s\": 0,"));
	free(text);
	galvo_summary_destroy(s);
	free(f);
}

/* A file of a galvo that did not tell of them: as it was. */
static void no_parts_are_known(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	const struct summary_balance *b;
	struct galvo_summary *s;
	char *text;

	two(f, 2 * S);
	s = summary_of(f);
	b = &s->balance[USAGE_CPU_NS];
	OK(is(b->own, 1) && isnan(b->between) && isnan(b->unseen) && isnan(b->mixed));
	OK(is(s->cpu.followed_pct_of_core.total, 1) && is(s->cpu.unseen_s, 1));
	OK(s->processes[1].life == LIFE_GONE);
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
	OK(!strstr(text, "\nbalance"));
	OK(says(text, "\n  not in these rows: 1.00 s CPU (short lives; before first, after last row)\n"));
	free(text);
	galvo_summary_destroy(s);
	free(f);
}

/* Nobody waited for it: more than the account has, which takes nothing from the others. */
static void more_than_the_account(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	char *text;

	two(f, 1 * S);
	f->processes[0].usage[USAGE_CPU_NS] = parts(0, 500 * MS, 0, 250 * MS, 0);
	f->processes[1].usage[USAGE_CPU_NS] = parts(0, 1 * S, 0, 0, 0);
	s = summary_of(f);
	OK(is(s->balance[USAGE_CPU_NS].rest, -0.75) && is(s->balance[USAGE_CPU_NS].rest_pct, -75));
	OK(is(s->balance[USAGE_CPU_NS].whole, 1.75) && is(s->cpu.unseen_s, 0.25));
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
	OK(says(text, "  -75.0 %\n  750 ms CPU in no account: nobody waited for who used it\n"));
	OK(!strstr(text, "in nobody's rows"));
	free(text);
	galvo_summary_destroy(s);
	f->session.workload.exited = false; /* then there is no account to compare with */
	s = summary_of(f);
	OK(isnan(s->balance[USAGE_CPU_NS].rest) && is(s->cpu.unseen_s, 0.25));
	OK(s->processes[0].life == LIFE_RUNNING && !s->processes[0].has_rusage);
	galvo_summary_destroy(s);
	free(f);
}

/* Whatever a file claims, sums do not wrap around. */
static void numbers_that_do_not_fit(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	enum usage_kind kind;
	struct galvo_summary *s;
	char *text;

	two(f, UINT64_MAX);
	f->session.workload.system_ns = UINT64_MAX;
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		f->processes[0].usage[kind] = f->processes[1].usage[kind] =
			parts(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	s = summary_of(f);
	OK(is(s->processes[0].use[USAGE_CPU_NS].own, 3 * 18446744073.709551616));
	OK(is(s->balance[USAGE_READ].own, 6 * 18446744073709551616.0));
	OK(s->balance[USAGE_CPU_NS].rest < -1e10 && s->balance[USAGE_CPU_NS].rest_pct < -100);
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
	is_a_page(text);
	free(text);
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_COMM);
	is_a_page(text);
	free(text);
	free(written(s, GALVO_REPORT_JSON, GALVO_REPORT_BY_PID));
	galvo_summary_destroy(s);
	free(f);
}

static void how_processes_ended(void)
{
	static const struct {
		struct process_end end;
		uint64_t end_mono_ns;
		bool removed, unfinished;
		const char *page, *json;
	} rows[] = {
		{{.has_status = true}, 104 * S, true, false, "   exit 0\n",
		 "\"state\": \"exited\",\n      \"exit\": {\n        \"code\": 0,\n        \"signal\": null\n"},
		{{.has_status = true, .exit_code = 255}, 104 * S, true, false, " exit 255\n", "\"code\": 255"},
		{{.has_status = true, .exit_code = 143, .term_signal = 15}, 104 * S, true, false,
		 "  SIGTERM\n", "\"code\": 143,\n        \"signal\": 15"},
		{{.has_status = true, .exit_code = 162, .term_signal = 34}, 104 * S, true, false,
		 "   sig 34\n", "\"state\": \"killed\""},
		{{0}, 104 * S, true, false, "     gone\n", "\"state\": \"gone\",\n      \"exit\": null,"},
		{{0}, 0, true, false, "     left\n", "\"state\": \"left\""},
		{{0}, 0, false, false, "  running\n", "\"state\": \"running\""},
		{{0}, 0, false, true, "        -\n", "\"state\": \"unknown\""},
		{{.has_usage = true, .user_ns = 1500 * MS, .max_rss_bytes = 4096, .read_blocks = 3}, 104 * S,
		 true, false, "     gone\n",
		 "\"rusage\": {\n        \"user_s\": 1.5,\n        \"system_s\": 0,\n"
		 "        \"max_rss_bytes\": 4096,\n        \"minor_faults\": 0,\n"
		 "        \"major_faults\": 0,\n        \"read_bytes\": 1536,"},
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct process_info *p;
		char *text;

		two(f, 2 * S);
		p = &f->processes[1];
		p->end = rows[i].end;
		p->end_mono_ns = rows[i].end_mono_ns;
		p->removed = rows[i].removed;
		if (rows[i].unfinished)
			f->session.stop_mono_ns = 0;
		text = report_of(f, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
		OK(says(text, rows[i].page));
		/* The command's own end is in the session. */
		OK(says(text, "  sh                       10  0.000"));
		OK(says(text, "     -      -      -      -   exit 3\n"));
		free(text);
		text = report_of(f, GALVO_REPORT_JSON, GALVO_REPORT_BY_PID);
		OK(says(text, rows[i].json));
		free(text);
	}
	free(f);
}

static void names_over_time(void)
{
	static const struct {
		const char *earlier[2];
		const char *comm, *page;
	} rows[] = {
		{{NULL, NULL}, "work", "\n    work             "},
		{{NULL, NULL}, "", "\n    ?                "},
		{{"sh", NULL}, "python3", "\n    sh \xe2\x86\x92 python3     "},
		{{"a-long-name", "sh"}, "python3", "\n    sh \xe2\x86\x92 python3     "},
		{{"a-long-name", "b-long-name"}, "python3", "\n    python3          "},
		{{"\x1b[2J", NULL}, "c", "\n    \\x1b[2J \xe2\x86\x92 c "},
		{{"\xff\xfe\x01", "\n"}, "x", "\n    \\n \xe2\x86\x92 x "},
		{{"0123456789abcdefgh", NULL}, "y", "\n    y                "},
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct process_info *p;
		char *text;

		two(f, 2 * S);
		p = &f->processes[1];
		snprintf(p->comm, sizeof(p->comm), "%s", rows[i].comm);
		for (k = 0; k < 2 && rows[i].earlier[k]; k++) {
			const char *name = rows[i].earlier[k];
			size_t n = strlen(name);

			/* All of its room may be used: no NUL. */
			memcpy(p->earlier[k].comm, name, n < 16 ? n : 16);
			p->earlier[k].until_mono_ns = 100 * S + (k + 1) * 250 * MS;
			p->earlier_len = (uint32_t)k + 1;
		}
		text = report_of(f, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
		is_a_page(text);
		OK(says(text, rows[i].page));
		free(text);
		text = report_of(f, GALVO_REPORT_JSON, GALVO_REPORT_BY_PID);
		OK(says(text, p->earlier_len ? "\"until_s\": 0.25" : "\"earlier_names\": [],"));
		free(text);
	}
	free(f);
}

/* Most of them do not fit: none is lost without a word. */
static void many_processes(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	char *text;
	uint32_t i;

	two(f, 4 * S);
	f->processes[0].usage[USAGE_CPU_NS] = f->processes[0].usage[USAGE_WRITE] = parts(0, 0, 0, 0, 0);
	f->processes[1].usage[USAGE_CPU_NS] = parts(0, 1 * S, 0, 0, 0);
	for (i = 0; i < 120; i++) {
		struct process_info *p = fake_process(f, 100 + i, 11, 200 + i, i % 2 ? "true" : "false");

		p->usage[USAGE_CPU_NS] = parts(0, 0, 10 * MS, 0, 0);
		p->usage[USAGE_WRITE] = parts(0, 0, 1024, 0, 0);
		p->end = (struct process_end){.has_status = true, .exit_code = i % 2 ? 0 : 1};
		p->end_mono_ns = 104 * S;
	}
	s = summary_of(f);
	OK(is(s->balance[USAGE_CPU_NS].own, 2.2) && is(s->balance[USAGE_CPU_NS].between, 1.2));
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_PID);
	is_a_page(text);
	OK(says(text, "\n  \xe2\x80\xa6 and 107 more, 53 failed                  1.070"
	              "                 107K\n"));
	free(text);
	EQ(s->groups_len, 4);
	OK(s->groups[0].count == 1 && span_eq_str(span_str(s->groups[0].comm), "work"));
	OK(span_eq_str(span_str(s->groups[1].comm), "false") && s->groups[1].failed == 60);
	OK(is(s->groups[1].own[USAGE_CPU_NS], 0.6) && is(s->groups[1].own[USAGE_WRITE], 61440));
	OK(isnan(s->groups[1].own[USAGE_READ]) && is(s->groups[1].cpu_pct, 15));
	text = written(s, GALVO_REPORT_TEXT, GALVO_REPORT_BY_COMM);
	is_a_page(text);
	OK(says(text, "\n  false (60 failed)       60   0.600  15.0 %        -        -        - 60.0 KiB\n"));
	OK(says(text, "\n  in nobody's rows             1.800\n"));
	free(text);
	galvo_summary_destroy(s);
	for (i = 0; i < 120; i++)
		snprintf(f->processes[2 + i].comm, sizeof(f->processes[2 + i].comm), "tool%u", (unsigned)i);
	text = report_of(f, GALVO_REPORT_TEXT, GALVO_REPORT_BY_COMM);
	is_a_page(text);
	OK(says(text, "\n  \xe2\x80\xa6 and 107 more names         1.060                                     106 KiB\n"));
	free(text);
	free(f);
}

/* Of the same name at the same time: what they had together, and the largest one. */
static void memory_of_a_group(void)
{
	static const char *const columns[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct galvo_summary *s;
	size_t t;
	uint64_t i;

	fake_init(f);
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, columns, 2, NULL, 0);
	fake_process(f, 10, 1, 100, "make")->root = true;
	fake_process(f, 11, 10, 101, "cc")->end_mono_ns = 101 * S + 50 * MS;
	fake_process(f, 12, 10, 102, "cc");
	fake_process(f, 13, 10, 103, "cc");
	for (i = 1; i <= 20; i++) {
		ROW(f, t, 100 * S + i * 100 * MS, 10, 0, 100);
		if (i <= 10)
			ROW(f, t, 100 * S + i * 100 * MS + 1, 11, 20, 1000 * (double)i);
		if (i >= 10)
			ROW(f, t, 100 * S + i * 100 * MS + 2, 12, 10, 5000 + (double)i);
		if (i > 15)
			ROW(f, t, 100 * S + i * 100 * MS + 3, 13, 10, i == 18 ? NAN : 500);
	}
	s = summary_of(f);
	EQ(s->groups_len, 2);
	EQ(s->groups[0].count, 3);
	OK(is(s->groups[0].rss_peak_bytes, 15010) && is(s->groups[0].rss_largest_bytes, 10000));
	OK(is(s->groups[1].rss_peak_bytes, 100) && is(s->memory.followed_rss_bytes.peak, 15110));
	OK(is(s->groups[0].first_s, 0));
	galvo_summary_destroy(s);
	free(f);
}

static void options_are_checked(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	galvo_report_options o = {.struct_size = sizeof(o)};
	struct galvo_summary *s;
	struct buf b;

	two(f, 2 * S);
	s = summary_of(f);
	buf_init(&b, 1 << 20);
	EQ(galvo_summary_report(s, &o, take, &b, NULL), GALVO_OK); /* text by pid */
	OK(b.len > 7 && span_starts(span_of(b.p, b.len), "command"));
	o.by = 2;
	EQ(galvo_summary_report(s, &o, take, &b, NULL), GALVO_ERR_INVALID);
	o.by = -1;
	EQ(galvo_summary_report(s, &o, take, &b, NULL), GALVO_ERR_INVALID);
	o.struct_size = offsetof(galvo_report_options, by); /* older headers have none */
	EQ(galvo_summary_report(s, &o, take, &b, NULL), GALVO_OK);
	o.format = 3;
	EQ(galvo_summary_report(s, &o, take, &b, NULL), GALVO_ERR_INVALID);
	o.struct_size = 0;
	EQ(galvo_summary_report(s, &o, take, &b, NULL), GALVO_ERR_INVALID);
	EQ(galvo_summary_report(s, NULL, take, &b, NULL), GALVO_ERR_INVALID);
	EQ(galvo_summary_report(NULL, &o, take, &b, NULL), GALVO_ERR_INVALID);
	buf_finish(&b);
	galvo_summary_destroy(s);
	free(f);
}

static const struct tap_test tests[] = {
	{"parts add up to the account", parts_add_up_to_the_account},
	{"some parts are not known", some_parts_are_not_known},
	{"no parts are known", no_parts_are_known},
	{"more than the account", more_than_the_account},
	{"numbers that do not fit", numbers_that_do_not_fit},
	{"how processes ended", how_processes_ended},
	{"names over time", names_over_time},
	{"many processes", many_processes},
	{"memory of a group", memory_of_a_group},
	{"options are checked", options_are_checked},
};
TAP_MAIN(tests)
