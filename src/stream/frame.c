/* From bytes to messages: lengths, checksums, and the way back when framing is lost. */
#include <zlib.h>

#include "reader.h"

/*
 * The search for the next message tries every offset. Bytes made to look like messages everywhere
 * would make it slow, so it stops when it has summed this many times the file.
 */
enum { SEARCH_FACTOR = 8, SEARCH_LEAST_BYTES = 1 << 20 };

static uint32_t checksum(struct span s)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)s.p, s.n);
}

void header_read(struct span bytes, struct header *ret)
{
	struct wire_field f, inner;

	*ret = (struct header){.present = true};
	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == HEADER_ANCHORS && f.type == WIRE_BYTES) {
			while (wire_next(&f.bytes, &inner) == GALVO_OK)
				if (inner.number == ANCHORS_MONO_NS && inner.type == WIRE_VARINT)
					ret->anchor.mono_ns = inner.value;
				else if (inner.number == ANCHORS_WALL_NS && inner.type == WIRE_VARINT)
					ret->anchor.wall_ns = inner.value;
				else if (inner.number == ANCHORS_GPU_NS && inner.type == WIRE_VARINT)
					ret->gpu_ns = inner.value;
			continue;
		}
		if (f.type != WIRE_VARINT)
			continue;
		if (f.number == HEADER_MAJOR)
			ret->major = (uint32_t)f.value;
		else if (f.number == HEADER_MINOR)
			ret->minor = (uint32_t)f.value;
		else if (f.number == HEADER_SEQUENCE)
			ret->sequence = f.value;
		else if (f.number == HEADER_FREQUENCY_HZ)
			ret->frequency_hz = f.value;
	}
}

/* Members of the trace that are messages, by the schema. */
static bool is_nested(const struct stream_form *form, const struct wire_field *f)
{
	return f->type == WIRE_BYTES &&
	       (f->number == TRACE_HEADER || f->number == TRACE_NAMES ||
	        f->number == TRACE_PROCESSES || f->number == TRACE_BLOCK_DEVICES ||
	        f->number == TRACE_PROBE_STATS ||
	        (f->number == TRACE_THREADS && form->has_threads) || f->number == form->flush_stats_field ||
	        ((f->number == EVENTS_OPEN_REGIONS || f->number == EVENTS_GPU_STATS) &&
	         form->has_events) ||
	        ((f->number == TRACE_DECODE_STATS || f->number == TRACE_ANCHORS) && form->has_decodes) ||
	        row_form_of_field(form, f->number));
}

static bool fields_are_sound(struct span bytes)
{
	struct wire_field f;
	galvo_status status;

	while ((status = wire_next(&bytes, &f)) == GALVO_OK)
		;
	return status == GALVO_DONE;
}

static bool nested_is_sound(const struct stream_form *form, const struct wire_field *f)
{
	const struct row_form *row = row_form_of_field(form, f->number);
	uint32_t values_field = row ? row_values_field(row) : 0;
	struct span rest = f->bytes;
	struct wire_field inner;
	galvo_status status;
	size_t n;

	while ((status = wire_next(&rest, &inner)) == GALVO_OK)
		if (inner.type == WIRE_BYTES &&
		    ((values_field && inner.number == values_field &&
		      !wire_doubles(inner.bytes, &n)) ||
		     (form->has_events && f->number == EVENTS_BUFFERS &&
		      !fields_are_sound(inner.bytes))))
			return false;
	return status == GALVO_DONE;
}

bool field_is_sound(const struct stream_form *form, const struct wire_field *f)
{
	return !is_nested(form, f) || nested_is_sound(form, f);
}

/* The last field is a right checksum, if that is a field. */
static bool has_checksum(struct span message)
{
	uint32_t want;

	if (message.n <= SEAL_BYTES ||
	    memcmp(message.p + message.n - SEAL_BYTES, SEAL_TAG, sizeof(SEAL_TAG) - 1) != 0)
		return false;
	memcpy(&want, message.p + message.n - sizeof(want), sizeof(want));
	return checksum(span_of(message.p, message.n - SEAL_BYTES)) == want;
}

/* A message that begins with its header, as ours do, and has a right checksum. */
static bool is_trusted(struct span message, struct header *ret_header)
{
	struct span rest = message;
	struct wire_field f;

	if (wire_next(&rest, &f) != GALVO_OK || f.number != TRACE_HEADER || f.type != WIRE_BYTES ||
	    !has_checksum(message))
		return false;
	header_read(f.bytes, ret_header);
	return true;
}

/*
 * What is wrong with a message; NULL if nothing. One that says it has our format must carry a
 * checksum, or a message cut at a field's border would pass; others need not.
 */
static const char *message_fault(const struct stream_form *form, struct span message,
                                 struct header *ret_header)
{
	struct span rest = message, before = message;
	struct header header = {0};
	struct wire_field f;
	galvo_status status;
	bool sealed = false;

