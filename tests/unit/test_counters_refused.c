/* Counters that cannot be sampled: the user's mistakes, what the machine lacks, what another one has. */
#include "counters_rig.h"

/* It is refused, with that status and those words. */
static void refused(struct take *t, galvo_status status, const char *words)
{
	EQ(counters_create(&t->config, &t->counters, &t->error), status);
	OK(says(t->error.text, words));
	if (t->error.status == GALVO_OK)
		counters_destroy(t->counters);
	memset(&t->error, 0, sizeof(t->error));
}

static void mistakes(void)
{
	static const char *const no_metric[] = {"sm__cycles_actve.avg"}, *const no_suffix[] = {
		"sm__cycles_active"}, *const too_many[] = {"sm__warps_active.avg",
	                                              "sm__pipe_tensor_cycles_active.avg",
	                                              "sm__inst_executed.sum"};
	static const uint32_t absent[] = {0, 2}, twice[] = {1, 1};
	static const double rates[] = {-1, 0.5, 1e6, NAN, INFINITY};
	struct take t;
	size_t i;

	take_stage("GH100", 2);
	take_init(&t);
	t.config.metrics = no_metric;
	t.config.metrics_len = 1;
	refused(&t, GALVO_ERR_INVALID, "sm__cycles_active");
	t.config.metrics = no_suffix;
	refused(&t, GALVO_ERR_INVALID, "sm__cycles_active");
	t.config.metrics = too_many;
	t.config.metrics_len = 3;
	refused(&t, GALVO_ERR_INVALID, "sm__inst_executed.sum");
	t.config.metrics = two_metrics;
	t.config.metrics_len = 2;
	t.config.devices = absent;
	t.config.devices_len = 2;
	refused(&t, GALVO_ERR_INVALID, "GPU 2 is not there: CUDA sees 2");
	t.config.devices = twice;
	refused(&t, GALVO_ERR_INVALID, "GPU 1 is named twice");
	t.config.devices_len = 0;
	for (i = 0; i < ARRAY_LEN(rates); i++) {
		t.config.frequency_hz = rates[i];
		refused(&t, GALVO_ERR_INVALID, "Hz");
	}
	t.config.frequency_hz = 0;
	t.config.max_samples = 3;
	refused(&t, GALVO_ERR_INVALID, "room for 3 samples");
	take_remove(&t, NULL);
}

static void no_libraries(void)
{
	struct take t;

	take_stage("GH100", 1);
	take_init(&t);
	t.cuda.file = "/nowhere/libcuda.so.1";
	refused(&t, GALVO_ERR_ABSENT, "/nowhere/libcuda.so.1");
	t.cuda.file = t.cuda_file;
	t.cupti.file = "/nowhere/libcupti.so.13";
	refused(&t, GALVO_ERR_ABSENT, "/nowhere/libcupti.so.13");
	take_remove(&t, NULL);
}

static void no_device(void)
{
	struct take t;

	take_stage("GH100", 0);
	take_init(&t);
	refused(&t, GALVO_ERR_ABSENT, "CUDA_ERROR_NO_DEVICE");
	take_remove(&t, NULL);
}

/* Rights, with what the driver's settings say of them. */
static void for_administrators(void)
{
	static const struct {
		const char *params, *words;
	} rows[] = {
		{"ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nX: 0\n",
	         "RmProfilingAdminOnly is 1"},
		{"RmProfilingAdminOnly: 0\n", "though RmProfilingAdminOnly is 0"},
		{"\n:\nRmProfilingAdminOnly\nRmProfilingAdminOnly: x\n", "administrators: it takes"},
		{NULL, "administrators: it takes CAP_SYS_ADMIN"},
	};
	struct take t;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		take_stage("GH100", 1);
		scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingEnable",
		            CUPTI_INSUFFICIENT_PRIVILEGES);
		take_init(&t);
		if (rows[i].params)
			take_put_file(&t, "proc/driver/nvidia/params", rows[i].params);
		refused(&t, GALVO_ERR_DENIED, rows[i].words);
		take_remove(&t, NULL);
	}
}

