/*
 * Telemetry of GPUs: what they tell of themselves, into gpu_telemetry.pb.
 *
 * A call into a vendor's library may take long, or hang for ever. So each GPU has a thread of its own,
 * with one call in flight, and each vendor one that opens its library and looks for GPUs. The sampler,
 * a thread more, calls nothing of that kind: at absolute deadlines it takes what is finished, makes rows
 * of it, and asks who is idle for the next readings. A GPU that hangs is missing, and nothing else is;
 * one that comes later is taken up, one that is lost is tried again.
 *
 * Nothing here waits for a library: create tells at once if there is none, start returns at once, and
 * what hangs at the end is left behind.
 */
#ifndef GALVO_PROBE_TELEMETRY_H
#define GALVO_PROBE_TELEMETRY_H

#include "source/source.h"
#include "stream/stream.h"

#define TELEMETRY_PERIOD_NS (100 * NS_PER_MS)

struct telemetry;

struct telemetry_config {
	const struct world *world;  /* borrowed until telemetry_destroy */
	struct gpu_places places;   /* its texts are borrowed until then, too */
	uint64_t period_ns;         /* of the tick; 0: TELEMETRY_PERIOD_NS */
	uint64_t flush_interval_ns; /* 0: with each tick */
	double budget_pct;          /* of one CPU, for readings; 0: no limit */
};

/* ABSENT, and why: no vendor's library is on this machine. Whether it works is known later. */
galvo_status telemetry_create(const struct telemetry_config *, struct telemetry **ret_telemetry,
                              galvo_error *reterr);
/* NULL is fine. Joined, or never started; what a join has left behind keeps what it needs. */
void telemetry_destroy(struct telemetry *);
/* The sampler, which owns the stream from now on. NULL: rows go nowhere. */
galvo_status telemetry_start(struct telemetry *, struct stream *, galvo_error *reterr);
void telemetry_signal_stop(struct telemetry *); /* any thread; returns at once */
/*
 * After signal_stop; takes what is in flight if it comes soon, and flushes. Twice is once. False: a
 * call of a vendor's library hangs; its thread is left behind. All else may be destroyed.
 */
bool telemetry_join(struct telemetry *, uint64_t timeout_ns);
/* Joined in vain: the sampler hangs, at a file, and may still use the stream, which has to stay. */
bool telemetry_holds_stream(const struct telemetry *);
/* What does not work, and why: "GPU 3", "NVML_ERROR_GPU_IS_LOST …". When joined; false past the end. */
bool telemetry_note_at(const struct telemetry *, size_t i, const char **ret_subject,
                       const char **ret_text);

struct telemetry_counts {
	uint64_t ticks, missed_ticks;
	uint32_t gpus;  /* that have been read, instances not counted */
	uint32_t lost;  /* of them, that are not read any more: gone, or a call hangs */
};
void telemetry_count(const struct telemetry *, struct telemetry_counts *ret); /* any thread */
/* As probe_slowed. Any thread. */
uint32_t telemetry_slowed(const struct telemetry *, char *names, size_t cap);

/*
 * By hand instead of the thread, for tests and benchmarks: opens; one tick, which takes what is
 * finished and asks for more; waits until all that was asked is finished, false if it is not by then.
 */
galvo_status telemetry_begin(struct telemetry *, struct stream *, galvo_error *reterr);
void telemetry_tick(struct telemetry *);
bool telemetry_settle(struct telemetry *, uint64_t timeout_ns);
void telemetry_flush(struct telemetry *);

#endif
