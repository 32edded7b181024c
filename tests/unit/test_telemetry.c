/* Telemetry of GPUs: values, rates, what is absent. */
#include "telemetry_rig.h"

/* ---- values ---------------------------------------------------------------------------------- */

static void every_column(void)
{
	static const struct {
		const char *name;
		double first, later; /* after 2 s, in which loads have changed */
	} rows[] = {
		{"gpu__utilization.pct", 20, 80},
		{"gpu__memory_utilization.pct", 10, 40},
		{"gpu__memory_used_bytes", 1 << 30, (1 << 30) + 2 * 1048576},
		{"gpu__memory_total_bytes", 141.0 * (1 << 30), 141.0 * (1 << 30)},
		{"gpu__memory_reserved_bytes", 512 << 20, 512 << 20},
		{"gpu__power_watts", 350, 350},
		{"gpu__power_instant_watts", 312.5, 312.5},
		{"gpu__power_limit_watts", 700, 700},
		{"gpu__energy_joules", 1000, 1700},
		{"gpu__temperature_celsius", 61, 61},
		{"gpu__memory_temperature_celsius", 70, 70},
		{"gpu__clock_graphics_hz", 1755e6, 1755e6},
		{"gpu__clock_sm_hz", 1755e6, 1755e6},
		{"gpu__clock_memory_hz", 2619e6, 2619e6},
		{"gpu__clock_video_hz", 1545e6, 1545e6},
		{"gpu__performance_state", 2, 2},
		{"gpu__throttle_idle.ratio", 0, 0},
		{"gpu__throttle_app_clocks.ratio", 0, 0},
		{"gpu__throttle_sw_power_cap.ratio", 1, 1},
		{"gpu__throttle_hw_slowdown.ratio", 0, 0},
		{"gpu__throttle_sync_boost.ratio", 0, 0},
		{"gpu__throttle_sw_thermal.ratio", 1, 1},
		{"gpu__throttle_hw_thermal.ratio", 0, 0},
		{"gpu__throttle_hw_power_brake.ratio", 1, 1},
		{"gpu__encoder_utilization.pct", 7, 7},
		{"gpu__decoder_utilization.pct", 9, 9},
		{"gpu__pcie_rx_bytes.sum.per_second", NAN, 3072000},
		{"gpu__pcie_tx_bytes.sum.per_second", NAN, 1024000},
		{"gpu__nvlink_rx_bytes.sum.per_second", NAN, 18.0 * 6000 * 1024},
		{"gpu__nvlink_tx_bytes.sum.per_second", NAN, 18.0 * 5000 * 1024},
	};
	struct catalog_row row;
	size_t i, n = 0;

	rig_scene(1);
	hold(0, CURVE_power_mw, 312500);
	hold(0, CURVE_performance_state, 2);
	hold(0, CURVE_clock_reasons, NVML_REASON_POWER_CAP | NVML_REASON_SW_THERMAL |
	                             NVML_REASON_POWER_BRAKE | NVML_REASON_DISPLAY);
	hold(0, CURVE_encoder_pct, 7);
	hold(0, CURVE_decoder_pct, 9);
	rig_begin();
	ticks(20);
	rig_read();
	EQ(rig_rows(SCOPE_GPU, 0, 0), 21);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		OK(rig_is(rig_value(SCOPE_GPU, 0, 0, 0, rows[i].name), rows[i].first, rows[i].name));
		OK(rig_is(rig_value(SCOPE_GPU, 0, 0, 20, rows[i].name), rows[i].later, rows[i].name));
	}
	for (i = 0; catalog_at(i, &row); i++)
		n += row.stream == STREAM_TELEMETRY && row.scope == SCOPE_GPU;
	EQ(n, ARRAY_LEN(rows));
	EQ(rig_mono_ns(SCOPE_GPU, 0, 0), 1000 * NS_PER_S);
	EQ(rig_mono_ns(SCOPE_GPU, 0, 20), 1002 * NS_PER_S);
	EQ(rig_rejected(), 0);
	EQ(rig_source("gpu")->failures, 0);
	EQ(rig_source("gpu")->reads, 21);
	rig_end();
}

