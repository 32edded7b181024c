/* A set of counters for a chip: named ones that have to fit, wished ones that may, its configuration. */
#include "host.h"

enum { GUESSED_SAMPLE_BYTES = 16 << 10, GUESSED_LARGE_BYTES = 32 << 10, LARGE_NAMES = 32 };

/* What gpu_set_free needs besides. */
struct set {
	struct gpu_set shown; /* first */
	struct cupti cupti;
	struct trial trial;
	uint8_t *availability; /* of the object in `trial` */
	char **texts;
	size_t texts_len, texts_cap;
	struct gpu_metric *metrics;
	struct gpu_dropped *dropped;
	size_t dropped_cap;
};

static const char *keep(struct set *s, const char *text)
{
	void *texts = s->texts;
	char *copy;

	if (!grow_array(&texts, &s->texts_cap, s->texts_len, sizeof(*s->texts), SIZE_MAX / 16))
		return NULL;
	s->texts = texts;
	copy = strdup(text);
	if (copy)
		s->texts[s->texts_len++] = copy;
	return copy;
}

static bool drop(void *ctx, const char *name, const char *why)
{
	struct set *s = ctx;
	void *dropped = s->dropped;
	struct gpu_dropped d = {keep(s, name), keep(s, why)};

	if (!d.name || !d.why ||
	    !grow_array(&dropped, &s->dropped_cap, s->shown.dropped_len, sizeof(d), SIZE_MAX / 16))
		return false;
	s->shown.dropped = s->dropped = dropped;
	s->dropped[s->shown.dropped_len++] = d;
	return true;
}

static bool is_dropped(const struct set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->shown.dropped_len; i++)
		if (strcmp(s->dropped[i].name, name) == 0)
			return true;
	return false;
}

/* ---- which names ----------------------------------------------------------------------------- */

static galvo_status take_named(struct gpu_host *h, const char *const *names, size_t n,
                               struct names *all, galvo_error *reterr)
{
	galvo_status status;
	size_t i, rows;

	for (i = 0; i < n; i++) {
		if (set_rows(names[i], &rows) || names_have(all, names[i]))
			continue;
		status = metric_check(h, names[i], NULL, reterr);
		if (status)
			return status;
		if (all->len == ROW_MAX)
			return err_set(reterr, GALVO_ERR_INVALID,
			               "more than %d metrics: a sample has room for no more", ROW_MAX);
		all->all[all->len++] = names[i];
	}
	return all->len ? fit_all(h, all, reterr) : GALVO_OK;
}

/*
 * Those of the rows that the chip has, first or in the second place. What is lacking is told of the first
 * ones: of the others nobody expects it.
 */
static galvo_status take_wished(struct gpu_host *h, const struct set_row *rows, size_t n,
                                bool is_second, struct set *s, struct names *all,
                                galvo_error *reterr)
{
	struct names wished = {.len = 0};
	char why[WHY_BYTES];
	size_t i;

	for (i = 0; i < n; i++) {
		const char *name = rows[i].name;

		if (is_second ? !rows[i].instead_of || !is_dropped(s, rows[i].instead_of)
		              : rows[i].instead_of != NULL)
			continue;
		if (names_have(all, name) || names_have(&wished, name) || is_dropped(s, name) ||
		    wished.len == ROW_MAX)
			continue;
		if (host_knows(&h->cupti, h->object, name, NULL)) {
			wished.all[wished.len++] = name;
		} else if (!is_second) {
			snprintf(why, sizeof(why), "%s has no such metric", h->chip);
			if (!drop(s, name, why))
				return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		}
	}
	return fit_more(h, all, &wished, drop, s, reterr);
}

static galvo_status take_names(struct gpu_host *h, const char *const *names, size_t n,
                               struct set *s, struct names *all, galvo_error *reterr)
{
	galvo_status status = take_named(h, names, n, all, reterr);
	const struct set_row *rows;
	size_t i, len;

