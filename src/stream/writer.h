/* Inside the writing half: batches, streams, the writer, and what stands around the rows. */
#ifndef GALVO_STREAM_WRITER_H
#define GALVO_STREAM_WRITER_H

#include <pthread.h>

#include "format.h"

/*
 * Room in a batch, front to back: length and header, column names, rows up to the size asked for
 * and a little more, processes and devices, statistics and checksum. Untouched pages cost nothing.
 */
enum {
	FRONT_BYTES = 1024,
	ROW_BYTES_MAX = 128 + EVENT_NAME_MAX + ROW_MAX * 8,
	ROWS_SLACK_BYTES = 64 << 10,
	ITEM_BYTES_MAX = 2048, /* one process, device, GPU, source or open region */
	ITEMS_BYTES = 2 << 20,
	STATS_BYTES = 64 << 10,
	BATCH_BYTES_DEFAULT = 1 << 20,
	BATCH_BYTES_MAX = 32 << 20,
	BATCHES = 3,
	STREAMS_MAX = 8,
};

/* FREE and FULL are handed over with release and acquire: all else of a batch is the holder's. */
enum batch_state {
	BATCH_FREE, /* the owner may take it */
	BATCH_HELD, /* the owner fills it */
	BATCH_FULL, /* the writer thread may take it, in order of sequence */
};

struct batch {
	_Atomic uint32_t state;
	char *base;
	size_t start_bytes, end_bytes; /* of the framed message, from base */
	uint64_t sequence, rows;
};

struct stream_scope {
	struct row_form form;
	size_t columns_len;
};

struct stream {
	/* Fixed by writer_add. */
	struct writer *writer;
	const struct stream_form *form;
	char file_name[NAME_MAX_BYTES], hostname[NAME_MAX_BYTES];
	uint64_t frequency_hz;
	uint32_t cpu_count;
	uint64_t gpu_offset_ns;
	size_t batch_bytes, names_bytes;
	char *names; /* encoded, the same in every message */
	struct stream_scope scopes[ROW_FORMS_MAX];
	size_t scopes_len;
	struct batch batches[BATCHES];

	/* The owner's. */
	struct batch *held; /* NULL: between a flush and the next row, or none was free */
	char *at, *rows_start, *rows_end;
	char *buffer; /* of events: where the open one's fields begin; NULL: none is open */
	enum time_domain domain; /* of it */
	uint64_t sequence, rows;
	uint64_t flush_mono_ns, flush_interval_ns, flush_bytes; /* of the last flush */

	/* The writer thread's. */
	int fd;
	uint64_t file_bytes;

	_Atomic uint64_t owner_cpu_ns; /* told with each flush, read by anyone */
	_Atomic uint64_t lost[LOSSES]; /* as this */
	/* Added to by the owner (drops) and the writer thread, read by anyone. */
	_Atomic uint64_t bytes_written, messages, dropped_batches, dropped_rows;
};

struct writer {
	int dir_fd;
	struct stream *streams[STREAMS_MAX];
	size_t streams_len;
	pthread_t thread;
	bool running, is_drained, abandoned;
	_Atomic uint32_t wake, drained, last, done; /* see clock_wake */
	_Atomic bool stopping;
	struct stream *_Atomic at_work; /* whose message is being written */
	_Atomic uint64_t thread_cpu_ns;
	galvo_error first_error;     /* the thread's until drained */
	/* The thread's from last until done. */
	const char *last_name;       /* NULL: there is no last file */
	struct buf last_file;
	galvo_error last_error;
};

/* ---- batch.c ----------------------------------------------------------------------------------- */

/* A batch is held and has room for a row; else counts one that is dropped. */
bool stream_make_room(struct stream *s);


/* ---- message.c: each puts what it says and returns the new end; the caller has made room ---- */

/* Ends the EventBuffer that the last regions and marks went into. */
void events_close_buffer(struct stream *s);
/* A region as field number `field`; at most ITEM_BYTES_MAX. */
char *region_put(char *p, uint32_t field, const struct stream *s, const struct region *r);
/* As the file has an instant of that clock. */
uint64_t event_time(const struct stream *s, enum time_domain domain, uint64_t mono_ns);
struct span event_name_clip(struct span name); /* as much of it as is recorded */
/* A string field: valid UTF-8, clipped, left out when empty. */
char *text_put(char *p, uint32_t field, const char *text);

/* A nested message: begin, put its fields from the place returned, end. Up to 9 bytes more. */
char *nested_begin(char *p, uint32_t field);
char *nested_end(char *start, char *p);

char *message_put_header(char *p, const struct stream *s, const struct flush_info *info);
/* What comes behind the rows, without the checksum. Counts in *ret_left_out what found no room. */
char *message_put_tail(char *p, char *end, const struct stream *s, const struct flush_info *info,
                       uint64_t *ret_left_out);

/* ---- gpu.c -------------------------------------------------------------------------------------- */

/* Returns how many things found no room before `end`. */
size_t gpus_put(char **at, const char *end, const struct stream_form *form,
                const struct flush_info *info);

#endif