static void details(void)
{
	rig_scene(1);
	hold(0, CURVE_ecc_corrected, 3);
	hold(0, CURVE_ecc_uncorrected, 1);
	hold(0, CURVE_pcie_replays, 5);
	hold(0, CURVE_fan_pct, 120); /* more than was meant as the most */
	hold(0, CURVE_slowed_power_ns, 1000);
	hold(0, CURVE_slowed_thermal_ns, 20);
	hold(0, CURVE_slowed_brake_ns, 30);
	hold(0, CURVE_slowed_sync_ns, 40);
	add_process(0, 77, 1 << 20);
	rig_begin();
	ticks(20);
	rig_read();
	EQ(rig_rows(SCOPE_GPU_DETAIL, 0, 0), 3); /* once a second */
	DETAIL_IS(0, 2, "ecc_corrected_errors", 3);
	DETAIL_IS(0, 2, "ecc_uncorrected_errors", 1);
	DETAIL_IS(0, 2, "pcie_link_generation", 5);
	DETAIL_IS(0, 2, "pcie_link_width", 16);
	DETAIL_IS(0, 2, "pcie_replays", 5);
	DETAIL_IS(0, 2, "fan_speed.pct", 120);
	DETAIL_IS(0, 2, "clock_graphics_max_hz", 1980e6);
	DETAIL_IS(0, 2, "clock_sm_max_hz", 1980e6);
	DETAIL_IS(0, 2, "clock_memory_max_hz", 2619e6);
	DETAIL_IS(0, 2, "throttled_power_ns", 1000);
	DETAIL_IS(0, 2, "throttled_thermal_ns", 40); /* by software and by hardware, 20 each */
	DETAIL_IS(0, 2, "throttled_power_brake_ns", 30);
	DETAIL_IS(0, 2, "throttled_sync_boost_ns", 40);
	DETAIL_IS(0, 2, "processes", 1);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 77), 5); /* twice a second */
	rig_end();
}

static void who_it_is(void)
{
	const struct gpu_info *g;

	rig_scene(2);
	snprintf(scene->devices[1].pci_bus_id, sizeof(scene->devices[1].pci_bus_id),
	         "00000000:AB:00.0");
	rig_begin();
	ticks(1);
	rig_read();
	EQ(rig.run->gpus_len, 2);
	g = rig_gpu(1);
	OK(!strcmp(g->name, "NVIDIA GH100") && !strcmp(g->vendor, "nvidia"));
	OK(!strcmp(g->uuid, "GPU-00000000-0000-0000-0000-000000000002"));
	OK(!strcmp(g->pci, "0000:ab:00.0") && !strcmp(g->driver, "580.65.06"));
	EQ(g->memory_bytes, UINT64_C(141) << 30);
	EQ(g->compute_major * 10 + g->compute_minor, 90);
	OK(rig_is(g->peak_pcie_bytes_per_s, 16 * 3938e6, "PCIe 5.0 x16"));
	OK(rig_is(g->peak_nvlink_bytes_per_s, 18 * 26562e6, "18 links"));
	OK(!g->is_instance && !g->foreign_pids && !g->lost_mono_ns);
	rig_end();
}

/* Each link is asked for by itself; one of them is down. */
static void blackwell(void)
{
	struct scene_device *d;

	rig_scene(1);
	d = &scene->devices[0];
	d->nvlink5 = 1;
	d->link_count = 2;
	rig_begin();
	ticks(3);
	rig_read();
	GPU_IS(0, 3, "nvlink_rx_bytes.sum.per_second", 2 * 6000.0 * 1024);
	GPU_IS(0, 3, "nvlink_tx_bytes.sum.per_second", 2 * 5000.0 * 1024);
	rig_end();
}

static void no_links(void)
{
	rig_scene(1);
	scene->devices[0].link_count = 0;
	rig_begin();
	ticks(12);
	rig_read();
	GPU_IS(0, 3, "nvlink_rx_bytes.sum.per_second", NAN);
	OK(strstr(rig_gpu(0)->note, "not told: nvlink_rx_bytes.sum.per_second, ") != NULL);
	EQ(rig_source("gpu_link")->failures, 0);
	rig_end();
}

/* ---- counters -------------------------------------------------------------------------------- */

