/* The double of libcupti: the host side, built in or, if the scene says so, a real library's. */
#include "double_cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 128, NAMES = 512 };

struct host {
	struct object object; /* first */
	int chip;
	bool is_spoilt; /* by a failed ConfigAddMetrics, for ever */
	void *real;
	size_t passes, count, array_count, array_cap;
	char *names[NAMES];
	const char ***arrays; /* given out; they die with the object */
};

static struct host hosts[HOSTS];
static const struct slots host_slots = {hosts, HOSTS, sizeof(hosts[0])};
static size_t next_host;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- a real library -------------------------------------------------------------------------- */

/* Its function of that name, or NULL if the scene uses none. */
static int (*real_function(const char *name))(void *)
{
	static void *library;
	const struct scene *s = scene_of_process();
	int (*function)(void *) = NULL;
	char beside[512];
	const char *slash;
	void *symbol;

	if (!s->real_cupti[0])
		return NULL;
	pthread_mutex_lock(&lock);
	slash = strrchr(s->real_cupti, '/');
	if (!library && slash) {
		snprintf(beside, sizeof(beside), "%.*s/libnvperf_host.so",
		         (int)(slash - s->real_cupti), s->real_cupti);
		dlopen(beside, RTLD_LAZY | RTLD_LOCAL);
		library = dlopen(s->real_cupti, RTLD_LAZY | RTLD_LOCAL);
	}
	symbol = library ? dlsym(library, name) : NULL;
	pthread_mutex_unlock(&lock);
	if (!symbol) {
		fprintf(stderr, "the double of libcupti: no %s in %s\n", name, s->real_cupti);
		abort();
	}
	memcpy(&function, &symbol, sizeof(function));
	return function;
}

/* The call, of a struct whose member `handle` is the object, with the real library's object. */
static int forward(const char *name, void *params, void **handle, struct host *h)
{
	int (*function)(void *) = real_function(name);
	void *ours = *handle;
	int result;

	*handle = h->real;
	result = function(params);
	*handle = ours;
	return result;
}

/* ---- objects --------------------------------------------------------------------------------- */

#define ENTER_HOST(call, bytes)                                                                    \
	struct host *h = p ? p->pHostObject : NULL;                                                \
	int result = object_enter(call, p, bytes, &host_slots, h, SCENE_ALL_DEVICES);              \
                                                                                                   \
	if (result)                                                                                \
	return result

#define LEAVE(result_)                                                                             \
	do {                                                                                       \
		object_leave(&h->object);                                                          \
		return result_;                                                                    \
	} while (0)

EXPORT(cuptiProfilerHostGetSupportedChips, (struct cupti_supported_chips *p))
{
	int (*real)(void *);

	ENTER("cuptiProfilerHostGetSupportedChips", SCENE_ALL_DEVICES, 32);
	real = real_function("cuptiProfilerHostGetSupportedChips");
	if (real)
		return real(p);
	p->numChips = chip_count;
	p->ppChipNames = chip_names;
	return CUPTI_OK;
}

static int judge_availability(const uint8_t *image)
{
	uint64_t magic = 0;

	if (!image)
		return CUPTI_OK;
	memcpy(&magic, image, sizeof(magic));
	if (magic == AVAILABILITY_MAGIC)
		return CUPTI_OK;
	if (magic == 0) {
		scene_violation("cuptiProfilerHostInitialize: an empty availability image");
		return CUPTI_INVALID_PARAMETER;
	}
	scene_crash("cuptiProfilerHostInitialize: no availability image of CUPTI's");
	return CUPTI_UNKNOWN;
}

/* What is wrong with what is asked for. */
static int judge_initialize(const struct cupti_host_initialize *p, int chip)
{
	bool names_error = cupti_bytes_since(130000, 0, 1);

	if (p->profilerType > CUPTI_PM_SAMPLING || !p->pChipName)
		return CUPTI_INVALID_PARAMETER;
	if (chip < 0)
		return names_error ? CUPTI_INVALID_CHIP_NAME : CUPTI_INVALID_PARAMETER;
	return chip_can_sample(chip) ? judge_availability(p->pCounterAvailabilityImage)
	                             : CUPTI_NOT_SUPPORTED;
}

