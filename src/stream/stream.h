/*
 * The run directory: streams of rows on disk, written so that they survive, read back into columns.
 *
 * A stream file is [varint size][message]…, each message one flush of one probe: a header, the names
 * of the columns, the followed processes, rows. Every message stands alone. The last field of each
 * is a CRC-32 of what precedes it (field 127); galvo-stream(5) tells all of it.
 *
 * Writing: one thread fills a stream (its owner, a sampler); one writer thread for all streams of a
 * run puts full messages into files, one write(2) each. The owner never waits: when the writer is
 * behind and no buffer is free, the batch is dropped and counted, and the next message says so.
 */
#ifndef GALVO_STREAM_H
#define GALVO_STREAM_H

#include "galvo/run.h"
#include "model/model.h"

#define STREAM_FORMAT_MAJOR 1
#define STREAM_FORMAT_MINOR 0
#define STREAM_MESSAGE_MAX (UINT32_C(64) << 20) /* a reader refuses larger ones */

/* ---- writing ------------------------------------------------------------------------------------ */

struct writer; /* the thread and its files */
struct stream; /* one file */

/* What a probe says of itself with each flush. Counts are since its start, so no drop loses them. */
struct probe_stats {
	uint64_t ticks, missed_ticks;
	uint64_t rejected_values; /* beyond belief: recorded as absent */
	uint64_t vanished;        /* processes gone in the middle of a reading */
	uint64_t thread_cpu_ns;   /* CPU time of the sampler's own thread */
};

struct source_stats {
	const char *name;
	uint32_t divisor;       /* read at every n-th of its turns, to stay within the budget */
	uint64_t period_ns;     /* between two readings, divisor included */
	uint64_t reads, failures;
	uint64_t calibrated_ns; /* one reading, timed at start */
	uint64_t mean_read_ns;  /* one reading, in the run */
	const char *reason;     /* of the last failure; empty: none */
	uint64_t first_failure_mono_ns; /* 0: none */
	uint64_t longest_period_ns; /* since start */
};

struct stream_device { /* a device that has rows */
	const char *name;
	bool whole, stacked;
};

/* What stands around the rows of one message. All of it is borrowed for the call only. */
struct flush_info {
	uint64_t mono_ns, boot_ns, wall_ns; /* one instant on three clocks */
	const struct process_info *const *processes;
	size_t processes_len;
	const struct thread_info *const *threads;
	size_t threads_len;
	const struct stream_device *devices;
	size_t devices_len;
	const struct source_stats *sources;
	size_t sources_len;
	struct probe_stats stats;
	const struct region *const *open_regions; /* of events: begun, and not ended yet */
	size_t open_regions_len;
	const struct gpu_events *gpu_events; /* of events; NULL: nothing was lost */
	const struct gpu_info *gpus; /* of streams about GPUs */
	size_t gpus_len;
	uint64_t gpu_ns;             /* the same instant on the clock of their samples; 0: not said */
	const struct decode_stats *decodes; /* of hardware counters: one for each of their GPUs */
	size_t decodes_len;
	const struct gpu_anchor *anchors;   /* since the last message, in order of time */
	size_t anchors_len;
};

struct stream_config {
	enum stream_kind kind;
	const char *file_name;   /* in the run directory */
	const char *hostname;    /* UTF-8 */
	uint64_t frequency_hz;   /* of the probe's tick, for the header */
	uint32_t cpu_count;
	size_t batch_bytes;      /* a batch is flushed when it is this large; 0: 1 MiB */
	bool is_new;             /* fails if the file is there; else it is replaced */
	uint64_t gpu_offset_ns;  /* of events: what the clock of those of the GPU is ahead of ours, in the file */
	/* Its columns are the rows of this stream, grouped by scope in order of first appearance. */
	bool (*catalog_at)(size_t, struct catalog_row *);
	/* Of STREAM_GPU, which has no others: up to ROW_MAX names, used in writer_add only. */
	const char *const *columns;
	size_t columns_len;
};

/* dir_fd is borrowed until the writer is destroyed; by one that is left behind, for ever. Any thread. */
galvo_status writer_create(int dir_fd, struct writer **ret_writer, galvo_error *reterr);
/* Before writer_start. The writer owns the stream. */
galvo_status writer_add(struct writer *, const struct stream_config *, struct stream **ret_stream,
                        galvo_error *reterr);
