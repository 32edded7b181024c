/* GPUs: which there are, what each of them is to the others, and all that is said of them together. */
#include <math.h>

#include "gpu.h"

#define USED_PCT 1 /* where nobody names processes, a GPU that was busier than this was used */

static void derive_state(struct summary_gpu *g, const struct galvo_summary *s,
                         const struct galvo_run *run)
{
	double busy_pct = g->utilization_pct.avg;

	g->lost_s = g->info->lost_mono_ns
	            ? ((double)g->info->lost_mono_ns - (double)s->start_mono_ns) / (double)NS_PER_S
	            : NAN;
	g->memory_bytes = g->info->memory_bytes ? (double)g->info->memory_bytes
	                                        : g->memory_total_bytes.peak;
	if (run->gpus[g->number].in_telemetry && !(g->covered_s > 0))
		g->state = GPU_UNAVAILABLE;
	else if (isnan(busy_pct))
		g->state = GPU_UNKNOWN;
	else
		g->state = busy_pct < GPU_IDLE_PCT   ? GPU_IDLE
		           : busy_pct < GPU_BUSY_PCT ? GPU_ACTIVE
		                                     : GPU_BUSY;
}

/* By what was followed if any of it was seen on any; else those that did anything. */
static void derive_used(struct galvo_summary *s)
{
	bool any = false;
	size_t i, k;

	for (i = 0; i < s->gpus_len; i++)
		for (k = 0; k < s->gpus[i].processes_len; k++)
			if (s->gpus[i].processes[k].info)
				any = s->gpus[i].used = true;
	for (i = 0; i < s->gpus_len && !any; i++) {
		const struct summary_gpu *g = &s->gpus[i];

		s->gpus[i].used = g->utilization_pct.avg > USED_PCT ||
		                  g->counters.sm_busy_pct.avg > USED_PCT;
	}
}

static void derive_totals(struct galvo_summary *s)
{
	struct summary_gpu_totals *t = &s->gpu_totals;
	size_t i;

	*t = (struct summary_gpu_totals){.memory_peak_bytes = NAN, .memory_bytes = NAN,
	                                 .power_watts = NAN, .energy_joules = NAN,
	                                 .integral_joules = NAN};
	for (i = 0; i < s->gpus_len; i++) {
		const struct summary_gpu *g = &s->gpus[i];

		if (g->parent != SIZE_MAX)
			continue;
		t->gpus++;
		add_known(&t->memory_peak_bytes, g->memory_used_bytes.peak);
		add_known(&t->memory_bytes, g->memory_bytes);
		add_known(&t->power_watts, isnan(g->power_watts.avg) ? g->power_instant_watts.avg
		                                                     : g->power_watts.avg);
		add_known(&t->energy_joules, g->energy.counter.amount);
		add_known(&t->integral_joules, g->energy.integral_joules);
	}
}

/* ---- order ---------------------------------------------------------------------------------- */

/* The number of the GPU that it is an instance of; SIZE_MAX: it is none, or of none that is there. */
static size_t parent_of(const struct galvo_run *run, size_t gpu)
{
	const struct gpu_info *info = &run->gpus[gpu].info;

	if (!info->is_instance || info->parent >= run->gpus_len ||
	    run->gpus[info->parent].info.is_instance)
		return SIZE_MAX;
	return info->parent;
}

static bool is_before(const struct summary_gpu *a, const struct summary_gpu *b)
{
	if (a->has_cuda_index != b->has_cuda_index)
		return b->has_cuda_index;
	return a->info->index < b->info->index;
}

/* The whole GPU that comes after that one, NULL being before all; NULL: there is none. */
static const struct summary_gpu *next_whole(const struct galvo_summary *s, const struct galvo_run *run,
                                            const struct summary_gpu *after)
{
	const struct summary_gpu *found = NULL;
	size_t i;

	for (i = 0; i < s->gpus_len; i++) {
		const struct summary_gpu *g = &s->gpus[i];
		bool is_later = !after || is_before(after, g) || (!is_before(g, after) && g > after);

		if (parent_of(run, i) == SIZE_MAX && is_later && (!found || is_before(g, found)))
			found = g;
	}
	return found;
}

/* By their numbers; instances go behind their GPU. */
static galvo_status arrange(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr)
{
	struct summary_gpu *all = alloc_array(s->gpus_len, sizeof(*all));
	const struct summary_gpu *whole = NULL;
	size_t n = 0, k;

	if (!all)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu GPUs", s->gpus_len);
	while ((whole = next_whole(s, run, whole))) {
		size_t at = n;

		all[n] = *whole;
		all[n++].parent = SIZE_MAX;
		for (k = 0; k < s->gpus_len; k++)
			if (parent_of(run, k) == whole->number) {
				all[n] = s->gpus[k];
				all[n++].parent = at;
			}
	}
	free(s->gpus);
	s->gpus = all;
	return GALVO_OK;
}

galvo_status derive_gpus(struct galvo_summary *s, const struct galvo_run *run, galvo_error *reterr)
{
	static galvo_status (*const parts[])(struct galvo_summary *, const struct galvo_run *,
	                                     galvo_error *) = {
		gpu_telemetry_derive, gpu_energy_derive, gpu_counters_derive, gpu_processes_derive,
	};
	galvo_status status = GALVO_OK;
	bool has_telemetry = false;
	size_t i;

	derive_totals(s);
	if (!run->gpus_len)
		return GALVO_OK;
	s->gpus = alloc_array(run->gpus_len, sizeof(*s->gpus));
	if (!s->gpus)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu GPUs", run->gpus_len);
	s->gpus_len = run->gpus_len;
	for (i = 0; i < run->gpus_len; i++) {
		s->gpus[i].info = &run->gpus[i].info;
		s->gpus[i].number = i;
		has_telemetry |= run->gpus[i].in_telemetry;
	}
	for (i = 0; i < s->gpus_len; i++)
		s->gpus[i].has_cuda_index = has_telemetry && !run->gpus[i].in_telemetry;
	for (i = 0; i < ARRAY_LEN(parts) && status == GALVO_OK; i++)
		status = parts[i](s, run, reterr);
	if (status != GALVO_OK)
		return status;
	for (i = 0; i < s->gpus_len; i++)
		derive_state(&s->gpus[i], s, run);
	derive_used(s);
	status = arrange(s, run, reterr);
	if (status == GALVO_OK)
		derive_totals(s);
	return status;
}
