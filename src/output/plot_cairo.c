/* A canvas that has cairo draw: PNG and PDF. The library is loaded when it is needed, for who has it. */
#include "plot.h"

#ifdef GALVO_HAS_CAIRO
#include <cairo-pdf.h>
#include <cairo.h>
#include <dlfcn.h>
#include <math.h>

#define LIBRARY "libcairo.so.2"
#define PIXELS_MAX 32767 /* along either side */

/* X(function): all that is used of it; cairo_…(). */
#define CAIRO_CALLS(X)                                                                             \
	X(clip)                                                                                    \
	X(create)                                                                                  \
	X(destroy)                                                                                 \
	X(fill)                                                                                    \
	X(font_options_create)                                                                     \
	X(font_options_destroy)                                                                    \
	X(font_options_set_antialias)                                                              \
	X(font_options_set_hint_metrics)                                                           \
	X(font_options_set_hint_style)                                                             \
	X(image_surface_create)                                                                    \
	X(line_to)                                                                                 \
	X(move_to)                                                                                 \
	X(new_path)                                                                                \
	X(paint)                                                                                   \
	X(pdf_surface_create_for_stream)                                                           \
	X(pdf_surface_set_metadata)                                                                \
	X(pdf_surface_set_size)                                                                    \
	X(rectangle)                                                                               \
	X(reset_clip)                                                                              \
	X(scale)                                                                                   \
	X(select_font_face)                                                                        \
	X(set_dash)                                                                                \
	X(set_font_options)                                                                        \
	X(set_font_size)                                                                           \
	X(set_line_join)                                                                           \
	X(set_line_width)                                                                          \
	X(set_source_rgba)                                                                         \
	X(show_page)                                                                               \
	X(show_text)                                                                               \
	X(status)                                                                                  \
	X(status_to_string)                                                                        \
	X(stroke)                                                                                  \
	X(surface_destroy)                                                                         \
	X(surface_finish)                                                                          \
	X(surface_status)                                                                          \
	X(surface_write_to_png_stream)                                                             \
	X(text_extents)

struct cairo_calls {
#define X(name) __typeof__(cairo_##name) *name;
	CAIRO_CALLS(X)
#undef X
};

static const struct dso_symbol symbols[] = {
#define X(name) {"cairo_" #name, offsetof(struct cairo_calls, name), true},
	CAIRO_CALLS(X)
#undef X
};

struct drawing {
	struct canvas canvas;
	struct cairo_calls call;
	cairo_surface_t *surface;
	cairo_t *cairo;
	galvo_plot_format format;
	bool has_page;
	galvo_write_fn write_fn;
	void *ctx;
	bool is_stopped; /* by the receiver */
};

static struct drawing *drawing_of(struct canvas *canvas)
{
	return (struct drawing *)canvas;
}

