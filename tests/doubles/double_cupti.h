/*
 * Inside the double of libcupti: what every call begins with, built-in metrics, host objects,
 * images.
 */
#ifndef GALVO_DOUBLE_CUPTI_H
#define GALVO_DOUBLE_CUPTI_H

#include "nvidia/nvidia.h"
#include "scene.h"

/*
 * Counts the call and looks at the head of its struct, which has to have exactly that size and a
 * pPriv of NULL. A result to give at once, or 0.
 */
int cupti_enter(const char *call, int device, const void *params, size_t bytes);
/* `old` before that version of CUPTI, `grown` from it on. */
size_t cupti_bytes_since(uint32_t version, size_t old, size_t grown);
bool cupti_is_initialized(void);

#define ENTER(call, device, bytes)                                                                 \
	do {                                                                                       \
		int enter_ = cupti_enter(call, device, p, bytes);                                  \
                                                                                                   \
		if (enter_)                                                                        \
			return enter_;                                                             \
	} while (0)

/* ---- objects: slots that are never given back to malloc, so that a dead one is known --------- */

enum life { LIFE_NEVER, LIFE_ALIVE, LIFE_DEAD };

struct object {
	_Atomic int life;
	_Atomic int inside; /* threads that are in a call with it */
};

struct slots {
	void *first;
	size_t n, each;
};

/*
 * Enters a call with an object, as cupti_enter does one without, and tells what is wrong with it:
 * none, destroyed, in use by another thread. After 0 it is left with object_leave.
 */
int object_enter(const char *call, const void *params, size_t bytes, const struct slots *slots,
                 void *object, int device);
void object_leave(struct object *o);

/* ---- built-in metrics ------------------------------------------------------------------------ */

struct metric {
	uint32_t type;
	const char *name, *hw_unit, *dim_unit, *dim_unit_per_second;
	size_t chars; /* of the name */
};

extern const char *const chip_names[];
extern const size_t chip_count;
int chip_find(const char *name); /* -1: none */
bool chip_can_sample(int chip);
size_t chip_max_metrics(int chip);
/* The metrics of a chip, one after the other from *at = 0 on; NULL behind the last. */
const struct metric *chip_metric_next(int chip, size_t *at);
/*
 * The metric, and the rest of the name, from its first '.'; NULL if the chip has none or it has no
 * such rest.
 */
const struct metric *chip_metric_named(int chip, const char *name, const char **ret_suffix);
size_t metric_suffixes(uint32_t type, const char *const **ret);
/* In how many passes one call of ConfigAddMetrics has these counted. */
size_t chip_passes(int chip, const char *const *names, size_t n);

/* ---- images ---------------------------------------------------------------------------------- */

#define AVAILABILITY_MAGIC UINT64_C(0x6c69617661676c67)
#define CONFIG_MAGIC UINT64_C(0x6769666e6f63676c)

struct config_head {
	uint64_t magic;
	uint32_t passes, count;
};

/* In how many passes a configuration is counted; a result that is not 0 if it is none. */
int cupti_config_passes(const uint8_t *image, size_t bytes, size_t *ret);

struct sample {
	uint64_t begin, end;               /* as they are told */
	uint64_t true_begin_ns, length_ns; /* scene time */
	uint32_t device, is_there;
};

/* The sample of an image, or NULL and a violation. */
const struct sample *cupti_sample(const char *call, const uint8_t *image, size_t bytes,
                                  size_t index);

#endif
