/*
 * A run as a picture: panels over one axis of time, drawn once, for paper.
 *
 * Any thread. The same run with the same options gives the same bytes, with the same galvo, and for PNG
 * and PDF the same cairo and fonts.
 */
#ifndef GALVO_PLOT_H
#define GALVO_PLOT_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum galvo_plot_format {
	GALVO_PLOT_PNG = 1, /* needs cairo, which is loaded then */
	GALVO_PLOT_SVG = 2, /* needs nothing; words are text */
	GALVO_PLOT_PDF = 3, /* pages of A4; needs cairo */
	GALVO_PLOT_FORMAT_WIDTH = 0x7fffffff
} galvo_plot_format;

typedef struct galvo_plot_options {
	size_t struct_size;    /* members beyond it are 0 */
	int32_t format;        /* a galvo_plot_format; 0: PNG */
	int32_t is_dark;       /* 1: light on dark */
	int32_t gpu_only;      /* 1: panels, regions and marks of GPUs alone */
	uint32_t width;        /* pixels, or points of 1/72 inch of a PDF; 0: 1600 pixels, 595 points (A4) */
	uint32_t panel_height; /* of each panel, in the same; 0: a good one */
	uint32_t reserved;     /* 0 */
	const char *panels;    /* ids, commas between, patterns of a shell; NULL: all that have values */
	uint64_t after_ns, before_ns; /* the start of the recording plus these; before 0: up to its end */
	const char *title;     /* any bytes; NULL: the command */
} galvo_plot_options;

/*
 * NULL options: all 0. INVALID: no panel has that id (reterr names some that there are), no such time, a
 * picture that is too large. ABSENT: there is nothing to draw, or no cairo: reterr says what is missing.
 */
GALVO_API galvo_status galvo_plot_write(const galvo_run *run, const galvo_plot_options *options,
                                        galvo_write_fn write_fn, void *ctx, galvo_error *reterr);

/*
 * The panels that there are, for `panels`: the id, a tab, the title, a newline; those without values too.
 * Printable UTF-8. NULL options: all 0; of others, those that choose a part of the time, or GPUs, count.
 */
GALVO_API galvo_status galvo_plot_list(const galvo_run *run, const galvo_plot_options *options,
                                       galvo_write_fn write_fn, void *ctx, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
