/*
 * NVIDIA's libraries are found where they may be, the right one of several, and told why if none is
 * good.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>

#include "nvidia_rig.h"

static char root[64];

/* root/FOLDER/NAME leads to a double. */
static void place(const char *folder, const char *name, const char *of)
{
	char path[256], *at;

	snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
	for (at = strchr(path + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	OK(symlink(double_path(of), path) == 0);
}

/* All that was placed, bottom first. */
static void unplace(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", root, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void begin(void)
{
	scene_begin();
	scene_add(scene, "GH100");
	snprintf(root, sizeof(root), "/tmp/galvo-places-%d", (int)getpid());
	mkdir(root, 0700);
}

static void end(void)
{
	unplace();
	scene_end();
}

static bool maps(const char *library)
{
	char *line = NULL;
	bool found = false;
	size_t cap = 0;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && getline(&line, &cap, f) > 0)
		found = found || strstr(line, library);
	if (f)
		fclose(f);
	free(line);
	return found;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void file_body(void)
{
	struct nvidia_places where = {.file = double_path("lib12/libcupti.so.12")};
	galvo_error e = {0};

	begin();
	OK(cupti_open(&cupti, &where, 0, &e) == GALVO_OK);
	EQ(cupti.version, 130001);
	EQ(cupti.cuda, 13000);
	OK(strstr(cupti.path, "lib12/libcupti.so.12"));
	OK(cupti.handle && cupti.decode && cupti.set_config && cupti.get_timestamp);
	OK(cupti.nvperf == NULL);
	cupti_close(&cupti);
	OK(cupti.handle == NULL);
	/* It stays, for threads that are inside. */
	OK(maps("libcupti.so.12"));
	end();
}

static void linker_body(void)
{
	struct cupti c;
	struct nvml n;
	galvo_error e = {0};

	begin();
	OK(cuda_open(&cuda, NULL, &e) == GALVO_OK);
	OK(cupti_open(&c, NULL, cuda.version, &e) == GALVO_OK);
	OK(nvml_open(&n, NULL, &e) == GALVO_OK);
	OK(strncmp(cuda.path, DOUBLES, strlen(DOUBLES)) == 0);
	OK(strncmp(c.path, DOUBLES, strlen(DOUBLES)) == 0);
	OK(strncmp(n.path, DOUBLES, strlen(DOUBLES)) == 0);
	nvml_close(&n);
	end();
}

/* The linker looks at its variable when a program begins: a program of its own. */
static void linker_again(void)
{
	setenv("LD_LIBRARY_PATH", double_path("lib"), 1);
	execl("/proc/self/exe", "test_nvidia_load", "linker", (char *)NULL);
	EQ(errno, 0); /* comes here only if it failed */
}

static void toolkit_body(void)
{
	struct nvidia_places where = {.root = root, .no_linker = true};

	begin();
	place("usr/local/cuda-9.2/lib64", "libcupti.so.13", "lib/libcupti.so.13");
	place("usr/local/cuda-12.10/extras/CUPTI/lib64", "libcupti.so.13", "lib/libcupti.so.13");
	place("usr/local/cuda-12.8/lib64", "libcupti.so.13", "lib/libcupti.so.13");
	OK(cupti_open(&cupti, &where, 0, NULL) == GALVO_OK);
	OK(strstr(cupti.path, "/usr/local/cuda-12.10/"));
	end();
}

static void chosen_toolkit_body(void)
{
	struct nvidia_places where = {.root = root, .no_linker = true};

	begin();
	place("usr/local/cuda-13.9/lib64", "libcupti.so.13", "lib/libcupti.so.13");
	place("usr/local/cuda/targets/x86_64-linux/lib", "libcupti.so.12", "lib12/libcupti.so.12");
	OK(cupti_open(&cupti, &where, 0, NULL) == GALVO_OK);
	OK(strstr(cupti.path, "/usr/local/cuda/"));
	end();
}

static void homes_body(void)
{
	char home[128];
	const char *homes[] = {"/nowhere", home, NULL};
	struct nvidia_places where = {.root = root, .no_linker = true, .homes = homes};

	begin();
	snprintf(home, sizeof(home), "%s/opt/cuda", root);
	place("opt/cuda/lib", "libcupti.so.13", "lib/libcupti.so.13");
	place("usr/local/cuda/lib64", "libcupti.so.13", "lib/libcupti.so.13");
	OK(cupti_open(&cupti, &where, 0, NULL) == GALVO_OK);
	OK(strstr(cupti.path, "/opt/cuda/lib/"));
	end();
}

static void pythons_body(void)
{
	char site[128];
	const char *pythons[] = {site, NULL};
	struct nvidia_places where = {.root = root, .no_linker = true, .pythons = pythons};

	begin();
	snprintf(site, sizeof(site), "%s/site-packages", root);
	place("site-packages/nvidia/cuda_cupti/lib", "libcupti.so.12", "lib12/libcupti.so.12");
	OK(cupti_open(&cupti, &where, 12080, NULL) == GALVO_ERR_ABSENT); /* the scene's is 13.0 */
	scene->cupti_version = 26;
	OK(cupti_open(&cupti, &where, 12080, NULL) == GALVO_OK);
	EQ(cupti.cuda, 12080);
	OK(strstr(cupti.path, "/cuda_cupti/"));
	end();
}

static void driver_body(void)
{
	struct nvidia_places where = {.root = root, .no_linker = true};

	begin();
	place("usr/lib/wsl/lib", "libcuda.so.1", "lib/libcuda.so.1");
	place("usr/local/nvidia/lib64", "libnvidia-ml.so.1", "lib/libnvidia-ml.so.1");
	OK(cuda_open(&cuda, &where, NULL) == GALVO_OK);
	OK(strstr(cuda.path, "/wsl/"));
	EQ(cuda.version, 13000);
	OK(nvml_open(&nvml, &where, NULL) == GALVO_OK);
	OK(strstr(nvml.path, "/usr/local/nvidia/"));
	nvml_close(&nvml);
	end();
}

static void loaded_body(void)
{
	struct nvidia_places only = {.only_loaded = true},
			     none = {.root = "/nowhere", .no_linker = true};
	galvo_error e = {0};

	begin();
	OK(cuda_open(&cuda, &only, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "libcuda.so.1: not loaded by this process"));
	OK(cupti_open(&cupti, &only, 0, &e) == GALVO_ERR_ABSENT);
	OK(!maps("libcuda.so") && !maps("libcupti.so"));
	/* What a profiler of the program's has brought is taken, though there may be newer ones. */
	OK(dlopen(double_path("lib12/libcupti.so.12"), RTLD_NOW | RTLD_LOCAL));
	OK(dlopen(double_path("lib/libcuda.so.1"), RTLD_NOW | RTLD_LOCAL));
	OK(cuda_open(&cuda, &only, &e) == GALVO_OK);
	OK(cupti_open(&cupti, &none, 0, &e) == GALVO_OK);
	OK(strstr(cupti.path, "lib12/libcupti.so.12"));
	end();
}

/* ---- those that are not good ----------------------------------------------------------------- */

static void missing_body(void)
{
	struct nvidia_places where = {.file = "/nowhere/libcupti.so.13"};
	struct nvidia_places empty = {.root = "/nowhere", .no_linker = true};
	galvo_error e = {0};

	begin();
	memset(&cupti, 0x55, sizeof(cupti));
	OK(cupti_open(&cupti, &where, 0, &e) == GALVO_ERR_ABSENT);
	OK(strcmp(e.text, "/nowhere/libcupti.so.13: not there") == 0);
	OK(((unsigned char *)&cupti)[0] == 0x55); /* results are left alone */
	OK(cupti_open(&cupti, &empty, 0, &e) == GALVO_ERR_ABSENT);
	OK(strcmp(e.text, "libcupti.so.13: not found") == 0);
	OK(cuda_open(&cuda, &empty, &e) == GALVO_ERR_ABSENT);
	OK(strcmp(e.text, "libcuda.so.1: not found") == 0);
	OK(nvml_open(&nvml, &empty, &e) == GALVO_ERR_ABSENT);
	OK(cuda_open(&cuda, &empty, NULL) == GALVO_ERR_ABSENT);
	/* A file that is no library. */
	place("usr/lib64", "libcuda.so.1", "CTestTestfile.cmake");
	empty.root = root;
	OK(cuda_open(&cuda, &empty, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "/usr/lib64/libcuda.so.1"));
	end();
}

static void versions_body(void)
{
	struct nvidia_places p12 = {.file = double_path("lib12/libcupti.so.12")};
	struct nvidia_places here = {.root = root, .no_linker = true};
	galvo_error e = {0};

	begin();
	scene->cupti_version = 18; /* 12.0 */
	OK(cupti_open(&cupti, &p12, 0, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "is of CUPTI 18, too old: PM sampling came with CUDA 12.6"));
	scene->cupti_version = 130100;
	OK(cupti_open(&cupti, &p12, 12040, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "is of CUDA 13.1, too new: the driver can do 12.4"));
	OK(!maps("libcupti.so.12")); /* what is not good does not stay */
	/* A driver of 12.x: 13 is not even loaded. */
	place("usr/local/cuda-13.0/lib64", "libcupti.so.13", "lib/libcupti.so.13");
	place("usr/local/cuda-12.8/lib64", "libcupti.so.12", "lib12/libcupti.so.12");
	scene->cupti_version = 26;
	OK(cupti_open(&cupti, &here, 12040, &e) == GALVO_OK);
	OK(strstr(cupti.path, "cuda-12.8"));
	OK(!maps("libcupti.so.13"));
	end();
}

static void old_body(void)
{
	char home[256];
	const char *homes[] = {home, NULL};
	struct nvidia_places old = {.file = double_path("old/libcupti.so.12")};
	struct nvidia_places both = {.root = root, .no_linker = true, .homes = homes};
	galvo_error e = {0};

	begin();
	OK(cupti_open(&cupti, &old, 0, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "old/libcupti.so.12: no function cuptiProfilerHostGetSupportedChips"));
	/* One that is not good does not hide one that is. */
	snprintf(home, sizeof(home), "%s/old", root);
	place("old/lib64", "libcupti.so.12", "old/libcupti.so.12");
	place("usr/local/cuda/lib64", "libcupti.so.12", "lib12/libcupti.so.12");
	OK(cupti_open(&cupti, &both, 0, &e) == GALVO_OK);
	OK(strstr(cupti.path, "usr/local/cuda/lib64"));
	old.file = double_path("old/libcuda.so.1");
	OK(cuda_open(&cuda, &old, &e) == GALVO_OK);
	OK(cuda.event_elapsed && !cuda.stream_get_ctx); /* by its older name; not at all */
	end();
}

static void old_nvml_body(void)
{
	struct nvidia_places old = {.file = double_path("old/libnvidia-ml.so.1")};
	unsigned long long reasons = 1;
	void *device = NULL;

	begin();
	OK(nvml_open(&nvml, &old, NULL) == GALVO_OK);
	OK(!nvml.memory_v2 && nvml.memory && !nvml.temperature_v && nvml.temperature);
	OK(!nvml.compute_processes && nvml.compute_processes_v1);
	OK(nvml.by_index(0, &device) == NVML_OK && nvml.clock_reasons(device, &reasons) == NVML_OK);
	EQ(scene_calls(scene, "nvmlDeviceGetCurrentClocksThrottleReasons"), 1);
	EQ(reasons, 0);
	nvml_close(&nvml);
	end();
}

static void mismatch_body(void)
{
	struct nvidia_places where = {.file = double_path("lib/libnvidia-ml.so.1")};
	galvo_error e = {0};

	begin();
	scene->init_result = NVML_LIB_RM_VERSION_MISMATCH;
	OK(nvml_open(&nvml, &where, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "nvmlInit_v2: NVML_ERROR_LIB_RM_VERSION_MISMATCH (18): the kernel has "
	                  "another driver"));
	scene->init_result = NVML_DRIVER_NOT_LOADED;
	OK(nvml_open(&nvml, &where, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "NVML_ERROR_DRIVER_NOT_LOADED (9)"));
	scene->init_result = 0;
	OK(nvml_open(&nvml, &where, &e) == GALVO_OK);
	nvml_close(&nvml);
	nvml_close(&nvml); /* nothing more to close */
	VIOLATIONS(0);
	end();
}

static void stub_body(void)
{
	static const char *const names[] = {
#define X(member, names, args, required) names,
		CUDA_CALLS(X)
#undef X
	};
	struct nvidia_places stub = {.file = "/usr/local/cuda/lib64/stubs/libcuda.so"};
	galvo_error e = {0};
	char name[64];
	void *handle;
	size_t i;

	if (access(stub.file, R_OK) != 0) {
		printf("# no stub of a toolkit here\n");
		return;
	}
	OK(cuda_open(&cuda, &stub, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "CUDA_ERROR_STUB_LIBRARY (34)"));
	/* It has what is declared, under the newest name. */
	handle = dlopen(stub.file, RTLD_LAZY | RTLD_LOCAL);
	for (i = 0; OK(handle) && i < ARRAY_LEN(names); i++) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names[i], " "), names[i]);
		if (!OK(dlsym(handle, name)))
			printf("# %s\n", name);
	}
}

