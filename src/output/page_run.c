/* Documents of a page begin and end: panels of each run, shifts, and what is shown in words. */
#include "page.h"

#define TITLE_BYTES 200 /* from there on it is clipped */
#define TITLE_BYTES_MAX (1 << 20)

const char *run_label(const struct page_run_data *r)
{
	const char *host = r->summary->hostname;

	if (r->asked->label && r->asked->label[0])
		return r->asked->label;
	return host && host[0] ? host : "run";
}

static galvo_status open_run(struct page_run_data *r, const struct galvo_summary *summary,
                             uint64_t zero_mono_ns, const galvo_page_memory *memory,
                             galvo_error *reterr)
{
	const struct panels_options options = {.is_known = memory ? page_memory_has : NULL,
	                                       .known = memory};
	size_t i, k, n = 0;
	galvo_status status = GALVO_OK;

	if (!summary) {
		status = galvo_summary_create(r->asked->run, &r->own_summary, reterr);
		summary = r->own_summary;
	}
	if (status != GALVO_OK)
		return status;
	r->summary = summary;
	r->has_panels = true;
	status = panels_make(&r->panels, r->asked->run, summary, &options, reterr);
	if (status != GALVO_OK)
		return status;
	r->zero_mono_ns = zero_mono_ns ? zero_mono_ns : r->panels.zero_mono_ns;
	for (i = 0; i < r->panels.panels_len; i++)
		n += r->panels.panels[i].curves_len + (r->panels.panels[i].total != NULL);
	r->curves = alloc_array(n + 1, sizeof(*r->curves));
	if (!r->curves)
		return page_no_memory(reterr);
	for (i = 0; i < r->panels.panels_len; i++) {
		const struct panel *p = &r->panels.panels[i];

		for (k = 0; k < p->curves_len; k++)
			r->curves[r->curves_len++] = (struct page_curve){.curve = &p->curves[k],
			                                                 .base = SIZE_MAX};
		if (p->total)
			r->curves[r->curves_len++] = (struct page_curve){.curve = p->total,
			                                                 .base = SIZE_MAX};
	}
	return GALVO_OK;
}

galvo_status document_bits(struct document *d, int32_t bits, galvo_error *reterr)
{
	if (bits && bits != 32 && bits != 64)
		return err_set(reterr, GALVO_ERR_INVALID, "values have 32 or 64 bits, not %d", (int)bits);
	d->bytes = bits == 64 ? 8 : 4;
	return GALVO_OK;
}

galvo_status document_open(struct document *d, const galvo_page_run *runs, size_t runs_len,
                           const galvo_summary *summary, uint64_t zero_mono_ns,
                           galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	buf_init(&d->resolution, 4096);
	d->runs = alloc_array(runs_len, sizeof(*d->runs));
	if (!d->runs)
		return page_no_memory(reterr);
	d->runs_len = runs_len;
	for (i = 0; i < runs_len && status == GALVO_OK; i++) {
		d->runs[i].asked = &runs[i];
		status = open_run(&d->runs[i], summary, zero_mono_ns, d->memory, reterr);
	}
	return status;
}

/* What the first run ran, or the labels of several. */
galvo_status document_title(struct document *d, const char *title, galvo_error *reterr)
{
	const struct summary_workload *w = &d->runs[0].summary->workload;
	size_t i;

	buf_init(&d->title, TITLE_BYTES_MAX);
	if (title && title[0])
		buf_put(&d->title, title, strnlen(title, TITLE_BYTES));
	else if (d->runs_len > 1)
		for (i = 0; i < d->runs_len && d->title.len < TITLE_BYTES; i++) {
			buf_put_str(&d->title, i ? ", " : "");
			buf_put(&d->title, run_label(&d->runs[i]), strnlen(run_label(&d->runs[i]), TITLE_BYTES));
		}
	else
		for (i = 0; i < w->argv_len && d->title.len < TITLE_BYTES; i++) {
			buf_put_str(&d->title, i ? " " : "");
			buf_put(&d->title, w->argv[i], strnlen(w->argv[i], TITLE_BYTES));
		}
	if (!d->title.len)
		buf_put_str(&d->title, run_label(&d->runs[0]));
	return d->title.failed ? page_no_memory(reterr) : GALVO_OK;
}

static void finish_run(struct page_run_data *r)
{
	size_t i;

	for (i = 0; i < r->curves_len; i++)
		free(r->curves[i].blocks);
	free(r->curves);
	for (i = 0; i < r->bases_len; i++) {
		free(r->bases[i].from);
		free(r->bases[i].end);
		free(r->bases[i].pieces);
	}
	free(r->bases);
	if (r->has_panels)
		panels_finish(&r->panels);
	galvo_summary_destroy(r->own_summary);
}

