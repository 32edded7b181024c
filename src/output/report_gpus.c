/* The report's section on GPUs: a row each in tables of what they did. */
#include <math.h>

#include "output.h"

#define GPUS_MAX 16 /* JSON has all */

/* What a line shows: the columns want doubles side by side. */
struct gpu_row {
	double utilization_pct, idle_pct, sm_pct, tensor_pct, dram_pct, memory_bytes, capacity_bytes;
	double power_watts, peak_watts, limit_watts, energy_joules, integral_joules, hottest_celsius;
	double throttled_pct;
	double clock_hz, warps, dram_read_pct, dram_write_pct;
	double pcie_rx_bytes, pcie_tx_bytes, nvlink_rx_bytes, nvlink_tx_bytes;
};
#define CELL(head, width, put, member) COLUMN(head, width, put, member, struct gpu_row)

static const struct text_column use_columns[] = {
	CELL("util", 8, put_pct, utilization_pct), CELL("idle", 8, put_pct, idle_pct),
	CELL("SM", 8, put_pct, sm_pct), CELL("tensor", 8, put_pct, tensor_pct),
	CELL("DRAM", 8, put_pct, dram_pct), CELL("memory", 9, put_bytes, memory_bytes),
	CELL("of", 9, put_bytes, capacity_bytes),
};

static const struct text_column power_columns[] = {
	CELL("average", 8, put_watts, power_watts), CELL("peak", 8, put_watts, peak_watts),
	CELL("limit", 8, put_watts, limit_watts), CELL("energy", 8, put_joules, energy_joules),
	CELL("by power", 9, put_joules, integral_joules),
	CELL("hottest", 8, put_celsius, hottest_celsius),
	CELL("throttled", 10, put_pct, throttled_pct),
};

static const struct text_column traffic_columns[] = {
	CELL("SM clock", 9, put_hz, clock_hz), CELL("warps", 6, put_decimal, warps),
	CELL("DRAM rd", 8, put_pct, dram_read_pct), CELL("wr", 8, put_pct, dram_write_pct),
	CELL("PCIe in", 8, put_short_bytes, pcie_rx_bytes),
	CELL("out", 6, put_short_bytes, pcie_tx_bytes),
	CELL("NVL in", 8, put_short_bytes, nvlink_rx_bytes),
	CELL("out", 6, put_short_bytes, nvlink_tx_bytes),
};

static double first_known(double a, double b)
{
	return isnan(a) ? b : a;
}

static struct gpu_row row_of(const struct summary_gpu *g)
{
	const struct summary_counters *c = &g->counters;

	return (struct gpu_row){
		.utilization_pct = g->utilization_pct.avg, .idle_pct = 100 * g->idle.avg,
		.sm_pct = c->sm_busy_pct.avg, .tensor_pct = c->tensor_pct.avg,
		.dram_pct = c->dram_pct.avg, .memory_bytes = g->memory_used_bytes.peak,
		.capacity_bytes = g->memory_bytes,
		.power_watts = first_known(g->power_watts.avg, g->power_instant_watts.avg),
		.peak_watts = fmax(g->power_watts.peak, g->power_instant_watts.peak),
		.limit_watts = g->power_limit_watts.avg,
		.energy_joules = g->energy.counter.amount,
		.integral_joules = g->energy.integral_joules,
		.hottest_celsius = g->temperature_celsius.peak,
		.throttled_pct = 100 * g->throttled.avg,
		.clock_hz = first_known(c->sm_clock_hz.avg, g->clock_sm_hz.avg),
		.warps = c->warps_per_sm.avg, .dram_read_pct = c->dram_read_pct.avg,
		.dram_write_pct = c->dram_write_pct.avg,
		.pcie_rx_bytes = first_known(c->pcie_rx_bytes_per_s.total, g->pcie_rx_bytes_per_s.total),
		.pcie_tx_bytes = first_known(c->pcie_tx_bytes_per_s.total, g->pcie_tx_bytes_per_s.total),
		.nvlink_rx_bytes = first_known(c->nvlink_rx_bytes_per_s.total,
		                               g->nvlink_rx_bytes_per_s.total),
		.nvlink_tx_bytes = first_known(c->nvlink_tx_bytes_per_s.total,
		                               g->nvlink_tx_bytes_per_s.total)};
}

void put_gpu_index(struct buf *b, const char *before, const struct summary_gpu *g)
{
	buf_printf(b, "%s%s%u", before, g->has_cuda_index ? "cuda " : "", (unsigned)g->info->index);
}

