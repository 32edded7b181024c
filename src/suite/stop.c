/* The end of a recording: on any thread, once, and within bounds whatever hangs. */
#include <unistd.h>

#include "sidecar.h"

/* How long stop waits: for a reading of /proc that hangs, for the file system, for another thread. */
#define SAMPLER_PATIENCE_NS (5 * NS_PER_S)
#define WRITER_PATIENCE_NS (10 * NS_PER_S)
#define OTHERS_PATIENCE_NS (20 * NS_PER_S)

static void signal_probes(struct galvo_suite *s)
{
	size_t i;

	if (s->sidecar)
		sidecar_signal_stop(s->sidecar);
	for (i = 0; i < PROBES; i++)
		if (s->probes[i])
			probe_signal_stop(s->probes[i]);
	suite_signal_gpu(s);
}

void galvo_suite_signal_stop(galvo_suite *s)
{
	if (s->owner != getpid())
		return;
	atomic_store(&s->is_signalled, 1);
	if (suite_state(s) == SUITE_STARTED)
		signal_probes(s); /* else start sees to it */
}

void suite_begun(struct galvo_suite *s, enum suite_state to)
{
	atomic_store(&s->state, to);
	if (to == SUITE_STARTED && atomic_load(&s->is_signalled))
		signal_probes(s);
	clock_wake(&s->begun);
}

void suite_stop_probes(struct galvo_suite *s)
{
	uint64_t from_ns = clock_real.mono_ns(&clock_real), took_ns;
	size_t i;

	signal_probes(s);
	s->stop_mono_ns = s->world.clock->mono_ns(s->world.clock);
	for (i = 0; i < PROBES; i++) {
		took_ns = clock_real.mono_ns(&clock_real) - from_ns;
		if (s->probes[i] && !probe_join(s->probes[i], took_ns < SAMPLER_PATIENCE_NS
		                                              ? SAMPLER_PATIENCE_NS - took_ns : 0))
			s->is_left_behind = true;
	}
	if (!s->is_left_behind) /* with what they took last; a driver that hangs records nothing */
		s->stop_mono_ns = s->world.clock->mono_ns(s->world.clock);
	suite_join_gpu(s, from_ns + SAMPLER_PATIENCE_NS);
}

/* What a source could not read, its stream says; this is what no source can know. */
static void note_what_failed(struct galvo_suite *s)
{
	const struct probe *disk = s->probes[PROBE_DISK];
	struct track_counts counts = {0};
	const char *device;
	size_t i;

	suite_note_gpu(s);
	if (s->is_left_behind) {
		suite_note(s, "samplers", "a reading of proc/ or sys/ hung when the recording was stopped");
		return; /* it may hold the lock of what is asked here */
	}
	for (i = 0; disk && probe_missing_device_at(disk, i, &device); i++)
		suite_note(s, device, "there is no such block device");
	if (s->track)
		track_count(s->track, &counts);
	if (counts.refused)
		suite_note(s, "processes", "%s%llu descendants not followed: half of the descriptor "
		                           "limit (ulimit -n) is in use",
		           counts.refused_are_more ? "at least " : "",
		           (unsigned long long)counts.refused);
}

/* By the writer's thread: the file system may hang by now. */
static galvo_status put_session(struct galvo_suite *s, uint64_t timeout_ns, galvo_error *reterr)
{
	galvo_status status;
	struct buf bytes;

	buf_init(&bytes, SESSION_BYTES_MAX);
	status = suite_pack_session(s, &bytes, reterr);
	if (status == GALVO_OK)
		status = writer_put_last(s->writer, SESSION_FILE, &bytes, timeout_ns, reterr);
	buf_finish(&bytes);
	return status;
}

galvo_status suite_finish(struct galvo_suite *s, galvo_error *reterr)
{
	uint64_t from_ns = clock_real.mono_ns(&clock_real), took_ns;
	galvo_error first = {0}, second = {0};
	galvo_status status = writer_drain(s->writer, WRITER_PATIENCE_NS, &first), put = GALVO_OK;

	took_ns = clock_real.mono_ns(&clock_real) - from_ns;
	if (!s->stop_mono_ns)
		s->stop_mono_ns = s->world.clock->mono_ns(s->world.clock); /* of a replay */
	note_what_failed(s);
	if (!s->is_alone)
		put = put_session(s, took_ns < WRITER_PATIENCE_NS ? WRITER_PATIENCE_NS - took_ns : 0, &second);
	writer_stop(s->writer, WRITER_PATIENCE_NS, NULL);
	if (status == GALVO_OK && put != GALVO_OK) {
		status = put;
		first = second;
	}
	if (status != GALVO_OK && reterr)
		*reterr = first;
	if (status != GALVO_OK)
		err_wrap(reterr, "%s", s->output_dir);
	return status;
}

/* There is nothing to be stopped here; who else stops it, or starts it, is waited for. */
static galvo_status refuse_stop(struct galvo_suite *s, galvo_error *reterr)
{
	uint64_t until_ns = clock_real.mono_ns(&clock_real) + OTHERS_PATIENCE_NS;
	const char *why = "not started";

	if (suite_state(s) == SUITE_STARTING)
		why = "start does not return";
	if (suite_state(s) == SUITE_STOPPING) {
		clock_real.sleep_until(&clock_real, until_ns, &s->ended);
		why = "another thread is doing so";
	}
	if (suite_state(s) == SUITE_STOPPED)
		why = "stopped already";
	return err_set(reterr, GALVO_ERR_STATE, "stop: %s", why);
}

static galvo_status stop_here(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status;

	suite_stop_probes(s);
	suite_stop_events(s);
	status = suite_finish(s, reterr);
	if (status == GALVO_OK && s->is_left_behind)
		status = err_set(reterr, GALVO_ERR_STATE, "%s: a reading of proc/ or sys/ does not return; "
		                                          "what it was to record is lost", s->output_dir);
	return status;
}

static galvo_status stop_beside(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status;

	suite_signal_events(s);
	status = sidecar_stop(s->sidecar, reterr);
	if (suite_has_events(s))
		events_join(s->events); /* what worked for the regions of the GPU, in this process */
	return status;
}

galvo_status galvo_suite_stop(galvo_suite *s, galvo_error *reterr)
{
	uint64_t until_ns = clock_real.mono_ns(&clock_real) + OTHERS_PATIENCE_NS;
	galvo_status status;

	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (suite_state(s) == SUITE_STARTING)
		clock_real.sleep_until(&clock_real, until_ns, &s->begun);
	if (!suite_move(s, SUITE_STARTED, SUITE_STOPPING))
		return refuse_stop(s, reterr);
	status = s->sidecar ? stop_beside(s, reterr) : stop_here(s, reterr);
	atomic_store(&s->state, SUITE_STOPPED);
	clock_wake(&s->ended);
	return status;
}
