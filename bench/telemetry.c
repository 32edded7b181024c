/* What telemetry of 8 GPUs costs at 10 Hz, beside the bare calls into the double of libnvidia-ml that it needs. */
#include <fcntl.h>
#include <unistd.h>

#include "measure.h"
#include "nvidia/nvidia.h"
#include "probe/probe.h"
#include "scene.h"
#include "scratch.h"

enum { GPUS = 8, PROCESSES = 3, HZ = 10, ROUNDS = 9, HOT_TICKS = 200, PACED_TICKS = 20 };
#define PERIOD_NS (NS_PER_S / HZ)

struct bench {
	struct scene *scene;
	struct nvml nvml;
	void *devices[GPUS];
	uint64_t floor_tick;
	struct world world;
	struct writer *writer;
	struct telemetry *telemetry;
	char dir[SCRATCH_BYTES], scene_file[SCRATCH_BYTES + 8];
	int dir_fd;
};

static bool make_scene(struct bench *b)
{
	unsigned i, k;

	snprintf(b->scene_file, sizeof(b->scene_file), "%s/scene", b->dir);
	b->scene = scene_new(b->scene_file);
	for (i = 0; b->scene && i < GPUS; i++) {
		struct scene_device *d = scene_add(b->scene, "GH100");

		for (k = 0; k < PROCESSES; k++)
			d->processes[d->process_count++] =
				(struct scene_process){.pid = 1000 + i * 10 + k, .memory_bytes = 1 << 30,
			                               .gpu_instance = UINT32_MAX,
			                               .compute_instance = UINT32_MAX};
	}
	return b->scene && setenv(SCENE_VARIABLE, b->scene_file, 1) == 0;
}

/* ---- the floor: the calls, and nothing else -------------------------------------------------- */

static void fields(struct bench *b, void *device, const uint32_t *ids, int n)
{
	struct nvml_field_value v[8] = {{.fieldId = 0}};
	int i;

	for (i = 0; i < n; i++)
		v[i].fieldId = ids[i];
	b->nvml.field_values(device, n, v);
}

static void call_fast(struct bench *b, void *device)
{
	static const uint32_t now[] = {185, 186, 83, 82}, links[] = {198, 197, 139, 138};
	struct nvml_memory_v2 memory = {.version = NVML_VERSION(nvml_memory_v2, 2)};
	struct nvml_temperature t = {.version = NVML_VERSION(nvml_temperature, 1)};
	struct nvml_utilization use;
	unsigned long long bits;
	unsigned value, period;
	int state, i;

	b->nvml.memory_v2(device, &memory);
	b->nvml.utilization(device, &use);
	fields(b, device, now, 4);
	b->nvml.power_limit(device, &value);
	b->nvml.temperature_v(device, &t);
	for (i = NVML_GRAPHICS; i <= NVML_VIDEO; i++)
		b->nvml.clock(device, i, &value);
	b->nvml.clock_reasons(device, &bits);
	b->nvml.performance_state(device, &state);
	fields(b, device, links, 4);
	b->nvml.encoder_utilization(device, &value, &period);
	b->nvml.decoder_utilization(device, &value, &period);
}

static void call_processes(struct bench *b, void *device)
{
	struct nvml_process list[64];
	struct nvml_process_sample samples[128];
	struct nvml_memory_v2 memory = {.version = NVML_VERSION(nvml_memory_v2, 2)};
	unsigned n;

	b->nvml.memory_v2(device, &memory);
	n = 64;
	b->nvml.compute_processes(device, &n, list);
	n = 64;
	b->nvml.graphics_processes(device, &n, list);
	n = 64;
	b->nvml.mps_processes(device, &n, list);
	n = 128;
	b->nvml.process_utilization(device, samples, &n, 1);
}

static void call_detail(struct bench *b, void *device)
{
	static const uint32_t slow[] = {94, 74, 269, 270, 271, 76};
	unsigned long long errors;
	unsigned value;
	int i;

	fields(b, device, slow, 6);
	for (i = NVML_CORRECTED; i <= NVML_UNCORRECTED; i++)
		b->nvml.ecc_errors(device, i, NVML_VOLATILE, &errors);
	b->nvml.pcie_generation(device, &value);
	b->nvml.pcie_width(device, &value);
	for (i = NVML_GRAPHICS; i <= NVML_MEM; i++)
		b->nvml.max_clock(device, i, &value);
}

static void tick_floor(void *ctx)
{
	struct bench *b = ctx;
	unsigned i;

	b->floor_tick++;
	for (i = 0; i < GPUS; i++) {
		call_fast(b, b->devices[i]);
		if (b->floor_tick % (HZ / 2) == 0)
			call_processes(b, b->devices[i]);
		if (b->floor_tick % HZ == 0)
			call_detail(b, b->devices[i]);
	}
}

