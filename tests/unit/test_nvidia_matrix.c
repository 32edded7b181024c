/*
 * What NVIDIA's libraries answer to right and wrong calls: one table for the doubles and, with
 * GALVO_NVIDIA_REAL in the environment, for the libraries of this machine. So where a double is not
 * like the real one, a machine with a GPU tells.
 */
#include "gpu/environment.h"
#include "nvidia_rig.h"

#define SET(names) names, ARRAY_LEN(names)

static const char *two[] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg"};
static const char *chip;

static bool is_real(void)
{
	return getenv("GALVO_NVIDIA_REAL") != NULL;
}

/* Loads what is to be asked; each test does so in a process of its own. */
static void begin(void)
{
	struct env_places places = {.owned = {NULL}};
	struct cupti_chip_name c = {.deviceIndex = 0};
	galvo_error e = {0};

	if (!is_real()) {
		stage("GH100");
	} else if (!OK(env_places_find(&places, NULL, &e) == GALVO_OK) ||
	           !OK(cuda_open(&cuda, &places.driver, &e) == GALVO_OK) ||
	           !OK(cupti_open(&cupti, &places.cupti, cuda.version, &e) == GALVO_OK) ||
	           !OK(nvml_open(&nvml, &places.driver, &e) == GALVO_OK) ||
	           !OK(cupti_begin(&cupti, &cuda, &e) == GALVO_OK)) {
		printf("# %s\n", e.text);
		exit(1);
	}
	env_places_free(&places);
	EQ(CUPTI_CALL(&cupti, chip_name, &c), CUPTI_OK);
	chip = c.pChipName;
}

static void pass(unsigned ms)
{
	_Atomic uint32_t never = 0;

	if (is_real())
		clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ms * MS,
		                       &never);
	else
		pass_ms(ms);
}

static void begin_session(struct sampling *s)
{
	begin();
	EQ(session_host(s, chip, SET(two)), CUPTI_OK);
	EQ(s->passes, 1);
	EQ(session_start(s, 0, usual_wish), CUPTI_OK);
}

/* ---- libcupti ---------------------------------------------------------------------------------- */

static void order(void)
{
	struct cupti_enable again = {.deviceIndex = 0};
	struct cupti_decode d;
	struct sampling s;

	begin_session(&s);
	EQ(CUPTI_CALL(&cupti, enable, &again), CUPTI_INVALID_OPERATION);
	EQ(session_do(&s, cupti.start), CUPTI_INVALID_OPERATION);
	EQ(session_configure(&s, usual_wish), CUPTI_INVALID_OPERATION);
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_do(&s, cupti.stop), CUPTI_INVALID_OPERATION);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_do(&s, cupti.disable), CUPTI_OK);
	s.object = NULL;
	EQ(session_do(&s, cupti.start), CUPTI_INVALID_PARAMETER);
	EQ(CUPTI_CALL(&cupti, enable, &again), CUPTI_OK);
	s.object = again.pPmSamplingObject;
	EQ(session_do(&s, cupti.start), CUPTI_INVALID_OPERATION); /* before SetConfig */
	EQ(session_do(&s, cupti.disable), CUPTI_OK);
}

static void sizes(void)
{
	static const struct {
		const char *name;
		size_t bytes;
	} want[] = {
#define X(member, function, tag, last) {#function, CUPTI_UNTIL(tag, last)},
		CUPTI_CALLS(X)
#undef X
	};
	static const size_t more[] = {1, 4, 8};
	size_t i, k;
	union {
		size_t size;
		unsigned char room[128];
	} params;

	begin();
	for (i = 0; i < ARRAY_LEN(want); i++) {
		int (*call)(void *) = NULL;

		k = 0;
#define X(member, function, tag, last)                                                             \
	if (k++ == i)                                                                              \
		memcpy(&call, &cupti.member, sizeof(call));
		CUPTI_CALLS(X)
#undef X
		for (k = 0; k < ARRAY_LEN(more); k++) {
			memset(&params, 0, sizeof(params));
			params.size = want[i].bytes + more[k];
			if (!EQ(call(&params), CUPTI_INVALID_PARAMETER))
				printf("# %s with %zu bytes more\n", want[i].name, more[k]);
		}
	}
}

