/*
 * The recorder: probes that sample a machine and the processes of a job into a run directory.
 *
 *     galvo_suite_config config = galvo_suite_config_default();
 *     config.output_dir = "run";
 *     galvo_suite *suite;
 *     if (galvo_suite_create(&config, &suite, &error) == GALVO_OK && …
 *
 * create opens the world and the output directory, start begins sampling on galvo's own threads,
 * stop ends it and flushes, destroy frees (in any state). The library never prints, exits, installs
 * signal handlers or changes the process; several suites may live in one process.
 */
#ifndef GALVO_SUITE_H
#define GALVO_SUITE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_suite galvo_suite;

typedef enum galvo_follow {
	GALVO_FOLLOW_NONE = 0,     /* the processes that are named, nothing else */
	GALVO_FOLLOW_CHILDREN = 1, /* and their children */
	GALVO_FOLLOW_TREE = 2,     /* and all their descendants */
	GALVO_FOLLOW_SELF = 3,     /* of one process: it alone, whatever holds for the others */
	GALVO_FOLLOW_WIDTH = 0x7fffffff
} galvo_follow;

/* Which profilers follow a process. */
#define GALVO_FOR_SYSTEM UINT32_C(4)
#define GALVO_FOR_DISK UINT32_C(8)

typedef struct galvo_process {
	uint32_t pid;      /* 0: the caller */
	uint32_t profilers; /* GALVO_FOR_…; 0: all of them */
	const char *alias; /* display name; NULL: none */
	int32_t follow;    /* a galvo_follow; 0: what the suite's configuration says for all */
	int32_t reserved;  /* 0 */
} galvo_process;

/*
 * Where the sampling is done: on threads of the caller's process, or in a helper process, galvo-sidecar,
 * whose cost is not the caller's. Calls do the same in both. A sidecar stops and completes the recording
 * when the process that started it ends in whatever way; the caller is never told of it by signals or by
 * wait(2), unless orphans come to the caller (it is a subreaper, or process 1): then it is its child.
 */
typedef enum galvo_mode {
	GALVO_IN_PROCESS = 0,
	GALVO_SIDECAR = 1,
	GALVO_MODE_WIDTH = 0x7fffffff
} galvo_mode;

/*
 * Zero means default everywhere. Strings and arrays are copied by create. New members are appended;
 * struct_size tells which the caller knows.
 */
