/* The life of a recording: create, start, stop, destroy; processes added and removed on the way. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sidecar.h"

/* Of the budget for reading sources; process I/O and disks are read less often. */
#define SYSTEM_SHARE 0.75

/* ---- create and destroy --------------------------------------------------------------------------- */

static galvo_status open_world(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = world_open(&s->world, s->root, reterr);

	if (status != GALVO_OK || s->world.live)
		return status;
	status = replay_open(s->world.root_fd, &s->replay, &s->world, reterr);
	if (status == GALVO_OK)
		return replay_go(s->replay, &s->world, 0, reterr);
	if (status != GALVO_ERR_ABSENT) {
		err_wrap(reterr, "%s", s->root);
		return status;
	}
	return GALVO_OK; /* another live machine's files: a container's host, say */
}

/* Of the machine and the directory: whoever samples. */
static galvo_status create_here(struct galvo_suite *s, int ring_fd, galvo_error *reterr)
{
	galvo_status status = open_world(s, reterr);

	if (status == GALVO_OK)
		status = output_open(s, reterr);
	if (status != GALVO_OK)
		return status;
	suite_look_up_facts(s);
	status = suite_create_gpu(s, reterr);
	if (status != GALVO_OK)
		return status;
	if (s->is_sidecar && suite_has_events(s))
		return events_create_reader(&s->world, ring_fd, &s->events, reterr);
	return events_create(&s->world, suite_has_events(s), &s->events, reterr);
}

galvo_status suite_create(const galvo_suite_config *config, const struct suite_role *role,
                          galvo_suite **ret_suite, galvo_error *reterr)
{
	static const enum stream_kind kinds[PARTS] = {
		[PROBE_SYSTEM] = STREAM_SYSTEM, [PROBE_DISK] = STREAM_DISK,
		[PART_EVENTS] = STREAM_EVENTS, [PART_GPU] = STREAM_GPU,
		[PART_TELEMETRY] = STREAM_TELEMETRY,
	};
	struct galvo_suite *s = calloc(1, sizeof(*s));
	galvo_status status;
	size_t i;

	if (!s)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	s->dir_fd = s->world.root_fd = -1;
	s->is_alone = role->is_alone;
	s->is_sidecar = role->is_sidecar;
	s->owner = getpid();
	for (i = 0; i < PARTS; i++)
		s->parts[i] = (struct galvo_profiler){s, kinds[i]};
	status = suite_copy_config(s, config, reterr);
	if (status == GALVO_OK)
		status = s->config.mode == GALVO_SIDECAR ? sidecar_create(s, config, reterr)
		                                         : create_here(s, role->ring_fd, reterr);
	if (status == GALVO_OK)
		*ret_suite = s;
	else
		galvo_suite_destroy(s);
	return status;
}

galvo_status galvo_suite_create(const galvo_suite_config *config, galvo_suite **ret_suite,
                                galvo_error *reterr)
{
	return suite_create(config, &(struct suite_role){.ring_fd = -1}, ret_suite, reterr);
}

galvo_status suite_refuse_child(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_STATE, "the suite is another process's, which forked this one");
}

static void free_argv(struct galvo_suite *s)
{
	size_t i;

	for (i = 0; s->argv && i < s->argv_len; i++)
		free(s->argv[i]);
	free(s->argv);
	s->argv = NULL;
	s->argv_len = 0;
}

void galvo_suite_destroy(galvo_suite *s)
{
	size_t i;

	if (!s || s->owner != getpid())
		return; /* the threads are the parent's, and the files are */
	suite_exit_lock(s);
	if (suite_state(s) == SUITE_STARTING || suite_state(s) == SUITE_STARTED ||
	    suite_state(s) == SUITE_STOPPING)
		galvo_suite_stop(s, NULL);
	suite_exit_forget(s);
	if (s->is_left_behind || s->is_gpu_left_behind || suite_state(s) == SUITE_STARTING)
		return; /* a thread may still come back and use all this */
	sidecar_destroy(s->sidecar);
	for (i = 0; i < PROBES; i++)
		probe_destroy(s->probes[i]);
	suite_destroy_gpu(s);
	events_destroy(s->events);
	track_destroy(s->track);
	if (writer_destroy(s->writer))
		output_close(s);
	world_close(&s->world);
	replay_close(s->replay);
	free_argv(s);
	free(s->findings);
	suite_free_config(s);
	free(s);
}

