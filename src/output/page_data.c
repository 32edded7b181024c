/* What a page that is served asks for: all of a run, a part of its time, news of it. */
#include "page.h"

static galvo_status check(const galvo_run *run, const galvo_page_data_options *o,
                          galvo_write_fn write_fn, galvo_error *reterr)
{
	if (!run || !write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "data of a page need a run and a writer");
	if (o->kind < GALVO_PAGE_OVERVIEW || o->kind > GALVO_PAGE_NEWS)
		return err_set(reterr, GALVO_ERR_INVALID, "a page has no data of kind %d", (int)o->kind);
	if (o->kind == GALVO_PAGE_DETAIL && !(o->end_s > o->from_s && o->end_s > 0 && o->end_s < 1e9))
		return err_set(reterr, GALVO_ERR_INVALID,
		               "details are of a time that ends behind its beginning, above 0 and below 1e9 s");
	return GALVO_OK;
}

galvo_status galvo_page_data(const galvo_run *run, const galvo_page_data_options *options,
                             galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	static const char *const kinds[] = {"", "overview", "detail", "news"};
	const galvo_page_run runs[1] = {{run, options ? options->label : NULL}};
	galvo_page_data_options o;
	struct packing all = {.layer = LAYER_OVERVIEW, .end_mono_ns = UINT64_MAX};
	struct document d = {0};
	galvo_status status = sized_take("data options", &o, sizeof(o), options, reterr);

	if (status == GALVO_OK)
		status = check(run, &o, write_fn, reterr);
	if (status == GALVO_OK)
		status = document_bits(&d, o.precision_bits, reterr);
	if (status != GALVO_OK)
		return status;
	d.kind = kinds[o.kind];
	d.is_live = o.is_live != 0;
	d.is_detail = o.kind == GALVO_PAGE_DETAIL;
	d.is_news = o.kind == GALVO_PAGE_NEWS;
	d.sequence = o.sequence;
	d.memory = d.is_detail ? NULL : o.memory;
	all.wish = o.buckets ? o.buckets : d.is_news ? SIZE_MAX : PAGE_BUCKETS;
	if (d.is_detail) {
		all.from_s = fmax(o.from_s, 0);
		all.end_s = o.end_s;
	}
	status = document_open(&d, runs, 1, o.summary, o.zero_mono_ns, reterr);
	if (status == GALVO_OK)
		status = document_title(&d, o.title, reterr);
	if (status == GALVO_OK)
		status = document_pack(&d, &all, 1, reterr);
	if (status == GALVO_OK) {
		document_say_resolution(&d, NULL, 0);
		status = document_write(&d, true, write_fn, ctx, reterr);
	}
	document_finish(&d);
	return status;
}
