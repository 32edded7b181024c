/* Panels of hardware counters: shares and rates by what the report says of them, then all other columns. */
#include <math.h>

#include "panels_parts.h"

#define AT(member) offsetof(struct summary_counters, member)

/* What the report has a figure for. */
static const struct known_counter {
	size_t figure;
	const char *label;
	enum metric_unit unit;
	bool is_link; /* to others: slower by far than memory, and no share of the same */
} known[] = {
	{AT(gr_busy_pct), "GPU busy", UNIT_PCT, false},
	{AT(sm_busy_pct), "multiprocessors busy", UNIT_PCT, false},
	{AT(tensor_pct), "tensor pipes", UNIT_PCT, false},
	{AT(occupancy_pct), "warps of those that can be", UNIT_PCT, false},
	{AT(dram_pct), "memory busy", UNIT_PCT, false},
	{AT(dram_read_pct), "memory read", UNIT_PCT, false},
	{AT(dram_write_pct), "memory written", UNIT_PCT, false},
	{AT(pcie_pct), "PCIe", UNIT_PCT, false},
	{AT(dram_read_bytes_per_s), "memory read", UNIT_BYTES_PER_SEC, false},
	{AT(dram_write_bytes_per_s), "memory written", UNIT_BYTES_PER_SEC, false},
	{AT(pcie_rx_bytes_per_s), "PCIe received", UNIT_BYTES_PER_SEC, true},
	{AT(pcie_tx_bytes_per_s), "PCIe sent", UNIT_BYTES_PER_SEC, true},
	{AT(nvlink_rx_bytes_per_s), "NVLink received", UNIT_BYTES_PER_SEC, true},
	{AT(nvlink_tx_bytes_per_s), "NVLink sent", UNIT_BYTES_PER_SEC, true},
	{AT(sm_clock_hz), "clock of multiprocessors", UNIT_HZ, false},
	{AT(warps_per_sm), "warps on a multiprocessor", UNIT_COUNT, false},
};

/* One curve to be. */
struct counter {
	enum metric_unit unit;
	const char *label;
	struct counter_value value;
	bool is_link, is_drawn;
};

struct counters {
	struct counter *all;
	size_t len;
	bool *is_taken; /* by column */
};

/* ---- which there are ------------------------------------------------------------------------- */

static void take(struct counters *c, const struct counter_value *v)
{
	const size_t columns[] = {v->column, v->plus, v->over};
	size_t i;

	for (i = 0; i < ARRAY_LEN(columns); i++)
		if (columns[i] != SIZE_MAX)
			c->is_taken[columns[i]] = true;
}

/* So much in a sample becomes so much a second: samples are not all as long. */
static struct counter plain(const struct panel_maker *m, const char *name, size_t column)
{
	static const char *const links[] = {"pcie", "nvl", "ctc"};
	static const struct {
		enum metric_unit in_a_sample, a_second;
	} rates[] = {
		{UNIT_BYTES, UNIT_BYTES_PER_SEC}, {UNIT_COUNT, UNIT_PER_SEC}, {UNIT_CYCLES, UNIT_HZ},
		{UNIT_REQUESTS, UNIT_REQUESTS_PER_SEC},
	};
	struct counter c = {.unit = panels_unit(m->run, name),
	                    .value = {OVER_TIME, column, SIZE_MAX, SIZE_MAX, 1}};
	struct metric_name parts = {0};
	size_t i;

	metric_name_split(name, &parts);
	for (i = 0; i < ARRAY_LEN(links); i++)
		c.is_link = c.is_link || span_starts(parts.entity, links[i]);
	for (i = 0; i < ARRAY_LEN(rates); i++)
		if (c.unit == rates[i].in_a_sample) {
			c.unit = rates[i].a_second;
			c.value.form = AMOUNT;
			break;
		}
	/* Those alone are far apart. */
	c.is_link = c.is_link && c.unit == UNIT_BYTES_PER_SEC;
	return c;
}

