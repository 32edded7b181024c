/* Inside the room: the raw fields of GPUs, which vendors fill, and how values that are none are left out. */
#ifndef GALVO_SOURCE_GPU_RAW_H
#define GALVO_SOURCE_GPU_RAW_H

#include "gpu.h"
#include "parser.h"

/* Of source gpu. */
enum gpu_field {
	GPU_UTILIZATION_PERMILLE,
	GPU_MEMORY_UTILIZATION_PERMILLE,
	GPU_MEMORY_USED_BYTES,
	GPU_MEMORY_TOTAL_BYTES,
	GPU_MEMORY_RESERVED_BYTES,
	GPU_POWER_MW,
	GPU_POWER_INSTANT_MW,
	GPU_POWER_LIMIT_MW,
	GPU_ENERGY_MJ,
	GPU_TEMPERATURE_MC,
	GPU_MEMORY_TEMPERATURE_MC,
	GPU_CLOCK_GRAPHICS_HZ,
	GPU_CLOCK_SM_HZ,
	GPU_CLOCK_MEMORY_HZ,
	GPU_CLOCK_VIDEO_HZ,
	GPU_PERFORMANCE_STATE,
	GPU_THROTTLE_IDLE, /* 0 or 1, and so the others */
	GPU_THROTTLE_APP_CLOCKS,
	GPU_THROTTLE_SW_POWER_CAP,
	GPU_THROTTLE_HW_SLOWDOWN,
	GPU_THROTTLE_SYNC_BOOST,
	GPU_THROTTLE_SW_THERMAL,
	GPU_THROTTLE_HW_THERMAL,
	GPU_THROTTLE_HW_POWER_BRAKE,
	GPU_FIELDS,
};

/* Of source gpu_link. Who has no counter of bytes puts the rate. */
enum gpu_link_field {
	GPU_ENCODER_PERMILLE,
	GPU_DECODER_PERMILLE,
	GPU_PCIE_RX_BYTES,
	GPU_PCIE_TX_BYTES,
	GPU_NVLINK_RX_BYTES,
	GPU_NVLINK_TX_BYTES,
	GPU_PCIE_RX_BYTES_PER_S,
	GPU_PCIE_TX_BYTES_PER_S,
	GPU_LINK_FIELDS,
};

/* Of source gpu_detail. */
enum gpu_detail_field {
	GPU_ECC_CORRECTED,
	GPU_ECC_UNCORRECTED,
	GPU_PCIE_GENERATION,
	GPU_PCIE_WIDTH,
	GPU_PCIE_REPLAYS,
	GPU_FAN_PERMILLE,
	GPU_CLOCK_GRAPHICS_MAX_HZ,
	GPU_CLOCK_SM_MAX_HZ,
	GPU_CLOCK_MEMORY_MAX_HZ,
	GPU_THROTTLED_POWER_NS,
	GPU_THROTTLED_SW_THERMAL_NS, /* who does not tell the two apart has 0 in one of them */
	GPU_THROTTLED_HW_THERMAL_NS,
	GPU_THROTTLED_POWER_BRAKE_NS,
	GPU_THROTTLED_SYNC_BOOST_NS,
	GPU_PROCESS_COUNT,
	GPU_XID_ERRORS, /* since the recording began */
	GPU_XID_LAST,
	GPU_DETAIL_FIELDS,
};

/* Of source gpu_process. */
enum gpu_process_field {
	GPU_PROCESS_MEMORY_BYTES,
	GPU_PROCESS_PERMILLE,
	GPU_PROCESS_MEMORY_PERMILLE,
	GPU_PROCESS_ENCODER_PERMILLE,
	GPU_PROCESS_DECODER_PERMILLE,
	GPU_PROCESS_FIELDS,
};

#define GPU_PCT(name_, field_, help_)                                                              \
	.name = name_ ".pct", .type = METRIC_THROUGHPUT, .unit = UNIT_PCT, .form = FORM_LEVEL,     \
	.of = FIELD(field_), .scale = 0.1, .limit = 100, .help = (help_)

/* Pids that the driver tells are numbers of proc below root, which then is of the first PID namespace. */
bool gpu_pids_are_ours(const struct world *);

/*
 * Numbers that say there is no number: all bits set, and those with which DCGM says that a value is
 * blank, not found, not supported or not permitted. No counter gets there.
 */
static inline bool gpu_is_blank32(uint32_t value)
{
	return value == UINT32_MAX || (value >= 0x7ffffff0 && value <= 0x7ffffff3);
}

static inline bool gpu_is_blank64(uint64_t value)
{
	return value >= UINT64_C(0x7ffffffffffffff0);
}

#endif
