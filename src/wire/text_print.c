/* Wire bytes of a message as protobuf's text format, byte for byte as protoc --decode prints them. */
#include "text.h"

enum { UNKNOWN_DEPTH_MAX = 10 }; /* how deep protoc looks for messages in fields it does not know */

struct printer {
	struct buf *out;
	size_t depth;
	galvo_status status;
	galvo_error *reterr;
};

static bool fail(struct printer *p, galvo_status status, const char *name, const char *why)
{
	p->status = err_set(p->reterr, status, "%s: %s", name, why);
	return false;
}

static void put_indent(struct printer *p)
{
	size_t i;

	for (i = 0; i < p->depth; i++)
		buf_put(p->out, "  ", 2);
}

/* ---- is it such a message? What is overwritten later on has to be sound too --------------------- */

/* Packed or not, a reader takes both. */
static bool is_known(const ProtobufCFieldDescriptor *f, const struct wire_field *w)
{
	return w->number == f->id &&
	       (w->type == field_wire_type(f) ||
	        (w->type == WIRE_BYTES && f->label == PROTOBUF_C_LABEL_REPEATED));
}

/* NULL: the message does not know it. */
static const ProtobufCFieldDescriptor *find(const ProtobufCMessageDescriptor *m,
                                            const struct wire_field *w)
{
	unsigned i;

	for (i = 0; i < m->n_fields; i++)
		if (is_known(&m->fields[i], w))
			return &m->fields[i];
	return NULL;
}

static bool take_packed(struct span *rest, enum wire_type type, uint64_t *ret)
{
	size_t n = type == WIRE_FIXED64 ? 8 : 4;

	if (type == WIRE_VARINT)
		return wire_take_varint(rest, ret);
	if (rest->n < n)
		return false;
	*ret = 0;
	memcpy(ret, rest->p, n);
	*rest = span_of(rest->p + n, rest->n - n);
	return true;
}

static bool check_message(struct printer *p, const ProtobufCMessageDescriptor *m, struct span bytes,
                          size_t depth);

static bool check_value(struct printer *p, const ProtobufCFieldDescriptor *f, struct wire_field *w,
                        size_t depth)
{
	uint64_t v;

	if (f->type == PROTOBUF_C_TYPE_MESSAGE)
		return check_message(p, f->descriptor, w->bytes, depth + 1);
	if (f->type == PROTOBUF_C_TYPE_STRING && !utf8_is_valid(w->bytes))
		return fail(p, GALVO_ERR_MALFORMED, f->name, "not valid UTF-8");
	while (w->type != field_wire_type(f) && w->bytes.n)
		if (!take_packed(&w->bytes, field_wire_type(f), &v))
			return fail(p, GALVO_ERR_MALFORMED, f->name, "not a packed list of its type");
	return true;
}

static bool check_message(struct printer *p, const ProtobufCMessageDescriptor *m, struct span bytes,
                          size_t depth)
{
	const ProtobufCFieldDescriptor *f;
	struct wire_field w;
	galvo_status status;

	if (depth > TEXT_DEPTH_MAX)
		return fail(p, GALVO_ERR_MALFORMED, m->short_name, "nested too deep");
	while ((status = wire_next(&bytes, &w)) == GALVO_OK) {
		f = find(m, &w);
		if (f && !check_value(p, f, &w, depth))
			return false;
	}
	return status == GALVO_DONE || fail(p, GALVO_ERR_MALFORMED, m->short_name, "not a message");
}

/* ---- fields that the message knows -------------------------------------------------------------- */

static bool is_zero(const ProtobufCFieldDescriptor *f, const struct wire_field *w)
{
	bool is_short = f->type == PROTOBUF_C_TYPE_INT32 || f->type == PROTOBUF_C_TYPE_UINT32 ||
	                f->type == PROTOBUF_C_TYPE_SINT32 || f->type == PROTOBUF_C_TYPE_ENUM;

	return w->type == WIRE_BYTES ? w->bytes.n == 0 : !(is_short ? (uint32_t)w->value : w->value);
}

static bool print_message(struct printer *p, const ProtobufCMessageDescriptor *m, struct span bytes);

static bool print_value(struct printer *p, const ProtobufCFieldDescriptor *f,
                        const struct wire_field *w)
{
	put_indent(p);
	buf_put_str(p->out, f->name);
	if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
		buf_put_str(p->out, " {\n");
		p->depth++;
		if (!print_message(p, f->descriptor, w->bytes))
			return false;
		p->depth--;
		put_indent(p);
		buf_put_str(p->out, "}\n");
		return true;
	}
	buf_put_str(p->out, ": ");
	if (w->type != WIRE_BYTES)
		text_put_scalar(p->out, f, w->value);
	else
		text_put_quoted(p->out, w->bytes);
	buf_put(p->out, "\n", 1);
	return true;
}

