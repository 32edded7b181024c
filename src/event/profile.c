/* The event profiler: its thread takes records out of the ring, and writes what has ended. */
#include <unistd.h>

#include "internal.h"

enum {
	RELEASE_EVERY = 256, /* records after which callers hear of free cells */
};

static const uint64_t WAIT_MAX_NS = 100 * NS_PER_MS, WAIT_MIN_NS = NS_PER_MS;

/* Takes over the ring, if there is one; is_read: here, and not in another process. */
static galvo_status create(const struct world *world, struct ring *ring, bool is_read,
                           struct events **ret_events, galvo_error *reterr)
{
	struct events *e = alloc_array(1, sizeof(*e));
	galvo_status status = GALVO_OK;

	if (!e) {
		ring_destroy(ring);
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	e->ring = ring;
	e->gate = ring ? gate_create(!is_read) : NULL;
	if (ring && (!e->gate || (is_read && (!open_init(&e->open) || !open_init(&e->asked)))))
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for regions%s",
		                 is_read ? "" : ", or none that fork empties (Linux 4.14)");
	e->world = world;
	e->host = (galvo_tracker){DOMAIN_GENERIC, e->gate, ring, world->clock, NULL};
	e->gpu = (galvo_tracker){DOMAIN_GPU, e->gate, ring, world->clock,
	                         ring ? gpu_create(ring, world->clock) : NULL};
	if (status == GALVO_OK && ring && !e->gpu.gpu)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for regions");
	if (status == GALVO_OK)
		*ret_events = e;
	else
		events_destroy(e);
	return status;
}

galvo_status events_create(const struct world *world, bool is_wanted, struct events **ret_events,
                           galvo_error *reterr)
{
	struct ring *ring = is_wanted ? ring_create() : NULL;

	if (is_wanted && !ring)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for regions");
	return create(world, ring, true, ret_events, reterr);
}

galvo_status events_create_callers(const struct world *world, struct events **ret_events,
                                   int *ret_ring_fd, galvo_error *reterr)
{
	struct ring *ring;
	galvo_status status = ring_create_shared(&ring, ret_ring_fd, reterr);

	if (status != GALVO_OK)
		return status;
	status = create(world, ring, false, ret_events, reterr);
	if (status == GALVO_OK)
		gpu_start((*ret_events)->gpu.gpu, NULL); /* nothing to do yet, so nothing that fails */
	else
		close(*ret_ring_fd);
	return status;
}

galvo_status events_create_reader(const struct world *world, int ring_fd, struct events **ret_events,
                                  galvo_error *reterr)
{
	struct ring *ring;
	galvo_status status = ring_map(ring_fd, &ring, reterr);

	return status == GALVO_OK ? create(world, ring, true, ret_events, reterr) : status;
}

void events_destroy(struct events *e)
{
	if (!e)
		return;
	gpu_destroy(e->gpu.gpu);
	open_finish(&e->open);
	open_finish(&e->asked);
	gate_destroy(e->gate);
	ring_destroy(e->ring);
	free(e);
}

galvo_tracker *events_tracker(struct events *e, enum time_domain domain)
{
	return domain == DOMAIN_GPU ? &e->gpu : &e->host;
}

/* ---- what is in the ring -------------------------------------------------------------------------- */

static uint64_t now_ns(const struct events *e)
{
	return e->world->clock->mono_ns(e->world->clock);
}

/* Of the GPU: as it was asked, until it is known when that was. */
static void begin(struct events *e, struct open_table *to, enum time_domain domain,
                  const struct record *rec)
{
	const struct region region = {
		.domain = domain, .name = rec->name, .id = rec->id,
		.start_mono_ns = rec->mono_ns, .begin_thread = rec->thread, .pid = rec->pid,
	};

	if (!open_add(to, &region))
		count_one(&e->ring->dropped);
	if (e->open.len >= OPEN_ENOUGH)
		atomic_store_explicit(&e->ring->is_crowded, 1, memory_order_relaxed);
}

/* Clocks of two processes are one, but who speaks first is not who is heard first. */
static void end(struct events *e, struct open_region *o, uint64_t mono_ns, uint32_t thread)
{
	struct region *region = &o->region;

	region->end_mono_ns = mono_ns > region->start_mono_ns ? mono_ns : region->start_mono_ns;
	region->end_thread = thread;
	stream_region(e->stream, region);
	open_remove(&e->open, o);
	if (e->open.len < OPEN_ENOUGH)
		atomic_store_explicit(&e->ring->is_crowded, 0, memory_order_relaxed);
}

