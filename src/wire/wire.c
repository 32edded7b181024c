/* Protobuf's wire format: varints, fixed words, length-delimited fields. */
#include "wire.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the wire is little-endian and so must be the machine: bytes are copied as they are"
#endif

char *wire_put_varint(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(unsigned char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

char *wire_put_tag(char *p, uint32_t field, enum wire_type type)
{
	return wire_put_varint(p, (uint64_t)field << 3 | type);
}

char *wire_put_u64(char *p, uint32_t field, uint64_t v)
{
	return v ? wire_put_varint(wire_put_tag(p, field, WIRE_VARINT), v) : p;
}

char *wire_put_bytes(char *p, uint32_t field, struct span s)
{
	p = wire_put_varint(wire_put_tag(p, field, WIRE_BYTES), s.n);
	if (s.n)
		memcpy(p, s.p, s.n);
	return p + s.n;
}

char *wire_put_fixed32(char *p, uint32_t field, uint32_t v)
{
	p = wire_put_tag(p, field, WIRE_FIXED32);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

char *wire_put_double(char *p, uint32_t field, double v)
{
	p = wire_put_tag(p, field, WIRE_FIXED64);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

size_t wire_varint_len(uint64_t v)
{
	return ((size_t)(63 - __builtin_clzll(v | 1)) * 9 + 73) / 64;
}

size_t wire_bytes_len(uint32_t field, size_t n)
{
	return wire_varint_len((uint64_t)field << 3) + wire_varint_len(n) + n;
}

galvo_status wire_next(struct span *rest, struct wire_field *ret)
{
	struct span s = *rest;
	struct wire_field f = {0};
	uint64_t tag;
	size_t n = 0;

	if (s.n == 0)
		return GALVO_DONE;
	if (!wire_take_varint(&s, &tag) || tag >> 3 == 0 || tag >> 3 > (UINT32_MAX >> 3))
		return GALVO_ERR_MALFORMED;
	f.number = (uint32_t)(tag >> 3);
	f.type = (enum wire_type)(tag & 7);
	switch (f.type) {
	case WIRE_VARINT:
		if (!wire_take_varint(&s, &f.value))
			return GALVO_ERR_MALFORMED;
		break;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		n = f.type == WIRE_FIXED64 ? sizeof(uint64_t) : sizeof(uint32_t);
		if (s.n < n)
			return GALVO_ERR_MALFORMED;
		memcpy(&f.value, s.p, n);
		break;
	case WIRE_BYTES:
		if (!wire_take_varint(&s, &f.value) || f.value > s.n)
			return GALVO_ERR_MALFORMED;
		n = (size_t)f.value;
		f.bytes = span_of(s.p, n);
		break;
	default:
		return GALVO_ERR_MALFORMED;
	}
	*rest = span_of(s.p + n, s.n - n);
	*ret = f;
	return GALVO_OK;
}

bool wire_doubles(struct span packed, size_t *ret_n)
{
	if (packed.n % sizeof(double) != 0)
		return false;
	*ret_n = packed.n / sizeof(double);
	return true;
}
