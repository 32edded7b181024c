/* What a mistyped word was meant to be. */
#include <string.h>

#include "cli.h"

enum { WORD_MAX = 96 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edits that turn one word into another; words longer than the table are far from all. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], n = strlen(a), m = strlen(b), i, j;

	if (n > WORD_MAX || m > WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (j = 1; j <= m; j++) {
			size_t above = row[j];

			row[j] = least(least(above, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[m];
}

const char *nearest(const char *word, size_t most, const char *(*at)(size_t))
{
	const char *found = NULL, *name;
	size_t i, best = most + 1;

	for (i = 0; (name = at(i)); i++) {
		size_t d = distance(word, name);

		if (d < best) {
			best = d;
			found = name;
		}
	}
	return found;
}
