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

		if (t->rows_len && t->stream != STREAM_GPU &&
		    (t->stream == STREAM_TELEMETRY || !m->options.gpu_only))
			status = feed_init(&m->memory->feeds[m->memory->feeds_len++], run, t, reterr);
	}
	return status;
}

/* ---- the axis -------------------------------------------------------------------------------- */

/* As the report has it: where nobody says when the recording began, from the first row. */
static void find_axis(struct panel_maker *m)
{
	struct panels *p = m->panels;
	size_t i;

	p->zero_mono_ns = m->summary->start_mono_ns;
	p->end_mono_ns = m->summary->end_mono_ns;
	for (i = 0; i < m->run->tables_len; i++) {
		const struct table *t = &m->run->tables[i];

		if (t->rows_len && t->mono_ns[t->rows_len - 1] > p->end_mono_ns)
			p->end_mono_ns = t->mono_ns[t->rows_len - 1];
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static galvo_status rules_follow(struct panel_maker *m, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < panel_rules_len && status == GALVO_OK; i++)
		status = panel_add(m, &panel_rules[i], reterr);
	return status;
}

/* Who is who in the summary. */
static galvo_status find_places(struct panel_maker *m, galvo_error *reterr)
{
	const struct galvo_summary *s = m->summary;
	size_t i;

	m->gpu_place = alloc_array(s->gpus_len, sizeof(*m->gpu_place));
	m->thread_process = alloc_array(s->threads_len, sizeof(*m->thread_process));
	if (!m->gpu_place || !m->thread_process)
		return panels_no_memory(reterr);
	for (i = 0; i < s->gpus_len; i++)
		m->gpu_place[s->gpus[i].number] = i;
	for (i = 0; i < s->threads_len; i++)
		m->thread_process[s->threads[i].info - m->run->threads] = s->threads[i].process;
	return process_places(s, m->run, &m->place, reterr);
}

static galvo_status make_all(struct panel_maker *m, galvo_error *reterr)
{
	static galvo_status (*const parts[])(struct panel_maker *, galvo_error *) = {
		feeds_make, find_places, rules_follow, panels_generic, panels_counters, panels_arrange,
		panels_lanes,
	};
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < ARRAY_LEN(parts) && status == GALVO_OK; i++)
		status = parts[i](m, reterr);
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
	free(m.gpu_place);
	free(m.thread_process);
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
