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

/* Processes come and go for hours: those of the last minutes are known, and not all that ever were. */
static void forgets(void)
{
	const uint64_t step = UINT64_C(1000000000);
	galvo_page_memory *m = NULL;
	char key[32];
	int i, known = 0;

	EQ(galvo_page_memory_create(&m, NULL), GALVO_OK);
	for (i = 1; i <= 20000; i++) {
		uint64_t from[2] = {(uint64_t)i * step, (uint64_t)i * step}, end[2] = {from[0] + step, from[0] + step};
		struct points p = points_of(from, end, 1), again = points_of(from + 1, end + 1, 1);

		snprintf(key, sizeof(key), "process-cpu/%d:1", i);
		OK(page_memory_note(m, key, &p) && page_memory_note(m, "cpu/user", &again));
	}
	for (i = 1; i <= 20000; i++) {
		snprintf(key, sizeof(key), "process-cpu/%d:1", i);
		known += page_memory_has(m, key);
		OK(i < 19400 || page_memory_has(m, key));
	}
	OK(known >= 600 && known < 5000 && page_memory_has(m, "cpu/user"));
	galvo_page_memory_destroy(m);
}

static const struct tap_test tests[] = {
	{"a curve begins where it ended", joins},
	{"what is known", knows},
	{"what is forgotten", forgets},
};
TAP_MAIN(tests)
