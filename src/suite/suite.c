/* The life of a recording: create, start, stop, destroy; processes added and removed on the way. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "internal.h"

#define ENDS_HZ 5 /* who leads less often than this notices ends too late */
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

galvo_status suite_create(const galvo_suite_config *config, bool is_alone, galvo_suite **ret_suite,
                          galvo_error *reterr)
{
	static const enum stream_kind kinds[PARTS] = {
		[PROBE_SYSTEM] = STREAM_SYSTEM, [PROBE_DISK] = STREAM_DISK,
		[PART_EVENTS] = STREAM_EVENTS,
	};
	struct galvo_suite *s = calloc(1, sizeof(*s));
	galvo_status status;
	size_t i;

	if (!s)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	s->dir_fd = s->world.root_fd = -1;
	s->is_alone = is_alone;
	s->owner = getpid();
	for (i = 0; i < PARTS; i++)
		s->parts[i] = (struct galvo_profiler){s, kinds[i]};
	status = suite_copy_config(s, config, reterr);
	if (status == GALVO_OK)
		status = open_world(s, reterr);
	if (status == GALVO_OK)
		status = output_open(s, reterr);
	if (status == GALVO_OK)
		status = events_create(&s->world, suite_has_events(s), &s->events, reterr);
	if (status != GALVO_OK) {
		galvo_suite_destroy(s);
		return status;
	}
	suite_look_up_facts(s);
	*ret_suite = s;
	return GALVO_OK;
}

galvo_status galvo_suite_create(const galvo_suite_config *config, galvo_suite **ret_suite,
                                galvo_error *reterr)
{
	return suite_create(config, false, ret_suite, reterr);
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
	if (s->is_left_behind || suite_state(s) == SUITE_STARTING)
		return; /* a thread may still come back and use all this */
	for (i = 0; i < PROBES; i++)
		probe_destroy(s->probes[i]);
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

static galvo_status add_process(struct galvo_suite *s, const galvo_process *p, galvo_error *reterr)
{
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

galvo_status galvo_suite_start(galvo_suite *s, galvo_error *reterr)
{
	galvo_status status;
	size_t i;

	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (s->replay || !suite_move(s, SUITE_CREATED, SUITE_STARTING))
		return err_set(reterr, GALVO_ERR_STATE, "start: %s",
		               s->replay ? "the root is a captured machine" : "started before");
	status = suite_exit_prepare(s, reterr);
	if (status == GALVO_OK)
		status = prepare(s, reterr);
	for (i = 0; i < PROBES && status == GALVO_OK; i++)
		if (s->probes[i])
			status = probe_start(s->probes[i], reterr);
	if (status == GALVO_OK)
		status = suite_start_events(s, reterr);
	if (status != GALVO_OK) {
		suite_stop_probes(s);
		suite_stop_events(s);
	}
	suite_begun(s, status == GALVO_OK ? SUITE_STARTED : SUITE_FAILED);
	return status;
}

/* ---- replay --------------------------------------------------------------------------------------- */

int galvo_suite_is_replay(const galvo_suite *s)
{
	return s->replay != NULL;
}

galvo_status galvo_suite_replay(galvo_suite *s, galvo_error *reterr)
{
	galvo_status status;
	size_t i, j;

	if (!s->replay || !suite_move(s, SUITE_CREATED, SUITE_STARTING))
		return err_set(reterr, GALVO_ERR_STATE, "replay: %s",
		               s->replay ? "done before" : "the root is a live machine");
	status = prepare(s, reterr);
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

/* ---- in the run ----------------------------------------------------------------------------------- */

galvo_status galvo_suite_add(galvo_suite *s, const galvo_process *process, galvo_error *reterr)
{
	if (s->owner != getpid())
		return suite_refuse_child(reterr);
	if (suite_state(s) != SUITE_STARTED)
		return err_set(reterr, GALVO_ERR_STATE, "add process: not started");
	return add_process(s, process, reterr);
}

galvo_status suite_remove_process(struct galvo_suite *s, uint32_t pid, uint32_t streams,
                                  galvo_error *reterr)
{
	if (s->owner != getpid())
		return suite_refuse_child(reterr);
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

static void tell_slowed(const struct galvo_suite *s, galvo_suite_stats *ret)
{
	uint32_t divisor;
	size_t i;

	ret->largest_divisor = 1;
	ret->slowed_sources[0] = '\0';
	for (i = 0; i < PROBES; i++) {
		divisor = s->probes[i] ? probe_slowed(s->probes[i], ret->slowed_sources,
		                                      sizeof(ret->slowed_sources)) : 1;
		if (divisor > ret->largest_divisor)
			ret->largest_divisor = divisor;
	}
}

galvo_status galvo_suite_get_stats(const galvo_suite *s, galvo_suite_stats *ret_stats,
                                   galvo_error *reterr)
{
	struct writer_totals totals;
	struct track_counts counts;
	struct probe_counts ticks = {0};
	const struct probe *leader;
	galvo_suite_stats stats = {0};
	double hz;

	if (suite_state(s) != SUITE_STARTED && suite_state(s) != SUITE_STOPPING &&
	    suite_state(s) != SUITE_STOPPED)
		return err_set(reterr, GALVO_ERR_STATE, "stats: not started");
	leader = s->probes[PROBE_SYSTEM] ? s->probes[PROBE_SYSTEM] : s->probes[PROBE_DISK];
	hz = s->probes[PROBE_SYSTEM] ? s->config.system_hz : s->config.disk_hz;
	if (leader)
		probe_count(leader, &ticks);
	if (!leader || hz < ENDS_HZ)
		track_poll(s->track); /* nobody does so soon */
	writer_get_totals(s->writer, &totals);
	track_count(s->track, &counts);
	stats.ticks = ticks.ticks;
	stats.missed_ticks = ticks.missed_ticks;
	stats.processes_alive = counts.alive;
	stats.roots_alive = counts.roots_alive;
	stats.bytes_written = totals.bytes_written;
	stats.dropped_batches = totals.dropped_batches;
	stats.elapsed_ns = s->world.clock->mono_ns(s->world.clock) - s->start_mono_ns;
	tell_slowed(s, &stats);
	return sized_give("stats", ret_stats, &stats, sizeof(stats), reterr);
}
