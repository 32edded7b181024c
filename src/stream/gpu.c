/* What messages say of GPUs, of what became of their samples, and of their clock. */
#include "writer.h"

static char *put_peak(char *p, uint32_t field, double peak)
{
	return peak > 0 ? wire_put_double(p, field, peak) : p; /* not if it is NaN */
}

static char *put_gpu(char *p, const struct gpu_info *gpu)
{
	char *start = nested_begin(p, TRACE_GPUS);

	p = wire_put_u64(start, GPU_INDEX, gpu->index);
	p = text_put(p, GPU_NAME, gpu->name);
	p = text_put(p, GPU_CHIP, gpu->chip);
	p = put_peak(p, GPU_PEAK_DRAM, gpu->peak_dram_bytes_per_s);
	p = put_peak(p, GPU_PEAK_PCIE, gpu->peak_pcie_bytes_per_s);
	p = put_peak(p, GPU_PEAK_NVLINK, gpu->peak_nvlink_bytes_per_s);
	p = text_put(p, GPU_VENDOR, gpu->vendor);
	p = text_put(p, GPU_UUID, gpu->uuid);
	p = text_put(p, GPU_PCI, gpu->pci);
	p = text_put(p, GPU_DRIVER, gpu->driver);
	p = wire_put_u64(p, GPU_MEMORY_BYTES, gpu->memory_bytes);
	p = wire_put_u64(p, GPU_SM_COUNT, gpu->sm_count);
	p = wire_put_u64(p, GPU_WARPS_PER_SM, gpu->warps_per_sm);
	p = wire_put_u64(p, GPU_COMPUTE_MAJOR, gpu->compute_major);
	p = wire_put_u64(p, GPU_COMPUTE_MINOR, gpu->compute_minor);
	p = wire_put_u64(p, GPU_IS_INSTANCE, gpu->is_instance);
	p = wire_put_u64(p, GPU_PARENT, gpu->parent);
	p = wire_put_u64(p, GPU_INSTANCE, gpu->gpu_instance);
	p = wire_put_u64(p, GPU_COMPUTE_INSTANCE, gpu->compute_instance);
	p = wire_put_u64(p, GPU_FOREIGN_PIDS, gpu->foreign_pids);
	p = wire_put_u64(p, GPU_LOST_NS, gpu->lost_mono_ns);
	p = text_put(p, GPU_NOTE, gpu->note);
	return nested_end(start, p);
}

static char *put_decode(char *p, const struct decode_stats *d)
{
	char *start = nested_begin(p, TRACE_DECODE_STATS);

	p = wire_put_u64(start, DECODE_GPU, d->gpu);
#define X(member, field, meaning) p = wire_put_u64(p, field, d->member);
	DECODE_COUNTS(X)
#undef X
	p = wire_put_u64(p, DECODE_INTERVAL_NS, d->interval_ns);
	p = wire_put_u64(p, DECODE_BUFFER_BYTES, d->buffer_bytes);
	p = wire_put_u64(p, DECODE_SAMPLE_BYTES, d->sample_bytes);
	p = text_put(p, DECODE_REASON, d->reason);
	return nested_end(start, p);
}

static char *put_anchor(char *p, const struct gpu_anchor *anchor)
{
	char *start = nested_begin(p, TRACE_ANCHORS);

	p = wire_put_u64(start, ANCHORS_MONO_NS, anchor->mono_ns);
	p = wire_put_u64(p, ANCHORS_GPU_NS, anchor->gpu_ns);
	return nested_end(start, p);
}

size_t gpus_put(char **at, const char *end, const struct stream_form *form,
                       const struct flush_info *info)
{
	size_t decodes_len = form->has_decodes ? info->decodes_len : 0;
	size_t anchors_len = form->has_decodes ? info->anchors_len : 0, i, j, k;
	char *p = *at;

	for (i = 0; i < info->gpus_len && p < end; i++)
		p = put_gpu(p, &info->gpus[i]);
	for (j = 0; j < decodes_len && p < end; j++)
		p = put_decode(p, &info->decodes[j]);
	for (k = 0; k < anchors_len && p < end; k++)
		p = put_anchor(p, &info->anchors[k]);
	*at = p;
	return info->gpus_len - i + decodes_len - j + anchors_len - k;
}
