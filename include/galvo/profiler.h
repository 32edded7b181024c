/*
 * One profiler: CPU and memory, disks, regions and marks, or GPUs (galvo/gpu.h). By itself, writing one stream file, or as
 * a part of a suite, which drives it.
 *
 *     galvo_system_config config = galvo_system_config_default();
 *     config.output_file = "system_metrics.pb";
 *     galvo_profiler *profiler;
 *     if (galvo_system_profiler_create(&config, &profiler, &error) == GALVO_OK && …
 *
 * A profiler by itself writes no session metadata: its file tells clock, host and columns. What
 * galvo/suite.h says of the library's manners holds here too.
 */
#ifndef GALVO_PROFILER_H
#define GALVO_PROFILER_H

#include "event.h"
#include "suite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_profiler galvo_profiler;

/* Zero means default; strings and arrays are copied; new members are appended. */
typedef struct galvo_system_config {
	size_t struct_size;
	double frequency_hz;            /* CPU, memory, processes; 0: 100 */
	const galvo_process *processes; /* none: the machine alone */
	size_t processes_len;
	uint64_t flush_interval_ms;     /* 0: 5000 */
	const char *output_file;        /* a path; required; replaced if it is there */
	const char *root;               /* where proc/ and sys/ are; NULL: "/" */
	double core_hz;                 /* each CPU by itself; 0: 1 */
	int32_t follow;                 /* a galvo_follow; 0: the named processes alone */
	int32_t pss;                    /* 1: proportional set sizes too, which is slow */
	uint64_t scan_interval_ms;      /* how often new children are looked for; 0: 100 */
	double budget_pct;              /* of one CPU, for reading sources; 0: 1 */
	int32_t stop_at_exit;           /* 1: a program that ends without stop leaves a whole file, too */
	int32_t threads;                /* 1: each thread of the followed processes too */
	const char *sidecar_path;       /* these as in galvo_suite_config */
	const char *sidecar_cpus;
	int32_t mode;
	int32_t reserved;               /* zero */
} galvo_system_config;

typedef struct galvo_disk_config {
	size_t struct_size;
	double frequency_hz;            /* disks, I/O of processes; 0: 10 */
	const char *const *devices;     /* as in /proc/diskstats; none: every whole disk in use */
	size_t devices_len;
	const galvo_process *processes; /* none: the devices alone */
	size_t processes_len;
	uint64_t flush_interval_ms;     /* 0: 5000 */
	const char *output_file;        /* a path; required; replaced if it is there */
	const char *root;
	int32_t follow;
	int32_t reserved;               /* zero */
	uint64_t scan_interval_ms;
	double budget_pct;
	int32_t stop_at_exit;
	int32_t mode;                   /* these as in galvo_suite_config */
	const char *sidecar_path;
	const char *sidecar_cpus;
} galvo_disk_config;

typedef struct galvo_event_config {
	size_t struct_size;
	uint64_t flush_interval_ms;     /* 0: 5000 */
	const char *output_file;        /* a path; required; replaced if it is there */
	int32_t stop_at_exit;
	int32_t mode;                   /* these as in galvo_suite_config */
	const char *sidecar_path;
	const char *sidecar_cpus;
} galvo_event_config;

static inline galvo_system_config galvo_system_config_default(void)
{
#ifdef __cplusplus
	galvo_system_config config = {};
#else
	galvo_system_config config = {0};
#endif
	config.struct_size = sizeof(config);
	return config;
}

static inline galvo_disk_config galvo_disk_config_default(void)
{
#ifdef __cplusplus
	galvo_disk_config config = {};
#else
	galvo_disk_config config = {0};
#endif
	config.struct_size = sizeof(config);
	return config;
}

static inline galvo_event_config galvo_event_config_default(void)
{
#ifdef __cplusplus
	galvo_event_config config = {};
#else
	galvo_event_config config = {0};
#endif
	config.struct_size = sizeof(config);
	return config;
}

/*
 * Free with galvo_profiler_destroy. INVALID: the config; ABSENT, DENIED: directory or root; DENIED, here
 * or by start: another profiler writes that file.
 */
GALVO_API galvo_status galvo_system_profiler_create(const galvo_system_config *config,
                                                    galvo_profiler **ret_profiler,
                                                    galvo_error *reterr);
GALVO_API galvo_status galvo_disk_profiler_create(const galvo_disk_config *config,
                                                  galvo_profiler **ret_profiler,
                                                  galvo_error *reterr);
GALVO_API galvo_status galvo_event_profiler_create(const galvo_event_config *config,
                                                   galvo_profiler **ret_profiler,
                                                   galvo_error *reterr);

/*
 * As with a suite; for a suite's profiler STATE: the suite starts and stops it. A profiler
 * starts once. start returns when the first readings are taken; stop flushes and closes the file and
 * fails if part of the recording is lost.
 */
GALVO_API galvo_status galvo_profiler_start(galvo_profiler *profiler, galvo_error *reterr);
GALVO_API galvo_status galvo_profiler_stop(galvo_profiler *profiler, galvo_error *reterr);
/* Asks the sampling to end and returns at once; stop is still due. While started, any thread. */
GALVO_API void galvo_profiler_signal_stop(galvo_profiler *profiler);
/* In any state; NULL is fine. Does nothing to a suite's profiler. */
GALVO_API void galvo_profiler_destroy(galvo_profiler *profiler);

/*
 * For this profiler alone, while started, any thread. The first row comes one tick later; a removed
 * process is mentioned as removed in one more flush. ABSENT: no such process, or not followed here;
 * INVALID: a profiler of events or of GPUs has no processes.
 */
GALVO_API galvo_status galvo_profiler_add_process(galvo_profiler *profiler, uint32_t pid,
                                                  const char *alias, galvo_error *reterr);
GALVO_API galvo_status galvo_profiler_remove_process(galvo_profiler *profiler, uint32_t pid,
                                                     galvo_error *reterr);

/*
 * Trackers of a profiler of events, or of GPUs with an events_file; of any other they record nothing.
 * Borrowed until destroy.
 */
GALVO_API galvo_tracker *galvo_profiler_host_tracker(galvo_profiler *profiler);
GALVO_API galvo_tracker *galvo_profiler_gpu_tracker(galvo_profiler *profiler);

/* The profilers of a suite; NULL if its config has none of that kind. Borrowed until its destroy. */
GALVO_API galvo_profiler *galvo_suite_system_profiler(galvo_suite *suite);
GALVO_API galvo_profiler *galvo_suite_disk_profiler(galvo_suite *suite);
GALVO_API galvo_profiler *galvo_suite_event_profiler(galvo_suite *suite);

#ifdef __cplusplus
}
#endif
#endif
