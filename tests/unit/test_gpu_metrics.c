/* Metrics of GPU counters: what a chip has, what is said of names that are wrong, what a catalog has of them. */
#include "galvo/counters.h"
#include "metric_catalog.pb-c.h"
#include "metrics_rig.h"

#define LEGAL                                                                                      \
	" counter takes .avg .max .min .sum, alone or followed by .peak_sustained… "               \
	".per_cycle_{active,elapsed} .per_second"

/* ---- what there is ----------------------------------------------------------------------------- */

static void check_chips(void)
{
	static const struct {
		const char *chip, *text;
		galvo_status status;
	} rows[] = {
		{"gh100", "there is no chip 'gh100'; did you mean GH100?", GALVO_ERR_INVALID},
		{"H100", "there is no chip 'H100'; did you mean GH100?", GALVO_ERR_INVALID},
		{"", "this libcupti knows no chip ''", GALVO_ERR_INVALID},
		{"H200 NVL", "this libcupti knows no chip 'H200 NVL'", GALVO_ERR_INVALID},
		{"GV100", "chip GV100 has no PM sampling", GALVO_ERR_ABSENT},
	};
	const char *const *names;
	struct gpu_host *h;
	size_t i, n;

	OK(gpu_chips(&cupti, &names, &n, NULL) == GALVO_OK);
	EQ(n, 30);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		galvo_error e = {0};

		EQ(gpu_host_open(&h, &cupti, rows[i].chip, NULL, 0, &e), rows[i].status);
		OK(says(&e, rows[i].text));
	}
}

static void check_list(void)
{
	static const size_t bases[] = {0, 611, 605, 63}, suffixes[] = {0, 44, 3, 8};
	struct gpu_host *h = host_of("GH100");
	const char *const *all;
	size_t i, n, count[4] = {0}, wrong = 0;
	struct gpu_metric m;

	for (i = 0; gpu_host_metric_at(h, i, &m); i++) {
		count[m.type]++;
		wrong += gpu_host_suffixes(h, &m, &all, &n, NULL) || n != suffixes[m.type] ||
		         all[0][0] != '.' || !m.hw_unit[0];
	}
	EQ(wrong, 0);
	for (i = 1; i < 4; i++)
		EQ(count[i], bases[i]);
	OK(gpu_host_metric_find(h, "dram__bytes_read", &m, NULL) == GALVO_OK);
	OK(m.type == METRIC_COUNTER && !strcmp(m.dim_unit, "byte") && !strcmp(m.hw_unit, "dram"));
	OK(gpu_host_metric_find(h, "dram__bytes_read.sum.per_second", &m, NULL) == GALVO_OK);
	OK(!strcmp(m.dim_unit, "byte/second"));
	gpu_host_close(h);
}

/* ---- names ------------------------------------------------------------------------------------- */

static const struct check_row {
	const char *name, *text; /* NULL: it is sound */
} check_rows[] = {
	{"sm__cycles_active.avg", NULL},
	{"sm__cycles_active.avg.per_second", NULL},
	{"dram__throughput.max" ELAPSED, NULL},
	{"l1tex__t_sector_hit_rate.pct", NULL},
	{"LTS.TriageCompute.lts__throughput.avg" ELAPSED, NULL},
	/* Its words in another order, mistyped, in capitals; the suffix stays where it may. */
	{"dram__read_bytes.sum", "GH100 has no metric 'dram__read_bytes'; did you mean dram__bytes_read.sum?"},
	{"dram__read_bytes", "GH100 has no metric 'dram__read_bytes'; did you mean dram__bytes_read?"},
	{"sm__warp_active.avg", "GH100 has no metric 'sm__warp_active'; did you mean sm__warps_active.avg?"},
	{"SM__Cycles_Active.AVG",
	 "GH100 has no metric 'SM__Cycles_Active'; did you mean sm__cycles_active.avg?"},
	{"pcie__tx_bytes.sum",
	 "GH100 has no metric 'pcie__tx_bytes'; did you mean pcie__read_bytes.sum, pcie__write_bytes.sum or "
	 "PCI.TriageCompute.pcie__read_bytes.sum?"},
	{"zzz__nothing_like_it.sum", "GH100 has no metric 'zzz__nothing_like_it'"},
	{"sm__", "GH100 has no metric 'sm__'"},
	{"sm__cyc\x1b[2Jles.avg", "GH100 has no metric 'sm__cyc\\x1b[2Jles'"},
	{"", "'' is no metric, which reads unit__counter.suffix"},
	{"defualt", "'defualt' is no metric, which reads unit__counter.suffix"},
	/* What each type lacks. */
	{"sm__cycles_active",
	 "sm__cycles_active lacks a roll-up: a counter needs one of .avg .max .min .sum"},
	{"l1tex__t_sector_hit_rate",
	 "l1tex__t_sector_hit_rate lacks a suffix: a ratio needs one of .max_rate .pct .ratio"},
	{"dram__throughput",
	 "dram__throughput lacks a suffix: a throughput needs one of .avg .max .min .sum, followed by "
	 ".pct_of_peak_sustained_{active,elapsed}"},
	/* What each type may have. */
	{"sm__cycles_active.foo",
	 "sm__cycles_active has no suffix '.foo'; a" LEGAL " .pct_of_peak_sustained_{active,elapsed}"},
	{"sm__cycles_active.avg.per_sec",
	 "sm__cycles_active has no suffix '.avg.per_sec'; did you mean .avg.per_second? A" LEGAL
	 " .pct_of_peak_sustained_{active,elapsed}"},
	{"sm__cycles_active.avg.pct_of_peak_burst_active",
	 "sm__cycles_active has no suffix '.avg.pct_of_peak_burst_active'; did you mean "
	 ".avg.pct_of_peak_sustained_active? A" LEGAL " …"},
	{"l1tex__t_sector_hit_rate.avg",
	 "l1tex__t_sector_hit_rate has no suffix '.avg'; a ratio takes .max_rate .pct .ratio"},
	{"dram__throughput.sum",
	 "dram__throughput has no suffix '.sum'; a throughput takes .avg .max .min .sum, followed by "
	 ".pct_of_peak_sustained_{active,elapsed}"},
};

