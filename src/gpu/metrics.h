/*
 * Metrics of GPU counters: what a chip has, which names are sound, and what is counted in one pass.
 *
 * All of it is asked of libcupti's host side, which needs neither a GPU nor a driver. A metric is a
 * counter, a ratio or a throughput; its base name with a suffix that its type allows is a full name,
 * and only full names can be sampled. Everything here is used by one thread at a time.
 */
#ifndef GALVO_GPU_METRICS_H
#define GALVO_GPU_METRICS_H

#include "model/model.h"
#include "nvidia/nvidia.h"

/* ---- chips and their metrics ----------------------------------------------------------------- */

/* The chips that this library knows, some of which cannot be sampled. Strings are the library's. */
galvo_status gpu_chips(const struct cupti *c, const char *const **ret_names, size_t *ret_len,
                       galvo_error *reterr);

struct gpu_host;

/*
 * Asks for this chip ("GH100"). `availability` is what cuptiPmSamplingGetCounterAvailability gave for
 * the device, and nothing else, or NULL; it is copied. INVALID if there is no such chip, with the
 * nearest name, or none that can be sampled.
 */
galvo_status gpu_host_open(struct gpu_host **ret_host, const struct cupti *c, const char *chip,
                           const uint8_t *availability, size_t availability_bytes,
                           galvo_error *reterr);
void gpu_host_close(struct gpu_host *h);

struct gpu_metric {
	const char *name;
	enum metric_type type;
	const char *hw_unit, *dim_unit; /* "sm", "byte"; "" if there is none */
	const char *description;        /* may be "" */
};

/* Base metric i, of one type after the other; false behind the last. Strings live as long as h. */
bool gpu_host_metric_at(struct gpu_host *h, size_t i, struct gpu_metric *ret);
/*
 * Of a name with or without a suffix, which the unit follows; INVALID, with a suggestion, if it is none
 * of this chip's. ret->name is `name`.
 */
galvo_status gpu_host_metric_find(struct gpu_host *h, const char *name, struct gpu_metric *ret,
                                  galvo_error *reterr);
/* What may stand behind its base name: ".sum.per_second". Strings live as long as h. */
galvo_status gpu_host_suffixes(struct gpu_host *h, const struct gpu_metric *metric,
                               const char *const **ret_suffixes, size_t *ret_len,
                               galvo_error *reterr);

/*
 * Full names, all of them. INVALID names the first that is none, and says what it might have been
 * or what it lacks. *ret_passes (NULL: never mind) is in how many passes they are counted together.
 */
galvo_status gpu_host_check(struct gpu_host *h, const char *const *names, size_t n,
                            size_t *ret_passes, galvo_error *reterr);

/* ---- a set that is counted in one pass ------------------------------------------------------- */

struct gpu_dropped {
	const char *name;
	const char *why; /* "GB100 has no such metric" */
};

/* Keeps copies of all it needs and outlives the host. */
struct gpu_set {
	const char *chip;
	const char **names; /* full names in the order of the values, at most ROW_MAX, none twice */
	size_t names_len;
	const struct gpu_metric *metrics; /* of each name */
	const uint8_t *image; /* config image: unchanged until cuptiPmSamplingDisable */
	size_t image_bytes;
	size_t sample_bytes;   /* of a raw sample in the hardware buffer */
	bool is_bytes_guessed; /* nobody could tell */
	const struct gpu_dropped *dropped; /* of "default" and "rich": what could not be counted here */
	size_t dropped_len;
	/*
	 * CUPTI's host object with these names: pHostObject of cuptiProfilerHostEvaluateToGpuValues. One
	 * thread at a time: each device has a set of its own.
	 */
	void *object;
};

/*
 * Each of `names` is a full name, "default" or "rich". Full names have to be sound and to be counted
 * in one pass together, else INVALID says which of them do not fit. The sets are filled up behind
 * them: what this chip lacks or what does not fit beside the others is dropped, and told.
 */
galvo_status gpu_set_choose(struct gpu_host *h, const char *const *names, size_t n,
                            struct gpu_set **ret_set, galvo_error *reterr);
void gpu_set_free(struct gpu_set *set);

/*
 * Puts the columns of the set behind `into`, as wire bytes of a MetricCatalog. The catalogs of several
 * sets behind each other are one catalog.
 */
galvo_status gpu_set_catalog(const struct gpu_set *set, struct buf *into, galvo_error *reterr);

#endif
