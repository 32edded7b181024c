/* Marks: a strip of ticks above a page, with as many names as have room; lines through it where few are. */
#include <math.h>

#include "galvo/reader.h"
#include "plot.h"

#define LABEL_ROOM 90.0
#define LABEL_GAP 3.0
#define SAME_PLACE 1.2  /* ticks that near are one, as wide as they are */
#define LINES_APART 9.0 /* 12 pixels of a screen: nearer ones would be a fence */
#define TICK_WIDTH 0.6
#define MARKS_MAX (UINT32_C(1) << 26)

static int by_time(const void *a, const void *b)
{
	const struct plot_mark *x = a, *y = b;

	if (x->mono_ns != y->mono_ns)
		return x->mono_ns < y->mono_ns ? -1 : 1;
	return span_cmp(x->name, y->name);
}

galvo_status plot_take_marks(struct plot *p, galvo_error *reterr)
{
	galvo_run_mark m = {.struct_size = sizeof(m)};
	size_t i, cap = 0;
	void *all = NULL;

	for (i = 0; galvo_run_mark_at(p->panels->run, i, &m, NULL) == GALVO_OK; i++) {
		if (m.mono_ns < p->from_mono_ns || m.mono_ns > p->end_mono_ns || (p->gpu_only && !m.is_gpu))
			continue;
		if (p->marks_len == cap) {
			if (!grow_array(&all, &cap, p->marks_len, sizeof(*p->marks), MARKS_MAX))
				return err_set(reterr, GALVO_ERR_NOMEM, "no memory for marks");
			p->marks = all;
		}
		p->marks[p->marks_len++] = (struct plot_mark){m.mono_ns, span_of(m.name, m.name_len)};
	}
	if (p->marks_len)
		qsort(p->marks, p->marks_len, sizeof(*p->marks), by_time);
	return GALVO_OK;
}

/* Whether no other is near those that are drawn as one, [i, end). */
static bool is_alone(const struct plot *p, const struct frame_of *f, size_t i, size_t end)
{
	double x = frame_x(f, p->marks[i].mono_ns), last = frame_x(f, p->marks[end - 1].mono_ns);

	if (last - x >= 2 * SAME_PLACE)
		return false;
	return (i == 0 || x - frame_x(f, p->marks[i - 1].mono_ns) >= LINES_APART) &&
	       (end == p->marks_len || frame_x(f, p->marks[end].mono_ns) - last >= LINES_APART);
}

static double draw_name(struct plot *p, const struct font *font, double x, double y, double room,
                        struct span name)
{
	struct buf b;
	double width;

	buf_init(&b, 4096);
	put_printable(&b, name);
	width = canvas_text_buf(p->canvas, x, y, room, font, &b);
	buf_finish(&b);
	return width;
}

static void draw_count(struct plot *p, const struct frame_of *f, const struct font *font)
{
	struct font right = *font;
	struct buf b;

	right.align = ALIGN_RIGHT;
	buf_init(&b, 64);
	buf_printf(&b, "%zu mark%s", p->marks_len, p->marks_len == 1 ? "" : "s");
	canvas_text_buf(p->canvas, f->plot.x - 3, f->plot.y - 3, AXIS_WIDTH - 3, &right, &b);
	buf_finish(&b);
}

void draw_marks(struct plot *p, const struct frame_of *f)
{
	const struct line line = {colour_alpha(p->theme->mark, 0.5), 0.4, DASH_NONE};
	const struct font font = {SMALL_TEXT - 0.5, ALIGN_LEFT, false, p->theme->mark};
	double words = -INFINITY, x, last, top = f->plot.y - MARKS_HEIGHT + 2, base = f->plot.y;
	const struct span *named = NULL; /* one that stands there already is not told again */
	size_t i, end;

	if (p->marks_len == 0)
		return;
	p->canvas->ops->group(p->canvas, "marks", NULL, NULL);
	draw_count(p, f, &font);
	for (i = 0; i < p->marks_len; i = end) {
		x = last = frame_x(f, p->marks[i].mono_ns);
		for (end = i + 1; end < p->marks_len &&
		     frame_x(f, p->marks[end].mono_ns) - last < SAME_PLACE; end++)
			last = frame_x(f, p->marks[end].mono_ns);
		if (is_alone(p, f, i, end))
			canvas_line(p->canvas, x, base, x, f->plot.y + f->plot.h, &line);
		/* Names are above the short ticks of those that have none. */
		if (end == i + 1 && x >= words + LABEL_GAP && !(named && span_eq(*named, p->marks[i].name))) {
			double room = fmin(LABEL_ROOM, f->plot.x + f->plot.w + p->legend_width - x - 2);

			words = x + 2 + draw_name(p, &font, x + 2, base - 4.2, room, p->marks[i].name);
			canvas_fill_rect(p->canvas, (struct rect){x - TICK_WIDTH / 2, top, TICK_WIDTH + last - x,
			                 base - top}, p->theme->mark);
			named = &p->marks[i].name;
			continue;
		}
		canvas_fill_rect(p->canvas, (struct rect){x - TICK_WIDTH / 2, base - 3, TICK_WIDTH + last - x, 3},
		                 p->theme->mark);
	}
	p->canvas->ops->group_end(p->canvas);
}
