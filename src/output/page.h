/*
 * Inside output: the page and its data, as docs/page.md has them.
 *
 * A document has runs, a run has bases (instants) and curves, and both have pieces: the same time in
 * buckets of one size, or point by point. What a piece holds is a block, deflated.
 */
#ifndef GALVO_PAGE_INSIDE_H
#define GALVO_PAGE_INSIDE_H

#include <zlib.h>

#include "galvo/page.h"
#include "json.h"

#define PAGE_BYTES (UINT64_C(32) << 20)
#define PAGE_BUCKETS 2048
#define PIECE_POINTS 262144 /* of one piece, at most */

static inline galvo_status page_no_memory(galvo_error *reterr)
{
	return err_set(reterr, GALVO_ERR_NOMEM, "no memory for a page");
}

/* ---- page_block.c: points to bytes ----------------------------------------------------------------- */

struct block {
	char *bytes; /* raw deflate */
	size_t len;
};

struct blocks {
	struct block *all;
	size_t len, cap;
	uint64_t written_bytes; /* what they take in a document, about */
};

/* Makes blocks, one after the other. Begin with zeroes. */
struct packer {
	z_stream z;
	bool is_open;
	struct buf plain, packed;
};

void packer_finish(struct packer *p);
/* Instants, as ends and then starts in varints. *ret: number of the block. */
galvo_status pack_instants(struct packer *p, const uint64_t *from, const uint64_t *end, size_t n,
                           uint64_t zero, struct blocks *to, size_t *ret, galvo_error *reterr);
/* `parts` numbers of each of n things, each part by itself; bytes: 4 or 8 of a number. */
struct pack_values {
	const double *const *parts;
	size_t parts_len, n;
	unsigned bytes;
};
galvo_status pack_values(struct packer *p, const struct pack_values *values, struct blocks *to,
                         size_t *ret, galvo_error *reterr);
void blocks_finish(struct blocks *b);
void put_base64(struct buf *b, const char *bytes, size_t n);

/* ---- page_curves.c: curves to pieces --------------------------------------------------------------- */

/* Layers of pieces, coarse ones first. */
enum layer { LAYER_OVERVIEW, LAYER_FINER, LAYER_POINTS, LAYERS };

struct piece {
	enum layer layer;
	uint64_t from_mono_ns, end_mono_ns;
	size_t n, per;
	size_t block; /* of its layer's blocks */
};

struct base {
	uint64_t *from, *end; /* all of its instants */
	size_t len;
	uint64_t hash;
	struct piece *pieces;
	size_t pieces_len, pieces_cap;
};

struct page_curve {
	const struct curve *curve;
	size_t base;    /* SIZE_MAX: no points at all */
	size_t *blocks; /* one for each piece of its base */
	size_t blocks_cap;
	size_t n;
	double mean, min, max, integral; /* over all of its time; NaN: not known */
};

struct page_run_data {
	const galvo_page_run *asked;
	const struct galvo_summary *summary;
	struct galvo_summary *own_summary; /* it, if it is ours */
	struct panels panels;
	bool has_panels;
	uint64_t zero_mono_ns;
	double shift_s;
	struct base *bases;
	size_t bases_len, bases_cap;
	struct page_curve *curves; /* of all panels, one after the other; a stack's total is its last one */
	size_t curves_len;
};

/* What is packed of each curve, in one go. */
struct packing {
	enum layer layer;
	uint64_t from_mono_ns, end_mono_ns; /* of all runs' time: 0 and UINT64_MAX */
	double from_s, end_s;               /* or since each run's start; end 0: as above */
	size_t wish;                        /* buckets; SIZE_MAX: all points */
	uint64_t room_bytes;                /* it is given up when it takes more; 0: whatever it takes */
	bool gave_up;
};

/* What the build makes: fixed bytes, and the hashes of two of them for the page's policy. */
struct page_parts {
	struct span script, style, hashes;
};