	for (i = 0; i < n && status == GALVO_OK; i++) {
		rows = set_rows(names[i], &len);
		if (!rows)
			continue;
		status = take_wished(h, rows, len, false, s, all, reterr);
		if (status == GALVO_OK)
			status = take_wished(h, rows, len, true, s, all, reterr);
	}
	if (status == GALVO_OK && all->len == 0)
		status = n ? err_set(reterr, GALVO_ERR_ABSENT, "nothing of the set can be counted on %s",
		                     h->chip)
		           : err_set(reterr, GALVO_ERR_INVALID, "no metric is named");
	return status;
}

/* ---- what is told of them -------------------------------------------------------------------- */

static galvo_status describe(struct gpu_host *h, const struct names *all, struct set *s,
                             galvo_error *reterr)
{
	struct gpu_metric m;
	size_t i;

	s->shown.names = alloc_array(all->len, sizeof(*s->shown.names));
	s->shown.metrics = s->metrics = alloc_array(all->len, sizeof(*s->metrics));
	s->shown.chip = keep(s, h->chip);
	if (!s->shown.names || !s->metrics || !s->shown.chip)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (i = 0; i < all->len; i++) {
		if (!host_knows(&h->cupti, h->object, all->all[i], &m))
			return err_set(reterr, GALVO_ERR_IO, "%s: libcupti has forgotten it", all->all[i]);
		m.name = keep(s, m.name);
		m.hw_unit = keep(s, m.hw_unit);
		m.dim_unit = keep(s, m.dim_unit);
		m.description = keep(s, m.description);
		if (!m.name || !m.hw_unit || !m.dim_unit || !m.description)
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		s->metrics[i] = m;
		s->shown.names[i] = m.name;
	}
	s->shown.names_len = all->len;
	return GALVO_OK;
}

static galvo_status configure(struct gpu_host *h, struct set *s, galvo_error *reterr)
{
	struct gpu_set *shown = &s->shown;
	/* The object's image has to be there for as long as it is. */
	struct gpu_host own = *h;
	galvo_status status;

	if (h->availability) {
		s->availability = own.availability = malloc(h->availability_bytes + 1);
		if (!s->availability)
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		memcpy(s->availability, h->availability, h->availability_bytes);
	}
	status = host_try(&own, shown->names, shown->names_len, &s->trial, reterr);
	s->cupti = own.cupti;
	if (status)
		return status;
	if (s->trial.passes != 1)
		return err_set(reterr, GALVO_ERR_IO, "libcupti: a set of one pass has become one of %zu",
		               s->trial.passes);
	shown->object = s->trial.object;
	shown->image = s->trial.image;
	shown->image_bytes = s->trial.image_bytes;
	shown->is_bytes_guessed = cupti_sample_bytes(&s->cupti, shown->image, shown->image_bytes,
	                                             &shown->sample_bytes, NULL) != GALVO_OK;
	if (shown->is_bytes_guessed)
		shown->sample_bytes = shown->names_len > LARGE_NAMES ? GUESSED_LARGE_BYTES
		                                                     : GUESSED_SAMPLE_BYTES;
	return GALVO_OK;
}

galvo_status gpu_set_choose(struct gpu_host *h, const char *const *names, size_t n,
                            struct gpu_set **ret_set, galvo_error *reterr)
{
	struct set *s = calloc(1, sizeof(*s));
	struct names all = {.len = 0};
	galvo_status status;

	if (!s)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	status = take_names(h, names, n, s, &all, reterr);
	if (status == GALVO_OK)
		status = describe(h, &all, s, reterr);
	if (status == GALVO_OK)
		status = configure(h, s, reterr);
	if (status == GALVO_OK)
		*ret_set = &s->shown;
	else
		gpu_set_free(&s->shown);
	return status;
}

void gpu_set_free(struct gpu_set *set)
{
	struct set *s = (struct set *)set;
	size_t i;

	if (!s)
		return;
	host_object_end(&s->cupti, s->trial.object);
	for (i = 0; i < s->texts_len; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->trial.image);
	free(s->availability);
	free(s->dropped);
	free(s->metrics);
	free(set->names);
	free(s);
}
