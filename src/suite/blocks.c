/* The blocks of a configuration message, checked, as a galvo_suite_config. */
#include <stdarg.h>

#include "load.h"

#define FLUSH_MS 5000 /* of a block by default, whatever the others have */

/* Value number nth of the field, from 0; of members of a list, the member's place is told. */
__attribute__((format(printf, 5, 6))) static bool refuse_nth(struct loading *l, const char *field,
                                                             const char *list, size_t nth,
                                                             const char *fmt, ...)
{
	char why[160], place[48] = "";
	size_t line, column;
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	if (text_find(&galvo__profiler_suite_config__descriptor, l->text, list, nth, &line, &column))
		snprintf(place, sizeof(place), ":%zu:%zu", line, column);
	l->status = err_set(l->reterr, GALVO_ERR_INVALID, "%s%s: field '%s': %s", l->name, place, field,
	                    why);
	return false;
}

#define refuse(l, field, ...) refuse_nth(l, field, field, 0, __VA_ARGS__)

void config_note(struct loading *l, const char *fmt, ...)
{
	galvo_suite_config *c = &l->config->suite;
	char text[NOTE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (c->notes_len < CONFIG_NOTES_MAX && (l->config->notes[c->notes_len] = strdup(text)))
		c->notes_len++;
}

/* ---- values ------------------------------------------------------------------------------------- */

static const char *text_or_null(const char *text)
{
	return text && text[0] ? text : NULL;
}

static bool take_hz(struct loading *l, const char *field, uint64_t hz, uint64_t max, double *to)
{
	if (hz > max)
		return refuse(l, field, "expected at most %llu, got %llu", (unsigned long long)max,
		              (unsigned long long)hz);
	*to = (double)hz;
	return true;
}

static bool take_u64(struct loading *l, const char *field, uint64_t v, uint64_t max, uint64_t *to)
{
	if (v > max)
		return refuse(l, field, "expected at most %llu, got %llu", (unsigned long long)max,
		              (unsigned long long)v);
	*to = v;
	return true;
}

static bool take_ms(struct loading *l, const char *field, uint64_t ms, uint64_t *to)
{
	if (ms > INTERVAL_MS_MAX)
		return refuse(l, field, "expected a day, %d, at most, got %llu", INTERVAL_MS_MAX,
		              (unsigned long long)ms);
	*to = ms;
	return true;
}

/* 0 is the default, as everywhere. */
static bool take_double(struct loading *l, const char *field, double v, double max, double *to)
{
	if (!(v == 0 || (v > 0.001 && v <= max)))
		return refuse(l, field, "expected more than 0.001 and at most %.0f", max);
	*to = v;
	return true;
}

static bool is_follow(Galvo__TrackedProcess__Follow follow)
{
	return (int)follow >= 0 && (int)follow <= GALVO__TRACKED_PROCESS__FOLLOW__TREE;
}

/* Of one process, NONE is a word against what holds for all. */
static int32_t follow_of(const Galvo__TrackedProcess *from)
{
	return from->follow == GALVO__TRACKED_PROCESS__FOLLOW__NONE ? GALVO_FOLLOW_SELF
	       : from->follow ? (int32_t)from->follow - 1 : 0;
}

/* The names of both blocks, each process once, for whom it is; an alias is better than none. */
static bool take_processes(struct loading *l, const char *field, const char *list, uint32_t profiler,
                           Galvo__TrackedProcess **from, size_t n)
{
	galvo_suite_config *c = &l->config->suite;
	size_t i, j;

	for (i = 0; i < n; i++) {
		if (from[i]->pid > INT32_MAX)
			return refuse_nth(l, field, list, i, "expected a pid of at most %d, got %u", INT32_MAX,
			                  from[i]->pid);
		if (!is_follow(from[i]->follow))
			return refuse_nth(l, field, list, i, "follow: expected NONE, CHILDREN or TREE, got %d",
			                  (int)from[i]->follow);
		for (j = 0; j < c->processes_len && l->config->processes[j].pid != from[i]->pid; j++)
			;
		l->config->processes[j].pid = from[i]->pid;
		l->config->processes[j].profilers |= profiler;
		if (from[i]->follow)
			l->config->processes[j].follow = follow_of(from[i]);
		if (!l->config->processes[j].alias)
			l->config->processes[j].alias = text_or_null(from[i]->alias);
		c->processes_len += j == c->processes_len;
	}
	return true;
}

static bool take_devices(struct loading *l, char **names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!strncmp(names[i], "/dev/", 5))
			memmove(names[i], names[i] + 5, strlen(names[i] + 5) + 1);
		if (!names[i][0] || strlen(names[i]) > DEVICE_NAME_MAX)
			return refuse_nth(l, "disk.devices", "disk.devices", i,
			                  "expected names of 1 to %d bytes", DEVICE_NAME_MAX);
	}
	l->config->suite.disks = (const char *const *)names;
	l->config->suite.disks_len = n;
	return true;
}

