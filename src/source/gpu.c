/* What a GPU does now: load, memory, power, temperatures, clocks, what holds them down. */
#include "gpu_raw.h"

static const struct raw_field fields[] = {
	[GPU_UTILIZATION_PERMILLE] = {"utilization_permille", RAW_GAUGE},
	[GPU_MEMORY_UTILIZATION_PERMILLE] = {"memory_utilization_permille", RAW_GAUGE},
	[GPU_MEMORY_USED_BYTES] = {"memory_used_bytes", RAW_GAUGE},
	[GPU_MEMORY_TOTAL_BYTES] = {"memory_total_bytes", RAW_GAUGE},
	[GPU_MEMORY_RESERVED_BYTES] = {"memory_reserved_bytes", RAW_GAUGE},
	[GPU_POWER_MW] = {"power_mw", RAW_GAUGE},
	[GPU_POWER_INSTANT_MW] = {"power_instant_mw", RAW_GAUGE},
	[GPU_POWER_LIMIT_MW] = {"power_limit_mw", RAW_GAUGE},
	[GPU_ENERGY_MJ] = {"energy_mj", RAW_COUNTER},
	[GPU_TEMPERATURE_MC] = {"temperature_mc", RAW_GAUGE},
	[GPU_MEMORY_TEMPERATURE_MC] = {"memory_temperature_mc", RAW_GAUGE},
	[GPU_CLOCK_GRAPHICS_HZ] = {"clock_graphics_hz", RAW_GAUGE},
	[GPU_CLOCK_SM_HZ] = {"clock_sm_hz", RAW_GAUGE},
	[GPU_CLOCK_MEMORY_HZ] = {"clock_memory_hz", RAW_GAUGE},
	[GPU_CLOCK_VIDEO_HZ] = {"clock_video_hz", RAW_GAUGE},
	[GPU_PERFORMANCE_STATE] = {"performance_state", RAW_GAUGE},
	[GPU_THROTTLE_IDLE] = {"throttle_idle", RAW_GAUGE},
	[GPU_THROTTLE_APP_CLOCKS] = {"throttle_app_clocks", RAW_GAUGE},
	[GPU_THROTTLE_SW_POWER_CAP] = {"throttle_sw_power_cap", RAW_GAUGE},
	[GPU_THROTTLE_HW_SLOWDOWN] = {"throttle_hw_slowdown", RAW_GAUGE},
	[GPU_THROTTLE_SYNC_BOOST] = {"throttle_sync_boost", RAW_GAUGE},
	[GPU_THROTTLE_SW_THERMAL] = {"throttle_sw_thermal", RAW_GAUGE},
	[GPU_THROTTLE_HW_THERMAL] = {"throttle_hw_thermal", RAW_GAUGE},
	[GPU_THROTTLE_HW_POWER_BRAKE] = {"throttle_hw_power_brake", RAW_GAUGE},
};

/* No GPU has more: what is beyond is a number that means something else. */
#define BYTES_LIMIT (1024.0 * 1024 * 1024 * 1024 * 64)
#define WATTS_LIMIT 20e3
#define CELSIUS_LIMIT 150
#define HZ_LIMIT 100e9
#define STATE_LIMIT 15
#define OF_MILLI .scale = 1e-3

#define THROTTLE(name_, field_, help_)                                                             \
	.name = "gpu__throttle_" name_ ".ratio", .type = METRIC_RATIO, .unit = UNIT_RATIO,         \
	.form = FORM_LEVEL, .of = FIELD(field_), .limit = 1, .help = (help_)

