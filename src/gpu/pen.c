/* The stream's owner: samples of all devices into rows, and each flush with what has to be known of them. */
#include <math.h>
#include <stdio.h>

#include "pen.h"

static const uint64_t HANGS_NS = 5 * NS_PER_S;      /* a call that has not returned */
static const uint64_t LAST_PATIENCE_NS = NS_PER_S / 4;
static const uint64_t PATIENCE_MIN_NS = NS_PER_S;   /* with devices at the end */
static const uint64_t HUNG_NS = NS_PER_S / 2;       /* and with what hung so long before it */
enum {
	ANCHOR_MS = 50,      /* from one to the next, at least */
	FLUSH_ANCHORS = 512, /* and so many of them in a flush interval, at most */
};

static uint64_t now_ns(const struct pen *p)
{
	return p->world->clock->mono_ns(p->world->clock);
}

static uint64_t load(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/* ---- the newest ---------------------------------------------------------------------------------- */

static bool newest_init(struct newest *n, size_t cap, size_t columns)
{
	pthread_mutex_init(&n->lock, NULL);
	n->cap = cap;
	if (!cap)
		return true;
	n->samples = alloc_array(cap, sizeof(*n->samples));
	n->values = alloc_array(cap, columns * sizeof(*n->values));
	return n->samples && n->values;
}

static void newest_put(struct pen *p, const struct device *d, const struct cell *cell,
                       const double *values)
{
	struct newest *n = &p->newest;
	size_t at;

	if (!n->cap)
		return;
	pthread_mutex_lock(&n->lock);
	if (n->tail - n->head == n->cap) {
		n->head++;
		n->overwritten++;
	}
	at = n->tail++ % n->cap;
	n->samples[at] = (struct kept_sample){
		.gpu = d->info.index,
		.start_mono_ns = cell->start_gpu_ns - (uint64_t)cell->offset_ns,
		.end_mono_ns = cell->end_gpu_ns - (uint64_t)cell->offset_ns,
	};
	memcpy(n->values + at * p->columns_len, values, p->columns_len * sizeof(*values));
	pthread_mutex_unlock(&n->lock);
}

galvo_status pen_drain(struct pen *p, struct counters_sample *ret, uint64_t *ret_overwritten)
{
	struct newest *n = &p->newest;
	galvo_status status = GALVO_DONE;
	size_t at;

	if (!n->cap)
		return status;
	pthread_mutex_lock(&n->lock);
	if (ret_overwritten)
		*ret_overwritten += n->overwritten;
	n->overwritten = 0;
	if (n->head != n->tail) {
		at = n->head++ % n->cap;
		ret->gpu = n->samples[at].gpu;
		ret->start_mono_ns = n->samples[at].start_mono_ns;
		ret->end_mono_ns = n->samples[at].end_mono_ns;
		memcpy(ret->values, n->values + at * p->columns_len,
		       p->columns_len * sizeof(*ret->values));
		status = GALVO_OK;
	}
	pthread_mutex_unlock(&n->lock);
	return status;
}

/* ---- flushing ------------------------------------------------------------------------------------ */

/* The older of the calls that its two threads are in, UINT64_MAX if they are in none. */
static uint64_t in_call_since(const struct device *d, const char **ret_call)
{
	const struct pm_session *s = &d->session;
	uint64_t decoder = atomic_load_explicit(&s->call_mono_ns, memory_order_acquire);
	uint64_t evaluator = atomic_load_explicit(&s->evaluate_mono_ns, memory_order_acquire);

	*ret_call = s->call;
	if (!evaluator || (decoder && decoder <= evaluator))
		return decoder ? decoder : UINT64_MAX;
	*ret_call = "cuptiProfilerHostEvaluateToGpuValues";
	return evaluator;
}

/* A call that hangs is told by who waits for it. */
static void look_for_hang(struct device *d, uint64_t now)
{
	const char *call;
	uint64_t since = in_call_since(d, &call);
	char text[REASON_BYTES];

	if (now < since || now - since < HANGS_NS)
		return;
	snprintf(text, sizeof(text), "%s has not returned for %llu s", call,
	         (unsigned long long)((now - since) / NS_PER_S));
	device_say(d, text);
}

static void sum_up(const struct pen *p, struct device *d, struct decode_stats *to, uint64_t now)
{
	uint64_t since = d->is_usable ? load(&d->session.covered_mono_ns) : 0;

	look_for_hang(d, now);
	to->gpu = d->info.index;
#define X(member, field, meaning) to->member = load(&d->counts.member);
	DECODE_COUNTS(X)
#undef X
	device_reason(d, to->reason);
	if (since < p->began_mono_ns)
		since = p->began_mono_ns;
	/* What is missing up to now is counted when there is a sample again, or at the end. */
	if (to->reason[0] && !(d->is_usable && flag_is_set(&d->decoder_done)) && now > since)
		to->missing_ns += now - since;
}

uint64_t pen_cpu_ns(const struct pen *p)
{
	uint64_t sum = load(&p->cpu_ns);
	size_t i;

	for (i = 0; i < p->devices_len; i++)
		sum += load(&p->devices[i]->decoder_cpu_ns) +
		       load(&p->devices[i]->evaluator_cpu_ns);
	return sum;
}

static void flush(struct pen *p)
{
	const struct clock *clock = p->world->clock;
	struct flush_info info = {
		.mono_ns = now_ns(p),
		.boot_ns = clock->boot_ns(clock),
		.wall_ns = clock->wall_ns(clock),
		.gpus = p->infos,
		.gpus_len = p->devices_len,
		.decodes = p->decodes,
		.decodes_len = p->devices_len,
		.anchors = p->anchors,
		.anchors_len = p->anchors_len,
	};
	size_t i;

	atomic_store_explicit(&p->cpu_ns, thread_cpu_ns(), memory_order_relaxed);
	p->flushed_mono_ns = info.mono_ns;
	/* Not the GPU's clock of now but that of the samples, should it have been set since. */
	info.gpu_ns = p->has_offset ? info.mono_ns + (uint64_t)p->offset_ns : 0;
	for (i = 0; i < p->devices_len; i++) {
		sum_up(p, p->devices[i], &p->decodes[i], info.mono_ns);
		info.stats.ticks += p->decodes[i].decodes;
		info.stats.missed_ticks += p->decodes[i].failures + p->decodes[i].full_images;
		info.stats.rejected_values += p->decodes[i].not_finite;
	}
	info.stats.thread_cpu_ns = pen_cpu_ns(p);
	if (p->stream)
		stream_flush(p->stream, &info);
	p->anchors_len = 0;
	p->rows = 0;
}

/* ---- recording ----------------------------------------------------------------------------------- */

static void note_anchor(struct pen *p, const struct cell *cell)
{
	uint64_t apart = p->flush_interval_ns / FLUSH_ANCHORS;

	if (apart < ANCHOR_MS * NS_PER_MS)
		apart = ANCHOR_MS * NS_PER_MS;
	if (p->anchors_len && cell->mono_ns < p->anchors[p->anchors_len - 1].mono_ns + apart)
		return;
	if (p->anchors_len == ANCHORS_MAX)
		p->anchors_len--;
	p->anchors[p->anchors_len++] =
		(struct gpu_anchor){cell->mono_ns, cell->mono_ns + (uint64_t)cell->offset_ns};
}

static void record(struct pen *p, struct device *d, const struct cell *cell)
{
	double values[ROW_MAX];
	size_t i;

	p->has_offset = true;
	p->offset_ns = cell->offset_ns;
	note_anchor(p, cell);
	for (i = 0; i < p->columns_len; i++)
		values[i] = NAN;
	for (i = 0; i < d->set->names_len; i++)
		values[d->column[i]] = cell->values[i];
	newest_put(p, d, cell, values);
	p->rows++;
	count_up(&d->counts.samples, 1);
	if (p->stream)
		stream_row(p->stream, SCOPE_GPU, cell->end_gpu_ns,
		           (struct row_key){.number = d->info.index,
		                            .duration_ns = cell->end_gpu_ns - cell->start_gpu_ns},
		           values, p->columns_len);
}

/*
 * All samples and anchors of a message are on one clock: where it was set, a new message begins. So the
 * nearest anchor is always the right one, however far it was set, and which way.
 */
static bool needs_flush(const struct pen *p, const struct cell *cell)
{
	return p->rows && (stream_is_full(p->stream) ||
	                   offset_distance(cell->offset_ns, p->offset_ns) > CLOCK_STEP_NS);
}

/* False: the writer is behind with the file, and the rest has to wait in its queue. */
static bool take_all(struct pen *p)
{
	const struct cell *cell;
	size_t i;

	for (i = 0; i < p->devices_len; i++) {
		struct device *d = p->devices[i];

		while (d->is_usable && (cell = queue_first(&d->queue))) {
			if (p->stream && needs_flush(p, cell))
				flush(p);
			if (p->stream && !stream_is_ready(p->stream))
				return false;
			record(p, d, cell);
			queue_take(&d->queue);
		}
	}
	return true;
}

static bool all_done(const struct pen *p)
{
	size_t i;

	for (i = 0; i < p->devices_len; i++)
		if (!device_is_done(p->devices[i]))
			return false;
	return true;
}

/* What is still in the queues is recorded if the file can be waited for; else it is counted. */
static void end(struct pen *p)
{
	uint64_t begin_ns = clock_real.mono_ns(&clock_real), now = begin_ns, known;
	size_t i;

	while (!take_all(p) && now < begin_ns + STREAM_PATIENCE_NS &&
	       !(flag_is_set(&p->give_up) && now >= begin_ns + LAST_PATIENCE_NS)) {
		stream_await_ready(p->stream, now + LAST_PATIENCE_NS / 8);
		now = clock_real.mono_ns(&clock_real);
	}
	for (i = 0; i < p->devices_len; i++) {
		struct device *d = p->devices[i];

		while (d->is_usable && queue_first(&d->queue)) {
			queue_take(&d->queue);
			count_up(&d->counts.unwritten, 1);
		}
		/* What an evaluator that hangs has not made values of. */
		known = load(&d->counts.samples) + load(&d->counts.unwritten);
		if (load(&d->decoded) > known)
			count_up(&d->counts.unwritten, load(&d->decoded) - known);
	}
	flush(p);
}

static void *pen_main(void *arg)
{
	struct pen *p = arg;
	const struct clock *clock = p->world->clock;

	pthread_setname_np(pthread_self(), "galvo-counters");
	for (;;) {
		clock->sleep_until(clock, p->flushed_mono_ns + p->flush_interval_ns, &p->wake);
		atomic_exchange_explicit(&p->wake, 0, memory_order_acq_rel);
		if (flag_is_set(&p->give_up) || (flag_is_set(&p->stop) && all_done(p)))
			break;
		take_all(p);
		if (now_ns(p) >= p->flushed_mono_ns + p->flush_interval_ns ||
		    (p->stream && stream_is_full(p->stream)))
			flush(p);
	}
	end(p);
	clock_wake(&p->done);
	return NULL;
}

/* ---- from outside ---------------------------------------------------------------------------------- */

bool pen_init(struct pen *p, size_t drain_samples)
{
	p->decodes = alloc_array(p->devices_len, sizeof(*p->decodes));
	return newest_init(&p->newest, drain_samples, p->columns_len) && p->decodes;
}

void pen_finish(struct pen *p)
{
	free(p->decodes);
	free(p->newest.samples);
	free(p->newest.values);
	pthread_mutex_destroy(&p->newest.lock);
}

galvo_status pen_start(struct pen *p, galvo_error *reterr)
{
	size_t i;
	int failed;

	for (i = 0; i < p->devices_len; i++) {
		const struct pm_plan *plan = &p->devices[i]->session.plan;

		if (!p->devices[i]->is_usable)
			continue;
		p->decodes[i].interval_ns = plan->interval_ns;
		p->decodes[i].buffer_bytes = plan->buffer_bytes;
		p->decodes[i].sample_bytes = p->devices[i]->set->sample_bytes;
	}
	p->began_mono_ns = p->flushed_mono_ns = now_ns(p);
	failed = thread_start(&p->thread, pen_main, p);
	if (failed)
		return err_sys(reterr, failed, "cannot start the thread that records counters");
	p->is_running = true;
	return GALVO_OK;
}

/* Is what is not done, and there is some, in a call that hung already when the end was wished for? */
static bool only_hangs_are_left(const struct pen *p, uint64_t stop_mono_ns)
{
	size_t i, n = 0;

	for (i = 0; i < p->devices_len; i++) {
		const char *call;

		if (device_is_done(p->devices[i]))
			continue;
		if (in_call_since(p->devices[i], &call) > stop_mono_ns - HUNG_NS)
			return false;
		n++;
	}
	return n > 0;
}

static void await_done(struct pen *p, uint64_t timeout_ns)
{
	uint64_t stop_mono_ns = now_ns(p), begin_ns = clock_real.mono_ns(&clock_real);
	uint64_t waited_ns = 0;

	while (!flag_is_set(&p->done) && waited_ns < timeout_ns &&
	       !(waited_ns >= HUNG_NS && only_hangs_are_left(p, stop_mono_ns))) {
		waited_ns += HUNG_NS / 4;
		clock_real.sleep_until(&clock_real, begin_ns + waited_ns, &p->done);
		waited_ns = clock_real.mono_ns(&clock_real) - begin_ns;
	}
}

bool pen_join(struct pen *p, uint64_t timeout_ns)
{
	if (!p->is_running)
		return true;
	p->is_running = false;
	clock_wake(&p->stop);
	clock_wake(&p->wake);
	await_done(p, timeout_ns > PATIENCE_MIN_NS ? timeout_ns : PATIENCE_MIN_NS);
	if (!flag_is_set(&p->done)) {
		/* It may be waiting for the file, which has an end: it is not what hangs. */
		clock_wake(&p->give_up);
		clock_wake(&p->wake);
		clock_real.sleep_until(&clock_real,
		                       clock_real.mono_ns(&clock_real) + STREAM_PATIENCE_NS +
		                               NS_PER_S,
		                       &p->done);
	}
	if (!flag_is_set(&p->done)) {
		thread_leave(p->thread);
		p->is_left_behind = true;
		return false;
	}
	pthread_join(p->thread, NULL);
	return all_done(p);
}
