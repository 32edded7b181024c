/* Rows of one scope into columns that grow with them. */
#include <math.h>

#include "reader.h"

enum {
	ROWS_LEAST = 64,
	CELLS_FACTOR = 4,      /* cells take at most this many times the bytes of the file… */
	CELLS_LEAST = 1 << 20, /* …or this many bytes */
};

void table_init(struct table_build *t, const struct row_form *form)
{
	*t = (struct table_build){.form = form, .columns_max = COLUMNS_MAX};
	interner_init(&t->columns, COLUMNS_MAX);
	interner_init(&t->names, SIZE_MAX);
}

static void drop_columns(struct table_build *t, size_t from)
{
	while (t->columns_len > from)
		free(t->values[--t->columns_len]);
}

void table_finish(struct table_build *t)
{
	drop_columns(t, 0);
	free(t->mono_ns);
	free(t->key);
	free(t->pid);
	free(t->duration_ns);
	interner_finish(&t->columns);
	interner_finish(&t->names);
}

/* Names may come in any order and number: each message says anew which value is which. */
bool table_add_names(struct table_build *t, struct span names)
{
	struct wire_field f;
	size_t i;

	while (wire_next(&names, &f) == GALVO_OK) {
		if (f.number != NAMES_FQNS || f.type != WIRE_BYTES || t->map_len == COLUMNS_MAX)
			continue;
		i = intern_text(&t->columns, f.bytes);
		if (i == INTERN_NOMEM)
			return false;
		t->map_is_plain = i == t->map_len && (i == 0 || t->map_is_plain);
		t->map[t->map_len++] = i == INTERN_FULL ? UINT32_MAX : (uint32_t)i;
	}
	return true;
}

/* ---- room ---------------------------------------------------------------------------------- */

static bool resize(void *array, size_t n, size_t size)
{
	void *p;

	memcpy(&p, array, sizeof(p));
	if (n > SIZE_MAX / size)
		return false;
	p = realloc(p, n * size);
	if (p)
		memcpy(array, &p, sizeof(p));
	return p != NULL;
}

static bool resize_rows(struct table_build *t, size_t cap)
{
	size_t c;

	if (!resize(&t->mono_ns, cap, sizeof(*t->mono_ns)) || !resize(&t->key, cap, sizeof(*t->key)) ||
	    (t->form->key == KEY_PAIR && !resize(&t->pid, cap, sizeof(*t->pid))) ||
	    (t->form->has_duration && !resize(&t->duration_ns, cap, sizeof(*t->duration_ns))))
		return false;
	for (c = 0; c < t->columns_len; c++)
		if (!resize(&t->values[c], cap, sizeof(*t->values[c])))
			return false;
	t->rows_cap = cap;
	return true;
}

/* What came before it is absent. */
static bool add_column(struct table_build *t)
{
	double *column = NULL;
	size_t i;

	if (!resize(&column, t->rows_cap, sizeof(*column)))
		return false;
	for (i = 0; i < t->rows_len; i++)
		column[i] = NAN;
	t->values[t->columns_len++] = column;
	return true;
}

