/* A panel: its title, axes, curves, what there is at most, and who is who. */
#include <math.h>

#include "plot.h"

#define Y_TICKS 4
#define TICK_ROOM 10.0 /* between two numbers */
#define VALUE_WIDTH 44.0
#define SWATCH 9.0
#define PEAK_REACH 2.2 /* what is so many times as high as the values would flatten them */
#define HEIGHT 64.0
#define PEAKS_TOLD 3 /* of each kind */
#define DASH_WIDTH 10.0
#define HEAT_ROW 5.0
#define HEAT_HEIGHT_MAX 150.0
#define LANES_HEIGHT_MAX 150.0

static uint32_t lanes_of(const struct plot *p, const struct plot_panel *panel)
{
	uint32_t n = panel->kind == PLOT_GPU_LANES ? p->panels->gpu_lanes : p->panels->host_lanes;

	return n ? n : 1;
}

double panel_height(const struct plot *p, const struct plot_panel *panel)
{
	(void)p;
	return panel->height + TITLE_HEIGHT;
}

/* A good height, where nobody asked for one. */
double panel_good_height(const struct plot *p, const struct plot_panel *panel, double asked)
{
	if (panel->is_zero)
		return 0;
	if (panel->kind != PLOT_PANEL)
		return fmin(LANE_HEIGHT * lanes_of(p, panel), LANES_HEIGHT_MAX);
	if (asked > 0)
		return asked;
	if (panel->panel->shape == PANEL_HEAT)
		return fmin(fmax(HEAT_ROW * (double)panel->curves_len, 40), HEAT_HEIGHT_MAX);
	return HEIGHT;
}

/* ---- axes ------------------------------------------------------------------------------------------- */

static bool is_in_reach(const struct plot_panel *panel, const struct panel_peak *peak)
{
	double ceiling = panel->panel->ceiling;

	return (!isnan(ceiling) && peak->value <= ceiling) ||
	       (panel->max > 0 && peak->value <= panel->max * PEAK_REACH);
}

static void choose_axis(const struct plot_panel *panel, struct ticks *ret)
{
	const struct panel *p = panel->panel;
	bool is_stack = p->shape == PANEL_STACK;
	double low = panel->min, high = panel->max;
	bool fixed_low = !isnan(p->floor), fixed_high = !isnan(p->ceiling);
	size_t i;

	if (panel->curves_len == 0) {
		low = 0;
		high = 1;
	}
	for (i = 0; i < p->peaks_len; i++)
		if (is_in_reach(panel, &p->peaks[i]))
			high = fmax(high, p->peaks[i].value);
	if (fixed_low)
		low = fmin(low, p->floor);
	if (is_stack)
		low = fmin(low, 0);
	if (fixed_high && high <= p->ceiling)
		high = p->ceiling;
	else
		fixed_high = false;
	ticks_of_values(ret, p->unit, low, high, fixed_low && low == p->floor, fixed_high,
	                (size_t)fmax(1, fmin(Y_TICKS, panel->height / TICK_ROOM)));
}

static void draw_value_axis(struct plot *p, const struct frame_of *f, const struct ticks *t)
{
	const struct font font = {SMALL_TEXT, ALIGN_RIGHT, false, p->theme->soft_ink};
	const struct line grid = {p->theme->grid, 0.5, DASH_NONE};
	double last = INFINITY;
	struct buf b;
	size_t i;

	for (i = 0; i < t->len; i++) {
		double y = frame_y(f, t->at[i]);

		if (last - y < SMALL_TEXT)
			continue;
		last = y;
		canvas_line(p->canvas, f->plot.x, y, f->plot.x + f->plot.w, y, &grid);
		buf_init(&b, 128);
		put_tick(&b, t, i);
		canvas_text_buf(p->canvas, f->plot.x - 3, y + SMALL_TEXT * 0.35, AXIS_WIDTH - 4, &font, &b);
		buf_finish(&b);
	}
}

