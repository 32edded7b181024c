/* The two threads of a device: one reads its hardware buffer, one makes values of what was read. */
#include <stdio.h>

#include "device.h"

/* Sampling is begun anew at once, but then not again before so long; twice that after each try in vain. */
static const uint64_t WAIT_MIN_NS = NS_PER_S, WAIT_MAX_NS = 30 * NS_PER_S;
/* An overflow is cured by it: at once, unless it overflows again within its first readings. */
static const uint64_t OVERFLOW_WAIT_NS = 100 * NS_PER_MS;
static const uint64_t CALM_NS = 10 * NS_PER_S;  /* after so long without, all is forgotten */
static const uint64_t QUIET_NS = 2 * NS_PER_S;  /* it is not right that nothing comes */
static const uint64_t PATIENCE_NS = NS_PER_S;   /* with the evaluator, at the end */
enum {
	QUIET_SAMPLES = 20, /* nor, where they are rare, that so many do not */
	FAILED_ENOUGH = 3,  /* readings in a row */
	FIRST_READINGS = 3,
	CLEAN_ENOUGH = 32,  /* readings until they are rarer again */
	PACE_SHORTEST = 8,  /* a part of what was planned */
	LAST_READINGS = 8,
};

/* Until somebody has set it; what was done before that is seen afterwards. Takes it back. */
static void wait_for(_Atomic uint32_t *flag, uint64_t until_mono_ns)
{
	clock_real.sleep_until(&clock_real, until_mono_ns, flag);
	atomic_exchange_explicit(flag, 0, memory_order_acq_rel);
}

static uint64_t now_ns(const struct device *d)
{
	return pm_now(&d->session);
}

/* ---- what there is to say ------------------------------------------------------------------------ */

/* Of each kind the first one since the start. */
static void say_once(struct device *d, enum said_kind kind, const char *text)
{
	struct said *said = &d->said[kind];

	if (!d->begin_mono_ns || flag_is_set(&said->turn))
		return;
	utf8_copy(said->text, sizeof(said->text), span_str(text));
	atomic_store_explicit(&said->turn, atomic_fetch_add(d->turns, 1) + 1, memory_order_release);
}

void device_say(struct device *d, const char *reason)
{
	char text[REASON_BYTES];

	utf8_copy(text, sizeof(text), span_str(reason));
	pthread_mutex_lock(&d->words);
	if (text[0] && strcmp(text, d->reason) != 0)
		say_once(d, SAID_TROUBLE, text);
	memcpy(d->reason, text, sizeof(text));
	pthread_mutex_unlock(&d->words);
}

void device_reason(struct device *d, char to[REASON_BYTES])
{
	pthread_mutex_lock(&d->words);
	memcpy(to, d->reason, REASON_BYTES);
	pthread_mutex_unlock(&d->words);
}

/* ---- the evaluator -------------------------------------------------------------------------------- */

static void evaluate(struct device *d, const struct reading *r)
{
	uint64_t begin_ns = now_ns(d);
	size_t i;

	for (i = 0; i < r->len; i++) {
		struct cell *cell = queue_room(&d->queue);

		if (!cell) {
			count_up(&d->counts.unwritten, r->len - i);
			break;
		}
		cell->start_gpu_ns = r->moments[i].start_gpu_ns;
		cell->end_gpu_ns = r->moments[i].end_gpu_ns;
		cell->mono_ns = r->mono_ns;
		cell->offset_ns = r->offset_ns;
		pm_evaluate(&d->session, r, i, cell->values);
		queue_put(&d->queue);
	}
	count_up(&d->counts.evaluate_ns, now_ns(d) - begin_ns);
}

static void *evaluator_main(void *arg)
{
	struct device *d = arg;
	size_t turn = 0;

	pthread_setname_np(pthread_self(), "galvo-evaluate");
	for (;;) {
		struct reading *r = &d->session.readings[turn % READINGS];

		if (!flag_is_set(&r->is_full)) {
			if (flag_is_set(&d->no_more) && !flag_is_set(&r->is_full))
				break;
			wait_for(&d->filled, UINT64_MAX);
			continue;
		}
		evaluate(d, r);
		pm_restore(&d->session, r);
		atomic_store_explicit(&d->evaluator_cpu_ns, thread_cpu_ns(), memory_order_relaxed);
		atomic_store_explicit(&r->is_full, 0, memory_order_release);
		clock_wake(&d->freed);
		clock_wake(d->wake);
		turn++;
	}
	clock_wake(&d->evaluator_done);
	clock_wake(d->wake);
	return NULL;
}