/* Names cost a hostile file little: columns may not take many times its size. */
bool table_reserve(struct table_build *t, size_t more, size_t wish, uint64_t bytes)
{
	uint64_t limit = bytes < SIZE_MAX / 8 ? bytes : SIZE_MAX / 8;
	size_t rows = t->rows_len + more, columns;

	if (!rows)
		return true;
	limit = (limit * CELLS_FACTOR + CELLS_LEAST) / sizeof(double);
	if (t->columns_max > limit / rows)
		t->columns_max = (size_t)(limit / rows);
	drop_columns(t, t->columns_max);
	columns = t->columns.len < t->columns_max ? t->columns.len : t->columns_max;
	if (rows > t->rows_cap) {
		size_t cap = t->rows_cap * 2 > rows ? t->rows_cap * 2 : rows;

		if (wish && wish < limit / (columns + 1) && rows + wish > cap)
			cap = rows + wish;
		if (!resize_rows(t, cap > ROWS_LEAST ? cap : ROWS_LEAST))
			return false;
	}
	while (t->columns_len < columns)
		if (!add_column(t))
			return false;
	return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* A row taken apart. Values may be packed or one by one: `values` is the first packed piece. */
struct row {
	uint64_t mono_ns, number, second, duration_ns;
	struct span name, values;
};

static bool take_tag(struct span *rest, uint32_t field, enum wire_type type)
{
	if (!rest->n || (unsigned char)*rest->p != (field << 3 | type))
		return false;
	*rest = span_of(rest->p + 1, rest->n - 1);
	return true;
}

/* The last field, whose tag takes two bytes. */
static bool take_duration(struct span rest, uint64_t *ret)
{
	uint64_t tag;

	return wire_take_varint(&rest, &tag) && tag == (ROW_DURATION_NS << 3 | WIRE_VARINT) &&
	       wire_take_varint(&rest, ret) && !rest.n;
}

/* A row exactly as galvo puts it. False: it is any other, which may be sound too. */
static bool take_usual(const struct table_build *t, struct span rest, struct row *to)
{
	uint64_t n;

	if (!take_tag(&rest, ROW_MONO_NS, WIRE_VARINT) || !wire_take_varint(&rest, &to->mono_ns))
		return false;
	if ((t->form->key == KEY_NUMBER || t->form->key == KEY_PAIR) &&
	    (!take_tag(&rest, ROW_KEY, WIRE_VARINT) || !wire_take_varint(&rest, &to->number)))
		return false;
	if (t->form->key == KEY_PAIR &&
	    (!take_tag(&rest, ROW_SECOND_KEY, WIRE_VARINT) || !wire_take_varint(&rest, &to->second)))
		return false;
	if (t->form->key == KEY_NAME) {
		if (!take_tag(&rest, ROW_KEY, WIRE_BYTES) || !wire_take_varint(&rest, &n) || n > rest.n)
			return false;
		to->name = span_of(rest.p, (size_t)n);
		rest = span_of(rest.p + n, rest.n - (size_t)n);
	}
	if (!take_tag(&rest, row_values_field(t->form), WIRE_BYTES) ||
	    !wire_take_varint(&rest, &n) || n > rest.n || n % sizeof(double))
		return false;
	to->values = span_of(rest.p, (size_t)n);
	rest = span_of(rest.p + n, rest.n - (size_t)n);
	return !rest.n || (t->form->has_duration && take_duration(rest, &to->duration_ns));
}

static void put_value(struct table_build *t, size_t i, double v)
{
	if (i < t->map_len && t->map[i] < t->columns_len)
		t->values[t->map[i]][t->rows_len] = v;
}

static void put_values(struct table_build *t, struct span packed)
{
	size_t n = packed.n / sizeof(double), i;

	if (t->map_is_plain && n == t->columns_len && n == t->map_len) {
		for (i = 0; i < n; i++)
			t->values[i][t->rows_len] = wire_double_at(packed, i);
		return;
	}
	for (i = 0; i < t->columns_len; i++)
		t->values[i][t->rows_len] = NAN;
	for (i = 0; i < n; i++)
		put_value(t, i, wire_double_at(packed, i));
}

static double double_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Any row: fields in any order, values in any number of pieces, the key in either form. */
static galvo_status put_any(struct table_build *t, struct span bytes, struct row *to)
{
	uint32_t values_field = row_values_field(t->form);
	struct wire_field f;
	galvo_status status;
	size_t at = 0, i, n;

	*to = (struct row){0};
	put_values(t, to->values);
	while ((status = wire_next(&bytes, &f)) == GALVO_OK) {
		if (f.number == ROW_MONO_NS && f.type == WIRE_VARINT)
			to->mono_ns = f.value;
		else if (f.number == values_field && f.type == WIRE_FIXED64)
			put_value(t, at++, double_of(f.value));
		else if (f.number == values_field && f.type == WIRE_BYTES) {
			if (!wire_doubles(f.bytes, &n))
				return GALVO_ERR_MALFORMED;
			for (i = 0; i < n; i++)
				put_value(t, at++, wire_double_at(f.bytes, i));
		} else if (f.number == ROW_KEY && f.type == WIRE_VARINT)
			to->number = f.value;
		else if (f.number == ROW_SECOND_KEY && f.type == WIRE_VARINT)
			to->second = f.value;
		else if (f.number == ROW_DURATION_NS && f.type == WIRE_VARINT)
			to->duration_ns = f.value;
		else if (f.number == ROW_KEY && f.type == WIRE_BYTES)
			to->name = f.bytes;
	}
	return status == GALVO_DONE ? GALVO_OK : status;
}

galvo_status table_add_row(struct table_build *t, struct span bytes)
{
	struct row row = {0};

	if (take_usual(t, bytes, &row))
		put_values(t, row.values);
	else if (put_any(t, bytes, &row) != GALVO_OK)
		return GALVO_ERR_MALFORMED;
	if (t->form->key == KEY_NAME)
		row.number = intern_text(&t->names, row.name);
	if (t->form->key == KEY_NAME && row.number == INTERN_NOMEM)
		return GALVO_ERR_NOMEM;
	t->mono_ns[t->rows_len] = row.mono_ns;
	if (t->duration_ns)
		t->duration_ns[t->rows_len] = row.duration_ns;
	if (t->pid) {
		t->pid[t->rows_len] = (uint32_t)row.number;
		row.number = row.second;
	}
	t->key[t->rows_len++] = (uint32_t)row.number;
	return GALVO_OK;
}

/* ---- the end ------------------------------------------------------------------------------- */

static bool adopt(struct arena *a, void *array)
{
	void *p, *none = NULL;

	memcpy(&p, array, sizeof(p));
	if (!arena_adopt(a, p))
		return false;
	memcpy(array, &none, sizeof(none));
	return true;
}

bool table_take(struct table_build *t, struct arena *a, struct table *ret)
{
	const double **values = arena_copy(a, t->values, t->columns_len, sizeof(*values));
	size_t c;

	*ret = (struct table){
		.scope = t->form->scope,
		.columns_len = t->columns_len,
		.columns = interner_export(&t->columns, a),
		.rows_len = t->rows_len,
		.mono_ns = t->mono_ns,
		.key = t->key,
		.pid = t->pid,
		.duration_ns = t->duration_ns,
		.values = values,
		.names = interner_export(&t->names, a),
		.names_len = t->names.len,
	};
	if (!ret->columns || !ret->names || !values || !adopt(a, &t->mono_ns) || !adopt(a, &t->key) ||
	    (t->pid && !adopt(a, &t->pid)) || (t->duration_ns && !adopt(a, &t->duration_ns)))
		return false;
	for (c = 0; c < t->columns_len; c++)
		if (!adopt(a, &t->values[c]))
			return false;
	return true;
}
