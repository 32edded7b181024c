/* The report's sections on what the workload said of itself: regions and marks. */
#include <math.h>

#include "json.h"

#define REGIONS_MAX 12 /* JSON has all */
#define MARKS_MAX 6

/* What a line shows: the columns want doubles side by side. */
struct region_row {
	double count, total_s, mean_s, max_s, cpu_s, peak_rss_bytes, moved_bytes;
	double gpu_pct, tensor_pct;
};

static const struct text_column region_columns[] = {
	COLUMN("count", 6, put_count, count, struct region_row),
	COLUMN("total", 9, put_brief, total_s, struct region_row),
	COLUMN("mean", 9, put_brief, mean_s, struct region_row),
	COLUMN("longest", 9, put_brief, max_s, struct region_row),
	COLUMN("CPU s", 8, put_seconds, cpu_s, struct region_row),
	COLUMN("RSS peak", 9, put_bytes, peak_rss_bytes, struct region_row),
	COLUMN("disk", 9, put_bytes, moved_bytes, struct region_row),
};

/* Where GPUs have something to say, in place of the longest one and of what a line has no room for. */
#define REGION_CELLS                                                                               \
	COLUMN("count", 6, put_count, count, struct region_row),                                   \
	COLUMN("total", 9, put_brief, total_s, struct region_row),                                 \
	COLUMN("mean", 9, put_brief, mean_s, struct region_row),                                   \
	COLUMN("CPU s", 8, put_seconds, cpu_s, struct region_row),                                 \
	COLUMN("RSS peak", 9, put_bytes, peak_rss_bytes, struct region_row)

static const struct text_column gpu_columns[] = {
	REGION_CELLS,
	COLUMN("disk", 9, put_bytes, moved_bytes, struct region_row),
	COLUMN("GPU util", 9, put_pct, gpu_pct, struct region_row),
};
static const struct text_column tensor_columns[] = {
	REGION_CELLS,
	COLUMN("GPU util", 9, put_pct, gpu_pct, struct region_row),
	COLUMN("tensor", 9, put_pct, tensor_pct, struct region_row),
};
_Static_assert(ARRAY_LEN(gpu_columns) == ARRAY_LEN(region_columns) &&
               ARRAY_LEN(tensor_columns) == ARRAY_LEN(region_columns), "all have one number");

struct mark_row {
	double count, first_s, last_s;
};

static const struct text_column mark_columns[] = {
	COLUMN("count", 6, put_count, count, struct mark_row),
	COLUMN("first s", 10, put_seconds, first_s, struct mark_row),
	COLUMN("last s", 9, put_seconds, last_s, struct mark_row),
};

/* The longest one not chosen yet; SIZE_MAX if all are. */
static size_t longest(const struct galvo_summary *sum, const bool *chosen)
{
	size_t best = SIZE_MAX, i;

	for (i = 0; i < sum->regions_len; i++)
		if (!chosen[i] &&
		    (best == SIZE_MAX || sum->regions[i].total_s > sum->regions[best].total_s))
			best = i;
	return best;
}

