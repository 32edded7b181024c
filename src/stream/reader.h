/* Inside the reading half: memory, names by number, framing, decoding, the run that is built. */
#ifndef GALVO_STREAM_READER_H
#define GALVO_STREAM_READER_H

#include "format.h"

/* ---- arena.c: memory that is given back all at once; names by number ----------------------- */

struct arena_block;

struct arena {
	struct arena_block *top;
};

/* Zeroed; NULL when memory is out. */
void *arena_alloc(struct arena *a, size_t n, size_t size);
void *arena_copy(struct arena *a, const void *from, size_t n, size_t size);
const char *arena_text(struct arena *a, struct span s); /* NUL-terminated */
/* Makes what malloc gave the arena's; false when memory is out, and it is still the caller's. */
bool arena_adopt(struct arena *a, void *p);
void arena_finish(struct arena *a);

/* Different keys get the numbers 0, 1, 2 … in order of first sight. */
struct interner {
	struct buf bytes;  /* the keys, a NUL behind each */
	struct buf starts; /* size_t: where each begins */
	uint32_t *slots;   /* a hash table of numbers plus one, at most half full */
	size_t slots_len, len, max;
};

#define INTERN_FULL SIZE_MAX       /* it would be number `max` */
#define INTERN_NOMEM (SIZE_MAX - 1)

void interner_init(struct interner *it, size_t max);
void interner_finish(struct interner *it);
size_t intern(struct interner *it, struct span key);
/* As valid UTF-8 without NUL, clipped to NAME_MAX_BYTES. */
size_t intern_text(struct interner *it, struct span text);
/* All keys as strings; NULL when memory is out. */
const char *const *interner_export(const struct interner *it, struct arena *a);
/* All keys, which may hold a NUL. */
const struct span *interner_spans(const struct interner *it, struct arena *a);

/* ---- frame.c: from bytes to messages ------------------------------------------------------- */

struct header {
	bool present;
	uint32_t major, minor;
	uint64_t sequence, frequency_hz;
	struct anchor anchor;
	uint64_t gpu_ns; /* the same instant for GPUs; 0: not said */
};

void header_read(struct span bytes, struct header *ret);

enum frame_state { FRAME_SOUND, FRAME_DAMAGED, FRAME_TORN };

struct frame {
	enum frame_state state;
	size_t offset, bytes;  /* in the file; with its length when sound */
	struct span message;   /* of a sound one */
	struct header header;  /* of a sound one */
	const char *reason;    /* of the others; static */
};

/* What comes behind the bytes that are at hand. */
enum scan_end {
	END_FINAL,  /* nothing: the file ends */
	END_GROWS,  /* nothing yet: it may grow */
	END_WINDOW, /* the rest of the file */
};

/* Start with form and file set, all else zero. */
struct frame_scan {
	const struct stream_form *form;
	struct span file;
	enum scan_end end;
	bool trusts_checksum; /* what has the right one is not looked into */
	size_t at;
	size_t sealed_at; /* where the next message with a right checksum begins… */
	bool sealed_known; /* …if that was looked for and is not behind */
	uint64_t summed_bytes; /* spent on the search for them */
};

/* Takes the next piece; false at the end, or where more bytes are needed to tell what it is. */
bool frame_next(struct frame_scan *scan, struct frame *ret);
/* Whether a field of a trace, if that is a message, can be taken apart. */
bool field_is_sound(const struct stream_form *form, const struct wire_field *f);

/* ---- columns.c: rows into a table ---------------------------------------------------------- */

enum { COLUMNS_MAX = 1024 }; /* of one scope; more names are ignored */

/* A table while it is made: arrays of rows_cap elements, values[c] for c < columns_len. */
struct table_build {
	const struct row_form *form;
	struct interner columns, names;
	size_t rows_len, rows_cap, columns_len;
	size_t columns_max; /* so many have memory; beyond, the file has too few bytes for them */
	uint64_t *mono_ns;
	uint32_t *key;
	uint32_t *pid; /* of KEY_PAIR, the first of them */
	uint64_t *duration_ns; /* of those that have it */
	double *values[COLUMNS_MAX];
	uint32_t map[COLUMNS_MAX]; /* of the message at hand: where its i-th value goes */
	size_t map_len;
	bool map_is_plain; /* to the i-th of all columns */
};

