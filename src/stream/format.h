/* What messages look like, for writer and reader alike: the field numbers of the .proto files. */
#ifndef GALVO_STREAM_FORMAT_H
#define GALVO_STREAM_FORMAT_H

#include "stream.h"
#include "wire/wire.h"

/* Of every trace message. */
enum trace_field {
	TRACE_HEADER = 1,
	TRACE_NAMES = 2,
	TRACE_PROCESSES = 3,
	TRACE_GPUS = 3, /* of streams about GPUs, which have no processes */
	TRACE_DECODE_STATS = 100, /* these two of hardware counters */
	TRACE_ANCHORS = 101,
	TRACE_BLOCK_DEVICES = 104,
	TRACE_THREADS = 105,
	TRACE_PROBE_STATS = 110,
	TRACE_CHECKSUM = 127,
};

enum header_field {
	HEADER_HOSTNAME = 1,
	HEADER_FREQUENCY_HZ = 2,
	HEADER_CPU_COUNT = 3,
	HEADER_ANCHORS = 4,
	HEADER_MAJOR = 100,
	HEADER_MINOR = 101,
	HEADER_SEQUENCE = 102,
};

enum anchors_field {
	ANCHORS_MONO_NS = 1,
	ANCHORS_WALL_NS = 2,
	ANCHORS_GPU_NS = 3,
	ANCHORS_BOOT_NS = 100,
};
enum names_field { NAMES_SCOPE = 1, NAMES_FQNS = 2 };

enum process_field {
	PROCESS_PID = 1,
	PROCESS_ALIAS = 2,
	PROCESS_REMOVED = 3,
	PROCESS_START_TICKS = 100,
	PROCESS_PPID = 101,
	PROCESS_COMM = 102,
	PROCESS_COMMAND = 103,
	PROCESS_FIRST_MONO_NS = 104,
	PROCESS_END_MONO_NS = 105,
	PROCESS_ROOT = 106,
	PROCESS_USAGE = 107,
	PROCESS_END = 108,
	PROCESS_EARLIER = 109,
};

enum thread_field {
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 3,
	THREAD_FIRST_MONO_NS = 4,
	THREAD_END_MONO_NS = 5,
	THREAD_START_TICKS = 6,
};

enum usage_field {
	USAGE_KIND = 1,
	USAGE_HEAD = 2,
	USAGE_SAMPLED = 3,
	USAGE_TAIL = 4,
	USAGE_UNSEEN = 5,
	USAGE_MIXED = 6,
};

enum end_field {
	END_HAS_STATUS = 1,
	END_EXIT_CODE = 2,
	END_TERM_SIGNAL = 3,
	END_HAS_USAGE = 4,
	END_USER_NS = 5,
	END_SYSTEM_NS = 6,
	END_MAX_RSS_BYTES = 7,
	END_MINOR_FAULTS = 8,
	END_MAJOR_FAULTS = 9,
	END_READ_BLOCKS = 10,
	END_WRITE_BLOCKS = 11,
	END_VOLUNTARY_SWITCHES = 12,
	END_INVOLUNTARY_SWITCHES = 13,
};

enum earlier_field { EARLIER_COMM = 1, EARLIER_UNTIL_MONO_NS = 2 };

/* Of an EventTrace; what is the same in every trace message is not here again. */
enum events_field {
	EVENTS_BUFFERS = 2,
	EVENTS_FLUSH_STATS = 3,
	EVENTS_OPEN_REGIONS = 100,
	EVENTS_GPU_STATS = 101,
};
enum buffer_field { BUFFER_DOMAIN = 1, BUFFER_REGIONS = 2, BUFFER_MARKS = 3 };

enum region_field {
	REGION_NAME = 1,
	REGION_START_MONO_NS = 2,
	REGION_END_MONO_NS = 3,
	REGION_ID = 100,
	REGION_UNFINISHED = 101,
	REGION_BEGIN_THREAD = 102,
	REGION_END_THREAD = 103,
	REGION_PID = 104,
	REGION_DOMAIN = 105,
	REGION_ERROR_NS = 106,
	REGION_STREAM = 107,
};

enum mark_field {
	MARK_NAME = 1,
	MARK_MONO_NS = 2,
	MARK_THREAD = 102,
	MARK_PID = 104,
	MARK_ERROR_NS = 106,
	MARK_STREAM = 107,
};

