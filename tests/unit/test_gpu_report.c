/* The report on GPUs: golden pages of one, two and eight, hostile names, losses told, JSON that parses. */
#include "full_run.h"
#include "galvo/summary.h"
#include "gpu_run.h"
#include "json_reader.h"
#include "output/output.h"

struct taken {
	char text[1 << 18];
	size_t len;
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct taken *t = ctx;

	if (n >= sizeof(t->text) - t->len)
		return 1;
	memcpy(t->text + t->len, bytes, n);
	t->len += n;
	t->text[t->len] = '\0';
	return 0;
}

static struct taken *report(const struct fake_run *f, galvo_report_format format)
{
	struct taken *t = alloc_array(1, sizeof(*t));
	galvo_summary *s = summary_of(f);

	OK(galvo_summary_write(s, format, take, t, NULL) == GALVO_OK);
	galvo_summary_destroy(s);
	return t;
}

static void is_a_page(const struct taken *t)
{
	struct span rest = span_of(t->text, t->len), line;
	size_t i;

	while (span_take_line(&rest, &line)) {
		bool printable = true;

		for (i = 0; i < line.n; i++)
			printable &= (unsigned char)line.p[i] >= 0x20 && line.p[i] != 0x7f;
		if (!OK(printable && text_columns(line) <= LINE_COLUMNS &&
		        (line.n == 0 || line.p[line.n - 1] != ' ')))
			printf("# %.*s\n", (int)line.n, line.p);
	}
}

/* What GPUs put on the page, compared with a file. */
static void is_golden(const struct fake_run *f, const char *name)
{
	struct taken *t = report(f, GALVO_REPORT_TEXT);
	char path[256], *want = alloc_array(1, 1 << 16);
	FILE *file;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/report/%s", FIXTURES, name);
	file = fopen(path, "r");
	if (OK(file != NULL)) {
		n = fread(want, 1, 1 << 16, file);
		fclose(file);
	}
	if (!OK(span_eq(span_of(want, n), span_of(t->text, t->len))))
		printf("%s", t->text);
	is_a_page(t);
	free(want);
	free(t);
}

static void golden_pages(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));

	fake_init(f);
	fake_process(f, 4711, 1, 1000, "python")->root = true;
	fake_region(f, "load", 0, 2000);
	fake_region(f, "step", 2000, 4000);
	fake_region(f, "step", 4000, 7000);
	full_gpus(f, 2);
	is_golden(f, "gpus-2.txt");
	fake_init(f);
	full_gpus(f, 8);
	is_golden(f, "gpus-8.txt");
	free(f);
}

/* Telemetry alone, of a GPU that is cut into instances and of one that nobody can read. */
static void golden_instances(void)
{
	static const char *const columns[] = {"gpu__utilization.pct", "gpu__memory_used_bytes",
	                                      "gpu__power_watts"};
	struct fake_run *f = one_gpu();
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 3);
	size_t u = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, process_columns, 2);
	uint32_t g;
	uint64_t i;

	fake_gpu(f, "NVIDIA H200");
	for (g = 2; g < 4; g++) {
		struct gpu_info *info = &fake_gpu(f, "NVIDIA H200 MIG 1g.18gb")->info;

		info->is_instance = true;
		info->parent = 0;
		info->gpu_instance = 3 + 2 * g;
	}
	fake_region(f, "epoch", 0, 4000);
	for (i = 1; i <= 4; i++) {
		ROW(f, t, (100 + i) * S, 0, NAN, 9 * GIB, 210);
		ROW(f, t, (100 + i) * S, 1, NAN, NAN, NAN);
		for (g = 2; g < 4; g++)
			ROW(f, t, (100 + i) * S, g, NAN, g == 2 ? 8 * GIB : 0.5 * GIB, NAN);
		ROW(f, u, (100 + i) * S, 2, 7.5 * GIB, NAN);
		fake_row_pid(f, u, 4242);
	}
	is_golden(f, "gpus-mig.txt");
	free(f);
}

static void says(const struct fake_run *f, const char *line)
{
	struct taken *t = report(f, GALVO_REPORT_TEXT);

	if (!OK(strstr(t->text, line)))
		printf("# no \"%s\" in\n%s\n", line, t->text);
	is_a_page(t);
	free(t);
}