void table_init(struct table_build *t, const struct row_form *form);
void table_finish(struct table_build *t); /* arrays that table_take has not taken go */
/* False when memory is out: the names of columns, from a message's. */
bool table_add_names(struct table_build *t, struct span names);
/*
 * Room for more rows and all columns. `wish` more would be welcome later; bytes: of the file up to
 * here, which limit how many cells there may be. False when memory is out.
 */
bool table_reserve(struct table_build *t, size_t more, size_t wish, uint64_t bytes);
/* One row, for which there is room. MALFORMED, NOMEM: it is not added. */
galvo_status table_add_row(struct table_build *t, struct span row);
/* The arrays become the arena's; false when memory is out. */
bool table_take(struct table_build *t, struct arena *a, struct table *ret);

/* ---- decode.c: from messages to columns ---------------------------------------------------- */

/* A run while it is read. Arrays are bufs of the structs that struct galvo_run shows. */
struct reading {
	struct arena arena;
	struct interner process_keys, thread_keys, device_keys, event_names;
	struct buf streams, tables, processes, threads, devices, gpus, sources, damages, regions, marks,
		anchors;
	struct buf open_regions; /* of the message read last */
	uint64_t gpu_offset_ns;  /* as the message at hand has it */
};

void reading_init(struct reading *r);
void reading_finish(struct reading *r);

/* What a stream is up to, between two readings of a part of it. */
struct stream_progress {
	uint64_t offset;        /* of the byte that is taken next */
	bool has_joined;        /* the number of the next message is known */
	uint64_t next_sequence, bad_since, dropped_before;
};

/* Of a whole file. */
#define STREAM_START ((const struct stream_progress){.has_joined = true})

/* Fewer than an honest message spends on a process, and on a thread. */
enum { PROCESS_WIRE_BYTES = 32, THREAD_WIRE_BYTES = 16 };

struct stream_build; /* one stream while it is read: a parser that is fed */

/*
 * file_name: the arena's or static. file_bytes: how many will come, as far as one knows. NULL: no
 * memory.
 */
struct stream_build *stream_build_create(struct reading *r, const struct stream_form *form,
                                         const char *file_name,
                                         const struct stream_progress *from,
                                         uint64_t file_bytes);
/*
 * Takes what it can of the bytes at progress.offset; the others are wanted again with more behind
 * them. NOMEM or NEWER; damage is noted.
 */
galvo_status stream_build_push(struct stream_build *b, struct span bytes, enum scan_end end,
                               size_t *ret_taken, galvo_error *reterr);
/* Gives bytes up that make no message, however many are looked at. False when memory is out. */
bool stream_build_skip(struct stream_build *b, size_t n);
/* Puts tables and the stream into the reading. False when memory is out. */
bool stream_build_take(struct stream_build *b, struct stream_progress *ret_progress);
void stream_build_destroy(struct stream_build *b); /* NULL is fine */

/* Makes the run of what was read; the arena becomes the run's. */
galvo_status reading_take(struct reading *r, const struct session *session,
                          struct galvo_run **ret_run, galvo_error *reterr);
/* False when memory is out. */
__attribute__((format(printf, 5, 6))) bool reading_note(struct reading *r, const char *file,
                                                        uint64_t offset, bool torn_tail,
                                                        const char *fmt, ...);

/* ---- window.c ------------------------------------------------------------------------------ */

/* Begin with zeroes. */
struct window {
	char *p; /* from the byte of the file at `offset` */
	size_t len, cap;
	uint64_t offset, end; /* the file is taken to end there, if it does not sooner */
	int fd;
};

void window_open(struct window *w, int fd, uint64_t offset, uint64_t end);
void window_finish(struct window *w);
/*
 * Feeds the parser up to the file's end, or past most_bytes. A file that cannot be read ends there,
 * and *ret_errno says why. NOMEM or NEWER.
 */
