/*
 * The words everybody shares: scopes, metric descriptors, raw readings, followed processes.
 *
 * A source describes each column it feeds with a struct metric, next to the code that reads the
 * value. That one descriptor is the column's name on the wire, its entry in the catalog of the
 * session metadata, its line in `galvo metrics` and its row in galvo-metrics(7).
 */
#ifndef GALVO_MODEL_H
#define GALVO_MODEL_H

#include "base/base.h"

/* Numbers are those of the wire (proto/metric_catalog.proto). From 100 up they are galvo's own. */
enum scope {
	SCOPE_SYSTEM = 1,
	SCOPE_DEVICE = 2,
	SCOPE_PROCESS = 3,
	SCOPE_GPU = 4,
	SCOPE_CORE = 100,           /* one CPU; keyed by its number */
	SCOPE_INTERFACE = 101,      /* one network interface; keyed by name */
	SCOPE_SYSTEM_DETAIL = 102,  /* the whole machine, what changes slowly */
	SCOPE_PROCESS_DETAIL = 103, /* one process, what changes slowly */
	SCOPE_THREAD = 104,         /* one thread; keyed by the numbers of its process and its own */
	SCOPE_GPU_DETAIL = 105,     /* one GPU, what changes slowly; keyed by its number, as SCOPE_GPU */
	SCOPE_GPU_PROCESS = 106,    /* one process on one GPU; keyed by pid and the GPU's number */
};

enum metric_type { METRIC_COUNTER = 1, METRIC_RATIO = 2, METRIC_THROUGHPUT = 3 };

enum metric_unit {
	UNIT_COUNT = 1,
	UNIT_BYTES = 2,
	UNIT_BYTES_PER_SEC = 3,
	UNIT_PCT = 4,
	UNIT_PCT_OF_CORE = 5,
	UNIT_RATIO = 6,
	UNIT_HZ = 7,
	UNIT_CYCLES = 8,
	UNIT_REQUESTS = 9,
	UNIT_PER_SEC = 100,
	UNIT_REQUESTS_PER_SEC = 101,
	UNIT_NANOSECONDS = 102,
	UNIT_WATTS = 103,
	UNIT_JOULES = 104,
	UNIT_CELSIUS = 105,
	/* Of GPU counters. */
	UNIT_PER_CYCLE = 120,
	UNIT_BYTES_PER_CYCLE = 121,
	UNIT_COUNT_CYCLES = 122, /* how many there were, times for how long: warps times cycles */
	UNIT_OTHER = 123,        /* the description has it */
};

/* Streams of a run; numbers are ProbeKind's of proto/session_metadata.proto. */
enum stream_kind {
	STREAM_GPU = 1, /* hardware counters of GPUs: their columns are the user's choice */
	STREAM_SYSTEM = 2,
	STREAM_DISK = 3,
	STREAM_EVENTS = 4,
	STREAM_TELEMETRY = 100, /* of GPUs */
};

/* How a raw field behaves from one reading to the next. */
enum raw_kind {
	RAW_GAUGE,      /* a level: means something by itself */
	RAW_COUNTER,    /* 64 bits, only grows until it wraps or is reset */
	RAW_COUNTER32,  /* the kernel keeps 32 bits of it */
	RAW_WAVERING,   /* a counter the kernel lets step back a little (idle, iowait) */
};

struct raw_field {
	const char *name;
	enum raw_kind kind;
};

/* How a column is made of raw fields. */
enum metric_form {
	FORM_LEVEL, /* the sum of the fields */
	FORM_RATE,  /* its growth a second */
	FORM_SHARE, /* its growth in percent of the growth of `whole` */
};

#define FIELD(i) (UINT32_C(1) << (i))

struct metric {
	const char *name; /* fully qualified: entity__counter[.rollup][.submetric] */
	enum metric_type type;
	enum metric_unit unit;
	enum metric_form form;
	uint32_t of;    /* fields that are added up, by FIELD() */
	uint32_t whole; /* FORM_SHARE: fields whose sum is 100 % */
	uint32_t rates; /* FORM_RATE: fields that stand in for `of`, as they are growth a second already */
	double scale;   /* the sum is multiplied by it; 0: 1 */
	bool is_rare;   /* absent until something happens: that nobody tells it says nothing */
	double limit;   /* the largest believable value: beyond, rejected and counted; 0: none */
	const char *help;
};

#define RAW_MAX 32     /* fields of one source */
#define METRICS_MAX 32 /* columns of one source */
#define ROW_MAX 128    /* columns of one row */

