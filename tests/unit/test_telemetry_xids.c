/* Xid errors in the telemetry of GPUs: counted, the newest told, on the GPU that had them. */
#include "telemetry_rig.h"

#define AT_S(s) ((uint64_t)(s)*NS_PER_S)

/* When the count first was as high, in whole seconds since the scene began; SIZE_MAX: never. */
static size_t since_s(uint32_t gpu, double count)
{
	size_t n = rig_rows(SCOPE_GPU_DETAIL, gpu, 0), i;

	for (i = 0; i < n; i++)
		if (rig_value(SCOPE_GPU_DETAIL, gpu, 0, i, "gpu__xid_errors") >= count)
			return (size_t)((rig_mono_ns(SCOPE_GPU_DETAIL, gpu, i) - 1000 * NS_PER_S) / NS_PER_S);
	return SIZE_MAX;
}

static bool never_falls(uint32_t gpu)
{
	size_t n = rig_rows(SCOPE_GPU_DETAIL, gpu, 0), i;
	double last = 0, v;

	for (i = 0; i < n; i++, last = v) {
		v = rig_value(SCOPE_GPU_DETAIL, gpu, 0, i, "gpu__xid_errors");
		if (!(v >= last))
			return false;
	}
	return n > 0;
}

/* The same code twice is two errors; who has none has 0 of them, and no last one. */
static void repeated(void)
{
	size_t last;

	rig_scene(2);
	scene_xid(scene, 0, AT_S(10), 31);
	scene_xid(scene, 0, AT_S(40), 31);
	scene_xid(scene, 0, AT_S(41), 45);
	rig_begin();
	ticks(430);
	rig_read();
	DETAIL_IS(0, 0, "xid_errors", 0);
	DETAIL_IS(0, 0, "xid_last", NAN);
	EQ(since_s(0, 1), 10);
	EQ(since_s(0, 2), 40);
	EQ(since_s(0, 3), 41);
	EQ(since_s(0, 4), SIZE_MAX);
	OK(never_falls(0));
	DETAIL_IS(0, 11, "xid_last", 31);
	last = rig_rows(SCOPE_GPU_DETAIL, 0, 0) - 1;
	DETAIL_IS(0, last, "xid_errors", 3);
	DETAIL_IS(0, last, "xid_last", 45);
	DETAIL_IS(1, last, "xid_errors", 0);
	DETAIL_IS(1, last, "xid_last", NAN);
	/* That there were none is nothing that it does not tell. */
	OK(!strstr(rig_gpu(1)->note, "xid"));
	EQ(rig_source("gpu_detail")->failures, 0);
	rig_end();
}

static void two_gpus(void)
{
	rig_scene(2);
	scene_xid(scene, 0, AT_S(1), 13);
	scene_xid(scene, 1, AT_S(2), 79)->is_astray = 1; /* told on the other's set, too */
	rig_begin();
	ticks(40);
	rig_read();
	DETAIL_IS(0, 4, "xid_errors", 1);
	DETAIL_IS(0, 4, "xid_last", 13);
	DETAIL_IS(1, 4, "xid_errors", 1);
	DETAIL_IS(1, 4, "xid_last", 79);
	EQ(scene_calls(scene, "nvmlEventSetCreate"), 2);
	rig_end();
}

/* More than one reading takes: the next one goes on, and none is lost. */
static void burst(void)
{
	rig_scene(1);
	scene_xid(scene, 0, AT_S(1) + 50 * MS, 31)->times = 150;
	scene_xid(scene, 0, AT_S(1) + 60 * MS, 43);
	rig_begin();
	ticks(60);
	rig_read();
	DETAIL_IS(0, 1, "xid_errors", 0);
	DETAIL_IS(0, 2, "xid_errors", 64);
	DETAIL_IS(0, 2, "xid_last", 31);
	DETAIL_IS(0, 3, "xid_errors", 128);
	DETAIL_IS(0, 4, "xid_errors", 151);
	DETAIL_IS(0, 4, "xid_last", 43);
	rig_end();
}

