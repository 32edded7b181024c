/*
 * Inside the picture: the canvas, what it draws of a panel, and the pieces of a page.
 *
 * Lengths are points, 1/72 inch of a page of paper, from its upper left corner; a picture of pixels is
 * such a page, enlarged.
 */
#ifndef GALVO_OUTPUT_PLOT_H
#define GALVO_OUTPUT_PLOT_H

#include "galvo/plot.h"
#include "output.h"

static inline galvo_status plot_no_memory(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_NOMEM, "no memory for a picture");
}

struct rect {
	double x, y, w, h;
};

struct colour {
	uint32_t rgb; /* 0xrrggbb */
	double alpha;
};

/* ---- plot_path.c: lines and areas ---------------------------------------------------------------- */

struct path_point {
	double x, y;
	bool moves; /* there is no line to it */
};

/* Begin with zeroes; the memory is kept by path_clear. */
struct path {
	struct path_point *p;
	size_t len, cap;
	bool failed; /* no memory */
};

void path_move(struct path *p, double x, double y);
void path_line(struct path *p, double x, double y);
void path_rect(struct path *p, struct rect r);
void path_clear(struct path *p);
void path_finish(struct path *p);

/* ---- the canvas: what pictures are drawn with -------------------------------------------------------- */

enum align { ALIGN_LEFT, ALIGN_MIDDLE, ALIGN_RIGHT };

struct font {
	double em; /* its size */
	enum align align;
	bool is_bold;
	struct colour colour;
};

enum dash { DASH_NONE, DASH_LONG, DASH_DOTS, DASH_BOTH, DASHES };
#define DASH_PARTS 4
/* Its lengths of ink and gaps, in widths of the line; 0 of them: none. */
size_t dash_parts(enum dash d, double width, double ret_parts[DASH_PARTS]);

struct line {
	struct colour colour;
	double width;
	enum dash dash;
};

struct canvas;

/* A failure is kept, and what comes after it does nothing: canvas_finish tells. */
struct canvas_ops {
	void (*begin_page)(struct canvas *); /* of width and height */
	void (*fill)(struct canvas *, const struct path *, struct colour);
	void (*stroke)(struct canvas *, const struct path *, const struct line *);
	/* Valid UTF-8 of printable characters; x is where its alignment says, y its base line. */
	void (*text)(struct canvas *, double x, double y, const struct font *, const char *text);
	double (*measure)(struct canvas *, const struct font *, const char *text);
	void (*clip)(struct canvas *, const struct rect *); /* NULL: no longer. Not nested */
	/* What is drawn between the two belongs together; kind and id are ASCII, or escaped as text is. */
	void (*group)(struct canvas *, const char *kind, const char *id, const char *title);
	void (*group_end)(struct canvas *);
	galvo_status (*finish)(struct canvas *, galvo_error *reterr);
};

struct canvas {
	const struct canvas_ops *ops;
	double width, height; /* of a page, in points */
	double scale;         /* pixels to a point; vectors have as many as their paper shows */
	bool is_paged;
	bool snaps;           /* edges of areas that touch each other are to be on whole pixels */
};

/* What the document says of itself; texts are printable UTF-8. */
struct plot_about {
	const char *title;
	uint64_t created_wall_ns; /* when the recording began; 0: not known */
};

/* ABSENT: there is no cairo here. */
galvo_status canvas_open_cairo(galvo_plot_format format, const struct plot_about *about,
                            const struct canvas *form, galvo_write_fn write_fn, void *ctx,
                            struct canvas **ret_pen, galvo_error *reterr);
galvo_status canvas_open_svg(const struct plot_about *about, const struct canvas *form,
                          galvo_write_fn write_fn, void *ctx, struct canvas **ret_pen,
                          galvo_error *reterr);
/* Ends the document, frees the canvas, and says how it all went. */
galvo_status canvas_finish(struct canvas *canvas, galvo_error *reterr);

/* ---- plot_text.c: words ----------------------------------------------------------------------------- */

/* Any bytes as printable UTF-8 that stays in its line: no piles of marks, nothing XML lacks. */
void put_printable(struct buf *b, struct span bytes);
/* The same of what derive made printable already. */
void put_label(struct buf *b, const char *text);
/* Width of a text in thousandths of its size, in a font as wide as any that is usual. */
uint32_t text_width_milli(struct span text, bool is_bold);
/*
 * Draws the text, or with an ellipsis as much of it as has room; nothing where not even two characters
 * have. Returns the width.
 */
