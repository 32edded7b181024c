/* A double of libcuda: streams, events in time, capture into graphs and what it forbids. */
#include "double_cuda.h"

#include <string.h>

enum { STREAMS = 64, EVENTS = 40000 };

struct stream {
	bool lives, is_non_blocking;
	struct context *context;
	int capture;             /* enum cuda_capture; in the mode that forbids most */
	uint64_t work_until_ns;  /* scene time when all that was put into it is done */
	uint64_t *its_until_ns;  /* that of the stream that this one stands for */
};

struct event {
	bool lives, is_recorded, is_captured;
	unsigned flags;
	struct context *context;
	uint64_t context_id;
	uint64_t done_ns;
};

static struct stream streams[STREAMS];
static struct event events[EVENTS];
static size_t next_event;
static _Thread_local int capture_mode; /* enum cuda_capture_mode */

/* A result to give at once, or 0. What ruins a context does so for good. */
static int enter(const char *call)
{
	struct context *c = double_cuda_current();
	int result = scene_enter(call, c ? c->device : SCENE_ALL_DEVICES);

	if (result == CUDA_ILLEGAL_ADDRESS && c)
		c->sticky = result;
	if (result)
		return result;
	if (!double_cuda_is_initialized) {
		scene_violation("%s before cuInit", call);
		return CUDA_NOT_INITIALIZED;
	}
	if (c && scene_is_lost((uint32_t)c->device))
		return CUDA_UNKNOWN;
	return c ? c->sticky : CUDA_OK;
}

#define TRY(call)                                                                                  \
	do {                                                                                       \
		int try_ = call;                                                                   \
		if (try_)                                                                          \
			return try_;                                                               \
	} while (0)

/* The lock is given back on every way out of the block. */
static void unlock(pthread_mutex_t **m)
{
	pthread_mutex_unlock(*m);
}

#define LOCKED                                                                                     \
	__attribute__((cleanup(unlock))) pthread_mutex_t *locked_ = &double_cuda_lock;             \
	pthread_mutex_lock(locked_)

/* ---- streams --------------------------------------------------------------------------------- */

void double_cuda_end_streams(const struct context *c)
{
	size_t i;

	for (i = 0; i < STREAMS; i++)
		if (streams[i].context == c)
			streams[i].lives = false;
}

static int make(void **ret, struct stream like)
{
	size_t i;

	for (i = 0; i < STREAMS && streams[i].lives; i++)
		;
	if (i == STREAMS || !double_cuda_current())
		return CUDA_INVALID_CONTEXT;
	like.lives = true;
	like.context = double_cuda_current();
	streams[i] = like;
	*ret = &streams[i];
	return CUDA_OK;
}

/*
 * What the real one has not: a stream of the current context with work for that long. `capture` is
 * an enum cuda_capture.
 */
EXPORT(double_cuda_stream, (void **ret, int capture, uint64_t busy_ns))
{
	LOCKED;
	return make(ret, (struct stream){.capture = capture,
	                                 .work_until_ns = scene_now_ns(scene_of_process()) + busy_ns});
}

/* Nor that: from here on it is captured, or not. */
EXPORT(double_cuda_capture, (void *stream, int capture))
{
	LOCKED;
	((struct stream *)stream)->capture = capture;
	return CUDA_OK;
}

/* The stream, or one that stands for the default ones of the current context; NULL if neither. */
static struct stream *find_stream(void *handle, struct stream *standing_for)
{
	struct stream *s = handle;

	if (s >= streams && s < streams + STREAMS)
		return s->lives ? s : NULL;
	if (handle && handle != CUDA_STREAM_LEGACY && handle != CUDA_STREAM_PER_THREAD)
		return NULL;
	if (!double_cuda_current())
		return NULL;
	*standing_for = (struct stream){.lives = true, .context = double_cuda_current()};
	standing_for->its_until_ns = &standing_for->context->work_until_ns;
	standing_for->work_until_ns = *standing_for->its_until_ns;
	return standing_for;
}

/* Nor that: work for that long, behind what is there. */
EXPORT(double_cuda_work, (void *stream, uint64_t busy_ns))
{
	uint64_t now = scene_now_ns(scene_of_process());
	struct stream standing, *s;

	LOCKED;
	s = find_stream(stream, &standing);
	if (!s)
		return CUDA_INVALID_HANDLE;
	s->work_until_ns = (s->work_until_ns > now ? s->work_until_ns : now) + busy_ns;
	if (s->its_until_ns)
		*s->its_until_ns = s->work_until_ns;
	return CUDA_OK;
}

/* A call that must not be made while the stream is captured: it spoils what is captured. */
static int spoil(struct stream *s, const char *call)
{
	scene_violation("%s: the stream is being captured", call);
	s->capture = CUDA_CAPTURE_INVALIDATED;
	return CUDA_STREAM_CAPTURE_UNSUPPORTED;
}

