/* Hardware counters and telemetry of GPUs as parts of the suite: made, started, stopped, asked what failed. */
#include "internal.h"

enum { GPU_INDEX_MAX = 1023 };
#define BUFFER_BYTES_MAX (UINT64_C(1) << 36)
#define DRAIN_SAMPLES_MAX (UINT64_C(1) << 22)

/* ---- configuration -------------------------------------------------------------------------------- */

bool suite_is_gpu_name(const char *text)
{
	struct span name = span_str(text);
	uint64_t number;

	return span_eq_str(name, "all") || (span_to_u64(name, &number) && number <= GPU_INDEX_MAX) ||
	       (span_starts(name, "GPU-") && name.n > 4);
}

static galvo_status check_names(const galvo_suite_config *c, galvo_error *reterr)
{
	size_t i;

	for (i = 0; i < c->gpus_len; i++)
		if (!suite_is_gpu_name(c->gpus[i]))
			return err_set(reterr, GALVO_ERR_INVALID, "gpus: " GPUS_EXPECTED ", got '%.64s'",
			               c->gpus[i] ? c->gpus[i] : "");
	for (i = 0; i < c->gpu_metrics_len; i++)
		if (!c->gpu_metrics[i] || !c->gpu_metrics[i][0])
			return err_set(reterr, GALVO_ERR_INVALID, "gpu_metrics: expected names");
	return GALVO_OK;
}

