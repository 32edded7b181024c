/* The page as one file of HTML: the document, what a first picture needs, the script, all else. */
#include "page.h"

struct sink {
	galvo_write_fn write_fn; /* NULL: bytes are only counted */
	void *ctx;
	uint64_t bytes;
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct sink *s = ctx;

	s->bytes += n;
	return s->write_fn ? s->write_fn(s->ctx, bytes, n) : 0;
}

/* Text between tags. */
static void put_text(struct buf *b, struct span text)
{
	size_t i;

	for (i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '<')
			buf_put_str(b, "&lt;");
		else if (c == '>')
			buf_put_str(b, "&gt;");
		else if (c == '&')
			buf_put_str(b, "&amp;");
		else
			buf_put(b, &c, 1);
	}
}

static int take_text(void *ctx, const void *bytes, size_t n)
{
	struct sheet *s = ctx;

	put_text(&s->buf, span_of(bytes, n));
	sheet_flush(s, false);
	return 0; /* what has failed is told when the sheet is finished */
}

static void put_span(struct sheet *s, struct span text)
{
	buf_put(&s->buf, text.p, text.n);
	sheet_flush(s, false);
}

static void put_head(struct sheet *s, const struct document *d)
{
	struct buf title;

	buf_put_str(&s->buf, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
	put_span(s, d->parts->hashes);
	buf_put_str(&s->buf, "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	                     "<meta name=\"referrer\" content=\"no-referrer\">\n"
	                     "<link rel=\"icon\" href=\"data:,\">\n");
	buf_printf(&s->buf, "<meta name=\"generator\" content=\"galvo %s\">\n<title>", galvo_version());
	buf_init(&title, 1 << 20);
	buf_put_escaped(&title, span_of(d->title.p, d->title.len));
	put_text(&s->buf, span_of(title.p, title.len));
	s->buf.failed |= title.failed;
	buf_finish(&title);
	buf_put_str(&s->buf, "</title>\n<style>");
	put_span(s, d->parts->style);
	buf_put_str(&s->buf, "</style>\n</head>\n<body>\n");
}

/* What is to be read where nothing runs. */
static galvo_status put_reports(struct sheet *s, const struct document *d, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	buf_put_str(&s->buf, "<noscript>\n");
	for (i = 0; i < d->runs_len && status == GALVO_OK; i++) {
		buf_put_str(&s->buf, "<pre>");
		status = galvo_summary_write(d->runs[i].summary, GALVO_REPORT_TEXT, take_text, s, reterr);
		buf_put_str(&s->buf, "</pre>\n");
	}
	buf_put_str(&s->buf, "</noscript>\n");
	return status;
}

static void put_blocks(struct sheet *s, const struct document *d, enum layer layer)
{
	char id[BLOCK_ID_BYTES];
	size_t i;

	for (i = 0; i < d->blocks[layer].len; i++) {
		buf_printf(&s->buf, "<script type=\"application/octet-stream\" id=\"%s\">",
		           block_id(id, layer, i));
		put_base64(&s->buf, d->blocks[layer].all[i].bytes, d->blocks[layer].all[i].len);
		buf_put_str(&s->buf, "</script>\n");
		sheet_flush(s, false);
	}
}

galvo_status html_write(const struct document *d, galvo_write_fn write_fn, void *ctx,
                        uint64_t *ret_bytes, galvo_error *reterr)
{
	struct sink sink = {.write_fn = write_fn, .ctx = ctx};
	struct sheet s;
	galvo_status status;

	sheet_init(&s, take, &sink);
	put_head(&s, d);
	status = put_reports(&s, d, reterr);
	if (status == GALVO_OK) {
		buf_put_str(&s.buf, "<script type=\"application/json\" id=\"galvo-data\">");
		sheet_flush(&s, true);
		if (s.status == GALVO_OK)
			status = document_write(d, false, take, &sink, reterr);
		buf_put_str(&s.buf, "</script>\n");
	}
	if (status == GALVO_OK) {
		put_blocks(&s, d, LAYER_OVERVIEW);
		buf_put_str(&s.buf, "<script>");
		put_span(&s, d->parts->script);
		buf_put_str(&s.buf, "</script>\n");
		put_blocks(&s, d, LAYER_FINER);
		put_blocks(&s, d, LAYER_POINTS);
		buf_put_str(&s.buf, "</body>\n</html>\n");
		status = sheet_finish(&s, reterr);
	} else {
		buf_finish(&s.buf);
	}
	if (status == GALVO_OK && ret_bytes)
		*ret_bytes = sink.bytes;
	return status;
}

/* ---- for servers -------------------------------------------------------------------------------------- */

static const char served[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n<title>galvo</title>\n"
	"<link rel=\"icon\" href=\"data:,\">\n"
	"<link rel=\"stylesheet\" href=\"page.css\">\n</head>\n<body>\n"
	"<noscript>This page shows what it gets with JavaScript, which is turned off.</noscript>\n"
	"<script src=\"page.js\"></script>\n</body>\n</html>\n";

galvo_status galvo_page_part_at(int32_t part, const char **ret_bytes, size_t *ret_len,
                                galvo_error *reterr)
{
	struct page_parts parts;
	struct span found;
	galvo_status status;

	if (!ret_bytes || !ret_len || part < GALVO_PAGE_HTML || part > GALVO_PAGE_STYLE)
		return err_set(reterr, GALVO_ERR_INVALID, "a page has no part %d", (int)part);
	status = page_embedded(&parts, reterr);
	if (status != GALVO_OK)
		return status;
	found = part == GALVO_PAGE_HTML ? span_str(served) :
	        part == GALVO_PAGE_SCRIPT ? parts.script : parts.style;
	*ret_bytes = found.p;
	*ret_len = found.n;
	return GALVO_OK;
}
