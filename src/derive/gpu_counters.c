/* Hardware counters of GPUs: shares as ratios of sums, amounts over the time that samples cover. */
#include <math.h>

#include "gpu.h"

#define AT(member) offsetof(struct summary_counters, member)
#define SHARE(name) name ".pct_of_peak_sustained_elapsed"
#define SM_ELAPSED "sm__cycles_elapsed.avg"
#define TENSOR "sm__pipe_tensor_cycles_active"

static double one(const struct gpu_info *g)
{
	(void)g;
	return 1;
}

static double percent(const struct gpu_info *g)
{
	(void)g;
	return 100;
}

static double of_warps(const struct gpu_info *g)
{
	return g->warps_per_sm ? 100 / (double)g->warps_per_sm : NAN;
}

static double of_dram(const struct gpu_info *g)
{
	return 100 / g->peak_dram_bytes_per_s;
}

static double dram_bytes(const struct gpu_info *g)
{
	return g->peak_dram_bytes_per_s / 100;
}

/* A figure from columns. Of several ways the first that gives a value is taken. */
struct way {
	size_t figure;
	enum counter_form form;
	const char *column, *plus; /* plus: NULL if it is one */
	const char *over;          /* of OVER_COLUMN */
	double (*factor)(const struct gpu_info *);
};

static const struct way ways[] = {
	{AT(gr_busy_pct), OVER_COLUMN, "gr__cycles_active.avg", NULL, "gr__cycles_elapsed.avg",
	 percent},
	{AT(gr_busy_pct), OVER_TIME, SHARE("gr__cycles_active.avg"), NULL, NULL, one},
	{AT(sm_busy_pct), OVER_COLUMN, "sm__cycles_active.avg", NULL, SM_ELAPSED, percent},
	{AT(sm_busy_pct), OVER_TIME, SHARE("sm__cycles_active.avg"), NULL, NULL, one},
	{AT(tensor_pct), OVER_COLUMN, TENSOR ".avg", NULL, SM_ELAPSED, percent},
	{AT(tensor_pct), OVER_COLUMN, TENSOR "_realtime.avg", NULL, SM_ELAPSED, percent},
	{AT(tensor_pct), OVER_TIME, SHARE(TENSOR ".avg"), NULL, NULL, one},
	{AT(tensor_pct), OVER_TIME, SHARE(TENSOR "_realtime.avg"), NULL, NULL, one},
	{AT(warps_per_sm), OVER_COLUMN, "sm__warps_active.avg", NULL, SM_ELAPSED, one},
	{AT(warps_per_sm), OVER_TIME, "sm__warps_active.avg.per_cycle_elapsed", NULL, NULL, one},
	{AT(occupancy_pct), OVER_COLUMN, "sm__warps_active.avg", NULL, SM_ELAPSED, of_warps},
	{AT(occupancy_pct), OVER_TIME, SHARE("sm__warps_active.avg"), NULL, NULL, one},
	{AT(dram_pct), OVER_TIME, SHARE("dram__read_throughput.avg"),
	 SHARE("dram__write_throughput.avg"), NULL, one},
	{AT(dram_pct), OVER_TIME, SHARE("dram__throughput.avg"), NULL, NULL, one},
	{AT(dram_pct), AMOUNT, "dram__bytes_read.sum", "dram__bytes_write.sum", NULL, of_dram},
	{AT(dram_pct), OVER_TIME, "dram__bytes_read.sum.per_second",
	 "dram__bytes_write.sum.per_second", NULL, of_dram},
	{AT(dram_read_pct), OVER_TIME, SHARE("dram__read_throughput.avg"), NULL, NULL, one},
	{AT(dram_read_pct), AMOUNT, "dram__bytes_read.sum", NULL, NULL, of_dram},
	{AT(dram_read_pct), OVER_TIME, "dram__bytes_read.sum.per_second", NULL, NULL, of_dram},
	{AT(dram_write_pct), OVER_TIME, SHARE("dram__write_throughput.avg"), NULL, NULL, one},
	{AT(dram_write_pct), AMOUNT, "dram__bytes_write.sum", NULL, NULL, of_dram},
	{AT(dram_write_pct), OVER_TIME, "dram__bytes_write.sum.per_second", NULL, NULL, of_dram},
	{AT(dram_read_bytes_per_s), AMOUNT, "dram__bytes_read.sum", NULL, NULL, one},
	{AT(dram_read_bytes_per_s), OVER_TIME, "dram__bytes_read.sum.per_second", NULL, NULL, one},
	{AT(dram_read_bytes_per_s), OVER_TIME, SHARE("dram__read_throughput.avg"), NULL, NULL,
	 dram_bytes},
	{AT(dram_write_bytes_per_s), AMOUNT, "dram__bytes_write.sum", NULL, NULL, one},
	{AT(dram_write_bytes_per_s), OVER_TIME, "dram__bytes_write.sum.per_second", NULL, NULL, one},
	{AT(dram_write_bytes_per_s), OVER_TIME, SHARE("dram__write_throughput.avg"), NULL, NULL,
	 dram_bytes},
	{AT(pcie_rx_bytes_per_s), AMOUNT, "pcie__read_bytes.sum", NULL, NULL, one},
	{AT(pcie_rx_bytes_per_s), OVER_TIME, "pcie__read_bytes.sum.per_second", NULL, NULL, one},
	{AT(pcie_tx_bytes_per_s), AMOUNT, "pcie__write_bytes.sum", NULL, NULL, one},
	{AT(pcie_tx_bytes_per_s), OVER_TIME, "pcie__write_bytes.sum.per_second", NULL, NULL, one},
	{AT(pcie_pct), OVER_TIME, SHARE("pcie__throughput.avg"), NULL, NULL, one},
	{AT(nvlink_rx_bytes_per_s), AMOUNT, "nvlrx__bytes.sum", NULL, NULL, one},
	{AT(nvlink_rx_bytes_per_s), OVER_TIME, "nvlrx__bytes.sum.per_second", NULL, NULL, one},
	{AT(nvlink_tx_bytes_per_s), AMOUNT, "nvltx__bytes.sum", NULL, NULL, one},
	{AT(nvlink_tx_bytes_per_s), OVER_TIME, "nvltx__bytes.sum.per_second", NULL, NULL, one},
	{AT(sm_clock_hz), OVER_TIME, "gpc__cycles_elapsed.avg.per_second", NULL, NULL, one},
	{AT(sm_clock_hz), OVER_TIME, SM_ELAPSED ".per_second", NULL, NULL, one},
	{AT(sm_clock_hz), AMOUNT, SM_ELAPSED, NULL, NULL, one},
};

