/*
 * What is in a run: streams, tables, columns as arrays, instances, processes, regions and marks; and
 * a run that grows.
 *
 *     galvo_run_column column = {.struct_size = sizeof(column)};
 *     galvo_run_table table = {.struct_size = sizeof(table)};
 *     size_t t, c, row;
 *     if (galvo_run_column_find(run, "mem__used_bytes", &t, &c, &error) == GALVO_OK &&
 *         galvo_run_table_at(run, t, &table, &error) == GALVO_OK &&
 *         galvo_run_column_at(run, t, c, &column, &error) == GALVO_OK)
 *         for (row = 0; row < table.rows_len; row++)
 *             use(table.mono_ns[row], column.values[row]);
 *
 * Everything is counted from 0 and given by a call that ends in _at: OK; DONE past the last one;
 * INVALID for a NULL or a struct_size that was not set. Members that this galvo does not know become
 * zero. Whatever a struct points to is the run's, and stays as it is until
 * galvo_run_close. No call changes a run: any number of threads may look at one.
 */
#ifndef GALVO_READER_H
#define GALVO_READER_H

#include "doctor.h"
#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the run ------------------------------------------------------------------------------------ */

/* Of the session metadata. Strings are never NULL, numbers 0 where they are not known. */
typedef struct galvo_run_info {
	size_t struct_size;
	const char *hostname, *kernel, *boot_id, *galvo_version;
	uint64_t start_wall_ns, start_mono_ns;
	uint64_t stop_mono_ns;  /* 0: still running, or killed */
	uint64_t last_mono_ns;  /* of anything in the streams */
	uint32_t cpu_count, recorder_pid;
	const char *const *argv; /* of the workload; any bytes */
	size_t argv_len;
	uint32_t workload_pid;
	int32_t workload_exited; /* 1: the two below hold */
	int32_t exit_code;       /* as a shell has it */
	int32_t term_signal;
} galvo_run_info;
GALVO_API galvo_status galvo_run_get_info(const galvo_run *run, galvo_run_info *ret_info,
                                          galvo_error *reterr);

typedef enum galvo_stream_kind {
	GALVO_STREAM_GPU = 1, /* hardware counters */
	GALVO_STREAM_SYSTEM = 2,
	GALVO_STREAM_DISK = 3,
	GALVO_STREAM_EVENTS = 4,
	GALVO_STREAM_TELEMETRY = 100, /* of GPUs */
	GALVO_STREAM_KIND_WIDTH = 0x7fffffff
} galvo_stream_kind;

/* One file of the run. Counts of a follower's run are of what is new. */
typedef struct galvo_run_stream {
	size_t struct_size;
	int32_t kind;           /* a galvo_stream_kind */
	int32_t is_present;     /* 0: it should be there, and a note tells why it is not */
	const char *file;
	uint64_t frequency_hz;  /* 0: events, which come when they come */
	uint64_t bytes, messages, rows;
	uint64_t damaged_messages, missing_messages;
	uint64_t dropped_rows;  /* while recording */
	uint64_t ticks, missed_ticks;
	uint64_t last_mono_ns;
	/* Events: regions and marks of the GPU that are not recorded, or not in full, and why. */
	uint64_t gpu_capturing; /* their CUDA stream was being captured into a graph */
	uint64_t gpu_no_room;   /* too many were on their way to the GPU and back */
	uint64_t gpu_failed;    /* CUDA failed: gpu_reason says how, the first time */
	uint64_t gpu_unreached; /* the GPU had not got there when the recording stopped */
	uint64_t gpu_unbound;   /* galvo_tracker_set_stream had not been called */
	const char *gpu_reason; /* "": nothing failed */
} galvo_run_stream;
GALVO_API galvo_status galvo_run_stream_at(const galvo_run *run, size_t i,
                                           galvo_run_stream *ret_stream, galvo_error *reterr);

/* What is not as it should be: of the recording, as its recorder noted, and of its files. */
typedef struct galvo_run_note {
	size_t struct_size;
	const char *subject;    /* "source disk", or the name of a file */
	const char *text;
	int32_t is_damage;      /* 1: of the file, at offset */
	int32_t is_torn_tail;   /* 1: only the last message is cut short, which is what a crash leaves */
	uint64_t offset;
} galvo_run_note;
GALVO_API galvo_status galvo_run_note_at(const galvo_run *run, size_t i, galvo_run_note *ret_note,
                                         galvo_error *reterr);

/*
 * What the recorder found out about its machine before it began, where that was not plainly yes. Of
 * group and title nothing is recorded: they are "".
 */
GALVO_API galvo_status galvo_run_finding_at(const galvo_run *run, size_t i,
                                            galvo_finding *ret_finding, galvo_error *reterr);

