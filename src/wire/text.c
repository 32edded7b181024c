/* Protobuf's text format, parsed into the wire bytes of the message that a descriptor tells of. */
#include "text.h"

/* Behind what wire_put_… has put. */
static void end_at(struct buf *b, const char *end)
{
	b->len = (size_t)(end - b->p);
}

static bool put_tag(struct parser *p, const ProtobufCFieldDescriptor *f, size_t more)
{
	if (!buf_reserve(p->out, WIRE_TAG_MAX + more))
		return parser_no_memory(p);
	end_at(p->out, wire_put_tag(p->out->p + p->out->len, f->id, field_wire_type(f)));
	return true;
}

/* *ret_given: the value is told from absence. Where zero is not, zero does not go on the wire. */
static bool parse_scalar(struct parser *p, const ProtobufCFieldDescriptor *f, bool *ret_given)
{
	enum wire_type type = field_wire_type(f);
	uint64_t v = 0;

	if (!parser_take_number(p, f, &v))
		return false;
	*ret_given = v || !field_is_implicit(f);
	if (!*ret_given)
		return true;
	if (!put_tag(p, f, WIRE_VARINT_MAX))
		return false;
	if (type == WIRE_VARINT)
		end_at(p->out, wire_put_varint(p->out->p + p->out->len, v));
	else
		buf_put(p->out, &v, type == WIRE_FIXED32 ? 4 : 8);
	return true;
}

static bool parse_string(struct parser *p, const ProtobufCFieldDescriptor *f, bool *ret_given)
{
	struct token first = p->tokens.token;

	if (first.kind != TOKEN_STRING)
		return parser_expect(p, "a text in quotes");
	p->literal.len = 0;
	for (; p->tokens.token.kind == TOKEN_STRING; tokens_next(&p->tokens))
		token_unquote(p->tokens.token.text, &p->literal);
	if (p->literal.failed)
		return parser_no_memory(p);
	if (f->type == PROTOBUF_C_TYPE_STRING && !utf8_is_valid(span_of(p->literal.p, p->literal.len))) {
		p->tokens.token = first;
		return parser_expect(p, "valid UTF-8");
	}
	*ret_given = p->literal.len || !field_is_implicit(f);
	if (!*ret_given)
		return true;
	if (!put_tag(p, f, WIRE_VARINT_MAX + p->literal.len))
		return false;
	end_at(p->out, wire_put_varint(p->out->p + p->out->len, p->literal.len));
	buf_put(p->out, p->literal.p, p->literal.len);
	return true;
}

static bool parse_field(struct parser *p, const ProtobufCMessageDescriptor *m, size_t seen);

/* Fields up to the closing symbol, or the end where that is NUL. */
static bool parse_fields(struct parser *p, const ProtobufCMessageDescriptor *m, char close)
{
	size_t seen = p->seen.len;

	if (!buf_reserve(&p->seen, m->n_fields))
		return parser_no_memory(p);
	if (m->n_fields)
		memset(p->seen.p + seen, 0, m->n_fields);
	p->seen.len += m->n_fields;
	while (close ? !parser_is_at(p, close) : p->tokens.token.kind != TOKEN_END)
		if (!parse_field(p, m, seen))
			return false;
	p->seen.len = seen;
	return true;
}

static bool parse_message(struct parser *p, const ProtobufCFieldDescriptor *f)
{
	char close = parser_is_at(p, '{') ? '}' : '>', head[WIRE_VARINT_MAX];
	size_t from, n, head_len;

	if (!parser_is_at(p, '{') && !parser_is_at(p, '<'))
		return parser_expect(p, "'{'");
	if (p->depth == TEXT_DEPTH_MAX)
		return parser_refuse(p, "messages are nested too deep");
	tokens_next(&p->tokens);
	if (!put_tag(p, f, 0))
		return false;
	from = p->out->len;
	if (!parse_fields(p, f->descriptor, close))
		return false;
	tokens_next(&p->tokens);
	n = p->out->len - from;
	head_len = (size_t)(wire_put_varint(head, n) - head);
	if (!buf_reserve(p->out, head_len))
		return parser_no_memory(p);
	memmove(p->out->p + from + head_len, p->out->p + from, n);
	memcpy(p->out->p + from, head, head_len);
	p->out->len += head_len;
	return true;
}

