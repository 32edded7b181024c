/* Sets of GPU counters that are counted in one pass: of every chip, what is left out, what does not fit. */
#include "metrics_rig.h"

static bool has(const struct gpu_set *set, const char *name)
{
	size_t i;

	for (i = 0; i < set->names_len; i++)
		if (strcmp(set->names[i], name) == 0)
			return true;
	return false;
}

/* ---- sets -------------------------------------------------------------------------------------- */

/* A name that is far behind many others, and what is said of them all. */
static void check_conflicts(void)
{
	static const char *const many[] = {"gr__cycles_active.avg", "gr__cycles_elapsed.avg",
		"sm__cycles_active.avg", "sm__warps_active.avg", "dram__bytes_read.sum",
		"sm__pipe_tensor_cycles_active.avg", "dram__bytes_write.sum", "pcie__read_bytes.sum",
		"nvlrx__bytes.sum", "sm__inst_executed.sum", "nvltx__bytes.sum", "lts__t_bytes.sum"};
	struct gpu_host *h = host_of("GH100");
	uint32_t before = is_real ? 0 : scene_calls(scene, "cuptiProfilerHostConfigAddMetrics");
	struct gpu_set *set;
	galvo_error e = {0};

	EQ(gpu_set_choose(h, many, ARRAY_LEN(many), &set, &e), GALVO_ERR_INVALID);
	OK(says(&e, "sm__inst_executed.sum does not fit into one pass of GH100 beside "
	            "sm__pipe_tensor_cycles_active.avg and sm__warps_active.avg; the other 11 fit without it"));
	/* Found by halving: three names of twelve in fewer tries than there are pairs of them. */
	if (!is_real)
		OK(scene_calls(scene, "cuptiProfilerHostConfigAddMetrics") - before <= 18);
	EQ(gpu_set_choose(h, SET("sm__cycles_active.avg", "sm__inst_executed_pipe_tensor.sum"), &set, &e),
	   GALVO_ERR_INVALID);
	OK(says(&e, "sm__inst_executed_pipe_tensor.sum needs 2 passes alone on GH100, and only one pass can be "
	            "sampled; the other 1 fit without it"));
	EQ(gpu_set_choose(h, SET("default", "dram__read_bytes.sum"), &set, &e), GALVO_ERR_INVALID);
	EQ(gpu_set_choose(h, NULL, 0, &set, &e), GALVO_ERR_INVALID);
	OK(says(&e, "no metric is named"));
	gpu_host_close(h);
}

/* As CUPTI itself counts them, in one call for all. */
static size_t passes_again(const char *chip, const struct gpu_set *set)
{
	struct sampling s;
	int rc = session_host(&s, chip, set->names, set->names_len);
	size_t passes = s.passes;

	session_host_end(&s);
	return rc ? 0 : passes;
}

