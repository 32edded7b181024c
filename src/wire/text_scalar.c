/* Numbers, truth values and names of enums in the text format, as the wire has them. */
#include <float.h>
#include <math.h>

#include "text.h"

/* Like text, in any mixture of cases. */
static bool is_word(struct span s, const char *text)
{
	size_t i;

	for (i = 0; i < s.n && text[i] && (s.p[i] | 0x20) == text[i]; i++)
		;
	return i == s.n && !text[i];
}

static bool parse_signed(struct parser *p, int64_t max, const char *want, uint64_t *ret)
{
	bool is_negative = parser_take(p, '-');
	uint64_t v;

	if (p->tokens.token.kind != TOKEN_INTEGER ||
	    !token_to_u64(p->tokens.token.text, (uint64_t)max + is_negative, &v))
		return parser_expect(p, want);
	tokens_next(&p->tokens);
	*ret = is_negative ? 0 - v : v;
	return true;
}

static bool parse_unsigned(struct parser *p, uint64_t max, const char *want, uint64_t *ret)
{
	if (p->tokens.token.kind != TOKEN_INTEGER || !token_to_u64(p->tokens.token.text, max, ret))
		return parser_expect(p, want);
	tokens_next(&p->tokens);
	return true;
}

static bool parse_bool(struct parser *p, uint64_t *ret)
{
	static const char *const words[] = {"false", "False", "f", "true", "True", "t"};
	size_t i;

	if (p->tokens.token.kind == TOKEN_INTEGER)
		return parse_unsigned(p, 1, "true or false", ret);
	for (i = 0; i < ARRAY_LEN(words) && p->tokens.token.kind == TOKEN_NAME; i++)
		if (span_eq_str(p->tokens.token.text, words[i])) {
			tokens_next(&p->tokens);
			*ret = i >= 3;
			return true;
		}
	return parser_expect(p, "true or false");
}

static bool expect_enum(struct parser *p, const ProtobufCEnumDescriptor *e)
{
	char at[160];
	struct buf b = {.p = at, .cap = sizeof(at) - 1, .max = sizeof(at) - 1};
	unsigned i;

	for (i = 0; i < e->n_values; i++)
		buf_printf(&b, "%s%s", i == 0 ? "" : i + 1 < e->n_values ? ", " : " or ", e->values[i].name);
	at[b.len] = '\0';
	return parser_expect(p, b.failed ? e->short_name : at);
}

static bool parse_enum(struct parser *p, const ProtobufCEnumDescriptor *e, uint64_t *ret)
{
	const struct token *t = &p->tokens.token;
	unsigned i;

	if (t->kind == TOKEN_INTEGER || parser_is_at(p, '-'))
		return parse_signed(p, INT32_MAX, "a number of 32 bits", ret);
	for (i = 0; i < e->n_value_names && t->kind == TOKEN_NAME; i++)
		if (span_eq_str(t->text, e->values_by_name[i].name)) {
			*ret = (uint64_t)(int64_t)e->values[e->values_by_name[i].index].value;
			tokens_next(&p->tokens);
			return true;
		}
	return expect_enum(p, e);
}

static bool parse_double(struct parser *p, double *ret)
{
	bool is_negative = parser_take(p, '-');
	const struct token *t = &p->tokens.token;

	if (t->kind == TOKEN_NAME && (is_word(t->text, "inf") || is_word(t->text, "infinity")))
		*ret = (double)INFINITY;
	else if (t->kind == TOKEN_NAME && is_word(t->text, "nan"))
		*ret = (double)NAN;
	else if ((t->kind != TOKEN_INTEGER && t->kind != TOKEN_FLOAT) || !token_to_double(t->text, ret))
		return parser_expect(p, "a number");
	tokens_next(&p->tokens);
	*ret = is_negative ? -*ret : *ret;
	return true;
}

/* As protoc narrows: what lies half way between the largest float and infinity is the former. */
static float to_single(double v)
{
	if (fabs(v) > (double)FLT_MAX && fabs(v) <= 0x1.ffffffp127)
		return v < 0 ? -FLT_MAX : FLT_MAX;
	return (float)v;
}

static bool parse_float(struct parser *p, bool is_single, uint64_t *ret)
{
	double v = 0;
	float single;

	if (!parse_double(p, &v))
		return false;
	single = to_single(v);
	*ret = 0;
	if (is_single)
		memcpy(ret, &single, sizeof(single));
	else
		memcpy(ret, &v, sizeof(v));
	return true;
}

bool parser_take_number(struct parser *p, const ProtobufCFieldDescriptor *f, uint64_t *ret)
{
	static const char *const want_32 = "a number from -2147483648 to 2147483647";
	static const char *const want_64 = "a number from -9223372036854775808 to 9223372036854775807";
	bool ok;

	switch (f->type) {
	case PROTOBUF_C_TYPE_INT32:
		return parse_signed(p, INT32_MAX, want_32, ret);
	case PROTOBUF_C_TYPE_SFIXED32:
		ok = parse_signed(p, INT32_MAX, want_32, ret);
		*ret = ok ? (uint32_t)*ret : 0;
		return ok;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		return parse_signed(p, INT64_MAX, want_64, ret);
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SINT64:
		ok = f->type == PROTOBUF_C_TYPE_SINT32 ? parse_signed(p, INT32_MAX, want_32, ret)
		                                       : parse_signed(p, INT64_MAX, want_64, ret);
		*ret = ok ? *ret << 1 ^ (0 - (*ret >> 63)) : 0;
		return ok;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return parse_unsigned(p, UINT32_MAX, "a number from 0 to 4294967295", ret);
	case PROTOBUF_C_TYPE_BOOL:
		return parse_bool(p, ret);
	case PROTOBUF_C_TYPE_ENUM:
		return parse_enum(p, f->descriptor, ret);
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_DOUBLE:
		return parse_float(p, f->type == PROTOBUF_C_TYPE_FLOAT, ret);
	default: /* uint64, fixed64 */
		return parse_unsigned(p, UINT64_MAX, "a number from 0 to 18446744073709551615", ret);
	}
}
