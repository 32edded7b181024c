/* Our declarations of CUPTI against the toolkit's headers. */
#include "rows.h"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <cupti_version.h>

/* Ours has names that are macros or enumerators there, and the other way round: it comes last. */
#include "nvidia/nvidia.h"

#define HEAD(mine, yours) BOTH(mine, yours, structSize) BOTH(mine, yours, pPriv)
/* The size that the vendor's macro gives, for the CUDA of these headers. */
#define GIVEN(member, yours)                                                                       \
	{"structSize of " #yours, "", CUPTI_BYTES_##member, (long long)yours##_STRUCT_SIZE, 0, 0},

static struct row rows[] = {
	HEAD(cupti_nothing, CUpti_Profiler_Initialize_Params)
	GIVEN(initialize, CUpti_Profiler_Initialize_Params)
	HEAD(cupti_nothing, CUpti_Profiler_DeInitialize_Params)
	GIVEN(deinitialize, CUpti_Profiler_DeInitialize_Params)
	HEAD(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, cuDevice)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, isSupported)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, architecture)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, sli)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, vGpu)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, confidentialCompute)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, cmp)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, wsl)
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, api)
#if CUPTI_API_VERSION >= 130100
	BOTH(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, sku)
#endif
	HEAD(cupti_chip_name, CUpti_Device_GetChipName_Params)
	BOTH(cupti_chip_name, CUpti_Device_GetChipName_Params, deviceIndex)
	BOTH(cupti_chip_name, CUpti_Device_GetChipName_Params, pChipName)
	GIVEN(chip_name, CUpti_Device_GetChipName_Params)
	HEAD(cupti_supported_chips, CUpti_Profiler_Host_GetSupportedChips_Params)
	BOTH(cupti_supported_chips, CUpti_Profiler_Host_GetSupportedChips_Params, numChips)
	BOTH(cupti_supported_chips, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames)
	GIVEN(supported_chips, CUpti_Profiler_Host_GetSupportedChips_Params)
	HEAD(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params)
	BOTH(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params, profilerType)
	BOTH(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params, pChipName)
	BOTH(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage)
	BOTH(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params, pHostObject)
#if CUPTI_API_VERSION >= 130200
	BOTH(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params, pSinglePassMetricSetName)
#endif
	HEAD(cupti_host, CUpti_Profiler_Host_Deinitialize_Params)
	BOTH(cupti_host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject)
	GIVEN(host_deinitialize, CUpti_Profiler_Host_Deinitialize_Params)
	HEAD(cupti_base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params)
	BOTH(cupti_base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params, pHostObject)
	BOTH(cupti_base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType)
	BOTH(cupti_base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames)
	BOTH(cupti_base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics)
	GIVEN(base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params)
	HEAD(cupti_sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params)
	BOTH(cupti_sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params, pHostObject)
	BOTH(cupti_sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params, metricType)
	BOTH(cupti_sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName)
	BOTH(cupti_sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics)
	BOTH(cupti_sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics)
	GIVEN(sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params)
	HEAD(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params)
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject)
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName)
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params, pDescription)
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit)
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit)
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params, metricType)
#if CUPTI_API_VERSION >= 130100
	BOTH(cupti_metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params,
	     metricCollectionScope)
