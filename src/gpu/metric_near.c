/* Names of metrics that are like one that is not there: mistyped, or its words in another order. */
#include "host.h"

enum { NAME_CHARS = 128, WORDS_MAX = 16, FAR = 16 };

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_char(char a, char b, bool ignores_case)
{
	return a == b || (ignores_case && lower(a) == lower(b));
}

static bool same(struct span a, struct span b)
{
	size_t i;

	for (i = 0; a.n == b.n && i < a.n; i++)
		if (!same_char(a.p[i], b.p[i], true))
			return false;
	return a.n == b.n;
}

size_t edit_distance(struct span a, struct span b, bool ignores_case)
{
	uint8_t row[NAME_CHARS + 1];
	size_t i, j;

	if (a.n > NAME_CHARS || b.n > NAME_CHARS)
		return NAME_CHARS;
	for (j = 0; j <= b.n; j++)
		row[j] = (uint8_t)j;
	for (i = 1; i <= a.n; i++) {
		uint8_t corner = row[0];

		row[0] = (uint8_t)i;
		for (j = 1; j <= b.n; j++) {
			uint8_t above = row[j], least = above < row[j - 1] ? above : row[j - 1];

			if (!same_char(a.p[i - 1], b.p[j - 1], ignores_case))
				corner++;
			row[j] = corner <= least ? corner : (uint8_t)(least + 1);
			corner = above;
		}
	}
	return row[b.n];
}

/* Without the group of counters before the unit: "TPC.TriageCompute.sm__x" is sm__x. */
static struct span without_group(struct span name)
{
	size_t i, unit = 0;

	for (i = 0; i + 1 < name.n && !(name.p[i] == '_' && name.p[i + 1] == '_'); i++)
		if (name.p[i] == '.')
			unit = i + 1;
	return span_of(name.p + unit, name.n - unit);
}

static size_t split(struct span name, struct span words[WORDS_MAX])
{
	struct span word;
	size_t n = 0;

	while (n < WORDS_MAX && name.n) {
		if (!span_cut(&name, '_', &word)) {
			word = name;
			name.n = 0;
		}
		if (word.n)
			words[n++] = word;
	}
	return n;
}

/* How many words both have, in any order. */
static size_t in_both(const struct span *a, size_t n, const struct span *b, size_t m)
{
	size_t i, j, found = 0;
	uint32_t taken = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < m && (taken & FIELD(j) || !same(a[i], b[j])); j++)
			;
		if (j == m)
			continue;
		taken |= FIELD(j);
		found++;
	}
	return found;
}

/* The same words of the same unit, some more, or half of them; 0: they are others. */
static unsigned cost_of_words(struct span a, struct span b)
{
	struct span of_a[WORDS_MAX], of_b[WORDS_MAX];
	size_t n = split(a, of_a), m = split(b, of_b), both;

	if (n < 2 || m < 2 || !same(of_a[0], of_b[0]))
		return 0;
	both = in_both(of_a, n, of_b, m);
	if (both == n || both == m)
		return (unsigned)(2 + 2 * (n + m - 2 * both));
	return 2 * (both - 1) >= n - 1 ? (unsigned)(FAR + 2 * (n + m - 2 * both)) : 0;
}

void nearest_offer(struct nearest *found, struct span wanted, const char *name)
{
	struct span a = without_group(wanted), b = without_group(span_str(name));
	unsigned cost = cost_of_words(a, b);
	size_t edits, i;

	edits = a.n > b.n + a.n / 4 || b.n > a.n + a.n / 4 ? a.n : edit_distance(a, b, true);
	if (edits <= 1 + a.n / 8 && (cost == 0 || 2 * edits < cost))
		cost = (unsigned)(2 * edits);
	else if (cost == 0)
		return;
	cost += a.n == wanted.n && b.n != strlen(name); /* of a group that was not asked for */
	for (i = found->len; i > 0 && found->costs[i - 1] > cost; i--)
		;
	if (i == NEAR_MAX)
		return;
	found->len += found->len < NEAR_MAX;
	memmove(found->names + i + 1, found->names + i,
	        (found->len - i - 1) * sizeof(found->names[0]));
	memmove(found->costs + i + 1, found->costs + i,
	        (found->len - i - 1) * sizeof(found->costs[0]));
	found->names[i] = name;
	found->costs[i] = cost;
	/* What is much less like it than the best one is noise. */
	while (found->costs[found->len - 1] > found->costs[0] + found->costs[0] / 2)
		found->len--;
}
