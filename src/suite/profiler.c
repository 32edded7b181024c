/* Profilers by themselves: a suite with one part and no metadata; and the parts of a suite. */
#include "internal.h"

galvo_status profiler_create(galvo_suite_config *config, const char **file, const char *path, size_t part,
                             galvo_profiler **ret_profiler, galvo_error *reterr)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	galvo_suite *suite;
	galvo_status status;
	char *dir;

	if (!path || !path[0])
		return err_set(reterr, GALVO_ERR_INVALID, "output_file: expected a path");
	dir = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
	if (!dir)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	config->output_dir = dir;
	*file = slash ? slash + 1 : path;
	status = suite_create(config, &(struct suite_role){.is_alone = true}, &suite, reterr);
	free(dir);
	if (status == GALVO_OK)
		*ret_profiler = &suite->parts[part];
	return status;
}

galvo_status galvo_system_profiler_create(const galvo_system_config *config,
                                          galvo_profiler **ret_profiler, galvo_error *reterr)
{
	galvo_suite_config all = galvo_suite_config_default();
	galvo_system_config c;
	galvo_status status = sized_take("config", &c, sizeof(c), config, reterr);

	if (status != GALVO_OK)
		return status;
	all.no_disk = all.no_events = 1;
	all.system_hz = c.frequency_hz;
	all.core_hz = c.core_hz;
	all.processes = c.processes;
	all.processes_len = c.processes_len;
	all.flush_interval_ms = c.flush_interval_ms;
	all.root = c.root;
	all.follow = c.follow;
	all.pss = c.pss;
	all.threads = c.threads;
	all.scan_interval_ms = c.scan_interval_ms;
	all.budget_pct = c.budget_pct;
	all.stop_at_exit = c.stop_at_exit;
	all.sidecar_path = c.sidecar_path;
	all.sidecar_cpus = c.sidecar_cpus;
	all.mode = c.mode;
	return profiler_create(&all, &all.system_file, c.output_file, PROBE_SYSTEM, ret_profiler, reterr);
}

galvo_status galvo_disk_profiler_create(const galvo_disk_config *config,
                                        galvo_profiler **ret_profiler, galvo_error *reterr)
{
	galvo_suite_config all = galvo_suite_config_default();
	galvo_disk_config c;
	galvo_status status = sized_take("config", &c, sizeof(c), config, reterr);

	if (status != GALVO_OK)
		return status;
	all.no_system = all.no_events = 1;
	all.disk_hz = c.frequency_hz;
	all.disks = c.devices;
	all.disks_len = c.devices_len;
	all.processes = c.processes;
	all.processes_len = c.processes_len;
	all.flush_interval_ms = c.flush_interval_ms;
	all.root = c.root;
	all.follow = c.follow;
	all.scan_interval_ms = c.scan_interval_ms;
	all.budget_pct = c.budget_pct;
	all.stop_at_exit = c.stop_at_exit;
	all.sidecar_path = c.sidecar_path;
	all.sidecar_cpus = c.sidecar_cpus;
	all.mode = c.mode;
	return profiler_create(&all, &all.disk_file, c.output_file, PROBE_DISK, ret_profiler, reterr);
}

galvo_status galvo_event_profiler_create(const galvo_event_config *config,
                                         galvo_profiler **ret_profiler, galvo_error *reterr)
{
	galvo_suite_config all = galvo_suite_config_default();
	galvo_event_config c;
	galvo_status status = sized_take("config", &c, sizeof(c), config, reterr);

	if (status != GALVO_OK)
		return status;
	all.no_system = all.no_disk = 1;
	all.flush_interval_ms = c.flush_interval_ms;
	all.stop_at_exit = c.stop_at_exit;
	all.sidecar_path = c.sidecar_path;
	all.sidecar_cpus = c.sidecar_cpus;
	all.mode = c.mode;
	return profiler_create(&all, &all.events_file, c.output_file, PART_EVENTS, ret_profiler, reterr);
}

/* ---- the life of a profiler by itself -------------------------------------------------------------- */

static galvo_status refuse(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_STATE, "the profiler is a suite's, which starts and stops it");
}

galvo_status galvo_profiler_start(galvo_profiler *p, galvo_error *reterr)
{
	return p->suite->is_alone ? galvo_suite_start(p->suite, reterr) : refuse(reterr);
}

galvo_status galvo_profiler_stop(galvo_profiler *p, galvo_error *reterr)
{
	return p->suite->is_alone ? galvo_suite_stop(p->suite, reterr) : refuse(reterr);
}

void galvo_profiler_signal_stop(galvo_profiler *p)
{
	if (!p->suite->is_alone)
		return;
	galvo_suite_signal_stop(p->suite);
	suite_signal_events(p->suite);
}

void galvo_profiler_destroy(galvo_profiler *p)
{
	if (p && p->suite->is_alone)
		galvo_suite_destroy(p->suite);
}

/* ---- its processes, its trackers ------------------------------------------------------------------- */

static galvo_status expect_processes(const galvo_profiler *p, galvo_error *reterr)
{
	return p->kind == STREAM_SYSTEM || p->kind == STREAM_DISK
	               ? GALVO_OK
	               : err_set(reterr, GALVO_ERR_INVALID, "a profiler of %s has no processes",
	                         p->kind == STREAM_EVENTS ? "events" : "GPUs");
}

galvo_status galvo_profiler_add_process(galvo_profiler *p, uint32_t pid, const char *alias,
                                        galvo_error *reterr)
{
	const galvo_process process = {.pid = pid, .profilers = STREAM_BIT(p->kind), .alias = alias};
	galvo_status status = expect_processes(p, reterr);

	return status == GALVO_OK ? galvo_suite_add(p->suite, &process, reterr) : status;
}

galvo_status galvo_profiler_remove_process(galvo_profiler *p, uint32_t pid, galvo_error *reterr)
{
	galvo_status status = expect_processes(p, reterr);

	return status == GALVO_OK ? suite_remove_process(p->suite, pid, STREAM_BIT(p->kind), reterr)
	                          : status;
}

galvo_tracker *galvo_profiler_host_tracker(galvo_profiler *p)
{
	return galvo_suite_host_tracker(p->suite);
}

galvo_tracker *galvo_profiler_gpu_tracker(galvo_profiler *p)
{
	return galvo_suite_gpu_tracker(p->suite);
}

galvo_profiler *galvo_suite_system_profiler(galvo_suite *s)
{
	return s->config.no_system ? NULL : &s->parts[PROBE_SYSTEM];
}

galvo_profiler *galvo_suite_disk_profiler(galvo_suite *s)
{
	return s->config.no_disk ? NULL : &s->parts[PROBE_DISK];
}

galvo_profiler *galvo_suite_event_profiler(galvo_suite *s)
{
	return suite_has_events(s) ? &s->parts[PART_EVENTS] : NULL;
}