static bool take_follow(struct loading *l, Galvo__TrackedProcess__Follow follow)
{
	if (!is_follow(follow))
		return refuse(l, "follow", "expected NONE, CHILDREN or TREE, got %d", (int)follow);
	/* The file's UNSPECIFIED is 0, and then come those of galvo_follow. */
	l->config->follow = (int32_t)follow - 1;
	l->config->suite.follow = l->config->follow > 0 ? l->config->follow : GALVO_FOLLOW_NONE;
	return true;
}

static bool take_sidecar(struct loading *l, const Galvo__ProfilerSuiteConfig *from)
{
	galvo_suite_config *c = &l->config->suite;

	c->mode = (int32_t)from->mode;
	c->sidecar_path = text_or_null(from->sidecar_path);
	c->sidecar_cpus = text_or_null(from->sidecar_cpus);
	if (c->mode != GALVO_IN_PROCESS && c->mode != GALVO_SIDECAR)
		return refuse(l, "mode", "expected IN_PROCESS or SIDECAR, got %d", (int)c->mode);
	if (!suite_parse_cpus(c->sidecar_cpus, &(struct cpus){0}))
		return refuse(l, "sidecar_cpus", "%s", CPUS_EXPECTED);
	return true;
}

/* ---- blocks: one that is missing or not enabled is not recorded --------------------------------- */

static bool take_system(struct loading *l, const Galvo__SystemProfilerConfig *from)
{
	galvo_suite_config *c = &l->config->suite;

	c->no_system = !from || !from->enabled;
	if (c->no_system)
		return true;
	c->pss = from->pss;
	c->threads = from->threads;
	c->system_file = text_or_null(from->output_file);
	return take_hz(l, "system.sampling_frequency_hz", from->sampling_frequency_hz, HZ_MAX,
	               &c->system_hz) &&
	       take_double(l, "system.core_frequency_hz", from->core_frequency_hz, HZ_MAX,
	                   &c->core_hz) &&
	       take_ms(l, "system.flush_interval_ms", from->flush_interval_ms, &c->flush_interval_ms) &&
	       take_processes(l, "system.processes.pid", "system.processes", GALVO_FOR_SYSTEM,
	                      from->processes, from->n_processes);
}

static bool take_disk(struct loading *l, const Galvo__DiskProfilerConfig *from)
{
	galvo_suite_config *c = &l->config->suite;

	c->no_disk = !from || !from->enabled;
	if (c->no_disk)
		return true;
	c->disk_file = text_or_null(from->output_file);
	if (!take_hz(l, "disk.sampling_frequency_hz", from->sampling_frequency_hz, HZ_MAX,
	             &c->disk_hz) ||
	    !take_ms(l, "disk.flush_interval_ms", from->flush_interval_ms, &c->disk_flush_interval_ms) ||
	    !take_devices(l, from->devices, from->n_devices) ||
	    !take_processes(l, "disk.processes.pid", "disk.processes", GALVO_FOR_DISK, from->processes,
	                    from->n_processes))
		return false;
	if (c->disk_flush_interval_ms == 0)
		c->disk_flush_interval_ms = FLUSH_MS;
	return true;
}

