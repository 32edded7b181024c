/* From messages to columns: a survey of all messages, then tables of their size, filled. */
#include <math.h>
#include <stdarg.h>

#include "reader.h"

enum {
	COLUMNS_MAX = 1024,  /* of one scope; more names are ignored */
	DAMAGES_MAX = 4096,  /* of a run; more are counted only */
	MESSAGE_MIN = 3,     /* bytes of the smallest sound message with its length */
	CELLS_FACTOR = 4,    /* tables take at most this many times the bytes of the file… */
	CELLS_LEAST = 1 << 20, /* …or this many bytes */
};

/* A table while it is made. */
struct table_build {
	const struct row_form *form;
	struct interner columns, names;
	size_t rows_len, filled_len, columns_len;
	uint64_t *mono_ns;
	uint32_t *key;
	double **values;
	uint32_t *map; /* of the message at hand: where its i-th value goes */
	size_t map_len;
};

struct stream_build {
	struct reading *r;
	const struct stream_form *form;
	struct run_stream stream;
	struct table_build tables[ROW_FORMS_MAX];
	struct buf messages;      /* struct span: the sound ones */
	size_t sources_from;      /* where the stream's sources begin */
	uint64_t next_sequence, bad_since, dropped_before;
	uint32_t maps[ROW_FORMS_MAX][COLUMNS_MAX];
};

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

/* ---- survey -------------------------------------------------------------------------------- */

/* Names may come in any order and number: each message says anew which value is which. */
static bool names_read(struct stream_build *b, struct span bytes)
{
	struct span rest = bytes;
	struct table_build *t = NULL;
	struct wire_field f;
	size_t i;

	while (wire_next(&rest, &f) == GALVO_OK)
		for (i = 0; f.number == NAMES_SCOPE && i < b->form->rows_len; i++)
			if (f.type == WIRE_VARINT && f.value == b->form->rows[i].scope)
				t = &b->tables[i];
	if (!t)
		return true; /* a scope of another time */
	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number != NAMES_FQNS || f.type != WIRE_BYTES || t->map_len == COLUMNS_MAX)
			continue;
		i = intern_text(&t->columns, f.bytes);
		if (i == INTERN_NOMEM)
			return false;
		t->map[t->map_len++] = i == INTERN_FULL ? UINT32_MAX : (uint32_t)i;
	}
	return true;
}

static void names_forget(struct stream_build *b)
{
	size_t i;

	for (i = 0; i < b->form->rows_len; i++)
		b->tables[i].map_len = 0;
}

static bool survey_events(struct stream_build *b, struct span message)
{
	struct wire_field f;
	bool ok = true;

	events_forget_open(b->r);
	while (ok && wire_next(&message, &f) == GALVO_OK) {
		if (f.type != WIRE_BYTES)
			continue;
		ok = f.number == TRACE_PROBE_STATS
		     ? stats_read(b->r, &b->stream, b->sources_from, f.bytes)
		     : events_read(b->r, &b->stream, f.number, f.bytes);
	}
	return ok;
}

static bool survey_message(struct stream_build *b, struct span message)
{
	struct wire_field f;
	bool ok = true;

	if (b->form->has_events)
		return survey_events(b, message);
	names_forget(b);
	while (ok && wire_next(&message, &f) == GALVO_OK) {
		const struct row_form *row = row_form_of_field(b->form, f.number);

		if (f.type != WIRE_BYTES)
			continue;
		if (row) {
			b->tables[row - b->form->rows].rows_len++;
			b->stream.rows++;
		} else if (f.number == TRACE_NAMES) {
			ok = names_read(b, f.bytes);
		} else if (f.number == TRACE_PROCESSES) {
			ok = process_read(b->r, f.bytes);
		} else if (f.number == TRACE_BLOCK_DEVICES && b->form->devices_field) {
			ok = device_read(b->r, f.bytes);
		} else if (f.number == b->form->devices_field) {
			ok = device_name_read(b->r, f.bytes);
		} else if (f.number == TRACE_PROBE_STATS) {
			ok = stats_read(b->r, &b->stream, b->sources_from, f.bytes);
		}
	}
	return ok;
}

