/* One panel by its rule: which things are in it, their curves, and what they come to at most. */
#include <math.h>

#include "panels_parts.h"

#define PANELS_MAX (UINT32_C(1) << 20)
#define HEAT_FROM 17 /* curves beside each other that are too many for lines */

/* ---- what there is --------------------------------------------------------------------------- */

static galvo_status find_columns(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	const struct table *t = d->feed->ledger.table;
	galvo_status status = GALVO_OK;
	size_t i;

	d->columns = panels_alloc(m->memory, d->rule->columns_len, sizeof(*d->columns));
	if (!d->columns)
		return panels_no_memory(reterr);
	for (i = 0; i < d->rule->columns_len && status == GALVO_OK; i++) {
		const struct panel_column *rule = &d->rule->columns[i];
		struct shown_column c = {.rule = rule, .column = table_column(t, rule->name)};

		if (c.column == SIZE_MAX)
			continue;
		d->feed->column[c.column].is_taken = true;
		status = feed_know(d->feed, c.column, reterr);
		if (status == GALVO_OK)
			status = feed_figures(d->feed, c.column, rule->is_level, &c.figures, reterr);
		d->columns[d->columns_len++] = c;
	}
	return status;
}

static bool is_there(const struct draft *d, uint32_t thing)
{
	size_t i;

	for (i = 0; i < d->columns_len; i++)
		if (!isnan(d->columns[i].figures[thing].avg))
			return true;
	return false;
}

static bool is_something(const struct figure *f)
{
	return fabs(f->avg) > 0 || fabs(f->peak) > 0;
}

static bool did_something(const struct draft *d, uint32_t thing)
{
	size_t i;

	for (i = 0; i < d->columns_len; i++)
		if (is_something(&d->columns[i].figures[thing]))
			return true;
	return false;
}

/* By what most is to be seen of. */
static double weight(const struct draft *d, uint32_t thing)
{
	double all = 0;
	size_t i;

	for (i = 0; i < d->columns_len; i++) {
		const struct figure *f = &d->columns[i].figures[thing];
		double v = d->columns[i].rule->is_level ? f->peak
		           : isnan(f->total)            ? f->avg : f->total;

		all += isnan(v) ? 0 : v;
	}
	return all;
}

struct rank {
	uint32_t thing;
	bool is_known; /* of those of which few are shown */
	size_t kind; /* of disks: whole ones, stacked ones, partitions; of GPUs: their place */
	double weight;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->is_known != y->is_known)
		return x->is_known ? -1 : 1;
	if (x->weight > y->weight || x->weight < y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->thing < y->thing ? -1 : x->thing > y->thing;
}

static size_t kind_of(const struct panel_maker *m, const struct draft *d, uint32_t thing)
{
	const enum scope scope = d->feed->ledger.table->scope;
	const struct summary_disk *disk;

	if (scope == SCOPE_GPU || scope == SCOPE_GPU_DETAIL)
		return m->gpu_place[thing];
	if (scope != SCOPE_DEVICE || thing >= m->summary->disks_len)
		return 0;
	disk = &m->summary->disks[thing];
	return disk->stacked ? 1 : disk->whole ? 0 : 2;
}

/* Where all values are 0 there may be nothing to see. */
static bool is_nothing(const struct panel_maker *m, const struct panel_rule *rule)
{
	return rule->flags & PANEL_ANY ||
	       (rule->limit == LIMIT_SWAP && !(m->summary->memory.swap_capacity_bytes.peak > 0));
}

/*
 * Who did nothing where others did something is one of the others; a lone one may as well be shown. Known
 * ones are, up to twice as many as there would be.
 */
static size_t shown_of(const struct panel_maker *m, const struct rank *ranks, size_t there)
{
	size_t weighty = 0, known = 0, most = m->options.processes_max, n;

	while (weighty < there && (ranks[weighty].weight > 0 || ranks[weighty].is_known))
		known += ranks[weighty++].is_known;
	if (known > most)
		most = known < 2 * most ? known : 2 * most;
	n = weighty && weighty + 1 < there ? weighty : there;
	return n < most ? n : most;
}

static const char *key_of(struct panel_maker *m, const struct draft *d, const char *thing,
                          const char *column)
{
	buf_put_str(&m->text, d->rule->id);
	if (thing[0])
		buf_printf(&m->text, "/%s", thing);
	if (column)
		buf_printf(&m->text, "/%s", column);
	return panels_text(m->memory, &m->text);
}

static bool key_is_known(const struct panel_maker *m, const char *key)
{
	return key && m->options.is_known && m->options.is_known(m->options.known, key);
}

static bool is_known(struct panel_maker *m, const struct draft *d, uint32_t thing)
{
	const char *key;
	bool known = false;
	size_t i;

	if (!m->options.is_known)
		return false;
	put_thing_key(m, &m->text, d->feed, thing);
	key = panels_text(m->memory, &m->text);
	for (i = 0; key && i < d->columns_len && !known; i++)
		known = key_is_known(m, key_of(m, d, key, d->columns[i].rule->label));
	return known;
}

