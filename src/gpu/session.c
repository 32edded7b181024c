/* A session from Enable to Disable: configuration, images, beginning and end. */
#include "session.h"

#include <math.h>
#include <sys/mman.h>

enum { BUFFER_ENOUGH_BYTES = 16 << 20, HUGE_PAGE_BYTES = 2 << 20 };

static int call_object(struct pm_session *s, const char *name, int (*call)(struct cupti_sampling *))
{
	struct cupti_sampling p = {
		.structSize = CUPTI_BYTES_start,
		.pPmSamplingObject = s->object,
	};

	pm_enter(s, name);
	return pm_leave(s, call(&p));
}

static int enable(struct pm_session *s)
{
	struct cupti_enable p = {.deviceIndex = s->plan.ordinal};
	int result;

	pm_enter(s, "cuptiPmSamplingEnable");
	result = pm_leave(s, CUPTI_CALL(s->cupti, enable, &p));
	if (!result)
		s->object = p.pPmSamplingObject;
	return result;
}

static int set_config(struct pm_session *s)
{
	const struct pm_plan *plan = &s->plan;
	struct cupti_set_config p = {
		.pPmSamplingObject = s->object,
		.configSize = plan->set->image_bytes,
		.pConfig = plan->set->image,
		.hardwareBufferSize = plan->buffer_bytes,
		.samplingInterval = plan->counts_cycles ? plan->interval_cycles : plan->interval_ns,
		.triggerMode = plan->counts_cycles ? CUPTI_SYSCLK_INTERVAL : CUPTI_TIME_INTERVAL,
		.hwBufferAppendMode = plan->keeps_latest ? CUPTI_KEEP_LATEST : CUPTI_KEEP_OLDEST,
	};

	pm_enter(s, "cuptiPmSamplingSetConfig");
	return pm_leave(s, cupti_set_config(s->cupti, &p));
}

/* With what the chip is known to lack left out; if that is refused, without more of it. */
static int configure(struct pm_session *s)
{
	int result = set_config(s);

	if (s->plan.keeps_latest &&
	    (result == CUPTI_NOT_SUPPORTED || result == CUPTI_INVALID_PARAMETER)) {
		s->plan.keeps_latest = false;
		result = set_config(s);
	}
	if (!s->plan.counts_cycles && result == CUPTI_NOT_SUPPORTED) {
		s->plan.counts_cycles = true;
		result = set_config(s);
	}
	while (result == CUPTI_OUT_OF_MEMORY && s->plan.buffer_bytes > BUFFER_ENOUGH_BYTES) {
		s->plan.buffer_bytes /= 2;
		result = set_config(s);
	}
	return result;
}

/* In huge pages where there are some: all of an image is copied for each reading. */
static uint8_t *image_memory(size_t bytes)
{
	void *p = NULL;

	if (posix_memalign(&p, HUGE_PAGE_BYTES, bytes) != 0)
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

/* The size is asked once for an object: CUPTI refuses images of the first one after a second. */
static int make_images(struct pm_session *s)
{
	struct cupti_data_size size = {
		.pPmSamplingObject = s->object,
		.pMetricNames = s->plan.set->names,
		.numMetrics = s->plan.set->names_len,
		.maxSamples = s->plan.slots,
	};
	struct cupti_data_initialize p = {.pPmSamplingObject = s->object};
	size_t i;
	int result;

	pm_enter(s, "cuptiPmSamplingGetCounterDataSize");
	result = pm_leave(s, CUPTI_CALL(s->cupti, data_size, &size));
	if (result)
		return result;
	if (!s->pristine || s->image_bytes != size.counterDataSize) {
		pm_finish(s);
		s->image_bytes = size.counterDataSize;
		s->pristine = image_memory(s->image_bytes);
		for (i = 0; i < READINGS; i++) {
			s->readings[i].image = image_memory(s->image_bytes);
			s->readings[i].moments =
				alloc_array(s->plan.slots, sizeof(*s->readings[i].moments));
		}
	}
	s->call = "memory for images";
	for (i = 0; i < READINGS; i++)
		if (!s->readings[i].image || !s->readings[i].moments)
			return CUPTI_OUT_OF_MEMORY;
	if (!s->pristine)
		return CUPTI_OUT_OF_MEMORY;
	p.counterDataSize = s->image_bytes;
	p.pCounterData = s->pristine;
	pm_enter(s, "cuptiPmSamplingCounterDataImageInitialize");
	result = pm_leave(s, CUPTI_CALL(s->cupti, data_initialize, &p));
	for (i = 0; i < READINGS && !result; i++)
		pm_restore(s, &s->readings[i]);
	return result;
}

int pm_open(struct pm_session *s)
{
	int result = pm_close(s); /* if that has failed before */
	const char *call;

	if (result == CUPTI_HARDWARE_BUSY)
		return result;
	s->object = NULL;
	s->runs = false;
	result = enable(s);
	if (result)
		return result;
	result = configure(s);
	if (!result)
		result = make_images(s);
	s->is_open = !result;
	if (result) {
		call = s->call;
		pm_close(s);
		s->call = call;
	}
	return result;
}

int pm_begin(struct pm_session *s)
{
	int result;

	pm_anchor(s, NULL, 0, NULL);
	result = call_object(s, "cuptiPmSamplingStart", s->cupti->start);
	if (!result)
		s->runs = s->is_first = true;
	return result;
}

int pm_stop(struct pm_session *s)
{
	int result = s->runs ? call_object(s, "cuptiPmSamplingStop", s->cupti->stop) : CUPTI_OK;

	if (!result)
		s->runs = false;
	return result;
}

int pm_close(struct pm_session *s)
{
	int result;

	if (!s->object)
		return CUPTI_OK;
	pm_stop(s);
	s->is_open = false;
	result = call_object(s, "cuptiPmSamplingDisable", s->cupti->disable);
	if (!result)
		s->object = NULL; /* else it is tried again when it is opened again */
	return result;
}

void pm_finish(struct pm_session *s)
{
	size_t i;

	for (i = 0; i < READINGS; i++) {
		free(s->readings[i].image);
		free(s->readings[i].moments);
		s->readings[i].image = NULL;
		s->readings[i].moments = NULL;
	}
	free(s->pristine);
	s->pristine = NULL;
}

void pm_restore(const struct pm_session *s, struct reading *r)
{
	memcpy(r->image, s->pristine, s->image_bytes);
	r->len = 0;
}

void pm_evaluate(struct pm_session *s, const struct reading *r, size_t i, double *values)
{
	const struct gpu_set *set = s->plan.set;
	struct cupti_evaluate p = {
		.pHostObject = set->object,
		.pCounterDataImage = r->image,
		.counterDataImageSize = s->image_bytes,
		.rangeIndex = r->moments[i].index,
		.ppMetricNames = set->names,
		.numMetrics = set->names_len,
		.pMetricValues = values,
	};
	uint64_t bad = 0;
	bool failed;
	size_t k;

	atomic_store_explicit(&s->evaluate_mono_ns, pm_now(s), memory_order_release);
	failed = CUPTI_CALL(s->cupti, evaluate, &p) != CUPTI_OK;
	atomic_store_explicit(&s->evaluate_mono_ns, 0, memory_order_release);
	for (k = 0; k < set->names_len; k++)
		if (failed || !isfinite(values[k])) {
			values[k] = NAN;
			bad++;
		}
	if (bad)
		count_up(&s->counts->not_finite, bad);
}
