/* Who uses a GPU: lists in every size of entry, use that is stale or garbage. */
#include "telemetry_rig.h"

#define GIB (UINT64_C(1) << 30)

/* ---- lists ----------------------------------------------------------------------------------- */

/* The same two processes, in entries of every size that drivers have used. */
static void entries_of_every_size(void)
{
	static const uint32_t strides[] = {24, 32, 16};
	size_t i;

	for (i = 0; i < ARRAY_LEN(strides); i++) {
		rig_scene(1);
		scene->devices[0].process_stride = strides[i];
		add_process(0, 101, 2942304256);
		add_process(0, 202, 6396313600);
		add_process(0, 303, NVML_NOT_AVAILABLE);
		rig_begin();
		ticks(12); /* two looks: the second one tells what was found */
		rig_read();
		PROCESS_IS(0, 101, 2, "memory_used_bytes", 2942304256);
		PROCESS_IS(0, 202, 2, "memory_used_bytes", 6396313600);
		PROCESS_IS(0, 303, 2, "memory_used_bytes", NAN);
		EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 9);
		EQ(strstr(rig_gpu(0)->note, "entries of another size") != NULL, strides[i] != 24);
		rig_end();
	}
}

/* A process that computes and draws has its memory in both lists. */
static void in_several_lists(void)
{
	rig_scene(1);
	add_process(0, 101, 5 * GIB);
	add_process(0, 101, 6 * GIB)->kind = PROCESS_GRAPHICS;
	add_process(0, 102, 1 * GIB)->kind = PROCESS_MPS;
	add_process(0, 103, NVML_NOT_AVAILABLE);
	add_process(0, 103, 2 * GIB)->kind = PROCESS_GRAPHICS;
	add_process(0, 104, 7 * GIB);
	add_process(0, 104, 3 * GIB)->kind = PROCESS_GRAPHICS;
	rig_begin();
	ticks(10);
	rig_read();
	PROCESS_IS(0, 101, 0, "memory_used_bytes", 6.0 * GIB);
	PROCESS_IS(0, 102, 0, "memory_used_bytes", 1.0 * GIB);
	PROCESS_IS(0, 103, 0, "memory_used_bytes", 2.0 * GIB);
	PROCESS_IS(0, 104, 0, "memory_used_bytes", 7.0 * GIB);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 12);
	DETAIL_IS(0, 0, "processes", 4);
	rig_end();
}

/* No process has such a number, or more memory than there is. */
static void entries_that_are_none(void)
{
	rig_scene(1);
	add_process(0, 0, 0);
	add_process(0, UINT32_MAX, 12345);
	add_process(0, 1 << 23, 12345);
	add_process(0, 77, 200 * GIB);
	rig_begin();
	ticks(10);
	rig_read();
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 0);
	DETAIL_IS(0, 0, "processes", 0);
	rig_end();
	/* One bad entry costs no other. */
	rig_scene(1);
	add_process(0, 0, 0);
	add_process(0, 101, GIB);
	add_process(0, 102, GIB);
	rig_begin();
	rig_read();
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 2);
	PROCESS_IS(0, 102, 0, "memory_used_bytes", 1.0 * GIB);
	rig_end();
}

static void come_and_go(void)
{
	struct scene_process *p;

	rig_scene(1);
	p = add_process(0, 101, GIB);
	p->from_ns = 700 * MS;
	p->until_ns = 1700 * MS;
	rig_begin();
	ticks(20);
	EQ(scene_calls(scene, "nvmlDeviceGetComputeRunningProcesses_v3"), 5);
	rig_read();
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 101), 2); /* at 1.0 s and at 1.5 s */
	rig_end();
}

/* The older library has entries of 16 bytes, no MPS, no newer use. */
static void older_library_apart(void)
{
	struct telemetry_config config;

	rig_scene(1);
	add_process(0, 101, 2942304256);
	add_process(0, 202, 6396313600);
	OK(world_open(&rig.world, FIXTURES "/source/gpu/first", NULL) == GALVO_OK);
	clock_fake_init(&rig.clock, 1000 * NS_PER_S, 1, 1000 * NS_PER_S);
	rig.world.clock = &rig.clock.clock;
	rig_files();
	config = rig_config(&rig.world);
	config.places.nvml = double_path("old/libnvidia-ml.so.1");
	OK(telemetry_create(&config, &rig.telemetry, NULL) == GALVO_OK);
	OK(telemetry_begin(rig.telemetry, rig.stream, NULL) == GALVO_OK);
	OK(telemetry_settle(rig.telemetry, SOON_NS));
	tick();
	ticks(1);
	rig_read();
	PROCESS_IS(0, 101, 0, "memory_used_bytes", 2942304256);
	PROCESS_IS(0, 202, 0, "memory_used_bytes", 6396313600);
	GPU_IS(0, 1, "memory_used_bytes", 1610612736 + 104857); /* with what is reserved */
	GPU_IS(0, 1, "memory_reserved_bytes", NAN);
	GPU_IS(0, 1, "temperature_celsius", 61);
	GPU_IS(0, 1, "throttle_idle.ratio", 0);
	rig_end();
}