double canvas_text(struct canvas *canvas, double x, double y, double room, const struct font *font,
                const char *text);
/* The same for names that end in a number, " (4711)", which stays. */
double canvas_name(struct canvas *canvas, double x, double y, double room, const struct font *font,
                   struct buf *text);
double canvas_text_buf(struct canvas *canvas, double x, double y, double room, const struct font *font,
                    struct buf *text);
void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1, const struct line *line);
void canvas_fill_rect(struct canvas *canvas, struct rect r, struct colour c);

/* ---- plot_theme.c: colours ---------------------------------------------------------------------------- */

#define CURVE_COLOURS 8
#define HEAT_LEVELS 32

struct theme {
	struct colour paper, ink, soft_ink, grid, frame, peak, mark, warning;
	struct colour rest;    /* those that are summed up */
	struct colour unnamed; /* those that the legend has no room for */
	struct colour gpu; /* what is on the GPU's clock is marked with it */
	uint32_t curves[CURVE_COLOURS]; /* 0xrrggbb; told apart by the colour-blind too */
	uint32_t regions[CURVE_COLOURS]; /* behind words in `ink` */
	uint32_t heat[6];                /* from little to much */
};

const struct theme *theme_of(bool is_dark);
struct colour theme_heat(const struct theme *t, size_t level); /* below HEAT_LEVELS */
struct colour colour_alpha(struct colour c, double alpha);
/* As WCAG has it: 1 to 21. */
double colour_contrast(uint32_t a, uint32_t b);

/* ---- plot_axis.c: numbers along an axis ------------------------------------------------------------------ */

#define TICKS_MAX 16

struct ticks {
	double low, high; /* of the axis, in the unit of the values */
	double at[TICKS_MAX];
	size_t len;
	double unit_worth; /* of a value that is printed as 1 */
	char unit[16];    /* behind the number: " GiB" */
	int decimals;
	bool is_time;
};

/*
 * A few round numbers on an axis from low to high, which grows to the next ones where it is not fixed.
 */
void ticks_of_values(struct ticks *ret, enum metric_unit unit, double low, double high,
                     bool fixed_low, bool fixed_high, size_t most);
void ticks_of_time(struct ticks *ret, double from_s, double end_s, size_t most);
void put_tick(struct buf *b, const struct ticks *t, size_t i);
void put_value(struct buf *b, enum metric_unit unit, double v); /* 1.23 GiB/s */

/* ---- plot_data.c: what of the panels is drawn ---------------------------------------------------------- */

#define TINT_REST 254
#define TINT_UNNAMED 255

/* A curve in the part of the time that is drawn. */
struct drawn {
	const struct curve *curve;
	size_t place; /* among the panel's curves: those of few keep colour and order */
	uint8_t tint; /* a number of theme.curves, or one of the two below */
	struct bucket *buckets;
	size_t len;
	double min, max, mean; /* mean: over the time that has values */
	double area;           /* the same over all of the time */
	bool is_band; /* there are more values than are drawn one by one */
};

/* A sum of curves at one column of the picture. */
struct stacked {
	double *mean;  /* of each curve, a row of columns each; 0 where it has none */
	double *highest; /* of the sum, a row: the mean, where nothing stands out of it; NaN: nothing is known */
	size_t columns;
};

enum plot_kind { PLOT_PANEL, PLOT_HOST_LANES, PLOT_GPU_LANES };

struct plot_panel {
	enum plot_kind kind;
	const char *id, *title, *group;
	const struct panel *panel; /* of PLOT_PANEL */
	struct drawn *curves;      /* those with values, the largest first */
	size_t curves_len;
	size_t named;              /* so many of them have a row of the legend */
	bool is_zero;              /* all of it, and nobody asked for it: one line */
	struct stacked stacked;
	double min, max; /* of all that is drawn */
	double height;   /* of its plot */
};

struct plot_mark {
	uint64_t mono_ns;
	struct span name; /* any bytes; the run's */
};

struct plot {
	const struct panels *panels;
	const struct theme *theme;
	struct canvas *canvas;
	uint64_t from_mono_ns, end_mono_ns; /* what is drawn */
	double from_s, end_s;               /* the same since the start of the recording */
	size_t columns;                     /* so many buckets are worth it */
	bool is_banded;                     /* some curve has more values than that */
	bool has_tips;                      /* some stack was higher than its means */
	double width, legend_width;         /* of the page, in points */
	uint8_t *region_tints;              /* of each of the panels' regions */
	bool gpu_only;
	struct plot_panel *all;
	size_t len;
	struct plot_mark *marks; /* in that time, the first one first */
	size_t marks_len;
	struct path path;                   /* for whoever draws */
};

