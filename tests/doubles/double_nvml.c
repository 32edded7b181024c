/* A double of libnvidia-ml: life, versions, devices and MIG instances. */
#include "double_nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of each the whole, its instances, and once more the whole. */
enum { HANDLES = 1 + SCENE_MIG + 1 };
static struct nvml_handle handles[SCENE_DEVICES][HANDLES];
static _Atomic int uses;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* nobody begins while another ends */

int nvml_enter(const char *call, void *handle, struct nvml_handle *ret)
{
	struct nvml_handle *h = handle, *first = &handles[0][0];
	bool is_ours = h >= first && h < first + SCENE_DEVICES * HANDLES &&
	               h->device < scene_of_process()->device_count;
	int result = scene_enter(call, is_ours ? (int)h->device : SCENE_ALL_DEVICES);

	if (result)
		return result;
	if (uses <= 0) {
		scene_violation("%s before nvmlInit, or after nvmlShutdown", call);
		return NVML_UNINITIALIZED;
	}
	if (!is_ours) {
		scene_violation("%s: no such device", call);
		return NVML_INVALID_ARGUMENT;
	}
	*ret = *h;
	return scene_is_lost(h->device) ? NVML_GPU_IS_LOST : NVML_OK;
}

void *nvml_handle_of(uint32_t device)
{
	return &handles[device][device % 2 ? HANDLES - 1 : 0];
}

int nvml_curve(uint32_t device, int curve, uint64_t *ret)
{
	const struct scene *s = scene_of_process();
	int result = s->devices[device].curves[curve].result;

	if (!result)
		*ret = scene_curve_at(s, device, curve, scene_now_ns(s));
	return result;
}

int nvml_curve32(uint32_t device, int curve, unsigned *ret)
{
	uint64_t value;
	int result = nvml_curve(device, curve, &value);

	if (!result)
		*ret = (unsigned)value;
	return result;
}

/* ---- life and versions ----------------------------------------------------------------------- */

EXPORT(nvmlInit_v2, (void))
{
	int result = scene_enter("nvmlInit_v2", SCENE_ALL_DEVICES);
	uint32_t i, j;

	if (result || scene_of_process()->init_result)
		return result ? result : (int)scene_of_process()->init_result;
	for (i = 0; i < SCENE_DEVICES; i++)
		for (j = 0; j < HANDLES; j++)
			handles[i][j] =
				(struct nvml_handle){i, j == HANDLES - 1 ? -1 : (int32_t)j - 1};
	pthread_mutex_lock(&life);
	uses++;
	pthread_mutex_unlock(&life);
	return NVML_OK;
}

EXPORT(nvmlShutdown, (void))
{
	int result = scene_enter("nvmlShutdown", SCENE_ALL_DEVICES);

	if (result)
		return result;
	pthread_mutex_lock(&life);
	if (uses == 1)
		nvml_check_sets();
	if (uses > 0)
		uses--;
	else
		result = NVML_UNINITIALIZED;
	pthread_mutex_unlock(&life);
	if (result)
		scene_violation("nvmlShutdown: more often than nvmlInit");
	return result;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
	return result == NVML_OK              ? "Success"
	       : result == NVML_NOT_SUPPORTED ? "Not Supported"
	                                      : "Unknown Error";
}

int nvml_enter_system(const char *call)
{
	int result = scene_enter(call, SCENE_ALL_DEVICES);

	if (result)
		return result;
	if (uses > 0)
		return NVML_OK;
	scene_violation("%s before nvmlInit, or after nvmlShutdown", call);
	return NVML_UNINITIALIZED;
}

static int give_text(char *to, unsigned cap, const char *text)
{
	if (cap < strlen(text) + 1)
		return NVML_INSUFFICIENT_SIZE;
	snprintf(to, cap, "%s", text);
	return NVML_OK;
}

EXPORT(nvmlSystemGetDriverVersion, (char *to, unsigned cap))
{
	ENTER_SYSTEM("nvmlSystemGetDriverVersion");
	return give_text(to, cap, scene_of_process()->driver_version);
}

EXPORT(nvmlSystemGetNVMLVersion, (char *to, unsigned cap))
{
	char text[40];

	ENTER_SYSTEM("nvmlSystemGetNVMLVersion");
	snprintf(text, sizeof(text), "13.%s", scene_of_process()->driver_version);
	return give_text(to, cap, text);
}

EXPORT(nvmlSystemGetCudaDriverVersion_v2, (int *ret))
{
	ENTER_SYSTEM("nvmlSystemGetCudaDriverVersion_v2");
	*ret = scene_of_process()->cuda_version;
	return NVML_OK;
}

/* ---- devices --------------------------------------------------------------------------------- */

EXPORT(nvmlDeviceGetCount_v2, (unsigned *ret))
{
	ENTER_SYSTEM("nvmlDeviceGetCount_v2");
	*ret = scene_of_process()->device_count;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **ret))
{
	ENTER_SYSTEM("nvmlDeviceGetHandleByIndex_v2");
	if (index >= scene_of_process()->device_count)
		return NVML_INVALID_ARGUMENT;
	*ret = &handles[index][0];
	return scene_is_lost(index) ? NVML_GPU_IS_LOST : NVML_OK;
}

