/* Who a process is, and its children: names that lie about where they end, ends that come early. */
#include "source/source.h"
#include "tap.h"

struct row {
	const char *text, *comm; /* comm NULL: malformed */
	char state;
	uint32_t ppid;
	uint64_t cpu_ticks, start_ticks;
};

static const struct row rows[] = {
	{"5768 (Plex New Trans) S 1264 1252 1252 0 -1 1077960704 17317 0 18 0 92 13 0 0 15 -5 8 0 "
	 "1430749 186589184 16704 18446744073709551615\n", "Plex New Trans", 'S', 1264, 105, 1430749},
	{"5769 (a) R 1 (b) R 1 5769 5769 0 -1 4194304 1 0 0 0 5 1 0 0 20 0 1 0 2 1 1\n",
	 "a) R 1 (b", 'R', 1, 6, 2},
	{"5770 (two\nlines) S 1 5770 5770 0 -1 4194304 1 0 0 0 7 1 0 0 20 0 1 0 2 1 1\n",
	 "two\nlines", 'S', 1, 8, 2},
	{"5771 () Z 1 5771 5771 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 2 0 0\n", "", 'Z', 1, 0, 2},
	{"5772 (\\\xff\x1b[2J) S 0 0 0 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 18446744073709551615 0 0\n",
	 "\\\xff\x1b[2J", 'S', 0, 3, UINT64_MAX},
	{"1 (svc) S 0 1 1 0 -1 1077944576 4345 0 1 0 13 17 0 0 20 0 18446744073709551615 0 346180303 "
	 "732237824 2193 18446744073709551615 0 0 0 0 0 0 0 0 2143420159 18446744073709551615 0\r\n",
	 "svc", 'S', 0, 30, 346180303},
	/* overflow of the sum, of a column; a parent that is none; a minus; missing parts */
	{"5 (a) S 1 5 5 0 -1 0 0 0 0 0 18446744073709551615 1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"5 (a) S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 18446744073709551616 0 0\n", NULL, 0, 0, 0, 0},
	{"5 (a) S 4294967297 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"5 (a) S 1 5 5 0 -1 0 0 0 0 0 1 -1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"5 (a) SS 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"5 (a S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"5 a) S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"-5 (a) S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", NULL, 0, 0, 0, 0},
	{"5 (a)", NULL, 0, 0, 0, 0}, {"5 (", NULL, 0, 0, 0, 0}, {"\n", NULL, 0, 0, 0, 0},
};

static void names_end_at_the_last_bracket(void)
{
	struct process_stat s;
	galvo_error e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		galvo_status status = process_stat_parse(span_str(r->text), &s, &e);

		if (!EQ(status, r->comm ? GALVO_OK : GALVO_ERR_MALFORMED))
			printf("# %s", r->text);
		if (status == GALVO_OK && r->comm)
			OK(span_eq_str(s.comm, r->comm) && s.state == r->state && s.ppid == r->ppid &&
			   s.cpu_ticks == r->cpu_ticks && s.start_ticks == r->start_ticks);
	}
	EQ(process_stat_parse(span_str(""), &s, NULL), GALVO_ERR_ABSENT);
}

/* A process that exits has the flag before it has the state, and a zombie may have neither. */
static void the_dying_are_told_apart(void)
{
	static const struct { const char *text; bool is_dying; } texts[] = {
		{"5 (a) R 1 5 5 0 -1 4194304 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", false},
		{"5 (a) D 1 5 5 0 -1 4194308 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", true},
		{"5 (a) Z 1 5 5 0 -1 4227084 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", true},
		{"5 (a) Z 1 5 5 0 -1 x 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", true},
		{"5 (a) X 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", true},
		{"5 (Z) S 1 5 5 0 -1 18446744073709551616 0 0 0 0 1 1 0 0 20 0 1 0 2 0 0\n", false},
	};
	struct process_stat s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++)
		if (!OK(process_stat_parse(span_str(texts[i].text), &s, NULL) == GALVO_OK &&
		        s.is_dying == texts[i].is_dying))
			printf("# %s", texts[i].text);
}

/* A text cut anywhere gives nothing or the whole truth, never another start time. */
static void cut_texts_never_lie(void)
{
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		for (n = 0; rows[i].comm && n < strlen(rows[i].text); n++) {
			char *copy = malloc(n + 1);
			struct process_stat s;

			if (!OK(copy))
				return;
			memcpy(copy, rows[i].text, n);
			if (process_stat_parse(span_of(copy, n), &s, NULL) == GALVO_OK)
				OK(s.start_ticks == rows[i].start_ticks &&
				   s.cpu_ticks == rows[i].cpu_ticks && span_eq_str(s.comm, rows[i].comm));
			free(copy);
		}
}

static void children(void)
{
	static const struct { const char *text; uint32_t pids[4]; } lists[] = {
		{"12 34 56 ", {12, 34, 56}}, {"12", {12}}, {"", {0}}, {" \n", {0}}, {"7\n", {7}},
		{"4194304 2147483647 2147483648 5 ", {4194304, 2147483647}}, {"1 -2 3 ", {1}},
		{"1 0 3 ", {1}}, {"1 18446744073709551617 3 ", {1}}, {"5x 6 ", {0}},
	};
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(lists); i++) {
		struct span rest = span_str(lists[i].text);
		uint32_t pid = 99;

		for (n = 0; process_children_take(&rest, &pid); n++)
			EQ(pid, lists[i].pids[n]);
		EQ(lists[i].pids[n], 0);
	}
}

static const struct tap_test tests[] = {
	{"a name ends at the last bracket", names_end_at_the_last_bracket},
	{"the dying are told apart", the_dying_are_told_apart},
	{"a text cut anywhere never lies", cut_texts_never_lie},
	{"children are taken one by one", children},
};

TAP_MAIN(tests)