typedef struct galvo_suite_config {
	size_t struct_size;
	const char *output_dir;      /* required; made if missing */
	const char *root;            /* where proc/ and sys/ are, or a captured machine; NULL: "/" */
	double system_hz;            /* CPU, memory, processes; 0: 100 */
	double core_hz;              /* each CPU by itself; 0: 1 */
	double disk_hz;              /* disks, process I/O; 0: 10 */
	uint64_t flush_interval_ms;  /* what a crash can cost; 0: 5000 */
	uint64_t scan_interval_ms;   /* how often new children are looked for; 0: 100 */
	double budget_pct;           /* of one CPU, for reading sources; 0: 1 */
	const char *const *disks;    /* names as in /proc/diskstats; none: every whole disk in use */
	size_t disks_len;
	const galvo_process *processes; /* none: the machine alone */
	size_t processes_len;
	int32_t follow;              /* a galvo_follow */
	int32_t pss;                 /* 1: proportional set sizes too, which is slow */
	int32_t overwrite;           /* 1: replace a run that output_dir holds */
	uint32_t adopter_pid;        /* subreaper to which orphans of the tree go; 0: none */
	int32_t is_recorder;         /* 1: this process does nothing else, all its cost is galvo's */
	int32_t no_events;           /* 1: no regions and marks (galvo/event.h) */
	const char *events_file;     /* in output_dir; NULL: events.pb */
	uint64_t events_flush_interval_ms; /* 0: flush_interval_ms */
	int32_t no_system;           /* 1: neither CPU nor memory, for the machine and processes */
	int32_t no_disk;             /* 1: neither disks nor the I/O of processes */
	const char *system_file;     /* in output_dir; NULL: system_metrics.pb */
	const char *disk_file;       /* in output_dir; NULL: disk_metrics.pb */
	uint64_t disk_flush_interval_ms; /* 0: flush_interval_ms */
	const char *metric_catalog_path; /* a MetricCatalog as text, laid over the built-in one */
	const char *const *notes;    /* "subject: text" each, for the session metadata */
	size_t notes_len;
	int32_t require_disks;       /* 1: start fails where a disk is not there; 0: a note says so */
	int32_t stop_at_exit;        /* 1: a program that ends without stop leaves a whole recording, too */
	int32_t no_kernel_events;    /* 1: files tell who is new, even where the kernel would */
	int32_t threads;             /* 1: each thread of the followed processes too */
	const char *sidecar_path;    /* the program; NULL: as installed, see galvo-suite(3) */
	const char *sidecar_cpus;    /* those it may use: "0-3,8"; NULL: the calling thread's */
	int32_t mode;                /* a galvo_mode */
	int32_t gpu_counters;        /* 1: hardware counters of NVIDIA GPUs, see galvo/gpu.h */
	int32_t gpu_telemetry;       /* 1: what GPUs tell of themselves: load, memory, power, …;
	                                2: the same, but of no driver that is not there a note is made */
	int32_t require_gpu_counters; /* 1: create or start fails where they cannot be had; 0: a note says so */
	const char *const *gpus;     /* to count on: numbers of CUDA, UUIDs, "all"; none: "0" */
	size_t gpus_len;
	const char *const *gpu_metrics; /* full names, "default" or "rich"; none: "default" */
	size_t gpu_metrics_len;
	double gpu_hz;               /* samples of the counters; 0: 10000 */
	uint64_t gpu_buffer_bytes;   /* the hardware's, of each device; 0: what two seconds take */
	uint64_t gpu_max_samples;    /* room for one reading of it; 0: what four of them bring */
	uint64_t gpu_decode_interval_ms; /* how often it is read; 0: by gpu_hz */
	uint64_t gpu_flush_interval_ms;  /* 0: 10000 */
	uint64_t gpu_drain_samples;  /* the newest ones are kept for galvo_gpu_drain; 0: none */
	const char *gpu_file;        /* in output_dir; NULL: gpu_metrics.pb */
	double telemetry_hz;         /* 0: 10 */
	uint64_t telemetry_flush_interval_ms; /* 0: flush_interval_ms */
	const char *telemetry_file;  /* in output_dir; NULL: gpu_telemetry.pb */
} galvo_suite_config;

static inline galvo_suite_config galvo_suite_config_default(void)
{
#ifdef __cplusplus
	galvo_suite_config config = {};
#else
	galvo_suite_config config = {0};
#endif
	config.struct_size = sizeof(config);
	return config;
}

GALVO_API galvo_status galvo_suite_create(const galvo_suite_config *config, galvo_suite **ret_suite,
                                          galvo_error *reterr);
/* Returns when the first readings are taken. ABSENT, DENIED: a process that cannot be followed. */
GALVO_API galvo_status galvo_suite_start(galvo_suite *suite, galvo_error *reterr);
/* Asks the sampling to end and returns at once; stop is still due. Any thread. */
GALVO_API void galvo_suite_signal_stop(galvo_suite *suite);
/*
 * Ends sampling, flushes, writes the closing metadata. Fails if part of the recording is lost. Any thread,
 * also while start is at work on another one, which is waited for; of several one stops it, and the others
 * say STATE when that is done. Returns within 20 s whatever hangs: the file system, or a file of /proc.
 */
GALVO_API galvo_status galvo_suite_stop(galvo_suite *suite, galvo_error *reterr);
/*
 * In any state, on any thread, when no other one uses the suite; NULL is fine. In a child that was forked
 * meanwhile it does nothing, and all the others say STATE.
 */
GALVO_API void galvo_suite_destroy(galvo_suite *suite);

/*
 * Replays a captured machine (config.root holds host.txt and instants) instead of start and stop:
 * samples each instant once, on the calling thread. STATE if root is a live machine.
 */
GALVO_API galvo_status galvo_suite_replay(galvo_suite *suite, galvo_error *reterr);
/* 1 if config.root is a captured machine. */
GALVO_API int galvo_suite_is_replay(const galvo_suite *suite);