EXPORT(nvmlDeviceGetHandleByPciBusId_v2, (const char *id, void **ret))
{
	const struct scene *s = scene_of_process();
	uint32_t i;

	ENTER_SYSTEM("nvmlDeviceGetHandleByPciBusId_v2");
	/* With the domain in four digits or in eight. */
	for (i = 0; i < s->device_count; i++)
		if (!strcasecmp(id, s->devices[i].pci_bus_id) ||
		    !strcasecmp(id, s->devices[i].pci_bus_id + 4)) {
			*ret = &handles[i][0];
			return scene_is_lost(i) ? NVML_GPU_IS_LOST : NVML_OK;
		}
	return NVML_NOT_FOUND;
}

EXPORT(nvmlDeviceGetHandleByUUID, (const char *uuid, void **ret))
{
	const struct scene *s = scene_of_process();
	uint32_t i, j;

	ENTER_SYSTEM("nvmlDeviceGetHandleByUUID");
	for (i = 0; i < s->device_count; i++)
		for (j = 0; j < 1 + SCENE_MIG; j++) {
			const struct scene_mig *m = j ? &s->devices[i].migs[j - 1] : NULL;

			if (m ? m->there && !strcmp(uuid, m->uuid)
			      : !strcmp(uuid, s->devices[i].uuid)) {
				*ret = &handles[i][j];
				return NVML_OK;
			}
		}
	return NVML_NOT_FOUND;
}

EXPORT(nvmlDeviceGetName, (void *handle, char *to, unsigned cap))
{
	ENTER("nvmlDeviceGetName", handle);
	return give_text(to, cap, d->name);
}

EXPORT(nvmlDeviceGetUUID, (void *handle, char *to, unsigned cap))
{
	ENTER("nvmlDeviceGetUUID", handle);
	return give_text(to, cap, h.mig < 0 ? d->uuid : d->migs[h.mig].uuid);
}

EXPORT(nvmlDeviceGetPciInfo_v3, (void *handle, struct nvml_pci_info *ret))
{
	ENTER("nvmlDeviceGetPciInfo_v3", handle);
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->busId, sizeof(ret->busId), "%s", d->pci_bus_id);
	snprintf(ret->busIdLegacy, sizeof(ret->busIdLegacy), "%.12s", d->pci_bus_id + 4);
	ret->bus = 0x18 + h.device;
	ret->pciDeviceId = 0x233010de;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetMinorNumber, (void *handle, unsigned *ret))
{
	ENTER("nvmlDeviceGetMinorNumber", handle);
	*ret = d->minor_number;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetCudaComputeCapability, (void *handle, int *ret_major, int *ret_minor))
{
	ENTER("nvmlDeviceGetCudaComputeCapability", handle);
	*ret_major = (int)d->cc_major;
	*ret_minor = (int)d->cc_minor;
	return NVML_OK;
}

/* ---- MIG ------------------------------------------------------------------------------------- */

EXPORT(nvmlDeviceGetMigMode, (void *handle, unsigned *ret_current, unsigned *ret_pending))
{
	ENTER("nvmlDeviceGetMigMode", handle);
	if (d->mig_result)
		return d->mig_result;
	*ret_current = d->mig_current;
	*ret_pending = d->mig_pending;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetMaxMigDeviceCount, (void *handle, unsigned *ret))
{
	ENTER("nvmlDeviceGetMaxMigDeviceCount", handle);
	*ret = d->max_mig_count;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetMigDeviceHandleByIndex, (void *handle, unsigned index, void **ret))
{
	ENTER("nvmlDeviceGetMigDeviceHandleByIndex", handle);
	if (index >= d->max_mig_count || index >= SCENE_MIG)
		return NVML_INVALID_ARGUMENT;
	/* Indexes without an instance are in between. */
	if (!d->migs[index].there)
		return NVML_NOT_FOUND;
	*ret = &handles[h.device][1 + index];
	return NVML_OK;
}

EXPORT(nvmlDeviceIsMigDeviceHandle, (void *handle, unsigned *ret))
{
	ENTER("nvmlDeviceIsMigDeviceHandle", handle);
	*ret = h.mig >= 0;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetGpuInstanceId, (void *handle, unsigned *ret))
{
	ENTER("nvmlDeviceGetGpuInstanceId", handle);
	if (h.mig < 0)
		return NVML_NOT_SUPPORTED;
	*ret = d->migs[h.mig].gpu_instance;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetComputeInstanceId, (void *handle, unsigned *ret))
{
	ENTER("nvmlDeviceGetComputeInstanceId", handle);
	if (h.mig < 0)
		return NVML_NOT_SUPPORTED;
	*ret = d->migs[h.mig].compute_instance;
	return NVML_OK;
}
