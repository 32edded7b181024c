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
	uint64_t sequence, frequency_hz, mono_ns;
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

/* Start with form and file set, all else zero. */
struct frame_scan {
	const struct stream_form *form;
	struct span file;
	size_t at;
	size_t sealed_at; /* where the next message with a right checksum begins… */
	bool sealed_known; /* …if that was looked for and is not behind */
	uint64_t summed_bytes; /* spent on the search for them */
};

/* Takes the next piece of the file; false at its end. */
bool frame_next(struct frame_scan *scan, struct frame *ret);

/* ---- decode.c: from messages to columns ---------------------------------------------------- */

/* A run while it is read. Arrays are bufs of the structs that struct galvo_run shows. */
struct reading {
	struct arena arena;
	struct interner process_keys, device_keys, event_names;
	struct buf streams, tables, processes, devices, sources, damages, regions, marks;
	struct buf open_regions; /* of the message read last */
};

void reading_init(struct reading *r);
void reading_finish(struct reading *r);
/* Reads all of a stream. NOMEM or NEWER; damage is noted. file_name: the arena's or static. */
galvo_status reading_add_stream(struct reading *r, const struct stream_form *form,
                                const char *file_name, struct span bytes, galvo_error *reterr);
/* False when memory is out. */
__attribute__((format(printf, 5, 6))) bool reading_note(struct reading *r, const char *file,
                                                        uint64_t offset, bool torn_tail,
                                                        const char *fmt, ...);

/* ---- process.c: processes, devices and sources; each false when memory is out ------------------ */

bool process_read(struct reading *r, struct span bytes);
bool device_read(struct reading *r, struct span bytes);
bool device_name_read(struct reading *r, struct span name);
bool stats_read(struct reading *r, struct run_stream *stream, size_t sources_from,
                struct span bytes);

/* ---- region_read.c ------------------------------------------------------------------------- */

/* A member of an EventTrace, if it is about regions or marks. False when memory is out. */
bool events_read(struct reading *r, struct run_stream *stream, uint32_t field, struct span bytes);
void events_forget_open(struct reading *r); /* another message begins */
/* After all: gives regions and marks their names, and the open ones their place. */
bool events_name(struct reading *r);

/* ---- session_read.c, run.c ----------------------------------------------------------------- */

/* NOMEM or MALFORMED. */
galvo_status session_read(struct arena *a, struct span bytes, const struct session **ret_session,
                          galvo_error *reterr);
/*
 * Opens the run's directory and reads its session (NULL if there is none that can be read; *ret_why
 * then says why, in the arena or static).
 */
galvo_status run_dir_open(const char *dir, struct arena *a, int *ret_fd,
                          const struct session **ret_session, const char **ret_why,
                          galvo_error *reterr);
/* What galvo_run_check answers. */
void run_sum_up(const struct galvo_run *run, galvo_check_result *ret);
#define REPAIR_SUBJECT "recording" /* of the notes that a repaired copy has of itself */
/* The i-th file that may be a stream of the run; false past the end. */
bool run_stream_name(const struct session *, size_t i, const struct stream_form **ret_form,
                     const char **ret_name);
/* ABSENT when there is no such regular file. `into` is for buf_finish. */
galvo_status run_file_read(int dir_fd, const char *name, struct buf *into, struct span *ret_bytes,
                           galvo_error *reterr);

#endif