static bool parse_value(struct parser *p, const ProtobufCFieldDescriptor *f, bool *ret_given)
{
	*ret_given = true;
	if (p->sought)
		parser_seek(p);
	if (f->type == PROTOBUF_C_TYPE_MESSAGE)
		return parse_message(p, f);
	if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES)
		return parse_string(p, f, ret_given);
	return parse_scalar(p, f, ret_given);
}

static bool parse_values(struct parser *p, const ProtobufCFieldDescriptor *f, bool *ret_given)
{
	*ret_given = true;
	if (f->label != PROTOBUF_C_LABEL_REPEATED || !parser_take(p, '['))
		return parse_value(p, f, ret_given);
	if (parser_take(p, ']'))
		return true;
	while (parse_value(p, f, ret_given)) {
		if (parser_take(p, ']'))
			return true;
		if (!parser_take(p, ','))
			return parser_expect(p, "',' or ']'");
	}
	return false;
}

static bool check_unseen(struct parser *p, const ProtobufCMessageDescriptor *m,
                         const ProtobufCFieldDescriptor *f, const char *seen)
{
	unsigned i;

	if (f->label != PROTOBUF_C_LABEL_REPEATED && seen[f - m->fields])
		return parser_refuse(p, "given twice");
	for (i = 0; i < m->n_fields && f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF; i++)
		if (seen[i] && field_excludes(f, &m->fields[i]))
			return parser_refuse(p, "excluded by another one that is given");
	return true;
}

static bool parse_field(struct parser *p, const ProtobufCMessageDescriptor *m, size_t seen)
{
	const ProtobufCFieldDescriptor *f = NULL;
	bool is_given;
	unsigned i;

	if (p->tokens.token.kind != TOKEN_NAME)
		return parser_expect(p, p->depth ? "a field or the closing brace" : "a field");
	for (i = 0; i < m->n_fields && !f; i++)
		if (span_eq_str(p->tokens.token.text, m->fields[i].name))
			f = &m->fields[i];
	if (!f)
		return parser_refuse_unknown(p, m);
	p->fields[p->depth++] = f->name;
	if (!check_unseen(p, m, f, p->seen.p + seen))
		return false;
	tokens_next(&p->tokens);
	if (!parser_take(p, ':') && f->type != PROTOBUF_C_TYPE_MESSAGE)
		return parser_expect(p, "':'");
	if (!parse_values(p, f, &is_given))
		return false;
	p->seen.p[seen + (size_t)(f - m->fields)] |= is_given;
	p->depth--;
	if (!parser_take(p, ';'))
		parser_take(p, ',');
	return true;
}

static void parse(struct parser *p, const struct ProtobufCMessageDescriptor *message, struct span text)
{
	buf_init(&p->seen, SIZE_MAX / 2);
	buf_init(&p->literal, text.n);
	tokens_init(&p->tokens, text);
	parse_fields(p, message, '\0');
	if (p->status == GALVO_OK && p->out->failed)
		parser_no_memory(p);
	buf_finish(&p->seen);
	buf_finish(&p->literal);
}

galvo_status text_parse(const struct ProtobufCMessageDescriptor *message, const char *path,
                        struct span text, struct buf *into, galvo_error *reterr)
{
	struct parser p = {.path = path, .out = into, .reterr = reterr, .status = GALVO_OK};

	parse(&p, message, text);
	return p.status;
}

bool text_find(const struct ProtobufCMessageDescriptor *message, struct span text, const char *field,
               size_t nth, size_t *ret_line, size_t *ret_column)
{
	struct buf out;
	struct parser p = {.path = "", .out = &out, .sought = field, .sought_nth = nth};

	buf_init(&out, SIZE_MAX / 2);
	parse(&p, message, text);
	buf_finish(&out);
	if (p.found)
		parser_place(&p, p.found, ret_line, ret_column);
	return p.found != NULL;
}