/* ---- the decoder ----------------------------------------------------------------------------------- */

/* False: the evaluator still has it at that (real) time. */
static bool await_free(struct device *d, struct reading *r, uint64_t until_mono_ns)
{
	while (flag_is_set(&r->is_full)) {
		if (clock_real.mono_ns(&clock_real) >= until_mono_ns)
			return false;
		wait_for(&d->freed, until_mono_ns);
	}
	return true;
}

static uint64_t after(uint64_t ns)
{
	return clock_real.mono_ns(&clock_real) + ns;
}

static enum verdict read_next(struct device *d, struct reading *r, int *ret_result)
{
	enum verdict verdict = pm_read(&d->session, r, ret_result);

	d->session.turn++;
	count_up(&d->decoded, r->len);
	atomic_store_explicit(&r->is_full, 1, memory_order_release);
	clock_wake(&d->filled);
	return verdict;
}

static struct reading *next_reading(struct device *d)
{
	return &d->session.readings[d->session.turn % READINGS];
}

/* Not while the evaluator is in a call for the same device, unless that hangs. */
static void close_session(struct device *d)
{
	uint64_t until_ns = after(PATIENCE_NS);
	size_t i;

	for (i = 0; d->session.object && i < READINGS; i++)
		await_free(d, &d->session.readings[i], until_ns);
	pm_close(&d->session);
}

static void say_failed(struct device *d, int result)
{
	galvo_error error;

	device_failed(d, d->session.call, result, &error);
	device_say(d, error.text);
}

/* What does not go away by itself. */
static bool is_final(int result)
{
	switch (result) {
	case CUPTI_INVALID_DEVICE:
	case CUPTI_HARDWARE:
	case CUPTI_NOT_SUPPORTED:
	case CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
	case CUPTI_INSUFFICIENT_PRIVILEGES:
	case CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
	case CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
	case CUPTI_CMP_DEVICE_NOT_SUPPORTED:
	case CUPTI_MIG_DEVICE_NOT_SUPPORTED:
	case CUPTI_SLI_DEVICE_NOT_SUPPORTED:
	case CUPTI_WSL_DEVICE_NOT_SUPPORTED: return true;
	default: return false;
	}
}

/* Open, and running? If not, waits for the time to try it, or tries. */
static bool make_it_run(struct device *d)
{
	struct pm_session *s = &d->session;
	int result = CUPTI_OK;

	if (s->is_open && s->runs)
		return true;
	if (now_ns(d) < d->due_mono_ns) {
		d->wish.world->clock->sleep_until(d->wish.world->clock, d->due_mono_ns, &d->stop);
		return false;
	}
	if (!await_free(d, &s->readings[0], after(PATIENCE_NS)) ||
	    !await_free(d, &s->readings[1], after(PATIENCE_NS)))
		return false;
	d->tried_mono_ns = now_ns(d);
	d->wait_ns = !d->wait_ns ? WAIT_MIN_NS : 2 * d->wait_ns;
	d->wait_ns = d->wait_ns > WAIT_MAX_NS ? WAIT_MAX_NS : d->wait_ns;
	d->due_mono_ns = d->tried_mono_ns + d->wait_ns;
	if (!s->is_open)
		result = pm_open(s);
	if (!result)
		result = pm_begin(s);
	if (result) {
		say_failed(d, result);
		pm_close(s);
		d->is_over = is_final(result);
		return false;
	}
	if (d->was_begun)
		count_up(&d->counts.restarts, 1);
	/* Until then nothing covered the time, unless this is where it began. */
	else if (s->has_offset && d->tried_mono_ns > d->begin_mono_ns + WAIT_MIN_NS)
		s->covered_gpu_ns = d->begin_mono_ns + (uint64_t)s->offset_ns;
	d->was_begun = true;
	d->failed_in_a_row = 0;
	d->readings = 0;
	d->quiet_mono_ns = d->tried_mono_ns;
	d->next_mono_ns = d->tried_mono_ns + d->now_pace_ns;
	return true;
}