static const struct way of_imbalance = {
	0, OVER_COLUMN, "sm__cycles_active.max", NULL, "sm__cycles_active.avg", one};

/* ---- what a sample covers ------------------------------------------------------------------- */

struct cover {
	uint64_t from_ns, to_ns; /* where no sample before it covered */
	double s, length_s;      /* of that; of the whole sample */
};

static struct counter_walk walk_begin(const struct galvo_run *run, size_t gpu)
{
	const struct run_gpu *g = &run->gpus[gpu];

	return (struct counter_walk){.start_mono_ns = run->session ? run->session->start_mono_ns : 0,
	                     .interval_ns = g->has_decode ? g->decode.interval_ns : 0};
}

/* Where nobody tells its length, a sample covers the time since the one before, but no gap. */
static uint64_t length_of(const struct counter_walk *w, const struct table *t, size_t row)
{
	uint64_t told_ns = t->duration_ns ? t->duration_ns[row] : 0, since_ns;

	if (told_ns || w->interval_ns)
		return told_ns ? told_ns : w->interval_ns;
	since_ns = w->last_mono_ns ? t->mono_ns[row] - w->last_mono_ns : 0;
	if (w->last_length_ns && since_ns / GAP_FACTOR > w->last_length_ns)
		return w->last_length_ns;
	return since_ns;
}

/* Rows come in order of time. False: it covers nothing that was not covered. */
static bool walk_on(struct counter_walk *w, const struct table *t, size_t row, struct cover *ret)
{
	uint64_t to_ns = t->mono_ns[row], length_ns = length_of(w, t, row);
	uint64_t from_ns = w->start_mono_ns > w->last_mono_ns ? w->start_mono_ns : w->last_mono_ns;

	if (to_ns > from_ns && length_ns < to_ns - from_ns)
		from_ns = to_ns - length_ns;
	*ret = (struct cover){.from_ns = from_ns, .to_ns = to_ns,
	                      .length_s = (double)length_ns / (double)NS_PER_S};
	w->last_mono_ns = to_ns;
	w->last_length_ns = length_ns;
	if (to_ns <= from_ns || length_ns == 0)
		return false;
	ret->s = (double)(to_ns - from_ns) / (double)NS_PER_S;
	return true;
}

/* ---- ways ----------------------------------------------------------------------------------- */

/* Some names have a unit and a group in front: "TPC.TriageCompute.sm__…". */
static size_t find(const struct table *t, const char *name)
{
	size_t c = name ? table_column(t, name) : SIZE_MAX, n = name ? strlen(name) : 0, i;

	for (i = 0; c == SIZE_MAX && name && i < t->columns_len; i++) {
		size_t length = strlen(t->columns[i]);

		if (length > n && t->columns[i][length - n - 1] == '.' &&
		    !strcmp(t->columns[i] + length - n, name))
			c = i;
	}
	return c;
}

