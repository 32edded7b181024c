/*
 * Where facts come from: one file a place, one row in sources.def.
 *
 * To add a source:
 *   1. Write src/source/NAME.c: its raw fields, its metrics (the columns, each with its help text),
 *      its texts (files below the root) with a pure parser each, and `const struct source
 *      source_NAME`. memory.c is a short model.
 *   2. Add the row SOURCE(NAME) to sources.def. CMake reads the same rows.
 *   3. Add rows to tests/source_rows.h, hostile ones among them, the files of a modern kernel to
 *      tests/fixtures/source/machine/ and a seed for the fuzzer to tests/fuzz/corpus/source/.
 * The columns then are on the wire, in the catalog, in `galvo metrics` and in galvo-metrics(7), and
 * the fuzz target for parsers covers the new one; the tests of the tree tell what is missing.
 *
 * A source is raw: no rates, no percentages, no smoothing. A parser is total on every input, does no
 * I/O, allocates nothing and keeps nothing. What it cannot read it leaves out: absent is not zero.
 * One bad field does not drop the rest of the file.
 */
#ifndef GALVO_SOURCE_H
#define GALVO_SOURCE_H

#include "model/model.h"

enum source_shape {
	SHAPE_SINGLE,  /* one row: the machine */
	SHAPE_LISTED,  /* the first text lists the things there are, a row each */
	SHAPE_PROCESS, /* a row for each followed process; texts are below proc/PID/ */
	SHAPE_THREAD,  /* a row for each thread of those, on request; a text below proc/PID/task/TID/ */
	SHAPE_GPU,     /* a row for each GPU; a vendor's library tells it, and there are no texts: gpu.h */
};

/*
 * Where a parser puts what it reads. `row` gives the place for the thing of that name and number, or
 * NULL when nobody asked for it. SHAPE_SINGLE, SHAPE_PROCESS, SHAPE_THREAD and a text with "%s" in its path call
 * it once with an empty name. Numbers: of a core its own, of a block device major << 20 | minor.
 */
struct raw_sink {
	struct raw *(*row)(struct raw_sink *, struct span name, uint32_t number);
};

/* The sink of a text that has one row. */
struct raw_only_sink {
	struct raw_sink sink; /* first; its row is raw_only_row */
	struct raw raw;
};
struct raw *raw_only_row(struct raw_sink *, struct span name, uint32_t number);

struct source_text {
	const char *path;     /* below the root; "%s" stands for the thing's name in sysfs; for
	                         SHAPE_PROCESS below proc/PID/, and "%u" stands for PID;
	                         for SHAPE_THREAD below proc/PID/task/TID/ */
	enum file_kind kind;
	bool optional;        /* the reading stands without it (not asked for, not there, not allowed) */
	bool on_request;      /* too dear to read unasked: its columns are absent until then */
	bool accounts;        /* fields of it are parts of an account */
	uint32_t every;       /* read at every n-th turn of the source, held between; 0: 1 */
	/*
	 * Fails only when nothing of the text is usable. SHAPE_PROCESS: DONE if that is all there is
	 * while the main thread lives; where it does not, the text of another thread stands in.
	 */
	galvo_status (*parse)(struct span text, const struct world *, struct raw_sink *,
	                      galvo_error *reterr);
};

/* Parts of what the kernel accounted to a process since its birth; together they are all of it. */
enum account_part {
	PART_OWN,
	PART_REAPED, /* of children it waited for, and of all that these had waited for */
	PART_MIXED,  /* either: there was no telling */
	PARTS_END,
};

/* A raw field that is such a part. */
struct source_account {
	enum usage_kind kind;
	enum account_part part;
	uint8_t field;
};

