/* A double of libcuda: devices, contexts, streams and events, at least as strict as the real one. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "nvidia/nvidia.h"
#include "scene.h"

enum { CONTEXTS = 16, STREAMS = 32, EVENTS = 512, DEPTH = 16 };

struct context {
	bool lives;
	int device;
	uint32_t uses; /* of a primary one */
};

struct stream {
	bool lives;
	struct context *context;
	int capture;            /* enum cuda_capture */
	uint64_t work_until_ns; /* scene time when all that was put into it is done */
};

struct event {
	bool lives, is_recorded, is_captured;
	unsigned flags;
	struct context *context;
	uint64_t done_ns;
};

/* The first CONTEXTS / 2 are primary ones, by device. */
static struct context contexts[CONTEXTS];
static struct stream streams[STREAMS];
static struct event events[EVENTS];
static bool is_initialized;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct context *stack[DEPTH];
static _Thread_local size_t depth;

/* Counted; needs cuInit, and a device that is there. */
#define ENTER(call, device)                                                                        \
	do {                                                                                       \
		int enter_ = scene_enter(call, device);                                            \
		if (enter_)                                                                        \
			return enter_;                                                             \
		if (!is_initialized) {                                                             \
			scene_violation("%s before cuInit", call);                                 \
			return CUDA_NOT_INITIALIZED;                                               \
		}                                                                                  \
		if ((device) >= 0 && scene_is_lost((uint32_t)(device)))                            \
			return CUDA_UNKNOWN;                                                       \
	} while (0)

static struct context *current(void)
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
	is_initialized = true;
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
	pthread_mutex_lock(&lock);
	contexts[i].lives = true;
	contexts[i].device = device;
	contexts[i].uses++;
	pthread_mutex_unlock(&lock);
	*ret = &contexts[i];
	return CUDA_OK;
}

