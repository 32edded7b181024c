/* What of a run is drawn: the panels that the rules make of its tables. */
#include <math.h>

#include "panels_parts.h"

#define PROCESSES_MAX 24 /* if nobody says otherwise */

#define TEXT_MAX (UINT32_C(1) << 20)

struct feed *feed_of(const struct panel_maker *m, enum stream_kind stream, enum scope scope)
{
	size_t i;

	for (i = 0; i < m->memory->feeds_len; i++) {
		struct feed *f = &m->memory->feeds[i];

		if (f->ledger.table->stream == stream && f->ledger.table->scope == scope)
			return f;
	}
	return NULL;
}

static galvo_status feeds_make(struct panel_maker *m, galvo_error *reterr)
{
	const struct galvo_run *run = m->run;
	galvo_status status = GALVO_OK;
	size_t i;

	m->memory->feeds = alloc_array(run->tables_len, sizeof(*m->memory->feeds));
	if (!m->memory->feeds)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu tables", run->tables_len);
	for (i = 0; i < run->tables_len && status == GALVO_OK; i++) {
		const struct table *t = &run->tables[i];

		if (t->rows_len && t->stream != STREAM_GPU && t == run_table(run, t->stream, t->scope))
			status = feed_init(&m->memory->feeds[m->memory->feeds_len++], run, t, reterr);
	}
	return status;
}

/* ---- the axis -------------------------------------------------------------------------------- */

/* A run that does not know its start begins where its first values do. */
static void find_axis(struct panel_maker *m)
{
	const bool is_told = m->run->session && m->run->session->start_mono_ns;
	struct panels *p = m->panels;
	size_t i, k;

	p->zero_mono_ns = m->summary->start_mono_ns;
	p->end_mono_ns = m->summary->end_mono_ns;
	for (i = 0; i < m->memory->feeds_len; i++) {
		const struct feed *f = &m->memory->feeds[i];
		const struct table *t = f->ledger.table;
		uint64_t last_ns = t->mono_ns[t->rows_len - 1];

		if (last_ns > p->end_mono_ns)
			p->end_mono_ns = last_ns;
		for (k = 0; !is_told && k < t->columns_len; k++) {
			uint64_t period_ns = f->column[k].period_ns;
			uint64_t from_ns = t->mono_ns[0] > period_ns ? t->mono_ns[0] - period_ns : 0;

			if (f->column[k].is_known && from_ns < p->zero_mono_ns)
				p->zero_mono_ns = from_ns;
		}
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static galvo_status make_all(struct panel_maker *m, galvo_error *reterr)
{
	galvo_status status = feeds_make(m, reterr);
	size_t i;

	if (status == GALVO_OK)
		status = process_places(m->summary, m->run, &m->place, reterr);
	for (i = 0; i < panel_rules_len && status == GALVO_OK; i++)
		status = panel_add(m, &panel_rules[i], reterr);
	if (status == GALVO_OK)
		find_axis(m);
	return status;
}

galvo_status panels_make(struct panels *ret, const struct galvo_run *run,
                         const struct galvo_summary *summary, const struct panels_options *options,
                         galvo_error *reterr)
{
	struct panel_maker m = {.panels = ret, .run = run, .summary = summary};
	galvo_status status;
	size_t i;

	*ret = (struct panels){.run = run, .summary = summary};
	if (options)
		m.options = *options;
	if (!m.options.processes_max)
		m.options.processes_max = PROCESSES_MAX;
	ret->memory = m.memory = alloc_array(1, sizeof(*m.memory));
	if (!m.memory)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for panels");
	buf_init(&m.text, TEXT_MAX);
	status = make_all(&m, reterr);
	buf_finish(&m.text);
	free(m.place);
	for (i = 0; i < m.memory->feeds_len; i++)
		feed_forget_figures(&m.memory->feeds[i]);
	return status;
}

void panels_finish(struct panels *p)
{
	panels_memory_destroy(p->memory);
	free(p->panels);
	*p = (struct panels){0};
}
