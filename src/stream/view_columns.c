/* What the public reader shows of tables and columns, and what the catalog says of them. */
#include "galvo/metrics.h"
#include "view.h"

galvo_status view_table(const struct galvo_run *run, size_t i, const struct table **ret_table,
                        galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->tables_len : 0, reterr);

	if (status == GALVO_DONE)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no table %zu", i);
	if (status != GALVO_OK)
		return status;
	*ret_table = &run->tables[i];
	return GALVO_OK;
}

int32_t table_key_kind(const struct table *t)
{
	switch (t->scope) {
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL: return GALVO_KEY_PROCESS;
	case SCOPE_THREAD: return GALVO_KEY_THREAD;
	case SCOPE_CORE: return GALVO_KEY_CPU;
	case SCOPE_GPU:
	case SCOPE_GPU_DETAIL: return GALVO_KEY_GPU;
	case SCOPE_GPU_PROCESS: return GALVO_KEY_GPU_PROCESS;
	case SCOPE_DEVICE:
	case SCOPE_INTERFACE: return GALVO_KEY_NAME;
	case SCOPE_SYSTEM:
	case SCOPE_SYSTEM_DETAIL: break;
	}
	return GALVO_KEY_NONE;
}

galvo_status galvo_run_table_at(const galvo_run *run, size_t i, galvo_run_table *ret_table,
                                galvo_error *reterr)
{
	galvo_status status = view_at(run, i, run ? run->tables_len : 0, reterr);
	galvo_run_table table;
	const struct table *t;

	if (status != GALVO_OK)
		return status;
	t = &run->tables[i];
	table = (galvo_run_table){
		.stream = (int32_t)t->stream,
		.key_kind = table_key_kind(t),
		.scope = scope_name(t->scope),
		.rows_len = t->rows_len,
		.columns_len = t->columns_len,
		.names_len = t->names_len,
		.mono_ns = t->mono_ns,
		.key = t->key,
		.names = t->names,
		.pid = t->pid,
		.duration_ns = t->duration_ns,
	};
	return view_give("table", ret_table, &table, sizeof(table), reterr);
}

/* The run's own catalog goes first: it may be another galvo's, or the user's. */
static void describe(const struct galvo_run *run, galvo_run_column *column)
{
	galvo_metric metric = {.struct_size = sizeof(metric)};
	const struct session *s = run->session;
	size_t i;

	for (i = 0; s && i < s->metrics_len; i++)
		if (strcmp(s->metrics[i].name, column->name) == 0) {
			column->unit = s->metrics[i].unit;
			column->type = s->metrics[i].type;
			column->source = s->metrics[i].source;
			column->help = s->metrics[i].help;
			return;
		}
	for (i = 0; galvo_metric_at(i, &metric, NULL) == GALVO_OK; i++)
		if (strcmp(metric.name, column->name) == 0) {
			column->unit = metric.unit;
			column->type = metric.type;
			column->source = metric.source;
			column->help = metric.help;
			return;
		}
}

galvo_status galvo_run_column_at(const galvo_run *run, size_t table, size_t i,
                                 galvo_run_column *ret_column, galvo_error *reterr)
{
	galvo_run_column column = {.unit = "", .type = "", .source = "", .help = ""};
	const struct table *t;
	galvo_status status = view_table(run, table, &t, reterr);

	if (status != GALVO_OK)
		return status;
	if (i >= t->columns_len)
		return GALVO_DONE;
	column.name = t->columns[i];
	column.values = t->values[i];
	describe(run, &column);
	return view_give("column", ret_column, &column, sizeof(column), reterr);
}

galvo_status galvo_run_column_find(const galvo_run *run, const char *name, size_t *ret_table,
                                   size_t *ret_column, galvo_error *reterr)
{
	size_t i, c;

	if (!run || !name || !ret_table || !ret_column)
		return err_set(reterr, GALVO_ERR_INVALID, "a run, a name and places are needed");
	for (i = 0; i < run->tables_len; i++) {
		c = table_column(&run->tables[i], name);
		if (c == SIZE_MAX)
			continue;
		*ret_table = i;
		*ret_column = c;
		return GALVO_OK;
	}
	return err_set(reterr, GALVO_ERR_ABSENT, "the run has no column %s", name);
}
