/* Curves of a panel: steps, bands of what lies between, stacks, rows of colours. */
#include <math.h>

#include "plot.h"

#define LINE_WIDTH 0.8
#define THIN_WIDTH 0.35
#define BAND_ALPHA 0.28
#define DASHED_CURVES 4 /* that few are told apart without colours, too */

double frame_x(const struct frame_of *f, uint64_t mono_ns)
{
	double part;

	if (mono_ns <= f->from_mono_ns)
		return f->plot.x;
	part = (double)(mono_ns - f->from_mono_ns) / (double)(f->end_mono_ns - f->from_mono_ns);
	return f->plot.x + f->plot.w * fmin(part, 1);
}

double frame_y(const struct frame_of *f, double value)
{
	double part = (value - f->low) / (f->high - f->low);

	return f->plot.y + f->plot.h * (1 - fmax(-1, fmin(2, part)));
}

struct colour curve_colour(const struct plot *p, const struct plot_panel *panel, size_t i)
{
	uint8_t tint = panel->curves[i].tint;

	if (tint == TINT_REST)
		return p->theme->rest;
	if (tint >= CURVE_COLOURS) /* thin lines are to be seen, too */
		return panel->panel->shape == PANEL_STACK ? p->theme->unnamed : p->theme->frame;
	return (struct colour){p->theme->curves[tint], 1};
}

struct line curve_line(const struct plot *p, const struct plot_panel *panel, size_t i)
{
	bool is_few = panel->curves_len <= DASHED_CURVES;

	return (struct line){curve_colour(p, panel, i), i < panel->named ? LINE_WIDTH : LINE_WIDTH / 2,
	                     is_few ? (enum dash)(panel->curves[i].place % DASHES) : DASH_NONE};
}

/* Is nothing known of the time between two of them? Less than can be seen is no gap. */
static bool is_gap(const struct frame_of *f, const struct bucket *a, const struct bucket *b)
{
	return b->from_mono_ns > a->end_mono_ns &&
	       b->from_mono_ns - a->end_mono_ns > (f->end_mono_ns - f->from_mono_ns) / GAP_PARTS;
}

/* How many buckets from the i-th on hang together. */
static size_t together(const struct frame_of *f, const struct drawn *d, size_t i)
{
	size_t n = 1;

	while (i + n < d->len && !is_gap(f, &d->buckets[i + n - 1], &d->buckets[i + n]))
		n++;
	return n;
}

/* Of one bucket; what is too narrow to be seen is widened. */
static void ends_of(const struct plot *p, const struct frame_of *f, const struct bucket *b,
                    bool is_alone, double *ret_from, double *ret_end)
{
	double least = is_alone ? 1 : 0.5 / p->canvas->scale;

	*ret_from = frame_x(f, b->from_mono_ns);
	*ret_end = frame_x(f, b->end_mono_ns);
	if (*ret_end - *ret_from < least)
		*ret_end = *ret_from + least;
}

/* What lies between the lowest and the highest of each bucket. */
static void draw_band(struct plot *p, const struct drawn *d, const struct frame_of *f,
                      struct colour c)
{
	struct path *path = &p->path;
	double from = 0, end;
	size_t i, k, n;

	path_clear(path);
	for (i = 0; i < d->len; i += n) {
		n = together(f, d, i);
		for (k = i; k < i + n; k++) {
			ends_of(p, f, &d->buckets[k], n == 1, &from, &end);
			if (k == i)
				path_move(path, from, frame_y(f, d->buckets[k].max));
			path_line(path, from, frame_y(f, d->buckets[k].max));
			path_line(path, end, frame_y(f, d->buckets[k].max));
		}
		for (k = i + n; k-- > i;) {
			ends_of(p, f, &d->buckets[k], n == 1, &from, &end);
			path_line(path, end, frame_y(f, d->buckets[k].min));
			path_line(path, from, frame_y(f, d->buckets[k].min));
		}
		path_line(path, from, frame_y(f, d->buckets[i].max));
	}
	p->canvas->ops->fill(p->canvas, path, colour_alpha(c, BAND_ALPHA));
	/* A single value that stands out is one pixel wide: the edge shows it. */
	p->canvas->ops->stroke(p->canvas, path, &(struct line){colour_alpha(c, 0.6), THIN_WIDTH, DASH_NONE});
}

