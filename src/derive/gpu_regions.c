/* What the GPUs that are used did while regions lasted. */
#include <math.h>

#include "gpu.h"

struct gpu_use {
	struct gpu_sum busy, power, sm, tensor;
};

static galvo_status use_init(struct gpu_use *u, const struct gpu_rows *telemetry,
                             const struct gpu_rows *counters, const struct galvo_run *run,
                             size_t gpu, galvo_error *reterr)
{
	const uint64_t limit_ns = gpu_gap_limit_ns(run);
	galvo_status status = gpu_integral(telemetry, gpu, "gpu__utilization.pct", false, limit_ns,
	                                   &u->busy, reterr);

	if (status == GALVO_OK)
		status = gpu_integral(telemetry, gpu, gpu_power_column(telemetry, gpu), true, limit_ns,
		                      &u->power, reterr);
	if (status == GALVO_OK)
		status = gpu_counter_sum(counters, run, gpu, SHARE_SM_BUSY, &u->sm, reterr);
	if (status == GALVO_OK)
		status = gpu_counter_sum(counters, run, gpu, SHARE_TENSOR, &u->tensor, reterr);
	return status;
}

galvo_status gpu_activity_init(struct gpu_activity *a, const struct galvo_summary *s,
                               const struct galvo_run *run, galvo_error *reterr)
{
	struct gpu_rows telemetry, counters = {0};
	galvo_status status = gpu_rows_init(&telemetry, run, STREAM_TELEMETRY, SCOPE_GPU, reterr);
	size_t i;

	*a = (struct gpu_activity){.gpus = alloc_array(s->gpus_len, sizeof(*a->gpus))};
	if (status == GALVO_OK && !a->gpus)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu GPUs", s->gpus_len);
	if (status == GALVO_OK)
		status = gpu_rows_init(&counters, run, STREAM_GPU, SCOPE_GPU, reterr);
	for (i = 0; status == GALVO_OK && i < s->gpus_len; i++)
		if (s->gpus[i].used)
			status = use_init(&a->gpus[a->gpus_len++], &telemetry, &counters, run,
			                  s->gpus[i].number, reterr);
	gpu_rows_finish(&telemetry);
	gpu_rows_finish(&counters);
	return status;
}

void gpu_activity_finish(struct gpu_activity *a)
{
	size_t i;

	for (i = 0; i < a->gpus_len; i++) {
		gpu_sum_finish(&a->gpus[i].busy);
		gpu_sum_finish(&a->gpus[i].power);
		gpu_sum_finish(&a->gpus[i].sm);
		gpu_sum_finish(&a->gpus[i].tensor);
	}
	free(a->gpus);
	*a = (struct gpu_activity){0};
}

/* A GPU counts for as long as the region lasts: the cycles of one weigh no more than those of another. */
static void mean_add(struct gpu_mean *m, const struct gpu_sum *s, uint64_t from_ns, uint64_t to_ns)
{
	double seconds = (double)(to_ns - from_ns) / (double)NS_PER_S;
	double part = line_grown(&s->part, from_ns, to_ns);
	double whole = line_grown(&s->whole, from_ns, to_ns);

	if (!(whole > 0))
		return;
	m->share_s += seconds * part / whole;
	m->weight_s += seconds;
}

void gpu_activity_add(const struct gpu_activity *a, uint64_t from_ns, uint64_t to_ns,
                      struct gpu_activity_sums *sums)
{
	size_t i;

	for (i = 0; i < a->gpus_len; i++) {
		const struct gpu_use *u = &a->gpus[i];

		mean_add(&sums->busy_pct, &u->busy, from_ns, to_ns);
		mean_add(&sums->sm, &u->sm, from_ns, to_ns);
		mean_add(&sums->tensor, &u->tensor, from_ns, to_ns);
		if (line_grown(&u->power.whole, from_ns, to_ns) > 0)
			add_known(&sums->joules, line_grown(&u->power.part, from_ns, to_ns));
	}
}
