/* Lines of text with columns, handed on in pieces. */
#include "output.h"

#define PIECE_BYTES 8192
#define SHEET_BYTES_MAX (UINT32_C(64) << 20)
#define ELLIPSIS "\xe2\x80\xa6"

void sheet_init(struct sheet *s, galvo_write_fn write_fn, void *ctx)
{
	*s = (struct sheet){.columns = LINE_COLUMNS, .write_fn = write_fn, .ctx = ctx,
	                    .status = GALVO_OK};
	buf_init(&s->buf, SHEET_BYTES_MAX);
}

/* After a failure nothing is handed on any more; makers need not look. */
void sheet_flush(struct sheet *s, bool all)
{
	if (s->buf.failed && s->status == GALVO_OK)
		s->status = GALVO_ERR_NOMEM;
	if (s->buf.len == 0 || (!all && s->buf.len < PIECE_BYTES))
		return;
	if (s->status == GALVO_OK && s->write_fn(s->ctx, s->buf.p, s->buf.len) != 0)
		s->status = GALVO_ERR_CALLBACK;
	s->buf.len = s->line = 0;
}

galvo_status sheet_finish(struct sheet *s, galvo_error *reterr)
{
	sheet_flush(s, true);
	buf_finish(&s->buf);
	if (s->status == GALVO_ERR_NOMEM)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for a report");
	if (s->status == GALVO_ERR_CALLBACK)
		return err_set(reterr, GALVO_ERR_CALLBACK, "the receiver of the report stopped it");
	return GALVO_OK;
}

/* Shortens what is behind `from` to so many columns; the last one says that it did. */
static void clip(struct buf *b, size_t from, size_t columns)
{
	struct span text = span_of(b->p + from, b->len - from);

	if (text_columns(text) <= columns)
		return;
	b->len = from + text_fit(text, columns - 1);
	buf_put_str(b, ELLIPSIS);
}

static void end_line(struct sheet *s)
{
	while (s->buf.len > s->line && s->buf.p[s->buf.len - 1] == ' ')
		s->buf.len--;
	buf_put_str(&s->buf, "\n");
	s->line = s->buf.len;
}

void sheet_line_end(struct sheet *s)
{
	if (s->buf.len > s->line)
		clip(&s->buf, s->line, s->columns);
	end_line(s);
	sheet_flush(s, false);
}

static void blanks(struct buf *b, size_t n)
{
	while (n-- > 0)
		buf_put(b, " ", 1);
}

#define INDENT_MAX 8

/* How much of it goes into this line: up to a blank, or as much as there is room for. */
static size_t first_line(struct span text, size_t columns, size_t line_columns)
{
	size_t n = text_fit(text, columns), first, end, k;

	if (n == text.n)
		return n;
	for (k = n; k > 0 && text.p[k] != ' '; k--)
		;
	for (first = 0; first < n && text.p[first] == ' '; first++)
		;
	for (end = k + 1; end < text.n && text.p[end] != ' '; end++)
		;
	/* A word that no line has room for is broken; the others are indented. */
	return k > n / 2 || (k > first && end - k + INDENT_MAX < line_columns) ? k : n;
}

void sheet_line_wrap(struct sheet *s, size_t indent)
{
	size_t from = s->line, room = s->columns, n;
	struct span rest;
	struct buf words;

	if (s->buf.len == s->line) {
		sheet_line_end(s);
		return;
	}
	buf_init(&words, SHEET_BYTES_MAX);
	buf_put(&words, s->buf.p + from, s->buf.len - from);
	s->buf.failed |= words.failed;
	s->buf.len = from;
	for (rest = span_of(words.p, words.len); rest.n; room = s->columns - indent) {
		n = first_line(rest, room, s->columns);
		if (s->buf.len > from)
			blanks(&s->buf, indent);
		buf_put(&s->buf, rest.p, n);
		end_line(s);
		rest = span_of(rest.p + n, rest.n - n);
		while (rest.n && rest.p[0] == ' ')
			rest = span_of(rest.p + 1, rest.n - 1);
	}
	buf_finish(&words);
	sheet_flush(s, false);
}

void sheet_text(struct sheet *s, const char *text)
{
	buf_put_str(&s->buf, text);
	sheet_line_end(s);
}

void sheet_column(struct sheet *s, size_t column)
{
	size_t at;

	if (s->buf.len > s->line)
		clip(&s->buf, s->line, column - 1);
	at = s->buf.len > s->line
	     ? text_columns(span_of(s->buf.p + s->line, s->buf.len - s->line)) : 0;
	if (at < column)
		blanks(&s->buf, column - at);
}

void sheet_cell(struct sheet *s, size_t width, void (*put)(struct buf *, double), double v)
{
	struct buf b;
	size_t columns;

	buf_init(&b, 512);
	put(&b, v);
	/* Not a number but its text is flush right: "-" too. */
	columns = b.len ? text_columns(span_of(b.p, b.len)) : 0;
	if (columns < width)
		blanks(&s->buf, width - columns);
	buf_put(&s->buf, b.p, b.len);
	s->buf.failed |= b.failed;
	buf_finish(&b);
}

void sheet_escaped(struct sheet *s, const char *bytes)
{
	buf_put_escaped(&s->buf, span_str(bytes));
}

void table_heads(struct sheet *s, const char *title, const struct text_column *columns, size_t n)
{
	size_t i;

	buf_put_str(&s->buf, title);
	sheet_column(s, NAME_COLUMNS);
	for (i = 0; i < n; i++) {
		size_t length = span_str(columns[i].head).n;

		blanks(&s->buf, length < columns[i].width ? columns[i].width - length : 0);
		buf_put_str(&s->buf, columns[i].head);
	}
}

void table_head(struct sheet *s, const char *title, const struct text_column *columns, size_t n)
{
	table_heads(s, title, columns, n);
	sheet_line_end(s);
}

void table_cells(struct sheet *s, const struct text_column *columns, size_t n, const void *thing)
{
	size_t i;

	sheet_column(s, NAME_COLUMNS);
	for (i = 0; i < n; i++) {
		double v;

		memcpy(&v, (const char *)thing + columns[i].offset, sizeof(v));
		sheet_cell(s, columns[i].width, columns[i].put, v);
	}
}