static void draw_steps(struct plot *p, const struct drawn *d, const struct frame_of *f,
                       const struct line *line)
{
	struct path *path = &p->path;
	double from, end;
	size_t i, k, n;

	path_clear(path);
	for (i = 0; i < d->len; i += n) {
		n = together(f, d, i);
		for (k = i; k < i + n; k++) {
			double y = frame_y(f, d->buckets[k].mean);

			ends_of(p, f, &d->buckets[k], n == 1, &from, &end);
			if (k == i)
				path_move(path, from, y);
			path_line(path, from, y);
			path_line(path, end, y);
		}
	}
	p->canvas->ops->stroke(p->canvas, path, line);
}

void draw_lines(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	size_t i;

	/* The largest last, and so on top. */
	for (i = panel->curves_len; i-- > 0;) {
		struct line line = curve_line(p, panel, i);
		const struct drawn *d = &panel->curves[i];

		p->canvas->ops->group(p->canvas, "curve", d->curve->key, NULL);
		if (d->is_band)
			draw_band(p, d, f, line.colour);
		draw_steps(p, d, f, &line);
		p->canvas->ops->group_end(p->canvas);
	}
}

/* ---- stacks -------------------------------------------------------------------------------------------- */

static double column_x(const struct frame_of *f, const struct stacked *s, size_t c)
{
	return f->plot.x + f->plot.w * (double)c / (double)s->columns;
}

/* The area of one curve, from below[] to below[] and its own. */
static void draw_layer(struct plot *p, const struct stacked *s, const struct frame_of *f,
                       const double *mean, double *below, struct colour c)
{
	struct path *path = &p->path;
	size_t i, k, end;

	path_clear(path);
	for (i = 0; i < s->columns; i = end) {
		end = i + 1;
		if (isnan(s->highest[i]) || mean[i] == 0)
			continue;
		while (end < s->columns && !isnan(s->highest[end]) && mean[end] != 0)
			end++;
		path_move(path, column_x(f, s, i), frame_y(f, below[i]));
		for (k = i; k < end; k++) {
			path_line(path, column_x(f, s, k), frame_y(f, below[k] + mean[k]));
			path_line(path, column_x(f, s, k + 1), frame_y(f, below[k] + mean[k]));
		}
		for (k = end; k-- > i;) {
			path_line(path, column_x(f, s, k + 1), frame_y(f, below[k]));
			path_line(path, column_x(f, s, k), frame_y(f, below[k]));
		}
	}
	for (i = 0; i < s->columns; i++)
		below[i] += mean[i];
	p->canvas->ops->fill(p->canvas, path, c);
}

/* How high the sum was: a bar above the stack of means, where it was higher. */
static void draw_highest(struct plot *p, const struct stacked *s, const struct frame_of *f,
                         const double *sum)
{
	double width = fmax(LINE_WIDTH, f->plot.w / (double)s->columns);
	struct path *path = &p->path;
	size_t i;

	path_clear(path);
	for (i = 0; i < s->columns; i++)
		if (s->highest[i] - sum[i] > (f->high - f->low) * 0.005)
			path_rect(path, (struct rect){column_x(f, s, i), frame_y(f, s->highest[i]), width,
			          frame_y(f, sum[i]) - frame_y(f, s->highest[i])});
	p->canvas->ops->fill(p->canvas, path, colour_alpha(p->theme->soft_ink, 0.55));
}

