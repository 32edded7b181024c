/* What things are called in panels, and what tells them from each other in every reading of a run. */
#include "panels_parts.h"

/* A character that is too wide for what is left goes, and with it all that follows. */
void put_clipped(struct buf *b, struct span bytes)
{
	const size_t from = b->len;
	struct span text;

	if (bytes.n == 0)
		buf_put_str(b, "?");
	/* No more of it than can be seen: names may be any length. */
	if (bytes.n > EVENT_NAME_MAX)
		bytes.n = EVENT_NAME_MAX;
	buf_put_escaped(b, bytes);
	if (b->failed)
		return;
	text = span_of(b->p + from, b->len - from);
	if (text_columns(text) <= LABEL_COLUMNS)
		return;
	b->len = from + text_fit(text, LABEL_COLUMNS - 1);
	buf_put_str(b, "\xe2\x80\xa6");
}

void put_gpu_label(struct panel_maker *m, struct buf *b, size_t gpu)
{
	const struct summary_gpu *g = &m->summary->gpus[gpu];
	const struct summary_gpu *whole = g->parent == SIZE_MAX ? g : &m->summary->gpus[g->parent];

	buf_printf(b, "GPU %s%u", whole->has_cuda_index ? "cuda " : "", (unsigned)whole->info->index);
	if (g != whole)
		buf_printf(b, " MIG %u/%u", (unsigned)g->info->gpu_instance,
		           (unsigned)g->info->compute_instance);
}

void put_gpu_key(struct panel_maker *m, struct buf *b, size_t gpu)
{
	const struct summary_gpu *g = &m->summary->gpus[gpu];
	const struct summary_gpu *whole = g->parent == SIZE_MAX ? g : &m->summary->gpus[g->parent];

	buf_printf(b, "%s%u", whole->has_cuda_index ? "cuda" : "gpu", (unsigned)whole->info->index);
	if (g != whole)
		buf_printf(b, "-mig%u-%u", (unsigned)g->info->gpu_instance,
		           (unsigned)g->info->compute_instance);
}

static void put_process(struct buf *b, const struct process_info *p)
{
	if (p->alias[0]) {
		put_clipped(b, span_str(p->alias));
		return;
	}
	put_clipped(b, span_str(p->comm));
	buf_printf(b, " (%u)", (unsigned)p->pid);
}

static void put_user(struct panel_maker *m, struct buf *b, const struct gpu_user *u)
{
	if (u->process == PROCESS_NONE)
		buf_printf(b, "pid %u", (unsigned)u->pid);
	else
		put_process(b, &m->run->processes[u->process]);
	if (m->summary->gpus_len > 1) {
		buf_put_str(b, " on ");
		put_gpu_label(m, b, m->gpu_place[u->gpu]);
	}
}

void put_thing_label(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing)
{
	const struct table *t = f->ledger.table;

	switch (t->scope) {
	case SCOPE_SYSTEM:
	case SCOPE_SYSTEM_DETAIL:
		break;
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL:
		put_process(b, &m->run->processes[thing]);
		break;
	case SCOPE_THREAD:
		put_clipped(b, span_str(m->run->threads[thing].name));
		buf_printf(b, " (%u)", (unsigned)m->run->threads[thing].tid);
		break;
	case SCOPE_CORE:
		buf_printf(b, "CPU %u", (unsigned)thing);
		break;
	case SCOPE_GPU:
	case SCOPE_GPU_DETAIL:
		put_gpu_label(m, b, m->gpu_place[thing]);
		break;
	case SCOPE_GPU_PROCESS:
		put_user(m, b, &f->users[thing]);
		break;
	case SCOPE_DEVICE:
	case SCOPE_INTERFACE:
		put_clipped(b, span_str(t->names[thing]));
		break;
	}
}

static void put_identity(struct buf *b, uint32_t number, uint64_t start_ticks)
{
	buf_printf(b, "%u:%llu", (unsigned)number, (unsigned long long)start_ticks);
}

void put_thing_key(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing)
{
	const struct galvo_run *run = m->run;

	switch (f->ledger.table->scope) {
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL:
		put_identity(b, run->processes[thing].pid, run->processes[thing].start_ticks);
		break;
	case SCOPE_THREAD:
		put_identity(b, run->threads[thing].tid, run->threads[thing].start_ticks);
		break;
	case SCOPE_CORE:
		buf_printf(b, "%u", (unsigned)thing);
		break;
	case SCOPE_GPU:
	case SCOPE_GPU_DETAIL:
		put_gpu_key(m, b, m->gpu_place[thing]);
		break;
	case SCOPE_GPU_PROCESS:
		put_gpu_key(m, b, m->gpu_place[f->users[thing].gpu]);
		buf_put_str(b, "/");
		if (f->users[thing].process == PROCESS_NONE)
			buf_printf(b, "%u", (unsigned)f->users[thing].pid);
		else
			put_identity(b, f->users[thing].pid,
			             run->processes[f->users[thing].process].start_ticks);
		break;
	case SCOPE_SYSTEM:
	case SCOPE_SYSTEM_DETAIL:
	case SCOPE_DEVICE:
	case SCOPE_INTERFACE:
		put_thing_label(m, b, f, thing);
		break;
	}
}