static double both(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void put_name(struct sheet *s, struct span name, enum time_domain domain)
{
	buf_put_str(&s->buf, domain == DOMAIN_GPU ? "  GPU: " : "  ");
	buf_put_escaped(&s->buf, name);
}

/* SMs that do something say more than that anything is being executed. */
static const struct text_column *columns_for(const struct galvo_summary *sum, bool *ret_has_sm)
{
	bool any = false, has_tensor = false;
	size_t i;

	*ret_has_sm = false;
	for (i = 0; i < sum->regions_len; i++) {
		const struct summary_region *r = &sum->regions[i];

		*ret_has_sm |= !isnan(r->gpu_sm_busy_pct);
		has_tensor |= !isnan(r->gpu_tensor_pct);
		any |= !isnan(r->gpu_sm_busy_pct) || !isnan(r->gpu_utilization_pct);
	}
	return has_tensor ? tensor_columns : any ? gpu_columns : region_columns;
}

static void report_region(struct sheet *s, const struct summary_region *r,
                          const struct text_column *columns, bool has_sm)
{
	struct region_row row = {
		.count = (double)r->count, .total_s = r->total_s, .mean_s = r->mean_s,
		.max_s = r->max_s, .cpu_s = r->cpu_s, .peak_rss_bytes = r->peak_rss_bytes,
		.moved_bytes = both(r->read_bytes, r->write_bytes),
		.gpu_pct = has_sm ? r->gpu_sm_busy_pct : r->gpu_utilization_pct,
		.tensor_pct = r->gpu_tensor_pct};

	put_name(s, r->name, r->domain);
	if (r->unfinished)
		buf_put_str(&s->buf, " (open)");
	table_cells(s, columns, ARRAY_LEN(region_columns), &row);
	sheet_line_end(s);
}

static void put_more(struct sheet *s, size_t n)
{
	if (n == 0)
		return;
	buf_printf(&s->buf, "  \xe2\x80\xa6 and %zu more", n);
	sheet_line_end(s);
}

/* Chosen by time, shown in the order of their first begins. */
static void report_region_table(struct sheet *s, const struct galvo_summary *sum)
{
	bool *chosen = alloc_array(sum->regions_len, sizeof(*chosen)), has_sm;
	struct text_column columns[ARRAY_LEN(region_columns)];
	size_t n, i;

	if (!chosen) {
		s->status = GALVO_ERR_NOMEM;
		return;
	}
	for (n = 0; n < REGIONS_MAX && (i = longest(sum, chosen)) != SIZE_MAX; n++)
		chosen[i] = true;
	memcpy(columns, columns_for(sum, &has_sm), sizeof(columns));
	for (i = 0; has_sm && i < ARRAY_LEN(columns); i++)
		if (columns[i].offset == offsetof(struct region_row, gpu_pct))
			columns[i].head = "SM busy";
	sheet_text(s, "");
	table_head(s, "regions", columns, ARRAY_LEN(region_columns));
	for (i = 0; i < sum->regions_len; i++)
		if (chosen[i])
			report_region(s, &sum->regions[i], columns, has_sm);
	put_more(s, sum->regions_len - n);
	free(chosen);
}

/* How far off those of the GPU may be. */
static void report_error(struct sheet *s, const struct galvo_summary *sum)
{
	double error_s = NAN;
	size_t i;

	for (i = 0; i < sum->regions_len; i++)
		error_s = fmax(error_s, sum->regions[i].error_s);
	for (i = 0; i < sum->marks_len; i++)
		error_s = fmax(error_s, sum->marks[i].error_s);
	if (isnan(error_s))
		return;
	buf_put_str(&s->buf, "  GPU: times are true within ");
	put_brief(&s->buf, error_s);
	sheet_line_end(s);
}

static void report_lost(struct sheet *s, uint64_t n, const char *why, const char *reason)
{
	if (n == 0)
		return;
	buf_printf(&s->buf, "  GPU: %llu %s%s", (unsigned long long)n, why, reason[0] ? ": " : "");
	sheet_escaped(s, reason);
	sheet_line_wrap(s, 7);
}

static void report_gpu(struct sheet *s, const struct galvo_summary *sum)
{
	const struct gpu_events *lost = &sum->gpu_events;

	if (!sum->regions_len && !sum->marks_len &&
	    (lost->capturing | lost->no_room | lost->unbound | lost->failed | lost->unreached))
		sheet_text(s, "");
	report_error(s, sum);
	report_lost(s, lost->capturing, "left out, as their stream was being captured", "");
	report_lost(s, lost->no_room, "left out, as too many were on their way", "");
	report_lost(s, lost->unbound, "left out, as no stream was set", "");
	report_lost(s, lost->failed, "lost to an error of CUDA", lost->reason);
	report_lost(s, lost->unreached, "not reached when the recording stopped", "");
}

static void report_mark_table(struct sheet *s, const struct galvo_summary *sum)
{
	size_t i;

	sheet_text(s, "");
	table_head(s, "marks", mark_columns, ARRAY_LEN(mark_columns));
	for (i = 0; i < sum->marks_len && i < MARKS_MAX; i++) {
		const struct summary_mark *m = &sum->marks[i];
		struct mark_row row = {(double)m->count, m->first_s, m->last_s};

		put_name(s, m->name, m->domain);
		table_cells(s, mark_columns, ARRAY_LEN(mark_columns), &row);
		sheet_line_end(s);
	}
	put_more(s, sum->marks_len - i);
}

void report_regions(struct sheet *s, const struct galvo_summary *sum)
{
	if (sum->regions_len)
		report_region_table(s, sum);
	if (sum->marks_len)
		report_mark_table(s, sum);
	report_gpu(s, sum);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

#define REGION struct summary_region
static const struct json_row region_rows[] = {
	AS(COUNT, count, REGION, count),
	AS(COUNT, unfinished, REGION, unfinished),
	ONE(first_s, REGION, first_s),
	ONE(total_s, REGION, total_s),
	ONE(mean_s, REGION, mean_s),
	ONE(min_s, REGION, min_s),
	ONE(max_s, REGION, max_s),
	ONE(cpu_s, REGION, cpu_s),
	AS(ROUNDED, rss_peak_bytes, REGION, peak_rss_bytes),
	AS(ROUNDED, read_bytes, REGION, read_bytes),
	AS(ROUNDED, write_bytes, REGION, write_bytes),
	ONE(gpu_utilization_avg_pct, REGION, gpu_utilization_pct),
	ONE(gpu_sm_busy_avg_pct, REGION, gpu_sm_busy_pct),
	ONE(gpu_tensor_avg_pct, REGION, gpu_tensor_pct),
	ONE(gpu_energy_joules, REGION, gpu_energy_joules),
	ONE(error_s, REGION, error_s),
};

#define MARK struct summary_mark
static const struct json_row mark_rows[] = {
	AS(COUNT, count, MARK, count),
	ONE(first_s, MARK, first_s),
	ONE(last_s, MARK, last_s),
	ONE(error_s, MARK, error_s),
};

#define LOST struct gpu_events
static const struct json_row lost_rows[] = {
	AS(COUNT, capturing, LOST, capturing),
	AS(COUNT, no_room, LOST, no_room),
	AS(COUNT, failed, LOST, failed),
	AS(COUNT, unreached, LOST, unreached),
	AS(COUNT, unbound, LOST, unbound),
};

static void open_named(struct json *j, struct span name, enum time_domain domain)
{
	json_open(j, NULL, "{");
	json_span(j, "name", name);
	json_string(j, "clock", domain == DOMAIN_GPU ? "gpu" : "host");
}

void report_json_regions(struct json *j, const struct galvo_summary *sum)
{
	size_t i;

	json_open(j, "regions", "[");
	for (i = 0; i < sum->regions_len; i++) {
		open_named(j, sum->regions[i].name, sum->regions[i].domain);
		json_rows(j, region_rows, ARRAY_LEN(region_rows), &sum->regions[i]);
		json_close(j, "}");
	}
	json_close(j, "]");
	json_open(j, "marks", "[");
	for (i = 0; i < sum->marks_len; i++) {
		open_named(j, sum->marks[i].name, sum->marks[i].domain);
		json_rows(j, mark_rows, ARRAY_LEN(mark_rows), &sum->marks[i]);
		json_close(j, "}");
	}
	json_close(j, "]");
	json_open(j, "gpu_events_lost", "{");
	json_rows(j, lost_rows, ARRAY_LEN(lost_rows), &sum->gpu_events);
	json_text(j, "reason", sum->gpu_events.reason);
	json_close(j, "}");
}
