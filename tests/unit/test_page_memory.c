/* What a page was shown goes on in its news: whose curves are known, and where their first points begin. */
#include "output/page.h"
#include "tap.h"

static struct points points_of(uint64_t *from, uint64_t *end, size_t n)
{
	return (struct points){.from_mono_ns = from, .end_mono_ns = end, .len = n};
}

/* One curve's news, a row each: where they begin, as news alone know it, and as they are to. */
static void joins(void)
{
	static const struct {
		const char *what;
		uint64_t from, end, wanted;
	} rows[] = {
		{"an overview's", 1000, 2000, 1000},
		{"a little late", 2003, 3003, 2000},
		{"a little early", 2990, 4000, 3003},
		{"as if it were faster", 4990, 5000, 4000},
		{"behind a hole", 9000, 10000, 9000},
		{"which is over", 10995, 11000, 10000},
		{"the same once more", 10000, 11000, 10000},
		{"older", 500, 600, 500},
		{"and on", 11001, 12000, 11000},
	};
	galvo_page_memory *m = NULL;
	size_t i;

	EQ(galvo_page_memory_create(&m, NULL), GALVO_OK);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t from = rows[i].from, end = rows[i].end;
		struct points p = points_of(&from, &end, 1);

		OK(page_memory_note(m, "cpu/user", &p));
		if (!EQ(from, rows[i].wanted))
			printf("# %s\n", rows[i].what);
	}
	galvo_page_memory_destroy(m);
}

static void knows(void)
{
	galvo_page_memory *m = NULL;
	uint64_t from[2] = {0, 10}, end[2] = {10, 20};
	struct points p = points_of(from, end, 2), none = {.len = 0};
	char key[32];
	int i;

	EQ(galvo_page_memory_create(NULL, NULL), GALVO_ERR_INVALID);
	EQ(galvo_page_memory_create(&m, NULL), GALVO_OK);
	OK(!page_memory_has(m, "a") && page_memory_note(m, "a", &none) && !page_memory_has(m, "a"));
	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "process-cpu/%d:%d", i, i * 7);
		OK(!page_memory_has(m, key) && page_memory_note(m, key, &p) && page_memory_has(m, key));
	}
	for (i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "process-cpu/%d:%d", i, i * 7);
		OK(page_memory_has(m, key));
	}
	OK(!page_memory_has(m, "process-cpu/1:8") && !page_memory_has(m, ""));
	galvo_page_memory_destroy(m);
	galvo_page_memory_destroy(NULL);
}

static const struct tap_test tests[] = {
	{"a curve begins where it ended", joins},
	{"what is known", knows},
};
TAP_MAIN(tests)
