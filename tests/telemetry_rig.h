/*
 * Telemetry by hand against the double of libnvidia-ml: a fake clock that the double and galvo share, a
 * run directory, and what a reader finds in it.
 */
#ifndef GALVO_TELEMETRY_RIG_H
#define GALVO_TELEMETRY_RIG_H

#include <fcntl.h>
#include <math.h>

#include "host.h"
#include "scene_rig.h"
#include "probe/probe.h"

#define SOON_NS (10 * NS_PER_S) /* nothing takes as long, unless it hangs */
#define TICK_MS 100
#define SECOND_US UINT64_C(1000000)

static struct telemetry_rig {
	struct clock_fake clock;
	struct world world;
	struct telemetry *telemetry;
	struct writer *writer;
	struct stream *stream;
	char dir[64];
	int dir_fd;
	struct galvo_run *run;
} rig;

/* A scene whose GPUs the test then adds. */
static inline void rig_scene(unsigned gpus)
{
	scene_begin();
	while (gpus--)
		scene_add(scene, "GH100");
}

static inline struct telemetry_config rig_config(const struct world *world)
{
	return (struct telemetry_config){
		.world = world,
		.places.nvml = double_path("lib/libnvidia-ml.so.1"),
		.flush_interval_ns = 3600 * NS_PER_S,
	};
}

