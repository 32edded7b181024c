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
	struct gpu_rows samples; /* of hardware counters */
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
	WAY_TOTAL,  /* the sum of columns over all things */
	WAY_SAMPLES, /* of a GPU's hardware counters */
};

struct curve_way {
	enum way_kind kind;
	const struct feed *feed;
	size_t column;
	bool is_level;
	uint32_t thing;
	const bool *is_shown; /* of REST: by thing */
	const struct shown_column *columns; /* of TOTAL */
	size_t columns_len;
	const struct gpu_rows *samples; /* of SAMPLES, as what follows */
	size_t gpu; /* its number in the run */
	struct counter_value value;
};

/* Goes through rows of one column, of a thing or of all, with what each value covers. */
struct cover_walk {
	const struct feed *feed;
	const double *values;
	struct pass pass;
	const struct ticks *ticks;
	bool is_level;
};

/* Of a level nothing is known where nobody read it, however late the next reading was. */
struct cover_walk cover_walk_of(const struct feed *f, size_t column, bool is_level);
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
	PANEL_SPARE = 32,   /* curves without a value other than 0 are left out */
};

enum panel_limit {
	LIMIT_NONE, LIMIT_CPUS, LIMIT_CPUS_PCT, LIMIT_MEMORY, LIMIT_SWAP,
	LIMIT_GPUS, /* memory of all GPUs */
	LIMIT_GPU_MEMORY, LIMIT_GPU_POWER, LIMIT_GPU_CLOCK, LIMIT_GPU_MEMORY_CLOCK, LIMIT_GPU_PCIE,
	LIMIT_GPU_NVLINK, LIMIT_GPU_DRAM,
};

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
	enum panel_limit limit;
	double ceiling; /* 0: as the values are */
	const struct panel_column *columns;
	size_t columns_len;
};

extern const struct panel_rule panel_rules[];
extern const size_t panel_rules_len;
/* Columns that are in other ones, or in lines across panels. */
struct panel_silent {
	enum stream_kind stream;
	enum scope scope;
	const char *name;
};
extern const struct panel_silent panel_silent[];
extern const size_t panel_silent_len;

struct panel_maker {
	struct panels *panels;
	const struct galvo_run *run;
	const struct galvo_summary *summary;
	struct panels_memory *memory;
	struct panels_options options;
	size_t panels_cap;
	size_t *place, *gpu_place; /* of processes and GPUs of the run in the summary */
	size_t *thread_process;    /* of threads of the run; SIZE_MAX: none */
	struct buf text;
};

/* A column of a panel, and what it came to for each thing. */
struct shown_column {
	const struct panel_column *rule;
	size_t column;
	const struct figure *figures;
};

/* A panel that is being made. */
struct draft {
	const struct panel_rule *rule;
	struct feed *feed;
	struct shown_column *columns;
	size_t columns_len;
	uint32_t *things; /* in the order in which they are shown */
	size_t things_len, shown_len;
	struct panel panel;
};

static inline galvo_status panels_no_memory(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_NOMEM, "no memory for panels");
}

/* NULL: there is none. */
struct feed *feed_of(const struct panel_maker *m, enum stream_kind stream, enum scope scope);
/* What the catalog of the run says of a column; NULL: nothing. */
const struct session_metric *panels_metric(const struct galvo_run *run, const char *name);
/* By the catalog, else by the name. */
enum metric_unit panels_unit(const struct galvo_run *run, const char *name);
struct span panels_short_name(struct span name); /* without what a panel's unit says */
bool unit_is_level(enum metric_unit unit); /* its integral means nothing */
/* The panel of that rule, if there are values for it. */
galvo_status panel_add(struct panel_maker *m, const struct panel_rule *rule, galvo_error *reterr);
galvo_status panel_keep(struct panel_maker *m, const struct panel *panel, galvo_error *reterr);
/* Panels of columns that no rule has taken. */
galvo_status panels_generic(struct panel_maker *m, galvo_error *reterr);
/* Panels of hardware counters. */
galvo_status panels_counters(struct panel_maker *m, galvo_error *reterr);
/* Lines of what there is at most. */
galvo_status panel_peaks(struct panel_maker *m, struct draft *d, galvo_error *reterr);
#define PEAKS_MAX 16 /* lines across one panel */
/* Of one GPU, by its place in the summary. */
galvo_status panel_gpu_peaks(struct panel_maker *m, struct panel *panel,
                             const enum panel_limit *limits, size_t n, size_t gpu,
                             galvo_error *reterr);
/* Neighbours have the same group, and no two ids or keys are the same. */
galvo_status panels_arrange(struct panel_maker *m, galvo_error *reterr);
galvo_status panels_lanes(struct panel_maker *m, galvo_error *reterr);

/* What a thing is called, and what tells it from others in every reading of the run. */
void put_thing_label(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing);
void put_thing_key(struct panel_maker *m, struct buf *b, const struct feed *f, uint32_t thing);
/* By its place in the summary: "GPU 0", "GPU 0 MIG 1/0"; "gpu0". */
void put_gpu_label(struct panel_maker *m, struct buf *b, size_t gpu);
void put_gpu_key(struct panel_maker *m, struct buf *b, size_t gpu);
/* Bytes from outside, printable, clipped, and never nothing. */
void put_clipped(struct buf *b, struct span bytes);

#endif
