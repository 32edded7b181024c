/* The double of libcupti plays what goes wrong with PM sampling on real machines. */
#include "nvidia_rig.h"

static const char *two[] = {"sm__cycles_active.avg",
                            "dram__read_throughput.avg.pct_of_peak_sustained_elapsed"};

static const struct session_wish *the_wish = &usual_wish;

static void run(struct sampling *s)
{
	stage("GH100");
	scene->stretch_ns = 0;
	scene->tail = 0;
	EQ(session_host(s, "GH100", two, 2), CUPTI_OK);
	EQ(session_start(s, 0, *the_wish), CUPTI_OK);
}

static void end(struct sampling *s)
{
	EQ(session_do(s, cupti.stop), CUPTI_OK);
	EQ(session_end(s), CUPTI_OK);
	VIOLATIONS(0);
	stage_end();
}

/* Results of each step, as the table of the vendor's errors has them. */
static void test_results(void)
{
	static const struct {
		const char *call;
		int result;
	} rows[] = {
		{"cuptiPmSamplingEnable", CUPTI_INSUFFICIENT_PRIVILEGES},
		{"cuptiPmSamplingEnable", CUPTI_HARDWARE_BUSY},
		{"cuptiPmSamplingEnable", CUPTI_INVALID_OPERATION},
		{"cuptiPmSamplingEnable", CUPTI_MIG_DEVICE_NOT_SUPPORTED},
		{"cuptiPmSamplingEnable", CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED},
		{"cuptiPmSamplingSetConfig", CUPTI_NOT_SUPPORTED},
		{"cuptiPmSampling*", CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
		{"cuptiPmSamplingStart", CUPTI_UNKNOWN},
	};
	struct sampling s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		stage("GH100");
		EQ(session_host(&s, "GH100", two, 2), CUPTI_OK);
		scene_fault(scene, FAULT_RESULT, rows[i].call, rows[i].result);
		EQ(session_start(&s, 0, usual_wish), rows[i].result);
		scene->fault_count = 0;
		EQ(session_end(&s), CUPTI_OK);
		stage_end();
	}
}

/*
 * Another client takes the counters at 20 s and gives them back at 40 s; from 50 s on nothing is
 * found.
 */
static void test_stolen(void)
{
	struct scene_fault *busy, *nothing;
	struct cupti_decode d;
	struct sampling s;

	run(&s);
	busy = scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingDecodeData", CUPTI_HARDWARE_BUSY);
	busy->from_ns = 20 * NS_PER_S;
	busy->until_ns = 40 * NS_PER_S;
	nothing = scene_fault(scene, FAULT_NO_SAMPLES, "", 0);
	nothing->from_ns = 50 * NS_PER_S;
	pass_ms(10);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 10);
	pass_ms(20000);
	EQ(session_decode(&s, &d), CUPTI_HARDWARE_BUSY);
	pass_ms(31000);
	EQ(session_image(&s), CUPTI_OK);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 0);
	end(&s);
}

/* By its turn, not by time; on one device only. */
static void test_turns(void)
{
	struct scene_fault *f;
	struct cupti_decode d;
	struct sampling s;

	run(&s);
	f = scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingDecodeData", CUPTI_NOT_READY);
	f->skip = 1;
	f->times = 2;
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_decode(&s, &d), CUPTI_NOT_READY);
	EQ(session_decode(&s, &d), CUPTI_NOT_READY);
	EQ(session_decode(&s, &d), CUPTI_OK);
	f->device = 1;
	f->skip = f->times = 0;
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(scene_calls(scene, "cuptiPmSamplingDecodeData"), 5);
	end(&s);
}

/* KEEP_OLDEST: once the buffer was full, 8 until the device is enabled anew. */
static void test_overflow_oldest(void)
{
	static const struct session_wish small = {1000000, 10 * 7872, CUPTI_KEEP_OLDEST, 100,
	                                          CUPTI_TIME_INTERVAL};
	struct cupti_decode d;
	struct sampling s;

	the_wish = &small;
	run(&s);
	the_wish = &usual_wish;
	pass_ms(10);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 10);
	pass_ms(11);
	EQ(session_decode(&s, &d), CUPTI_OUT_OF_MEMORY);
	EQ(d.overflow, 1);
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_do(&s, cupti.start), CUPTI_OK);
	EQ(session_decode(&s, &d), CUPTI_OUT_OF_MEMORY); /* that does not help */
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_do(&s, cupti.disable), CUPTI_OK);
	EQ(session_start(&s, 0, small), CUPTI_OK); /* this does */
	pass_ms(3);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 3);
	end(&s);
}

