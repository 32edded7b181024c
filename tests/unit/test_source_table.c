/* The table of sources and its catalog: names, units, forms and help of every column. */
#include "source/source.h"
#include "tap.h"

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"

static bool ends(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n >= m && !strcmp(name + n - m, suffix);
}

static void seed_columns_come_first(void)
{
	static const struct {
		enum stream_kind stream;
		enum scope scope;
		const char *names[10];
	} rows[] = {
		{STREAM_SYSTEM, SCOPE_SYSTEM,
		 {"cpu__cycles_busy.avg.pct_of_peak_sustained_elapsed",
		  "cpu__cycles_user.avg.pct_of_peak_sustained_elapsed",
		  "cpu__cycles_kernel.avg.pct_of_peak_sustained_elapsed",
		  "cpu__cycles_iowait.avg.pct_of_peak_sustained_elapsed", "mem__capacity_bytes",
		  "mem__used_bytes", "mem__available_bytes", "mem__buffers_bytes", "mem__cached_bytes",
		  "cpu__cycles_steal.avg.pct_of_peak_sustained_elapsed"}},
		{STREAM_SYSTEM, SCOPE_PROCESS,
		 {"proc__cycles_active.sum.per_second", "proc__rss_bytes", "proc__vms_bytes",
		  "proc__shared_bytes"}},
		{STREAM_DISK, SCOPE_DEVICE,
		 {"disk__read_bytes.sum.per_second", "disk__write_bytes.sum.per_second",
		  "disk__read_inflight", "disk__write_inflight"}},
		{STREAM_DISK, SCOPE_PROCESS,
		 {"proc__io_rchar.sum.per_second", "proc__io_wchar.sum.per_second",
		  "proc__io_read_bytes.sum.per_second", "proc__io_write_bytes.sum.per_second",
		  "proc__io_cancelled_write_bytes.sum.per_second"}},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct catalog_row row;
		size_t at, n = 0;

		for (at = 0; catalog_at(at, &row); at++) {
			if (row.stream != rows[i].stream || row.scope != rows[i].scope)
				continue;
			if (n < ARRAY_LEN(rows[i].names) && rows[i].names[n] &&
			    !OK(!strcmp(row.metric->name, rows[i].names[n])))
				printf("# column %zu is %s\n", n, row.metric->name);
			n++;
		}
		OK(n >= 4 && n <= ROW_MAX);
	}
}

static void check_unit(const struct metric *m)
{
	bool rate = ends(m->name, ".per_second"), bytes = strstr(m->name, "_bytes") != NULL;

	EQ(rate || ends(m->name, OF_PEAK) || ends(m->name, ".avg"), m->form != FORM_LEVEL);
	if (bytes)
		EQ(m->unit, rate ? UNIT_BYTES_PER_SEC : UNIT_BYTES);
	else
		OK(m->unit != UNIT_BYTES);
	if (strstr(m->name, "_requests"))
		EQ(m->unit, UNIT_REQUESTS_PER_SEC);
	EQ(ends(m->name, OF_PEAK) || ends(m->name, ".pct"), m->unit == UNIT_PCT);
	EQ(ends(m->name, ".ratio"), m->unit == UNIT_RATIO);
	EQ(m->type, m->unit == UNIT_PCT     ? METRIC_THROUGHPUT
	            : m->unit == UNIT_RATIO ? METRIC_RATIO
	                                    : METRIC_COUNTER);
}

static void check_metric(const struct source *s, const struct metric *m)
{
	const uint32_t known = (uint32_t)((UINT64_C(1) << s->fields_len) - 1);
	struct metric_name parts;
	size_t n = strlen(m->help);

	OK(metric_name_split(m->name, &parts));
	OK(m->of && !(m->of & ~known) && !(m->whole & ~known) && !(m->rates & ~known));
	OK(!m->rates || m->form == FORM_RATE);
	EQ(m->form == FORM_SHARE, m->whole != 0);
	OK(m->form != FORM_SHARE || !(m->of & ~m->whole));
	/* One sentence. */
	OK(n > 10 && m->help[n - 1] == '.' && !strstr(m->help, ". ") && m->help[0] >= 'A' &&
	   m->help[0] <= 'Z');
	check_unit(m);
}

static void every_column_is_described(void)
{
	size_t i, k, f;

	for (i = 0; i < source_table_len; i++) {
		const struct source *s = source_table[i];

		printf("# %s\n", s->name);
		OK(s->fields_len && s->fields_len <= RAW_MAX && s->metrics_len);
		EQ(s->texts_len == 0, s->shape == SHAPE_GPU);
		OK(s->metrics_len <= METRICS_MAX && s->summary[0]);
		OK(s->cpu_clock_field < (int)s->fields_len);
		EQ(s->cpu_clock_field >= 0, !strcmp(s->name, "process"));
		for (f = 0; f < s->fields_len; f++)
			OK(s->fields[f].name && s->fields[f].name[0]);
		for (k = 0; k < s->metrics_len; k++)
			check_metric(s, &s->metrics[k]);
		for (k = 0; k < s->texts_len; k++) {
			OK(s->texts[k].path[0] != '/' && s->texts[k].parse);
			OK(!s->texts[k].on_request || s->texts[k].optional);
		}
	}
}

static void names_are_unique(void)
{
	struct catalog_row a, b;
	size_t i, k;

	for (i = 0; catalog_at(i, &a); i++)
		for (k = i + 1; catalog_at(k, &b); k++)
			if (!OK(strcmp(a.metric->name, b.metric->name)))
				printf("# twice: %s\n", a.metric->name);
	OK(i > 60 && !catalog_at(SIZE_MAX, &a));
}

static const struct tap_test tests[] = {
	{"the columns of the seed come first, in its order", seed_columns_come_first},
	{"every column has a unit that fits its name, and help", every_column_is_described},
	{"no two columns share a name", names_are_unique},
};

TAP_MAIN(tests)
