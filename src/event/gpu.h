/*
 * Inside the room: regions and marks on CUDA streams.
 *
 * A caller takes a slot, which has two CUDA events, lets the stream note in one of them when it gets
 * there, and goes on; so does the end. A worker of ours asks whether they are reached, never waiting for
 * them, places them on our clock, and says so through the ring. A call that hangs holds the worker only.
 *
 * Slots are handed around by number: free ones in a stack of their context, ended ones in one stack of
 * all. Whoever holds a slot has it alone; of one whose region is open, its id is what is exchanged.
 */
#ifndef GALVO_EVENT_GPU_H
#define GALVO_EVENT_GPU_H

#include "internal.h"
#include "nvidia/nvidia.h"

enum {
	GPU_CONTEXTS = 16,
	/* Regions and marks on their way: that a context begins with, that come as they are needed, of all. */
	GPU_SLOTS_FIRST = 1024,
	GPU_SLOTS_MORE = 7168,
	GPU_SLOTS = GPU_CONTEXTS * GPU_SLOTS_FIRST + GPU_SLOTS_MORE,
	GPU_STREAMS = 256,
	GPU_ANCHORS = 16,
	GPU_SPARE = 2, /* events for an anchor in the making */
};

struct gpu_slot {
	_Atomic uint64_t id;   /* that ends the region; 0: it has ended, or there is none */
	_Atomic uint32_t next; /* in a stack: number plus one; 0: the last */
	void *start, *end;     /* CUDA events of the context */
	struct gpu_context *context;
	struct gpu_slot *behind; /* in a list of the worker's */
	/* What it holds. */
	struct gpu_stream *stream;
	uint64_t region;      /* its id in the recording */
	bool is_mark;
	bool has_end;         /* the stream notes its end, too */
	uint32_t end_thread;
	uint64_t end_mono_ns; /* of a region without an end: of the call */
	uint64_t start_mono_ns, start_error_ns; /* placed while it was open; error 0: not yet */
};

struct gpu_list {
	struct gpu_slot *first, **end;
};

/* One instant on two clocks: an event of ours that was reached, and when. */
struct event_anchor {
	void *event;
	uint64_t mono_ns, half_ns; /* within that much of it */
	double gpu_ns;             /* since the first anchor, on the clock of the GPU */
};

struct gpu_clock {
	void *stream; /* nobody else's */
	struct event_anchor anchors[GPU_ANCHORS]; /* in order of time */
	void *spare[GPU_ANCHORS + GPU_SPARE];
	uint32_t len, spare_len;
	uint64_t added_mono_ns; /* the last one, or the last that was of no use */
	double pace, pace_error; /* our ns in one of the GPU's */
};

struct gpu_context {
	_Alignas(LINE_BYTES) _Atomic uint64_t free; /* a stack: number plus one; above it, how often it changed */
	_Atomic uint32_t in_use;
	_Alignas(LINE_BYTES) _Atomic uint32_t broken; /* why, as ring.gpu_failure; 0: it is sound */
	void *handle;
	unsigned long long id;
	bool has_id;
	_Atomic uint32_t made; /* slots */
	bool is_full; /* there are no more to be had */
	/* The worker's. */
	struct gpu_clock clock;
	struct gpu_list done; /* reached, and not placed yet */
	bool is_given_up;
	uint64_t looked_mono_ns; /* at what is open */
};

struct gpu_stream {
	struct gpu_context *context;
	void *handle;
	uint32_t number;
	struct gpu_list ended; /* the worker's */
};

