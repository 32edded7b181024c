/* The sampler: its ticks, its thread, its flushes. */
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "internal.h"
#include "sampler.h"

enum { PRIME_ROUNDS = 3 };
#define JUDGE_EVERY_NS NS_PER_S

/* ---- life ---------------------------------------------------------------------------------------- */

static bool is_wanted(const struct probe_config *config, const struct source *source)
{
	switch (source->shape) {
	case SHAPE_PROCESS: return config->track != NULL;
	case SHAPE_THREAD: return config->track && config->threads;
	default: return true;
	}
}

galvo_status probe_create(const struct probe_config *config, struct probe **ret_probe,
                          galvo_error *reterr)
{
	struct probe *p = calloc(1, sizeof(*p));
	galvo_status status = GALVO_OK;
	size_t i;

	if (!p)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	p->config = *config;
	p->keeper.budget = config->track ? track_fds(config->track) : NULL;
	follow_plan(p);
	buf_init(&p->text, TEXT_MAX_BYTES);
	p->device_found = alloc_array(config->devices_len, sizeof(*p->device_found));
	if (!p->device_found)
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (i = 0; i < source_table_len && status == GALVO_OK; i++) {
		const struct source *source = source_table[i];

		if (source->stream == config->kind && is_wanted(config, source))
			status = plan_add(p, source, reterr);
	}
	if (status != GALVO_OK) {
		probe_destroy(p);
		return status;
	}
	*ret_probe = p;
	return GALVO_OK;
}

void probe_destroy(struct probe *p)
{
	size_t i;

	if (!p)
		return;
	threads_finish(p);
	members_finish(p);
	for (i = 0; i < p->pens_len; i++)
		instances_finish(&p->pens[i]);
	for (i = 0; i < p->feeds_len; i++) {
		kept_close(&p->feeds[i].kept);
		buf_finish(&p->feeds[i].buf);
	}
	buf_finish(&p->text);
	free(p->device_found);
	free(p->devices);
	free(p);
}

/* ---- the tick ------------------------------------------------------------------------------------- */

/* Whose turn it is of what comes in slices. */
static bool slice_begin(struct probe *p, struct pen *pen, size_t at_least)
{
	if (pen->source->shape == SHAPE_THREAD)
		return threads_begin(p, pen, at_least);
	return slice_take(&pen->slice, pen, p->tick, p->members_len, at_least);
}

/* At least so many of what comes in slices. Begins at the instant given and returns that at which it is done. */
static uint64_t read_lanes(struct probe *p, bool every, size_t at_least, uint64_t now)
{
	size_t i;

	for (i = 0; i < p->lanes_len; i++) {
		struct lane *lane = &p->lanes[i];
		uint64_t period = lane->period_ticks * lane->divisor;

		if (is_in_slices(lane->pens[0])) {
			if (slice_begin(p, lane->pens[0], at_least))
				now = lane_read(p, lane, now);
			continue;
		}
		if (!every && p->tick < lane->next_tick)
			continue;
		lane->next_tick = (p->tick / period + 1) * period;
		now = lane_read(p, lane, now);
	}
	return now;
}

/* Every instant of a captured machine is looked at whole. */
static bool is_replay(const struct probe *p)
{
	return !p->config.world->live && p->config.world->epoch;
}

/* The last one reads everything once more: what is read each second has its last part second, too. */
static void tick(struct probe *p, bool is_last)
{
	bool is_whole = is_last || is_replay(p);
	uint64_t now;

	p->tick++;
	if (p->mentioned)
		members_settle(p);
	now = read_lanes(p, is_whole, is_whole ? SIZE_MAX : 0, probe_follow(p, is_whole));
	if (probe_follows(p) && p->polled_tick != p->tick)
		track_poll(p->config.track);
	atomic_fetch_add_explicit(&p->ticks_done, 1, memory_order_relaxed);
	if (now - p->judged_mono_ns >= JUDGE_EVERY_NS)
		budget_judge(p);
	if (now - p->flushed_mono_ns >= p->config.flush_interval_ns ||
	    (p->config.stream && stream_is_full(p->config.stream)))
		probe_flush(p);
}

void probe_tick(struct probe *p)
{
	tick(p, false);
}

void probe_prime(struct probe *p)
{
	uint64_t best[PENS_MAX] = {0};
	struct stream *stream = p->config.stream;
	size_t i, round;

	p->config.stream = NULL; /* first readings make no rows */
	p->flushed_mono_ns = probe_now(p);
	for (i = 0; i < p->pens_len; i++)
		best[i] = UINT64_MAX;
	for (round = 0; round < PRIME_ROUNDS; round++) {
		p->tick++;
		for (i = 0; i < p->pens_len; i++)
			p->pens[i].mean_ns = 0;
		/* Of many members, some tell the time that it takes. */
		read_lanes(p, true, round ? MANY : SIZE_MAX, probe_follow(p, round == 0));
		if (round == 0)
			p->follow_turns = p->follow_ns = 0; /* it has found all there is */
		p->follow_lane.next_tick = 0;
		for (i = 0; i < p->pens_len; i++)
			if (p->pens[i].mean_ns < best[i])
				best[i] = p->pens[i].mean_ns;
	}
	for (i = 0; i < p->pens_len; i++) {
		p->pens[i].calibrated_ns = p->pens[i].mean_ns = best[i];
		p->pens[i].reads = p->pens[i].failures = p->pens[i].first_failure_mono_ns = 0;
	}
	budget_account_following(p);
	p->follow_pen.calibrated_ns = p->follow_pen.mean_ns;
	p->follow_pen.reads = 0;
	for (i = 0; i < p->lanes_len; i++)
		p->lanes[i].next_tick = 0;
	p->config.stream = stream;
	budget_judge(p);
}

