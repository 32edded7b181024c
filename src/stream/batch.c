/* The owner's side of a stream: rows into the batch, batches to the writer. Never waits but at the end. */
#include <time.h>

#include "writer.h"

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/*
 * Takes a free batch, the first one, so that few pages are ever touched. False: the writer is
 * behind with all of them.
 */
static bool batch_take(struct stream *s)
{
	size_t i;

	for (i = 0; i < BATCHES; i++) {
		struct batch *b = &s->batches[i];

		if (atomic_load_explicit(&b->state, memory_order_acquire) != BATCH_FREE)
			continue;
		atomic_store_explicit(&b->state, BATCH_HELD, memory_order_relaxed);
		s->held = b;
		s->rows = 0;
		s->buffer = NULL;
		memcpy(b->base + FRONT_BYTES, s->names, s->names_bytes);
		s->at = s->rows_start = b->base + FRONT_BYTES + s->names_bytes;
		s->rows_end = s->rows_start + s->batch_bytes + ROWS_SLACK_BYTES - ROW_BYTES_MAX;
		return true;
	}
	return false;
}

static const struct stream_scope *find_scope(const struct stream *s, enum scope scope)
{
	size_t i;

	for (i = 0; i < s->scopes_len; i++)
		if (s->scopes[i].form.scope == scope)
			return &s->scopes[i];
	return NULL;
}

/* Fields of a row are below 16, but the last one: their tags are one byte. */
static char *put_tag(char *p, uint32_t field, enum wire_type type)
{
	*p = (char)(field << 3 | type);
	return p + 1;
}

/* The instant and the values, always; protobuf allows zeros to be written. */
static char *put_row(char *p, const struct stream_scope *c, uint64_t mono_ns,
                     const struct row_key *key, const double *values, size_t n)
{
	size_t values_bytes = n * sizeof(*values);
	size_t bytes = 2 + wire_varint_len(mono_ns) + wire_varint_len(values_bytes) + values_bytes;
	uint32_t field = ROW_KEY;

	if (c->form.key == KEY_NUMBER || c->form.key == KEY_PAIR)
		bytes += 1 + wire_varint_len(key->number);
	if (c->form.key == KEY_PAIR)
		bytes += 1 + wire_varint_len(key->second);
	else if (c->form.key == KEY_NAME)
		bytes += wire_bytes_len(ROW_KEY, key->name.n);
	if (c->form.has_duration && key->duration_ns)
		bytes += 2 + wire_varint_len(key->duration_ns);
	p = wire_put_varint(wire_put_tag(p, c->form.field, WIRE_BYTES), bytes);
	p = wire_put_varint(put_tag(p, ROW_MONO_NS, WIRE_VARINT), mono_ns);
	if (c->form.key == KEY_NUMBER || c->form.key == KEY_PAIR)
		p = wire_put_varint(put_tag(p, field++, WIRE_VARINT), key->number);
	if (c->form.key == KEY_PAIR)
		p = wire_put_varint(put_tag(p, field++, WIRE_VARINT), key->second);
	else if (c->form.key == KEY_NAME)
		p = wire_put_bytes(p, field++, key->name);
	p = wire_put_varint(put_tag(p, field, WIRE_BYTES), values_bytes);
	if (n)
		memcpy(p, values, values_bytes);
	p += values_bytes;
	return c->form.has_duration ? wire_put_u64(p, ROW_DURATION_NS, key->duration_ns) : p;
}

bool stream_is_ready(struct stream *s)
{
	return s->held || batch_take(s);
}

static bool is_settled(struct stream *s)
{
	uint64_t lost;

	return stream_is_settled(s, &lost);
}

