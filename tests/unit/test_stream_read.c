/* Reading: every cut, every flipped bit, other people's files, and bytes made to hurt. */
#include <zlib.h>

#include "stream_sample.h"
#include "tap.h"
#include "wire/wire.h"

static struct galvo_run *read_bytes(enum stream_kind kind, struct span bytes)
{
	struct galvo_run *run = NULL;
	/* Exactly as long as they are, so that a sanitizer sees a step too far. */
	char *copy = malloc(bytes.n ? bytes.n : 1);

	if (bytes.n)
		memcpy(copy, bytes.p, bytes.n);
	OK(run_read_bytes(kind, span_of(copy, bytes.n), &run, NULL) == GALVO_OK);
	free(copy);
	return run;
}

/* Where each frame of a sound file begins; the end of the file behind the last. */
static size_t borders(struct span file, size_t *at, size_t max)
{
	struct span rest = file;
	uint64_t n;
	size_t i = 0;

	for (at[0] = 0; i + 1 < max && wire_take_varint(&rest, &n); at[++i] = file.n - rest.n)
		rest = span_of(rest.p + n, rest.n - (size_t)n);
	return i;
}

static void every_cut(void)
{
	struct buf b;
	struct span file = sample_bytes(3, &b);
	size_t at[8], n = borders(file, at, 8), cut, whole;

	EQ(n, 3);
	for (cut = 0; cut <= file.n; cut++) {
		struct galvo_run *run = read_bytes(STREAM_SYSTEM, span_of(file.p, cut));

		for (whole = 0; whole < n && at[whole + 1] <= cut; whole++)
			;
		if (!EQ(run->streams[0].messages, whole) || !EQ(run->streams[0].rows, 4 * whole) ||
		    !EQ(run->damages_len, cut != at[whole]) ||
		    (run->damages_len && !(OK(run->damages[0].torn_tail) &&
		                           EQ(run->damages[0].offset, at[whole]))))
			printf("# cut at %zu\n", cut);
		EQ(run->streams[0].bad_messages, 0);
		galvo_run_close(run);
	}
	buf_finish(&b);
}

/* Whatever bit is wrong: the other messages are found, and it is said that something is. */
static void every_bit(void)
{
	struct buf b;
	struct span file = sample_bytes(4, &b);
	char *copy = malloc(file.n);
	size_t bit, seen_rows;

	memcpy(copy, file.p, file.n);
	for (bit = 0; bit < file.n * 8; bit++) {
		struct galvo_run *run;

		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		run = read_bytes(STREAM_SYSTEM, span_of(copy, file.n));
		seen_rows = run->tables_len ? run->tables[0].rows_len : 0;
		if (!EQ(run->streams[0].messages, 3) || !EQ(seen_rows, 6) ||
		    !OK(run->damages_len == 1 || run->damages_len == 2))
			printf("# bit %zu\n", bit);
		galvo_run_close(run);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
	}
	free(copy);
	buf_finish(&b);
}

static void torn_in_the_middle(void)
{
	struct buf b, made;
	struct span file = sample_bytes(4, &b);
	size_t at[8];
	struct galvo_run *run;

	borders(file, at, 8);
	buf_init(&made, 1 << 20);
	buf_put(&made, file.p, at[1] + 40); /* what a full disk can leave where nothing can be cut */
	buf_put(&made, file.p + at[2], file.n - at[2]);
	run = read_bytes(STREAM_SYSTEM, span_of(made.p, made.len));
	EQ(run->streams[0].messages, 3);
	EQ(run->streams[0].bad_messages, 1);
	EQ(run->streams[0].missing_messages, 0); /* the damage explains the jump */
	EQ(run->damages_len, 1);
	EQ(run->damages[0].offset, at[1]);
	OK(!run->damages[0].torn_tail);
	galvo_run_close(run);

	made.len = at[1];
	buf_put(&made, file.p + at[3], file.n - at[3]);
	run = read_bytes(STREAM_SYSTEM, span_of(made.p, made.len));
	EQ(run->streams[0].missing_messages, 2);
	OK(strcmp(run->damages[0].text,
	          "messages 1 to 2 are missing (lost since they were recorded)") == 0);
	galvo_run_close(run);

	made.len = at[1];
	while (made.len < at[1] + 500)
		buf_put(&made, "", 1); /* what power loss can leave */
	run = read_bytes(STREAM_SYSTEM, span_of(made.p, made.len));
	EQ(run->streams[0].messages, 1);
	OK(run->damages_len == 1 && run->damages[0].torn_tail);
	buf_put(&made, file.p + at[1], file.n - at[1]);
	galvo_run_close(run);
	run = read_bytes(STREAM_SYSTEM, span_of(made.p, made.len));
	EQ(run->streams[0].messages, 4);
	EQ(run->streams[0].bad_messages, 1);
	galvo_run_close(run);
	buf_finish(&made);
	buf_finish(&b);
}

/* ---- messages made by hand ----------------------------------------------------------------- */

struct hand {
	struct buf file;
	char message[8192];
	char *p;
};

