/* The worker: which regions the GPU has got through, when that was on our clock, and saying so. */
#include <unistd.h>

#include "gpu.h"

static const uint64_t IDLE_NS = 20 * NS_PER_MS,  /* between two looks: nothing is on its way, */
	WAITING_NS = 5 * NS_PER_MS,              /* or something is, */
	PRESSED_NS = NS_PER_MS,                  /* or much is */
	LOOK_EVERY_NS = 500 * NS_PER_MS,         /* at regions that are open */
	LINGER_NS = 200 * NS_PER_MS,             /* for what the GPU has not got to at the stop */
	CALLERS_NS = 100 * NS_PER_MS;            /* for callers that are inside then */

enum { DISORDER = 32 }; /* ended regions in a row that are not reached, before a look at a stream ends */

/* ---- lists ----------------------------------------------------------------------------------------- */

static void append(struct gpu_list *l, struct gpu_slot *slot)
{
	slot->behind = NULL;
	*l->end = slot;
	l->end = &slot->behind;
}

static struct gpu_slot *take_first(struct gpu_list *l)
{
	struct gpu_slot *slot = l->first;

	if (!slot)
		return NULL;
	l->first = slot->behind;
	if (!l->first)
		l->end = &l->first;
	return slot;
}

void gpu_put_ended(struct gpu *g, struct gpu_slot *slot)
{
	const uint32_t number = (uint32_t)(slot - g->slots) + 1;
	uint32_t top = atomic_load_explicit(&g->ended, memory_order_relaxed);

	do
		atomic_store_explicit(&slot->next, top, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&g->ended, &top, number, memory_order_release,
	                                              memory_order_relaxed));
}

/* What has ended since the last look, to its streams, in the order in which it did. */
static void sort_ended(struct gpu *g)
{
	uint32_t number = atomic_exchange_explicit(&g->ended, 0, memory_order_acquire);
	struct gpu_slot *slot, *turned = NULL;

	while (number) {
		slot = &g->slots[number - 1];
		number = atomic_load_explicit(&slot->next, memory_order_relaxed);
		slot->behind = turned;
		turned = slot;
	}
	while (turned) {
		slot = turned;
		turned = slot->behind;
		append(&slot->stream->ended, slot);
	}
}

/* ---- saying so ------------------------------------------------------------------------------------- */

static void tell(struct gpu *g, enum record_kind kind, const struct gpu_times *times,
                 uint64_t end_mono_ns, uint32_t thread)
{
	if (!gpu_lock_ring(g))
		return;
	ring_put_times(g->ring, kind, times, end_mono_ns, thread);
	gpu_unlock_ring(g);
}

static void count(struct gpu *g, _Atomic uint64_t *counter)
{
	if (!gpu_lock_ring(g))
		return;
	count_one(counter);
	gpu_unlock_ring(g);
}

static struct gpu_times times_of(const struct gpu_slot *slot)
{
	return (struct gpu_times){
		.id = slot->region, .start_mono_ns = slot->start_mono_ns,
		.error_ns = slot->start_error_ns, .stream = slot->stream->number,
	};
}

/* What is known of a region whose end will never be; of a mark that is nothing. No end is counted before. */
static void lose(struct gpu *g, const struct gpu_slot *slot)
{
	struct gpu_times times = times_of(slot);

	if (slot->has_end)
		count(g, &g->ring->gpu_failed);
	times.is_lost = 1;
	tell(g, slot->is_mark ? RECORD_GPU_MARKED : RECORD_GPU_END, &times,
	     slot->has_end ? g->clock->mono_ns(g->clock) : slot->end_mono_ns, slot->end_thread);
}

/* ---- what is reached ------------------------------------------------------------------------------- */

/* Its end is, and so its start, which a stream of another thread may yet have to get to. */
static int query(const struct gpu *g, const struct gpu_slot *slot)
{
	int result = CUDA_OK;

	if (slot->has_end && !slot->is_mark)
		result = g->cuda.event_query(slot->end);
	return result ? result : g->cuda.event_query(slot->start);
}