struct gpu {
	struct gpu_context contexts[GPU_CONTEXTS];
	/* What every call of a caller's changes. */
	_Alignas(LINE_BYTES) _Atomic uint32_t ended; /* a stack: number plus one */
	_Atomic uint32_t inside; /* callers */
	struct gpu_stream *_Atomic bound;
	struct ring *ring;
	const struct clock *clock;
	struct gpu_slot *slots;
	struct cuda cuda; /* handle NULL: not taken yet */
	struct gpu_stream streams[GPU_STREAMS];
	_Atomic uint32_t contexts_len, streams_len, slots_made;
	uint32_t more_used; /* of GPU_SLOTS_MORE; the worker's */
	pid_t owner;
	/* The worker. */
	_Atomic uint32_t wake, stop, done;
	pthread_t thread;
	pthread_mutex_t lock; /* while something is said into the ring, or of what is below; never in a call of CUDA */
	bool is_threaded;
	_Atomic bool is_running; /* it was started, and is to be joined */
	bool is_abandoned; /* the ring is gone, the worker is not */
	bool is_over;      /* it is, or there never was one */
	bool is_orphan;    /* whoever is left frees this */
};

/* Named in what is told of a failure: gpu_calls[] in gpu_pool.c. */
enum gpu_call { CALL_RECORD = 1, CALL_QUERY, CALL_ELAPSED, CALL_CONTEXT };

/* ---- gpu_pool.c: contexts and slots ---------------------------------------------------------------- */

/* That of the handle, made if need be. Of the thread that sets streams. */
galvo_status gpu_context_of(struct gpu *g, void *handle, struct gpu_context **ret, galvo_error *reterr);
/* It is current until gpu_leave; false: it is broken, or is so now. */
bool gpu_enter(struct gpu *g, struct gpu_context *c);
void gpu_leave(struct gpu *g);
void gpu_break(struct gpu *g, struct gpu_context *c, enum gpu_call call, int result);
uint32_t gpu_note_failure(struct gpu *g, enum gpu_call call, int result); /* as the ring has it */
/* False: there is none any more, and nothing is locked. */
bool gpu_lock_ring(struct gpu *g);
void gpu_unlock_ring(struct gpu *g);
void gpu_beat(struct gpu *g); /* the worker gets on, which to lock the ring says, too */
/* While a stream is being captured, threads in another mode than this may not ask. Returns the old one. */
int gpu_relax(const struct gpu *g);
void gpu_restore(const struct gpu *g, int mode);
void gpu_grow(struct gpu *g, struct gpu_context *c); /* entered; at first, and by as many as there are */
struct gpu_slot *gpu_slot_take(struct gpu *g, struct gpu_context *c); /* NULL: none is free */
void gpu_slot_give(struct gpu *g, struct gpu_slot *slot);
void gpu_tear_down(struct gpu *g); /* events and streams; nobody uses them any more */

/* ---- gpu_clock.c ----------------------------------------------------------------------------------- */

struct gpu_instant {
	uint64_t mono_ns, error_ns;
};

/* All of these with the context entered, and results as CUDA has them. */
int gpu_clock_init(struct gpu *g, struct gpu_clock *k);
void gpu_clock_finish(struct gpu *g, struct gpu_clock *k);
bool gpu_clock_is_due(const struct gpu_clock *k, uint64_t mono_ns);
int gpu_clock_anchor(struct gpu *g, struct gpu_clock *k); /* NOT_READY: the GPU is busy elsewhere */
/* Of events that are reached. There is an anchor. */
int gpu_clock_place(struct gpu *g, struct gpu_clock *k, void *event, struct gpu_instant *ret);
/* As that of the end, less the time between them. */
int gpu_clock_place_start(struct gpu *g, struct gpu_clock *k, void *start, void *end,
                          const struct gpu_instant *of_end, struct gpu_instant *ret);

/* ---- gpu_work.c: the worker ------------------------------------------------------------------------ */

void gpu_put_ended(struct gpu *g, struct gpu_slot *slot); /* any thread */
void gpu_finish_once(struct gpu *g); /* if no worker did, or is at it */
void gpu_free(struct gpu *g); /* nobody works any more */
/* If there is something to do, and none yet. */
galvo_status gpu_start_worker(struct gpu *g, galvo_error *reterr);

#endif
