/* The host side of CUPTI for one chip: what there is to count, and configurations of it. */
#include "host.h"

_Static_assert(METRIC_COUNTER == CUPTI_COUNTER + 1 && METRIC_RATIO == CUPTI_RATIO + 1 &&
                       METRIC_THROUGHPUT == CUPTI_THROUGHPUT + 1,
               "types are CUPTI's, from 1");

galvo_status gpu_chips(const struct cupti *c, const char *const **ret_names, size_t *ret_len,
                       galvo_error *reterr)
{
	struct cupti_supported_chips all = {.numChips = 0};
	int result = CUPTI_CALL(c, supported_chips, &all);

	if (result)
		return cupti_failed(reterr, "cuptiProfilerHostGetSupportedChips", result);
	*ret_names = all.ppChipNames;
	*ret_len = all.numChips;
	return GALVO_OK;
}

int host_object(struct cupti *c, const char *chip, uint32_t profiler, const uint8_t *availability,
                void **ret_object)
{
	struct cupti_host_initialize h = {
		.profilerType = profiler,
		.pChipName = chip,
		.pCounterAvailabilityImage = availability,
	};
	int result = cupti_host_initialize(c, &h);

	*ret_object = result ? NULL : h.pHostObject;
	return result;
}

void host_object_end(const struct cupti *c, void *object)
{
	struct cupti_host h = {.pHostObject = object};

	if (object)
		(void)CUPTI_CALL(c, host_deinitialize, &h);
}

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

