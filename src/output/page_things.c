/* Processes, regions and marks of a page, as JSON; the greatest ones where there are too many. */
#include "galvo/reader.h"
#include "page.h"

/* What one of them takes in the document, about; each kind may have a quarter of it. */
#define REGION_BYTES 72
#define PROCESS_BYTES 360
#define MARK_BYTES 32
#define NAMELESS "?" /* it was gone before anybody read how it is called */

static size_t shown_of(const struct document *d, size_t all, size_t bytes)
{
	uint64_t most = (d->max_bytes ? d->max_bytes : PAGE_BYTES) / d->runs_len / 4 / bytes;

	return all < most ? all : (size_t)most;
}

static void no_memory(struct json *j)
{
	if (j->sheet->status == GALVO_OK)
		j->sheet->status = GALVO_ERR_NOMEM;
}

/* ---- processes ---------------------------------------------------------------------------------------- */

static void put_status(struct buf *b, const struct summary_process *p)
{
	static const char *const words[] = {
		[LIFE_UNKNOWN] = "unknown", [LIFE_RUNNING] = "running", [LIFE_GONE] = "gone",
		[LIFE_LEFT] = "left",
	};
	const char *name = signal_name(p->term_signal);

	if (p->life == LIFE_EXITED)
		buf_printf(b, "\"exit %d\"", (int)p->exit_code);
	else if (p->life == LIFE_KILLED && !name)
		buf_printf(b, "\"signal %d\"", (int)p->term_signal);
	else
		buf_printf(b, "\"%s\"", p->life == LIFE_KILLED ? name : words[p->life]);
}

/* It has values over time: of what it read and wrote, of anything. */
static bool is_io_sampled(const struct summary_process *p)
{
	return !isnan(p->read_bytes_per_s.avg) || !isnan(p->write_bytes_per_s.avg);
}

static bool is_sampled(const struct summary_process *p)
{
	return !isnan(p->cpu_pct_of_core.avg) || !isnan(p->rss_bytes.avg) || is_io_sampled(p);
}

void json_process_id(struct json *j, const char *key, const struct process_info *info)
{
	json_begin(j, key);
	buf_printf(&j->sheet->buf, "\"%u:%llu\"", (unsigned)info->pid,
	           (unsigned long long)info->start_ticks);
}

static void json_process(struct json *j, const struct document *d, const struct page_run_data *r,
                         const struct summary_process *p, size_t parent)
{
	const struct process_info *info = p->info;
	const char *name = info->alias[0] ? info->alias : info->comm;
	bool has_ended = p->life != LIFE_RUNNING && p->life != LIFE_UNKNOWN;
	double seen_s = ((double)p->info->first_mono_ns - (double)r->zero_mono_ns) / 1e9;

	json_open(j, NULL, "{");
	json_process_id(j, "id", info);
	json_u64(j, "pid", info->pid);
	json_known(j, "parent", parent != SIZE_MAX, parent);
	json_u64(j, "depth", p->depth);
	json_string(j, "name", name[0] ? name : NAMELESS);
	json_string(j, "command", info->command);
	seen_s = isnan(p->seen_s) ? fmax(seen_s, 0) : p->seen_s;
	json_double(j, "start_s", seen_s);
	json_double(j, "end_s", has_ended ? seen_s + p->lifetime_s : NAN);
	json_begin(j, "status");
	if (d->is_live && p->life == LIFE_UNKNOWN)
		buf_put_str(&j->sheet->buf, "\"running\"");
	else
		put_status(&j->sheet->buf, p);
	json_flag(j, "failed", p->failed);
	json_double(j, "cpu_s", d->is_news ? NAN : p->use[USAGE_CPU_NS].own);
	json_double(j, "rss_peak_bytes", d->is_news ? NAN : p->rss_bytes.peak);
	json_double(j, "read_bytes", d->is_news ? NAN : p->use[USAGE_READ].own);
	json_double(j, "written_bytes", d->is_news ? NAN : p->use[USAGE_WRITE].own);
	json_flag(j, "sampled", is_sampled(p));
	json_flag(j, "io_sampled", is_io_sampled(p));
	json_close(j, "}");
}

/* A process, and those above it, so that the tree hangs together. */
static size_t choose(const struct galvo_summary *sum, bool *chosen, size_t i)
{
	size_t n = 0;

	for (; i != SIZE_MAX && !chosen[i]; i = sum->processes[i].parent, n++)
		chosen[i] = true;
	return n;
}

struct busy {
	double cpu_s;
	size_t number;
};

static int by_cpu(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->cpu_s > y->cpu_s || x->cpu_s < y->cpu_s)
		return x->cpu_s > y->cpu_s ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Those that have curves, and the busiest ones, with those above them: how many. SIZE_MAX: no memory. */