static bool way_find(const struct table *t, const struct way *w, struct counter_value *ret)
{
	*ret = (struct counter_value){.form = w->form, .column = find(t, w->column),
	                              .plus = find(t, w->plus), .over = find(t, w->over)};
	return ret->column != SIZE_MAX && (ret->plus != SIZE_MAX || !w->plus) &&
	       (ret->over != SIZE_MAX || !w->over);
}

/* False: the row has no value. *ret_over: 1 if it is over no column. */
static bool value_at(const struct table *t, const struct counter_value *c, size_t row, double *ret,
                     double *ret_over)
{
	*ret = t->values[c->column][row];
	if (c->plus != SIZE_MAX)
		*ret += t->values[c->plus][row];
	*ret_over = c->over != SIZE_MAX ? t->values[c->over][row] : 1;
	return isfinite(*ret) && *ret >= 0 && isfinite(*ret_over) && *ret_over > 0;
}

/* What a row adds to the two sums of its figure; false: nothing. */
static bool way_take(const struct table *t, const struct counter_value *c, size_t row,
                     const struct cover *cover, double *ret_part, double *ret_whole)
{
	double share = cover->s / cover->length_s, v, over;

	if (!value_at(t, c, row, &v, &over))
		return false;
	*ret_part = c->form == OVER_TIME ? v * cover->s : v * share;
	*ret_whole = c->form == OVER_COLUMN ? over * share : cover->s;
	return true;
}

struct tally {
	double part, whole;
	double window_part, window_whole, window_s, peak;
};

static void tally_add(struct tally *t, double part, double whole, double s)
{
	t->part += part;
	t->whole += whole;
	t->window_part += part;
	t->window_whole += whole;
	t->window_s += s;
	if (t->window_s < 0.95 * (double)PEAK_WINDOW_NS / (double)NS_PER_S)
		return;
	if (isnan(t->peak) || t->window_part / t->window_whole > t->peak)
		t->peak = t->window_part / t->window_whole;
	t->window_part = t->window_whole = t->window_s = 0;
}

static struct figure way_figure(const struct way *w, const struct gpu_rows *r,
                                const struct galvo_run *run, size_t gpu)
{
	double factor = w->factor(&run->gpus[gpu].info), part, whole;
	struct counter_walk walk = walk_begin(run, gpu);
	struct tally tally = {.peak = NAN};
	struct cover cover;
	struct counter_value c;
	const size_t *rows;
	size_t n, i;

	if (!way_find(r->table, w, &c) || !isfinite(factor))
		return figure_none;
	rows = gpu_rows_of(r, gpu, &n);
	for (i = 0; i < n; i++)
		if (walk_on(&walk, r->table, rows[i], &cover) &&
		    way_take(r->table, &c, rows[i], &cover, &part, &whole))
			tally_add(&tally, part, whole, cover.s);
	if (!(tally.whole > 0))
		return figure_none;
	return (struct figure){.avg = factor * tally.part / tally.whole, .peak = factor * tally.peak,
	                       .total = w->form == OVER_COLUMN ? NAN : factor * tally.part};
}

galvo_status gpu_counter_sum(const struct gpu_rows *r, const struct galvo_run *run, size_t gpu,
                             enum gpu_share share, struct gpu_sum *ret, galvo_error *reterr)
{
	size_t figure = share == SHARE_TENSOR ? AT(tensor_pct) : AT(sm_busy_pct), n, i, k;
	const size_t *rows = gpu_rows_of(r, gpu, &n);
	galvo_status status = GALVO_OK;
	struct counter_value c;

	*ret = (struct gpu_sum){0};
	for (k = 0; k < ARRAY_LEN(ways) && n && status == GALVO_OK && !ret->part.len; k++) {
		double part, whole, parts = 0, wholes = 0;
		struct counter_walk walk = walk_begin(run, gpu);
		/* Of what is in percent the sum of percents over that of their weights; cycles alike. */
		double scale = ways[k].factor(&run->gpus[gpu].info) / 100;
		struct cover cover;

		if (ways[k].figure != figure || !way_find(r->table, &ways[k], &c))
			continue;
		gpu_sum_finish(ret);
		status = line_make(&ret->part, 2 * n, reterr);
		if (status == GALVO_OK)
			status = line_make(&ret->whole, 2 * n, reterr);
		for (i = 0; status == GALVO_OK && i < n; i++) {
			if (!walk_on(&walk, r->table, rows[i], &cover) ||
			    !way_take(r->table, &c, rows[i], &cover, &part, &whole))
				continue;
			if (!ret->part.len || cover.from_ns > ret->part.mono_ns[ret->part.len - 1]) {
				line_add(&ret->part, cover.from_ns, parts);
				line_add(&ret->whole, cover.from_ns, wholes);
			}
			line_add(&ret->part, cover.to_ns, parts += scale * part);
			line_add(&ret->whole, cover.to_ns, wholes += whole);
		}
	}
	return status;
}