/* A result that ruins the context, or 0. */
static int collect(const struct gpu *g, struct gpu_stream *s, struct gpu_list *done)
{
	struct gpu_list rest = {.end = &rest.first};
	struct gpu_slot *slot;
	int left = DISORDER, result = CUDA_OK;

	while (left && !result && (slot = take_first(&s->ended))) {
		result = query(g, slot);
		if (result == CUDA_OK) {
			append(done, slot);
			continue;
		}
		append(&rest, slot);
		left--;
		if (result == CUDA_NOT_READY)
			result = CUDA_OK;
	}
	if (rest.first) {
		*rest.end = s->ended.first;
		s->ended.end = s->ended.first ? s->ended.end : rest.end;
		s->ended.first = rest.first;
	}
	return result;
}

/* On our clock, all of it that there is. */
static int place(struct gpu *g, struct gpu_clock *k, const struct gpu_slot *slot,
                 struct gpu_instant *ret_start, struct gpu_instant *ret_end)
{
	int result = CUDA_OK;

	*ret_start = (struct gpu_instant){slot->start_mono_ns, slot->start_error_ns};
	*ret_end = (struct gpu_instant){slot->end_mono_ns, 0};
	if (slot->is_mark || !slot->has_end)
		return ret_start->error_ns ? CUDA_OK : gpu_clock_place(g, k, slot->start, ret_start);
	result = gpu_clock_place(g, k, slot->end, ret_end);
	if (!result && !ret_start->error_ns)
		result = gpu_clock_place_start(g, k, slot->start, slot->end, ret_end, ret_start);
	return result;
}

static void resolve(struct gpu *g, struct gpu_context *c, struct gpu_slot *slot)
{
	struct gpu_times times = times_of(slot);
	struct gpu_instant start, end;
	int result = place(g, &c->clock, slot, &start, &end);

	if (result) {
		gpu_note_failure(g, CALL_ELAPSED, result);
		lose(g, slot);
	} else {
		times.start_mono_ns = start.mono_ns;
		times.error_ns = start.error_ns > end.error_ns ? start.error_ns : end.error_ns;
		times.is_lost = !slot->has_end;
		tell(g, slot->is_mark ? RECORD_GPU_MARKED : RECORD_GPU_END, &times, end.mono_ns,
		     slot->end_thread);
	}
	gpu_slot_give(g, slot);
}

/* ---- what is open ---------------------------------------------------------------------------------- */

/* A start that is reached, of a region that has no end yet: told now, it is as exact as can be. */
static void tell_start(struct gpu *g, struct gpu_clock *k, struct gpu_slot *slot)
{
	struct gpu_instant start;
	struct gpu_times times;

	if (slot->is_mark || slot->start_error_ns || !k->len || g->cuda.event_query(slot->start) ||
	    gpu_clock_place(g, k, slot->start, &start))
		return;
	slot->start_mono_ns = start.mono_ns;
	slot->start_error_ns = start.error_ns;
	times = times_of(slot);
	tell(g, RECORD_GPU_STARTED, &times, 0, 0);
}

/* The next slot of the context with an open region, from *at on; NULL: there is none. */
static struct gpu_slot *next_open(struct gpu *g, const struct gpu_context *c, uint32_t *at)
{
	const uint32_t n = atomic_load_explicit(&g->slots_made, memory_order_relaxed);

	while (*at < n) {
		struct gpu_slot *slot = &g->slots[(*at)++];

		if (atomic_load_explicit(&slot->id, memory_order_acquire) && slot->context == c)
			return slot;
	}
	return NULL;
}

static void look_at_open(struct gpu *g, struct gpu_context *c, uint64_t mono_ns)
{
	struct gpu_slot *slot;
	uint32_t at = 0;

	if (mono_ns - c->looked_mono_ns < LOOK_EVERY_NS)
		return;
	c->looked_mono_ns = mono_ns;
	while ((slot = next_open(g, c, &at)))
		tell_start(g, &c->clock, slot);
}

/* ---- a look at all of it --------------------------------------------------------------------------- */

/* The next stream of the context, from *at on. */
static struct gpu_stream *next_stream(struct gpu *g, const struct gpu_context *c, uint32_t *at)
{
	const uint32_t n = atomic_load_explicit(&g->streams_len, memory_order_acquire);

	while (*at < n && g->streams[*at].context != c)
		(*at)++;
	return *at < n ? &g->streams[(*at)++] : NULL;
}

