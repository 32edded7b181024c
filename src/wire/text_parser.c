/* What every part of the text parser needs: where it is, and saying what is wrong there. */
#include "text.h"

enum { SHOWN_MAX = 6 };

void parser_place(const struct parser *p, const char *at, size_t *ret_line, size_t *ret_column)
{
	const char *c;

	*ret_line = *ret_column = 1;
	for (c = p->tokens.text.p; c < at; c++) {
		*ret_line += *c == '\n';
		*ret_column = *c == '\n' ? 1 : *ret_column + ((unsigned char)*c >> 6 != 2);
	}
}

void parser_seek(struct parser *p)
{
	struct span rest = span_str(p->sought), name;
	size_t i;

	for (i = 0; i < p->depth; i++) {
		if (!span_cut(&rest, '.', &name)) {
			name = rest;
			rest.n = 0;
		}
		if (!span_eq_str(name, p->fields[i]))
			return;
	}
	if (!p->found && rest.n == 0 && p->sought && p->sought_nth-- == 0)
		p->found = p->tokens.token.text.p;
}

/* "path:line:column: field 'a.b': ", of many names the last. */
static void put_place(struct buf *b, const struct parser *p)
{
	size_t line, column, i = p->depth > SHOWN_MAX ? p->depth - SHOWN_MAX : 0;

	parser_place(p, p->tokens.token.text.p, &line, &column);
	buf_printf(b, "%s:%zu:%zu: ", p->path, line, column);
	buf_put_str(b, i ? "field '…" : p->depth ? "field '" : "");
	for (; i < p->depth; i++)
		buf_printf(b, "%s%s", i ? "." : "", p->fields[i]);
	buf_put_str(b, p->depth ? "': " : "");
}

/* The buffer's text as the error, clipped by err_set. */
static bool fail(struct parser *p, struct buf *b)
{
	p->status = err_set(p->reterr, GALVO_ERR_MALFORMED, "%.*s", (int)b->len, b->p);
	return false;
}

#define ERROR_BUF(b)                                                                               \
	char b##_bytes[1024];                                                                      \
	struct buf b = {.p = b##_bytes, .cap = sizeof(b##_bytes), .max = sizeof(b##_bytes)}

/* The token is not what was wanted. */
bool parser_expect(struct parser *p, const char *want)
{
	enum { CLIP = 24 };
	const struct token *t = &p->tokens.token;
	size_t n = t->text.n < CLIP ? t->text.n : CLIP;
	ERROR_BUF(b);

	put_place(&b, p);
	buf_printf(&b, "expected %s, got ", t->kind == TOKEN_WRONG ? t->wrong : want);
	buf_put_str(&b, t->kind == TOKEN_END ? "the end" : "'");
	buf_put_escaped(&b, span_of(t->text.p, n));
	buf_put_str(&b, t->kind == TOKEN_END ? "" : t->text.n > CLIP ? "…'" : "'");
	return fail(p, &b);
}

bool parser_refuse(struct parser *p, const char *why)
{
	ERROR_BUF(b);

	put_place(&b, p);
	buf_put_str(&b, why);
	return fail(p, &b);
}

bool parser_refuse_unknown(struct parser *p, const ProtobufCMessageDescriptor *m)
{
	struct span name = p->tokens.token.text;
	ERROR_BUF(b);

	put_place(&b, p);
	if (p->depth)
		b.len -= strlen("': ");
	buf_put_str(&b, p->depth ? "." : "field '");
	buf_put(&b, name.p, name.n < 64 ? name.n : 64);
	buf_printf(&b, "': %s has no such field", m->short_name);
	return fail(p, &b);
}

bool parser_no_memory(struct parser *p)
{
	p->status = err_set(p->reterr, GALVO_ERR_NOMEM, "%s: too large, or out of memory", p->path);
	return false;
}

bool parser_is_at(const struct parser *p, char symbol)
{
	return p->tokens.token.kind == TOKEN_SYMBOL && p->tokens.token.text.p[0] == symbol;
}

bool parser_take(struct parser *p, char symbol)
{
	if (!parser_is_at(p, symbol))
		return false;
	tokens_next(&p->tokens);
	return true;
}