enum gpu_stats_field {
	GPU_STATS_CAPTURING = 1,
	GPU_STATS_NO_ROOM = 2,
	GPU_STATS_FAILED = 3,
	GPU_STATS_UNREACHED = 4,
	GPU_STATS_UNBOUND = 5,
	GPU_STATS_REASON = 6,
};

enum gpu_field {
	GPU_INDEX = 1,
	GPU_NAME = 2,
	GPU_CHIP = 3,
	GPU_PEAK_DRAM = 4,
	GPU_PEAK_PCIE = 5,
	GPU_PEAK_NVLINK = 6,
	GPU_VENDOR = 100,
	GPU_UUID = 101,
	GPU_PCI = 102,
	GPU_DRIVER = 103,
	GPU_MEMORY_BYTES = 104,
	GPU_SM_COUNT = 105,
	GPU_WARPS_PER_SM = 106,
	GPU_COMPUTE_MAJOR = 107,
	GPU_COMPUTE_MINOR = 108,
	GPU_IS_INSTANCE = 109,
	GPU_PARENT = 110,
	GPU_INSTANCE = 111,
	GPU_COMPUTE_INSTANCE = 112,
	GPU_FOREIGN_PIDS = 113,
	GPU_LOST_NS = 114,
	GPU_NOTE = 115,
};

enum decode_field {
	DECODE_GPU = 1,
	DECODE_INTERVAL_NS = 100,
	DECODE_BUFFER_BYTES = 101,
	DECODE_SAMPLE_BYTES = 102,
	DECODE_REASON = 103,
};

enum device_field { DEVICE_NAME = 1, DEVICE_WHOLE = 2, DEVICE_STACKED = 3 };
enum flush_field { FLUSH_SIZE_BYTES = 1, FLUSH_INTERVAL_NS = 2 };

enum stats_field {
	STATS_TICKS = 1,
	STATS_MISSED_TICKS = 2,
	STATS_DROPPED_BATCHES = 3,
	STATS_DROPPED_ROWS = 4,
	STATS_REJECTED_VALUES = 5,
	STATS_VANISHED = 6,
	STATS_THREAD_CPU_NS = 7,
	STATS_BYTES_WRITTEN = 8,
	STATS_SOURCES = 9,
};

enum source_field {
	SOURCE_NAME = 1,
	SOURCE_DIVISOR = 2,
	SOURCE_PERIOD_NS = 3,
	SOURCE_READS = 4,
	SOURCE_FAILURES = 5,
	SOURCE_CALIBRATED_NS = 6,
	SOURCE_MEAN_READ_NS = 7,
	SOURCE_REASON = 8,
	SOURCE_FIRST_FAILURE_NS = 100,
	SOURCE_LONGEST_PERIOD_NS = 101,
};

/* Of a row: its instant, its key if it has one, its values. */
enum row_field { ROW_MONO_NS = 1, ROW_KEY = 2, ROW_SECOND_KEY = 3, ROW_DURATION_NS = 100 };
enum key_form { KEY_NONE, KEY_NUMBER, KEY_NAME, KEY_PAIR }; /* PAIR: of numbers, the pid first */

struct row_form {
	enum scope scope;
	uint32_t field; /* of the trace message */
	enum key_form key;
	bool has_duration;
};

#define ROW_FORMS_MAX 7

struct stream_form {
	enum stream_kind kind;
	bool has_events;           /* regions and marks instead of rows and processes */
	bool has_threads;
	bool has_gpus;             /* keys are numbers of GPUs */
	bool has_decodes;          /* times are the GPU's, and counts tell what was lost */
	const char *file_name;     /* unless the metadata name another */
	uint32_t devices_field;    /* 0: no devices in this stream */
	uint32_t flush_stats_field;
	size_t rows_len;
	struct row_form rows[ROW_FORMS_MAX];
};

extern const struct stream_form stream_forms[];
extern const size_t stream_forms_len;

const struct stream_form *stream_form_of(enum stream_kind kind); /* NULL: no such stream */
const struct row_form *row_form_of_scope(const struct stream_form *, enum scope);  /* or NULL */
const struct row_form *row_form_of_field(const struct stream_form *, uint32_t field); /* or NULL */
uint32_t row_values_field(const struct row_form *);

/* The checksum field as bytes: a tag of two, four of CRC. */
#define SEAL_TAG "\xfd\x07"
#define SEAL_BYTES 6

#define NAME_MAX_BYTES 256 /* of a host, a device, a column: longer ones are clipped */

#endif