EXPORT(cuptiProfilerHostInitialize, (struct cupti_host_initialize *p))
{
	int (*real)(void *);
	int chip = p && p->pChipName ? chip_find(p->pChipName) : -1, result;
	const uint8_t *availability;
	struct host *h;
	size_t i;

	ENTER("cuptiProfilerHostInitialize", SCENE_ALL_DEVICES, cupti_bytes_since(130200, 48, 56));
	result = judge_initialize(p, chip);
	if (result)
		return result;
	real = real_function("cuptiProfilerHostInitialize");
	if (real) { /* ours is an availability image only here */
		availability = p->pCounterAvailabilityImage;
		p->pCounterAvailabilityImage = NULL;
		result = real(p);
		p->pCounterAvailabilityImage = availability;
		if (result)
			return result;
	}
	pthread_mutex_lock(&lock);
	/* In a circle, so that one that has died is known as such for long. */
	for (i = 0; i < HOSTS && hosts[next_host % HOSTS].object.life == LIFE_ALIVE; i++)
		next_host++;
	h = i < HOSTS ? &hosts[next_host++ % HOSTS] : NULL;
	if (h) {
		memset(h, 0, sizeof(*h));
		h->chip = chip;
		h->real = real ? p->pHostObject : NULL;
		h->object.life = LIFE_ALIVE;
	}
	pthread_mutex_unlock(&lock);
	p->pHostObject = h;
	return h ? CUPTI_OK : CUPTI_OUT_OF_MEMORY;
}

