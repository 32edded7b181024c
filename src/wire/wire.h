/*
 * Protobuf's alphabet: put and get of varints, fixed words and length-delimited fields; its text
 * format.
 *
 * Putting writes into memory whose room the caller has made sure of (WIRE_*_MAX say how much each
 * may need) and returns the new end. Getting works on spans and is total on every input.
 */
#ifndef GALVO_WIRE_H
#define GALVO_WIRE_H

#include "base/base.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define WIRE_VARINT_MAX 10
#define WIRE_TAG_MAX 5

char *wire_put_varint(char *p, uint64_t v);
char *wire_put_tag(char *p, uint32_t field, enum wire_type type);
char *wire_put_u64(char *p, uint32_t field, uint64_t v);     /* tag and varint; zero is not written */
char *wire_put_bytes(char *p, uint32_t field, struct span s); /* tag, length, bytes; empty is written */
char *wire_put_fixed32(char *p, uint32_t field, uint32_t v);
char *wire_put_double(char *p, uint32_t field, double v); /* always written */
size_t wire_varint_len(uint64_t v);
size_t wire_bytes_len(uint32_t field, size_t n); /* of a whole length-delimited field */

/* One field of a message. */
struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;    /* VARINT, FIXED64, FIXED32 */
	struct span bytes; /* BYTES; borrows from the message */
};

/* Takes the next field off *rest. DONE at the end; MALFORMED where the bytes are no field (groups,
 * field number 0, lengths past the end, overlong varints). */
galvo_status wire_next(struct span *rest, struct wire_field *ret);
/* True if *rest begins with a varint; *rest goes past it. */
static inline bool wire_take_varint(struct span *rest, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < rest->n && i < WIRE_VARINT_MAX; i++) {
		unsigned char byte = (unsigned char)rest->p[i];

		if (i == WIRE_VARINT_MAX - 1 && byte > 1)
			return false; /* more than 64 bits */
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*ret = v;
			rest->p += i + 1;
			rest->n -= i + 1;
			return true;
		}
	}
	return false;
}
/* Packed doubles of a field: how many; 8 bytes each, MALFORMED if the length is no multiple. */
bool wire_doubles(struct span packed, size_t *ret_n);
static inline double wire_double_at(struct span packed, size_t i)
{
	double v;

	memcpy(&v, packed.p + i * sizeof(v), sizeof(v));
	return v;
}

/* ---- protobuf's text format, for every message that protoc-c has compiled ------------------------ */

#define TEXT_DEPTH_MAX 100 /* messages in messages, as protobuf has it */

struct ProtobufCMessageDescriptor;

/*
 * Appends the wire bytes of the message that `text` describes, for protobuf_c_message_unpack. Accepts
 * what protoc --encode accepts, and strings in UTF-8 only. MALFORMED: "path:line:column: field 'a.b':
 * expected …, got '…'". NOMEM: memory, or more bytes than `into` may hold. Maps, extensions, groups
 * and Any are not known.
 */
galvo_status text_parse(const struct ProtobufCMessageDescriptor *message, const char *path,
                        struct span text, struct buf *into, galvo_error *reterr);
/*
 * Where value number `nth`, from 0, of field "a.b" stands in a text that text_parse has taken. False: it
 * is not given, or memory is out.
 */
bool text_find(const struct ProtobufCMessageDescriptor *message, struct span text, const char *field,
               size_t nth, size_t *ret_line, size_t *ret_column);
/*
 * Appends the text of a message's wire bytes, byte for byte as protoc --decode prints it. MALFORMED
 * where the bytes are no such message; `into` then holds a part.
 */
galvo_status text_print(const struct ProtobufCMessageDescriptor *message, struct span bytes,
                        struct buf *into, galvo_error *reterr);

#endif