/* What other chips have only the library knows, and what is of kernel profilers. */
static const struct check_row real_rows[] = {
	{"sm__sass_inst_executed_op_ld.sum",
	 "GH100 has no metric 'sm__sass_inst_executed_op_ld' that can be sampled: it is one of kernel "
	 "profilers (ncu); did you mean sm__inst_executed.sum?"},
	{"lts__average_t_sector_hit_rate_realtime.pct",
	 "GH100 has no metric 'lts__average_t_sector_hit_rate_realtime', which GA102, GA103, GA104 and 18 "
	 "more have; did you mean LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct?"},
};

static void check_rows_of(const struct check_row *rows, size_t n)
{
	struct gpu_host *h = host_of("GH100");
	size_t i;

	for (i = 0; i < n; i++) {
		galvo_error e = {0};
		galvo_status status = gpu_host_check(h, &rows[i].name, 1, NULL, &e);

		if (rows[i].text)
			OK(status == GALVO_ERR_INVALID && says(&e, rows[i].text));
		else if (!EQ(status, GALVO_OK))
			printf("# %s\n", e.text);
	}
	gpu_host_close(h);
}

static void check_names(void)
{
	struct gpu_host *h;
	galvo_error e = {0};
	size_t passes = 0;

	check_rows_of(check_rows, ARRAY_LEN(check_rows));
	if (is_real)
		check_rows_of(real_rows, ARRAY_LEN(real_rows));
	h = host_of("GH100");
	OK(gpu_host_check(h, SET("sm__cycles_active.avg", "sm__cycles_active.avg"), &passes, &e) == GALVO_OK);
	EQ(passes, 1);
	OK(gpu_host_check(h, SET("sm__throughput.avg" ELAPSED), &passes, &e) == GALVO_OK);
	EQ(passes, 19);
	EQ(gpu_host_check(h, NULL, 0, &passes, &e), GALVO_ERR_INVALID);
	gpu_host_close(h);
	h = host_of("AD102");
	EQ(gpu_host_check(h, SET("nvlrx__bytes.sum"), NULL, &e), GALVO_ERR_INVALID);
	OK(says(&e, is_real ? "AD102 has no metric 'nvlrx__bytes', which TU102, TU104, TU106 and 10 more have"
	                    : "AD102 has no metric 'nvlrx__bytes', which GV11B, TU102, TU104 and 12 more have; did you mean "
	                      "NVLRX.TriageCompute.nvlrx__bytes_packet_request_data_protocol.sum, "
	                      "NVLRX.TriageCompute.nvlrx__bytes_packet_request_data_user.sum or …"));
	gpu_host_close(h);
}

/* ---- descriptors --------------------------------------------------------------------------------- */

static const Galvo__MetricDescriptor *find(const Galvo__MetricCatalog *catalog, const char *name)
{
	size_t i;

	for (i = 0; i < catalog->n_descriptors; i++)
		if (strcmp(catalog->descriptors[i]->fqn, name) == 0)
			return catalog->descriptors[i];
	return NULL;
}

