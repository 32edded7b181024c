/* Inside output: a writer of JSON. Two blanks a level, a key a line, null for what is not known. */
#ifndef GALVO_JSON_H
#define GALVO_JSON_H

#include "output.h"

struct json {
	struct sheet *sheet;
	unsigned depth;
	bool has_member; /* at this level */
	bool is_dense;   /* without blanks and new lines */
};

enum json_kind {
	JSON_NUMBER,  /* a double */
	JSON_ROUNDED, /* a double that stands for a whole number: bytes, counts */
	JSON_COUNT,   /* a uint64_t */
	JSON_FLAG,    /* a bool */
	JSON_TEXT,    /* a const char *; null if NULL or empty */
	JSON_STRING,  /* a const char *; null if NULL */
};

/* A key that holds a member of a struct. */
struct json_row {
	const char *key;
	size_t offset;
	enum json_kind kind;
};

/*
 * Levels are opened and closed in pairs, and nothing else has to be in order: commas and indents
 * come by themselves. Keys are ours and are not escaped; values are. A NULL key stands before an
 * element of an array. `bracket` is one of { } [ ].
 */
void json_open(struct json *j, const char *key, const char *bracket);
void json_close(struct json *j, const char *bracket);
/* What stands in front of a value that the caller then puts into the sheet. */
void json_begin(struct json *j, const char *key);
void json_double(struct json *j, const char *key, double v); /* null if it is not finite */
void json_u64(struct json *j, const char *key, uint64_t v);
void json_flag(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
void json_text(struct json *j, const char *key, const char *v);   /* null if NULL or empty */
void json_string(struct json *j, const char *key, const char *v); /* null if NULL */
void json_span(struct json *j, const char *key, struct span v);   /* bytes of unknown encoding */
/* Those members of the thing, as members of the object that is open. */
void json_rows(struct json *j, const struct json_row *rows, size_t n, const void *thing);
/* An array of objects of those keys. */
void json_things(struct json *j, const char *key, const struct json_row *rows, size_t n,
                 const void *things, size_t things_len, size_t stride);

/* The keys of a rate (its total has a key and a unit of its own) and of a level. */
#define MEAN(key, unit, type, member)                                                              \
	{#key "_avg_" #unit, offsetof(type, member.avg), JSON_NUMBER},                             \
	{#key "_peak_" #unit, offsetof(type, member.peak), JSON_NUMBER}
#define SUMMED(total_key, key, unit, type, member)                                                 \
	AS(ROUNDED, total_key, type, member.total), MEAN(key, unit, type, member)
#define LEVEL(key, type, member)                                                                   \
	{#key "_avg_bytes", offsetof(type, member.avg), JSON_ROUNDED},                             \
	{#key "_peak_bytes", offsetof(type, member.peak), JSON_ROUNDED}
#define ONE(key, type, member) AS(NUMBER, key, type, member)
#define AS(kind, key, type, member) {#key, offsetof(type, member), JSON_##kind}

/* A number that is 0 where it is not known, or does not apply. */
void json_known(struct json *j, const char *key, bool is_known, uint64_t v);
/* An object of those keys. */
void json_object(struct json *j, const char *key, const struct json_row *rows, size_t n,
                 const void *thing);

void report_json_gpus(struct json *j, const struct galvo_summary *sum);
/* What the workload said of itself. */
void report_json_regions(struct json *j, const struct galvo_summary *sum);
/* One by one, by name, together. */
void report_json_processes(struct json *j, const struct galvo_summary *sum);
/* The second half of the report: devices, processes, and the recording itself. */
void report_json_things(struct json *j, const struct galvo_summary *sum);

#endif