/* ---- a sample at a time ---------------------------------------------------------------------- */

bool gpu_counter_find(const struct gpu_rows *r, const struct galvo_run *run, size_t gpu,
                      size_t figure, struct counter_value *ret)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(ways); i++)
		if (ways[i].figure == figure && way_find(r->table, &ways[i], ret) &&
		    !isnan(way_figure(&ways[i], r, run, gpu).avg)) {
			ret->factor = ways[i].factor(&run->gpus[gpu].info);
			return true;
		}
	return false;
}

struct counter_samples gpu_samples_begin(const struct gpu_rows *r, const struct galvo_run *run,
                                         size_t gpu)
{
	return (struct counter_samples){.rows = r, .gpu = gpu, .walk = walk_begin(run, gpu)};
}

bool gpu_samples_next(struct counter_samples *x, const struct counter_value *c,
                      struct counter_sample *ret)
{
	const struct table *t = x->rows->table;
	struct cover cover;
	double v, over;
	size_t n;
	const size_t *rows = gpu_rows_of(x->rows, x->gpu, &n);

	while (x->at < n) {
		size_t row = rows[x->at++];

		if (!walk_on(&x->walk, t, row, &cover) || !value_at(t, c, row, &v, &over))
			continue;
		if (c->form == OVER_COLUMN)
			v /= over;
		else if (c->form == AMOUNT)
			v /= cover.length_s;
		*ret = (struct counter_sample){cover.from_ns, cover.to_ns, c->factor * v};
		if (isfinite(ret->value))
			return true;
	}
	return false;
}

/* ---- one by one ----------------------------------------------------------------------------- */

static void derive_figures(struct summary_counters *c, const struct gpu_rows *r,
                           const struct galvo_run *run, size_t gpu)
{
	struct counter_walk walk = walk_begin(run, gpu);
	struct cover cover;
	size_t n, i;
	const size_t *rows = gpu_rows_of(r, gpu, &n);

	for (i = 0; i < ARRAY_LEN(ways); i++) {
		struct figure f;

		memcpy(&f, (char *)c + ways[i].figure, sizeof(f));
		if (!isnan(f.avg))
			continue;
		f = n ? way_figure(&ways[i], r, run, gpu) : figure_none;
		memcpy((char *)c + ways[i].figure, &f, sizeof(f));
	}
	if (!n)
		return;
	c->samples = n;
	c->covered_s = 0;
	for (i = 0; i < n; i++)
		if (walk_on(&walk, r->table, rows[i], &cover))
			c->covered_s += cover.s;
	c->sm_imbalance_ratio = way_figure(&of_imbalance, r, run, gpu).avg - 1;
}

static void derive_one(struct summary_counters *c, const struct gpu_rows *r,
                       const struct galvo_run *run, size_t gpu, double recorded_s)
{
	const struct run_gpu *g = &run->gpus[gpu];
	size_t i;

	*c = (struct summary_counters){.covered_s = NAN, .covered_pct = NAN, .missing_s = NAN,
	                               .missing_pct = NAN, .sm_imbalance_ratio = NAN};
	for (i = 0; i < ARRAY_LEN(ways); i++)
		memcpy((char *)c + ways[i].figure, &figure_none, sizeof(figure_none));
	derive_figures(c, r, run, gpu);
	c->asked = g->has_decode || c->samples;
	if (g->has_decode) {
		c->decode = &g->decode;
		c->missing_s = (double)g->decode.missing_ns / (double)NS_PER_S;
	}
	if (!(recorded_s > 0))
		return;
	c->covered_pct = 100 * c->covered_s / recorded_s;
	c->missing_pct = 100 * c->missing_s / recorded_s;
}

galvo_status gpu_counters_derive(struct galvo_summary *s, const struct galvo_run *run,
                                 galvo_error *reterr)
{
	struct gpu_rows r;
	galvo_status status = gpu_rows_init(&r, run, STREAM_GPU, SCOPE_GPU, reterr);
	size_t i;

	for (i = 0; status == GALVO_OK && i < s->gpus_len; i++)
		derive_one(&s->gpus[i].counters, &r, run, s->gpus[i].number, s->recorded_s);
	gpu_rows_finish(&r);
	return status;
}