/* Reads more often after a loss, and as often as planned when there was none for a while. */
static void set_pace(struct device *d, bool has_lost)
{
	if (has_lost) {
		d->clean = 0;
		if (d->now_pace_ns > d->pace_ns / PACE_SHORTEST)
			d->now_pace_ns /= 2;
	} else if (++d->clean >= CLEAN_ENOUGH && d->now_pace_ns < d->pace_ns) {
		d->clean = 0;
		d->now_pace_ns *= 2;
	}
	if (d->now_pace_ns > d->pace_ns)
		d->now_pace_ns = d->pace_ns;
}

/* Samples come, or how long did none? */
static void judge_silence(struct device *d)
{
	uint64_t now = now_ns(d), enough = QUIET_SAMPLES * d->session.plan.interval_ns;

	if (d->session.completed) {
		d->quiet_mono_ns = now;
		if (d->failed_in_a_row == 0)
			device_say(d, "");
		if (now - d->tried_mono_ns > CALM_NS)
			d->wait_ns = d->due_mono_ns = 0;
	} else if (now - d->quiet_mono_ns > (enough > QUIET_NS ? enough : QUIET_NS)) {
		device_say(d, "no samples were decoded: another profiler may have the counters");
		close_session(d);
	}
}

static void begin_anew(struct device *d)
{
	device_say(d, "the hardware buffer has overflowed, which takes a new beginning of sampling");
	set_pace(d, true);
	close_session(d);
	if (d->readings > FIRST_READINGS)
		d->overflow_wait_ns = 0;
	else
		d->overflow_wait_ns = !d->overflow_wait_ns ? OVERFLOW_WAIT_NS : 2 * d->overflow_wait_ns;
	if (d->overflow_wait_ns > WAIT_MAX_NS)
		d->overflow_wait_ns = WAIT_MAX_NS;
	d->wait_ns = 0;
	d->due_mono_ns = now_ns(d) + d->overflow_wait_ns;
}

/* The clock that chips count is not told, and not always the same: so neither is it corrected. */
static void judge_rate(struct device *d)
{
	const struct pm_session *s = &d->session;
	char text[REASON_BYTES];

	if (!s->plan.counts_cycles || !s->length_ns ||
	    distance_of(s->length_ns, s->plan.interval_ns) <= s->plan.interval_ns / 10)
		return;
	snprintf(text, sizeof(text),
	         "it counts cycles: %.0f samples a second were asked for, and they come at %.0f",
	         1e9 / (double)s->plan.interval_ns, 1e9 / (double)s->length_ns);
	say_once(d, SAID_RATE, text);
}

/* What comes of a reading; true: the next one at once. */
static bool judge_reading(struct device *d, enum verdict verdict, int result, bool has_lost)
{
	d->readings++;
	switch (verdict) {
	case READ_STUCK:
		begin_anew(d);
		return true;
	case READ_FAILED:
		d->failed_in_a_row++;
		if (is_final(result) || result == CUPTI_HARDWARE_BUSY ||
		    d->failed_in_a_row >= FAILED_ENOUGH) {
			say_failed(d, result);
			close_session(d);
		}
		return false;
	default:
		d->failed_in_a_row = 0;
		set_pace(d, has_lost);
		judge_rate(d);
		judge_silence(d);
		return verdict == READ_MORE;
	}
}

static uint64_t losses(const struct device *d)
{
	return d->counts.overflows + d->counts.full_images;
}

static void sample(struct device *d)
{
	const struct clock *clock = d->wish.world->clock;
	enum verdict verdict;
	uint64_t before;
	int result;

	while (!flag_is_set(&d->stop) && !d->is_over) {
		struct reading *r = next_reading(d);

		if (!make_it_run(d))
			continue;
		clock->sleep_until(clock, d->next_mono_ns, &d->stop);
		if (flag_is_set(&d->stop) || !await_free(d, r, after(PATIENCE_NS)))
			continue;
		before = losses(d);
		d->next_mono_ns = now_ns(d);
		verdict = read_next(d, r, &result);
		if (!judge_reading(d, verdict, result, losses(d) != before))
			d->next_mono_ns += d->now_pace_ns;
		atomic_store_explicit(&d->decoder_cpu_ns, thread_cpu_ns(), memory_order_relaxed);
	}
	clock_real.sleep_until(&clock_real, UINT64_MAX, &d->stop);
}

