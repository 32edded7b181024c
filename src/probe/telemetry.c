/* Telemetry of GPUs: its sampler. */
#include "telemetry.h"

struct telemetry {
	struct telemetry_config config;
	struct stream *stream;
	uint64_t ticks_done;
};

galvo_status telemetry_create(const struct telemetry_config *config,
                              struct telemetry **ret_telemetry, galvo_error *reterr)
{
	galvo_status status = GALVO_ERR_ABSENT;
	struct telemetry *t;
	size_t i;

	for (i = 0; i < gpu_vendors_len && status != GALVO_OK; i++)
		status = gpu_vendors[i]->find(&config->places, config->world, reterr);
	if (status != GALVO_OK)
		return status;
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	t->config = *config;
	*ret_telemetry = t;
	return GALVO_OK;
}

void telemetry_destroy(struct telemetry *t)
{
	free(t);
}

galvo_status telemetry_begin(struct telemetry *t, struct stream *stream, galvo_error *reterr)
{
	(void)reterr;
	t->stream = stream;
	return GALVO_OK;
}

galvo_status telemetry_start(struct telemetry *t, struct stream *stream, galvo_error *reterr)
{
	return telemetry_begin(t, stream, reterr);
}

void telemetry_signal_stop(struct telemetry *t)
{
	(void)t;
}

void telemetry_tick(struct telemetry *t)
{
	t->ticks_done++;
}

bool telemetry_settle(struct telemetry *t, uint64_t timeout_ns)
{
	(void)t;
	(void)timeout_ns;
	return true;
}

void telemetry_flush(struct telemetry *t)
{
	const struct clock *clock = t->config.world->clock;
	const struct flush_info info = {
		.mono_ns = clock->mono_ns(clock),
		.boot_ns = clock->boot_ns(clock),
		.wall_ns = clock->wall_ns(clock),
		.stats.ticks = t->ticks_done,
	};

	if (t->stream)
		stream_flush(t->stream, &info);
}

bool telemetry_join(struct telemetry *t, uint64_t timeout_ns)
{
	(void)timeout_ns;
	telemetry_flush(t);
	return true;
}

bool telemetry_note_at(const struct telemetry *t, size_t i, const char **ret_subject,
                       const char **ret_text)
{
	(void)t;
	(void)i;
	(void)ret_subject;
	(void)ret_text;
	return false;
}

void telemetry_count(const struct telemetry *t, struct telemetry_counts *ret)
{
	*ret = (struct telemetry_counts){.ticks = t->ticks_done};
}

uint32_t telemetry_slowed(const struct telemetry *t, char *names, size_t cap)
{
	(void)t;
	(void)names;
	(void)cap;
	return 1;
}
