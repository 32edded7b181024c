/*
 * The double of libcupti: PM sampling. A sample every interval since Start, from the formula of the
 * scene, through a hardware buffer that overflows and an image that fills up.
 */
#include "double_cupti.h"

#include <pthread.h>
#include <string.h>

enum { SAMPLINGS = 64 };

#define IMAGE_MAGIC UINT64_C(0x6567616d6967616c)

struct sampling {
	struct object object; /* first */
	int device;
	uint64_t serial;
	/* SetConfig */
	const uint8_t *config; /* the caller's, until Disable */
	size_t config_bytes;
	uint64_t config_sum;
	size_t buffer_bytes;
	uint64_t interval_ns;
	uint32_t append;
	/* GetCounterDataSize */
	size_t data_bytes;
	uint32_t max_samples;
	bool asked_twice;
	/* Start, Stop */
	bool runs, is_first, has_tail;
	uint64_t start_ns, stop_ns, next; /* scene time; the next sample's number */
	/* What has gone wrong. */
	bool is_stuck;
	uint32_t spoilt; /* samples that come without times, after an image was full */
};

struct image {
	uint64_t magic, serial;
	uint32_t max_samples, populated, completed, was_full;
};

static struct sampling samplings[SAMPLINGS];
static const struct slots sampling_slots = {samplings, SAMPLINGS, sizeof(samplings[0])};
static size_t next_sampling;
static uint64_t serials;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
	uint64_t sum = UINT64_C(14695981039346656037);

	while (n--)
		sum = (sum ^ *bytes++) * UINT64_C(1099511628211);
	return sum;
}

#define ENTER_SAMPLING(call, bytes)                                                                \
	struct sampling *s = p ? p->pPmSamplingObject : NULL;                                      \
	int result = sampling_enter(call, p, bytes, s);                                            \
                                                                                                   \
	if (result)                                                                                \
	return result

#define LEAVE(result_)                                                                             \
	do {                                                                                       \
		object_leave(&s->object);                                                          \
		return result_;                                                                    \
	} while (0)

/* A call with an object, which is left again if it fails. */
static int sampling_enter(const char *call, const void *params, size_t bytes, struct sampling *s)
{
	bool is_ours = s >= samplings && s < samplings + SAMPLINGS;
	int entered = object_enter(call, params, bytes, &sampling_slots, s,
	                           is_ours ? s->device : SCENE_ALL_DEVICES);

	if (entered)
		return entered;
	if (scene_is_lost((uint32_t)s->device))
		entered = CUPTI_HARDWARE;
	if (!entered && s->config && !scene_of_process()->is_light &&
	    sum_of(s->config, s->config_bytes) != s->config_sum) {
		scene_crash("%s: the config image has changed since SetConfig", call);
		entered = CUPTI_UNKNOWN;
	}
	if (entered)
		object_leave(&s->object);
	return entered;
}

/* ---- life ------------------------------------------------------------------------------------ */

EXPORT(cuptiPmSamplingGetCounterAvailability, (struct cupti_availability *p))
{
	int i = p ? scene_by_ordinal((long long)p->deviceIndex) : SCENE_ALL_DEVICES;
	uint64_t magic = AVAILABILITY_MAGIC;

	ENTER("cuptiPmSamplingGetCounterAvailability", i, 40);
	if (!cupti_is_initialized() || i < 0)
		return CUPTI_INVALID_PARAMETER;
	if (!p->pCounterAvailabilityImage) {
		p->counterAvailabilityImageSize = 1024;
		return CUPTI_OK;
	}
	if (p->counterAvailabilityImageSize < 1024)
		return CUPTI_SIZE_NOT_SUFFICIENT;
	memset(p->pCounterAvailabilityImage, 0, p->counterAvailabilityImageSize);
	memcpy(p->pCounterAvailabilityImage, &magic, sizeof(magic));
	return CUPTI_OK;
}

static struct sampling *new_sampling(int device)
{
	struct sampling *s = NULL;
	size_t i;

	for (i = 0; i < SAMPLINGS; i++)
		if (samplings[i].object.life == LIFE_ALIVE && samplings[i].device == device) {
			s = &samplings[i];
			if (s->config && sum_of(s->config, s->config_bytes) != s->config_sum)
				scene_crash("the config image has changed before Disable");
			return NULL;
		}
	for (i = 0; i < SAMPLINGS && !s; i++) {
		s = &samplings[next_sampling++ % SAMPLINGS];
		if (s->object.life == LIFE_ALIVE)
			s = NULL;
	}
	if (s) {
		memset(s, 0, sizeof(*s));
		s->device = device;
		s->serial = ++serials;
		s->object.life = LIFE_ALIVE;
	}
	return s;
}

