/*
 * The host side of CUPTI, which needs no GPU: chips, metrics, what fits into one pass, errors. The
 * same expectations are put to the library of an installed toolkit, to the double, and to the
 * double that uses the library.
 */
#include "nvidia_real.h"
#include "nvidia_rig.h"

#define SET(names) names, ARRAY_LEN(names)

static size_t passes_of(const char *chip, const char **names, size_t n)
{
	struct sampling s;
	int rc = session_host(&s, chip, names, n);
	size_t passes = s.passes;

	session_host_end(&s);
	return rc ? 0 : passes;
}

static void check_chips(void)
{
	static const struct {
		const char *name;
		size_t max;
	} chips[] = {{"TU102", 176}, {"GA100", 224}, {"GA102", 200}, {"AD102", 200},
	             {"GH100", 248}, {"GB100", 260}, {"GB202", 224}};
	struct cupti_supported_chips all = {.numChips = 0};
	size_t i, k;

	EQ(CUPTI_CALL(&cupti, supported_chips, &all), CUPTI_OK);
	EQ(all.numChips, 30);
	for (i = 0; i < ARRAY_LEN(chips); i++) {
		struct cupti_max_metrics m = {.profilerType = CUPTI_PM_SAMPLING,
		                              .pChipName = chips[i].name};

		for (k = 0; k < all.numChips && strcmp(all.ppChipNames[k], chips[i].name); k++)
			;
		OK(k < all.numChips);
		EQ(CUPTI_CALL(&cupti, max_metrics, &m), CUPTI_OK);
		EQ(m.maxMetricsPerPass, chips[i].max);
	}
}

static void *new_host(const char *chip)
{
	struct cupti_host_initialize h = {.profilerType = CUPTI_PM_SAMPLING, .pChipName = chip};

	EQ(cupti_host_initialize(&cupti, &h), CUPTI_OK);
	return h.pHostObject;
}

static void check_metrics(void)
{
	static const struct {
		size_t base, sub;
		const char *name;
	} types[] = {{611, 44, "sm__cycles_active"},
	             {605, 3, "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime"},
	             {63, 8, "dram__throughput"}};
	struct cupti_host h = {.pHostObject = new_host("GH100")};
	struct cupti_metric_properties p = {.pHostObject = h.pHostObject};
	struct cupti_base_metrics b = {.pHostObject = h.pHostObject};
	struct cupti_sub_metrics s = {.pHostObject = h.pHostObject};
	uint32_t t;

	for (t = 0; t < ARRAY_LEN(types); t++) {
		b.metricType = s.metricType = t;
		s.pMetricName = types[t].name;
		EQ(CUPTI_CALL(&cupti, base_metrics, &b), CUPTI_OK);
		EQ(b.numMetrics, types[t].base);
		EQ(CUPTI_CALL(&cupti, sub_metrics, &s), CUPTI_OK);
		EQ(s.numOfSubmetrics, types[t].sub);
		OK(s.ppSubMetrics[0][0] == '.');
		p.pMetricName = types[t].name;
		EQ(cupti_metric_properties(&cupti, &p), CUPTI_OK);
		EQ(p.metricType, t);
	}
	p.pMetricName = "pcie__read_bytes.sum";
	EQ(cupti_metric_properties(&cupti, &p), CUPTI_OK);
	OK(strcmp(p.pHwUnit, "pcie") == 0 && strcmp(p.pDimUnit, "byte") == 0);
	p.pMetricName = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
	EQ(cupti_metric_properties(&cupti, &p), CUPTI_OK);
	OK(strcmp(p.pDimUnit, "percent") == 0);
	p.pMetricName = "dram__read_bytes"; /* what one would expect it to be called */
	EQ(cupti_metric_properties(&cupti, &p), CUPTI_INVALID_METRIC_NAME);
	p.pMetricName = "sm__cycles_active.foo";
	EQ(cupti_metric_properties(&cupti, &p), CUPTI_INVALID_METRIC_NAME);
	s.metricType = CUPTI_RATIO;
	s.pMetricName = "sm__cycles_active";
	EQ(CUPTI_CALL(&cupti, sub_metrics, &s), CUPTI_INVALID_PARAMETER);
	b.metricType = 3;
	EQ(CUPTI_CALL(&cupti, base_metrics, &b), CUPTI_INVALID_PARAMETER);
	EQ(CUPTI_CALL(&cupti, host_deinitialize, &h), CUPTI_OK);
}

