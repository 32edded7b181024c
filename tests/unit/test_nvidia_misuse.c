/*
 * The double of libcupti tells every misuse: order, life of objects, images, configurations,
 * threads.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "nvidia_rig.h"

#define SET(names) names, ARRAY_LEN(names)

static const char *two[] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg"};

/* A session that runs, with no quirks. */
static void run(struct sampling *s)
{
	stage("GH100");
	scene->stretch_ns = 0;
	scene->tail = 0;
	EQ(session_host(s, "GH100", SET(two)), CUPTI_OK);
	EQ(session_start(s, 0, usual_wish), CUPTI_OK);
}

static void end(struct sampling *s)
{
	EQ(session_do(s, cupti.stop), CUPTI_OK);
	EQ(session_end(s), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

static void test_order(void)
{
	struct cupti_nothing none = {.pPriv = NULL};
	struct cupti_chip_name chip = {.deviceIndex = 0};
	struct cupti_enable again = {.deviceIndex = 0};
	struct cupti_decode d;
	struct sampling s;

	run(&s);
	EQ(CUPTI_CALL(&cupti, enable, &again), CUPTI_INVALID_OPERATION);
	OK(told("cuptiPmSamplingEnable: it is enabled already"));
	EQ(session_do(&s, cupti.start), CUPTI_INVALID_OPERATION);
	EQ(session_configure(&s, usual_wish), CUPTI_INVALID_OPERATION);
	VIOLATIONS(3);
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_do(&s, cupti.stop), CUPTI_INVALID_OPERATION);
	VIOLATIONS(1);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_do(&s, cupti.disable), CUPTI_OK);
	EQ(session_decode(&s, &d), CUPTI_INVALID_OPERATION);
	OK(told("cuptiPmSamplingDecodeData: the object was destroyed"));
	EQ(session_do(&s, cupti.disable), CUPTI_INVALID_OPERATION);
	VIOLATIONS(2);
	s.object = NULL;
	EQ(session_do(&s, cupti.start), CUPTI_INVALID_PARAMETER);
	s.object = &s;
	EQ(session_do(&s, cupti.start), CUPTI_UNKNOWN);
	OK(told("cuptiPmSamplingStart: no object of CUPTI's"));
	VIOLATIONS(2);
	/* Start before SetConfig. */
	EQ(CUPTI_CALL(&cupti, enable, &again), CUPTI_OK);
	s.object = again.pPmSamplingObject;
	EQ(session_do(&s, cupti.start), CUPTI_INVALID_OPERATION);
	OK(told("cuptiPmSamplingStart: before SetConfig"));
	scene->violation_count = 0;
	EQ(session_end(&s), CUPTI_OK);
	/* What crashes the real one. */
	EQ(CUPTI_CALL(&cupti, deinitialize, &none), CUPTI_OK);
	VIOLATIONS(0);
	EQ(CUPTI_CALL(&cupti, deinitialize, &none), CUPTI_UNKNOWN);
	EQ(CUPTI_CALL(&cupti, chip_name, &chip), CUPTI_UNKNOWN);
	OK(told("cuptiDeviceGetChipName before cuptiProfilerInitialize"));
	VIOLATIONS(2);
	none.pPriv = &none;
	EQ(CUPTI_CALL(&cupti, initialize, &none), CUPTI_OK);
	OK(told("pPriv is not NULL"));
	VIOLATIONS(1);
	stage_end();
}

static void test_crash_body(void)
{
	struct cupti_data_info i = {.counterDataImageSize = 0};
	uint8_t zeroes[256] = {0};

	stage("GH100");
	scene->aborts = 1;
	i.pCounterDataImage = zeroes;
	i.counterDataImageSize = sizeof(zeroes);
	CUPTI_CALL(&cupti, data_info, &i);
}

/* With `aborts` the double dies where the real one does. */
static void test_crash(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test_crash_body();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	OK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_images(void)
{
	struct cupti_data_size again = {.pMetricNames = two, .numMetrics = 2, .maxSamples = 7};
	struct cupti_data_info i = {.counterDataImageSize = 0};
	uint64_t begin, stop, zeroes[64] = {0};
	struct cupti_decode d;
	uint8_t *image, *pristine;
	double values[2];
	struct sampling s, other;

	run(&s);
	pristine = malloc(s.image_bytes);
	memcpy(pristine, s.image, s.image_bytes);
	pass_ms(3);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_sample(&s, 3, &begin, &stop), CUPTI_INVALID_PARAMETER);
	EQ(session_evaluate(&s, 3, values), CUPTI_INVALID_PARAMETER);
	OK(told("sample 3 of 3"));
	VIOLATIONS(2);
	/* A copy of the fresh image does as well as initialising it. */
	memcpy(s.image, pristine, s.image_bytes);
	pass_ms(1);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 1);
	/* Metrics that are not configured. */
	s.names = standard;
	EQ(session_evaluate(&s, 0, values), CUPTI_INVALID_METRIC_NAME);
	s.names = two;
	OK(told("gr__cycles_active.avg is not configured"));
	VIOLATIONS(1);
	/* Images that were never initialised. */
	i.pCounterDataImage = (const uint8_t *)zeroes;
	i.counterDataImageSize = sizeof(zeroes);
	EQ(CUPTI_CALL(&cupti, data_info, &i), CUPTI_UNKNOWN);
	image = s.image;
	s.image = (uint8_t *)zeroes;
	EQ(session_decode(&s, &d), CUPTI_INVALID_PARAMETER);
	s.image = image;
	VIOLATIONS(2);
	/* An image of another object. */
	scene_add(scene, "GH100");
	EQ(session_host(&other, "GH100", SET(two)), CUPTI_OK);
	EQ(session_start(&other, 1, usual_wish), CUPTI_OK);
	s.image = other.image;
	EQ(session_decode(&s, &d), CUPTI_INVALID_PARAMETER);
	s.image = image;
	OK(told("no image that this object has initialised"));
	VIOLATIONS(1);
	EQ(session_do(&other, cupti.stop), CUPTI_OK);
	EQ(session_end(&other), CUPTI_OK);
	/* Another number of samples, and images of the first number are none. */
	again.pPmSamplingObject = s.object;
	EQ(CUPTI_CALL(&cupti, data_size, &again), CUPTI_OK);
	EQ(session_image(&s), CUPTI_UNKNOWN);
	OK(told("GetCounterDataSize was asked again"));
	VIOLATIONS(1);
	free(pristine);
	end(&s);
}