struct source {
	const char *name;     /* "disk" */
	const char *summary;  /* one line */
	enum source_shape shape;
	enum stream_kind stream;
	enum scope scope;
	uint64_t period_ns;   /* how often it is worth reading; 0: at every tick of its probe */
	const struct raw_field *fields;
	size_t fields_len;
	const struct metric *metrics;
	size_t metrics_len;
	const struct source_text *texts;
	size_t texts_len;
	/* SHAPE_PROCESS: for the books of a process, see track.h */
	const struct source_account *accounts;
	size_t accounts_len;
	/*
	 * SHAPE_PROCESS, or NULL: fields that come of several texts and of the reading before (nothing
	 * is present in the first one). All texts are then one reading, and are not read where the last
	 * one alone says nothing new.
	 * False: it takes all texts but the last once more to tell; the same `now` then comes again,
	 * is_sure.
	 */
	bool (*settle)(const struct raw *before, struct raw *now, bool is_sure);
	uint8_t mark_field; /* of what settles: of the first text; moves when it has waited for a child */
	/* SHAPE_PROCESS: the field that gets the process CPU clock in ns, read by whoever samples; -1 none */
	int cpu_clock_field;
	/*
	 * SHAPE_PROCESS: of the first text, 1 while the process is amid an exec, see below (0: it does not
	 * tell); and whether texts of this source do not answer then.
	 */
	uint8_t exec_field;
	bool waits_for_exec;
	/*
	 * SHAPE_PROCESS: while the process does not run, which its CPU clock tells, nothing of this
	 * changes but what the kernel moves slowly (swap, an orphan's parent).
	 */
	bool rests_with_cpu;
};

/* Its texts are below the root, not below a process. */
static inline bool source_is_of_machine(const struct source *source)
{
	return source->shape == SHAPE_SINGLE || source->shape == SHAPE_LISTED;
}

/* The table, in the order of sources.def; within a scope that is the order of columns. */
extern const struct source *const source_table[];
extern const size_t source_table_len;

/* Row i of the catalog: every column galvo records, in wire order; false past the end. */
bool catalog_at(size_t i, struct catalog_row *ret);

/* ---- /proc/PID texts whose facts are not columns ------------------------------------------------ */

struct process_stat {
	struct span comm; /* between the first '(' and the last ')'; may hold anything */
	char state;
	bool is_dying; /* its memory is gone, or about to go: its files belong to root from then on */
	uint32_t ppid;
	uint64_t start_ticks;
	uint64_t cpu_ticks; /* utime + stime */
};
/* All of these are MALFORMED or complete; an empty text is ABSENT (the process has gone). */
galvo_status process_stat_parse(struct span text, struct process_stat *ret, galvo_error *reterr);
/*
 * Amid an exec, by its statm file, which always answers: it has a new memory, of one stack, and no
 * program in it yet. That lasts while files are closed, and all goes that it had in memory before. Files
 * that tell how a process runs (stat, io, smaps_rollup, of threads too) do not answer until then.
 */
bool process_is_in_exec(struct span statm);
/* Reads a stat file, too; comm borrows from `into`. */
galvo_status process_stat_read(int dir_fd, const char *path, struct buf *into,
                               struct process_stat *ret, galvo_error *reterr);
/* Takes one pid off a children file ("12 34 56 "); false at the end or where it is no number. */
bool process_children_take(struct span *rest, uint32_t *ret_pid);

/*
 * The CPU clock of a process of this machine, in ns, ended threads included. It is asked for by number:
 * the reading counts if a pidfd tells afterwards that this process was there. Returns errno.
 */
int process_clock_read(uint32_t pid, uint64_t *ret_ns);

/* ---- block devices ------------------------------------------------------------------------------- */

struct block_device {
	bool whole;     /* has a place in sys/block: not a partition */
	bool hidden;    /* a path of a multipath device: its I/O is counted at the head too */
	bool stacked;   /* has slaves, or is of a kind whose I/O appears again below (dm, md, loop, zram) */
	bool by_default;/* recorded when no device is named: whole, not hidden, not loop, ram or zram */
	bool when_used; /* recorded by default from the moment it has done something (zram) */
};
/* What sysfs says of a device by the name diskstats gives it. Falls back on the name alone. */
void block_device_look(const struct world *w, struct span name, struct block_device *ret);
/* The name as sysfs spells it ('/' becomes '!'); false if it does not fit or is no file name. */
bool block_device_sysfs_name(struct span name, char *to, size_t cap);

#include "gpu.h" /* the part of this door that is about GPUs */

#endif