/* Messages of ours are numbered: a jump that damage does not explain is a gap. */
static bool note_gap(struct stream_build *b, const struct frame *frame)
{
	const struct header *h = &frame->header;
	uint64_t gap = h->sequence - b->next_sequence, from = b->next_sequence;
	uint64_t dropped = b->stream.dropped_batches - b->dropped_before;
	const char *why = dropped >= gap ? "dropped while recording: the disk was full or too slow"
	                                 : "lost since they were recorded";
	bool jumps = h->major && h->sequence > b->next_sequence && gap > b->bad_since;

	if (jumps)
		b->stream.missing_messages += gap - b->bad_since;
	if (jumps && b->bad_since)
		why = "damaged or missing";
	b->bad_since = 0;
	b->dropped_before = b->stream.dropped_batches;
	b->next_sequence = h->sequence + 1;
	if (!jumps)
		return true;
	if (gap == 1)
		return reading_note(b->r, b->stream.file_name, frame->offset, false,
		                    "message %llu is missing (%s)", (unsigned long long)from, why);
	return reading_note(b->r, b->stream.file_name, frame->offset, false,
	                    "messages %llu to %llu are missing (%s)", (unsigned long long)from,
	                    (unsigned long long)h->sequence - 1, why);
}

/* The message is looked at first: a gap before it is judged by the drops that it tells of. */
static bool survey_sound(struct stream_build *b, const struct frame *frame)
{
	const struct header *h = &frame->header;

	b->stream.messages++;
	b->stream.frequency_hz = h->frequency_hz;
	if (h->mono_ns > b->stream.last_mono_ns)
		b->stream.last_mono_ns = h->mono_ns;
	buf_put(&b->messages, &frame->message, sizeof(frame->message));
	return !b->messages.failed && survey_message(b, frame->message) && note_gap(b, frame);
}

static galvo_status survey(struct stream_build *b, struct span bytes, galvo_error *reterr)
{
	struct frame_scan scan = {.form = b->form, .file = bytes};
	const char *file = b->stream.file_name;
	struct frame frame;
	bool ok = true;

	while (ok && frame_next(&scan, &frame)) {
		switch (frame.state) {
		case FRAME_SOUND:
			if (frame.header.major > STREAM_FORMAT_MAJOR)
				return err_set(reterr, GALVO_ERR_NEWER,
				               "%s: made by a newer galvo: its format is %u.%u, "
				               "and this one reads up to %d", file,
				               frame.header.major, frame.header.minor,
				               STREAM_FORMAT_MAJOR);
			ok = survey_sound(b, &frame);
			break;
		case FRAME_DAMAGED:
			b->stream.bad_messages++;
			b->bad_since++;
			ok = reading_note(b->r, file, frame.offset, false,
			                  "%zu bytes at offset %zu are damaged: %s", frame.bytes,
			                  frame.offset, frame.reason);
			break;
		case FRAME_TORN:
			ok = reading_note(b->r, file, frame.offset, true,
			                  "torn tail: %zu bytes after offset %zu %s", frame.bytes,
			                  frame.offset, frame.reason);
			break;
		}
	}
	return ok ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}

/* ---- fill ---------------------------------------------------------------------------------- */

/* All cells begin as absent. */
static bool table_allocate(struct stream_build *b, struct table_build *t)
{
	struct arena *a = &b->r->arena;
	size_t cells = (size_t)(b->stream.bytes < SIZE_MAX / 8 ? b->stream.bytes : SIZE_MAX / 8);
	size_t c, i;

	cells = (cells * CELLS_FACTOR + CELLS_LEAST) / sizeof(double);
	t->columns_len = t->columns.len;
	if (t->columns_len > cells / t->rows_len) {
		t->columns_len = cells / t->rows_len;
		if (!reading_note(b->r, b->stream.file_name, 0, false,
		                  "far more column names than values: %zu columns of scope %s are "
		                  "left out", t->columns.len - t->columns_len,
		                  scope_name(t->form->scope)))
			return false;
	}
	t->mono_ns = arena_alloc(a, t->rows_len, sizeof(*t->mono_ns));
	t->key = arena_alloc(a, t->rows_len, sizeof(*t->key));
	t->values = arena_alloc(a, t->columns_len, sizeof(*t->values));
	if (!t->mono_ns || !t->key || !t->values)
		return false;
	for (c = 0; c < t->columns_len; c++) {
		t->values[c] = arena_alloc(a, t->rows_len, sizeof(double));
		if (!t->values[c])
			return false;
		for (i = 0; i < t->rows_len; i++)
			t->values[c][i] = NAN;
	}
	return true;
}

static void put_value(struct table_build *t, size_t row, size_t i, double v)
{
	if (i < t->map_len && t->map[i] < t->columns_len)
		t->values[t->map[i]][row] = v;
}