static void test_config_image(void)
{
	struct cupti_decode d;
	struct sampling s;

	run(&s);
	s.config[s.config_bytes - 2] ^= 1;
	EQ(session_decode(&s, &d), CUPTI_UNKNOWN);
	OK(told("the config image has changed since SetConfig"));
	EQ(session_do(&s, cupti.stop), CUPTI_UNKNOWN);
	VIOLATIONS(2);
	s.config[s.config_bytes - 2] ^= 1;
	EQ(session_decode(&s, &d), CUPTI_OK);
	end(&s);
}

static void test_wishes(void)
{
	const char *tensor[] = {"sm__inst_executed_pipe_tensor.sum"};
	struct session_wish wish = usual_wish;
	struct sampling s;

	stage("GH100");
	EQ(session_host(&s, "GH100", SET(tensor)), CUPTI_OK);
	EQ(session_start(&s, 0, wish), CUPTI_NOT_SUPPORTED); /* two passes */
	EQ(session_end(&s), CUPTI_OK);
	EQ(session_host(&s, "GH100", SET(two)), CUPTI_OK);
	wish.interval_ns = 999;
	EQ(session_start(&s, 0, wish), CUPTI_INVALID_PARAMETER);
	EQ(session_end(&s), CUPTI_OK);
	stage_end();

	stage("TU102");
	EQ(session_host(&s, "TU102", SET(two)), CUPTI_OK);
	wish = (struct session_wish){20000, 1 << 20, CUPTI_KEEP_LATEST, 10, CUPTI_SYSCLK_INTERVAL};
	EQ(session_start(&s, 0, wish), CUPTI_NOT_SUPPORTED);
	wish.append = CUPTI_KEEP_OLDEST;
	EQ(session_configure(&s, wish), CUPTI_OK);
	EQ(session_end(&s), CUPTI_OK);
	stage_end();
}

static void test_availability(void)
{
	struct cupti_availability a = {.deviceIndex = 0};
	struct cupti_host_initialize h = {.profilerType = CUPTI_PM_SAMPLING, .pChipName = "GH100"};
	struct cupti_host bye = {.structSize = 24};
	uint8_t image[1024] = {0};

	stage("GH100");
	EQ(CUPTI_CALL(&cupti, availability, &a), CUPTI_OK);
	EQ(a.counterAvailabilityImageSize, sizeof(image));
	h.pCounterAvailabilityImage = a.pCounterAvailabilityImage = image;
	EQ(cupti_host_initialize(&cupti, &h), CUPTI_INVALID_PARAMETER); /* all zero */
	image[0] = 9;
	EQ(cupti_host_initialize(&cupti, &h), CUPTI_UNKNOWN);
	OK(told("no availability image of CUPTI's"));
	scene->violation_count = 0;
	EQ(CUPTI_CALL(&cupti, availability, &a), CUPTI_OK);
	EQ(cupti_host_initialize(&cupti, &h), CUPTI_OK);
	bye.pHostObject = h.pHostObject;
	EQ(cupti.host_deinitialize(&bye), CUPTI_OK);
	EQ(cupti.host_deinitialize(&bye), CUPTI_INVALID_OPERATION);
	VIOLATIONS(1);
	stage_end();
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *decode_slowly(void *of)
{
	struct cupti_decode d;

	EQ(session_decode(of, &d), CUPTI_OK);
	return NULL;
}

static void test_threads(void)
{
	struct cupti_decode d;
	struct sampling s;
	pthread_t thread;

	run(&s);
	scene_fault(scene, FAULT_HANG, "cuptiPmSamplingDecodeData", 0)->times = 1;
	OK(pthread_create(&thread, NULL, decode_slowly, &s) == 0);
	while (scene->hanging == 0)
		sched_yield();
	EQ(session_decode(&s, &d), CUPTI_UNKNOWN);
	OK(told("another thread is in a call with the same object"));
	EQ(session_do(&s, cupti.stop), CUPTI_UNKNOWN);
	VIOLATIONS(2);
	scene->released = 1;
	pthread_join(thread, NULL);
	end(&s);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"the order of calls", test_order},
		{"dies where the real one does", test_crash},
		{"images", test_images},
		{"the config image lives on", test_config_image},
		{"wishes that cannot be met", test_wishes},
		{"availability", test_availability},
		{"two threads in one object", test_threads},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
