/* The report's tables with a row a thing: disks, network interfaces, processes. */
#include <math.h>

#include "output.h"

#define DEVICES_MAX 8 /* JSON has all */
#define PROCESSES_MAX 15
#define UNSEEN_MIN_S 0.05
#define UNSEEN_MIN_RATIO 0.02
#define INDENT_MAX 4 /* levels: names need room, too */

static void put_more(struct sheet *s, size_t n)
{
	buf_printf(&s->buf, "  \xe2\x80\xa6 and %zu more", n);
}

/* ---- devices -------------------------------------------------------------------------------- */

static const struct text_column disk_columns[] = {
	COLUMN("read", 10, put_bytes, read_bytes_per_s.total, struct summary_disk),
	COLUMN("written", 10, put_bytes, write_bytes_per_s.total, struct summary_disk),
	COLUMN("average", 12, put_bytes_per_s, moved_bytes_per_s.avg, struct summary_disk),
	COLUMN("peak", 12, put_bytes_per_s, moved_bytes_per_s.peak, struct summary_disk),
	COLUMN("busy", 8, put_pct, busy_pct.avg, struct summary_disk),
	COLUMN("queue", 7, put_decimal, queue_count.peak, struct summary_disk),
};

static const struct text_column net_columns[] = {
	COLUMN("received", 10, put_bytes, rx_bytes_per_s.total, struct summary_interface),
	COLUMN("sent", 10, put_bytes, tx_bytes_per_s.total, struct summary_interface),
	COLUMN("average", 12, put_bytes_per_s, moved_bytes_per_s.avg, struct summary_interface),
	COLUMN("peak", 12, put_bytes_per_s, moved_bytes_per_s.peak, struct summary_interface),
	COLUMN("drops", 8, put_whole, drops_count, struct summary_interface),
	COLUMN("errors", 7, put_whole, errors_count, struct summary_interface),
};

/* A row of devices; `remark` says why it is not in the total, or is empty. */
struct device_row {
	const char *name, *remark;
	bool has_traffic, counted;
	const void *thing;
};

/* Devices without traffic are left out; a total is worth a line only if it sums something. */
static void device_table(struct sheet *s, const char *title, const struct text_column *columns,
                         const struct device_row *rows, size_t rows_len, const void *total)
{
	size_t shown = 0, counted = 0, left = 0, i;

	for (i = 0; i < rows_len; i++) {
		if (!rows[i].has_traffic)
			continue;
		counted += rows[i].counted;
		if (shown == DEVICES_MAX) {
			left++;
			continue;
		}
		if (shown++ == 0) {
			sheet_text(s, "");
			table_head(s, title, columns, ARRAY_LEN(disk_columns));
		}
		buf_put_str(&s->buf, "  ");
		sheet_escaped(s, rows[i].name);
		buf_put_str(&s->buf, rows[i].remark);
		table_cells(s, columns, ARRAY_LEN(disk_columns), rows[i].thing);
		sheet_line_end(s);
	}
	if (left) {
		put_more(s, left);
		sheet_line_end(s);
	}
	if (counted > 1) {
		buf_put_str(&s->buf, "  total");
		table_cells(s, columns, 2, total);
		sheet_line_end(s);
	}
}

_Static_assert(ARRAY_LEN(disk_columns) == ARRAY_LEN(net_columns), "device_table has one width");

void report_devices(struct sheet *s, const struct galvo_summary *sum)
{
	const struct summary_disk disks = {.read_bytes_per_s = sum->disk_read_bytes_per_s,
	                                   .write_bytes_per_s = sum->disk_write_bytes_per_s};
	const struct summary_interface net = {.rx_bytes_per_s = sum->net_rx_bytes_per_s,
	                                      .tx_bytes_per_s = sum->net_tx_bytes_per_s};
	struct device_row *rows = alloc_array(sum->disks_len + sum->interfaces_len, sizeof(*rows));
	size_t i;

	if (!rows) {
		s->status = GALVO_ERR_NOMEM;
		return;
	}
	/* Totals are rows like any other: only what may be summed is filled in. */
	for (i = 0; i < sum->disks_len; i++) {
		const struct summary_disk *d = &sum->disks[i];

		rows[i] = (struct device_row){d->name,
			d->stacked ? " (stacked)" : d->counted ? "" : " (part)",
			d->moved_bytes_per_s.total >= 0.5, d->counted, d};
	}
	device_table(s, "disks", disk_columns, rows, sum->disks_len, &disks);
	for (i = 0; i < sum->interfaces_len; i++) {
		const struct summary_interface *n = &sum->interfaces[i];

		rows[i] = (struct device_row){n->name, n->counted ? "" : " (loopback)",
			n->moved_bytes_per_s.total >= 0.5, n->counted, n};
	}
	device_table(s, "network", net_columns, rows, sum->interfaces_len, &net);
	free(rows);
}

