/* From messages to columns: a parser that is fed the bytes of a stream piece by piece. */
#include <stdarg.h>

#include "reader.h"

enum { DAMAGES_MAX = 4096 }; /* of a run; more are counted only */

struct stream_build {
	struct reading *r;
	const struct stream_form *form;
	struct run_stream stream;
	struct stream_progress progress;
	size_t sources_from; /* where the stream's sources begin */
	uint64_t taken_bytes, file_bytes;
	struct table_build tables[ROW_FORMS_MAX];
	struct gpus_build gpus; /* of streams about them */
};

/* ---- one message --------------------------------------------------------------------------- */

static struct table_build *table_of(struct stream_build *b, uint32_t field)
{
	const struct row_form *row = row_form_of_field(b->form, field);

	return row ? &b->tables[row - b->form->rows] : NULL;
}

/* Those of a scope of another time are nobody's. */
static bool read_names(struct stream_build *b, struct span bytes)
{
	struct span rest = bytes;
	struct table_build *t = NULL;
	struct wire_field f;
	size_t i;

	while (wire_next(&rest, &f) == GALVO_OK)
		for (i = 0; f.number == NAMES_SCOPE && i < b->form->rows_len; i++)
			if (f.type == WIRE_VARINT && f.value == b->form->rows[i].scope)
				t = &b->tables[i];
	return !t || table_add_names(t, bytes);
}

static bool read_field(struct stream_build *b, const struct wire_field *f)
{
	if (f->number == TRACE_PROBE_STATS)
		return stats_read(b->r, &b->stream, b->sources_from, f->bytes);
	if (b->form->has_events)
		return events_read(b->r, &b->stream, f->number, f->bytes);
	if (f->number == TRACE_NAMES)
		return read_names(b, f->bytes);
	if (b->form->has_gpus)
		return gpus_read(&b->gpus, b->form, f->number, f->bytes);
	if (f->number == TRACE_PROCESSES)
		return process_read(b->r, f->bytes);
	if (f->number == TRACE_THREADS && b->form->has_threads)
		return thread_read(b->r, f->bytes);
	if (f->number == TRACE_BLOCK_DEVICES && b->form->devices_field)
		return device_read(b->r, f->bytes);
	return f->number != b->form->devices_field || device_name_read(b->r, f->bytes);
}

/* How many more rows will come if the file goes on as it began. */
static size_t rows_to_come(const struct stream_build *b, size_t rows)
{
	uint64_t left = b->file_bytes > b->taken_bytes ? b->file_bytes - b->taken_bytes : 0;

	return b->taken_bytes ? (size_t)((double)rows * (double)left / (double)b->taken_bytes) : 0;
}

/* All but the rows, which protobuf lets stand before what they need; and room for those. */
static galvo_status read_around(struct stream_build *b, struct span message)
{
	size_t rows[ROW_FORMS_MAX] = {0}, i;
	struct wire_field f;
	galvo_status status;

	gpus_forget_anchors(&b->gpus);
	for (i = 0; i < b->form->rows_len; i++)
		b->tables[i].map_len = 0;
	while ((status = wire_next(&message, &f)) == GALVO_OK) {
		const struct table_build *t = f.type == WIRE_BYTES ? table_of(b, f.number) : NULL;

		if (t)
			rows[t - b->tables]++;
		else if (!field_is_sound(b->form, &f))
			return GALVO_ERR_MALFORMED;
		else if (f.type == WIRE_BYTES && !read_field(b, &f))
			return GALVO_ERR_NOMEM;
	}
	for (i = 0; i < b->form->rows_len; i++)
		if (!table_reserve(&b->tables[i], rows[i],
		                   rows_to_come(b, b->tables[i].rows_len + rows[i]),
		                   b->taken_bytes))
			return GALVO_ERR_NOMEM;
	return status == GALVO_DONE ? GALVO_OK : status;
}

static galvo_status read_rows(struct stream_build *b, struct span message)
{
	galvo_status status = GALVO_OK;
	struct wire_field f;

	while (status == GALVO_OK && wire_next(&message, &f) == GALVO_OK) {
		struct table_build *t = f.type == WIRE_BYTES ? table_of(b, f.number) : NULL;

		if (t)
			status = table_add_row(t, f.bytes);
	}
	return status;
}

