/* The report's processes: as a tree, or grouped by name; the biggest ones, and the others together. */
#include <math.h>

#include "output.h"

#define PROCESSES_MAX 15 /* JSON has all */
#define GROUPS_MAX 15
#define INDENT_MAX 4 /* levels: names need room, too */
#define MORE "  \xe2\x80\xa6 and %zu more"
#define ARROW " \xe2\x86\x92 "
#define END_COLUMNS 9
#define NAMELESS "?" /* it was gone before anybody read how it is called */

/* ---- the tree ------------------------------------------------------------------------------- */

/* What a line on a process shows: the columns want doubles side by side. */
struct process_row {
	double pid, seen_s, lifetime_s, cpu_s, rss_bytes, read_bytes, written_bytes;
};

static const struct text_column process_columns[] = {
	COLUMN("pid", 8, put_whole, pid, struct process_row),
	COLUMN("from s", 7, put_fine_seconds, seen_s, struct process_row),
	COLUMN("life s", 7, put_fine_seconds, lifetime_s, struct process_row),
	COLUMN("CPU s", 7, put_fine_seconds, cpu_s, struct process_row),
	COLUMN("RSS", 7, put_short_bytes, rss_bytes, struct process_row),
	COLUMN("read", 7, put_short_bytes, read_bytes, struct process_row),
	COLUMN("wrote", 7, put_short_bytes, written_bytes, struct process_row),
};

static const struct remainder_columns process_sums = {
	.at = NAME_COLUMNS + 8 + 7 + 7, .cpu = 7, .gap = 7, .bytes = 7, .put_bytes = put_short_bytes,
};

static double cpu_of(const struct summary_process *p)
{
	double cpu_s = p->use[USAGE_CPU_NS].own;

	return isnan(cpu_s) ? 0 : cpu_s;
}

/* The busiest process not chosen yet; SIZE_MAX if all are. */
static size_t busiest(const struct galvo_summary *sum, const bool *chosen)
{
	size_t best = SIZE_MAX, i;

	for (i = 0; i < sum->processes_len; i++)
		if (!chosen[i] && (best == SIZE_MAX ||
		                   cpu_of(&sum->processes[i]) > cpu_of(&sum->processes[best])))
			best = i;
	return best;
}

/* The busiest ones, each with the processes above it, so that the tree hangs together. */
static size_t choose(const struct galvo_summary *sum, bool *chosen)
{
	size_t n = 0, i;

	while (n < PROCESSES_MAX && (i = busiest(sum, chosen)) != SIZE_MAX)
		while (i != SIZE_MAX && !chosen[i] && n < PROCESSES_MAX) {
			chosen[i] = true;
			n++;
			i = sum->processes[i].parent;
		}
	return n;
}

/* Its names in the order of time, from number `first` on. */
static void put_names(struct sheet *s, const struct process_info *p, size_t first)
{
	size_t i;

	for (i = first; i < p->earlier_len; i++) {
		const char *comm = p->earlier[i].comm;

		buf_put_escaped(&s->buf, span_of(comm, strnlen(comm, sizeof(p->earlier[i].comm))));
		buf_put_str(&s->buf, ARROW);
	}
	sheet_escaped(s, p->comm[0] ? p->comm : NAMELESS);
}

/* As many of its names as there is room for, the newest ones. */
static void put_process_name(struct sheet *s, const struct process_info *p)
{
	size_t from = s->buf.len, first;

	if (p->alias[0]) {
		sheet_escaped(s, p->alias);
		return;
	}
	for (first = 0; first <= p->earlier_len; first++) {
		s->buf.len = from;
		put_names(s, p, first);
		if (text_columns(span_of(s->buf.p + s->line, s->buf.len - s->line)) < NAME_COLUMNS)
			return;
	}
}

/* How it ended, in few letters. */
static void put_end(struct sheet *s, const struct summary_process *p)
{
	static const char *const words[] = {
		[LIFE_UNKNOWN] = "-", [LIFE_RUNNING] = "running", [LIFE_GONE] = "gone",
		[LIFE_LEFT] = "left",
	};
	const char *name = signal_name(p->term_signal);
	char text[24];

	if (p->life == LIFE_EXITED)
		snprintf(text, sizeof(text), "exit %d", (int)p->exit_code);
	else if (p->life == LIFE_KILLED && !name)
		snprintf(text, sizeof(text), "sig %d", (int)p->term_signal);
	else
		snprintf(text, sizeof(text), "%s", p->life == LIFE_KILLED ? name : words[p->life]);
	buf_printf(&s->buf, "%*s", END_COLUMNS, text);
}

static void report_process(struct sheet *s, const struct summary_process *p)
{
	uint32_t depth = p->depth < INDENT_MAX ? p->depth : INDENT_MAX;
	struct process_row row = {
		.pid = (double)p->info->pid, .seen_s = p->seen_s, .lifetime_s = p->lifetime_s,
		.cpu_s = p->use[USAGE_CPU_NS].own, .rss_bytes = p->rss_bytes.peak,
		.read_bytes = p->use[USAGE_READ].own, .written_bytes = p->use[USAGE_WRITE].own};

	buf_printf(&s->buf, "%*s", (int)(2 + 2 * depth), "");
	put_process_name(s, p->info);
	table_cells(s, process_columns, ARRAY_LEN(process_columns), &row);
	put_end(s, p);
	sheet_line_end(s);
}

/* Sums leave out what a row of bytes may have twice: its ended children's. */
static void add_own(double *sum, const struct summary_process *p, enum usage_kind kind)
{
	if (kind == USAGE_CPU_NS || !isnan(p->use[kind].head))
		add_known(sum, p->use[kind].own);
}

