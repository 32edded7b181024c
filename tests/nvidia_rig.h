/*
 * What tests of NVIDIA's libraries share: a scene of this process, the doubles, a session of PM
 * sampling.
 */
#ifndef GALVO_NVIDIA_RIG_H
#define GALVO_NVIDIA_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvidia/nvidia.h"
#include "scene.h"
#include "tap.h"

#define MS UINT64_C(1000000)

static struct scene *scene;
static char scene_path[64];
static struct cuda cuda;
static struct nvml nvml;
static struct cupti cupti;

static inline void scene_remove(void)
{
	if (scene_path[0])
		unlink(scene_path);
}

/*
 * The scene is made anew, with a fake clock that stands at 1000 s. The file stays the same for as
 * long as the process lives: doubles that are loaded have mapped it.
 */
static inline void scene_begin(void)
{
	if (!scene_path[0]) {
		snprintf(scene_path, sizeof(scene_path), "/tmp/galvo-scene-%d", (int)getpid());
		setenv(SCENE_VARIABLE, scene_path, 1);
		atexit(scene_remove);
	}
	scene_unmap(scene);
	scene = scene_new(scene_path);
	if (!scene)
		abort();
	scene->is_fake = 1;
	scene->fake_mono_ns = scene->begin_mono_ns = 1000 * NS_PER_S;
}

static inline void scene_end(void)
{
	scene_unmap(scene);
	scene = NULL;
}

static inline void pass_ms(uint64_t ms)
{
	scene->fake_mono_ns += ms * MS;
}

/* Claims how many violations there are, shows them if it is another number, and forgets them. */
#define VIOLATIONS(n)                                                                              \
	do {                                                                                       \
		uint32_t v_, all_ = scene->violation_count;                                        \
                                                                                                   \
		if (!EQ(all_, n))                                                                  \
			for (v_ = 0; v_ < all_ && v_ < SCENE_VIOLATIONS; v_++)                     \
				printf("# %s\n", scene->violations[v_]);                           \
		scene->violation_count = 0;                                                        \
	} while (0)

static inline bool told(const char *words)
{
	uint32_t i;

	for (i = 0; i < scene->violation_count && i < SCENE_VIOLATIONS; i++)
		if (strstr(scene->violations[i], words))
			return true;
	return false;
}

static inline const char *double_path(const char *name)
{
	static char path[2][256];
	static unsigned next;
	char *to = path[next++ % 2];

	snprintf(to, sizeof(path[0]), "%s/%s", DOUBLES, name);
	return to;
}