/* While started. Any thread; the first row comes one tick later. ABSENT: no such process. */
GALVO_API galvo_status galvo_suite_add_process(galvo_suite *suite, uint32_t pid, const char *alias,
                                               galvo_error *reterr);
/* The same with all that can be said of a process. */
GALVO_API galvo_status galvo_suite_add(galvo_suite *suite, const galvo_process *process,
                                       galvo_error *reterr);
/* Its last row is followed by one mention as removed. ABSENT: not followed. */
GALVO_API galvo_status galvo_suite_remove_process(galvo_suite *suite, uint32_t pid,
                                                  galvo_error *reterr);

/* What the recording is about; goes into the session metadata. All optional. Copied. */
typedef struct galvo_workload {
	size_t struct_size;
	const char *const *argv;
	size_t argv_len;
	uint32_t pid;
	int32_t exited;          /* 1: the members below hold */
	int32_t exit_code;       /* as a shell has it: 128+n for signal n */
	int32_t term_signal;     /* 0: none */
	uint64_t start_mono_ns;  /* CLOCK_MONOTONIC; 0: when the suite started */
	uint64_t end_mono_ns;
	uint64_t user_ns, system_ns, max_rss_bytes; /* of it and the children it waited for */
	uint64_t minor_faults, major_faults, read_blocks, write_blocks; /* blocks of 512 bytes */
	uint64_t voluntary_switches, involuntary_switches;
} galvo_workload;

/*
 * Before start; once it runs, so that its own names are read, not those of who called exec; and
 * again (with exited) before stop. One thread at a time.
 */
GALVO_API galvo_status galvo_suite_set_workload(galvo_suite *suite, const galvo_workload *workload,
                                                galvo_error *reterr);

/* A child of the calling process that has ended. Usage is that of it and children it waited for. */
typedef struct galvo_child {
	size_t struct_size;
	uint32_t pid;
	int32_t exit_code;   /* as a shell has it: 128+n for signal n */
	int32_t term_signal; /* 0: none */
	uint64_t user_ns, system_ns, max_rss_bytes;
	uint64_t minor_faults, major_faults, read_blocks, write_blocks; /* blocks of 512 bytes */
	uint64_t voluntary_switches, involuntary_switches;
} galvo_child;

/*
 * For a recorder that is the parent of what it follows, or a subreaper: in place of wait4(2), which
 * would take away what can be read of a process at its end. Waits for one child that has ended,
 * whichever it is, and does not block. Once started, also after stop. DONE: there is none.
 */
GALVO_API galvo_status galvo_suite_reap(galvo_suite *suite, galvo_child *ret_child,
                                        galvo_error *reterr);

/* New members are appended: filled are those that struct_size has room for. */
typedef struct galvo_suite_stats {
	size_t struct_size;
	uint64_t ticks, missed_ticks;     /* of the system probe, or the disk probe */
	uint64_t processes_alive;         /* followed now */
	uint64_t roots_alive;             /* of the processes that were named */
	uint64_t bytes_written, dropped_batches;
	uint64_t elapsed_ns;
	uint32_t largest_divisor;         /* sources are read at every n-th turn at least; 1: all on time */
	char slowed_sources[164];         /* which ones the budget slows: "cpu, memory"; empty: none */
	uint64_t gpu_samples, gpu_lost_samples; /* of hardware counters */
	double gpu_lost_pct;              /* of their time and samples, as the last flush told */
	char gpu_lost_why[64];            /* mostly; empty: no cause is known */
} galvo_suite_stats;

/* Any thread, between start and destroy. */
GALVO_API galvo_status galvo_suite_get_stats(const galvo_suite *suite, galvo_suite_stats *ret_stats,
                                             galvo_error *reterr);

/* What could not be read or done, as far as it is known by now; the session metadata have it, too. */
typedef struct galvo_note {
	size_t struct_size;
	char subject[64]; /* "GPU counters" */
	char text[256];
} galvo_note;
/* Note i; DONE past the last one. Any thread, when neither start nor stop is at work. */
GALVO_API galvo_status galvo_suite_note_at(const galvo_suite *suite, size_t i, galvo_note *ret_note,
                                           galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
