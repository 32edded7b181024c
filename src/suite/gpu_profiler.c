/* Hardware counters for users of the library: the profiler by itself, its devices, metrics and samples. */
#include <unistd.h>

#include "galvo/gpu.h"
#include "sidecar.h"

_Static_assert(GALVO_GPU_VALUES_MAX == ROW_MAX, "a sample has room for all columns");

/* ---- a profiler by itself ------------------------------------------------------------------------- */

/* Numbers of devices as a suite has them; free what is in *ret_memory in any case. */
static bool put_devices(const galvo_gpu_config *from, galvo_suite_config *to, void **ret_memory)
{
	static const char *const all[] = {"all"};
	const size_t n = from->device_indices_len, digits = sizeof("4294967295");
	const char **names = alloc_array(n + 1, sizeof(*names) + digits);
	char *at;
	size_t i;

	*ret_memory = names;
	if (!names)
		return false;
	at = (char *)(names + n);
	for (i = 0; i < n; i++, at += digits) {
		snprintf(at, digits, "%u", from->device_indices[i]);
		names[i] = at;
	}
	to->gpus = from->all_devices ? all : names;
	to->gpus_len = from->all_devices ? 1 : n;
	return true;
}

galvo_status galvo_gpu_profiler_create(const galvo_gpu_config *config, galvo_profiler **ret_profiler,
                                       galvo_error *reterr)
{
	galvo_suite_config all = galvo_suite_config_default();
	galvo_gpu_config c;
	galvo_status status = sized_take("config", &c, sizeof(c), config, reterr);
	void *memory;

	if (status != GALVO_OK)
		return status;
	all.no_system = all.no_disk = 1;
	all.no_events = !c.events_file;
	all.events_file = c.events_file;
	all.gpu_counters = all.require_gpu_counters = 1;
	all.gpu_hz = c.frequency_hz;
	all.gpu_buffer_bytes = c.hw_buffer_bytes;
	all.gpu_max_samples = c.max_samples;
	all.gpu_metrics = c.metrics;
	all.gpu_metrics_len = c.metrics_len;
	all.gpu_flush_interval_ms = c.flush_interval_ms;
	all.gpu_decode_interval_ms = c.decode_interval_ms;
	all.gpu_drain_samples = c.drain_samples;
	all.stop_at_exit = c.stop_at_exit;
	all.sidecar_path = c.sidecar_path;
	all.sidecar_cpus = c.sidecar_cpus;
	all.mode = c.mode;
	status = put_devices(&c, &all, &memory)
	                 ? profiler_create(&all, &all.gpu_file, c.output_file, PART_GPU, ret_profiler, reterr)
	                 : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	free(memory);
	return status;
}

galvo_profiler *galvo_suite_gpu_profiler(galvo_suite *s)
{
	return suite_wants(s, PART_GPU) ? &s->parts[PART_GPU] : NULL;
}

/* ---- what it counts ------------------------------------------------------------------------------- */

galvo_status suite_gpu_status(const struct galvo_suite *s, galvo_error *reterr)
{
	if (s->no_counters.status != GALVO_OK && reterr)
		*reterr = s->no_counters;
	return (galvo_status)s->no_counters.status;
}

static void give_device(const struct gpu_info *from, galvo_gpu_device *to)
{
	*to = (galvo_gpu_device){
		.index = from->index,
		.sm_count = from->sm_count,
		.warps_per_sm = from->warps_per_sm,
		.compute_major = from->compute_major,
		.compute_minor = from->compute_minor,
		.memory_bytes = from->memory_bytes,
		/* 0 where they are NaN, as all numbers are that are not known. */
		.peak_dram_bytes_per_s = from->peak_dram_bytes_per_s > 0 ? from->peak_dram_bytes_per_s : 0,
		.peak_pcie_bytes_per_s = from->peak_pcie_bytes_per_s > 0 ? from->peak_pcie_bytes_per_s : 0,
		.peak_nvlink_bytes_per_s =
			from->peak_nvlink_bytes_per_s > 0 ? from->peak_nvlink_bytes_per_s : 0,
	};
	utf8_copy(to->name, sizeof(to->name), span_str(from->name));
	utf8_copy(to->chip, sizeof(to->chip), span_str(from->chip));
	utf8_copy(to->uuid, sizeof(to->uuid), span_str(from->uuid));
	utf8_copy(to->pci, sizeof(to->pci), span_str(from->pci));
	utf8_copy(to->driver, sizeof(to->driver), span_str(from->driver));
}

