/* Writes pages of made-up runs into a directory, and what is in them, for page.py. */
#include <stdlib.h>

#include "../full_run.h"
#include "output/page.h"

#define ROWS 30000
#define COLUMNS 4
#define SCRIPT "document.title = 'script';"
#define EVIL "</script><script>alert(1)</script><!--\xe2\x80\xa8\xe2\x80\xa9\xff&amp;\"'\\"

/* A table of many rows, a ms apart, with a hole in time, values that are absent, and a spike. */
struct many {
	uint64_t mono_ns[ROWS];
	uint32_t key[ROWS];
	double values[COLUMNS][ROWS];
	const double *columns[COLUMNS];
};

static const char *const names[COLUMNS] = {
	SHARE("cpu__cycles_busy"), SHARE("cpu__cycles_user"), "mem__used_bytes", "mem__cached_bytes",
};
static const struct page_parts parts = {
	{SCRIPT, sizeof(SCRIPT) - 1}, {"body{}", 6}, {"script-src 'self'; style-src 'self'", 35},
};

static void fill(struct many *m)
{
	uint64_t state = 1;
	size_t i, c;

	for (i = 0; i < ROWS; i++) {
		m->mono_ns[i] = 100 * S + (i + 1) * MS + (i > ROWS / 2 ? 3 * S : 0) + i % 7;
		for (c = 0; c < COLUMNS; c++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			m->values[c][i] = (double)(state >> 40) / 1e5 * (c > 1 ? 1e7 : 0.5);
		}
		if (i % 1000 == 999)
			m->values[1][i] = NAN;
	}
	m->values[1][7777] = 1e9;
	for (c = 0; c < COLUMNS; c++)
		m->columns[c] = m->values[c];
}

/* The run of some of the rows; of news, without its beginning. */
static void big_run(struct fake_run *f, struct many *m, size_t from, size_t n)
{
	static const double *columns[2][COLUMNS];
	const double **values = columns[from > 0];
	size_t c;

	fake_init(f);
	for (c = 0; c < COLUMNS; c++)
		values[c] = m->columns[c] + from;
	f->session.stop_mono_ns = 134 * S;
	f->streams[0].frequency_hz = 1000;
	f->run.streams_len = 1;
	f->run.tables_len = 1;
	f->tables[0] = (struct table){.stream = STREAM_SYSTEM, .scope = SCOPE_SYSTEM, .columns = names,
		.columns_len = COLUMNS, .rows_len = n, .mono_ns = m->mono_ns + from,
		.key = m->key + from, .values = values};
	fake_region(f, "load", 1000, 2000);
	fake_region(f, "solve", 2500, 0);
	fake_mark(f, "checkpoint", 4000);
}

static void hostile_run(struct fake_run *f)
{
	static char long_name[1 << 20];
	static const char *const evil_argv[] = {"sh", "-c", EVIL};
	static const char *const evil_disks[] = {"</script>", "<!--"};
	static const struct session_note evil_notes[] = {{EVIL, EVIL}};
	uint32_t i;

	full(f);
	memset(long_name, '<', sizeof(long_name));
	memcpy(long_name, EVIL, sizeof(EVIL) - 1);
	f->session.hostname = EVIL;
	f->session.workload.argv = evil_argv;
	f->session.workload.argv_len = 3;
	f->session.notes = evil_notes;
	f->tables[3].names = evil_disks; /* of disks: the first two of five */
	f->tables[3].names_len = 2;
	for (i = 0; i < f->tables[3].rows_len; i++)
		f->columns[3].key[i] %= 2;
	for (i = 0; i < f->run.processes_len; i++) {
		snprintf(f->processes[i].comm, sizeof(f->processes[i].comm), "%u" EVIL, i);
		snprintf(f->processes[i].command, sizeof(f->processes[i].command), EVIL);
	}
	for (i = 0; i < f->run.regions_len; i++)
		f->regions[i].name = span_of(long_name, i ? sizeof(EVIL) - 1 + i : sizeof(long_name));
	for (i = 0; i < f->run.marks_len; i++)
		f->marks[i].name = span_of(long_name, 40);
}

/* ---- files -------------------------------------------------------------------------------------------- */

static int put(void *ctx, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, ctx) != n;
}

static FILE *open_file(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file) {
		perror(name);
		exit(1);
	}
	return file;
}

static void need(galvo_status status, const galvo_error *error, const char *what)
{
	if (status == GALVO_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, error->text);
	exit(1);
}

static void write_html(const char *name, const galvo_page_run *runs, size_t n, galvo_page_options o)
{
	FILE *file = open_file(name);
	galvo_error error;

	o.struct_size = sizeof(o);
	need(page_write(&parts, runs, n, &o, put, file, &error), &error, name);
	fclose(file);
}

static void write_data(const char *name, const galvo_run *run, galvo_page_data_options o)
{
	FILE *file = open_file(name);
	galvo_error error;

	o.struct_size = sizeof(o);
	need(galvo_page_data(run, &o, put, file, &error), &error, name);
	fclose(file);
}

/* Forty more processes than there are curves of, each busier than the one before. */
static void crowd_run(struct fake_run *f)
{
	uint32_t k;

	full(f);
	for (k = 0; k < 40; k++) {
		struct process_info *p = fake_process(f, 6000 + k, 4712, 2000 + k, "quick");

		p->usage[USAGE_CPU_NS] = (struct usage){.is_known = true, .head = (k + 1) * MS};
	}
}