static void begin_body(void)
{
	struct cuda hidden;
	galvo_error e = {0};

	begin();
	doubles_open();
	scene->devices[0].cuda_ordinal = -1; /* CUDA_VISIBLE_DEVICES= */
	OK(cupti_begin(&cupti, &cuda, &e) == GALVO_ERR_ABSENT);
	OK(strcmp(e.text, "CUDA sees no device") == 0);
	scene->devices[0].cuda_ordinal = 0;
	scene_fault(scene, FAULT_RESULT, "cuInit", CUDA_SYSTEM_DRIVER_MISMATCH);
	OK(cupti_begin(&cupti, &cuda, &e) == GALVO_ERR_ABSENT);
	OK(strstr(e.text, "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"));
	scene->fault_count = 0;
	scene_fault(scene, FAULT_RESULT, "cuptiProfilerInitialize", CUPTI_INSUFFICIENT_PRIVILEGES);
	OK(cupti_begin(&cupti, &cuda, &e) == GALVO_ERR_DENIED);
	OK(strstr(e.text, "NVreg_RestrictProfilingToAdminUsers"));
	scene->fault_count = 0;
	OK(cupti_begin(&cupti, &cuda, &e) == GALVO_OK);
	hidden = cuda;
	cuda_close(&hidden);
	OK(hidden.handle == NULL && hidden.init == NULL);
	nvml_close(&nvml);
	end();
}