static cairo_status_t hand_on(void *ctx, const unsigned char *bytes, unsigned n)
{
	struct drawing *d = ctx;

	if (!d->is_stopped && d->write_fn(d->ctx, bytes, n) != 0)
		d->is_stopped = true;
	return d->is_stopped ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static void take_colour(struct drawing *d, struct colour c)
{
	d->call.set_source_rgba(d->cairo, (c.rgb >> 16) / 255.0, (c.rgb >> 8 & 0xff) / 255.0,
	                        (c.rgb & 0xff) / 255.0, c.alpha);
}

static void cairo_begin_page(struct canvas *canvas)
{
	struct drawing *d = drawing_of(canvas);

	if (d->has_page)
		d->call.show_page(d->cairo);
	if (d->format == GALVO_PLOT_PDF)
		d->call.pdf_surface_set_size(d->surface, canvas->width, canvas->height);
	d->has_page = true;
}

static void take_path(struct drawing *d, const struct path *path)
{
	size_t i;

	d->call.new_path(d->cairo);
	for (i = 0; i < path->len; i++) {
		const struct path_point *p = &path->p[i];

		if (p->moves)
			d->call.move_to(d->cairo, p->x, p->y);
		else
			d->call.line_to(d->cairo, p->x, p->y);
	}
}

static void cairo_fill_path(struct canvas *canvas, const struct path *path, struct colour c)
{
	struct drawing *d = drawing_of(canvas);

	take_path(d, path);
	take_colour(d, c);
	d->call.fill(d->cairo);
}

static void cairo_stroke_path(struct canvas *canvas, const struct path *path, const struct line *line)
{
	struct drawing *d = drawing_of(canvas);
	double parts[DASH_PARTS];
	size_t n = dash_parts(line->dash, line->width, parts);

	take_path(d, path);
	take_colour(d, line->colour);
	d->call.set_line_width(d->cairo, line->width);
	d->call.set_dash(d->cairo, parts, (int)n, 0);
	d->call.stroke(d->cairo);
}

static void take_font(struct drawing *d, const struct font *font)
{
	d->call.select_font_face(d->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
	                         font->is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	d->call.set_font_size(d->cairo, font->em);
}

static double cairo_measure(struct canvas *canvas, const struct font *font, const char *text)
{
	struct drawing *d = drawing_of(canvas);
	cairo_text_extents_t extents = {0};

	take_font(d, font);
	d->call.text_extents(d->cairo, text, &extents);
	return extents.x_advance;
}

static void cairo_draw_text(struct canvas *canvas, double x, double y, const struct font *font,
                            const char *text)
{
	struct drawing *d = drawing_of(canvas);
	double width = font->align == ALIGN_LEFT ? 0 : cairo_measure(canvas, font, text);

	take_font(d, font);
	take_colour(d, font->colour);
	d->call.move_to(d->cairo, x - (font->align == ALIGN_MIDDLE ? width / 2 : width), y);
	d->call.show_text(d->cairo, text);
}

static void cairo_clip_to(struct canvas *canvas, const struct rect *r)
{
	struct drawing *d = drawing_of(canvas);

	d->call.reset_clip(d->cairo);
	if (!r)
		return;
	d->call.new_path(d->cairo);
	d->call.rectangle(d->cairo, r->x, r->y, r->w, r->h);
	d->call.clip(d->cairo);
}

static void cairo_group(struct canvas *canvas, const char *kind, const char *id, const char *title)
{
	(void)canvas; /* a drawing has no parts */
	(void)kind;
	(void)id;
	(void)title;
}

static void cairo_group_end(struct canvas *canvas)
{
	(void)canvas;
}

static galvo_status failure(const struct drawing *d, cairo_status_t status, galvo_error *reterr)
{
	if (d->is_stopped)
		return err_set(reterr, GALVO_ERR_CALLBACK, "the receiver of the picture stopped it");
	if (status == CAIRO_STATUS_NO_MEMORY)
		return plot_no_memory(reterr);
	return err_set(reterr, GALVO_ERR_IO, "cairo: %s", d->call.status_to_string(status));
}

static galvo_status cairo_finish(struct canvas *canvas, galvo_error *reterr)
{
	struct drawing *d = drawing_of(canvas);
	cairo_status_t status = d->call.status(d->cairo);
	galvo_status ret = GALVO_OK;

	if (status == CAIRO_STATUS_SUCCESS && d->format == GALVO_PLOT_PNG)
		status = d->call.surface_write_to_png_stream(d->surface, hand_on, d);
	d->call.destroy(d->cairo);
	d->call.surface_finish(d->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = d->call.surface_status(d->surface);
	if (status != CAIRO_STATUS_SUCCESS || d->is_stopped)
		ret = failure(d, status, reterr);
	d->call.surface_destroy(d->surface);
	free(d);
	return ret;
}

static const struct canvas_ops cairo_ops = {
	.begin_page = cairo_begin_page, .fill = cairo_fill_path, .stroke = cairo_stroke_path,
	.text = cairo_draw_text, .measure = cairo_measure, .clip = cairo_clip_to,
	.group = cairo_group, .group_end = cairo_group_end, .finish = cairo_finish,
};

/* It stays loaded: fonts that it has found are the process's, and it cannot forget all of them. */
static galvo_status load(struct cairo_calls *ret, galvo_error *reterr)
{
	void *handle;
	galvo_error why;
	galvo_status status = dso_open(LIBRARY, RTLD_NOW | RTLD_LOCAL, &handle, &why);

	if (status == GALVO_OK)
		status = dso_bind(handle, symbols, ARRAY_LEN(symbols), ret, &why);
	if (status == GALVO_OK)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_ABSENT,
	               "PNG and PDF are drawn by cairo (package libcairo2), which is not here: %s; "
	               "SVG needs nothing", why.text);
}

static void tell_about(struct drawing *d, const struct plot_about *about)
{
	struct buf when;

	d->call.pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_TITLE, about->title);
	d->call.pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATOR, "galvo");
	/* Unless it is told another time, cairo takes that of today. */
	buf_init(&when, 64);
	put_time(&when, about->created_wall_ns ? about->created_wall_ns : NS_PER_S);
	buf_put(&when, "", 1);
	if (!when.failed)
		d->call.pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATE_DATE, when.p);
	buf_finish(&when);
}

