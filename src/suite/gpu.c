/* Hardware counters and telemetry of GPUs as parts of the suite: made, started, stopped, asked what failed. */
#include "internal.h"

/* It may wait for the file, and then for what is in flight, which comes within milliseconds or not at all. */
#define TELEMETRY_PATIENCE_NS (STREAM_PATIENCE_NS + NS_PER_S)
#define OPEN_TIMEOUT_NS (10 * NS_PER_S) /* somebody waits for the recording to begin */
#define DRAIN_SAMPLES_MAX (UINT64_C(1) << 22)

/* ---- configuration -------------------------------------------------------------------------------- */

bool suite_is_gpu_uuid(const char *text)
{
	struct span name = span_str(text);

	return span_starts(name, "GPU-") && name.n > 4;
}

bool suite_is_gpu_name(const char *text)
{
	struct span name = span_str(text);
	uint64_t number;

	return span_eq_str(name, "all") || (span_to_u64(name, &number) && number <= GPU_INDEX_MAX) ||
	       suite_is_gpu_uuid(text);
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
	galvo_status status = suite_bound_hz("gpu_hz", &c->gpu_hz, COUNTERS_HZ_DEFAULT, COUNTERS_HZ_MAX, reterr);

	if (status == GALVO_OK)
		status = suite_bound_hz("telemetry_hz", &c->telemetry_hz, 10, HZ_MAX, reterr);
	if (status != GALVO_OK)
		return status;
	if (c->gpu_telemetry < 0 || c->gpu_telemetry > 2)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_telemetry: expected 0, 1 or 2");
	if (c->gpu_max_samples > UINT32_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_max_samples: expected at most %u", UINT32_MAX);
	if (c->gpu_buffer_bytes > GPU_BUFFER_BYTES_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "gpu_buffer_bytes: expected at most %llu",
		               (unsigned long long)GPU_BUFFER_BYTES_MAX);
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
		suite_note(s, "GPU counters", "%s", failed->text);
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

static galvo_status open_counters(struct galvo_suite *s, const struct counters_config *chosen,
                                  galvo_error *reterr)
{
	const galvo_suite_config *c = &s->config;
	struct counters_config config = *chosen;
	struct env_places places;
	galvo_status status = env_places_find(&places, NULL, reterr);

	if (status != GALVO_OK)
		return status;
	config.frequency_hz = c->gpu_hz;
	config.buffer_bytes = c->gpu_buffer_bytes;
	config.max_samples = (uint32_t)c->gpu_max_samples;
	config.metrics = (const char *const *)s->gpu_metrics;
	config.metrics_len = c->gpu_metrics_len;
	config.flush_interval_ns = c->gpu_flush_interval_ms * NS_PER_MS;
	config.decode_interval_ns = c->gpu_decode_interval_ms * NS_PER_MS;
	config.cuda = &places.driver;
	config.cupti = &places.cupti;
	config.world = &s->world;
	config.open_timeout_ns = OPEN_TIMEOUT_NS;
	config.drain_samples = (uint32_t)c->gpu_drain_samples;
	status = counters_create(&config, &s->counters, reterr);
	env_places_free(&places);
	return status == GALVO_OK ? put_catalog(s, reterr) : status;
}

/* Numbers, UUIDs and "all" are apart there. */
static galvo_status create_counters(struct galvo_suite *s, galvo_error *reterr)
{
	const size_t most = s->config.gpus_len + 1;
	struct counters_config chosen = {.all = false};
	uint32_t *devices = alloc_array(most, sizeof(*devices));
	const char **uuids = alloc_array(most, sizeof(*uuids));
	galvo_status status;
	uint64_t number;
	size_t i;

	for (i = 0; devices && uuids && i < s->config.gpus_len; i++) {
		chosen.all = chosen.all || !strcmp(s->gpus[i], "all");
		if (span_to_u64(span_str(s->gpus[i]), &number))
			devices[chosen.devices_len++] = (uint32_t)number;
		else if (suite_is_gpu_uuid(s->gpus[i]))
			uuids[chosen.uuids_len++] = s->gpus[i];
	}
	if (chosen.all)
		chosen.devices_len = chosen.uuids_len = 0;
	chosen.devices = devices;
	chosen.uuids = uuids;
	status = !devices || !uuids ? err_set(reterr, GALVO_ERR_NOMEM, "out of memory")
	         : s->replay ? err_set(reterr, GALVO_ERR_ABSENT, "a captured machine has no GPUs")
	                     : open_counters(s, &chosen, reterr);
	free(devices);
	free(uuids);
	return status;
}

/* ---- telemetry ------------------------------------------------------------------------------------ */

static galvo_status create_telemetry(struct galvo_suite *s, galvo_error *reterr)
{
	const struct telemetry_config config = {
		.world = &s->world,
		.period_ns = (uint64_t)(1e9 / s->config.telemetry_hz),
		.flush_interval_ns = s->config.telemetry_flush_interval_ms * NS_PER_MS,
		.budget_pct = s->config.budget_pct,
	};
	galvo_error failed = {0};
	galvo_status status = telemetry_create(&config, &s->telemetry, &failed);

	if (status != GALVO_OK && status != GALVO_ERR_ABSENT)
		return err_set(reterr, status, "gpu telemetry: %s", failed.text);
	if (status == GALVO_ERR_ABSENT && s->config.gpu_telemetry == 1)
		suite_note(s, "GPU telemetry", "%s", failed.text);
	return GALVO_OK;
}

/* ---- life ----------------------------------------------------------------------------------------- */

galvo_status suite_create_gpu(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_error failed = {0};
	galvo_status status = GALVO_OK;

	if (suite_wants(s, PART_GPU) && create_counters(s, &failed) != GALVO_OK)
		status = do_without(s, &failed, reterr);
	if (status == GALVO_OK && suite_wants(s, PART_TELEMETRY) && !s->replay)
		status = create_telemetry(s, reterr);
	return status;
}

static galvo_status add_stream(struct galvo_suite *s, size_t part, double hz, struct stream **ret_stream,
                               galvo_error *reterr)
{
	struct stream_config file = {
		.kind = s->parts[part].kind,
		.file_name = s->files[part],
		.hostname = s->hostname,
		.frequency_hz = suite_whole_hz(hz),
		.cpu_count = s->world.cpu_count,
		.catalog_at = catalog_at,
		.is_new = true,
	};

	if (part == PART_GPU)
		file.columns = counters_columns(s->counters, &file.columns_len);
	return writer_add(s->writer, &file, ret_stream, reterr);
}

galvo_status suite_prepare_gpu(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;

	if (s->counters)
		status = add_stream(s, PART_GPU, s->config.gpu_hz, &s->gpu_stream, reterr);
	if (s->telemetry && status == GALVO_OK)
		status = add_stream(s, PART_TELEMETRY, s->config.telemetry_hz, &s->telemetry_stream, reterr);
	return status;
}

galvo_status suite_start_gpu(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_error failed = {0};
	galvo_status status = GALVO_OK;

	if (s->telemetry)
		status = telemetry_start(s->telemetry, s->telemetry_stream, reterr);
	if (status != GALVO_OK)
		return status;
	s->has_telemetry = s->telemetry != NULL;
	if (s->counters && counters_start(s->counters, s->gpu_stream, &failed) != GALVO_OK)
		status = do_without(s, &failed, reterr);
	else
		s->is_counting = s->counters != NULL;
	suite_note_gpu(s);
	return status;
}

void suite_signal_gpu(struct galvo_suite *s)
{
	if (s->is_counting)
		counters_signal_stop(s->counters);
	if (s->has_telemetry)
		telemetry_signal_stop(s->telemetry);
}

void suite_join_gpu(struct galvo_suite *s, uint64_t until_ns)
{
	const uint64_t now_ns = clock_real.mono_ns(&clock_real);

	if (s->has_telemetry && !telemetry_join(s->telemetry, TELEMETRY_PATIENCE_NS))
		s->is_gpu_left_behind = telemetry_holds_stream(s->telemetry); /* its notes say what hung */
	if (s->is_counting && !counters_join(s->counters, now_ns < until_ns ? until_ns - now_ns : 0)) {
		s->is_gpu_left_behind = s->is_gpu_left_behind || counters_hold_stream(s->counters);
		suite_note(s, "GPU counters", "a thread had not ended when the recording had");
	}
}

void suite_note_gpu(struct galvo_suite *s)
{
	const char *subject, *text;
	size_t i;

	for (i = 0; s->counters && counters_note_at(s->counters, i, &subject, &text); i++)
		suite_note(s, subject, "%s", text);
	for (i = 0; s->stop_mono_ns && s->has_telemetry && telemetry_note_at(s->telemetry, i, &subject, &text);
	     i++)
		suite_note(s, subject, "%s", text);
}

void suite_destroy_gpu(struct galvo_suite *s)
{
	counters_destroy(s->counters);
	telemetry_destroy(s->telemetry);
}
