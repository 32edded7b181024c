/* Inside derive: columns of a table to figures of things, and the parts of a summary. */
#ifndef GALVO_FIGURE_H
#define GALVO_FIGURE_H

#include <math.h>

#include "derive.h"
#include "stream/stream.h"

#define SLOT_NONE PROCESS_NONE
#define GAP_FACTOR 3 /* a row that comes so many periods late has a hole before it */

/* A table with its rows assigned to the things they are about: processes, disks, cores. */
struct ledger {
	const struct table *table; /* NULL: there is none */
	uint32_t *slots;           /* a thing for each row, or SLOT_NONE; NULL: all of thing 0 */
	size_t slots_len;          /* how many things there are */
	uint64_t period_ns;        /* what a first row covers, where rows cannot say */
	uint64_t longest_ns;       /* between two readings of a thing at most; 0: not known */
	const struct process_info *processes; /* things that are processes; NULL: they are not */
	uint64_t start_mono_ns;    /* no row covers time before it */
	bool is_lossy;             /* messages are missing: a hole in time is not a late reading */
	bool is_of_instants;       /* nor is it, as a row tells of its instant alone */
};

/* One figure of a thing: made of one column, or of the sum of two. */
struct figure_row {
	const char *column, *plus; /* plus: NULL if it is one */
	bool is_level;
	double total_scale;        /* 0: 1 */
	size_t offset;             /* of the struct figure in the thing */
};

/* Without a table things_len things are there, without figures. */
galvo_status ledger_init(struct ledger *s, const struct galvo_run *run, enum stream_kind stream,
                         enum scope scope, galvo_error *reterr);
void ledger_finish(struct ledger *s);
/* Fills those figures of all things, an array with `stride` bytes each. */
galvo_status ledger_figures(const struct ledger *s, const struct figure_row *rows, size_t rows_len,
                            void *things, size_t stride, galvo_error *reterr);
/*
 * The sum of a column over all things, tick by tick, as a figure. Where a thing has a row without a
 * value, or is read less often than others, its last value stands.
 */
galvo_status ledger_sum(const struct ledger *s, const struct figure_row *row, struct figure *ret,
                        galvo_error *reterr);
/*
 * The highest sum of a column over the things of each group, tick by tick; NaN: it has no value.
 * group_of: a group for each thing.
 */
galvo_status ledger_group_peaks(const struct ledger *s, const struct figure_row *row,
                                const uint32_t *group_of, double *ret_peaks, size_t groups_len,
                                galvo_error *reterr);
/* Something that changes with time: value[i] at mono_ns[i], in order of time. */
struct line {
	uint64_t *mono_ns;
	double *value;
	size_t len;
};

/* Without points, and room for so many. */
galvo_status line_make(struct line *l, size_t points, galvo_error *reterr);
void line_finish(struct line *l); /* after failures too */
void line_add(struct line *l, uint64_t mono_ns, double value);
/* How many points are before that moment. */
size_t line_find(const struct line *l, uint64_t mono_ns);
/* By how much it grew; NaN where it says nothing of that time. */
double line_grown(const struct line *l, uint64_t from_ns, uint64_t to_ns);

/* The same sum as a line, a point a tick. Without the column it has none. */
galvo_status ledger_ticks(const struct ledger *s, const struct figure_row *row, struct line *ret,
                          galvo_error *reterr);
/* How the total of a rate grew: straight between its points. Without the column it has none. */
galvo_status ledger_growth(const struct ledger *s, const struct figure_row *row, struct line *ret,
                           galvo_error *reterr);

/* Holes in time, longer than GAP_FACTOR periods, that lost messages left. */
galvo_status ledger_gaps(const struct ledger *s, size_t *ret, galvo_error *reterr);

extern const struct figure figure_none; /* all NaN */

/* The parts of a summary: each fills its members. */
galvo_status derive_system(struct galvo_summary *s, const struct galvo_run *run,
                           galvo_error *reterr);
galvo_status derive_devices(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr);
galvo_status derive_processes(struct galvo_summary *s, const struct galvo_run *run,
                              galvo_error *reterr);
galvo_status derive_threads(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr); /* behind derive_processes */
galvo_status derive_gpus(struct galvo_summary *s, const struct galvo_run *run,
                         galvo_error *reterr); /* behind derive_processes */
galvo_status derive_regions(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr); /* behind derive_gpus */
galvo_status derive_account(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr);
/* Totals of processes, one by one and together: after their figures, before the tree. */
void derive_usage(struct galvo_summary *s, const struct galvo_run *run);
/* After the tree. */
galvo_status derive_groups(struct galvo_summary *s, const struct galvo_run *run,
                           galvo_error *reterr);
/* Where each process of the run is among those of the summary, once they are in order. Free with free(). */
galvo_status process_places(const struct galvo_summary *s, const struct galvo_run *run,
                            size_t **ret, galvo_error *reterr);
/* Puts processes into the order of the tree and links them. */
galvo_status tree_arrange(struct galvo_summary *s, const struct process_index *x,
                          galvo_error *reterr);

#endif
