/* Telemetry of GPUs: its sampler, which asks who is idle, takes what is finished, and flushes. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "telemetry_internal.h"

#define JUDGE_EVERY_NS NS_PER_S
#define FIRST_PATIENCE_NS (50 * NS_PER_MS) /* for a library that is being opened */
#define LAST_PATIENCE_NS (NS_PER_S / 2) /* for the last readings */

/* ---- life ------------------------------------------------------------------------------------ */

static uint64_t period_ticks(const struct telemetry *t, const struct source *source)
{
	uint64_t ticks = (source->period_ns + t->config.period_ns / 2) / t->config.period_ns;

	return ticks ? ticks : 1;
}

static galvo_status find_vendors(struct telemetry *t, galvo_error *reterr)
{
	struct library_use *use;
	galvo_error error, first;
	galvo_status status;
	size_t i;

	err_clear(&first);
	for (i = 0; i < gpu_vendors_len && i < VENDORS_MAX; i++) {
		err_clear(&error);
		if (gpu_vendors[i]->find(&t->config.places, t->config.world, &error) != GALVO_OK) {
			first = first.text[0] ? first : error;
			continue;
		}
		status = library_use_new(gpu_vendors[i], &t->config, &use, reterr);
		if (status != GALVO_OK)
			return status;
		t->finders[t->finders_len] = finder_new(use);
		if (!t->finders[t->finders_len]) {
			library_use_free(use);
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		}
		t->finders[t->finders_len]->first_number = (uint32_t)i * VENDOR_NUMBERS;
		t->finders_len++;
	}
	if (t->finders_len)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_ABSENT, "%s", first.text);
}

galvo_status telemetry_create(const struct telemetry_config *config,
                              struct telemetry **ret_telemetry, galvo_error *reterr)
{
	struct telemetry *t = calloc(1, sizeof(*t));
	galvo_status status;
	unsigned g;

	if (!t)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	t->config = *config;
	if (!t->config.period_ns)
		t->config.period_ns = TELEMETRY_PERIOD_NS;
	for (g = 0; g < GPU_GROUPS; g++) {
		t->groups[g].period_ticks = period_ticks(t, gpu_sources[g]);
		t->groups[g].divisor = t->groups[g].largest_divisor = 1;
	}
	status = find_vendors(t, reterr);
	if (status != GALVO_OK) {
		telemetry_destroy(t);
		return status;
	}
	*ret_telemetry = t;
	return GALVO_OK;
}

/* One that opens its library the first time may take seconds, and is not waited for: it hangs not. */
static bool join_finder(struct telemetry *t, struct finder *f, uint64_t until_mono_ns)
{
	uint64_t now = clock_real.mono_ns(&clock_real);
	bool is_first = f->is_asked && !f->units;
	uint64_t until = is_first && now + FIRST_PATIENCE_NS < until_mono_ns ? now + FIRST_PATIENCE_NS
	                                                                    : until_mono_ns;

	if (worker_join(&f->worker, until))
		return true;
	snprintf(f->pending, sizeof(f->pending), "the driver had not answered by the end (%.1f s)",
	         (double)(telemetry_now(t) - f->asked_mono_ns) / 1e9);
	return false;
}

static bool join_workers(struct telemetry *t, uint64_t until_mono_ns)
{
	bool is_joined = true;
	size_t i;

	for (i = 0; i < t->units_len; i++)
		worker_signal_stop(&t->units[i]->reader->worker);
	for (i = 0; i < t->finders_len; i++)
		worker_signal_stop(&t->finders[i]->worker);
	for (i = 0; i < t->units_len; i++)
		is_joined &= worker_join(&t->units[i]->reader->worker,
		                         t->units[i]->is_silent ? 0 : until_mono_ns);
	for (i = 0; i < t->finders_len; i++)
		is_joined &= join_finder(t, t->finders[i], until_mono_ns);
	return is_joined;
}

void telemetry_destroy(struct telemetry *t)
{
	size_t i;

	if (!t || t->is_left_behind)
		return;
	join_workers(t, 0); /* of one that could not be started whole */
	for (i = 0; i < t->units_len; i++)
		unit_free(t->units[i]);
	for (i = 0; i < t->finders_len; i++)
		worker_let_go(&t->finders[i]->worker);
	free(t->units);
	free(t->infos);
	free(t);
}

galvo_status telemetry_begin(struct telemetry *t, struct stream *stream, galvo_error *reterr)
{
	size_t i;
	int failed;

	t->stream = stream;
	t->flushed_mono_ns = t->judged_mono_ns = telemetry_now(t);
	for (i = 0; i < t->finders_len; i++) {
		struct finder *f = t->finders[i];

		failed = worker_start(&f->worker);
		if (failed)
			return err_sys(reterr, failed, "cannot start a thread for GPUs");
		f->retry_ns = RETRY_MIN_NS;
		f->is_asked = true;
		f->asked_mono_ns = telemetry_now(t);
		worker_ask(&f->worker);
	}
	return GALVO_OK;
}

