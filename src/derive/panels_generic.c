/* Columns that no rule has taken: panels by what they are about and by unit. */
#include <math.h>

#include "panels_parts.h"

/* What is behind a metric's name, where the catalog has no unit; the first that fits. */
static const struct {
	const char *end;
	enum metric_unit unit;
} endings[] = {
	{"_bytes.sum.per_second", UNIT_BYTES_PER_SEC}, {"_requests.sum.per_second", UNIT_REQUESTS_PER_SEC},
	{".per_second", UNIT_PER_SEC}, {".pct_of_peak_sustained_elapsed", UNIT_PCT}, {".pct", UNIT_PCT},
	{".ratio", UNIT_RATIO}, {"_bytes", UNIT_BYTES}, {"_hz", UNIT_HZ}, {"_watts", UNIT_WATTS},
	{"_joules", UNIT_JOULES}, {"_celsius", UNIT_CELSIUS}, {"_ns", UNIT_NANOSECONDS},
};

/* What says nothing beside the unit of a panel. */
static const char *const rollups[] = {
	".sum.per_second", ".avg.pct_of_peak_sustained_elapsed", ".pct_of_peak_sustained_elapsed",
	".per_second", ".pct", ".ratio",
};

static const struct {
	const char *group;
	enum scope scope;
	bool is_of_many; /* processes and their kin: a panel a column, those that matter most */
} scopes[] = {
	{"Machine", SCOPE_SYSTEM, false}, {"Machine", SCOPE_SYSTEM_DETAIL, false},
	{"Machine", SCOPE_CORE, false}, {"Processes", SCOPE_PROCESS, true},
	{"Processes", SCOPE_PROCESS_DETAIL, true}, {"Processes", SCOPE_THREAD, true},
	{"Disks", SCOPE_DEVICE, false}, {"Network", SCOPE_INTERFACE, false},
	{"GPUs", SCOPE_GPU, false}, {"GPUs", SCOPE_GPU_DETAIL, false},
	{"GPUs", SCOPE_GPU_PROCESS, true},
};

static bool ends_in(struct span s, const char *end)
{
	const size_t n = strlen(end);

	return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

enum metric_unit panels_unit(const struct galvo_run *run, const char *name)
{
	const struct session_metric *metric = panels_metric(run, name);
	enum metric_unit unit;
	size_t i;

	if (metric && metric->unit && unit_of_name(metric->unit, &unit))
		return unit;
	for (i = 0; i < ARRAY_LEN(endings); i++)
		if (ends_in(span_str(name), endings[i].end))
			return endings[i].unit;
	return UNIT_COUNT;
}

bool unit_is_level(enum metric_unit unit)
{
	switch (unit) {
	case UNIT_BYTES_PER_SEC:
	case UNIT_PCT:
	case UNIT_PCT_OF_CORE:
	case UNIT_RATIO:
	case UNIT_PER_SEC:
	case UNIT_REQUESTS_PER_SEC: return false;
	default: return true;
	}
}

/* ---- one column ------------------------------------------------------------------------------ */

struct lone_column {
	const char *name;
	struct span entity;
	const char *label;
	enum metric_unit unit;
	bool is_grouped;
};

struct span panels_short_name(struct span name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rollups); i++)
		if (ends_in(name, rollups[i]))
			return span_of(name.p, name.n - strlen(rollups[i]));
	return name;
}

static const char *label_of(struct panel_maker *m, struct span all, struct span entity)
{
	struct span text = all;
	size_t at;

	if (entity.n) {
		at = (size_t)(entity.p - all.p) + entity.n + strlen("__");
		text = span_of(all.p + at, all.n - at);
	}
	at = m->text.len;
	put_clipped(&m->text, panels_short_name(text));
	for (; at < m->text.len; at++)
		if (m->text.p[at] == '_')
			m->text.p[at] = ' ';
	return panels_text(m->memory, &m->text);
}

/* What its values are between; false: it has none. */
static bool find_range(const struct table *t, size_t column, double *ret_low, double *ret_high)
{
	double low = INFINITY, high = -INFINITY;
	size_t i;

	for (i = 0; i < t->rows_len; i++)
		if (isfinite(t->values[column][i])) {
			low = fmin(low, t->values[column][i]);
			high = fmax(high, t->values[column][i]);
		}
	*ret_low = low;
	*ret_high = high;
	return high >= low;
}

/* ---- a panel of several ---------------------------------------------------------------------- */

/* Entities, units and labels are texts from outside: no two may be told apart by a blank alone. */
static galvo_status name_panel(struct panel_maker *m, const struct lone_column *c, bool is_of_many,
                               struct panel_rule *rule, galvo_error *reterr)
{
	const struct table *t = feed_of(m, rule->stream, rule->scope)->ledger.table;
	size_t i;

