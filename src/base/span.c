/* Spans: taking words, lines and numbers off borrowed bytes, every result checked. */
#include "base.h"

struct span span_of(const char *p, size_t n)
{
	return (struct span){p, n};
}

struct span span_str(const char *cstr)
{
	return (struct span){cstr ? cstr : "", cstr ? strlen(cstr) : 0};
}

bool span_eq(struct span a, struct span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool span_eq_str(struct span a, const char *b)
{
	return span_eq(a, span_str(b));
}

bool span_starts(struct span a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && memcmp(a.p, prefix, n) == 0;
}

int span_cmp(struct span a, struct span b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static struct span span_from(struct span s, size_t at)
{
	return (struct span){s.p + at, s.n - at};
}

bool span_take_line(struct span *rest, struct span *ret_line)
{
	if (rest->n == 0)
		return false;
	if (!span_cut(rest, '\n', ret_line)) {
		*ret_line = *rest;
		*rest = span_from(*rest, rest->n);
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool span_take_word(struct span *rest, struct span *ret_word)
{
	size_t from = 0, to;

	while (from < rest->n && is_blank(rest->p[from]))
		from++;
	for (to = from; to < rest->n && !is_blank(rest->p[to]); to++)
		;
	if (to == from)
		return false;
	*ret_word = span_of(rest->p + from, to - from);
	*rest = span_from(*rest, to);
	return true;
}

/* Digits from p on, at most up to end. NULL: none, or more than 64 bits. */
static const char *take_digits(const char *p, const char *end, uint64_t *ret)
{
	enum { ALWAYS_FIT = 19 }; /* digits that cannot overflow 64 bits */
	const char *from = p, *sure = end - p > ALWAYS_FIT ? p + ALWAYS_FIT : end;
	unsigned digit;
	uint64_t v = 0;

	for (; p < sure && (digit = (unsigned)*p - '0') <= 9; p++)
		v = v * 10 + digit;
	for (; p == sure && p < end && (digit = (unsigned)*p - '0') <= 9; p++, sure++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
			return NULL;
	if (p == from)
		return NULL;
	*ret = v;
	return p;
}

bool span_take_u64(struct span *rest, uint64_t *ret)
{
	const char *p = rest->p, *end = rest->p + rest->n;

	while (p < end && is_blank(*p))
		p++;
	p = take_digits(p, end, ret);
	if (!p)
		return false;
	*rest = span_of(p, (size_t)(end - p));
	return true;
}

bool span_cut(struct span *rest, char sep, struct span *ret_head)
{
	const char *at = rest->n ? memchr(rest->p, sep, rest->n) : NULL;

	if (!at)
		return false;
	*ret_head = span_of(rest->p, (size_t)(at - rest->p));
	*rest = span_from(*rest, ret_head->n + 1);
	return true;
}

struct span span_trim(struct span s)
{
	while (s.n && (is_blank(s.p[0]) || s.p[0] == '\n' || s.p[0] == '\r'))
		s = span_from(s, 1);
	while (s.n && (is_blank(s.p[s.n - 1]) || s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

bool span_to_u64(struct span s, uint64_t *ret)
{
	uint64_t v;

	if (s.n == 0 || take_digits(s.p, s.p + s.n, &v) != s.p + s.n)
		return false;
	*ret = v;
	return true;
}