/* Whatever was on its way in a context that is broken. */
static void give_up(struct gpu *g, struct gpu_context *c)
{
	struct gpu_stream *s;
	struct gpu_slot *slot;
	uint32_t at = 0;

	while ((s = next_stream(g, c, &at)))
		while ((slot = take_first(&s->ended)))
			lose(g, slot);
	while ((slot = take_first(&c->done)))
		lose(g, slot);
	for (at = 0; !c->is_given_up && (slot = next_open(g, c, &at));) {
		if (!atomic_exchange(&slot->id, 0))
			continue; /* its end came first */
		slot->has_end = true;
		lose(g, slot);
	}
	c->is_given_up = true;
}

/* Entered. A result that ruins the context, or 0. */
static int look(struct gpu *g, struct gpu_context *c)
{
	const uint64_t mono_ns = g->clock->mono_ns(g->clock);
	struct gpu_stream *s;
	struct gpu_slot *slot;
	int result = CUDA_OK;
	uint32_t at = 0;

	while (!result && (s = next_stream(g, c, &at)))
		result = collect(g, s, &c->done);
	if (result) {
		gpu_break(g, c, CALL_QUERY, result);
		return result;
	}
	if (gpu_clock_is_due(&c->clock, mono_ns))
		result = gpu_clock_anchor(g, &c->clock);
	if (result && result != CUDA_NOT_READY) {
		gpu_break(g, c, CALL_RECORD, result);
		return result;
	}
	if (!c->clock.len)
		return CUDA_OK;
	while ((slot = take_first(&c->done)))
		resolve(g, c, slot);
	look_at_open(g, c, mono_ns);
	return CUDA_OK;
}

static void work_on(struct gpu *g, struct gpu_context *c)
{
	bool is_sound;

	if (!atomic_load_explicit(&c->in_use, memory_order_acquire) && c->clock.len)
		return;
	is_sound = gpu_enter(g, c);
	if (is_sound) {
		is_sound = look(g, c) == CUDA_OK;
		if (is_sound && !c->is_full && 2 * atomic_load(&c->in_use) >= atomic_load(&c->made))
			gpu_grow(g, c);
		gpu_leave(g);
	}
	if (!is_sound)
		give_up(g, c);
}

void gpu_work(struct gpu *g)
{
	const uint32_t n = atomic_load_explicit(&g->contexts_len, memory_order_acquire);
	const int mode = n ? gpu_relax(g) : 0;
	uint32_t i;

	gpu_beat(g);
	sort_ended(g);
	for (i = 0; i < n; i++)
		work_on(g, &g->contexts[i]);
	if (n)
		gpu_restore(g, mode);
}

/* ---- the end --------------------------------------------------------------------------------------- */

/* Something has ended that the GPU has yet to get to. */
static bool is_waiting(struct gpu *g)
{
	const uint32_t streams_len = atomic_load(&g->streams_len), n = atomic_load(&g->contexts_len);
	uint32_t i;

	for (i = 0; i < streams_len; i++)
		if (g->streams[i].ended.first)
			return true;
	for (i = 0; i < n; i++)
		if (g->contexts[i].done.first)
			return true;
	return false;
}

static void leave_slot(struct gpu *g, struct gpu_context *c, struct gpu_slot *slot)
{
	tell_start(g, &c->clock, slot);
	if (slot->has_end)
		count(g, &g->ring->gpu_unreached);
	else
		lose(g, slot);
}

/* Regions stay open, and end with the recording. */
static void leave_unreached(struct gpu *g, struct gpu_context *c)
{
	struct gpu_stream *s;
	struct gpu_slot *slot;
	uint32_t at = 0;

	if (!gpu_enter(g, c)) {
		give_up(g, c);
		return;
	}
	while ((s = next_stream(g, c, &at)))
		while ((slot = take_first(&s->ended)))
			leave_slot(g, c, slot);
	while ((slot = take_first(&c->done)))
		leave_slot(g, c, slot);
	for (at = 0; (slot = next_open(g, c, &at));)
		if (atomic_exchange(&slot->id, 0))
			tell_start(g, &c->clock, slot);
	gpu_leave(g);
}