galvo_status writer_start(struct writer *, galvo_error *reterr);
/*
 * Waits until what was flushed is written and the files are closed, at most timeout_ns. Fails with the
 * first thing that went wrong in the whole run (a full disk, say), or STATE when the file system hangs:
 * the thread is then left behind with its memory. Owners must have stopped, or flush into the void.
 */
galvo_status writer_drain(struct writer *, uint64_t timeout_ns, galvo_error *reterr);
/* Once, when drained: replaces one more file, whose bytes it takes. STATE as above. */
galvo_status writer_put_last(struct writer *, const char *name, struct buf *bytes,
                             uint64_t timeout_ns, galvo_error *reterr);
/* Drains, and ends the thread. */
galvo_status writer_stop(struct writer *, uint64_t timeout_ns, galvo_error *reterr);
/* NULL is fine; stops first if need be. False: the thread was left behind. */
bool writer_destroy(struct writer *);

struct writer_totals {
	uint64_t bytes_written, messages, dropped_batches, dropped_rows;
	uint64_t thread_cpu_ns; /* of its thread, and of the owners' when they flushed last */
};
void writer_get_totals(const struct writer *, struct writer_totals *ret); /* any thread */
/* What became of samples of hardware counters, all GPUs together, as it was told with the last flush. */
enum loss { LOSS_MISSING_NS, LOSS_OVERFLOWS, LOSS_FULL_IMAGES, LOSS_FAILURES, LOSSES };
uint64_t stream_lost(const struct stream *, enum loss which); /* any thread */

/* Owner's thread only, all of these: no allocation, no lock, no waiting. */

/*
 * What keys a row: nothing (SYSTEM scopes), a number (PROCESS: pid, CORE: its number, GPU: its index), a
 * name, or two numbers (THREAD: of the process and its own; GPU_PROCESS: of the process and the GPU).
 */
struct row_key {
	uint32_t number;
	struct span name;
	uint32_t second;
	uint64_t duration_ns; /* of hardware counters: what the row covers, up to its instant */
};
/*
 * One row; NaN is an absent value. The layout of columns is the catalog's. Of hardware counters the
 * instant is the GPU's, which the anchors of the next flush convert.
 */
void stream_row(struct stream *, enum scope, uint64_t mono_ns, struct row_key, const double *values,
                size_t n);
/* The same for what a stream of events carries: a region that has its end, a mark. */
void stream_region(struct stream *, const struct region *);
void stream_mark(struct stream *, const struct mark *);
/* A batch is there, or can be had: who can wait (no sampler can) need not lose rows. */
bool stream_is_ready(struct stream *);
/* For the end, where there is nothing to be delayed: waits for one, as long as that. */
bool stream_await_ready(struct stream *, uint64_t until_mono_ns);
#define STREAM_PATIENCE_NS (2 * NS_PER_S)
/* Counts rows that were lost before they came here. */
void stream_count_dropped(struct stream *, uint64_t rows);
/* The batch is large enough to go. */
bool stream_is_full(const struct stream *);
/* Hands the batch to the writer. A batch without rows is written too: it carries the statistics. */
void stream_flush(struct stream *, const struct flush_info *);
uint64_t stream_dropped_rows(const struct stream *);
/* What was flushed is all written or dropped; how many were dropped up to now is given in any case. */
bool stream_is_settled(const struct stream *, uint64_t *ret_dropped_batches);
/* Waits for that, as long as that: for who is in no hurry. */
bool stream_await_settled(struct stream *, uint64_t until_mono_ns);

/* ---- session metadata --------------------------------------------------------------------------- */

struct session_probe {
	enum stream_kind kind;
	const char *file_name;
	uint64_t frequency_hz;
};

/* What could not be read or done, and why: the situation report. */
struct session_note {
	const char *subject; /* "source disk" */
	const char *text;
};

/* What was found out before the recording: galvo/doctor.h has the numbers' meaning. */
struct session_finding {
	const char *id;
	int32_t verdict, need;
	const char *found, *meaning, *remedy;
};

