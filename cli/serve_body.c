/* Bytes that several replies share: made once, dropped by the last who holds them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

struct body *body_create(void)
{
	struct body *b = calloc(1, sizeof(*b));

	if (b)
		atomic_init(&b->holders, 1);
	return b;
}

struct body *body_keep(struct body *b)
{
	atomic_fetch_add(&b->holders, 1);
	return b;
}

void body_drop(struct body *b)
{
	if (!b || atomic_fetch_sub(&b->holders, 1) != 1)
		return;
	free(b->bytes);
	free(b);
}

int body_write(void *body, const void *bytes, size_t n)
{
	struct body *b = body;

	if (b->cap - b->len < n) {
		size_t cap = b->len + n + b->len / 2 + 256;
		char *p = realloc(b->bytes, cap);

		if (!p) {
			b->failed = true;
			return 1;
		}
		b->bytes = p;
		b->cap = cap;
	}
	memcpy(b->bytes + b->len, bytes, n);
	b->len += n;
	return 0;
}

void body_print(struct body *b, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n > 0)
		body_write(b, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* Bytes of one character of UTF-8, 0 if it is none. */
static size_t utf8_len(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3
	         : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
	size_t i;

	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

void body_put_text(struct body *b, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n;

	body_write(b, "\"", 1);
	for (; *p; p += n ? n : 1) {
		n = utf8_len(p);
		if (n == 0)
			body_print(b, "\\ufffd");
		else if (n == 1 && (*p < ' ' || *p == 0x7f || strchr("\"\\<", *p)))
			body_print(b, "\\u%04x", (unsigned)*p);
		else
			body_write(b, p, n);
	}
	body_write(b, "\"", 1);
}
