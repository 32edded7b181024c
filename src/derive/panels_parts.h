/* Inside derive: how panels are made, and where the values of their curves come from. */
#ifndef GALVO_PANELS_PARTS_H
#define GALVO_PANELS_PARTS_H

#include "gpu.h"
#include "panels.h"
#include "pass.h"

#define LABEL_COLUMNS 48 /* text from outside is clipped to so many columns of a terminal */

/* ---- memory of panels: given back all at once ------------------------------------------------ */

struct panels_memory {
	struct chunk *chunks;
	struct feed *feeds;
	size_t feeds_len;
};

/* Zeroed; NULL: out of memory. */
void *panels_alloc(struct panels_memory *m, size_t n, size_t size);
/* What is in the buffer, which becomes empty; NULL: out of memory. */
const char *panels_text(struct panels_memory *m, struct buf *b);
void panels_memory_destroy(struct panels_memory *m);

/* ---- feeds: a table of the run, its rows by the things that they are about -------------------- */

/* Where the ticks of a table begin, for columns with that period. */
struct ticks {
	uint64_t period_ns;
	size_t *row;
	uint64_t *mono_ns;
	size_t len;
	struct ticks *next;
};

struct feed_column {
	bool is_known, is_taken;
	uint64_t period_ns;
	const struct ticks *ticks; /* NULL: nobody asks */
	struct figure *levels, *rates; /* by thing, until panels are made; NULL: not asked for */
};

struct feed {
	struct ledger ledger;
	const char **columns;
	uint32_t *order;   /* rows by thing, those of each in the order of the file */
	size_t *first;     /* by thing, where its own begin; one more */
	struct feed_column *column;
	struct ticks *ticks;
	struct gpu_user *users; /* things of GPU_PROCESS */
};

galvo_status feed_init(struct feed *f, const struct galvo_run *run, const struct table *t,
                       galvo_error *reterr);
void feed_finish(struct feed *f);
/* Finds out what its points need. */
galvo_status feed_know(struct feed *f, size_t column, galvo_error *reterr);
/* Figures of all things by a column, as the report has them. */
galvo_status feed_figures(struct feed *f, size_t column, bool is_level,
                          const struct figure **ret, galvo_error *reterr);
/* Those that are for making panels only. */
void feed_forget_figures(struct feed *f);

/* ---- ways: where the values of a curve come from ---------------------------------------------- */

enum way_kind {
	WAY_COLUMN, /* a column's values of one thing */
	WAY_REST,   /* their sum over all things that have no curve of their own */
};

struct curve_way {
	enum way_kind kind;
	const struct feed *feed;
	size_t column;
	uint32_t thing;
	const bool *is_shown; /* of REST: by thing */
};

/* Goes through rows of one column, of a thing or of all, with what each value covers. */
struct cover_walk {
	const struct feed *feed;
	const double *values;
	struct pass pass;
	const struct ticks *ticks;
};

struct cover_walk cover_walk_of(const struct feed *f, size_t column);
/* False: the row has no value. A value may cover nothing: then from_ns is end_ns. */
bool cover_walk_row(struct cover_walk *w, struct account *a, size_t row, uint64_t *ret_from_ns,
                    double *ret_value);

galvo_status points_make(struct points *p, size_t len, galvo_error *reterr);
void points_add(struct points *p, uint64_t from_ns, uint64_t end_ns, double value);
galvo_status rest_points(const struct curve_way *w, struct points *ret, galvo_error *reterr);

/* ---- making panels ---------------------------------------------------------------------------- */

enum panel_flags {
	PANEL_FEW = 1,      /* at most processes_max things, the others summed up */
	PANEL_QUIET = 2,    /* things that did nothing are left out, if any did something */
	PANEL_ANY = 4,      /* there is nothing to see unless a value is not 0 */
	PANEL_FLOATS = 8,   /* the axis need not begin at 0 */
	PANEL_MANY = 16,    /* a map of colours where there are many things */
};

enum panel_limit { LIMIT_NONE, LIMIT_CPUS, LIMIT_CPUS_PCT, LIMIT_MEMORY, LIMIT_SWAP };

struct panel_column {
	const char *name, *label; /* label: beside others, NULL: it is alone in its panel */
	bool is_level;
};

struct panel_rule {
	const char *id, *title, *group;
	enum stream_kind stream;
	enum scope scope;
	enum metric_unit unit;
	enum panel_shape shape;
	unsigned flags; /* panel_flags */
	double ceiling; /* 0: as the values are */
	enum panel_limit limit;
	const struct panel_column *columns;
	size_t columns_len;
};

extern const struct panel_rule panel_rules[];
extern const size_t panel_rules_len;

struct panel_maker {
	struct panels *panels;
	const struct galvo_run *run;
	const struct galvo_summary *summary;
	struct panels_memory *memory;
	struct panels_options options;
	size_t panels_cap;
	size_t *place;      /* of processes of the run in the summary */
	struct buf text;
};

/* NULL: there is none. */
struct feed *feed_of(const struct panel_maker *m, enum stream_kind stream, enum scope scope);
/* The panel of that rule, if there are values for it. */
galvo_status panel_add(struct panel_maker *m, const struct panel_rule *rule, galvo_error *reterr);

/* What a thing is called, and what tells it from others in every reading of the run. */
void put_thing_label(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing);
void put_thing_key(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing);
/* Bytes from outside, printable, clipped, and never nothing. */
void put_clipped(struct buf *b, const char *bytes);

#endif