static void hand_begin(struct hand *h, uint32_t major, uint64_t sequence)
{
	char header[64], *p = wire_put_u64(header, 100, major);

	p = wire_put_u64(p, 102, sequence);
	h->p = wire_put_bytes(h->message, 1, span_of(header, (size_t)(p - header)));
}

/* "a b c" are the columns of the scope. */
static void hand_names(struct hand *h, enum scope scope, const char *names)
{
	char at[1024], *p = wire_put_u64(at, 1, scope);
	struct span rest = span_str(names), word;

	while (span_take_word(&rest, &word))
		p = wire_put_bytes(p, 2, word);
	h->p = wire_put_bytes(h->p, 2, span_of(at, (size_t)(p - at)));
}

static void hand_row(struct hand *h, uint32_t field, uint64_t mono_ns, const double *v, size_t n)
{
	char at[1024], *p = wire_put_u64(at, 1, mono_ns);

	p = wire_put_bytes(p, 2, span_of((const char *)v, n * sizeof(*v)));
	h->p = wire_put_bytes(h->p, field, span_of(at, (size_t)(p - at)));
}

static void hand_end(struct hand *h, bool sealed)
{
	char length[WIRE_VARINT_MAX];
	size_t n = (size_t)(h->p - h->message);

	if (sealed)
		h->p = wire_put_fixed32(h->p, 127, (uint32_t)crc32_z(
			0, (const unsigned char *)h->message, n));
	n = (size_t)(h->p - h->message);
	buf_put(&h->file, length, (size_t)(wire_put_varint(length, n) - length));
	buf_put(&h->file, h->message, n);
}

static struct galvo_run *hand_read(struct hand *h)
{
	struct galvo_run *run = read_bytes(STREAM_SYSTEM, span_of(h->file.p, h->file.len));

	buf_finish(&h->file);
	return run;
}

static void mixed_columns(void)
{
	static const double v[] = {1, 2, 3, 4};
	struct hand h = {.file.max = 1 << 20};
	struct galvo_run *run;
	const struct table *t;

	hand_begin(&h, 1, 0);
	hand_names(&h, SCOPE_SYSTEM, "a b");
	hand_row(&h, 4, 10, v, 2);
	hand_end(&h, true);
	hand_begin(&h, 1, 1);
	hand_row(&h, 4, 20, v, 4); /* its names come behind it; two values have none */
	hand_names(&h, SCOPE_SYSTEM, "c a");
	hand_names(&h, (enum scope)77, "z");
	hand_row(&h, 999, 1, v, 4); /* a field of another time */
	h.p = wire_put_u64(h.p, 998, 5);
	hand_row(&h, 4, 30, v, 1); /* a value is missing */
	hand_row(&h, 102, 40, v, 2); /* a scope without names */
	hand_end(&h, true);
	run = hand_read(&h);
	EQ(run->damages_len, 0);
	t = run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM);
	EQ(t->columns_len, 3);
	OK(strcmp(t->columns[2], "c") == 0);
	EQ(t->rows_len, 3);
	OK(t->values[0][0] == 1 && t->values[1][0] == 2 && isnan(t->values[2][0]));
	OK(t->values[0][1] == 2 && isnan(t->values[1][1]) && t->values[2][1] == 1);
	OK(isnan(t->values[0][2]) && isnan(t->values[1][2]) && t->values[2][2] == 1);
	t = run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL);
	OK(t && t->rows_len == 1 && t->columns_len == 0 && t->mono_ns[0] == 40);
	galvo_run_close(run);
}

/* Values one by one are as good as packed ones, in any protobuf. */
static void unpacked_values(void)
{
	struct hand h = {.file.max = 1 << 20};
	char row[64], *p = wire_put_u64(row, 1, 5);
	double v = 2.5;
	struct galvo_run *run;

	p = wire_put_tag(p, 2, WIRE_FIXED64);
	memcpy(p, &v, sizeof(v));
	p += sizeof(v);
	hand_begin(&h, 0, 0);
	hand_names(&h, SCOPE_SYSTEM, "a");
	h.p = wire_put_bytes(h.p, 4, span_of(row, (size_t)(p - row)));
	hand_end(&h, false);
	run = hand_read(&h);
	OK(run->tables_len == 1 && run->tables[0].values[0][0] == 2.5);
	galvo_run_close(run);
}

/* Without format and checksum, as other writers of the common schema have it; one of them bad. */
static void foreign(void)
{
	static const double v[] = {1};
	struct hand h = {.file.max = 1 << 20};
	struct galvo_run *run;
	size_t i;

	for (i = 0; i < 4; i++) {
		hand_begin(&h, 0, 0);
		hand_names(&h, SCOPE_SYSTEM, "a");
		hand_row(&h, 4, i + 1, v, 1);
		if (i == 2)
			h.p = wire_put_bytes(h.p, 4, span_str("\x12\x05" "12345")); /* no doubles */
		hand_end(&h, false);
	}
	run = hand_read(&h);
	EQ(run->streams[0].messages, 3);
	EQ(run->streams[0].bad_messages, 1);
	EQ(run->streams[0].missing_messages, 0);
	EQ(run->streams[0].last_mono_ns, 4);
	galvo_run_close(run);
}