static void draw_frame(struct plot *p, const struct frame_of *f)
{
	const struct line line = {p->theme->frame, 0.5, DASH_NONE};
	struct rect r = f->plot;

	canvas_line(p->canvas, r.x, r.y, r.x, r.y + r.h, &line);
	canvas_line(p->canvas, r.x, r.y + r.h, r.x + r.w, r.y + r.h, &line);
}

/* ---- what there is at most --------------------------------------------------------------------------- */

static void put_peak(struct buf *b, const struct plot_panel *panel, const struct panel_peak *peak)
{
	put_label(b, peak->label);
	buf_put_str(b, " ");
	put_value(b, panel->panel->unit, peak->value);
}

static void draw_peaks(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	const struct line line = {p->theme->peak, 0.6, DASH_LONG};
	size_t i;

	for (i = 0; i < panel->panel->peaks_len; i++) {
		const struct panel_peak *peak = &panel->panel->peaks[i];
		double y = frame_y(f, peak->value);

		if (is_in_reach(panel, peak))
			canvas_line(p->canvas, f->plot.x, y, f->plot.x + f->plot.w, y, &line);
	}
}

/* ---- the title ----------------------------------------------------------------------------------------- */

/* Peaks in words: those that are lines, or those that are out of reach. Nothing of the run crosses them. */
static void put_peaks(struct buf *b, const struct plot_panel *panel, bool in_reach)
{
	size_t i, n = 0;

	for (i = 0; i < panel->panel->peaks_len && n < PEAKS_TOLD; i++) {
		if (is_in_reach(panel, &panel->panel->peaks[i]) != in_reach)
			continue;
		buf_put_str(b, n++ ? ", " : "");
		put_peak(b, panel, &panel->panel->peaks[i]);
	}
	if (n && !in_reach)
		buf_put_str(b, ": above the scale");
}

static double draw_tag(struct plot *p, double x, double y, const char *text)
{
	const struct font font = {SMALL_TEXT - 1, ALIGN_LEFT, true, p->theme->paper};
	double width = p->canvas->ops->measure(p->canvas, &font, text);

	canvas_fill_rect(p->canvas, (struct rect){x, y - 6.3, width + 5, 8}, p->theme->gpu);
	canvas_text(p->canvas, x + 2.5, y - 0.2, width + 1, &font, text);
	return width + 5;
}

/* Flush right, those with lines behind a piece of one; from x on there is room. */
static void draw_peak_words(struct plot *p, const struct plot_panel *panel, const struct frame_of *f, double x)
{
	const struct font right = {SMALL_TEXT, ALIGN_RIGHT, false, p->theme->soft_ink};
	const struct line line = {p->theme->peak, 0.8, DASH_LONG};
	double end = f->plot.x + f->plot.w, y = f->plot.y - 3.5;
	int in_reach;
	struct buf b;

	for (in_reach = 0; in_reach < 2; in_reach++) {
		double width, dash = in_reach ? DASH_WIDTH + 3 : 0;

		buf_init(&b, 8192);
		put_peaks(&b, panel, in_reach);
		width = b.len ? canvas_text_buf(p->canvas, end, y, end - x - dash, &right, &b) : 0;
		buf_finish(&b);
		if (width > 0 && in_reach)
			canvas_line(p->canvas, end - width - dash, y - 2.4, end - width - 3, y - 2.4, &line);
		end -= width > 0 ? width + dash + 8 : 0;
	}
}