static void machines_that_cannot(void)
{
	static const struct {
		const char *call;
		int result;
		galvo_status status;
		const char *words;
	} rows[] = {
		{"cuptiPmSamplingEnable", 27, GALVO_ERR_ABSENT, "NOT_SUPPORTED"},
		{"cuptiPmSamplingEnable", 33, GALVO_ERR_ABSENT, "VIRTUALIZED"},
		{"cuptiPmSamplingEnable", 40, GALVO_ERR_DENIED, "host of this virtual machine"},
		{"cuptiPmSamplingEnable", 41, GALVO_ERR_ABSENT, "CONFIDENTIAL"},
		{"cuptiPmSamplingEnable", 43, GALVO_ERR_ABSENT, "MIG"},
		{"cuptiPmSamplingSetConfig", 45, GALVO_ERR_ABSENT, "cuptiPmSamplingSetConfig: CUPTI_ERROR_WSL"},
		{"cuptiProfilerDeviceSupported", 43, GALVO_ERR_ABSENT, "MIG"},
		{"cuptiDeviceGetChipName", 2, GALVO_ERR_ABSENT, "cuptiDeviceGetChipName"},
		{"cuptiProfilerInitialize", 39, GALVO_ERR_STATE, "MULTIPLE_SUBSCRIBERS"},
		{"cuInit", 803, GALVO_ERR_ABSENT, "SYSTEM_DRIVER_MISMATCH"},
	};
	struct take t;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		take_stage("GH100", 2);
		scene_fault(scene, FAULT_RESULT, rows[i].call, rows[i].result);
		take_init(&t);
		refused(&t, rows[i].status, rows[i].words);
		VIOLATIONS(0);
		take_remove(&t, NULL);
	}
	take_stage("GH100", 1);
	scene->devices[0].support = CUPTI_UNSUPPORTED;
	take_init(&t);
	refused(&t, GALVO_ERR_ABSENT, "CUPTI cannot sample the counters of");
	take_remove(&t, NULL);
	take_stage("GV100", 1);
	take_init(&t);
	refused(&t, GALVO_ERR_ABSENT, "GV100");
	take_remove(&t, NULL);
}

/* One that must not be sampled takes no other with it, and says why. */
static void one_of_two(void)
{
	struct take t;
	galvo_run *run;

	take_stage("GH100", 2);
	scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingEnable", CUPTI_MIG_DEVICE_NOT_SUPPORTED)
		->device = 0;
	take_init(&t);
	if (!take_begin(&t))
		return;
	EQ(notes_with(&t, "GPU 0", "MIG_DEVICE_NOT_SUPPORTED"), 1);
	EQ(notes_with(&t, "GPU 1", ""), 0);
	take_pass(100, 1);
	run = take_end(&t);
	EQ(rows_of_gpu(run, 1), 99);
	EQ(rows_of_gpu(run, 0), 0);
	OK(says(decode_of(run, 0)->reason, "MIG_DEVICE_NOT_SUPPORTED"));
	OK(decode_of(run, 1)->reason[0] == '\0');
	take_remove(&t, run);
}

static void dropped_metrics_are_told(void)
{
	struct take t;

	take_stage("AD102", 2);
	take_init(&t);
	t.config.metrics_len = 0;
	if (!take_create(&t))
		return;
	/* Once, not for each device. */
	EQ(notes_with(&t, "GPU counters", "nvlrx__bytes.sum is not recorded: AD102 has no such"), 1);
	counters_destroy(t.counters);
	take_remove(&t, NULL);
}

/* A chip that counts cycles has a shortest interval. */
static void interval_that_is_too_short(void)
{
	struct take t;

	take_stage("TU102", 1);
	take_init(&t);
	t.config.frequency_hz = 200000;
	if (!take_create(&t))
		return;
	EQ(notes_with(&t, "GPU 0", "samples are 10101 ns apart"), 1);
	counters_destroy(t.counters);
	VIOLATIONS(0);
	take_remove(&t, NULL);
}

/* ---- another profiler ---------------------------------------------------------------------------- */

