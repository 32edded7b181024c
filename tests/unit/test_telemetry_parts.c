/* Instances that GPUs are cut into, and machines on which less is told: containers, WSL, Jetson. */
#include "telemetry_rig.h"

#define GIB (UINT64_C(1) << 30)

/* ---- instances ------------------------------------------------------------------------------- */

static struct scene_process *add_of_instance(unsigned gpu, uint32_t pid, uint32_t gi)
{
	struct scene_process *p = add_process(gpu, pid, 900000000);

	p->gpu_instance = gi;
	p->compute_instance = 0;
	return p;
}

static void cut(unsigned gpu)
{
	struct scene_device *d = &scene->devices[gpu];

	d->mig_current = d->mig_pending = 1;
	d->max_mig_count = 7;
	d->migs[0] = (struct scene_mig){1, 5, 0, UINT64_C(5000000000), 900000000, "MIG-t1"};
	d->migs[3] = (struct scene_mig){1, 9, 0, UINT64_C(5000000000), 0, "MIG-t2"};
	d->use_count = 0;
}

static void instances(void)
{
	const struct gpu_info *g;

	rig_scene(2);
	cut(1);
	/* Two compute instances of one: each lists what both run. */
	scene->devices[1].migs[1] = (struct scene_mig){1, 5, 1, UINT64_C(5000000000), 1, "MIG-t3"};
	add_of_instance(1, 4242, 5);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetGraphicsRunningProcesses*",
	            NVML_NO_PERMISSION);
	rig_begin();
	ticks(10);
	rig_read();
	EQ(rig.run->gpus_len, 5);
	GPU_IS(1, 10, "utilization.pct", NAN);
	GPU_IS(1, 10, "power_watts", 350);
	OK(strstr(rig_gpu(1)->note, "MIG is on"));
	/* Instance k of GPU n is number 100 * (n + 1) + k. */
	g = rig_gpu(200);
	OK(g->is_instance && !strcmp(g->uuid, "MIG-t1"));
	EQ(g->gpu_instance * 10 + g->compute_instance, 50);
	EQ(g->memory_bytes, 5000000000);
	EQ(rig.run->gpus[g->parent].info.index, 1);
	g = rig_gpu(203);
	OK(g->is_instance && !strcmp(g->uuid, "MIG-t2") && g->gpu_instance == 9);
	GPU_IS(200, 10, "memory_used_bytes", 900000000);
	GPU_IS(203, 10, "memory_used_bytes", 0);
	GPU_IS(200, 10, "utilization.pct", NAN);
	GPU_IS(200, 10, "power_watts", NAN); /* that is the whole's, once */
	PROCESS_IS(200, 4242, 2, "memory_used_bytes", 900000000);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 1, 0), 0);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 201, 0), 0);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 203, 0), 0);
	DETAIL_IS(1, 1, "processes", 1);
	DETAIL_IS(200, 1, "processes", 1);
	DETAIL_IS(203, 1, "processes", 0);
	rig_end();
}

/* An instance is made while all goes on, and is taken away. */
static void instances_come_and_go(void)
{
	rig_scene(1);
	cut(0);
	scene->devices[0].migs[3].there = 0;
	rig_begin();
	ticks(15);
	scene->devices[0].migs[3].there = 1;
	scene->devices[0].migs[0].there = 0;
	ticks(120);
	rig_read();
	OK(rig_gpu(100)->lost_mono_ns > 0 && rig_rows(SCOPE_GPU, 100, 0) < 130);
	OK(!strcmp(rig_gpu(100)->note, "the instance is there no more"));
	OK(rig_gpu(103)->is_instance && !rig_gpu(103)->lost_mono_ns && rig_rows(SCOPE_GPU, 103, 0) > 10);
	GPU_IS(103, 1, "memory_used_bytes", 0);
	EQ(rig_rows(SCOPE_GPU, 0, 0), 136);
	rig_end();
}

