/* The page of runs: what of their values fits into it, and then the page. */
#include "page.h"

#define FINER_BUCKETS_MAX 50000
#define FINER_TRIES 5
#define BUCKETS_MIN 16 /* an overview of fewer shows nothing */

static galvo_status check_windows(const galvo_page_options *o, galvo_error *reterr)
{
	size_t i;

	if (o->details_len && !o->details)
		return err_set(reterr, GALVO_ERR_INVALID, "details are announced, and not there");
	for (i = 0; i < o->details_len; i++)
		if (!(o->details[i].from_s >= 0 && o->details[i].end_s > o->details[i].from_s &&
		      o->details[i].end_s < 1e9))
			return err_set(reterr, GALVO_ERR_INVALID,
			               "details: expected times that begin at 0 s or later and then end, "
			               "got %g to %g", o->details[i].from_s, o->details[i].end_s);
	return GALVO_OK;
}

static galvo_status check(const galvo_page_run *runs, size_t runs_len, const galvo_page_options *o,
                          galvo_write_fn write_fn, galvo_error *reterr)
{
	size_t i;

	if (!runs || !runs_len || !write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "a page needs a run and a writer");
	for (i = 0; i < runs_len; i++)
		if (!runs[i].run)
			return err_set(reterr, GALVO_ERR_INVALID, "a page needs a run, number %zu is none", i);
	return check_windows(o, reterr);
}

/* A time behind the ends of all runs is a slip of the pen. */
static galvo_status check_lengths(const struct document *d, const galvo_page_options *o,
                                  galvo_error *reterr)
{
	double longest_s = 0;
	size_t i;

	for (i = 0; i < d->runs_len; i++)
		longest_s = fmax(longest_s, (double)(int64_t)(d->runs[i].panels.end_mono_ns -
		                                              d->runs[i].zero_mono_ns) / 1e9);
	for (i = 0; i < o->details_len; i++)
		if (o->details[i].from_s >= longest_s)
			return err_set(reterr, GALVO_ERR_INVALID,
			               "details: expected times within the run, which is %.3g s long, got %g to "
			               "%g s", longest_s, o->details[i].from_s, o->details[i].end_s);
	return GALVO_OK;
}

/* ---- what fits ---------------------------------------------------------------------------------------- */

/* How much room is left, and one more; 0: it does not fit. */
static galvo_status room_left(struct document *d, const galvo_page_options *o, uint64_t *ret_room,
                              galvo_error *reterr)
{
	uint64_t bytes = 0;
	galvo_status status;

	document_say_resolution(d, o->details, o->details_len);
	status = html_write(d, NULL, NULL, &bytes, reterr);
	*ret_room = bytes <= d->max_bytes ? d->max_bytes - bytes + 1 : 0;
	return status;
}

/* Overviews, and with them all points in one go, as long as these may fit. */
static galvo_status pack_overviews(struct document *d, const galvo_page_options *o,
                                   bool *ret_is_whole, uint64_t *ret_room, galvo_error *reterr)
{
	struct packing packings[] = {
		{.layer = LAYER_OVERVIEW, .end_mono_ns = UINT64_MAX, .wish = PAGE_BUCKETS},
		{.layer = LAYER_POINTS, .end_mono_ns = UINT64_MAX, .wish = SIZE_MAX,
		 .room_bytes = d->max_bytes},
	};
	galvo_status status = document_pack(d, packings, 2, reterr);

	*ret_is_whole = !packings[1].gave_up;
	if (status == GALVO_OK)
		status = room_left(d, o, ret_room, reterr);
	if (status != GALVO_OK || *ret_room)
		return status;
	*ret_is_whole = false;
	document_drop(d, LAYER_POINTS);
	status = room_left(d, o, ret_room, reterr);
	while (status == GALVO_OK && *ret_room == 0 && packings[0].wish > BUCKETS_MIN) {
		document_drop(d, LAYER_OVERVIEW);
		packings[0].wish /= 2;
		status = document_pack(d, packings, 1, reterr);
		if (status == GALVO_OK)
			status = room_left(d, o, ret_room, reterr);
	}
	if (status == GALVO_OK && *ret_room == 0)
		status = err_set(reterr, GALVO_ERR_INVALID,
		                 "a page of these runs does not fit into %llu bytes, however coarse",
		                 (unsigned long long)d->max_bytes);
	return status;
}

