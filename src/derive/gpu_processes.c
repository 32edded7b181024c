/* Who used a GPU: processes that its driver named, and what is left for others or for nobody. */
#include <math.h>

#include "gpu.h"

#define AT(member) offsetof(struct summary_gpu_process, member)
#define PERCENT 0.01 /* percent of a GPU, times seconds, to seconds of a whole one */
#define MEMORY "proc__gpu_memory_used_bytes"
#define UTILIZATION "proc__gpu_utilization.pct"
#define NAMED_AROUND_NS (2 * NS_PER_S) /* lists are a little older or younger than what we follow */
/* Processes that are said to do next to nothing on a busy GPU, so often in a row: not believed. */
#define SUSPECT_GPU_PCT 50
#define SUSPECT_SUM_PCT 5
#define SUSPECT_READINGS 10
#define ONE_READING_NS (10 * NS_PER_MS) /* rows so close together are of one list */

static const struct figure_row figures[] = {
	{MEMORY, .is_level = true, .offset = AT(memory_bytes)},
	{UTILIZATION, .total_scale = PERCENT, .offset = AT(utilization_pct)},
	{"proc__gpu_memory_utilization.pct", .offset = AT(memory_utilization_pct)},
	{"proc__gpu_encoder_utilization.pct", .offset = AT(encoder_pct)},
	{"proc__gpu_decoder_utilization.pct", .offset = AT(decoder_pct)},
};

/* Rows of the same process and GPU are about the same thing. */
struct mention {
	struct gpu_user user;
	size_t row;
};

static int compare_users(const struct gpu_user *x, const struct gpu_user *y)
{
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int compare_mentions(const void *a, const void *b)
{
	const struct mention *x = a, *y = b;
	int users = compare_users(&x->user, &y->user);

	return users ? users : x->row < y->row ? -1 : x->row > y->row;
}

/* The followed process that had the number then, and none that had it at another time. */
static uint32_t process_then(const struct process_index *x, uint32_t pid, uint64_t mono_ns)
{
	uint32_t i = process_index_at(x, pid, mono_ns);
	const struct process_info *p = i == PROCESS_NONE ? NULL : &x->processes[i];

	if (!p || p->first_mono_ns > mono_ns + NAMED_AROUND_NS ||
	    (p->end_mono_ns && mono_ns > p->end_mono_ns + NAMED_AROUND_NS))
		return PROCESS_NONE;
	return i;
}

galvo_status gpu_users_find(struct ledger *s, const struct galvo_run *run, struct gpu_user **ret,
                            galvo_error *reterr)
{
	const struct table *t = s->table;
	struct mention *all = alloc_array(t->rows_len, sizeof(*all));
	struct gpu_user *users = alloc_array(t->rows_len, sizeof(*users));
	struct process_index x;
	galvo_status status = process_index_init(&x, run, reterr);
	size_t n = 0, i;

	if ((!all || !users) && status == GALVO_OK)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu rows", t->rows_len);
	for (i = 0; status == GALVO_OK && i < t->rows_len; i++) {
		uint32_t gpu = s->slots[i], pid = t->pid ? t->pid[i] : 0;

		if (gpu != SLOT_NONE)
			all[n++] = (struct mention){{gpu, run->gpus[gpu].info.foreign_pids
				? PROCESS_NONE : process_then(&x, pid, t->mono_ns[i]), pid}, i};
	}
	process_index_finish(&x);
	if (status != GALVO_OK) {
		free(all);
		free(users);
		return status;
	}
	if (n)
		qsort(all, n, sizeof(*all), compare_mentions);
	s->slots_len = 0;
	for (i = 0; i < n; i++) {
		if (i == 0 || compare_users(&all[i].user, &all[i - 1].user))
			users[s->slots_len++] = all[i].user;
		s->slots[all[i].row] = (uint32_t)s->slots_len - 1;
	}
	free(all);
	*ret = users;
	return GALVO_OK;
}

/* Those of one GPU are side by side. */
static galvo_status things_make(struct galvo_summary *sum, struct ledger *s,
                                const struct galvo_run *run, galvo_error *reterr)
{
	struct gpu_user *users = NULL;
	galvo_status status = gpu_users_find(s, run, &users, reterr);
	size_t i;

	if (status != GALVO_OK)
		return status;
	sum->gpu_processes = alloc_array(s->slots_len, sizeof(*sum->gpu_processes));
	if (!sum->gpu_processes)
		status = err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu processes",
		                 s->slots_len);
	for (i = 0; status == GALVO_OK && i < s->slots_len; i++) {
		struct summary_gpu *gpu = &sum->gpus[users[i].gpu];

		if (!gpu->processes_len++)
			gpu->processes = &sum->gpu_processes[i];
		sum->gpu_processes[i] = (struct summary_gpu_process){
			.pid = users[i].pid, .process = SIZE_MAX,
			.info = users[i].process == PROCESS_NONE ? NULL
			                                         : &run->processes[users[i].process]};
	}
	free(users);
	return status;
}

