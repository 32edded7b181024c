/* A run as a picture: what is asked for, what the page is like, and who draws it. */
#include "plot.h"

#include <math.h>

#define A4_WIDTH 595.0
#define A4_HEIGHT 842.0
#define DEFAULT_PIXELS 1600
#define LEAST_WIDTH 320
#define MOST_WIDTH 20000
#define LEAST_PANEL 24
#define MOST_PANEL 4000
#define LEAST_SCALE 1.2 /* pixels to a point: with fewer, words are not legible */
#define VECTOR_SCALE 2.0 /* as many steps as paper shows */
#define WORDS_MAX 65536
#define LIST_MAX (1 << 24)
#define LEGEND_PART 0.23 /* of the width */

/* ---- what is asked for ----------------------------------------------------------------------------------- */

static galvo_status check_options(const galvo_plot_options *o, galvo_error *reterr)
{
	if (o->format < 0 || o->format > GALVO_PLOT_PDF)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no format %d of pictures", (int)o->format);
	if (o->reserved)
		return err_set(reterr, GALVO_ERR_INVALID, "reserved is %u, not 0", (unsigned)o->reserved);
	if (o->width && (o->width < LEAST_WIDTH || o->width > MOST_WIDTH))
		return err_set(reterr, GALVO_ERR_INVALID, "expected a width of %d to %d, got %u", LEAST_WIDTH,
		               MOST_WIDTH, (unsigned)o->width);
	if (o->panel_height && (o->panel_height < LEAST_PANEL || o->panel_height > MOST_PANEL))
		return err_set(reterr, GALVO_ERR_INVALID, "expected a height of %d to %d for a panel, got %u",
		               LEAST_PANEL, MOST_PANEL, (unsigned)o->panel_height);
	return GALVO_OK;
}

/* The part of the time that is drawn. */
static galvo_status take_time(struct plot *p, const galvo_plot_options *o, galvo_error *reterr)
{
	uint64_t zero = p->panels->zero_mono_ns, all = p->panels->end_mono_ns;
	uint64_t length_ns = all > zero ? all - zero : 0;
	uint64_t end_ns = o->before_ns && o->before_ns < length_ns ? o->before_ns : length_ns;
	struct buf b;

	if (o->after_ns > 0 && (o->after_ns >= end_ns || (o->before_ns && o->after_ns >= o->before_ns))) {
		buf_init(&b, 128);
		put_duration(&b, (double)length_ns / 1e9);
		buf_put(&b, "", 1);
		err_set(reterr, GALVO_ERR_INVALID, "no such time: %g s to %g s of a recording of %s",
		        (double)o->after_ns / 1e9, (double)(o->before_ns ? o->before_ns : length_ns) / 1e9,
		        b.failed ? "?" : b.p);
		buf_finish(&b);
		return GALVO_ERR_INVALID;
	}
	/* A run of one instant has an axis, too. */
	p->from_mono_ns = zero + o->after_ns;
	p->end_mono_ns = zero + (end_ns > o->after_ns ? end_ns : o->after_ns + 1000);
	p->from_s = (double)o->after_ns / 1e9;
	p->end_s = (double)(p->end_mono_ns - zero) / 1e9;
	return GALVO_OK;
}

/* Widths of paper and of pixels: words stay as large as they are, up to where pixels are plenty. */
static void take_form(struct canvas *form, const galvo_plot_options *o)
{
	*form = (struct canvas){.width = o->width ? o->width : A4_WIDTH, .scale = 1,
	                     .is_paged = o->format == GALVO_PLOT_PDF};
	if (form->is_paged) {
		form->height = form->width * A4_HEIGHT / A4_WIDTH;
		return;
	}
	form->width = o->width ? o->width : DEFAULT_PIXELS;
	form->scale = fmax(LEAST_SCALE, fmin(form->width, DEFAULT_PIXELS) / A4_WIDTH);
	form->width /= form->scale;
	form->snaps = o->format == GALVO_PLOT_PNG;
}

static void take_heights(struct plot *p, const struct canvas *form, double asked)
{
	double most = form->is_paged ? form->height - 2 * MARGIN - 100 : INFINITY;
	size_t i;

	for (i = 0; i < p->len; i++)
		p->all[i].height = fmin(most, panel_good_height(p, &p->all[i], asked / form->scale));
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

struct receiver {
	galvo_write_fn write_fn;
	void *ctx;
};

static galvo_status draw(struct plot *p, const struct canvas *form, const galvo_plot_options *o,
                         const struct galvo_summary *s, const struct plot_words *words,
                         const struct receiver *to, galvo_error *reterr)
{
	struct plot_about about = {words->title, s->start_wall_ns};
	galvo_status status, last;
	galvo_error drawing;

	if (o->format == GALVO_PLOT_SVG)
		status = canvas_open_svg(&about, form, to->write_fn, to->ctx, &p->canvas, reterr);
	else
		status = canvas_open_cairo((galvo_plot_format)o->format, &about, form, to->write_fn, to->ctx,
		                        &p->canvas, reterr);
	if (status != GALVO_OK)
		return status;
	status = page_draw(p, words, reterr);
	last = canvas_finish(p->canvas, &drawing);
	p->canvas = NULL;
	if (status == GALVO_OK && last != GALVO_OK)
		return err_set(reterr, last, "%s", drawing.text);
	return status;
}

/* The page is as high as its words and panels are. */
static galvo_status draw_with_words(struct plot *p, struct canvas *form, const galvo_plot_options *o,
                                    const struct galvo_summary *s, const struct receiver *to,
                                    galvo_error *reterr)
{
	struct buf texts[3];
	galvo_status status;
	bool failed = false;
	double height;
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++)
		buf_init(&texts[i], WORDS_MAX);
	put_heading(&texts[0], s, o->title);
	put_facts(&texts[1], p, s);
	put_warnings(&texts[2], s);
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		buf_put(&texts[i], "", 1);
		failed |= texts[i].failed;
	}
	if (failed) {
		status = plot_no_memory(reterr);
	} else {
		const struct plot_words words = {texts[0].p, texts[1].p, texts[2].p};

		/* A picture, and a single page, end below the last panel: of whole pixels. */
		height = ceil(page_height(p, &words) * form->scale) / form->scale;
		form->height = form->is_paged ? fmin(form->height, height) : height;
		status = draw(p, form, o, s, &words, to, reterr);
	}
	for (i = 0; i < ARRAY_LEN(texts); i++)
		buf_finish(&texts[i]);
	return status;
}

