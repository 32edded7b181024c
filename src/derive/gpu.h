/* Inside derive: rows of GPUs one by one, and the parts of what is said of them. */
#ifndef GALVO_DERIVE_GPU_H
#define GALVO_DERIVE_GPU_H

#include "figure.h"

/* The rows of a table, those of each GPU together and in order of time. */
struct gpu_rows {
	const struct table *table; /* NULL: there is none */
	size_t *order;             /* rows of the table */
	size_t *first;             /* by the GPU's number in the run, where its own begin; one more */
};

galvo_status gpu_rows_init(struct gpu_rows *r, const struct galvo_run *run, enum stream_kind stream,
                           enum scope scope, galvo_error *reterr);
void gpu_rows_finish(struct gpu_rows *r); /* after failures too */

static inline const size_t *gpu_rows_of(const struct gpu_rows *r, size_t gpu, size_t *ret_n)
{
	*ret_n = r->table ? r->first[gpu + 1] - r->first[gpu] : 0;
	return r->table ? r->order + r->first[gpu] : NULL;
}

/* What a column of a counter did. SIZE_MAX for one that is not there. */
struct growth gpu_growth(const struct gpu_rows *r, size_t gpu, size_t column);

/* Two lines that grow together: a mean over any time is the growth of one over that of the other. */
struct gpu_sum {
	struct line part, whole;
};

void gpu_sum_finish(struct gpu_sum *s);

/*
 * The integral of a column, and the time that it covers in s. Readings that are further apart than
 * limit_ns leave a gap. Straight: a value changes steadily from one reading to the next; else each
 * stands for the time up to it.
 */
galvo_status gpu_integral(const struct gpu_rows *r, size_t gpu, const char *column, bool is_straight,
                          uint64_t limit_ns, struct gpu_sum *ret, galvo_error *reterr);
/* The column that tells the power of it. */
const char *gpu_power_column(const struct gpu_rows *r, size_t gpu);
/* How long a gap may be that is bridged. */
uint64_t gpu_gap_limit_ns(const struct galvo_run *run);

enum counter_form {
	OVER_COLUMN, /* the sum of a column over that of another one */
	OVER_TIME,   /* a share or a rate: weighted with time */
	AMOUNT,      /* so much in each sample: its sum over time */
};

/* How a value is made of columns of hardware counters; SIZE_MAX for those that it needs not. */
struct counter_value {
	enum counter_form form;
	size_t column, plus, over;
	double factor;
};

/* What a figure of struct summary_counters, by its offset, is made of; false: nobody tells it. */
bool gpu_counter_find(const struct gpu_rows *r, const struct galvo_run *run, size_t gpu,
                      size_t figure, struct counter_value *ret);

/* Goes through the samples of a GPU: none covers time that the one before it covers. */
struct counter_walk {
	uint64_t start_mono_ns;    /* of the recording: nothing covers time before it */
	uint64_t interval_ns; /* stands in for lengths that are not told; 0: not known */
	uint64_t last_mono_ns, last_length_ns;
};

struct counter_samples {
	const struct gpu_rows *rows;
	size_t gpu, at;
	struct counter_walk walk;
};

struct counter_sample {
	uint64_t from_ns, to_ns;
	double value;
};

struct counter_samples gpu_samples_begin(const struct gpu_rows *r, const struct galvo_run *run,
                                         size_t gpu);
/* The next sample that has a value; false: there is none. */
bool gpu_samples_next(struct counter_samples *x, const struct counter_value *c,
                      struct counter_sample *ret);

enum gpu_share { SHARE_SM_BUSY, SHARE_TENSOR };
/* What that share of time is made of, by the hardware's counters; no points: nobody tells. */
galvo_status gpu_counter_sum(const struct gpu_rows *r, const struct galvo_run *run, size_t gpu,
                             enum gpu_share share, struct gpu_sum *ret, galvo_error *reterr);

/* A process on a GPU, as rows of GPU_PROCESS name it. */
struct gpu_user {
	uint32_t gpu, process, pid; /* process: of the run, or PROCESS_NONE */
};

/* Makes things of them, by which rows go; those of one GPU are side by side. Free with free(). */
galvo_status gpu_users_find(struct ledger *s, const struct galvo_run *run, struct gpu_user **ret,
                            galvo_error *reterr);

/* Parts of derive_gpus, which fill the GPUs in the order of the run. */
galvo_status gpu_telemetry_derive(struct galvo_summary *s, const struct galvo_run *run,
                                  galvo_error *reterr);
galvo_status gpu_energy_derive(struct galvo_summary *s, const struct galvo_run *run,
                               galvo_error *reterr);
galvo_status gpu_counters_derive(struct galvo_summary *s, const struct galvo_run *run,
                                 galvo_error *reterr);
galvo_status gpu_processes_derive(struct galvo_summary *s, const struct galvo_run *run,
                                  galvo_error *reterr);

/* What the used GPUs did, for regions. */
struct gpu_activity {
	struct gpu_use *gpus;
	size_t gpus_len;
};

/* Behind derive_gpus. */
galvo_status gpu_activity_init(struct gpu_activity *a, const struct galvo_summary *s,
                               const struct galvo_run *run, galvo_error *reterr);
void gpu_activity_finish(struct gpu_activity *a);

/* A mean over regions and GPUs, weighted with time. */
struct gpu_mean {
	double share_s, weight_s;
};

struct gpu_activity_sums {
	struct gpu_mean busy_pct, sm, tensor; /* in percent; of 1 */
	double joules;
};

void gpu_activity_add(const struct gpu_activity *a, uint64_t from_ns, uint64_t to_ns,
                      struct gpu_activity_sums *sums);

#endif