static galvo_status find_things(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	const size_t n = d->feed->ledger.slots_len;
	struct rank *ranks = alloc_array(n, sizeof(*ranks));
	bool any = false, known, shows_quiet;
	size_t i;

	d->things = panels_alloc(m->memory, n, sizeof(*d->things));
	if (!ranks || !d->things) {
		free(ranks);
		return panels_no_memory(reterr);
	}
	for (i = 0; i < n; i++)
		any = any || did_something(d, (uint32_t)i);
	shows_quiet = any ? !(d->rule->flags & PANEL_QUIET) : !is_nothing(m, d->rule);
	for (i = 0; i < n; i++) {
		const bool few = d->rule->flags & PANEL_FEW;
		uint32_t thing = (uint32_t)i;

		known = is_known(m, d, thing);
		if (is_there(d, thing) && (shows_quiet || known || did_something(d, thing)))
			ranks[d->things_len++] = (struct rank){thing, few && known, kind_of(m, d, thing),
			                                       few ? weight(d, thing) : 0};
	}
	qsort(ranks, d->things_len, sizeof(*ranks), compare_ranks);
	for (i = 0; i < d->things_len; i++)
		d->things[i] = ranks[i].thing;
	d->shown_len = d->rule->flags & PANEL_FEW ? shown_of(m, ranks, d->things_len) : d->things_len;
	free(ranks);
	return GALVO_OK;
}

/* ---- curves ---------------------------------------------------------------------------------- */

const struct session_metric *panels_metric(const struct galvo_run *run, const char *name)
{
	size_t i;

	for (i = 0; run->session && i < run->session->metrics_len; i++)
		if (!strcmp(run->session->metrics[i].name, name))
			return &run->session->metrics[i];
	return NULL;
}

static void find_owners(const struct panel_maker *m, const struct draft *d, uint32_t thing,
                        struct curve *to)
{
	const struct gpu_user *u;

	switch (d->feed->ledger.table->scope) {
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL:
		to->process = m->place[thing];
		break;
	case SCOPE_THREAD:
		to->process = m->thread_process[thing];
		break;
	case SCOPE_GPU:
	case SCOPE_GPU_DETAIL:
		to->gpu = m->gpu_place[thing];
		break;
	case SCOPE_GPU_PROCESS:
		u = &d->feed->users[thing];
		to->gpu = m->gpu_place[u->gpu];
		if (u->process != PROCESS_NONE)
			to->process = m->place[u->process];
		break;
	case SCOPE_SYSTEM:
	case SCOPE_SYSTEM_DETAIL:
	case SCOPE_CORE:
	case SCOPE_DEVICE:
	case SCOPE_INTERFACE:
		break;
	}
}

/* The words that are not NULL or nothing, a blank between. */
static const char *words(struct panel_maker *m, const char *first, const char *second)
{
	buf_put_str(&m->text, first);
	if (second && first[0])
		buf_put_str(&m->text, " ");
	if (second || !first[0])
		buf_put_str(&m->text, second ? second : "value");
	return panels_text(m->memory, &m->text);
}

static galvo_status curve_add(struct panel_maker *m, struct draft *d, const struct shown_column *c,
                              struct curve_way way, const char *thing, const char *key,
                              galvo_error *reterr)
{
	const char *name = d->feed->ledger.table->columns[c->column];
	const struct session_metric *metric = panels_metric(m->run, name);
	struct curve_way *kept = panels_alloc(m->memory, 1, sizeof(*kept));
	struct curve *to = &d->panel.curves[d->panel.curves_len];

	if (!kept)
		return panels_no_memory(reterr);
	way.feed = d->feed;
	way.column = c->column;
	way.is_level = c->rule->is_level;
	*kept = way;
	*to = (struct curve){
		.key = key_of(m, d, key, c->rule->label), .label = words(m, thing, c->rule->label),
		.metric = way.kind == WAY_REST ? "" : name,
		.help = metric && metric->help ? metric->help : "",
		.is_level = c->rule->is_level, .is_rest = way.kind == WAY_REST,
		.process = SIZE_MAX, .gpu = SIZE_MAX, .way = kept};
	if (way.kind != WAY_REST)
		find_owners(m, d, way.thing, to);
	if (!to->key || !to->label)
		return panels_no_memory(reterr);
	d->panel.curves_len++;
	return GALVO_OK;
}

