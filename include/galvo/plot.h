/*
 * A run as a picture: the panels of the page, drawn once, for paper.
 *
 * Any thread. The same run with the same options gives the same bytes.
 */
#ifndef GALVO_PLOT_H
#define GALVO_PLOT_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum galvo_plot_format {
	GALVO_PLOT_PNG = 1,
	GALVO_PLOT_SVG = 2,
	GALVO_PLOT_PDF = 3,
	GALVO_PLOT_FORMAT_WIDTH = 0x7fffffff
} galvo_plot_format;

typedef struct galvo_plot_options {
	size_t struct_size;
	int32_t format;    /* a galvo_plot_format; 0: PNG */
	int32_t is_dark;   /* 1: light on dark */
	int32_t gpu_only;  /* 1: panels and regions of GPUs alone */
	uint32_t width;    /* pixels, or points of 1/72 inch; 0: 1600 pixels, 595 points (A4) */
	uint32_t panel_height; /* of each panel; 0: a good one */
	uint32_t reserved;
	const char *panels; /* their ids, commas between, * and ? as in a shell; NULL: all that have values */
	double from_s, end_s; /* since the start of the recording; end 0: up to its end */
	const char *title; /* NULL: the command */
} galvo_plot_options;

/*
 * NULL options: all 0. INVALID: no panel has that id (reterr says which there are), no such time.
 * ABSENT: there is nothing to draw, or nothing to draw it with: reterr says what is missing.
 */
GALVO_API galvo_status galvo_plot_write(const galvo_run *run, const galvo_plot_options *options,
                                        galvo_write_fn write_fn, void *ctx, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
