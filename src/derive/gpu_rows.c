/* Rows of GPUs one by one: in order of time, how counters grew, integrals that leave gaps. */
#include <math.h>

#include "gpu.h"

#define GAP_LIMIT_NS (5 * NS_PER_S)

static int compare_times(const void *a, const void *b, void *ctx)
{
	const uint64_t *mono_ns = ctx;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (mono_ns[i] != mono_ns[j])
		return mono_ns[i] < mono_ns[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void sort_rows(const struct table *t, size_t *rows, size_t n)
{
	size_t i;

	for (i = 1; i < n && t->mono_ns[rows[i - 1]] <= t->mono_ns[rows[i]]; i++)
		;
	if (i < n)
		qsort_r(rows, n, sizeof(*rows), compare_times, (void *)(uintptr_t)t->mono_ns);
}

galvo_status gpu_rows_init(struct gpu_rows *r, const struct galvo_run *run, enum stream_kind stream,
                           enum scope scope, galvo_error *reterr)
{
	const struct table *t = run_table(run, stream, scope);
	size_t gpus = run->gpus_len, i;

	*r = (struct gpu_rows){.table = t};
	if (!t)
		return GALVO_OK;
	r->order = alloc_array(t->rows_len, sizeof(*r->order));
	r->first = alloc_array(gpus + 2, sizeof(*r->first));
	if (!r->order || !r->first)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu rows", t->rows_len);
	/* Counted two places on, so that filling leaves each where the next one begins. */
	for (i = 0; i < t->rows_len; i++)
		if (t->key[i] < gpus)
			r->first[t->key[i] + 2]++;
	for (i = 2; i < gpus + 2; i++)
		r->first[i] += r->first[i - 1];
	for (i = 0; i < t->rows_len; i++)
		if (t->key[i] < gpus)
			r->order[r->first[t->key[i] + 1]++] = i;
	for (i = 0; i < gpus; i++)
		sort_rows(t, r->order + r->first[i], r->first[i + 1] - r->first[i]);
	return GALVO_OK;
}

void gpu_rows_finish(struct gpu_rows *r)
{
	free(r->order);
	free(r->first);
	*r = (struct gpu_rows){0};
}

struct growth gpu_growth(const struct gpu_rows *r, size_t gpu, size_t column)
{
	struct growth g = {.amount = NAN, .over_s = NAN};
	const struct table *t = r->table;
	double last = NAN;
	uint64_t last_ns = 0;
	const size_t *rows;
	size_t n, i;

	rows = gpu_rows_of(r, gpu, &n);
	for (i = 0; column != SIZE_MAX && i < n; i++) {
		double v = t->values[column][rows[i]];
		uint64_t mono_ns = t->mono_ns[rows[i]];

		if (!isfinite(v) || v < 0 || (!isnan(last) && mono_ns <= last_ns))
			continue;
		if (v < last) {
			g.resets++;
		} else if (!isnan(last)) {
			add_known(&g.amount, v - last);
			add_known(&g.over_s, (double)(mono_ns - last_ns) / (double)NS_PER_S);
		}
		last = v;
		last_ns = mono_ns;
	}
	return g;
}

/* ---- integrals ------------------------------------------------------------------------------ */

void gpu_sum_finish(struct gpu_sum *s)
{
	line_finish(&s->part);
	line_finish(&s->whole);
}

galvo_status gpu_integral(const struct gpu_rows *r, size_t gpu, const char *column, bool is_straight,
                          uint64_t limit_ns, struct gpu_sum *ret, galvo_error *reterr)
{
	size_t c = r->table ? table_column(r->table, column) : SIZE_MAX, n, i;
	const size_t *rows = gpu_rows_of(r, gpu, &n);
	double part = 0, whole = 0, last = NAN;
	uint64_t last_ns = 0;
	galvo_status status;

	*ret = (struct gpu_sum){0};
	if (c == SIZE_MAX || n == 0)
		return GALVO_OK;
	status = line_make(&ret->part, n, reterr);
	if (status == GALVO_OK)
		status = line_make(&ret->whole, n, reterr);
	for (i = 0; status == GALVO_OK && i < n; i++) {
		double v = r->table->values[c][rows[i]], s;
		uint64_t mono_ns = r->table->mono_ns[rows[i]];

		if (!isfinite(v) || v < 0 || (!isnan(last) && mono_ns <= last_ns))
			continue;
		if (!isnan(last) && mono_ns - last_ns <= limit_ns) {
			s = (double)(mono_ns - last_ns) / (double)NS_PER_S;
			part += s * (is_straight ? (last + v) / 2 : v);
			whole += s;
		}
		line_add(&ret->part, mono_ns, part);
		line_add(&ret->whole, mono_ns, whole);
		last = v;
		last_ns = mono_ns;
	}
	return status;
}

const char *gpu_power_column(const struct gpu_rows *r, size_t gpu)
{
	static const char mean[] = "gpu__power_watts", instant[] = "gpu__power_instant_watts";
	size_t c = r->table ? table_column(r->table, mean) : SIZE_MAX, n, i;
	const size_t *rows = gpu_rows_of(r, gpu, &n);

	for (i = 0; c != SIZE_MAX && i < n; i++)
		if (isfinite(r->table->values[c][rows[i]]))
			return mean;
	return instant;
}

uint64_t gpu_gap_limit_ns(const struct galvo_run *run)
{
	uint64_t slowest_ns = 0;
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].kind == STREAM_TELEMETRY && run->streams[i].frequency_hz)
			slowest_ns = NS_PER_S / run->streams[i].frequency_hz;
	for (i = 0; i < run->sources_len; i++)
		if (run->sources[i].stream == STREAM_TELEMETRY &&
		    span_eq_str(span_str(run->sources[i].name), "gpu") &&
		    run->sources[i].longest_period_ns > slowest_ns)
			slowest_ns = run->sources[i].longest_period_ns;
	return slowest_ns > GAP_LIMIT_NS / GAP_FACTOR && slowest_ns < UINT64_MAX / GAP_FACTOR
	       ? GAP_FACTOR * slowest_ns : GAP_LIMIT_NS;
}