static const struct metric metrics[] = {
	{GPU_PCT("gpu__utilization", GPU_UTILIZATION_PERMILLE,
	         "Part of the time in which anything ran on the GPU, over its driver's window of up to "
	         "a second.")},
	{GPU_PCT("gpu__memory_utilization", GPU_MEMORY_UTILIZATION_PERMILLE,
	         "Part of the time in which the memory of the GPU was read or written, over its driver's "
	         "window; not how much of it is in use.")},
	{LEVEL("gpu__memory_used_bytes", UNIT_BYTES, FIELD(GPU_MEMORY_USED_BYTES),
	       "Memory of the GPU in use, without what the driver reserves where it tells that apart."),
	 .limit = BYTES_LIMIT},
	{LEVEL("gpu__memory_total_bytes", UNIT_BYTES, FIELD(GPU_MEMORY_TOTAL_BYTES),
	       "Memory of the GPU."),
	 .limit = BYTES_LIMIT},
	{LEVEL("gpu__memory_reserved_bytes", UNIT_BYTES, FIELD(GPU_MEMORY_RESERVED_BYTES),
	       "Memory of the GPU that its driver and firmware keep to themselves."),
	 .limit = BYTES_LIMIT},
	{LEVEL("gpu__power_watts", UNIT_WATTS, FIELD(GPU_POWER_MW),
	       "Power that the GPU draws, averaged by its driver over a second where it does so."),
	 OF_MILLI, .limit = WATTS_LIMIT},
	{LEVEL("gpu__power_instant_watts", UNIT_WATTS, FIELD(GPU_POWER_INSTANT_MW),
	       "Power that the GPU draws at this moment."),
	 OF_MILLI, .limit = WATTS_LIMIT},
	{LEVEL("gpu__power_limit_watts", UNIT_WATTS, FIELD(GPU_POWER_LIMIT_MW),
	       "Power at which the GPU is held down now."),
	 OF_MILLI, .limit = WATTS_LIMIT},
	{LEVEL("gpu__energy_joules", UNIT_JOULES, FIELD(GPU_ENERGY_MJ),
	       "Energy that the GPU has used since its driver was loaded, as its counter has it."),
	 OF_MILLI},
	{LEVEL("gpu__temperature_celsius", UNIT_CELSIUS, FIELD(GPU_TEMPERATURE_MC),
	       "Temperature of the GPU."),
	 OF_MILLI, .limit = CELSIUS_LIMIT},
	{LEVEL("gpu__memory_temperature_celsius", UNIT_CELSIUS, FIELD(GPU_MEMORY_TEMPERATURE_MC),
	       "Temperature of the memory of the GPU."),
	 OF_MILLI, .limit = CELSIUS_LIMIT},
	{LEVEL("gpu__clock_graphics_hz", UNIT_HZ, FIELD(GPU_CLOCK_GRAPHICS_HZ),
	       "Clock of the graphics engine."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__clock_sm_hz", UNIT_HZ, FIELD(GPU_CLOCK_SM_HZ),
	       "Clock of the units that compute."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__clock_memory_hz", UNIT_HZ, FIELD(GPU_CLOCK_MEMORY_HZ), "Clock of the memory."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__clock_video_hz", UNIT_HZ, FIELD(GPU_CLOCK_VIDEO_HZ),
	       "Clock of the video engines."),
	 .limit = HZ_LIMIT},
	{LEVEL("gpu__performance_state", UNIT_COUNT, FIELD(GPU_PERFORMANCE_STATE),
	       "Performance state, from 0, the fastest, to 15."),
	 .limit = STATE_LIMIT},
	{THROTTLE("idle", GPU_THROTTLE_IDLE, "Is 1 while clocks are low as nothing runs, or 0.")},
	{THROTTLE("app_clocks", GPU_THROTTLE_APP_CLOCKS,
	          "Is 1 while clocks are held at what was set for applications, or 0.")},
	{THROTTLE("sw_power_cap", GPU_THROTTLE_SW_POWER_CAP,
	          "Is 1 while the driver holds clocks down to stay below the power limit, or 0.")},
	{THROTTLE("hw_slowdown", GPU_THROTTLE_HW_SLOWDOWN,
	          "Is 1 while the hardware halves clocks or worse, for heat, power brake or power supply, "
	          "or 0.")},
	{THROTTLE("sync_boost", GPU_THROTTLE_SYNC_BOOST,
	          "Is 1 while clocks are held to those of other GPUs of its group, or 0.")},
	{THROTTLE("sw_thermal", GPU_THROTTLE_SW_THERMAL,
	          "Is 1 while the driver holds clocks down for heat, or 0.")},
	{THROTTLE("hw_thermal", GPU_THROTTLE_HW_THERMAL,
	          "Is 1 while the hardware holds clocks down for heat, or 0.")},
	{THROTTLE("hw_power_brake", GPU_THROTTLE_HW_POWER_BRAKE,
	          "Is 1 while the machine's power supply demands lower clocks, or 0.")},
};

const struct source source_gpu = {
	.name = "gpu",
	.summary = "load, memory, power, temperatures and clocks of each GPU, and what throttles it",
	.shape = SHAPE_GPU,
	.stream = STREAM_TELEMETRY,
	.scope = SCOPE_GPU,
	TABLE(fields),
	TABLE(metrics),
	.cpu_clock_field = -1,
};