static void check_default(void)
{
	static const struct {
		const char *chip;
		size_t names, names_of_double;
	} rows[] = {{"GH100", 17, 17}, {"GA100", 17, 17}, {"GA107", 17, 17}, {"AD102", 15, 15},
	            {"GB202", 15, 15}, {"GB100", 16, 16}, {"GB110", 16, 16}, {"TU102", 15, 15},
	            {"TU117", 13, 13}, {"GA10B", 11, 17}, {"GB20B", 9, 15}};
	struct gpu_set *set = NULL;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct gpu_host *h = host_of(rows[i].chip);

		OK(gpu_set_choose(h, SET("default"), &set, NULL) == GALVO_OK);
		gpu_host_close(h);
		if (!EQ(set->names_len, is_real ? rows[i].names : rows[i].names_of_double))
			printf("# on %s\n", rows[i].chip);
		OK(strcmp(set->chip, rows[i].chip) == 0);
		for (k = 0; k < set->dropped_len; k++)
			OK(!has(set, set->dropped[k].name) && set->dropped[k].why[0]);
		if (strcmp(rows[i].chip, "GB100") == 0) {
			OK(has(set, "pcie__throughput.avg" ELAPSED));
			OK(strcmp(set->dropped[0].name, "pcie__read_bytes.sum") == 0);
			OK(strcmp(set->dropped[0].why, "GB100 has no such metric") == 0);
		}
		if (strcmp(rows[i].chip, "TU102") == 0)
			OK(has(set, "sm__inst_executed.sum") && has(set, "dram__bytes_write.sum") &&
			   strstr(set->dropped[is_real ? 1 : 0].why, is_real ? "2 passes" : "no such"));
		gpu_set_free(set);
	}
	{
		struct gpu_host *h = host_of("GH100");

		OK(gpu_set_choose(h, SET("default"), &set, NULL) == GALVO_OK);
		EQ(set->dropped_len, 0);
		for (i = 0; i < ARRAY_LEN(standard); i++)
			OK(strcmp(set->names[i], standard[i]) == 0);
		gpu_set_free(set);
		/* What is named comes first and takes what room there is; duplicates are one. */
		OK(gpu_set_choose(h, SET("sm__inst_executed.sum", "default", "sm__inst_executed.sum"), &set,
		                  NULL) == GALVO_OK);
		EQ(set->names_len, 17);
		OK(strcmp(set->names[0], "sm__inst_executed.sum") == 0);
		EQ(set->dropped_len, 1);
		OK(strcmp(set->dropped[0].name, "sm__pipe_tensor_cycles_active.avg") == 0);
		OK(strcmp(set->dropped[0].why, "does not fit into one pass of GH100 beside the others") == 0);
		gpu_set_free(set);
		gpu_host_close(h);
	}
}

/* On every chip that can be sampled both sets are one pass, and rich has the default. */
static void check_every_chip(void)
{
	const char *const *chips;
	struct gpu_set *usual, *rich;
	struct gpu_host *h;
	size_t i, k, n, sampled = 0;
	galvo_error e = {0};

	OK(gpu_chips(&cupti, &chips, &n, NULL) == GALVO_OK);
	for (i = 0; i < n; i++) {
		if (gpu_host_open(&h, &cupti, chips[i], NULL, 0, &e) == GALVO_ERR_ABSENT)
			continue;
		sampled++;
		OK(gpu_set_choose(h, SET("default"), &usual, &e) == GALVO_OK);
		OK(gpu_set_choose(h, SET("rich"), &rich, &e) == GALVO_OK);
		gpu_host_close(h);
		if (!EQ(passes_again(chips[i], usual), 1) || !EQ(passes_again(chips[i], rich), 1))
			printf("# on %s\n", chips[i]);
		OK(rich->names_len > usual->names_len && rich->names_len <= ROW_MAX);
		for (k = 0; k < 7; k++)
			OK(has(usual, standard[k]) && has(rich, standard[k]));
		if (is_real)
			OK(!usual->is_bytes_guessed && usual->sample_bytes > 500 &&
			   rich->sample_bytes >= usual->sample_bytes);
		if (is_real && strcmp(chips[i], "GH100") == 0)
			OK(rich->names_len >= 53);
		gpu_set_free(usual);
		gpu_set_free(rich);
	}
	EQ(sampled, is_real ? 28 : 29);
}

static void check_all(void)
{
	check_conflicts();
	check_default();
	check_every_chip();
}

/* ---- what only the double plays -------------------------------------------------------------------- */

