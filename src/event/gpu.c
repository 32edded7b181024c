/* The tracker of the GPU: which stream, and what callers do, who never wait for us or for the GPU. */
#include <time.h>
#include <unistd.h>

#include "gpu.h"

enum { SLOT_SHIFT = 48 }; /* in the id that a caller has: the slot's number above the region's id */

static const uint64_t BEAT_NS = 500 * NS_PER_MS, /* that a call may take, when the worker is waited for */
	PATIENCE_NS = 5 * NS_PER_S;              /* in all */

struct gpu *gpu_create(struct ring *ring, const struct clock *clock)
{
	struct gpu *g = aligned_alloc(LINE_BYTES, sizeof(*g));

	_Static_assert(GPU_SLOTS <= 1 << (64 - SLOT_SHIFT), "ids have room for the number of a slot");
	if (!g)
		return NULL;
	memset(g, 0, sizeof(*g));
	g->ring = ring;
	g->clock = clock;
	g->owner = getpid();
	g->is_over = true;
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

void gpu_free(struct gpu *g)
{
	pthread_mutex_destroy(&g->lock);
	free(g->slots);
	free(g);
}

galvo_status gpu_start(struct gpu *g, galvo_error *reterr)
{
	g->is_threaded = true;
	return gpu_start_worker(g, reterr);
}

void gpu_signal_stop(struct gpu *g)
{
	atomic_store(&g->stop, 1);
	clock_wake(&g->wake);
}

void gpu_patience_begin(struct gpu_patience *p, const struct ring *r)
{
	p->beats = atomic_load_explicit(&r->gpu_beats, memory_order_relaxed);
	p->beat_mono_ns = clock_real.mono_ns(&clock_real);
	p->until_mono_ns = p->beat_mono_ns + PATIENCE_NS;
}

bool gpu_patience_lasts(struct gpu_patience *p, const struct ring *r)
{
	const uint64_t beats = atomic_load_explicit(&r->gpu_beats, memory_order_relaxed);
	const struct timespec moment = {0, NS_PER_MS};
	const uint64_t now_ns = clock_real.mono_ns(&clock_real);

	if (beats != p->beats)
		p->beat_mono_ns = now_ns;
	p->beats = beats;
	if (now_ns >= p->until_mono_ns || now_ns - p->beat_mono_ns >= BEAT_NS)
		return false;
	nanosleep(&moment, NULL);
	return true;
}

void gpu_join(struct gpu *g)
{
	struct gpu_patience patience;
	bool is_over;

	if (!atomic_load(&g->is_running))
		return;
	gpu_patience_begin(&patience, g->ring);
	while (!atomic_load_explicit(&g->done, memory_order_acquire) &&
	       gpu_patience_lasts(&patience, g->ring))
		;
	pthread_mutex_lock(&g->lock);
	is_over = g->is_over;
	g->is_abandoned = !is_over;
	pthread_mutex_unlock(&g->lock);
	if (is_over)
		pthread_join(g->thread, NULL);
	else
		thread_leave(g->thread);
	atomic_store(&g->is_running, false);
}

void gpu_destroy(struct gpu *g)
{
	bool is_over;

	if (!g)
		return;
	gpu_signal_stop(g);
	gpu_join(g);
	gpu_finish_once(g);
	pthread_mutex_lock(&g->lock);
	is_over = g->is_over;
	g->is_orphan = true;
	pthread_mutex_unlock(&g->lock);
	if (is_over)
		gpu_free(g);
}

/* ---- which stream ---------------------------------------------------------------------------------- */

/* What there is no doing without; an old driver may lack it. */
static const char *missing(const struct cuda *c)
{
	const struct { bool is_there; const char *name; } rows[] = {
		{c->ctx_get_current, "cuCtxGetCurrent"}, {c->ctx_push, "cuCtxPushCurrent"},
		{c->ctx_pop, "cuCtxPopCurrent"}, {c->stream_create, "cuStreamCreate"},
		{c->stream_is_capturing, "cuStreamIsCapturing"}, {c->event_create, "cuEventCreate"},
		{c->event_record, "cuEventRecord"}, {c->event_query, "cuEventQuery"},
		{c->event_elapsed, "cuEventElapsedTime"}, {c->event_destroy, "cuEventDestroy"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!rows[i].is_there)
			return rows[i].name;
	return NULL;
}

static galvo_status take_cuda(struct cuda *ret, galvo_error *reterr)
{
	static const struct nvidia_places only = {.only_loaded = true};
	galvo_status status = cuda_open(ret, &only, reterr);

	if (status == GALVO_ERR_ABSENT)
		return err_set(reterr, status, "this program has not loaded CUDA (libcuda.so.1), or a "
		                               "driver that can do this");
	if (status == GALVO_OK && missing(ret)) {
		status = err_set(reterr, GALVO_ERR_ABSENT, "the driver has no %s", missing(ret));
		cuda_close(ret);
	}
	return status;
}

static galvo_status take_context(const struct gpu *g, void *stream, void **ret, galvo_error *reterr)
{
	const bool is_own = stream && stream != CUDA_STREAM_LEGACY && stream != CUDA_STREAM_PER_THREAD &&
	                    g->cuda.stream_get_ctx;
	int result = is_own ? g->cuda.stream_get_ctx(stream, ret) : g->cuda.ctx_get_current(ret);

	if (result)
		return cuda_failed(reterr, is_own ? "cuStreamGetCtx" : "cuCtxGetCurrent", result);
	if (!*ret)
		return err_set(reterr, GALVO_ERR_STATE, "no CUDA context is current on this thread");
	return GALVO_OK;
}

static galvo_status bind(struct gpu *g, struct gpu_context *c, void *handle, galvo_error *reterr)
{
	const uint32_t n = atomic_load_explicit(&g->streams_len, memory_order_relaxed);
	struct gpu_stream *s;

	for (s = g->streams; s < g->streams + n; s++)
		if (s->context == c && s->handle == handle)
			break;
	if (s == g->streams + GPU_STREAMS)
		return err_set(reterr, GALVO_ERR_NOMEM, "more than %d CUDA streams", GPU_STREAMS);
	if (s == g->streams + n) {
		*s = (struct gpu_stream){.context = c, .handle = handle, .number = n + 1};
		s->ended.end = &s->ended.first;
		atomic_store_explicit(&g->streams_len, n + 1, memory_order_release);
	}
	atomic_store_explicit(&g->bound, s, memory_order_release);
	return gpu_start_worker(g, reterr);
}

static galvo_status set_stream(struct gpu *g, void *stream, galvo_error *reterr)
{
	galvo_status status = g->cuda.handle ? GALVO_OK : take_cuda(&g->cuda, reterr);
	struct gpu_context *c;
	void *handle;
	int mode;

	if (status != GALVO_OK)
		return status;
	if (!g->slots)
		g->slots = alloc_array(GPU_SLOTS, sizeof(*g->slots));
	if (!g->slots)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	status = take_context(g, stream, &handle, reterr);
	if (status != GALVO_OK)
		return status;
	mode = gpu_relax(g);
	status = gpu_context_of(g, handle, &c, reterr);
	gpu_restore(g, mode);
	return status == GALVO_OK ? bind(g, c, stream, reterr) : status;
}

galvo_status gpu_set_stream(struct gpu *g, void *stream, galvo_error *reterr)
{
	galvo_status status;

	if (g->owner != getpid())
		status = err_set(reterr, GALVO_ERR_STATE, "the tracker is another process's, which forked "
		                                          "this one");
	else if (atomic_load(&g->stop))
		status = err_set(reterr, GALVO_ERR_STATE, "the recording has stopped");
	else
		status = set_stream(g, stream, reterr);
	if (status != GALVO_OK)
		err_wrap(reterr, "GPU regions");
	return status;
}

galvo_status gpu_status(const struct gpu *g, galvo_error *reterr)
{
	const struct gpu_stream *s = atomic_load_explicit(&g->bound, memory_order_acquire);
	struct cuda cuda;
	galvo_status status;
	uint32_t failure;
	char why[128];

	if (!s) {
		status = take_cuda(&cuda, reterr);
		if (status == GALVO_OK)
			status = err_set(reterr, GALVO_ERR_STATE,
			                 "no stream is set, see galvo_tracker_set_stream");
		err_wrap(reterr, "GPU regions");
		return status;
	}
	failure = atomic_load_explicit(&s->context->broken, memory_order_acquire);
	if (!failure)
		return GALVO_OK;
	gpu_put_failure(failure, why, sizeof(why));
	return err_set(reterr, GALVO_ERR_STATE, "GPU regions: the CUDA context is lost: %s", why);
}

/* ---- callers --------------------------------------------------------------------------------------- */

/*
 * Whoever is inside may use events. The worker destroys them when nobody is, after the stop: each side
 * writes its own and then reads the other's, so that one order of all four is needed.
 */
static bool enter(const galvo_tracker *t)
{
	atomic_fetch_add(&t->gpu->inside, 1);
	if (t->ring && atomic_load(&t->gate->is_recording))
		return true;
	atomic_fetch_sub(&t->gpu->inside, 1);
	return false;
}

static void leave(const galvo_tracker *t)
{
	atomic_fetch_sub_explicit(&t->gpu->inside, 1, memory_order_release);
}

/*
 * Lets the stream note when it gets there. The default streams are those of the current context, which
 * may be another one on this thread.
 */
static int note(const struct gpu *g, const struct gpu_stream *s, void *event)
{
	void *const handle = s->context->handle;
	int status = CUDA_CAPTURE_NONE, result;
	bool is_pushed = false;
	void *current = NULL;

	if (atomic_load_explicit(&s->context->broken, memory_order_relaxed))
		return CUDA_CONTEXT_IS_DESTROYED;
	result = g->cuda.ctx_get_current(&current);
	if (!result && current != handle) {
		result = g->cuda.ctx_push(handle);
		is_pushed = !result;
	}
	if (!result)
		result = g->cuda.stream_is_capturing(s->handle, &status);
	if (!result && status != CUDA_CAPTURE_NONE)
		result = CUDA_STREAM_CAPTURE_UNSUPPORTED;
	if (!result)
		result = g->cuda.event_record(event, s->handle);
	if (is_pushed)
		g->cuda.ctx_pop(&current);
	return result;
}

/* What is not noted, and why. */
static void refuse(struct gpu *g, const struct gpu_stream *s, int result)
{
	if (result >= CUDA_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_STREAM_CAPTURE_WRONG_THREAD) {
		count_one(&g->ring->gpu_capturing);
		return;
	}
	gpu_break(g, s->context, CALL_RECORD, result);
	count_one(&g->ring->gpu_failed);
}

/* A slot whose start is noted; NULL, and counted. */
static struct gpu_slot *begin(struct gpu *g)
{
	struct gpu_stream *s = atomic_load_explicit(&g->bound, memory_order_acquire);
	struct gpu_slot *slot;
	int result;

	if (!s) {
		count_one(&g->ring->gpu_unbound);
		return NULL;
	}
	slot = gpu_slot_take(g, s->context);
	if (!slot) {
		count_one(&g->ring->gpu_no_room);
		return NULL;
	}
	result = note(g, s, slot->start);
	if (result) {
		refuse(g, s, result);
		gpu_slot_give(g, slot);
		return NULL;
	}
	slot->stream = s;
	slot->end_thread = 0;
	slot->start_mono_ns = slot->start_error_ns = 0;
	return slot;
}

/* What begins there, told to the reader; false: there is no room for it, and the slot is free again. */
static bool tell(galvo_tracker *t, struct gpu_slot *slot, enum record_kind kind, struct span name)
{
	uint32_t pid, thread = caller_number(t, &pid);

	slot->is_mark = slot->has_end = kind == RECORD_GPU_MARK;
	slot->region = ring_begin(t, kind, name, 0, thread, pid);
	if (!slot->region)
		gpu_slot_give(t->gpu, slot);
	return slot->region != 0;
}

uint64_t gpu_begin(galvo_tracker *t, struct span name)
{
	struct gpu_slot *slot;
	uint64_t id = 0;

	if (!enter(t))
		return 0;
	slot = ring_is_crowded(t->ring) ? NULL : begin(t->gpu);
	if (slot && tell(t, slot, RECORD_GPU_BEGIN, name)) {
		id = (uint64_t)(slot - t->gpu->slots) << SLOT_SHIFT | slot->region;
		atomic_store_explicit(&slot->id, id, memory_order_release);
	}
	leave(t);
	return id;
}

void gpu_mark(galvo_tracker *t, struct span name)
{
	struct gpu_slot *slot;

	if (!enter(t))
		return;
	slot = begin(t->gpu);
	if (slot && tell(t, slot, RECORD_GPU_MARK, name))
		gpu_put_ended(t->gpu, slot);
	leave(t);
}

/* Whoever takes the id ends the region. NULL: somebody has, or the worker gave it up with its context. */
static struct gpu_slot *take(struct gpu *g, uint64_t id)
{
	const uint64_t number = id >> SLOT_SHIFT;
	struct gpu_slot *slot;

	if (!atomic_load_explicit(&g->bound, memory_order_acquire) || number >= GPU_SLOTS) {
		count_one(&g->ring->unmatched);
		return NULL;
	}
	slot = &g->slots[number];
	if (atomic_compare_exchange_strong_explicit(&slot->id, &id, 0, memory_order_acquire,
	                                            memory_order_relaxed))
		return slot;
	if (!slot->context || !atomic_load_explicit(&slot->context->broken, memory_order_relaxed))
		count_one(&g->ring->unmatched);
	return NULL;
}

void gpu_end(galvo_tracker *t, uint64_t id)
{
	struct gpu *g = t->gpu;
	struct gpu_slot *slot;
	uint32_t pid;
	int result;

	if (!enter(t))
		return;
	slot = take(g, id);
	if (slot) {
		result = note(g, slot->stream, slot->end);
		if (result)
			refuse(g, slot->stream, result);
		slot->has_end = !result;
		slot->end_mono_ns = g->clock->mono_ns(g->clock);
		slot->end_thread = caller_number(t, &pid);
		gpu_put_ended(g, slot);
	}
	leave(t);
}
