/* A canvas that writes SVG: words stay words, and nothing but the picture decides about its bytes. */
#include <math.h>

#include "plot.h"

#define FONTS "DejaVu Sans, Verdana, Arial, sans-serif"
#define FAR 1e6 /* no place is further away */

struct svg {
	struct canvas canvas;
	struct sheet sheet;
	uint32_t clips;
	bool is_clipped;
};

static struct svg *svg_of(struct canvas *canvas)
{
	return (struct svg *)canvas;
}

/* A blank, and hundredths of a point as short as can be. */
static void put_place(struct buf *b, double v)
{
	char text[24];
	size_t at = sizeof(text);
	int64_t n = (int64_t)floor((isnan(v) ? 0 : fmax(-FAR, fmin(FAR, v))) * 100 + 0.5);
	uint64_t u = n < 0 ? (uint64_t)-n : (uint64_t)n;
	int left = 2;

	for (; left > 0 && u % 10 == 0; left--)
		u /= 10;
	if (left > 0) {
		for (; left > 0; left--, u /= 10)
			text[--at] = (char)('0' + u % 10);
		text[--at] = '.';
	}
	do
		text[--at] = (char)('0' + u % 10);
	while ((u /= 10) > 0);
	if (n < 0)
		text[--at] = '-';
	buf_put(b, text + at, sizeof(text) - at);
}

static void put_attribute(struct buf *b, const char *name, double v)
{
	buf_printf(b, " %s=\"", name);
	put_place(b, v);
	buf_put_str(b, "\"");
}

static void put_xml(struct buf *b, const char *text)
{
	const char *p;

	for (p = text; *p; p++) {
		if (*p == '<')
			buf_put_str(b, "&lt;");
		else if (*p == '>')
			buf_put_str(b, "&gt;");
		else if (*p == '&')
			buf_put_str(b, "&amp;");
		else if (*p == '"')
			buf_put_str(b, "&quot;");
		else
			buf_put(b, p, 1);
	}
}

static void put_colour(struct buf *b, const char *what, struct colour c)
{
	buf_printf(b, " %s=\"#%06x\"", what, (unsigned)c.rgb);
	if (c.alpha < 1) {
		buf_printf(b, " %s-opacity=\"", what);
		put_place(b, c.alpha);
		buf_put_str(b, "\"");
	}
}

static void put_title(struct buf *b, const char *title)
{
	buf_put_str(b, "<title>");
	put_xml(b, title);
	buf_put_str(b, "</title>\n");
}

static void svg_begin_page(struct canvas *canvas)
{
	(void)canvas; /* its only one, which the head of the document is about */
}

static void put_points(struct buf *b, const struct path *path)
{
	const struct path_point *before = NULL;
	size_t i;

	for (i = 0; i < path->len; i++) {
		const struct path_point *p = &path->p[i];

		if (!p->moves && before && before->y == p->y) {
			buf_put(b, "H", 1);
			put_place(b, p->x);
		} else if (!p->moves && before && before->x == p->x) {
			buf_put(b, "V", 1);
			put_place(b, p->y);
		} else {
			buf_put(b, p->moves ? "M" : "L", 1);
			put_place(b, p->x);
			buf_put(b, " ", 1);
			put_place(b, p->y);
		}
		before = p;
	}
}

static void svg_fill(struct canvas *canvas, const struct path *path, struct colour c)
{
	struct buf *b = &svg_of(canvas)->sheet.buf;

	if (path->len == 0)
		return;
	buf_put_str(b, "<path");
	put_colour(b, "fill", c);
	buf_put_str(b, " d=\"");
	put_points(b, path);
	buf_put_str(b, "\"/>\n");
	sheet_flush(&svg_of(canvas)->sheet, false);
}

static void svg_stroke(struct canvas *canvas, const struct path *path, const struct line *line)
{
	struct buf *b = &svg_of(canvas)->sheet.buf;
	double parts[DASH_PARTS];
	size_t i, n = dash_parts(line->dash, line->width, parts);

	if (path->len == 0)
		return;
	buf_put_str(b, "<path fill=\"none\"");
	put_colour(b, "stroke", line->colour);
	put_attribute(b, "stroke-width", line->width);
	buf_put_str(b, n ? " stroke-dasharray=\"" : "");
	for (i = 0; i < n; i++) {
		buf_put_str(b, i ? " " : "");
		put_place(b, parts[i]);
	}
	buf_put_str(b, n ? "\" d=\"" : " d=\"");
	put_points(b, path);
	buf_put_str(b, "\"/>\n");
	sheet_flush(&svg_of(canvas)->sheet, false);
}

