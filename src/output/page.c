/* The public door of the page: what is asked for, and what this galvo was built without. */
#include "galvo/page.h"
#include "output.h"

galvo_status galvo_page_write(const galvo_page_run *runs, size_t runs_len,
                              const galvo_page_options *options, galvo_write_fn write_fn, void *ctx,
                              galvo_error *reterr)
{
	(void)options;
	(void)ctx;
	if (!runs || !runs_len || !write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "a page needs a run and a writer");
	return err_set(reterr, GALVO_ERR_ABSENT, "this galvo was built without its page");
}

galvo_status galvo_page_part_at(int32_t part, const char **ret_bytes, size_t *ret_len,
                                galvo_error *reterr)
{
	if (!ret_bytes || !ret_len || part < GALVO_PAGE_HTML || part > GALVO_PAGE_STYLE)
		return err_set(reterr, GALVO_ERR_INVALID, "a page has no part %d", (int)part);
	return err_set(reterr, GALVO_ERR_ABSENT, "this galvo was built without its page");
}

galvo_status galvo_page_data(const galvo_run *run, const galvo_page_data_options *options,
                             galvo_write_fn write_fn, void *ctx, galvo_error *reterr)
{
	(void)options;
	(void)ctx;
	if (!run || !write_fn)
		return err_set(reterr, GALVO_ERR_INVALID, "data of a page need a run and a writer");
	return err_set(reterr, GALVO_ERR_ABSENT, "this galvo was built without its page");
}