static void check_catalog(void)
{
	static const struct {
		const char *name;
		enum metric_type type;
		enum metric_unit unit;
		const char *entity, *rollup, *submetric, *peak;
	} rows[] = {
		{"dram__bytes_read.sum", METRIC_COUNTER, UNIT_BYTES, "dram", "sum", "",
		 "dram__bytes_read.sum.peak_sustained_elapsed"},
		{"dram__bytes_read.sum.per_second", METRIC_COUNTER, UNIT_BYTES_PER_SEC, "dram", "sum",
		 "per_second", "dram__bytes_read.sum.peak_sustained_elapsed.per_second"},
		{"gpc__cycles_elapsed.avg.per_second", METRIC_COUNTER, UNIT_HZ, "gpc", "avg", "per_second",
		 "gpc__cycles_elapsed.avg.peak_sustained_elapsed.per_second"},
		{"dram__read_throughput.avg" ELAPSED, METRIC_THROUGHPUT, UNIT_PCT, "dram", "avg",
		 "pct_of_peak_sustained_elapsed", "100"},
		{"sm__warps_active.avg", METRIC_COUNTER, UNIT_COUNT_CYCLES, "sm", "avg", "",
		 "sm__warps_active.avg.peak_sustained_elapsed"},
		{"TPC.TriageCompute.sm__inst_executed_realtime.sum", METRIC_COUNTER, UNIT_COUNT, "sm", "sum",
		 "", "TPC.TriageCompute.sm__inst_executed_realtime.sum.peak_sustained_elapsed"},
		{"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct", METRIC_RATIO, UNIT_PCT,
		 "lts", "pct", "", "100"},
		{"gpu__time_duration.sum", METRIC_COUNTER, UNIT_NANOSECONDS, "gpu", "sum", "",
		 "gpu__time_duration.sum.peak_sustained_elapsed"},
	};
	const char *names[ARRAY_LEN(rows)];
	struct gpu_host *h = host_of("GH100");
	Galvo__MetricCatalog *catalog;
	struct gpu_set *set;
	galvo_error e = {0};
	struct buf bytes;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		names[i] = rows[i].name;
	buf_init(&bytes, 1 << 20);
	if (!OK(gpu_set_choose(h, names, ARRAY_LEN(rows), &set, &e) == GALVO_OK)) {
		printf("# %s\n", e.text);
		return;
	}
	/* Twice: what follows a catalog is of it. */
	OK(gpu_set_catalog(set, &bytes, &e) == GALVO_OK);
	OK(gpu_set_catalog(set, &bytes, &e) == GALVO_OK);
	catalog = galvo__metric_catalog__unpack(NULL, bytes.len, (const uint8_t *)bytes.p);
	EQ(catalog->n_descriptors, 2 * ARRAY_LEN(rows));
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const Galvo__MetricDescriptor *d = find(catalog, rows[i].name);

		if (!OK(d))
			continue;
		OK((int)d->type == (int)rows[i].type && d->scope == GALVO__SCOPE__SCOPE_GPU);
		if (!EQ(d->unit, rows[i].unit))
			printf("# of %s\n", d->fqn);
		OK(!strcmp(d->entity, rows[i].entity) && !strcmp(d->rollup, rows[i].rollup));
		OK(!strcmp(d->submetric, rows[i].submetric) && !strcmp(d->source, "cupti"));
		OK(d->description[0]);
		if (strcmp(rows[i].peak, "100") == 0)
			OK(d->peak_case == GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_CONSTANT &&
			   d->peak_constant == 100);
		else
			OK(d->peak_case == GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_EXPR &&
			   !strcmp(d->peak_expr, rows[i].peak));
		/* What is said to be its peak is a metric too. */
		if (d->peak_case == GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_EXPR)
			OK(gpu_host_check(h, (const char *const *)&d->peak_expr, 1, NULL, &e) == GALVO_OK);
	}
	galvo__metric_catalog__free_unpacked(catalog, NULL);
	buf_finish(&bytes);
	buf_init(&bytes, 64);
	EQ(gpu_set_catalog(set, &bytes, &e), GALVO_ERR_NOMEM);
	buf_finish(&bytes);
	gpu_set_free(set);
	gpu_host_close(h);
}

/* ---- for users of the library ---------------------------------------------------------------------- */

