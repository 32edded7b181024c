/* Protobuf's alphabet: what is put is got back; what is not a field is refused. */
#include "tap.h"
#include "wire/wire.h"

static void varints(void)
{
	static const uint64_t values[] = {0, 1, 127, 128, 300, 16383, 16384, UINT32_MAX,
	                                  UINT64_C(1) << 56, UINT64_MAX};
	char at[WIRE_VARINT_MAX];
	size_t i;

	for (i = 0; i < ARRAY_LEN(values); i++) {
		char *end = wire_put_varint(at, values[i]);
		struct span rest = span_of(at, (size_t)(end - at));
		uint64_t got = 0;

		EQ(end - at, wire_varint_len(values[i]));
		OK(wire_take_varint(&rest, &got) && got == values[i] && rest.n == 0);
		rest = span_of(at, (size_t)(end - at) - 1);
		OK(!wire_take_varint(&rest, &got));
	}
}

static void fields(void)
{
	char at[128], *p = at;
	double v[] = {1.5, -2};
	struct wire_field f;
	struct span rest;
	size_t n;

	p = wire_put_u64(p, 1, 0); /* not written */
	p = wire_put_u64(p, 2, 300);
	p = wire_put_bytes(p, 3, span_str("abc"));
	p = wire_put_bytes(p, 4, span_of((const char *)v, sizeof(v)));
	p = wire_put_fixed32(p, 127, 0xdeadbeef);
	rest = span_of(at, (size_t)(p - at));
	OK(wire_next(&rest, &f) == GALVO_OK && f.number == 2 && f.value == 300);
	OK(wire_next(&rest, &f) == GALVO_OK && f.number == 3 && span_eq_str(f.bytes, "abc"));
	EQ(wire_bytes_len(3, 3), 5);
	OK(wire_next(&rest, &f) == GALVO_OK && wire_doubles(f.bytes, &n) && n == 2);
	OK(wire_double_at(f.bytes, 1) == -2);
	OK(wire_next(&rest, &f) == GALVO_OK && f.number == 127 && f.value == 0xdeadbeef);
	EQ(wire_next(&rest, &f), GALVO_DONE);
}

static void hostile(void)
{
	static const struct { const char *bytes; size_t n; } rows[] = {
		{"\x00\x01", 2},                         /* field 0 */
		{"\x0b", 1},                             /* group */
		{"\x0a\x05" "ab", 4},                    /* length past the end */
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}, /* length 2^64-1 */
		{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11}, /* 65 bits */
		{"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12},
		{"\x09" "1234567", 8},                   /* short fixed64 */
		{"\x0d" "123", 4},                       /* short fixed32 */
		{"\xff\xff\xff\xff\xff\x01", 6},         /* field number past 2^29 */
		{"\x08", 1},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct span rest = span_of(rows[i].bytes, rows[i].n);
		struct wire_field f;

		if (!EQ(wire_next(&rest, &f), GALVO_ERR_MALFORMED))
			printf("# row %zu\n", i);
		EQ(rest.n, rows[i].n);
	}
}

static const struct tap_test tests[] = {
	{"varints", varints},
	{"fields", fields},
	{"hostile", hostile},
};
TAP_MAIN(tests)