static galvo_status find_counters(struct panel_maker *m, size_t gpu, struct counters *c,
                                  galvo_error *reterr)
{
	const struct gpu_rows *rows = &m->memory->samples;
	const struct table *t = rows->table;
	size_t i;

	c->len = 0;
	memset(c->is_taken, 0, t->columns_len * sizeof(*c->is_taken));
	for (i = 0; i < ARRAY_LEN(known); i++) {
		struct counter one = {.unit = known[i].unit, .label = known[i].label,
		                      .is_link = known[i].is_link};

		if (!gpu_counter_find(rows, m->run, gpu, known[i].figure, &one.value))
			continue;
		take(c, &one.value);
		c->all[c->len++] = one;
	}
	for (i = 0; i < t->columns_len; i++) {
		struct counter_samples samples = gpu_samples_begin(rows, m->run, gpu);
		struct counter one = plain(m, t->columns[i], i);
		struct counter_sample sample;

		if (c->is_taken[i] || !gpu_samples_next(&samples, &one.value, &sample))
			continue;
		put_clipped(&m->text, panels_short_name(span_str(t->columns[i])));
		one.label = panels_text(m->memory, &m->text);
		if (!one.label)
			return panels_no_memory(reterr);
		c->all[c->len++] = one;
	}
	return GALVO_OK;
}

/* ---- panels ---------------------------------------------------------------------------------- */

static const char *help_of(struct panel_maker *m, const struct counter_value *v)
{
	const struct table *t = m->memory->samples.table;
	const struct session_metric *metric = panels_metric(m->run, t->columns[v->column]);

	if (v->plus == SIZE_MAX && v->over == SIZE_MAX)
		return metric && metric->help ? metric->help : "";
	put_clipped(&m->text, span_str(t->columns[v->column]));
	buf_put_str(&m->text, v->plus != SIZE_MAX ? " and " : " for each of ");
	put_clipped(&m->text, span_str(t->columns[v->plus != SIZE_MAX ? v->plus : v->over]));
	return panels_text(m->memory, &m->text);
}

static galvo_status counter_curve(struct panel_maker *m, const struct panel *panel, size_t gpu,
                                  const struct counter *c, struct curve *ret, galvo_error *reterr)
{
	const struct table *t = m->memory->samples.table;
	const bool is_column = c->value.plus == SIZE_MAX && c->value.over == SIZE_MAX;
	struct curve_way *way = panels_alloc(m->memory, 1, sizeof(*way));

	if (!way)
		return panels_no_memory(reterr);
	*way = (struct curve_way){.kind = WAY_SAMPLES, .samples = &m->memory->samples,
	                          .gpu = gpu, .value = c->value};
	*ret = (struct curve){.label = c->label, .help = help_of(m, &c->value),
	                      .metric = is_column ? t->columns[c->value.column] : "",
	                      .is_level = c->value.form != AMOUNT && unit_is_level(c->unit),
	                      .process = SIZE_MAX, .gpu = m->gpu_place[gpu], .way = way};
	buf_printf(&m->text, "%s/%s", panel->id, c->label);
	ret->key = panels_text(m->memory, &m->text);
	return ret->key && ret->help ? GALVO_OK : panels_no_memory(reterr);
}

/* What a unit is called in the id and in the title. */
static const struct unit_class {
	enum metric_unit unit;
	bool is_link;
	const char *id, *title;
} classes[] = {
	{UNIT_PCT, false, "pct", "shares"},
	{UNIT_BYTES_PER_SEC, false, "bytes", "transfer"},
	{UNIT_BYTES_PER_SEC, true, "links", "transfer to others"},
	{UNIT_HZ, false, "hz", "cycles a second"},
	{UNIT_PER_SEC, false, "per-s", "events a second"},
	{UNIT_REQUESTS_PER_SEC, false, "requests", "requests a second"},
	{UNIT_COUNT, false, "count", "counts"},
	{UNIT_RATIO, false, "ratio", "ratios"},
	{UNIT_PER_CYCLE, false, "per-cycle", "events a cycle"},
	{UNIT_BYTES_PER_CYCLE, false, "bytes-per-cycle", "bytes a cycle"},
	{UNIT_COUNT_CYCLES, false, "count-cycles", "counts times cycles"},
	{UNIT_NANOSECONDS, false, "ns", "times"},
	{UNIT_OTHER, false, "other", "others"}, /* last: whatever else there is */
};