/* A level is what the counter says; a rate over a reset is not known. */
static void counters_that_drop(void)
{
	static const uint64_t energy[] = {5000, 6000, 100, 200}, bytes[] = {5000, 6000, 100, 300};

	rig_scene(1);
	series_of(0, CURVE_energy_mj, energy, 4);
	series_of(0, CURVE_pcie_rx_bytes, bytes, 4);
	rig_begin();
	ticks(3);
	rig_read();
	GPU_IS(0, 1, "energy_joules", 6);
	GPU_IS(0, 2, "energy_joules", 0.1);
	GPU_IS(0, 3, "energy_joules", 0.2);
	GPU_IS(0, 1, "pcie_rx_bytes.sum.per_second", 10000);
	GPU_IS(0, 2, "pcie_rx_bytes.sum.per_second", NAN);
	GPU_IS(0, 3, "pcie_rx_bytes.sum.per_second", 2000);
	EQ(rig_rejected(), 0);
	rig_end();
}

/* Without counters it is measured, which takes long: once a second is enough. */
static void throughput_instead_of_counters(void)
{
	rig_scene(1);
	curve(0, CURVE_pcie_rx_bytes)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_pcie_tx_bytes)->result = NVML_NOT_SUPPORTED;
	hold(0, CURVE_pcie_rx_kb_per_s, 3000);
	hold(0, CURVE_pcie_tx_kb_per_s, 1000);
	rig_begin();
	ticks(9);
	hold(0, CURVE_pcie_rx_kb_per_s, 4000);
	ticks(6);
	EQ(scene_calls(scene, "nvmlDeviceGetPcieThroughput"), 4);
	rig_read();
	GPU_IS(0, 0, "pcie_rx_bytes.sum.per_second", 3e6);
	GPU_IS(0, 9, "pcie_rx_bytes.sum.per_second", 3e6);
	GPU_IS(0, 10, "pcie_rx_bytes.sum.per_second", 4e6);
	GPU_IS(0, 10, "pcie_tx_bytes.sum.per_second", 1e6);
	rig_end();
}

/* ---- values that are none -------------------------------------------------------------------- */

static void beyond_belief(void)
{
	static const uint64_t load[] = {UINT32_MAX, 1734, 100}, celsius[] = {82505, 61, 345},
		mw[] = {UINT32_MAX, 700000, 700000}, mhz[] = {UINT32_MAX, 1755, 1755};

	rig_scene(1);
	series_of(0, CURVE_gpu_pct, load, 3);
	series_of(0, CURVE_temperature_c, celsius, 3);
	series_of(0, CURVE_power_limit_mw, mw, 3);
	series_of(0, CURVE_sm_mhz, mhz, 3);
	rig_begin();
	ticks(2);
	rig_read();
	GPU_IS(0, 0, "utilization.pct", NAN);
	GPU_IS(0, 1, "utilization.pct", NAN);
	GPU_IS(0, 2, "utilization.pct", 100);
	GPU_IS(0, 0, "temperature_celsius", NAN);
	GPU_IS(0, 1, "temperature_celsius", 61);
	GPU_IS(0, 2, "temperature_celsius", NAN);
	GPU_IS(0, 0, "power_limit_watts", NAN);
	GPU_IS(0, 1, "power_limit_watts", 700);
	GPU_IS(0, 0, "clock_sm_hz", NAN);
	GPU_IS(0, 1, "memory_utilization.pct", 10); /* others are as they were */
	EQ(rig_rejected(), 6);
	rig_end();
}

/* Numbers that stand for no number, as this library and DCGM have them. */
static void sentinels(void)
{
	static const uint64_t blank32[] = {UINT32_MAX, 2147483632, 2147483633, 2147483634, 2147483635,
	                                   90},
		blank64[] = {UINT64_MAX, UINT64_C(9223372036854775792), UINT64_C(9223372036854775793),
		             UINT64_C(9223372036854775794), UINT64_C(9223372036854775795), 4000};
	size_t i;

	rig_scene(1);
	series_of(0, CURVE_memory_temperature_c, blank32, 6);
	series_of(0, CURVE_energy_mj, blank64, 6);
	series_of(0, CURVE_pcie_tx_bytes, blank64, 6);
	series_of(0, CURVE_memory_used, blank64, 6);
	series_of(0, CURVE_clock_reasons, blank64, 6);
	rig_begin();
	ticks(6);
	rig_read();
	for (i = 0; i < 6; i++) {
		GPU_IS(0, i, "memory_temperature_celsius", i < 5 ? NAN : 90);
		GPU_IS(0, i, "energy_joules", i < 5 ? NAN : 4);
		GPU_IS(0, i, "memory_used_bytes", i < 5 ? NAN : 4000);
		GPU_IS(0, i, "throttle_idle.ratio", i < 5 ? NAN : 0);
		GPU_IS(0, i, "pcie_tx_bytes.sum.per_second", NAN); /* the first that is one is the base */
	}
	GPU_IS(0, 6, "pcie_tx_bytes.sum.per_second", 0);
	EQ(rig_rejected(), 0);
	rig_end();
}

