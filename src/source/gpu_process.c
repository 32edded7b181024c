/* Who uses a GPU: memory and load of each process on it. */
#include "gpu_raw.h"

static const struct raw_field fields[] = {
	[GPU_PROCESS_MEMORY_BYTES] = {"memory_bytes", RAW_GAUGE},
	[GPU_PROCESS_PERMILLE] = {"utilization_permille", RAW_GAUGE},
	[GPU_PROCESS_MEMORY_PERMILLE] = {"memory_utilization_permille", RAW_GAUGE},
	[GPU_PROCESS_ENCODER_PERMILLE] = {"encoder_permille", RAW_GAUGE},
	[GPU_PROCESS_DECODER_PERMILLE] = {"decoder_permille", RAW_GAUGE},
};

#define BYTES_LIMIT (1024.0 * 1024 * 1024 * 1024 * 64)
#define OF_PROCESS ", of this process, since the reading before."

static const struct metric metrics[] = {
	{LEVEL("proc__gpu_memory_used_bytes", UNIT_BYTES, FIELD(GPU_PROCESS_MEMORY_BYTES),
	       "Memory of this GPU that the process has."),
	 .limit = BYTES_LIMIT},
	{GPU_PCT("proc__gpu_utilization", GPU_PROCESS_PERMILLE,
	         "Part of the time in which something ran on the units that compute" OF_PROCESS)},
	{GPU_PCT("proc__gpu_memory_utilization", GPU_PROCESS_MEMORY_PERMILLE,
	         "Part of the time in which the memory of the GPU was read or written" OF_PROCESS)},
	{GPU_PCT("proc__gpu_encoder_utilization", GPU_PROCESS_ENCODER_PERMILLE,
	         "Part of the time in which the video encoder worked" OF_PROCESS)},
	{GPU_PCT("proc__gpu_decoder_utilization", GPU_PROCESS_DECODER_PERMILLE,
	         "Part of the time in which the video decoder worked" OF_PROCESS)},
};

const struct source source_gpu_process = {
	.name = "gpu_process",
	.summary = "memory and load of each process on each GPU",
	.shape = SHAPE_GPU,
	.stream = STREAM_TELEMETRY,
	.scope = SCOPE_GPU_PROCESS,
	.period_ns = NS_PER_S / 2,
	TABLE(fields),
	TABLE(metrics),
	.cpu_clock_field = -1,
};
