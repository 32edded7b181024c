/*
 * The double of libnvidia-ml: values over time, sentinels, processes in every layout, MIG, faults,
 * misuse.
 */
#include <pthread.h>
#include <sched.h>

#include "nvidia_rig.h"

static void *begin(void)
{
	void *device = NULL;

	stage("GH100");
	EQ(nvml.by_index(0, &device), NVML_OK);
	return device;
}

static void end(void)
{
	VIOLATIONS(0);
	stage_end();
}

static void steps(int curve, const uint64_t *values, size_t n)
{
	struct scene_curve *c = &scene->devices[0].curves[curve];
	size_t i;

	c->shape = SHAPE_STEPS;
	c->steps = (uint32_t)n;
	for (i = 0; i < n; i++) {
		c->at_ns[i] = i * NS_PER_S;
		c->values[i] = values[i];
	}
}

static void test_identity(void)
{
	void *device = begin(), *same;
	char text[NVML_NAME_CHARS], cuda_id[32];
	unsigned char uuid[CUDA_UUID_BYTES];
	struct nvml_pci_info pci;
	int version, major, minor;
	unsigned n;

	EQ(nvml.count(&n), NVML_OK);
	EQ(n, 1);
	EQ(nvml.cuda_driver_version(&version), NVML_OK);
	EQ(version, 13000);
	EQ(nvml.driver_version(text, sizeof(text)), NVML_OK);
	OK(strcmp(text, "580.65.06") == 0);
	EQ(nvml.driver_version(text, 3), NVML_INSUFFICIENT_SIZE);
	EQ(nvml.name(device, text, sizeof(text)), NVML_OK);
	OK(strcmp(text, "NVIDIA GH100") == 0);
	EQ(nvml.uuid(device, text, sizeof(text)), NVML_OK);
	EQ(nvml.by_uuid(text, &same), NVML_OK);
	OK(same == device);
	EQ(nvml.pci_info(device, &pci), NVML_OK);
	OK(strcmp(pci.busId, "00000000:18:00.0") == 0);
	/* CUDA writes it with fewer digits; it leads to the same device. */
	EQ(cuda.device_get_pci_bus_id(cuda_id, sizeof(cuda_id), 0), CUDA_OK);
	OK(strcmp(cuda_id, "0000:18:00.0") == 0);
	EQ(nvml.by_pci_bus_id(cuda_id, &same), NVML_OK);
	OK(same == device);
	EQ(cuda.device_get_uuid(uuid, 0), CUDA_OK);
	EQ(uuid[15], 1);
	EQ(nvml.compute_capability(device, &major, &minor), NVML_OK);
	EQ(major * 10 + minor, 90);
	EQ(nvml.by_index(1, &same), NVML_INVALID_ARGUMENT);
	EQ(nvml.by_uuid("GPU-none", &same), NVML_NOT_FOUND);
	end();
}

static void test_values(void)
{
	struct nvml_memory_v2 m = {.version = NVML_VERSION(nvml_memory_v2, 2)};
	struct nvml_temperature t = {.version = NVML_VERSION(nvml_temperature, 1)};
	struct nvml_memory old;
	struct nvml_utilization u;
	unsigned long long energy, later;
	void *device = begin();
	unsigned mhz, mw, again;

	EQ(nvml.memory_v2(device, &m), NVML_OK);
	EQ(nvml.memory(device, &old), NVML_OK);
	EQ(m.used + m.reserved, old.used); /* the older one counts what is reserved as used */
	EQ(m.total - m.used - m.reserved, m.free);
	EQ(nvml.temperature_v(device, &t), NVML_OK);
	EQ(t.temperature, 61);
	EQ(nvml.energy(device, &energy), NVML_OK);
	EQ(nvml.utilization(device, &u), NVML_OK);
	EQ(u.gpu, 20);
	pass_ms(2000);
	EQ(nvml.energy(device, &later), NVML_OK);
	EQ(later - energy, 700000); /* 350 W */
	EQ(nvml.utilization(device, &u), NVML_OK);
	EQ(u.gpu, 80);
	EQ(nvml.clock(device, NVML_SM, &mhz), NVML_OK);
	EQ(mhz, 1755);
	EQ(nvml.clock(device, 4, &mhz), NVML_INVALID_ARGUMENT);
	EQ(nvml.power_usage(device, &mw), NVML_OK);
	OK(mw >= 300000 && mw < 400000);
	EQ(nvml.power_usage(device, &again), NVML_OK);
	EQ(mw, again);
	EQ(mw, scene_curve_at(scene, 0, CURVE_power_mw, scene_now_ns(scene)));
	EQ(nvml.fan_speed(device, &again), NVML_NOT_SUPPORTED);
	end();
}