static void draw_title(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	const struct font bold = {TEXT, ALIGN_LEFT, true, p->theme->ink};
	const struct font soft = {SMALL_TEXT, ALIGN_LEFT, false, p->theme->soft_ink};
	double x = f->plot.x, y = f->plot.y - 3.5, end = f->plot.x + f->plot.w;
	struct buf b;

	buf_init(&b, 4096);
	put_label(&b, panel->title);
	x += canvas_text_buf(p->canvas, x, y, f->plot.w * 0.75, &bold, &b) + 6;
	buf_finish(&b);
	if (panel->kind == PLOT_GPU_LANES || (panel->panel && panel->panel->is_gpu_clock))
		x += draw_tag(p, x, y, panel->panel ? "GPU clock" : "GPU") + 6;
	if (!panel->panel)
		return;
	if (panel->is_zero) {
		canvas_text(p->canvas, x, y, end - x, &soft, "0 throughout");
		return;
	}
	draw_peak_words(p, panel, f, x);
}

/* ---- who is who ------------------------------------------------------------------------------------------ */

static void draw_swatch(struct plot *p, const struct plot_panel *panel, size_t i, double x, double y)
{
	struct line line = curve_line(p, panel, i);

	if (panel->panel->shape == PANEL_STACK) {
		canvas_fill_rect(p->canvas, (struct rect){x, y - 5.6, SWATCH, 6},
		                 colour_alpha(line.colour, AREA_ALPHA));
	} else {
		line.width *= 1.4;
		canvas_line(p->canvas, x, y - 2.4, x + SWATCH, y - 2.4, &line);
	}
}

static void draw_entry(struct plot *p, const struct plot_panel *panel, size_t i, double x, double y,
                       double end)
{
	const struct font name = {SMALL_TEXT, ALIGN_LEFT, false, p->theme->ink};
	const struct font value = {SMALL_TEXT, ALIGN_RIGHT, false, p->theme->soft_ink};
	const struct drawn *d = &panel->curves[i];
	struct buf b;
	double width;

	draw_swatch(p, panel, i, x, y);
	buf_init(&b, 128);
	put_value(&b, panel->panel->unit, d->mean);
	width = canvas_text_buf(p->canvas, end, y, VALUE_WIDTH, &value, &b);
	buf_finish(&b);
	x += SWATCH + 3;
	buf_init(&b, 4096);
	put_label(&b, d->curve->label);
	canvas_name(p->canvas, x, y, end - width - 4 - x, &name, &b);
	buf_finish(&b);
}

static void draw_legend(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	const struct font soft = {SMALL_TEXT - 0.5, ALIGN_RIGHT, false, p->theme->soft_ink};
	const struct font more = {SMALL_TEXT, ALIGN_LEFT, false, p->theme->soft_ink};
	double x = f->plot.x + f->plot.w + 7, end = f->plot.x + f->plot.w + p->legend_width, y;
	bool has_rest = panel->curves_len > 0 && panel->curves[panel->curves_len - 1].curve->is_rest;
	size_t i, n = panel->named;
	struct buf b;

	canvas_text(p->canvas, end, f->plot.y - 3.5, VALUE_WIDTH, &soft, "mean");
	for (i = 0; i < n; i++)
		draw_entry(p, panel, i, x, f->plot.y + 5 + LEGEND_STEP * (double)i, end);
	if (n == panel->curves_len)
		return;
	y = f->plot.y + 5 + LEGEND_STEP * (double)n;
	draw_swatch(p, panel, n, x, y);
	buf_init(&b, 64);
	buf_printf(&b, n ? "and %zu more" : "%zu curves", panel->curves_len - n - has_rest);
	canvas_text_buf(p->canvas, x + SWATCH + 3, y, end - x - SWATCH, &more, &b);
	buf_finish(&b);
	/* What the others have together may be most of it. */
	if (has_rest && y + LEGEND_STEP < f->plot.y + f->plot.h + LEGEND_STEP)
		draw_entry(p, panel, panel->curves_len - 1, x, y + LEGEND_STEP, end);
}

