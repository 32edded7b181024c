/*
 * What can be counted on NVIDIA GPUs: metrics, the suffixes they take, what goes into one pass.
 *
 * libcupti of CUDA 12.6 or newer is asked, for any chip it knows: neither a GPU nor a driver is needed
 * if the chip is named. It is loaded when this is opened, and stays loaded until the process ends.
 *
 *     galvo_counters_config config = {.struct_size = sizeof(config), .chip = "GH100"};
 *     galvo_counter counter = {.struct_size = sizeof(counter)};
 *     size_t i;
 *     if (galvo_counters_open(&config, &counters, &error) == GALVO_OK)
 *         for (i = 0; galvo_counters_at(counters, i, &counter, &error) == GALVO_OK; i++)
 *             puts(counter.name);
 *     galvo_counters_close(counters);
 */
#ifndef GALVO_COUNTERS_H
#define GALVO_COUNTERS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_counters_config {
	size_t struct_size;
	const char *chip;       /* "GH100"; NULL: of the GPU `device`; "": none, only what chips there are */
	uint32_t device;        /* as CUDA numbers them */
	uint32_t reserved;      /* 0 */
	const char *cupti_path; /* this libcupti and no other; NULL or "": look for it, see galvo-counters(3) */
} galvo_counters_config;

typedef struct galvo_counters galvo_counters;

/*
 * ABSENT: no libcupti, or no GPU where none is named. INVALID: no such chip. NULL: the defaults. What is
 * opened is used by one thread at a time.
 */
GALVO_API galvo_status galvo_counters_open(const galvo_counters_config *config,
                                           galvo_counters **ret_counters, galvo_error *reterr);
GALVO_API void galvo_counters_close(galvo_counters *counters); /* NULL is fine */

/* The chip that was opened; "" if none. */
GALVO_API const char *galvo_counters_chip(const galvo_counters *counters);
/* Chip i of those that libcupti knows, some of which cannot be sampled; DONE past the last one. */
GALVO_API galvo_status galvo_counters_chip_at(const galvo_counters *counters, size_t i,
                                              const char **ret_chip, galvo_error *reterr);

/* Strings live as long as what was opened, and are never NULL. */
typedef struct galvo_counter {
	size_t struct_size;
	const char *name;        /* without a suffix: "sm__cycles_active" */
	const char *type;        /* "counter", "ratio", "throughput" */
	const char *unit;        /* as galvo_metric has it: "cycles" */
	const char *vendor_unit; /* "gpc_cycle"; may be "" */
	const char *hardware;    /* what is counted there: "sm" */
	const char *suffixes;    /* what may stand behind it, briefly: ".{avg,max,min,sum}[…]" */
	const char *description; /* may be "" */
} galvo_counter;

/* Metric i of the chip; DONE past the last one. */
GALVO_API galvo_status galvo_counters_at(galvo_counters *counters, size_t i,
                                         galvo_counter *ret_counter, galvo_error *reterr);
/*
 * Of a name with or without a suffix, which the unit then is of. INVALID, with a suggestion, if the chip
 * has none of that name.
 */
GALVO_API galvo_status galvo_counters_find(galvo_counters *counters, const char *name,
                                           galvo_counter *ret_counter, galvo_error *reterr);
/* All that may stand behind this name, such as ".sum.per_second"; a suffix that it has is not looked at. */
GALVO_API galvo_status galvo_counters_suffixes(galvo_counters *counters, const char *name,
                                               const char *const **ret_suffixes, size_t *ret_len,
                                               galvo_error *reterr);

/* What is sampled together. Arrays live until the next choice. */
typedef struct galvo_counter_set {
	size_t struct_size;
	const char *const *names;   /* full names */
	size_t names_len;
	const char *const *dropped; /* of "default" and "rich": what is not sampled here … */
	const char *const *reasons; /* … and why */
	size_t dropped_len;
	size_t sample_bytes;        /* of a sample in the hardware buffer of the GPU */
	int32_t is_guess;           /* of those bytes: libcupti does not tell */
	int32_t reserved;
} galvo_counter_set;

/*
 * Each of `names` is a full name, "default" or "rich". INVALID names the first that is wrong, or those that
 * cannot be counted in one pass. The two sets are filled up as far as there is room.
 */
GALVO_API galvo_status galvo_counters_choose(galvo_counters *counters, const char *const *names,
                                             size_t names_len, galvo_counter_set *ret_set,
                                             galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