/* Documents that have no room for all: 30 processes, 10 regions, 2 marks. A line each. */
static void write_capped(const char *name, const struct fake_run *f)
{
	static const uint64_t limits[] = {30 * 360 * 4, 10 * 72 * 4, 2 * 32 * 4};
	const galvo_page_run run = {&f->run, NULL};
	FILE *file = open_file(name);
	galvo_error error;
	size_t i;

	for (i = 0; i < ARRAY_LEN(limits); i++) {
		struct document d = {.kind = "overview", .bytes = 4, .max_bytes = limits[i]};

		need(document_open(&d, &run, 1, NULL, 0, &error), &error, name);
		need(document_title(&d, NULL, &error), &error, name);
		document_say_resolution(&d, NULL, 0);
		need(document_write(&d, true, put, file, &error), &error, name);
		fputc('\n', file);
		document_finish(&d);
	}
	fclose(file);
}

/* Every point of every curve: key, from, end, value. */
static void write_points(const char *name, const galvo_run *run)
{
	const struct panels_options options = {0};
	FILE *file = open_file(name);
	galvo_summary *sum = NULL;
	struct panels panels;
	galvo_error error;
	size_t i, k, m;

	need(galvo_summary_create(run, &sum, &error), &error, "summary");
	need(panels_make(&panels, run, sum, &options, &error), &error, "panels");
	for (i = 0; i < panels.panels_len; i++)
		for (k = 0; k < panels.panels[i].curves_len + (panels.panels[i].total != NULL); k++) {
			const struct curve *c = k < panels.panels[i].curves_len
			                        ? &panels.panels[i].curves[k] : panels.panels[i].total;
			struct points p = {0};

			need(curve_points(&panels, c, &p, &error), &error, c->key);
			for (m = 0; m < p.len; m++)
				fprintf(file, "%s\t%llu\t%llu\t%a\n", c->key,
				        (unsigned long long)(p.from_mono_ns[m] - panels.zero_mono_ns),
				        (unsigned long long)(p.end_mono_ns[m] - panels.zero_mono_ns),
				        p.value[m]);
			points_finish(&p);
		}
	panels_finish(&panels);
	galvo_summary_destroy(sum);
	fclose(file);
}

int main(void)
{
	static const uint64_t sizes[] = {50, 80, 150, 300, 500};
	static const galvo_page_window windows[] = {{3, 3.5}, {20, 21}};
	struct fake_run *big = alloc_array(1, sizeof(*big)), *all = alloc_array(1, sizeof(*all));
	struct fake_run *news = alloc_array(1, sizeof(*news)), *evil = alloc_array(1, sizeof(*evil));
	struct many *m = alloc_array(1, sizeof(*m));
	char name[64];
	size_t i;

	if (!big || !all || !news || !evil || !m)
		return 1;
	fill(m);
	full(all);
	hostile_run(evil);
	big_run(news, m, 20000, ROWS - 20000);
	big_run(big, m, 0, 20000);
	write_data("begun.json", &big->run, (galvo_page_data_options){
		.kind = GALVO_PAGE_OVERVIEW, .is_live = 1, .buckets = 1000000, .precision_bits = 64});
	write_data("news.json", &news->run, (galvo_page_data_options){.kind = GALVO_PAGE_NEWS,
		.is_live = 1, .sequence = UINT64_MAX, .precision_bits = 64, .zero_mono_ns = 100 * S});
	big_run(big, m, 0, ROWS);
	crowd_run(news);
	write_capped("capped.json", news);
	write_points("big.points", &big->run);
	write_points("all.points", &all->run);
	write_html("big.html", &(galvo_page_run){&big->run, NULL}, 1, (galvo_page_options){0});
	write_html("big64.html", &(galvo_page_run){&big->run, NULL}, 1,
	           (galvo_page_options){.precision_bits = 64});
	write_html("all.html", &(galvo_page_run){&all->run, NULL}, 1,
	           (galvo_page_options){.precision_bits = 64});
	write_html("evil.html", &(galvo_page_run){&evil->run, EVIL}, 1,
	           (galvo_page_options){.title = EVIL});
	write_html("windows.html", &(galvo_page_run){&big->run, NULL}, 1, (galvo_page_options){
		.max_bytes = 300000, .details = windows, .details_len = 2, .precision_bits = 64});
	write_html("two.html", (const galvo_page_run[]){{&big->run, "before"}, {&all->run, "after"}}, 2,
	           (galvo_page_options){.precision_bits = 64});
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		snprintf(name, sizeof(name), "size-%llu.html", (unsigned long long)sizes[i] * 1000);
		write_html(name, &(galvo_page_run){&big->run, NULL}, 1,
		           (galvo_page_options){.max_bytes = sizes[i] * 1000, .precision_bits = 64});
	}
	write_data("overview.json", &big->run, (galvo_page_data_options){
		.kind = GALVO_PAGE_OVERVIEW, .buckets = 500, .precision_bits = 64});
	write_data("detail.json", &big->run, (galvo_page_data_options){.kind = GALVO_PAGE_DETAIL,
		.from_s = 5, .end_s = 7, .buckets = 300, .precision_bits = 64});
	write_data("points.json", &big->run, (galvo_page_data_options){.kind = GALVO_PAGE_DETAIL,
		.from_s = 5, .end_s = 5.2, .buckets = 300, .precision_bits = 64});
	free(big);
	free(all);
	free(news);
	free(evil);
	free(m);
	return 0;
}