/* How many processes the page leaves out, and what they used. */
static void report_others(struct sheet *s, const struct galvo_summary *sum, const bool *chosen,
                          size_t n)
{
	double cpu_s = NAN, read_bytes = NAN, write_bytes = NAN;
	size_t failed = 0, i;

	for (i = 0; i < sum->processes_len; i++) {
		const struct summary_process *p = &sum->processes[i];

		if (chosen[i])
			continue;
		failed += p->failed;
		add_own(&cpu_s, p, USAGE_CPU_NS);
		add_own(&read_bytes, p, USAGE_READ);
		add_own(&write_bytes, p, USAGE_WRITE);
	}
	buf_printf(&s->buf, MORE, sum->processes_len - n);
	if (failed)
		buf_printf(&s->buf, ", %zu failed", failed);
	put_remainder(s, &process_sums, cpu_s, read_bytes, write_bytes);
}

/*
 * Where the recorder did not tell them apart, a parent's I/O has that of the children it waited for,
 * so that it is in both rows.
 */
static bool counts_twice(const struct galvo_summary *sum, const bool *chosen)
{
	size_t i;

	for (i = 0; i < sum->processes_len; i++) {
		size_t parent = sum->processes[i].parent;
		const struct summary_use *use = parent != SIZE_MAX ? sum->processes[parent].use : NULL;

		if (use && chosen[parent] && ((isnan(use[USAGE_READ].head) && use[USAGE_READ].own > 0) ||
		                              (isnan(use[USAGE_WRITE].head) && use[USAGE_WRITE].own > 0)))
			return true;
	}
	return false;
}

void report_processes(struct sheet *s, const struct galvo_summary *sum)
{
	bool *chosen;
	size_t n, i;

	if (sum->processes_len == 0)
		return;
	chosen = alloc_array(sum->processes_len, sizeof(*chosen));
	if (!chosen) {
		s->status = GALVO_ERR_NOMEM;
		return;
	}
	/* Chosen by CPU time, shown in the order of the tree. */
	n = choose(sum, chosen);
	sheet_text(s, "");
	table_heads(s, "processes", process_columns, ARRAY_LEN(process_columns));
	buf_printf(&s->buf, "%*s", END_COLUMNS, "end");
	sheet_line_end(s);
	for (i = 0; i < sum->processes_len; i++)
		if (chosen[i])
			report_process(s, &sum->processes[i]);
	if (n < sum->processes_len)
		report_others(s, sum, chosen, n);
	report_remainder(s, sum, &process_sums);
	if (counts_twice(sum, chosen))
		sheet_text(s, "  read and written include those of children that ended");
	free(chosen);
}

/* ---- by name -------------------------------------------------------------------------------- */

struct group_row {
	double count, cpu_s, cpu_pct, rss_peak_bytes, rss_largest_bytes, read_bytes, written_bytes;
};

static const struct text_column group_columns[] = {
	COLUMN("count", 7, put_count, count, struct group_row),
	COLUMN("CPU s", 8, put_fine_seconds, cpu_s, struct group_row),
	COLUMN("share", 8, put_pct, cpu_pct, struct group_row),
	COLUMN("RSS peak", 9, put_bytes, rss_peak_bytes, struct group_row),
	COLUMN("largest", 9, put_bytes, rss_largest_bytes, struct group_row),
	COLUMN("read", 9, put_bytes, read_bytes, struct group_row),
	COLUMN("written", 9, put_bytes, written_bytes, struct group_row),
};

static const struct remainder_columns group_sums = {
	.at = NAME_COLUMNS + 7, .cpu = 8, .gap = 8 + 9 + 9, .bytes = 9, .put_bytes = put_bytes,
	.is_brief = true,
};

static void report_group(struct sheet *s, const struct summary_group *g)
{
	struct group_row row = {
		.count = (double)g->count, .cpu_s = g->own[USAGE_CPU_NS], .cpu_pct = g->cpu_pct,
		.rss_peak_bytes = g->rss_peak_bytes, .rss_largest_bytes = g->rss_largest_bytes,
		.read_bytes = g->own[USAGE_READ], .written_bytes = g->own[USAGE_WRITE]};

	buf_put_str(&s->buf, "  ");
	sheet_escaped(s, g->comm[0] ? g->comm : NAMELESS);
	if (g->failed)
		buf_printf(&s->buf, " (%llu failed)", (unsigned long long)g->failed);
	table_cells(s, group_columns, ARRAY_LEN(group_columns), &row);
	sheet_line_end(s);
}

void report_groups(struct sheet *s, const struct galvo_summary *sum)
{
	double sums[USAGE_END] = {[USAGE_CPU_NS] = NAN, [USAGE_READ] = NAN, [USAGE_WRITE] = NAN};
	size_t i;

	if (sum->groups_len == 0)
		return;
	sheet_text(s, "");
	table_head(s, "processes by name", group_columns, ARRAY_LEN(group_columns));
	for (i = 0; i < sum->groups_len && i < GROUPS_MAX; i++)
		report_group(s, &sum->groups[i]);
	if (i < sum->groups_len) {
		buf_printf(&s->buf, MORE " names", sum->groups_len - i);
		for (; i < sum->groups_len; i++) {
			const double *own = sum->groups[i].own;

			add_known(&sums[USAGE_CPU_NS], own[USAGE_CPU_NS]);
			add_known(&sums[USAGE_READ], own[USAGE_READ]);
			add_known(&sums[USAGE_WRITE], own[USAGE_WRITE]);
		}
		put_remainder(s, &group_sums, sums[USAGE_CPU_NS], sums[USAGE_READ],
		              sums[USAGE_WRITE]);
	}
	report_remainder(s, sum, &group_sums);
}