/* What libraries have told that nobody can believe comes through as it is. */
static void test_sentinels(void)
{
	static const uint64_t gpu[] = {4294967295, 1734, 100}, celsius[] = {82505, 61};
	struct nvml_field_value v = {.fieldId = NVML_FIELD_MEMORY_TEMPERATURE};
	struct nvml_utilization u;
	void *device = begin();
	unsigned t;
	size_t i;

	steps(CURVE_gpu_pct, gpu, 3);
	steps(CURVE_temperature_c, celsius, 2);
	steps(CURVE_memory_temperature_c, (const uint64_t[]){2147483632}, 1);
	for (i = 0; i < 3; i++) {
		EQ(nvml.utilization(device, &u), NVML_OK);
		EQ(u.gpu, gpu[i]);
		EQ(nvml.temperature(device, NVML_SENSOR_GPU, &t), NVML_OK);
		EQ(t, celsius[i < 2 ? i : 1]);
		pass_ms(1000);
	}
	EQ(nvml.field_values(device, 1, &v), NVML_OK);
	EQ(v.value.uiVal, 2147483632);
	end();
}

static void test_fields(void)
{
	struct nvml_field_value v[] = {
		{.fieldId = NVML_FIELD_POWER_INSTANT_MW},
		{.fieldId = NVML_FIELD_NVLINK_DATA_TX_KIB, .scopeId = NVML_ALL_LINKS},
		{.fieldId = NVML_FIELD_NVLINK_DATA_TX_KIB, .scopeId = 3},
		{.fieldId = NVML_FIELD_NVLINK_DATA_TX_KIB, .scopeId = 18},
		{.fieldId = NVML_FIELD_NVLINK5_TX_BYTES},
		{.fieldId = NVML_FIELD_NVLINK_COUNT},
		{.fieldId = NVML_FIELD_ENERGY_MJ},
	};
	void *device = begin();

	pass_ms(1000);
	EQ(nvml.field_values(device, (int)ARRAY_LEN(v), v), NVML_OK);
	EQ(v[0].valueType, NVML_UINT);
	EQ(v[0].timestamp, 1001 * 1000000);
	EQ(v[1].value.ullVal, 18 * 5000);
	EQ(v[2].value.ullVal, 5000);
	EQ(v[3].nvmlReturn, NVML_INVALID_ARGUMENT);
	EQ(v[4].nvmlReturn, NVML_NOT_SUPPORTED); /* each fails by itself */
	EQ(v[5].value.uiVal, 18);
	EQ(v[6].valueType, NVML_ULLONG);
	EQ(v[6].value.ullVal, 1350000);
	EQ(nvml.field_values(device, 0, v), NVML_INVALID_ARGUMENT);
	end();
}

/* ---- processes ------------------------------------------------------------------------------- */

static void two_processes(void)
{
	struct scene_device *d = &scene->devices[0];

	d->processes[0] = (struct scene_process){.pid = 101,
	                                         .memory_bytes = UINT64_C(2942304256),
	                                         .gpu_instance = UINT32_MAX,
	                                         .compute_instance = UINT32_MAX};
	d->processes[1] = (struct scene_process){.pid = 202,
	                                         .memory_bytes = UINT64_MAX,
	                                         .from_ns = NS_PER_S,
	                                         .gpu_instance = UINT32_MAX,
	                                         .compute_instance = UINT32_MAX};
	d->process_count = 2;
}

