/* A libcuda that does nothing, at once: beside it, what a call of galvo's costs is galvo's own. */
#include <stdint.h>

#include "nvidia/nvidia.h"

#define EXPORT(name, args)                                                                         \
	__attribute__((visibility("default"))) int name args;                                      \
	int name args

static char anything;
static _Thread_local void *current;

static int give(void **to)
{
	*to = &anything;
	return CUDA_OK;
}

static int zero(int *to)
{
	*to = 0;
	return CUDA_OK;
}

EXPORT(cuInit, (unsigned flags)) { return flags ? CUDA_INVALID_VALUE : CUDA_OK; }
EXPORT(cuDriverGetVersion, (int *to)) { *to = 13000; return CUDA_OK; }
EXPORT(cuDeviceGetCount, (int *to)) { *to = 1; return CUDA_OK; }
EXPORT(cuDeviceGet, (int *to, int ordinal)) { *to = ordinal; return CUDA_OK; }
EXPORT(cuDeviceGetName, (char *to, int cap, int device)) { to[0] = '\0'; return cap < device; }
EXPORT(cuDeviceGetPCIBusId, (char *to, int cap, int device)) { to[0] = '\0'; return cap < device; }
EXPORT(cuDeviceGetAttribute, (int *to, int what, int device)) { return zero(to) + 0 * (what + device); }
EXPORT(cuDevicePrimaryCtxRetain, (void **to, int device)) { return device ? CUDA_INVALID_DEVICE : give(to); }
EXPORT(cuDevicePrimaryCtxRelease_v2, (int device)) { return device ? CUDA_INVALID_DEVICE : CUDA_OK; }
EXPORT(cuCtxGetCurrent, (void **to)) { *to = current; return CUDA_OK; }
EXPORT(cuCtxSetCurrent, (void *context)) { current = context; return CUDA_OK; }
EXPORT(cuCtxPushCurrent_v2, (void *context)) { current = context; return CUDA_OK; }
EXPORT(cuCtxPopCurrent_v2, (void **to)) { *to = current; return CUDA_OK; }
EXPORT(cuStreamCreate, (void **to, unsigned flags)) { return flags > 1 ? CUDA_INVALID_VALUE : give(to); }
EXPORT(cuStreamDestroy_v2, (void *stream)) { return stream ? CUDA_OK : CUDA_INVALID_HANDLE; }
EXPORT(cuStreamGetCtx, (void *stream, void **to)) { return stream ? give(to) : CUDA_INVALID_CONTEXT; }
EXPORT(cuStreamIsCapturing, (void *stream, int *to)) { return stream ? zero(to) : CUDA_INVALID_HANDLE; }
EXPORT(cuEventCreate, (void **to, unsigned flags)) { return flags ? CUDA_INVALID_VALUE : give(to); }
EXPORT(cuEventRecord, (void *event, void *stream)) { return event && stream ? CUDA_OK : CUDA_INVALID_HANDLE; }
EXPORT(cuEventQuery, (void *event)) { return event ? CUDA_OK : CUDA_INVALID_HANDLE; }
EXPORT(cuEventElapsedTime, (float *to, void *a, void *b)) { *to = 0; return a && b ? CUDA_OK : CUDA_INVALID_HANDLE; }
EXPORT(cuEventDestroy_v2, (void *event)) { return event ? CUDA_OK : CUDA_INVALID_HANDLE; }