static size_t choose_processes(const struct document *d, const struct page_run_data *r, bool *chosen)
{
	const struct galvo_summary *sum = r->summary;
	struct busy *order = alloc_array(sum->processes_len + 1, sizeof(*order));
	size_t most = shown_of(d, sum->processes_len, PROCESS_BYTES), n = 0, i;

	if (!order)
		return SIZE_MAX;
	for (i = 0; i < r->curves_len; i++)
		if (r->curves[i].curve->process != SIZE_MAX)
			n += choose(sum, chosen, r->curves[i].curve->process);
	for (i = 0; i < sum->processes_len; i++)
		order[i] = (struct busy){fmax(sum->processes[i].use[USAGE_CPU_NS].own, 0), i};
	qsort(order, sum->processes_len, sizeof(*order), by_cpu);
	for (i = 0; i < sum->processes_len && n < most; i++)
		n += choose(sum, chosen, order[i].number);
	free(order);
	return n;
}

size_t processes_shown(const struct document *d, const struct page_run_data *r)
{
	bool *chosen = alloc_array(r->summary->processes_len + 1, sizeof(*chosen));
	size_t n = chosen ? choose_processes(d, r, chosen) : SIZE_MAX;

	free(chosen);
	return n;
}

void json_processes(struct json *j, const struct document *d, const struct page_run_data *r)
{
	size_t all = r->summary->processes_len, n = 0, i;
	bool *chosen = alloc_array(all + 1, sizeof(*chosen));
	size_t *numbers = alloc_array(all + 1, sizeof(*numbers));

	json_open(j, "processes", "[");
	if (!chosen || !numbers || choose_processes(d, r, chosen) == SIZE_MAX)
		no_memory(j);
	for (i = 0; i < all && j->sheet->status == GALVO_OK; i++)
		if (chosen[i]) {
			size_t parent = r->summary->processes[i].parent;

			numbers[i] = n++;
			json_process(j, d, r, &r->summary->processes[i],
			             parent == SIZE_MAX ? SIZE_MAX : numbers[parent]);
		}
	json_close(j, "]");
	free(chosen);
	free(numbers);
}

/* ---- names, each once --------------------------------------------------------------------------------- */

struct names {
	struct span *all; /* in order */
	size_t len;
};

static int by_bytes(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return span_cmp(*x, *y);
}

static void names_sort(struct names *n)
{
	size_t i, k = 0;

	if (n->len)
		qsort(n->all, n->len, sizeof(*n->all), by_bytes);
	for (i = 0; i < n->len; i++)
		if (k == 0 || span_cmp(n->all[k - 1], n->all[i]) != 0)
			n->all[k++] = n->all[i];
	n->len = k;
}

static size_t name_number(const struct names *n, struct span name)
{
	const struct span *found = bsearch(&name, n->all, n->len, sizeof(*n->all), by_bytes);

	return found ? (size_t)(found - n->all) : 0;
}

static void json_names(struct json *j, const struct names *n)
{
	size_t i;

	json_open(j, "names", "[");
	for (i = 0; i < n->len; i++) {
		json_span(j, NULL, n->all[i]);
		sheet_flush(j->sheet, false);
	}
	json_close(j, "]");
}

/* ---- regions ------------------------------------------------------------------------------------------ */

struct shown {
	const struct page_run_data *r;
	const struct lane_region **regions;
	galvo_run_mark *marks;
	size_t len;
	struct names names;
};

static void put_s(struct buf *b, uint64_t mono_ns, const struct shown *s)
{
	buf_put_number(b, (double)(int64_t)(mono_ns - s->r->zero_mono_ns) / 1e9);
}

static void put_u64(struct buf *b, uint64_t v)
{
	buf_printf(b, "%llu", (unsigned long long)v);
}

/* A member of region i of those that are shown. */
static void put_region(struct buf *b, const struct shown *s, unsigned member, size_t i)
{
	const struct lane_region *l = s->regions[i];
	const struct region *g = l->region;

	switch (member) {
	case 0: put_u64(b, name_number(&s->names, g->name)); break;
	case 1: put_s(b, g->start_mono_ns, s); break;
	case 2:
		if (g->end_mono_ns)
			put_s(b, g->end_mono_ns, s);
		else
			buf_put_str(b, "null");
		break;
	case 3: put_u64(b, l->lane); break;
	case 4: put_u64(b, g->domain == DOMAIN_GPU); break;
	case 5: put_u64(b, g->pid); break;
	case 6: put_u64(b, g->begin_thread); break;
	case 7: put_u64(b, g->stream); break;
	case 8: buf_put_number(b, (double)g->error_ns / 1e9); break;
	case 9: put_u64(b, g->unfinished); break;
	default: buf_printf(b, "\"%llu\"", (unsigned long long)g->id); break;
	}
}