static void test_processes(void)
{
	void *device = begin();
	struct nvml_process room[4];
	struct nvml_process_v1 old[4];
	uint64_t wide[8];
	unsigned n = 0;

	two_processes();
	EQ(nvml.compute_processes(device, &n, NULL), NVML_INSUFFICIENT_SIZE);
	EQ(n, 1);
	pass_ms(1000);
	EQ(nvml.compute_processes(device, &n, room),
	   NVML_INSUFFICIENT_SIZE); /* one has come since */
	EQ(n, 2);
	n = 4;
	EQ(nvml.compute_processes(device, &n, room), NVML_OK);
	EQ(n, 2);
	EQ(room[0].pid, 101);
	EQ(room[0].gpuInstanceId, NVML_NO_INSTANCE);
	EQ(room[1].pid, 202);
	OK(room[1].usedGpuMemory == NVML_NOT_AVAILABLE);
	n = 4;
	EQ(nvml.compute_processes_v1(device, &n, old), NVML_OK);
	EQ(old[1].pid, 202);
	/* R535: the second entry begins 32 bytes after the first. */
	scene->devices[0].process_stride = 32;
	n = 2;
	EQ(nvml.compute_processes(device, &n, (struct nvml_process *)wide), NVML_OK);
	EQ((uint32_t)wide[0], 101);
	EQ((uint32_t)wide[4], 202);
	n = 4;
	EQ(nvml.graphics_processes(device, &n, room), NVML_OK);
	EQ(n, 0);
	n = 1;
	EQ(nvml.compute_processes(device, &n, NULL), NVML_INVALID_ARGUMENT);
	VIOLATIONS(1);
	end();
}

static void test_process_use(void)
{
	const uint64_t last = UINT64_C(1700000000000000);
	struct nvml_processes_use info = {.version = NVML_VERSION(nvml_processes_use, 1)};
	struct nvml_process_sample room[128];
	struct nvml_process_use uses[4];
	void *device = begin();
	struct scene_device *d = &scene->devices[0];
	struct scene_fault *f;
	unsigned n = 0;

	d->uses[0] = (struct scene_use){.pid = 1, .timestamp = last + 800000, .sm = 5};
	d->uses[1] = (struct scene_use){.pid = 2, .timestamp = last - 7100000, .sm = 3};
	d->use_count = 2;
	/* The first time the count is not even told. */
	f = scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetProcessUtilization",
	                NVML_INSUFFICIENT_SIZE);
	f->times = 1;
	EQ(nvml.process_utilization(device, NULL, &n, last), NVML_INSUFFICIENT_SIZE);
	EQ(n, 0);
	EQ(nvml.process_utilization(device, NULL, &n, last), NVML_INSUFFICIENT_SIZE);
	EQ(n, 1);
	n = 128;
	EQ(nvml.process_utilization(device, room, &n, last), NVML_OK);
	EQ(n, 1);
	EQ(room[0].smUtil, 5);
	EQ(nvml.process_utilization(device, room, &n, last + 800000), NVML_NOT_FOUND);
	info.procUtilArray = uses;
	info.processSamplesCount = 4;
	info.lastSeenTimeStamp = last;
	EQ(nvml.processes_use(device, &info), NVML_OK);
	EQ(info.processSamplesCount, 1);
	EQ(uses[0].smUtil, 5);
	/* Garbage: two rows of nonsense, then rows of nothing, a hundred in all. */
	d->uses[0] = (struct scene_use){.pid = 50554,
	                                .timestamp = UINT64_C(217144956601725000),
	                                .sm = 37100};
	d->uses[1] = (struct scene_use){.pid = 50017, .timestamp = 49936, .encoder = 3313};
	d->use_raw = 100;
	n = 128;
	EQ(nvml.process_utilization(device, room, &n, last), NVML_OK);
	EQ(n, 100);
	EQ(room[0].smUtil, 37100);
	EQ(room[99].pid, 0);
	end();
}

/* ---- MIG ------------------------------------------------------------------------------------- */