/* There is no such thing; it is off; it is on; it will be: only where it is on loads are unknown. */
static void three_answers(void)
{
	unsigned i;

	rig_scene(4);
	scene->devices[0].mig_result = NVML_NOT_SUPPORTED;
	cut(2);
	scene->devices[3].mig_pending = 1;
	for (i = 0; i < 4; i++) {
		add_process(i, 10, GIB);
		scene->devices[i].uses[0] =
			(struct scene_use){.pid = 10, .timestamp = 999900000, .sm = 33, .memory = 5};
		scene->devices[i].use_count = 1;
	}
	rig_begin();
	ticks(1);
	rig_read();
	for (i = 0; i < 4; i++) {
		EQ(rig_rows(SCOPE_GPU_PROCESS, i, 10), i == 2 ? 0 : 1);
		if (i != 2)
			PROCESS_IS(i, 10, 0, "utilization.pct", 33);
		GPU_IS(i, 0, "utilization.pct", i == 2 ? NAN : 20);
		EQ(!strcmp(rig_gpu(i)->note, "MIG is off, and on after the next reset"), i == 3);
	}
	rig_end();
}

/* What was refused while it was whole is asked again when it is cut, and the other way round. */
static void mode_changes(void)
{
	rig_scene(1);
	cut(0);
	rig_begin();
	ticks(5);
	scene->devices[0].mig_current = 0;
	ticks(110);
	rig_read();
	GPU_IS(0, 5, "utilization.pct", NAN);
	OK(!isnan(rig_value(SCOPE_GPU, 0, 0, 115, "gpu__utilization.pct")));
	rig_end();
}

/* ---- machines -------------------------------------------------------------------------------- */

/* Whose numbers the pids are: of the first namespace, as the driver tells them, or of another one. */
static void namespaces(void)
{
	static const struct {
		const char *machine;
		bool foreign;
	} rows[] = {{"first", false}, {"unknown", false}, {"peer", false}, {"other", true}, {"nested", true}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		rig_scene(1);
		add_process(0, 28290, 1061158912);
		rig_begin_at(rows[i].machine);
		rig_read();
		if (!EQ(rig_gpu(0)->foreign_pids, rows[i].foreign))
			printf("# %s\n", rows[i].machine);
		PROCESS_IS(0, 28290, 0, "memory_used_bytes", 1061158912);
		rig_end();
	}
}

static void wsl(void)
{
	rig_scene(1);
	curve(0, CURVE_gpu_pct)->result = NVML_NOT_SUPPORTED;
	add_process(0, 79, NVML_NOT_AVAILABLE);
	rig_begin_at("wsl");
	ticks(1);
	rig_read();
	GPU_IS(0, 0, "utilization.pct", NAN);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 0);
	DETAIL_IS(0, 0, "processes", NAN);
	OK(strstr(rig_gpu(0)->note, "WSL"));
	rig_end();
}

/* Its library tells little; load, in thousandths, and temperature are in files. */
static void jetson(void)
{
	rig_scene(1);
	snprintf(scene->devices[0].name, sizeof(scene->devices[0].name), "Orin (nvgpu)");
	curve(0, CURVE_gpu_pct)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_memory_used)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_power_mw)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_power_average_mw)->result = NVML_NOT_SUPPORTED;
	curve(0, CURVE_temperature_c)->result = NVML_NOT_SUPPORTED;
	add_process(0, 0, 0);
	add_process(0, UINT32_MAX, 12345);
	rig_begin_at("jetson");
	ticks(1);
	rig_read();
	GPU_IS(0, 1, "utilization.pct", 46.3);
	GPU_IS(0, 1, "temperature_celsius", 48.5);
	GPU_IS(0, 1, "memory_used_bytes", NAN);
	GPU_IS(0, 1, "power_watts", NAN);
	EQ(rig_rows(SCOPE_GPU_PROCESS, 0, 0), 0);
	OK(strstr(rig_gpu(0)->note, "its memory is the machine's"));
	rig_end();
}

static const struct tap_test tests[] = {
	{"instances", instances},
	{"instances come and go", instances_come_and_go},
	{"MIG has three answers", three_answers},
	{"MIG is turned off", mode_changes},
	{"pids of other namespaces", namespaces},
	{"WSL", wsl},
	{"Jetson", jetson},
};

TAP_MAIN(tests)
