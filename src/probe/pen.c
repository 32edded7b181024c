/* Reading the sources of a lane; those of the machine share one row. */
#include "internal.h"

static void read_single(struct probe *p, struct pen *pen)
{
	const struct source *source = pen->source;
	size_t i;

	for (i = 0; i < source->texts_len; i++) {
		const struct source_text *t = &source->texts[i];
		struct raw_only_sink to;
		galvo_error error;
		galvo_status status;

		if (!text_is_wanted(p, t) || (pen->series.text[i].mono_ns && !text_is_due(pen, t)))
			continue;
		to.sink.row = raw_only_row;
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

/* Begins at the instant given and returns that at which it is done. */
static uint64_t pen_read(struct probe *p, struct pen *pen, uint64_t from_mono_ns)
{
	uint64_t now;

	switch (pen->source->shape) {
	case SHAPE_SINGLE:
		read_single(p, pen);
		break;
	case SHAPE_LISTED:
		instances_read(p, pen);
		break;
	case SHAPE_PROCESS:
		members_read(p, pen);
		break;
	case SHAPE_THREAD:
		threads_read(p, pen);
		break;
	case SHAPE_GPU: /* telemetry.h */
		break;
	}
	pen->turns++;
	if (pen->failures && !pen->first_failure_mono_ns)
		pen->first_failure_mono_ns = from_mono_ns;
	now = probe_now(p);
	p->read_ns += now - from_mono_ns;
	if (is_in_slices(pen)) {
		slice_end(pen, now - from_mono_ns);
		return now;
	}
	pen->reads++;
	budget_account(pen, now - from_mono_ns);
	return now;
}

/* The one row that the sources of the machine fill together. */
static void put_single_row(struct probe *p, const struct lane *lane)
{
	double row[ROW_MAX];
	uint64_t mono_ns = 0;
	bool is_grown = false;
	size_t i, n = 0;

	for (i = 0; i < lane->pens_len; i++) {
		const struct pen *pen = lane->pens[i];
		size_t columns = pen->source->metrics_len;

		if (n + columns > ROW_MAX)
			break;
		memcpy(row + n, pen->series.value, columns * sizeof(row[0]));
		n += columns;
		is_grown |= pen->series.reads > 1;
		if (pen->feeds[0]->mono_ns > mono_ns)
			mono_ns = pen->feeds[0]->mono_ns;
	}
	if (is_grown && p->config.stream)
		stream_row(p->config.stream, lane->scope, mono_ns, (struct row_key){0}, row, n);
}

uint64_t lane_read(struct probe *p, struct lane *lane, uint64_t from_mono_ns)
{
	size_t i;

	for (i = 0; i < lane->pens_len; i++)
		from_mono_ns = pen_read(p, lane->pens[i], from_mono_ns);
	if (lane->pens[0]->source->shape == SHAPE_SINGLE)
		put_single_row(p, lane);
	return from_mono_ns;
}