/* Opens the three doubles; the process keeps them, whatever scene comes. */
static inline void doubles_open(void)
{
	struct nvidia_places c = {.file = double_path("lib/libcuda.so.1")};
	struct nvidia_places p = {.file = double_path("lib/libcupti.so.13")};
	galvo_error e = {0};

	if (!OK(cuda_open(&cuda, &c, &e) == GALVO_OK) ||
	    !OK(cupti_open(&cupti, &p, 0, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	c.file = double_path("lib/libnvidia-ml.so.1");
	if (!OK(nvml_open(&nvml, &c, &e) == GALVO_OK))
		printf("# %s\n", e.text);
}

/* A scene with one GPU of that chip, the doubles, and the profiler initialised. */
static inline void stage(const char *chip)
{
	scene_begin();
	scene_add(scene, chip);
	doubles_open();
	OK(cupti_begin(&cupti, &cuda, NULL) == GALVO_OK);
}

static inline void stage_end(void)
{
	nvml_close(&nvml);
	scene_end();
}

/* Runs it in a process of its own, as libraries cannot be unloaded; before any is loaded here. */
static inline void apart(void (*body)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		scene_path[0] = '\0';
		body();
		scene_remove();
		fflush(stdout);
		_exit(tap_failures != 0);
	}
	waitpid(pid, &status, 0);
	OK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- PM sampling ----------------------------------------------------------------------------- */

struct sampling {
	void *host, *object;
	uint8_t *config, *image;
	size_t config_bytes, image_bytes, passes;
	const char **names;
	size_t count;
};

struct session_wish {
	uint64_t interval_ns;
	size_t buffer_bytes;
	uint32_t append, slots, trigger;
};

static const struct session_wish usual_wish = {1000000, 64 << 20, CUPTI_KEEP_LATEST, 1000,
                                               CUPTI_TIME_INTERVAL};

static inline int session_host(struct sampling *s, const char *chip, const char **names, size_t n)
{
	struct cupti_host_initialize h = {.profilerType = CUPTI_PM_SAMPLING, .pChipName = chip};
	struct cupti_add_metrics a = {.ppMetricNames = names, .numMetrics = n};
	struct cupti_config_size z = {.configImageSize = 0};
	struct cupti_config_image i = {.configImageSize = 0};
	struct cupti_passes p = {.numOfPasses = 0};
	int rc = cupti_host_initialize(&cupti, &h);

	memset(s, 0, sizeof(*s));
	s->names = names;
	s->count = n;
	if (rc)
		return rc;
	s->host = a.pHostObject = z.pHostObject = i.pHostObject = h.pHostObject;
	rc = CUPTI_CALL(&cupti, add_metrics, &a);
	if (!rc)
		rc = CUPTI_CALL(&cupti, config_size, &z);
	if (rc)
		return rc;
	s->config_bytes = i.configImageSize = p.configImageSize = z.configImageSize;
	s->config = i.pConfigImage = p.pConfigImage = calloc(1, s->config_bytes);
	rc = CUPTI_CALL(&cupti, config_image, &i);
	if (!rc)
		rc = CUPTI_CALL(&cupti, passes, &p);
	s->passes = p.numOfPasses;
	return rc;
}

static inline int session_image(struct sampling *s)
{
	struct cupti_data_initialize i = {.pPmSamplingObject = s->object,
	                                  .counterDataSize = s->image_bytes,
	                                  .pCounterData = s->image};

	return CUPTI_CALL(&cupti, data_initialize, &i);
}

static inline int session_do(struct sampling *s, int (*call)(struct cupti_sampling *))
{
	struct cupti_sampling p = {.structSize = 24, .pPmSamplingObject = s->object};

	return call(&p);
}

static inline int session_configure(struct sampling *s, struct session_wish wish)
{
	struct cupti_set_config c = {.pPmSamplingObject = s->object,
	                             .configSize = s->config_bytes,
	                             .pConfig = s->config,
	                             .hardwareBufferSize = wish.buffer_bytes,
	                             .samplingInterval = wish.interval_ns,
	                             .triggerMode = wish.trigger,
	                             .hwBufferAppendMode = wish.append};

	return cupti_set_config(&cupti, &c);
}

/* Enable to Start. */
static inline int session_start(struct sampling *s, size_t device, struct session_wish wish)
{
	struct cupti_enable e = {.deviceIndex = device};
	struct cupti_data_size d = {.pMetricNames = s->names,
	                            .numMetrics = s->count,
	                            .maxSamples = wish.slots};
	int rc = CUPTI_CALL(&cupti, enable, &e);

	if (rc)
		return rc;
	s->object = d.pPmSamplingObject = e.pPmSamplingObject;
	rc = session_configure(s, wish);
	if (!rc)
		rc = CUPTI_CALL(&cupti, data_size, &d);
	if (rc)
		return rc;
	s->image_bytes = d.counterDataSize;
	free(s->image);
	s->image = calloc(1, s->image_bytes);
	rc = session_image(s);
	return rc ? rc : session_do(s, cupti.start);
}

static inline int session_decode(struct sampling *s, struct cupti_decode *ret)
{
	*ret = (struct cupti_decode){.pPmSamplingObject = s->object,
	                             .pCounterDataImage = s->image,
	                             .counterDataImageSize = s->image_bytes};
	return CUPTI_CALL(&cupti, decode, ret);
}

static inline size_t session_completed(struct sampling *s)
{
	struct cupti_data_info i = {.pCounterDataImage = s->image,
	                            .counterDataImageSize = s->image_bytes};

	EQ(CUPTI_CALL(&cupti, data_info, &i), CUPTI_OK);
	return i.numCompletedSamples;
}

static inline int session_sample(struct sampling *s, size_t index, uint64_t *begin, uint64_t *end)
{
	struct cupti_sample_info i = {.pPmSamplingObject = s->object,
	                              .pCounterDataImage = s->image,
	                              .counterDataImageSize = s->image_bytes,
	                              .sampleIndex = index};
	int rc = CUPTI_CALL(&cupti, sample_info, &i);

	*begin = i.startTimestamp;
	*end = i.endTimestamp;
	return rc;
}

static inline int session_evaluate(struct sampling *s, size_t index, double *values)
{
	struct cupti_evaluate e = {.pHostObject = s->host,
	                           .pCounterDataImage = s->image,
	                           .counterDataImageSize = s->image_bytes,
	                           .rangeIndex = index,
	                           .ppMetricNames = s->names,
	                           .numMetrics = s->count,
	                           .pMetricValues = values};

	return CUPTI_CALL(&cupti, evaluate, &e);
}

static inline int session_host_end(struct sampling *s)
{
	struct cupti_host h = {.structSize = 24, .pHostObject = s->host};
	int rc = s->host ? cupti.host_deinitialize(&h) : CUPTI_OK;

	free(s->config);
	free(s->image);
	memset(s, 0, sizeof(*s));
	return rc;
}

/* Disable and all that follows. */
static inline int session_end(struct sampling *s)
{
	int rc = s->object ? session_do(s, cupti.disable) : CUPTI_OK, host = session_host_end(s);

	return rc ? rc : host;
}

/* The default set of docs/nvidia.md, for GH100. */
__attribute__((unused)) static const char *standard[] = {
	"gr__cycles_active.avg",
	"gr__cycles_elapsed.avg",
	"sm__cycles_active.avg",
	"sm__cycles_active.max",
	"sm__cycles_elapsed.avg",
	"sm__warps_active.avg",
	"sm__warps_active.max",
	"sm__pipe_tensor_cycles_active.avg",
	"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__read_throughput.max.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.max.pct_of_peak_sustained_elapsed",
	"pcie__read_bytes.sum",
	"pcie__write_bytes.sum",
	"nvlrx__bytes.sum",
	"nvltx__bytes.sum",
	"gpc__cycles_elapsed.avg.per_second",
};

#endif