/* One reading of one thing. Field i was read if bit i of present is set. raw_clear to begin. */
struct raw {
	uint32_t present;
	uint64_t value[RAW_MAX];
};

static inline void raw_clear(struct raw *r)
{
	r->present = 0;
}

static inline void raw_put(struct raw *r, unsigned field, uint64_t value)
{
	r->value[field] = value;
	r->present |= FIELD(field);
}

/* One column of the catalog, in wire order. */
struct catalog_row {
	enum stream_kind stream;
	enum scope scope;
	const char *source;
	const struct metric *metric;
};

/* How descendants of what is followed are found; as in FollowWay of the schema. */
enum follow_way {
	WAY_NONE,    /* they are not */
	WAY_FILES,   /* in the children files of every one that is followed, at every scan */
	WAY_NUMBERS, /* what has a new number is looked at, in every scan */
	WAY_EVENTS,  /* the kernel tells of each fork and exit */
};

/* What the kernel keeps an account of for each process. Numbers are UsageKind's of the wire. */
enum usage_kind {
	USAGE_CPU_NS = 1,
	USAGE_RCHAR,      /* bytes, from here on: as /proc/PID/io names them */
	USAGE_WCHAR,
	USAGE_READ,
	USAGE_WRITE,
	USAGE_CANCELLED,
	USAGE_END,
};

/*
 * What a process used in the recording, part by part; no two parts tell of the same use. Together
 * they are what the kernel accounted to it, children in nobody's account included.
 */
struct usage {
	bool is_known;
	uint64_t head;    /* before its first sample, of one that began in the recording */
	uint64_t sampled; /* in samples */
	uint64_t tail;    /* after the last one */
	uint64_t unseen;  /* by children it waited for: too short-lived to be found, or ends of others */
	uint64_t mixed;   /* its own or of such children: there is no telling */
};

/* A name that the process had before the one it has now. */
struct earlier_name {
	uint64_t until_mono_ns; /* when another one was seen */
	char comm[16];          /* any bytes */
};
#define EARLIER_NAMES 6 /* the newest ones */

/* How it ended, as far as its end was ours to see. */
struct process_end {
	bool has_status;
	int32_t exit_code;   /* as a shell has it: 128+n for signal n */
	int32_t term_signal; /* 0: none */
	bool has_usage;      /* as wait4(2) has it, of it and the children it waited for */
	uint64_t user_ns, system_ns, max_rss_bytes;
	uint64_t minor_faults, major_faults, read_blocks, write_blocks; /* blocks of 512 bytes */
	uint64_t voluntary_switches, involuntary_switches;
};

/* A process that is or was followed. Identity is pid and start_ticks together. */
struct process_info {
	uint32_t pid, ppid;
	uint64_t start_ticks;  /* since boot, in clk_tck, as /proc/PID/stat has it */
	uint64_t first_mono_ns;
	uint64_t end_mono_ns;  /* when it was found gone; 0: alive or not known */
	bool removed;          /* gone, or no longer followed */
	bool root;             /* asked for by name, not found as a descendant */
	char alias[64];        /* UTF-8; empty: none */
	char comm[64];         /* any bytes, NUL-terminated (a name has none inside) */
	char command[160];     /* any bytes: the start of the command line, arguments parted by blanks */
	struct usage usage[USAGE_END]; /* by usage_kind */
	struct process_end end;
	struct earlier_name earlier[EARLIER_NAMES]; /* in order of time */
	uint32_t earlier_len;
};

/* A thread of a followed process. Identity is tid and start_ticks together. */
struct thread_info {
	uint32_t pid, tid;
	uint64_t start_ticks; /* since boot, in clk_tck, as /proc/PID/task/TID/stat has it */
	uint64_t first_mono_ns;
	uint64_t end_mono_ns; /* when it was found gone; 0: alive or not known */
	char name[32];        /* any bytes, NUL-terminated */
};

/*
 * A GPU, or an instance that one was cut into. Its number is that of the stream's rows: the ordinal of
 * CUDA in STREAM_GPU, the index of the vendor's library in STREAM_TELEMETRY. Across streams uuid or,
 * where there is none, pci tells which is which. Numbers are NaN or 0 where they are not known.
 */
