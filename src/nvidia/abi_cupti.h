/*
 * What is used of libcupti, declared by hand: PM sampling and the profiler's host side, CUDA 12.6
 * to 13.x.
 *
 * Members have the vendor's names, so that the two declarations can be compared. Every call takes
 * one struct whose first member is the size that the library knows: it ends with the last member,
 * not with the padding behind it, and is compared for equality. Zero the struct, set structSize,
 * call.
 */
#ifndef GALVO_NVIDIA_ABI_CUPTI_H
#define GALVO_NVIDIA_ABI_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* What structSize is when `last` is the last member that the library knows. */
#define CUPTI_UNTIL(tag, last) (offsetof(struct tag, last) + sizeof(((struct tag *)0)->last))

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_INVALID_DEVICE = 2,
	CUPTI_INVALID_CONTEXT = 3,
	CUPTI_INVALID_OPERATION = 7,
	CUPTI_OUT_OF_MEMORY = 8, /* of DecodeData: the hardware buffer overflowed */
	CUPTI_HARDWARE = 9,
	CUPTI_SIZE_NOT_SUFFICIENT = 10,
	CUPTI_NOT_IMPLEMENTED = 11,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_READY = 13,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_INVALID_METRIC_NAME = 17,
	CUPTI_DISABLED = 23,
	CUPTI_HARDWARE_BUSY = 26,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED = 33,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_OLD_PROFILER_API_INITIALIZED = 36,
	CUPTI_LEGACY_PROFILER_NOT_SUPPORTED = 38,
	CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
	CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40,
	CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED = 41,
	CUPTI_CMP_DEVICE_NOT_SUPPORTED = 42,
	CUPTI_MIG_DEVICE_NOT_SUPPORTED = 43,
	CUPTI_SLI_DEVICE_NOT_SUPPORTED = 44,
	CUPTI_WSL_DEVICE_NOT_SUPPORTED = 45,
	CUPTI_INVALID_CHIP_NAME = 46, /* 13.0; before that INVALID_PARAMETER */
	CUPTI_UNKNOWN = 999,
};

enum cupti_metric_type { CUPTI_COUNTER = 0, CUPTI_RATIO = 1, CUPTI_THROUGHPUT = 2 };
enum cupti_profiler_type { CUPTI_RANGE_PROFILER = 0, CUPTI_PM_SAMPLING = 1 };
enum cupti_trigger { CUPTI_SYSCLK_INTERVAL = 0, CUPTI_TIME_INTERVAL = 1 };
enum cupti_decode_stop { CUPTI_STOP_OTHER = 0, CUPTI_STOP_FULL = 1, CUPTI_STOP_END = 2 };
enum cupti_append { CUPTI_KEEP_OLDEST = 0, CUPTI_KEEP_LATEST = 1 };
enum cupti_api { CUPTI_API_RANGE, CUPTI_API_PC, CUPTI_API_SASS, CUPTI_API_PM, CUPTI_API_UNKNOWN };
enum cupti_support {
	CUPTI_LEVEL_UNKNOWN,
	CUPTI_UNSUPPORTED,
	CUPTI_LEVEL_DISABLED,
	CUPTI_SUPPORTED,
};

struct cupti_nothing { /* ProfilerInitialize, ProfilerDeInitialize */
	size_t structSize;
	void *pPriv; /* NULL, here and below */
};

struct cupti_device_supported {
	size_t structSize;
	void *pPriv;
	int32_t cuDevice;
	/* Each an enum cupti_support. */
	uint32_t isSupported, architecture, sli, vGpu, confidentialCompute, cmp, wsl;
	uint32_t api; /* of the caller: CUPTI_API_PM */
	uint32_t sku; /* 13.1 */
};

struct cupti_chip_name {
	size_t structSize;
	void *pPriv;
	size_t deviceIndex; /* CUDA's ordinal, here and below */
	const char *pChipName;
};

struct cupti_supported_chips {
	size_t structSize;
	void *pPriv;
	size_t numChips;
	const char *const *ppChipNames;
};

struct cupti_host_initialize {
	size_t structSize;
	void *pPriv;
	uint32_t profilerType; /* CUPTI_PM_SAMPLING: other types have other metrics */
	const char *pChipName;
	const uint8_t *pCounterAvailabilityImage; /* NULL, or GetCounterAvailability's */
	void *pHostObject;
	const char *pSinglePassMetricSetName; /* 13.2 */
};