/* All points of the times that are asked for. */
static galvo_status pack_windows(struct document *d, const galvo_page_options *o, uint64_t *room,
                                 galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < o->details_len && status == GALVO_OK; i++) {
		struct packing points = {.layer = LAYER_POINTS, .from_s = o->details[i].from_s,
		                         .end_s = o->details[i].end_s, .wish = SIZE_MAX};

		status = document_pack(d, &points, 1, reterr);
	}
	if (status == GALVO_OK && o->details_len)
		status = room_left(d, o, room, reterr);
	if (status == GALVO_OK && *room == 0)
		status = err_set(reterr, GALVO_ERR_INVALID,
		                 "the details that are asked for do not fit into a page of %llu bytes",
		                 (unsigned long long)d->max_bytes);
	return status;
}

/* As many buckets of each curve as there is room for, if that is more than overviews have. */
static galvo_status pack_finer(struct document *d, const galvo_page_options *o, uint64_t room,
                               galvo_error *reterr)
{
	uint64_t coarse = d->blocks[LAYER_OVERVIEW].written_bytes;
	double wish = coarse ? (double)room / (double)coarse * PAGE_BUCKETS : 0;
	galvo_status status = GALVO_OK;
	unsigned tries;

	for (tries = 0; tries < FINER_TRIES && status == GALVO_OK && wish > 1.5 * PAGE_BUCKETS; tries++) {
		struct packing finer = {.layer = LAYER_FINER, .end_mono_ns = UINT64_MAX,
		                        .room_bytes = room};
		uint64_t left = 0;

		wish = fmin(wish, FINER_BUCKETS_MAX);
		finer.wish = (size_t)wish;
		status = document_pack(d, &finer, 1, reterr);
		if (status != GALVO_OK)
			break;
		status = room_left(d, o, &left, reterr);
		if (status == GALVO_OK && left && !finer.gave_up)
			return GALVO_OK;
		document_drop(d, LAYER_FINER);
		wish *= 0.7;
	}
	document_drop(d, LAYER_FINER);
	return status;
}

static galvo_status fit(struct document *d, const galvo_page_options *o, galvo_error *reterr)
{
	uint64_t room = 0;
	bool is_whole = false;
	galvo_status status = pack_overviews(d, o, &is_whole, &room, reterr);

	if (status == GALVO_OK && !is_whole)
		status = pack_windows(d, o, &room, reterr);
	if (status == GALVO_OK && !is_whole)
		status = pack_finer(d, o, room, reterr);
	if (status == GALVO_OK)
		document_say_resolution(d, is_whole ? NULL : o->details, is_whole ? 0 : o->details_len);
	return status;
}

galvo_status page_write(const struct page_parts *parts, const galvo_page_run *runs, size_t runs_len,
                        const galvo_page_options *options, galvo_write_fn write_fn, void *ctx,
                        galvo_error *reterr)
{
	galvo_page_options o = {0};
	struct document d = {.kind = "page", .parts = parts};
	galvo_status status = GALVO_OK;

	if (options)
		status = sized_take("page options", &o, sizeof(o), options, reterr);
	if (status == GALVO_OK)
		status = check(runs, runs_len, &o, write_fn, reterr);
	if (status == GALVO_OK)
		status = document_bits(&d, o.precision_bits, reterr);
	if (status != GALVO_OK)
		return status;
	d.max_bytes = o.max_bytes ? o.max_bytes : PAGE_BYTES;
	status = document_open(&d, runs, runs_len, NULL, 0, reterr);
	if (status == GALVO_OK)
		status = check_lengths(&d, &o, reterr);
	if (status == GALVO_OK)
		status = document_title(&d, o.title, reterr);
	if (status == GALVO_OK && o.align)
		status = document_align(&d, o.align, reterr);
	if (status == GALVO_OK)
		status = fit(&d, &o, reterr);
	if (status == GALVO_OK)
		status = html_write(&d, write_fn, ctx, NULL, reterr);
	document_finish(&d);
	return status;
}

galvo_status galvo_page_write(const galvo_page_run *runs, size_t runs_len,
                              const galvo_page_options *options, galvo_write_fn write_fn, void *ctx,
                              galvo_error *reterr)
{
	struct page_parts parts;
	galvo_status status = page_embedded(&parts, reterr);

	return status == GALVO_OK
	       ? page_write(&parts, runs, runs_len, options, write_fn, ctx, reterr) : status;
}
