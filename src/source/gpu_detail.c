/* What changes slowly of a GPU: errors, its PCIe link, fan, clocks it could reach, time it was throttled. */
#include "gpu_raw.h"

static const struct raw_field fields[] = {
	[GPU_ECC_CORRECTED] = {"ecc_corrected_count", RAW_COUNTER},
	[GPU_ECC_UNCORRECTED] = {"ecc_uncorrected_count", RAW_COUNTER},
	[GPU_PCIE_GENERATION] = {"pcie_generation", RAW_GAUGE},
	[GPU_PCIE_WIDTH] = {"pcie_width", RAW_GAUGE},
	[GPU_PCIE_REPLAYS] = {"pcie_replays_count", RAW_COUNTER},
	[GPU_FAN_PERMILLE] = {"fan_permille", RAW_GAUGE},
	[GPU_CLOCK_GRAPHICS_MAX_HZ] = {"clock_graphics_max_hz", RAW_GAUGE},
	[GPU_CLOCK_SM_MAX_HZ] = {"clock_sm_max_hz", RAW_GAUGE},
	[GPU_CLOCK_MEMORY_MAX_HZ] = {"clock_memory_max_hz", RAW_GAUGE},
	[GPU_THROTTLED_POWER_NS] = {"throttled_power_ns", RAW_COUNTER},
	[GPU_THROTTLED_SW_THERMAL_NS] = {"throttled_sw_thermal_ns", RAW_COUNTER},
	[GPU_THROTTLED_HW_THERMAL_NS] = {"throttled_hw_thermal_ns", RAW_COUNTER},
	[GPU_THROTTLED_POWER_BRAKE_NS] = {"throttled_power_brake_ns", RAW_COUNTER},
	[GPU_THROTTLED_SYNC_BOOST_NS] = {"throttled_sync_boost_ns", RAW_COUNTER},
	[GPU_PROCESS_COUNT] = {"processes_count", RAW_GAUGE},
	[GPU_XID_ERRORS] = {"xid_errors_count", RAW_COUNTER},
	[GPU_XID_LAST] = {"xid_last", RAW_GAUGE},
};

#define HZ_LIMIT 100e9
#define LINK_LIMIT 64      /* lanes; generations are far fewer */
#define FAN_LIMIT 200      /* percent: of what was meant as the most, so more is possible */
#define PROCESSES_LIMIT 1e6
#define XID_LIMIT 1e6      /* codes have three digits */

#define SINCE_LOAD " since its driver was loaded."

static const struct metric metrics[] = {
	{LEVEL("gpu__ecc_corrected_errors", UNIT_COUNT, FIELD(GPU_ECC_CORRECTED),
	       "Errors of memory that were corrected" SINCE_LOAD)},
	{LEVEL("gpu__ecc_uncorrected_errors", UNIT_COUNT, FIELD(GPU_ECC_UNCORRECTED),
	       "Errors of memory that could not be corrected" SINCE_LOAD)},
	{LEVEL("gpu__pcie_link_generation", UNIT_COUNT, FIELD(GPU_PCIE_GENERATION),
	       "Generation of PCIe at which the link runs now, which is lower while nothing runs."),
	 .limit = LINK_LIMIT},
	{LEVEL("gpu__pcie_link_width", UNIT_COUNT, FIELD(GPU_PCIE_WIDTH),
	       "Lanes of PCIe that the link uses now."),
	 .limit = LINK_LIMIT},
	{LEVEL("gpu__pcie_replays", UNIT_COUNT, FIELD(GPU_PCIE_REPLAYS),
	       "Times that something had to be sent by PCIe once more" SINCE_LOAD)},
	{.name = "gpu__fan_speed.pct", .type = METRIC_THROUGHPUT, .unit = UNIT_PCT, .form = FORM_LEVEL,
	 .of = FIELD(GPU_FAN_PERMILLE), .scale = 0.1, .limit = FAN_LIMIT,
	 .help = "Speed that the fan is meant to have, in percent of its highest."},
	{LEVEL("gpu__clock_graphics_max_hz", UNIT_HZ, FIELD(GPU_CLOCK_GRAPHICS_MAX_HZ),
	       "Highest clock of the graphics engine."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__clock_sm_max_hz", UNIT_HZ, FIELD(GPU_CLOCK_SM_MAX_HZ),
	       "Highest clock of the units that compute."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__clock_memory_max_hz", UNIT_HZ, FIELD(GPU_CLOCK_MEMORY_MAX_HZ),
	       "Highest clock of the memory."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__throttled_power_ns", UNIT_NANOSECONDS, FIELD(GPU_THROTTLED_POWER_NS),
	       "Time in which clocks were held down for the power limit" SINCE_LOAD)},
	{LEVEL("gpu__throttled_thermal_ns", UNIT_NANOSECONDS,
	       FIELD(GPU_THROTTLED_SW_THERMAL_NS) | FIELD(GPU_THROTTLED_HW_THERMAL_NS),
	       "Time in which clocks were held down for heat, by driver or hardware" SINCE_LOAD)},
	{LEVEL("gpu__throttled_power_brake_ns", UNIT_NANOSECONDS, FIELD(GPU_THROTTLED_POWER_BRAKE_NS),
	       "Time in which the machine's power supply demanded lower clocks" SINCE_LOAD)},
	{LEVEL("gpu__throttled_sync_boost_ns", UNIT_NANOSECONDS, FIELD(GPU_THROTTLED_SYNC_BOOST_NS),
	       "Time in which clocks were held to those of other GPUs of its group" SINCE_LOAD)},
	{LEVEL("gpu__processes", UNIT_COUNT, FIELD(GPU_PROCESS_COUNT),
	       "Processes that use the GPU."),
	 .limit = PROCESSES_LIMIT},
	{LEVEL("gpu__xid_errors", UNIT_COUNT, FIELD(GPU_XID_ERRORS),
	       "Xid errors that the driver has told of it since the recording began.")},
	{LEVEL("gpu__xid_last", UNIT_COUNT, FIELD(GPU_XID_LAST),
	       "Code of the newest of these Xid errors, as in NVIDIA's list; absent until there is one."),
	 .limit = XID_LIMIT, .is_rare = true},
};

const struct source source_gpu_detail = {
	.name = "gpu_detail",
	.summary = "errors, PCIe link, fan, highest clocks and time throttled of each GPU",
	.shape = SHAPE_GPU,
	.stream = STREAM_TELEMETRY,
	.scope = SCOPE_GPU_DETAIL,
	.period_ns = NS_PER_S,
	TABLE(fields),
	TABLE(metrics),
	.cpu_clock_field = -1,
};