#endif
	HEAD(cupti_add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
	BOTH(cupti_add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject)
	BOTH(cupti_add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames)
	BOTH(cupti_add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics)
	GIVEN(add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
	HEAD(cupti_config_size, CUpti_Profiler_Host_GetConfigImageSize_Params)
	BOTH(cupti_config_size, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject)
	BOTH(cupti_config_size, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize)
	GIVEN(config_size, CUpti_Profiler_Host_GetConfigImageSize_Params)
	HEAD(cupti_config_image, CUpti_Profiler_Host_GetConfigImage_Params)
	BOTH(cupti_config_image, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject)
	BOTH(cupti_config_image, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize)
	BOTH(cupti_config_image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage)
	GIVEN(config_image, CUpti_Profiler_Host_GetConfigImage_Params)
	HEAD(cupti_passes, CUpti_Profiler_Host_GetNumOfPasses_Params)
	BOTH(cupti_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize)
	BOTH(cupti_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage)
	BOTH(cupti_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses)
	GIVEN(passes, CUpti_Profiler_Host_GetNumOfPasses_Params)
#define M CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params
	HEAD(cupti_max_metrics, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params)
	BOTH(cupti_max_metrics, M, profilerType)
	BOTH(cupti_max_metrics, M, pChipName)
	BOTH(cupti_max_metrics, M, pCounterAvailabilityImage)
	BOTH(cupti_max_metrics, M, maxMetricsPerPass)
	GIVEN(max_metrics, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params)
#undef M
	HEAD(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics)
	BOTH(cupti_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues)
	GIVEN(evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
	HEAD(cupti_availability, CUpti_PmSampling_GetCounterAvailability_Params)
	BOTH(cupti_availability, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex)
	BOTH(cupti_availability, CUpti_PmSampling_GetCounterAvailability_Params,
	     counterAvailabilityImageSize)
	BOTH(cupti_availability, CUpti_PmSampling_GetCounterAvailability_Params,
	     pCounterAvailabilityImage)
	GIVEN(availability, CUpti_PmSampling_GetCounterAvailability_Params)
	HEAD(cupti_enable, CUpti_PmSampling_Enable_Params)
	BOTH(cupti_enable, CUpti_PmSampling_Enable_Params, deviceIndex)
	BOTH(cupti_enable, CUpti_PmSampling_Enable_Params, pPmSamplingObject)
	GIVEN(enable, CUpti_PmSampling_Enable_Params)
	HEAD(cupti_sampling, CUpti_PmSampling_Disable_Params)
	BOTH(cupti_sampling, CUpti_PmSampling_Disable_Params, pPmSamplingObject)
	GIVEN(disable, CUpti_PmSampling_Disable_Params)
	HEAD(cupti_sampling, CUpti_PmSampling_Start_Params)
	BOTH(cupti_sampling, CUpti_PmSampling_Start_Params, pPmSamplingObject)
	GIVEN(start, CUpti_PmSampling_Start_Params)
	HEAD(cupti_sampling, CUpti_PmSampling_Stop_Params)
	BOTH(cupti_sampling, CUpti_PmSampling_Stop_Params, pPmSamplingObject)
	GIVEN(stop, CUpti_PmSampling_Stop_Params)
	HEAD(cupti_set_config, CUpti_PmSampling_SetConfig_Params)
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject)
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, configSize)
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, pConfig)
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize)
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, samplingInterval)
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, triggerMode)
#if CUPTI_API_VERSION >= 26
	BOTH(cupti_set_config, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode)
	NUMBER(CUPTI_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST)
	NUMBER(CUPTI_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST)
#endif
	HEAD(cupti_data_size, CUpti_PmSampling_GetCounterDataSize_Params)
	BOTH(cupti_data_size, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject)
	BOTH(cupti_data_size, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames)
	BOTH(cupti_data_size, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics)
	BOTH(cupti_data_size, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples)
	BOTH(cupti_data_size, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize)
	GIVEN(data_size, CUpti_PmSampling_GetCounterDataSize_Params)
	HEAD(cupti_data_initialize, CUpti_PmSampling_CounterDataImage_Initialize_Params)
	BOTH(cupti_data_initialize, CUpti_PmSampling_CounterDataImage_Initialize_Params,
	     pPmSamplingObject)
	BOTH(cupti_data_initialize, CUpti_PmSampling_CounterDataImage_Initialize_Params,
	     counterDataSize)
	BOTH(cupti_data_initialize, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData)
	GIVEN(data_initialize, CUpti_PmSampling_CounterDataImage_Initialize_Params)
	HEAD(cupti_decode, CUpti_PmSampling_DecodeData_Params)
	BOTH(cupti_decode, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject)
	BOTH(cupti_decode, CUpti_PmSampling_DecodeData_Params, pCounterDataImage)
	BOTH(cupti_decode, CUpti_PmSampling_DecodeData_Params, counterDataImageSize)
	BOTH(cupti_decode, CUpti_PmSampling_DecodeData_Params, decodeStopReason)
	BOTH(cupti_decode, CUpti_PmSampling_DecodeData_Params, overflow)
	GIVEN(decode, CUpti_PmSampling_DecodeData_Params)
	HEAD(cupti_data_info, CUpti_PmSampling_GetCounterDataInfo_Params)
	BOTH(cupti_data_info, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage)
	BOTH(cupti_data_info, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize)
	BOTH(cupti_data_info, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples)
	BOTH(cupti_data_info, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples)
	BOTH(cupti_data_info, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples)
	GIVEN(data_info, CUpti_PmSampling_GetCounterDataInfo_Params)
	HEAD(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params)
	BOTH(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pPmSamplingObject)
	BOTH(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage)
	BOTH(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
	     counterDataImageSize)
	BOTH(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex)
	BOTH(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp)
	BOTH(cupti_sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp)
	GIVEN(sample_info, CUpti_PmSampling_CounterData_GetSampleInfo_Params)
	NUMBER(CUPTI_OK, CUPTI_SUCCESS)