/* MALFORMED: a row is broken, and none of the message's rows are added. */
static galvo_status read_message(struct stream_build *b, struct span message,
                                 const struct header *header)
{
	size_t before[ROW_FORMS_MAX] = {0}, i;
	galvo_status status;

	if (b->form->has_events)
		events_begin_message(b->r, header);
	for (i = 0; i < b->form->rows_len; i++)
		before[i] = b->tables[i].rows_len;
	status = read_around(b, message);
	if (status == GALVO_OK && b->form->rows_len)
		status = read_rows(b, message);
	if (status == GALVO_OK && b->form->has_decodes && b->tables[0].rows_len > before[0] &&
	    !gpus_convert(&b->gpus, header, b->tables[0].mono_ns + before[0],
	                  b->tables[0].rows_len - before[0]))
		status = GALVO_ERR_NOMEM;
	for (i = 0; i < b->form->rows_len; i++) {
		if (status != GALVO_OK)
			b->tables[i].rows_len = before[i];
		b->stream.rows += b->tables[i].rows_len - before[i];
	}
	return status;
}

/* ---- one piece ----------------------------------------------------------------------------- */

bool reading_note(struct reading *r, const char *file, uint64_t offset, bool torn_tail,
                  const char *fmt, ...)
{
	struct damage d = {.file = file, .offset = offset, .torn_tail = torn_tail};
	char text[NAME_MAX_BYTES + 128];
	va_list args;

	if (r->damages.len / sizeof(d) >= DAMAGES_MAX && !torn_tail)
		return true;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	d.text = arena_text(&r->arena, span_str(text));
	if (!d.text)
		return false;
	buf_put(&r->damages, &d, sizeof(d));
	return !r->damages.failed;
}

/* Messages of ours are numbered: a jump that damage does not explain is a gap. */
static bool note_gap(struct stream_build *b, const struct frame *frame)
{
	struct stream_progress *at = &b->progress;
	const struct header *h = &frame->header;
	uint64_t gap = h->sequence - at->next_sequence, from = at->next_sequence;
	uint64_t dropped = b->stream.dropped_batches - at->dropped_before;
	const char *why = dropped >= gap ? "dropped while recording: the disk was full or too slow"
	                                 : "lost since they were recorded";
	bool jumps = at->has_joined && h->major && h->sequence > at->next_sequence &&
	             gap > at->bad_since;

	if (jumps)
		b->stream.missing_messages += gap - at->bad_since;
	if (jumps && at->bad_since)
		why = "damaged or missing";
	at->has_joined = true;
	at->bad_since = 0;
	at->dropped_before = b->stream.dropped_batches;
	at->next_sequence = h->sequence + 1;
	if (!jumps)
		return true;
	if (gap == 1)
		return reading_note(b->r, b->stream.file_name, frame->offset, false,
		                    "message %llu is missing (%s)", (unsigned long long)from, why);
	return reading_note(b->r, b->stream.file_name, frame->offset, false,
	                    "messages %llu to %llu are missing (%s)", (unsigned long long)from,
	                    (unsigned long long)h->sequence - 1, why);
}

static bool take_damage(struct stream_build *b, const struct frame *frame)
{
	if (frame->state == FRAME_TORN)
		return reading_note(b->r, b->stream.file_name, frame->offset, true,
		                    "torn tail: %zu bytes after offset %zu %s", frame->bytes,
		                    frame->offset, frame->reason);
	b->stream.bad_messages++;
	b->progress.bad_since++;
	return reading_note(b->r, b->stream.file_name, frame->offset, false,
	                    "%zu bytes at offset %zu are damaged: %s", frame->bytes, frame->offset,
	                    frame->reason);
}

/* The message is looked at first: a gap before it is judged by the drops that it tells of. */
static bool take_sound(struct stream_build *b, struct frame *frame)
{
	const struct header *h = &frame->header;
	galvo_status status = read_message(b, frame->message, h);

	if (status == GALVO_ERR_MALFORMED) {
		frame->state = FRAME_DAMAGED;
		frame->reason = "its fields are broken";
		return take_damage(b, frame);
	}
	if (status != GALVO_OK)
		return false;
	b->stream.messages++;
	b->stream.frequency_hz = h->frequency_hz;
	if (h->anchor.mono_ns > b->stream.last_mono_ns)
		b->stream.last_mono_ns = h->anchor.mono_ns;
	if (h->anchor.wall_ns)
		buf_put(&b->r->anchors, &h->anchor, sizeof(h->anchor));
	return !b->r->anchors.failed && note_gap(b, frame);
}