static void remarks(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct decode_stats *d;
	uint32_t g;

	fake_init(f);
	full_gpus(f, 4);
	/* All that have the same reason share a line. */
	for (g = 0; g < 4; g++) {
		f->gpus[g].decode = (struct decode_stats){.gpu = g};
		snprintf(f->gpus[g].decode.reason, sizeof(f->gpus[g].decode.reason),
		         "another profiler has the counters of this GPU");
	}
	f->run.tables_len--; /* without their rows */
	says(f, "\ngpu remarks\n  0-3: no hardware counters: another profiler has the counters of this GPU\n");
	f->run.tables_len++;
	says(f, "\n  0-3: hardware counters ended: another profiler");
	f->gpus[2].info.foreign_pids = f->gpus[3].info.foreign_pids = true;
	says(f, "\n  2-3: pids are those of another PID namespace\n");
	f->gpus[1].decode.reason[0] = '\0';
	says(f, "\n  0, 2-3: hardware counters ended: another profiler");
	d = &f->gpus[1].decode;
	d->missing_ns = 120 * MS;
	d->overflows = 1;
	d->full_images = 2;
	d->unwritten = 17;
	says(f, "\n  1: hardware counters: 1.20 % of the time no samples: the hardware buffer\n"
	        "     overflowed 1 time, there was more in it than room 2 times, 17 samples could\n"
	        "     not be written\n");
	*d = (struct decode_stats){.gpu = 1, .samples = 50, .not_finite = 250};
	says(f, "\n  1: hardware counters: 250 values left out: not a number\n");
	*d = (struct decode_stats){.gpu = 1, .decodes = 12, .missing_ns = NS_PER_S};
	says(f, "of the time no samples: there was nothing in it");
	f->gpus[3].in_telemetry = false;
	f->gpus[3].info.index = 0;
	says(f, "\n  0, 2, cuda 0: hardware counters ended: another profiler");
	free(f);
}

/* Each by itself on a GPU that is otherwise without fault. */
static void remarks_on_telemetry(void)
{
	static const char *const columns[] = {
		"gpu__utilization.pct", "gpu__power_watts", "gpu__energy_joules",
		"gpu__throttle_hw_thermal.ratio", "gpu__throttle_hw_slowdown.ratio",
	};
	struct fake_run *f = one_gpu();
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, columns, 5);
	struct fake_columns *c = &f->columns[t];
	struct taken *page;
	uint64_t i;

	for (i = 1; i <= 10; i++)
		ROW(f, t, (100 + i) * S, 0, 50, 100, 100 * (double)i, 0, 0);
	page = report(f, GALVO_REPORT_TEXT);
	OK(!strstr(page->text, "gpu remarks"));
	free(page);
	c->value[3][4] = c->value[3][5] = c->value[4][5] = 1;
	says(f, "\n  0: slowed by heat for 2.00 s, by hardware slowdown for 1.00 s\n");
	c->value[2][9] = 5;
	says(f, "\n  0: the energy counter fell 1 time: what it counted in the meantime is not in\n"
	        "     the energy\n");
	c->value[2][9] = 1700;
	says(f, "\n  0: energy by power is 43.8 % below what the counter says\n");
	f->session.stop_mono_ns = 130 * S;
	says(f, "\n  0: telemetry of 33.3 % of the time only\n");
	snprintf(f->gpus[0].info.note, sizeof(f->gpus[0].info.note),
	         "its memory is the machine's; not told: fan_speed.pct, pcie_replays");
	says(f, "\n  0: its memory is the machine's\n");
	f->gpus[0].info.lost_mono_ns = 107 * S;
	says(f, "\n  0: lost at 7.00 s: its memory is the machine's\n");
	free(f);
}

