/* For tests of counters' metrics: the same claims put to the double and to the library of a toolkit. */
#ifndef GALVO_METRICS_RIG_H
#define GALVO_METRICS_RIG_H

#include "gpu/gpu.h"
#include "nvidia_real.h"

#define ELAPSED ".pct_of_peak_sustained_elapsed"
#define SET(...) (const char *const[]){__VA_ARGS__}, ARRAY_LEN(((const char *const[]){__VA_ARGS__}))

static bool is_real; /* the library of a toolkit, not the double */

static inline struct gpu_host *host_of(const char *chip)
{
	struct gpu_host *h = NULL;
	galvo_error e = {0};

	if (!OK(gpu_host_open(&h, &cupti, chip, NULL, 0, &e) == GALVO_OK))
		printf("# %s: %s\n", chip, e.text);
	return h;
}

static inline bool says(const galvo_error *e, const char *text)
{
	if (strcmp(e->text, text) == 0)
		return true;
	printf("# it says: %s\n", e->text);
	return false;
}

/* What is claimed of both; each has a process of its own. */
static void check_all(void);

static inline void double_body(void)
{
	stage("GH100");
	check_all();
	VIOLATIONS(0);
	stage_end();
}

static inline void real_body(void)
{
	struct nvidia_places where = {.file = real_path};

	OK(cupti_open(&cupti, &where, 0, NULL) == GALVO_OK);
	is_real = true;
	check_all();
}

static inline void test_double(void)
{
	apart(double_body);
}

static inline void test_real(void)
{
	if (real_path[0])
		apart(real_body);
}

#endif