/* The k-th from below: few are in their panel's order. curves_len: there is none. */
static size_t layer_at(const struct plot_panel *panel, size_t k)
{
	size_t i;

	if (panel->panel->curves_len > CURVE_COLOURS)
		return k < panel->curves_len ? k : panel->curves_len;
	for (i = 0; i < panel->curves_len && panel->curves[i].place != k; i++)
		;
	return i;
}

void draw_stack(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	const struct stacked *s = &panel->stacked;
	double *below = alloc_array(s->columns, sizeof(*below));
	size_t i, k;

	if (!below) {
		p->path.failed = true;
		return;
	}
	for (k = 0; k < panel->panel->curves_len; k++) {
		i = layer_at(panel, k);
		if (i == panel->curves_len)
			continue;
		p->canvas->ops->group(p->canvas, "curve", panel->curves[i].curve->key, NULL);
		draw_layer(p, s, f, s->mean + i * s->columns, below,
		           colour_alpha(curve_colour(p, panel, i), AREA_ALPHA));
		p->canvas->ops->group_end(p->canvas);
	}
	draw_highest(p, s, f, below);
	free(below);
}

/* ---- rows of colours ------------------------------------------------------------------------------------- */

static size_t level_of(const struct frame_of *f, double value)
{
	double part = (value - f->low) / (f->high - f->low);

	return (size_t)(fmax(0, fmin(1, part)) * (HEAT_LEVELS - 1) + 0.5);
}

static double snapped(const struct plot *p, double v)
{
	return p->canvas->snaps ? floor(v * p->canvas->scale + 0.5) / p->canvas->scale : v;
}

/* The cells of one colour in a row; neighbours that have it are one. */
static void put_cells(struct plot *p, const struct drawn *d, const struct frame_of *f,
                      struct rect row, bool is_highest, size_t level)
{
	double from, end;
	size_t i, k;

	for (i = 0; i < d->len; i = k) {
		const struct bucket *b = &d->buckets[i];

		k = i + 1;
		if (level_of(f, is_highest ? b->max : b->mean) != level)
			continue;
		while (k < d->len && !is_gap(f, &d->buckets[k - 1], &d->buckets[k]) &&
		       level_of(f, is_highest ? d->buckets[k].max : d->buckets[k].mean) == level)
			k++;
		from = snapped(p, frame_x(f, b->from_mono_ns));
		end = snapped(p, frame_x(f, d->buckets[k - 1].end_mono_ns));
		if (end - from < 1 / p->canvas->scale)
			end = from + 1 / p->canvas->scale;
		path_rect(&p->path, (struct rect){from, row.y, end - from, row.h});
	}
}

/* The i-th of n rows; its upper part shows the highest of what is between two columns. */
static void put_row(struct plot *p, const struct plot_panel *panel, const struct frame_of *f, size_t i,
                    size_t level)
{
	double h = f->plot.h / (double)panel->curves_len;
	double top = snapped(p, f->plot.y + h * (double)i), end = snapped(p, f->plot.y + h * (double)(i + 1));
	const struct drawn *d = &panel->curves[i];
	double gap = h > 4 ? 0.4 : 0, part = d->is_band ? (end - top - gap) / 3 : 0;

	if (part > 0)
		put_cells(p, d, f, (struct rect){f->plot.x, top, 0, part}, true, level);
	put_cells(p, d, f, (struct rect){f->plot.x, top + part, 0, end - gap - top - part}, false, level);
}

void draw_heat(struct plot *p, const struct plot_panel *panel, const struct frame_of *f)
{
	size_t level, i;

	p->canvas->ops->group(p->canvas, "heat", panel->id, NULL);
	for (level = 0; level < HEAT_LEVELS; level++) {
		path_clear(&p->path);
		for (i = 0; i < panel->curves_len; i++)
			put_row(p, panel, f, i, level);
		p->canvas->ops->fill(p->canvas, &p->path, theme_heat(p->theme, level));
	}
	p->canvas->ops->group_end(p->canvas);
}