/* It has the counters at first, then lets go of them. */
static void busy_then_free(void)
{
	static const int results[] = {CUPTI_HARDWARE_BUSY, CUPTI_INVALID_OPERATION, CUPTI_UNKNOWN};
	struct scene_fault *f;
	struct take t;
	galvo_run *run;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(results); i++) {
		take_stage("GH100", 2);
		f = scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingEnable", results[i]);
		f->device = 1;
		f->until_ns = 2500 * NS_PER_MS;
		take_init(&t);
		t.config.flush_interval_ns = NS_PER_S;
		if (!take_begin(&t))
			return;
		EQ(notes_with(&t, "GPU 1", "cuptiPmSamplingEnable"), 1);
		EQ(notes_with(&t, "GPU 1", "; it is tried again"), 1);
		for (k = 0; k < 35; k++)
			take_pass(100, 2);
		run = take_end(&t);
		/* Tries at 0, 1, 3 s. */
		EQ(scene_calls(scene, "cuptiPmSamplingEnable"), 1 + 1 + 3);
		EQ(rows_of_gpu(run, 0), 3499);
		EQ(rows_of_gpu(run, 1), 499);
		EQ(decode_of(run, 1)->missing_ns, 3001 * NS_PER_MS);
		OK(decode_of(run, 1)->reason[0] == '\0');
		EQ(rows_wrong(run), 0);
		VIOLATIONS(0);
		take_remove(&t, run);
	}
}

/* It takes them in the middle. */
static void stolen_and_given_back(void)
{
	struct scene_fault *f;
	struct counters_counts n;
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 2);
	f = scene_fault(scene, FAULT_RESULT, "cuptiPmSampling*", CUPTI_HARDWARE_BUSY);
	f->device = 0;
	f->from_ns = 2000 * NS_PER_MS - 1;
	f->until_ns = 4000 * NS_PER_MS;
	take_init(&t);
	t.config.flush_interval_ns = 500 * NS_PER_MS;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 30; i++)
		take_pass(100, 2);
	counters_count(t.counters, &n);
	for (i = 0; i < 30; i++)
		take_pass(100, 2);
	run = take_end(&t);
	EQ(rows_of_gpu(run, 1), 5999);
	OK(decode_of(run, 0)->failures > 0);
	EQ(decode_of(run, 0)->restarts, 1);
	EQ(decode_of(run, 0)->missing_ns + decode_of(run, 0)->samples * NS_PER_MS,
	   5999 * NS_PER_MS);
	OK(decode_of(run, 0)->reason[0] == '\0');
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* Readings go well and bring nothing. */
static void nothing_comes(void)
{
	struct scene_fault *f;
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 1);
	f = scene_fault(scene, FAULT_NO_SAMPLES, "", 0);
	f->from_ns = 450 * NS_PER_MS;
	take_init(&t);
	t.config.flush_interval_ns = NS_PER_S;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 60; i++)
		take_pass(100, 1);
	EQ(notes_with(&t, "GPU 0", "no samples were decoded"), 1);
	run = take_end(&t);
	OK(says(decode_of(run, 0)->reason, "no samples were decoded"));
	EQ(decode_of(run, 0)->samples, 399);
	EQ(decode_of(run, 0)->missing_ns, 5600 * NS_PER_MS);
	EQ(decode_of(run, 0)->failures, 0);
	OK(decode_of(run, 0)->restarts > 0);
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* This process has libcupti loaded, by the tests above. */
static void the_program_uses_cupti(void)
{
	struct take t;

	take_stage("GH100", 1);
	take_init(&t);
	t.cupti.file = NULL;
	t.cupti.no_linker = true;
	if (!take_create(&t))
		return;
	EQ(notes_with(&t, "GPU counters", "by this program or an earlier recording"), 1);
	counters_destroy(t.counters);
	take_remove(&t, NULL);
}

static const struct tap_test tests[] = {
	{"mistakes of the user's are told as such", mistakes},
	{"without libraries", no_libraries},
	{"without a device", no_device},
	{"counters that are for administrators", for_administrators},
	{"machines that cannot", machines_that_cannot},
	{"a device that cannot leaves the others alone", one_of_two},
	{"metrics that are left out are told", dropped_metrics_are_told},
	{"an interval that is too short for a chip", interval_that_is_too_short},
	{"another profiler has the counters, and lets go of them", busy_then_free},
	{"another profiler takes the counters, and gives them back", stolen_and_given_back},
	{"readings that bring nothing", nothing_comes},
	{"a program that uses CUPTI itself is told", the_program_uses_cupti},
};

TAP_MAIN(tests)
