/* Spans, buffers, numbers without locale, files kept open: the toolbox, its hostile half too. */
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <unistd.h>

#include "base/base.h"
#include "tap.h"

static void numbers_in(void)
{
	static const struct { const char *text; bool ok; uint64_t value; } rows[] = {
		{"0", true, 0}, {"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0}, {"99999999999999999999999", false, 0},
		{"", false, 0}, {"-1", false, 0}, {"+1", false, 0}, {" 1", false, 0}, {"1 ", false, 0},
		{"0x10", false, 0}, {"1.0", false, 0}, {"00000000000000000000000001", true, 1},
	};
	size_t i;
	uint64_t v;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		v = 77;
		EQ(span_to_u64(span_str(rows[i].text), &v), rows[i].ok);
		OK(v == (rows[i].ok ? rows[i].value : 77));
	}
}

static void takers(void)
{
	struct span rest = span_of("a b\n\nc", 6), line, word;
	uint64_t v;

	OK(span_take_line(&rest, &line) && span_eq_str(line, "a b"));
	OK(span_take_word(&line, &word) && span_eq_str(word, "a"));
	OK(span_take_word(&line, &word) && span_eq_str(word, "b"));
	OK(!span_take_word(&line, &word));
	OK(span_take_line(&rest, &line) && line.n == 0);
	OK(span_take_line(&rest, &line) && span_eq_str(line, "c"));
	OK(!span_take_line(&rest, &line));
	rest = span_str("  12 x");
	OK(span_take_u64(&rest, &v) && v == 12 && span_eq_str(rest, " x"));
	OK(!span_take_u64(&rest, &v) && span_eq_str(rest, " x"));
	OK(span_eq_str(span_trim(span_str(" \t a b \r\n")), "a b"));
	OK(span_cmp(span_str("a"), span_str("ab")) < 0 && span_cmp(span_str("b"), span_str("ab")) > 0);
}

static const char *shown(void (*put)(struct buf *, struct span), const char *bytes, size_t n)
{
	static char text[256];
	struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};

	put(&b, span_of(bytes, n));
	text[b.len] = '\0';
	return text;
}

