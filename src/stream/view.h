/* Inside the public view of a run: structs that know their size, and where lists end. */
#ifndef GALVO_STREAM_VIEW_H
#define GALVO_STREAM_VIEW_H

#include "galvo/reader.h"
#include "reader.h"

/* Copies as much of the struct as the caller knows of. INVALID: NULL, or a size that is none. */
galvo_status view_give(void *ret, const void *full, size_t size, galvo_error *reterr);
/* Number i of `len` things of a run: OK, DONE, or INVALID without a run. */
galvo_status view_at(const struct galvo_run *run, size_t i, size_t len, galvo_error *reterr);
/* INVALID: there is no such table. */
galvo_status view_table(const struct galvo_run *run, size_t i, const struct table **ret_table,
                        galvo_error *reterr);
int32_t table_key_kind(const struct table *t); /* a galvo_key_kind */

#endif
