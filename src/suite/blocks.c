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

static bool take_hz(struct loading *l, const char *field, uint64_t hz, double *to)
{
	if (hz > HZ_MAX)
		return refuse(l, field, "expected at most %d, got %llu", HZ_MAX,
		              (unsigned long long)hz);
	*to = (double)hz;
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
	return take_hz(l, "system.sampling_frequency_hz", from->sampling_frequency_hz, &c->system_hz) &&
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
	if (!take_hz(l, "disk.sampling_frequency_hz", from->sampling_frequency_hz, &c->disk_hz) ||
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

/* "system_file: why", as the suite says it. */
static bool refuse_file(struct loading *l, struct span why)
{
	const char *field = span_starts(why, "system") ? "system.output_file"
	                    : span_starts(why, "disk") ? "disk.output_file" : "events.output_file";
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
	    !take_events(l, from->events) ||
	    !take_ms(l, "scan_interval_ms", from->scan_interval_ms, &c->scan_interval_ms) ||
	    !take_double(l, "budget_pct", from->budget_pct, 100, &c->budget_pct))
		return false;
	files = *c;
	if (suite_set_files(&files, &error) != GALVO_OK)
		return refuse_file(l, span_str(error.text));
	if (from->gpu && from->gpu->enabled)
		config_note(l, "gpu: this build has no GPU profiler yet; the rest is recorded");
	if (c->no_system && c->no_disk && c->no_events)
		config_note(l, "config: no block is enabled; there is nothing to record");
	return true;
}
