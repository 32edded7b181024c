/* JSON, as it goes into a sheet. */
#include <math.h>

#include "json.h"

/* What stands in front of a value: a comma, a new line, the key if it is in an object. */
void json_begin(struct json *j, const char *key)
{
	if (j->is_dense)
		buf_put_str(&j->sheet->buf, j->has_member ? "," : "");
	else
		buf_printf(&j->sheet->buf, "%s%s%*s", j->has_member ? "," : "", j->depth ? "\n" : "",
		           (int)(2 * j->depth), "");
	if (key)
		buf_printf(&j->sheet->buf, "\"%s\":%s", key, j->is_dense ? "" : " ");
	j->has_member = true;
}

void json_open(struct json *j, const char *key, const char *bracket)
{
	json_begin(j, key);
	buf_put_str(&j->sheet->buf, bracket);
	j->depth++;
	j->has_member = false;
}

/* The bracket of an empty object or array follows at once: {} or []. */
void json_close(struct json *j, const char *bracket)
{
	j->depth--;
	if (j->has_member && !j->is_dense)
		buf_printf(&j->sheet->buf, "\n%*s", (int)(2 * j->depth), "");
	buf_put_str(&j->sheet->buf, bracket);
	j->has_member = true;
	sheet_flush(j->sheet, false);
}

void json_double(struct json *j, const char *key, double v)
{
	json_begin(j, key);
	buf_put_number(&j->sheet->buf, v);
}

void json_flag(struct json *j, const char *key, bool v)
{
	json_begin(j, key);
	buf_put_str(&j->sheet->buf, v ? "true" : "false");
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	json_begin(j, key);
	buf_printf(&j->sheet->buf, "%llu", (unsigned long long)v);
}

void json_null(struct json *j, const char *key)
{
	json_begin(j, key);
	buf_put_str(&j->sheet->buf, "null");
}

void json_span(struct json *j, const char *key, struct span v)
{
	json_begin(j, key);
	buf_put_json(&j->sheet->buf, v);
}

void json_string(struct json *j, const char *key, const char *v)
{
	if (!v) {
		json_null(j, key);
		return;
	}
	json_span(j, key, span_str(v));
}

void json_text(struct json *j, const char *key, const char *v)
{
	json_string(j, key, v && v[0] ? v : NULL);
}

/* Members are copied out: their offsets come from a table, their types from its kind. */
static void put_row(struct json *j, const struct json_row *row, const void *thing)
{
	const char *at = (const char *)thing + row->offset;
	union {
		double number;
		uint64_t count;
		bool flag;
		const char *text;
	} v;

	switch (row->kind) {
	case JSON_NUMBER:
	case JSON_ROUNDED:
		memcpy(&v.number, at, sizeof(v.number));
		if (row->kind == JSON_ROUNDED)
			v.number = floor(v.number + 0.5);
		json_double(j, row->key, v.number);
		return;
	case JSON_COUNT:
		memcpy(&v.count, at, sizeof(v.count));
		json_u64(j, row->key, v.count);
		return;
	case JSON_FLAG:
		memcpy(&v.flag, at, sizeof(v.flag));
		json_flag(j, row->key, v.flag);
		return;
	case JSON_TEXT:
	case JSON_STRING:
		memcpy(&v.text, at, sizeof(v.text));
		(row->kind == JSON_TEXT ? json_text : json_string)(j, row->key, v.text);
		return;
	}
}

void json_rows(struct json *j, const struct json_row *rows, size_t n, const void *thing)
{
	size_t i;

	for (i = 0; i < n; i++)
		put_row(j, &rows[i], thing);
}

void json_things(struct json *j, const char *key, const struct json_row *rows, size_t n,
                 const void *things, size_t things_len, size_t stride)
{
	size_t i;

	json_open(j, key, "[");
	for (i = 0; i < things_len; i++) {
		json_open(j, NULL, "{");
		json_rows(j, rows, n, (const char *)things + i * stride);
		json_close(j, "}");
	}
	json_close(j, "]");
}

void json_known(struct json *j, const char *key, bool is_known, uint64_t v)
{
	if (is_known)
		json_u64(j, key, v);
	else
		json_null(j, key);
}

void json_object(struct json *j, const char *key, const struct json_row *rows, size_t n,
                 const void *thing)
{
	json_open(j, key, "{");
	json_rows(j, rows, n, thing);
	json_close(j, "}");
}
