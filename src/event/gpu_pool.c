/* Contexts of the program's, and in each of them CUDA events of ours for regions that are on their way. */
#include "gpu.h"

static const char *const gpu_calls[] = {
	[CALL_RECORD] = "cuEventRecord", [CALL_QUERY] = "cuEventQuery",
	[CALL_ELAPSED] = "cuEventElapsedTime", [CALL_CONTEXT] = "cuCtxGetId",
};

void gpu_put_failure(uint32_t failure, char *to, size_t cap)
{
	const uint32_t call = failure >> 16;
	galvo_error e = {0};

	if (call && call < ARRAY_LEN(gpu_calls))
		cuda_failed(&e, gpu_calls[call], (int)(failure & 0xffff));
	utf8_copy(to, cap, span_str(e.text));
}

/* Who has waited in vain for the worker has no ring any more. */
bool gpu_lock_ring(struct gpu *g)
{
	pthread_mutex_lock(&g->lock);
	if (!g->is_abandoned) {
		count_one(&g->ring->gpu_beats);
		return true;
	}
	pthread_mutex_unlock(&g->lock);
	return false;
}

void gpu_unlock_ring(struct gpu *g)
{
	pthread_mutex_unlock(&g->lock);
}

void gpu_beat(struct gpu *g)
{
	if (gpu_lock_ring(g))
		gpu_unlock_ring(g);
}

uint32_t gpu_note_failure(struct gpu *g, enum gpu_call call, int result)
{
	uint32_t none = 0, failure = (uint32_t)call << 16 | (uint32_t)result;

	if (gpu_lock_ring(g)) {
		atomic_compare_exchange_strong(&g->ring->gpu_failure, &none, failure);
		gpu_unlock_ring(g);
	}
	return failure;
}

void gpu_break(struct gpu *g, struct gpu_context *c, enum gpu_call call, int result)
{
	uint32_t none = 0;

	atomic_compare_exchange_strong(&c->broken, &none, gpu_note_failure(g, call, result));
}

/* ---- what surrounds calls ------------------------------------------------------------------------- */

int gpu_relax(const struct gpu *g)
{
	int mode = CUDA_CAPTURE_MODE_RELAXED;

	if (g->cuda.exchange_capture_mode)
		g->cuda.exchange_capture_mode(&mode);
	return mode;
}

void gpu_restore(const struct gpu *g, int mode)
{
	if (g->cuda.exchange_capture_mode)
		g->cuda.exchange_capture_mode(&mode);
}

/* Another one may have its handle by now. */
static int ask_whether_same(const struct gpu *g, const struct gpu_context *c)
{
	unsigned long long id;
	int result;

	if (!c->has_id)
		return CUDA_OK;
	result = g->cuda.ctx_get_id(c->handle, &id);
	return result ? result : id == c->id ? CUDA_OK : CUDA_CONTEXT_IS_DESTROYED;
}

bool gpu_enter(struct gpu *g, struct gpu_context *c)
{
	int result;

	if (atomic_load_explicit(&c->broken, memory_order_acquire))
		return false;
	result = ask_whether_same(g, c);
	if (!result)
		result = g->cuda.ctx_push(c->handle);
	if (result)
		gpu_break(g, c, CALL_CONTEXT, result);
	return !result;
}

void gpu_leave(struct gpu *g)
{
	void *popped;

	g->cuda.ctx_pop(&popped);
}

/* ---- slots ----------------------------------------------------------------------------------------- */

/*
 * What is next to a slot that somebody else took is no matter: the count above the number tells. Whoever
 * takes half of them wakes the worker, which makes more.
 */
struct gpu_slot *gpu_slot_take(struct gpu *g, struct gpu_context *c)
{
	uint64_t top = atomic_load_explicit(&c->free, memory_order_acquire), then;
	struct gpu_slot *slot;
	uint32_t in_use;

	do {
		if (!(uint32_t)top)
			return NULL;
		slot = &g->slots[(uint32_t)top - 1];
		then = ((top >> 32) + 1) << 32 |
		       atomic_load_explicit(&slot->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&c->free, &top, then, memory_order_acquire,
	                                                memory_order_acquire));
	in_use = atomic_fetch_add_explicit(&c->in_use, 1, memory_order_relaxed);
	if (in_use == atomic_load_explicit(&c->made, memory_order_relaxed) / 2)
		clock_wake(&g->wake);
	return slot;
}

static void put_free(struct gpu *g, struct gpu_context *c, struct gpu_slot *slot)
{
	const uint64_t number = (uint64_t)(slot - g->slots) + 1;
	uint64_t top = atomic_load_explicit(&c->free, memory_order_relaxed);

	do
		atomic_store_explicit(&slot->next, (uint32_t)top, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&c->free, &top, ((top >> 32) + 1) << 32 | number,
	                                              memory_order_release, memory_order_relaxed));
}