/*
 * From CLOCK_MONOTONIC to the time of day, n instants at once; the arrays may be the same one. Each
 * goes by the message that was written nearest to it, so that a clock that was set meanwhile shows
 * as it was. ABSENT: nothing in the run tells the time of day.
 */
GALVO_API galvo_status galvo_run_to_wall(const galvo_run *run, const uint64_t *mono_ns, size_t n,
                                         uint64_t *ret_wall_ns, galvo_error *reterr);

/* ---- tables and columns ------------------------------------------------------------------------- */

typedef enum galvo_key_kind {
	GALVO_KEY_NONE = 0,    /* there is one machine: all keys are 0 */
	GALVO_KEY_PROCESS = 1, /* a pid */
	GALVO_KEY_CPU = 2,     /* its number */
	GALVO_KEY_NAME = 3,    /* of a device or an interface: an index into names */
	GALVO_KEY_THREAD = 4,  /* a tid; whose thread it is stands beside it */
	GALVO_KEY_GPU = 5,     /* for galvo_run_gpu_at; UINT32_MAX: of none of them */
	GALVO_KEY_GPU_PROCESS = 6, /* the same, with the pid of who uses it beside it */
	GALVO_KEY_KIND_WIDTH = 0x7fffffff
} galvo_key_kind;

/* The rows of one scope of one stream, in the order of the file: arrays of rows_len elements. */
typedef struct galvo_run_table {
	size_t struct_size;
	int32_t stream;         /* a galvo_stream_kind */
	int32_t key_kind;       /* a galvo_key_kind */
	const char *scope;      /* "system", "process", … as galvo_metric has it */
	size_t rows_len, columns_len, names_len;
	const uint64_t *mono_ns;
	const uint32_t *key;
	const char *const *names;
	const uint32_t *pid;    /* GALVO_KEY_THREAD, GALVO_KEY_GPU_PROCESS: whose the row is; else NULL */
	const uint64_t *duration_ns; /* hardware counters: what a row covers, up to mono_ns; else NULL */
} galvo_run_table;
/* Tables without rows are not there. */
GALVO_API galvo_status galvo_run_table_at(const galvo_run *run, size_t i,
                                          galvo_run_table *ret_table, galvo_error *reterr);

/* Described by the run's own catalog or, where that is silent, by this galvo's; else by "". */
typedef struct galvo_run_column {
	size_t struct_size;
	const char *name;       /* fully qualified */
	const char *unit, *type, *source, *help; /* as galvo_metric has them */
	const double *values;   /* NaN: absent */
} galvo_run_column;
/* Of table number `table`; INVALID if there is none. */
GALVO_API galvo_status galvo_run_column_at(const galvo_run *run, size_t table, size_t i,
                                           galvo_run_column *ret_column, galvo_error *reterr);
/* The first column of that name. ABSENT: the run has none. */
GALVO_API galvo_status galvo_run_column_find(const galvo_run *run, const char *name,
                                             size_t *ret_table, size_t *ret_column,
                                             galvo_error *reterr);

/* ---- processes, regions, marks ------------------------------------------------------------------ */

/* Pid and start_ticks together tell a process from all others. */
typedef struct galvo_run_process {
	size_t struct_size;
	uint32_t pid, ppid;
	uint64_t start_ticks;   /* since boot, as /proc/PID/stat has it */
	uint64_t first_mono_ns, end_mono_ns; /* end 0: alive, or not known */
	int32_t is_root;        /* 1: asked for by name, not found as a descendant */
	const char *alias;      /* "": none */
	const char *comm, *command; /* any bytes */
	int32_t has_status;     /* 1: how it ended is known, and the two below hold */
	int32_t exit_code;      /* as a shell has it: 128+n for signal n */
	int32_t term_signal;    /* 0: none */
	int32_t has_rusage;     /* 1: those below hold, as wait4(2) has them: children it waited for included */
	uint64_t user_ns, system_ns, max_rss_bytes, minor_faults, major_faults;
	uint64_t read_blocks, write_blocks; /* of 512 bytes */
	uint64_t voluntary_switches, involuntary_switches;
} galvo_run_process;
GALVO_API galvo_status galvo_run_process_at(const galvo_run *run, size_t i,
                                            galvo_run_process *ret_process, galvo_error *reterr);

/*
 * A GPU, or an instance that one was cut into, as all streams together tell of it. Strings are ""
 * and numbers 0 where they are not known.
 */
