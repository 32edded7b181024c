/*
 * What the questions to a GPU share: their table, the answer that grows, the libraries, a session
 * that is drained.
 */
#ifndef GALVO_GPU_PROBE_H
#define GALVO_GPU_PROBE_H

#include "gpu/environment.h"
#include "nvidia/nvidia.h"

extern struct cuda cuda;
extern struct cupti cupti;
extern struct nvml nvml;

#include "nvidia_session.h"

#define MS UINT64_C(1000000)

/* ---- a question and its answer, which becomes one line of JSON -------------------------------- */

struct question {
	const char *name;
	unsigned limit_s;
	const char *text;
	void (*ask)(void);
};

/* Each ends with one that has no name. */
extern const struct question machine_questions[], session_questions[], life_questions[],
	kernel_questions[];

__attribute__((format(printf, 1, 2))) void answer(const char *fmt, ...); /* one more sentence */
void figure(const char *name, double value);
void figure_text(const char *name, const char *value);
/* Did it go well? If not, the answer is told "CALL gives 26 CUPTI_ERROR_…". */
bool good_cupti(const char *call, int result);
bool good_cuda(const char *call, int result);

/* ---- libraries: false, and the answer says why ------------------------------------------------- */

bool has_cuda(void);  /* initialised, with a device */
bool has_cupti(void); /* that too, and the profiler initialised */
bool has_nvml(void);
const char *chip(void);  /* of device 0; "" if that cannot be told */
void *nvml_device(void); /* the one that is CUDA's device 0 */
double sm_mhz(void);     /* NaN: not known */

/* ---- time ---------------------------------------------------------------------------------------- */

uint64_t now_ns(void);
uint64_t wall_ns(void);
void rest_ms(unsigned ms);
double us_since(uint64_t begin_ns);

/* ---- numbers -------------------------------------------------------------------------------------- */

struct list {
	double *v;
	size_t n, cap;
};

void list_add(struct list *l, double v);
void list_free(struct list *l);
double list_at(struct list *l, double share); /* 0.5: the median; NaN if empty. Sorts. */
double list_mean(const struct list *l);

/* ---- a session that is drained ------------------------------------------------------------------- */

/* What came of a session: samples, and what decoding them met and took. */
struct catch
{
	struct sampling *of;
	uint64_t *begin, *end;
	double *values;        /* of->count a sample */
	size_t n, cap, stride; /* one sample in so many is evaluated */
	size_t decodes, ended, full, other, overflows, failed, evaluated;
	int first_failure;
	double decode_us, info_us, evaluate_us, fresh_us; /* sums */
	struct list empty_us, age_us;
};

void catch_begin(struct catch *c, struct sampling *s);
/* Decodes until nothing is left, into fresh images; the result of the last decode. */
int catch_drain(struct catch *c);
void catch_free(struct catch *c);
/* Mean of a metric over all samples but the first that have a length; NaN: none. */
double catch_mean(const struct catch *c, const char *metric);
/* Those but the first whose length is more than half as much again. */
size_t catch_long(const struct catch *c, double usual_ns);

/* Host object, Enable, Start with those names, as many as fit in one pass; the answer says if not. */
bool open_session(struct sampling *s, const char **names, size_t n, struct session_wish wish);

#endif