static void svg_text(struct canvas *canvas, double x, double y, const struct font *font, const char *text)
{
	static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
	struct buf *b = &svg_of(canvas)->sheet.buf;

	buf_put_str(b, "<text");
	put_attribute(b, "x", x);
	put_attribute(b, "y", y);
	put_attribute(b, "font-size", font->em);
	buf_put_str(b, font->is_bold ? " font-weight=\"bold\"" : "");
	buf_put_str(b, anchors[font->align]);
	put_colour(b, "fill", font->colour);
	buf_put_str(b, ">");
	put_xml(b, text);
	buf_put_str(b, "</text>\n");
	sheet_flush(&svg_of(canvas)->sheet, false);
}

static double svg_measure(struct canvas *canvas, const struct font *font, const char *text)
{
	(void)canvas;
	return text_width_milli(span_str(text), font->is_bold) * font->em / 1000;
}

static void svg_clip(struct canvas *canvas, const struct rect *r)
{
	struct svg *s = svg_of(canvas);
	struct buf *b = &s->sheet.buf;

	if (s->is_clipped)
		buf_put_str(b, "</g>\n");
	s->is_clipped = r != NULL;
	if (!r)
		return;
	buf_printf(b, "<clipPath id=\"c%u\"><rect", (unsigned)++s->clips);
	put_attribute(b, "x", r->x);
	put_attribute(b, "y", r->y);
	put_attribute(b, "width", r->w);
	put_attribute(b, "height", r->h);
	buf_printf(b, "/></clipPath>\n<g clip-path=\"url(#c%u)\">\n", (unsigned)s->clips);
}

static void svg_group(struct canvas *canvas, const char *kind, const char *id, const char *title)
{
	struct buf *b = &svg_of(canvas)->sheet.buf;

	buf_printf(b, "<g class=\"%s\"", kind);
	if (id) {
		buf_put_str(b, " data-id=\"");
		put_xml(b, id);
		buf_put_str(b, "\"");
	}
	buf_put_str(b, strcmp(kind, "heat") == 0 ? " shape-rendering=\"crispEdges\">\n" : ">\n");
	if (title)
		put_title(b, title);
}

static void svg_group_end(struct canvas *canvas)
{
	buf_put_str(&svg_of(canvas)->sheet.buf, "</g>\n");
}

static galvo_status svg_finish(struct canvas *canvas, galvo_error *reterr)
{
	struct svg *s = svg_of(canvas);
	galvo_status status;

	buf_put_str(&s->sheet.buf, "</svg>\n");
	status = sheet_finish(&s->sheet, reterr);
	free(s);
	return status == GALVO_ERR_NOMEM ? plot_no_memory(reterr)
	       : status == GALVO_ERR_CALLBACK
	       ? err_set(reterr, status, "the receiver of the picture stopped it") : status;
}

static const struct canvas_ops svg_ops = {
	.begin_page = svg_begin_page, .fill = svg_fill, .stroke = svg_stroke, .text = svg_text,
	.measure = svg_measure, .clip = svg_clip, .group = svg_group, .group_end = svg_group_end,
	.finish = svg_finish,
};

galvo_status canvas_open_svg(const struct plot_about *about, const struct canvas *form,
                          galvo_write_fn write_fn, void *ctx, struct canvas **ret_pen,
                          galvo_error *reterr)
{
	struct svg *s = alloc_array(1, sizeof(*s));
	struct buf *b;

	if (!s)
		return plot_no_memory(reterr);
	s->canvas = *form;
	s->canvas.ops = &svg_ops;
	sheet_init(&s->sheet, write_fn, ctx);
	b = &s->sheet.buf;
	buf_put_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	               "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
	put_attribute(b, "width", form->width * form->scale);
	put_attribute(b, "height", form->height * form->scale);
	buf_put_str(b, " viewBox=\"0 0 ");
	put_place(b, form->width);
	buf_put_str(b, " ");
	put_place(b, form->height);
	buf_put_str(b, "\" font-family=\"" FONTS "\" stroke-linejoin=\"bevel\">\n");
	put_title(b, about->title);
	*ret_pen = &s->canvas;
	return GALVO_OK;
}