static bool await(struct stream *s, bool (*is_so)(struct stream *), uint64_t until_mono_ns)
{
	const struct timespec moment = {0, NS_PER_MS};

	while (!is_so(s)) {
		if (clock_real.mono_ns(&clock_real) >= until_mono_ns)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

bool stream_await_ready(struct stream *s, uint64_t until_mono_ns)
{
	return await(s, stream_is_ready, until_mono_ns);
}

bool stream_await_settled(struct stream *s, uint64_t until_mono_ns)
{
	return await(s, is_settled, until_mono_ns);
}

bool stream_make_room(struct stream *s)
{
	if (stream_is_ready(s) && s->at <= s->rows_end)
		return true;
	count(&s->dropped_rows, 1);
	return false;
}

void stream_row(struct stream *s, enum scope scope, uint64_t mono_ns, struct row_key key,
                const double *values, size_t n)
{
	const struct stream_scope *c = find_scope(s, scope);
	char name[NAME_MAX_BYTES];

	if (!c) {
		count(&s->dropped_rows, 1);
		return;
	}
	if (!stream_make_room(s))
		return;
	if (c->form.key == KEY_NAME)
		key.name = span_of(name, utf8_copy(name, sizeof(name), key.name));
	s->at = put_row(s->at, c, mono_ns, &key, values, n < c->columns_len ? n : c->columns_len);
	s->rows++;
}

bool stream_is_full(const struct stream *s)
{
	return s->held && (size_t)(s->at - s->rows_start) >= s->batch_bytes;
}

void stream_count_dropped(struct stream *s, uint64_t rows)
{
	count(&s->dropped_rows, rows);
}

uint64_t stream_dropped_rows(const struct stream *s)
{
	return atomic_load_explicit(&s->dropped_rows, memory_order_relaxed);
}

bool stream_is_settled(const struct stream *s, uint64_t *ret_dropped_batches)
{
	uint64_t written = atomic_load_explicit(&s->messages, memory_order_acquire);

	*ret_dropped_batches = atomic_load_explicit(&s->dropped_batches, memory_order_acquire);
	return written + *ret_dropped_batches == s->sequence;
}

/*
 * Header and length are known last and stand first: they are put so that they end where the names
 * begin, and the whole frame leaves in one write.
 */
static void batch_seal(struct stream *s, const struct flush_info *info)
{
	struct batch *b = s->held;
	char header[FRONT_BYTES], *names = b->base + FRONT_BYTES, *start, *end;
	size_t header_bytes, message_bytes;
	uint64_t left_out;

	events_close_buffer(s);
	end = message_put_tail(s->at, s->at + ITEMS_BYTES + STATS_BYTES, s, info, &left_out);
	if (left_out)
		count(&s->dropped_rows, left_out);
	end = wire_put_fixed32(end, TRACE_CHECKSUM, 0); /* the writer thread computes it */
	header_bytes = (size_t)(message_put_header(header, s, info) - header);
	message_bytes = (size_t)(end - names) + header_bytes;
	start = names - header_bytes - wire_varint_len(message_bytes);
	memcpy(wire_put_varint(start, message_bytes), header, header_bytes);
	b->start_bytes = (size_t)(start - b->base);
	b->end_bytes = (size_t)(end - b->base);
	b->sequence = s->sequence;
	b->rows = s->rows;
}

static void tell_losses(struct stream *s, const struct flush_info *info)
{
	uint64_t lost[LOSSES] = {0};
	size_t i;

	for (i = 0; i < info->decodes_len; i++) {
		lost[LOSS_MISSING_NS] += info->decodes[i].missing_ns;
		lost[LOSS_OVERFLOWS] += info->decodes[i].overflows;
		lost[LOSS_FULL_IMAGES] += info->decodes[i].full_images;
		lost[LOSS_FAILURES] += info->decodes[i].failures;
	}
	for (i = 0; i < LOSSES; i++)
		atomic_store_explicit(&s->lost[i], lost[i], memory_order_relaxed);
}

uint64_t stream_lost(const struct stream *s, enum loss which)
{
	return atomic_load_explicit(&s->lost[which], memory_order_relaxed);
}

void stream_flush(struct stream *s, const struct flush_info *info)
{
	struct batch *b;

	tell_losses(s, info);
	atomic_store_explicit(&s->owner_cpu_ns, info->stats.thread_cpu_ns, memory_order_relaxed);
	if (!s->held && !batch_take(s)) {
		count(&s->dropped_batches, 1); /* its rows were counted when there was no place */
		s->sequence++;
		return;
	}
	batch_seal(s, info);
	b = s->held;
	s->held = NULL;
	s->sequence++;
	s->flush_bytes = b->end_bytes - b->start_bytes;
	s->flush_interval_ns = s->flush_mono_ns ? info->mono_ns - s->flush_mono_ns : 0;
	s->flush_mono_ns = info->mono_ns;
	atomic_store_explicit(&b->state, BATCH_FULL, memory_order_release);
	clock_wake(&s->writer->wake);
}
