/* Single values as protobuf's text format has them. */
#include <float.h>
#include <math.h>

#include "text.h"

void text_put_quoted(struct buf *b, struct span s)
{
	static const char special[] = "\n\r\t\"'\\", names[] = "nrt\"'\\";
	size_t i;

	buf_put(b, "\"", 1);
	for (i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		const char *at = memchr(special, c, sizeof(special) - 1);

		if (at)
			buf_printf(b, "\\%c", names[at - special]);
		else if (c < ' ' || c >= 0x7f)
			buf_printf(b, "\\%03o", c);
		else
			buf_put(b, &c, 1);
	}
	buf_put(b, "\"", 1);
}

/*
 * With few digits if they read back as the same value, else with as many as always do. protoc's reader
 * of floats fails on subnormal ones, so they get all digits.
 */
static void put_float(struct buf *b, double v, bool is_single)
{
	bool is_subnormal = is_single && v != 0 && fabs(v) < (double)FLT_MIN;
	size_t from = b->len;
	double back;

	buf_put_general(b, v, is_single ? FLT_DIG : DBL_DIG);
	if (!isfinite(v) || b->failed)
		return;
	if (!is_subnormal && span_to_double(span_of(b->p + from, b->len - from), &back) &&
	    (is_single ? (double)(float)back == v : back == v))
		return;
	b->len = from;
	buf_put_general(b, v, is_single ? FLT_DIG + 3 : DBL_DIG + 2);
}

static void put_enum(struct buf *b, const ProtobufCEnumDescriptor *e, int32_t v)
{
	unsigned i;

	for (i = 0; i < e->n_values; i++)
		if (e->values[i].value == v) {
			buf_put_str(b, e->values[i].name);
			return;
		}
	buf_printf(b, "%d", v);
}

void text_put_scalar(struct buf *b, const ProtobufCFieldDescriptor *f, uint64_t v)
{
	double wide;
	float single;

	switch (f->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		buf_printf(b, "%d", (int32_t)(uint32_t)v);
		break;
	case PROTOBUF_C_TYPE_SINT32:
		v &= UINT32_MAX;
		buf_printf(b, "%d", (int32_t)(uint32_t)(v >> 1 ^ (0 - (v & 1))));
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		buf_printf(b, "%lld", (long long)v);
		break;
	case PROTOBUF_C_TYPE_SINT64:
		buf_printf(b, "%lld", (long long)(v >> 1 ^ (0 - (v & 1))));
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		buf_printf(b, "%u", (uint32_t)v);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		buf_put_str(b, v ? "true" : "false");
		break;
	case PROTOBUF_C_TYPE_ENUM:
		put_enum(b, f->descriptor, (int32_t)(uint32_t)v);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		memcpy(&single, &v, sizeof(single));
		put_float(b, (double)single, true);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		memcpy(&wide, &v, sizeof(wide));
		put_float(b, wide, false);
		break;
	default: /* uint64, fixed64 */
		buf_printf(b, "%llu", (unsigned long long)v);
	}
}