/* ---- the tick -------------------------------------------------------------------------------- */

/* One more GPU, with a thread of its own. */
static bool add_unit(struct telemetry *t, const struct finder *f, uint32_t number)
{
	struct unit *u = NULL;

	if (!grow_array((void **)&t->units, &t->units_cap, t->units_len, sizeof(*t->units), UNITS_MAX))
		return false;
	u = unit_new(f->use, number, f->first_number);
	if (!u)
		return false;
	if (worker_start(&u->reader->worker) != 0) {
		unit_free(u);
		return false;
	}
	t->units[t->units_len++] = u;
	return true;
}

static void take_finder(struct telemetry *t, struct finder *f)
{
	uint64_t now = telemetry_now(t);

	f->is_asked = false;
	if (f->status == GALVO_DONE) {
		f->next_mono_ns = now + RETRY_MIN_NS;
		return;
	}
	if (f->status != GALVO_OK) {
		group_fail(&t->groups[GPU_FAST], now, f->vendor->name, f->error.text);
		f->next_mono_ns = now + f->retry_ns;
		f->retry_ns = f->retry_ns * 2 < RETRY_MAX_NS ? f->retry_ns * 2 : RETRY_MAX_NS;
		return;
	}
	f->retry_ns = RETRY_MIN_NS;
	f->next_mono_ns = now + LOOK_PERIOD_NS;
	while (f->units < f->gpus && f->units < VENDOR_NUMBERS / 100 && add_unit(t, f, f->units))
		f->units++;
}

static void tend_finder(struct telemetry *t, struct finder *f)
{
	if (f->is_asked && worker_is_idle(&f->worker))
		take_finder(t, f);
	if (f->is_asked || telemetry_now(t) < f->next_mono_ns)
		return;
	f->is_asked = true;
	f->asked_mono_ns = telemetry_now(t);
	worker_ask(&f->worker);
}

/* Bits of what is due; and those turns are over. */
static uint32_t due_of(struct telemetry *t, struct unit *u, bool every)
{
	uint32_t wanted = 0;
	unsigned g;

	for (g = 0; g < GPU_GROUPS; g++) {
		uint64_t period = t->groups[g].period_ticks * t->groups[g].divisor;

		if (!every && t->tick < u->next_tick[g])
			continue;
		if (g == GPU_FAST && u->is_attached && t->tick > u->next_tick[g] + period)
			unit_miss(t, u, (t->tick - u->next_tick[g]) / period);
		u->next_tick[g] = (t->tick / period + 1) * period;
		wanted |= UINT32_C(1) << g;
	}
	return wanted;
}

static void ask_unit(struct telemetry *t, struct unit *u, bool every)
{
	uint64_t now = telemetry_now(t);
	uint32_t wanted;

	/* In this order: who is idle has handed over all that it will, and some of it may not be taken. */
	if (!worker_is_idle(&u->reader->worker) ||
	    atomic_load_explicit(&u->reader->ready, memory_order_acquire) ||
	    (!u->is_attached && now < u->retry_mono_ns))
		return;
	wanted = due_of(t, u, every || !u->is_attached);
	if (!u->is_attached || now >= u->look_mono_ns)
		wanted |= UINT32_C(1) << GPU_LOOK;
	if (!wanted)
		return;
	u->reader->wanted = wanted;
	u->asked_mono_ns = now;
	worker_ask(&u->reader->worker);
}

/* That a call of it is pending: which, since when. */
static void lose_pending(struct telemetry *t, struct unit *u, const char *what)
{
	unsigned group = atomic_load(&u->reader->doing);
	uint64_t since = atomic_load(&u->reader->doing_mono_ns), now = telemetry_now(t);
	char text[REASON_BYTES];

	if (since < u->asked_mono_ns)
		since = u->asked_mono_ns;
	snprintf(text, sizeof(text), "a call into its driver (%s) %s %.1f s",
	         group < GPU_GROUPS ? gpu_sources[group]->name : "what it is", what,
	         (double)(now - since) / 1e9);
	unit_lose(t, u, since, text);
	group_fail(&t->groups[group < GPU_GROUPS ? group : GPU_FAST], since, unit_whole(u)->subject, text);
}

/* A reading that takes very long is of one that hangs. */
static void watch_unit(struct telemetry *t, struct unit *u)
{
	if (u->is_silent || worker_is_idle(&u->reader->worker) ||
	    telemetry_now(t) - u->asked_mono_ns < SILENT_NS)
		return;
	u->is_silent = true;
	lose_pending(t, u, "hangs, after");
}

static void count_units(struct telemetry *t)
{
	uint32_t gpus = 0, lost = 0;
	size_t i;

	for (i = 0; i < t->units_len; i++) {
		gpus += t->units[i]->looks > 0;
		lost += unit_whole(t->units[i])->info.lost_mono_ns != 0;
	}
	atomic_store_explicit(&t->gpus, gpus, memory_order_relaxed);
	atomic_store_explicit(&t->lost, lost, memory_order_relaxed);
}

