/* A double of libcupti: what every call begins with, versions, the profiler as a whole. */
#include "double_cupti.h"

#include <stdio.h>
#include <string.h>

static _Atomic int initialized;

size_t cupti_bytes_since(uint32_t version, size_t old, size_t grown)
{
	const struct scene *s = scene_of_process();
	uint32_t layout = s->layout_version ? s->layout_version : s->cupti_version;

	return layout >= version ? grown : old;
}

bool cupti_is_initialized(void)
{
	return initialized > 0;
}

int cupti_enter(const char *call, int device, const void *params, size_t bytes)
{
	const struct cupti_nothing *head = params;
	int result = scene_enter(call, device);

	if (result)
		return result;
	if (!head) {
		scene_violation("%s: no parameters", call);
		return CUPTI_INVALID_PARAMETER;
	}
	if (head->structSize != bytes) {
		scene_violation("%s: structSize is %zu, not %zu", call, head->structSize, bytes);
		return CUPTI_INVALID_PARAMETER;
	}
	if (head->pPriv) /* the real one does not mind */
		scene_violation("%s: pPriv is not NULL", call);
	return CUPTI_OK;
}

static int judge_object(const char *call, void *slots, size_t n, size_t each, void *object)
{
	char *first = slots, *at = object;
	struct object *o = object;

	if (!object) {
		scene_violation("%s: the object is NULL", call);
		return CUPTI_INVALID_PARAMETER;
	}
	if (at < first || at >= first + n * each || (size_t)(at - first) % each ||
	    o->life == LIFE_NEVER) {
		scene_violation("%s: no object of CUPTI's", call);
		return CUPTI_UNKNOWN;
	}
	if (o->life == LIFE_DEAD) {
		scene_violation("%s: the object was destroyed", call);
		return CUPTI_INVALID_OPERATION;
	}
	if (atomic_fetch_add(&o->inside, 1) > 0) {
		atomic_fetch_sub(&o->inside, 1);
		scene_violation("%s: another thread is in a call with the same object", call);
		return CUPTI_UNKNOWN;
	}
	return CUPTI_OK;
}

int object_enter(const char *call, const void *params, size_t bytes, const struct slots *slots,
                 void *object, int device)
{
	int judged = judge_object(call, slots->first, slots->n, slots->each, object);
	int entered = cupti_enter(call, judged ? SCENE_ALL_DEVICES : device, params, bytes);

	if (entered && !judged)
		object_leave(object);
	return entered ? entered : judged;
}

void object_leave(struct object *o)
{
	atomic_fetch_sub(&o->inside, 1);
}

/* ---- plain functions ------------------------------------------------------------------------- */

EXPORT(cuptiGetVersion, (uint32_t * ret))
{
	int result = scene_enter("cuptiGetVersion", SCENE_ALL_DEVICES);

	if (!result)
		*ret = scene_of_process()->cupti_version;
	return result;
}

EXPORT(cuptiGetTimestamp, (uint64_t * ret))
{
	int result = scene_enter("cuptiGetTimestamp", SCENE_ALL_DEVICES);

	if (!result)
		*ret = scene_wall_ns(scene_of_process());
	return result;
}

EXPORT(cuptiGetResultString, (int result, const char **ret))
{
	*ret = result == CUPTI_OK              ? "CUPTI_SUCCESS"
	       : result == CUPTI_HARDWARE_BUSY ? "CUPTI_ERROR_HARDWARE_BUSY"
	                                       : NULL;
	return *ret ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

EXPORT(cuptiGetErrorMessage, (int result, const char **ret))
{
	return cuptiGetResultString(result, ret);
}

EXPORT(cuptiFinalize, (void))
{
	return scene_enter("cuptiFinalize", SCENE_ALL_DEVICES);
}

EXPORT(cuptiActivityRegisterTimestampCallback, (uint64_t(*callback)(void)))
{
	(void)callback;
	scene_violation(
		"cuptiActivityRegisterTimestampCallback: samples lose their times, 12.6 to 13.0");
	return CUPTI_OK;
}

/* ---- the profiler ---------------------------------------------------------------------------- */

EXPORT(cuptiProfilerInitialize, (struct cupti_nothing *p))
{
	ENTER("cuptiProfilerInitialize", SCENE_ALL_DEVICES, 16);
	initialized = 1; /* not counted */
	return CUPTI_OK;
}

EXPORT(cuptiProfilerDeInitialize, (struct cupti_nothing *p))
{
	ENTER("cuptiProfilerDeInitialize", SCENE_ALL_DEVICES, 16);
	if (!initialized) {
		scene_crash("cuptiProfilerDeInitialize: not initialised, or not any more");
		return CUPTI_UNKNOWN;
	}
	initialized = 0;
	return CUPTI_OK;
}

EXPORT(cuptiProfilerDeviceSupported, (struct cupti_device_supported *p))
{
	int i = p ? scene_by_ordinal(p->cuDevice) : SCENE_ALL_DEVICES;
	uint32_t level;

	ENTER("cuptiProfilerDeviceSupported", i, cupti_bytes_since(130100, 52, 56));
	if (!initialized) {
		scene_violation("cuptiProfilerDeviceSupported before cuptiProfilerInitialize");
		return CUPTI_UNKNOWN;
	}
	if (i < 0)
		return CUPTI_INVALID_DEVICE;
	level = (uint32_t)scene_of_process()->devices[i].support;
	p->isSupported = level;
	p->architecture = p->sli = p->vGpu = p->confidentialCompute = p->cmp = p->wsl =
		CUPTI_SUPPORTED;
	if (p->structSize == 56)
		p->sku = CUPTI_SUPPORTED;
	return CUPTI_OK;
}

EXPORT(cuptiDeviceGetChipName, (struct cupti_chip_name *p))
{
	int i = p ? scene_by_ordinal((long long)p->deviceIndex) : SCENE_ALL_DEVICES;

	ENTER("cuptiDeviceGetChipName", i, 32);
	if (!initialized) {
		scene_crash("cuptiDeviceGetChipName before cuptiProfilerInitialize");
		return CUPTI_UNKNOWN;
	}
	if (i < 0)
		return CUPTI_INVALID_DEVICE;
	p->pChipName = scene_of_process()->devices[i].chip;
	return CUPTI_OK;
}
