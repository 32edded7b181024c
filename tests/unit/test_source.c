/* Every parser over rows of good and hostile text: what it reads, leaves out, and says. */
#include "source_rig.h"
#include "tap.h"

struct row {
	const char *source, *path;
	struct span text;
	const char *want; /* as rig_show has it; after '!' the text of the failure */
};
#define TEXT(literal) {literal, sizeof(literal) - 1}

#include "source_rows.h"

/* On a copy of exactly that size, so that a byte too far is seen. */
static galvo_status parse(const struct row *row, size_t n, struct rig *rig, galvo_error *e)
{
	const struct source *s = rig_source(span_str(row->source));
	const struct source_text *t = rig_text(s, span_str(row->path));
	char *copy = malloc(n ? n : 1);
	galvo_status status = GALVO_ERR_STATE;

	rig_init(rig);
	e->text[0] = '\0';
	if (t && copy) {
		memcpy(copy, row->text.p, n);
		status = t->parse(span_of(copy, n), &rig_world, &rig->sink, e);
	}
	free(copy);
	return status;
}

static void check_row(const struct row *row)
{
	char shown[1024];
	struct buf b = {.p = shown, .cap = sizeof(shown), .max = sizeof(shown)};
	struct rig rig;
	galvo_error e;
	galvo_status status = parse(row, row->text.n, &rig, &e);

	if (status == GALVO_DONE)
		buf_put_str(&b, "~ "); /* that is all, while the main thread lives */
	if (status != GALVO_OK && status != GALVO_DONE)
		buf_printf(&b, "!%s", e.text);
	else
		rig_show(&rig, rig_source(span_str(row->source)), &b);
	if (!OK(span_eq_str(span_of(b.p, b.len), row->want)))
		printf("# %s %s, text '%.*s'\n#  got '%.*s'\n# want '%s'\n", row->source, row->path,
		       row->text.n < 80 ? (int)row->text.n : 80, row->text.p, (int)b.len, b.p,
		       row->want);
}

static void rows_are_read(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
}

static void every_text_has_a_row(void)
{
	size_t s, t, i;

	for (s = 0; s < source_table_len; s++)
		for (t = 0; t < source_table[s]->texts_len; t++) {
			const char *path = source_table[s]->texts[t].path;
			int good = 0, bad = 0;

			for (i = 0; i < ARRAY_LEN(rows); i++) {
				if (strcmp(rows[i].source, source_table[s]->name) ||
				    strcmp(rows[i].path, path))
					continue;
				good += rows[i].want[0] != '!';
				bad += rows[i].want[0] == '!';
			}
			if (!OK(good && bad))
				printf("# no row: %s %s\n", source_table[s]->name, path);
		}
}

/* Total: any prefix, and any byte replaced, is read or refused with a message. */
static void damaged_texts_do_no_harm(void)
{
	static const char bytes[] = {'\0', '\n', ' ', '-', '9', ':', ')', '\r', (char)0xff};
	struct rig rig;
	galvo_error e;
	size_t i, n, k;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		for (n = 0; n <= rows[i].text.n; n++)
			OK(parse(&rows[i], n, &rig, &e) >= GALVO_OK || e.text[0]);
	for (i = 0; i < ARRAY_LEN(rows); i++)
		for (n = 0; n < rows[i].text.n; n++)
			for (k = 0; k < sizeof(bytes); k++) {
				char copy[2048];
				struct row r = rows[i];

				memcpy(copy, r.text.p, r.text.n);
				copy[n] = bytes[k];
				r.text.p = copy;
				OK(parse(&r, r.text.n, &rig, &e) >= GALVO_OK || e.text[0]);
			}
}

static void check_long(const char *source, const char *path, struct buf *b, const char *want)
{
	struct row row = {source, path, {b->p, b->len}, want};

	OK(!b->failed);
	check_row(&row);
	b->len = 0;
}

/* Interrupts of a large machine fill 70 kB of one line, and nothing stops at 64. */
static void long_lines(void)
{
	struct buf b;
	int i;

	buf_init(&b, 4 << 20);
	buf_put_str(&b, "cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 10 0 10 100 0 0 0 0 0 0\nintr 777");
	for (i = 0; i < 36000; i++)
		buf_put_str(&b, " 0");
	buf_put_str(&b, "\nctxt 1234567\nprocs_running 3\n");
	check_long("kernel", "proc/stat", &b,
	           "interrupts_count=777 context_switches_count=1234567 procs_running_count=3");
	for (i = 0; i < 1 << 20; i++)
		buf_put(&b, "9", 1);
	buf_put_str(&b, "\nMemTotal: 1 kB\n");
	check_long("memory", "proc/meminfo", &b, "total_bytes=1024");
	buf_put_str(&b, "MemTotal: ");
	for (i = 0; i < 1 << 20; i++)
		buf_put(&b, " ", 1);
	buf_put_str(&b, "7 kB");
	check_long("memory", "proc/meminfo", &b, "total_bytes=7168");
	buf_put_str(&b, " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11");
	for (i = 0; i < 1 << 18; i++)
		buf_put_str(&b, " 12");
	check_long("disk", "proc/diskstats", &b,
	           "sda#8388608 read_requests=1 read_sectors=3 write_requests=5 write_sectors=7 "
	           "busy_ms=10 weighted_ms=11 discard_sectors=12 flush_requests=12");
	buf_finish(&b);
}

/* Rows that nobody asked for are passed over, and that is no failure. */
static struct raw *row_refused(struct raw_sink *sink, struct span name, uint32_t number)
{
	(void)sink, (void)name, (void)number;
	return NULL;
}

static void nobody_asks(void)
{
	struct raw_sink sink = {row_refused};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct source *s = rig_source(span_str(rows[i].source));
		const struct source_text *t = rig_text(s, span_str(rows[i].path));

		if (t && rows[i].want[0] != '!')
			OK(t->parse(rows[i].text, &rig_world, &sink, NULL) >= GALVO_OK);
	}
}

static const struct tap_test tests[] = {
	{"rows are read as they should be", rows_are_read},
	{"every text of every source has a good row and a bad one", every_text_has_a_row},
	{"texts cut anywhere, or with any byte replaced, do no harm", damaged_texts_do_no_harm},
	{"lines have no largest length", long_lines},
	{"rows that nobody asks for are passed over", nobody_asks},
};

TAP_MAIN(tests)
