/*
 * When to look: a probe is one sampler thread that reads its sources at absolute deadlines, turns
 * counters into rates and hands rows to its stream.
 *
 * Deadlines that pass while a tick is still at work are skipped and counted, never made up for.
 * Every interval is measured between the readings themselves. Sources are timed at start and all
 * along; when they would cost more than the budget, the dearest are read at every n-th turn only.
 * After warm-up a tick allocates nothing.
 */
#ifndef GALVO_PROBE_H
#define GALVO_PROBE_H

#include "stream/stream.h"
#include "track/track.h"

struct probe;

struct probe_config {
	enum stream_kind kind;
	const struct world *world;      /* borrowed until probe_destroy */
	struct stream *stream;          /* owned by the sampler thread while it runs; NULL: rows go nowhere */
	struct track *track;            /* NULL: no processes */
	bool leads;                     /* this probe polls and scans the track */
	uint64_t period_ns;             /* of the tick */
	uint64_t core_period_ns;        /* of SCOPE_CORE; 0: its source's */
	uint64_t scan_period_ns;        /* of looking for descendants */
	uint64_t flush_interval_ns;
	double budget_pct;              /* of one CPU, for reading sources; 0: no limit */
	bool on_request;                /* read what is read only on request (PSS) */
	bool threads;                   /* a row for each thread, too */
	const char *const *devices;     /* block devices to record; none: by default. Borrowed */
	size_t devices_len;
};

galvo_status probe_create(const struct probe_config *, struct probe **ret_probe, galvo_error *reterr);
void probe_destroy(struct probe *); /* NULL is fine; joined, or never started */

/*
 * Times the sources, takes the first readings (from which rates grow) and sets the divisors. On the
 * calling thread, before probe_start or the first probe_tick.
 */
void probe_prime(struct probe *);
galvo_status probe_start(struct probe *, galvo_error *reterr); /* the sampler thread */
void probe_signal_stop(struct probe *);                        /* any thread; returns at once */
/* After signal_stop; flushes what is left. Twice is once. False: a reading hangs, and the thread is left behind. */
bool probe_join(struct probe *, uint64_t timeout_ns);

/* One tick by hand instead of the thread: replays, benchmarks, tests. */
void probe_tick(struct probe *);
/* Flushes by hand. */
void probe_flush(struct probe *);
/* Devices named in the config that do not exist. Joined or by-hand probes only. */
bool probe_missing_device_at(const struct probe *, size_t i, const char **ret_name);

struct probe_counts {
	uint64_t ticks, missed_ticks;
};
void probe_count(const struct probe *, struct probe_counts *ret); /* any thread */
/* The largest divisor, 1: none. Names of what is slowed are added to a text. Any thread. */
uint32_t probe_slowed(const struct probe *, char *names, size_t cap);

#include "telemetry.h" /* the part of this door that is about GPUs */

#endif