/* Who made it is left out where all of them say it: "H100 80GB HBM3". */
static void put_name(struct sheet *s, const struct summary_gpu *g)
{
	static const char maker[] = "NVIDIA ", mark[] = " MIG ";
	struct span name = span_str(g->info->name);
	const char *profile;

	if (span_starts(name, maker))
		name = span_of(name.p + strlen(maker), name.n - strlen(maker));
	if (g->parent == SIZE_MAX) {
		put_gpu_index(&s->buf, "  ", g);
		buf_put_str(&s->buf, " ");
		buf_put_escaped(&s->buf, name);
		return;
	}
	/* "NVIDIA H100 80GB HBM3 MIG 1g.10gb" */
	profile = strstr(g->info->name, mark);
	buf_put_str(&s->buf, "    MIG ");
	if (profile) {
		sheet_escaped(s, profile + strlen(mark));
		buf_put_str(&s->buf, " ");
	}
	buf_printf(&s->buf, "%u/%u", (unsigned)g->info->gpu_instance,
	           (unsigned)g->info->compute_instance);
}

/* Instances have a line in those tables alone that know anything of them. */
static bool is_listed(const struct summary_gpu *g, const struct text_column *columns, size_t n,
                      const struct gpu_row *row)
{
	bool is_known = g->parent == SIZE_MAX;
	size_t i;

	for (i = 0; i < n && !is_known; i++) {
		double v;

		memcpy(&v, (const char *)row + columns[i].offset, sizeof(v));
		is_known = !isnan(v);
	}
	return is_known;
}

/* Those columns that any row has a value for. */
static size_t known_columns(const struct text_column *columns, size_t n, const struct gpu_row *rows,
                            size_t rows_len, struct text_column *ret)
{
	size_t known = 0, i, k;

	for (i = 0; i < n; i++) {
		double v = NAN;

		for (k = 0; k < rows_len && isnan(v); k++)
			memcpy(&v, (const char *)&rows[k] + columns[i].offset, sizeof(v));
		if (!isnan(v))
			ret[known++] = columns[i];
	}
	return known;
}

/* What cannot be added up is left out. */
static void put_total(struct sheet *s, const struct text_column *columns, size_t n,
                      const struct gpu_row *total)
{
	size_t at = NAME_COLUMNS, i;

	buf_put_str(&s->buf, "  total");
	sheet_column(s, at);
	for (i = 0; i < n; i++) {
		double v;

		memcpy(&v, (const char *)total + columns[i].offset, sizeof(v));
		at += columns[i].width;
		if (isnan(v))
			sheet_column(s, at);
		else
			sheet_cell(s, columns[i].width, columns[i].put, v);
	}
	sheet_line_end(s);
}

/* A total is worth a line only if it sums something; NULL: there is none. */
static void gpu_table(struct sheet *s, const struct galvo_summary *sum, const char *title,
                      const struct text_column *all, size_t all_len, const struct gpu_row *rows,
                      const struct gpu_row *total)
{
	struct text_column columns[ARRAY_LEN(traffic_columns)];
	size_t n = known_columns(all, all_len, rows, sum->gpus_len, columns), shown = 0, left = 0, i;

	if (n == 0)
		return;
	sheet_text(s, "");
	table_head(s, title, columns, n);
	for (i = 0; i < sum->gpus_len; i++) {
		if (!is_listed(&sum->gpus[i], columns, n, &rows[i]))
			continue;
		if (shown == GPUS_MAX) {
			left++;
			continue;
		}
		shown++;
		put_name(s, &sum->gpus[i]);
		table_cells(s, columns, n, &rows[i]);
		sheet_line_end(s);
	}
	if (left) {
		buf_printf(&s->buf, "  \xe2\x80\xa6 and %zu more", left);
		sheet_line_end(s);
	}
	if (total && sum->gpu_totals.gpus > 1)
		put_total(s, columns, n, total);
}

static struct gpu_row no_total(void)
{
	struct gpu_row row;
	double *cells = (double *)&row;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(*cells); i++)
		cells[i] = NAN;
	return row;
}

void report_gpus(struct sheet *s, const struct galvo_summary *sum)
{
	struct gpu_row *rows = alloc_array(sum->gpus_len, sizeof(*rows));
	struct gpu_row memory = no_total(), energy = no_total();
	size_t i;

	if (!rows) {
		s->status = GALVO_ERR_NOMEM;
		return;
	}
	for (i = 0; i < sum->gpus_len; i++)
		rows[i] = row_of(&sum->gpus[i]);
	memory.memory_bytes = sum->gpu_totals.memory_peak_bytes;
	memory.capacity_bytes = sum->gpu_totals.memory_bytes;
	energy.power_watts = sum->gpu_totals.power_watts;
	energy.energy_joules = sum->gpu_totals.energy_joules;
	energy.integral_joules = sum->gpu_totals.integral_joules;
	gpu_table(s, sum, "gpus", use_columns, ARRAY_LEN(use_columns), rows, &memory);
	gpu_table(s, sum, "gpu power", power_columns, ARRAY_LEN(power_columns), rows, &energy);
	gpu_table(s, sum, "gpu traffic", traffic_columns, ARRAY_LEN(traffic_columns), rows, NULL);
	free(rows);
	report_gpu_processes(s, sum);
	report_gpu_remarks(s, sum);
}
