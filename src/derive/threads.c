/* Threads of the followed processes, where they were recorded: each process's, the busiest first. */
#include <math.h>

#include "figure.h"

#define AT(member) offsetof(struct summary_thread, member)
#define PERCENT 0.01 /* percent of a core, times seconds, to CPU seconds */
#define RATE(name) name ".sum.per_second"

static const struct figure_row rows[] = {
	{RATE("thread__cycles_active"), .total_scale = PERCENT, .offset = AT(cpu_pct_of_core)},
	{"thread__run_delay.avg.pct_of_peak_sustained_elapsed", .total_scale = PERCENT,
	 .offset = AT(run_delay_pct)},
	{RATE("thread__timeslices"), .offset = AT(timeslices_per_s)},
};

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns == 0 || to_ns == 0)
		return NAN;
	return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)NS_PER_S : 0;
}

/* The known ones first, by CPU time; then by age. */
static int compare(const void *a, const void *b)
{
	const struct summary_thread *x = a, *y = b;
	double s = x->cpu_pct_of_core.total, t = y->cpu_pct_of_core.total;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	s = isnan(s) ? -1 : s;
	t = isnan(t) ? -1 : t;
	if (s > t || s < t)
		return s > t ? -1 : 1;
	if (x->info->start_ticks != y->info->start_ticks)
		return x->info->start_ticks < y->info->start_ticks ? -1 : 1;
	return x->info->tid < y->info->tid ? -1 : x->info->tid > y->info->tid;
}

static galvo_status assign(struct galvo_summary *sum, const struct galvo_run *run,
                           galvo_error *reterr)
{
	size_t *place = NULL, i;
	struct process_index x;
	galvo_status status = process_places(sum, run, &place, reterr);

	if (status != GALVO_OK)
		return status;
	status = process_index_init(&x, run, reterr);
	for (i = 0; status == GALVO_OK && i < sum->threads_len; i++) {
		const struct thread_info *info = sum->threads[i].info;
		uint32_t process = process_index_at(&x, info->pid, info->first_mono_ns);

		sum->threads[i].process = process == PROCESS_NONE ? SIZE_MAX : place[process];
	}
	process_index_finish(&x);
	free(place);
	return status;
}

/*
 * A thread that ends takes its account with it; what it used is in that of the process. So is what the
 * others used before their first and after their last row.
 */
static void find_the_rest(struct galvo_summary *sum)
{
	size_t i;

	for (i = 0; i < sum->processes_len; i++)
		sum->processes[i].other_threads_s = NAN;
	for (i = 0; i < sum->threads_len; i++) {
		const struct summary_thread *t = &sum->threads[i];
		struct summary_process *p;

		if (t->process == SIZE_MAX)
			continue;
		p = &sum->processes[t->process];
		if (isnan(p->other_threads_s))
			p->other_threads_s = p->use[USAGE_CPU_NS].own;
		if (!isnan(t->cpu_pct_of_core.total))
			p->other_threads_s -= t->cpu_pct_of_core.total;
	}
	for (i = 0; i < sum->processes_len; i++)
		if (sum->processes[i].other_threads_s < 0)
			sum->processes[i].other_threads_s = 0;
}

galvo_status derive_threads(struct galvo_summary *sum, const struct galvo_run *run,
                            galvo_error *reterr)
{
	struct ledger s;
	galvo_status status;
	size_t i;

	sum->threads = alloc_array(run->threads_len, sizeof(*sum->threads));
	if (!sum->threads)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu threads", run->threads_len);
	sum->threads_len = run->threads_len;
	for (i = 0; i < run->threads_len; i++) {
		const struct thread_info *info = &run->threads[i];
		uint64_t end_ns = info->end_mono_ns ? info->end_mono_ns : sum->end_mono_ns;

		sum->threads[i].info = info;
		sum->threads[i].seen_s = seconds_between(sum->start_mono_ns, info->first_mono_ns);
		sum->threads[i].lifetime_s = seconds_between(info->first_mono_ns, end_ns);
	}
	status = ledger_init(&s, run, STREAM_SYSTEM, SCOPE_THREAD, reterr);
	if (status == GALVO_OK)
		status = ledger_figures(&s, rows, ARRAY_LEN(rows), sum->threads, sizeof(*sum->threads),
		                        reterr);
	ledger_finish(&s);
	if (status == GALVO_OK)
		status = assign(sum, run, reterr);
	if (status != GALVO_OK)
		return status;
	find_the_rest(sum);
	if (sum->threads_len)
		qsort(sum->threads, sum->threads_len, sizeof(*sum->threads), compare);
	return GALVO_OK;
}
