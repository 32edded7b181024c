/* Inside the room: the ring, the regions that are open, the profiler. */
#ifndef GALVO_EVENT_INTERNAL_H
#define GALVO_EVENT_INTERNAL_H

#include <pthread.h>

#include "event.h"

enum {
	LINE_BYTES = 64,
	CELLS = 1 << 16,         /* 4 MiB, touched as they are used */
	HEAD_TEXT_BYTES = 36,    /* of a name in its first cell; then… */
	CELL_TEXT_BYTES = 56,    /* …in each one behind */
	USED_MAX = CELLS / 4,    /* beginning and marking stop there */
	OPEN_ENOUGH = CELLS / 4, /* regions open: beginning stops there… */
	OPEN_MAX = CELLS / 2,    /* …and with all that are in the ring there are never more */
};

enum record_kind {
	RECORD_BEGIN = 1,
	RECORD_END,
	RECORD_MARK,
	RECORD_GPU_BEGIN, /* these two as they are asked for; and when the GPU has got there… */
	RECORD_GPU_MARK,
	RECORD_GPU_STARTED, /* …which is told of a region that is open… */
	RECORD_GPU_END,     /* …of one that has ended, */
	RECORD_GPU_MARKED,  /* and of a mark */
};

/* What those of the GPU say. Instants of 0 are not known. */
struct gpu_times {
	uint64_t id, start_mono_ns, error_ns;
	uint32_t stream;
	uint32_t is_lost; /* the GPU never got to its end, as far as one knows */
};

/* A record takes one cell, and as many behind it as its name needs. Only the first is marked ready. */
struct cell {
	_Atomic uint64_t ready; /* its position plus one, once it is written: no lap has it twice */
	union {
		struct {
			uint64_t mono_ns;
			uint32_t thread, pid;
			uint16_t name_bytes;
			uint16_t kind;
			char text[HEAD_TEXT_BYTES]; /* RECORD_END: the id; _STARTED and on: gpu_times */
		} head;
		char text[CELL_TEXT_BYTES];
	} is;
};
_Static_assert(sizeof(struct cell) == LINE_BYTES, "a cell is a cache line");

/*
 * What every caller reads first, and is seldom written. The kernel empties its page in a child after
 * fork, which then finds that nothing is recorded, and cannot disturb its parent. So it is never shared.
 */
struct gate {
	_Atomic uint32_t is_recording;
	_Atomic uint32_t pid; /* whose regions these are */
	_Atomic uint64_t start_mono_ns;
};

/*
 * Many write, one reads; perhaps in another process, which trusts nothing that it finds here to be in
 * bounds.
 */
struct ring {
	_Alignas(LINE_BYTES) _Atomic uint32_t is_crowded; /* OPEN_ENOUGH regions are open */
	_Atomic uint32_t is_closed; /* nobody reads it any more; then it is crowded, too */
	_Alignas(LINE_BYTES) _Atomic uint64_t tail; /* the next position to be written */
	_Alignas(LINE_BYTES) _Atomic uint64_t head; /* cells before it are free again */
	_Alignas(LINE_BYTES) _Atomic uint64_t dropped, unmatched, refused;
	/* Of the GPU: struct gpu_events; the first failure, a gpu_call and a result, CALL << 16 | RESULT. */
	_Alignas(LINE_BYTES) _Atomic uint64_t gpu_capturing, gpu_no_room, gpu_failed, gpu_unreached, gpu_unbound;
	_Atomic uint32_t gpu_failure;
	_Atomic uint32_t gpu_is_working; /* its worker will still say what has become of regions */
	_Atomic uint64_t gpu_cpu_ns;     /* of the worker */
	_Atomic uint64_t gpu_beats;      /* moves on while it gets on */
	_Alignas(LINE_BYTES) struct cell cells[CELLS];
};

struct gate *gate_create(bool must_be_emptied); /* NULL: no memory, or no kernel that empties it */
void gate_destroy(struct gate *g);
struct ring *ring_create(void); /* NULL: no memory */
/* In memory that another process may map: its descriptor is the caller's. */
galvo_status ring_create_shared(struct ring **ret_ring, int *ret_fd, galvo_error *reterr);
/* MALFORMED: that is no such memory. */
galvo_status ring_map(int fd, struct ring **ret_ring, galvo_error *reterr);
void ring_destroy(struct ring *r);

struct record {
	enum record_kind kind;
	uint64_t position, mono_ns;
	uint64_t id; /* RECORD_BEGIN, RECORD_END */
	uint32_t thread, pid;
	struct span name; /* in the caller's `text` */
	struct gpu_times times; /* RECORD_GPU_STARTED and on; mono_ns is the end */
};

/* The reader's: the record at *at, which moves behind it; false if there is none (yet). */
bool ring_take(struct ring *r, uint64_t *at, char text[EVENT_NAME_MAX], struct record *ret);