/* KEEP_LATEST: the oldest are gone, and it says so. */
static void test_overflow_latest(void)
{
	static const struct session_wish small = {1000000, 10 * 7872, CUPTI_KEEP_LATEST, 100,
	                                          CUPTI_TIME_INTERVAL};
	uint64_t begin, stop;
	struct cupti_decode d;
	double values[2];
	struct sampling s;

	the_wish = &small;
	run(&s);
	the_wish = &usual_wish;
	pass_ms(25);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(d.overflow, 1);
	EQ(session_completed(&s), 10);
	EQ(session_sample(&s, 0, &begin, &stop), CUPTI_OK);
	EQ(begin, 1000 * NS_PER_S + 15 * MS);
	EQ(session_evaluate(&s, 0, values), CUPTI_OK);
	OK(values[0] == scene_metric(scene, 0, two[0], 15 * MS, MS));
	scene_fault(scene, FAULT_OVERFLOW, "", 0)->value = 2;
	pass_ms(5);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(d.overflow, 1);
	EQ(session_completed(&s), 13);
	scene->fault_count = 0;
	scene_fault(scene, FAULT_STUCK, "", 0)->times = 1;
	EQ(session_decode(&s, &d), CUPTI_OUT_OF_MEMORY);
	EQ(session_decode(&s, &d), CUPTI_OUT_OF_MEMORY);
	end(&s);
}

/* A full image: what does not fit is lost, and what comes next comes without times. */
static void test_full(void)
{
	static const struct session_wish few = {1000000, 64 << 20, CUPTI_KEEP_LATEST, 5,
	                                        CUPTI_TIME_INTERVAL};
	uint64_t begin, stop;
	struct cupti_decode d;
	struct sampling s;

	the_wish = &few;
	run(&s);
	the_wish = &usual_wish;
	pass_ms(5);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(d.decodeStopReason, CUPTI_STOP_END); /* just full */
	EQ(session_image(&s), CUPTI_OK);
	pass_ms(8);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(d.decodeStopReason, CUPTI_STOP_FULL);
	EQ(session_completed(&s), 5);
	pass_ms(1);
	EQ(session_decode(&s, &d), CUPTI_OK); /* the same image: no progress */
	EQ(d.decodeStopReason, CUPTI_STOP_FULL);
	EQ(session_image(&s), CUPTI_OK);
	pass_ms(2);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_completed(&s), 3);
	EQ(session_sample(&s, 0, &begin, &stop), CUPTI_OK);
	EQ(begin | stop, 0);
	EQ(session_sample(&s, 2, &begin, &stop), CUPTI_OK);
	EQ(stop, 1000 * NS_PER_S + 16 * MS);
	end(&s);
}

static void test_values(void)
{
	struct scene_fault *zero;
	uint64_t begin, stop;
	struct cupti_decode d;
	double values[2];
	struct sampling s;

	run(&s);
	scene_fault(scene, FAULT_NAN, "dram__", 0);
	zero = scene_fault(scene, FAULT_ZERO_STAMPS, "", 0);
	zero->value = 2;
	scene_fault(scene, FAULT_STOP_OTHER, "", 0);
	scene_fault(scene, FAULT_UNFINISHED, "", 0)->value = 1;
	pass_ms(4);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(d.decodeStopReason, CUPTI_STOP_OTHER);
	EQ(session_completed(&s), 3); /* of four that are populated */
	EQ(session_evaluate(&s, 1, values), CUPTI_OK);
	OK(values[0] == values[0] && values[1] != values[1]);
	EQ(session_sample(&s, 0, &begin, &stop), CUPTI_OK);
	EQ(begin | stop, 0);
	EQ(session_sample(&s, 1, &begin, &stop), CUPTI_OK);
	EQ(begin, 1000 * NS_PER_S + 1 * MS);
	end(&s);
}

