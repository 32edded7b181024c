/* The catalog of columns as a message: the built-in one, and what a user lays over it. */
#include "catalog.h"

bool arena_messages(struct arena *a, size_t n, size_t size, void *ret_pointers)
{
	char **all = arena_alloc(a, n, sizeof(*all)), *items = arena_alloc(a, n, size);
	size_t i;

	if (!all || !items)
		return false;
	for (i = 0; i < n; i++)
		all[i] = items + i * size;
	memcpy(ret_pointers, &all, sizeof(all));
	return true;
}

static char *part(struct arena *a, struct span from, bool *ok)
{
	char *to = arena_alloc(a, from.n + 1, 1);

	if (to && from.n)
		memcpy(to, from.p, from.n);
	*ok = *ok && to;
	return to;
}

static bool put_descriptor(struct arena *a, const struct catalog_row *row,
                           Galvo__MetricDescriptor *to)
{
	const struct metric *m = row->metric;
	struct metric_name name = {0};
	bool ok = true;

	metric_name_split(m->name, &name);
	galvo__metric_descriptor__init(to);
	to->fqn = part(a, span_str(m->name), &ok);
	to->type = (Galvo__MetricType)m->type;
	to->entity = part(a, name.entity, &ok);
	to->counter = part(a, name.counter, &ok);
	to->rollup = part(a, name.rollup, &ok);
	to->submetric = part(a, name.submetric, &ok);
	to->unit = (Galvo__Unit)m->unit;
	to->scope = (Galvo__Scope)row->scope;
	if (m->unit == UNIT_PCT || m->unit == UNIT_RATIO) {
		to->peak_case = GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_CONSTANT;
		to->peak_constant = m->unit == UNIT_PCT ? 100 : 1;
	}
	to->smoothable = m->form != FORM_LEVEL;
	to->description = part(a, span_str(m->help), &ok);
	to->source = part(a, span_str(row->source), &ok);
	return ok;
}

static bool put_rows(struct arena *a, bool (*catalog_at)(size_t, struct catalog_row *),
                     Galvo__MetricCatalog *to)
{
	struct catalog_row row;
	size_t i;

	galvo__metric_catalog__init(to);
	while (catalog_at(to->n_descriptors, &row))
		to->n_descriptors++;
	if (!arena_messages(a, to->n_descriptors, sizeof(**to->descriptors), &to->descriptors))
		return false;
	for (i = 0; i < to->n_descriptors && catalog_at(i, &row); i++)
		if (!put_descriptor(a, &row, to->descriptors[i]))
			return false;
	return true;
}

/* What unpacking takes is the arena's. */
static void *overlay_alloc(void *data, size_t n)
{
	return arena_alloc(data, n, 1);
}

static void overlay_free(void *data, void *p)
{
	(void)data;
	(void)p;
}

/* Descriptors are replaced by name or appended. */
static bool lay_over(struct arena *a, const Galvo__MetricCatalog *over, Galvo__MetricCatalog *to)
{
	size_t most = to->n_descriptors + over->n_descriptors, i, j;
	Galvo__MetricDescriptor **all = arena_alloc(a, most, sizeof(*all));

	if (!all)
		return false;
	if (to->n_descriptors)
		memcpy(all, to->descriptors, to->n_descriptors * sizeof(*all));
	to->descriptors = all;
	for (i = 0; i < over->n_descriptors; i++) {
		for (j = 0; j < to->n_descriptors; j++)
			if (!strcmp(all[j]->fqn, over->descriptors[i]->fqn))
				break;
		all[j] = over->descriptors[i];
		to->n_descriptors += j == to->n_descriptors;
	}
	return true;
}

bool catalog_put(struct arena *a, bool (*catalog_at)(size_t, struct catalog_row *),
                 struct span overlay, Galvo__MetricCatalog *to)
{
	ProtobufCAllocator allocator = {overlay_alloc, overlay_free, a};
	const Galvo__MetricCatalog *over;

	if (!put_rows(a, catalog_at, to))
		return false;
	if (!overlay.n)
		return true;
	over = galvo__metric_catalog__unpack(&allocator, overlay.n, (const uint8_t *)overlay.p);
	return over && lay_over(a, over, to);
}

galvo_status catalog_pack(bool (*catalog_at)(size_t, struct catalog_row *), struct buf *into,
                          galvo_error *reterr)
{
	Galvo__MetricCatalog catalog;
	struct arena a = {0};
	size_t n;
	bool ok = catalog_put(&a, catalog_at, (struct span){0}, &catalog);

	if (ok) {
		n = galvo__metric_catalog__get_packed_size(&catalog);
		ok = buf_reserve(into, n);
	}
	if (ok)
		into->len += galvo__metric_catalog__pack(&catalog, (uint8_t *)into->p + into->len);
	arena_finish(&a);
	return ok ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}
