/* Pages of a picture: the head, panels in their groups, one axis of time, marks through all. */
#include <math.h>

#include "plot.h"

#define GROUP_HEIGHT 15.0
#define GAP 7.0
#define X_TICKS 9

/* Where each panel goes. */
struct place {
	size_t page;
	double y;
	bool has_head; /* of its group, above it */
	bool goes_on;  /* that has panels on the page before */
};

static double top_of(const struct plot *p, const struct plot_words *words, size_t page)
{
	return MARGIN + head_height(p, words, page) + (p->marks_len ? MARKS_HEIGHT : 0);
}

/* Puts panels under each other, onto as many pages as that takes. Returns where the last one ends. */
static double lay_out(const struct plot *p, const struct plot_words *words, double page_end,
                      struct place *places)
{
	double y = top_of(p, words, 0);
	size_t i, page = 0;

	for (i = 0; i < p->len; i++) {
		const struct plot_panel *panel = &p->all[i];
		bool is_new = i == 0 || strcmp(panel->group, p->all[i - 1].group) != 0;
		double height = panel_height(p, panel) + GAP, head = is_new ? GROUP_HEIGHT : 0;

		places[i].has_head = is_new;
		if (y + head + height > page_end && y > top_of(p, words, page)) {
			y = top_of(p, words, ++page);
			places[i].goes_on = !is_new;
			places[i].has_head = true;
			head = GROUP_HEIGHT;
		}
		places[i].page = page;
		places[i].y = y + head;
		y += head + height;
	}
	return y;
}

double page_height(const struct plot *p, const struct plot_words *words)
{
	double y = top_of(p, words, 0);
	size_t i;

	for (i = 0; i < p->len; i++) {
		bool is_new = i == 0 || strcmp(p->all[i].group, p->all[i - 1].group) != 0;

		y += panel_height(p, &p->all[i]) + GAP + (is_new ? GROUP_HEIGHT : 0);
	}
	return y + foot_height(p) + MARGIN;
}

/* ---- time ------------------------------------------------------------------------------------------------- */

/* From the first panel of the page to the last: light lines, and numbers below them. */
static void draw_time(struct plot *p, const struct frame_of *f, double top)
{
	const struct font font = {SMALL_TEXT, ALIGN_MIDDLE, false, p->theme->soft_ink};
	const struct line grid = {p->theme->grid, 0.5, DASH_NONE};
	double end = f->plot.y + f->plot.h, last = -1e9;
	struct ticks t;
	struct buf b;
	size_t i;

	ticks_of_time(&t, p->from_s, p->end_s, X_TICKS);
	p->canvas->ops->group(p->canvas, "time", NULL, NULL);
	for (i = 0; i < t.len; i++) {
		double x = f->plot.x + f->plot.w * fmin(1, (t.at[i] - p->from_s) / (p->end_s - p->from_s));
		double width;

		canvas_line(p->canvas, x, top, x, end + 2.5, &grid);
		buf_init(&b, 128);
		put_tick(&b, &t, i);
		buf_put(&b, "", 1);
		width = b.failed ? 0 : p->canvas->ops->measure(p->canvas, &font, b.p);
		if (!b.failed && x - width / 2 > last + 3) {
			p->canvas->ops->text(p->canvas, x, end + 10, &font, b.p);
			last = x + width / 2;
		}
		buf_finish(&b);
	}
	p->canvas->ops->group_end(p->canvas);
}

/* ---- a page ------------------------------------------------------------------------------------------------- */

static void draw_group_head(struct plot *p, const struct plot_panel *panel, const struct place *place)
{
	const struct font bold = {TEXT + 1, ALIGN_LEFT, true, p->theme->ink};
	const struct line line = {p->theme->frame, 0.5, DASH_NONE};
	double y = place->y - 4.5;
	struct buf b;

	canvas_line(p->canvas, MARGIN, y + 2.5, p->canvas->width - MARGIN, y + 2.5, &line);
	buf_init(&b, 4096);
	put_label(&b, panel->group);
	buf_put_str(&b, place->goes_on ? " (goes on)" : "");
	canvas_text_buf(p->canvas, MARGIN, y, p->canvas->width - 2 * MARGIN, &bold, &b);
	buf_finish(&b);
}

static void draw_page(struct plot *p, const struct plot_words *words, const struct place *places,
                      size_t page, size_t pages)
{
	double width = p->canvas->width - 2 * MARGIN, top = top_of(p, words, page), end = top, first = INFINITY;
	struct frame_of f = {.plot = {MARGIN + AXIS_WIDTH, top, width - AXIS_WIDTH - p->legend_width, 0},
	                     .from_mono_ns = p->from_mono_ns, .end_mono_ns = p->end_mono_ns};
	size_t i;

	p->canvas->ops->begin_page(p->canvas);
	canvas_fill_rect(p->canvas, (struct rect){0, 0, p->canvas->width, p->canvas->height}, p->theme->paper);
	draw_head(p, words, page);
	for (i = 0; i < p->len; i++)
		if (places[i].page == page) {
			first = fmin(first, places[i].y);
			end = fmax(end, places[i].y + panel_height(p, &p->all[i]));
		}
	f.plot.h = end - top;
	draw_time(p, &f, first + TITLE_HEIGHT);
	draw_marks(p, &f); /* what is drawn of the run lies on them */
	for (i = 0; i < p->len; i++) {
		if (places[i].page != page)
			continue;
		if (places[i].has_head)
			draw_group_head(p, &p->all[i], &places[i]);
		draw_panel(p, &p->all[i], (struct rect){MARGIN, places[i].y, width,
		           panel_height(p, &p->all[i])});
	}
	draw_foot(p, page, pages);
}

galvo_status page_draw(struct plot *p, const struct plot_words *words, galvo_error *reterr)
{
	struct place *places = alloc_array(p->len + 1, sizeof(*places));
	size_t page, pages;

	if (!places)
		return plot_no_memory(reterr);
	lay_out(p, words, p->canvas->is_paged ? p->canvas->height - MARGIN - foot_height(p) : INFINITY,
	        places);
	pages = p->len ? places[p->len - 1].page + 1 : 1;
	for (page = 0; page < pages; page++)
		draw_page(p, words, places, page, pages);
	free(places);
	if (p->path.failed)
		return plot_no_memory(reterr);
	return GALVO_OK;
}