EXPORT(cuDevicePrimaryCtxRelease_v2, (int device))
{
	int i = scene_by_ordinal(device), result = CUDA_OK;

	ENTER("cuDevicePrimaryCtxRelease_v2", i);
	if (i < 0)
		return CUDA_INVALID_DEVICE;
	pthread_mutex_lock(&lock);
	if (contexts[i].uses == 0) {
		scene_violation("cuDevicePrimaryCtxRelease: more often than retained");
		result = CUDA_INVALID_CONTEXT;
	} else if (--contexts[i].uses == 0) {
		contexts[i].lives = false;
	}
	pthread_mutex_unlock(&lock);
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
	pthread_mutex_lock(&lock);
	for (i = SCENE_DEVICES; i < CONTEXTS && contexts[i].lives; i++)
		;
	if (i < CONTEXTS && depth < DEPTH) {
		contexts[i] = (struct context){true, device, 1};
		stack[depth++] = &contexts[i];
		*ret = &contexts[i];
	}
	pthread_mutex_unlock(&lock);
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
	*ret = current();
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

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * What the real one has not: a stream of the current context with work for that long. `capture` is
 * an enum cuda_capture.
 */
EXPORT(double_cuda_stream, (void **ret, int capture, uint64_t busy_ns))
{
	size_t i;

	for (i = 0; i < STREAMS && streams[i].lives; i++)
		;
	if (i == STREAMS || !current())
		return CUDA_INVALID_CONTEXT;
	streams[i] = (struct stream){true, current(), capture,
	                             scene_now_ns(scene_of_process()) + busy_ns};
	*ret = &streams[i];
	return CUDA_OK;
}

/* The stream, or one that stands for the default ones of the current context; NULL if neither. */
static struct stream *find_stream(void *handle, struct stream *standing_for)
{
	struct stream *s = handle;

	if (s >= streams && s < streams + STREAMS)
		return s->lives ? s : NULL;
	if (handle && handle != CUDA_STREAM_LEGACY && handle != CUDA_STREAM_PER_THREAD)
		return NULL;
	if (!current())
		return NULL;
	*standing_for = (struct stream){true, current(), CUDA_CAPTURE_NONE, 0};
	return standing_for;
}

EXPORT(cuStreamGetCtx, (void *stream, void **ret))
{
	struct stream standing, *s;

	ENTER("cuStreamGetCtx", SCENE_ALL_DEVICES);
	s = find_stream(stream, &standing);
	if (!s)
		return stream ? CUDA_INVALID_HANDLE : CUDA_INVALID_CONTEXT;
	*ret = s->context;
	return CUDA_OK;
}

/* A call that must not be made while the stream is captured: it spoils what is captured. */
static int spoil(struct stream *s, const char *call)
{
	scene_violation("%s: the stream is being captured", call);
	s->capture = CUDA_CAPTURE_INVALIDATED;
	return CUDA_STREAM_CAPTURE_UNSUPPORTED;
}

EXPORT(cuStreamQuery, (void *stream))
{
	struct stream standing, *s;

	ENTER("cuStreamQuery", SCENE_ALL_DEVICES);
	s = find_stream(stream, &standing);
	if (!s)
		return CUDA_INVALID_HANDLE;
	if (s->capture != CUDA_CAPTURE_NONE)
		return spoil(s, "cuStreamQuery");
	return scene_now_ns(scene_of_process()) < s->work_until_ns ? CUDA_NOT_READY : CUDA_OK;
}

EXPORT(cuStreamIsCapturing, (void *stream, int *ret))
{
	struct stream standing, *s;

	ENTER("cuStreamIsCapturing", SCENE_ALL_DEVICES);
	s = find_stream(stream, &standing);
	if (!s)
		return CUDA_INVALID_HANDLE;
	*ret = s->capture;
	return CUDA_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct event *find_event(void *handle, const char *call)
{
	struct event *e = handle;

	if (e >= events && e < events + EVENTS && e->lives)
		return e;
	scene_violation("%s: no such event", call);
	return NULL;
}

EXPORT(cuEventCreate, (void **ret, unsigned flags))
{
	size_t i;

	ENTER("cuEventCreate", SCENE_ALL_DEVICES);
	if (!current()) {
		scene_violation("cuEventCreate: no current context");
		return CUDA_INVALID_CONTEXT;
	}
	pthread_mutex_lock(&lock);
	for (i = 0; i < EVENTS && events[i].lives; i++)
		;
	if (i < EVENTS) {
		events[i] = (struct event){.lives = true, .flags = flags, .context = current()};
		*ret = &events[i];
	}
	pthread_mutex_unlock(&lock);
	return i < EVENTS ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

EXPORT(cuEventRecord, (void *event, void *stream))
{
	uint64_t now = scene_now_ns(scene_of_process());
	struct stream standing, *s;
	struct event *e;

	ENTER("cuEventRecord", SCENE_ALL_DEVICES);
	e = find_event(event, "cuEventRecord");
	s = find_stream(stream, &standing);
	if (!e || !s)
		return CUDA_INVALID_HANDLE;
	if (e->context != s->context) {
		scene_violation("cuEventRecord: event and stream are of different contexts");
		return CUDA_INVALID_HANDLE;
	}
	e->is_captured = s->capture == CUDA_CAPTURE_ACTIVE;
	if (e->is_captured)
		scene_violation("cuEventRecord: into a stream that is being captured");
	if (s->capture == CUDA_CAPTURE_INVALIDATED)
		return CUDA_STREAM_CAPTURE_INVALIDATED;
	e->is_recorded = true;
	e->done_ns = s->work_until_ns > now ? s->work_until_ns : now;
	return CUDA_OK;
}

EXPORT(cuEventQuery, (void *event))
{
	struct event *e;

	ENTER("cuEventQuery", SCENE_ALL_DEVICES);
	e = find_event(event, "cuEventQuery");
	if (!e)
		return CUDA_INVALID_HANDLE;
	if (e->is_captured)
		return CUDA_CAPTURED_EVENT;
	return scene_now_ns(scene_of_process()) < e->done_ns ? CUDA_NOT_READY : CUDA_OK;
}

EXPORT(cuEventSynchronize, (void *event))
{
	struct scene *s = scene_of_process();
	struct event *e;

	ENTER("cuEventSynchronize", SCENE_ALL_DEVICES);
	e = find_event(event, "cuEventSynchronize");
	if (!e)
		return CUDA_INVALID_HANDLE;
	if (s->is_fake && e->done_ns > scene_now_ns(s))
		s->fake_mono_ns = s->begin_mono_ns + e->done_ns;
	while (scene_now_ns(s) < e->done_ns)
		nanosleep(&(struct timespec){0, 100000}, NULL);
	return CUDA_OK;
}

EXPORT(cuEventElapsedTime_v2, (float *ret, void *start, void *end))
{
	uint64_t now = scene_now_ns(scene_of_process());
	struct event *a, *b;

	ENTER("cuEventElapsedTime_v2", SCENE_ALL_DEVICES);
	a = find_event(start, "cuEventElapsedTime");
	b = find_event(end, "cuEventElapsedTime");
	if (!a || !b || !a->is_recorded || !b->is_recorded || a->context != b->context ||
	    ((a->flags | b->flags) & CUDA_EVENT_DISABLE_TIMING))
		return CUDA_INVALID_HANDLE;
	if (now < a->done_ns || now < b->done_ns)
		return CUDA_NOT_READY;
	*ret = (float)((double)(int64_t)(b->done_ns - a->done_ns) / 1e6);
	return CUDA_OK;
}

EXPORT(cuEventElapsedTime, (float *ret, void *start, void *end))
{
	return cuEventElapsedTime_v2(ret, start, end);
}

EXPORT(cuEventDestroy_v2, (void *event))
{
	struct event *e;

	ENTER("cuEventDestroy_v2", SCENE_ALL_DEVICES);
	e = find_event(event, "cuEventDestroy");
	if (!e)
		return CUDA_INVALID_HANDLE;
	e->lives = false;
	return CUDA_OK;
}