/* The default set by chip: what is left out, and what comes instead. */
static size_t variant(const char *chip, const char **to)
{
	bool is_turing = strncmp(chip, "TU", 2) == 0;
	bool has_links = strncmp(chip, "AD", 2) != 0 && strncmp(chip, "GB20", 4) != 0 &&
	                 (!is_turing || chip[4] <= '4');
	bool has_pcie_bytes = strncmp(chip, "GB1", 3) != 0;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(standard); i++) {
		if (strncmp(standard[i], "nvl", 3) == 0 && !has_links)
			continue;
		if (strncmp(standard[i], "pcie__", 6) == 0 && !has_pcie_bytes)
			continue;
		if (is_turing && (strstr(standard[i], "tensor") || strstr(standard[i], "dram__")))
			continue;
		to[n++] = standard[i];
	}
	if (!has_pcie_bytes)
		to[n++] = "pcie__throughput.avg.pct_of_peak_sustained_elapsed";
	if (is_turing) {
		to[n++] = "dram__bytes_read.sum";
		to[n++] = "dram__bytes_write.sum";
		to[n++] = "sm__inst_executed.sum";
	}
	return n;
}

static void check_one_pass(void)
{
	static const struct {
		const char *chip;
		size_t metrics;
	} rows[] = {{"GH100", 17}, {"GA100", 17}, {"GA102", 17}, {"GA107", 17}, {"AD102", 15},
	            {"AD107", 15}, {"GB202", 15}, {"GB207", 15}, {"GB100", 16}, {"GB102", 16},
	            {"GB110", 16}, {"TU102", 15}, {"TU104", 15}, {"TU106", 13}, {"TU117", 13}};
	const char *names[ARRAY_LEN(standard) + 4];
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		EQ(variant(rows[i].chip, names), rows[i].metrics);
		if (!EQ(passes_of(rows[i].chip, names, rows[i].metrics), 1))
			printf("# on %s\n", rows[i].chip);
	}
}

static void check_passes(void)
{
	const char *tensor[] = {"sm__inst_executed_pipe_tensor.sum"};
	const char *slots[] = {"sm__warps_active.avg", "sm__pipe_tensor_cycles_active.avg",
	                       "sm__inst_executed.sum"};
	const char *busy[] = {"sm__throughput.avg.pct_of_peak_sustained_elapsed"};
	struct cupti_host h = {.pHostObject = new_host("GH100")};
	struct cupti_add_metrics a = {.pHostObject = h.pHostObject, .numMetrics = 1};
	struct cupti_config_size z = {.pHostObject = h.pHostObject};
	struct cupti_config_image image = {.pHostObject = h.pHostObject};
	struct cupti_passes p = {.numOfPasses = 0};
	size_t i;

	EQ(passes_of("GH100", SET(tensor)), 2);
	EQ(passes_of("GH100", slots + 1, 2), 1);
	EQ(passes_of("GH100", SET(slots)), 2);
	EQ(passes_of("GH100", SET(busy)), 19);
	/* One by one: a pass each. */
	for (i = 0; i < ARRAY_LEN(standard); i++) {
		a.ppMetricNames = standard + i;
		EQ(CUPTI_CALL(&cupti, add_metrics, &a), CUPTI_OK);
	}
	EQ(CUPTI_CALL(&cupti, config_size, &z), CUPTI_OK);
	image.configImageSize = p.configImageSize = z.configImageSize;
	image.pConfigImage = p.pConfigImage = calloc(1, z.configImageSize);
	EQ(CUPTI_CALL(&cupti, config_image, &image), CUPTI_OK);
	EQ(CUPTI_CALL(&cupti, passes, &p), CUPTI_OK);
	EQ(p.numOfPasses, 17);
	image.configImageSize = 1;
	EQ(CUPTI_CALL(&cupti, config_image, &image), CUPTI_INVALID_PARAMETER);
	memset(p.pConfigImage, 0, p.configImageSize);
	EQ(CUPTI_CALL(&cupti, passes, &p), CUPTI_OK);
	EQ(p.numOfPasses, 0); /* zeroes are no failure, and no configuration */
	free(image.pConfigImage);
	EQ(CUPTI_CALL(&cupti, host_deinitialize, &h), CUPTI_OK);
}

static void check_errors(void)
{
	static const struct {
		const char *chip;
		uint32_t type;
		int result;
	} rows[] = {{"gh100", CUPTI_PM_SAMPLING, CUPTI_INVALID_CHIP_NAME},
	            {"", CUPTI_PM_SAMPLING, CUPTI_INVALID_CHIP_NAME},
	            {"GV100", CUPTI_PM_SAMPLING, CUPTI_NOT_SUPPORTED},
	            {NULL, CUPTI_PM_SAMPLING, CUPTI_INVALID_PARAMETER},
	            {"GH100", 2, CUPTI_INVALID_PARAMETER}};
	const char *unknown[] = {"sm__cycles_active.avg", "nope__x.sum"},
		   *bare[] = {"sm__cycles_active"};
	const char *links[] = {"nvlrx__bytes.sum"};
	struct cupti_add_metrics a = {.ppMetricNames = standard, .numMetrics = 1};
	struct cupti_sampling none = {.structSize = 24};
	struct cupti_host_initialize wrong = {.structSize = 44};
	struct sampling s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct cupti_host_initialize h = {.profilerType = rows[i].type,
		                                  .pChipName = rows[i].chip};

		EQ(cupti_host_initialize(&cupti, &h), rows[i].result);
	}
	EQ(cupti.resized, 0);
	EQ(session_host(&s, "GH100", SET(unknown)), CUPTI_INVALID_PARAMETER);
	a.pHostObject = s.host;
	EQ(CUPTI_CALL(&cupti, add_metrics, &a), CUPTI_UNKNOWN);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", SET(bare)), CUPTI_INVALID_PARAMETER);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "AD102", SET(links)), CUPTI_INVALID_PARAMETER);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", standard, 0), CUPTI_INVALID_PARAMETER);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(cupti.start(&none), CUPTI_INVALID_PARAMETER);
	EQ(cupti.host_initialize(&wrong), CUPTI_INVALID_PARAMETER);
}

