/* The library is unloaded while the driver holds up its worker of GPU regions, which comes back later. */
#include <dirent.h>

#include "galvo/galvo.h"
#include "gpu_rig.h"

/* Of the library that is loaded, not of the rooms in this program. */
static struct {
	galvo_status (*create)(const galvo_suite_config *, galvo_suite **, galvo_error *);
	galvo_tracker *(*tracker)(galvo_suite *);
	galvo_status (*set_stream)(galvo_tracker *, void *, galvo_error *);
	galvo_status (*start)(galvo_suite *, galvo_error *);
	uint64_t (*begin)(galvo_tracker *, const char *, size_t);
	void (*end)(galvo_tracker *, uint64_t);
	galvo_status (*stop)(galvo_suite *, galvo_error *);
	void (*destroy)(galvo_suite *);
} api;

static void *load(void)
{
	static const struct {
		const char *name;
		void *at;
	} rows[] = {
		{"galvo_suite_create", &api.create}, {"galvo_suite_gpu_tracker", &api.tracker},
		{"galvo_tracker_set_stream", &api.set_stream}, {"galvo_suite_start", &api.start},
		{"galvo_region_begin", &api.begin}, {"galvo_region_end", &api.end},
		{"galvo_suite_stop", &api.stop}, {"galvo_suite_destroy", &api.destroy},
	};
	void *library = dlopen(GALVO_SHARED, RTLD_NOW | RTLD_LOCAL), *symbol;
	size_t i;

	for (i = 0; library && i < ARRAY_LEN(rows); i++) {
		symbol = dlsym(library, rows[i].name);
		if (!OK(symbol != NULL))
			return NULL;
		memcpy(rows[i].at, &symbol, sizeof(symbol));
	}
	return library;
}

static bool is_alone(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n == 3; /* with . and .. */
}

/* Until the program is alone again, if it gets there. */
static void body(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	struct gpu_rig g = {.stream = NULL};
	galvo_suite *suite = NULL;
	galvo_tracker *t;
	char dir[64];
	int fd = sample_dir(dir);
	void *library = load();

	scene_begin();
	scene->is_fake = 0;
	scene->begin_mono_ns = clock_real.mono_ns(&clock_real);
	scene_add(scene, "GH100");
	play_program(&g, "lib/libcuda.so.1");
	config.output_dir = dir;
	config.no_system = config.no_disk = 1;
	if (!OK(library && api.create(&config, &suite, NULL) == GALVO_OK))
		return;
	t = api.tracker(suite);
	OK(api.set_stream(t, g.stream, NULL) == GALVO_OK && api.start(suite, NULL) == GALVO_OK);
	scene_fault(scene, FAULT_HANG, "cuEventQuery", CUDA_OK);
	api.end(t, api.begin(t, "region", 6));
	OK(await(hangs));
	api.stop(suite, NULL);
	api.destroy(suite);
	dlclose(library);
	OK(!is_alone());
	scene->released = 1;
	OK(await(is_alone));
	sample_remove(dir, fd);
}

static void unloaded(void)
{
	apart(body);
}

static const struct tap_test tests[] = {
	{"unloaded while the driver hangs", unloaded},
};
TAP_MAIN(tests)
