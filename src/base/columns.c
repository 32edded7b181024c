/* How many columns of a terminal a text takes: wide characters two, combining ones none. */
#include "base.h"

struct range {
	uint32_t first, last;
};

/* Combining marks that terminals put onto the character before; the others count one, to be safe. */
static const struct range combining[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
	{0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
	{0x3099, 0x309a}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

/* East Asian wide and full width, and emoji; whole blocks where nearly all of them are wide. */
static const struct range wide[] = {
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
	{0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2630, 0x2637}, {0x2648, 0x2653},
	{0x267f, 0x267f}, {0x268a, 0x268f}, {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab},
	{0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea},
	{0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705},
	{0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755},
	{0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97c},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xff01, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x18dff}, {0x1aff0, 0x1b2ff}, {0x1d300, 0x1d376},
	{0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
	{0x1f200, 0x1f265}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0},
	{0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

static bool is_in(const struct range *ranges, size_t n, uint32_t c)
{
	size_t i;

	for (i = 0; i < n && c > ranges[i].last; i++)
		;
	return i < n && c >= ranges[i].first;
}

/* Bytes of the form 10xxxxxx go on with a character. */
static bool goes_on(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t text_take_character(struct span *rest, size_t *ret_columns)
{
	unsigned char first = (unsigned char)rest->p[0];
	uint32_t c = first < 0x80 ? first : first < 0xe0 ? first & 0x1f : first < 0xf0 ? first & 0xf
	                                                                               : first & 7;
	size_t n;

	for (n = 1; n < rest->n && goes_on(rest->p[n]); n++)
		c = c << 6 | ((unsigned char)rest->p[n] & 0x3f);
	*rest = span_of(rest->p + n, rest->n - n);
	*ret_columns = is_in(combining, ARRAY_LEN(combining), c) ? 0
	               : is_in(wide, ARRAY_LEN(wide), c)         ? 2 : 1;
	return n;
}

size_t text_columns(struct span text)
{
	size_t all = 0, columns;

	while (text.n) {
		text_take_character(&text, &columns);
		all += columns;
	}
	return all;
}

size_t text_fit(struct span text, size_t columns)
{
	struct span rest = text;
	size_t fits = 0, used = 0, more;

	while (rest.n) {
		text_take_character(&rest, &more);
		used += more;
		if (used > columns)
			break;
		fits = text.n - rest.n;
	}
	return fits;
}
