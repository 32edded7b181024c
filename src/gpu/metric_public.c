/* The metrics of GPU counters for users of the library: galvo/counters.h. */
#include "galvo/counters.h"
#include "environment.h"
#include "host.h"

enum { CLASS_MAX = 256 };

struct galvo_counters {
	struct cupti cupti;
	struct cuda cuda;
	struct gpu_host *host; /* NULL: no chip */
	struct gpu_set *set;
	const char **reasons, **dropped;
	char **classes; /* texts of suffixes, none twice */
	size_t classes_len, classes_cap;
	const char *last_name, *last_class; /* of the metric that was asked for last */
};

/* ---- opening --------------------------------------------------------------------------------- */

/* Which counters this device has, as far as it tells; *ret is NULL where it does not. */
static void ask_availability(const struct cupti *c, size_t device, uint8_t **ret, size_t *ret_bytes)
{
	struct cupti_availability a = {.deviceIndex = device};

	*ret = NULL;
	*ret_bytes = 0;
	if (CUPTI_CALL(c, availability, &a) || a.counterAvailabilityImageSize == 0)
		return;
	a.pCounterAvailabilityImage = alloc_array(a.counterAvailabilityImageSize, 1);
	if (!a.pCounterAvailabilityImage || CUPTI_CALL(c, availability, &a)) {
		free(a.pCounterAvailabilityImage);
		return;
	}
	*ret = a.pCounterAvailabilityImage;
	*ret_bytes = a.counterAvailabilityImageSize;
}

static galvo_status no_gpu(galvo_status status, galvo_error *reterr)
{
	err_wrap(reterr, "no GPU that CUDA can use");
	return status;
}

static galvo_status open_device(struct galvo_counters *c, uint32_t device, galvo_error *reterr)
{
	struct cupti_chip_name name = {.deviceIndex = device};
	galvo_status status = cupti_begin(&c->cupti, &c->cuda, reterr);
	uint8_t *availability;
	size_t availability_bytes;
	int result;

	if (status)
		return no_gpu(status, reterr);
	result = CUPTI_CALL(&c->cupti, chip_name, &name);
	if (result)
		return cupti_failed(reterr, "cuptiDeviceGetChipName", result);
	ask_availability(&c->cupti, device, &availability, &availability_bytes);
	status = gpu_host_open(&c->host, &c->cupti, name.pChipName, availability, availability_bytes,
	                       reterr);
	free(availability);
	return status;
}

static galvo_status open_at(struct galvo_counters *c, const galvo_counters_config *config,
                            struct env_places *places, galvo_error *reterr)
{
	bool is_local = !config->chip;
	galvo_status status = GALVO_OK;

	if (config->cupti_path && config->cupti_path[0])
		places->cupti.file = config->cupti_path;
	if (is_local)
		status = cuda_open(&c->cuda, &places->driver, reterr);
	if (status)
		return no_gpu(status, reterr);
	status = cupti_open(&c->cupti, &places->cupti, c->cuda.version, reterr);
	if (status)
		return status;
	if (is_local)
		return open_device(c, config->device, reterr);
	if (config->chip[0])
		return gpu_host_open(&c->host, &c->cupti, config->chip, NULL, 0, reterr);
	return GALVO_OK;
}

static galvo_status open_all(struct galvo_counters *c, const galvo_counters_config *config,
                             galvo_error *reterr)
{
	struct env_places places;
	galvo_status status = env_places_find(&places, NULL, reterr);

	if (status)
		return status;
	status = open_at(c, config, &places, reterr);
	env_places_free(&places);
	return status;
}

galvo_status galvo_counters_open(const galvo_counters_config *config,
                                 galvo_counters **ret_counters, galvo_error *reterr)
{
	galvo_counters_config known = {.struct_size = sizeof(known)};
	struct galvo_counters *c;
	galvo_status status = GALVO_OK;

	if (config)
		status = sized_take("counters config", &known, sizeof(known), config, reterr);
	if (status)
		return status;
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	status = open_all(c, &known, reterr);
	if (status)
		galvo_counters_close(c);
	else
		*ret_counters = c;
	return status;
}

void galvo_counters_close(galvo_counters *counters)
{
	size_t i;

	if (!counters)
		return;
	gpu_set_free(counters->set);
	gpu_host_close(counters->host);
	for (i = 0; i < counters->classes_len; i++)
		free(counters->classes[i]);
	free(counters->classes);
	free(counters->reasons);
	free(counters->dropped);
	cupti_close(&counters->cupti);
	cuda_close(&counters->cuda);
	free(counters);
}

static galvo_status need_chip(const galvo_counters *c, galvo_error *reterr)
{
	return c->host ? GALVO_OK : err_set(reterr, GALVO_ERR_STATE, "no chip was opened");
}

/* ---- chips and metrics ----------------------------------------------------------------------- */

const char *galvo_counters_chip(const galvo_counters *counters)
{
	return counters->host ? counters->host->chip : "";
}

galvo_status galvo_counters_chip_at(const galvo_counters *counters, size_t i, const char **ret_chip,
                                    galvo_error *reterr)
{
	const char *const *names;
	size_t n;
	galvo_status status = gpu_chips(&counters->cupti, &names, &n, reterr);

	if (status)
		return status;
	if (i >= n)
		return GALVO_DONE;
	*ret_chip = names[i];
	return GALVO_OK;
}