/* The same whatever a desktop is set to. */
static void settle(struct drawing *d)
{
	cairo_font_options_t *options = d->call.font_options_create();

	d->call.font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	d->call.font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	d->call.font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	d->call.set_font_options(d->cairo, options);
	d->call.font_options_destroy(options);
	d->call.set_line_join(d->cairo, CAIRO_LINE_JOIN_BEVEL);
}

galvo_status canvas_open_cairo(galvo_plot_format format, const struct plot_about *about,
                            const struct canvas *form, galvo_write_fn write_fn, void *ctx,
                            struct canvas **ret_pen, galvo_error *reterr)
{
	double width = floor(form->width * form->scale + 0.5);
	double height = floor(form->height * form->scale + 0.5);
	struct drawing *d;
	galvo_status status;

	if (format == GALVO_PLOT_PNG && (width > PIXELS_MAX || height > PIXELS_MAX))
		return err_set(reterr, GALVO_ERR_INVALID, "a PNG of %.0f x %.0f pixels is too large: "
		               "choose fewer or lower panels, or PDF or SVG", width, height);
	if (!(d = alloc_array(1, sizeof(*d))))
		return plot_no_memory(reterr);
	*d = (struct drawing){.canvas = *form, .format = format, .write_fn = write_fn, .ctx = ctx};
	d->canvas.ops = &cairo_ops;
	status = load(&d->call, reterr);
	if (status != GALVO_OK) {
		free(d);
		return status;
	}
	d->surface = format == GALVO_PLOT_PNG
	             ? d->call.image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height)
	             : d->call.pdf_surface_create_for_stream(hand_on, d, form->width, form->height);
	if (format == GALVO_PLOT_PDF)
		tell_about(d, about);
	d->cairo = d->call.create(d->surface);
	d->call.scale(d->cairo, form->scale, form->scale);
	settle(d);
	*ret_pen = &d->canvas;
	return GALVO_OK;
}

#else

galvo_status canvas_open_cairo(galvo_plot_format format, const struct plot_about *about,
                            const struct canvas *form, galvo_write_fn write_fn, void *ctx,
                            struct canvas **ret_pen, galvo_error *reterr)
{
	(void)format, (void)about, (void)form, (void)write_fn, (void)ctx, (void)ret_pen;
	return err_set(reterr, GALVO_ERR_ABSENT, "PNG and PDF are drawn by cairo, and this galvo was "
	               "built without it (package libcairo2-dev); SVG needs nothing");
}

#endif
