/* The words above and below a picture: what ran, when, what is wrong with the recording. */
#include <math.h>

#include "plot.h"

#define TITLE_SIZE 11.0
#define TITLE_STEP 13.0
#define LINE_STEP 9.5
#define TITLE_LINES 3
#define FACTS_LINES 4
#define WARNING_LINES 4
#define FOOT_SIZE (SMALL_TEXT - 0.5)
#define FOOT_LINES 3
#define FOOT_STEP 8.0
#define FOOT_HEIGHT 26.0 /* numbers of the time axis, and one line */
#define LATER_HEAD_HEIGHT 16.0 /* of pages behind the first */
#define PAGES_WIDTH 60.0 /* "page 10 of 12" */
#define LONG_LINE 4096 /* no line of the report wraps */

/* ---- what they are ------------------------------------------------------------------------------------ */

static bool is_text(const char *text)
{
	return text && text[0];
}

void put_heading(struct buf *b, const struct galvo_summary *s, const char *title)
{
	size_t i, n = 0;

	if (is_text(title)) {
		put_printable(b, span_str(title));
		return;
	}
	if (s->workload.state != WORKLOAD_NONE) {
		put_command(b, &s->workload, 512);
		return;
	}
	for (i = 0; i < s->processes_len && n < 4; i++) {
		const struct process_info *p = s->processes[i].info;

		if (!p->root)
			continue;
		buf_put_str(b, n++ ? ", " : "");
		put_printable(b, span_str(p->alias[0] ? p->alias : p->comm));
		buf_printf(b, " (%u)", (unsigned)p->pid);
	}
	if (n == 0)
		buf_put_str(b, s->has_session ? "the machine" : "a recording");
}

void put_facts(struct buf *b, const struct plot *p, const struct galvo_summary *s)
{
	const char *between = "";

	if (is_text(s->hostname)) {
		put_printable(b, span_str(s->hostname));
		between = "  \xc2\xb7  ";
	}
	if (s->start_wall_ns) {
		buf_put_str(b, between);
		put_time(b, s->start_wall_ns);
		between = "  \xc2\xb7  ";
	}
	buf_put_str(b, between);
	if (isnan(s->recorded_s)) {
		buf_put_str(b, "not known for how long");
	} else {
		buf_put_str(b, "recorded for ");
		put_duration(b, s->recorded_s);
	}
	if (s->workload.state != WORKLOAD_NONE) {
		buf_put_str(b, "  \xc2\xb7  ");
		put_outcome(b, &s->workload);
	}
	if (p->from_s > 0 || p->end_mono_ns < p->panels->end_mono_ns) {
		buf_put_str(b, "  \xc2\xb7  here: ");
		buf_put_general(b, p->from_s, 6);
		buf_put_str(b, " s to ");
		buf_put_general(b, p->end_s, 6);
		buf_put_str(b, " s");
	}
}

static int append(void *ctx, const void *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_put(b, bytes, n);
	return b->failed;
}

void put_warnings(struct buf *b, const struct galvo_summary *s)
{
	const struct span label = span_str("WARNING");
	struct buf text;
	struct sheet sheet;
	struct span rest, line;
	size_t n = 0;

	buf_init(&text, 1 << 20);
	sheet_init(&sheet, append, &text);
	sheet.columns = LONG_LINE;
	report_head(&sheet, s);
	b->failed |= sheet_finish(&sheet, NULL) != GALVO_OK;
	for (rest = span_of(text.p, text.len); span_take_line(&rest, &line);) {
		if (line.n <= LABEL_COLUMNS || !span_eq(span_trim(span_of(line.p, LABEL_COLUMNS)), label))
			continue;
		buf_put_str(b, n++ ? "  \xc2\xb7  " : "Warning: ");
		buf_put(b, line.p + LABEL_COLUMNS, line.n - LABEL_COLUMNS);
	}
	buf_finish(&text);
}

/* ---- lines -------------------------------------------------------------------------------------------- */

/* The longest beginning that has room, to a blank if it has one; a character at least. */
static size_t fitting(struct span text, double em, bool is_bold, double room)
{
	size_t n = 0, blank = 0, columns;
	struct span rest = text;

	while (rest.n) {
		text_take_character(&rest, &columns);
		if (text_width_milli(span_of(text.p, text.n - rest.n), is_bold) * em / 1000 > room && n)
			return blank ? blank : n;
		n = text.n - rest.n;
		if (rest.n && rest.p[0] == ' ')
			blank = n;
	}
	return n;
}

size_t text_wrap(struct span text, double em, bool is_bold, double room, struct span *ret, size_t most)
{
	size_t len = 0, n;

	for (text = span_trim(text); text.n && len < most; text = span_trim(text)) {
		n = len + 1 == most ? text.n : fitting(text, em, is_bold, room);
		ret[len++] = span_trim(span_of(text.p, n));
		text = span_of(text.p + n, text.n - n);
	}
	return len;
}