/* There are as many as types. */
static const char *keep_class(struct galvo_counters *c, const struct buf *text)
{
	void *classes = c->classes;
	size_t i;

	for (i = 0; i < c->classes_len; i++)
		if (strlen(c->classes[i]) == text->len && !memcmp(c->classes[i], text->p, text->len))
			return c->classes[i];
	if (!grow_array(&classes, &c->classes_cap, i, sizeof(*c->classes), SIZE_MAX / 16))
		return NULL;
	c->classes = classes;
	c->classes[i] = strndup(text->p, text->len);
	c->classes_len += c->classes[i] != NULL;
	return c->classes[i];
}

static galvo_status give_counter(struct galvo_counters *c, const struct gpu_metric *m,
                                 galvo_counter *ret_counter, galvo_error *reterr)
{
	galvo_counter counter = {
		.name = m->name,
		.type = metric_type_name(m->type),
		.unit = unit_name(metric_unit_of(m->dim_unit)),
		.vendor_unit = m->dim_unit,
		.hardware = m->hw_unit,
		.description = m->description,
	};
	galvo_status status;
	struct buf text;

	if (m->name != c->last_name) {
		buf_init(&text, CLASS_MAX);
		status = metric_put_class(c->host, m, &text, reterr);
		c->last_class = status || text.failed ? NULL : keep_class(c, &text);
		buf_finish(&text);
		if (!c->last_class)
			return status ? status : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		c->last_name = m->name;
	}
	counter.suffixes = c->last_class;
	return sized_give("counter", ret_counter, &counter, sizeof(counter), reterr);
}

galvo_status galvo_counters_at(galvo_counters *counters, size_t i, galvo_counter *ret_counter,
                               galvo_error *reterr)
{
	struct gpu_metric m;
	galvo_status status = need_chip(counters, reterr);

	if (status)
		return status;
	if (!gpu_host_metric_at(counters->host, i, &m))
		return GALVO_DONE;
	return give_counter(counters, &m, ret_counter, reterr);
}

static bool is_base_of(const char *base, const char *name, size_t chars)
{
	return strncmp(base, name, chars) == 0 && base[chars] == '\0';
}

/* The name that libcupti has: the caller's may be gone tomorrow. */
static const char *own_name(const struct galvo_counters *c, const char *name)
{
	const struct gpu_host *h = c->host;
	size_t chars = base_chars(name), t, i;

	if (c->last_name && is_base_of(c->last_name, name, chars))
		return c->last_name;
	for (t = 0; t < CUPTI_TYPES; t++)
		for (i = 0; i < h->bases_len[t]; i++)
			if (is_base_of(h->bases[t][i], name, chars))
				return h->bases[t][i];
	return "";
}

galvo_status galvo_counters_find(galvo_counters *counters, const char *name,
                                 galvo_counter *ret_counter, galvo_error *reterr)
{
	struct gpu_metric m;
	galvo_status status = need_chip(counters, reterr);

	if (status == GALVO_OK)
		status = gpu_host_metric_find(counters->host, name, &m, reterr);
	if (status)
		return status;
	m.name = own_name(counters, name);
	return give_counter(counters, &m, ret_counter, reterr);
}

galvo_status galvo_counters_suffixes(galvo_counters *counters, const char *name,
                                     const char *const **ret_suffixes, size_t *ret_len,
                                     galvo_error *reterr)
{
	struct gpu_metric m;
	galvo_status status = need_chip(counters, reterr);

	if (status == GALVO_OK)
		status = gpu_host_metric_find(counters->host, name, &m, reterr);
	if (status)
		return status;
	return gpu_host_suffixes(counters->host, &m, ret_suffixes, ret_len, reterr);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void forget_set(struct galvo_counters *c)
{
	gpu_set_free(c->set);
	free(c->dropped);
	free(c->reasons);
	c->set = NULL;
	c->dropped = c->reasons = NULL;
}

galvo_status galvo_counters_choose(galvo_counters *counters, const char *const *names,
                                   size_t names_len, galvo_counter_set *ret_set,
                                   galvo_error *reterr)
{
	galvo_counter_set shown = {0};
	const struct gpu_set *set;
	galvo_status status = need_chip(counters, reterr);
	size_t i;

	forget_set(counters);
	if (status == GALVO_OK)
		status = gpu_set_choose(counters->host, names, names_len, &counters->set, reterr);
	if (status)
		return status;
	set = counters->set;
	counters->dropped = alloc_array(set->dropped_len + 1, sizeof(*counters->dropped));
	counters->reasons = alloc_array(set->dropped_len + 1, sizeof(*counters->reasons));
	if (!counters->dropped || !counters->reasons)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (i = 0; i < set->dropped_len; i++) {
		counters->dropped[i] = set->dropped[i].name;
		counters->reasons[i] = set->dropped[i].why;
	}
	shown.names = set->names;
	shown.names_len = set->names_len;
	shown.dropped = counters->dropped;
	shown.reasons = counters->reasons;
	shown.dropped_len = set->dropped_len;
	shown.sample_bytes = set->sample_bytes;
	shown.is_guess = set->is_bytes_guessed;
	return sized_give("counter set", ret_set, &shown, sizeof(shown), reterr);
}