/* When the GPU got there. Another process may have said so, of something that is not the GPU's. */
static void take_times(struct events *e, const struct record *rec)
{
	const struct gpu_times *times = &rec->times;
	struct open_region *o = open_find(&e->open, times->id);

	if (!o || o->region.domain != DOMAIN_GPU)
		return;
	o->region.stream = times->stream;
	if (times->error_ns) {
		o->region.start_mono_ns = times->start_mono_ns;
		o->region.error_ns = times->error_ns;
	}
	if (rec->kind == RECORD_GPU_STARTED)
		return;
	o->region.unfinished = times->is_lost;
	end(e, o, rec->mono_ns, rec->thread);
}

static void take_marked(struct events *e, const struct gpu_times *times)
{
	struct open_region *o = open_find(&e->asked, times->id);

	if (!o)
		return;
	if (!times->is_lost)
		stream_mark(e->stream,
		            &(struct mark){.domain = DOMAIN_GPU, .name = o->region.name,
		                           .mono_ns = times->start_mono_ns,
		                           .thread = o->region.begin_thread, .pid = o->region.pid,
		                           .error_ns = times->error_ns, .stream = times->stream});
	open_remove(&e->asked, o);
}

static void take(struct events *e, const struct record *rec)
{
	struct open_region *o;

	switch (rec->kind) {
	case RECORD_BEGIN:
		begin(e, &e->open, DOMAIN_GENERIC, rec);
		break;
	case RECORD_END:
		o = open_find(&e->open, rec->id);
		if (o && o->region.domain == DOMAIN_GENERIC)
			end(e, o, rec->mono_ns, rec->thread);
		else
			count_one(&e->ring->unmatched);
		break;
	case RECORD_GPU_BEGIN:
		begin(e, &e->open, DOMAIN_GPU, rec);
		break;
	case RECORD_GPU_MARK:
		begin(e, &e->asked, DOMAIN_GPU, rec);
		break;
	case RECORD_GPU_STARTED:
	case RECORD_GPU_END:
		take_times(e, rec);
		break;
	case RECORD_GPU_MARKED:
		take_marked(e, &rec->times);
		break;
	case RECORD_MARK:
		stream_mark(e->stream,
		            &(struct mark){.domain = DOMAIN_GENERIC, .name = rec->name,
		                           .mono_ns = rec->mono_ns, .thread = rec->thread,
		                           .pid = rec->pid});
		break;
	}
	if (stream_is_full(e->stream))
		events_flush(e);
}

uint64_t events_drain(struct events *e)
{
	uint64_t from = e->at, n = 0;
	struct record rec;

	while (stream_is_ready(e->stream) && ring_take(e->ring, &e->at, e->text, &rec)) {
		take(e, &rec);
		if (++n % RELEASE_EVERY == 0)
			atomic_store_explicit(&e->ring->head, e->at, memory_order_release);
	}
	atomic_store_explicit(&e->ring->head, e->at, memory_order_release);
	return e->at - from;
}

static uint64_t counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* NULL: nothing is lost. */
static const struct gpu_events *gpu_lost(struct events *e)
{
	const struct ring *r = e->ring;
	struct gpu_events *to = &e->gpu_events;

	to->capturing = counted(&r->gpu_capturing);
	to->no_room = counted(&r->gpu_no_room);
	to->failed = counted(&r->gpu_failed);
	to->unreached = counted(&r->gpu_unreached);
	to->unbound = counted(&r->gpu_unbound);
	if (!(to->capturing | to->no_room | to->failed | to->unreached | to->unbound))
		return NULL;
	gpu_put_failure(atomic_load_explicit(&r->gpu_failure, memory_order_relaxed), to->reason,
	                sizeof(to->reason));
	return to;
}

void events_flush(struct events *e)
{
	const struct clock *clock = e->world->clock;
	uint64_t dropped = atomic_load_explicit(&e->ring->dropped, memory_order_relaxed);
	struct flush_info info = {
		.mono_ns = clock->mono_ns(clock),
		.boot_ns = clock->boot_ns(clock),
		.wall_ns = clock->wall_ns(clock),
		.stats.thread_cpu_ns = (e->world->live ? thread_cpu_ns() : 0) + counted(&e->ring->gpu_cpu_ns),
		.open_regions = e->open.all,
		.open_regions_len = e->open.len,
		.gpu_events = gpu_lost(e),
	};

	stream_count_dropped(e->stream, dropped - e->dropped_counted);
	e->dropped_counted = dropped;
	stream_flush(e->stream, &info);
	e->flushed_mono_ns = info.mono_ns;
}

/* A caller that was stopped in the middle leaves a hole: what is behind it is lost, and counted. */
static void count_unread(struct events *e)
{
	uint64_t tail = atomic_load_explicit(&e->ring->tail, memory_order_relaxed);

	if (tail > e->at)
		atomic_fetch_add_explicit(&e->ring->dropped, tail - e->at, memory_order_relaxed);
}

