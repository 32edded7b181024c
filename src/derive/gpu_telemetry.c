/* Telemetry of GPUs: means, peaks and sums of its columns, and of what several of them say together. */
#include <math.h>

#include "gpu.h"

#define AT(member) offsetof(struct summary_gpu, member)
#define PERCENT 0.01 /* percent of a GPU, times seconds, to seconds of a whole one */
#define RATE(name) name ".sum.per_second"
#define THROTTLE(reason) "gpu__throttle_" reason ".ratio"

/* Columns that are made here of those that are there: 1 or 0, NaN where nobody knows. */
enum made { MADE_COVERED, MADE_IDLE, MADE_BUSY, MADE_THROTTLED, MADE_END };

static const char *const made_names[MADE_END] = {
	[MADE_COVERED] = "covered", [MADE_IDLE] = "idle", [MADE_BUSY] = "busy",
	[MADE_THROTTLED] = "throttled",
};

static const char *const throttle_columns[THROTTLES] = {
	[THROTTLE_IDLE] = THROTTLE("idle"),
	[THROTTLE_APP_CLOCKS] = THROTTLE("app_clocks"),
	[THROTTLE_SW_POWER_CAP] = THROTTLE("sw_power_cap"),
	[THROTTLE_HW_SLOWDOWN] = THROTTLE("hw_slowdown"),
	[THROTTLE_SYNC_BOOST] = THROTTLE("sync_boost"),
	[THROTTLE_SW_THERMAL] = THROTTLE("sw_thermal"),
	[THROTTLE_HW_THERMAL] = THROTTLE("hw_thermal"),
	[THROTTLE_HW_POWER_BRAKE] = THROTTLE("hw_power_brake"),
};

static const struct figure_row fast[] = {
	{"gpu__utilization.pct", .total_scale = PERCENT, .offset = AT(utilization_pct)},
	{"idle", .offset = AT(idle)},
	{"busy", .offset = AT(busy)},
	{"throttled", .offset = AT(throttled)},
	{"gpu__memory_utilization.pct", .offset = AT(memory_utilization_pct)},
	{"gpu__encoder_utilization.pct", .offset = AT(encoder_pct)},
	{"gpu__decoder_utilization.pct", .offset = AT(decoder_pct)},
	{"gpu__memory_used_bytes", .is_level = true, .offset = AT(memory_used_bytes)},
	{"gpu__memory_reserved_bytes", .is_level = true, .offset = AT(memory_reserved_bytes)},
	{"gpu__memory_total_bytes", .is_level = true, .offset = AT(memory_total_bytes)},
	{"gpu__power_watts", .is_level = true, .offset = AT(power_watts)},
	{"gpu__power_instant_watts", .is_level = true, .offset = AT(power_instant_watts)},
	{"gpu__power_limit_watts", .is_level = true, .offset = AT(power_limit_watts)},
	{"gpu__temperature_celsius", .is_level = true, .offset = AT(temperature_celsius)},
	{"gpu__memory_temperature_celsius", .is_level = true,
	 .offset = AT(memory_temperature_celsius)},
	{"gpu__clock_graphics_hz", .is_level = true, .offset = AT(clock_graphics_hz)},
	{"gpu__clock_sm_hz", .is_level = true, .offset = AT(clock_sm_hz)},
	{"gpu__clock_memory_hz", .is_level = true, .offset = AT(clock_memory_hz)},
	{"gpu__clock_video_hz", .is_level = true, .offset = AT(clock_video_hz)},
	{RATE("gpu__pcie_rx_bytes"), .offset = AT(pcie_rx_bytes_per_s)},
	{RATE("gpu__pcie_tx_bytes"), .offset = AT(pcie_tx_bytes_per_s)},
	{RATE("gpu__nvlink_rx_bytes"), .offset = AT(nvlink_rx_bytes_per_s)},
	{RATE("gpu__nvlink_tx_bytes"), .offset = AT(nvlink_tx_bytes_per_s)},
};