galvo_status stream_build_push(struct stream_build *b, struct span bytes, enum scan_end end,
                               size_t *ret_taken, galvo_error *reterr)
{
	struct frame_scan scan = {.form = b->form, .file = bytes, .end = end,
	                          .trusts_checksum = true};
	const uint64_t from = b->progress.offset, taken_before = b->taken_bytes;
	struct frame frame;
	bool ok = true;

	while (ok && frame_next(&scan, &frame)) {
		/* A hostile file cannot make the lists of these many times its own size. */
		b->r->process_keys.max += frame.bytes / PROCESS_WIRE_BYTES;
		b->r->thread_keys.max += frame.bytes / THREAD_WIRE_BYTES;
		b->taken_bytes = taken_before + scan.at;
		frame.offset += (size_t)from;
		if (frame.state != FRAME_SOUND)
			ok = take_damage(b, &frame);
		else if (frame.header.major > STREAM_FORMAT_MAJOR)
			return err_set(reterr, GALVO_ERR_NEWER,
			               "%s: made by a newer galvo: its format is %u.%u, "
			               "and this one reads up to %d", b->stream.file_name,
			               frame.header.major, frame.header.minor, STREAM_FORMAT_MAJOR);
		else
			ok = take_sound(b, &frame);
	}
	b->progress.offset = from + scan.at;
	*ret_taken = scan.at;
	return ok ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}

bool stream_build_skip(struct stream_build *b, size_t n)
{
	const struct frame frame = {.state = FRAME_DAMAGED, .offset = (size_t)b->progress.offset,
	                            .bytes = n, .reason = "no message begins in them"};

	b->progress.offset += n;
	b->taken_bytes += n;
	return take_damage(b, &frame);
}

/* ---- a stream ------------------------------------------------------------------------------ */

struct stream_build *stream_build_create(struct reading *r, const struct stream_form *form,
                                         const char *file_name,
                                         const struct stream_progress *from, uint64_t file_bytes)
{
	struct stream_build *b = alloc_array(1, sizeof(*b));
	size_t i;

	if (!b)
		return NULL;
	b->r = r;
	b->form = form;
	b->progress = *from;
	b->file_bytes = file_bytes;
	b->sources_from = r->sources.len / sizeof(struct run_source);
	b->stream = (struct run_stream){.kind = form->kind, .file_name = file_name, .present = true};
	for (i = 0; i < form->rows_len; i++)
		table_init(&b->tables[i], &form->rows[i]);
	gpus_init(&b->gpus);
	return b;
}

static bool take_table(struct stream_build *b, struct table_build *t)
{
	size_t all = t->columns.len, i;
	struct table table;

	if (!t->rows_len)
		return true;
	if (!table_reserve(t, 0, 0, b->taken_bytes) || !table_take(t, &b->r->arena, &table))
		return false;
	table.stream = b->form->kind;
	for (i = 0; i < table.rows_len; i++)
		if (table.mono_ns[i] > b->stream.last_mono_ns)
			b->stream.last_mono_ns = table.mono_ns[i];
	buf_put(&b->r->tables, &table, sizeof(table));
	return !b->r->tables.failed &&
	       (all == table.columns_len ||
	        reading_note(b->r, b->stream.file_name, 0, false,
	                     "far more column names than values: %zu columns of scope %s are left out",
	                     all - table.columns_len, scope_name(table.scope)));
}

bool stream_build_take(struct stream_build *b, struct stream_progress *ret_progress)
{
	size_t i;

	b->stream.bytes = b->taken_bytes;
	if (b->form->has_gpus && !gpus_take(&b->gpus, b->r, b->tables, b->form->rows_len))
		return false;
	for (i = 0; i < b->form->rows_len; i++)
		if (!take_table(b, &b->tables[i]))
			return false;
	buf_put(&b->r->streams, &b->stream, sizeof(b->stream));
	*ret_progress = b->progress;
	return !b->r->streams.failed;
}

void stream_build_destroy(struct stream_build *b)
{
	size_t i;

	for (i = 0; b && i < b->form->rows_len; i++)
		table_finish(&b->tables[i]);
	if (b)
		gpus_finish(&b->gpus);
	free(b);
}