static bool print_packed(struct printer *p, const ProtobufCFieldDescriptor *f, struct span packed)
{
	struct wire_field one = {.type = field_wire_type(f)};

	while (packed.n && take_packed(&packed, one.type, &one.value))
		if (!print_value(p, f, &one))
			return false;
	return true;
}

/* What is behind the last other member of f's oneof: that one had ended whatever was before. */
static struct span behind_others(const ProtobufCMessageDescriptor *m,
                                 const ProtobufCFieldDescriptor *f, struct span bytes)
{
	struct span rest = bytes;
	struct wire_field w;
	unsigned i;

	while (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && wire_next(&rest, &w) == GALVO_OK)
		for (i = 0; i < m->n_fields; i++)
			if (field_excludes(f, &m->fields[i]) && is_known(&m->fields[i], &w))
				bytes = rest;
	return bytes;
}

/* Messages in pieces are the message of all the bytes in a row. */
static bool print_merged(struct printer *p, const ProtobufCFieldDescriptor *f, struct span rest)
{
	struct wire_field w, whole = {.type = WIRE_BYTES};
	struct buf b;
	bool ok;

	buf_init(&b, rest.n);
	while (wire_next(&rest, &w) == GALVO_OK)
		if (is_known(f, &w))
			buf_put(&b, w.bytes.p, w.bytes.n);
	whole.bytes = span_of(b.p, b.len);
	ok = b.failed ? fail(p, GALVO_ERR_NOMEM, f->name, "out of memory") : print_value(p, f, &whole);
	buf_finish(&b);
	return ok;
}

static bool print_field(struct printer *p, const ProtobufCMessageDescriptor *m,
                        const ProtobufCFieldDescriptor *f, struct span bytes)
{
	struct span rest = behind_others(m, f, bytes), from = rest;
	struct wire_field w, last;
	size_t count = 0;

	while (wire_next(&rest, &w) == GALVO_OK) {
		if (!is_known(f, &w))
			continue;
		last = w;
		count++;
		if (f->label != PROTOBUF_C_LABEL_REPEATED)
			continue;
		if (w.type == field_wire_type(f) ? !print_value(p, f, &w) : !print_packed(p, f, w.bytes))
			return false;
	}
	if (f->label == PROTOBUF_C_LABEL_REPEATED || count == 0)
		return true;
	if (f->type == PROTOBUF_C_TYPE_MESSAGE && count > 1)
		return print_merged(p, f, from);
	return (field_is_implicit(f) && is_zero(f, &last)) || print_value(p, f, &last);
}

/* ---- fields that it does not know --------------------------------------------------------------- */

static bool is_message(struct span bytes)
{
	struct wire_field w;
	galvo_status status;

	do
		status = wire_next(&bytes, &w);
	while (status == GALVO_OK);
	return status == GALVO_DONE;
}

static void print_unknown(struct printer *p, const struct wire_field *w, size_t depth)
{
	struct span rest = w->bytes;
	struct wire_field inner;

	put_indent(p);
	buf_printf(p->out, "%u", w->number);
	if (w->type == WIRE_BYTES && rest.n && depth && is_message(rest)) {
		buf_put_str(p->out, " {\n");
		p->depth++;
		while (wire_next(&rest, &inner) == GALVO_OK)
			print_unknown(p, &inner, depth - 1);
		p->depth--;
		put_indent(p);
		buf_put_str(p->out, "}\n");
		return;
	}
	buf_put_str(p->out, ": ");
	if (w->type == WIRE_BYTES)
		text_put_quoted(p->out, rest);
	else if (w->type == WIRE_VARINT)
		buf_printf(p->out, "%llu", (unsigned long long)w->value);
	else
		buf_printf(p->out, w->type == WIRE_FIXED32 ? "0x%08llx" : "0x%016llx",
		           (unsigned long long)w->value);
	buf_put(p->out, "\n", 1);
}

static bool print_message(struct printer *p, const ProtobufCMessageDescriptor *m, struct span bytes)
{
	struct wire_field w;
	unsigned i;

	for (i = 0; i < m->n_fields; i++)
		if (!print_field(p, m, &m->fields[i], bytes))
			return false;
	while (wire_next(&bytes, &w) == GALVO_OK)
		if (!find(m, &w))
			print_unknown(p, &w, UNKNOWN_DEPTH_MAX);
	return true;
}

galvo_status text_print(const struct ProtobufCMessageDescriptor *message, struct span bytes,
                        struct buf *into, galvo_error *reterr)
{
	struct printer p = {.out = into, .status = GALVO_OK, .reterr = reterr};

	if (check_message(&p, message, bytes, 0) && print_message(&p, message, bytes) && into->failed)
		fail(&p, GALVO_ERR_NOMEM, message->short_name, "too large, or out of memory");
	return p.status;
}