struct document {
	const char *kind;
	const struct page_parts *parts; /* of a page */
	bool is_live;
	bool is_detail; /* values and what they belong to, nothing else */
	bool is_news;   /* a moment of a recording: no figures of all of it */
	uint64_t sequence;
	unsigned bytes; /* of a value */
	uint64_t max_bytes; /* what regions and processes have to leave room in */
	struct page_run_data *runs;
	size_t runs_len;
	struct blocks blocks[LAYERS];
	struct packer packer;
	struct buf resolution, title;
	galvo_page_memory *memory; /* what was shown before, and now; NULL: nobody asks */
};

galvo_status document_pack(struct document *d, struct packing *packings, size_t n,
                           galvo_error *reterr);
/* Forgets the pieces of a layer. */
void document_drop(struct document *d, enum layer layer);
/* Whether some base has a layer's piece; whether all of it is there, point by point. */
bool document_has(const struct document *d, enum layer layer);
bool base_is_whole(const struct base *b);

/* ---- page_run.c: documents begin and end ------------------------------------------------------------ */

/* Of its values; 0: 32. */
galvo_status document_bits(struct document *d, int32_t bits, galvo_error *reterr);
/* *d begins with zeroes, but for what is asked; document_finish after failures too. */
galvo_status document_open(struct document *d, const galvo_page_run *runs, size_t runs_len,
                           const galvo_summary *summary, uint64_t zero_mono_ns,
                           galvo_error *reterr);
void document_finish(struct document *d);
/* NULL: a title of its own. */
galvo_status document_title(struct document *d, const char *title, galvo_error *reterr);
/* Shifts its runs so that their first regions of that name begin together. */
galvo_status document_align(struct document *d, const char *name, galvo_error *reterr);
const char *run_label(const struct page_run_data *r);
/* Says what the pieces that are there show. */
void document_say_resolution(struct document *d, const galvo_page_window *windows, size_t n);

/* ---- page_json.c, page_things.c: documents as JSON -------------------------------------------------- */

#define BLOCK_ID_BYTES 24
/* Without its blocks: they are elsewhere. */
galvo_status document_write(const struct document *d, bool has_blocks, galvo_write_fn write_fn,
                            void *ctx, galvo_error *reterr);
/* What tells a process from all others: "4711:81233". */
void json_process_id(struct json *j, const char *key, const struct process_info *info);
void json_processes(struct json *j, const struct document *d, const struct page_run_data *r);
void json_regions(struct json *j, const struct document *d, const struct page_run_data *r);
void json_marks(struct json *j, const struct document *d, const struct page_run_data *r);
/* How many of them are shown; SIZE_MAX: there is no memory to tell. */
size_t regions_shown(const struct document *d, const struct page_run_data *r);
size_t marks_shown(const struct document *d, const struct page_run_data *r);
size_t marks_recorded(const struct page_run_data *r);
size_t processes_shown(const struct document *d, const struct page_run_data *r);
/* Of an element, or of a member: "k17". Returns id. */
const char *block_id(char id[static BLOCK_ID_BYTES], enum layer layer, size_t number);

/* ---- page_memory.c ---------------------------------------------------------------------------------- */

bool page_memory_has(const void *memory, const char *key);
/* From now on it has been shown up to there; its first point joins what was. False: no memory. */
bool page_memory_note(galvo_page_memory *m, const char *key, struct points *p);

/* ---- page_html.c, page_embed.c ---------------------------------------------------------------------- */

/* NULL write_fn: *ret_bytes tells how much it would be. */
galvo_status html_write(const struct document *d, galvo_write_fn write_fn, void *ctx,
                        uint64_t *ret_bytes, galvo_error *reterr);
/* What the build has put into this galvo. ABSENT: it has no page, and why. */
galvo_status page_embedded(struct page_parts *ret, galvo_error *reterr);
/* galvo_page_write with these parts. */
galvo_status page_write(const struct page_parts *parts, const galvo_page_run *runs, size_t runs_len,
                        const galvo_page_options *options, galvo_write_fn write_fn, void *ctx,
                        galvo_error *reterr);

#endif
