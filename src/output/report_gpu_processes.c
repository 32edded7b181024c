/* The report's table of who used the GPUs, and of what is in nobody's row. */
#include <math.h>

#include "output.h"

#define PROCESSES_MAX 5 /* of one GPU; JSON has all */
#define ROWS_MAX 24     /* of all */
#define REST_MIN_PCT 5  /* what is in nobody's row is worth one from here on */

/* What a line shows: the columns want doubles side by side. */
struct use_row {
	double pid, memory_bytes, peak_bytes, gpu_s, share_pct, there_pct;
};
#define CELL(head, width, put, member) COLUMN(head, width, put, member, struct use_row)

static const struct text_column use_columns[] = {
	CELL("pid", 8, put_whole, pid), CELL("memory", 11, put_bytes, memory_bytes),
	CELL("peak", 10, put_bytes, peak_bytes), CELL("GPU s", 9, put_seconds, gpu_s),
	CELL("share", 9, put_pct, share_pct), CELL("busy", 9, put_pct, there_pct),
};

static void put_name(struct sheet *s, const struct summary_gpu *g, const char *name)
{
	if (g->parent == SIZE_MAX)
		put_gpu_index(&s->buf, "  ", g);
	else
		buf_printf(&s->buf, "  %u/%u", (unsigned)g->info->gpu_instance,
		           (unsigned)g->info->compute_instance);
	buf_put_str(&s->buf, " ");
	sheet_escaped(s, name);
}

/* Its words may reach over the column of pids, which it has none of. */
static void put_sum(struct sheet *s, const struct use_row *row)
{
	size_t i;

	sheet_column(s, NAME_COLUMNS + use_columns[0].width);
	for (i = 1; i < ARRAY_LEN(use_columns); i++) {
		double v;

		memcpy(&v, (const char *)row + use_columns[i].offset, sizeof(v));
		sheet_cell(s, use_columns[i].width, use_columns[i].put, v);
	}
	sheet_line_end(s);
}

static void report_process(struct sheet *s, const struct summary_gpu *g,
                           const struct summary_gpu_process *p)
{
	const struct use_row row = {
		.pid = (double)p->pid, .memory_bytes = p->memory_mean_bytes,
		.peak_bytes = p->memory_bytes.peak, .gpu_s = p->utilization_pct.total,
		.share_pct = p->share_pct, .there_pct = p->utilization_pct.avg};

	put_name(s, g, !p->info ? "(not followed)"
	               : p->info->alias[0] ? p->info->alias : p->info->comm);
	table_cells(s, use_columns, ARRAY_LEN(use_columns), &row);
	sheet_line_end(s);
}

static void report_folded(struct sheet *s, const struct summary_gpu *g, size_t from)
{
	struct use_row row = {NAN, NAN, NAN, NAN, NAN, NAN};
	char words[32];
	size_t i;

	for (i = from; i < g->processes_len; i++) {
		add_known(&row.memory_bytes, g->processes[i].memory_mean_bytes);
		add_known(&row.gpu_s, g->processes[i].utilization_pct.total);
		add_known(&row.share_pct, g->processes[i].share_pct);
	}
	snprintf(words, sizeof(words), "\xe2\x80\xa6 and %zu more", g->processes_len - from);
	put_name(s, g, words);
	put_sum(s, &row);
}

/* Of a GPU that nobody used it is not worth a line what its driver keeps. */
static bool has_rest(const struct summary_gpu *g)
{
	double memory_pct = 100 * g->rest_memory_bytes / g->memory_used_bytes.avg;

	if (!g->processes_len && !(g->utilization_pct.avg >= REST_MIN_PCT))
		return false;
	return fabs(g->rest_share_pct) >= REST_MIN_PCT || fabs(memory_pct) >= REST_MIN_PCT;
}

static size_t report_users(struct sheet *s, const struct summary_gpu *g)
{
	const struct use_row rest = {NAN, g->rest_memory_bytes, NAN, g->rest_utilization_s,
	                             g->rest_share_pct, NAN};
	size_t n = g->processes_len, shown = n <= PROCESSES_MAX ? n : PROCESSES_MAX - 1, i;

	for (i = 0; i < shown; i++)
		report_process(s, g, &g->processes[i]);
	if (shown < n)
		report_folded(s, g, shown++);
	if (has_rest(g)) {
		put_name(s, g, "other or unattributed");
		put_sum(s, &rest);
		shown++;
	}
	return shown;
}

void report_gpu_processes(struct sheet *s, const struct galvo_summary *sum)
{
	size_t rows = 0, left = 0, i;

	for (i = 0; i < sum->gpus_len; i++) {
		const struct summary_gpu *g = &sum->gpus[i];

		if (!g->processes_len && !has_rest(g))
			continue;
		if (rows >= ROWS_MAX) {
			left++;
			continue;
		}
		if (!rows) {
			sheet_text(s, "");
			table_head(s, "gpu processes", use_columns, ARRAY_LEN(use_columns));
		}
		rows += report_users(s, g);
	}
	if (left) {
		buf_printf(&s->buf, "  \xe2\x80\xa6 and those of %zu more GPU%s", left,
		           left == 1 ? "" : "s");
		sheet_line_end(s);
	}
}
