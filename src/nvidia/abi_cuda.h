/*
 * What is used of libcuda, the driver API, declared by hand.
 *
 * CUresult and CUdevice are ints; contexts, streams and events are pointers that nobody looks into.
 */
#ifndef GALVO_NVIDIA_ABI_CUDA_H
#define GALVO_NVIDIA_ABI_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum cuda_result {
	CUDA_OK = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NOT_INITIALIZED = 3,
	CUDA_DEINITIALIZED = 4,
	CUDA_STUB_LIBRARY = 34,
	CUDA_DEVICE_UNAVAILABLE = 46,
	CUDA_NO_DEVICE = 100,
	CUDA_INVALID_DEVICE = 101,
	CUDA_INVALID_CONTEXT = 201,
	CUDA_INVALID_HANDLE = 400,
	CUDA_NOT_READY = 600,
	CUDA_ILLEGAL_ADDRESS = 700,
	CUDA_CONTEXT_IS_DESTROYED = 709,
	CUDA_NOT_PERMITTED = 800,
	CUDA_NOT_SUPPORTED = 801,
	CUDA_SYSTEM_NOT_READY = 802,
	CUDA_SYSTEM_DRIVER_MISMATCH = 803,
	CUDA_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	CUDA_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_STREAM_CAPTURE_IMPLICIT = 906,
	CUDA_CAPTURED_EVENT = 907,
	CUDA_STREAM_CAPTURE_WRONG_THREAD = 908,
	CUDA_UNKNOWN = 999,
};

enum cuda_attribute {
	CUDA_ATTRIBUTE_WARP_SIZE = 10,
	CUDA_ATTRIBUTE_CLOCK_KHZ = 13,
	CUDA_ATTRIBUTE_SM_COUNT = 16,
	CUDA_ATTRIBUTE_PCI_BUS = 33,
	CUDA_ATTRIBUTE_PCI_DEVICE = 34,
	CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
	CUDA_ATTRIBUTE_BUS_WIDTH = 37, /* bits */
	CUDA_ATTRIBUTE_THREADS_PER_SM = 39,
	CUDA_ATTRIBUTE_PCI_DOMAIN = 50,
	CUDA_ATTRIBUTE_CC_MAJOR = 75,
	CUDA_ATTRIBUTE_CC_MINOR = 76,
};

enum cuda_event_flag {
	CUDA_EVENT_DEFAULT = 0,
	CUDA_EVENT_BLOCKING_SYNC = 1,
	CUDA_EVENT_DISABLE_TIMING = 2,
	CUDA_EVENT_INTERPROCESS = 4,
};

enum cuda_capture { CUDA_CAPTURE_NONE = 0, CUDA_CAPTURE_ACTIVE = 1, CUDA_CAPTURE_INVALIDATED = 2 };

/* Of a thread: which calls are forbidden to it while a stream is being captured. */
enum cuda_capture_mode {
	CUDA_CAPTURE_MODE_GLOBAL = 0, /* many, whichever thread captures; what a thread begins with */
	CUDA_CAPTURE_MODE_THREAD_LOCAL = 1,
	CUDA_CAPTURE_MODE_RELAXED = 2, /* those only that concern the captured stream itself */
};

enum cuda_stream_flag { CUDA_STREAM_DEFAULT = 0, CUDA_STREAM_NON_BLOCKING = 1 };

#define CUDA_STREAM_LEGACY ((void *)1)
#define CUDA_STREAM_PER_THREAD ((void *)2)
#define CUDA_UUID_BYTES 16

/*
 * Member of struct cuda, names of the function, newest first, arguments, whether galvo cannot do
 * without. cuCtxCreate_v2 by name: headers of 13.0 turn cuCtxCreate into one that takes other
 * arguments.
 */
#define CUDA_CALLS(X)                                                                              \
	X(init, "cuInit", (unsigned), true)                                                        \
	X(driver_get_version, "cuDriverGetVersion", (int *), true)                                 \
	X(device_get_count, "cuDeviceGetCount", (int *), true)                                     \
	X(device_get, "cuDeviceGet", (int *, int), true)                                           \
	X(device_get_name, "cuDeviceGetName", (char *, int, int), true)                            \
	X(device_get_uuid, "cuDeviceGetUuid_v2 cuDeviceGetUuid", (void *, int), false)             \
	X(device_get_pci_bus_id, "cuDeviceGetPCIBusId", (char *, int, int), true)                  \
	X(device_get_attribute, "cuDeviceGetAttribute", (int *, int, int), true)                   \
	X(device_total_mem, "cuDeviceTotalMem_v2", (size_t *, int), false)                         \
	X(primary_retain, "cuDevicePrimaryCtxRetain", (void **, int), false)                       \
	X(primary_release, "cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRelease", (int), false) \
	X(primary_get_state, "cuDevicePrimaryCtxGetState", (int, unsigned *, int *), false)        \
	X(ctx_get_current, "cuCtxGetCurrent", (void **), false)                                    \
	X(ctx_set_current, "cuCtxSetCurrent", (void *), false)                                     \
	X(ctx_push, "cuCtxPushCurrent_v2", (void *), false)                                        \
	X(ctx_pop, "cuCtxPopCurrent_v2", (void **), false)                                         \
	X(ctx_create, "cuCtxCreate_v2", (void **, unsigned, int), false)                           \
	X(ctx_get_id, "cuCtxGetId", (void *, unsigned long long *), false)                         \
	X(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", (int *), false)              \
	X(stream_create, "cuStreamCreate", (void **, unsigned), false)                             \
	X(stream_destroy, "cuStreamDestroy_v2", (void *), false)                                   \
	X(stream_get_ctx, "cuStreamGetCtx", (void *, void **), false)                              \
	X(stream_query, "cuStreamQuery", (void *), false)                                          \
	X(stream_is_capturing, "cuStreamIsCapturing", (void *, int *), false)                      \
	X(event_create, "cuEventCreate", (void **, unsigned), false)                               \
	X(event_record, "cuEventRecord", (void *, void *), false)                                  \
	X(event_query, "cuEventQuery", (void *), false)                                            \
	X(event_synchronize, "cuEventSynchronize", (void *), false)                                \
	X(event_elapsed, "cuEventElapsedTime_v2 cuEventElapsedTime", (float *, void *, void *),    \
	  false)                                                                                   \
	X(event_destroy, "cuEventDestroy_v2", (void *), false)                                     \
	X(get_error_name, "cuGetErrorName", (int, const char **), false)                           \
	X(get_error_string, "cuGetErrorString", (int, const char **), false)

#endif
