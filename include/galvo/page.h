/*
 * A page to look at runs with: one HTML file that needs nothing else, or the same page fed by a server.
 *
 * Any thread; one thread at a time may use one object. Times on pages are seconds since the start of the
 * recording. galvo-page(3) has more.
 */
#ifndef GALVO_PAGE_H
#define GALVO_PAGE_H

#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one file ------------------------------------------------------------------------------------ */

typedef struct galvo_page_run { /* layout frozen */
	const galvo_run *run;
	const char *label; /* what it is called where there are several; NULL: its host's name */
} galvo_page_run;

typedef struct galvo_page_window { /* layout frozen */
	double from_s, end_s;
} galvo_page_window;

typedef struct galvo_page_options {
	size_t struct_size;
	uint64_t max_bytes;     /* of the page: what does not fit is there in buckets; 0: 32 MiB */
	int32_t precision_bits; /* of values: 32, a relative error of 6e-8, or 64; 0: 32 */
	int32_t reserved;
	const char *align;      /* regions of this name: the first of each run are drawn one below the other;
	                           NULL: the starts are */
	const galvo_page_window *details; /* all values of these times come before the rest */
	size_t details_len;
	const char *title;      /* NULL: what the first run ran */
} galvo_page_options;

/*
 * NULL options: all 0. ABSENT: this galvo was built without its page and reterr says why, or a run has no
 * region of that name. INVALID: the page, or the details that it is to have, cannot be that small.
 */
GALVO_API galvo_status galvo_page_write(const galvo_page_run *runs, size_t runs_len,
                                        const galvo_page_options *options, galvo_write_fn write_fn,
                                        void *ctx, galvo_error *reterr);

/* ---- for servers --------------------------------------------------------------------------------- */

typedef enum galvo_page_part {
	GALVO_PAGE_HTML = 1,   /* refers to "page.js" and "page.css", and asks for "data" and "news" */
	GALVO_PAGE_SCRIPT = 2, /* page.js, text/javascript */
	GALVO_PAGE_STYLE = 3,  /* page.css, text/css */
	GALVO_PAGE_PART_WIDTH = 0x7fffffff
} galvo_page_part;

/* Static bytes, UTF-8. ABSENT as above. */
GALVO_API galvo_status galvo_page_part_at(int32_t part, const char **ret_bytes, size_t *ret_len,
                                          galvo_error *reterr);

typedef enum galvo_page_data_kind {
	GALVO_PAGE_OVERVIEW = 1, /* of all of the run, in buckets */
	GALVO_PAGE_DETAIL = 2,   /* of a part of its time, values only */
	GALVO_PAGE_NEWS = 3,     /* all that a follower's run has, values and what is known of it */
	GALVO_PAGE_DATA_WIDTH = 0x7fffffff
} galvo_page_data_kind;

/*
 * What a page was shown. News are of moments: a curve that its overview has may do nothing in them, and would
 * be left out, or be one of many others. One for all documents of a recording, whoever looks.
 */
typedef struct galvo_page_memory galvo_page_memory;
GALVO_API galvo_status galvo_page_memory_create(galvo_page_memory **ret_memory, galvo_error *reterr);
GALVO_API void galvo_page_memory_destroy(galvo_page_memory *memory); /* NULL is fine */

typedef struct galvo_page_data_options {
	size_t struct_size;
	int32_t kind;           /* a galvo_page_data_kind */
	int32_t is_live;        /* the recording goes on */
	uint32_t buckets;       /* of each curve, at most some more; 0: 2048, and news have all values */
	int32_t precision_bits; /* as of a page */
	double from_s, end_s;   /* detail: since zero_mono_ns */
	uint64_t zero_mono_ns;  /* where times begin, as an earlier overview had it; 0: where the run begins */
	uint64_t sequence;      /* of these news, or of the last ones that it has; 0: none */
	const galvo_summary *summary; /* of the run, if it is there already; NULL: made for this call */
	const char *label, *title;    /* as of a page */
	galvo_page_memory *memory;    /* overview and news: what was shown goes on; NULL: each by itself */
} galvo_page_data_options;

/* One document of JSON. It needs no page: any galvo has it. */
GALVO_API galvo_status galvo_page_data(const galvo_run *run, const galvo_page_data_options *options,
                                       galvo_write_fn write_fn, void *ctx, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