struct gpu_info {
	uint32_t index;
	char name[96], vendor[16], chip[32]; /* "NVIDIA H200", "nvidia", "GH100"; UTF-8, empty: not known */
	char uuid[64];   /* as the vendor's library has it: "GPU-…", "MIG-…" */
	char pci[32];    /* as in sysfs: "0000:3b:00.0" */
	char driver[64]; /* its version */
	double peak_dram_bytes_per_s, peak_pcie_bytes_per_s, peak_nvlink_bytes_per_s;
	uint64_t memory_bytes;
	uint32_t sm_count, warps_per_sm; /* the most that can be resident */
	uint32_t compute_major, compute_minor;
	bool is_instance; /* a part of the GPU of number `parent` */
	uint32_t parent, gpu_instance, compute_instance;
	/* of telemetry */
	bool foreign_pids;    /* pids of its processes are not numbers of this recording's processes */
	uint64_t lost_mono_ns; /* when it was found gone, or silent; 0: it is there */
	char note[240];       /* what it does not tell, and why; UTF-8 */
};

/*
 * What became of the samples of one GPU's hardware counters, since the start. X(member, field of
 * DecodeStats, meaning)
 */
#define DECODE_COUNTS(X)                                                                           \
	X(samples, 2, "samples recorded")                                                          \
	X(decodes, 3, "times the hardware buffer was read")                                        \
	X(failures, 4, "times that failed")                                                        \
	X(full_images, 5, "times it held more than was made room for: samples are lost")           \
	X(overflows, 6, "times it overflowed: samples are lost")                                   \
	X(restarts, 7, "times sampling was begun anew, after an overflow or a failure")            \
	X(stretched, 8, "samples left out: longer than the interval, as the first one is")         \
	X(empty, 9, "samples left out: of no length")                                              \
	X(timeless, 10, "samples left out: no time, or one that goes back")                        \
	X(not_finite, 11, "values left out: not a number")                                         \
	X(unwritten, 12, "samples lost: decoded, but there was no room to record them")            \
	X(missing_ns, 13, "time that no sample covers, in ns")                                     \
	X(decode_ns, 14, "time spent reading the buffer")                                          \
	X(evaluate_ns, 15, "time spent making values of what was read")                            \
	X(clock_steps, 16, "times the wall clock was set, as far as anchors show")

struct decode_stats {
	uint32_t gpu;
#define X(member, field, meaning) uint64_t member;
	DECODE_COUNTS(X)
#undef X
	uint64_t interval_ns, buffer_bytes, sample_bytes; /* asked for; of the hardware buffer; of one raw sample */
	char reason[160]; /* why there are no samples, or no more; UTF-8, empty: there are */
};

/* One instant on two clocks: ours, and that of samples from a GPU. */
struct gpu_anchor {
	uint64_t mono_ns, gpu_ns;
};

/* Clocks that events can be on; numbers are TimeDomain's of proto/events.proto. */
enum time_domain { DOMAIN_GENERIC = 1, DOMAIN_GPU = 2 };

#define EVENT_NAME_MAX 1024 /* bytes of the name of a region or a mark: longer ones are clipped */

/*
 * What the workload says of itself. Names are any bytes. Threads and pids are 0 if not known.
 *
 * Of the GPU, instants are those at which the stream with that number got there, on our clock, and true
 * within error_ns; where that is 0 they are those at which the GPU was asked.
 */
struct region {
	enum time_domain domain;
	struct span name;
	uint64_t id; /* of this region in its recording */
	uint64_t start_mono_ns;
	uint64_t end_mono_ns; /* 0: the recording has no end either */
	uint32_t begin_thread, end_thread, pid;
	bool unfinished; /* nobody ended it */
	uint64_t error_ns;
	uint32_t stream;
};

struct mark {
	enum time_domain domain;
	struct span name;
	uint64_t mono_ns;
	uint32_t thread, pid;
	uint64_t error_ns;
	uint32_t stream;
};

/* Regions and marks of the GPU that are not recorded, or not in full; since the start. */
struct gpu_events {
	uint64_t capturing; /* their stream was being captured */
	uint64_t no_room;   /* too many were on their way */
	uint64_t failed;    /* CUDA failed */
	uint64_t unreached; /* the GPU had not got there when the recording stopped */
	uint64_t unbound;   /* no stream was set */
	char reason[160];   /* why the first one failed; UTF-8 */
};

/* Names on the wire for messages and outputs; "?" where the number is unknown. Static strings. */
const char *scope_name(enum scope s);
const char *unit_name(enum metric_unit u);
bool unit_of_name(const char *name, enum metric_unit *ret); /* false: it is none of ours */
const char *metric_type_name(enum metric_type t);
const char *stream_file_name(enum stream_kind k); /* in the run directory: "system_metrics.pb" */
/* The parts of a name in the grammar of metrics: [group.]entity__counter[.rollup][.submetric]. */
struct metric_name {
	struct span entity, counter, rollup, submetric;
};
bool metric_name_split(const char *name, struct metric_name *ret);

#endif