/* ---- what is left --------------------------------------------------------------------------- */

static void derive_rest(struct summary_gpu *g)
{
	double memory = NAN, utilization_s = NAN;
	size_t i;

	g->rest_memory_bytes = g->rest_utilization_s = g->rest_share_pct = NAN;
	g->is_allocation_known = g->processes_len || !isnan(g->processes_count.peak);
	g->allocated = g->processes_len || g->processes_count.peak > 0;
	for (i = 0; i < g->processes_len; i++) {
		add_known(&memory, g->processes[i].memory_mean_bytes);
		add_known(&utilization_s, g->processes[i].utilization_pct.total);
	}
	if (!g->is_allocation_known)
		return;
	g->rest_memory_bytes = g->memory_used_bytes.avg - (isnan(memory) ? 0 : memory);
	if (isnan(utilization_s) && g->allocated)
		return; /* nobody tells who did it */
	g->rest_utilization_s = g->utilization_pct.total - (isnan(utilization_s) ? 0 : utilization_s);
	if (g->utilization_pct.total > 0)
		g->rest_share_pct = 100 * g->rest_utilization_s / g->utilization_pct.total;
}

/* ---- processes that are not believed --------------------------------------------------------- */

/* The last value up to that moment, of rows in order of time; *at: how many are behind us. */
static double last_value(const struct table *t, size_t column, const size_t *rows, size_t n,
                         uint64_t until_ns, size_t *at, double before)
{
	for (; *at < n && t->mono_ns[rows[*at]] <= until_ns; ++*at)
		if (isfinite(t->values[column][rows[*at]]))
			before = t->values[column][rows[*at]];
	return before;
}

static bool is_suspect(const struct gpu_rows *gpus, const struct gpu_rows *processes, size_t gpu)
{
	const struct table *t = processes->table;
	size_t device = gpus->table ? table_column(gpus->table, "gpu__utilization.pct") : SIZE_MAX;
	size_t own = t ? table_column(t, UTILIZATION) : SIZE_MAX;
	size_t gpus_n, n, at = 0, in_a_row = 0, i, k;
	const size_t *gpu_rows = gpu_rows_of(gpus, gpu, &gpus_n);
	const size_t *rows = gpu_rows_of(processes, gpu, &n);
	double device_pct = NAN;

	for (i = 0; device != SIZE_MAX && own != SIZE_MAX && i < n; i = k) {
		uint64_t mono_ns = t->mono_ns[rows[i]];
		double sum = NAN;

		for (k = i; k < n && t->mono_ns[rows[k]] - mono_ns <= ONE_READING_NS; k++)
			if (isfinite(t->values[own][rows[k]]))
				add_known(&sum, t->values[own][rows[k]]);
		device_pct = last_value(gpus->table, device, gpu_rows, gpus_n,
		                        mono_ns + ONE_READING_NS, &at, device_pct);
		in_a_row = device_pct >= SUSPECT_GPU_PCT && sum <= SUSPECT_SUM_PCT ? in_a_row + 1 : 0;
		if (in_a_row == SUSPECT_READINGS)
			return true;
	}
	return false;
}

