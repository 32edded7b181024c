/* Regions and marks as a part of the suite: their stream, their thread, their doors. */
#include "internal.h"

/* A captured machine says nothing. */
bool suite_has_events(const struct galvo_suite *s)
{
	return !galvo_suite_is_replay(s) && !s->config.no_events;
}

galvo_status suite_prepare_events(struct galvo_suite *s, galvo_error *reterr)
{
	const struct clock *clock = s->world.clock;
	const struct stream_config file = {
		.kind = STREAM_EVENTS,
		.file_name = s->files[PART_EVENTS],
		.hostname = s->hostname,
		.cpu_count = s->world.cpu_count,
		.catalog_at = catalog_at,
		.is_new = true,
		/* As if on the clock that hardware counters have, which is where other readers expect it. */
		.gpu_offset_ns = clock->wall_ns(clock) - clock->mono_ns(clock),
	};
	struct stream *stream;
	galvo_status status;

	if (!suite_has_events(s))
		return GALVO_OK;
	status = writer_add(s->writer, &file, &stream, reterr);
	if (status == GALVO_OK)
		events_open(s->events, stream, s->config.events_flush_interval_ms * NS_PER_MS);
	return status;
}

galvo_status suite_start_events(struct galvo_suite *s, galvo_error *reterr)
{
	return suite_has_events(s) ? events_start(s->events, reterr) : GALVO_OK;
}

void suite_signal_events(struct galvo_suite *s)
{
	/* Before the start there is nothing to end. */
	if (galvo_tracker_status(events_tracker(s->events, DOMAIN_GENERIC), NULL) == GALVO_OK)
		events_signal_stop(s->events);
}

void suite_stop_events(struct galvo_suite *s)
{
	struct events_counts counts;

	if (!suite_has_events(s))
		return;
	events_signal_stop(s->events);
	events_join(s->events);
	events_count(s->events, &counts);
	if (counts.unmatched)
		suite_note(s, "events", "ends of regions that were not open: %llu",
		           (unsigned long long)counts.unmatched);
	if (counts.refused)
		suite_note(s, "events", "messages refused (malformed, another user's, too many): %llu",
		           (unsigned long long)counts.refused);
	if (counts.gpu_hangs)
		suite_note(s, "events", "a call of CUDA did not return when the recording was stopped: "
		                        "regions of the GPU are missing, or have no end");
}

galvo_tracker *galvo_suite_host_tracker(galvo_suite *s)
{
	return events_tracker(s->events, DOMAIN_GENERIC);
}

galvo_tracker *galvo_suite_gpu_tracker(galvo_suite *s)
{
	return events_tracker(s->events, DOMAIN_GPU);
}