struct cupti_host { /* HostDeinitialize */
	size_t structSize;
	void *pPriv;
	void *pHostObject;
};

struct cupti_base_metrics {
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	uint32_t metricType;
	const char **ppMetricNames; /* of the host object, here and below: they die with it */
	size_t numMetrics;
};

struct cupti_sub_metrics {
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	uint32_t metricType;
	const char *pMetricName;
	size_t numOfSubmetrics; /* before the names, unlike above */
	const char **ppSubMetrics;
};

struct cupti_metric_properties {
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	const char *pMetricName;
	const char *pDescription, *pHwUnit, *pDimUnit;
	uint32_t metricType;
	uint32_t metricCollectionScope; /* 13.1 */
};

struct cupti_add_metrics { /* one call a configuration: each opens passes of its own */
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	const char **ppMetricNames;
	size_t numMetrics;
};

struct cupti_config_size {
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	size_t configImageSize;
};

struct cupti_config_image {
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	size_t configImageSize;
	uint8_t *pConfigImage;
};

struct cupti_passes {
	size_t structSize;
	void *pPriv;
	size_t configImageSize;
	uint8_t *pConfigImage;
	size_t numOfPasses; /* 0 is a failure too */
};

struct cupti_max_metrics {
	size_t structSize;
	void *pPriv;
	uint32_t profilerType;
	const char *pChipName;
	uint8_t *pCounterAvailabilityImage;
	size_t maxMetricsPerPass;
};

struct cupti_evaluate {
	size_t structSize;
	void *pPriv;
	void *pHostObject;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t rangeIndex; /* of the sample */
	const char **ppMetricNames;
	size_t numMetrics;
	double *pMetricValues;
};

struct cupti_availability {
	size_t structSize;
	void *pPriv;
	size_t deviceIndex;
	size_t counterAvailabilityImageSize; /* out while the image is NULL */
	uint8_t *pCounterAvailabilityImage;
};

struct cupti_enable {
	size_t structSize;
	void *pPriv;
	size_t deviceIndex;
	void *pPmSamplingObject;
};

struct cupti_sampling { /* Disable, Start, Stop */
	size_t structSize;
	void *pPriv;
	void *pPmSamplingObject;
};

struct cupti_set_config {
	size_t structSize;
	void *pPriv;
	void *pPmSamplingObject;
	size_t configSize;
	const uint8_t *pConfig; /* kept by the library until Disable */
	size_t hardwareBufferSize;
	uint64_t samplingInterval; /* cycles or ns, by triggerMode */
	uint32_t triggerMode;
	uint32_t hwBufferAppendMode; /* 12.8 */
};

struct cupti_data_size {
	size_t structSize;
	void *pPriv;
	void *pPmSamplingObject;
	const char **pMetricNames;
	size_t numMetrics;
	uint32_t maxSamples; /* ask once: another number breaks images of the first */
	size_t counterDataSize;
};

struct cupti_data_initialize {
	size_t structSize;
	void *pPriv;
	void *pPmSamplingObject;
	size_t counterDataSize;
	uint8_t *pCounterData;
};

struct cupti_decode {
	size_t structSize;
	void *pPriv;
	void *pPmSamplingObject;
	uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	uint32_t decodeStopReason;
	uint8_t overflow;
};

struct cupti_data_info { /* an image that was never initialised crashes it */
	size_t structSize;
	void *pPriv;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t numTotalSamples, numPopulatedSamples;
	size_t numCompletedSamples; /* what may be read */
};

struct cupti_sample_info {
	size_t structSize;
	void *pPriv;
	void *pPmSamplingObject;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize;
	size_t sampleIndex;
	uint64_t startTimestamp, endTimestamp; /* CLOCK_REALTIME, ns */
};

/*
 * The calls whose struct is the same in all versions: member of struct cupti, function, struct, its
 * last member.
 */
