/* Whose number was it, and when: processes and threads, although numbers are used again. */
#include "stream.h"

/* qsort_r's context is the processes. */
static int compare_identity(const void *a, const void *b, void *ctx)
{
	const struct process_info *processes = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct process_info *x = &processes[i], *y = &processes[j];

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_ticks != y->start_ticks)
		return x->start_ticks < y->start_ticks ? -1 : 1;
	return i < j ? -1 : i > j;
}

galvo_status process_index_init(struct process_index *x, const struct galvo_run *run,
                                galvo_error *reterr)
{
	size_t i;

	*x = (struct process_index){.len = run->processes_len, .processes = run->processes};
	x->by_pid = run->processes_len < PROCESS_NONE ? alloc_array(x->len, sizeof(*x->by_pid)) : NULL;
	if (!x->by_pid)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu processes", x->len);
	for (i = 0; i < x->len; i++)
		x->by_pid[i] = (uint32_t)i;
	qsort_r(x->by_pid, x->len, sizeof(*x->by_pid), compare_identity,
	        (void *)(uintptr_t)run->processes);
	return GALVO_OK;
}

void process_index_finish(struct process_index *x)
{
	free(x->by_pid);
	*x = (struct process_index){0};
}

/*
 * The last one of that pid whose moment is not after `limit`, by start_ticks or by first sight;
 * with none so early, the first one of that pid if any_time.
 */
static uint32_t find(const struct process_index *x, uint32_t pid, uint64_t limit, bool by_ticks,
                     bool any_time)
{
	size_t low = 0, high = x->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct process_info *p = &x->processes[x->by_pid[middle]];

		if (p->pid < pid || (p->pid == pid &&
		                     (by_ticks ? p->start_ticks : p->first_mono_ns) <= limit))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && x->processes[x->by_pid[low - 1]].pid == pid)
		return x->by_pid[low - 1];
	if (any_time && low < x->len && x->processes[x->by_pid[low]].pid == pid)
		return x->by_pid[low];
	return PROCESS_NONE;
}

uint32_t process_index_at(const struct process_index *x, uint32_t pid, uint64_t mono_ns)
{
	return find(x, pid, mono_ns, false, true);
}

uint32_t process_index_parent(const struct process_index *x, const struct process_info *child)
{
	return find(x, child->ppid, child->start_ticks, true, false);
}

/* ---- threads ------------------------------------------------------------------------------- */

static int compare_threads(const void *a, const void *b, void *ctx)
{
	const struct thread_info *threads = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct thread_info *x = &threads[i], *y = &threads[j];

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->first_mono_ns != y->first_mono_ns)
		return x->first_mono_ns < y->first_mono_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

galvo_status thread_index_init(struct thread_index *x, const struct galvo_run *run,
                               galvo_error *reterr)
{
	size_t i;

	*x = (struct thread_index){.len = run->threads_len, .threads = run->threads};
	x->by_tid = x->len < PROCESS_NONE ? alloc_array(x->len, sizeof(*x->by_tid)) : NULL;
	if (!x->by_tid)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu threads", x->len);
	for (i = 0; i < x->len; i++)
		x->by_tid[i] = (uint32_t)i;
	qsort_r(x->by_tid, x->len, sizeof(*x->by_tid), compare_threads,
	        (void *)(uintptr_t)run->threads);
	return GALVO_OK;
}

void thread_index_finish(struct thread_index *x)
{
	free(x->by_tid);
	*x = (struct thread_index){0};
}

/* The last one that was seen by then; with none so early, the first one. */
uint32_t thread_index_at(const struct thread_index *x, uint32_t tid, uint64_t mono_ns)
{
	size_t low = 0, high = x->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct thread_info *t = &x->threads[x->by_tid[middle]];

		if (t->tid < tid || (t->tid == tid && t->first_mono_ns <= mono_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && x->threads[x->by_tid[low - 1]].tid == tid)
		return x->by_tid[low - 1];
	if (low < x->len && x->threads[x->by_tid[low]].tid == tid)
		return x->by_tid[low];
	return PROCESS_NONE;
}
