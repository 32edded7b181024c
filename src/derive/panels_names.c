/* What things are called in panels, and what tells them from each other in every reading of a run. */
#include "panels_parts.h"

/* A character that is too wide for what is left goes, and with it all that follows. */
void put_clipped(struct buf *b, const char *bytes)
{
	const size_t from = b->len;
	struct span text;
	size_t fits;

	buf_put_escaped(b, span_str(bytes));
	text = span_of(b->p + from, b->failed ? 0 : b->len - from);
	if (text.n == 0)
		buf_put_str(b, "?");
	if (text_columns(text) <= LABEL_COLUMNS)
		return;
	fits = text_fit(text, LABEL_COLUMNS - 1);
	b->len = from + fits;
	buf_put_str(b, "\xe2\x80\xa6");
}

static void put_process(struct buf *b, const struct process_info *p)
{
	if (p->alias[0]) {
		put_clipped(b, p->alias);
		return;
	}
	put_clipped(b, p->comm);
	buf_printf(b, " (%u)", (unsigned)p->pid);
}

void put_thing_label(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing)
{
	const struct table *t = f->ledger.table;

	switch (t->scope) {
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL:
		put_process(b, &m->run->processes[thing]);
		break;
	case SCOPE_CORE:
		buf_printf(b, "CPU %u", (unsigned)thing);
		break;
	default:
		if (thing < t->names_len)
			put_clipped(b, t->names[thing]);
		break;
	}
}

void put_thing_key(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing)
{
	const struct process_info *p;

	switch (f->ledger.table->scope) {
	case SCOPE_PROCESS:
	case SCOPE_PROCESS_DETAIL:
		p = &m->run->processes[thing];
		buf_printf(b, "%u:%llu", (unsigned)p->pid, (unsigned long long)p->start_ticks);
		break;
	default:
		put_thing_label(m, b, f, thing);
		break;
	}
}
