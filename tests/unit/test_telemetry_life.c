/* Telemetry of GPUs that come and go, sleep, or have no library, or one that does not work. */
#include <dlfcn.h>
#include <sys/stat.h>

#include "probe/telemetry_internal.h"
#include "telemetry_rig.h"

static void lost(void)
{
	struct telemetry_counts counts;
	const char *subject, *text;

	rig_scene(2);
	scene->devices[1].lost_at_ns = 250 * MS;
	rig_begin();
	ticks(40); /* and it is tried again */
	telemetry_count(rig.telemetry, &counts);
	EQ(counts.gpus * 10 + counts.lost, 21);
	OK(telemetry_note_at(rig.telemetry, 0, &subject, &text));
	OK(!strcmp(subject, "GPU 1") && strstr(text, "fallen off the bus"));
	OK(!telemetry_note_at(rig.telemetry, 1, &subject, &text));
	rig_read();
	EQ(rig_rows(SCOPE_GPU, 0, 0), 41);
	EQ(rig_rows(SCOPE_GPU, 1, 0), 3);
	EQ(rig_gpu(1)->lost_mono_ns, 1000 * NS_PER_S + 300 * MS);
	OK(!strcmp(rig_gpu(1)->note, "nvmlDeviceGetMemoryInfo_v2: NVML_ERROR_GPU_IS_LOST (15): it has "
	                             "fallen off the bus"));
	OK(!strcmp(rig_gpu(1)->name, "NVIDIA GH100") && !rig_gpu(0)->lost_mono_ns);
	OK(strstr(rig_source("gpu")->reason, "GPU 1: ") == rig_source("gpu")->reason);
	rig_end();
}

/* The program that is recorded shuts the library down once too often: it is begun again. */
static void shut_down(void)
{
	int (*shutdown)(void) = NULL;
	void *library;

	rig_scene(2);
	rig_begin();
	ticks(3);
	library = dlopen(double_path("lib/libnvidia-ml.so.1"), RTLD_NOW | RTLD_NOLOAD);
	if (OK(library != NULL)) {
		*(void **)&shutdown = dlsym(library, "nvmlShutdown");
		EQ(shutdown(), 0);
		dlclose(library);
	}
	ticks(25);
	EQ(scene_calls(scene, "nvmlInit_v2"), 2); /* for all GPUs once */
	rig_read();
	OK(rig_rows(SCOPE_GPU, 0, 0) > 15 && rig_rows(SCOPE_GPU, 1, 0) > 15);
	EQ(rig_gpu(0)->lost_mono_ns + rig_gpu(1)->lost_mono_ns, 0);
	OK(strstr(rig_source("gpu")->reason, "NVML_ERROR_UNINITIALIZED") != NULL);
	scene->violation_count = 0; /* the calls in between */
	rig_end();
}

/* A GPU that wants a reset answers nothing more: it is gone until then. */
static void wants_a_reset(void)
{
	rig_scene(1);
	rig_begin();
	ticks(3);
	scene_fault(scene, FAULT_RESULT, "nvmlDeviceGetTemperature*", NVML_RESET_REQUIRED);
	ticks(3);
	rig_read();
	OK(rig_gpu(0)->lost_mono_ns > 0 && strstr(rig_gpu(0)->note, "RESET_REQUIRED"));
	EQ(rig_rows(SCOPE_GPU, 0, 0), 4);
	rig_end();
}

/* Another GPU in the same place: nothing of the old one is carried on. */
static void another_in_its_place(void)
{
	struct unit *u;

	rig_scene(1);
	rig_begin();
	ticks(3);
	u = rig.telemetry->units[0];
	snprintf(u->parts[0]->info.uuid, sizeof(u->parts[0]->info.uuid), "GPU-another");
	u->look_mono_ns = 0;
	ticks(2);
	rig_read();
	GPU_IS(0, 3, "pcie_rx_bytes.sum.per_second", 3072000);
	GPU_IS(0, 4, "pcie_rx_bytes.sum.per_second", NAN);
	GPU_IS(0, 5, "pcie_rx_bytes.sum.per_second", 3072000);
	rig_end();
}

/* It is asked for again, less and less often, and begins anew. */
static void lost_and_found(void)
{
	uint32_t tries;

	rig_scene(1);
	scene->devices[0].lost_at_ns = 250 * MS;
	rig_begin();
	ticks(3);
	tries = scene_calls(scene, "nvmlDeviceGetHandleByIndex_v2");
	ticks(300);
	OK(scene_calls(scene, "nvmlDeviceGetHandleByIndex_v2") - tries <= 6);
	scene->devices[0].lost_at_ns = UINT64_MAX;
	ticks(610);
	rig_read();
	OK(rig_rows(SCOPE_GPU, 0, 0) > 10);
	EQ(rig_gpu(0)->lost_mono_ns, 0);
	/* The first row after it: no rate over the gap. */
	GPU_IS(0, 2, "pcie_rx_bytes.sum.per_second", 3072000);
	GPU_IS(0, 3, "pcie_rx_bytes.sum.per_second", NAN);
	GPU_IS(0, 4, "pcie_rx_bytes.sum.per_second", 3072000);
	rig_end();
}