/* Nobody knows of any, which is not that there are none; and it is not asked again. */
static void unsupported(void)
{
	static const char *const calls[] = {
		"nvmlDeviceGetSupportedEventTypes", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents",
		"nvmlEventSetWait_v2",
	};
	unsigned i;

	for (i = 0; i <= ARRAY_LEN(calls); i++) {
		rig_scene(1);
		scene_xid(scene, 0, AT_S(1), 31);
		if (i < ARRAY_LEN(calls))
			scene_fault(scene, FAULT_RESULT, calls[i],
			            i % 2 ? NVML_FUNCTION_NOT_FOUND : NVML_NOT_SUPPORTED);
		else
			scene->devices[0].events = 0x17; /* anything but Xids */
		rig_begin();
		ticks(150); /* and there is another look */
		rig_read();
		DETAIL_IS(0, 14, "xid_errors", NAN);
		DETAIL_IS(0, 14, "xid_last", NAN);
		DETAIL_IS(0, 14, "ecc_corrected_errors", 0);
		OK(strstr(rig_gpu(0)->note, "xid_errors") && !strstr(rig_gpu(0)->note, "xid_last"));
		EQ(rig_source("gpu_detail")->failures, 0);
		EQ(scene_calls(scene, calls[i < ARRAY_LEN(calls) ? i : 0]), 1);
		rig_end();
	}
}

/* A failure that may pass is told, and tried again at the next look. */
static void refused_for_a_while(void)
{
	size_t last;

	rig_scene(1);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceRegisterEvents", NVML_NO_PERMISSION)->times = 1;
	scene_xid(scene, 0, AT_S(20), 31);
	rig_begin();
	ticks(250);
	rig_read();
	DETAIL_IS(0, 1, "xid_errors", NAN);
	last = rig_rows(SCOPE_GPU_DETAIL, 0, 0) - 1;
	DETAIL_IS(0, last, "xid_errors", 1);
	EQ(rig_source("gpu_detail")->failures, 1);
	OK(strstr(rig_source("gpu_detail")->reason, "nvmlDeviceRegisterEvents"));
	rig_end();
}

/* The Xid that it went with is in the reason; when it comes back the count goes on. */
static void lost(void)
{
	size_t last;

	rig_scene(2);
	scene_xid(scene, 1, AT_S(1), 31);
	scene_xid(scene, 1, AT_S(3) + 20 * MS, 79);
	scene->devices[1].lost_at_ns = AT_S(3) + 30 * MS;
	rig_begin();
	ticks(35);
	OK(scene_calls(scene, "nvmlEventSetFree") == 1);
	scene->devices[1].lost_at_ns = UINT64_MAX;
	scene_xid(scene, 1, AT_S(8), 45);
	ticks(70);
	rig_read();
	OK(strstr(rig_source("gpu")->reason, "GPU 1: Xid 79: nvmlDevice"));
	OK(never_falls(1));
	last = rig_rows(SCOPE_GPU_DETAIL, 1, 0) - 1;
	DETAIL_IS(1, last, "xid_errors", 3);
	DETAIL_IS(1, last, "xid_last", 45);
	rig_end();
}

static void instances(void)
{
	struct scene_device *d;

	rig_scene(1);
	d = &scene->devices[0];
	d->mig_current = d->mig_pending = 1;
	d->max_mig_count = 7;
	d->migs[0] = (struct scene_mig){1, 5, 0, UINT64_C(5000000000), 900000000, "MIG-t1"};
	scene_xid(scene, 0, AT_S(1), 43);
	rig_begin();
	ticks(30);
	rig_read();
	DETAIL_IS(0, 3, "xid_errors", 1); /* of the whole, once */
	EQ(rig_rows(SCOPE_GPU_DETAIL, 100, 0) > 0, 1);
	DETAIL_IS(100, 3, "xid_errors", NAN);
	rig_end();
}

/* As its library of Windows has it: no events. */
static void wsl(void)
{
	rig_scene(1);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetSupportedEventTypes", NVML_NOT_SUPPORTED);
	rig_begin_at("wsl");
	ticks(30);
	rig_read();
	DETAIL_IS(0, 3, "xid_errors", NAN);
	EQ(scene_calls(scene, "nvmlDeviceGetSupportedEventTypes"), 1);
	rig_end();
}

static const struct tap_test tests[] = {
	{"the same one again", repeated},
	{"two GPUs", two_gpus},
	{"many at once", burst},
	{"unsupported", unsupported},
	{"refused for a while", refused_for_a_while},
	{"lost with an Xid", lost},
	{"instances", instances},
	{"WSL", wsl},
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
