/* Inside the metric system: the host side of CUPTI for one chip, names, and what goes into a pass. */
#ifndef GALVO_GPU_HOST_H
#define GALVO_GPU_HOST_H

#include "metrics.h"

/* ---- host.c ---------------------------------------------------------------------------------- */

enum { CUPTI_TYPES = 3 };

struct gpu_host {
	struct cupti cupti;
	char *chip;
	uint8_t *availability;
	size_t availability_bytes;
	void *object; /* asked, and never configured: nothing spoils it */
	const char **bases[CUPTI_TYPES];
	size_t bases_len[CUPTI_TYPES];
};

/*
 * CUPTI's host object for that chip, a new one. A chip without PM sampling, and another type of profiler,
 * gives CUPTI's result; so does a name that is none.
 */
int host_object(struct cupti *c, const char *chip, uint32_t profiler, const uint8_t *availability,
                void **ret_object);
void host_object_end(const struct cupti *c, void *object);
/* Of a name with or without a suffix. */
bool host_knows(struct cupti *c, void *object, const char *name, struct gpu_metric *ret);

/* What one ConfigAddMetrics of these names comes to. An object whose names are refused is spoilt. */
struct trial {
	void *object;
	uint8_t *image;
	size_t image_bytes, passes; /* 0 passes: the names are refused */
};

galvo_status host_try(struct gpu_host *h, const char **names, size_t n, struct trial *ret,
                      galvo_error *reterr);
void trial_end(const struct gpu_host *h, struct trial *t);

/* ---- metric_near.c: names that are like one ---------------------------------------------------- */

enum { NEAR_MAX = 3 };

struct nearest {
	const char *names[NEAR_MAX]; /* the best first; borrowed */
	unsigned costs[NEAR_MAX];
	size_t len;
};

size_t edit_distance(struct span a, struct span b, bool ignores_case);
/* A base name: is this one more like it than those found before? */
void nearest_offer(struct nearest *found, struct span wanted, const char *name);

/* ---- metric_check.c ---------------------------------------------------------------------------- */

/* A name as it was given, whatever is in it, and not endless. */
void put_name(struct buf *b, const char *name);
/*
 * INVALID, the text being the error; it may be clipped, so the most important comes first. Gives the
 * buffer back.
 */
galvo_status say_invalid(struct buf *b, galvo_error *reterr);
/* How long the base name is: to the dot behind the counter, or all of it. */
size_t base_chars(const char *name);
/* Why the name is none that could be counted, unless the chip has it with that suffix. */
galvo_status metric_check(struct gpu_host *h, const char *name, struct gpu_metric *ret,
                          galvo_error *reterr);

/*
 * What may stand behind its base name, briefly: ".{avg,max,min,sum}[…]", the rest being optional and of
 * more than one kind.
 */
galvo_status metric_put_class(struct gpu_host *h, const struct gpu_metric *metric, struct buf *b,
                              galvo_error *reterr);

/* ---- metric_catalog.c --------------------------------------------------------------------------- */

enum metric_unit metric_unit_of(const char *dim_unit); /* of CUPTI's, such as "byte/second" */

/* ---- metric_fit.c: what goes into one pass -------------------------------------------------------- */

/* Names in order. Those that are added do not exceed ROW_MAX. */
struct names {
	const char *all[ROW_MAX];
	size_t len;
};

bool names_have(const struct names *n, const char *name);
/* INVALID, with the ones that are in each other's way, unless all are counted in one pass. */
galvo_status fit_all(struct gpu_host *h, const struct names *names, galvo_error *reterr);

#define WHY_BYTES 96
/* Called for each name that is left out. False ends it: no memory. */
typedef bool (*left_out)(void *ctx, const char *name, const char *why);
/* Adds the names of `more` that go into one pass with what is there, the first ones first. */
galvo_status fit_more(struct gpu_host *h, struct names *names, const struct names *more,
                      left_out tell, void *ctx, galvo_error *reterr);

/* ---- metric_sets.c: the sets that have a name ------------------------------------------------------ */

struct set_row {
	const char *name;
	const char *instead_of; /* NULL: of the set; else only where that one is not counted */
};

/* The rows of "default", "rich"; NULL: there is no set of that name. By how much they matter. */
const struct set_row *set_rows(const char *name, size_t *ret_len);

#endif
