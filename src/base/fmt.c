/* Text out: numbers without locale, bytes of unknown encoding made printable. */
#include <locale.h>
#include <math.h>
#include <stdint.h>

#include "base.h"

/* Length of the valid UTF-8 character at the start of s; 0 if there is none. */
static size_t utf8_len(struct span s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;
	size_t n, i;

	if (s.n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < n)
		return 0;
	c = p[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

/* Control characters: C0, DEL and the C1 block, which terminals obey too. */
static bool is_control(struct span s, size_t n)
{
	unsigned char c = (unsigned char)s.p[0];

	return n == 1 ? c < 0x20 || c == 0x7f : n == 2 && c == 0xc2 && (unsigned char)s.p[1] < 0xa0;
}

/*
 * Characters that nobody sees and that change how what stands around them is shown: joiners, marks
 * and overrides of the direction of writing, line separators, the byte order mark.
 */
static bool is_format(struct span s, size_t n)
{
	static const struct { uint32_t first, last; } ranges[] = {
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
	};
	const unsigned char *p = (const unsigned char *)s.p;
	uint32_t c;
	size_t i;

	if (n == 2)
		return p[0] == 0xd8 && p[1] == 0x9c; /* the Arabic letter mark */
	if (n != 3)
		return false;
	c = (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
	for (i = 0; i < ARRAY_LEN(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

void buf_put_escaped(struct buf *b, struct span bytes)
{
	while (bytes.n) {
		size_t n = utf8_len(bytes), k;
		unsigned char c = (unsigned char)bytes.p[0];
		bool is_hidden = n > 1 && (is_control(bytes, n) || is_format(bytes, n));

		if (c == '\n')
			buf_put_str(b, "\\n");
		else if (c == '\t')
			buf_put_str(b, "\\t");
		else if (c == '\\')
			buf_put_str(b, "\\\\");
		else if (n == 0 || is_hidden || is_control(bytes, n))
			for (k = 0; k < (n ? n : 1); k++)
				buf_printf(b, "\\x%02x", (unsigned char)bytes.p[k]);
		else
			buf_put(b, bytes.p, n);
		n = n ? n : 1;
		bytes = span_of(bytes.p + n, bytes.n - n);
	}
}

void buf_put_json(struct buf *b, struct span bytes)
{
	buf_put(b, "\"", 1);
	while (bytes.n) {
		size_t n = utf8_len(bytes);
		unsigned char c = (unsigned char)bytes.p[0];

		if (n == 0)
			buf_put_str(b, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c == '\n')
			buf_put_str(b, "\\n");
		else if (is_control(bytes, n))
			buf_printf(b, "\\u%04x", n == 1 ? c : (unsigned char)bytes.p[1]);
		else
			buf_put(b, bytes.p, n);
		n = n ? n : 1;
		bytes = span_of(bytes.p + n, bytes.n - n);
	}
	buf_put(b, "\"", 1);
}

/* printf's decimal point is the locale's, perhaps of several bytes: put a '.' there. */
static void put_double(struct buf *b, const char *text, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		char c = text[i];
		bool is_number = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';

		if (is_number)
			buf_put(b, &c, 1);
		else if (i == 0 || (text[i - 1] >= '0' && text[i - 1] <= '9'))
			buf_put(b, ".", 1);
	}
}

void buf_put_number(struct buf *b, double v)
{
	char text[64];
	int digits, n = 0;

	if (!isfinite(v)) {
		buf_put_str(b, "null");
		return;
	}
	if (fabs(v) < 9e15 && v == (double)(int64_t)v) {
		buf_printf(b, "%lld", (long long)v);
		return;
	}
	/* 15 digits are most often enough, 17 always. strtod reads what printf wrote, in any locale. */
	for (digits = 15; digits <= 17; digits++) {
		n = snprintf(text, sizeof(text), "%.*g", digits, v);
		if ((strtod)(text, NULL) == v)
			break;
	}
	put_double(b, text, n);
}

void buf_put_general(struct buf *b, double v, int digits)
{
	char text[400];
	int n;

	if (!isfinite(v)) {
		buf_put_str(b, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	n = snprintf(text, sizeof(text), "%.*g", digits, v);
	if (n > 0 && (size_t)n < sizeof(text))
		put_double(b, text, n);
}

bool span_to_double(struct span s, double *ret)
{
	static const char allowed[] = "0123456789.eE+-";
	char small[64], *text = small, *end;
	locale_t plain;
	size_t i;
	bool ok;

	for (i = 0; i < s.n; i++)
		if (!memchr(allowed, s.p[i], sizeof(allowed) - 1))
			return false;
	plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (s.n >= sizeof(small))
		text = malloc(s.n + 1);
	ok = s.n && text && plain;
	if (ok) {
		memcpy(text, s.p, s.n);
		text[s.n] = '\0';
		*ret = strtod_l(text, &end, plain);
		ok = end == text + s.n;
	}
	if (text != small)
		free(text);
	if (plain)
		freelocale(plain);
	return ok;
}

void buf_put_fixed(struct buf *b, double v, unsigned decimals)
{
	char text[400], *start = text;
	int n;

	if (!isfinite(v)) {
		buf_put_str(b, "-");
		return;
	}
	n = snprintf(text, sizeof(text), "%.*f", (int)decimals, v);
	if (n <= 0 || (size_t)n >= sizeof(text))
		return;
	start += text[0] == '-' && !strpbrk(text, "123456789"); /* nothing is nothing, on either side */
	put_double(b, start, n - (int)(start - text));
}

void buf_put_three(struct buf *b, double v)
{
	double size = fabs(v);

	buf_put_fixed(b, v, size < 9.995 && size > 0 ? 2 : size < 99.95 && size > 0 ? 1 : 0);
}

/* From 1000 on the next unit: never four digits before a unit. */
void buf_put_bytes(struct buf *b, double v)
{
	static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
	size_t i = 0;

	if (!isfinite(v)) {
		buf_put_str(b, "-");
		return;
	}
	for (; fabs(v) >= 999.5 && i + 1 < ARRAY_LEN(units); i++)
		v /= 1024;
	if (i == 0)
		buf_put_fixed(b, v, 0);
	else
		buf_put_three(b, v);
	buf_put_str(b, units[i]);
}

bool utf8_is_valid(struct span bytes)
{
	while (bytes.n) {
		size_t n = utf8_len(bytes);

		if (n == 0)
			return false;
		bytes = span_of(bytes.p + n, bytes.n - n);
	}
	return true;
}

size_t utf8_copy(char *to, size_t cap, struct span bytes)
{
	size_t len = 0;

	if (cap == 0)
		return 0;
	while (bytes.n) {
		size_t n = utf8_len(bytes);
		const char *from = n ? bytes.p : "\xef\xbf\xbd";
		size_t width = n ? n : 3;

		if (len + width + 1 > cap)
			break;
		memcpy(to + len, from, width);
		len += width;
		n = n ? n : 1;
		bytes = span_of(bytes.p + n, bytes.n - n);
	}
	to[len] = '\0';
	return len;
}
