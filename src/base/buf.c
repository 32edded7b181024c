/* Growing buffers and arrays, each with a maximum given at birth. */
#include <stdarg.h>

#include "base.h"

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.max = max};
}

void buf_finish(struct buf *b)
{
	free(b->p);
	*b = (struct buf){.max = b->max};
}

bool buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap;
	char *p;

	if (__builtin_add_overflow(b->len, more, &need) || need > b->max) {
		b->failed = true;
		return false;
	}
	if (need <= b->cap)
		return true;
	for (cap = b->cap ? b->cap : 256; cap < need; cap = cap > b->max / 2 ? b->max : cap * 2)
		;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_put(struct buf *b, const void *bytes, size_t n)
{
	if (n == 0 || !buf_reserve(b, n))
		return;
	memcpy(b->p + b->len, bytes, n);
	b->len += n;
}

void buf_put_str(struct buf *b, const char *cstr)
{
	buf_put(b, cstr, strlen(cstr));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	char small[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(small, sizeof(small), fmt, args);
	va_end(args);
	if (n < 0) {
		b->failed = true;
	} else if ((size_t)n < sizeof(small)) {
		buf_put(b, small, (size_t)n);
	} else if (buf_reserve(b, (size_t)n + 1)) {
		va_start(args, fmt);
		vsnprintf(b->p + b->len, (size_t)n + 1, fmt, args);
		va_end(args);
		b->len += (size_t)n;
	}
}

void *alloc_array(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n ? n : 1, size, &bytes) || bytes > PTRDIFF_MAX)
		return NULL;
	return calloc(1, bytes);
}

bool grow_array(void **array, size_t *cap, size_t len, size_t size, size_t max)
{
	size_t new_cap, bytes;
	char *p;

	if (len < *cap)
		return true;
	new_cap = *cap ? (*cap > max / 2 ? max : *cap * 2) : (max < 8 ? max : 8);
	if (len >= new_cap || __builtin_mul_overflow(new_cap, size, &bytes))
		return false;
	p = realloc(*array, bytes);
	if (!p)
		return false;
	memset(p + *cap * size, 0, (new_cap - *cap) * size);
	*array = p;
	*cap = new_cap;
	return true;
}
