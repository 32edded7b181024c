/*
 * What the parsers of this room share: lines, columns, keys with values, times of a CPU, all driven
 * by tables, and the rows from which tables of columns are made.
 *
 * The type of a metric follows from its unit: a share of elapsed time is METRIC_THROUGHPUT, any
 * other level or rate is METRIC_COUNTER. The unit is that of the value after `scale`.
 */
#ifndef GALVO_SOURCE_PARSER_H
#define GALVO_SOURCE_PARSER_H

#include "source.h"

/* Rows of metrics: further members (.scale, .limit) may follow. */
#define LEVEL(name_, unit_, of_, help_)                                                            \
	.name = (name_), .type = METRIC_COUNTER, .unit = (unit_), .form = FORM_LEVEL, .of = (of_), \
	.help = (help_)
#define RATE(name_, unit_, of_, help_)                                                             \
	.name = name_ ".sum.per_second", .type = METRIC_COUNTER, .unit = (unit_),                  \
	.form = FORM_RATE, .of = (of_), .help = (help_)
#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"

#define KIB UINT64_C(1024)
#define TABLE(a) .a = (a), .a##_len = ARRAY_LEN(a)

/* The only row of SHAPE_SINGLE, SHAPE_PROCESS and SHAPE_THREAD, and of a text about one listed thing. */
static inline struct raw *row_only(struct raw_sink *sink)
{
	return sink->row(sink, (struct span){"", 0}, 0);
}

/* value × scale, unless that is more than 64 bits. */
static inline void raw_put_scaled(struct raw *r, unsigned field, uint64_t value, uint64_t scale)
{
	if (!__builtin_mul_overflow(value, scale, &value))
		raw_put(r, field, value);
}

/* What is in use of a total, if both it and what is left of it are there and agree. */
static inline void raw_put_used(struct raw *r, unsigned used, unsigned total, unsigned left)
{
	const uint32_t both = FIELD(total) | FIELD(left);

	if ((r->present & both) == both && r->value[left] <= r->value[total])
		raw_put(r, used, r->value[total] - r->value[left]);
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum line { LINE_READ, LINE_OTHER, LINE_BAD, LINE_LAST }; /* LINE_LAST: none of ours follows */

/* Asks `read` for every line. MALFORMED, naming the first bad one, if some are bad, none good. */
galvo_status lines_parse(struct span text, const char *path, const char *want,
                         enum line (*read)(struct span line, struct raw_sink *),
                         struct raw_sink *sink, galvo_error *reterr);

/* ---- columns --------------------------------------------------------------------------------- */

#define COLUMNS_MAX 32

struct columns {
	uint64_t value[COLUMNS_MAX];
	uint32_t good; /* bit i: word i was an unsigned number of 64 bits */
	uint32_t len;  /* words seen */
};

struct column {
	uint8_t at, field;
};

/* The first `max` words of a line; more may follow, as kernels append. */
void columns_read(struct span line, size_t max, struct columns *ret);
/* Those of the map that are good numbers. */
void columns_put(const struct columns *c, const struct column *map, size_t map_len, struct raw *r);

/* ---- keys with values ------------------------------------------------------------------------ */

enum key_form {
	KEY_PLAIN, /* a number and nothing else */
	KEY_KIB,   /* a number and "kB", put in bytes */
	KEY_FIRST, /* the first number of several */
};

struct key {
	struct span word; /* with its ':' or blank: the start of the line */
	uint8_t field;
	uint8_t form;
};
#define KEY(word_, field_, form_)                                                                  \
	{                                                                                          \
		.word = {word_, sizeof(word_) - 1}, .field = (field_), .form = (form_)             \
	}

struct keys {
	const char *path;
	const struct key *key; /* in the order of the file: the next is expected first */
	size_t len;
	bool may_lack; /* a text without any of them is as it should be */
};

/*
 * Stops as soon as it has met every key; the first line of a key counts. MALFORMED if no value was
 * got: one is no number, or no key is there. ABSENT if the text is empty.
 */
galvo_status keys_parse(struct span text, const struct keys *keys, struct raw *r,
                        galvo_error *reterr);

/* ---- times of a CPU, of /proc/stat ----------------------------------------------------------- */

enum cpu_field { CPU_USER, CPU_KERNEL, CPU_IDLE, CPU_IOWAIT, CPU_STEAL, CPU_FIELDS };
#define CPU_BUSY (FIELD(CPU_USER) | FIELD(CPU_KERNEL) | FIELD(CPU_STEAL))
#define CPU_WHOLE (CPU_BUSY | FIELD(CPU_IDLE) | FIELD(CPU_IOWAIT))
extern const struct raw_field cpu_fields[CPU_FIELDS];

#define CPU_SHARE(name_, of_, help_)                                                               \
	.name = name_ OF_PEAK, .type = METRIC_THROUGHPUT, .unit = UNIT_PCT, .form = FORM_SHARE,    \
	.of = (of_), .whole = CPU_WHOLE, .help = (help_)

/* Reads what follows "cpuN". False, and nothing put, unless all of its times are numbers. */
bool cpu_times_put(struct span numbers, struct raw *r);
/* Parser of the line of all CPUs, the first of proc/stat; looks at no other. */
galvo_status cpu_line_parse(struct span text, const struct world *w, struct raw_sink *sink,
                            galvo_error *reterr);

/* ---- proc/PID/stat --------------------------------------------------------------------------- */

/* Columns by their place after the state: 0 is ppid. */
enum stat_column {
	STAT_PPID = 0,
	STAT_FLAGS = 5,
	STAT_MINFLT = 6,
	STAT_CMINFLT = 7,
	STAT_MAJFLT = 8,
	STAT_CMAJFLT = 9,
	STAT_UTIME = 10,
	STAT_STIME = 11,
	STAT_CUTIME = 12,
	STAT_CSTIME = 13,
	STAT_THREADS = 16,
	STAT_START = 18,
	STAT_VSIZE = 19,
	STAT_COLUMNS = 20,
};
galvo_status process_stat_split(struct span text, struct span *ret_comm, char *ret_state,
                                struct columns *ret, galvo_error *reterr);

#endif