#define R(name) {"CUPTI_ERROR_" #name, "", CUPTI_##name, CUPTI_ERROR_##name, 0, 0},
	R(INVALID_PARAMETER) R(INVALID_DEVICE) R(INVALID_CONTEXT) R(INVALID_OPERATION) R(OUT_OF_MEMORY)
	R(HARDWARE) R(MAX_LIMIT_REACHED) R(NOT_READY) R(NOT_COMPATIBLE) R(NOT_INITIALIZED)
	R(INVALID_METRIC_NAME) R(DISABLED) R(HARDWARE_BUSY) R(NOT_SUPPORTED)
	R(VIRTUALIZED_DEVICE_NOT_SUPPORTED) R(INSUFFICIENT_PRIVILEGES)
	R(OLD_PROFILER_API_INITIALIZED) R(LEGACY_PROFILER_NOT_SUPPORTED)
	R(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) R(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
	R(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED) R(CMP_DEVICE_NOT_SUPPORTED) R(MIG_DEVICE_NOT_SUPPORTED)
	R(SLI_DEVICE_NOT_SUPPORTED) R(WSL_DEVICE_NOT_SUPPORTED) R(UNKNOWN)
#if CUPTI_API_VERSION >= 130000
	R(INVALID_CHIP_NAME)
#endif
	NUMBER(CUPTI_SIZE_NOT_SUFFICIENT, CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT)
	NUMBER(CUPTI_NOT_IMPLEMENTED, CUPTI_ERROR_API_NOT_IMPLEMENTED)
	NUMBER(CUPTI_COUNTER, CUPTI_METRIC_TYPE_COUNTER) NUMBER(CUPTI_RATIO, CUPTI_METRIC_TYPE_RATIO)
	NUMBER(CUPTI_THROUGHPUT, CUPTI_METRIC_TYPE_THROUGHPUT)
	NUMBER(CUPTI_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER)
	NUMBER(CUPTI_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING)
	NUMBER(CUPTI_SYSCLK_INTERVAL, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL)
	NUMBER(CUPTI_TIME_INTERVAL, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL)
	NUMBER(CUPTI_STOP_OTHER, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER)
	NUMBER(CUPTI_STOP_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)
	NUMBER(CUPTI_STOP_END, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS)
	NUMBER(CUPTI_API_RANGE, CUPTI_PROFILER_RANGE_PROFILING)
	NUMBER(CUPTI_API_PC, CUPTI_PROFILER_PC_SAMPLING)
	NUMBER(CUPTI_API_SASS, CUPTI_PROFILER_SASS_METRICS)
	NUMBER(CUPTI_API_PM, CUPTI_PROFILER_PM_SAMPLING)
	NUMBER(CUPTI_API_UNKNOWN, CUPTI_PROFILER_UNKNOWN)
	NUMBER(CUPTI_LEVEL_UNKNOWN, CUPTI_PROFILER_CONFIGURATION_UNKNOWN)
	NUMBER(CUPTI_UNSUPPORTED, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED)
	NUMBER(CUPTI_LEVEL_DISABLED, CUPTI_PROFILER_CONFIGURATION_DISABLED)
	NUMBER(CUPTI_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
};

/* The sizes that are chosen for the version of these headers. */
static int sizes_are_wrong(void)
{
	struct cupti_sizes s = cupti_sizes_of(CUPTI_API_VERSION);
	struct row chosen[] = {
		NUMBER(s.set_config, CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE)
		NUMBER(s.device_supported, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE)
		NUMBER(s.metric_properties, CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE)
		NUMBER(s.host_initialize, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE)
	};

	return rows_run(chosen, sizeof(chosen) / sizeof(chosen[0]));
}

int main(void)
{
	printf("CUPTI %d\n", CUPTI_API_VERSION);
	return rows_run(rows, sizeof(rows) / sizeof(rows[0])) | sizes_are_wrong();
}