/* ---- versions and names ---------------------------------------------------------------------- */

static void test_sizes(void)
{
	static const struct {
		uint32_t version, cuda;
		size_t set_config, supported, properties, initialize;
	} rows[] = {
		{18, 0, 60, 52, 60, 48},         {24, 12060, 60, 52, 60, 48},
		{25, 12070, 60, 52, 60, 48},     {26, 12080, 64, 52, 60, 48},
		{27, 12090, 64, 52, 60, 48},     {28, 12090, 64, 52, 60, 48},
		{130000, 13000, 64, 52, 60, 48}, {130001, 13000, 64, 52, 60, 48},
		{130100, 13010, 64, 56, 64, 48}, {130200, 13020, 64, 56, 64, 56},
		{130300, 13030, 64, 56, 64, 56}, {140000, 14000, 64, 56, 64, 56},
	};
	struct cupti_sizes s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		s = cupti_sizes_of(rows[i].version);
		EQ(cupti_cuda_version(rows[i].version), rows[i].cuda);
		EQ(s.set_config, rows[i].set_config);
		EQ(s.device_supported, rows[i].supported);
		EQ(s.metric_properties, rows[i].properties);
		EQ(s.host_initialize, rows[i].initialize);
	}
}

static void test_results(void)
{
	galvo_error e = {0};

	OK(strcmp(cupti_result_name(0), "CUPTI_SUCCESS") == 0);
	OK(strcmp(cuda_result_name(100), "CUDA_ERROR_NO_DEVICE") == 0);
	OK(strcmp(nvml_result_name(15), "NVML_ERROR_GPU_IS_LOST") == 0);
	OK(cupti_result_name(4711) == NULL && cuda_result_name(-1) == NULL &&
	   nvml_result_name(5) == NULL);
	OK(cupti_failed(&e, "cuptiPmSamplingEnable", 35) == GALVO_ERR_DENIED);
	OK(cupti_failed(&e, "cuptiPmSamplingEnable", 26) == GALVO_ERR_STATE);
	OK(strstr(e.text,
	          "cuptiPmSamplingEnable: CUPTI_ERROR_HARDWARE_BUSY (26): another profiler"));
	OK(nvml_failed(&e, "nvmlDeviceGetPowerUsage", 3) == GALVO_ERR_ABSENT);
	OK(nvml_failed(&e, "nvmlDeviceGetPowerUsage", 4) == GALVO_ERR_DENIED);
	OK(nvml_failed(&e, "nvmlDeviceGetPowerUsage", 4711) == GALVO_ERR_IO);
	OK(strcmp(e.text, "nvmlDeviceGetPowerUsage: result 4711") == 0);
	OK(cuda_failed(NULL, "cuInit", 2) == GALVO_ERR_NOMEM);
}