/* The set outlives the host, and its object evaluates what is sampled with its image. */
static void sample_body(void)
{
	struct cupti_availability a = {.deviceIndex = 0};
	struct sampling s = {.host = NULL};
	double values[ROW_MAX];
	struct gpu_host *h;
	struct gpu_set *set;
	struct cupti_decode d;

	stage("GH100");
	EQ(CUPTI_CALL(&cupti, availability, &a), CUPTI_OK);
	a.pCounterAvailabilityImage = calloc(1, a.counterAvailabilityImageSize);
	EQ(CUPTI_CALL(&cupti, availability, &a), CUPTI_OK);
	OK(gpu_host_open(&h, &cupti, "GH100", a.pCounterAvailabilityImage,
	                 a.counterAvailabilityImageSize, NULL) == GALVO_OK);
	free(a.pCounterAvailabilityImage);
	OK(gpu_set_choose(h, SET("default"), &set, NULL) == GALVO_OK);
	gpu_host_close(h);
	OK(set->is_bytes_guessed && set->sample_bytes == 16384);
	s.names = set->names;
	s.count = set->names_len;
	s.host = set->object;
	s.config_bytes = set->image_bytes;
	s.config = malloc(set->image_bytes);
	memcpy(s.config, set->image, set->image_bytes);
	EQ(session_start(&s, 0, usual_wish), CUPTI_OK);
	pass_ms(3);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 3);
	EQ(session_evaluate(&s, 2, values), CUPTI_OK);
	OK(values[3] == scene_metric(scene, 0, set->names[3], 2 * MS, MS));
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_do(&s, cupti.disable), CUPTI_OK);
	free(s.config);
	free(s.image);
	gpu_set_free(set);
	gpu_set_free(NULL);
	VIOLATIONS(0);
	stage_end();
}

/* Results that nobody expects come out as they are, and names that a GPU refuses are left out. */
static void faults_body(void)
{
	static const char *const calls[] = {
		"cuptiProfilerHostInitialize", "cuptiProfilerHostConfigAddMetrics",
		"cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
		"cuptiProfilerHostGetNumOfPasses"};
	struct gpu_set *set = NULL;
	struct scene_fault *f;
	struct gpu_host *h;
	galvo_error e = {0};
	size_t i;

	stage("GH100");
	h = host_of("GH100");
	for (i = 0; i < ARRAY_LEN(calls); i++) {
		f = scene_fault(scene, FAULT_RESULT, calls[i], CUPTI_UNKNOWN);
		EQ(gpu_set_choose(h, SET("default"), &set, &e), GALVO_ERR_IO);
		if (!OK(strstr(e.text, calls[i]) && strstr(e.text, "999")))
			printf("# %s\n", e.text);
		f->result = 0;
	}
	/* The whole, then the halves that have the first name, then it by itself. */
	scene->fault_count = 0;
	f = scene_fault(scene, FAULT_RESULT, "cuptiProfilerHostConfigAddMetrics", CUPTI_INVALID_PARAMETER);
	f->times = 6;
	OK(gpu_set_choose(h, SET("default"), &set, &e) == GALVO_OK);
	EQ(set->names_len, 16);
	EQ(set->dropped_len, 1);
	OK(strcmp(set->dropped[0].why, "this GH100 cannot count it") == 0);
	gpu_set_free(set);
	f->seen = 0;
	f->times = 100;
	EQ(gpu_set_choose(h, SET("sm__cycles_active.avg", "sm__warps_active.avg"), &set, &e),
	   GALVO_ERR_INVALID);
	OK(strstr(e.text, "cannot be counted on this GH100"));
	EQ(gpu_set_choose(h, SET("default"), &set, &e), GALVO_ERR_ABSENT);
	gpu_host_close(h);
	f->times = 1;
	f->seen = 0;
	snprintf(f->call, sizeof(f->call), "cuptiProfilerHostGetBaseMetrics");
	EQ(gpu_host_open(&h, &cupti, "GH100", NULL, 0, &e), GALVO_ERR_INVALID);
	stage_end();
}

static void test_sample(void)
{
	apart(sample_body);
}

static void test_faults(void)
{
	apart(faults_body);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"the double", test_double},
		{"the library of a toolkit", test_real},
		{"a set samples and evaluates", test_sample},
		{"unexpected results and refused names", test_faults},
	};

	find_real();
	return tap_run(tests, ARRAY_LEN(tests));
}