typedef struct galvo_run_gpu {
	size_t struct_size;
	uint32_t index;         /* its number in the stream that told of it first */
	uint32_t parent;        /* of an instance: for galvo_run_gpu_at; UINT32_MAX: not known */
	const char *name, *vendor, *chip; /* "NVIDIA H200", "nvidia", "GH100" */
	const char *uuid, *pci, *driver;  /* pci as in sysfs: "0000:3b:00.0" */
	double peak_dram_bytes_per_s, peak_pcie_bytes_per_s, peak_nvlink_bytes_per_s; /* NaN: not known */
	uint64_t memory_bytes;
	uint32_t sm_count, warps_per_sm;
	uint32_t compute_major, compute_minor;
	int32_t is_instance;
	int32_t has_counters;   /* 1: of hardware counters; those below hold */
	uint64_t samples;       /* recorded */
	uint64_t decodes, decode_failures, full_images, overflows, restarts;
	uint64_t stretched, empty, timeless, unwritten; /* samples that are not recorded */
	uint64_t not_finite;    /* values that are not */
	uint64_t missing_ns;    /* that no sample covers */
	uint64_t decode_ns, evaluate_ns;
	uint64_t clock_steps;
	uint64_t interval_ns, buffer_bytes, sample_bytes;
	const char *reason;     /* why there are no samples, or no more; "": there are */
	const char *note;       /* what it does not tell of itself, and why; "": nothing to say */
	uint64_t lost_mono_ns;       /* CLOCK_MONOTONIC, when it was found gone, or silent; 0: it is there */
	int32_t foreign_pids;   /* 1: pids of its processes are those of another PID namespace */
	int32_t reserved;
} galvo_run_gpu;
/* In order of first sight. galvo-stream(5) has the meaning of each count. */
GALVO_API galvo_status galvo_run_gpu_at(const galvo_run *run, size_t i, galvo_run_gpu *ret_gpu,
                                        galvo_error *reterr);

typedef enum galvo_usage_kind {
	GALVO_USAGE_CPU_NS = 1,
	GALVO_USAGE_RCHAR = 2, /* bytes, from here on: as /proc/PID/io names them */
	GALVO_USAGE_WCHAR = 3,
	GALVO_USAGE_READ_BYTES = 4,
	GALVO_USAGE_WRITE_BYTES = 5,
	GALVO_USAGE_CANCELLED_WRITE_BYTES = 6,
	GALVO_USAGE_KIND_WIDTH = 0x7fffffff
} galvo_usage_kind;

/*
 * What a process used of one kind, in ns or bytes; its own is head + sampled + tail. No two parts tell
 * of the same use: over all processes they add up to what the kernel accounted.
 */
typedef struct galvo_run_usage {
	size_t struct_size;
	int32_t kind;           /* a galvo_usage_kind */
	int32_t is_known;       /* 0: nothing is, and 0 means nothing */
	uint64_t head;          /* before its first sample, of one that began in the recording */
	uint64_t sampled;       /* in samples */
	uint64_t tail;          /* after the last one */
	uint64_t unseen;        /* by children it waited for: too short-lived to be found, or ends of others */
	uint64_t mixed;         /* its own or of such children: there is no telling */
} galvo_run_usage;
/* Of process number `process`, a kind after the other; INVALID if there is no such process. */
GALVO_API galvo_status galvo_run_usage_at(const galvo_run *run, size_t process, size_t i,
                                          galvo_run_usage *ret_usage, galvo_error *reterr);

typedef struct galvo_run_earlier_name {
	size_t struct_size;
	const char *comm;       /* any bytes */
	uint64_t until_mono_ns; /* when another one was seen */
} galvo_run_earlier_name;
/* The names that process number `process` had before, in order of time: the newest ones. */
GALVO_API galvo_status galvo_run_earlier_name_at(const galvo_run *run, size_t process, size_t i,
                                                 galvo_run_earlier_name *ret_name,
                                                 galvo_error *reterr);

/*
 * A thread of a followed process, where threads are recorded. Tid and start_ticks together tell it
 * from all others.
 */
typedef struct galvo_run_thread {
	size_t struct_size;
	uint32_t pid, tid;
	uint64_t start_ticks;   /* since boot, as /proc/PID/task/TID/stat has it */
	uint64_t first_mono_ns, end_mono_ns; /* end 0: alive, or not known */
	const char *name;       /* any bytes */
} galvo_run_thread;
GALVO_API galvo_status galvo_run_thread_at(const galvo_run *run, size_t i,
                                           galvo_run_thread *ret_thread, galvo_error *reterr);

typedef struct galvo_run_region {
	size_t struct_size;
	const char *name;       /* any bytes, name_len of them, a NUL behind */
	size_t name_len;
	uint64_t id;
	uint64_t start_mono_ns;
	uint64_t end_mono_ns;   /* 0: it is open */
	uint32_t pid, begin_thread, end_thread; /* 0: not known */
	int32_t is_unfinished;  /* 1: nobody ended it */
	int32_t is_gpu;         /* 1: when a stream of a GPU got there; else when the call was made */
	uint64_t error_ns;      /* GPU: the true instants are within that; 0: they are those of the calls */
	uint32_t stream;        /* GPU: its number in the recording, from 1; 0: not known */
} galvo_run_region;
/* In the order of their ends, the open ones last. All on CLOCK_MONOTONIC. */
GALVO_API galvo_status galvo_run_region_at(const galvo_run *run, size_t i,
                                           galvo_run_region *ret_region, galvo_error *reterr);