#define APART(name)                                                                                \
	static void test_##name(void)                                                              \
	{                                                                                          \
		apart(name##_body);                                                                \
	}
APART(file)
APART(toolkit)
APART(chosen_toolkit)
APART(homes)
APART(pythons)
APART(driver)
APART(loaded)
APART(missing)
APART(versions)
APART(old)
APART(old_nvml)
APART(mismatch)
APART(stub)
APART(begin)

static void test_linker(void)
{
	apart(linker_again);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{"a file that is named", test_file},
		{"by the dynamic linker", test_linker},
		{"the newest toolkit", test_toolkit},
		{"the toolkit that the machine's owner chose", test_chosen_toolkit},
		{"homes that the caller names", test_homes},
		{"wheels of Python", test_pythons},
		{"folders of drivers", test_driver},
		{"what the process has loaded", test_loaded},
		{"nothing there", test_missing},
		{"too old, too new", test_versions},
		{"functions that are not there", test_old},
		{"an old libnvidia-ml", test_old_nvml},
		{"a driver that does not belong to it", test_mismatch},
		{"a stub", test_stub},
		{"the gate", test_begin},
		{"sizes of structs by version", test_sizes},
		{"names of results", test_results},
	};

	if (argc > 1 && strcmp(argv[1], "linker") == 0) {
		linker_body();
		return tap_failures != 0;
	}
	return tap_run(tests, ARRAY_LEN(tests));
}