/* Colours beside their numbers, and the names of rows left of them. */
static void draw_heat_words(struct plot *p, const struct plot_panel *panel, const struct frame_of *f,
                            const struct ticks *t)
{
	const struct font left = {SMALL_TEXT, ALIGN_LEFT, false, p->theme->soft_ink};
	const struct font right = {SMALL_TEXT, ALIGN_RIGHT, false, p->theme->soft_ink};
	double x = f->plot.x + f->plot.w + 7, step = f->plot.h / HEAT_LEVELS;
	double row = panel->curves_len ? f->plot.h / (double)panel->curves_len : f->plot.h;
	size_t i, every = row < LEGEND_STEP ? (size_t)ceil(LEGEND_STEP / row) : 1;
	struct buf b;

	for (i = 0; i < HEAT_LEVELS; i++)
		canvas_fill_rect(p->canvas, (struct rect){x, f->plot.y + f->plot.h - step * (double)(i + 1), SWATCH,
		              step + (i ? 0.2 : 0)}, theme_heat(p->theme, i));
	for (i = 0; i < t->len; i++) {
		double y = frame_y(f, t->at[i]);

		buf_init(&b, 128);
		put_tick(&b, t, i);
		canvas_text_buf(p->canvas, x + SWATCH + 3, fmax(f->plot.y + 5, fmin(f->plot.y + f->plot.h, y + 2.4)),
		             p->legend_width - SWATCH - 12, &left, &b);
		buf_finish(&b);
	}
	for (i = 0; i < panel->curves_len; i += every) {
		buf_init(&b, 4096);
		put_label(&b, panel->curves[i].curve->label);
		canvas_text_buf(p->canvas, f->plot.x - 3, f->plot.y + row * ((double)i + 0.5) + 2.4, AXIS_WIDTH - 4,
		             &right, &b);
		buf_finish(&b);
	}
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

static void draw_values(struct plot *p, const struct plot_panel *panel, struct frame_of *f)
{
	const struct font soft = {SMALL_TEXT, ALIGN_MIDDLE, false, p->theme->soft_ink};
	bool is_heat = panel->panel->shape == PANEL_HEAT;
	struct ticks t;

	choose_axis(panel, &t);
	f->low = t.low;
	f->high = t.high;
	if (is_heat)
		draw_heat_words(p, panel, f, &t);
	else
		draw_value_axis(p, f, &t);
	if (panel->curves_len == 0) {
		canvas_text(p->canvas, f->plot.x + f->plot.w / 2, f->plot.y + f->plot.h / 2, f->plot.w, &soft,
		         "no values in this time");
		return;
	}
	p->canvas->ops->clip(p->canvas, &(struct rect){f->plot.x - 1, f->plot.y - 1, f->plot.w + 2, f->plot.h + 2});
	if (is_heat)
		draw_heat(p, panel, f);
	else if (panel->panel->shape == PANEL_STACK)
		draw_stack(p, panel, f);
	else
		draw_lines(p, panel, f);
	p->canvas->ops->clip(p->canvas, NULL);
	if (is_heat)
		return;
	draw_peaks(p, panel, f);
	draw_legend(p, panel, f);
}

void draw_panel(struct plot *p, const struct plot_panel *panel, struct rect place)
{
	struct frame_of f = {
		.plot = {place.x + AXIS_WIDTH, place.y + TITLE_HEIGHT, place.w - AXIS_WIDTH - p->legend_width,
		         panel->height},
		.from_mono_ns = p->from_mono_ns, .end_mono_ns = p->end_mono_ns, .high = 1,
	};

	p->canvas->ops->group(p->canvas, "panel", panel->id, NULL);
	draw_title(p, panel, &f);
	if (panel->is_zero) {
		/* Its title says all. */
	} else if (panel->kind == PLOT_PANEL) {
		draw_values(p, panel, &f);
	} else {
		p->canvas->ops->clip(p->canvas, &f.plot);
		draw_lanes(p, panel, &f);
		p->canvas->ops->clip(p->canvas, NULL);
	}
	draw_frame(p, &f);
	p->canvas->ops->group_end(p->canvas);
}
