/* The double of libnvidia-ml: who uses a device, in the layouts that drivers have had. */
#include "double_nvml.h"

#include <string.h>

static bool is_there(const struct scene_process *p, uint64_t now)
{
	return now >= p->from_ns && (p->until_ns == 0 || now < p->until_ns);
}

/* Entries of 16 bytes have no instances; what is beyond 24 is zero. */
static void put_process(unsigned char *to, size_t stride, const struct scene_process *p)
{
	struct nvml_process v;

	memset(&v, 0, sizeof(v));
	v.pid = p->pid;
	v.usedGpuMemory = p->memory_bytes;
	v.gpuInstanceId = p->gpu_instance;
	v.computeInstanceId = p->compute_instance;
	memset(to, 0, stride);
	memcpy(to, &v, stride < sizeof(v) ? stride : sizeof(v));
}

static int list(const char *call, void *handle, uint32_t kind, size_t stride, unsigned *count,
                void *to)
{
	const struct scene_process *p;
	unsigned n = 0, room;
	uint64_t now = scene_now_ns(scene_of_process());
	uint32_t i;

	ENTER(call, handle);
	if (!count || (*count && !to)) {
		scene_violation("%s: %u entries asked for, and no room", call, count ? *count : 0);
		return NVML_INVALID_ARGUMENT;
	}
	if (stride == 0)
		stride = d->process_stride;
	room = *count;
	for (i = 0; i < d->process_count; i++) {
		p = &d->processes[i];
		if (p->kind != kind || !is_there(p, now))
			continue;
		if (h.mig >= 0 && d->migs[h.mig].gpu_instance != p->gpu_instance)
			continue;
		if (n < room)
			put_process((unsigned char *)to + n * stride, stride, p);
		n++;
	}
	*count = n;
	return n > room ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

#define LIST(function, type, kind, stride)                                                         \
	EXPORT(function, (void *handle, unsigned *count, type *to))                                \
	{                                                                                          \
		return list(#function, handle, kind, stride, count, to);                           \
	}
LIST(nvmlDeviceGetComputeRunningProcesses_v3, struct nvml_process, PROCESS_COMPUTE, 0)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, struct nvml_process, PROCESS_COMPUTE, 24)
LIST(nvmlDeviceGetComputeRunningProcesses, struct nvml_process_v1, PROCESS_COMPUTE, 16)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, struct nvml_process, PROCESS_GRAPHICS, 0)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, struct nvml_process, PROCESS_GRAPHICS, 24)
LIST(nvmlDeviceGetGraphicsRunningProcesses, struct nvml_process_v1, PROCESS_GRAPHICS, 16)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, struct nvml_process, PROCESS_MPS, 0)
#undef LIST

/* Is it newer than what the caller has seen; with use_raw, everything is. */
static bool is_new(const struct scene_device *d, const struct scene_use *u, uint64_t last_seen)
{
	return d->use_raw || u->timestamp > last_seen;
}

EXPORT(nvmlDeviceGetProcessUtilization, (void *handle, struct nvml_process_sample *to,
                                         unsigned *count, unsigned long long last_seen))
{
	unsigned n = 0, room;
	uint32_t i, rows;

	ENTER("nvmlDeviceGetProcessUtilization", handle);
	if (h.mig >= 0 || d->mig_current)
		return NVML_NOT_SUPPORTED;
	room = to ? *count : 0;
	rows = d->use_raw > d->use_count && d->use_raw <= SCENE_SAMPLES ? d->use_raw : d->use_count;
	for (i = 0; i < rows; i++) {
		const struct scene_use *u = &d->uses[i];

		if (!is_new(d, u, last_seen))
			continue;
		if (n < room)
			to[n] = (struct nvml_process_sample){u->pid,    u->timestamp, u->sm,
			                                     u->memory, u->encoder,   u->decoder};
		n++;
	}
	if (n == 0)
		return NVML_NOT_FOUND;
	*count = n;
	return n > room ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}

EXPORT(nvmlDeviceGetProcessesUtilizationInfo, (void *handle, struct nvml_processes_use *ret))
{
	unsigned n = 0, room;
	uint32_t i;

	ENTER("nvmlDeviceGetProcessesUtilizationInfo", handle);
	if (ret->version != 0x01000018) {
		scene_violation("nvmlDeviceGetProcessesUtilizationInfo: version is %#x",
		                ret->version);
		return NVML_ARGUMENT_VERSION_MISMATCH;
	}
	if (h.mig >= 0 || d->mig_current)
		return NVML_NOT_SUPPORTED;
	room = ret->procUtilArray ? ret->processSamplesCount : 0;
	for (i = 0; i < d->use_count; i++) {
		const struct scene_use *u = &d->uses[i];

		if (!is_new(d, u, ret->lastSeenTimeStamp))
			continue;
		if (n < room)
			ret->procUtilArray[n] = (struct nvml_process_use){u->timestamp,
			                                                  u->pid,
			                                                  u->sm,
			                                                  u->memory,
			                                                  u->encoder,
			                                                  u->decoder,
			                                                  0,
			                                                  0};
		n++;
	}
	if (n == 0)
		return NVML_NOT_FOUND;
	ret->processSamplesCount = n;
	return n > room ? NVML_INSUFFICIENT_SIZE : NVML_OK;
}
