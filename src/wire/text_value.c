/* What tokens of the text format stand for, and what descriptors say of fields. */
#include "text.h"

static unsigned digit_of(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

bool token_to_u64(struct span token, uint64_t max, uint64_t *ret)
{
	bool is_zero = token.n > 1 && token.p[0] == '0';
	bool is_hexadecimal = is_zero && (token.p[1] | 0x20) == 'x';
	unsigned base = is_hexadecimal ? 16 : is_zero ? 8 : 10;
	uint64_t v = 0;
	size_t i;

	for (i = is_hexadecimal ? 2 : 0; i < token.n; i++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, digit_of(token.p[i]), &v) || v > max)
			return false;
	*ret = v;
	return true;
}

bool token_to_double(struct span token, double *ret)
{
	bool is_zero = token.n > 1 && token.p[0] == '0';

	if (is_zero && ((token.p[1] | 0x20) == 'x' || (token.p[1] >= '0' && token.p[1] <= '9')))
		return false;
	if (token.n && (token.p[token.n - 1] | 0x20) == 'f')
		token.n--;
	return span_to_double(token, ret);
}

/* ---- strings ------------------------------------------------------------------------------------ */

static uint32_t take_digits(struct span *rest, unsigned base, size_t most)
{
	uint32_t v = 0;

	for (; most && rest->n && is_hex(rest->p[0]) && digit_of(rest->p[0]) < base; most--) {
		v = v * base + digit_of(rest->p[0]);
		*rest = span_of(rest->p + 1, rest->n - 1);
	}
	return v;
}

/* As UTF-8, half a surrogate pair too: whoever wants text finds out. */
static void put_character(struct buf *b, uint32_t c)
{
	char at[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	for (i = n - 1; i > 0; i--, c >>= 6)
		at[i] = (char)(unsigned char)(0x80 | (c & 0x3f));
	at[0] = (char)(unsigned char)(n == 1 ? c : (0xf00U >> n & 0xff) | c);
	buf_put(b, at, n);
}

/* The digits of \u or \U; a pair of surrogates is one character. */
static void take_character(struct span *rest, size_t digits, struct buf *into)
{
	uint32_t c = take_digits(rest, 16, digits), low;
	struct span after = *rest;

	if (c >= 0xd800 && c < 0xdc00 && span_starts(after, "\\u")) {
		after = span_of(after.p + 2, after.n - 2);
		low = take_digits(&after, 16, 4);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			*rest = after;
		}
	}
	put_character(into, c);
}

/* Behind the backslash. */
static void take_escape(struct span *rest, struct buf *into)
{
	static const char names[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
	char c = rest->p[0], byte;
	const char *at;

	if (c >= '0' && c <= '7') {
		byte = (char)(unsigned char)take_digits(rest, 8, 3);
		buf_put(into, &byte, 1);
		return;
	}
	*rest = span_of(rest->p + 1, rest->n - 1);
	if (c == 'u' || c == 'U') {
		take_character(rest, c == 'u' ? 4 : 8, into);
		return;
	}
	at = memchr(names, c, sizeof(names) - 1);
	byte = c == 'x' ? (char)(unsigned char)take_digits(rest, 16, 2) : at ? bytes[at - names] : c;
	buf_put(into, &byte, 1);
}

void token_unquote(struct span token, struct buf *into)
{
	struct span rest = span_of(token.p + 1, token.n - 2), plain;

	while (span_cut(&rest, '\\', &plain)) {
		buf_put(into, plain.p, plain.n);
		if (rest.n)
			take_escape(&rest, into);
	}
	buf_put(into, rest.p, rest.n);
}

/* ---- fields ------------------------------------------------------------------------------------- */

enum wire_type field_wire_type(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return WIRE_FIXED64;
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return WIRE_FIXED32;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return WIRE_BYTES;
	default:
		return WIRE_VARINT;
	}
}

bool field_is_implicit(const ProtobufCFieldDescriptor *f)
{
	return f->label == PROTOBUF_C_LABEL_NONE && f->type != PROTOBUF_C_TYPE_MESSAGE &&
	       !(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
}

bool field_excludes(const ProtobufCFieldDescriptor *f, const ProtobufCFieldDescriptor *other)
{
	return f != other && f->flags & other->flags & PROTOBUF_C_FIELD_FLAG_ONEOF &&
	       f->quantifier_offset == other->quantifier_offset;
}