/* Of a thread in the mode that it began with: while any stream is captured, by whichever thread. */
static int forbid(const char *call)
{
	size_t i;

	for (i = 0; i < STREAMS && capture_mode == CUDA_CAPTURE_MODE_GLOBAL; i++)
		if (streams[i].lives && streams[i].capture == CUDA_CAPTURE_ACTIVE)
			return spoil(&streams[i], call);
	return CUDA_OK;
}

/* The stream that waits for all others does so for one that is being captured, too. */
static struct stream *implied(const void *handle)
{
	size_t i;

	for (i = 0; i < STREAMS && (!handle || handle == CUDA_STREAM_LEGACY); i++)
		if (streams[i].lives && streams[i].context == double_cuda_current() &&
		    streams[i].capture == CUDA_CAPTURE_ACTIVE && !streams[i].is_non_blocking)
			return &streams[i];
	return NULL;
}

EXPORT(cuThreadExchangeStreamCaptureMode, (int *mode))
{
	int before = capture_mode;

	TRY(enter("cuThreadExchangeStreamCaptureMode"));
	if (*mode < CUDA_CAPTURE_MODE_GLOBAL || *mode > CUDA_CAPTURE_MODE_RELAXED)
		return CUDA_INVALID_VALUE;
	capture_mode = *mode;
	*mode = before;
	return CUDA_OK;
}

EXPORT(cuStreamCreate, (void **ret, unsigned flags))
{
	TRY(enter("cuStreamCreate"));
	LOCKED;
	TRY(forbid("cuStreamCreate"));
	if (!double_cuda_current())
		scene_violation("cuStreamCreate: no current context");
	return make(ret, (struct stream){.is_non_blocking = flags & CUDA_STREAM_NON_BLOCKING});
}

EXPORT(cuStreamDestroy_v2, (void *stream))
{
	struct stream standing, *s;

	TRY(enter("cuStreamDestroy_v2"));
	LOCKED;
	s = find_stream(stream, &standing);
	if (!s || s == &standing) {
		scene_violation("cuStreamDestroy: no such stream");
		return CUDA_INVALID_HANDLE;
	}
	s->lives = false;
	return CUDA_OK;
}

EXPORT(cuStreamGetCtx, (void *stream, void **ret))
{
	struct stream standing, *s;

	TRY(enter("cuStreamGetCtx"));
	LOCKED;
	s = find_stream(stream, &standing);
	if (!s)
		return stream && stream != CUDA_STREAM_LEGACY && stream != CUDA_STREAM_PER_THREAD
		               ? CUDA_INVALID_HANDLE : CUDA_INVALID_CONTEXT;
	*ret = s->context;
	return CUDA_OK;
}

EXPORT(cuStreamQuery, (void *stream))
{
	struct stream standing, *s;

	TRY(enter("cuStreamQuery"));
	LOCKED;
	s = find_stream(stream, &standing);
	if (!s)
		return CUDA_INVALID_HANDLE;
	if (s->capture != CUDA_CAPTURE_NONE)
		return spoil(s, "cuStreamQuery");
	return scene_now_ns(scene_of_process()) < s->work_until_ns ? CUDA_NOT_READY : CUDA_OK;
}