bool host_knows(struct cupti *c, void *object, const char *name, struct gpu_metric *ret)
{
	struct cupti_metric_properties p = {.pHostObject = object, .pMetricName = name};

	if (cupti_metric_properties(c, &p) || p.metricType >= CUPTI_TYPES)
		return false;
	if (ret)
		*ret = (struct gpu_metric){
			.name = name,
			.type = (enum metric_type)(p.metricType + 1),
			.hw_unit = text_or_none(p.pHwUnit),
			.dim_unit = text_or_none(p.pDimUnit),
			.description = text_or_none(p.pDescription),
		};
	return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The chip that was meant, or NULL: case is no matter, and one character may be wrong. */
static const char *chip_meant(const struct cupti *c, const char *chip)
{
	const char *const *names, *found = NULL;
	size_t n = 0, i, cost, best = 2;

	if (gpu_chips(c, &names, &n, NULL))
		return NULL;
	for (i = 0; i < n; i++) {
		cost = edit_distance(span_str(chip), span_str(names[i]), true);
		if (cost < best) {
			best = cost;
			found = names[i];
		}
	}
	return found;
}

static galvo_status no_chip(const struct cupti *c, const char *chip, int result,
                            galvo_error *reterr)
{
	const char *meant = chip_meant(c, chip);

	if (result == CUPTI_NOT_SUPPORTED)
		return err_set(reterr, GALVO_ERR_ABSENT, "chip %s has no PM sampling", chip);
	/* What was meant is another one: the name is wrong, whatever result that is in this version. */
	if (meant && strcmp(meant, chip) != 0)
		return err_set(reterr, GALVO_ERR_INVALID,
		               "there is no chip '%.32s'; did you mean %s?", chip, meant);
	if (result == CUPTI_INVALID_CHIP_NAME || (result == CUPTI_INVALID_PARAMETER && !meant))
		return err_set(reterr, GALVO_ERR_INVALID, "this libcupti knows no chip '%.32s'", chip);
	return cupti_failed(reterr, "cuptiProfilerHostInitialize", result);
}

static galvo_status load_bases(struct gpu_host *h, galvo_error *reterr)
{
	uint32_t t;
	int result;

	for (t = 0; t < CUPTI_TYPES; t++) {
		struct cupti_base_metrics b = {.pHostObject = h->object, .metricType = t};

		result = CUPTI_CALL(&h->cupti, base_metrics, &b);
		if (result)
			return cupti_failed(reterr, "cuptiProfilerHostGetBaseMetrics", result);
		h->bases[t] = b.ppMetricNames;
		h->bases_len[t] = b.numMetrics;
	}
	return GALVO_OK;
}

galvo_status gpu_host_open(struct gpu_host **ret_host, const struct cupti *c, const char *chip,
                           const uint8_t *availability, size_t availability_bytes,
                           galvo_error *reterr)
{
	struct gpu_host *h = calloc(1, sizeof(*h));
	galvo_status status;
	int result;

	if (!h)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	h->cupti = *c;
	h->chip = strdup(chip);
	if (availability) {
		h->availability = malloc(availability_bytes + 1);
		h->availability_bytes = availability_bytes;
	}
	if (!h->chip || (availability && !h->availability)) {
		gpu_host_close(h);
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	if (availability)
		memcpy(h->availability, availability, availability_bytes);
	result = host_object(&h->cupti, chip, CUPTI_PM_SAMPLING, h->availability, &h->object);
	status = result ? no_chip(&h->cupti, chip, result, reterr) : load_bases(h, reterr);
	if (status) {
		gpu_host_close(h);
		return status;
	}
	*ret_host = h;
	return GALVO_OK;
}

void gpu_host_close(struct gpu_host *h)
{
	if (!h)
		return;
	host_object_end(&h->cupti, h->object);
	free(h->availability);
	free(h->chip);
	free(h);
}

/* ---- metrics --------------------------------------------------------------------------------- */

bool gpu_host_metric_at(struct gpu_host *h, size_t i, struct gpu_metric *ret)
{
	size_t t;

	for (t = 0; t < CUPTI_TYPES; t++) {
		if (i >= h->bases_len[t]) {
			i -= h->bases_len[t];
			continue;
		}
		*ret = (struct gpu_metric){.name = h->bases[t][i],
		                           .type = (enum metric_type)(t + 1),
		                           .hw_unit = "",
		                           .dim_unit = "",
		                           .description = ""};
		host_knows(&h->cupti, h->object, h->bases[t][i], ret);
		return true;
	}
	return false;
}

galvo_status gpu_host_suffixes(struct gpu_host *h, const struct gpu_metric *metric,
                               const char *const **ret_suffixes, size_t *ret_len,
                               galvo_error *reterr)
{
	struct cupti_sub_metrics s = {
		.pHostObject = h->object,
		.metricType = (uint32_t)metric->type - 1,
		.pMetricName = metric->name,
	};
	int result = CUPTI_CALL(&h->cupti, sub_metrics, &s);

	if (result)
		return cupti_failed(reterr, "cuptiProfilerHostGetSubMetrics", result);
	*ret_suffixes = s.ppSubMetrics;
	*ret_len = s.numOfSubmetrics;
	return GALVO_OK;
}

/* ---- configurations -------------------------------------------------------------------------- */

static galvo_status take_image(struct gpu_host *h, struct trial *t, galvo_error *reterr)
{
	struct cupti_config_size z = {.pHostObject = t->object};
	struct cupti_config_image i = {.pHostObject = t->object};
	struct cupti_passes p = {.numOfPasses = 0};
	int result = CUPTI_CALL(&h->cupti, config_size, &z);

	if (result)
		return cupti_failed(reterr, "cuptiProfilerHostGetConfigImageSize", result);
	t->image = alloc_array(z.configImageSize, 1);
	t->image_bytes = z.configImageSize;
	if (!t->image)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	i.pConfigImage = p.pConfigImage = t->image;
	i.configImageSize = p.configImageSize = t->image_bytes;
	result = CUPTI_CALL(&h->cupti, config_image, &i);
	if (result)
		return cupti_failed(reterr, "cuptiProfilerHostGetConfigImage", result);
	result = CUPTI_CALL(&h->cupti, passes, &p);
	if (result)
		return cupti_failed(reterr, "cuptiProfilerHostGetNumOfPasses", result);
	if (p.numOfPasses == 0)
		return err_set(reterr, GALVO_ERR_IO,
		               "cuptiProfilerHostGetNumOfPasses: the configuration has no pass");
	t->passes = p.numOfPasses;
	return GALVO_OK;
}

galvo_status host_try(struct gpu_host *h, const char **names, size_t n, struct trial *ret,
                      galvo_error *reterr)
{
	struct trial t = {.passes = 0};
	struct cupti_add_metrics a = {.ppMetricNames = names, .numMetrics = n};
	galvo_status status = GALVO_OK;
	int result = host_object(&h->cupti, h->chip, CUPTI_PM_SAMPLING, h->availability, &t.object);

	if (result)
		return cupti_failed(reterr, "cuptiProfilerHostInitialize", result);
	a.pHostObject = t.object;
	result = CUPTI_CALL(&h->cupti, add_metrics, &a);
	if (result == CUPTI_OK)
		status = take_image(h, &t, reterr);
	else if (result != CUPTI_INVALID_PARAMETER && result != CUPTI_INVALID_METRIC_NAME &&
	         result != CUPTI_NOT_SUPPORTED)
		status = cupti_failed(reterr, "cuptiProfilerHostConfigAddMetrics", result);
	if (status || result)
		trial_end(h, &t);
	if (status == GALVO_OK)
		*ret = t;
	return status;
}

void trial_end(const struct gpu_host *h, struct trial *t)
{
	host_object_end(&h->cupti, t->object);
	free(t->image);
	memset(t, 0, sizeof(*t));
}
