/*
 * What happened in a run, in numbers, and as text or JSON.
 *
 * One thread at a time may use one object.
 */
#ifndef GALVO_SUMMARY_H
#define GALVO_SUMMARY_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_summary galvo_summary;

/* Borrows the run until galvo_summary_destroy. */
GALVO_API galvo_status galvo_summary_create(const galvo_run *run, galvo_summary **ret_summary,
                                            galvo_error *reterr);
GALVO_API void galvo_summary_destroy(galvo_summary *summary); /* NULL is fine */

typedef enum galvo_report_format {
	GALVO_REPORT_TEXT = 1, /* one screen of 80 columns */
	GALVO_REPORT_JSON = 2, /* keys: galvo-report(1) */
	GALVO_REPORT_FORMAT_WIDTH = 0x7fffffff
} galvo_report_format;

/* Writes the report through write_fn. INVALID for a format it does not know. */
GALVO_API galvo_status galvo_summary_write(const galvo_summary *summary, galvo_report_format format,
                                           galvo_write_fn write_fn, void *ctx, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