static void test_mig(void)
{
	void *device = begin(), *instance = NULL;
	struct scene_device *d = &scene->devices[0];
	struct nvml_memory_v2 m = {.version = NVML_VERSION(nvml_memory_v2, 2)};
	unsigned current = 9, pending = 9, n, id;
	struct nvml_process room[4];
	struct nvml_utilization u;

	d->mig_result = NVML_NOT_SUPPORTED;
	EQ(nvml.mig_mode(device, &current, &pending), NVML_NOT_SUPPORTED);
	d->mig_result = 0;
	d->mig_pending = 1;
	EQ(nvml.mig_mode(device, &current, &pending), NVML_OK);
	EQ(current * 10 + pending, 1);
	d->mig_current = 1;
	d->max_mig_count = 7;
	d->migs[1] = (struct scene_mig){1, 5, 0, UINT64_C(5000000000), 900000000, "MIG-t1"};
	d->processes[0] =
		(struct scene_process){.pid = 4242, .memory_bytes = 900000000, .gpu_instance = 5};
	d->process_count = 1;
	EQ(nvml.max_mig_count(device, &n), NVML_OK);
	EQ(n, 7);
	EQ(nvml.mig_by_index(device, 0, &instance), NVML_NOT_FOUND);
	EQ(nvml.mig_by_index(device, 7, &instance), NVML_INVALID_ARGUMENT);
	EQ(nvml.mig_by_index(device, 1, &instance), NVML_OK);
	EQ(nvml.is_mig(instance, &id), NVML_OK);
	EQ(id, 1);
	EQ(nvml.gpu_instance(instance, &id), NVML_OK);
	EQ(id, 5);
	EQ(nvml.gpu_instance(device, &id), NVML_NOT_SUPPORTED);
	EQ(nvml.memory_v2(instance, &m), NVML_OK);
	EQ(m.used, 900000000);
	EQ(nvml.utilization(device, &u), NVML_NOT_SUPPORTED);
	n = 4;
	EQ(nvml.process_utilization(device, NULL, &n, 0), NVML_NOT_SUPPORTED);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetGraphicsRunningProcesses*",
	            NVML_NO_PERMISSION);
	EQ(nvml.graphics_processes(device, &n, room), NVML_NO_PERMISSION);
	n = 4;
	EQ(nvml.compute_processes(instance, &n, room), NVML_OK);
	EQ(n, 1);
	EQ(room[0].pid, 4242);
	end();
}

/* ---- misuse, hanging ------------------------------------------------------------------------- */

static void test_misuse(void)
{
	struct nvml_memory_v2 m = {.version = 2};
	struct nvml_temperature t = {.version = 1};
	struct nvml_processes_use info = {.version = 0};
	void *device = begin();
	unsigned value;

	EQ(nvml.memory_v2(device, &m), NVML_ARGUMENT_VERSION_MISMATCH);
	EQ(nvml.temperature_v(device, &t), NVML_ARGUMENT_VERSION_MISMATCH);
	EQ(nvml.processes_use(device, &info), NVML_ARGUMENT_VERSION_MISMATCH);
	OK(told("nvmlDeviceGetMemoryInfo_v2: version is 0x2"));
	VIOLATIONS(3);
	EQ(nvml.power_usage(&m, &value), NVML_INVALID_ARGUMENT);
	OK(told("nvmlDeviceGetPowerUsage: no such device"));
	VIOLATIONS(1);
	EQ(nvml.shutdown(), NVML_OK);
	EQ(nvml.power_usage(device, &value), NVML_UNINITIALIZED);
	OK(told("nvmlDeviceGetPowerUsage before nvmlInit, or after nvmlShutdown"));
	EQ(nvml.shutdown(), NVML_UNINITIALIZED);
	VIOLATIONS(2);
	EQ(nvml.init(), NVML_OK); /* for nvml_close */
	end();
}

static void *ask(void *device)
{
	unsigned value;

	EQ(nvml.power_usage(device, &value), NVML_GPU_IS_LOST);
	return NULL;
}

/* A device hangs; whoever asks others goes on. */
static void test_hang(void)
{
	void *device = begin(), *other;
	pthread_t thread;
	unsigned value;

	scene_add(scene, "GH100");
	EQ(nvml.by_index(1, &other), NVML_OK);
	scene_fault(scene, FAULT_HANG, "nvmlDeviceGetPowerUsage", NVML_GPU_IS_LOST)->device = 0;
	OK(pthread_create(&thread, NULL, ask, device) == 0);
	while (scene->hanging == 0)
		sched_yield();
	EQ(nvml.power_usage(other, &value), NVML_OK);
	scene->released = 1;
	pthread_join(thread, NULL);
	end();
}

