/* The report's table of threads: the busiest processes that have several, and the busiest of those. */
#include <math.h>

#include "output.h"

#define PROCESSES_MAX 3 /* JSON has all */
#define THREADS_MAX 6   /* of one process */
#define OTHERS_MIN_S 0.05

/* What a line shows: the columns want doubles side by side. */
struct thread_row {
	double tid, cpu_s, peak_pct_of_core, run_delay_pct, timeslices_per_s, lifetime_s;
};

static const struct text_column thread_columns[] = {
	COLUMN("tid", 9, put_whole, tid, struct thread_row),
	COLUMN("CPU s", 9, put_seconds, cpu_s, struct thread_row),
	COLUMN("peak", 10, put_pct, peak_pct_of_core, struct thread_row),
	COLUMN("waiting", 10, put_pct, run_delay_pct, struct thread_row),
	COLUMN("slices/s", 10, put_count, timeslices_per_s, struct thread_row),
	COLUMN("life s", 9, put_seconds, lifetime_s, struct thread_row),
};

/* Where the threads of a process begin, and how many they are. */
static size_t threads_of(const struct galvo_summary *sum, size_t process, size_t *ret_from)
{
	size_t i, n = 0;

	for (i = 0; i < sum->threads_len; i++) {
		if (sum->threads[i].process != process)
			continue;
		*ret_from = n ? *ret_from : i;
		n++;
	}
	return n;
}

/* The busiest process with more than one thread that is not shown yet; SIZE_MAX: none. */
static size_t busiest(const struct galvo_summary *sum, const size_t *shown, size_t shown_len)
{
	size_t best = SIZE_MAX, i, j, from;
	double most = -1;

	for (i = 0; i < sum->processes_len; i++) {
		double cpu_s = sum->processes[i].use[USAGE_CPU_NS].own;

		cpu_s = isnan(cpu_s) ? 0 : cpu_s;
		for (j = 0; j < shown_len && shown[j] != i; j++)
			;
		if (j < shown_len || cpu_s <= most || threads_of(sum, i, &from) < 2)
			continue;
		best = i;
		most = cpu_s;
	}
	return best;
}

static void report_thread(struct sheet *s, const struct summary_thread *t)
{
	const struct thread_row row = {
		.tid = (double)t->info->tid, .cpu_s = t->cpu_pct_of_core.total,
		.peak_pct_of_core = t->cpu_pct_of_core.peak, .run_delay_pct = t->run_delay_pct.avg,
		.timeslices_per_s = t->timeslices_per_s.avg, .lifetime_s = t->lifetime_s};

	buf_put_str(&s->buf, "    ");
	sheet_escaped(s, t->info->name);
	table_cells(s, thread_columns, ARRAY_LEN(thread_columns), &row);
	sheet_line_end(s);
}

static void report_process(struct sheet *s, const struct galvo_summary *sum, size_t process)
{
	const struct summary_process *p = &sum->processes[process];
	size_t from = 0, n = threads_of(sum, process, &from), i;
	double others_s = p->other_threads_s;

	buf_put_str(&s->buf, "  ");
	sheet_escaped(s, p->info->alias[0] ? p->info->alias : p->info->comm);
	buf_printf(&s->buf, " (%u), %zu threads", p->info->pid, n);
	sheet_line_end(s);
	for (i = 0; i < n && i < THREADS_MAX; i++)
		report_thread(s, &sum->threads[from + i]);
	for (; i < n; i++)
		if (!isnan(sum->threads[from + i].cpu_pct_of_core.total))
			others_s += sum->threads[from + i].cpu_pct_of_core.total;
	if (n <= THREADS_MAX && !(others_s >= OTHERS_MIN_S))
		return;
	if (n > THREADS_MAX)
		buf_printf(&s->buf, "    \xe2\x80\xa6 and %zu more, and threads that ended", n - THREADS_MAX);
	else
		buf_put_str(&s->buf, "    threads that ended, or before first rows");
	if (!isnan(others_s)) {
		buf_put_str(&s->buf, ": ");
		put_duration(&s->buf, others_s);
		buf_put_str(&s->buf, " CPU");
	}
	sheet_line_end(s);
}

void report_threads(struct sheet *s, const struct galvo_summary *sum)
{
	size_t shown[PROCESSES_MAX], n = 0, process;

	while (n < PROCESSES_MAX && sum->threads_len &&
	       (process = busiest(sum, shown, n)) != SIZE_MAX) {
		if (n == 0) {
			sheet_text(s, "");
			table_head(s, "threads", thread_columns, ARRAY_LEN(thread_columns));
		}
		report_process(s, sum, process);
		shown[n++] = process;
	}
}
