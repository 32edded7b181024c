/* What of the panels is drawn: which of them, and their values in the part of time that is asked for. */
#include <fnmatch.h>
#include <math.h>

#include "plot.h"

#define PATTERN_BYTES 256
#define DUST 1e-9 /* what sums of fractions leave of 0 */
#define LANES_ID "regions"
#define GPU_LANES_ID "gpu-regions"

/* ---- which ones -------------------------------------------------------------------------------------- */

static bool has_regions(const struct plot *p, bool gpu)
{
	size_t i;

	for (i = 0; i < p->panels->regions_len; i++) {
		const struct region *r = p->panels->regions[i].region;

		if ((r->domain == DOMAIN_GPU) == gpu && r->start_mono_ns < p->end_mono_ns &&
		    (r->unfinished || r->end_mono_ns == 0 || r->end_mono_ns > p->from_mono_ns))
			return true;
	}
	return false;
}

/* All that there could be, lanes first. */
galvo_status plot_list_all(struct plot *p, galvo_error *reterr)
{
	size_t i;

	p->all = alloc_array(p->panels->panels_len + 2, sizeof(*p->all));
	if (!p->all)
		return plot_no_memory(reterr);
	if (has_regions(p, false) && !p->gpu_only)
		p->all[p->len++] = (struct plot_panel){.kind = PLOT_HOST_LANES, .id = LANES_ID,
			.title = "Regions of the program", .group = "Regions"};
	if (has_regions(p, true))
		p->all[p->len++] = (struct plot_panel){.kind = PLOT_GPU_LANES, .id = GPU_LANES_ID,
			.title = "Regions on the GPU", .group = "Regions"};
	for (i = 0; i < p->panels->panels_len; i++) {
		const struct panel *panel = &p->panels->panels[i];

		p->all[p->len++] = (struct plot_panel){.kind = PLOT_PANEL, .id = panel->id,
			.title = panel->title, .group = panel->group, .panel = panel};
	}
	return GALVO_OK;
}

/* "cpu, memory and 12 more", as much as an error has room for. */
static void put_ids(struct buf *b, const struct plot *p)
{
	size_t i;

	for (i = 0; i < p->len; i++) {
		if (b->len + strlen(p->all[i].id) > 180) {
			buf_printf(b, " and %zu more: galvo plot --list RUN", p->len - i);
			return;
		}
		buf_printf(b, "%s%s", i ? ", " : "", p->all[i].id);
	}
}

static galvo_status no_panel(const struct plot *p, struct span pattern, galvo_error *reterr)
{
	galvo_status status;
	struct buf b;

	buf_init(&b, 1024);
	buf_printf(&b, "no panel '%.*s'; there are ", (int)(pattern.n < 40 ? pattern.n : 40), pattern.p);
	put_ids(&b, p);
	buf_put(&b, "", 1);
	status = b.failed ? plot_no_memory(reterr) : err_set(reterr, GALVO_ERR_INVALID, "%s", b.p);
	buf_finish(&b);
	return status;
}

/* Notes which ones the pattern means; false: none. */
static bool choose(const struct plot *p, struct span pattern, bool *chosen)
{
	char text[PATTERN_BYTES];
	bool is_found = false;
	size_t i;

	if (pattern.n == 0 || pattern.n >= sizeof(text))
		return false;
	memcpy(text, pattern.p, pattern.n);
	text[pattern.n] = '\0';
	for (i = 0; i < p->len; i++)
		if (fnmatch(text, p->all[i].id, 0) == 0)
			is_found = chosen[i] = true;
	return is_found;
}

static galvo_status choose_all(const struct plot *p, const char *ids, bool *chosen,
                               galvo_error *reterr)
{
	struct span rest = span_str(ids), pattern;
	bool is_last;

	do {
		is_last = !span_cut(&rest, ',', &pattern);
		if (is_last)
			pattern = rest;
		pattern = span_trim(pattern);
		if (!choose(p, pattern, chosen))
			return no_panel(p, pattern, reterr);
	} while (!is_last);
	return GALVO_OK;
}