EXPORT(cuptiPmSamplingEnable, (struct cupti_enable *p))
{
	int i = p ? scene_by_ordinal((long long)p->deviceIndex) : SCENE_ALL_DEVICES;
	struct sampling *s;

	ENTER("cuptiPmSamplingEnable", i, 32);
	if (!cupti_is_initialized()) {
		scene_violation("cuptiPmSamplingEnable before cuptiProfilerInitialize");
		return CUPTI_INVALID_PARAMETER;
	}
	if (i < 0)
		return CUPTI_INVALID_PARAMETER;
	if (scene_is_lost((uint32_t)i))
		return CUPTI_HARDWARE;
	pthread_mutex_lock(&lock);
	s = new_sampling(i);
	pthread_mutex_unlock(&lock);
	if (!s) {
		scene_violation("cuptiPmSamplingEnable: it is enabled already");
		return CUPTI_INVALID_OPERATION;
	}
	p->pPmSamplingObject = s;
	return CUPTI_OK;
}

EXPORT(cuptiPmSamplingDisable, (struct cupti_sampling *p))
{
	ENTER_SAMPLING("cuptiPmSamplingDisable", 24);
	if (s->runs)
		scene_violation("cuptiPmSamplingDisable without cuptiPmSamplingStop");
	s->object.life = LIFE_DEAD;
	LEAVE(CUPTI_OK);
}

/* What is wrong with the wish. */
static int judge_config(const struct cupti_set_config *p, const struct scene_device *d)
{
	size_t passes = 0;
	uint32_t append = p->structSize >= 64 ? p->hwBufferAppendMode : CUPTI_KEEP_OLDEST;

	if (!p->pConfig || cupti_config_passes(p->pConfig, p->configSize, &passes) || passes == 0)
		return CUPTI_INVALID_PARAMETER;
	if (passes > 1)
		return CUPTI_NOT_SUPPORTED;
	if (p->triggerMode > CUPTI_TIME_INTERVAL || append > CUPTI_KEEP_LATEST ||
	    p->samplingInterval == 0)
		return CUPTI_INVALID_PARAMETER;
	if (p->triggerMode == CUPTI_TIME_INTERVAL && !d->uses_time_trigger)
		return CUPTI_NOT_SUPPORTED;
	if (append == CUPTI_KEEP_LATEST && strncmp(d->chip, "TU", 2) == 0)
		return CUPTI_NOT_SUPPORTED;
	/* ncu's documentation has these as the shortest. */
	if (p->triggerMode == CUPTI_TIME_INTERVAL ? p->samplingInterval < 1000
	                                          : p->samplingInterval < 20000)
		return CUPTI_INVALID_PARAMETER;
	return CUPTI_OK;
}

EXPORT(cuptiPmSamplingSetConfig, (struct cupti_set_config *p))
{
	ENTER_SAMPLING("cuptiPmSamplingSetConfig", cupti_bytes_since(26, 60, 64));
	if (s->runs) {
		scene_violation("cuptiPmSamplingSetConfig while it runs");
		LEAVE(CUPTI_INVALID_OPERATION);
	}
	result = judge_config(p, &scene_of_process()->devices[s->device]);
	if (result)
		LEAVE(result);
	s->config = p->pConfig;
	s->config_bytes = p->configSize;
	s->config_sum = sum_of(p->pConfig, p->configSize);
	s->buffer_bytes = p->hardwareBufferSize;
	/* The system clock of the double has 1 GHz. */
	s->interval_ns = p->samplingInterval;
	s->append = p->structSize >= 64 ? p->hwBufferAppendMode : CUPTI_KEEP_OLDEST;
	LEAVE(CUPTI_OK);
}

EXPORT(cuptiPmSamplingStart, (struct cupti_sampling *p))
{
	ENTER_SAMPLING("cuptiPmSamplingStart", 24);
	if (!s->config || s->runs) {
		scene_violation("cuptiPmSamplingStart: %s",
		                s->runs ? "it runs" : "before SetConfig");
		LEAVE(CUPTI_INVALID_OPERATION);
	}
	s->runs = s->is_first = true;
	s->has_tail = false;
	s->start_ns = scene_now_ns(scene_of_process());
	s->next = 0;
	LEAVE(CUPTI_OK);
}

EXPORT(cuptiPmSamplingStop, (struct cupti_sampling *p))
{
	ENTER_SAMPLING("cuptiPmSamplingStop", 24);
	if (!s->runs) {
		scene_violation("cuptiPmSamplingStop: it does not run");
		LEAVE(CUPTI_INVALID_OPERATION);
	}
	s->runs = false;
	s->has_tail = true;
	s->stop_ns = scene_now_ns(scene_of_process());
	LEAVE(CUPTI_OK);
}

