/* How the recording goes, in numbers, while it does. */
#include <unistd.h>

#include "sidecar.h"

#define ENDS_HZ 5 /* who leads less often than this notices ends too late */

static void tell_slowed(const struct galvo_suite *s, galvo_suite_stats *ret)
{
	uint32_t divisor;
	size_t i;

	ret->largest_divisor = 1;
	ret->slowed_sources[0] = '\0';
	for (i = 0; i < PROBES; i++) {
		divisor = s->probes[i] ? probe_slowed(s->probes[i], ret->slowed_sources,
		                                      sizeof(ret->slowed_sources)) : 1;
		if (divisor > ret->largest_divisor)
			ret->largest_divisor = divisor;
	}
	divisor = s->telemetry ? telemetry_slowed(s->telemetry, ret->slowed_sources,
	                                          sizeof(ret->slowed_sources)) : 1;
	if (divisor > ret->largest_divisor)
		ret->largest_divisor = divisor;
}

/* Of a suite that samples here. */
static galvo_status look(const galvo_suite *s, galvo_suite_stats *ret, galvo_error *reterr)
{
	struct writer_totals totals;
	struct track_counts counts;
	struct probe_counts ticks = {0};
	struct counters_counts samples;
	const struct probe *leader;
	double hz;

	if (suite_state(s) != SUITE_STARTED && suite_state(s) != SUITE_STOPPING &&
	    suite_state(s) != SUITE_STOPPED)
		return err_set(reterr, GALVO_ERR_STATE, "stats: not started");
	leader = s->probes[PROBE_SYSTEM] ? s->probes[PROBE_SYSTEM] : s->probes[PROBE_DISK];
	hz = s->probes[PROBE_SYSTEM] ? s->config.system_hz : s->config.disk_hz;
	if (leader)
		probe_count(leader, &ticks);
	if (!leader || hz < ENDS_HZ)
		track_poll(s->track); /* nobody does so soon */
	writer_get_totals(s->writer, &totals);
	track_count(s->track, &counts);
	ret->ticks = ticks.ticks;
	ret->missed_ticks = ticks.missed_ticks;
	ret->processes_alive = counts.alive;
	ret->roots_alive = counts.roots_alive;
	ret->bytes_written = totals.bytes_written;
	ret->dropped_batches = totals.dropped_batches;
	ret->elapsed_ns = (suite_state(s) == SUITE_STOPPED ? s->stop_mono_ns
	                                                   : s->world.clock->mono_ns(s->world.clock)) -
	                  s->start_mono_ns;
	tell_slowed(s, ret);
	if (s->counters) {
		counters_count(s->counters, &samples);
		ret->gpu_samples = samples.samples;
		ret->gpu_lost_samples = samples.lost_samples;
	}
	return GALVO_OK;
}

galvo_status galvo_suite_get_stats(const galvo_suite *s, galvo_suite_stats *ret_stats,
                                   galvo_error *reterr)
{
	galvo_suite_stats stats = {0};
	galvo_status status;

	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	status = s->sidecar ? sidecar_get_stats(s->sidecar, &stats, reterr) : look(s, &stats, reterr);
	return status == GALVO_OK ? sized_give("stats", ret_stats, &stats, sizeof(stats), reterr) : status;
}

static galvo_status note_at(const galvo_suite *s, size_t i, galvo_note *ret)
{
	if (i >= s->notes_len)
		return GALVO_DONE;
	utf8_copy(ret->subject, sizeof(ret->subject), span_str(s->notes[i].subject));
	utf8_copy(ret->text, sizeof(ret->text), span_str(s->notes[i].text));
	return GALVO_OK;
}

galvo_status galvo_suite_note_at(const galvo_suite *s, size_t i, galvo_note *ret_note,
                                 galvo_error *reterr)
{
	galvo_note note = {0};
	galvo_status status;

	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	status = s->sidecar ? sidecar_note_at(s->sidecar, i, &note, reterr) : note_at(s, i, &note);
	return status == GALVO_OK ? sized_give("note", ret_note, &note, sizeof(note), reterr) : status;
}