galvo_status plot_take(struct plot *p, const char *ids, galvo_error *reterr)
{
	galvo_status status = plot_list_all(p, reterr);
	size_t i, n = 0, all = p->len;
	bool *chosen = NULL;

	if (status == GALVO_OK && !(chosen = alloc_array(all + 1, sizeof(*chosen))))
		status = plot_no_memory(reterr);
	if (status == GALVO_OK && ids)
		status = choose_all(p, ids, chosen, reterr);
	for (i = 0; i < all && status == GALVO_OK; i++) {
		struct plot_panel panel = p->all[i];

		if (ids && !chosen[i])
			continue;
		if (panel.kind == PLOT_PANEL)
			status = plot_load(p, &panel, reterr);
		if (panel.kind == PLOT_PANEL && panel.curves_len == 0 && !ids) {
			plot_panel_finish(&panel);
			continue;
		}
		panel.is_zero = !ids && panel.curves_len && fabs(panel.min) < DUST && fabs(panel.max) < DUST;
		p->all[n++] = panel;
	}
	/* Those behind n are copies, or have taken nothing. */
	if (chosen)
		p->len = n;
	free(chosen);
	return status;
}

/* ---- their values --------------------------------------------------------------------------------------- */

static uint64_t overlap(const struct plot *p, const struct bucket *b)
{
	uint64_t from = b->from_mono_ns > p->from_mono_ns ? b->from_mono_ns : p->from_mono_ns;
	uint64_t end = b->end_mono_ns < p->end_mono_ns ? b->end_mono_ns : p->end_mono_ns;

	return end > from ? end - from : 0;
}

/* A mean is one over the time that has values; what it comes to is one over all of the time. */
static void measure(struct plot *p, struct drawn *d, enum panel_shape shape)
{
	double sum = 0, known = 0, plain = 0;
	size_t i;

	d->min = INFINITY;
	d->max = -INFINITY;
	for (i = 0; i < d->len; i++) {
		const struct bucket *b = &d->buckets[i];
		double weight = (double)overlap(p, b) / (double)(p->end_mono_ns - p->from_mono_ns);

		d->min = fmin(d->min, b->min);
		d->max = fmax(d->max, b->max);
		sum += b->mean * weight;
		known += weight;
		plain += b->mean / (double)d->len;
		d->is_band |= b->len > 1;
	}
	d->mean = known > 0 ? sum / known : plain;
	d->area = shape == PANEL_STACK ? sum : d->mean;
	p->is_banded |= d->is_band && shape != PANEL_STACK;
}

static int by_area(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;

	/* The sum of the others is no curve that competes. */
	if (x->curve->is_rest != y->curve->is_rest)
		return x->curve->is_rest ? 1 : -1;
	if (x->area != y->area)
		return x->area > y->area ? -1 : 1;
	return x->curve < y->curve ? -1 : 1;
}

static galvo_status load_curve(struct plot *p, const struct curve *curve, size_t place,
                               struct drawn *ret, galvo_error *reterr)
{
	struct points points = {0};
	galvo_status status = curve_points(p->panels, curve, &points, reterr);

	*ret = (struct drawn){.curve = curve, .place = place};
	if (status == GALVO_OK)
		status = points_buckets(&points, p->from_mono_ns, p->end_mono_ns, p->columns,
		                        &ret->buckets, &ret->len, reterr);
	points_finish(&points);
	return status;
}

galvo_status plot_load(struct plot *p, struct plot_panel *panel, galvo_error *reterr)
{
	size_t i, n = panel->panel->curves_len;
	galvo_status status = GALVO_OK;

	panel->min = INFINITY;
	panel->max = -INFINITY;
	panel->curves = alloc_array(n + 1, sizeof(*panel->curves));
	if (!panel->curves)
		return plot_no_memory(reterr);
	for (i = 0; i < n && status == GALVO_OK; i++) {
		struct drawn *d = &panel->curves[panel->curves_len];

		status = load_curve(p, &panel->panel->curves[i], i, d, reterr);
		if (status == GALVO_OK && d->len > 0) {
			measure(p, d, panel->panel->shape);
			panel->min = fmin(panel->min, d->min);
			panel->max = fmax(panel->max, d->max);
			panel->curves_len++;
		} else {
			free(d->buckets);
			*d = (struct drawn){0};
		}
	}
	if (panel->panel->shape != PANEL_HEAT)
		qsort(panel->curves, panel->curves_len, sizeof(*panel->curves), by_area);
	if (status == GALVO_OK && panel->panel->shape == PANEL_STACK && panel->curves_len)
		status = plot_stack(p, panel, reterr);
	if (status != GALVO_OK)
		plot_panel_finish(panel);
	return status;
}

void plot_panel_finish(struct plot_panel *panel)
{
	size_t i;

	for (i = 0; i < panel->curves_len; i++)
		free(panel->curves[i].buckets);
	free(panel->curves);
	free(panel->stacked.mean);
	free(panel->stacked.highest);
	panel->curves = NULL;
	panel->curves_len = 0;
	panel->stacked = (struct stacked){0};
}
