/*
 * Hardware counters of GPUs, sampled: a session of CUPTI's PM sampling for each device, all of them
 * merged into one stream.
 *
 * A device has a thread that reads its hardware buffer and one that makes values of what was read; one
 * thread, the stream's owner, records what all of them made. None waits for the file: what finds no
 * room is counted. A device that another profiler has, that must not be sampled, that hangs or falls
 * off the bus says so in its decode_stats.reason and in a note, and the others go on.
 *
 * The workload is never disturbed: no CUDA context is made. In a child after fork nothing is done.
 */
#ifndef GALVO_GPU_COUNTERS_H
#define GALVO_GPU_COUNTERS_H

#include "nvidia/nvidia.h"
#include "stream/stream.h"

#define COUNTERS_HZ_DEFAULT 10000.0
#define COUNTERS_HZ_MAX 200000.0 /* more than a GPU keeps up with */

struct counters;

/* Everything in it is copied but the world's clock, which has to outlive the counters. */
struct counters_config {
	const uint32_t *devices; /* CUDA's ordinals; none, no UUIDs either: of `all` every one, else device 0 */
	size_t devices_len;
	const char *const *uuids; /* more of them: "GPU-…", or the beginning of one that no other has */
	size_t uuids_len;
	bool all;
	double frequency_hz;   /* 0: COUNTERS_HZ_DEFAULT */
	uint64_t buffer_bytes; /* of the hardware buffer of each device; 0: what two seconds take */
	uint32_t max_samples;  /* that one reading of it has room for; 0: what three of them bring */
	const char *const *metrics; /* full names, "default", "rich"; none: "default" */
	size_t metrics_len;
	uint64_t flush_interval_ns;  /* 0: 10 s */
	uint64_t decode_interval_ns; /* 0: by the frequency */
	const struct nvidia_places *cuda, *cupti; /* NULL: wherever they usually are */
	const struct world *world;
	uint32_t drain_samples; /* the newest ones that are kept for counters_drain; 0: none */
	uint64_t open_timeout_ns; /* how long one device, and the driver, are waited for; 0: 10 s */
};

/*
 * Opens the devices and configures them; nothing is sampled yet. INVALID is the user's mistake (a name
 * of a metric, a device, the frequency); ABSENT, DENIED, STATE and IO: it cannot be done here. A device
 * that is merely busy is no failure: it is tried again all along. Takes a second or so, as CUPTI loads
 * much; returns in any case, also when the driver does not.
 */
galvo_status counters_create(const struct counters_config *config, struct counters **ret,
                             galvo_error *reterr);
/* Joined, or never started. NULL is fine. What hangs is left behind with its memory. */
void counters_destroy(struct counters *c);

/* Columns of all devices together, at most ROW_MAX; a device that lacks one has no value there. */
const char *const *counters_columns(const struct counters *c, size_t *ret_n);
/* Puts them behind `into` as wire bytes of a MetricCatalog. */
galvo_status counters_catalog(const struct counters *c, struct buf *into, galvo_error *reterr);
/* The devices that were asked for, also those that cannot be sampled; false behind the last. */
bool counters_device_at(const struct counters *c, size_t i, struct gpu_info *ret);
/* What the rows are apart, as it was asked for. */
uint64_t counters_interval_ns(const struct counters *c);
/*
 * What was left out or does not work, and why; false behind the last. There may be more of them later.
 * Any thread; texts live as long as the counters, and none changes its place.
 */
bool counters_note_at(const struct counters *c, size_t i, const char **ret_subject,
                      const char **ret_text);

/* The stream is of STREAM_GPU and has these columns; NULL: nothing is recorded, for counters_drain. */
galvo_status counters_start(struct counters *c, struct stream *stream, galvo_error *reterr);
void counters_signal_stop(struct counters *c); /* any thread; returns at once */
/*
 * After signal_stop; flushes what is left. Twice is once. A device has a second at least, unless it hung
 * before. False: a thread is left behind.
 */
bool counters_join(struct counters *c, uint64_t timeout_ns);
/* After a join that was false: is it the one that uses the stream? Nobody may destroy that then. */
bool counters_hold_stream(const struct counters *c);

struct counters_counts {
	uint64_t ticks, missed_ticks; /* readings of hardware buffers; those that failed or came too late */
	uint64_t samples, lost_samples;
	uint64_t thread_cpu_ns; /* of all threads */
};
void counters_count(const struct counters *c, struct counters_counts *ret); /* any thread */

struct counters_sample {
	uint32_t gpu; /* CUDA's ordinal */
	uint64_t start_mono_ns, end_mono_ns;
	double values[ROW_MAX]; /* by column; NaN: absent */
};
/*
 * The oldest of those that are kept, which is then no longer; DONE if there is none. Adds to
 * *ret_overwritten (may be NULL) how many were lost since the last call, as more came than are kept.
 * Any thread, one at a time.
 */
galvo_status counters_drain(struct counters *c, struct counters_sample *ret,
                            uint64_t *ret_overwritten);

#endif