static void older_library(void)
{
	apart(older_library_apart);
}

/* ---- use ------------------------------------------------------------------------------------- */

static void add_use(uint32_t pid, int64_t after_us, uint32_t sm, uint32_t memory)
{
	struct scene_device *d = &scene->devices[0];

	/* The clock stands at 1000 s when telemetry begins; it asks for what came in the second before. */
	d->uses[d->use_count++] = (struct scene_use){
		.pid = pid, .timestamp = (uint64_t)(999 * (int64_t)SECOND_US + after_us), .sm = sm,
		.memory = memory};
}

static void use_scene(void)
{
	uint32_t pid;

	rig_scene(1);
	for (pid = 1; pid <= 4; pid++)
		add_process(0, pid, GIB);
}

/* What is old does not count; several samples are a mean over time; who has none did nothing. */
static void use_over_time(void)
{
	use_scene();
	add_use(1, 800000, 5, 0);
	add_use(2, -7100000, 3, 0);
	add_use(3, 1000000, 0, 0);
	add_use(3, 200000, 80, 10); /* in no order */
	add_use(3, 400000, 40, 10);
	add_use(9, 500000, 33, 1);  /* it has gone since, and did use it */
	rig_begin();
	rig_read();
	PROCESS_IS(0, 1, 0, "utilization.pct", 5);
	PROCESS_IS(0, 2, 0, "utilization.pct", 0);
	PROCESS_IS(0, 3, 0, "utilization.pct", 24);
	PROCESS_IS(0, 3, 0, "memory_utilization.pct", 4);
	PROCESS_IS(0, 4, 0, "utilization.pct", 0);
	PROCESS_IS(0, 4, 0, "decoder_utilization.pct", 0);
	PROCESS_IS(0, 9, 0, "utilization.pct", 33);
	PROCESS_IS(0, 9, 0, "memory_used_bytes", NAN);
	rig_end();
}

/* Drivers sample seldom: a mean holds until the next sample is overdue, and then it is idleness. */
static void use_holds(void)
{
	use_scene();
	add_use(1, 900000, 55, 20);
	rig_begin();
	add_process(0, 5, GIB);
	ticks(21);
	rig_read();
	PROCESS_IS(0, 1, 0, "utilization.pct", 55);
	PROCESS_IS(0, 1, 1, "utilization.pct", 55);
	PROCESS_IS(0, 1, 2, "utilization.pct", 55);
	PROCESS_IS(0, 1, 4, "utilization.pct", 0);
	PROCESS_IS(0, 2, 1, "memory_utilization.pct", 0);
	PROCESS_IS(0, 5, 0, "utilization.pct", NAN); /* it came since */
	PROCESS_IS(0, 5, 3, "utilization.pct", 0);
	EQ(rig_source("gpu_process")->failures, 0);
	rig_end();
}

/* A driver that tells what was seen again and again: that moves nothing. */
static void use_that_is_told_again(void)
{
	use_scene();
	scene->devices[0].use_raw = 1;
	add_use(1, 900000, 55, 20);
	rig_begin();
	ticks(21);
	rig_read();
	PROCESS_IS(0, 1, 0, "utilization.pct", 55);
	PROCESS_IS(0, 1, 1, "utilization.pct", 55);
	PROCESS_IS(0, 1, 4, "utilization.pct", 0);
	rig_end();
}

/* Rows of whatever was in memory; what they say of time moves nothing. */
static void use_that_is_garbage(void)
{
	struct scene_device *d;

	use_scene();
	d = &scene->devices[0];
	d->uses[0] = (struct scene_use){.pid = 1, .timestamp = UINT64_C(217144956601725000), .sm = 37100};
	d->uses[1] = (struct scene_use){.pid = 2, .timestamp = 49936, .encoder = 3313};
	d->use_count = 2;
	d->use_raw = 100;
	rig_begin();
	d->use_raw = d->use_count = 0;
	add_use(1, 950000, 101, 0); /* too much */
	add_use(2, 960000, 50, 0);
	add_use(0, 970000, 50, 0);
	ticks(6);
	rig_read();
	PROCESS_IS(0, 1, 0, "utilization.pct", NAN);
	PROCESS_IS(0, 2, 1, "utilization.pct", 50); /* newer than what was seen before the garbage */
	PROCESS_IS(0, 1, 1, "utilization.pct", 0);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 8);
	rig_end();
}