static bool take_events(struct loading *l, const Galvo__EventProfilerConfig *from)
{
	galvo_suite_config *c = &l->config->suite;

	c->no_events = !from || !from->enabled;
	if (c->no_events)
		return true;
	c->events_file = text_or_null(from->output_file);
	if (!take_ms(l, "events.flush_interval_ms", from->flush_interval_ms,
	             &c->events_flush_interval_ms))
		return false;
	if (c->events_flush_interval_ms == 0)
		c->events_flush_interval_ms = FLUSH_MS;
	return true;
}

/* Devices by number and by UUID, in one list; texts of numbers are made, and kept. */
static bool list_gpus(struct loading *l, const Galvo__GPUProfilerConfig *from)
{
	static const char *const all[] = {"all"};
	galvo_suite_config *c = &l->config->suite;
	const size_t n = from->n_device_indices;
	size_t i;

	l->config->gpus = alloc_array(n + 1, sizeof(*l->config->gpus));
	l->config->all_gpus = alloc_array(n + from->n_device_uuids + 1, sizeof(*l->config->all_gpus));
	for (i = 0; i < n && l->config->gpus && l->config->all_gpus; i++) {
		if (asprintf(&l->config->gpus[i], "%d", from->device_indices[i]) < 0)
			l->config->gpus[i] = NULL;
		l->config->all_gpus[i] = l->config->gpus[i];
		if (!l->config->gpus[i])
			break;
	}
	if (!l->config->gpus || !l->config->all_gpus || i < n) {
		l->status = err_set(l->reterr, GALVO_ERR_NOMEM, "%s: out of memory", l->name);
		return false;
	}
	for (i = 0; i < from->n_device_uuids; i++)
		l->config->all_gpus[n + i] = from->device_uuids[i];
	c->gpus = from->all_devices ? all : l->config->all_gpus;
	c->gpus_len = from->all_devices ? 1 : n + from->n_device_uuids;
	return true;
}

/* Whether the chip has such a metric is known when the suite is made. */
static bool take_names(struct loading *l, const Galvo__GPUProfilerConfig *from)
{
	galvo_suite_config *c = &l->config->suite;
	size_t i;

	for (i = 0; i < from->n_device_indices; i++)
		if (from->device_indices[i] < 0 || from->device_indices[i] > GPU_INDEX_MAX)
			return refuse_nth(l, "gpu.device_indices", "gpu.device_indices", i,
			                  "expected numbers from 0 to %d, got %d", GPU_INDEX_MAX,
			                  from->device_indices[i]);
	for (i = 0; i < from->n_device_uuids; i++)
		if (!suite_is_gpu_uuid(from->device_uuids[i]))
			return refuse_nth(l, "gpu.device_uuids", "gpu.device_uuids", i, "expected GPU-…");
	for (i = 0; i < from->n_metrics; i++)
		if (!from->metrics[i][0])
			return refuse_nth(l, "gpu.metrics", "gpu.metrics", i,
			                  "expected a full name, default or rich");
	c->gpu_metrics = (const char *const *)from->metrics;
	c->gpu_metrics_len = from->n_metrics;
	return list_gpus(l, from);
}