	buf_printf(&m->text, "%s-", scope_name(t->scope));
	put_clipped(&m->text, c->entity);
	buf_printf(&m->text, "-%s", is_of_many ? c->label : unit_name(c->unit));
	for (i = 0; i < m->text.len; i++)
		if (m->text.p[i] == '_' || m->text.p[i] == ' ')
			m->text.p[i] = '-';
	rule->id = panels_text(m->memory, &m->text);
	put_clipped(&m->text, c->entity);
	if (is_of_many)
		buf_printf(&m->text, ": %s", c->label);
	else
		buf_printf(&m->text, " (%s)", unit_name(c->unit));
	rule->title = panels_text(m->memory, &m->text);
	return rule->id && rule->title ? GALVO_OK : panels_no_memory(reterr);
}

static bool is_alike(const struct lone_column *a, const struct lone_column *b)
{
	return a->unit == b->unit && span_eq(a->entity, b->entity);
}

/* All columns from the first one on that belong into one panel with it. */
static galvo_status group_add(struct panel_maker *m, struct feed *f, struct lone_column *all,
                              size_t n, const char *group, bool is_of_many, galvo_error *reterr)
{
	const struct table *t = f->ledger.table;
	struct panel_column *columns = panels_alloc(m->memory, n, sizeof(*columns));
	struct panel_rule rule = {.group = group, .stream = t->stream, .scope = t->scope,
	                          .unit = all[0].unit, .columns = columns,
	                          .flags = is_of_many ? PANEL_FEW : PANEL_QUIET,
	                          .ceiling = all[0].unit == UNIT_PCT ? 100 : 0};
	const bool is_level = unit_is_level(all[0].unit);
	galvo_status status;
	size_t i;

	if (!columns)
		return panels_no_memory(reterr);
	for (i = 0; i < n && (rule.columns_len == 0 || !is_of_many); i++) {
		double low, high;

		if (all[i].is_grouped || !is_alike(&all[0], &all[i]))
			continue;
		all[i].is_grouped = true;
		if (!find_range(t, table_column(t, all[i].name), &low, &high))
			continue;
		if (low < 0)
			rule.flags |= PANEL_FLOATS;
		if (high > 100)
			rule.ceiling = 0;
		columns[rule.columns_len++] = (struct panel_column){all[i].name, all[i].label, is_level};
	}
	if (!rule.columns_len)
		return GALVO_OK;
	if (rule.unit == UNIT_CELSIUS || rule.unit == UNIT_HZ)
		rule.flags |= PANEL_FLOATS;
	status = name_panel(m, &all[0], is_of_many, &rule, reterr);
	if (is_of_many)
		columns[0].label = NULL;
	return status == GALVO_OK ? panel_add(m, &rule, reterr) : status;
}

static galvo_status feed_add(struct panel_maker *m, struct feed *f, galvo_error *reterr)
{
	const struct table *t = f->ledger.table;
	struct lone_column *all = alloc_array(t->columns_len, sizeof(*all));
	galvo_status status = all ? GALVO_OK : panels_no_memory(reterr);
	size_t n = 0, scope = 0, i;

	while (scope + 1 < ARRAY_LEN(scopes) && scopes[scope].scope != t->scope)
		scope++;
	for (i = 0; status == GALVO_OK && i < t->columns_len; i++) {
		struct metric_name name = {0};

		if (f->column[i].is_taken)
			continue;
		metric_name_split(t->columns[i], &name);
		all[n] = (struct lone_column){
			.name = t->columns[i], .entity = name.entity,
			.label = label_of(m, span_str(t->columns[i]), name.entity),
			.unit = panels_unit(m->run, t->columns[i])};
		if (!all[n++].label)
			status = panels_no_memory(reterr);
	}
	for (i = 0; status == GALVO_OK && i < n; i++)
		if (!all[i].is_grouped)
			status = group_add(m, f, all + i, n - i, scopes[scope].group,
			                   scopes[scope].is_of_many, reterr);
	free(all);
	return status;
}

galvo_status panels_generic(struct panel_maker *m, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < panel_silent_len; i++) {
		struct feed *f = feed_of(m, panel_silent[i].stream, panel_silent[i].scope);
		size_t column = f ? table_column(f->ledger.table, panel_silent[i].name) : SIZE_MAX;

		if (column != SIZE_MAX)
			f->column[column].is_taken = true;
	}
	for (i = 0; i < m->memory->feeds_len && status == GALVO_OK; i++)
		status = feed_add(m, &m->memory->feeds[i], reterr);
	return status;
}