/* What the worker of the GPU, which may be in another process, has still to say. */
static void await_gpu(struct events *e)
{
	struct gpu_patience patience;

	gpu_finish(e->gpu.gpu);
	gpu_patience_begin(&patience, e->ring);
	while (atomic_load_explicit(&e->ring->gpu_is_working, memory_order_acquire) &&
	       gpu_patience_lasts(&patience, e->ring))
		events_drain(e);
	atomic_store(&e->gpu_hangs, atomic_load(&e->ring->gpu_is_working) != 0);
}

void events_finish(struct events *e)
{
	uint64_t stop_mono_ns = now_ns(e);
	uint64_t until_ns; /* in all */

	await_gpu(e);
	until_ns = clock_real.mono_ns(&clock_real) + STREAM_PATIENCE_NS;
	do
		events_drain(e);
	while (!stream_is_ready(e->stream) && stream_await_ready(e->stream, until_ns));
	count_unread(e);
	while (e->open.len) {
		struct open_region *o = open_find(&e->open, e->open.all[0]->id);

		stream_await_ready(e->stream, until_ns);
		o->region.unfinished = true;
		end(e, o, stop_mono_ns, 0);
		if (stream_is_full(e->stream))
			events_flush(e);
	}
	stream_await_ready(e->stream, until_ns);
	events_flush(e);
	/* Callers in another process may not have heard. */
	atomic_store_explicit(&e->ring->is_closed, 1, memory_order_relaxed);
	atomic_store_explicit(&e->ring->is_crowded, 1, memory_order_relaxed);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

/* Callers wake nobody: the more there was, the sooner the next look. */
static uint64_t next_wait_ns(uint64_t wait_ns, uint64_t cells)
{
	if (cells > CELLS / 16)
		return wait_ns / 4 > WAIT_MIN_NS ? wait_ns / 4 : WAIT_MIN_NS;
	if (cells < CELLS / 64)
		return wait_ns * 2 < WAIT_MAX_NS ? wait_ns * 2 : WAIT_MAX_NS;
	return wait_ns;
}

static void *run(void *arg)
{
	struct events *e = arg;
	const struct clock *clock = e->world->clock;
	uint64_t wait_ns = WAIT_MIN_NS;

	pthread_setname_np(pthread_self(), "galvo-event");
	while (!atomic_load_explicit(&e->stop, memory_order_acquire)) {
		uint64_t flush_ns = e->flushed_mono_ns + e->flush_interval_ns;
		uint64_t until_ns = now_ns(e) + wait_ns;

		clock->sleep_until(clock, until_ns < flush_ns ? until_ns : flush_ns, &e->stop);
		wait_ns = next_wait_ns(wait_ns, events_drain(e));
		if (now_ns(e) >= flush_ns && stream_is_ready(e->stream))
			events_flush(e);
	}
	events_finish(e);
	return NULL;
}

void events_open_callers(struct events *e)
{
	atomic_store(&e->gate->start_mono_ns, now_ns(e));
	atomic_store(&e->gate->pid, (uint32_t)getpid());
	atomic_store(&e->gate->is_recording, 1);
}

void events_open(struct events *e, struct stream *stream, uint64_t flush_interval_ns)
{
	e->stream = stream;
	e->flush_interval_ns = flush_interval_ns;
	e->flushed_mono_ns = now_ns(e);
	events_open_callers(e);
}

galvo_status events_start(struct events *e, galvo_error *reterr)
{
	galvo_status status = gpu_start(e->gpu.gpu, reterr);
	int failed;

	if (status != GALVO_OK) {
		atomic_store(&e->gate->is_recording, 0);
		return status;
	}
	failed = thread_start(&e->thread, run, e);
	if (failed) {
		atomic_store(&e->gate->is_recording, 0);
		return err_sys(reterr, failed, "cannot start the thread of events");
	}
	e->is_running = true;
	return GALVO_OK;
}

void events_signal_stop(struct events *e)
{
	atomic_store(&e->gate->is_recording, 0); /* in one order with who is inside, see gpu.c */
	gpu_signal_stop(e->gpu.gpu);
	clock_wake(&e->stop);
}

void events_join(struct events *e)
{
	if (e->is_running)
		pthread_join(e->thread, NULL);
	e->is_running = false;
	gpu_join(e->gpu.gpu);
}

void events_count(const struct events *e, struct events_counts *ret)
{
	const struct ring *r = e->ring;

	ret->dropped = atomic_load_explicit(&r->dropped, memory_order_relaxed);
	ret->unmatched = atomic_load_explicit(&r->unmatched, memory_order_relaxed);
	ret->refused = atomic_load_explicit(&r->refused, memory_order_relaxed);
	ret->gpu_hangs = atomic_load(&e->gpu_hangs);
}
