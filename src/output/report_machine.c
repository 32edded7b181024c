/* The report's sections on the machine: CPU, memory, pressure. */
#include <math.h>

#include "output.h"

/* The machine and a core have the same columns. */
static const struct text_column share_columns[] = {
	COLUMN("average", 9, put_pct, busy_pct.avg, struct summary_shares),
	COLUMN("peak", 9, put_pct, busy_pct.peak, struct summary_shares),
	COLUMN("user", 9, put_pct, user_pct.avg, struct summary_shares),
	COLUMN("kernel", 9, put_pct, kernel_pct.avg, struct summary_shares),
	COLUMN("iowait", 9, put_pct, iowait_pct.avg, struct summary_shares),
	COLUMN("steal", 9, put_pct, steal_pct.avg, struct summary_shares),
};
static const struct text_column pct_columns[] = {
	COLUMN("average", 9, put_pct, avg, struct figure),
	COLUMN("peak", 9, put_pct, peak, struct figure),
};
static const struct text_column byte_columns[] = {
	COLUMN("average", 9, put_bytes, avg, struct figure),
	COLUMN("peak", 9, put_bytes, peak, struct figure),
};

/* One line: a core stands for itself, by its number. */
static void report_core(struct sheet *s, const struct summary_core *core, const char *what)
{
	buf_printf(&s->buf, "  %s core: %u", what, (unsigned)core->cpu);
	table_cells(s, share_columns, ARRAY_LEN(share_columns), &core->time);
	sheet_line_end(s);
}

/* CPU numbers may have holes: those that are offline. */
static size_t cores_present(const struct summary_cpu *cpu)
{
	size_t n = 0, i;

	for (i = 0; i < cpu->cores_len; i++)
		n += cpu->cores[i].present;
	return n;
}

/* Shares of the machine, then of its extreme cores; processes are in percent of one CPU. */
static void report_cpu(struct sheet *s, const struct summary_cpu *cpu)
{
	size_t cores = cores_present(cpu);

	if (isnan(cpu->time.busy_pct.avg) && isnan(cpu->followed_pct_of_core.avg) && !cpu->busiest)
		return;
	sheet_text(s, "");
	table_head(s, "cpu", share_columns, ARRAY_LEN(share_columns));
	buf_put_str(&s->buf, "  machine");
	table_cells(s, share_columns, ARRAY_LEN(share_columns), &cpu->time);
	sheet_line_end(s);
	if (cpu->busiest && cpu->busiest != cpu->idlest) {
		report_core(s, cpu->busiest, "busiest");
		report_core(s, cpu->idlest, "idlest");
		buf_put_str(&s->buf, "  imbalance");
		sheet_column(s, NAME_COLUMNS);
		sheet_cell(s, 9, put_pct, 100 * cpu->imbalance_ratio);
		buf_printf(&s->buf, "   the busiest of %zu cores above their mean", cores);
		sheet_line_end(s);
	}
	if (!isnan(cpu->followed_pct_of_core.avg)) {
		buf_put_str(&s->buf, "  processes");
		table_cells(s, pct_columns, ARRAY_LEN(pct_columns), &cpu->followed_pct_of_core);
		sheet_text(s, "   of one CPU, together");
	}
}

/* Swap is worth a line only when something is swapped. */
static void report_memory(struct sheet *s, const struct summary_memory *m, double largest_bytes)
{
	const struct {
		const char *name;
		struct figure figure;
		const char *remark; /* followed by the size, if one is given */
		double of_bytes;
		bool is_swap;
	} rows[] = {
		{"  processes", m->followed_rss_bytes, "resident, together", NAN, false},
		{"  processes, PSS", m->followed_pss_bytes, "what they share counted once", NAN, false},
		{"  largest process", {NAN, largest_bytes, NAN}, "as the kernel accounted it", NAN,
		 false},
		{"  swapped out", m->followed_swap_bytes, "of the processes", NAN, true},
		{"  machine", m->used_bytes, "used of ", m->capacity_bytes.peak, false},
		{"  swap", m->swap_used_bytes, "used of ", m->swap_capacity_bytes.peak, true},
	};
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (isnan(rows[i].figure.peak) || (rows[i].is_swap && rows[i].figure.peak <= 0))
			continue;
		if (!any) {
			sheet_text(s, "");
			table_head(s, "memory", byte_columns, ARRAY_LEN(byte_columns));
			any = true;
		}
		buf_put_str(&s->buf, rows[i].name);
		table_cells(s, byte_columns, ARRAY_LEN(byte_columns), &rows[i].figure);
		buf_put_str(&s->buf, "   ");
		buf_put_str(&s->buf, rows[i].remark);
		if (!isnan(rows[i].of_bytes))
			put_bytes(&s->buf, rows[i].of_bytes);
		sheet_line_end(s);
	}
}

struct stall { /* what tasks waited for */
	const char *name;
	struct figure some, full;
};

static const struct text_column pressure_columns[] = {
	COLUMN("some", 9, put_pct, some.avg, struct stall),
	COLUMN("peak", 9, put_pct, some.peak, struct stall),
	COLUMN("all", 9, put_pct, full.avg, struct stall),
	COLUMN("peak", 9, put_pct, full.peak, struct stall),
};

/* Only what something waited for. */
static void report_pressure(struct sheet *s, const struct summary_pressure *p)
{
	const struct stall rows[] = {
		{"  for cpu", p->cpu_some_pct, p->cpu_full_pct},
		{"  for memory", p->memory_some_pct, p->memory_full_pct},
		{"  for io", p->io_some_pct, p->io_full_pct},
	};
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (!(rows[i].some.peak > 0))
			continue;
		if (!any) {
			sheet_text(s, "");
			table_head(s, "tasks that waited", pressure_columns,
			           ARRAY_LEN(pressure_columns));
			any = true;
		}
		buf_put_str(&s->buf, rows[i].name);
		table_cells(s, pressure_columns, ARRAY_LEN(pressure_columns), &rows[i]);
		sheet_line_end(s);
	}
}

void report_machine(struct sheet *s, const struct galvo_summary *sum)
{
	report_cpu(s, &sum->cpu);
	report_memory(s, &sum->memory,
	              sum->workload.state == WORKLOAD_NONE ? NAN : sum->workload.max_rss_bytes);
	report_pressure(s, &sum->pressure);
}