static void test_samples(void)
{
	struct nvml_sample s[120];
	void *device = begin();
	unsigned n = 0;
	int type;

	pass_ms(1000);
	EQ(nvml.samples(device, NVML_SAMPLES_POWER, 0, &type, &n, NULL), NVML_OK);
	EQ(n, 120);
	EQ(nvml.samples(device, NVML_SAMPLES_POWER, 0, &type, &n, s), NVML_OK);
	EQ(type, NVML_UINT);
	EQ(n, 50); /* one every 20 ms since the scene began */
	EQ(s[n - 1].sampleValue.uiVal,
	   scene_curve_at(scene, 0, CURVE_power_mw, s[n - 1].timeStamp * 1000 - 1000 * NS_PER_S));
	type = 0;
	EQ(nvml.samples(device, NVML_SAMPLES_POWER, s[n - 1].timeStamp, &type, &n, s),
	   NVML_NOT_FOUND);
	end();
}

/* ---- events ---------------------------------------------------------------------------------- */

static void test_events(void)
{
	struct nvml_event_data e;
	void *device = begin(), *other, *set, *late;
	unsigned long long types;

	scene_add(scene, "GH100")->events = 0x1;
	EQ(nvml.by_index(1, &other), NVML_OK);
	scene_xid(scene, 0, 1000 * MS, 31);
	scene_xid(scene, 0, 2000 * MS, 45)->times = 2;
	EQ(nvml.event_types(device, &types), NVML_OK);
	OK(types & NVML_EVENT_XID);
	EQ(nvml.event_set_create(&set), NVML_OK);
	EQ(nvml.register_events(device, NVML_EVENT_XID, set), NVML_OK);
	EQ(nvml.event_set_wait(set, &e, 0), NVML_TIMEOUT);
	pass_ms(1500);
	EQ(nvml.event_set_create(&late), NVML_OK);
	EQ(nvml.register_events(device, NVML_EVENT_XID, late), NVML_OK);
	pass_ms(500);
	EQ(nvml.event_set_wait(set, &e, 0), NVML_OK);
	OK(e.device == device && e.eventType == NVML_EVENT_XID && e.eventData == 31);
	EQ(nvml.event_set_wait(set, &e, 0), NVML_OK);
	EQ(nvml.event_set_wait(set, &e, 0), NVML_OK);
	EQ(e.eventData, 45);
	EQ(nvml.event_set_wait(set, &e, 0), NVML_TIMEOUT);
	/* Who registers later is not told what was before. */
	EQ(nvml.event_set_wait(late, &e, 0), NVML_OK);
	EQ(e.eventData, 45);
	VIOLATIONS(0);
	EQ(nvml.event_types(other, &types), NVML_OK);
	EQ(nvml.register_events(other, NVML_EVENT_XID, set), NVML_NOT_SUPPORTED);
	OK(told("nvmlDeviceRegisterEvents: types 0x8, of which it supports 0x1"));
	EQ(nvml.event_set_free(set), NVML_OK);
	EQ(nvml.event_set_wait(set, &e, 0), NVML_INVALID_ARGUMENT);
	OK(told("nvmlEventSetWait_v2: the set is freed"));
	EQ(nvml.event_set_free(set), NVML_INVALID_ARGUMENT);
	EQ(nvml.event_set_wait(device, &e, 0), NVML_INVALID_ARGUMENT);
	OK(told("nvmlEventSetWait_v2: no such set"));
	VIOLATIONS(4);
	EQ(nvml.shutdown(), NVML_OK); /* and the other set is still there */
	OK(told("nvmlShutdown: a set of events is not freed"));
	VIOLATIONS(1);
	EQ(nvml.init(), NVML_OK); /* for nvml_close */
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"who it is, and the way from CUDA", test_identity},
		{"values over time", test_values},
		{"sentinels", test_sentinels},
		{"fields", test_fields},
		{"processes in three layouts", test_processes},
		{"use by process, stale and garbage", test_process_use},
		{"MIG", test_mig},
		{"misuse", test_misuse},
		{"a call that hangs", test_hang},
		{"samples", test_samples},
		{"events", test_events},
	};

	return tap_run(tests, ARRAY_LEN(tests));
}