static void check_public(void)
{
	galvo_counters_config config = {.struct_size = sizeof(config), .chip = "GH100",
	                                .cupti_path = cupti.path};
	galvo_counter m = {.struct_size = sizeof(m)};
	galvo_counter_set set = {.struct_size = sizeof(set)};
	galvo_counters *c, *bare;
	const char *const *suffixes, *name = NULL;
	galvo_error e = {0};
	size_t i, n;

	OK(galvo_counters_open(&config, &c, &e) == GALVO_OK);
	OK(strcmp(galvo_counters_chip(c), "GH100") == 0);
	for (i = 0; galvo_counters_at(c, i, &m, &e) == GALVO_OK; i++)
		;
	EQ(i, 1279);
	OK(galvo_counters_find(c, "dram__bytes_read.sum.per_second", &m, &e) == GALVO_OK);
	OK(!strcmp(m.name, "dram__bytes_read") && !strcmp(m.unit, "bytes_per_s") &&
	   !strcmp(m.vendor_unit, "byte/second") && !strcmp(m.type, "counter"));
	OK(strcmp(m.suffixes, ".{avg,max,min,sum}[…]") == 0);
	OK(galvo_counters_find(c, "dram__throughput", &m, &e) == GALVO_OK);
	OK(strcmp(m.suffixes, ".{avg,max,min,sum}.pct_of_peak_sustained_{active,elapsed}") == 0);
	EQ(galvo_counters_find(c, "dram__read_bytes", &m, &e), GALVO_ERR_INVALID);
	OK(galvo_counters_suffixes(c, "dram__throughput", &suffixes, &n, &e) == GALVO_OK);
	OK(n == 8 && suffixes[0][0] == '.');
	OK(galvo_counters_choose(c, SET("default"), &set, &e) == GALVO_OK);
	OK(set.names_len == 17 && set.dropped_len == 0 && set.sample_bytes > 1000);
	OK(!set.is_guess == is_real);
	EQ(galvo_counters_choose(c, SET("x__y.sum"), &set, &e), GALVO_ERR_INVALID);
	OK(galvo_counters_choose(c, SET("rich"), &set, &e) == GALVO_OK && set.names_len > 17);
	galvo_counters_close(c);

	config.chip = "";
	OK(galvo_counters_open(&config, &bare, &e) == GALVO_OK);
	for (i = 0; galvo_counters_chip_at(bare, i, &name, &e) == GALVO_OK; i++)
		;
	OK(i == 30 && name && !galvo_counters_chip(bare)[0]);
	EQ(galvo_counters_at(bare, 0, &m, &e), GALVO_ERR_STATE);
	EQ(galvo_counters_choose(bare, SET("default"), &set, &e), GALVO_ERR_STATE);
	galvo_counters_close(bare);
	galvo_counters_close(NULL);
	config.chip = "H100";
	EQ(galvo_counters_open(&config, &c, &e), GALVO_ERR_INVALID);
	config.cupti_path = "/nowhere/libcupti.so.13";
	EQ(galvo_counters_open(&config, &c, &e), GALVO_ERR_ABSENT);
}

static void check_all(void)
{
	check_chips();
	check_list();
	check_names();
	check_catalog();
	check_public();
}

/* ---- memory that runs out ---------------------------------------------------------------------------- */

static long countdown = -1; /* allocations until one fails; negative: never */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static bool is_out(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return is_out() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_out() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return is_out() ? NULL : __real_realloc(p, n);
}

char *__wrap_strdup(const char *s)
{
	return is_out() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return is_out() ? NULL : __real_strndup(s, n);
}

static galvo_status all_once(galvo_error *e)
{
	galvo_counters_config config = {.struct_size = sizeof(config), .chip = "GB100",
	                                .cupti_path = cupti.path};
	galvo_counter m = {.struct_size = sizeof(m)};
	galvo_counter_set set = {.struct_size = sizeof(set)};
	galvo_counters *c;
	galvo_status status = galvo_counters_open(&config, &c, e);

	if (status)
		return status;
	status = galvo_counters_at(c, 0, &m, e);
	if (status == GALVO_OK)
		status = galvo_counters_choose(c, SET("default"), &set, e);
	if (status == GALVO_OK && galvo_counters_find(c, "sm__nothing", &m, e) == GALVO_ERR_NOMEM)
		status = GALVO_ERR_NOMEM;
	galvo_counters_close(c);
	return status;
}

static void memory_body(void)
{
	galvo_status status = GALVO_ERR_NOMEM;
	long n;

	stage("GB100");
	for (n = 0; status == GALVO_ERR_NOMEM && n < 2000; n++) {
		galvo_error e = {0};

		countdown = n;
		status = all_once(&e);
		countdown = -1;
		if (status == GALVO_ERR_NOMEM)
			OK(e.text[0]);
	}
	EQ(status, GALVO_OK);
	OK(n > 50);
	stage_end();
}

static void test_memory(void)
{
	apart(memory_body);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"the double", test_double},
		{"the library of a toolkit", test_real},
		{"memory that runs out", test_memory},
	};

	find_real();
	return tap_run(tests, ARRAY_LEN(tests));
}
