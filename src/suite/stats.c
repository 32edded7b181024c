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

/* Time that no sample covers, and samples that were not written: the larger share, and its main cause. */
static void tell_lost(const struct galvo_suite *s, galvo_suite_stats *ret)
{
	static const struct {
		enum loss loss;
		const char *what;
	} causes[] = {
		{LOSS_OVERFLOWS, "the hardware buffer overflowed"},
		{LOSS_FULL_IMAGES, "there was more in the hardware buffer than room"},
		{LOSS_FAILURES, "reading the hardware buffer failed"},
	};
	const double all = (double)(ret->gpu_samples + ret->gpu_lost_samples);
	const double unwritten_pct = all > 0 ? 100 * (double)ret->gpu_lost_samples / all : 0;
	uint64_t most = 0, n;
	struct gpu_info info;
	size_t gpus = 0, i;

	ret->gpu_lost_pct = 0;
	ret->gpu_lost_why[0] = '\0';
	while (counters_device_at(s->counters, gpus, &info))
		gpus++;
	if (s->gpu_stream && gpus && ret->elapsed_ns)
		ret->gpu_lost_pct = 100 * (double)stream_lost(s->gpu_stream, LOSS_MISSING_NS) /
		                    ((double)ret->elapsed_ns * (double)gpus);
	if (ret->gpu_lost_pct > 100)
		ret->gpu_lost_pct = 100; /* a call that hung while the recording was stopped */
	if (unwritten_pct > ret->gpu_lost_pct) {
		ret->gpu_lost_pct = unwritten_pct;
		snprintf(ret->gpu_lost_why, sizeof(ret->gpu_lost_why), "they could not be written in time");
		return;
	}
	for (i = 0; s->gpu_stream && i < ARRAY_LEN(causes); i++) {
		n = stream_lost(s->gpu_stream, causes[i].loss);
		if (n <= most)
			continue;
		most = n;
		snprintf(ret->gpu_lost_why, sizeof(ret->gpu_lost_why), "%s", causes[i].what);
	}
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
		tell_lost(s, ret);
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
