/* One parser, one text, and all it put shown as one line: for tables of rows and for fuzzing. */
#ifndef GALVO_SOURCE_RIG_H
#define GALVO_SOURCE_RIG_H

#include "source/source.h"

enum { RIG_ROWS = 8, RIG_NAME = 32 };

struct rig {
	struct raw_sink sink; /* must be first */
	size_t rows_len;      /* beyond RIG_ROWS nobody asks for more */
	bool is_again;        /* the same text once more, into the first row */
	struct rig_row {
		char name[RIG_NAME];
		uint32_t number;
		struct raw raw;
	} rows[RIG_ROWS];
};

static const struct world rig_world = {
	.root_fd = -1, .cpu_count = 2, .clk_tck = 100, .page_bytes = 4096, .clock = &clock_real,
};

static struct raw *rig_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	struct rig *rig = (struct rig *)(void *)sink;
	struct rig_row *row = &rig->rows[rig->rows_len];

	if (rig->is_again)
		return &rig->rows[0].raw;
	if (rig->rows_len == RIG_ROWS)
		return NULL;
	rig->rows_len++;
	row->number = number;
	row->raw.present = 0;
	utf8_copy(row->name, sizeof(row->name), name);
	return &row->raw;
}

static inline void rig_init(struct rig *rig)
{
	rig->sink.row = rig_row;
	rig->rows_len = 0;
	rig->is_again = false;
}

static inline const struct source *rig_source(struct span name)
{
	size_t i;

	for (i = 0; i < source_table_len; i++)
		if (span_eq_str(name, source_table[i]->name))
			return source_table[i];
	return NULL;
}

static inline const struct source_text *rig_text(const struct source *s, struct span path)
{
	size_t i;

	for (i = 0; s && i < s->texts_len; i++)
		if (span_eq_str(path, s->texts[i].path))
			return &s->texts[i];
	return NULL;
}

/* "eth0#0 rx_bytes=1 rx_drops=2; lo#0 rx_bytes=3": the name only where there is one. */
static inline void rig_show(const struct rig *rig, const struct source *s, struct buf *to)
{
	size_t i, f;

	for (i = 0; i < rig->rows_len; i++) {
		const struct rig_row *row = &rig->rows[i];

		buf_put_str(to, i ? "; " : "");
		if (row->name[0])
			buf_printf(to, "%s#%u", row->name, row->number);
		for (f = 0; f < s->fields_len; f++)
			if (row->raw.present & FIELD(f))
				buf_printf(to, "%s%s=%llu",
				           to->len && to->p[to->len - 1] != ' ' ? " " : "",
				           s->fields[f].name,
				           (unsigned long long)row->raw.value[f]);
	}
}

#endif