/* What is left in the buffer belongs to the recording, but there is an end to it. */
static void finish(struct device *d)
{
	uint64_t stopped_ns = now_ns(d), until_ns = after(PATIENCE_NS);
	enum verdict verdict = READ_MORE;
	int result, i;

	d->session.completed = 0;
	if (d->session.is_open && d->session.runs && pm_stop(&d->session) == CUPTI_OK)
		for (i = 0; i < LAST_READINGS && verdict == READ_MORE; i++) {
			struct reading *r = next_reading(d);

			if (!await_free(d, r, until_ns))
				break;
			verdict = read_next(d, r, &result);
			if (d->session.completed)
				device_say(d, ""); /* it has come back before the end */
		}
	judge_rate(d); /* of a recording too short for another reading, too */
	if (d->begin_mono_ns)
		pm_account_end(&d->session, d->begin_mono_ns, stopped_ns);
	close_session(d);
}

static void *decoder_main(void *arg)
{
	struct device *d = arg;
	uint32_t phase = OPENING;
	galvo_status status;

	pthread_setname_np(pthread_self(), "galvo-decode");
	thread_hurry();
	status = device_open(d, &d->opening_error);
	if (status != GALVO_OK) {
		if (!d->session.object)
			gpu_set_free(d->set);
		d->set = NULL;
	}
	if (atomic_compare_exchange_strong(&d->phase, &phase, OPENED)) {
		clock_wake(&d->opened);
		wait_for(&d->go, UINT64_MAX);
		if (d->begin_mono_ns && d->set)
			sample(d);
	}
	finish(d);
	atomic_store_explicit(&d->decoder_cpu_ns, thread_cpu_ns(), memory_order_relaxed);
	atomic_store_explicit(&d->no_more, 1, memory_order_release);
	clock_wake(&d->filled);
	clock_wake(&d->decoder_done);
	clock_wake(d->wake);
	return NULL;
}

/* ---- from outside --------------------------------------------------------------------------------- */

galvo_status device_start(struct device *d, galvo_error *reterr)
{
	int failed = thread_start(&d->decoder, decoder_main, d);

	if (failed)
		return err_sys(reterr, failed, "cannot start a thread for GPU %u", d->info.index);
	d->has_decoder = true;
	return GALVO_OK;
}

galvo_status device_go(struct device *d, galvo_error *reterr)
{
	int failed = d->is_usable ? thread_start(&d->evaluator, evaluator_main, d) : 0;

	if (failed)
		return err_sys(reterr, failed, "cannot start a thread for GPU %u", d->info.index);
	d->has_evaluator = d->is_usable;
	d->now_pace_ns = d->pace_ns;
	d->begin_mono_ns = now_ns(d);
	clock_wake(&d->go);
	return GALVO_OK;
}

void device_signal_stop(struct device *d)
{
	clock_wake(&d->stop);
	clock_wake(&d->go);
}

void device_leave(struct device *d)
{
	if (d->has_decoder)
		thread_leave(d->decoder);
	if (d->has_evaluator)
		thread_leave(d->evaluator);
	d->has_decoder = d->has_evaluator = false;
}

void device_destroy(struct device *d)
{
	if (d->has_evaluator)
		pthread_join(d->evaluator, NULL);
	if (d->has_decoder)
		pthread_join(d->decoder, NULL);
	pm_finish(&d->session);
	if (!d->session.object) /* else Disable has failed, and CUPTI may still read the set's image */
		gpu_set_free(d->set);
	queue_finish(&d->queue);
	pthread_mutex_destroy(&d->words);
	free(d);
}

bool device_is_done(const struct device *d)
{
	return (!d->has_decoder || flag_is_set(&d->decoder_done)) &&
	       (!d->has_evaluator || flag_is_set(&d->evaluator_done));
}