static void absent_from_the_start(void)
{
	rig_scene(2);
	scene->devices[0].lost_at_ns = 0;
	rig_begin();
	ticks(3);
	rig_read();
	EQ(rig_rows(SCOPE_GPU, 0, 0), 0);
	EQ(rig_rows(SCOPE_GPU, 1, 0), 4);
	OK(rig_gpu(0)->lost_mono_ns && strstr(rig_gpu(0)->note, "nvmlDeviceGetHandleByIndex_v2: "));
	rig_end();
}

static void one_more(void)
{
	rig_scene(1);
	rig_begin();
	ticks(20);
	scene_add(scene, "GH100");
	ticks(100);
	rig_read();
	OK(rig_rows(SCOPE_GPU, 1, 0) >= 10 && rig_rows(SCOPE_GPU, 1, 0) < 40);
	EQ(rig_rows(SCOPE_GPU, 0, 0), 121);
	rig_end();
}

/* The library is of another driver than the kernel's; then the module is loaded anew. */
static void mismatch(void)
{
	const char *subject, *text;

	rig_scene(1);
	scene->init_result = NVML_LIB_RM_VERSION_MISMATCH;
	rig_begin();
	ticks(100);
	OK(scene_calls(scene, "nvmlInit_v2") >= 3 && scene_calls(scene, "nvmlInit_v2") <= 5);
	OK(telemetry_note_at(rig.telemetry, 0, &subject, &text));
	OK(!strcmp(subject, "nvidia") && strstr(text, "reload it or reboot"));
	scene->init_result = 0;
	ticks(100);
	rig_read();
	OK(rig_rows(SCOPE_GPU, 0, 0) > 10);
	OK(strstr(rig_source("gpu")->reason, "nvidia: ") && rig_source("gpu")->failures >= 3);
	OK(!telemetry_note_at(rig.telemetry, 0, &subject, &text));
	rig_end();
}

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	OK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* All of the folders below `root`. */
static void make_folders(const char *root, const char *path)
{
	char whole[160];
	size_t i;

	snprintf(whole, sizeof(whole), "%s/%s/", root, path);
	for (i = strlen(root) + 1; whole[i]; i++)
		if (whole[i] == '/') {
			whole[i] = '\0';
			OK(mkdir(whole, 0700) == 0);
			whole[i] = '/';
		}
}

/* A GPU that sleeps is not woken; when somebody else does, it is taken up. */
static void asleep(void)
{
	char root[] = "/tmp/galvo-asleep-XXXXXX", path[128], status[160];
	const char *subject, *text;

	OK(mkdtemp(root) != NULL);
	make_folders(root, "sys/bus/pci/devices/0000:01:00.0/power");
	snprintf(status, sizeof(status), "%s/sys/bus/pci/devices/0000:01:00.0/power/runtime_status",
	         root);
	put_file(status, "suspended\n");
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:01:00.0/vendor", root);
	put_file(path, "0x10de\n");
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/0000:01:00.0/class", root);
	put_file(path, "0x030200\n");
	rig_scene(1);
	rig_begin_below(root);
	ticks(30);
	EQ(scene_calls(scene, "nvmlInit_v2"), 0);
	OK(telemetry_note_at(rig.telemetry, 0, &subject, &text) && strstr(text, "sleep"));
	put_file(status, "active\n");
	ticks(20);
	rig_read();
	OK(rig_rows(SCOPE_GPU, 0, 0) >= 5);
	EQ(rig_source("gpu")->failures, 0);
	rig_end();
	host_remove(root);
}

static void no_library(void)
{
	struct world world = {.root_fd = -1};
	struct telemetry_config config = rig_config(&world);
	struct telemetry *t = NULL;
	galvo_error e;

	OK(world_open(&world, NULL, NULL) == GALVO_OK);
	config.places = (struct gpu_places){.nvml = "/nowhere/libnvidia-ml.so.1"};
	err_clear(&e);
	EQ(telemetry_create(&config, &t, &e), GALVO_ERR_ABSENT);
	OK(!t && strstr(e.text, "/nowhere/libnvidia-ml.so.1: not there"));
	world_close(&world);
}

static const struct tap_test tests[] = {
	{"there is no library", no_library},
	{"a GPU that is lost", lost},
	{"a library that is shut down by others", shut_down},
	{"a GPU that wants a reset", wants_a_reset},
	{"another GPU in the place of one", another_in_its_place},
	{"a GPU that is lost and found", lost_and_found},
	{"a GPU that is not there from the start", absent_from_the_start},
	{"a GPU that comes later", one_more},
	{"a GPU that sleeps", asleep},
	{"another driver than the library's", mismatch},
};

TAP_MAIN(tests)
