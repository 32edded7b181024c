/* Inside the public view of a run: structs that know their size, and where lists end. */
#ifndef GALVO_STREAM_VIEW_H
#define GALVO_STREAM_VIEW_H

#include "galvo/reader.h"
#include "reader.h"

/* As sized_give. INVALID also for NULL. */
galvo_status view_give(const char *what, void *ret, const void *full, size_t bytes,
                       galvo_error *reterr);
/* Number i of `len` things of a run: OK, DONE, or INVALID without a run. */
static inline galvo_status view_at(const struct galvo_run *run, size_t i, size_t len,
                                   galvo_error *reterr)
{
	if (!run)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no run");
	return i < len ? GALVO_OK : GALVO_DONE;
}
/* INVALID: there is no such table. */
galvo_status view_table(const struct galvo_run *run, size_t i, const struct table **ret_table,
                        galvo_error *reterr);
int32_t table_key_kind(const struct table *t); /* a galvo_key_kind */

#endif