static const struct figure_row slow[] = {
	{"gpu__pcie_link_generation", .is_level = true, .offset = AT(pcie_link_generation)},
	{"gpu__pcie_link_width", .is_level = true, .offset = AT(pcie_link_width)},
	{"gpu__clock_sm_max_hz", .is_level = true, .offset = AT(clock_sm_max_hz)},
	{"gpu__clock_memory_max_hz", .is_level = true, .offset = AT(clock_memory_max_hz)},
	{"gpu__processes", .is_level = true, .offset = AT(processes_count)},
};

static const struct {
	const char *column;
	double scale;
	size_t offset;
} growths[] = {
	{"gpu__throttled_power_ns", 1e-9, AT(power_throttle)},
	{"gpu__throttled_thermal_ns", 1e-9, AT(thermal_throttle)},
	{"gpu__throttled_power_brake_ns", 1e-9, AT(power_brake_throttle)},
	{"gpu__throttled_sync_boost_ns", 1e-9, AT(sync_boost_throttle)},
	{"gpu__ecc_corrected_errors", 1, AT(ecc_corrected)},
	{"gpu__ecc_uncorrected_errors", 1, AT(ecc_uncorrected)},
	{"gpu__pcie_replays", 1, AT(pcie_replays)},
};

/* ---- columns that are made ------------------------------------------------------------------ */

/* A table with more columns than the one it is made of. */
struct extended {
	struct table table;
	const char **columns;
	const double **values;
	double *made[MADE_END];
};

static void extended_finish(struct extended *x)
{
	size_t i;

	free(x->columns);
	free(x->values);
	for (i = 0; i < MADE_END; i++)
		free(x->made[i]);
}

static void make_row(struct extended *x, const struct table *t, size_t row, const size_t *throttles,
                     size_t utilization)
{
	double busy = utilization == SIZE_MAX ? NAN : t->values[utilization][row];
	double throttled = NAN, covered = NAN;
	size_t i;

	for (i = 0; i < t->columns_len && isnan(covered); i++)
		if (isfinite(t->values[i][row]))
			covered = 1;
	for (i = THROTTLE_SW_POWER_CAP; i < THROTTLES; i++) {
		double v = throttles[i] == SIZE_MAX ? NAN : t->values[throttles[i]][row];

		if (isfinite(v))
			throttled = fmax(isnan(throttled) ? 0 : throttled, v > 0);
	}
	x->made[MADE_COVERED][row] = covered;
	x->made[MADE_IDLE][row] = isfinite(busy) ? busy < GPU_IDLE_PCT : NAN;
	x->made[MADE_BUSY][row] = isfinite(busy) ? busy >= GPU_BUSY_PCT : NAN;
	x->made[MADE_THROTTLED][row] = throttled;
}

static galvo_status extend(struct extended *x, const struct table *t, galvo_error *reterr)
{
	size_t n = t->columns_len, throttles[THROTTLES], utilization, i;
	bool ok;

	*x = (struct extended){.table = *t,
	                       .columns = alloc_array(n + MADE_END, sizeof(*x->columns)),
	                       .values = alloc_array(n + MADE_END, sizeof(*x->values))};
	ok = x->columns && x->values;
	for (i = 0; ok && i < MADE_END; i++) {
		x->made[i] = alloc_array(t->rows_len, sizeof(double));
		ok = x->made[i] != NULL;
	}
	if (!ok)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu rows", t->rows_len);
	for (i = 0; i < n + MADE_END; i++) {
		x->columns[i] = i < MADE_END ? made_names[i] : t->columns[i - MADE_END];
		x->values[i] = i < MADE_END ? x->made[i] : t->values[i - MADE_END];
	}
	for (i = 0; i < THROTTLES; i++)
		throttles[i] = table_column(t, throttle_columns[i]);
	utilization = table_column(t, "gpu__utilization.pct");
	for (i = 0; i < t->rows_len; i++)
		make_row(x, t, i, throttles, utilization);
	x->table.columns = x->columns;
	x->table.values = x->values;
	x->table.columns_len = n + MADE_END;
	return GALVO_OK;
}