/* ---- calls that are not answered ------------------------------------------------------------- */

static void what_is_not_supported_is_asked_once(void)
{
	static const char *const calls[] = {
		"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetFanSpeed", "nvmlDeviceGetEnforcedPowerLimit",
		"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetPerformanceState"};
	size_t i;

	rig_scene(1);
	curve(0, CURVE_gpu_pct)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_power_limit_mw)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_energy_mj)->result = NVML_NOT_SUPPORTED; /* neither by field nor by call */
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetTotalEccErrors", NVML_NOT_SUPPORTED);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetPerformanceState", NVML_FUNCTION_NOT_FOUND);
	rig_begin();
	ticks(25);
	for (i = 0; i < ARRAY_LEN(calls); i++)
		EQ(scene_calls(scene, calls[i]), i == 3 ? 2 : 1); /* of two kinds of error */
	EQ(scene_calls(scene, "nvmlDeviceGetTotalEnergyConsumption"), 1);
	rig_read();
	GPU_IS(0, 5, "utilization.pct", NAN);
	GPU_IS(0, 5, "energy_joules", NAN);
	GPU_IS(0, 5, "clock_sm_hz", 1755e6);
	EQ(rig_source("gpu")->failures + rig_source("gpu_detail")->failures, 0);
	OK(strstr(rig_gpu(0)->note, "not told: utilization.pct, memory_utilization.pct, "
	                            "power_limit_watts, energy_joules, performance_state, ") != NULL);
	rig_end();
}

/* A permission may be given, an unknown failure may pass: after a while they are asked again. */
static void what_fails_is_put_off(void)
{
	struct scene_fault *f;

	rig_scene(2);
	f = scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetPowerUsage", NVML_UNKNOWN);
	f->device = 1;
	curve(1, CURVE_power_average_mw)->result = NVML_NOT_SUPPORTED;
	rig_begin();
	ticks(5);
	EQ(scene_calls(scene, "nvmlDeviceGetPowerUsage"), 1);
	f->times = 1; /* it goes well from now on */
	ticks(110);
	rig_read();
	GPU_IS(1, 5, "power_watts", NAN);
	OK(!isnan(rig_value(SCOPE_GPU, 1, 0, 115, "gpu__power_watts")));
	GPU_IS(1, 5, "clock_sm_hz", 1755e6);
	EQ(rig_source("gpu")->failures, 1);
	OK(!strcmp(rig_source("gpu")->reason,
	           "GPU 1: nvmlDeviceGetPowerUsage: NVML_ERROR_UNKNOWN (999)"));
	EQ(rig_source("gpu")->first_failure_mono_ns, 1000 * NS_PER_S);
	rig_end();
}

/* Not now is neither never nor a failure. */
static void what_is_not_ready(void)
{
	struct scene_fault *f;

	rig_scene(1);
	f = scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetUtilizationRates", NVML_NOT_READY);
	f->times = 2;
	rig_begin();
	ticks(3);
	rig_read();
	GPU_IS(0, 0, "utilization.pct", NAN);
	GPU_IS(0, 1, "utilization.pct", NAN);
	GPU_IS(0, 2, "utilization.pct", 20);
	EQ(rig_source("gpu")->failures, 0);
	rig_end();
}

static const struct tap_test tests[] = {
	{"every column of a GPU", every_column},
	{"what changes slowly", details},
	{"who it is", who_it_is},
	{"links that are asked for one by one", blackwell},
	{"no links", no_links},
	{"counters that drop", counters_that_drop},
	{"PCIe without counters", throughput_instead_of_counters},
	{"values beyond belief are rejected and counted", beyond_belief},
	{"numbers that stand for none", sentinels},
	{"what is not supported is asked once", what_is_not_supported_is_asked_once},
	{"what fails is put off", what_fails_is_put_off},
	{"what is not ready", what_is_not_ready},
};

TAP_MAIN(tests)
