/* Regions and marks by name: how often, how long, and what was used in the meantime. */
#include <math.h>

#include "gpu.h"

#define PERCENT 0.01 /* percent of a core, times seconds, to CPU seconds */
#define RATE(name) name ".sum.per_second"

/* What the followed processes used, together, as far as a moment. */
struct region_use {
	struct line cpu, read, write, rss;
	double *highest; /* a tree over rss: a node's is the higher of 2i and 2i+1 */
	struct gpu_activity gpus;
};

static void usage_finish(struct region_use *u)
{
	line_finish(&u->cpu);
	line_finish(&u->read);
	line_finish(&u->write);
	line_finish(&u->rss);
	free(u->highest);
	gpu_activity_finish(&u->gpus);
}

static galvo_status highest_build(struct region_use *u, galvo_error *reterr)
{
	size_t n = u->rss.len, i;

	u->highest = alloc_array(2 * n, sizeof(*u->highest));
	if (!u->highest)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu ticks", n);
	for (i = 0; i < n; i++)
		u->highest[n + i] = u->rss.value[i];
	for (i = n; i-- > 1;)
		u->highest[i] = fmax(u->highest[2 * i], u->highest[2 * i + 1]);
	return GALVO_OK;
}

static galvo_status usage_init(struct region_use *u, const struct galvo_summary *s,
                               const struct galvo_run *run, galvo_error *reterr)
{
	static const struct figure_row cpu = {RATE("proc__cycles_active"), .total_scale = PERCENT};
	static const struct figure_row rss = {"proc__rss_bytes", .is_level = true};
	static const struct figure_row read = {RATE("proc__io_read_bytes"), .offset = 0};
	static const struct figure_row write = {RATE("proc__io_write_bytes"), .offset = 0};
	struct ledger fast = {0}, io = {0};
	galvo_status status = ledger_init(&fast, run, STREAM_SYSTEM, SCOPE_PROCESS, reterr);

	*u = (struct region_use){0};
	if (status == GALVO_OK)
		status = ledger_init(&io, run, STREAM_DISK, SCOPE_PROCESS, reterr);
	if (status == GALVO_OK)
		status = ledger_growth(&fast, &cpu, &u->cpu, reterr);
	if (status == GALVO_OK)
		status = ledger_ticks(&fast, &rss, &u->rss, reterr);
	if (status == GALVO_OK)
		status = ledger_growth(&io, &read, &u->read, reterr);
	if (status == GALVO_OK)
		status = ledger_growth(&io, &write, &u->write, reterr);
	if (status == GALVO_OK)
		status = highest_build(u, reterr);
	if (status == GALVO_OK)
		status = gpu_activity_init(&u->gpus, s, run, reterr);
	ledger_finish(&fast);
	ledger_finish(&io);
	return status;
}

/* The highest of the ticks in that time; with none in it, the one before. */
static double highest_in(const struct region_use *u, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = u->rss.len, low = line_find(&u->rss, from_ns);
	size_t high = to_ns < UINT64_MAX ? line_find(&u->rss, to_ns + 1) : n;
	double most = NAN;

	if (low >= high)
		return low ? u->rss.value[low - 1] : NAN;
	for (low += n, high += n; low < high; low /= 2, high /= 2) {
		if (low % 2)
			most = fmax(most, u->highest[low++]);
		if (high % 2)
			most = fmax(most, u->highest[--high]);
	}
	return most;
}

/* ---- by name -------------------------------------------------------------------------------------- */

static int compare_names(enum time_domain x, struct span a, enum time_domain y, struct span b)
{
	return x != y ? (x < y ? -1 : 1) : span_cmp(a, b);
}

static int compare_regions(const void *a, const void *b)
{
	const struct region *x = *(const struct region *const *)a;
	const struct region *y = *(const struct region *const *)b;
	int names = compare_names(x->domain, x->name, y->domain, y->name);

	if (names)
		return names;
	return x->start_mono_ns < y->start_mono_ns ? -1 : x->start_mono_ns > y->start_mono_ns;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = *(const struct mark *const *)a;
	const struct mark *y = *(const struct mark *const *)b;
	int names = compare_names(x->domain, x->name, y->domain, y->name);

	return names ? names : x->mono_ns < y->mono_ns ? -1 : x->mono_ns > y->mono_ns;
}

static int compare_first_regions(const void *a, const void *b)
{
	double x = ((const struct summary_region *)a)->first_s;
	double y = ((const struct summary_region *)b)->first_s;

	return x < y ? -1 : x > y;
}

static int compare_first_marks(const void *a, const void *b)
{
	double x = ((const struct summary_mark *)a)->first_s;
	double y = ((const struct summary_mark *)b)->first_s;

	return x < y ? -1 : x > y;
}

/* Pointers to the n things, to be sorted. */
static void *list(const void *things, size_t n, size_t size, galvo_error *reterr)
{
	const char **all = alloc_array(n, sizeof(*all));
	size_t i;

	if (!all)
		err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu regions", n);
	for (i = 0; all && i < n; i++)
		all[i] = (const char *)things + i * size;
	return all;
}

static double since_start_s(const struct galvo_summary *s, uint64_t mono_ns)
{
	return ((double)mono_ns - (double)s->start_mono_ns) / (double)NS_PER_S;
}

static double percent_of(const struct gpu_mean *m, double scale)
{
	return m->weight_s > 0 ? scale * m->share_s / m->weight_s : NAN;
}