void gpu_slot_give(struct gpu *g, struct gpu_slot *slot)
{
	struct gpu_context *c = slot->context;

	atomic_fetch_sub_explicit(&c->in_use, 1, memory_order_relaxed);
	put_free(g, c, slot);
}

/* Both of its events, or none. */
static bool make_slot(struct gpu *g, struct gpu_context *c)
{
	struct gpu_slot *slot;
	void *start, *end;

	if (atomic_load_explicit(&g->slots_made, memory_order_relaxed) >= GPU_SLOTS ||
	    g->cuda.event_create(&start, CUDA_EVENT_DEFAULT))
		return false;
	if (g->cuda.event_create(&end, CUDA_EVENT_DEFAULT)) {
		g->cuda.event_destroy(start);
		return false;
	}
	slot = &g->slots[atomic_fetch_add_explicit(&g->slots_made, 1, memory_order_relaxed)];
	slot->start = start;
	slot->end = end;
	slot->context = c;
	put_free(g, c, slot);
	return true;
}

/* Only what was made is counted: there is room for GPU_SLOTS_FIRST of each context, and for the others. */
void gpu_grow(struct gpu *g, struct gpu_context *c)
{
	const uint32_t made = atomic_load_explicit(&c->made, memory_order_relaxed);
	uint32_t n = GPU_SLOTS_FIRST, i = 0;

	if (made)
		n = made < GPU_SLOTS_MORE - g->more_used ? made : GPU_SLOTS_MORE - g->more_used;
	while (i < n && make_slot(g, c))
		i++;
	if (made)
		g->more_used += i;
	atomic_store_explicit(&c->made, made + i, memory_order_relaxed);
	c->is_full = i < n || !n;
}

/* ---- contexts -------------------------------------------------------------------------------------- */

static galvo_status fill(struct gpu *g, struct gpu_context *c, galvo_error *reterr)
{
	int result;

	if (g->cuda.ctx_get_id)
		c->has_id = g->cuda.ctx_get_id(c->handle, &c->id) == CUDA_OK;
	result = g->cuda.ctx_push(c->handle);
	if (result)
		return cuda_failed(reterr, "cuCtxPushCurrent", result);
	result = gpu_clock_init(g, &c->clock);
	if (!result) {
		gpu_grow(g, c);
		if (!atomic_load(&c->made)) {
			gpu_clock_finish(g, &c->clock);
			result = CUDA_OUT_OF_MEMORY;
		}
	}
	gpu_leave(g);
	return result ? cuda_failed(reterr, "CUDA events", result) : GALVO_OK;
}

galvo_status gpu_context_of(struct gpu *g, void *handle, struct gpu_context **ret, galvo_error *reterr)
{
	const uint32_t n = atomic_load_explicit(&g->contexts_len, memory_order_relaxed);
	struct gpu_context *c;
	galvo_status status;

	for (c = g->contexts; c < g->contexts + n; c++)
		if (c->handle == handle && !atomic_load(&c->broken) && !ask_whether_same(g, c)) {
			*ret = c;
			return GALVO_OK;
		}
	if (n == GPU_CONTEXTS)
		return err_set(reterr, GALVO_ERR_NOMEM, "more than %d CUDA contexts", GPU_CONTEXTS);
	*c = (struct gpu_context){.handle = handle};
	c->done.end = &c->done.first;
	status = fill(g, c, reterr);
	if (status != GALVO_OK)
		return status;
	atomic_store_explicit(&g->contexts_len, n + 1, memory_order_release);
	*ret = c;
	return GALVO_OK;
}

/* In a context that is gone all of it went with it. */
static void tear_down(struct gpu *g, struct gpu_context *c)
{
	const uint32_t n = atomic_load_explicit(&g->slots_made, memory_order_relaxed);
	struct gpu_slot *slot;

	if (!gpu_enter(g, c))
		return;
	for (slot = g->slots; slot < g->slots + n; slot++) {
		if (slot->context != c)
			continue;
		gpu_beat(g);
		g->cuda.event_destroy(slot->start);
		g->cuda.event_destroy(slot->end);
	}
	gpu_clock_finish(g, &c->clock);
	gpu_leave(g);
}

void gpu_tear_down(struct gpu *g)
{
	const uint32_t n = atomic_load_explicit(&g->contexts_len, memory_order_acquire);
	uint32_t i;

	for (i = 0; i < n; i++)
		tear_down(g, &g->contexts[i]);
}
