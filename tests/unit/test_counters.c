/* Sampled counters, with doubles of NVIDIA's libraries: what is recorded, and of what. */
#include "counters_rig.h"

static void one_device(void)
{
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 1);
	take_init(&t);
	if (!take_begin(&t))
		return;
	for (i = 0; i < 10; i++)
		take_pass(100, 1);
	run = take_end(&t);
	EQ(rows_of(run)->rows_len, 999); /* the first one is stretched */
	EQ(rows_of(run)->columns_len, 2);
	EQ(rows_wrong(run), 0);
	EQ(decode_of(run, 0)->samples, 999);
	EQ(decode_of(run, 0)->stretched, 1);
	EQ(decode_of(run, 0)->empty, 1);
	EQ(decode_of(run, 0)->missing_ns, 0);
	EQ(decode_of(run, 0)->failures, 0);
	EQ(decode_of(run, 0)->restarts, 0);
	EQ(decode_of(run, 0)->clock_steps, 0);
	EQ(decode_of(run, 0)->interval_ns, 1000000);
	EQ(decode_of(run, 0)->sample_bytes > 0, 1);
	OK(decode_of(run, 0)->reason[0] == '\0');
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void eight_devices(void)
{
	struct take t;
	galvo_run *run;
	uint32_t i;

	take_stage("GH100", 8);
	take_init(&t);
	t.config.frequency_hz = 0; /* 10 kHz */
	t.config.metrics_len = 0;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 4; i++)
		take_pass(100, 8);
	run = take_end(&t);
	EQ(rows_of(run)->columns_len, 17);
	for (i = 0; i < 8; i++)
		EQ(rows_of_gpu(run, i), 3999);
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* The order in which CUDA counts is not that of the machine. */
static void some_devices(void)
{
	static const uint32_t wanted[] = {1, 0};
	struct gpu_info info;
	struct take t;
	galvo_run *run;

	take_stage("GH100", 3);
	scene->devices[0].cuda_ordinal = -1;
	scene->devices[1].cuda_ordinal = 1;
	scene->devices[2].cuda_ordinal = 0;
	take_init(&t);
	t.config.all = false;
	t.config.devices = wanted;
	t.config.devices_len = 2;
	if (!take_begin(&t))
		return;
	OK(counters_device_at(t.counters, 0, &info) && info.index == 1);
	OK(strcmp(info.uuid, scene->devices[1].uuid) == 0);
	OK(counters_device_at(t.counters, 1, &info) && info.index == 0);
	OK(strcmp(info.uuid, scene->devices[2].uuid) == 0);
	OK(!counters_device_at(t.counters, 2, &info));
	take_pass(100, 2);
	run = take_end(&t);
	EQ(rows_of_gpu(run, 0), 99);
	EQ(rows_of_gpu(run, 1), 99);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* A chip that lacks a metric has no values in its column. */
static void mixed_chips(void)
{
	struct take t;
	galvo_run *run;
	const struct table *rows;
	size_t i, link, absent = 0, there = 0;

	take_stage("GH100", 1);
	scene_add(scene, "AD102");
	take_init(&t);
	t.config.metrics_len = 0;
	if (!take_begin(&t))
		return;
	take_pass(100, 2);
	run = take_end(&t);
	rows = rows_of(run);
	EQ(rows->columns_len, 17);
	link = table_column(rows, "nvlrx__bytes.sum");
	for (i = 0; OK(link != SIZE_MAX) && i < rows->rows_len; i++)
		if (isnan(rows->values[link][i]))
			absent += run->gpus[rows->key[i]].info.index == 1;
		else
			there += run->gpus[rows->key[i]].info.index == 0;
	EQ(absent, 99);
	EQ(there, 99);
	EQ(decode_of(run, 1)->not_finite, 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* TU10x and GA100 count cycles; the double's system clock has 1 GHz, its SMs up to 1.98. */
static void chips_that_count_cycles(void)
{
	static const char *const chips[] = {"GA100", "TU102"};
	struct take t;
	galvo_run *run;
	size_t i;

	for (i = 0; i < ARRAY_LEN(chips); i++) {
		take_stage(chips[i], 1);
		take_init(&t);
		if (!take_begin(&t))
			return;
		take_pass(198, 1);
		take_pass(198, 1);
		EQ(notes_with(&t, "GPU 0", "1000 samples a second were asked for, and they come at 505"), 1);
		run = take_end(&t);
		EQ(rows_of(run)->rows_len, 199);
		EQ(rows_of(run)->rows_len ? rows_of(run)->duration_ns[0] : 0, 1980000);
		EQ(rows_wrong(run), 0);
		EQ(decode_of(run, 0)->missing_ns, 0);
		VIOLATIONS(0);
		take_remove(&t, run);
	}
}

/* Without a clock that is told, 1 GHz is a guess that is as good as any. */
static void cycles_of_no_known_clock(void)
{
	struct take t;
	galvo_run *run;

	take_stage("GA100", 1);
	scene_fault(scene, FAULT_RESULT, "cuDeviceGetAttribute", 1);
	take_init(&t);
	if (!take_begin(&t))
		return;
	take_pass(100, 1);
	take_pass(100, 1);
	EQ(notes_with(&t, "GPU 0", "samples a second"), 0);
	run = take_end(&t);
	EQ(rows_of(run)->rows_len, 199);
	EQ(rows_of(run)->rows_len ? rows_of(run)->duration_ns[0] : 0, 1000000);
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void facts_of_a_device(void)
{
	struct gpu_info info;
	struct take t;

	take_stage("GH100", 1);
	take_init(&t);
	take_put_file(&t, "sys/bus/pci/devices/0000:18:00.0/max_link_speed", "32.0 GT/s PCIe\n");
	take_put_file(&t, "sys/bus/pci/devices/0000:18:00.0/current_link_width", "16\n");
	take_put_file(&t, "sys/bus/pci/devices/max_link_speed", "16.0 GT/s PCIe\n");
	take_put_file(&t, "sys/module/nvidia/version", "580.65.06\n");
	if (!take_create(&t) || !OK(counters_device_at(t.counters, 0, &info)))
		return;
	OK(strcmp(info.name, "NVIDIA GH100") == 0);
	OK(strcmp(info.chip, "GH100") == 0);
	OK(strcmp(info.vendor, "nvidia") == 0);
	OK(strcmp(info.pci, "0000:18:00.0") == 0);
	OK(strcmp(info.uuid, scene->devices[0].uuid) == 0);
	OK(strcmp(info.driver, "580.65.06") == 0);
	EQ(info.memory_bytes, scene->devices[0].memory_bytes);
	EQ(info.sm_count, 132);
	EQ(info.warps_per_sm, 64);
	EQ(info.compute_major, 9);
	EQ(info.peak_dram_bytes_per_s, 3352320000000);  /* 2 × 2619 MHz × 5120 bits */
	EQ(info.peak_pcie_bytes_per_s, 31507692307);    /* the port makes 16 GT/s only */
	OK(isnan(info.peak_nvlink_bytes_per_s));
	OK(!info.is_instance);
	counters_destroy(t.counters);
	VIOLATIONS(0);
	take_remove(&t, NULL);
}

static void each_version_of_cupti(void)
{
	static const uint32_t versions[] = {24, 26, 27, 28, 130000, 130001, 130100, 130200};
	struct take t;
	galvo_run *run;
	size_t i;

	for (i = 0; i < ARRAY_LEN(versions); i++) {
		take_stage("GH100", 1);
		scene->cupti_version = versions[i];
		take_init(&t);
		if (!take_begin(&t))
			return;
		take_pass(100, 1);
		run = take_end(&t);
		EQ(rows_of(run)->rows_len, 99);
		EQ(rows_wrong(run), 0);
		VIOLATIONS(0);
		take_remove(&t, run);
	}
}

/* A layout of another version than it tells: another size is tried, and kept by each device. */
static void other_layout(void)
{
	struct take t;
	galvo_run *run;

	take_stage("GH100", 2);
	scene->cupti_version = 130001;
	scene->layout_version = 130200;
	take_init(&t);
	if (!take_begin(&t))
		return;
	take_pass(100, 2);
	run = take_end(&t);
	EQ(rows_of(run)->rows_len, 198);
	EQ(rows_wrong(run), 0);
	scene->violation_count = 0; /* sizes that were tried */
	take_remove(&t, run);
}

static void drained(void)
{
	struct counters_sample s;
	struct take t;
	uint64_t lost = 0;
	size_t n = 0, wrong = 0, k;
	galvo_run *run;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.drain_samples = 64;
	if (!take_begin(&t))
		return;
	EQ(counters_drain(t.counters, &s, &lost), GALVO_DONE);
	take_pass(100, 1);
	AWAIT(samples_of(&t) == 99);
	while (counters_drain(t.counters, &s, &lost) == GALVO_OK) {
		uint64_t start = 1000 * NS_PER_S + (36 + n) * NS_PER_MS;

		for (k = 0; k < 2; k++)
			wrong += s.values[k] != scene_metric(scene, 0, two_metrics[k],
			                                     start - scene->begin_mono_ns,
			                                     NS_PER_MS);
		wrong += s.start_mono_ns != start || s.end_mono_ns != start + NS_PER_MS || s.gpu;
		n++;
	}
	EQ(n, 64);
	EQ(wrong, 0);
	EQ(lost, 35);
	run = take_end(&t);
	take_remove(&t, run);
}

/* Nothing is recorded, for whoever drains only. */
static void without_a_stream(void)
{
	struct counters_sample s;
	struct take t;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.drain_samples = 1000;
	if (!take_create(&t) || !OK(counters_start(t.counters, NULL, &t.error) == GALVO_OK))
		return;
	take_pass(100, 1);
	counters_signal_stop(t.counters);
	OK(counters_join(t.counters, 10 * NS_PER_S));
	OK(counters_join(t.counters, 0)); /* twice is once */
	EQ(samples_of(&t), 99);
	EQ(counters_drain(t.counters, &s, NULL), GALVO_OK);
	counters_destroy(t.counters);
	VIOLATIONS(0);
	take_remove(&t, NULL);
}

static void again_in_the_same_process(void)
{
	struct take t;
	galvo_run *run;
	int i;

	take_stage("GH100", 2);
	for (i = 0; i < 3; i++) {
		take_init(&t);
		if (!take_begin(&t))
			return;
		take_pass(100, 2);
		run = take_end(&t);
		EQ(rows_of(run)->rows_len, 198);
		VIOLATIONS(0);
		galvo_run_close(run);
		unlinkat(t.dir_fd, stream_file_name(STREAM_GPU), 0);
		close(t.dir_fd);
		rmdir(t.dir);
	}
	EQ(scene_calls(scene, "cuptiProfilerDeInitialize"), 0);
	EQ(scene_calls(scene, "cuCtxCreate_v2") + scene_calls(scene, "cuDevicePrimaryCtxRetain"), 0);
	scene_end();
}

static const struct tap_test tests[] = {
	{"samples of a device are recorded with their values", one_device},
	{"eight devices at 10 kHz are merged, each with its own values", eight_devices},
	{"devices are CUDA's, in the order that was asked for", some_devices},
	{"a chip that lacks a metric has no values in its column", mixed_chips},
	{"chips that cannot count time count cycles", chips_that_count_cycles},
	{"chips that count cycles of a clock that is not told", cycles_of_no_known_clock},
	{"what a device is", facts_of_a_device},
	{"each version of CUPTI, with its sizes of structs", each_version_of_cupti},
	{"a library that has another layout than its version says", other_layout},
	{"the newest samples can be drained, and what was overwritten is counted", drained},
	{"draining works without a file", without_a_stream},
	{"again and again in one process, without a context", again_in_the_same_process},
};

TAP_MAIN(tests)