static galvo_status plot_panels(const struct panels *panels, const struct galvo_summary *s,
                                const galvo_plot_options *o, const struct receiver *to,
                                galvo_error *reterr)
{
	struct plot p = {.panels = panels, .theme = theme_of(o->is_dark), .gpu_only = o->gpu_only};
	struct canvas form;
	galvo_status status;
	size_t i;

	take_form(&form, o);
	p.width = form.width;
	p.legend_width = fmin(LEGEND_WIDTH, fmax(LEGEND_LEAST, form.width * LEGEND_PART));
	p.columns = (size_t)((form.width - 2 * MARGIN - AXIS_WIDTH - p.legend_width) *
	                     (form.is_paged ? VECTOR_SCALE : form.scale));
	status = take_time(&p, o, reterr);
	if (status == GALVO_OK)
		status = plot_take(&p, o->panels, reterr);
	if (status == GALVO_OK)
		status = plot_take_marks(&p, reterr);
	if (status == GALVO_OK && p.len == 0)
		status = err_set(reterr, GALVO_ERR_ABSENT, o->gpu_only ? "nothing to draw: there are no "
		                 "values of GPUs" : "nothing to draw: there are no values");
	if (status == GALVO_OK) {
		take_heights(&p, &form, o->panel_height);
		status = plot_take_tints(&p, reterr);
	}
	if (status == GALVO_OK)
		status = draw_with_words(&p, &form, o, s, to, reterr);
	for (i = 0; i < p.len; i++)
		plot_panel_finish(&p.all[i]);
	free(p.all);
	free(p.marks);
	free(p.region_tints);
	path_finish(&p.path);
	return status;
}

static galvo_status list_panels(const struct panels *panels, const struct galvo_summary *s,
                                const galvo_plot_options *o, const struct receiver *to,
                                galvo_error *reterr)
{
	struct plot p = {.panels = panels, .gpu_only = o->gpu_only};
	galvo_status status = take_time(&p, o, reterr);
	struct buf b;
	size_t i;

	if (status == GALVO_OK)
		status = plot_list_all(&p, reterr);
	(void)s;
	buf_init(&b, LIST_MAX);
	for (i = 0; i < p.len && status == GALVO_OK; i++) {
		put_label(&b, p.all[i].id);
		buf_put_str(&b, "\t");
		put_label(&b, p.all[i].title);
		buf_put_str(&b, "\n");
	}
	if (b.failed)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for the names of panels");
	if (status == GALVO_OK && b.len && to->write_fn(to->ctx, b.p, b.len) != 0)
		status = err_set(reterr, GALVO_ERR_CALLBACK, "the receiver of the list stopped it");
	buf_finish(&b);
	free(p.all);
	return status;
}

/* What is done with the panels of a run. */
typedef galvo_status (*panels_fn)(const struct panels *panels, const struct galvo_summary *s,
                                  const galvo_plot_options *o, const struct receiver *to,
                                  galvo_error *reterr);

static galvo_status with_panels(const galvo_run *run, const galvo_plot_options *options, panels_fn fn,
                                const struct receiver *to, galvo_error *reterr)
{
	galvo_plot_options o = {0};
	galvo_summary *summary = NULL;
	struct panels panels = {0};
	struct panels_options wish = {0};
	galvo_status status = GALVO_OK;

	if (!run || !to->write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "no run, or no function that writes");
	if (options)
		status = sized_take("galvo_plot_options", &o, sizeof(o), options, reterr);
	if (status == GALVO_OK)
		status = check_options(&o, reterr);
	if (status != GALVO_OK)
		return status;
	if (o.format == 0)
		o.format = GALVO_PLOT_PNG;
	wish.gpu_only = o.gpu_only;
	status = galvo_summary_create(run, &summary, reterr);
	if (status == GALVO_OK) {
		status = panels_make(&panels, run, summary, &wish, reterr);
		if (status == GALVO_OK)
			status = fn(&panels, summary, &o, to, reterr);
		panels_finish(&panels);
	}
	galvo_summary_destroy(summary);
	return status;
}

galvo_status galvo_plot_write(const galvo_run *run, const galvo_plot_options *options,
                              galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	return with_panels(run, options, plot_panels, &(struct receiver){write_fn, ctx}, reterr);
}

galvo_status galvo_plot_list(const galvo_run *run, const galvo_plot_options *options,
                             galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	return with_panels(run, options, list_panels, &(struct receiver){write_fn, ctx}, reterr);
}
