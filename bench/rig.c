/* A recording by hand, in a temporary directory that goes away with it. */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define DISK_HZ 10.0
#define SYSTEM_SHARE 0.75 /* of the budget */
#define FLUSH_NS (5 * NS_PER_S)
#define STOP_NS (10 * NS_PER_S)
#define SCAN_NS (100 * NS_PER_MS)

static galvo_status make_dir(struct rig *r, galvo_error *reterr)
{
	galvo_status status = scratch_make(r->dir, reterr);

	if (status != GALVO_OK)
		return status;
	r->dir_fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r->dir_fd < 0 ? err_sys(reterr, errno, "%s", r->dir) : GALVO_OK;
}

static galvo_status follow(struct rig *r, const struct rig_config *config, galvo_error *reterr)
{
	const struct track_config track = {.world = &r->world, .follow = config->follow,
	                                   .events_fd = config->events_fd};
	galvo_status status = track_create(&track, &r->track, reterr);
	size_t i;

	for (i = 0; i < config->pids_len && status == GALVO_OK; i++)
		status = track_add(r->track, (uint32_t)config->pids[i], NULL, STREAM_ALL, FOLLOW_NONE, reterr);
	return status;
}

static double disk_hz(const struct rig_config *config)
{
	return config->disk_hz > 0 ? config->disk_hz : DISK_HZ;
}

static galvo_status make_probe(struct rig *r, const struct rig_config *config, size_t at,
                               galvo_error *reterr)
{
	const enum stream_kind kind = at == RIG_SYSTEM ? STREAM_SYSTEM : STREAM_DISK;
	const double hz = at == RIG_SYSTEM ? config->hz : disk_hz(config);
	const double share = at == RIG_SYSTEM ? SYSTEM_SHARE : 1 - SYSTEM_SHARE;
	const struct stream_config file = {
		.kind = kind,
		.file_name = stream_file_name(kind),
		.hostname = "bench",
		.frequency_hz = (uint64_t)hz,
		.cpu_count = r->world.cpu_count,
		.catalog_at = catalog_at,
	};
	struct probe_config probe = {
		.kind = kind,
		.world = &r->world,
		.track = r->track,
		.leads = at == RIG_SYSTEM,
		.period_ns = (uint64_t)(1e9 / hz),
		.core_period_ns = NS_PER_S,
		.scan_period_ns = SCAN_NS,
		.flush_interval_ns = config->flush_interval_ns ? config->flush_interval_ns : FLUSH_NS,
		.budget_pct = config->budget_pct * share,
		.threads = config->threads,
	};
	galvo_status status = writer_add(r->writer, &file, &probe.stream, reterr);

	return status == GALVO_OK ? probe_create(&probe, &r->probes[at], reterr) : status;
}

galvo_status rig_open(struct rig *r, const struct rig_config *config, galvo_error *reterr)
{
	galvo_status status;
	size_t i;

	*r = (struct rig){.dir_fd = -1, .world.root_fd = -1};
	r->disk_every = config->hz > disk_hz(config) ? (uint64_t)(config->hz / disk_hz(config)) : 1;
	status = world_open(&r->world, NULL, reterr);
	if (status == GALVO_OK)
		status = make_dir(r, reterr);
	if (status == GALVO_OK)
		status = follow(r, config, reterr);
	if (status == GALVO_OK)
		status = writer_create(r->dir_fd, &r->writer, reterr);
	for (i = 0; i < RIG_PROBES && status == GALVO_OK; i++)
		status = make_probe(r, config, i, reterr);
	if (status == GALVO_OK)
		status = writer_start(r->writer, reterr);
	for (i = 0; i < RIG_PROBES && status == GALVO_OK; i++)
		probe_prime(r->probes[i]);
	if (status != GALVO_OK)
		rig_close(r);
	return status;
}

void rig_tick_system(struct rig *r)
{
	probe_tick(r->probes[RIG_SYSTEM]);
}

void rig_tick_full(struct rig *r)
{
	probe_tick(r->probes[RIG_SYSTEM]);
	if (++r->tick % r->disk_every == 0)
		probe_tick(r->probes[RIG_DISK]);
}

void rig_flush(struct rig *r)
{
	size_t i;

	for (i = 0; i < RIG_PROBES; i++)
		probe_flush(r->probes[i]);
}

void rig_close(struct rig *r)
{
	size_t i;

	if (r->writer)
		writer_stop(r->writer, STOP_NS, NULL);
	for (i = 0; i < RIG_PROBES; i++)
		probe_destroy(r->probes[i]);
	track_destroy(r->track);
	writer_destroy(r->writer);
	if (r->dir_fd >= 0)
		close(r->dir_fd);
	scratch_remove(r->dir);
	world_close(&r->world);
	*r = (struct rig){.dir_fd = -1, .world.root_fd = -1};
}