struct session_workload {
	bool present;
	const char *const *argv; /* any bytes each */
	size_t argv_len;
	uint32_t pid;
	uint64_t start_mono_ns, end_mono_ns; /* end 0: still running, or not known */
	bool exited;
	int32_t exit_code;   /* as a shell has it: 128+n for signal n */
	int32_t term_signal; /* 0: none */
	uint64_t user_ns, system_ns, max_rss_bytes; /* of it and the children it waited for */
	uint64_t minor_faults, major_faults, read_blocks, write_blocks;
	uint64_t voluntary_switches, involuntary_switches;
};

enum cost_kind { /* which CPU time is known; as in CostKind of the schema */
	COST_UNSPECIFIED, /* of the process, if it is not 0 */
	COST_PROCESS,
	COST_THREADS,
	COST_NONE,
};

struct session_cost {
	bool present;
	enum cost_kind kind;
	uint64_t threads_ns; /* of COST_THREADS */
	uint64_t user_ns, system_ns, max_rss_bytes, bytes_written;
	uint64_t messages, dropped_batches, dropped_rows;
};

/* How descendants were found, and so which of them may be missing. */
struct session_following {
	bool present;
	enum follow_way way;
	const char *why_no_events;
	uint64_t forks, short_children, late_children, short_without_totals, short_cpu_ns;
	uint64_t lost_events, put_off, scan_interval_ns, longest_interval_ns;
};

struct session_metric { /* of the catalog */
	const char *name, *unit, *type, *source, *help;
	double peak;          /* the most there can be; NaN: not told, or by peak_ref */
	const char *peak_ref; /* the column that holds it; NULL: none does */
};

struct session {
	const char *hostname;
	uint64_t start_wall_ns, start_mono_ns, start_boot_ns;
	uint64_t stop_mono_ns; /* 0: not stopped (yet, or ever: a crash) */
	const struct session_probe *probes;
	size_t probes_len;
	const struct session_note *notes;
	size_t notes_len;
	const struct session_finding *findings;
	size_t findings_len;
	struct session_workload workload;
	struct session_cost cost;
	struct session_following following;
	const char *kernel, *boot_id, *galvo_version, *root; /* root: what --root named, or "/" */
	uint32_t cpu_count, clk_tck, page_bytes;
	uint64_t tick_resolution_ns; /* how often the kernel moves CPU time of a running task on */
	uint32_t recorder_pid;
	uint64_t flush_interval_ns;
	double budget_pct; /* of one CPU */
	const struct session_metric *metrics; /* read back; writing takes the catalog itself */
	size_t metrics_len;
	struct span catalog_overlay; /* wire bytes of a MetricCatalog, which replace by name or add */
};

/* Appends the wire bytes of the catalog, a MetricCatalog. */
galvo_status catalog_pack(bool (*catalog_at)(size_t, struct catalog_row *), struct buf *into,
                          galvo_error *reterr);
#define SESSION_FILE "session_metadata.pb"
#define SESSION_BYTES_MAX (4 << 20) /* a reader refuses a larger one */

/* Appends the wire bytes of it, the catalog (source_table's, given by at()) inlined. */
galvo_status session_pack(const struct session *, bool (*catalog_at)(size_t, struct catalog_row *),
                          struct buf *into, galvo_error *reterr);
/* Writes SESSION_FILE, atomically. */
galvo_status session_write(int dir_fd, const struct session *,
                           bool (*catalog_at)(size_t, struct catalog_row *), galvo_error *reterr);

/* ---- reading ------------------------------------------------------------------------------------ */

/* Rows of one scope of one stream, in file order. Memory is the run's. */
struct table {
	enum stream_kind stream;
	enum scope scope;
	size_t columns_len;
	const char *const *columns; /* union over the file's messages */
	size_t rows_len;
	const uint64_t *mono_ns;       /* of hardware counters as the nearest anchor converts it */
	const uint32_t *key;           /* pid, tid, CPU number, index into names or into the run's gpus;
	                                  0 for SYSTEM scopes */
	const uint32_t *pid;           /* of THREAD and GPU_PROCESS: whose it is; NULL for others */
	const uint64_t *duration_ns;   /* of hardware counters, 0: not said; NULL for others */
	const double *const *values;   /* values[column][row]; NaN: absent */
	const char *const *names;      /* of keyed-by-name scopes */
	size_t names_len;
};

