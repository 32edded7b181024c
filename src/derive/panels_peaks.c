/* Lines across panels: what there is at most, as the machine, its GPUs or the catalog tell. */
#include <math.h>

#include "panels_parts.h"

/* Once for each value: eight GPUs of one kind have one limit. */
static galvo_status peak_add(struct panel_maker *m, struct panel *p, double value, const char *label,
                             galvo_error *reterr)
{
	size_t i;

	if (!label)
		return panels_no_memory(reterr);
	if (!(value > 0) || !isfinite(value) || p->peaks_len == PEAKS_MAX)
		return GALVO_OK;
	for (i = 0; i < p->peaks_len; i++)
		if (!(p->peaks[i].value < value) && !(p->peaks[i].value > value))
			return GALVO_OK;
	if (!p->peaks)
		p->peaks = panels_alloc(m->memory, PEAKS_MAX, sizeof(*p->peaks));
	if (!p->peaks)
		return panels_no_memory(reterr);
	p->peaks[p->peaks_len++] = (struct panel_peak){label, value};
	return GALVO_OK;
}

/* ---- of GPUs --------------------------------------------------------------------------------- */

static double of_gpu(const struct summary_gpu *g, enum panel_limit limit)
{
	switch (limit) {
	case LIMIT_GPU_MEMORY: return g->memory_bytes;
	case LIMIT_GPU_POWER: return g->power_limit_watts.peak;
	case LIMIT_GPU_CLOCK: return g->clock_sm_max_hz.peak;
	case LIMIT_GPU_MEMORY_CLOCK: return g->clock_memory_max_hz.peak;
	case LIMIT_GPU_PCIE: return g->info->peak_pcie_bytes_per_s;
	case LIMIT_GPU_NVLINK: return g->info->peak_nvlink_bytes_per_s;
	case LIMIT_GPU_DRAM: return g->info->peak_dram_bytes_per_s;
	case LIMIT_NONE:
	case LIMIT_CPUS:
	case LIMIT_CPUS_PCT:
	case LIMIT_MEMORY:
	case LIMIT_SWAP:
	case LIMIT_GPUS: break;
	}
	return NAN;
}

static const char *noun_of(enum panel_limit limit)
{
	switch (limit) {
	case LIMIT_GPU_MEMORY: return "capacity";
	case LIMIT_GPU_POWER: return "power limit";
	case LIMIT_GPU_CLOCK:
	case LIMIT_GPU_MEMORY_CLOCK: return "highest clock";
	case LIMIT_GPU_PCIE: return "PCIe";
	case LIMIT_GPU_NVLINK: return "NVLink";
	case LIMIT_GPU_DRAM: return "memory bandwidth";
	case LIMIT_NONE:
	case LIMIT_CPUS:
	case LIMIT_CPUS_PCT:
	case LIMIT_MEMORY:
	case LIMIT_SWAP:
	case LIMIT_GPUS: break;
	}
	return "limit";
}

static const char *gpu_label(struct panel_maker *m, enum panel_limit limit, size_t gpu)
{
	buf_printf(&m->text, "%s of ", noun_of(limit));
	if (gpu == SIZE_MAX)
		buf_put_str(&m->text, "each GPU");
	else
		put_gpu_label(m, &m->text, gpu);
	return panels_text(m->memory, &m->text);
}

galvo_status panel_gpu_peaks(struct panel_maker *m, struct panel *panel,
                             const enum panel_limit *limits, size_t n, size_t gpu,
                             galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < n && status == GALVO_OK; i++)
		status = peak_add(m, panel, of_gpu(&m->summary->gpus[gpu], limits[i]),
		                  gpu_label(m, limits[i], gpu), reterr);
	return status;
}