static galvo_status suspects_find(struct galvo_summary *sum, const struct galvo_run *run,
                                  galvo_error *reterr)
{
	struct gpu_rows gpus, processes = {0};
	galvo_status status = gpu_rows_init(&gpus, run, STREAM_TELEMETRY, SCOPE_GPU, reterr);
	size_t i;

	if (status == GALVO_OK)
		status = gpu_rows_init(&processes, run, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, reterr);
	for (i = 0; status == GALVO_OK && i < sum->gpus_len; i++)
		sum->gpus[i].is_suspect = is_suspect(&gpus, &processes, i);
	gpu_rows_finish(&gpus);
	gpu_rows_finish(&processes);
	return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Those that used most of the GPU first; where nobody tells that, those that held most memory. */
static int compare_use(const void *a, const void *b)
{
	const struct summary_gpu_process *x = a, *y = b;
	const double pairs[][2] = {{x->utilization_pct.total, y->utilization_pct.total},
	                           {x->memory_bytes.peak, y->memory_bytes.peak}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(pairs); i++) {
		double s = isnan(pairs[i][0]) ? -1 : pairs[i][0];
		double t = isnan(pairs[i][1]) ? -1 : pairs[i][1];

		if (s > t || s < t)
			return s > t ? -1 : 1;
	}
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The summary has processes in the order of the tree. */
static galvo_status link_processes(struct galvo_summary *sum, const struct galvo_run *run, size_t n,
                                   galvo_error *reterr)
{
	size_t *place, i;
	galvo_status status = process_places(sum, run, &place, reterr);

	if (status != GALVO_OK)
		return status;
	for (i = 0; i < n; i++)
		if (sum->gpu_processes[i].info)
			sum->gpu_processes[i].process = place[sum->gpu_processes[i].info - run->processes];
	free(place);
	return GALVO_OK;
}

/*
 * An integral over the time that a process was there, of which the GPU was watched for some s. Lists are
 * read more rarely, and reach a little over both ends.
 */
static double fit(const struct figure *f, double total, double watched_s)
{
	double there_s = f->avg > 0 ? total / f->avg : 0;

	return there_s > watched_s ? total * watched_s / there_s : total;
}

/* How much memory it held on average over all the time that the GPU was watched, and its share. */
static galvo_status derive_shares(struct galvo_summary *sum, const struct ledger *s,
                                  galvo_error *reterr)
{
	static const struct figure_row held = {MEMORY, .offset = 0};
	struct figure *all = alloc_array(s->slots_len, sizeof(*all));
	galvo_status status = GALVO_OK;
	size_t i, k;

	if (!all)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for processes");
	status = ledger_figures(s, &held, 1, all, sizeof(*all), reterr);
	for (i = 0; status == GALVO_OK && i < sum->gpus_len; i++) {
		struct summary_gpu *g = &sum->gpus[i];

		for (k = 0; k < g->processes_len; k++) {
			struct summary_gpu_process *p = &g->processes[k];
			const struct figure *memory = &all[p - sum->gpu_processes];

			p->memory_mean_bytes = g->covered_s > 0
				? fit(memory, memory->total, g->covered_s) / g->covered_s : NAN;
			if (g->covered_s > 0)
				p->utilization_pct.total = fit(&p->utilization_pct,
				                               p->utilization_pct.total / PERCENT,
				                               g->covered_s) * PERCENT;
			p->share_pct = g->utilization_pct.total > 0
			               ? 100 * p->utilization_pct.total / g->utilization_pct.total : NAN;
		}
	}
	free(all);
	return status;
}

galvo_status gpu_processes_derive(struct galvo_summary *sum, const struct galvo_run *run,
                                  galvo_error *reterr)
{
	struct ledger s;
	galvo_status status = ledger_init(&s, run, STREAM_TELEMETRY, SCOPE_GPU_PROCESS, reterr);
	size_t i;

	if (status == GALVO_OK && s.table) {
		status = things_make(sum, &s, run, reterr);
		if (status == GALVO_OK)
			status = ledger_figures(&s, figures, ARRAY_LEN(figures), sum->gpu_processes,
			                        sizeof(*sum->gpu_processes), reterr);
		if (status == GALVO_OK)
			status = link_processes(sum, run, s.slots_len, reterr);
		if (status == GALVO_OK)
			status = derive_shares(sum, &s, reterr);
		if (status == GALVO_OK)
			status = suspects_find(sum, run, reterr);
	}
	ledger_finish(&s);
	for (i = 0; status == GALVO_OK && i < sum->gpus_len; i++) {
		struct summary_gpu *g = &sum->gpus[i];

		derive_rest(g);
		if (g->processes_len)
			qsort(g->processes, g->processes_len, sizeof(*g->processes), compare_use);
	}
	return status;
}