/* ---- start ---------------------------------------------------------------------------------------- */

/* A number of ours means another process there, or none. */
static galvo_status expect_our_numbers(const struct galvo_suite *s, const galvo_process *p,
                                       galvo_error *reterr)
{
	if (!s->world.is_foreign || s->replay ||
	    !(s->world.live || p->pid == 0 || s->config.adopter_pid))
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_STATE,
	               "%s/proc is of another PID namespace, where process %u is not that number%s",
	               s->root && s->root[1] ? s->root : "", p->pid ? p->pid : (uint32_t)getpid(),
	               s->world.live ? " (mount -t proc proc /proc)" : "");
}

static galvo_status add_process(struct galvo_suite *s, const galvo_process *p, galvo_error *reterr)
{
	galvo_status status = expect_our_numbers(s, p, reterr);

	if (status != GALVO_OK)
		return status;
	if (p->follow < GALVO_FOLLOW_NONE || p->follow > GALVO_FOLLOW_SELF || p->reserved)
		return err_set(reterr, GALVO_ERR_INVALID, "process %u: follow: expected a galvo_follow",
		               p->pid);
	return track_add(s->track, p->pid, p->alias, p->profilers ? p->profilers : STREAM_ALL,
	                 (enum follow)p->follow, reterr);
}

static galvo_status follow_processes(struct galvo_suite *s, galvo_error *reterr)
{
	const struct track_config config = {
		.world = &s->world,
		.follow = (enum follow)s->config.follow,
		.adopter_pid = s->config.adopter_pid,
		.streams = (s->config.no_system ? 0 : GALVO_FOR_SYSTEM) |
		           (s->config.no_disk ? 0 : GALVO_FOR_DISK),
		/* Where orphans come to those that we follow, a sidecar is a child of theirs. */
		.never_pid = s->is_sidecar && s->world.live ? (uint32_t)getpid() : 0,
		/* Nor where nobody would listen. */
		.no_kernel_events = s->config.no_kernel_events ||
		                    (s->config.no_system && s->config.no_disk),
	};
	galvo_status status = track_create(&config, &s->track, reterr);
	size_t i;

	for (i = 0; i < s->config.processes_len && status == GALVO_OK; i++)
		status = add_process(s, &s->processes[i], reterr);
	return status;
}

static galvo_status make_probe(struct galvo_suite *s, size_t i, galvo_error *reterr)
{
	const bool is_system = i == PROBE_SYSTEM, is_alone = s->config.no_system || s->config.no_disk;
	const enum stream_kind kind = is_system ? STREAM_SYSTEM : STREAM_DISK;
	const double hz = is_system ? s->config.system_hz : s->config.disk_hz;
	const double share = is_alone ? 1 : is_system ? SYSTEM_SHARE : 1 - SYSTEM_SHARE;
	const struct stream_config file = {
		.kind = kind,
		.file_name = s->files[i],
		.hostname = s->hostname,
		.frequency_hz = suite_whole_hz(hz),
		.cpu_count = s->world.cpu_count,
		.catalog_at = catalog_at,
		.is_new = true,
	};
	struct probe_config config = {
		.kind = kind,
		.world = &s->world,
		.track = s->track,
		.leads = is_system || is_alone,
		.period_ns = (uint64_t)(1e9 / hz),
		.core_period_ns = (uint64_t)(1e9 / s->config.core_hz),
		.scan_period_ns = s->config.scan_interval_ms * NS_PER_MS,
		.flush_interval_ns = NS_PER_MS * (is_system ? s->config.flush_interval_ms
		                                            : s->config.disk_flush_interval_ms),
		.budget_pct = s->replay ? 0 : s->config.budget_pct * share,
		.on_request = s->config.pss != 0,
		.threads = s->config.threads != 0,
		.devices = (const char *const *)s->disks,
		.devices_len = s->config.disks_len,
	};
	galvo_status status;

	if (is_system ? s->config.no_system : s->config.no_disk)
		return GALVO_OK;
	status = writer_add(s->writer, &file, &config.stream, reterr);
	return status == GALVO_OK ? probe_create(&config, &s->probes[i], reterr) : status;
}