struct gpu;

struct galvo_tracker {
	enum time_domain domain;
	struct gate *gate;
	struct ring *ring; /* NULL: records nothing, ever */
	const struct clock *clock;
	struct gpu *gpu; /* of the domain of the GPU; NULL: records nothing, ever */
};

static inline bool tracker_is_recording(const galvo_tracker *t)
{
	return t && t->ring && atomic_load_explicit(&t->gate->is_recording, memory_order_acquire);
}

/* What a caller says that begins something. Returns the id of it, 0: there is no room. */
uint64_t ring_begin(galvo_tracker *t, enum record_kind kind, struct span name, uint64_t mono_ns,
                    uint32_t thread, uint32_t pid);
bool ring_is_crowded(struct ring *r); /* and counts what is not begun */
/* The worker's. */
void ring_put_times(struct ring *r, enum record_kind kind, const struct gpu_times *times,
                    uint64_t end_mono_ns, uint32_t thread);
uint32_t caller_number(const galvo_tracker *t, uint32_t *ret_pid); /* the kernel's number of this thread */

static inline void count_one(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- gpu.c: the tracker of the GPU, from outside ------------------------------------------------ */

struct gpu *gpu_create(struct ring *ring, const struct clock *clock); /* NULL: no memory */
void gpu_destroy(struct gpu *g); /* NULL is fine; stops first if need be */
galvo_status gpu_set_stream(struct gpu *g, void *stream, galvo_error *reterr);
galvo_status gpu_status(const struct gpu *g, galvo_error *reterr);
uint64_t gpu_begin(galvo_tracker *t, struct span name);
void gpu_end(galvo_tracker *t, uint64_t id);
void gpu_mark(galvo_tracker *t, struct span name);
/* From now on a thread works, if there is something to do. Without one (tests): work and finish. */
galvo_status gpu_start(struct gpu *g, galvo_error *reterr);
void gpu_signal_stop(struct gpu *g);
/*
 * After signal_stop: waits for it while it gets on, then leaves it behind, without the ring. Twice is
 * once.
 */
void gpu_join(struct gpu *g);

/* How long the worker is waited for: since it last got on, and in all. */
struct gpu_patience {
	uint64_t beats, beat_mono_ns, until_mono_ns;
};
void gpu_patience_begin(struct gpu_patience *p, const struct ring *r);
bool gpu_patience_lasts(struct gpu_patience *p, const struct ring *r); /* waits a moment */
void gpu_work(struct gpu *g);
void gpu_finish(struct gpu *g); /* does nothing where the thread does it. Twice is once */
/* Says what `failure`, of a ring, was. */
void gpu_put_failure(uint32_t failure, char *to, size_t cap);

/* ---- open.c: regions that are open; the profiler thread's -------------------------------------- */

enum { OPEN_BUCKETS = 1 << 15, OPEN_NAME_BYTES = 48 };

struct open_region {
	struct region region; /* first: its name is in one of the two below */
	size_t at;            /* in `all` */
	struct open_region *next;
	char *long_name;
	char name[OPEN_NAME_BYTES];
};

struct open_table {
	struct open_region *pool, *unused;
	size_t pool_used;
	struct open_region **buckets; /* by id */
	const struct region **all;    /* `len` of them, in no order */
	size_t len;
};

bool open_init(struct open_table *t); /* false: no memory; finish it all the same */
void open_finish(struct open_table *t);
/* Copies it. False: OPEN_MAX are open. */
bool open_add(struct open_table *t, const struct region *r);
struct open_region *open_find(const struct open_table *t, uint64_t id); /* or NULL */
void open_remove(struct open_table *t, struct open_region *r);

/* ---- sweep.c: a listener is DIR/galvo-XXXXXX/socket --------------------------------------------- */

#define LISTENER_PREFIX "galvo-"
#define LISTENER_RANDOM 6 /* letters behind it, as mkdtemp(3) wants them */
#define LISTENER_SOCKET "socket"

/* Removes below `dir` what is dead of this user's. */
void listener_sweep(const char *dir);

struct events {
	struct gate *gate;
	struct ring *ring;
	galvo_tracker host, gpu;
	const struct world *world;
	struct stream *stream;
	uint64_t flush_interval_ns;
	struct open_table open;
	struct open_table asked;  /* marks that the GPU has not got to */
	struct gpu_events gpu_events;
	_Atomic bool gpu_hangs;
	uint64_t at;              /* in the ring: what was taken ends there */
	uint64_t dropped_counted; /* of ring.dropped, what the stream knows */
	uint64_t flushed_mono_ns;
	char text[EVENT_NAME_MAX];
	pthread_t thread;
	bool is_running;
	_Atomic uint32_t stop;
};

#endif
