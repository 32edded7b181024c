/* A double of libcuda: devices and contexts, at least as strict as the real one. */
#include "double_cuda.h"

#include <string.h>

enum { DEPTH = 16 };

/* The first CONTEXTS / 2 are primary ones, by device. */
static struct context contexts[CONTEXTS];
static uint64_t contexts_made;
bool double_cuda_is_initialized;
pthread_mutex_t double_cuda_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct context *stack[DEPTH];
static _Thread_local size_t depth;

struct context *double_cuda_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

static const struct scene_device *device_of(int device)
{
	struct scene *s = scene_of_process();
	int i = scene_by_ordinal(device);

	return i < 0 ? NULL : &s->devices[i];
}

/* ---- devices --------------------------------------------------------------------------------- */

EXPORT(cuInit, (unsigned flags))
{
	struct scene *s = scene_of_process();
	int result = scene_enter("cuInit", SCENE_ALL_DEVICES);

	if (result)
		return result;
	if (flags)
		return CUDA_INVALID_VALUE;
	double_cuda_is_initialized = true;
	return s->device_count ? CUDA_OK : CUDA_NO_DEVICE;
}

EXPORT(cuDriverGetVersion, (int *ret))
{
	int result = scene_enter("cuDriverGetVersion", SCENE_ALL_DEVICES);

	if (!result)
		*ret = scene_of_process()->cuda_version;
	return result;
}

EXPORT(cuDeviceGetCount, (int *ret))
{
	struct scene *s = scene_of_process();
	int n = 0;
	uint32_t i;

	ENTER("cuDeviceGetCount", SCENE_ALL_DEVICES);
	for (i = 0; i < s->device_count; i++)
		n += s->devices[i].cuda_ordinal >= 0;
	*ret = n;
	return CUDA_OK;
}

EXPORT(cuDeviceGet, (int *ret, int ordinal))
{
	ENTER("cuDeviceGet", scene_by_ordinal(ordinal));
	if (!device_of(ordinal))
		return CUDA_INVALID_DEVICE;
	*ret = ordinal;
	return CUDA_OK;
}

EXPORT(cuDeviceGetName, (char *to, int cap, int device))
{
	ENTER("cuDeviceGetName", scene_by_ordinal(device));
	if (!device_of(device))
		return CUDA_INVALID_DEVICE;
	snprintf(to, (size_t)cap, "%s", device_of(device)->name);
	return CUDA_OK;
}

EXPORT(cuDeviceGetPCIBusId, (char *to, int cap, int device))
{
	ENTER("cuDeviceGetPCIBusId", scene_by_ordinal(device));
	if (!device_of(device))
		return CUDA_INVALID_DEVICE;
	/* With four digits of domain, where NVML has eight. */
	snprintf(to, (size_t)cap, "%s", device_of(device)->pci_bus_id + 4);
	return CUDA_OK;
}

EXPORT(cuDeviceGetUuid_v2, (void *to, int device))
{
	const struct scene_device *d = device_of(device);
	unsigned char *bytes = to;
	int digit, n = 0;
	const char *p;

	ENTER("cuDeviceGetUuid_v2", scene_by_ordinal(device));
	if (!d)
		return CUDA_INVALID_DEVICE;
	memset(to, 0, CUDA_UUID_BYTES);
	for (p = strchr(d->uuid, '-'); p && *p && n < 2 * CUDA_UUID_BYTES; p++) {
		if (*p == '-')
			continue;
		digit = *p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10;
		bytes[n / 2] = (unsigned char)(bytes[n / 2] << 4 | digit);
		n++;
	}
	return CUDA_OK;
}

EXPORT(cuDeviceGetAttribute, (int *ret, int attribute, int device))
{
	const struct scene_device *d = device_of(device);

	ENTER("cuDeviceGetAttribute", scene_by_ordinal(device));
	if (!d)
		return CUDA_INVALID_DEVICE;
	switch (attribute) {
	case CUDA_ATTRIBUTE_WARP_SIZE: *ret = 32; break;
	case CUDA_ATTRIBUTE_THREADS_PER_SM: *ret = 2048; break;
	case CUDA_ATTRIBUTE_CLOCK_KHZ: *ret = 1980000; break;
	case CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ: *ret = 2619000; break;
	case CUDA_ATTRIBUTE_BUS_WIDTH: *ret = 5120; break;
	case CUDA_ATTRIBUTE_SM_COUNT: *ret = (int)d->sm_count; break;
	case CUDA_ATTRIBUTE_CC_MAJOR: *ret = (int)d->cc_major; break;
	case CUDA_ATTRIBUTE_CC_MINOR: *ret = (int)d->cc_minor; break;
	case CUDA_ATTRIBUTE_PCI_DOMAIN: *ret = 0; break;
	case CUDA_ATTRIBUTE_PCI_BUS: *ret = 0x18 + scene_by_ordinal(device); break;
	case CUDA_ATTRIBUTE_PCI_DEVICE: *ret = 0; break;
	default: return CUDA_INVALID_VALUE;
	}
	return CUDA_OK;
}

EXPORT(cuDeviceTotalMem_v2, (size_t *ret, int device))
{
	const struct scene_device *d = device_of(device);

	ENTER("cuDeviceTotalMem_v2", scene_by_ordinal(device));
	if (!d)
		return CUDA_INVALID_DEVICE;
	*ret = d->memory_bytes;
	return CUDA_OK;
}