static galvo_status thing_add(struct panel_maker *m, struct draft *d, uint32_t thing,
                              galvo_error *reterr)
{
	const char *label, *key;
	galvo_status status = GALVO_OK;
	size_t i;

	put_thing_label(m, &m->text, d->feed, thing);
	label = panels_text(m->memory, &m->text);
	put_thing_key(m, &m->text, d->feed, thing);
	key = panels_text(m->memory, &m->text);
	if (!label || !key)
		return panels_no_memory(reterr);
	for (i = 0; i < d->columns_len && status == GALVO_OK; i++)
		if (!isnan(d->columns[i].figures[thing].avg) &&
		    (!(d->rule->flags & PANEL_SPARE) || is_something(&d->columns[i].figures[thing]) ||
		     key_is_known(m, key_of(m, d, key, d->columns[i].rule->label))))
			status = curve_add(m, d, &d->columns[i],
			                   (struct curve_way){.kind = WAY_COLUMN, .thing = thing},
			                   label, key, reterr);
	return status;
}

static galvo_status rest_add(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	const size_t n = d->things_len - d->shown_len;
	bool *is_shown = panels_alloc(m->memory, d->feed->ledger.slots_len, sizeof(*is_shown));
	const char *label;
	galvo_status status = GALVO_OK;
	size_t i;

	buf_printf(&m->text, n == 1 ? "%zu other" : "%zu others", n);
	label = panels_text(m->memory, &m->text);
	if (!is_shown || !label)
		return panels_no_memory(reterr);
	for (i = 0; i < d->shown_len; i++)
		is_shown[d->things[i]] = true;
	for (i = 0; i < d->columns_len && status == GALVO_OK; i++)
		status = curve_add(m, d, &d->columns[i],
		                   (struct curve_way){.kind = WAY_REST, .is_shown = is_shown}, label,
		                   "others", reterr);
	return status;
}

static galvo_status curves_add(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	const size_t n = (d->shown_len + 1) * d->columns_len;
	galvo_status status = GALVO_OK;
	size_t i;

	d->panel.curves = panels_alloc(m->memory, n, sizeof(*d->panel.curves));
	if (!d->panel.curves)
		return panels_no_memory(reterr);
	for (i = 0; i < d->shown_len && status == GALVO_OK; i++)
		status = thing_add(m, d, d->things[i], reterr);
	if (status == GALVO_OK && d->shown_len < d->things_len)
		status = rest_add(m, d, reterr);
	return status;
}

/* What all curves of a stack come to. */
static galvo_status total_add(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	struct curve_way *way = panels_alloc(m->memory, 1, sizeof(*way));
	struct curve *total = panels_alloc(m->memory, 1, sizeof(*total));

	if (!way || !total)
		return panels_no_memory(reterr);
	*way = (struct curve_way){.kind = WAY_TOTAL, .feed = d->feed, .columns = d->columns,
	                          .columns_len = d->columns_len,
	                          .is_level = d->columns[0].rule->is_level};
	*total = (struct curve){
		.key = key_of(m, d, "total", NULL), .label = "total", .metric = "", .help = "",
		.is_level = d->columns[0].rule->is_level, .process = SIZE_MAX, .gpu = SIZE_MAX, .way = way};
	d->panel.total = total;
	return total->key ? GALVO_OK : panels_no_memory(reterr);
}

/* ---- one of them ----------------------------------------------------------------------------- */

galvo_status panel_keep(struct panel_maker *m, const struct panel *panel, galvo_error *reterr)
{
	struct panels *p = m->panels;

	if (p->panels_len == m->panels_cap &&
	    !grow_array((void **)&p->panels, &m->panels_cap, p->panels_len, sizeof(*p->panels),
	                PANELS_MAX))
		return panels_no_memory(reterr);
	p->panels[p->panels_len++] = *panel;
	return GALVO_OK;
}

galvo_status panel_add(struct panel_maker *m, const struct panel_rule *rule, galvo_error *reterr)
{
	struct draft d = {.rule = rule, .feed = feed_of(m, rule->stream, rule->scope),
	                  .panel = {.id = rule->id, .title = rule->title, .group = rule->group,
	                            .unit = rule->unit, .shape = rule->shape,
	                            .floor = rule->flags & PANEL_FLOATS ? NAN : 0,
	                            .ceiling = rule->ceiling > 0 ? rule->ceiling : NAN}};
	galvo_status status;

	if (!d.feed)
		return GALVO_OK;
	status = find_columns(m, &d, reterr);
	if (status == GALVO_OK)
		status = find_things(m, &d, reterr);
	if (status == GALVO_OK && d.things_len)
		status = curves_add(m, &d, reterr);
	if (status != GALVO_OK || !d.panel.curves_len)
		return status;
	if (rule->flags & PANEL_MANY && d.panel.curves_len >= HEAT_FROM)
		d.panel.shape = PANEL_HEAT;
	if (d.panel.shape == PANEL_STACK)
		status = total_add(m, &d, reterr);
	if (status != GALVO_OK)
		return status;
	status = panel_peaks(m, &d, reterr);
	return status == GALVO_OK ? panel_keep(m, &d.panel, reterr) : status;
}