static void check_all(void)
{
	check_chips();
	check_metrics();
	check_one_pass();
	check_passes();
	check_errors();
}

/* ---- who is asked ---------------------------------------------------------------------------- */

/* What the library alone knows: sizes, and that the double's list of metrics is its list. */
static void check_fixture(void)
{
	struct cupti_host h = {.pHostObject = new_host("GH100")};
	struct cupti_metric_properties p = {.pHostObject = h.pHostObject};
	FILE *f = fopen(FIXTURES "/nvidia/metrics_GH100.tsv", "re");
	char *line = NULL, *rest, *type, *name, *hw, *dim;
	size_t cap = 0, n = 0;

	while (OK(f) && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rest = line;
		type = strsep(&rest, "\t");
		name = strsep(&rest, "\t");
		hw = strsep(&rest, "\t");
		dim = strsep(&rest, "\t");
		p.pMetricName = name;
		if (!EQ(cupti_metric_properties(&cupti, &p), CUPTI_OK))
			break;
		if (!OK(p.metricType == (uint32_t)(type[0] - '0') && !strcmp(p.pHwUnit, hw) &&
		        !strcmp(p.pDimUnit, dim ? dim : "")))
			printf("# %s: %u %s %s\n", name, p.metricType, p.pHwUnit, p.pDimUnit);
		n++;
	}
	EQ(n, 611 + 605 + 63);
	free(line);
	fclose(f);
	EQ(CUPTI_CALL(&cupti, host_deinitialize, &h), CUPTI_OK);
}

static void check_sizes(void)
{
	size_t bytes = 0;
	struct sampling s;
	galvo_error e = {0};

	EQ(session_host(&s, "GH100", SET(standard)), CUPTI_OK);
	if (OK(cupti_sample_bytes(&cupti, s.config, s.config_bytes, &bytes, &e) == GALVO_OK))
		OK(bytes > 4000 && bytes < 16384);
	else
		printf("# %s\n", e.text);
	printf("# CUPTI %u: the default set takes %zu bytes, a sample %zu\n", cupti.version,
	       s.config_bytes, bytes);
	EQ(session_host_end(&s), CUPTI_OK);
}

static void real_body(void)
{
	struct nvidia_places where = {.file = real_path};
	struct timespec t;
	uint64_t told;

	OK(cupti_open(&cupti, &where, 0, NULL) == GALVO_OK);
	OK(cupti.nvperf); /* from beside it */
	check_all();
	check_fixture();
	check_sizes();
	EQ(cupti.get_timestamp(&told), CUPTI_OK);
	clock_gettime(CLOCK_REALTIME, &t);
	OK((uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec - told < 10 * NS_PER_S);
}

static void double_body(void)
{
	stage("GH100");
	check_all();
	stage_end();
}

/* The double with the library's host side: its metrics and passes, the double's samples. */
static void both_body(void)
{
	double values[ARRAY_LEN(standard)];
	struct cupti_decode d;
	struct sampling s;

	stage("GH100");
	snprintf(scene->real_cupti, sizeof(scene->real_cupti), "%s", real_path);
	scene->cupti_version = cupti.version;
	check_all();
	scene->violation_count = 0;
	EQ(session_host(&s, "GH100", SET(standard)), CUPTI_OK);
	EQ(session_start(&s, 0, usual_wish), CUPTI_OK);
	pass_ms(3);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 3);
	EQ(session_evaluate(&s, 2, values), CUPTI_OK);
	OK(values[3] == scene_metric(scene, 0, standard[3], 2 * MS, MS));
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_end(&s), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

static void test_real(void)
{
	if (real_path[0])
		apart(real_body);
}

static void test_double(void)
{
	apart(double_body);
}

static void test_both(void)
{
	if (real_path[0])
		apart(both_body);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"the double", test_double},
		{"the library of a toolkit", test_real},
		{"the double with the library's host side", test_both},
	};

	find_real();
	return tap_run(tests, ARRAY_LEN(tests));
}
