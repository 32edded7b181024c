/* A session of PM sampling, call by call, for tests and for the probe. The includer has `cupti`. */
#ifndef GALVO_NVIDIA_SESSION_H
#define GALVO_NVIDIA_SESSION_H

#include <stdlib.h>
#include <string.h>

#include "nvidia/nvidia.h"

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

__attribute__((unused)) static const struct session_wish usual_wish = {1000000, 64 << 20,
                                                                       CUPTI_KEEP_LATEST, 1000,
                                                                       CUPTI_TIME_INTERVAL};

/* The host object and the config image; `availability` is CUPTI's image, or NULL. */
static inline int session_host_with(struct sampling *s, const char *chip, const char **names,
                                    size_t n, const uint8_t *availability)
{
	struct cupti_host_initialize h = {.profilerType = CUPTI_PM_SAMPLING,
	                                  .pChipName = chip,
	                                  .pCounterAvailabilityImage = availability};
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

static inline int session_host(struct sampling *s, const char *chip, const char **names, size_t n)
{
	return session_host_with(s, chip, names, n, NULL);
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

	return CUPTI_CALL(&cupti, data_info, &i) ? 0 : i.numCompletedSamples;
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