void document_finish(struct document *d)
{
	size_t i;

	for (i = 0; i < d->runs_len; i++)
		finish_run(&d->runs[i]);
	free(d->runs);
	for (i = 0; i < LAYERS; i++)
		blocks_finish(&d->blocks[i]);
	packer_finish(&d->packer);
	buf_finish(&d->resolution);
	buf_finish(&d->title);
}

/* ---- runs below each other ---------------------------------------------------------------------------- */

/* The names of a run's regions, as many as an error has room for. */
static void put_names(struct buf *b, const struct galvo_summary *sum)
{
	size_t i;

	for (i = 0; i < sum->regions_len && b->len < 80; i++) {
		struct span name = sum->regions[i].name;

		buf_put_str(b, i ? ", '" : "'");
		buf_put_escaped(b, span_of(name.p, name.n < 40 ? name.n : 40));
		buf_put_str(b, "'");
	}
	buf_put_str(b, i < sum->regions_len ? ", \xe2\x80\xa6" : "");
}

static galvo_status no_such_region(const struct page_run_data *r, const char *name,
                                   galvo_error *reterr)
{
	struct buf names, label;
	galvo_status status;

	buf_init(&names, 1024);
	buf_init(&label, 4096);
	if (r->summary->regions_len)
		put_names(&names, r->summary);
	buf_put_escaped(&label, span_of(run_label(r), strnlen(run_label(r), 60)));
	status = err_set(reterr, GALVO_ERR_ABSENT, "%.*s: no region is called '%.60s': it has %.*s%.*s",
	                 (int)(label.len < 80 ? label.len : 80), label.p ? label.p : "", name, names.len ? 0 : 4, "none",
	                 (int)names.len, names.p ? names.p : "");
	buf_finish(&names);
	buf_finish(&label);
	return status;
}

galvo_status document_align(struct document *d, const char *name, galvo_error *reterr)
{
	size_t i, k;

	for (i = 0; i < d->runs_len; i++) {
		struct page_run_data *r = &d->runs[i];

		for (k = 0; k < r->summary->regions_len; k++)
			if (span_eq_str(r->summary->regions[k].name, name))
				break;
		if (k == r->summary->regions_len)
			return no_such_region(r, name, reterr);
		r->shift_s = r->summary->regions[k].first_s;
	}
	return GALVO_OK;
}

/* ---- what is shown, in words -------------------------------------------------------------------------- */

/* How long the longest bucket of the finest pieces is, of bases that are not there point by point. */
static double bucket_s(const struct document *d)
{
	enum layer layer = document_has(d, LAYER_FINER) ? LAYER_FINER : LAYER_OVERVIEW;
	double longest = 0;
	size_t i, k, m;

	for (i = 0; i < d->runs_len; i++)
		for (k = 0; k < d->runs[i].bases_len; k++) {
			const struct base *b = &d->runs[i].bases[k];
			double period = b->len ? (double)(b->end[b->len - 1] - b->from[0]) / 1e9 /
			                         (double)b->len : 0;

			for (m = 0; m < b->pieces_len; m++)
				if (b->pieces[m].layer == layer && b->pieces[m].per > 1)
					longest = fmax(longest, period * (double)b->pieces[m].per);
		}
	return longest;
}

static bool is_whole(const struct document *d)
{
	size_t i, k;

	for (i = 0; i < d->runs_len; i++)
		for (k = 0; k < d->runs[i].bases_len; k++)
			if (!base_is_whole(&d->runs[i].bases[k]))
				return false;
	return true;
}

static void say_left_out(struct buf *b, size_t shown, size_t all, const char *which,
                         const char *what)
{
	if (shown < all)
		buf_printf(b, "; %s %zu of %zu %s", which, shown, all, what);
}

void document_say_resolution(struct document *d, const galvo_page_window *windows, size_t n)
{
	struct buf *b = &d->resolution;
	size_t i;

	b->len = 0;
	if (is_whole(d) || (document_has(d, LAYER_POINTS) && n == 0) || !(bucket_s(d) > 0)) {
		buf_put_str(b, "all values are here");
	} else {
		buf_put_str(b, "1 bucket = ");
		put_brief(b, bucket_s(d));
		buf_put_str(b, ": lowest, highest and mean");
		for (i = 0; i < n; i++) {
			buf_put_str(b, i ? ", " : "; all values of ");
			buf_put_general(b, windows[i].from_s, 9);
			buf_put_str(b, "\xe2\x80\x93");
			buf_put_general(b, windows[i].end_s, 9);
			buf_put_str(b, i + 1 == n ? " s" : "");
		}
	}
	for (i = 0; i < d->runs_len; i++) {
		const struct page_run_data *r = &d->runs[i];

		say_left_out(b, regions_shown(d, r), r->panels.regions_len, "the longest", "regions");
		say_left_out(b, processes_shown(d, r), r->summary->processes_len, "the busiest",
		             "processes");
		say_left_out(b, marks_shown(d, r), marks_recorded(r), "the first", "marks");
	}
}