/* ---- images ---------------------------------------------------------------------------------- */

EXPORT(cuptiPmSamplingGetCounterDataSize, (struct cupti_data_size *p))
{
	ENTER_SAMPLING("cuptiPmSamplingGetCounterDataSize", 56);
	if (!s->config || !p->pMetricNames || p->numMetrics == 0 || p->maxSamples == 0)
		LEAVE(s->config ? CUPTI_INVALID_PARAMETER : CUPTI_INVALID_OPERATION);
	if (s->max_samples && s->max_samples != p->maxSamples)
		s->asked_twice = true;
	s->max_samples = p->maxSamples;
	s->data_bytes =
		sizeof(struct image) + (size_t)p->maxSamples * scene_of_process()->slot_bytes;
	p->counterDataSize = s->data_bytes;
	LEAVE(CUPTI_OK);
}

EXPORT(cuptiPmSamplingCounterDataImageInitialize, (struct cupti_data_initialize *p))
{
	struct image image;

	ENTER_SAMPLING("cuptiPmSamplingCounterDataImageInitialize", 40);
	if (!p->pCounterData || s->data_bytes == 0)
		LEAVE(CUPTI_INVALID_PARAMETER);
	if (p->counterDataSize != s->data_bytes) {
		scene_violation("cuptiPmSamplingCounterDataImageInitialize: %s",
		                s->asked_twice ? "GetCounterDataSize was asked again since"
		                               : "another size");
		LEAVE(CUPTI_UNKNOWN);
	}
	memset(p->pCounterData, 0, p->counterDataSize);
	image = (struct image){IMAGE_MAGIC, s->serial, s->max_samples, 0, 0, 0};
	memcpy(p->pCounterData, &image, sizeof(image));
	LEAVE(CUPTI_OK);
}

static bool read_image(const uint8_t *bytes, size_t n, struct image *ret)
{
	if (!bytes || n < sizeof(*ret))
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	return ret->magic == IMAGE_MAGIC &&
	       n >= sizeof(*ret) + (size_t)ret->max_samples * scene_of_process()->slot_bytes;
}

const struct sample *cupti_sample(const char *call, const uint8_t *bytes, size_t n, size_t index)
{
	const void *at;
	struct image image;

	if (!read_image(bytes, n, &image)) {
		scene_violation("%s: no image that was initialised", call);
		return NULL;
	}
	if (index >= image.completed) {
		scene_violation("%s: sample %zu of %u that are completed", call, index,
		                image.completed);
		return NULL;
	}
	at = bytes + sizeof(image) + index * scene_of_process()->slot_bytes;
	return at;
}

EXPORT(cuptiPmSamplingGetCounterDataInfo, (struct cupti_data_info *p))
{
	struct image image;

	ENTER("cuptiPmSamplingGetCounterDataInfo", SCENE_ALL_DEVICES, 56);
	if (!p->pCounterDataImage)
		return CUPTI_INVALID_PARAMETER;
	if (!read_image(p->pCounterDataImage, p->counterDataImageSize, &image)) {
		scene_crash("cuptiPmSamplingGetCounterDataInfo: no image that was initialised");
		return CUPTI_UNKNOWN;
	}
	p->numTotalSamples = image.max_samples;
	p->numPopulatedSamples = image.populated;
	p->numCompletedSamples = image.completed;
	return CUPTI_OK;
}

EXPORT(cuptiPmSamplingCounterDataGetSampleInfo, (struct cupti_sample_info *p))
{
	const struct sample *sample;

	ENTER_SAMPLING("cuptiPmSamplingCounterDataGetSampleInfo", 64);
	sample = cupti_sample("cuptiPmSamplingCounterDataGetSampleInfo", p->pCounterDataImage,
	                      p->counterDataImageSize, p->sampleIndex);
	if (!sample)
		LEAVE(CUPTI_INVALID_PARAMETER);
	p->startTimestamp = sample->begin;
	p->endTimestamp = sample->end;
	LEAVE(CUPTI_OK);
}

/* ---- decode ---------------------------------------------------------------------------------- */

static void put_sample(struct sampling *s, uint8_t *bytes, struct image *image,
                       struct sample sample)
{
	const struct scene *scene = scene_of_process();
	const struct scene_fault *zero = scene_applies(FAULT_ZERO_STAMPS, s->device);
	uint64_t wall = scene_wall_begin_ns(scene);

