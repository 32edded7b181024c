/* The table of vendors of GPUs, and the groups that their readings come in. */
#include "gpu.h"

extern const struct source source_gpu, source_gpu_link, source_gpu_process, source_gpu_detail;
const struct source *const gpu_sources[GPU_GROUPS] = {
	[GPU_FAST] = &source_gpu,
	[GPU_LINK] = &source_gpu_link,
	[GPU_PROCESSES] = &source_gpu_process,
	[GPU_DETAIL] = &source_gpu_detail,
};

extern const struct gpu_vendor gpu_vendor_nvidia;
const struct gpu_vendor *const gpu_vendors[] = {
	&gpu_vendor_nvidia,
};
const size_t gpu_vendors_len = ARRAY_LEN(gpu_vendors);