static void use_that_does_not_fit(void)
{
	struct scene_fault *f;
	uint32_t i;

	use_scene();
	f = scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetProcessUtilization", NVML_INSUFFICIENT_SIZE);
	f->times = 1; /* it does not even say how many there are */
	for (i = 0; i < SCENE_SAMPLES; i++)
		add_use(1 + i % 4, 1000 * (int64_t)(i + 1), 10, 0);
	rig_begin();
	rig_read();
	EQ(scene_calls(scene, "nvmlDeviceGetProcessUtilization"), 2);
	PROCESS_IS(0, 4, 0, "utilization.pct", 10);
	rig_end();
	/* Again and again: it is left for another time. */
	use_scene();
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetProcessUtilization", NVML_INSUFFICIENT_SIZE);
	rig_begin();
	rig_read();
	EQ(scene_calls(scene, "nvmlDeviceGetProcessUtilization"), 4);
	PROCESS_IS(0, 4, 0, "utilization.pct", NAN);
	PROCESS_IS(0, 4, 0, "memory_used_bytes", 1.0 * GIB);
	EQ(rig_source("gpu_process")->failures, 1);
	rig_end();
}

/* The one call is not there: the other one; none of them: not known, and not asked again. */
static void use_by_other_calls(void)
{
	use_scene();
	add_use(1, 800000, 5, 0);
	add_use(3, 200000, 80, 0);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetProcessUtilization", NVML_NOT_SUPPORTED);
	rig_begin();
	ticks(6);
	rig_read();
	PROCESS_IS(0, 1, 1, "utilization.pct", 5);
	PROCESS_IS(0, 3, 1, "utilization.pct", 80);
	EQ(scene_calls(scene, "nvmlDeviceGetProcessUtilization"), 1);
	rig_end();
	use_scene();
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetProcessUtilization", NVML_NOT_SUPPORTED);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetProcessesUtilizationInfo", NVML_NOT_SUPPORTED);
	rig_begin();
	ticks(25);
	rig_read();
	PROCESS_IS(0, 1, 3, "utilization.pct", NAN);
	PROCESS_IS(0, 1, 3, "memory_used_bytes", 1.0 * GIB);
	EQ(scene_calls(scene, "nvmlDeviceGetProcessUtilization"), 1);
	EQ(scene_calls(scene, "nvmlDeviceGetProcessesUtilizationInfo"), 1);
	rig_end();
}

/* The wall clock is set back: what was seen last is in the future, and does not hide all that comes. */
static void use_and_a_clock_that_is_set(void)
{
	use_scene();
	add_use(1, 999000, 70, 0);
	rig_begin();
	rig.clock.wall_ns -= 500 * NS_PER_S;
	scene->devices[0].use_count = 0;
	add_use(1, -500 * (int64_t)SECOND_US + 1400000, 30, 0);
	ticks(6);
	rig_read();
	PROCESS_IS(0, 1, 1, "utilization.pct", 30);
	rig_end();
}

/* What the source says stands, however little of the whole it is: nobody is given the rest. */
static void use_that_nobody_has(void)
{
	rig_scene(1);
	hold(0, CURVE_gpu_pct, 97);
	hold(0, CURVE_memory_used, UINT64_C(62277025792));
	add_process(0, 4242, UINT64_C(5368709120));
	rig_begin();
	ticks(10);
	rig_read();
	GPU_IS(0, 10, "utilization.pct", 97);
	GPU_IS(0, 10, "memory_used_bytes", 62277025792.0);
	PROCESS_IS(0, 4242, 2, "utilization.pct", 0);
	PROCESS_IS(0, 4242, 2, "memory_used_bytes", 5368709120.0);
	rig_end();
}

static const struct tap_test tests[] = {
	{"a library of an older driver", older_library},
	{"entries of 16, 24 and 32 bytes", entries_of_every_size},
	{"a process in several lists", in_several_lists},
	{"entries that are none", entries_that_are_none},
	{"processes come and go", come_and_go},
	{"use as a mean over time", use_over_time},
	{"use holds until the next sample is overdue", use_holds},
	{"use that is told again", use_that_is_told_again},
	{"use that is garbage", use_that_is_garbage},
	{"use that does not fit", use_that_does_not_fit},
	{"use by other calls", use_by_other_calls},
	{"use and a clock that is set back", use_and_a_clock_that_is_set},
	{"use that nobody has", use_that_nobody_has},
};

TAP_MAIN(tests)
