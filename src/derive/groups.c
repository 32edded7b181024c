/* Processes grouped by their last names. */
#include "figure.h"

static int compare_comm(const void *a, const void *b, void *ctx)
{
	const struct summary_process *processes = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int names = strcmp(processes[i].info->comm, processes[j].info->comm);

	return names ? names : i < j ? -1 : i > j;
}

static double cpu_of(const struct summary_group *g)
{
	return isnan(g->own[USAGE_CPU_NS]) ? -1 : g->own[USAGE_CPU_NS];
}

static int compare_groups(const void *a, const void *b)
{
	const struct summary_group *x = a, *y = b;

	if (cpu_of(x) != cpu_of(y))
		return cpu_of(x) > cpu_of(y) ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

static struct summary_group *group_begin(struct galvo_summary *s, const char *comm)
{
	struct summary_group *g = &s->groups[s->groups_len++];
	enum usage_kind kind;

	*g = (struct summary_group){.comm = comm, .first_s = NAN, .cpu_pct = NAN,
	                            .rss_peak_bytes = NAN, .rss_largest_bytes = NAN};
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		g->own[kind] = NAN;
	return g;
}

static void group_add(struct summary_group *g, const struct summary_process *p)
{
	enum usage_kind kind;

	g->count++;
	g->failed += p->failed;
	g->first_s = fmin(g->first_s, p->seen_s);
	g->rss_largest_bytes = fmax(g->rss_largest_bytes, p->rss_bytes.peak);
	/* Rows of bytes have those of children that ended, which may be in the same group. */
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		if (kind == USAGE_CPU_NS || !isnan(p->use[kind].head))
			add_known(&g->own[kind], p->use[kind].own);
}

/* The sum of what they had at the same time needs their rows once more. */
static galvo_status group_memory(struct galvo_summary *s, const struct galvo_run *run,
                                 const uint32_t *group_of, galvo_error *reterr)
{
	static const struct figure_row rss = {"proc__rss_bytes", .is_level = true};
	double *peaks = alloc_array(s->groups_len, sizeof(*peaks));
	struct ledger l = {0};
	galvo_status status;
	size_t i;

	if (!peaks)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu groups", s->groups_len);
	status = ledger_init(&l, run, STREAM_SYSTEM, SCOPE_PROCESS, reterr);
	if (status == GALVO_OK)
		status = ledger_group_peaks(&l, &rss, group_of, peaks, s->groups_len, reterr);
	for (i = 0; status == GALVO_OK && i < s->groups_len; i++)
		s->groups[i].rss_peak_bytes = peaks[i];
	ledger_finish(&l);
	free(peaks);
	return status;
}

galvo_status derive_groups(struct galvo_summary *s, const struct galvo_run *run,
                           galvo_error *reterr)
{
	uint32_t *by_comm = alloc_array(s->processes_len, sizeof(*by_comm));
	uint32_t *group_of = alloc_array(s->processes_len, sizeof(*group_of)); /* as the run has them */
	galvo_status status = GALVO_ERR_NOMEM;
	struct summary_group *g = NULL;
	uint32_t i;

	s->groups = alloc_array(s->processes_len, sizeof(*s->groups));
	if (!by_comm || !group_of || !s->groups) {
		err_set(reterr, GALVO_ERR_NOMEM, "no memory for groups of processes");
		goto done;
	}
	for (i = 0; i < s->processes_len; i++)
		by_comm[i] = i;
	qsort_r(by_comm, s->processes_len, sizeof(*by_comm), compare_comm, s->processes);
	for (i = 0; i < s->processes_len; i++) {
		const struct summary_process *p = &s->processes[by_comm[i]];

		if (!g || strcmp(g->comm, p->info->comm) != 0)
			g = group_begin(s, p->info->comm);
		group_add(g, p);
		group_of[p->info - run->processes] = (uint32_t)(g - s->groups);
	}
	for (i = 0; i < s->groups_len; i++)
		if (s->balance[USAGE_CPU_NS].whole > 0)
			s->groups[i].cpu_pct = 100 * s->groups[i].own[USAGE_CPU_NS] /
			                       s->balance[USAGE_CPU_NS].whole;
	status = group_memory(s, run, group_of, reterr);
	qsort(s->groups, s->groups_len, sizeof(*s->groups), compare_groups);
done:
	free(by_comm);
	free(group_of);
	return status;
}