static galvo_status expect_disks(const struct galvo_suite *s, galvo_error *reterr)
{
	const char *name;

	if (s->config.require_disks && s->probes[PROBE_DISK] &&
	    probe_missing_device_at(s->probes[PROBE_DISK], 0, &name))
		return err_set(reterr, GALVO_ERR_ABSENT, "there is no block device '%s'", name);
	return GALVO_OK;
}

/* Files, first readings, metadata. */
static galvo_status prepare_output(struct galvo_suite *s, galvo_error *reterr)
{
	const struct clock *clock = s->world.clock;
	galvo_status status = writer_create(s->dir_fd, &s->writer, reterr);
	struct buf session;
	size_t i;

	for (i = 0; i < PROBES && status == GALVO_OK; i++)
		status = make_probe(s, i, reterr);
	if (status == GALVO_OK)
		status = suite_prepare_events(s, reterr);
	if (status == GALVO_OK)
		status = suite_prepare_gpu(s, reterr);
	if (status == GALVO_OK)
		status = writer_start(s->writer, reterr);
	if (status != GALVO_OK)
		return status;
	suite_look_around(s);
	s->start_mono_ns = clock->mono_ns(clock);
	s->start_boot_ns = clock->boot_ns(clock);
	s->start_wall_ns = clock->wall_ns(clock);
	for (i = 0; i < PROBES; i++)
		if (s->probes[i])
			probe_prime(s->probes[i]);
	status = expect_disks(s, reterr);
	if (status == GALVO_OK)
		status = suite_start_gpu(s, reterr);
	if (status != GALVO_OK || s->is_alone)
		return status;
	buf_init(&session, SESSION_BYTES_MAX);
	status = suite_pack_session(s, &session, reterr);
	if (status == GALVO_OK)
		status = file_replace(s->dir_fd, SESSION_FILE, session.p, session.len, reterr);
	buf_finish(&session);
	return status;
}

/* Everything short of sampling. */
static galvo_status prepare(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = follow_processes(s, reterr);

	if (status != GALVO_OK)
		return status;
	status = output_clear(s, reterr);
	if (status != GALVO_OK)
		return status;
	s->has_files = true; /* from here on there may be some */
	status = prepare_output(s, reterr);
	if (status != GALVO_OK)
		err_wrap(reterr, "%s", s->output_dir);
	return status;
}

/* Sampling on threads of ours. */
static galvo_status start_here(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = prepare(s, reterr);
	size_t i;

	for (i = 0; i < PROBES && status == GALVO_OK; i++)
		if (s->probes[i])
			status = probe_start(s->probes[i], reterr);
	if (status == GALVO_OK)
		status = suite_start_events(s, reterr);
	if (status != GALVO_OK) {
		suite_stop_probes(s);
		suite_stop_events(s);
	}
	return status;
}

static galvo_status start_beside(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = sidecar_call(s->sidecar, SIDECAR_START, reterr);

	if (status == GALVO_OK && suite_has_events(s))
		events_open_callers(s->events);
	return status;
}

galvo_status galvo_suite_start(galvo_suite *s, galvo_error *reterr)
{
	const bool is_replay = galvo_suite_is_replay(s);
	galvo_status status;

	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (is_replay || !suite_move(s, SUITE_CREATED, SUITE_STARTING))
		return err_set(reterr, GALVO_ERR_STATE, "start: %s",
		               is_replay ? "the root is a captured machine" : "started before");
	status = suite_exit_prepare(s, reterr);
	if (status == GALVO_OK)
		status = s->sidecar ? start_beside(s, reterr) : start_here(s, reterr);
	suite_begun(s, status == GALVO_OK ? SUITE_STARTED : SUITE_FAILED);
	return status;
}