static void put_mark(struct buf *b, const struct shown *s, unsigned member, size_t i)
{
	const galvo_run_mark *m = &s->marks[i];

	switch (member) {
	case 0: put_u64(b, name_number(&s->names, span_of(m->name, m->name_len))); break;
	case 1: put_s(b, m->mono_ns, s); break;
	case 2: put_u64(b, m->is_gpu != 0); break;
	default: put_u64(b, m->pid); break;
	}
}

/* Arrays of members of all that are shown. */
static void json_members(struct json *j, const char *const *keys, size_t n, const struct shown *s,
                         void (*put)(struct buf *, const struct shown *, unsigned, size_t))
{
	size_t i;
	unsigned k;

	for (k = 0; k < n; k++) {
		json_open(j, keys[k], "[");
		for (i = 0; i < s->len; i++) {
			json_begin(j, NULL);
			put(&j->sheet->buf, s, k, i);
			sheet_flush(j->sheet, false);
		}
		json_close(j, "]");
	}
}

size_t regions_shown(const struct document *d, const struct page_run_data *r)
{
	return shown_of(d, r->panels.regions_len, REGION_BYTES);
}

static uint64_t length_of(const struct region *g)
{
	return g->end_mono_ns ? g->end_mono_ns - g->start_mono_ns : UINT64_MAX;
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x > y ? -1 : x < y;
}

/* Those of at least the length that is left to the last one. False: no memory. */
static bool choose_regions(struct shown *s, size_t most)
{
	const struct panels *p = &s->r->panels;
	uint64_t *lengths = alloc_array(p->regions_len + 1, sizeof(*lengths)), least;
	size_t longer = 0, i;

	if (!lengths)
		return false;
	for (i = 0; i < p->regions_len; i++)
		lengths[i] = length_of(p->regions[i].region);
	qsort(lengths, p->regions_len, sizeof(*lengths), longest_first);
	least = most ? lengths[most - 1] : UINT64_MAX;
	while (longer < most && lengths[longer] > least)
		longer++;
	free(lengths);
	for (i = 0; i < p->regions_len && s->len < most; i++) {
		uint64_t length = length_of(p->regions[i].region);

		if (length > least || (length == least && longer++ < most))
			s->regions[s->len++] = &p->regions[i];
	}
	return true;
}

void json_regions(struct json *j, const struct document *d, const struct page_run_data *r)
{
	static const char *const keys[] = {"name", "start", "end", "lane", "gpu", "pid", "thread",
	                                   "stream", "error", "unfinished", "id"};
	size_t most = regions_shown(d, r), i;
	struct shown s = {.r = r};

	s.regions = alloc_array(most + 1, sizeof(struct lane_region *));
	s.names.all = alloc_array(most + 1, sizeof(*s.names.all));
	if (!s.regions || !s.names.all || !choose_regions(&s, most))
		no_memory(j);
	for (i = 0; i < s.len; i++)
		s.names.all[s.names.len++] = s.regions[i]->region->name;
	names_sort(&s.names);
	json_open(j, "regions", "{");
	json_names(j, &s.names);
	json_u64(j, "host_lanes", r->panels.host_lanes);
	json_u64(j, "gpu_lanes", r->panels.gpu_lanes);
	json_members(j, keys, ARRAY_LEN(keys), &s, put_region);
	json_close(j, "}");
	free(s.regions);
	free(s.names.all);
}

/* ---- marks -------------------------------------------------------------------------------------------- */

size_t marks_recorded(const struct page_run_data *r)
{
	size_t n = 0, i;

	for (i = 0; i < r->summary->marks_len; i++)
		n += (size_t)r->summary->marks[i].count;
	return n;
}

size_t marks_shown(const struct document *d, const struct page_run_data *r)
{
	return shown_of(d, marks_recorded(r), MARK_BYTES);
}

void json_marks(struct json *j, const struct document *d, const struct page_run_data *r)
{
	static const char *const keys[] = {"name", "at", "gpu", "pid"};
	size_t most = marks_shown(d, r), i;
	struct shown s = {.r = r};

	s.marks = alloc_array(most + 1, sizeof(*s.marks));
	s.names.all = alloc_array(most + 1, sizeof(*s.names.all));
	if (!s.marks || !s.names.all)
		no_memory(j);
	for (i = 0; i < most && j->sheet->status == GALVO_OK; i++) {
		s.marks[i].struct_size = sizeof(*s.marks);
		if (galvo_run_mark_at(r->asked->run, i, &s.marks[i], NULL) != GALVO_OK)
			break;
		s.names.all[s.names.len++] = span_of(s.marks[i].name, s.marks[i].name_len);
		s.len++;
	}
	names_sort(&s.names);
	json_open(j, "marks", "{");
	json_names(j, &s.names);
	json_members(j, keys, ARRAY_LEN(keys), &s, put_mark);
	json_close(j, "}");
	free(s.marks);
	free(s.names.all);
}