/* ---- processes ------------------------------------------------------------------------------ */

/* What a line on a process shows: the columns want doubles side by side. */
struct process_row {
	double pid, cpu_s, peak_pct_of_core, rss_bytes, read_bytes, written_bytes, lifetime_s;
};

static const struct text_column process_columns[] = {
	COLUMN("pid", 8, put_whole, pid, struct process_row),
	COLUMN("CPU s", 8, put_seconds, cpu_s, struct process_row),
	COLUMN("peak", 8, put_pct, peak_pct_of_core, struct process_row),
	COLUMN("RSS peak", 9, put_bytes, rss_bytes, struct process_row),
	COLUMN("read", 9, put_bytes, read_bytes, struct process_row),
	COLUMN("written", 9, put_bytes, written_bytes, struct process_row),
	COLUMN("life s", 8, put_seconds, lifetime_s, struct process_row),
};

/* The busiest process not chosen yet; SIZE_MAX if all are. */
static size_t busiest(const struct galvo_summary *sum, const bool *chosen)
{
	size_t best = SIZE_MAX, i;
	double most = -1;

	for (i = 0; i < sum->processes_len; i++) {
		double cpu_s = sum->processes[i].cpu_pct_of_core.total;

		if (chosen[i] || (isnan(cpu_s) ? 0 : cpu_s) <= most)
			continue;
		best = i;
		most = isnan(cpu_s) ? 0 : cpu_s;
	}
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

static void report_process(struct sheet *s, const struct summary_process *p)
{
	uint32_t depth = p->depth < INDENT_MAX ? p->depth : INDENT_MAX;
	struct process_row row = {
		.pid = (double)p->info->pid, .cpu_s = p->cpu_pct_of_core.total,
		.peak_pct_of_core = p->cpu_pct_of_core.peak, .rss_bytes = p->rss_bytes.peak,
		.read_bytes = p->read_bytes_per_s.total,
		.written_bytes = p->write_bytes_per_s.total,
		.lifetime_s = p->lifetime_s};

	buf_printf(&s->buf, "%*s", (int)(2 + 2 * depth), "");
	sheet_escaped(s, p->info->alias[0] ? p->info->alias : p->info->comm);
	table_cells(s, process_columns, ARRAY_LEN(process_columns), &row);
	sheet_line_end(s);
}

/* How many processes the page leaves out, and what they used. */
static void report_others(struct sheet *s, const struct galvo_summary *sum, const bool *chosen,
                          size_t n)
{
	double cpu_s = NAN;
	size_t i;

	for (i = 0; i < sum->processes_len; i++) {
		double more_s = sum->processes[i].cpu_pct_of_core.total;

		if (!chosen[i] && !isnan(more_s))
			cpu_s = isnan(cpu_s) ? more_s : cpu_s + more_s;
	}
	put_more(s, sum->processes_len - n);
	if (!isnan(cpu_s)) {
		buf_put_str(&s->buf, " (");
		put_duration(&s->buf, cpu_s);
		buf_put_str(&s->buf, " CPU)");
	}
	sheet_line_end(s);
}

/* Worth a line when it is more than the rounding of the lines above. */
static void report_unseen(struct sheet *s, const struct galvo_summary *sum)
{
	double all_s = sum->workload.user_s + sum->workload.system_s;

	if (!(sum->cpu.unseen_s >= UNSEEN_MIN_S && sum->cpu.unseen_s >= UNSEEN_MIN_RATIO * all_s))
		return;
	buf_put_str(&s->buf, "  not in these rows: ");
	put_duration(&s->buf, sum->cpu.unseen_s);
	buf_put_str(&s->buf, " CPU (short lives; before first, after last row)");
	sheet_line_end(s);
}

/* The kernel adds to a parent's I/O that of the children it waited for, so that it is in both rows. */
static bool counts_twice(const struct galvo_summary *sum, const bool *chosen)
{
	size_t i;

	for (i = 0; i < sum->processes_len; i++) {
		size_t parent = sum->processes[i].parent;

		if (parent != SIZE_MAX && chosen[parent] &&
		    (sum->processes[parent].read_bytes_per_s.total > 0 ||
		     sum->processes[parent].write_bytes_per_s.total > 0))
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
	table_head(s, "processes", process_columns, ARRAY_LEN(process_columns));
	for (i = 0; i < sum->processes_len; i++)
		if (chosen[i])
			report_process(s, &sum->processes[i]);
	if (n < sum->processes_len)
		report_others(s, sum, chosen, n);
	report_unseen(s, sum);
	if (counts_twice(sum, chosen))
		sheet_text(s, "  read and written include those of children that ended");
	free(chosen);
}