/* ---- replay --------------------------------------------------------------------------------------- */

int galvo_suite_is_replay(const galvo_suite *s)
{
	return s->replay || (s->sidecar && sidecar_is_replay(s->sidecar));
}

/* Every instant, and the end. */
static galvo_status replay_here(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = prepare(s, reterr);
	size_t i, j;

	for (i = 1; i < s->replay->len && status == GALVO_OK; i++) {
		status = replay_go(s->replay, &s->world, i, reterr);
		for (j = 0; j < PROBES && status == GALVO_OK; j++)
			if (s->probes[j])
				probe_tick(s->probes[j]);
	}
	for (j = 0; j < PROBES && status == GALVO_OK; j++)
		if (s->probes[j])
			probe_flush(s->probes[j]);
	if (status != GALVO_OK) {
		suite_begun(s, SUITE_FAILED);
		return status;
	}
	status = suite_finish(s, reterr);
	suite_begun(s, SUITE_STOPPED);
	return status;
}

galvo_status galvo_suite_replay(galvo_suite *s, galvo_error *reterr)
{
	const bool is_replay = galvo_suite_is_replay(s);
	galvo_status status;

	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (!is_replay || !suite_move(s, SUITE_CREATED, SUITE_STARTING))
		return err_set(reterr, GALVO_ERR_STATE, "replay: %s",
		               is_replay ? "done before" : "the root is a live machine");
	if (!s->sidecar)
		return replay_here(s, reterr);
	status = sidecar_call(s->sidecar, SIDECAR_REPLAY, reterr);
	suite_begun(s, status == GALVO_OK ? SUITE_STOPPED : SUITE_FAILED);
	return status;
}

/* ---- in the run ----------------------------------------------------------------------------------- */

galvo_status galvo_suite_add(galvo_suite *s, const galvo_process *process, galvo_error *reterr)
{
	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (s->sidecar)
		return sidecar_add(s->sidecar, process, reterr);
	if (suite_state(s) != SUITE_STARTED)
		return err_set(reterr, GALVO_ERR_STATE, "add process: not started");
	return add_process(s, process, reterr);
}

galvo_status suite_remove_process(struct galvo_suite *s, uint32_t pid, uint32_t streams,
                                  galvo_error *reterr)
{
	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (s->sidecar)
		return sidecar_call_for(s->sidecar, SIDECAR_REMOVE, pid, streams, reterr);
	if (suite_state(s) != SUITE_STARTED)
		return err_set(reterr, GALVO_ERR_STATE, "remove process: not started");
	return track_remove(s->track, pid, streams, reterr);
}

galvo_status galvo_suite_add_process(galvo_suite *s, uint32_t pid, const char *alias,
                                     galvo_error *reterr)
{
	return galvo_suite_add(s, &(galvo_process){.pid = pid, .alias = alias}, reterr);
}

galvo_status galvo_suite_remove_process(galvo_suite *s, uint32_t pid, galvo_error *reterr)
{
	return suite_remove_process(s, pid, STREAM_ALL, reterr);
}

galvo_status galvo_suite_set_workload(galvo_suite *s, const galvo_workload *w, galvo_error *reterr)
{
	galvo_workload known;
	galvo_status status = sized_take("workload", &known, sizeof(known), w, reterr);
	size_t i;

	if (status != GALVO_OK)
		return status;
	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (s->sidecar)
		return sidecar_set_workload(s->sidecar, &known, reterr);
	if (known.argv_len) {
		free_argv(s);
		s->argv = alloc_array(known.argv_len, sizeof(*s->argv));
		for (i = 0; s->argv && i < known.argv_len; i++, s->argv_len++)
			if (!(s->argv[i] = strdup(known.argv[i])))
				return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		if (!s->argv)
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	s->workload = known;
	s->has_workload = true;
	if (suite_state(s) == SUITE_STARTED && known.pid && !known.exited)
		track_has_begun(s->track, known.pid);
	return GALVO_OK;
}