/* Fills `all` with what there could be, lanes first. */
galvo_status plot_list_all(struct plot *p, galvo_error *reterr);
/* Those that the options name; with values, if they name none. */
galvo_status plot_take(struct plot *p, const char *ids, galvo_error *reterr);
/* Fills marks; free() them. */
galvo_status plot_take_marks(struct plot *p, galvo_error *reterr);
/* Fills min, max and curves of one. */
galvo_status plot_load(struct plot *p, struct plot_panel *panel, galvo_error *reterr);
galvo_status plot_stack(struct plot *p, struct plot_panel *panel, galvo_error *reterr);
void plot_panel_finish(struct plot_panel *panel);

/* ---- drawing: places are those of the plot, without the words around it ------------------------------- */

struct frame_of { /* a plot and its axes */
	struct rect plot;
	double from_s, end_s, low, high;
	uint64_t from_mono_ns, end_mono_ns;
};

double frame_x(const struct frame_of *f, uint64_t mono_ns); /* clipped to the plot */
double frame_y(const struct frame_of *f, double value);

void draw_lines(struct plot *p, const struct plot_panel *panel, const struct frame_of *f);
void draw_stack(struct plot *p, const struct plot_panel *panel, const struct frame_of *f);
void draw_heat(struct plot *p, const struct plot_panel *panel, const struct frame_of *f);
void draw_lanes(struct plot *p, const struct plot_panel *panel, const struct frame_of *f);
#define MARKS_HEIGHT 12.0 /* of the strip above the first panel */
/* A strip of them above the page, lines through it where they are far apart. */
void draw_marks(struct plot *p, const struct frame_of *f);
struct colour curve_colour(const struct plot *p, const struct plot_panel *panel, size_t i);
struct line curve_line(const struct plot *p, const struct plot_panel *panel, size_t i);

#define AREA_ALPHA 0.85
#define MARGIN 26.0
#define AXIS_WIDTH 46.0   /* numbers, left of a plot */
#define LEGEND_WIDTH 136.0 /* names, right of it; less on a narrow page */
#define LEGEND_LEAST 84.0
#define TITLE_HEIGHT 12.0
#define LANE_HEIGHT 10.0
#define SMALL_TEXT 7.0
#define LEGEND_STEP 8.8 /* from row to row */
#define TEXT 7.5

/* Title line, plot, numbers and names. `place` is all of it; the plot has the panel's height. */
void draw_panel(struct plot *p, const struct plot_panel *panel, struct rect place);
double panel_height(const struct plot *p, const struct plot_panel *panel); /* of all of it */
/* Of its plot; asked: by the caller, 0: a good one. */
double panel_good_height(const struct plot *p, const struct plot_panel *panel, double asked);

/* ---- plot_tints.c: who has which colour ---------------------------------------------------------------- */

/* Of all curves: heights are known. A process has one in all panels. */
galvo_status plot_take_tints(struct plot *p, galvo_error *reterr);
size_t legend_named(const struct plot_panel *panel); /* how many curves have a row there */

/* ---- plot_head.c: the words above and below ---------------------------------------------------------- */

/* What stands on the picture beside the panels; printable UTF-8. */
struct plot_words {
	const char *title, *facts, *warnings;
};

void put_heading(struct buf *b, const struct galvo_summary *s, const char *title);
void put_facts(struct buf *b, const struct plot *p, const struct galvo_summary *s);
/* What is wrong with the recording, as the report has it. */
void put_warnings(struct buf *b, const struct galvo_summary *s);
/* A text in lines that fit, broken at blanks where it has some; the last line takes the rest. */
size_t text_wrap(struct span text, double em, bool is_bold, double room, struct span *ret, size_t most);
double head_height(const struct plot *p, const struct plot_words *words, size_t page);
void draw_head(struct plot *p, const struct plot_words *words, size_t page);
double foot_height(const struct plot *p); /* numbers of the time axis included */
void draw_foot(struct plot *p, size_t page, size_t pages);

/* ---- plot_page.c ------------------------------------------------------------------------------------------ */

/* How high the page has to be that holds all. */
double page_height(const struct plot *p, const struct plot_words *words);
galvo_status page_draw(struct plot *p, const struct plot_words *words, galvo_error *reterr);

#endif
