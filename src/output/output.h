/*
 * Numbers in, bytes out through a callback: the report, as text and as JSON.
 *
 * Pure: no clock, no locale, no terminal. The same summary gives the same bytes.
 */
#ifndef GALVO_OUTPUT_H
#define GALVO_OUTPUT_H

#include "derive/derive.h"

#define LINE_COLUMNS 80 /* no line of a report is longer, whatever is in a name */

/* ---- a sheet: what is being written, handed on in pieces ------------------------------------ */

struct sheet {
	struct buf buf; /* what has not been handed on yet */
	size_t line;    /* where in it the current line of text begins */
	size_t columns; /* no line is longer: LINE_COLUMNS */
	galvo_write_fn write_fn;
	void *ctx;
	galvo_status status;
};

/* write_fn is called with at least some KiB at a time, but for the last piece. */
void sheet_init(struct sheet *s, galvo_write_fn write_fn, void *ctx);
/* Hands on what is there when it is much, or when all is true. */
void sheet_flush(struct sheet *s, bool all);
/* Hands on the rest; says how it all went. */
galvo_status sheet_finish(struct sheet *s, galvo_error *reterr);

/* Ends a line of text: clips it at its columns with an ellipsis, takes blanks off its end. */
void sheet_line_end(struct sheet *s);
/* The same for words that matter: what is too long goes on in further lines, that far indented. */
void sheet_line_wrap(struct sheet *s, size_t indent);
/* Blanks up to that column, one at least: clips what reaches further. */
void sheet_column(struct sheet *s, size_t column);
/* A number by way of `put`, flush right in that many columns. */
void sheet_cell(struct sheet *s, size_t width, void (*put)(struct buf *, double), double v);
/* Text of ours to the end of the line. */
void sheet_text(struct sheet *s, const char *text);
/* Bytes of unknown encoding, printable. */
void sheet_escaped(struct sheet *s, const char *bytes);

/* ---- numbers for people; "-" for NaN -------------------------------------------------------- */

void put_bytes(struct buf *b, double bytes);        /* 1.23 GiB: three digits, binary units */
void put_short_bytes(struct buf *b, double bytes);  /* 1.23G, in binary units: six columns */
void put_bytes_per_s(struct buf *b, double rate);   /* 1.23 GiB/s */
void put_pct(struct buf *b, double pct);            /* 42.1 % */
void put_small_pct(struct buf *b, double pct);      /* 0.042 % */
void put_seconds(struct buf *b, double s);          /* 5.03, in a column whose head says seconds */
void put_fine_seconds(struct buf *b, double s);     /* 0.003: of short lives */
void put_duration(struct buf *b, double s);         /* 620 ms, 5.03 s, 2 min 05 s, 1 h 02 min */
void put_brief(struct buf *b, double s);             /* 850 µs, 5.03 s, 12.4 min: eight columns */
void put_count(struct buf *b, double v);             /* 12345, 2.50 M: six columns */
void put_decimal(struct buf *b, double v);          /* 1.5 */
void put_whole(struct buf *b, double v);            /* 12 */
void put_watts(struct buf *b, double watts);        /* 75.2 W, 1.20 kW */
void put_joules(struct buf *b, double joules);      /* 5.23 kJ */
void put_hz(struct buf *b, double hz);              /* 1.75 GHz */
void put_celsius(struct buf *b, double celsius);    /* 61 °C */
void put_time(struct buf *b, uint64_t wall_ns);     /* 2026-07-01T12:00:00Z; "-" for 0 */

/* Arguments as a shell would want them, near enough to see where each ends; ends behind `most` bytes. */
void put_command(struct buf *b, const struct summary_workload *w, size_t most);
void put_outcome(struct buf *b, const struct summary_workload *w); /* exit status 1 after 5.03 s */

/* ---- the two reports ------------------------------------------------------------------------ */

void report_text(struct sheet *s, const struct galvo_summary *sum, galvo_report_by by);
/* Its beginning: a label and a text a line, what is wrong with the recording included. */
void report_head(struct sheet *s, const struct galvo_summary *sum);
#define LABEL_COLUMNS 11 /* of the beginning: what stands before each line's text */
/* What is not in the figures: whether it is worth a line, and its two halves. */
bool note_is_shown(const struct summary_note *note);
void put_note_subject(struct sheet *s, const struct summary_note *note);
void put_note_text(struct sheet *s, const struct summary_note *note);
/* Sections of it; one that has nothing to say writes nothing. */
void report_machine(struct sheet *s, const struct galvo_summary *sum);
void report_devices(struct sheet *s, const struct galvo_summary *sum);
void report_gpus(struct sheet *s, const struct galvo_summary *sum);
/* "0"; "cuda 0" where numbers of others are not CUDA's. Of a whole one. */
void put_gpu_index(struct buf *b, const char *before, const struct summary_gpu *g);
void report_gpu_processes(struct sheet *s, const struct galvo_summary *sum); /* who used them */
void report_gpu_remarks(struct sheet *s, const struct galvo_summary *sum);   /* what stands out */
void report_regions(struct sheet *s, const struct galvo_summary *sum);
void report_processes(struct sheet *s, const struct galvo_summary *sum); /* as a tree */
void report_threads(struct sheet *s, const struct galvo_summary *sum);
void report_groups(struct sheet *s, const struct galvo_summary *sum);    /* by name */
/* The last rows of either: what is in nobody's. Columns of the numbers are the table's own. */
struct remainder_columns {
	size_t at;         /* where the CPU time stands */
	unsigned cpu, gap; /* widths of it, and of what is between it and the bytes */
	unsigned bytes;    /* of each of read and written */
	void (*put_bytes)(struct buf *, double);
	bool is_brief; /* there is room for few words only */
};
void report_remainder(struct sheet *s, const struct galvo_summary *sum,
                      const struct remainder_columns *c);
/* Such a row: its words are there already. NaN is left out. */
void put_remainder(struct sheet *s, const struct remainder_columns *c, double cpu_s,
                   double read_bytes, double write_bytes);
/* The kernel's account beside all that is attributed to somebody. */
void report_balance(struct sheet *s, const struct galvo_summary *sum);
/* NULL for one that is not worth a name: real-time signals, say. */
const char *signal_name(int32_t number);
void report_json(struct sheet *s, const struct galvo_summary *sum);

/* A table of text: names on the left, a column a number. */
/* A column is flush right in its width, blanks between it and the one before included. */
struct text_column {
	const char *head;
	unsigned width;
	void (*put)(struct buf *, double);
	size_t offset; /* of the double in the thing of the row */
};
#define NAME_COLUMNS 21
#define COLUMN(head, width, put, member, type)                                                     \
	{(head), (width), (put), offsetof(type, member)}

void table_head(struct sheet *s, const char *title, const struct text_column *columns, size_t n);
void table_heads(struct sheet *s, const char *title, const struct text_column *columns,
                 size_t n); /* the same, without ending the line */
/* The name is there already: fills the rest of the line, without ending it. */
void table_cells(struct sheet *s, const struct text_column *columns, size_t n, const void *thing);

#endif