galvo_status window_feed(struct window *w, struct stream_build *b, enum scan_end end,
                         uint64_t most_bytes, bool *ret_is_end, int *ret_errno,
                         galvo_error *reterr);

/* ---- process.c: processes, devices and sources; each false when memory is out ------------------ */

bool process_read(struct reading *r, struct span bytes);
bool thread_read(struct reading *r, struct span bytes);
bool device_read(struct reading *r, struct span bytes);
bool device_name_read(struct reading *r, struct span name);
bool stats_read(struct reading *r, struct run_stream *stream, size_t sources_from,
                struct span bytes);

/* ---- gpu_read.c ---------------------------------------------------------------------------- */

/* What one stream says of GPUs, by the numbers that its rows have. Begin with zeroes. */
struct gpus_build {
	struct run_gpu *all;
	size_t len, cap;
	struct buf anchors; /* struct gpu_anchor, of the message at hand */
};

void gpus_init(struct gpus_build *g);
void gpus_finish(struct gpus_build *g);
/* A member of a trace, if it is about GPUs. False when memory is out. */
bool gpus_read(struct gpus_build *g, const struct stream_form *form, uint32_t field,
               struct span bytes);
void gpus_forget_anchors(struct gpus_build *g); /* another message begins */
/* From the GPUs' clock to ours: rows of the message whose header that is. False when memory is out. */
bool gpus_convert(struct gpus_build *g, const struct header *header, uint64_t *mono_ns, size_t n);
/*
 * Makes them the run's, where GPUs that other streams told of are the same, and numbers the keys of the
 * tables anew: they are then numbers of the run's GPUs, or GPU_NONE. False when memory is out.
 */
bool gpus_take(struct gpus_build *g, struct reading *r, struct table_build *tables, size_t n);
#define GPU_NONE UINT32_MAX

/* ---- region_read.c ------------------------------------------------------------------------- */

/* A member of an EventTrace, if it is about regions or marks. False when memory is out. */
bool events_read(struct reading *r, struct run_stream *stream, uint32_t field, struct span bytes);
void events_begin_message(struct reading *r, const struct header *header);
/* After all: gives regions and marks their names, and the open ones their place. */
bool events_name(struct reading *r);

/* ---- session_read.c, directory.c ------------------------------------------------------------ */

/* NOMEM or MALFORMED. */
galvo_status session_read(struct arena *a, struct span bytes, const struct session **ret_session,
                          galvo_error *reterr);
/* More files than any run has streams. */
enum { STREAM_FILES_MAX = 16 };

/*
 * Opens the run's directory and reads its session (NULL if there is none that can be read; *ret_why
 * then says why, in the arena or static).
 */
galvo_status run_dir_open(int at_fd, const char *dir, struct arena *a, int *ret_fd,
                          const struct session **ret_session, const char **ret_why,
                          galvo_error *reterr);
/* How far a file was read. */
struct run_cut {
	const struct stream_form *form;
	const char *name;
	uint64_t bytes;
};
/* galvo_run_open of what lies before the cuts: NULL: of all; else, of files without one, nothing. */
galvo_status run_read(int at_fd, const char *dir, const struct run_cut *cuts, size_t cuts_len,
                      galvo_run **ret_run, galvo_error *reterr);
/* What galvo_run_check answers. */
void run_sum_up(const struct galvo_run *run, galvo_check_result *ret);
#define REPAIR_SUBJECT "recording" /* of the notes that a repaired copy has of itself */
/* The i-th file that may be a stream of the run; false past the end. */
bool run_stream_name(const struct session *, size_t i, const struct stream_form **ret_form,
                     const char **ret_name);
/* ABSENT when there is no such regular file. */
galvo_status run_file_open(int dir_fd, const char *name, int *ret_fd, uint64_t *ret_bytes,
                           galvo_error *reterr);
/* ABSENT when there is no such regular file. `into` is for buf_finish. */
galvo_status run_file_read(int dir_fd, const char *name, struct buf *into, struct span *ret_bytes,
                           galvo_error *reterr);

#endif