static double double_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Values may be packed or one by one; the key is looked for in both forms. */
static bool fill_row(struct table_build *t, struct span bytes)
{
	uint32_t values_field = row_values_field(t->form);
	struct span name = {0};
	size_t row = t->filled_len++, at = 0, i, n;
	struct wire_field f;

	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == ROW_MONO_NS && f.type == WIRE_VARINT)
			t->mono_ns[row] = f.value;
		else if (f.number == values_field && f.type == WIRE_FIXED64)
			put_value(t, row, at++, double_of(f.value));
		else if (f.number == values_field && f.type == WIRE_BYTES)
			for (i = 0; wire_doubles(f.bytes, &n) && i < n; i++)
				put_value(t, row, at++, wire_double_at(f.bytes, i));
		else if (f.number == ROW_KEY && f.type == WIRE_VARINT)
			t->key[row] = (uint32_t)f.value;
		else if (f.number == ROW_KEY && f.type == WIRE_BYTES)
			name = f.bytes;
	}
	if (t->form->key != KEY_NAME)
		return true;
	i = intern_text(&t->names, name);
	t->key[row] = (uint32_t)i;
	return i != INTERN_NOMEM;
}

/* Protobuf promises no order: names are read before the rows that need them. */
static bool fill_message(struct stream_build *b, struct span message)
{
	struct span rest = message;
	struct wire_field f;

	names_forget(b);
	while (wire_next(&rest, &f) == GALVO_OK)
		if (f.number == TRACE_NAMES && f.type == WIRE_BYTES && !names_read(b, f.bytes))
			return false;
	while (wire_next(&message, &f) == GALVO_OK) {
		const struct row_form *row = row_form_of_field(b->form, f.number);

		if (row && f.type == WIRE_BYTES &&
		    !fill_row(&b->tables[row - b->form->rows], f.bytes))
			return false;
	}
	return true;
}

static bool table_finish(struct stream_build *b, struct table_build *t)
{
	struct table table = {
		.stream = b->form->kind,
		.scope = t->form->scope,
		.columns_len = t->columns_len,
		.columns = interner_export(&t->columns, &b->r->arena),
		.rows_len = t->rows_len,
		.mono_ns = t->mono_ns,
		.key = t->key,
		.values = (const double *const *)t->values,
		.names = interner_export(&t->names, &b->r->arena),
		.names_len = t->names.len,
	};
	size_t i;

	for (i = 0; i < t->rows_len; i++)
		if (t->mono_ns[i] > b->stream.last_mono_ns)
			b->stream.last_mono_ns = t->mono_ns[i];
	buf_put(&b->r->tables, &table, sizeof(table));
	return table.columns && table.names && !b->r->tables.failed;
}

static bool fill(struct stream_build *b)
{
	size_t n = b->form->rows_len ? b->messages.len / sizeof(struct span) : 0, i;
	struct span message;

	for (i = 0; i < b->form->rows_len; i++)
		if (b->tables[i].rows_len && !table_allocate(b, &b->tables[i]))
			return false;
	for (i = 0; i < n; i++) {
		memcpy(&message, b->messages.p + i * sizeof(message), sizeof(message));
		if (!fill_message(b, message))
			return false;
	}
	for (i = 0; i < b->form->rows_len; i++)
		if (b->tables[i].rows_len && !table_finish(b, &b->tables[i]))
			return false;
	return true;
}

galvo_status reading_add_stream(struct reading *r, const struct stream_form *form,
                                const char *file_name, struct span bytes, galvo_error *reterr)
{
	struct stream_build *b = alloc_array(1, sizeof(*b));
	galvo_status status;
	size_t i;

	if (!b)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	b->r = r;
	b->form = form;
	b->sources_from = r->sources.len / sizeof(struct run_source);
	b->stream = (struct run_stream){
		.kind = form->kind, .file_name = file_name, .present = true, .bytes = bytes.n,
	};
	buf_init(&b->messages, bytes.n / MESSAGE_MIN * sizeof(struct span) + sizeof(struct span));
	for (i = 0; i < form->rows_len; i++) {
		b->tables[i].form = &form->rows[i];
		b->tables[i].map = b->maps[i];
		interner_init(&b->tables[i].columns, COLUMNS_MAX);
		interner_init(&b->tables[i].names, SIZE_MAX);
	}
	status = survey(b, bytes, reterr);
	if (status == GALVO_OK && !fill(b))
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (status == GALVO_OK) {
		buf_put(&r->streams, &b->stream, sizeof(b->stream));
		if (r->streams.failed)
			status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	for (i = 0; i < form->rows_len; i++) {
		interner_finish(&b->tables[i].columns);
		interner_finish(&b->tables[i].names);
	}
	buf_finish(&b->messages);
	free(b);
	return status;
}
