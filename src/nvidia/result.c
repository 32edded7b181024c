/* Names of results, and what they mean for whoever reads the message. */
#include "nvidia.h"

struct result {
	int number;
	galvo_status status;
	const char *name;
	const char *means; /* NULL: the name says it */
};

static const struct result cuda_results[] = {
	{1, GALVO_ERR_INVALID, "CUDA_ERROR_INVALID_VALUE", NULL},
	{2, GALVO_ERR_NOMEM, "CUDA_ERROR_OUT_OF_MEMORY", NULL},
	{3, GALVO_ERR_STATE, "CUDA_ERROR_NOT_INITIALIZED", NULL},
	{4, GALVO_ERR_STATE, "CUDA_ERROR_DEINITIALIZED", "the process ends"},
	{34, GALVO_ERR_ABSENT, "CUDA_ERROR_STUB_LIBRARY",
	 "a toolkit's file for linking, not the driver's"},
	{46, GALVO_ERR_STATE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "another process has it for itself"},
	{100, GALVO_ERR_ABSENT, "CUDA_ERROR_NO_DEVICE", NULL},
	{101, GALVO_ERR_ABSENT, "CUDA_ERROR_INVALID_DEVICE", NULL},
	{201, GALVO_ERR_STATE, "CUDA_ERROR_INVALID_CONTEXT", NULL},
	{400, GALVO_ERR_INVALID, "CUDA_ERROR_INVALID_HANDLE", NULL},
	{600, GALVO_ERR_STATE, "CUDA_ERROR_NOT_READY", NULL},
	{700, GALVO_ERR_IO, "CUDA_ERROR_ILLEGAL_ADDRESS", "the program's context is lost"},
	{709, GALVO_ERR_STATE, "CUDA_ERROR_CONTEXT_IS_DESTROYED", NULL},
	{800, GALVO_ERR_DENIED, "CUDA_ERROR_NOT_PERMITTED", NULL},
	{801, GALVO_ERR_ABSENT, "CUDA_ERROR_NOT_SUPPORTED", NULL},
	{802, GALVO_ERR_STATE, "CUDA_ERROR_SYSTEM_NOT_READY", "the fabric manager may not run"},
	{803, GALVO_ERR_ABSENT, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	 "the kernel has another driver loaded than this library belongs to"},
	{804, GALVO_ERR_ABSENT, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
	 "the driver is too old for this library"},
	{900, GALVO_ERR_STATE, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", NULL},
	{901, GALVO_ERR_STATE, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", NULL},
	{906, GALVO_ERR_STATE, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", NULL},
	{907, GALVO_ERR_STATE, "CUDA_ERROR_CAPTURED_EVENT", NULL},
	{908, GALVO_ERR_STATE, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", NULL},
	{999, GALVO_ERR_IO, "CUDA_ERROR_UNKNOWN", NULL},
};

static const struct result cupti_results[] = {
	{1, GALVO_ERR_INVALID, "CUPTI_ERROR_INVALID_PARAMETER", NULL},
	{2, GALVO_ERR_ABSENT, "CUPTI_ERROR_INVALID_DEVICE", NULL},
	{3, GALVO_ERR_STATE, "CUPTI_ERROR_INVALID_CONTEXT", NULL},
	{7, GALVO_ERR_STATE, "CUPTI_ERROR_INVALID_OPERATION",
	 "another client in this process may have the device"},
	{8, GALVO_ERR_NOMEM, "CUPTI_ERROR_OUT_OF_MEMORY", NULL},
	{9, GALVO_ERR_IO, "CUPTI_ERROR_HARDWARE", NULL},
	{10, GALVO_ERR_INVALID, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", NULL},
	{11, GALVO_ERR_ABSENT, "CUPTI_ERROR_API_NOT_IMPLEMENTED", NULL},
	{12, GALVO_ERR_STATE, "CUPTI_ERROR_MAX_LIMIT_REACHED", NULL},
	{13, GALVO_ERR_STATE, "CUPTI_ERROR_NOT_READY", NULL},
	{14, GALVO_ERR_STATE, "CUPTI_ERROR_NOT_COMPATIBLE", NULL},
	{15, GALVO_ERR_ABSENT, "CUPTI_ERROR_NOT_INITIALIZED",
	 "libnvperf_host.so may not be beside libcupti"},
	{17, GALVO_ERR_ABSENT, "CUPTI_ERROR_INVALID_METRIC_NAME", NULL},
	{23, GALVO_ERR_STATE, "CUPTI_ERROR_DISABLED", NULL},
	{26, GALVO_ERR_STATE, "CUPTI_ERROR_HARDWARE_BUSY",
	 "another profiler, as ncu, nsys or DCGM, has the counters"},
	{27, GALVO_ERR_ABSENT, "CUPTI_ERROR_NOT_SUPPORTED", NULL},
	{33, GALVO_ERR_ABSENT, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", NULL},
	{35, GALVO_ERR_DENIED, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
	 "counters are for administrators: CAP_SYS_ADMIN, or "
	 "NVreg_RestrictProfilingToAdminUsers=0"},
	{36, GALVO_ERR_STATE, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", NULL},
	{38, GALVO_ERR_ABSENT, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", NULL},
	{39, GALVO_ERR_STATE, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
	 "another tool in this process has subscribed to CUPTI"},
	{40, GALVO_ERR_DENIED, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
	 "the host of this virtual machine has to allow it"},
	{41, GALVO_ERR_ABSENT, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", NULL},
	{42, GALVO_ERR_ABSENT, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", NULL},
	{43, GALVO_ERR_ABSENT, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", NULL},
	{44, GALVO_ERR_ABSENT, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", NULL},
	{45, GALVO_ERR_ABSENT, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED", NULL},
	{46, GALVO_ERR_ABSENT, "CUPTI_ERROR_INVALID_CHIP_NAME",
	 "this libcupti does not know the chip"},
	{999, GALVO_ERR_IO, "CUPTI_ERROR_UNKNOWN", NULL},
};

static const struct result nvml_results[] = {
	{1, GALVO_ERR_STATE, "NVML_ERROR_UNINITIALIZED", NULL},
	{2, GALVO_ERR_INVALID, "NVML_ERROR_INVALID_ARGUMENT", NULL},
	{3, GALVO_ERR_ABSENT, "NVML_ERROR_NOT_SUPPORTED", NULL},
	{4, GALVO_ERR_DENIED, "NVML_ERROR_NO_PERMISSION", NULL},
	{6, GALVO_ERR_ABSENT, "NVML_ERROR_NOT_FOUND", NULL},
	{7, GALVO_ERR_INVALID, "NVML_ERROR_INSUFFICIENT_SIZE", NULL},
	{9, GALVO_ERR_ABSENT, "NVML_ERROR_DRIVER_NOT_LOADED", NULL},
	{10, GALVO_ERR_STATE, "NVML_ERROR_TIMEOUT", NULL},
	{12, GALVO_ERR_ABSENT, "NVML_ERROR_LIBRARY_NOT_FOUND", NULL},
	{13, GALVO_ERR_ABSENT, "NVML_ERROR_FUNCTION_NOT_FOUND", NULL},
	{15, GALVO_ERR_ABSENT, "NVML_ERROR_GPU_IS_LOST", "it has fallen off the bus"},
	{16, GALVO_ERR_STATE, "NVML_ERROR_RESET_REQUIRED", NULL},
	{17, GALVO_ERR_DENIED, "NVML_ERROR_OPERATING_SYSTEM",
	 "a control group may forbid the device"},
	{18, GALVO_ERR_ABSENT, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
	 "the kernel has another driver loaded than this library belongs to; reload it or reboot"},
	{21, GALVO_ERR_STATE, "NVML_ERROR_NO_DATA", NULL},
	{25, GALVO_ERR_ABSENT, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH", NULL},
	{27, GALVO_ERR_STATE, "NVML_ERROR_NOT_READY", NULL},
	{28, GALVO_ERR_ABSENT, "NVML_ERROR_GPU_NOT_FOUND", NULL},
	{999, GALVO_ERR_IO, "NVML_ERROR_UNKNOWN", NULL},
};

static const struct result *look_up(const struct result *rows, size_t n, int number)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

static galvo_status failed(galvo_error *reterr, const char *call, const struct result *row,
                           int number)
{
	if (!row)
		return err_set(reterr, GALVO_ERR_IO, "%s: result %d", call, number);
	return err_set(reterr, row->status, "%s: %s (%d)%s%s", call, row->name, number,
	               row->means ? ": " : "", row->means ? row->means : "");
}

/* The three differ in their table only. */
#define X(library, success)                                                                        \
	const char *library##_result_name(int result)                                              \
	{                                                                                          \
		const struct result *row =                                                         \
			look_up(library##_results, ARRAY_LEN(library##_results), result);          \
                                                                                                   \
		return result == 0 ? success : row ? row->name : NULL;                             \
	}                                                                                          \
                                                                                                   \
	galvo_status library##_failed(galvo_error *reterr, const char *call, int result)           \
	{                                                                                          \
		return failed(reterr, call,                                                        \
		              look_up(library##_results, ARRAY_LEN(library##_results), result),    \
		              result);                                                             \
	}
X(cuda, "CUDA_SUCCESS")
X(cupti, "CUPTI_SUCCESS")
X(nvml, "NVML_SUCCESS")
#undef X