static void take_all(struct telemetry *t)
{
	size_t i;

	for (i = 0; i < t->units_len; i++) {
		unit_take(t, t->units[i]);
		watch_unit(t, t->units[i]);
	}
	count_units(t);
}

static void ask_all(struct telemetry *t, bool every)
{
	size_t i;

	for (i = 0; i < t->units_len; i++)
		ask_unit(t, t->units[i], every);
}

void telemetry_tick(struct telemetry *t)
{
	uint64_t now;
	size_t i;

	t->tick++;
	for (i = 0; i < t->finders_len; i++)
		tend_finder(t, t->finders[i]);
	take_all(t);
	ask_all(t, false);
	atomic_fetch_add_explicit(&t->ticks_done, 1, memory_order_relaxed);
	now = telemetry_now(t);
	if (now - t->judged_mono_ns >= JUDGE_EVERY_NS)
		telemetry_judge(t);
	if (now - t->flushed_mono_ns >= t->config.flush_interval_ns ||
	    (t->stream && stream_is_full(t->stream)))
		telemetry_flush(t);
}

static bool settle_units(struct telemetry *t, uint64_t until_mono_ns)
{
	bool is_settled = true;
	size_t i;

	for (i = 0; i < t->units_len; i++)
		if (!t->units[i]->is_silent)
			is_settled &= worker_await(&t->units[i]->reader->worker, until_mono_ns);
	return is_settled;
}

bool telemetry_settle(struct telemetry *t, uint64_t timeout_ns)
{
	uint64_t until = clock_real.mono_ns(&clock_real) + timeout_ns;
	bool is_settled = true;
	size_t i;

	for (i = 0; i < t->finders_len; i++)
		is_settled &= worker_await(&t->finders[i]->worker, until);
	return settle_units(t, until) && is_settled;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* What has not come by now, nobody waits for. */
static void lose_all_pending(struct telemetry *t)
{
	size_t i;

	for (i = 0; i < t->units_len; i++)
		if (!t->units[i]->is_silent && !worker_is_idle(&t->units[i]->reader->worker))
			lose_pending(t, t->units[i], "had not returned by the end, after");
	count_units(t);
}

/* What happened since the last tick belongs to the recording, as far as it is told soon. */
static void finish(struct telemetry *t)
{
	uint64_t until = clock_real.mono_ns(&clock_real) + LAST_PATIENCE_NS;
	size_t i;

	if (t->stream)
		stream_await_ready(t->stream, clock_real.mono_ns(&clock_real) + STREAM_PATIENCE_NS);
	for (i = 0; i < t->finders_len; i++)
		if (t->finders[i]->is_asked && worker_is_idle(&t->finders[i]->worker))
			take_finder(t, t->finders[i]);
	settle_units(t, until - LAST_PATIENCE_NS / 2); /* the rest is for what is asked now */
	take_all(t);
	ask_all(t, true);
	settle_units(t, until);
	take_all(t);
	lose_all_pending(t);
	telemetry_flush(t);
}

static void *run(void *arg)
{
	struct telemetry *t = arg;
	const struct clock *clock = t->config.world->clock;
	struct ticker ticker = {clock, t->config.period_ns, clock->mono_ns(clock), false};
	uint64_t late;
	bool is_due;

	sampler_settle("galvo-gpus");
	do {
		is_due = ticker_wait(&ticker, &t->stop, &late);
		atomic_fetch_add_explicit(&t->ticks_missed, late, memory_order_relaxed);
		t->tick += late;
		if (is_due)
			telemetry_tick(t);
	} while (is_due);
	finish(t);
	clock_wake(&t->done);
	return NULL;
}

galvo_status telemetry_start(struct telemetry *t, struct stream *stream, galvo_error *reterr)
{
	galvo_status status = telemetry_begin(t, stream, reterr);
	int failed;

	if (status != GALVO_OK)
		return status;
	failed = thread_start(&t->thread, run, t);
	if (failed)
		return err_sys(reterr, failed, "cannot start a sampler thread");
	t->is_running = true;
	return GALVO_OK;
}

void telemetry_signal_stop(struct telemetry *t)
{
	clock_wake(&t->stop);
}

bool telemetry_join(struct telemetry *t, uint64_t timeout_ns)
{
	uint64_t until = clock_real.mono_ns(&clock_real) + timeout_ns;

	if (t->is_left_behind)
		return false;
	if (t->is_running) {
		t->is_running = false;
		clock_real.sleep_until(&clock_real, until, &t->done);
		if (!atomic_load_explicit(&t->done, memory_order_acquire)) {
			thread_leave(t->thread);
			t->is_left_behind = true;
			return false;
		}
		pthread_join(t->thread, NULL);
	}
	return join_workers(t, until);
}

bool telemetry_holds_stream(const struct telemetry *t)
{
	return t->is_left_behind;
}
