/*
 * What is used of libnvidia-ml, declared by hand.
 *
 * Members have the vendor's names, but for `memory`, which here says its unit. A struct with a
 * version takes NVML_VERSION of itself before the call.
 */
#ifndef GALVO_NVIDIA_ABI_NVML_H
#define GALVO_NVIDIA_ABI_NVML_H

#include <stddef.h>
#include <stdint.h>

#define NVML_VERSION(tag, number) ((uint32_t)(sizeof(struct tag) | (uint32_t)(number) << 24))

enum nvml_result {
	NVML_OK = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_TIMEOUT = 10,
	NVML_LIBRARY_NOT_FOUND = 12,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_OPERATING_SYSTEM = 17, /* a control group forbids the device */
	NVML_LIB_RM_VERSION_MISMATCH = 18,
	NVML_NO_DATA = 21,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_NOT_READY = 27,
	NVML_GPU_NOT_FOUND = 28,
	NVML_UNKNOWN = 999,
};

enum nvml_clock { NVML_GRAPHICS = 0, NVML_SM = 1, NVML_MEM = 2, NVML_VIDEO = 3 };
enum nvml_pcie { NVML_TX = 0, NVML_RX = 1 };
enum nvml_ecc { NVML_CORRECTED = 0, NVML_UNCORRECTED = 1 };
enum nvml_ecc_counter { NVML_VOLATILE = 0, NVML_AGGREGATE = 1 };
enum nvml_sensor { NVML_SENSOR_GPU = 0 };
enum nvml_samples {
	NVML_SAMPLES_POWER = 0,
	NVML_SAMPLES_GPU = 1,
	NVML_SAMPLES_MEMORY = 2,
	NVML_SAMPLES_ENCODER = 3,
	NVML_SAMPLES_DECODER = 4,
	NVML_SAMPLES_CLOCK = 5,
	NVML_SAMPLES_MEMORY_CLOCK = 6,
};

/* Of nvml_value: which member holds it. */
enum nvml_value_type {
	NVML_DOUBLE = 0,
	NVML_UINT = 1,
	NVML_ULONG = 2,
	NVML_ULLONG = 3,
	NVML_LLONG = 4,
	NVML_INT = 5,
	NVML_USHORT = 6,
};

/* Why clocks are lower than they could be; bits. */
enum nvml_reason {
	NVML_REASON_IDLE = 0x1,
	NVML_REASON_APPLICATION = 0x2,
	NVML_REASON_POWER_CAP = 0x4,
	NVML_REASON_HW_SLOWDOWN = 0x8,
	NVML_REASON_SYNC_BOOST = 0x10,
	NVML_REASON_SW_THERMAL = 0x20,
	NVML_REASON_HW_THERMAL = 0x40,
	NVML_REASON_POWER_BRAKE = 0x80,
	NVML_REASON_DISPLAY = 0x100,
};