	sample.device = (uint32_t)s->device;
	sample.is_there = 1;
	sample.begin = wall + sample.true_begin_ns;
	sample.end = sample.begin + sample.length_ns;
	if (s->is_first && sample.length_ns)
		sample.begin -= scene->stretch_ns;
	if (sample.length_ns)
		s->is_first = false;
	if (s->spoilt) {
		s->spoilt--;
		sample.begin = sample.end = 0;
	}
	if (zero && (zero->value == 0 || s->next % zero->value == 0))
		sample.begin = sample.end = 0;
	memcpy(bytes + sizeof(*image) + image->populated * scene->slot_bytes, &sample,
	       sizeof(sample));
	image->populated++;
}

/* Complete samples that wait in the hardware buffer. */
static uint64_t pending(const struct sampling *s)
{
	uint64_t until = s->runs ? scene_now_ns(scene_of_process()) : s->stop_ns;
	uint64_t whole =
		s->interval_ns && until > s->start_ns ? (until - s->start_ns) / s->interval_ns : 0;

	return whole > s->next ? whole - s->next : 0;
}

/* Has the buffer overflowed? Then 8 for ever, or the oldest are gone. */
static int overflow(struct sampling *s, uint8_t *ret_overflow)
{
	const struct scene *scene = scene_of_process();
	const struct scene_fault *soft = scene_applies(FAULT_OVERFLOW, s->device);
	uint64_t room = scene->sample_bytes ? s->buffer_bytes / scene->sample_bytes : UINT64_MAX;
	uint64_t n = pending(s), lost;

	if (scene_applies(FAULT_STUCK, s->device) || (n > room && s->append == CUPTI_KEEP_OLDEST))
		s->is_stuck = true;
	if (s->is_stuck) {
		*ret_overflow = 1;
		return CUPTI_OUT_OF_MEMORY;
	}
	lost = n > room ? n - room : 0;
	if (soft)
		lost = soft->value > lost ? soft->value : lost;
	if (lost || soft) {
		s->next += lost < n ? lost : n;
		*ret_overflow = 1;
	}
	return CUPTI_OK;
}

/* Samples from the buffer into the image; true if it is full and more wait. */
static bool fill(struct sampling *s, uint8_t *bytes, struct image *image)
{
	const struct scene_fault *stall = scene_applies(FAULT_STALL, s->device);
	uint64_t n = pending(s), whole;
	uint32_t tail = s->has_tail ? scene_of_process()->tail : 0;

	for (; n && image->populated < image->max_samples; n -= whole) {
		whole = stall && stall->value <= n ? stall->value : 1;
		put_sample(s, bytes, image,
		           (struct sample){.true_begin_ns = s->start_ns + s->next * s->interval_ns,
		                           .length_ns = whole * s->interval_ns});
		s->next += whole;
	}
	if (n) {
		/* What does not fit is lost, and those that follow come without times. */
		s->next += n;
		s->spoilt = 2;
		return true;
	}
	for (; tail && image->populated < image->max_samples; tail--)
		put_sample(s, bytes, image, (struct sample){.true_begin_ns = s->start_ns});
	s->has_tail = false;
	return false;
}

EXPORT(cuptiPmSamplingDecodeData, (struct cupti_decode *p))
{
	const struct scene_fault *unfinished;
	struct image image;
	uint32_t left;

	ENTER_SAMPLING("cuptiPmSamplingDecodeData", 45);
	if (!read_image(p->pCounterDataImage, p->counterDataImageSize, &image) ||
	    image.serial != s->serial) {
		scene_violation(
			"cuptiPmSamplingDecodeData: no image that this object has initialised");
		LEAVE(CUPTI_INVALID_PARAMETER);
	}
	p->overflow = 0;
	p->decodeStopReason = CUPTI_STOP_END;
	result = overflow(s, &p->overflow);
	if (result)
		LEAVE(result);
	if (scene_applies(FAULT_STOP_OTHER, s->device))
		p->decodeStopReason = CUPTI_STOP_OTHER;
	if (scene_applies(FAULT_NO_SAMPLES, s->device)) {
		s->next += pending(s);
		LEAVE(CUPTI_OK);
	}
	/* Into an image that is full nothing gets, however often it is tried. */
	if (image.was_full || fill(s, p->pCounterDataImage, &image)) {
		image.was_full = 1;
		p->decodeStopReason = CUPTI_STOP_FULL;
	}
	unfinished = scene_applies(FAULT_UNFINISHED, s->device);
	left = unfinished && unfinished->value < image.populated ? (uint32_t)unfinished->value : 0;
	image.completed = image.populated - left;
	memcpy(p->pCounterDataImage, &image, sizeof(image));
	LEAVE(CUPTI_OK);
}