galvo_status suite_set_gpu(galvo_suite_config *c, galvo_error *reterr)
{
	galvo_status status = suite_bound_hz("gpu_hz", &c->gpu_hz, COUNTERS_HZ_DEFAULT, GPU_HZ_MAX, reterr);

	if (status == GALVO_OK)
		status = suite_bound_hz("telemetry_hz", &c->telemetry_hz, 10, HZ_MAX, reterr);
	if (status != GALVO_OK)
		return status;
	if (c->gpu_telemetry < 0 || c->gpu_telemetry > 2)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_telemetry: expected 0, 1 or 2");
	if (c->gpu_max_samples > UINT32_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_max_samples: expected at most %u", UINT32_MAX);
	if (c->gpu_buffer_bytes > BUFFER_BYTES_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_buffer_bytes: expected at most %llu",
		               (unsigned long long)BUFFER_BYTES_MAX);
	if (c->gpu_drain_samples > DRAIN_SAMPLES_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_drain_samples: expected at most %llu",
		               (unsigned long long)DRAIN_SAMPLES_MAX);
	return check_names(c, reterr);
}

/* ---- hardware counters ---------------------------------------------------------------------------- */

/* A mistake, or what nobody can go on without. */
static bool is_fatal(const struct galvo_suite *s, galvo_status status)
{
	const galvo_suite_config *c = &s->config;

	return status == GALVO_ERR_INVALID || status == GALVO_ERR_NOMEM || c->require_gpu_counters ||
	       (c->no_system && c->no_disk && !c->gpu_telemetry);
}

/* What has failed is noted, and the recording is one without; or it fails. */
static galvo_status do_without(struct galvo_suite *s, const galvo_error *failed, galvo_error *reterr)
{
	s->no_counters = *failed;
	if (!is_fatal(s, (galvo_status)failed->status)) {
		suite_note(s, "gpu counters", "%s", failed->text);
		return GALVO_OK;
	}
	if (reterr)
		*reterr = *failed;
	err_wrap(reterr, "gpu");
	return (galvo_status)failed->status;
}

/* The columns that were chosen come before what the user lays over all. */
static galvo_status put_catalog(struct galvo_suite *s, galvo_error *reterr)
{
	struct buf whole;
	galvo_status status;

	buf_init(&whole, CATALOG_BYTES_MAX);
	status = counters_catalog(s->counters, &whole, reterr);
	buf_put(&whole, s->catalog.p, s->catalog.len);
	if (status == GALVO_OK && whole.failed)
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (status != GALVO_OK) {
		buf_finish(&whole);
		return status;
	}
	buf_finish(&s->catalog);
	s->catalog = whole;
	return GALVO_OK;
}

static galvo_status open_counters(struct galvo_suite *s, const uint32_t *devices, size_t devices_len,
                                  bool is_all, galvo_error *reterr)
{
	const galvo_suite_config *c = &s->config;
	struct env_places places;
	struct counters_config config = {
		.devices = devices,
		.devices_len = devices_len,
		.all = is_all,
		.frequency_hz = c->gpu_hz,
		.buffer_bytes = c->gpu_buffer_bytes,
		.max_samples = (uint32_t)c->gpu_max_samples,
		.metrics = (const char *const *)s->gpu_metrics,
		.metrics_len = c->gpu_metrics_len,
		.flush_interval_ns = c->gpu_flush_interval_ms * NS_PER_MS,
		.decode_interval_ns = c->gpu_decode_interval_ms * NS_PER_MS,
		.cuda = &places.driver,
		.cupti = &places.cupti,
		.world = &s->world,
		.drain_samples = (uint32_t)c->gpu_drain_samples,
	};
	galvo_status status = env_places_find(&places, NULL, reterr);

	if (status != GALVO_OK)
		return status;
	status = counters_create(&config, &s->counters, reterr);
	env_places_free(&places);
	return status == GALVO_OK ? put_catalog(s, reterr) : status;
}

static galvo_status create_counters(struct galvo_suite *s, galvo_error *reterr)
{
	uint32_t *devices = alloc_array(s->config.gpus_len + 1, sizeof(*devices));
	bool is_all = false;
	galvo_status status;
	size_t i, n = 0;

	if (!devices)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (i = 0; i < s->config.gpus_len; i++) {
		struct span name = span_str(s->gpus[i]);
		uint64_t number;

		is_all = is_all || span_eq_str(name, "all");
		if (span_to_u64(name, &number))
			devices[n++] = (uint32_t)number;
	}
	status = open_counters(s, devices, is_all ? 0 : n, is_all, reterr);
	free(devices);
	return status;
}

/* ---- life ----------------------------------------------------------------------------------------- */

galvo_status suite_create_gpu(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_error failed = {0};

	if (s->replay)
		return GALVO_OK;
	if (suite_wants(s, PART_GPU) && create_counters(s, &failed) != GALVO_OK)
		return do_without(s, &failed, reterr);
	return GALVO_OK;
}

galvo_status suite_prepare_gpu(struct galvo_suite *s, galvo_error *reterr)
{
	struct stream_config file = {
		.kind = STREAM_GPU,
		.file_name = s->files[PART_GPU],
		.hostname = s->hostname,
		.frequency_hz = suite_whole_hz(s->config.gpu_hz),
		.cpu_count = s->world.cpu_count,
		.catalog_at = catalog_at,
		.is_new = true,
	};

	if (!s->counters)
		return GALVO_OK;
	file.columns = counters_columns(s->counters, &file.columns_len);
	return writer_add(s->writer, &file, &s->gpu_stream, reterr);
}

galvo_status suite_start_gpu(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_error failed = {0};
	galvo_status status = GALVO_OK;

	if (!s->counters)
		return GALVO_OK;
	if (counters_start(s->counters, s->gpu_stream, &failed) == GALVO_OK)
		s->is_counting = true;
	else
		status = do_without(s, &failed, reterr);
	suite_note_gpu(s);
	return status;
}

void suite_signal_gpu(struct galvo_suite *s)
{
	if (s->is_counting)
		counters_signal_stop(s->counters);
}

void suite_join_gpu(struct galvo_suite *s, uint64_t until_ns)
{
	uint64_t now_ns = clock_real.mono_ns(&clock_real);

	if (s->is_counting && !counters_join(s->counters, now_ns < until_ns ? until_ns - now_ns : 0))
		s->is_gpu_left_behind = true;
}

void suite_note_gpu(struct galvo_suite *s)
{
	const char *subject, *text;
	size_t i;

	for (i = 0; s->counters && counters_note_at(s->counters, i, &subject, &text); i++)
		suite_note(s, subject, "%s", text);
}

void suite_destroy_gpu(struct galvo_suite *s)
{
	counters_destroy(s->counters);
}