static const struct unit_class *class_of(enum metric_unit unit, bool is_link)
{
	size_t i;

	for (i = 0; i + 1 < ARRAY_LEN(classes); i++)
		if (classes[i].unit == unit && classes[i].is_link == is_link)
			break;
	return &classes[i];
}

static galvo_status name_panel(struct panel_maker *m, size_t gpu, bool is_link, struct panel *p,
                               galvo_error *reterr)
{
	const size_t place = m->gpu_place[gpu];
	const struct unit_class *class = class_of(p->unit, is_link);

	put_gpu_key(m, &m->text, place);
	buf_printf(&m->text, "-counters-%s", class->id);
	p->id = panels_text(m->memory, &m->text);
	put_gpu_label(m, &m->text, place);
	p->group = panels_text(m->memory, &m->text);
	buf_put_str(&m->text, "Counters of ");
	put_gpu_label(m, &m->text, place);
	buf_printf(&m->text, ": %s", class->title);
	p->title = panels_text(m->memory, &m->text);
	return p->id && p->group && p->title ? GALVO_OK : panels_no_memory(reterr);
}

/* All of the first one's unit that are not drawn yet. */
static galvo_status unit_add(struct panel_maker *m, size_t gpu, struct counter *all, size_t n,
                             galvo_error *reterr)
{
	static const enum panel_limit of_memory[] = {LIMIT_GPU_DRAM};
	static const enum panel_limit of_links[] = {LIMIT_GPU_NVLINK, LIMIT_GPU_PCIE};
	const bool is_pct = all[0].unit == UNIT_PCT, is_link = all[0].is_link;
	struct panel p = {.unit = all[0].unit, .shape = PANEL_LINES, .is_gpu_clock = true, .floor = 0,
	                  .ceiling = is_pct ? 100 : NAN,
	                  .curves = panels_alloc(m->memory, n, sizeof(*p.curves))};
	galvo_status status = p.curves ? name_panel(m, gpu, is_link, &p, reterr) : panels_no_memory(reterr);
	size_t i;

	for (i = 0; i < n && status == GALVO_OK; i++) {
		if (all[i].is_drawn || all[i].unit != p.unit || all[i].is_link != is_link)
			continue;
		all[i].is_drawn = true;
		status = counter_curve(m, &p, gpu, &all[i], &p.curves[p.curves_len++], reterr);
	}
	if (status == GALVO_OK && p.unit == UNIT_BYTES_PER_SEC)
		status = is_link ? panel_gpu_peaks(m, &p, of_links, ARRAY_LEN(of_links),
		                                   m->gpu_place[gpu], reterr)
		                 : panel_gpu_peaks(m, &p, of_memory, ARRAY_LEN(of_memory),
		                                   m->gpu_place[gpu], reterr);
	return status == GALVO_OK ? panel_keep(m, &p, reterr) : status;
}

static galvo_status gpu_add(struct panel_maker *m, size_t gpu, struct counters *c, galvo_error *reterr)
{
	galvo_status status = find_counters(m, gpu, c, reterr);
	size_t i;

	for (i = 0; i < c->len && status == GALVO_OK; i++)
		if (!c->all[i].is_drawn)
			status = unit_add(m, gpu, c->all + i, c->len - i, reterr);
	return status;
}

galvo_status panels_counters(struct panel_maker *m, galvo_error *reterr)
{
	struct gpu_rows *rows = &m->memory->samples;
	galvo_status status = gpu_rows_init(rows, m->run, STREAM_GPU, SCOPE_GPU, reterr);
	struct counters c;
	size_t n, i;

	if (status != GALVO_OK || !rows->table)
		return status;
	c = (struct counters){
		.all = alloc_array(rows->table->columns_len + ARRAY_LEN(known), sizeof(*c.all)),
		.is_taken = alloc_array(rows->table->columns_len, sizeof(*c.is_taken))};
	if (!c.all || !c.is_taken)
		status = panels_no_memory(reterr);
	for (i = 0; i < m->summary->gpus_len && status == GALVO_OK; i++)
		if (gpu_rows_of(rows, m->summary->gpus[i].number, &n) && n)
			status = gpu_add(m, m->summary->gpus[i].number, &c, reterr);
	free(c.all);
	free(c.is_taken);
	return status;
}
