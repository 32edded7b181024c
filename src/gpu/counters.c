/* Hardware counters from beginning to end: what a caller asks for. */
#include "counters.h"

struct counters {
	struct counters_config config;
};

galvo_status counters_create(const struct counters_config *config, struct counters **ret,
                             galvo_error *reterr)
{
	struct cuda cuda;

	(void)ret;
	if (cuda_open(&cuda, config->cuda, reterr))
		return GALVO_ERR_ABSENT;
	return err_set(reterr, GALVO_ERR_ABSENT, "hardware counters cannot be sampled yet");
}

void counters_destroy(struct counters *c)
{
	free(c);
}

const char *const *counters_columns(const struct counters *c, size_t *ret_n)
{
	*ret_n = c->config.metrics_len;
	return c->config.metrics;
}

galvo_status counters_catalog(const struct counters *c, struct buf *into, galvo_error *reterr)
{
	(void)c, (void)into, (void)reterr;
	return GALVO_OK;
}

bool counters_device_at(const struct counters *c, size_t i, struct gpu_info *ret)
{
	(void)c, (void)i, (void)ret;
	return false;
}

uint64_t counters_interval_ns(const struct counters *c)
{
	return (uint64_t)(1e9 / c->config.frequency_hz);
}

bool counters_note_at(const struct counters *c, size_t i, const char **ret_subject,
                      const char **ret_text)
{
	(void)c, (void)i, (void)ret_subject, (void)ret_text;
	return false;
}

galvo_status counters_start(struct counters *c, struct stream *stream, galvo_error *reterr)
{
	(void)c, (void)stream;
	return err_set(reterr, GALVO_ERR_STATE, "hardware counters cannot be sampled yet");
}

void counters_signal_stop(struct counters *c)
{
	(void)c;
}

bool counters_join(struct counters *c, uint64_t timeout_ns)
{
	(void)c, (void)timeout_ns;
	return true;
}

void counters_count(const struct counters *c, struct counters_counts *ret)
{
	(void)c;
	*ret = (struct counters_counts){0};
}

galvo_status counters_drain(struct counters *c, struct counters_sample *ret,
                            uint64_t *ret_overwritten)
{
	(void)c, (void)ret, (void)ret_overwritten;
	return GALVO_DONE;
}
