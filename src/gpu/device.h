/*
 * Inside sampling: a device with its session, its two threads, and the queue of what they made.
 *
 * The decoder's thread opens the device when it is made, waits for the start, and makes all calls with
 * the session's object; the evaluator's makes values. All foreign calls are made on these two, so that
 * one that never returns stops nothing else.
 */
#ifndef GALVO_GPU_DEVICE_H
#define GALVO_GPU_DEVICE_H

#include <pthread.h>

#include "session.h"

/* A sample with its values. */
struct cell {
	uint64_t start_gpu_ns, end_gpu_ns;
	uint64_t mono_ns; /* of the reading, and what has to be taken off the GPU's time to have ours */
	int64_t offset_ns;
	double values[]; /* by name of the set */
};

/* The evaluator puts, the owner of the stream takes; what finds no room is counted by whoever puts. */
struct queue {
	char *cells;
	size_t cell_bytes, cap; /* a power of two */
	_Atomic uint64_t head, tail;
};

bool queue_init(struct queue *q, size_t values, size_t at_least);
void queue_finish(struct queue *q);
struct cell *queue_room(struct queue *q); /* for the next one; NULL: none */
void queue_put(struct queue *q);
const struct cell *queue_first(const struct queue *q); /* NULL: it is empty */
void queue_take(struct queue *q);

enum { REASON_BYTES = sizeof(((struct decode_stats *)0)->reason) };

enum said_kind {
	SAID_TROUBLE, /* the first reason since the start that is another than before */
	SAID_RATE,    /* at which samples come */
	SAID_KINDS,
};

enum opening { /* of a device, on its own thread */
	OPENING,
	OPENED,   /* it is known how that went */
	GIVEN_UP, /* nobody waits any more: the thread is to leave all alone */
};

struct device_wish {
	const struct world *world;
	uint64_t interval_ns, decode_interval_ns, buffer_bytes;
	uint32_t max_samples; /* these three: 0 if nobody said */
	const char *const *metrics;
	size_t metrics_len;
};

struct device {
	/* Fixed when it is made, or written while it is opened. */
	const struct cuda *cuda;
	struct cupti cupti;    /* a copy: it learns which sizes of structs are taken */
	struct device_wish wish;
	struct gpu_info info;
	struct gpu_set *set;   /* NULL: the device cannot be sampled, as `opening_error` says */
	galvo_error opening_error;
	galvo_error set_error; /* what was refused before another set was chosen; no text: nothing */
	uint64_t pace_ns;      /* between readings, if nothing is lost */
	struct decode_counts counts;
	_Atomic uint64_t decoded; /* samples for the evaluator */
	struct pm_session session;
	struct queue queue;
	pthread_t decoder, evaluator;
	bool has_decoder, has_evaluator;
	bool is_usable;        /* opened in time, with a set */
	bool adds_columns;     /* that no device before it has */
	char subject[16];      /* of notes */
	uint8_t column[ROW_MAX]; /* of each name of the set */

	_Atomic uint32_t phase, opened; /* enum opening; see clock_wake for these: */
	_Atomic uint32_t go, stop, filled, freed, no_more;
	_Atomic uint32_t decoder_done, evaluator_done;
	_Atomic uint32_t *wake; /* of whoever takes from the queue */
	_Atomic uint64_t decoder_cpu_ns, evaluator_cpu_ns;
	uint64_t begin_mono_ns; /* when sampling was to begin */

	/* The decoder's. */
	uint64_t next_mono_ns;       /* when to read */
	uint64_t now_pace_ns, clean; /* shorter after a loss; readings since */
	uint64_t due_mono_ns, wait_ns, tried_mono_ns; /* of the next try to open it anew, at the earliest */
	uint64_t readings;         /* since it was opened */
	uint64_t overflow_wait_ns; /* the same, where it was an overflow that ended it */
	uint64_t quiet_mono_ns; /* since when nothing is read; 0: it is */
	uint32_t failed_in_a_row;
	bool was_begun, is_over;

	/* What there is to say. */
	pthread_mutex_t words;
	char reason[REASON_BYTES]; /* why there are no samples; empty: there are */
	struct said {
		char text[REASON_BYTES];
		_Atomic uint32_t turn; /* among those of all devices, from 1 on; 0: nothing is said */
	} said[SAID_KINDS];
	_Atomic uint32_t *turns; /* of all devices */
};

/* ---- device.c: facts, and what is to be sampled ------------------------------------------------ */

/*
 * Who it is, what is counted, the session: on the thread that will sample. OK also where another
 * client has the counters: the session is not open then, and reason says it.
 */
galvo_status device_open(struct device *d, galvo_error *reterr);
/* CUPTI's result as an error, with what the driver's settings add to it. */
galvo_status device_failed(const struct device *d, const char *call, int result,
                           galvo_error *reterr);

/* ---- device_facts.c ---------------------------------------------------------------------------- */

galvo_status device_facts(struct device *d, galvo_error *reterr);
/* The ordinal, of the first `count`, of the device with that UUID or beginning of one. */
galvo_status device_of_uuid(const struct cuda *cuda, uint32_t count, const char *uuid, uint32_t *ret_ordinal,
                            galvo_error *reterr);

/* ---- device_run.c: the two threads ------------------------------------------------------------ */

galvo_status device_start(struct device *d, galvo_error *reterr); /* the decoder's; it opens */
galvo_status device_go(struct device *d, galvo_error *reterr);    /* the evaluator's; sampling begins */
void device_signal_stop(struct device *d);
void device_destroy(struct device *d); /* done, or never started */
void device_leave(struct device *d); /* nobody will wait for its threads */
bool device_is_done(const struct device *d); /* both threads have nothing more to do */
/* Why there are no samples, "" if there are. */
void device_say(struct device *d, const char *reason);
void device_reason(struct device *d, char to[REASON_BYTES]);

#endif