/* ---- galvo ----------------------------------------------------------------------------------- */

static void tick_galvo(void *ctx)
{
	struct bench *b = ctx;

	telemetry_tick(b->telemetry);
	telemetry_settle(b->telemetry, NS_PER_S);
}

static void tick_nothing(void *ctx)
{
	(void)ctx;
}

static galvo_status open_galvo(struct bench *b, galvo_error *reterr)
{
	const struct stream_config file = {
		.kind = STREAM_TELEMETRY, .file_name = stream_file_name(STREAM_TELEMETRY),
		.hostname = "bench", .frequency_hz = HZ, .cpu_count = 1, .catalog_at = catalog_at,
	};
	const struct telemetry_config config = {
		.world = &b->world, .places.nvml = DOUBLES "/lib/libnvidia-ml.so.1",
		.period_ns = PERIOD_NS, .flush_interval_ns = NS_PER_S,
	};
	struct stream *stream;
	galvo_status status = world_open(&b->world, NULL, reterr);

	if (status == GALVO_OK)
		status = writer_create(b->dir_fd, &b->writer, reterr);
	if (status == GALVO_OK)
		status = writer_add(b->writer, &file, &stream, reterr);
	if (status == GALVO_OK)
		status = writer_start(b->writer, reterr);
	if (status == GALVO_OK)
		status = telemetry_create(&config, &b->telemetry, reterr);
	if (status == GALVO_OK)
		status = telemetry_begin(b->telemetry, stream, reterr);
	telemetry_settle(b->telemetry, NS_PER_S);
	return status;
}

static galvo_status open_floor(struct bench *b, galvo_error *reterr)
{
	const struct nvidia_places where = {.file = DOUBLES "/lib/libnvidia-ml.so.1"};
	galvo_status status = nvml_open(&b->nvml, &where, reterr);
	unsigned i;

	for (i = 0; i < GPUS && status == GALVO_OK; i++)
		if (b->nvml.by_index(i, &b->devices[i]) != NVML_OK)
			status = err_set(reterr, GALVO_ERR_STATE, "the double has no GPU %u", i);
	return status;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

enum { NOTHING, FLOOR, GALVO, WAYS };

static void measure(struct bench *b)
{
	static const char *const names[] = {"waking up", "the bare calls", "galvo"};
	const struct work work[WAYS] = {{tick_nothing, NULL}, {tick_floor, b}, {tick_galvo, b}};
	struct figures hot[WAYS] = {{{0}, 0}}, paced[WAYS] = {{{0}, 0}};
	uint64_t missed = 0;
	double us;
	size_t i, way;

	for (i = 0; i < ROUNDS; i++)
		for (way = 0; way < WAYS; way++) {
			figures_put(&hot[way], measure_hot_us(&work[way], HOT_TICKS));
			figures_put(&paced[way],
			            measure_paced_us(&work[way], PACED_TICKS, PERIOD_NS, &missed));
		}
	printf("%d GPUs, %d processes on each, %d Hz; µs of CPU a tick, all threads\n\n", GPUS,
	       PROCESSES, HZ);
	printf("%-16s %8s %8s %10s\n", "", "hot", "paced", "of a CPU");
	for (way = 0; way < WAYS; way++) {
		us = figures_median(&paced[way]);
		printf("%-16s %8.1f %8.1f %8.3f %%\n", names[way], figures_median(&hot[way]), us,
		       us * HZ / 1e4);
	}
	printf("\ngalvo costs %.2f times the calls hot, %.2f times paced; %llu deadlines missed\n",
	       figures_median(&hot[GALVO]) / figures_median(&hot[FLOOR]),
	       figures_median(&paced[GALVO]) / figures_median(&paced[FLOOR]),
	       (unsigned long long)missed);
}

int main(void)
{
	struct bench b = {.dir_fd = -1, .world.root_fd = -1};
	galvo_error error;
	galvo_status status = scratch_make(b.dir, &error);

	measure_settle();
	if (status == GALVO_OK && !make_scene(&b))
		status = err_set(&error, GALVO_ERR_IO, "cannot make a scene");
	b.dir_fd = open(b.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (status == GALVO_OK)
		status = open_floor(&b, &error);
	if (status == GALVO_OK)
		status = open_galvo(&b, &error);
	if (status == GALVO_OK)
		measure(&b);
	else
		fprintf(stderr, "telemetry: %s\n", error.text);
	if (b.telemetry)
		telemetry_join(b.telemetry, NS_PER_S);
	telemetry_destroy(b.telemetry);
	writer_destroy(b.writer);
	nvml_close(&b.nvml);
	world_close(&b.world);
	close(b.dir_fd);
	unlink(b.scene_file);
	scratch_remove(b.dir);
	return status != GALVO_OK;
}