static void images(void)
{
	struct cupti_data_size again = {.pMetricNames = two, .numMetrics = 2, .maxSamples = 7};
	uint64_t from, to;
	struct cupti_decode d;
	uint8_t *pristine;
	double values[2];
	struct sampling s;
	size_t n;

	begin_session(&s);
	pristine = malloc(s.image_bytes);
	memcpy(pristine, s.image, s.image_bytes);
	pass(10);
	EQ(session_decode(&s, &d), CUPTI_OK);
	n = session_completed(&s);
	OK(n > 2);
	EQ(session_sample(&s, n, &from, &to), CUPTI_INVALID_PARAMETER);
	EQ(session_evaluate(&s, n, values), CUPTI_INVALID_PARAMETER);
	EQ(session_sample(&s, 1, &from, &to), CUPTI_OK);
	EQ(session_evaluate(&s, 1, values), CUPTI_OK);
	OK(to > from);
	memcpy(s.image, pristine, s.image_bytes);
	pass(10);
	EQ(session_decode(&s, &d), CUPTI_OK);
	OK(session_completed(&s) > 2);
	s.names = standard + 7; /* not configured */
	EQ(session_evaluate(&s, 1, values), CUPTI_INVALID_METRIC_NAME);
	s.names = two;
	again.pPmSamplingObject = s.object;
	EQ(CUPTI_CALL(&cupti, data_size, &again), CUPTI_OK);
	EQ(session_image(&s), CUPTI_UNKNOWN); /* of the number that was asked for before */
	free(pristine);
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_end(&s), CUPTI_OK);
}

static void refused(const char *name, int want)
{
	const char *names[] = {two[0], name};
	struct sampling s;

	if (!EQ(session_host(&s, chip, SET(names)), want))
		printf("# with %s\n", name);
	session_host_end(&s);
}

static void host(void)
{
	const char *unknown[] = {"nope__x.sum"};
	struct cupti_add_metrics a = {.ppMetricNames = two, .numMetrics = 1};
	struct sampling s;

	begin();
	refused("nope__x.sum", CUPTI_INVALID_PARAMETER);
	refused("sm__cycles_active", CUPTI_INVALID_PARAMETER);
	refused("sm__cycles_active.avg.foo", CUPTI_INVALID_PARAMETER);
	EQ(session_host(&s, chip, SET(unknown)), CUPTI_INVALID_PARAMETER);
	a.pHostObject = s.host;
	EQ(CUPTI_CALL(&cupti, add_metrics, &a), CUPTI_UNKNOWN); /* spoilt for ever */
	session_host_end(&s);
	EQ(session_host(&s, chip, two, 0), CUPTI_INVALID_PARAMETER);
	session_host_end(&s);
	EQ(session_host(&s, "gh100", SET(two)), CUPTI_INVALID_CHIP_NAME);
	EQ(session_host(&s, "GV100", SET(two)), CUPTI_NOT_SUPPORTED);
}

static void wishes(void)
{
	const char *tensor[] = {"sm__inst_executed_pipe_tensor.sum"};
	struct session_wish wish = usual_wish;
	struct sampling s;

	begin();
	if (strcmp(chip, "GH100") == 0) {
		EQ(session_host(&s, chip, SET(tensor)), CUPTI_OK);
		EQ(s.passes, 2);
		EQ(session_start(&s, 0, wish), CUPTI_NOT_SUPPORTED);
		EQ(session_end(&s), CUPTI_OK);
	}
	EQ(session_host(&s, chip, SET(two)), CUPTI_OK);
	wish.interval_ns = 0;
	EQ(session_start(&s, 0, wish), CUPTI_INVALID_PARAMETER);
	wish = usual_wish;
	wish.trigger = 7;
	EQ(session_configure(&s, wish), CUPTI_INVALID_PARAMETER);
	EQ(session_end(&s), CUPTI_OK);
}

static void availability(void)
{
	struct cupti_availability a = {.deviceIndex = 0};
	struct cupti_host_initialize h = {.profilerType = CUPTI_PM_SAMPLING};
	struct cupti_host bye = {.structSize = 24};
	uint8_t *image;

	begin();
	EQ(CUPTI_CALL(&cupti, availability, &a), CUPTI_OK);
	OK(a.counterAvailabilityImageSize > 0);
	image = calloc(1, a.counterAvailabilityImageSize + 1);
	h.pCounterAvailabilityImage = a.pCounterAvailabilityImage = image;
	h.pChipName = chip;
	EQ(cupti_host_initialize(&cupti, &h), CUPTI_INVALID_PARAMETER); /* all zero */
	EQ(CUPTI_CALL(&cupti, availability, &a), CUPTI_OK);
	EQ(cupti_host_initialize(&cupti, &h), CUPTI_OK);
	bye.pHostObject = h.pHostObject;
	EQ(cupti.host_deinitialize(&bye), CUPTI_OK);
	free(image);
}