static void nap(struct gpu *g)
{
	_Atomic uint32_t never = 0;

	g->clock->sleep_until(g->clock, g->clock->mono_ns(g->clock) + NS_PER_MS, &never);
}

/* Until all callers have left that came before the stop; false: some have not, and use events. */
static bool await_callers(struct gpu *g)
{
	const uint64_t until_ns = g->clock->mono_ns(g->clock) + CALLERS_NS;

	while (atomic_load(&g->inside)) {
		if (g->clock->mono_ns(g->clock) >= until_ns)
			return false;
		nap(g);
	}
	return true;
}

static void finish(struct gpu *g)
{
	const uint64_t until_ns = g->clock->mono_ns(g->clock) + LINGER_NS;
	const bool is_alone = await_callers(g);
	uint32_t i;
	int mode;

	gpu_work(g);
	while (is_waiting(g) && g->clock->mono_ns(g->clock) < until_ns) {
		nap(g);
		gpu_work(g);
	}
	mode = gpu_relax(g);
	for (i = 0; i < atomic_load(&g->contexts_len); i++)
		leave_unreached(g, &g->contexts[i]);
	if (gpu_lock_ring(g)) {
		atomic_store_explicit(&g->ring->gpu_is_working, 0, memory_order_release);
		gpu_unlock_ring(g);
	}
	if (is_alone)
		gpu_tear_down(g);
	gpu_restore(g, mode);
}

void gpu_finish_once(struct gpu *g)
{
	if (atomic_load(&g->is_running) || g->is_abandoned || atomic_load(&g->done))
		return;
	if (atomic_load(&g->contexts_len))
		finish(g);
	atomic_store(&g->done, 1);
}

void gpu_finish(struct gpu *g)
{
	if (!g->is_threaded)
		gpu_finish_once(g);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static uint64_t wait_ns(struct gpu *g)
{
	const uint32_t n = atomic_load_explicit(&g->contexts_len, memory_order_acquire);
	uint64_t least_ns = IDLE_NS;
	uint32_t i, in_use;

	for (i = 0; i < n; i++) {
		if (g->contexts[i].is_given_up)
			continue;
		in_use = atomic_load_explicit(&g->contexts[i].in_use, memory_order_relaxed);
		if (4 * in_use > atomic_load_explicit(&g->contexts[i].made, memory_order_relaxed))
			return PRESSED_NS;
		if (in_use)
			least_ns = WAITING_NS;
	}
	return least_ns;
}

static void tell_cost(struct gpu *g)
{
	if (!gpu_lock_ring(g))
		return;
	atomic_store_explicit(&g->ring->gpu_cpu_ns, thread_cpu_ns(), memory_order_relaxed);
	gpu_unlock_ring(g);
}

static void *run(void *arg)
{
	struct gpu *g = arg;
	bool is_orphan;

	pthread_setname_np(pthread_self(), "galvo-gpu");
	while (!atomic_load_explicit(&g->stop, memory_order_acquire)) {
		atomic_store_explicit(&g->wake, 0, memory_order_relaxed);
		gpu_work(g);
		tell_cost(g);
		if (!atomic_load_explicit(&g->stop, memory_order_acquire))
			g->clock->sleep_until(g->clock, g->clock->mono_ns(g->clock) + wait_ns(g),
			                      &g->wake);
	}
	finish(g);
	tell_cost(g);
	pthread_mutex_lock(&g->lock);
	g->is_over = true;
	is_orphan = g->is_orphan;
	clock_wake(&g->done);
	pthread_mutex_unlock(&g->lock);
	if (is_orphan)
		gpu_free(g);
	return NULL;
}

galvo_status gpu_start_worker(struct gpu *g, galvo_error *reterr)
{
	int failed;

	if (!g->is_threaded || atomic_load(&g->is_running) || !atomic_load(&g->bound))
		return GALVO_OK;
	g->is_over = false;
	atomic_store(&g->is_running, true);
	atomic_store(&g->ring->gpu_is_working, 1);
	failed = thread_start(&g->thread, run, g);
	if (!failed)
		return GALVO_OK;
	atomic_store(&g->ring->gpu_is_working, 0);
	atomic_store(&g->is_running, false);
	g->is_over = true;
	return err_sys(reterr, failed, "GPU regions: cannot start a thread");
}