	if (message.n == 0)
		return "it is empty";
	for (; (status = wire_next(&rest, &f)) == GALVO_OK; before = rest) {
		if (f.number == TRACE_CHECKSUM && f.type == WIRE_FIXED32) {
			before.n = (size_t)(before.p - message.p);
			if (rest.n || checksum(span_of(message.p, before.n)) != f.value)
				return "the checksum does not match";
			sealed = true;
		}
		if (f.number == TRACE_HEADER && f.type == WIRE_BYTES)
			header_read(f.bytes, &header);
		if (!field_is_sound(form, &f))
			return "its fields are broken";
	}
	if (status != GALVO_DONE)
		return "it is not a message";
	if (!header.present)
		return "it has no header";
	if (!sealed && header.major >= 1 && header.major <= STREAM_FORMAT_MAJOR)
		return "its checksum is missing";
	*ret_header = header;
	return NULL;
}

/* A length and a message that begins with a header and ends with its right checksum, at `at`. */
static bool is_sealed(struct frame_scan *s, size_t at)
{
	struct span rest = span_of(s->file.p + at, s->file.n - at);
	struct header header;
	uint64_t n;

	if (!wire_take_varint(&rest, &n) || n <= SEAL_BYTES || n > rest.n ||
	    n > STREAM_MESSAGE_MAX || rest.p[0] != (TRACE_HEADER << 3 | WIRE_BYTES) ||
	    memcmp(rest.p + n - SEAL_BYTES, SEAL_TAG, 2) != 0)
		return false;
	s->summed_bytes += n;
	rest.n = (size_t)n;
	return has_checksum(rest) && !message_fault(s->form, rest, &header);
}

/* The first sealed message from `from` on; the file's end if there is none. */
static size_t find_sealed(struct frame_scan *s, size_t from)
{
	uint64_t budget = (uint64_t)s->file.n * SEARCH_FACTOR + SEARCH_LEAST_BYTES;
	size_t at = from;

	if (s->sealed_known && s->sealed_at >= from)
		return s->sealed_at;
	while (at < s->file.n && s->summed_bytes <= budget && !is_sealed(s, at))
		at++;
	s->sealed_known = true;
	s->sealed_at = s->summed_bytes <= budget ? at : s->file.n;
	return s->sealed_at;
}

enum cut { CUT_NOT, CUT_LENGTH, CUT_BODY };

/* Whether what begins at `at` is a frame that the end of the file cuts. */
static enum cut frame_cut(const struct frame_scan *s, size_t at, struct span *ret_message)
{
	struct span rest = span_of(s->file.p + at, s->file.n - at);
	uint64_t n;
	size_t i;

	*ret_message = span_of(NULL, 0);
	for (i = 0; i < rest.n && (unsigned char)rest.p[i] >= 0x80; i++)
		;
	if (i == rest.n)
		return i < WIRE_VARINT_MAX ? CUT_LENGTH : CUT_NOT;
	if (!wire_take_varint(&rest, &n) || n > STREAM_MESSAGE_MAX)
		return CUT_NOT;
	if (n > rest.n)
		return CUT_BODY;
	*ret_message = span_of(rest.p, (size_t)n);
	return CUT_NOT;
}

/* Where a frame may begin as far as one can see: the end, a sound message, one that is cut. */
static bool is_border(const struct frame_scan *s, size_t at)
{
	struct header header;
	struct span message;

	return at == s->file.n || frame_cut(s, at, &message) != CUT_NOT ||
	       (message.p && !message_fault(s->form, message, &header));
}

static bool is_zeros(struct span s)
{
	size_t i;

	for (i = 0; i < s.n && s.p[i] == 0; i++)
		;
	return i == s.n;
}

/* What is not sound ends where the next piece begins. False: that cannot be seen yet. */
static bool skip_damage(struct frame_scan *s, struct frame *ret, enum cut cut, struct span message)
{
	size_t framed = message.p ? (size_t)(message.p - s->file.p) + message.n : s->at;
	size_t next = find_sealed(s, s->at + 1);

	if (message.p && framed < next && is_border(s, framed))
		next = framed;
	if (next == s->file.n && s->end != END_FINAL)
		return false;
	ret->state = FRAME_DAMAGED;
	ret->bytes = next - s->at;
	s->at = next;
	if (next < s->file.n)
		return true;
	if (is_zeros(span_of(s->file.p + ret->offset, ret->bytes))) {
		ret->state = FRAME_TORN;
		ret->reason = "are zeros: room for a message that never reached the disk";
	} else if (cut != CUT_NOT) {
		ret->state = FRAME_TORN;
		ret->reason = "are a message that was never finished";
	}
	return true;
}

bool frame_next(struct frame_scan *s, struct frame *ret)
{
	struct span message;
	enum cut cut;

	*ret = (struct frame){.offset = s->at};
	if (s->at == s->file.n)
		return false;
	cut = frame_cut(s, s->at, &message);
	if (cut != CUT_NOT && s->end == END_WINDOW)
		return false;
	ret->reason = "its length makes no sense";
	if (message.p && s->trusts_checksum && is_trusted(message, &ret->header))
		ret->reason = NULL;
	else if (message.p)
		ret->reason = message_fault(s->form, message, &ret->header);
	if (ret->reason)
		return skip_damage(s, ret, cut, message);
	ret->state = FRAME_SOUND;
	ret->message = message;
	ret->bytes = (size_t)(message.p - s->file.p) + message.n - s->at;
	s->at += ret->bytes;
	return true;
}