static void bytes_out(void)
{
	OK(!strcmp(shown(buf_put_escaped, "a\nb\\\x1b[0m\xff", 9), "a\\nb\\\\\\x1b[0m\\xff"));
	OK(!strcmp(shown(buf_put_escaped, "\xc2\x9bx", 3), "\\xc2\\x9bx")); /* C1 CSI */
	OK(!strcmp(shown(buf_put_escaped, "\xe2\x80\xae" "a\xe2\x81\xa6\xef\xbb\xbf", 10),
	           "\\xe2\\x80\\xaea\\xe2\\x81\\xa6\\xef\\xbb\\xbf"));
	OK(!strcmp(shown(buf_put_escaped, "\xe2\x80\x8f\xd8\x9c", 5), "\\xe2\\x80\\x8f\\xd8\\x9c"));
	OK(!strcmp(shown(buf_put_escaped, "\xe2\x80\xa6\xe2\x82\xac", 6), "\xe2\x80\xa6\xe2\x82\xac"));
	OK(!strcmp(shown(buf_put_escaped, "gr\xc3\xbc\xc3\x9f", 6), "gr\xc3\xbc\xc3\x9f"));
	OK(!strcmp(shown(buf_put_json, "\"\\\n\x01\xff", 5), "\"\\\"\\\\\\n\\u0001\xef\xbf\xbd\""));
	OK(!strcmp(shown(buf_put_json, "\xed\xa0\x80", 3),
	           "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"")); /* a surrogate */
}

static void check_numbers_out(void)
{
	static const struct { double v; const char *text; } rows[] = {
		{4.97, "4.97"}, {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {12, "12"},
		{-0.5, "-0.5"}, {1e300, "1e+300"}, {1234567.875, "1234567.875"},
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};

		buf_put_number(&b, rows[i].v);
		OK(span_eq_str(span_of(text, b.len), rows[i].text));
		b.len = 0;
		buf_put_fixed(&b, 4.97, 1);
		OK(span_eq_str(span_of(text, b.len), "5.0"));
		b.len = 0;
		buf_put_fixed(&b, -0.04, 1);
		OK(span_eq_str(span_of(text, b.len), "0.0"));
		b.len = 0;
		buf_put_fixed(&b, -0.06, 1);
		OK(span_eq_str(span_of(text, b.len), "-0.1"));
		b.len = 0;
		buf_put_number(&b, (double)NAN);
		OK(span_eq_str(span_of(text, b.len), "null"));
	}
}

static void numbers_out(void)
{
	static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(locales); i++) {
		setlocale(LC_ALL, locales[i]); /* where it is not installed the row is the C locale's */
		check_numbers_out();
	}
	setlocale(LC_ALL, "C");
}

static void buffers_have_a_maximum(void)
{
	struct buf b;
	void *array = NULL;
	size_t cap = 0, i;

	buf_init(&b, 10);
	buf_put_str(&b, "12345678");
	OK(!b.failed);
	buf_put_str(&b, "abc");
	OK(b.failed && b.len == 8);
	buf_finish(&b);
	for (i = 0; i < 20 && grow_array(&array, &cap, i, 4, 20); i++)
		;
	EQ(i, 20);
	OK(!grow_array(&array, &cap, 20, 4, 20));
	free(array);
	OK(alloc_array(SIZE_MAX, 16) == NULL);
}

static void errors(void)
{
	galvo_error e;
	struct span text = span_str("a 1\nb x7\n");

	EQ(err_malformed(&e, "proc/x", text, span_of(text.p + 6, 2), "a number"), GALVO_ERR_MALFORMED);
	OK(!strcmp(e.text, "proc/x:2: expected a number, got 'x7'"));
	err_wrap(&e, "source '%s'", "x");
	OK(!strcmp(e.text, "source 'x': proc/x:2: expected a number, got 'x7'"));
	EQ(err_sys(&e, 13, "f"), GALVO_ERR_DENIED);
	OK(!strcmp(e.text, "f: Permission denied"));
	EQ(err_set(NULL, GALVO_ERR_IO, "x"), GALVO_ERR_IO);
}

static void kept_files(void)
{
	char path[] = "/tmp/galvo-test-XXXXXX";
	int fd = mkstemp(path), dir;
	struct kept k = KEPT_NONE;
	struct buf b;
	struct span text;
	galvo_error e;
	size_t i, n;

	unlink(path);
	dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "%d", fd);
	buf_init(&b, 20000);
	for (i = 0; i < 10000; i++) { /* an exact multiple of the buffer's size on the way */
		OK(file_write_all(fd, "x", 1, &n) == 0 && n == 1);
		if (i % 1024 != 1023 && i % 1000 != 7)
			continue;
		OK(kept_read(&k, dir, path, 0, FILE_RECORD, &b, &text, &e) == GALVO_OK);
		EQ(text.n, i + 1);
		OK(kept_read(&k, dir, path, 0, FILE_RECORDS, &b, &text, &e) == GALVO_OK);
		EQ(text.n, i + 1);
	}
	kept_close(&k);
	buf_finish(&b);
	buf_init(&b, 9999);
	EQ(kept_read(&k, dir, path, 0, FILE_RECORD, &b, &text, &e), GALVO_ERR_MALFORMED);
	EQ(kept_read(&k, dir, "not-there", 0, FILE_RECORD, &b, &text, &e), GALVO_ERR_ABSENT);
	EQ(k.fd, -1);
	buf_finish(&b);
	close(dir);
	close(fd);
}

static void clocks(void)
{
	struct clock_fake f;
	_Atomic uint32_t stop = 0;
	uint64_t now;

	clock_fake_init(&f, 100, 200, 300);
	f.clock.sleep_until(&f.clock, 150, &stop);
	OK(f.clock.mono_ns(&f.clock) == 150 && f.clock.boot_ns(&f.clock) == 250);
	OK(f.clock.wall_ns(&f.clock) == 350);
	now = clock_real.mono_ns(&clock_real);
	clock_real.sleep_until(&clock_real, now + NS_PER_MS, &stop);
	OK(clock_real.mono_ns(&clock_real) >= now + NS_PER_MS);
	clock_wake(&stop);
	clock_real.sleep_until(&clock_real, UINT64_MAX / 2, &stop); /* returns at once */
}

static void numbers_in_order(void)
{
	static const uint64_t sorted[] = {0, 3, 3, 3, 9, UINT64_MAX};
	size_t n, i;

	for (n = 0; n <= ARRAY_LEN(sorted); n++)
		for (i = 0; i < 12; i++) {
			uint64_t v = i < 11 ? i : UINT64_MAX;
			size_t below = 0, up_to = 0, k;

			for (k = 0; k < n; k++) {
				below += sorted[k] < v;
				up_to += sorted[k] <= v;
			}
			EQ(count_below(sorted, n, v), below);
			EQ(count_up_to(sorted, n, v), up_to);
		}
}

static const struct tap_test tests[] = {
	{"numbers in", numbers_in},
	{"takers", takers},
	{"bytes out", bytes_out},
	{"numbers out, in any locale", numbers_out},
	{"buffers have a maximum", buffers_have_a_maximum},
	{"errors", errors},
	{"kept files", kept_files},
	{"clocks", clocks},
	{"numbers in order", numbers_in_order},
};
TAP_MAIN(tests)