EXPORT(cuGetErrorName, (int result, const char **ret))
{
	*ret = result == CUDA_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_SUCCESS";
	return result == CUDA_OK || result == CUDA_NO_DEVICE ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* ---- contexts -------------------------------------------------------------------------------- */

EXPORT(cuDevicePrimaryCtxRetain, (void **ret, int device))
{
	int i = scene_by_ordinal(device);

	ENTER("cuDevicePrimaryCtxRetain", i);
	if (i < 0)
		return CUDA_INVALID_DEVICE;
	pthread_mutex_lock(&double_cuda_lock);
	if (!contexts[i].lives)
		contexts[i] = (struct context){.lives = true, .device = device, .id = ++contexts_made};
	contexts[i].uses++;
	pthread_mutex_unlock(&double_cuda_lock);
	*ret = &contexts[i];
	return CUDA_OK;
}

EXPORT(cuDevicePrimaryCtxRelease_v2, (int device))
{
	int i = scene_by_ordinal(device), result = CUDA_OK;

	ENTER("cuDevicePrimaryCtxRelease_v2", i);
	if (i < 0)
		return CUDA_INVALID_DEVICE;
	pthread_mutex_lock(&double_cuda_lock);
	if (contexts[i].uses == 0) {
		scene_violation("cuDevicePrimaryCtxRelease: more often than retained");
		result = CUDA_INVALID_CONTEXT;
	} else if (--contexts[i].uses == 0) {
		contexts[i].lives = false;
		double_cuda_end_streams(&contexts[i]);
	}
	pthread_mutex_unlock(&double_cuda_lock);
	return result;
}

EXPORT(cuDevicePrimaryCtxGetState, (int device, unsigned *ret_flags, int *ret_active))
{
	int i = scene_by_ordinal(device);

	ENTER("cuDevicePrimaryCtxGetState", i);
	if (i < 0)
		return CUDA_INVALID_DEVICE;
	*ret_flags = 0;
	*ret_active = contexts[i].lives;
	return CUDA_OK;
}

EXPORT(cuCtxCreate_v2, (void **ret, unsigned flags, int device))
{
	size_t i;

	(void)flags;
	ENTER("cuCtxCreate_v2", scene_by_ordinal(device));
	if (!device_of(device))
		return CUDA_INVALID_DEVICE;
	pthread_mutex_lock(&double_cuda_lock);
	for (i = SCENE_DEVICES; i < CONTEXTS && contexts[i].lives; i++)
		;
	if (i < CONTEXTS && depth < DEPTH) {
		contexts[i] = (struct context){true, device, 1, .id = ++contexts_made};
		stack[depth++] = &contexts[i];
		*ret = &contexts[i];
	}
	pthread_mutex_unlock(&double_cuda_lock);
	return i < CONTEXTS ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

static bool is_context(const void *c)
{
	const struct context *context = c;

	return context >= contexts && context < contexts + CONTEXTS && context->lives;
}

EXPORT(cuCtxGetCurrent, (void **ret))
{
	ENTER("cuCtxGetCurrent", SCENE_ALL_DEVICES);
	*ret = double_cuda_current();
	return CUDA_OK;
}

EXPORT(cuCtxSetCurrent, (void *context))
{
	ENTER("cuCtxSetCurrent", SCENE_ALL_DEVICES);
	if (context && !is_context(context)) {
		scene_violation("cuCtxSetCurrent: no such context");
		return CUDA_INVALID_CONTEXT;
	}
	if (depth == 0)
		depth = 1;
	stack[depth - 1] = context;
	if (!context)
		depth--;
	return CUDA_OK;
}

EXPORT(cuCtxPushCurrent_v2, (void *context))
{
	ENTER("cuCtxPushCurrent_v2", SCENE_ALL_DEVICES);
	if (!is_context(context) || depth == DEPTH) {
		scene_violation("cuCtxPushCurrent: no such context, or pushed and not popped");
		return CUDA_INVALID_CONTEXT;
	}
	stack[depth++] = context;
	return CUDA_OK;
}

EXPORT(cuCtxPopCurrent_v2, (void **ret))
{
	ENTER("cuCtxPopCurrent_v2", SCENE_ALL_DEVICES);
	if (depth == 0) {
		scene_violation("cuCtxPopCurrent: nothing was pushed");
		return CUDA_INVALID_CONTEXT;
	}
	depth--;
	if (ret)
		*ret = stack[depth];
	return CUDA_OK;
}

/* All handles into it are loose ends from here on. */
EXPORT(cuCtxDestroy_v2, (void *context))
{
	struct context *c = context;

	ENTER("cuCtxDestroy_v2", SCENE_ALL_DEVICES);
	if (!is_context(context))
		return CUDA_INVALID_CONTEXT;
	if (double_cuda_current() == c)
		depth--;
	pthread_mutex_lock(&double_cuda_lock);
	c->lives = false;
	double_cuda_end_streams(c);
	pthread_mutex_unlock(&double_cuda_lock);
	return CUDA_OK;
}

EXPORT(cuCtxGetId, (void *context, unsigned long long *ret))
{
	ENTER("cuCtxGetId", SCENE_ALL_DEVICES);
	if (context && !is_context(context))
		return CUDA_CONTEXT_IS_DESTROYED;
	if (!context && !double_cuda_current())
		return CUDA_INVALID_CONTEXT;
	*ret = context ? ((struct context *)context)->id : double_cuda_current()->id;
	return CUDA_OK;
}