EXPORT(cuptiProfilerHostDeinitialize, (struct cupti_host *p))
{
	size_t i;

	ENTER_HOST("cuptiProfilerHostDeinitialize", 24);
	if (h->real)
		result = forward("cuptiProfilerHostDeinitialize", p, &p->pHostObject, h);
	for (i = 0; i < h->count; i++)
		free(h->names[i]);
	for (i = 0; i < h->array_count; i++)
		free(h->arrays[i]);
	free(h->arrays);
	h->object.life = LIFE_DEAD;
	LEAVE(result);
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* An array of the object's; NULL: no memory. */
static const char **new_array(struct host *h, size_t n)
{
	const char ***all = h->arrays, **array;

	if (h->array_count == h->array_cap) {
		h->array_cap = h->array_cap ? 2 * h->array_cap : 8;
		all = realloc(all, h->array_cap * sizeof(*all));
		if (!all)
			return NULL;
		h->arrays = all;
	}
	array = malloc((n + 1) * sizeof(*array));
	if (array)
		h->arrays[h->array_count++] = array;
	return array;
}

EXPORT(cuptiProfilerHostGetBaseMetrics, (struct cupti_base_metrics *p))
{
	const struct metric *m;
	size_t at = 0, n = 0;

	ENTER_HOST("cuptiProfilerHostGetBaseMetrics", 48);
	if (h->real)
		LEAVE(forward("cuptiProfilerHostGetBaseMetrics", p, &p->pHostObject, h));
	if (h->is_spoilt || p->metricType > CUPTI_THROUGHPUT)
		LEAVE(h->is_spoilt ? CUPTI_UNKNOWN : CUPTI_INVALID_PARAMETER);
	p->ppMetricNames = new_array(h, 2048);
	while (p->ppMetricNames && (m = chip_metric_next(h->chip, &at)))
		if (m->type == p->metricType)
			p->ppMetricNames[n++] = m->name;
	p->numMetrics = n;
	LEAVE(p->ppMetricNames ? CUPTI_OK : CUPTI_OUT_OF_MEMORY);
}

EXPORT(cuptiProfilerHostGetSubMetrics, (struct cupti_sub_metrics *p))
{
	const char *const *suffixes, *suffix;
	const struct metric *m;
	size_t n;

	ENTER_HOST("cuptiProfilerHostGetSubMetrics", 56);
	if (h->real)
		LEAVE(forward("cuptiProfilerHostGetSubMetrics", p, &p->pHostObject, h));
	if (h->is_spoilt || !p->pMetricName)
		LEAVE(h->is_spoilt ? CUPTI_UNKNOWN : CUPTI_INVALID_PARAMETER);
	m = chip_metric_named(h->chip, p->pMetricName, &suffix);
	if (!m || m->type != p->metricType)
		LEAVE(m ? CUPTI_INVALID_PARAMETER : CUPTI_INVALID_METRIC_NAME);
	n = metric_suffixes(m->type, &suffixes);
	p->ppSubMetrics = new_array(h, n);
	if (!p->ppSubMetrics)
		LEAVE(CUPTI_OUT_OF_MEMORY);
	memcpy(p->ppSubMetrics, suffixes, n * sizeof(*suffixes));
	p->numOfSubmetrics = n;
	LEAVE(CUPTI_OK);
}

EXPORT(cuptiProfilerHostGetMetricProperties, (struct cupti_metric_properties *p))
{
	const struct metric *m;
	const char *suffix;

	ENTER_HOST("cuptiProfilerHostGetMetricProperties", cupti_bytes_since(130100, 60, 64));
	if (h->real)
		LEAVE(forward("cuptiProfilerHostGetMetricProperties", p, &p->pHostObject, h));
	if (h->is_spoilt || !p->pMetricName)
		LEAVE(h->is_spoilt ? CUPTI_UNKNOWN : CUPTI_INVALID_PARAMETER);
	m = chip_metric_named(h->chip, p->pMetricName, &suffix);
	if (!m)
		LEAVE(CUPTI_INVALID_METRIC_NAME);
	p->pDescription = "";
	p->pHwUnit = m->hw_unit;
	p->pDimUnit = strstr(suffix, ".pct")          ? "percent"
	              : strstr(suffix, ".per_second") ? m->dim_unit_per_second
	                                              : m->dim_unit;
	p->metricType = m->type;
	if (p->structSize == 64)
		p->metricCollectionScope = 0;
	LEAVE(CUPTI_OK);
}

EXPORT(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, (struct cupti_max_metrics *p))
{
	int (*real)(void *);
	int chip = p && p->pChipName ? chip_find(p->pChipName) : -1;

	ENTER("cuptiProfilerHostGetMaxNumHardwareMetricsPerPass", SCENE_ALL_DEVICES, 48);
	if (p->profilerType != CUPTI_PM_SAMPLING || chip < 0)
		return CUPTI_INVALID_PARAMETER;
	real = real_function("cuptiProfilerHostGetMaxNumHardwareMetricsPerPass");
	if (real)
		return real(p);
	p->maxMetricsPerPass = chip_max_metrics(chip);
	return CUPTI_OK;
}

/* ---- configurations -------------------------------------------------------------------------- */

static bool are_known(const struct host *h, const char **names, size_t n)
{
	const char *suffix = "";
	size_t i;

	for (i = 0; i < n; i++)
		if (!names[i] || !chip_metric_named(h->chip, names[i], &suffix) || !suffix[0])
			return false;
	return n > 0;
}

EXPORT(cuptiProfilerHostConfigAddMetrics, (struct cupti_add_metrics *p))
{
	size_t i;

	ENTER_HOST("cuptiProfilerHostConfigAddMetrics", 40);
	if (h->is_spoilt)
		LEAVE(CUPTI_UNKNOWN);
	if (h->count + p->numMetrics > NAMES)
		LEAVE(CUPTI_OUT_OF_MEMORY);
	if (h->real)
		result = forward("cuptiProfilerHostConfigAddMetrics", p, &p->pHostObject, h);
	else
		result = are_known(h, p->ppMetricNames, p->numMetrics) ? CUPTI_OK
		                                                       : CUPTI_INVALID_PARAMETER;
	h->is_spoilt = result != CUPTI_OK;
	if (result)
		LEAVE(result);
	/* Every call opens passes of its own. */
	if (!h->real)
		h->passes +=
			chip_passes(h->chip, (const char *const *)p->ppMetricNames, p->numMetrics);
	for (i = 0; i < p->numMetrics; i++)
		h->names[h->count++] = strdup(p->ppMetricNames[i]);
	LEAVE(CUPTI_OK);
}

static size_t image_bytes(const struct host *h)
{
	size_t bytes = sizeof(struct config_head), i;

	for (i = 0; i < h->count; i++)
		bytes += strlen(h->names[i]) + 1;
	return bytes;
}

EXPORT(cuptiProfilerHostGetConfigImageSize, (struct cupti_config_size *p))
{
	ENTER_HOST("cuptiProfilerHostGetConfigImageSize", 32);
	if (h->is_spoilt)
		LEAVE(CUPTI_UNKNOWN);
	if (h->real)
		LEAVE(forward("cuptiProfilerHostGetConfigImageSize", p, &p->pHostObject, h));
	p->configImageSize = image_bytes(h);
	LEAVE(CUPTI_OK);
}

EXPORT(cuptiProfilerHostGetConfigImage, (struct cupti_config_image *p))
{
	struct config_head head;
	uint8_t *at;
	size_t i;

	ENTER_HOST("cuptiProfilerHostGetConfigImage", 40);
	if (h->is_spoilt)
		LEAVE(CUPTI_UNKNOWN);
	if (h->real)
		LEAVE(forward("cuptiProfilerHostGetConfigImage", p, &p->pHostObject, h));
	if (!p->pConfigImage || p->configImageSize < image_bytes(h))
		LEAVE(CUPTI_INVALID_PARAMETER);
	head = (struct config_head){CONFIG_MAGIC, (uint32_t)h->passes, (uint32_t)h->count};
	memcpy(p->pConfigImage, &head, sizeof(head));
	at = p->pConfigImage + sizeof(head);
	for (i = 0; i < h->count; i++) {
		memcpy(at, h->names[i], strlen(h->names[i]) + 1);
		at += strlen(h->names[i]) + 1;
	}
	LEAVE(CUPTI_OK);
}

int cupti_config_passes(const uint8_t *image, size_t bytes, size_t *ret)
{
	int (*real)(void *) = real_function("cuptiProfilerHostGetNumOfPasses");
	struct cupti_passes p = {.structSize = 40, .configImageSize = bytes};
	struct config_head head = {0, 0, 0};
	int result = CUPTI_UNKNOWN;

	if (real) {
		memcpy(&p.pConfigImage, &image, sizeof(image));
		result = real(&p);
		*ret = p.numOfPasses;
		return result;
	}
	if (image && bytes >= sizeof(head))
		memcpy(&head, image, sizeof(head));
	if (head.magic != CONFIG_MAGIC && head.magic != 0)
		return result;
	*ret = head.passes; /* none for zeroes, as the real one has it */
	return CUPTI_OK;
}

EXPORT(cuptiProfilerHostGetNumOfPasses, (struct cupti_passes *p))
{
	ENTER("cuptiProfilerHostGetNumOfPasses", SCENE_ALL_DEVICES, 40);
	if (!p->pConfigImage)
		return CUPTI_INVALID_PARAMETER;
	return cupti_config_passes(p->pConfigImage, p->configImageSize, &p->numOfPasses);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool has_name(const struct host *h, const char *name)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		if (name && strcmp(h->names[i], name) == 0)
			return true;
	return false;
}

EXPORT(cuptiProfilerHostEvaluateToGpuValues, (struct cupti_evaluate *p))
{
	const struct sample *sample;
	const struct scene_fault *fault;
	size_t i;

	ENTER_HOST("cuptiProfilerHostEvaluateToGpuValues", 72);
	sample = cupti_sample("cuptiProfilerHostEvaluateToGpuValues", p->pCounterDataImage,
	                      p->counterDataImageSize, p->rangeIndex);
	if (!sample || h->is_spoilt || !p->pMetricValues)
		LEAVE(CUPTI_INVALID_PARAMETER);
	for (i = 0; i < p->numMetrics && scene_of_process()->is_light; i++)
		p->pMetricValues[i] = (double)(sample->true_begin_ns + i);
	if (scene_of_process()->is_light)
		LEAVE(CUPTI_OK);
	fault = scene_applies(FAULT_NAN, (int)sample->device);
	for (i = 0; i < p->numMetrics; i++) {
		if (!has_name(h, p->ppMetricNames[i])) {
			scene_violation(
				"cuptiProfilerHostEvaluateToGpuValues: %s is not configured",
				p->ppMetricNames[i] ? p->ppMetricNames[i] : "(NULL)");
			LEAVE(CUPTI_INVALID_METRIC_NAME);
		}
		p->pMetricValues[i] =
			fault && !strncmp(p->ppMetricNames[i], fault->call, strlen(fault->call))
				? __builtin_nan("")
				: scene_metric(scene_of_process(), sample->device,
		                               p->ppMetricNames[i], sample->true_begin_ns,
		                               sample->length_ns);
	}
	LEAVE(CUPTI_OK);
}