static inline void rig_files(void)
{
	const struct stream_config file = {
		.kind = STREAM_TELEMETRY, .file_name = stream_file_name(STREAM_TELEMETRY),
		.hostname = "test", .frequency_hz = 10, .cpu_count = 1, .catalog_at = catalog_at,
	};

	snprintf(rig.dir, sizeof(rig.dir), "/tmp/galvo-telemetry-XXXXXX");
	OK(mkdtemp(rig.dir) && (rig.dir_fd = open(rig.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0);
	OK(writer_create(rig.dir_fd, &rig.writer, NULL) == GALVO_OK);
	OK(writer_add(rig.writer, &file, &rig.stream, NULL) == GALVO_OK);
	OK(writer_start(rig.writer, NULL) == GALVO_OK);
}

/* One tick takes what was read before, and asks; then all of that is read. */
static inline void tick(void)
{
	telemetry_tick(rig.telemetry);
	OK(telemetry_settle(rig.telemetry, SOON_NS));
}

/* Both clocks move on. */
static inline void pass(uint64_t ms)
{
	pass_ms(ms);
	rig.clock.mono_ns += ms * MS;
	rig.clock.boot_ns += ms * MS;
	rig.clock.wall_ns += ms * MS;
}

static inline void ticks(unsigned n)
{
	while (n--) {
		pass(TICK_MS);
		tick();
	}
}

/* Of the machine whose files are below that root. The first readings are made. */
static inline void rig_begin_below(const char *root)
{
	struct telemetry_config config = rig_config(&rig.world);
	galvo_error e;

	OK(world_open(&rig.world, root, NULL) == GALVO_OK);
	clock_fake_init(&rig.clock, scene->fake_mono_ns, scene->fake_mono_ns, scene->fake_mono_ns);
	rig.world.clock = &rig.clock.clock;
	rig_files();
	err_clear(&e);
	if (!OK(telemetry_create(&config, &rig.telemetry, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	OK(telemetry_begin(rig.telemetry, rig.stream, NULL) == GALVO_OK);
	OK(telemetry_settle(rig.telemetry, SOON_NS));
	tick();
}

/* As that, of tests/fixtures/source/gpu/NAME. */
static inline void rig_begin_at(const char *machine)
{
	char root[256];

	snprintf(root, sizeof(root), "%s/source/gpu/%s", FIXTURES, machine);
	rig_begin_below(root);
}

static inline void rig_begin(void)
{
	rig_begin_at("first");
}

/* Takes the last readings, and reads the run. */
static inline void rig_read(void)
{
	telemetry_tick(rig.telemetry);
	telemetry_settle(rig.telemetry, SOON_NS);
	telemetry_flush(rig.telemetry);
	OK(writer_stop(rig.writer, SOON_NS, NULL) == GALVO_OK);
	OK(galvo_run_open(rig.dir, &rig.run, NULL) == GALVO_OK);
}

static inline void rig_end(void)
{
	OK(telemetry_join(rig.telemetry, SOON_NS));
	telemetry_destroy(rig.telemetry);
	writer_destroy(rig.writer);
	galvo_run_close(rig.run);
	rig.run = NULL;
	close(rig.dir_fd);
	host_remove(rig.dir);
	world_close(&rig.world);
	VIOLATIONS(0);
	scene_end();
}

/* ---- what was recorded ----------------------------------------------------------------------- */

/* All empty if there is none of that number. */
static inline const struct gpu_info *rig_gpu(uint32_t index)
{
	static const struct gpu_info none = {.index = UINT32_MAX};
	size_t i;

	for (i = 0; i < rig.run->gpus_len; i++)
		if (rig.run->gpus[i].info.index == index)
			return &rig.run->gpus[i].info;
	printf("# no GPU %u\n", index);
	return &none;
}

/* Row n of that GPU, of that process on it (0: any); SIZE_MAX: there are not so many. */
static inline size_t rig_row(enum scope scope, uint32_t index, uint32_t pid, size_t n)
{
	const struct table *t = run_table(rig.run, STREAM_TELEMETRY, scope);
	size_t i;

	for (i = 0; t && i < t->rows_len; i++)
		if (rig.run->gpus[t->key[i]].info.index == index && (!pid || t->pid[i] == pid) && n-- == 0)
			return i;
	return SIZE_MAX;
}

static inline size_t rig_rows(enum scope scope, uint32_t index, uint32_t pid)
{
	size_t n = 0;

	while (rig_row(scope, index, pid, n) != SIZE_MAX)
		n++;
	return n;
}

static inline uint64_t rig_mono_ns(enum scope scope, uint32_t index, size_t n)
{
	size_t row = rig_row(scope, index, 0, n);

	return row == SIZE_MAX ? 0 : run_table(rig.run, STREAM_TELEMETRY, scope)->mono_ns[row];
}

static inline double rig_value(enum scope scope, uint32_t index, uint32_t pid, size_t n,
                               const char *name)
{
	const struct table *t = run_table(rig.run, STREAM_TELEMETRY, scope);
	size_t row = rig_row(scope, index, pid, n), column = t ? table_column(t, name) : SIZE_MAX;

	if (!OK(row != SIZE_MAX && column != SIZE_MAX)) {
		printf("# no row %zu of GPU %u with %s\n", n, index, name);
		return -1;
	}
	return t->values[column][row];
}

static inline int rig_is(double got, double want, const char *name)
{
	bool is = isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fabs(want);

	if (!is)
		printf("# %s is %.12g, not %.12g\n", name, got, want);
	return is;
}

/* Claims a value of row n of a GPU; NAN: that it is absent. */
#define GPU_IS(index, n, name, want)                                                               \
	OK(rig_is(rig_value(SCOPE_GPU, index, 0, n, "gpu__" name), want, name))
#define DETAIL_IS(index, n, name, want)                                                            \
	OK(rig_is(rig_value(SCOPE_GPU_DETAIL, index, 0, n, "gpu__" name), want, name))
#define PROCESS_IS(index, pid, n, name, want)                                                      \
	OK(rig_is(rig_value(SCOPE_GPU_PROCESS, index, pid, n, "proc__gpu_" name), want, name))

static inline const struct run_source *rig_source(const char *name)
{
	size_t i;

	for (i = 0; i < rig.run->sources_len; i++)
		if (!strcmp(rig.run->sources[i].name, name))
			return &rig.run->sources[i];
	return NULL;
}

static inline uint64_t rig_rejected(void)
{
	size_t i;

	for (i = 0; i < rig.run->streams_len; i++)
		if (rig.run->streams[i].kind == STREAM_TELEMETRY)
			return rig.run->streams[i].stats.rejected_values;
	return 0;
}

static inline struct scene_curve *curve(unsigned gpu, int which)
{
	return &scene->devices[gpu].curves[which];
}

static inline void hold(unsigned gpu, int which, uint64_t value)
{
	*curve(gpu, which) = (struct scene_curve){.shape = SHAPE_CONSTANT, .a = value};
}

/* One value each 100 ms. */
static inline void series_of(unsigned gpu, int which, const uint64_t *values, uint32_t n)
{
	struct scene_curve *c = curve(gpu, which);
	uint32_t i;

	*c = (struct scene_curve){.shape = SHAPE_STEPS, .steps = n};
	for (i = 0; i < n; i++) {
		c->at_ns[i] = i * TICK_MS * MS;
		c->values[i] = values[i];
	}
}

static inline struct scene_process *add_process(unsigned gpu, uint32_t pid, uint64_t bytes)
{
	struct scene_device *d = &scene->devices[gpu];
	struct scene_process *p = &d->processes[d->process_count++];

	*p = (struct scene_process){.pid = pid, .memory_bytes = bytes, .gpu_instance = UINT32_MAX,
	                            .compute_instance = UINT32_MAX};
	return p;
}

#endif
