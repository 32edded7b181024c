/*
 * Inside sampling: one device's session of PM sampling, and what a reading of it brings. No threads.
 *
 * Samples have times of the GPU's clock, which is the wall clock as CUPTI tells it. The session knows
 * how far that is from ours, so that a wall clock that was set does not look like time that is missing.
 */
#ifndef GALVO_GPU_SESSION_H
#define GALVO_GPU_SESSION_H

#include "metrics.h"

enum { READINGS = 2 }; /* one is filled while the other one is evaluated */

/* Written by one thread each, read by any. */
struct decode_counts {
#define X(member, field, meaning) _Atomic uint64_t member;
	DECODE_COUNTS(X)
#undef X
};

static inline void count_up(_Atomic uint64_t *count, uint64_t n)
{
	atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

/* See clock_wake; what was done before it was set is seen afterwards. */
static inline bool flag_is_set(const _Atomic uint32_t *flag)
{
	return atomic_load_explicit(flag, memory_order_acquire) != 0;
}

static inline uint64_t distance_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static inline uint64_t offset_distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)(a - b) : (uint64_t)(b - a);
}

/* A sample of an image, and when it was. */
struct moment {
	uint64_t start_gpu_ns, end_gpu_ns;
	uint32_t index;
};

/* What one call of DecodeData brought. */
struct reading {
	_Atomic uint32_t is_full; /* the evaluator's; else the decoder's */
	uint8_t *image;
	struct moment *moments;
	size_t len;
	uint64_t mono_ns; /* when, and what has to be taken off the GPU's time to have ours */
	int64_t offset_ns;
};

struct pm_plan {
	uint32_t ordinal;
	const struct gpu_set *set;  /* of this session only */
	const struct clock *clock;
	uint64_t interval_ns;       /* between samples */
	uint64_t interval_cycles;   /* the same for chips that count cycles */
	bool counts_cycles, keeps_latest;
	uint64_t buffer_bytes;
	uint32_t slots;             /* samples that an image has room for */
};

/* Zero but for the plan, and the two pointers. */
struct pm_session {
	struct pm_plan plan;
	struct cupti *cupti;
	struct decode_counts *counts;

	void *object; /* CUPTI's; NULL: there is none */
	bool is_open; /* configured, with images for it */
	bool runs;
	uint8_t *pristine; /* an image with nothing in it */
	size_t image_bytes;
	struct reading readings[READINGS];
	size_t turn; /* which of them is read into next */

	bool is_first;           /* sample since sampling began */
	bool is_stepped;         /* the clock was set since the last sample */
	bool has_offset;
	int64_t offset_ns;       /* the GPU's time less ours */
	uint64_t anchored_mono_ns;
	uint64_t covered_gpu_ns; /* the end of the last sample; 0: there was none */
	uint64_t length_ns;      /* of the last one that had any */
	size_t completed;        /* samples of the last reading, those that are left out included */
	/* Where its thread is, for those who wait for it. */
	const char *_Atomic call;
	_Atomic uint64_t call_mono_ns;
	_Atomic uint64_t evaluate_mono_ns; /* of the other thread, in its only call; else 0 */
	_Atomic uint64_t covered_mono_ns; /* as covered_gpu_ns, on our clock */
};

/*
 * These give CUPTI's result, and the name of the call that gave it is in `call` until the next one.
 * Open: the device is ours and configured, images are made. Readings must not be in use then. What the
 * chip or the library refuses of the plan is changed in it: cycles instead of time, the oldest kept.
 */
int pm_open(struct pm_session *s);
int pm_begin(struct pm_session *s);
int pm_stop(struct pm_session *s);
int pm_close(struct pm_session *s); /* stops first if need be */
void pm_finish(struct pm_session *s); /* memory; closed, or never opened */

enum verdict {
	READ_GOOD,
	READ_MORE,   /* there is, or soon will be, more than an image has room for */
	READ_STUCK,  /* it has overflowed, and gives nothing until it is opened anew */
	READ_FAILED, /* *ret_result says how */
};

/* Reads what has been sampled into r, without the values, and leaves out what is no sample. */
enum verdict pm_read(struct pm_session *s, struct reading *r, int *ret_result);
/* At the end: the time between the two that came behind the last sample is missing. */
void pm_account_end(struct pm_session *s, uint64_t begin_mono_ns, uint64_t end_mono_ns);
/*
 * Values of moment i of r, one for each name of the set; counts those that are none, which are NaN.
 * Not a call with the session's object: it may be made on another thread than all others.
 */
void pm_evaluate(struct pm_session *s, const struct reading *r, size_t i, double *values);
/* Makes the image of r one with nothing in it. On the thread that evaluates. */
void pm_restore(const struct pm_session *s, struct reading *r);

/* ---- session_clock.c ------------------------------------------------------------------------- */

/* A clock that was set by less than this has been slewed; what that costs is within the error anyway. */
#define CLOCK_STEP_NS (UINT64_C(500000))

/*
 * Looks at both clocks. Where the GPU's has been set since, `moments`, which CUPTI has just converted,
 * tell if that was before or after: their offset is returned.
 */
int64_t pm_anchor(struct pm_session *s, const struct moment *moments, size_t n,
                       uint64_t *ret_mono_ns);

static inline uint64_t pm_now(const struct pm_session *s)
{
	return s->plan.clock->mono_ns(s->plan.clock);
}

/* Around every call that may hang. */
static inline void pm_enter(struct pm_session *s, const char *call)
{
	atomic_store_explicit(&s->call, call, memory_order_relaxed);
	atomic_store_explicit(&s->call_mono_ns, pm_now(s), memory_order_release);
}

static inline int pm_leave(struct pm_session *s, int result)
{
	atomic_store_explicit(&s->call_mono_ns, 0, memory_order_release);
	return result;
}

#endif