static void remarks_on_xids(void)
{
	static const char *const columns[] = {"gpu__xid_errors", "gpu__xid_last"};
	static const struct {
		double count, last;
		const char *line;
	} rows[] = {
		{1, 79, "\n  0: 1 Xid error: 79 (see NVIDIA's list of Xid codes)\n"},
		{2, 45, "\n  0: 2 Xid errors, the last one 45 (of the workload: see NVIDIA's list of Xid\n"
		        "     codes)\n"},
	};
	struct fake_run *f = one_gpu();
	size_t t = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU, telemetry_columns, 1);
	size_t d = gpu_table(f, STREAM_TELEMETRY, SCOPE_GPU_DETAIL, columns, 2);
	struct taken *page;
	size_t i;

	for (i = 1; i <= 10; i++) {
		ROW(f, t, (100 + i) * S, 0, 50);
		ROW(f, d, (100 + i) * S, 0, 0, NAN);
	}
	page = report(f, GALVO_REPORT_TEXT);
	OK(!strstr(page->text, "Xid"));
	free(page);
	page = report(f, GALVO_REPORT_JSON);
	OK(strstr(page->text, "\"xid_errors\": 0,") && strstr(page->text, "\"xid_last\": null,"));
	free(page);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		f->columns[d].value[0][9] = rows[i].count;
		f->columns[d].value[1][9] = rows[i].last;
		says(f, rows[i].line);
	}
	page = report(f, GALVO_REPORT_JSON);
	OK(strstr(page->text, "\"xid_errors\": 2,") && strstr(page->text, "\"xid_last\": 45,"));
	free(page);
	free(f);
}

static void hostile_names(void)
{
	static const char evil[] = "\x1b[2J\n\r\t\xff\xc3(\"\\\xe2\x80\xae\xc2\x9b" "31m";
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;
	uint32_t g;

	full(f);
	full_gpus(f, 8);
	for (g = 0; g < 8; g++) {
		struct gpu_info *info = &f->gpus[g].info;

		snprintf(info->name, sizeof(info->name), "NVIDIA %s MIG %s", evil, evil);
		snprintf(info->uuid, sizeof(info->uuid), "%u%s", (unsigned)g, evil);
		snprintf(info->driver, sizeof(info->driver), "%s", evil);
		snprintf(f->gpus[g].decode.reason, sizeof(f->gpus[g].decode.reason), "%s%s%s", evil, evil,
		         evil);
		info->is_instance = g > 3;
		info->parent = g > 6 ? UINT32_MAX : 1;
		info->index = UINT32_MAX - g;
	}
	snprintf(f->processes[0].comm, sizeof(f->processes[0].comm), "%s", evil);
	t = report(f, GALVO_REPORT_TEXT);
	is_a_page(t);
	free(t);
	t = report(f, GALVO_REPORT_JSON);
	OK(json_is_sound(span_of(t->text, t->len)));
	free(t);
	free(f);
}

static void json_of_gpus(void)
{
	static const char *const lines[] = {
		"\n      \"name\": \"NVIDIA H200\",", "\n      \"instance_of\": null,",
		"\n      \"utilization_s\": 7.68,", "\n      \"memory_used_peak_bytes\": 128849018880,",
		"\n        \"counter_joules\": 5516,", "\n        \"any_s\": 3,",
		"\n        \"samples\": 47,", "\n        \"missing_pct\": 6,",
		"\n          \"overflows\": 3,", "\n          \"process\": 0,",
		"\n          \"share_pct\": 93.75,", "\n    \"gpu_energy_joules\": 6200,",
		"\n      \"gpu_sm_busy_avg_pct\": 84,",
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct taken *t;
	size_t i;

	full(f);
	t = report(f, GALVO_REPORT_JSON);
	OK(strstr(t->text, "\n  \"gpus\": [],") && strstr(t->text, "\"gpu_energy_joules\": null,"));
	free(t);
	full_gpus(f, 2);
	t = report(f, GALVO_REPORT_JSON);
	OK(json_is_sound(span_of(t->text, t->len)) && !strstr(t->text, "nan"));
	for (i = 0; i < ARRAY_LEN(lines); i++)
		if (!OK(strstr(t->text, lines[i])))
			printf("# no %s\n", lines[i]);
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
		{put_watts, 0, "0 W"}, {put_watts, 75.24, "75.2 W"}, {put_watts, 999.4, "999 W"},
		{put_watts, 999.6, "1.00 kW"}, {put_watts, NAN, "-"}, {put_joules, 5230, "5.23 kJ"},
		{put_joules, 1e30, "1000000000000000 PJ"}, {put_hz, 1.98e9, "1.98 GHz"},
		{put_celsius, 61.4, "61 \xc2\xb0" "C"}, {put_celsius, NAN, "-"},
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
	{"golden pages", golden_pages},
	{"a golden page of instances", golden_instances},
	{"remarks", remarks},
	{"remarks on telemetry", remarks_on_telemetry},
	{"remarks on Xid errors", remarks_on_xids},
	{"hostile names", hostile_names},
	{"JSON of GPUs", json_of_gpus},
	{"numbers for people", numbers_for_people},
};
TAP_MAIN(tests)
