/* Marks: thin lines through all panels of a page, with as many names as have room. */
#include <math.h>

#include "galvo/reader.h"
#include "plot.h"

#define LABEL_ROOM 90.0
#define LABEL_GAP 3.0
#define SAME_PLACE 0.4 /* two lines that near are one */
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

void draw_marks(struct plot *p, const struct frame_of *f)
{
	const struct line line = {colour_alpha(p->theme->mark, 0.7), 0.5, DASH_NONE};
	const struct font font = {SMALL_TEXT - 0.5, ALIGN_LEFT, false, p->theme->mark};
	double last = -INFINITY, words = -INFINITY, end = p->canvas->width - MARGIN, top;
	struct buf b;
	size_t i;

	if (p->marks_len == 0)
		return;
	p->canvas->ops->group(p->canvas, "marks", NULL, NULL);
	for (i = 0; i < p->marks_len; i++) {
		double x = frame_x(f, p->marks[i].mono_ns);

		if (x < last + SAME_PLACE)
			continue;
		last = x;
		top = f->plot.y - (x < words + LABEL_GAP ? 0 : MARKS_HEIGHT - 2);
		canvas_line(p->canvas, x, top, x, f->plot.y + f->plot.h, &line);
		if (x < words + LABEL_GAP)
			continue;
		buf_init(&b, 4096);
		put_printable(&b, p->marks[i].name);
		words = x + 2 + canvas_text_buf(p->canvas, x + 2, f->plot.y - 2.5, fmin(LABEL_ROOM, end - x - 2),
		                             &font, &b);
		buf_finish(&b);
	}
	p->canvas->ops->group_end(p->canvas);
}
