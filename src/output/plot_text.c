/* Words of a picture: printable, measured, clipped. */
#include "plot.h"

#define TEXT_BYTES_MAX 4096
#define PRINTED_BYTES 512 /* no line shows more of a text */
#define PILE_MAX 2
#define NUMBER_BYTES 16
#define LEAST_NAME 2.4 /* two characters and an ellipsis, in sizes of the font */
#define ELLIPSIS "\xe2\x80\xa6"

void put_label(struct buf *b, const char *text)
{
	struct span rest = span_str(text);
	size_t columns, piled = 0, n;

	for (; rest.n; piled = columns ? 0 : piled + 1) {
		const char *p = rest.p;

		n = text_take_character(&rest, &columns);
		if (columns == 0 && piled == PILE_MAX)
			piled--;
		else if (n == 3 && memcmp(p, "\xef\xbf", 2) == 0 && (unsigned char)p[2] >= 0xbe)
			buf_put_str(b, "\xef\xbf\xbd"); /* U+FFFE and U+FFFF are no characters */
		else
			buf_put(b, p, n);
	}
}

void put_printable(struct buf *b, struct span bytes)
{
	struct buf escaped;

	if (bytes.n > PRINTED_BYTES)
		bytes.n = PRINTED_BYTES;
	buf_init(&escaped, 4 * PRINTED_BYTES + 16);
	buf_put_escaped(&escaped, bytes);
	buf_put(&escaped, "", 1);
	if (!escaped.failed)
		put_label(b, escaped.p);
	b->failed |= escaped.failed;
	buf_finish(&escaped);
}

/* Of a font that is wide, and a bold one, from the blank on. */
static const uint16_t widths[2][95] = {
	{318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
	 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
	 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
	 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
	 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
	 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838},
	{348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365,
	 696, 696, 696, 696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580,
	 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775, 637, 995, 837, 850,
	 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500,
	 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687,
	 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838},
};

uint32_t text_width_milli(struct span text, bool is_bold)
{
	uint32_t all = 0;
	size_t columns;

	while (text.n) {
		unsigned char c = (unsigned char)text.p[0];

		text_take_character(&text, &columns);
		if (c >= 0x20 && c < 0x7f)
			all += widths[is_bold][c - 0x20];
		else
			all += (uint32_t)columns * (columns == 2 ? 500 : 700);
	}
	return all;
}

/* The longest beginning that has room with an ellipsis behind it; its length in bytes, 0: none. */
static size_t fitting(struct canvas *canvas, double room, const struct font *font, const char *text,
                      char *clipped)
{
	struct span all = span_str(text);
	size_t low = 0, high = text_columns(all), n = 0;

	while (low < high) {
		size_t middle = (low + high + 1) / 2;
		size_t bytes = text_fit(all, middle);

		memcpy(clipped, text, bytes);
		memcpy(clipped + bytes, ELLIPSIS, sizeof(ELLIPSIS));
		if (canvas->ops->measure(canvas, font, clipped) <= room) {
			low = middle;
			n = bytes;
		} else {
			high = middle - 1;
		}
	}
	if (low < 2)
		return 0;
	memcpy(clipped, text, n);
	memcpy(clipped + n, ELLIPSIS, sizeof(ELLIPSIS));
	return n;
}

double canvas_text(struct canvas *canvas, double x, double y, double room, const struct font *font,
                const char *text)
{
	char clipped[TEXT_BYTES_MAX + sizeof(ELLIPSIS)];
	double width;

	if (!text || !text[0] || strlen(text) > TEXT_BYTES_MAX)
		return 0;
	width = canvas->ops->measure(canvas, font, text);
	if (width > room) {
		if (!fitting(canvas, room, font, text, clipped))
			return 0;
		text = clipped;
		width = canvas->ops->measure(canvas, font, text);
	}
	canvas->ops->text(canvas, x, y, font, text);
	return width;
}

double canvas_text_buf(struct canvas *canvas, double x, double y, double room, const struct font *font,
                    struct buf *text)
{
	buf_put(text, "", 1);
	return text->failed ? 0 : canvas_text(canvas, x, y, room, font, text->p);
}

double canvas_name(struct canvas *canvas, double x, double y, double room, const struct font *font,
                   struct buf *text)
{
	const struct font tail_font = {font->em, ALIGN_RIGHT, font->is_bold, font->colour};
	const char *tail;
	double width, whole;

	buf_put(text, "", 1);
	if (text->failed)
		return 0;
	tail = strrchr(text->p, ' ');
	whole = canvas->ops->measure(canvas, font, text->p);
	if (whole <= room || !tail || tail[1] != '(' || strlen(tail) > NUMBER_BYTES)
		return canvas_text(canvas, x, y, room, font, text->p);
	width = canvas->ops->measure(canvas, font, tail + 1) + font->em * 0.2;
	if (width > room - font->em * LEAST_NAME)
		return canvas_text(canvas, x, y, room, font, text->p);
	canvas->ops->text(canvas, x + room, y, &tail_font, tail + 1);
	text->p[tail - text->p] = '\0';
	canvas_text(canvas, x, y, room - width, font, text->p);
	return room;
}

void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1, const struct line *line)
{
	struct path_point points[2] = {{x0, y0, true}, {x1, y1, false}};
	const struct path path = {.p = points, .len = 2};

	canvas->ops->stroke(canvas, &path, line);
}

void canvas_fill_rect(struct canvas *canvas, struct rect r, struct colour c)
{
	struct path_point points[4] = {
		{r.x, r.y, true}, {r.x + r.w, r.y, false}, {r.x + r.w, r.y + r.h, false}, {r.x, r.y + r.h, false}};
	const struct path path = {.p = points, .len = 4};

	canvas->ops->fill(canvas, &path, c);
}

galvo_status canvas_finish(struct canvas *canvas, galvo_error *reterr)
{
	return canvas->ops->finish(canvas, reterr);
}
