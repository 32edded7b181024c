/* Reading a source: the shared texts, and sources that have one row for the whole machine. */
#include "internal.h"

void feed_read(struct probe *p, struct feed *f, galvo_error *reterr)
{
	const struct world *w = p->config.world;

	if (f->tick == p->tick && f->mono_ns)
		return;
	f->status = kept_read(&f->kept, w->root_fd, f->path, w->epoch, f->kind, &f->buf, &f->text,
	                      reterr);
	f->mono_ns = probe_now(p);
	f->tick = p->tick;
}

void pen_fail(struct pen *pen, galvo_status status, const galvo_error *why)
{
	if (status == GALVO_OK)
		return;
	pen->failures++;
	if (why->text[0])
		utf8_copy(pen->reason, sizeof(pen->reason), span_str(why->text));
}

struct single_sink {
	struct raw_sink sink; /* first */
	struct raw raw;
};

static struct raw *single_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	(void)name;
	(void)number;
	return &((struct single_sink *)sink)->raw;
}

static void read_single(struct probe *p, struct pen *pen)
{
	const struct source *source = pen->source;
	size_t i;

	for (i = 0; i < source->texts_len; i++) {
		const struct source_text *t = &source->texts[i];
		struct single_sink to;
		galvo_error error;
		galvo_status status;

		if (!text_is_wanted(p, t) || (pen->series.text[i].mono_ns && !text_is_due(pen, t)))
			continue;
		to.sink.row = single_row;
		raw_clear(&to.raw);
		err_clear(&error); /* whoever read the file before us in this tick has the words */
		feed_read(p, pen->feeds[i], &error);
		status = pen->feeds[i]->status;
		if (status == GALVO_OK)
			status = t->parse(pen->feeds[i]->text, p->config.world, &to.sink, &error);
		/* What failed is absent from now on: an empty reading says so. */
		series_update(&pen->series, i, &to.raw, pen->feeds[i]->mono_ns);
		pen_fail(pen, status, &error);
	}
}

uint64_t pen_read(struct probe *p, struct pen *pen, enum scope scope, uint64_t from_mono_ns)
{
	uint64_t now;

	switch (pen->source->shape) {
	case SHAPE_SINGLE:
		read_single(p, pen);
		break;
	case SHAPE_LISTED:
		instances_read(p, pen, scope);
		break;
	case SHAPE_PROCESS:
		members_read(p, pen, scope);
		break;
	}
	pen->reads++;
	pen->turns++;
	now = probe_now(p);
	budget_account(pen, now - from_mono_ns);
	return now;
}
