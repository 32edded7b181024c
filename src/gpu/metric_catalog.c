/* The columns of a set as descriptors of a catalog: CUPTI's units into ours, peaks, descriptions. */
#include "host.h"
#include "metric_catalog.pb-c.h"

/* ---- units: "byte", "gpc_cycle/second", "gpc_cyclewarp", "instruction/gpc_cycle", "percent", "" --- */

static bool ends_with(struct span s, const char *end)
{
	size_t n = strlen(end);

	return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* Products are written without a sign between: cycles and something, on either side. */
static bool is_product(struct span s)
{
	static const char *const things[] = {"byte", "cta", "cga"};
	size_t i;

	if (!ends_with(s, "_cycle"))
		return memmem(s.p, s.n, "_cycle", strlen("_cycle")) != NULL;
	for (i = 0; i < ARRAY_LEN(things); i++)
		if (span_starts(s, things[i]))
			return true;
	return false;
}

static enum metric_unit unit_alone(struct span s)
{
	if (s.n == 0)
		return UNIT_RATIO;
	if (span_eq_str(s, "percent"))
		return UNIT_PCT;
	if (span_eq_str(s, "byte"))
		return UNIT_BYTES;
	if (span_eq_str(s, "nanosecond"))
		return UNIT_NANOSECONDS;
	if (is_product(s))
		return UNIT_COUNT_CYCLES;
	if (ends_with(s, "_cycle"))
		return UNIT_CYCLES;
	return ends_with(s, "request") ? UNIT_REQUESTS : UNIT_COUNT;
}

static enum metric_unit unit_per_second(enum metric_unit of)
{
	switch (of) {
	case UNIT_BYTES: return UNIT_BYTES_PER_SEC;
	case UNIT_CYCLES: return UNIT_HZ;
	case UNIT_REQUESTS: return UNIT_REQUESTS_PER_SEC;
	case UNIT_COUNT: return UNIT_PER_SEC;
	default: return UNIT_OTHER;
	}
}

enum metric_unit metric_unit_of(const char *dim_unit)
{
	struct span below = span_str(dim_unit), above;
	enum metric_unit of, per;

	if (!span_cut(&below, '/', &above))
		return unit_alone(below);
	of = unit_alone(above);
	if (span_eq_str(below, "second"))
		return unit_per_second(of);
	per = unit_alone(below);
	if (per == UNIT_CYCLES)
		return of == UNIT_BYTES ? UNIT_BYTES_PER_CYCLE
		       : of == UNIT_COUNT || of == UNIT_REQUESTS ? UNIT_PER_CYCLE
		                                                 : UNIT_OTHER;
	return of == UNIT_COUNT && per == UNIT_COUNT ? UNIT_RATIO : UNIT_OTHER;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool is_one_of(struct span s, const char *a, const char *b)
{
	return span_eq_str(s, a) || span_eq_str(s, b);
}

/* What a counter that is as it was counted, or that a second, could be at most is a metric too. */
static bool has_peak_metric(const struct gpu_metric *m, const struct metric_name *name)
{
	return m->type == METRIC_COUNTER && name->rollup.n > 0 &&
	       is_one_of(name->submetric, "", "per_second");
}

static void put_peak(Galvo__MetricDescriptor *d, const struct gpu_metric *m,
                     const struct metric_name *name, struct buf *text)
{
	if (d->unit == GALVO__UNIT__UNIT_PCT) {
		d->peak_case = GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_CONSTANT;
		d->peak_constant = 100;
	} else if (has_peak_metric(m, name)) {
		buf_printf(text, "%.*s.peak_sustained_elapsed%s",
		           (int)(name->rollup.p + name->rollup.n - m->name), m->name,
		           name->submetric.n ? ".per_second" : "");
		d->peak_case = GALVO__METRIC_DESCRIPTOR__PEAK_PEAK_EXPR;
	}
}

/* With the vendor's unit, which says more than ours. */
static void put_description(struct buf *text, const struct gpu_metric *m)
{
	if (m->description[0])
		buf_put_str(text, m->description);
	else
		buf_printf(text, "%s of %s", metric_type_name(m->type), m->hw_unit);
	if (m->dim_unit[0] && strcmp(m->dim_unit, "percent") != 0)
		buf_printf(text, " [%s]", m->dim_unit);
}

static char *put_part(struct buf *text, struct span part)
{
	size_t at = text->len;

	buf_put(text, part.p, part.n);
	buf_put(text, "", 1);
	return text->failed ? NULL : text->p + at;
}

/* As a catalog of one: catalogs that follow each other are one. */
static bool put_metric(const struct gpu_metric *m, struct buf *text, struct buf *into)
{
	Galvo__MetricDescriptor d, *one = &d;
	Galvo__MetricCatalog catalog;
	struct metric_name name = {0};
	bool ok;

	metric_name_split(m->name, &name);
	galvo__metric_descriptor__init(&d);
	galvo__metric_catalog__init(&catalog);
	catalog.n_descriptors = 1;
	catalog.descriptors = &one;
	/* Room for all of it, so that it stays where it is. */
	text->len = 0;
	if (!buf_reserve(text, 8 * (strlen(m->name) + strlen(m->description) + 256)))
		return false;
	d.fqn = put_part(text, span_str(m->name));
	d.type = (Galvo__MetricType)m->type;
	d.entity = put_part(text, name.entity);
	d.counter = put_part(text, name.counter);
	d.rollup = put_part(text, name.rollup);
	d.submetric = put_part(text, name.submetric);
	d.unit = (Galvo__Unit)metric_unit_of(m->dim_unit);
	d.scope = GALVO__SCOPE__SCOPE_GPU;
	d.source = put_part(text, span_str("cupti"));
	d.smoothable = !span_starts(name.submetric, "peak_sustained") &&
	               d.unit != GALVO__UNIT__UNIT_NANOSECONDS;
	d.description = text->p + text->len;
	put_description(text, m);
	buf_put(text, "", 1);
	d.peak_expr = text->p + text->len;
	put_peak(&d, m, &name, text);
	buf_put(text, "", 1);
	ok = !text->failed && buf_reserve(into, galvo__metric_catalog__get_packed_size(&catalog));
	if (ok)
		into->len += galvo__metric_catalog__pack(&catalog, (uint8_t *)into->p + into->len);
	return ok;
}

galvo_status gpu_set_catalog(const struct gpu_set *set, struct buf *into, galvo_error *reterr)
{
	struct buf text;
	bool ok = true;
	size_t i;

	buf_init(&text, 1 << 20);
	for (i = 0; i < set->names_len && ok; i++)
		ok = put_metric(&set->metrics[i], &text, into);
	buf_finish(&text);
	return ok ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}