/* Of nvmlDeviceGetFieldValues. */
enum nvml_field {
	NVML_FIELD_ECC_SBE_VOLATILE = 3,
	NVML_FIELD_ECC_DBE_VOLATILE = 4,
	NVML_FIELD_ECC_SBE_AGGREGATE = 5,
	NVML_FIELD_ECC_DBE_AGGREGATE = 6,
	NVML_FIELD_SLOWED_POWER_NS = 74,
	NVML_FIELD_SLOWED_SYNC_NS = 76,
	NVML_FIELD_MEMORY_TEMPERATURE = 82,
	NVML_FIELD_ENERGY_MJ = 83,
	NVML_FIELD_NVLINK_SPEED_MBPS = 90,
	NVML_FIELD_NVLINK_COUNT = 91,
	NVML_FIELD_PCIE_REPLAYS = 94,
	NVML_FIELD_NVLINK_DATA_TX_KIB = 138, /* of link scopeId, or of all: NVML_ALL_LINKS */
	NVML_FIELD_NVLINK_DATA_RX_KIB = 139,
	NVML_FIELD_NVLINK_RAW_TX_KIB = 140,
	NVML_FIELD_NVLINK_RAW_RX_KIB = 141,
	NVML_FIELD_NVLINK_SPEED = 164,
	NVML_FIELD_NVLINK_STATE = 165,
	NVML_FIELD_NVLINK_VERSION = 166,
	NVML_FIELD_POWER_AVERAGE_MW = 185, /* scopeId: an nvml_power_scope */
	NVML_FIELD_POWER_INSTANT_MW = 186,
	NVML_FIELD_POWER_MIN_LIMIT_MW = 187,
	NVML_FIELD_POWER_MAX_LIMIT_MW = 188,
	NVML_FIELD_POWER_DEFAULT_LIMIT_MW = 189,
	NVML_FIELD_POWER_CURRENT_LIMIT_MW = 190,
	NVML_FIELD_POWER_REQUESTED_LIMIT_MW = 192,
	NVML_FIELD_PCIE_TX_BYTES = 197, /* these two may wrap */
	NVML_FIELD_PCIE_RX_BYTES = 198,
	NVML_FIELD_NVLINK5_TX_BYTES = 202,
	NVML_FIELD_NVLINK5_RX_BYTES = 204,
	NVML_FIELD_SLOWED_SW_THERMAL_NS = 269,
	NVML_FIELD_SLOWED_HW_THERMAL_NS = 270,
	NVML_FIELD_SLOWED_POWER_BRAKE_NS = 271,
};

enum nvml_power_scope { NVML_POWER_GPU = 0, NVML_POWER_MODULE = 1, NVML_POWER_MEMORY = 2 };

/* Bits, of those nvmlDeviceRegisterEvents takes. */
enum nvml_event { NVML_EVENT_XID = 0x8 };

#define NVML_ALL_LINKS UINT32_MAX
#define NVML_MAX_LINKS 36 /* 18 before Blackwell */
#define NVML_NO_INSTANCE UINT32_MAX
#define NVML_NOT_AVAILABLE UINT64_MAX /* of usedGpuMemory */
#define NVML_VERSION_CHARS 80
#define NVML_NAME_CHARS 96

struct nvml_pci_info {
	char busIdLegacy[16];
	uint32_t domain, bus, device, pciDeviceId, pciSubSystemId;
	char busId[32]; /* 00000000:3B:00.0 */
};

struct nvml_utilization {
	uint32_t gpu, memory_pct;
};

struct nvml_memory {
	uint64_t total, free, used; /* used: reserved too */
};

struct nvml_memory_v2 {
	uint32_t version; /* NVML_VERSION(nvml_memory_v2, 2) */
	uint64_t total, reserved, free, used;
};

struct nvml_process_v1 {
	uint32_t pid;
	uint64_t usedGpuMemory;
};

/* Of _v2 and _v3 alike; drivers 535.43 to 535.86 put one every 32 bytes. */
struct nvml_process {
	uint32_t pid; /* as the driver's pid namespace, the machine's first, has it */
	uint64_t usedGpuMemory;
	uint32_t gpuInstanceId, computeInstanceId;
};

struct nvml_process_sample {
	uint32_t pid;
	uint64_t timeStamp; /* microseconds */
	uint32_t smUtil, memUtil, encUtil, decUtil;
};

struct nvml_process_use {
	uint64_t timeStamp;
	uint32_t pid, smUtil, memUtil, encUtil, decUtil, jpgUtil, ofaUtil;
};

struct nvml_processes_use {
	uint32_t version; /* NVML_VERSION(nvml_processes_use, 1) */
	uint32_t processSamplesCount;
	uint64_t lastSeenTimeStamp;
	struct nvml_process_use *procUtilArray;
};

union nvml_value {
	double dVal;
	uint32_t uiVal;
	unsigned long ulVal;
	uint64_t ullVal;
	int64_t sllVal;
	int32_t siVal;
	uint16_t usVal;
};

