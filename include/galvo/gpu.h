/*
 * Hardware counters of NVIDIA GPUs: a profiler by itself or a part of a suite, its samples and devices.
 *
 *     const char *metrics[] = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"};
 *     galvo_gpu_config config = galvo_gpu_config_default();
 *     config.output_file = "gpu_metrics.pb";
 *     config.metrics = metrics;
 *     config.metrics_len = 1;
 *     galvo_profiler *profiler;
 *     if (galvo_gpu_profiler_create(&config, &profiler, &error) == GALVO_OK && …
 *
 * Counters are sampled by the hardware, at all work of all programs on a device; no kernel is run twice
 * and no CUDA context is made. create loads libcuda and libcupti, which takes a second or so; a program
 * that asks for no counters never has them loaded by galvo. galvo-counters(3) tells what can be counted.
 */
#ifndef GALVO_GPU_H
#define GALVO_GPU_H

#include "profiler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default; strings and arrays are copied; new members are appended. */
typedef struct galvo_gpu_config {
	size_t struct_size;
	const uint32_t *device_indices; /* as CUDA numbers them; none: device 0 */
	size_t device_indices_len;
	double frequency_hz;            /* samples of each device; 0: 10000 */
	uint64_t hw_buffer_bytes;       /* the hardware's, of each device; 0: what two seconds take */
	uint64_t max_samples;           /* room for one reading of it; 0: what four of them bring */
	const char *const *metrics;     /* full names, "default" or "rich"; none: "default" */
	size_t metrics_len;             /* all of them have to be counted in one pass */
	uint64_t flush_interval_ms;     /* 0: 10000 */
	uint64_t decode_interval_ms;    /* how often the hardware's buffer is read; 0: by the frequency */
	const char *output_file;        /* a path; required; replaced if it is there */
	const char *events_file;        /* a name beside it, for what the profiler's trackers record; NULL:
	                                   they record nothing */
	uint64_t drain_samples;         /* the newest ones are kept for galvo_gpu_drain; 0: none */
	int32_t all_devices;            /* 1: whatever device_indices has */
	int32_t stop_at_exit;           /* 1: a program that ends without stop leaves whole files, too */
	const char *sidecar_path;       /* these as in galvo_suite_config */
	const char *sidecar_cpus;
	int32_t mode;
	int32_t reserved;               /* zero */
} galvo_gpu_config;

static inline galvo_gpu_config galvo_gpu_config_default(void)
{
#ifdef __cplusplus
	galvo_gpu_config config = {};
#else
	galvo_gpu_config config = {0};
#endif
	config.struct_size = sizeof(config);
	return config;
}

/*
 * As the other profilers' (galvo/profiler.h), and: INVALID names a metric, metrics that do not fit
 * together, or a device that is not there; ABSENT, DENIED, STATE, IO: it cannot be done on this machine,
 * and why. A device that another profiler holds is no failure: it is tried again all along.
 */
GALVO_API galvo_status galvo_gpu_profiler_create(const galvo_gpu_config *config,
                                                 galvo_profiler **ret_profiler,
                                                 galvo_error *reterr);

/* As galvo_suite_system_profiler: NULL if its config asks for no counters. */
GALVO_API galvo_profiler *galvo_suite_gpu_profiler(galvo_suite *suite);

/*
 * OK: this profiler counts, or will. Else why it cannot: what create would have said of a profiler by
 * itself. A suite goes on without. INVALID: the profiler is of something else. Any thread.
 */
GALVO_API galvo_status galvo_gpu_status(galvo_profiler *profiler, galvo_error *reterr);

/* Strings are UTF-8 and "", numbers are 0, where they are not known. */
typedef struct galvo_gpu_device {
	size_t struct_size;
	uint32_t index;         /* CUDA's */
	uint32_t sm_count, warps_per_sm;
	uint32_t compute_major, compute_minor;
	uint32_t reserved;
	uint64_t memory_bytes;
	double peak_dram_bytes_per_s, peak_pcie_bytes_per_s, peak_nvlink_bytes_per_s;
	char name[96], chip[32]; /* "NVIDIA H200", "GH100" */
	char uuid[64], pci[32], driver[64];
} galvo_gpu_device;

/* Device i of those that are counted on, in the order of the config; DONE past the last. Any thread. */
GALVO_API galvo_status galvo_gpu_device_at(galvo_profiler *profiler, size_t i,
                                           galvo_gpu_device *ret_device, galvo_error *reterr);

/* A full name: value i of every sample is of this metric. DONE past the last one. Any thread. */
typedef struct galvo_gpu_metric {
	size_t struct_size;
	char name[256];
} galvo_gpu_metric;
GALVO_API galvo_status galvo_gpu_metric_at(galvo_profiler *profiler, size_t i,
                                           galvo_gpu_metric *ret_metric, galvo_error *reterr);

#define GALVO_GPU_VALUES_MAX 128

typedef struct galvo_gpu_sample {
	size_t struct_size;
	uint32_t gpu_index;       /* CUDA's number of the device */
	uint32_t values_len;
	uint64_t start_mono_ns, end_mono_ns; /* CLOCK_MONOTONIC */
	uint64_t overwritten;     /* lost since the last call: more came than config.drain_samples */
	double values[GALVO_GPU_VALUES_MAX]; /* by metric; NaN: absent */
} galvo_gpu_sample;

/*
 * Takes the oldest sample of those that are kept; of several devices they come as they were read. DONE:
 * there is none. They are recorded all the same. Any thread, one at a time.
 */
GALVO_API galvo_status galvo_gpu_drain(galvo_profiler *profiler, galvo_gpu_sample *ret_sample,
                                       galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