/* Those that are shown; said of each of them where it is one number. */
static galvo_status gpu_peaks(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	const enum panel_limit limit = d->rule->limit;
	const struct summary_gpu *gpus = m->summary->gpus;
	double first = NAN;
	galvo_status status = GALVO_OK;
	bool is_one = d->shown_len > 1;
	size_t i;

	for (i = 0; i < d->shown_len; i++) {
		double v = of_gpu(&gpus[m->gpu_place[d->things[i]]], limit);

		first = i ? first : v;
		is_one = is_one && !(v < first) && !(v > first) && !isnan(v);
	}
	if (is_one)
		return peak_add(m, &d->panel, first, gpu_label(m, limit, SIZE_MAX), reterr);
	for (i = 0; i < d->shown_len && status == GALVO_OK; i++)
		status = panel_gpu_peaks(m, &d->panel, &limit, 1, m->gpu_place[d->things[i]], reterr);
	return status;
}

/* ---- of the machine -------------------------------------------------------------------------- */

static galvo_status machine_peaks(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	const struct galvo_summary *s = m->summary;

	switch (d->rule->limit) {
	case LIMIT_CPUS:
	case LIMIT_CPUS_PCT:
		buf_printf(&m->text, s->cpu_count == 1 ? "the only CPU" : "all %u CPUs",
		           (unsigned)s->cpu_count);
		return peak_add(m, &d->panel,
		                (d->rule->limit == LIMIT_CPUS ? 1 : 100) * (double)s->cpu_count,
		                panels_text(m->memory, &m->text), reterr);
	case LIMIT_MEMORY:
		return peak_add(m, &d->panel, s->memory.capacity_bytes.peak, "capacity", reterr);
	case LIMIT_SWAP:
		return peak_add(m, &d->panel, s->memory.swap_capacity_bytes.peak, "capacity", reterr);
	case LIMIT_GPUS:
		return peak_add(m, &d->panel, s->gpu_totals.memory_bytes,
		                s->gpu_totals.gpus > 1 ? "capacity of all GPUs" : "capacity", reterr);
	case LIMIT_NONE: return GALVO_OK;
	case LIMIT_GPU_MEMORY:
	case LIMIT_GPU_POWER:
	case LIMIT_GPU_CLOCK:
	case LIMIT_GPU_MEMORY_CLOCK:
	case LIMIT_GPU_PCIE:
	case LIMIT_GPU_NVLINK:
	case LIMIT_GPU_DRAM: break;
	}
	return gpu_peaks(m, d, reterr);
}

/* ---- of the catalog -------------------------------------------------------------------------- */

/* The highest value of a column that holds a limit. */
static galvo_status told_in(struct draft *d, const char *name, double *ret, galvo_error *reterr)
{
	const size_t column = table_column(d->feed->ledger.table, name);
	const struct figure *figures;
	galvo_status status;
	size_t i;

	*ret = NAN;
	if (column == SIZE_MAX)
		return GALVO_OK;
	status = feed_figures(d->feed, column, true, &figures, reterr);
	for (i = 0; i < d->shown_len && status == GALVO_OK; i++)
		*ret = fmax(*ret, figures[d->things[i]].peak);
	return status;
}

static galvo_status catalog_peaks(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < d->columns_len && status == GALVO_OK; i++) {
		const char *name = d->feed->ledger.table->columns[d->columns[i].column];
		const struct session_metric *metric = panels_metric(m->run, name);
		double value;

		if (!metric)
			continue;
		value = metric->peak;
		if (metric->peak_ref)
			status = told_in(d, metric->peak_ref, &value, reterr);
		/* At the top of the axis there is nothing to be seen of it. */
		if (status != GALVO_OK || !(value > 0) || value >= d->panel.ceiling)
			continue;
		put_clipped(&m->text, span_str(metric->peak_ref ? metric->peak_ref : name));
		if (!metric->peak_ref)
			buf_put_str(&m->text, " at most");
		status = peak_add(m, &d->panel, value, panels_text(m->memory, &m->text), reterr);
	}
	return status;
}

galvo_status panel_peaks(struct panel_maker *m, struct draft *d, galvo_error *reterr)
{
	galvo_status status = machine_peaks(m, d, reterr);

	return status == GALVO_OK ? catalog_peaks(m, d, reterr) : status;
}
