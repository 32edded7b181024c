/* Who has which colour: a process the same one in all panels, neighbours different ones. */
#include "plot.h"

#define LEGEND_ROWS 8
#define NAMES_MAX 4096 /* regions of more names than that have colours by their names */
#define NAME_SLOTS (2 * NAMES_MAX)

/* ---- curves -------------------------------------------------------------------------------------------- */

size_t legend_named(const struct plot_panel *panel)
{
	size_t room = (size_t)((panel->height + 4) / LEGEND_STEP), n = panel->curves_len;
	bool has_rest = n > 0 && panel->curves[n - 1].curve->is_rest;

	if (room > LEGEND_ROWS)
		room = LEGEND_ROWS;
	if (n <= room)
		return n;
	/* Behind them stand how many more there are, and what is summed up. */
	return room > 1U + has_rest ? room - 1 - has_rest : 0;
}

/* Of each process: its colour, and how often each colour stands beside it in a legend already. */
struct process_tint {
	bool is_taken;
	uint8_t tint;
};

static bool is_of_process(const struct plot *p, const struct drawn *d)
{
	return d->curve->process < p->panels->summary->processes_len && !d->curve->is_rest;
}

/* Colours of those beside it, in all panels that name it. */
static void count_beside(const struct plot *p, const struct process_tint *all, size_t process,
                         size_t *used)
{
	size_t i, k;

	for (i = 0; i < p->len; i++) {
		const struct plot_panel *panel = &p->all[i];
		bool is_there = false;

		for (k = 0; k < panel->named; k++)
			is_there |= panel->curves[k].curve->process == process;
		for (k = 0; k < panel->named && is_there; k++)
			if (is_of_process(p, &panel->curves[k]) && all[panel->curves[k].curve->process].is_taken)
				used[all[panel->curves[k].curve->process].tint]++;
	}
}

static void tint_process(const struct plot *p, struct process_tint *all, size_t process, size_t *next)
{
	size_t used[CURVE_COLOURS] = {0}, i, best = *next % CURVE_COLOURS;

	count_beside(p, all, process, used);
	for (i = 1; i < CURVE_COLOURS; i++)
		if (used[(*next + i) % CURVE_COLOURS] < used[best])
			best = (*next + i) % CURVE_COLOURS;
	all[process] = (struct process_tint){true, (uint8_t)best};
	*next = best + 1;
}

static void tint_panel(const struct plot *p, struct plot_panel *panel, struct process_tint *all,
                       size_t *next)
{
	bool is_few = panel->panel->curves_len <= CURVE_COLOURS;
	size_t i;

	for (i = 0; i < panel->curves_len; i++) {
		struct drawn *d = &panel->curves[i];

		if (d->curve->is_rest) {
			d->tint = TINT_REST;
		} else if (i >= panel->named) {
			d->tint = TINT_UNNAMED;
		} else if (is_of_process(p, d)) {
			if (!all[d->curve->process].is_taken)
				tint_process(p, all, d->curve->process, next);
			d->tint = all[d->curve->process].tint;
		} else {
			d->tint = (uint8_t)(is_few ? d->place : i);
		}
	}
}

static galvo_status tint_curves(struct plot *p, galvo_error *reterr)
{
	struct process_tint *all = alloc_array(p->panels->summary->processes_len + 1, sizeof(*all));
	size_t i, next = 0;

	if (!all)
		return plot_no_memory(reterr);
	for (i = 0; i < p->len; i++)
		if (p->all[i].kind == PLOT_PANEL)
			p->all[i].named = legend_named(&p->all[i]);
	for (i = 0; i < p->len; i++)
		if (p->all[i].kind == PLOT_PANEL)
			tint_panel(p, &p->all[i], all, &next);
	free(all);
	return GALVO_OK;
}

/* ---- regions --------------------------------------------------------------------------------------------- */

struct name_tint {
	struct span name;
	uint8_t tint;
	bool is_taken;
};

static uint32_t hash(struct span name)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < name.n; i++)
		h = (h ^ (unsigned char)name.p[i]) * 16777619u;
	return h ^ h >> 15;
}

static struct name_tint *find(struct name_tint *names, struct span name)
{
	size_t at = hash(name) % NAME_SLOTS;

	while (names[at].is_taken && !span_eq(names[at].name, name))
		at = (at + 1) % NAME_SLOTS;
	return &names[at];
}

/* A new name has another colour than what is beside it, above and below. lanes: colours drawn last. */
static uint8_t choose(const uint8_t *lanes, uint32_t lane, size_t next)
{
	uint32_t from = lane ? lane - 1 : 0, k;
	size_t i;

	for (i = 0; i < CURVE_COLOURS; i++) {
		uint8_t tint = (uint8_t)((next + i) % CURVE_COLOURS);
		bool is_free = true;

		for (k = from; k <= lane + 1; k++)
			is_free &= lanes[k] != tint;
		if (is_free)
			return tint;
	}
	return (uint8_t)(next % CURVE_COLOURS);
}

static void tint_all_regions(struct plot *p, struct name_tint *names, uint8_t *lanes[2])
{
	size_t i, len = 0, next = 0;

	for (i = 0; i < p->panels->regions_len; i++) {
		const struct lane_region *l = &p->panels->regions[i];
		bool is_gpu = l->region->domain == DOMAIN_GPU;
		uint32_t count = is_gpu ? p->panels->gpu_lanes : p->panels->host_lanes;
		struct name_tint *n = find(names, l->region->name);
		uint8_t tint = (uint8_t)(hash(l->region->name) % CURVE_COLOURS);

		if (l->lane >= count)
			continue;
		if (n->is_taken) {
			tint = n->tint;
		} else if (len < NAMES_MAX) {
			tint = choose(lanes[is_gpu], l->lane, next);
			next = tint + 1U;
			*n = (struct name_tint){l->region->name, tint, true};
			len++;
		}
		p->region_tints[i] = lanes[is_gpu][l->lane] = tint;
	}
}

static galvo_status tint_regions(struct plot *p, galvo_error *reterr)
{
	struct name_tint *names = alloc_array(NAME_SLOTS, sizeof(*names));
	uint8_t *lanes[2] = {alloc_array(p->panels->host_lanes + (size_t)2, 1),
	                     alloc_array(p->panels->gpu_lanes + (size_t)2, 1)};
	galvo_status status = GALVO_OK;

	p->region_tints = alloc_array(p->panels->regions_len + 1, 1);
	if (names && lanes[0] && lanes[1] && p->region_tints) {
		memset(lanes[0], 0xff, p->panels->host_lanes + (size_t)2);
		memset(lanes[1], 0xff, p->panels->gpu_lanes + (size_t)2);
		tint_all_regions(p, names, lanes);
	} else {
		status = plot_no_memory(reterr);
	}
	free(names);
	free(lanes[0]);
	free(lanes[1]);
	return status;
}

galvo_status plot_take_tints(struct plot *p, galvo_error *reterr)
{
	galvo_status status = tint_curves(p, reterr);

	return status == GALVO_OK ? tint_regions(p, reterr) : status;
}