static void draw_span(struct plot *p, double x, double y, double room, const struct font *font,
                      struct span text)
{
	struct buf b;

	buf_init(&b, 65536);
	buf_put(&b, text.p, text.n);
	canvas_text_buf(p->canvas, x, y, room, font, &b);
	buf_finish(&b);
}

/* ---- the head ------------------------------------------------------------------------------------------- */

/* Draws them where `is_drawn`; returns the base line of the last one. */
static double head_lines(struct plot *p, const struct plot *measured, const struct plot_words *words)
{
	const struct theme *t = measured->theme;
	const struct {
		const char *text;
		struct font font;
		size_t most;
		double step;
	} parts[] = {
		{words->title, {TITLE_SIZE, ALIGN_LEFT, true, t->ink}, TITLE_LINES, TITLE_STEP},
		{words->facts, {TEXT, ALIGN_LEFT, false, t->soft_ink}, FACTS_LINES, LINE_STEP},
		{words->warnings, {TEXT, ALIGN_LEFT, true, t->warning}, WARNING_LINES, LINE_STEP},
	};
	double y = MARGIN + TITLE_SIZE * 0.9 - TITLE_STEP, room = measured->width - 2 * MARGIN;
	struct span lines[FACTS_LINES];
	size_t i, k, n;

	for (i = 0; i < ARRAY_LEN(parts); i++) {
		n = text_wrap(span_str(parts[i].text), parts[i].font.em, parts[i].font.is_bold, room, lines,
		              parts[i].most);
		for (k = 0; k < n; k++) {
			y += i == 1 && k == 0 ? 12 : parts[i].step;
			if (p)
				draw_span(p, MARGIN, y, room, &parts[i].font, lines[k]);
		}
	}
	return y;
}

double head_height(const struct plot *p, const struct plot_words *words, size_t page)
{
	return page ? LATER_HEAD_HEIGHT : head_lines(NULL, p, words) - MARGIN + 12;
}

void draw_head(struct plot *p, const struct plot_words *words, size_t page)
{
	const struct font small = {TEXT, ALIGN_LEFT, true, p->theme->ink};

	p->canvas->ops->group(p->canvas, "head", NULL, NULL);
	if (page)
		canvas_text(p->canvas, MARGIN, MARGIN + TEXT * 0.9, p->width - 2 * MARGIN, &small, words->title);
	else
		head_lines(p, p, words);
	p->canvas->ops->group_end(p->canvas);
}

/* ---- the foot ------------------------------------------------------------------------------------------- */

static size_t foot_lines(const struct plot *p, struct buf *b, struct span *ret)
{
	const char *of = p->is_banded && p->has_tips ? "bands and grey tips reach" :
	                 p->has_tips ? "grey tips reach" : "bands reach";

	buf_printf(b, "galvo %s", galvo_version());
	if (p->is_banded || p->has_tips) {
		buf_printf(b, "; where values are closer than 1/%zu of the width (", p->columns);
		put_brief(b, (p->end_s - p->from_s) / (double)p->columns);
		buf_printf(b, "): lines and stacks are means, %s to the extremes", of);
	}
	return b->failed ? 0 : text_wrap(span_of(b->p, b->len), FOOT_SIZE, false,
	                                 p->width - 2 * MARGIN - PAGES_WIDTH, ret, FOOT_LINES);
}

double foot_height(const struct plot *p)
{
	struct span lines[FOOT_LINES];
	struct buf b;
	size_t n;

	buf_init(&b, 512);
	n = foot_lines(p, &b, lines);
	buf_finish(&b);
	return FOOT_HEIGHT + FOOT_STEP * (double)(n ? n - 1 : 0);
}

void draw_foot(struct plot *p, size_t page, size_t pages)
{
	const struct font soft = {FOOT_SIZE, ALIGN_LEFT, false, p->theme->soft_ink};
	const struct font right = {FOOT_SIZE, ALIGN_RIGHT, false, p->theme->soft_ink};
	double y = p->canvas->height - MARGIN + 4, end = p->width - MARGIN;
	struct span lines[FOOT_LINES];
	struct buf b;
	size_t i, n;

	if (pages > 1) {
		buf_init(&b, 64);
		buf_printf(&b, "page %zu of %zu", page + 1, pages);
		canvas_text_buf(p->canvas, end, y, PAGES_WIDTH, &right, &b);
		buf_finish(&b);
	}
	buf_init(&b, 512);
	n = foot_lines(p, &b, lines);
	for (i = 0; i < n; i++)
		draw_span(p, MARGIN, y - FOOT_STEP * (double)(n - 1 - i), end - MARGIN - PAGES_WIDTH, &soft,
		          lines[i]);
	buf_finish(&b);
}