/* ---- flushing ------------------------------------------------------------------------------------- */

static bool source_stats_at(const struct probe *p, size_t i, struct source_stats *ret)
{
	const struct pen *pen = i < p->pens_len ? &p->pens[i] : &p->follow_pen;

	if (i >= p->pens_len + probe_follows(p))
		return false;
	*ret = (struct source_stats){
		.name = pen->source->name,
		.divisor = pen->lane->divisor,
		.period_ns = lane_period_ns(p, pen->lane),
		.reads = pen->reads,
		.failures = pen->failures,
		.first_failure_mono_ns = pen->first_failure_mono_ns,
		.calibrated_ns = pen->calibrated_ns,
		.mean_read_ns = pen->mean_ns,
		.reason = pen->reason,
		.longest_period_ns = lane_period_ns(p, pen->lane) / pen->lane->divisor *
		                     pen->lane->largest_divisor,
	};
	return true;
}

/* Devices that have rows: for the header of the message. */
static size_t list_devices(struct probe *p)
{
	size_t i, j, n = 0;

	for (i = 0; i < p->pens_len; i++) {
		const struct pen *pen = &p->pens[i];

		if (pen->source->scope != SCOPE_DEVICE)
			continue;
		for (j = 0; j < pen->instances_len; j++) {
			const struct instance *it = pen->instances[j];

			if (!it->wanted || !grow_array((void **)&p->devices, &p->devices_cap, n,
			                               sizeof(*p->devices), INSTANCES_MAX))
				continue;
			p->devices[n++] = (struct stream_device){it->name, it->whole, it->stacked};
		}
	}
	return n;
}

static uint64_t count_rejected(const struct probe *p)
{
	uint64_t n = 0;
	size_t i, j;

	for (i = 0; i < p->pens_len; i++) {
		n += p->pens[i].series.rejected;
		for (j = 0; j < p->pens[i].instances_len; j++)
			n += p->pens[i].instances[j]->series.rejected;
	}
	return n;
}

void probe_flush(struct probe *p)
{
	const struct clock *clock = p->config.world->clock;
	struct source_stats sources[PENS_MAX + 1];
	struct flush_info info = {0};

	/* What has been written by now is told, and a replay is the same every time. */
	if (p->config.stream && is_replay(p))
		stream_await_settled(p->config.stream, clock_real.mono_ns(&clock_real) + STREAM_PATIENCE_NS);
	if (p->config.track)
		members_join(p); /* whoever has ended since is said to have */
	members_settle(p);
	p->flushed_mono_ns = info.mono_ns = clock->mono_ns(clock);
	info.boot_ns = clock->boot_ns(clock);
	info.wall_ns = clock->wall_ns(clock);
	info.processes = p->info_at;
	info.processes_len = members_mention(p);
	threads_tell(p, &info);
	info.devices_len = list_devices(p);
	info.devices = p->devices;
	while (source_stats_at(p, info.sources_len, &sources[info.sources_len]))
		info.sources_len++;
	info.sources = sources;
	info.stats = (struct probe_stats){
		.ticks = atomic_load(&p->ticks_done),
		.missed_ticks = atomic_load(&p->ticks_missed),
		.rejected_values = count_rejected(p),
		.vanished = p->vanished,
		.thread_cpu_ns = probe_cpu_ns(p),
	};
	if (p->config.stream)
		stream_flush(p->config.stream, &info);
}

/* ---- the thread ----------------------------------------------------------------------------------- */

static void *run(void *arg)
{
	struct probe *p = arg;
	struct ticker ticker = {p->config.world->clock, p->config.period_ns, p->first_deadline_ns, false};
	uint64_t late;
	bool is_due;

	sampler_settle(p->config.kind == STREAM_DISK ? "galvo-disk" : "galvo-system");
	p->judged_cpu_ns = p->read_ns = 0; /* those are another thread's */
	do {
		is_due = ticker_wait(&ticker, &p->stop, &late);
		atomic_fetch_add_explicit(&p->ticks_missed, late, memory_order_relaxed);
		p->tick += late;
		if (is_due)
			probe_tick(p);
	} while (is_due);
	if (p->config.stream)
		stream_await_ready(p->config.stream, clock_real.mono_ns(&clock_real) + STREAM_PATIENCE_NS);
	tick(p, true); /* what happened since the last tick belongs to the recording */
	probe_flush(p);
	clock_wake(&p->done);
	return NULL;
}

galvo_status probe_start(struct probe *p, galvo_error *reterr)
{
	int failed;

	p->first_deadline_ns = probe_now(p) + p->config.period_ns;
	failed = thread_start(&p->thread, run, p);
	if (failed)
		return err_sys(reterr, failed, "cannot start a sampler thread");
	p->is_running = true;
	return GALVO_OK;
}

void probe_signal_stop(struct probe *p)
{
	clock_wake(&p->stop);
}

bool probe_join(struct probe *p, uint64_t timeout_ns)
{
	if (!p->is_running)
		return true;
	p->is_running = false;
	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + timeout_ns, &p->done);
	if (!atomic_load_explicit(&p->done, memory_order_acquire)) {
		thread_leave(p->thread);
		return false;
	}
	pthread_join(p->thread, NULL);
	return true;
}

bool probe_missing_device_at(const struct probe *p, size_t i, const char **ret_name)
{
	size_t j;

	for (j = 0; j < p->config.devices_len; j++)
		if (!p->device_found[j] && i-- == 0) {
			*ret_name = p->config.devices[j];
			return true;
		}
	return false;
}

void probe_count(const struct probe *p, struct probe_counts *ret)
{
	ret->ticks = atomic_load_explicit(&p->ticks_done, memory_order_relaxed);
	ret->missed_ticks = atomic_load_explicit(&p->ticks_missed, memory_order_relaxed);
}