static void region_add_gpus(struct summary_region *to, struct gpu_activity_sums *sums,
                            const struct gpu_activity *a, uint64_t from_ns, uint64_t to_ns)
{
	gpu_activity_add(a, from_ns, to_ns, sums);
	to->gpu_utilization_pct = percent_of(&sums->busy_pct, 1);
	to->gpu_sm_busy_pct = percent_of(&sums->sm, 100);
	to->gpu_tensor_pct = percent_of(&sums->tensor, 100);
	to->gpu_energy_joules = sums->joules;
}

static void region_add(struct summary_region *to, struct gpu_activity_sums *sums,
                       const struct region *r, uint64_t end_mono_ns, const struct region_use *u)
{
	uint64_t start_mono_ns = r->start_mono_ns;
	double s;

	if (end_mono_ns < start_mono_ns)
		end_mono_ns = start_mono_ns;
	s = (double)(end_mono_ns - start_mono_ns) / (double)NS_PER_S;
	to->count++;
	to->unfinished += r->unfinished;
	to->total_s += s;
	to->min_s = fmin(to->min_s, s);
	to->max_s = fmax(to->max_s, s);
	if (r->error_ns)
		to->error_s = fmax(to->error_s, (double)r->error_ns / (double)NS_PER_S);
	if (r->domain != DOMAIN_GENERIC && !r->error_ns)
		return; /* when that was is not known */
	region_add_gpus(to, sums, &u->gpus, start_mono_ns, end_mono_ns);
	add_known(&to->cpu_s, line_grown(&u->cpu, start_mono_ns, end_mono_ns));
	add_known(&to->read_bytes, line_grown(&u->read, start_mono_ns, end_mono_ns));
	add_known(&to->write_bytes, line_grown(&u->write, start_mono_ns, end_mono_ns));
	to->peak_rss_bytes = fmax(to->peak_rss_bytes, highest_in(u, start_mono_ns, end_mono_ns));
}

static galvo_status group_regions(struct galvo_summary *s, const struct galvo_run *run,
                                  const struct region_use *u, galvo_error *reterr)
{
	const struct region **all = list(run->regions, run->regions_len, sizeof(**all), reterr);
	struct gpu_activity_sums sums = {0};
	struct summary_region *to = NULL;
	size_t i;

	s->regions = alloc_array(run->regions_len, sizeof(*s->regions));
	if (!all || !s->regions) {
		free(all);
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for regions");
	}
	qsort(all, run->regions_len, sizeof(const struct region *), compare_regions);
	for (i = 0; i < run->regions_len; i++) {
		const struct region *r = all[i];

		if (!to || compare_names(to->domain, to->name, r->domain, r->name)) {
			sums = (struct gpu_activity_sums){.joules = NAN};
			to = &s->regions[s->regions_len++];
			*to = (struct summary_region){
				.domain = r->domain, .name = r->name, .min_s = NAN, .max_s = NAN,
				.cpu_s = NAN, .read_bytes = NAN, .write_bytes = NAN,
				.peak_rss_bytes = NAN, .error_s = NAN, .gpu_utilization_pct = NAN,
				.gpu_sm_busy_pct = NAN, .gpu_tensor_pct = NAN,
				.gpu_energy_joules = NAN,
				.first_s = since_start_s(s, r->start_mono_ns)};
		}
		region_add(to, &sums, r, r->end_mono_ns ? r->end_mono_ns : s->end_mono_ns, u);
		to->mean_s = to->total_s / (double)to->count;
	}
	free(all);
	qsort(s->regions, s->regions_len, sizeof(*s->regions), compare_first_regions);
	return GALVO_OK;
}

static galvo_status group_marks(struct galvo_summary *s, const struct galvo_run *run,
                                galvo_error *reterr)
{
	const struct mark **all = list(run->marks, run->marks_len, sizeof(**all), reterr);
	struct summary_mark *to = NULL;
	size_t i;

	s->marks = alloc_array(run->marks_len, sizeof(*s->marks));
	if (!all || !s->marks) {
		free(all);
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for marks");
	}
	qsort(all, run->marks_len, sizeof(const struct mark *), compare_marks);
	for (i = 0; i < run->marks_len; i++) {
		const struct mark *m = all[i];

		if (!to || compare_names(to->domain, to->name, m->domain, m->name)) {
			to = &s->marks[s->marks_len++];
			*to = (struct summary_mark){
				.domain = m->domain, .name = m->name, .error_s = NAN,
				.first_s = since_start_s(s, m->mono_ns)};
		}
		to->count++;
		if (m->error_ns)
			to->error_s = fmax(to->error_s, (double)m->error_ns / (double)NS_PER_S);
		to->last_s = since_start_s(s, m->mono_ns);
	}
	free(all);
	qsort(s->marks, s->marks_len, sizeof(*s->marks), compare_first_marks);
	return GALVO_OK;
}

galvo_status derive_regions(struct galvo_summary *s, const struct galvo_run *run,
                            galvo_error *reterr)
{
	struct region_use u = {0};
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].kind == STREAM_EVENTS)
			s->gpu_events = run->streams[i].gpu_events;
	if (run->regions_len) {
		status = usage_init(&u, s, run, reterr);
		if (status == GALVO_OK)
			status = group_regions(s, run, &u, reterr);
		usage_finish(&u);
	}
	if (status == GALVO_OK && run->marks_len)
		status = group_marks(s, run, reterr);
	return status;
}
