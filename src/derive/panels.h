/*
 * What of a run is drawn: panels of curves on one time axis, lanes of regions. For whoever draws.
 *
 * Part of derive's door. Panels come from the catalog: a table of rules names those that people look
 * for, and every column that no rule takes makes panels by its scope, entity and unit.
 */
#ifndef GALVO_PANELS_H
#define GALVO_PANELS_H

#include "galvo/status.h"
#include "model/model.h"

struct galvo_run;
struct galvo_summary;

enum panel_shape {
	PANEL_LINES,
	PANEL_STACK, /* areas on top of each other: together they are something */
	PANEL_HEAT,  /* a row for each curve, its value a colour: many alike */
};

/* A line across a panel, at what there is at most. */
struct panel_peak {
	const char *label; /* "capacity", "all 8 CPUs", "power limit of GPU 0" */
	double value;
};

struct curve {
	const char *key;    /* unique in the run and the same in every reading of it: "cpu/user" */
	const char *label;  /* in its panel; UTF-8, text from outside is clipped and never empty */
	const char *metric; /* fully qualified; "" for a sum that is no column */
	const char *help;   /* of the metric */
	bool is_level;      /* bytes of memory, say: its integral means nothing */
	bool is_rest;       /* the sum of those that are too many to be shown: "12 others" */
	size_t process;     /* index into the summary's processes; SIZE_MAX: none */
	size_t gpu;         /* index into the summary's gpus; SIZE_MAX: none */
	const struct curve_way *way; /* where its values come from: for curve_points */
};

struct panel {
	const char *id;    /* "cpu", "process-memory", "gpu0-counters-pct": for --panels and the page */
	const char *title; /* "CPU", "Memory of processes" */
	const char *group; /* "Machine", "Processes", "Disks", "Network", "GPU 0": neighbours have the same */
	enum metric_unit unit;
	enum panel_shape shape;
	bool is_gpu_clock; /* hardware counters: instants are converted from the GPU's clock */
	double floor, ceiling; /* of the axis; NaN: as the values are */
	struct panel_peak *peaks;
	size_t peaks_len;
	struct curve *curves;
	size_t curves_len;
	/*
	 * Of a stack: the sum of all its curves, "cpu/total". Its points are means from tick to tick, as what
	 * is read of one tick is read at moments that differ a little. NULL: the panel is no stack.
	 */
	const struct curve *total;
};

/* A region or a mark on its lane. Lanes are numbered from 0 within one domain; nested ones are below. */
struct lane_region {
	const struct region *region;
	uint32_t lane;
};

struct panels {
	const struct galvo_run *run;
	const struct galvo_summary *summary;
	uint64_t zero_mono_ns, end_mono_ns; /* the axis: from the start of the recording to its last row */
	struct panel *panels;
	size_t panels_len;
	struct lane_region *regions; /* of both domains, in order of their starts */
	size_t regions_len;
	uint32_t host_lanes, gpu_lanes; /* how many there are */
	struct panels_memory *memory;
};

struct panels_options {
	/* Curves of processes in one panel; 0: 24. The others, those that did nothing too, are summed up. */
	size_t processes_max;
	bool gpu_only;
	/* What was drawn is drawn on, though it does nothing now: by the key of a curve. NULL: nothing was. */
	bool (*is_known)(const void *known, const char *key);
	const void *known;
};

/* Borrows both until panels_finish. *ret is for panels_finish after failures too. */
galvo_status panels_make(struct panels *ret, const struct galvo_run *run,
                         const struct galvo_summary *summary, const struct panels_options *options,
                         galvo_error *reterr);
void panels_finish(struct panels *p);

/*
 * The points of a curve: value[i] holds from from_mono_ns[i] to end_mono_ns[i], which is later, in
 * order of time, on CLOCK_MONOTONIC. from_mono_ns[i] > end_mono_ns[i-1]: nothing is known of the time
 * between: a gap. All values are finite. Of many summed up they are means from tick to tick: where some
 * covered a part of it only, they come to what these used. A counter's growth is known also where the
 * reading was late, a level is not: where it was not read for GAP_FACTOR times its pace it has a gap, while
 * figures of the report let the value that was read then stand for it. Zeroed after failures.
 */
struct points {
	uint64_t *from_mono_ns, *end_mono_ns;
	double *value;
	size_t len;
};

galvo_status curve_points(const struct panels *p, const struct curve *c, struct points *ret,
                          galvo_error *reterr);
void points_finish(struct points *p);

/* Neighbouring points made one: between them they cover all that the points cover, and no gap. */
struct bucket {
	uint64_t from_mono_ns, end_mono_ns;
	double min, max, mean; /* mean: weighted with time */
	size_t first, len;     /* of the points in it */
};

/*
 * Those points that reach into [from_mono_ns, end_mono_ns), as at most some more than `wish` buckets of
 * as many points each. Gaps that are a smaller part of that time, where points cover it, part nothing.
 * Free with free(), also where there are none.
 */
#define GAP_PARTS 4096
galvo_status points_buckets(const struct points *p, uint64_t from_mono_ns, uint64_t end_mono_ns,
                            size_t wish, struct bucket **ret, size_t *ret_len, galvo_error *reterr);

#endif