static void newer(void)
{
	struct hand h = {.file.max = 1 << 20};
	struct galvo_run *run = NULL;
	galvo_error e = {0};

	hand_begin(&h, 1, 0);
	hand_end(&h, true);
	hand_begin(&h, 2, 1);
	hand_end(&h, true);
	EQ(run_read_bytes(STREAM_SYSTEM, span_of(h.file.p, h.file.len), &run, &e), GALVO_ERR_NEWER);
	OK(strcmp(e.text, "system_metrics.pb: made by a newer galvo: its format is 2.0, and this "
	                  "one reads up to 1") == 0);
	h.file.p[h.file.len - 1] = (char)(h.file.p[h.file.len - 1] ^ 1);
	EQ(run_read_bytes(STREAM_SYSTEM, span_of(h.file.p, h.file.len), &run, &e), GALVO_OK);
	EQ(run->streams[0].bad_messages, 1); /* a wrong checksum proves no version */
	galvo_run_close(run);
	buf_finish(&h.file);
	EQ(run_read_bytes((enum stream_kind)99, span_str(""), &run, &e), GALVO_ERR_INVALID);
}

/* What has our format must have its checksum, at the end. */
static void without_checksum(void)
{
	struct hand h = {.file.max = 1 << 20};
	struct galvo_run *run;

	hand_begin(&h, 1, 0);
	hand_end(&h, false);
	hand_begin(&h, 1, 1);
	h.p = wire_put_fixed32(h.p, 127, (uint32_t)crc32_z(0, (const unsigned char *)h.message,
	                                                   (size_t)(h.p - h.message)));
	h.p = wire_put_u64(h.p, 200, 1);
	hand_end(&h, false);
	h.p = wire_put_u64(h.message, 200, 1); /* no header */
	hand_end(&h, false);
	run = hand_read(&h);
	EQ(run->streams[0].messages, 0);
	OK(run->streams[0].bad_messages >= 1);
	galvo_run_close(run);
}

/* ---- bytes made to hurt: each ends soon and takes little memory ---------------------------- */

static void made_to_hurt(void)
{
	static const char *const units[] = {"\xfd\x07", "\xff", "\x80", "\x02\x0a\x00",
	                                    "\x03\x0a\x01\x00", "\xfd\x07\x0a", "\x7f\x0a",
	                                    "\x0a\x00"};
	static const size_t lengths[] = {2, 1, 1, 3, 4, 3, 2, 2};
	size_t i, k, n = 200000;
	char *bytes = malloc(n);

	for (i = 0; i < ARRAY_LEN(units); i++) {
		struct galvo_run *run;

		for (k = 0; k < n; k++)
			bytes[k] = units[i][k % lengths[i]];
		run = read_bytes(STREAM_SYSTEM, span_of(bytes, n));
		OK(run->damages_len <= 5000);
		galvo_run_close(run);
		galvo_run_close(read_bytes(STREAM_DISK, span_of(bytes, n)));
	}
	free(bytes);
}

/* Many names and many rows, few values: the square of it would be gigabytes. */
static void names_times_rows(void)
{
	struct buf b;
	struct galvo_run *run;
	char names[8192], *p = wire_put_u64(names, 1, SCOPE_SYSTEM), length[WIRE_VARINT_MAX];
	struct buf file;
	const struct table *t;
	size_t i;

	for (i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%zu", i);
		p = wire_put_bytes(p, 2, span_str(name));
	}
	buf_init(&b, 4 << 20);
	buf_put(&b, "\x0a\x00", 2);
	buf_reserve(&b, sizeof(names) + 16);
	b.len = (size_t)(wire_put_bytes(b.p + b.len, 2, span_of(names, (size_t)(p - names))) - b.p);
	for (i = 0; i < 200000; i++)
		buf_put(&b, "\x22\x02\x08\x01", 4); /* a row without values */
	buf_init(&file, 4 << 20);
	buf_put(&file, length, (size_t)(wire_put_varint(length, b.len) - length));
	buf_put(&file, b.p, b.len);
	run = read_bytes(STREAM_SYSTEM, span_of(file.p, file.len));
	t = run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM);
	EQ(t->rows_len, 200000);
	OK(t->columns_len < 5);
	EQ(run->damages_len, 1);
	OK(strstr(run->damages[0].text, "columns of scope"));
	galvo_run_close(run);
	buf_finish(&file);
	buf_finish(&b);
}

static const struct tap_test tests[] = {
	{"a cut at every byte", every_cut},
	{"every bit flipped", every_bit},
	{"a message torn in the middle", torn_in_the_middle},
	{"mixed columns", mixed_columns},
	{"values one by one", unpacked_values},
	{"other writers", foreign},
	{"a newer format", newer},
	{"without a checksum", without_checksum},
	{"bytes made to hurt", made_to_hurt},
	{"names times rows", names_times_rows},
};
TAP_MAIN(tests)