/* ---- the parts ------------------------------------------------------------------------------ */

static galvo_status derive_fast(struct galvo_summary *sum, const struct galvo_run *run,
                                galvo_error *reterr)
{
	static const struct figure_row covered = {"covered", .offset = 0};
	struct figure *covers = alloc_array(sum->gpus_len, sizeof(*covers));
	struct extended x = {0};
	struct ledger s = {0};
	galvo_status status = covers ? ledger_init(&s, run, STREAM_TELEMETRY, SCOPE_GPU, reterr)
	                             : err_set(reterr, GALVO_ERR_NOMEM, "no memory for GPUs");
	size_t i;

	if (status == GALVO_OK && s.table) {
		status = extend(&x, s.table, reterr);
		s.table = &x.table;
	}
	if (status == GALVO_OK)
		status = ledger_figures(&s, fast, ARRAY_LEN(fast), sum->gpus, sizeof(*sum->gpus), reterr);
	for (i = 0; status == GALVO_OK && i < THROTTLES; i++) {
		const struct figure_row row = {throttle_columns[i],
		                               .offset = AT(throttle) + i * sizeof(struct figure)};

		status = ledger_figures(&s, &row, 1, sum->gpus, sizeof(*sum->gpus), reterr);
	}
	if (status == GALVO_OK)
		status = ledger_figures(&s, &covered, 1, covers, sizeof(*covers), reterr);
	for (i = 0; status == GALVO_OK && i < sum->gpus_len; i++) {
		sum->gpus[i].covered_s = covers[i].total;
		sum->gpus[i].covered_pct = sum->recorded_s > 0
		                           ? 100 * covers[i].total / sum->recorded_s : NAN;
	}
	ledger_finish(&s);
	extended_finish(&x);
	free(covers);
	return status;
}

/* The newest value of a column. */
static double last_of(const struct gpu_rows *r, size_t gpu, const char *column)
{
	size_t c = r->table ? table_column(r->table, column) : SIZE_MAX, n;
	const size_t *rows = gpu_rows_of(r, gpu, &n);

	while (c != SIZE_MAX && n--)
		if (isfinite(r->table->values[c][rows[n]]))
			return r->table->values[c][rows[n]];
	return NAN;
}

static galvo_status derive_slow(struct galvo_summary *sum, const struct galvo_run *run,
                                galvo_error *reterr)
{
	struct gpu_rows r;
	struct ledger s;
	galvo_status status = ledger_init(&s, run, STREAM_TELEMETRY, SCOPE_GPU_DETAIL, reterr);
	size_t i, k;

	if (status == GALVO_OK)
		status = ledger_figures(&s, slow, ARRAY_LEN(slow), sum->gpus, sizeof(*sum->gpus), reterr);
	ledger_finish(&s);
	if (status != GALVO_OK)
		return status;
	status = gpu_rows_init(&r, run, STREAM_TELEMETRY, SCOPE_GPU_DETAIL, reterr);
	for (k = 0; status == GALVO_OK && k < ARRAY_LEN(growths); k++) {
		size_t c = r.table ? table_column(r.table, growths[k].column) : SIZE_MAX;

		for (i = 0; i < sum->gpus_len; i++) {
			struct growth g = gpu_growth(&r, i, c);

			g.amount *= growths[k].scale;
			memcpy((char *)&sum->gpus[i] + growths[k].offset, &g, sizeof(g));
		}
	}
	for (i = 0; status == GALVO_OK && i < sum->gpus_len; i++) {
		sum->gpus[i].xid_errors = last_of(&r, i, "gpu__xid_errors");
		sum->gpus[i].xid_last = last_of(&r, i, "gpu__xid_last");
	}
	gpu_rows_finish(&r);
	return status;
}

galvo_status gpu_telemetry_derive(struct galvo_summary *s, const struct galvo_run *run,
                                  galvo_error *reterr)
{
	galvo_status status = derive_fast(s, run, reterr);

	return status == GALVO_OK ? derive_slow(s, run, reterr) : status;
}