/* ---- libcuda ------------------------------------------------------------------------------------ */

static void events(void)
{
	void *context, *start, *stop, *untimed, *of;
	int n = 0, device, value;
	float ms = 0;

	begin();
	EQ(cuda.device_get_count(&n), CUDA_OK);
	EQ(cuda.device_get(&device, n), CUDA_INVALID_DEVICE);
	EQ(cuda.device_get_attribute(&value, 4711, 0), CUDA_INVALID_VALUE);
	EQ(cuda.event_create(&start, CUDA_EVENT_DEFAULT), CUDA_INVALID_CONTEXT);
	EQ(cuda.primary_retain(&context, 0), CUDA_OK);
	EQ(cuda.ctx_push(context), CUDA_OK);
	EQ(cuda.event_create(&start, CUDA_EVENT_DEFAULT), CUDA_OK);
	EQ(cuda.event_create(&stop, CUDA_EVENT_DEFAULT), CUDA_OK);
	EQ(cuda.event_create(&untimed, CUDA_EVENT_DISABLE_TIMING), CUDA_OK);
	EQ(cuda.event_elapsed(&ms, start, stop), CUDA_INVALID_HANDLE); /* not recorded */
	EQ(cuda.event_record(start, NULL), CUDA_OK);
	EQ(cuda.event_record(stop, NULL), CUDA_OK);
	EQ(cuda.event_record(untimed, NULL), CUDA_OK);
	EQ(cuda.event_synchronize(untimed), CUDA_OK);
	EQ(cuda.event_query(stop), CUDA_OK);
	EQ(cuda.event_elapsed(&ms, start, stop), CUDA_OK);
	OK(ms >= 0 && ms < 1000);
	EQ(cuda.event_elapsed(&ms, start, untimed), CUDA_INVALID_HANDLE);
	EQ(cuda.event_destroy(start) | cuda.event_destroy(stop) | cuda.event_destroy(untimed),
	   CUDA_OK);
	EQ(cuda.ctx_pop(&of), CUDA_OK);
	OK(of == context);
	EQ(cuda.ctx_pop(&of), CUDA_INVALID_CONTEXT);
	EQ(cuda.primary_release(0), CUDA_OK);
}

/* ---- libnvidia-ml -------------------------------------------------------------------------------- */

static void telemetry(void)
{
	struct nvml_memory_v2 memory = {.version = 0};
	struct nvml_field_value field = {.fieldId = NVML_FIELD_ENERGY_MJ};
	struct nvml_process processes[64];
	unsigned n = 0, value;
	char name[NVML_NAME_CHARS];
	void *device;

	begin();
	EQ(nvml.count(&n), NVML_OK);
	EQ(nvml.by_index(n, &device), NVML_INVALID_ARGUMENT);
	EQ(nvml.by_index(0, &device), NVML_OK);
	EQ(nvml.name(device, name, 2), NVML_INSUFFICIENT_SIZE);
	EQ(nvml.name(device, name, sizeof(name)), NVML_OK);
	EQ(nvml.memory_v2(device, &memory), NVML_ARGUMENT_VERSION_MISMATCH);
	memory.version = NVML_VERSION(nvml_memory_v2, 2);
	EQ(nvml.memory_v2(device, &memory), NVML_OK);
	OK(memory.total > 0 && memory.used + memory.free + memory.reserved <= memory.total);
	EQ(nvml.power_usage(device, &value), NVML_OK);
	EQ(nvml.clock(device, 99, &value), NVML_INVALID_ARGUMENT);
	EQ(nvml.field_values(device, 1, &field), NVML_OK);
	EQ(field.nvmlReturn, NVML_OK);
	field.fieldId = 4711;
	EQ(nvml.field_values(device, 1, &field), NVML_OK);
	OK(field.nvmlReturn != NVML_OK);
	n = ARRAY_LEN(processes);
	EQ(nvml.compute_processes(device, &n, processes), NVML_OK);
}

#define APART(body)                                                                                \
	static void test_##body(void)                                                              \
	{                                                                                          \
		apart(body);                                                                       \
	}

APART(order)
APART(sizes)
APART(images)
APART(host)
APART(wishes)
APART(availability)
APART(events)
APART(telemetry)

int main(void)
{
	static const struct tap_test tests[] = {
		{"the order of calls", test_order},
		{"the exact size of each struct", test_sizes},
		{"images", test_images},
		{"metrics, passes, spoilt objects", test_host},
		{"wishes that cannot be met", test_wishes},
		{"availability", test_availability},
		{"devices, contexts, events", test_events},
		{"telemetry", test_telemetry},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