#define CUPTI_CALLS(X)                                                                             \
	X(initialize, cuptiProfilerInitialize, cupti_nothing, pPriv)                               \
	X(deinitialize, cuptiProfilerDeInitialize, cupti_nothing, pPriv)                           \
	X(chip_name, cuptiDeviceGetChipName, cupti_chip_name, pChipName)                           \
	X(supported_chips, cuptiProfilerHostGetSupportedChips, cupti_supported_chips, ppChipNames) \
	X(host_deinitialize, cuptiProfilerHostDeinitialize, cupti_host, pHostObject)               \
	X(base_metrics, cuptiProfilerHostGetBaseMetrics, cupti_base_metrics, numMetrics)           \
	X(sub_metrics, cuptiProfilerHostGetSubMetrics, cupti_sub_metrics, ppSubMetrics)            \
	X(add_metrics, cuptiProfilerHostConfigAddMetrics, cupti_add_metrics, numMetrics)           \
	X(config_size, cuptiProfilerHostGetConfigImageSize, cupti_config_size, configImageSize)    \
	X(config_image, cuptiProfilerHostGetConfigImage, cupti_config_image, pConfigImage)         \
	X(passes, cuptiProfilerHostGetNumOfPasses, cupti_passes, numOfPasses)                      \
	X(max_metrics, cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, cupti_max_metrics,        \
	  maxMetricsPerPass)                                                                       \
	X(evaluate, cuptiProfilerHostEvaluateToGpuValues, cupti_evaluate, pMetricValues)           \
	X(availability, cuptiPmSamplingGetCounterAvailability, cupti_availability,                 \
	  pCounterAvailabilityImage)                                                               \
	X(enable, cuptiPmSamplingEnable, cupti_enable, pPmSamplingObject)                          \
	X(disable, cuptiPmSamplingDisable, cupti_sampling, pPmSamplingObject)                      \
	X(start, cuptiPmSamplingStart, cupti_sampling, pPmSamplingObject)                          \
	X(stop, cuptiPmSamplingStop, cupti_sampling, pPmSamplingObject)                            \
	X(data_size, cuptiPmSamplingGetCounterDataSize, cupti_data_size, counterDataSize)          \
	X(data_initialize, cuptiPmSamplingCounterDataImageInitialize, cupti_data_initialize,       \
	  pCounterData)                                                                            \
	X(decode, cuptiPmSamplingDecodeData, cupti_decode, overflow)                               \
	X(data_info, cuptiPmSamplingGetCounterDataInfo, cupti_data_info, numCompletedSamples)      \
	X(sample_info, cuptiPmSamplingCounterDataGetSampleInfo, cupti_sample_info, endTimestamp)

/*
 * Those whose struct has grown: the last member of old, then the one that came in that
 * cuptiGetVersion.
 */
#define CUPTI_GROWN(X)                                                                             \
	X(set_config, cuptiPmSamplingSetConfig, cupti_set_config, triggerMode, hwBufferAppendMode, \
	  26)                                                                                      \
	X(device_supported, cuptiProfilerDeviceSupported, cupti_device_supported, api, sku,        \
	  130100)                                                                                  \
	X(metric_properties, cuptiProfilerHostGetMetricProperties, cupti_metric_properties,        \
	  metricType, metricCollectionScope, 130100)                                               \
	X(host_initialize, cuptiProfilerHostInitialize, cupti_host_initialize, pHostObject,        \
	  pSinglePassMetricSetName, 130200)

/* What takes no struct: member, function, arguments, whether galvo cannot do without. */
#define CUPTI_PLAIN(X)                                                                             \
	X(get_version, cuptiGetVersion, (uint32_t *), true)                                        \
	X(get_timestamp, cuptiGetTimestamp, (uint64_t *), true)                                    \
	X(get_result_string, cuptiGetResultString, (int, const char **), true)                     \
	X(get_error_message, cuptiGetErrorMessage, (int, const char **), false)                    \
	X(finalize, cuptiFinalize, (void), false)                                                  \
	X(register_timestamp, cuptiActivityRegisterTimestampCallback, (uint64_t(*)(void)), false)

/* Of libnvperf_host.so, beside libcupti. */
struct nvperf_initialize_host {
	size_t structSize;
	void *pPriv;
};

struct nvperf_sample_size {
	size_t structSize;
	void *pPriv;
	const uint8_t *pConfig; /* the image of cupti_config_image, at a multiple of 8 */
	size_t configSize;
	size_t sampleSize;
};

#endif