EXPORT(cuStreamIsCapturing, (void *stream, int *ret))
{
	struct stream standing, *s;

	TRY(enter("cuStreamIsCapturing"));
	LOCKED;
	s = find_stream(stream, &standing);
	if (!s)
		return CUDA_INVALID_HANDLE;
	if (implied(stream))
		return CUDA_STREAM_CAPTURE_IMPLICIT;
	*ret = s->capture;
	return CUDA_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct event *find_event(void *handle, const char *call)
{
	struct event *e = handle;

	if (e < events || e >= events + EVENTS || !e->lives) {
		scene_violation("%s: no such event", call);
		return NULL;
	}
	if (e->context->lives && e->context->id == e->context_id)
		return e;
	scene_violation("%s: the event went with its context", call);
	return NULL;
}

/* Of calls about it that need a current context. */
static int find(void *handle, const char *call, struct event **ret)
{
	if (!double_cuda_current()) {
		scene_violation("%s: no current context", call);
		return CUDA_INVALID_CONTEXT;
	}
	*ret = find_event(handle, call);
	if (!*ret)
		return CUDA_INVALID_HANDLE;
	return (*ret)->context->sticky;
}

EXPORT(cuEventCreate, (void **ret, unsigned flags))
{
	struct context *c = double_cuda_current();
	size_t i;

	TRY(enter("cuEventCreate"));
	if (!c) {
		scene_violation("cuEventCreate: no current context");
		return CUDA_INVALID_CONTEXT;
	}
	LOCKED;
	for (i = 0; i < EVENTS && events[next_event].lives; i++)
		next_event = (next_event + 1) % EVENTS;
	if (i == EVENTS)
		return CUDA_OUT_OF_MEMORY;
	events[next_event] = (struct event){.lives = true, .flags = flags, .context = c,
	                                    .context_id = c->id};
	*ret = &events[next_event];
	next_event = (next_event + 1) % EVENTS;
	return CUDA_OK;
}

/* What a call that records into it does to a stream that is being captured, itself or by waiting. */
static int record_captured(struct event *e, struct stream *s, const void *handle)
{
	struct stream *other = implied(handle);

	if (other) {
		spoil(other, "cuEventRecord");
		return CUDA_STREAM_CAPTURE_IMPLICIT;
	}
	e->is_captured = s->capture == CUDA_CAPTURE_ACTIVE;
	if (e->is_captured)
		scene_violation("cuEventRecord: into a stream that is being captured");
	return s->capture == CUDA_CAPTURE_INVALIDATED ? CUDA_STREAM_CAPTURE_INVALIDATED : CUDA_OK;
}

EXPORT(cuEventRecord, (void *event, void *stream))
{
	struct scene *scene = scene_of_process();
	uint64_t reached;
	struct stream standing, *s;
	struct event *e;

	TRY(enter("cuEventRecord"));
	LOCKED;
	TRY(find(event, "cuEventRecord", &e));
	s = find_stream(stream, &standing);
	if (!s)
		return CUDA_INVALID_HANDLE;
	if (e->context != s->context) {
		scene_violation("cuEventRecord: event and stream are of different contexts");
		return CUDA_INVALID_HANDLE;
	}
	TRY(record_captured(e, s, stream));
	e->is_recorded = true;
	reached = scene_now_ns(scene) + scene->gpu_delay_ns;
	e->done_ns = s->work_until_ns > reached ? s->work_until_ns : reached;
	return CUDA_OK;
}

EXPORT(cuEventQuery, (void *event))
{
	struct event *e;

	TRY(enter("cuEventQuery"));
	LOCKED;
	TRY(find(event, "cuEventQuery", &e));
	if (e->is_captured)
		return CUDA_CAPTURED_EVENT;
	TRY(forbid("cuEventQuery"));
	return scene_now_ns(scene_of_process()) < e->done_ns ? CUDA_NOT_READY : CUDA_OK;
}

EXPORT(cuEventSynchronize, (void *event))
{
	struct scene *s = scene_of_process();
	struct event *e;

	TRY(enter("cuEventSynchronize"));
	TRY(find(event, "cuEventSynchronize", &e));
	if (s->is_fake && e->done_ns > scene_now_ns(s))
		s->fake_mono_ns = s->begin_mono_ns + e->done_ns;
	while (scene_now_ns(s) < e->done_ns)
		nanosleep(&(struct timespec){0, 100000}, NULL);
	return CUDA_OK;
}

/* The clock of the GPU has its own pace, and may be set. */
static double gpu_ns(const struct event *e)
{
	const struct scene *s = scene_of_process();
	const bool is_set = e->done_ns >= s->gpu_set_at_ns;

	return (double)e->done_ns * (1 + s->gpu_ppm / 1e6) + (is_set ? (double)s->gpu_set_by_ns : 0);
}

EXPORT(cuEventElapsedTime_v2, (float *ret, void *start, void *end))
{
	uint64_t now = scene_now_ns(scene_of_process());
	struct event *a, *b;

	TRY(enter("cuEventElapsedTime_v2"));
	LOCKED;
	TRY(find(start, "cuEventElapsedTime", &a));
	TRY(find(end, "cuEventElapsedTime", &b));
	if (!a->is_recorded || !b->is_recorded || a->context != b->context ||
	    ((a->flags | b->flags) & CUDA_EVENT_DISABLE_TIMING))
		return CUDA_INVALID_HANDLE;
	if (now < a->done_ns || now < b->done_ns)
		return CUDA_NOT_READY;
	*ret = (float)((gpu_ns(b) - gpu_ns(a)) / 1e6);
	return CUDA_OK;
}

EXPORT(cuEventElapsedTime, (float *ret, void *start, void *end))
{
	return cuEventElapsedTime_v2(ret, start, end);
}

EXPORT(cuEventDestroy_v2, (void *event))
{
	struct event *e;

	TRY(enter("cuEventDestroy_v2"));
	LOCKED;
	e = find_event(event, "cuEventDestroy");
	if (!e)
		return CUDA_INVALID_HANDLE;
	e->lives = false;
	return CUDA_OK;
}