struct damage { /* one thing wrong with a stream */
	const char *file;
	uint64_t offset;
	const char *text;
	bool torn_tail; /* only the last message is cut short: what a crash leaves */
};

struct run_device {
	const char *name;
	bool whole, stacked;
};

/* A GPU as all streams together tell of it; `index` in `info` is telemetry's, else CUDA's. */
struct run_gpu {
	struct gpu_info info;
	bool in_telemetry, has_decode;
	struct decode_stats decode; /* of hardware counters */
};

struct run_source {
	enum stream_kind stream;
	const char *name, *reason;
	uint32_t divisor;
	uint64_t period_ns, reads, failures, calibrated_ns, mean_read_ns;
	uint64_t first_failure_mono_ns;
	uint64_t longest_period_ns; /* 0: not said */
};

struct run_stream {
	enum stream_kind kind;
	const char *file_name;
	bool present;
	uint64_t bytes, messages, rows; /* rows: of events, regions and marks */
	uint64_t bad_messages, missing_messages; /* CRC or shape; gaps in the sequence */
	uint64_t dropped_batches, dropped_rows;
	uint64_t frequency_hz, last_mono_ns;
	struct probe_stats stats; /* of the last sound message */
	struct gpu_events gpu_events; /* as these */
};

/* One instant on two clocks, from the header of a message. */
struct anchor {
	uint64_t mono_ns, wall_ns; /* wall 0: not said */
};

/* An opened run, all of it in memory. galvo_run_open and galvo_run_close are in galvo/run.h. */
struct galvo_run {
	const struct session *session; /* NULL: missing or unreadable, then damages says why */
	const struct run_stream *streams;
	size_t streams_len;
	const struct table *tables;
	size_t tables_len;
	const struct process_info *processes; /* each identity once, in order of first sight */
	size_t processes_len;
	const struct thread_info *threads; /* as processes */
	size_t threads_len;
	const struct run_device *devices;
	size_t devices_len;
	const struct run_gpu *gpus; /* each once, in order of first sight */
	size_t gpus_len;
	const struct run_source *sources;
	size_t sources_len;
	const struct region *regions; /* in the order of their ends, those without one last */
	size_t regions_len;
	const struct mark *marks;
	size_t marks_len;
	const struct damage *damages;
	size_t damages_len;
	const struct anchor *anchors; /* in the order of mono_ns */
	size_t anchors_len;
	void *memory;
};

/* NULL if the run has none of that. */
const struct table *run_table(const struct galvo_run *, enum stream_kind, enum scope);
/* SIZE_MAX if there is none of that name. */
size_t table_column(const struct table *, const char *name);

/* Processes by the pids that they had. Borrows from the run. */
struct process_index {
	uint32_t *by_pid; /* indices by pid, then start_ticks */
	size_t len;
	const struct process_info *processes;
};

#define PROCESS_NONE UINT32_MAX

galvo_status process_index_init(struct process_index *x, const struct galvo_run *run,
                                galvo_error *reterr);
void process_index_finish(struct process_index *x);
/* The process that had the pid at that time; PROCESS_NONE if none ever had. */
uint32_t process_index_at(const struct process_index *x, uint32_t pid, uint64_t mono_ns);
/* The process that had the pid when the other one was started; PROCESS_NONE if it is not known. */
uint32_t process_index_parent(const struct process_index *x, const struct process_info *child);

/* The thread that had the tid at that time, as process_index_at. */
struct thread_index {
	uint32_t *by_tid; /* indices by tid, then first sight */
	size_t len;
	const struct thread_info *threads;
};

galvo_status thread_index_init(struct thread_index *x, const struct galvo_run *run,
                               galvo_error *reterr);
void thread_index_finish(struct thread_index *x);
uint32_t thread_index_at(const struct thread_index *x, uint32_t tid, uint64_t mono_ns);

/*
 * Reads one stream's bytes as run_open does: the core of the reader, for tests and the fuzz target.
 * Never fails on bad bytes (they become damages); NOMEM or NEWER only. Close with galvo_run_close.
 */
galvo_status run_read_bytes(enum stream_kind, struct span bytes, struct galvo_run **ret_run,
                            galvo_error *reterr);

#endif
