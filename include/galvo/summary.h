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

/* How a page shows the processes; JSON has both. */
typedef enum galvo_report_by {
	GALVO_REPORT_BY_PID = 0,  /* as a tree */
	GALVO_REPORT_BY_COMM = 1, /* grouped by their names */
	GALVO_REPORT_BY_WIDTH = 0x7fffffff
} galvo_report_by;

typedef struct galvo_report_options {
	size_t struct_size; /* members beyond it are 0 */
	int32_t format;     /* a galvo_report_format; 0: text */
	int32_t by;         /* a galvo_report_by */
} galvo_report_options;

/* Writes the report through write_fn. INVALID for what it does not know. */
GALVO_API galvo_status galvo_summary_report(const galvo_summary *summary,
                                            const galvo_report_options *options,
                                            galvo_write_fn write_fn, void *ctx,
                                            galvo_error *reterr);
/* The same by pid. INVALID for a format it does not know. */
GALVO_API galvo_status galvo_summary_write(const galvo_summary *summary, galvo_report_format format,
                                           galvo_write_fn write_fn, void *ctx, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