static bool take_gpu(struct loading *l, const Galvo__GPUProfilerConfig *from)
{
	galvo_suite_config *c = &l->config->suite;

	c->gpu_counters = from && from->enabled;
	if (!c->gpu_counters)
		return true;
	c->gpu_file = text_or_null(from->output_file);
	return take_hz(l, "gpu.sampling_frequency_hz", from->sampling_frequency_hz, COUNTERS_HZ_MAX,
	               &c->gpu_hz) &&
	       take_u64(l, "gpu.hw_buffer_size", from->hw_buffer_size, GPU_BUFFER_BYTES_MAX,
	                &c->gpu_buffer_bytes) &&
	       take_u64(l, "gpu.max_samples", from->max_samples, UINT32_MAX, &c->gpu_max_samples) &&
	       take_ms(l, "gpu.flush_interval_ms", from->flush_interval_ms, &c->gpu_flush_interval_ms) &&
	       take_ms(l, "gpu.decode_interval_ms", from->decode_interval_ms,
	               &c->gpu_decode_interval_ms) &&
	       take_names(l, from);
}

static bool take_telemetry(struct loading *l, const Galvo__GPUTelemetryConfig *from)
{
	galvo_suite_config *c = &l->config->suite;

	c->gpu_telemetry = from && from->enabled;
	if (!c->gpu_telemetry)
		return true;
	c->telemetry_file = text_or_null(from->output_file);
	if (!take_double(l, "gpu_telemetry.sampling_frequency_hz", from->sampling_frequency_hz, HZ_MAX,
	                 &c->telemetry_hz) ||
	    !take_ms(l, "gpu_telemetry.flush_interval_ms", from->flush_interval_ms,
	             &c->telemetry_flush_interval_ms))
		return false;
	if (c->telemetry_flush_interval_ms == 0)
		c->telemetry_flush_interval_ms = FLUSH_MS;
	return true;
}

/* "system_file: why", as the suite says it. */
static bool refuse_file(struct loading *l, struct span why)
{
	const char *field = span_starts(why, "system") ? "system.output_file"
	                    : span_starts(why, "disk") ? "disk.output_file"
	                    : span_starts(why, "gpu") ? "gpu.output_file"
	                    : span_starts(why, "telemetry") ? "gpu_telemetry.output_file"
	                                                    : "events.output_file";
	struct span member;

	span_cut(&why, ':', &member);
	return refuse(l, field, "%.*s", (int)span_trim(why).n, span_trim(why).p);
}

bool config_take(struct loading *l)
{
	const Galvo__ProfilerSuiteConfig *from = l->config->message;
	galvo_suite_config *c = &l->config->suite, files;
	galvo_error error;
	size_t n = from->system_block ? from->system_block->n_processes : 0;

	n += from->disk ? from->disk->n_processes : 0;
	l->config->processes = alloc_array(n, sizeof(*l->config->processes));
	if (!l->config->processes) {
		l->status = err_set(l->reterr, GALVO_ERR_NOMEM, "%s: out of memory", l->name);
		return false;
	}
	c->processes = l->config->processes;
	c->notes = (const char *const *)l->config->notes;
	c->output_dir = text_or_null(from->output_dir);
	c->metric_catalog_path = text_or_null(from->metric_catalog_path);
	c->root = text_or_null(from->root);
	c->overwrite = from->overwrite;
	c->stop_at_exit = from->stop_at_exit;
	c->no_kernel_events = from->no_kernel_events;
	if (!take_sidecar(l, from) || !take_follow(l, from->follow) ||
	    !take_system(l, from->system_block) || !take_disk(l, from->disk) ||
	    !take_events(l, from->events) || !take_gpu(l, from->gpu) ||
	    !take_telemetry(l, from->gpu_telemetry) ||
	    !take_ms(l, "scan_interval_ms", from->scan_interval_ms, &c->scan_interval_ms) ||
	    !take_double(l, "budget_pct", from->budget_pct, 100, &c->budget_pct))
		return false;
	files = *c;
	if (suite_set_files(&files, &error) != GALVO_OK)
		return refuse_file(l, span_str(error.text));
	if (c->no_system && c->no_disk && c->no_events && !c->gpu_counters && !c->gpu_telemetry)
		config_note(l, "config: no block is enabled; there is nothing to record");
	return true;
}