typedef struct galvo_run_mark {
	size_t struct_size;
	const char *name;       /* as above */
	size_t name_len;
	uint64_t mono_ns;
	uint32_t pid, thread;
	int32_t is_gpu;
	uint64_t error_ns;
	uint32_t stream;
} galvo_run_mark;
GALVO_API galvo_status galvo_run_mark_at(const galvo_run *run, size_t i, galvo_run_mark *ret_mark,
                                         galvo_error *reterr);

/* ---- row by row --------------------------------------------------------------------------------- */

/*
 * Takes the rows of one table by what they are about: a process, a CPU, a device. One thread at a
 * time; the run is borrowed until galvo_reader_destroy.
 */
typedef struct galvo_reader galvo_reader;

GALVO_API galvo_status galvo_reader_create(const galvo_run *run, size_t table,
                                           galvo_reader **ret_reader, galvo_error *reterr);
GALVO_API void galvo_reader_destroy(galvo_reader *reader); /* NULL is fine */

typedef struct galvo_instance {
	size_t struct_size;
	uint32_t key;           /* pid, tid, number of the CPU, index into the table's names */
	int32_t is_whole_disk;  /* 1: a disk, and no partition of one */
	int32_t is_stacked;     /* 1: made of other devices, whose bytes it counts again */
	size_t process;         /* for galvo_run_process_at; SIZE_MAX: none is known */
	const char *name;       /* alias, comm, thread or device; "": has none */
	size_t rows_len;
	const uint32_t *rows;   /* their numbers in the table; until galvo_reader_destroy */
	size_t thread;          /* for galvo_run_thread_at; SIZE_MAX: none is known */
} galvo_instance;
/* In order of first sight. A pid that two processes had makes two instances. */
GALVO_API galvo_status galvo_reader_instance_at(const galvo_reader *reader, size_t i,
                                                galvo_instance *ret_instance, galvo_error *reterr);

typedef struct galvo_row {
	size_t struct_size;
	uint64_t mono_ns;
	uint32_t key;
	size_t instance;
	const double *values;   /* a column each; until the next call with this reader */
	size_t values_len;
} galvo_row;
/* Goes to the first row of an instance; SIZE_MAX: of the table, as after create. */
GALVO_API galvo_status galvo_reader_select(galvo_reader *reader, size_t instance,
                                           galvo_error *reterr);
/* DONE behind the last one. */
GALVO_API galvo_status galvo_reader_next(galvo_reader *reader, galvo_row *ret_row,
                                         galvo_error *reterr);

/* ---- a run that grows --------------------------------------------------------------------------- */

/*
 * Follows a run while it is recorded: each poll reads what has been added, and no more. A message
 * that is not yet complete comes with a later poll. One thread at a time.
 */
typedef struct galvo_follower galvo_follower;

/*
 * from_now 1: what is there already is left out. The directory must exist, its files need not. A
 * relative path stays relative to the working directory of this moment.
 */
GALVO_API galvo_status galvo_follower_open(const char *dir, int32_t from_now,
                                           galvo_follower **ret_follower, galvo_error *reterr);
GALVO_API void galvo_follower_close(galvo_follower *follower); /* NULL is fine */

typedef struct galvo_follower_news {
	size_t struct_size;
	/*
	 * What is new, and only that: until the next poll, which drops it. It has the processes and
	 * devices that the new messages name, and regions that are open (again with each news of
	 * events, and once more, with the same id, when they have ended).
	 */
	const galvo_run *run;
	uint64_t messages, rows; /* 0: nothing new yet */
	int32_t has_restarted;  /* 1: another recording is in its place, of which this is the beginning */
	int32_t has_more;       /* 1: poll again at once, this was all that is taken in one go */
} galvo_follower_news;
/*
 * OK, with or without news; DONE: the recorder has ended the recording, and all of it was taken.
 * One may poll on, should another recorder begin anew there. A failed poll gives nothing and takes
 * nothing. NEWER: the recording is by a galvo with a newer major format.
 */
GALVO_API galvo_status galvo_follower_poll(galvo_follower *follower, galvo_follower_news *ret_news,
                                           galvo_error *reterr);
/*
 * All that polls have taken so far, read again as galvo_run_open reads it: the next poll goes on where
 * it ends, nothing is in both and nothing in neither. Free with galvo_run_close. ABSENT: not a run yet;
 * STATE: the files are another recording's by now, as the next poll tells.
 */
GALVO_API galvo_status galvo_follower_past(galvo_follower *follower, galvo_run **ret_run,
                                           galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