galvo_status suite_gpu_device_at(const struct galvo_suite *s, size_t i, galvo_gpu_device *ret,
                                 galvo_error *reterr)
{
	galvo_status status = suite_gpu_status(s, reterr);
	struct gpu_info info;

	if (status != GALVO_OK)
		return status;
	if (!counters_device_at(s->counters, i, &info))
		return GALVO_DONE;
	give_device(&info, ret);
	return GALVO_OK;
}

galvo_status suite_gpu_metric_at(const struct galvo_suite *s, size_t i, const char **ret,
                                 galvo_error *reterr)
{
	galvo_status status = suite_gpu_status(s, reterr);
	const char *const *columns;
	size_t n;

	if (status != GALVO_OK)
		return status;
	columns = counters_columns(s->counters, &n);
	if (i >= n)
		return GALVO_DONE;
	*ret = columns[i];
	return GALVO_OK;
}

galvo_status suite_gpu_drain(struct galvo_suite *s, struct counters_sample *ret, size_t *ret_len,
                             uint64_t *ret_overwritten, galvo_error *reterr)
{
	galvo_status status = suite_gpu_status(s, reterr);

	*ret_overwritten = 0;
	if (status != GALVO_OK)
		return status;
	counters_columns(s->counters, ret_len);
	return counters_drain(s->counters, ret, ret_overwritten);
}

/* ---- public --------------------------------------------------------------------------------------- */

static galvo_status expect_gpu(const galvo_profiler *p, galvo_error *reterr)
{
	if (p->suite->owner != getpid())
		return suite_refuse_child(reterr);
	return p->kind == STREAM_GPU ? GALVO_OK
	                             : err_set(reterr, GALVO_ERR_INVALID, "the profiler is not of GPUs");
}

galvo_status galvo_gpu_status(galvo_profiler *p, galvo_error *reterr)
{
	galvo_status status = expect_gpu(p, reterr);

	if (status != GALVO_OK)
		return status;
	return p->suite->sidecar ? sidecar_call(p->suite->sidecar, SIDECAR_GPU_STATUS, reterr)
	                         : suite_gpu_status(p->suite, reterr);
}

galvo_status galvo_gpu_device_at(galvo_profiler *p, size_t i, galvo_gpu_device *ret_device,
                                 galvo_error *reterr)
{
	galvo_status status = expect_gpu(p, reterr);
	galvo_gpu_device device = {0};

	if (status == GALVO_OK)
		status = p->suite->sidecar ? sidecar_gpu_device_at(p->suite->sidecar, i, &device, reterr)
		                           : suite_gpu_device_at(p->suite, i, &device, reterr);
	return status == GALVO_OK ? sized_give("device", ret_device, &device, sizeof(device), reterr)
	                          : status;
}

galvo_status galvo_gpu_metric_at(galvo_profiler *p, size_t i, galvo_gpu_metric *ret_metric,
                                 galvo_error *reterr)
{
	galvo_status status = expect_gpu(p, reterr);
	galvo_gpu_metric metric = {0};
	const char *name = "";

	if (status == GALVO_OK)
		status = p->suite->sidecar
		                 ? sidecar_gpu_metric_at(p->suite->sidecar, i, metric.name,
		                                         sizeof(metric.name), reterr)
		                 : suite_gpu_metric_at(p->suite, i, &name, reterr);
	if (status != GALVO_OK)
		return status;
	if (!p->suite->sidecar)
		utf8_copy(metric.name, sizeof(metric.name), span_str(name));
	return sized_give("metric", ret_metric, &metric, sizeof(metric), reterr);
}

galvo_status galvo_gpu_drain(galvo_profiler *p, galvo_gpu_sample *ret_sample, galvo_error *reterr)
{
	galvo_status status = expect_gpu(p, reterr);
	struct counters_sample from;
	galvo_gpu_sample sample;
	uint64_t overwritten;
	size_t n = 0;

	if (status == GALVO_OK)
		status = p->suite->sidecar
		                 ? sidecar_gpu_drain(p->suite->sidecar, &from, &n, &overwritten, reterr)
		                 : suite_gpu_drain(p->suite, &from, &n, &overwritten, reterr);
	if (status != GALVO_OK)
		return status;
	sample.gpu_index = from.gpu;
	sample.values_len = (uint32_t)n;
	sample.start_mono_ns = from.start_mono_ns;
	sample.end_mono_ns = from.end_mono_ns;
	sample.overwritten = overwritten;
	memset(sample.values, 0, sizeof(sample.values));
	memcpy(sample.values, from.values, n * sizeof(from.values[0]));
	return sized_give("sample", ret_sample, &sample, sizeof(sample), reterr);
}
