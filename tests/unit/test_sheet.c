/* Lines of a page: columns of a terminal, what is clipped and what goes on in the next line. */
#include "base/base.h"
#include "full_run.h"
#include "galvo/summary.h"
#include "output/output.h"
#include "tap.h"

#define JAPANESE "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e" /* three characters, six columns */

struct page {
	char text[1 << 16];
	size_t len;
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct page *p = ctx;

	memcpy(p->text + p->len, bytes, n);
	p->len += n;
	p->text[p->len] = '\0';
	return 0;
}

static void columns_of_a_terminal(void)
{
	static const struct {
		const char *text;
		size_t columns;
	} rows[] = {
		{"", 0}, {"abc", 3}, {"\xc3\xa4", 1}, {"e\xcc\x81", 1}, {"\xe2\x82\xac", 1},
		{JAPANESE, 6}, {"\xed\x95\x9c", 2}, {"\xef\xbc\xa1", 2}, {"\xf0\x9f\x98\x80", 2},
		{"\xf0\x9f\x9a\x80", 2}, {"\xe2\x9c\x94", 1}, {"\xe2\x9c\x94\xef\xb8\x8f", 2},
		{"\xf0\xa0\x80\x80", 2}, {"\xe2\x80\xa6", 1}, {"\xc2\xb5s", 2},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!OK(text_columns(span_str(rows[i].text)) == rows[i].columns))
			printf("# %s: %zu\n", rows[i].text, text_columns(span_str(rows[i].text)));
	EQ(text_fit(span_str(JAPANESE "x"), 5), 6);
	EQ(text_fit(span_str(JAPANESE "x"), 0), 0);
	EQ(text_fit(span_str("e\xcc\x81x"), 1), 3);
}

static void repeat(struct sheet *s, const char *what, size_t n)
{
	while (n-- > 0)
		buf_put_str(&s->buf, what);
}

static void wide_lines_are_clipped(void)
{
	struct page p = {.len = 0};
	struct span rest, line;
	struct sheet s;

	sheet_init(&s, take, &p);
	repeat(&s, JAPANESE, 30);
	sheet_line_end(&s);
	buf_put_str(&s.buf, "  ");
	repeat(&s, JAPANESE, 30);
	sheet_column(&s, NAME_COLUMNS);
	sheet_text(&s, "x");
	OK(sheet_finish(&s, NULL) == GALVO_OK);
	rest = span_of(p.text, p.len);
	OK(span_take_line(&rest, &line) && text_columns(line) == 79); /* no half character */
	OK(span_take_line(&rest, &line) && text_columns(line) == NAME_COLUMNS + 1);
	OK(line.n && line.p[line.n - 1] == 'x');
}

static void words_go_on_in_the_next_line(void)
{
	struct page p = {.len = 0};
	struct sheet s;

	sheet_init(&s, take, &p);
	buf_put_str(&s.buf, "  subject: ");
	repeat(&s, "word ", 20);
	buf_put_str(&s.buf, "end");
	sheet_line_wrap(&s, 4);
	repeat(&s, "x", 79);
	sheet_line_wrap(&s, 4);
	repeat(&s, "y", 100);
	sheet_line_wrap(&s, 4);
	sheet_line_wrap(&s, 4);
	OK(sheet_finish(&s, NULL) == GALVO_OK);
	if (!OK(!strcmp(p.text,
	                "  subject: word word word word word word word word word word word word word word\n"
	                "    word word word word word word end\n"
	                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
	                "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n"
	                "    yyyyyyyyyyyyyyyyyyyy\n\n")))
		printf("%s", p.text);
}

static void page_of(const struct fake_run *f, struct page *p)
{
	galvo_summary *s = NULL;

	p->len = 0;
	OK(galvo_summary_create(&f->run, &s, NULL) == GALVO_OK);
	OK(galvo_summary_write(s, GALVO_REPORT_TEXT, take, p, NULL) == GALVO_OK);
	galvo_summary_destroy(s);
}

/* Why something is missing is never cut short; its count is of what failed, without another unit. */
static void reasons_are_whole(void)
{
	static const struct session_note note = {
		"processes", "12345 descendants not followed: half of the descriptor limit (ulimit -n) is "
		             "in use, and that is all there is to say"};
	const struct run_source slow[] = {
		{STREAM_SYSTEM, "process_detail", "", 12, 0, 1, 0, 0, 0, 0, 0},
		{STREAM_SYSTEM, "memory_pressure", "", 4, 0, 1, 0, 0, 0, 0, 0},
		{STREAM_DISK, "process_io", "proc/4711/io: Permission denied", 8, 0, 10, 248, 0, 0, 0, 0},
	};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct page *p = alloc_array(1, sizeof(*p));

	full(f);
	f->session.notes = &note;
	f->run.sources = slow;
	f->run.sources_len = ARRAY_LEN(slow);
	page_of(f, p);
	OK(strstr(p->text, " in use, and that is all there is to say\n"));
	OK(strstr(p->text, "process_io: proc/4711/io: Permission denied (248 times)\n"));
	OK(strstr(p->text, "slowed by the budget: process_detail 1/12, memory_pressure 1/4,\n"
	                   "                process_io 1/8\n"));
	free(p);
	free(f);
}

/* Equal cores have no extremes, and no imbalance either. PSS is a line when there is any. */
static void lines_that_come_and_go(void)
{
	static const char *const pss[] = {"proc__pss_bytes"};
	struct fake_run *f = alloc_array(1, sizeof(*f));
	struct page *p = alloc_array(1, sizeof(*p));
	size_t t, i;

	full(f);
	page_of(f, p);
	OK(strstr(p->text, "busiest core") && strstr(p->text, "imbalance") && !strstr(p->text, "PSS  "));
	for (i = 0; i < f->tables[2].rows_len; i++)
		f->columns[2].value[0][i] = 30;
	t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS_DETAIL, pss, 1, NULL, 0);
	ROW(f, t, 105 * S, 4711, 3 * MIB);
	page_of(f, p);
	OK(!strstr(p->text, "busiest core") && !strstr(p->text, "imbalance"));
	OK(strstr(p->text, "  processes, PSS      3.00 MiB 3.00 MiB   what they share counted once\n"));
	free(p);
	free(f);
}

static const struct tap_test tests[] = {
	{"columns of a terminal", columns_of_a_terminal},
	{"wide lines are clipped", wide_lines_are_clipped},
	{"words go on in the next line", words_go_on_in_the_next_line},
	{"reasons are whole", reasons_are_whole},
	{"lines that come and go", lines_that_come_and_go},
};
TAP_MAIN(tests)