struct nvml_field_value {
	uint32_t fieldId, scopeId;
	int64_t timestamp, latencyUsec; /* microseconds, of CLOCK_REALTIME */
	int32_t valueType, nvmlReturn; /* each field fails by itself */
	union nvml_value value;
};

struct nvml_sample {
	uint64_t timeStamp;
	union nvml_value sampleValue;
};

struct nvml_event_data {
	void *device;
	uint64_t eventType, eventData; /* an nvml_event; of NVML_EVENT_XID: its code */
	uint32_t gpuInstanceId, computeInstanceId;
};

struct nvml_temperature {
	uint32_t version; /* NVML_VERSION(nvml_temperature, 1) */
	int32_t sensorType, temperature;
};

/*
 * Member of struct nvml, names of the function, newest first, arguments, whether galvo cannot do
 * without. Where a newer function takes another struct, both are here, and the caller chooses.
 */
#define NVML_CALLS(X)                                                                              \
	X(init, "nvmlInit_v2", (void), true)                                                       \
	X(shutdown, "nvmlShutdown", (void), true)                                                  \
	X(driver_version, "nvmlSystemGetDriverVersion", (char *, unsigned), true)                  \
	X(nvml_version, "nvmlSystemGetNVMLVersion", (char *, unsigned), false)                     \
	X(cuda_driver_version, "nvmlSystemGetCudaDriverVersion_v2 nvmlSystemGetCudaDriverVersion", \
	  (int *), false)                                                                          \
	X(count, "nvmlDeviceGetCount_v2", (unsigned *), true)                                      \
	X(by_index, "nvmlDeviceGetHandleByIndex_v2", (unsigned, void **), true)                    \
	X(by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, void **), false)       \
	X(by_uuid, "nvmlDeviceGetHandleByUUID", (const char *, void **), false)                    \
	X(name, "nvmlDeviceGetName", (void *, char *, unsigned), true)                             \
	X(uuid, "nvmlDeviceGetUUID", (void *, char *, unsigned), true)                             \
	X(pci_info, "nvmlDeviceGetPciInfo_v3", (void *, struct nvml_pci_info *), false)            \
	X(minor_number, "nvmlDeviceGetMinorNumber", (void *, unsigned *), false)                   \
	X(compute_capability, "nvmlDeviceGetCudaComputeCapability", (void *, int *, int *), false) \
	X(utilization, "nvmlDeviceGetUtilizationRates", (void *, struct nvml_utilization *),       \
	  false)                                                                                   \
	X(memory, "nvmlDeviceGetMemoryInfo", (void *, struct nvml_memory *), false)                \
	X(memory_v2, "nvmlDeviceGetMemoryInfo_v2", (void *, struct nvml_memory_v2 *), false)       \
	X(power_usage, "nvmlDeviceGetPowerUsage", (void *, unsigned *), false)                     \
	X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", (void *, unsigned *), false)             \
	X(energy, "nvmlDeviceGetTotalEnergyConsumption", (void *, unsigned long long *), false)    \
	X(temperature, "nvmlDeviceGetTemperature", (void *, int, unsigned *), false)               \
	X(temperature_v, "nvmlDeviceGetTemperatureV", (void *, struct nvml_temperature *), false)  \
	X(clock, "nvmlDeviceGetClockInfo", (void *, int, unsigned *), false)                       \
	X(max_clock, "nvmlDeviceGetMaxClockInfo", (void *, int, unsigned *), false)                \
	X(clock_reasons,                                                                           \
	  "nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons",      \
	  (void *, unsigned long long *), false)                                                   \
	X(performance_state, "nvmlDeviceGetPerformanceState", (void *, int *), false)              \
	X(fan_speed, "nvmlDeviceGetFanSpeed", (void *, unsigned *), false)                         \
	X(pcie_throughput, "nvmlDeviceGetPcieThroughput", (void *, int, unsigned *), false)        \
	X(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration", (void *, unsigned *), false)     \
	X(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", (void *, unsigned *), false)               \
	X(max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration", (void *, unsigned *), false)  \
	X(max_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth", (void *, unsigned *), false)            \
	X(nvlink_state, "nvmlDeviceGetNvLinkState", (void *, unsigned, unsigned *), false)         \
	X(field_values, "nvmlDeviceGetFieldValues", (void *, int, struct nvml_field_value *),      \
	  false)                                                                                   \
	X(compute_processes,                                                                       \
	  "nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetComputeRunningProcesses_v2",       \
	  (void *, unsigned *, struct nvml_process *), false)                                      \
	X(compute_processes_v1, "nvmlDeviceGetComputeRunningProcesses",                            \
	  (void *, unsigned *, struct nvml_process_v1 *), false)                                   \
	X(graphics_processes,                                                                      \
	  "nvmlDeviceGetGraphicsRunningProcesses_v3 nvmlDeviceGetGraphicsRunningProcesses_v2",     \
	  (void *, unsigned *, struct nvml_process *), false)                                      \
	X(graphics_processes_v1, "nvmlDeviceGetGraphicsRunningProcesses",                          \
	  (void *, unsigned *, struct nvml_process_v1 *), false)                                   \
	X(mps_processes,                                                                           \
	  "nvmlDeviceGetMPSComputeRunningProcesses_v3 nvmlDeviceGetMPSComputeRunningProcesses_v2", \
	  (void *, unsigned *, struct nvml_process *), false)                                      \
	X(process_utilization, "nvmlDeviceGetProcessUtilization",                                  \
	  (void *, struct nvml_process_sample *, unsigned *, unsigned long long), false)           \
	X(processes_use, "nvmlDeviceGetProcessesUtilizationInfo",                                  \
	  (void *, struct nvml_processes_use *), false)                                            \
	X(ecc_mode, "nvmlDeviceGetEccMode", (void *, unsigned *, unsigned *), false)               \
	X(ecc_errors, "nvmlDeviceGetTotalEccErrors", (void *, int, int, unsigned long long *),     \
	  false)                                                                                   \
	X(mig_mode, "nvmlDeviceGetMigMode", (void *, unsigned *, unsigned *), false)               \
	X(max_mig_count, "nvmlDeviceGetMaxMigDeviceCount", (void *, unsigned *), false)            \
	X(mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex", (void *, unsigned, void **), false) \
	X(is_mig, "nvmlDeviceIsMigDeviceHandle", (void *, unsigned *), false)                      \
	X(gpu_instance, "nvmlDeviceGetGpuInstanceId", (void *, unsigned *), false)                 \
	X(compute_instance, "nvmlDeviceGetComputeInstanceId", (void *, unsigned *), false)         \
	X(persistence_mode, "nvmlDeviceGetPersistenceMode", (void *, unsigned *), false)           \
	X(encoder_utilization, "nvmlDeviceGetEncoderUtilization",                                  \
	  (void *, unsigned *, unsigned *), false)                                                 \
	X(decoder_utilization, "nvmlDeviceGetDecoderUtilization",                                  \
	  (void *, unsigned *, unsigned *), false)                                                 \
	X(samples, "nvmlDeviceGetSamples",                                                         \
	  (void *, int, unsigned long long, int *, unsigned *, struct nvml_sample *), false)       \
	X(event_types, "nvmlDeviceGetSupportedEventTypes", (void *, unsigned long long *), false)  \
	X(register_events, "nvmlDeviceRegisterEvents", (void *, unsigned long long, void *),       \
	  false)                                                                                   \
	X(event_set_create, "nvmlEventSetCreate", (void **), false)                                \
	X(event_set_wait, "nvmlEventSetWait_v2", (void *, struct nvml_event_data *, unsigned),     \
	  false)                                                                                   \
	X(event_set_free, "nvmlEventSetFree", (void *), false)

#endif
