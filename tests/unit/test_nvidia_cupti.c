/*
 * The double of libcupti: a session yields what the formula says, with the layouts of each version.
 */
#include "nvidia_rig.h"

#define SET(names) names, ARRAY_LEN(names)

static const char *two[] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg"};

static void test_session(void)
{
	double values[ARRAY_LEN(standard)];
	uint64_t begin, stop;
	struct cupti_decode d;
	struct sampling s;
	size_t i, k, n;

	stage("GH100");
	scene->seed = 42;
	EQ(session_host(&s, "GH100", SET(standard)), CUPTI_OK);
	EQ(s.passes, 1);
	EQ(session_start(&s, 0, usual_wish), CUPTI_OK);
	pass_ms(10);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(d.decodeStopReason, CUPTI_STOP_END);
	EQ(d.overflow, 0);
	n = session_completed(&s);
	EQ(n, 10);
	for (i = 0; i < n; i++) {
		EQ(session_sample(&s, i, &begin, &stop), CUPTI_OK);
		/* The first one is stretched by 0.3 s. */
		EQ(begin, 1000 * NS_PER_S + i * MS - (i ? 0 : 300 * MS));
		EQ(stop, 1000 * NS_PER_S + (i + 1) * MS);
		EQ(session_evaluate(&s, i, values), CUPTI_OK);
		for (k = 0; k < s.count; k++)
			OK(values[k] == scene_metric(scene, 0, standard[k], i * MS, MS));
		OK(values[2] <= values[3] &&
		   values[3] <= values[4]); /* active.avg, .max, elapsed */
		OK(values[4] == 1755e6 / 1000);
		OK(values[8] >= 0 && values[9] >= values[8] && values[9] <= 100);
	}
	/* What follows goes into the same image, or into a fresh one. */
	pass_ms(2);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 12);
	EQ(session_image(&s), CUPTI_OK);
	pass_ms(1);
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	pass_ms(5);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 2);
	EQ(session_sample(&s, 1, &begin, &stop), CUPTI_OK);
	EQ(begin, stop); /* the tail has no length */
	EQ(session_end(&s), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

/*
 * Two devices, sampled at once, have values of their own; CUDA counts them in another order than
 * NVML.
 */
static void test_devices(void)
{
	struct cupti_chip_name chip = {.deviceIndex = 0};
	double first[2], second[2];
	struct cupti_decode d;
	struct sampling a, b;

	scene_begin();
	scene_add(scene, "GH100")->cuda_ordinal = 1;
	scene_add(scene, "GA100")->cuda_ordinal = 0;
	doubles_open();
	EQ(cupti_begin(&cupti, &cuda, NULL), GALVO_OK);
	EQ(CUPTI_CALL(&cupti, chip_name, &chip), CUPTI_OK);
	OK(strcmp(chip.pChipName, "GA100") == 0);
	EQ(session_host(&a, "GH100", SET(two)), CUPTI_OK);
	EQ(session_host(&b, "GA100", SET(two)), CUPTI_OK);
	EQ(session_start(&a, 1, usual_wish), CUPTI_OK);
	EQ(session_start(&b, 0, usual_wish), CUPTI_NOT_SUPPORTED); /* GA100 has no time trigger */
	EQ(session_do(&b, cupti.disable), CUPTI_OK);
	EQ(session_start(&b, 0,
	                 (struct session_wish){1000000, 1 << 20, CUPTI_KEEP_LATEST, 100,
	                                       CUPTI_SYSCLK_INTERVAL}),
	   CUPTI_OK);
	pass_ms(1);
	EQ(session_decode(&a, &d), CUPTI_OK);
	EQ(session_decode(&b, &d), CUPTI_OK);
	EQ(session_evaluate(&a, 0, first), CUPTI_OK);
	EQ(session_evaluate(&b, 0, second), CUPTI_OK);
	OK(first[0] == scene_metric(scene, 0, two[0], 0, MS));
	OK(second[0] == scene_metric(scene, 1, two[0], 0, MS));
	OK(first[0] != second[0]);
	EQ(session_do(&a, cupti.stop) | session_do(&b, cupti.stop), CUPTI_OK);
	EQ(session_end(&a) | session_end(&b), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* All structs of the same size in all versions: one byte less, four more, a pPriv. */
static void test_struct_sizes(void)
{
	static const struct {
		const char *name;
		size_t bytes;
	} want[] = {
#define X(member, function, tag, last) {#function, CUPTI_UNTIL(tag, last)},
		CUPTI_CALLS(X)
#undef X
	};
	size_t before, bytes[] = {0, 1, 4, 8}, i, k;
	union {
		size_t size;
		unsigned char room[128];
	} params;

	stage("GH100");
	for (i = 0; i < ARRAY_LEN(want); i++) {
		int (*call)(void *) = NULL;

		k = 0;
#define X(member, function, tag, last)                                                             \
	if (k++ == i)                                                                              \
		memcpy(&call, &cupti.member, sizeof(call));
		CUPTI_CALLS(X)
#undef X
		for (k = 0; k < ARRAY_LEN(bytes); k++) {
			memset(&params, 0, sizeof(params));
			params.size = k == 0 ? want[i].bytes - 4 : want[i].bytes + bytes[k];
			before = scene->violation_count;
			EQ(call(&params), CUPTI_INVALID_PARAMETER);
			OK(scene->violation_count > before && told("structSize is"));
			scene->violation_count = 0;
		}
	}
	VIOLATIONS(0);
	stage_end();
}

/* Each version takes its own sizes and no other. */
static void test_versions(void)
{
	static const uint32_t versions[] = {24, 26, 28, 130001, 130100, 130200};
	size_t i;

	for (i = 0; i < ARRAY_LEN(versions); i++) {
		struct cupti_device_supported d = {.api = CUPTI_API_PM};
		struct cupti_metric_properties m = {.pMetricName = "sm__cycles_active"};
		struct cupti_host_initialize bad = {.profilerType = CUPTI_PM_SAMPLING,
		                                    .pChipName = "gh100"};
		struct session_wish wish = usual_wish;
		struct sampling s;

		stage("GH100");
		scene->cupti_version = versions[i];
		cupti.sizes = cupti_sizes_of(versions[i]);
		cupti.resized = 0;
		wish.append = versions[i] >= 26 ? CUPTI_KEEP_LATEST : CUPTI_KEEP_OLDEST;
		EQ(cupti_device_supported(&cupti, &d), CUPTI_OK);
		EQ(d.isSupported, CUPTI_SUPPORTED);
		EQ(d.sku, versions[i] >= 130100 ? CUPTI_SUPPORTED : 0);
		EQ(session_host(&s, "GH100", SET(two)), CUPTI_OK);
		m.pHostObject = s.host;
		EQ(cupti_metric_properties(&cupti, &m), CUPTI_OK);
		EQ(session_start(&s, 0, wish), CUPTI_OK);
		EQ(session_do(&s, cupti.stop), CUPTI_OK);
		EQ(session_end(&s), CUPTI_OK);
		EQ(cupti.resized, 0);
		VIOLATIONS(0);
		/* The number of this error came with 13.0. */
		EQ(cupti_host_initialize(&cupti, &bad),
		   versions[i] >= 130000 ? CUPTI_INVALID_CHIP_NAME : CUPTI_INVALID_PARAMETER);
		stage_end();
	}
}

/* A library whose layouts are not those of the version that it tells: the other size, once. */
static void test_resized(void)
{
	struct session_wish wish = usual_wish;
	struct sampling s;

	stage("GH100");
	scene->layout_version = 24;
	cupti.sizes = cupti_sizes_of(130001);
	cupti.resized = 0;
	wish.append = CUPTI_KEEP_OLDEST;
	EQ(session_host(&s, "GH100", SET(two)), CUPTI_OK);
	EQ(session_start(&s, 0, wish), CUPTI_OK);
	EQ(cupti.sizes.set_config, 60);
	EQ(cupti.resized, 1);
	VIOLATIONS(1);
	/* A real mistake is told as such, and the size stays. */
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	wish.trigger = 7;
	EQ(session_configure(&s, wish), CUPTI_INVALID_PARAMETER);
	EQ(cupti.sizes.set_config, 60);
	EQ(session_end(&s), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

/* ---- the host side --------------------------------------------------------------------------- */

static void test_host(void)
{
	const char *unknown[] = {"sm__cycles_active.avg", "nope__x.sum"},
		   *bare[] = {"sm__cycles_active"};
	const char *suffix[] = {"sm__cycles_active.avg.foo"},
		   *tensor[] = {"sm__inst_executed_pipe_tensor.sum"};
	const char *slots[] = {"sm__warps_active.avg", "sm__pipe_tensor_cycles_active.avg",
	                       "sm__inst_executed.sum"};
	struct cupti_add_metrics a = {.ppMetricNames = two, .numMetrics = 1};
	struct cupti_passes p = {.numOfPasses = 0};
	struct cupti_config_size z = {.configImageSize = 0};
	struct cupti_config_image i = {.configImageSize = 0};
	uint8_t image[256];
	struct sampling s;

	stage("GH100");
	EQ(session_host(&s, "GH100", SET(unknown)), CUPTI_INVALID_PARAMETER); /* not 17 */
	/* And that object is spoilt for ever. */
	a.pHostObject = z.pHostObject = s.host;
	EQ(CUPTI_CALL(&cupti, add_metrics, &a), CUPTI_UNKNOWN);
	EQ(CUPTI_CALL(&cupti, config_size, &z), CUPTI_UNKNOWN);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", SET(bare)), CUPTI_INVALID_PARAMETER);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", SET(suffix)), CUPTI_INVALID_PARAMETER);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", two, 0), CUPTI_INVALID_PARAMETER);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GV100", SET(two)), CUPTI_NOT_SUPPORTED);
	EQ(session_host(&s, "GH100", SET(tensor)), CUPTI_OK);
	EQ(s.passes, 2);
	EQ(session_host_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", SET(slots)), CUPTI_OK);
	EQ(s.passes, 2);
	EQ(session_host_end(&s), CUPTI_OK);
	/* A call more is a pass more. */
	EQ(session_host(&s, "GH100", SET(two)), CUPTI_OK);
	EQ(s.passes, 1);
	a.pHostObject = z.pHostObject = i.pHostObject = s.host;
	EQ(CUPTI_CALL(&cupti, add_metrics, &a), CUPTI_OK);
	EQ(CUPTI_CALL(&cupti, config_size, &z), CUPTI_OK);
	i.pConfigImage = p.pConfigImage = image;
	i.configImageSize = p.configImageSize = z.configImageSize;
	OK(z.configImageSize <= sizeof(image));
	EQ(CUPTI_CALL(&cupti, config_image, &i), CUPTI_OK);
	EQ(CUPTI_CALL(&cupti, passes, &p), CUPTI_OK);
	EQ(p.numOfPasses, 2);
	i.configImageSize--;
	EQ(CUPTI_CALL(&cupti, config_image, &i), CUPTI_INVALID_PARAMETER);
	memset(image, 0, sizeof(image));
	EQ(CUPTI_CALL(&cupti, passes, &p), CUPTI_OK);
	EQ(p.numOfPasses, 0); /* zeroes are no failure, and no configuration */
	EQ(session_host_end(&s), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"a session, every value known", test_session},
		{"two devices in CUDA's order", test_devices},
		{"the exact size of each struct", test_struct_sizes},
		{"layouts by version", test_versions},
		{"layouts of another version than told", test_resized},
		{"metrics, passes, spoilt objects", test_host},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