/* The wall clock goes back by an hour: times are converted when a sample is decoded. */
static void test_clock_step(void)
{
	uint64_t begin, stop, before;
	struct cupti_decode d;
	struct sampling s;

	run(&s);
	pass_ms(2);
	EQ(cupti.get_timestamp(&before), CUPTI_OK);
	EQ(before, 1000 * NS_PER_S + 2 * MS);
	EQ(session_decode(&s, &d), CUPTI_OK);
	scene->wall_step_ns = -3600 * (int64_t)NS_PER_S;
	pass_ms(1);
	EQ(session_decode(&s, &d), CUPTI_OK);
	EQ(session_sample(&s, 1, &begin, &stop), CUPTI_OK);
	EQ(stop, before);
	EQ(session_sample(&s, 2, &begin, &stop), CUPTI_OK);
	EQ(begin, before - 3600 * NS_PER_S);
	end(&s);
}

/* Off the bus: the calls of this device fail, in all three libraries; the other one goes on. */
static void test_lost(void)
{
	struct cupti_decode d;
	struct sampling s, other;
	unsigned value;
	void *device;
	char name[64];

	run(&s);
	scene_add(scene, "GH100");
	EQ(session_host(&other, "GH100", two, 2), CUPTI_OK);
	EQ(session_start(&other, 1, usual_wish), CUPTI_OK);
	EQ(nvml.by_index(0, &device), NVML_OK);
	scene->devices[0].lost_at_ns = 5 * MS;
	pass_ms(5);
	EQ(session_decode(&s, &d), CUPTI_HARDWARE);
	EQ(nvml.power_usage(device, &value), NVML_GPU_IS_LOST);
	EQ(cuda.device_get_name(name, sizeof(name), 0), CUDA_UNKNOWN);
	EQ(session_decode(&other, &d), CUPTI_OK);
	EQ(session_completed(&other), 5);
	EQ(session_do(&s, cupti.stop), CUPTI_HARDWARE);
	scene->devices[0].lost_at_ns = UINT64_MAX;
	EQ(session_do(&other, cupti.stop), CUPTI_OK);
	EQ(session_end(&other), CUPTI_OK);
	end(&s);
}

static void test_slow(void)
{
	struct timespec a, b;
	struct cupti_decode d;
	struct sampling s;

	run(&s);
	scene_fault(scene, FAULT_SLOW, "cuptiPmSamplingDecodeData", 0)->value = 20 * MS;
	clock_gettime(CLOCK_MONOTONIC, &a);
	EQ(session_decode(&s, &d), CUPTI_OK);
	clock_gettime(CLOCK_MONOTONIC, &b);
	OK((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 20000000);
	scene->fault_count = 0;
	end(&s);
}

/* With the machine's clock samples come by themselves. */
static void test_real_clock(void)
{
	uint64_t begin = 0, stop = 0, before, wall;
	size_t i, n;
	struct cupti_decode d;
	struct sampling s;
	struct timespec t;

	run(&s);
	EQ(session_do(&s, cupti.stop), CUPTI_OK);
	EQ(session_end(&s), CUPTI_OK);
	scene->is_fake = 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	scene->begin_mono_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	EQ(session_host(&s, "GH100", two, 2), CUPTI_OK);
	EQ(session_start(&s, 0, usual_wish), CUPTI_OK);
	do
		EQ(session_decode(&s, &d), CUPTI_OK);
	while ((n = session_completed(&s)) < 5);
	for (i = 0; i < n; i++) {
		before = stop;
		EQ(session_sample(&s, i, &begin, &stop), CUPTI_OK);
		EQ(stop - begin, MS);
		OK(i == 0 || begin == before); /* whatever decode they come from */
	}
	clock_gettime(CLOCK_REALTIME, &t);
	wall = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	OK(stop <= wall + NS_PER_MS && wall < stop + 60 * NS_PER_S);
	end(&s);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"results of every step", test_results},
		{"counters that another client takes", test_stolen},
		{"by turns", test_turns},
		{"overflow, the oldest kept", test_overflow_oldest},
		{"overflow, the latest kept", test_overflow_latest},
		{"a full image", test_full},
		{"values and times that are none", test_values},
		{"a step of the clock", test_clock_step},
		{"a GPU that is lost", test_lost},
		{"a slow decode", test_slow},
		{"the machine's clock", test_real_clock},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
