/* The page: budgets, wishes that make no sense, receivers and memory that fail, the same bytes again. */
#include "allocations.h"
#include "full_run.h"
#include "output/page.h"
#include "tap.h"

/* ---- pages ---------------------------------------------------------------------------------- */

static const struct page_parts parts = {
	{"run()", 5}, {"body{}", 6}, {"script-src 'none'", 17},
};

static struct fake_run *full_run, *small_run;

struct taken {
	char *text;
	size_t len, stop_after; /* stop_after 0: takes all */
	uint64_t hash;
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct taken *t = ctx;
	const unsigned char *p = bytes;
	size_t i;

	t->len += n;
	for (i = 0; i < n; i++)
		t->hash = (t->hash ^ p[i]) * UINT64_C(0x100000001b3);
	return t->stop_after && t->len >= t->stop_after;
}

static galvo_status page(const struct fake_run *f, galvo_page_options o, struct taken *t,
                         galvo_error *error)
{
	const galvo_page_run run = {&f->run, "it"};

	o.struct_size = sizeof(o);
	return page_write(&parts, &run, 1, &o, take, t, error);
}

static galvo_status data(const struct fake_run *f, galvo_page_data_options o, struct taken *t,
                         galvo_error *error)
{
	o.struct_size = sizeof(o);
	return galvo_page_data(&f->run, &o, take, t, error);
}

static void wishes_that_make_no_sense(void)
{
	const struct fake_run *f = full_run;
	static const galvo_page_window backwards = {2, 1}, nothing = {0, 0}, endless = {1, INFINITY};
	static const galvo_page_options wrong[] = {
		{.precision_bits = 16}, {.details_len = 1}, {.details = &backwards, .details_len = 1},
		{.details = &nothing, .details_len = 1}, {.details = &endless, .details_len = 1},
		{.max_bytes = 1000},
	};
	static const galvo_page_data_options wrong_data[] = {
		{.kind = 0}, {.kind = 4}, {.kind = 1, .precision_bits = 31}, {.kind = 2},
		{.kind = 2, .from_s = 2, .end_s = 1}, {.kind = 2, .from_s = NAN, .end_s = 1},
		{.kind = 2, .end_s = INFINITY}, {.kind = 2, .from_s = -5, .end_s = -1}, {.kind = 2, .from_s = -5},
		{.kind = 2, .end_s = 1e9},
	};
	const galvo_page_run none[] = {{NULL, NULL}}, one[] = {{&f->run, NULL}};
	const galvo_page_data_options unsized = {.kind = 1};
	struct taken t = {0};
	galvo_error error;
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrong); i++)
		OK(page(f, wrong[i], &t, &error) == GALVO_ERR_INVALID && error.text[0]);
	for (i = 0; i < ARRAY_LEN(wrong_data); i++)
		OK(data(f, wrong_data[i], &t, &error) == GALVO_ERR_INVALID && error.text[0]);
	OK(page_write(&parts, NULL, 0, NULL, take, &t, &error) == GALVO_ERR_INVALID);
	OK(page_write(&parts, none, 1, NULL, take, &t, &error) == GALVO_ERR_INVALID);
	OK(page_write(&parts, one, 1, NULL, NULL, &t, &error) == GALVO_ERR_INVALID);
	OK(galvo_page_data(NULL, &wrong_data[0], take, &t, &error) == GALVO_ERR_INVALID);
	OK(galvo_page_data(&f->run, NULL, take, &t, &error) == GALVO_ERR_INVALID);
	OK(galvo_page_data(&f->run, &unsized, take, &t, &error) == GALVO_ERR_INVALID);
	OK(t.len == 0);
	OK(page_write(&parts, one, 1, NULL, take, &t, &error) == GALVO_OK && t.len > 10000);
}

static void runs_begin_together(void)
{
	const struct fake_run *f = full_run, *other = small_run;
	const galvo_page_run runs[] = {{&f->run, "first"}, {&other->run, "second"}};
	galvo_page_options o = {.struct_size = sizeof(o), .align = "build"};
	struct document d = {.kind = "page", .parts = &parts};
	struct taken t = {0};
	galvo_error error;

	OK(page_write(&parts, runs, 2, &o, take, &t, &error) == GALVO_ERR_ABSENT);
	OK(strcmp(error.text, "second: no region is called 'build': it has 'train'") == 0);
	o.align = "no such";
	OK(page_write(&parts, runs, 2, &o, take, &t, &error) == GALVO_ERR_ABSENT);
	OK(strstr(error.text, "first: no region is called 'no such': it has 'configure', 'build', "));
	OK(document_open(&d, &runs[1], 1, NULL, 0, &error) == GALVO_OK);
	OK(document_align(&d, "train", &error) == GALVO_OK && d.runs[0].shift_s == 2.5);
	document_finish(&d);
}

/* With memory for ever more allocations: all fail, and nothing is left, until one is enough. */
static void memory_runs_out(void)
{
	const struct fake_run *f = small_run;
	static const galvo_page_window window = {1, 2};
	const galvo_page_options o = {.max_bytes = 30000, .details = &window, .details_len = 1};
	struct taken t = {0}, whole = {0};
	galvo_status status = GALVO_ERR_NOMEM;
	galvo_error error;
	long n;

	OK(page(f, o, &whole, &error) == GALVO_OK);
	for (n = 0; status == GALVO_ERR_NOMEM; n++) {
		t = (struct taken){0};
		allocations_left = n;
		status = page(f, o, &t, &error);
		allocations_left = -1;
		if (status == GALVO_ERR_NOMEM && !error.text[0])
			break;
	}
	OK(status == GALVO_OK && t.len == whole.len && t.hash == whole.hash);
	OK(n > 200);
	for (n = 0, status = GALVO_ERR_NOMEM; status == GALVO_ERR_NOMEM; n++) {
		t = (struct taken){0};
		allocations_left = n;
		status = data(f, (galvo_page_data_options){.kind = GALVO_PAGE_NEWS}, &t, &error);
		allocations_left = -1;
	}
	OK(status == GALVO_OK && n > 100);
}

static void the_receiver_may_stop(void)
{
	const struct fake_run *f = full_run;
	struct taken whole = {0}, t;
	galvo_error error;
	size_t at;

	OK(page(f, (galvo_page_options){0}, &whole, &error) == GALVO_OK);
	for (at = 1; at < whole.len; at += whole.len / 40) {
		t = (struct taken){.stop_after = at};
		if (page(f, (galvo_page_options){0}, &t, &error) != GALVO_ERR_CALLBACK)
			break;
	}
	OK(at >= whole.len);
	t = (struct taken){.stop_after = 1};
	OK(data(f, (galvo_page_data_options){.kind = 1}, &t, &error) == GALVO_ERR_CALLBACK);
}

static void the_same_run_is_the_same_page(void)
{
	const struct fake_run *f = full_run;
	struct taken a = {0}, b = {0}, c = {0}, d = {0};

	OK(page(f, (galvo_page_options){0}, &a, NULL) == GALVO_OK);
	OK(page(f, (galvo_page_options){0}, &b, NULL) == GALVO_OK);
	OK(a.len == b.len && a.hash == b.hash);
	OK(page(f, (galvo_page_options){.precision_bits = 64}, &c, NULL) == GALVO_OK);
	OK(c.len > a.len);
	OK(page(f, (galvo_page_options){.title = "other"}, &d, NULL) == GALVO_OK && d.hash != a.hash);
}

static void a_page_is_not_larger(void)
{
	const struct fake_run *f = full_run;
	uint64_t most, fitting = 0;
	bool has_failed = false, is_bounded = true;
	galvo_error error;

	for (most = 1000; most < 90000; most += 1700) {
		struct taken t = {0};
		galvo_status status = page(f, (galvo_page_options){.max_bytes = most}, &t, &error);

		is_bounded = is_bounded && t.len <= most && (status == GALVO_OK) == (t.len > 0);
		is_bounded = is_bounded && (status == GALVO_OK || status == GALVO_ERR_INVALID);
		has_failed = has_failed || status != GALVO_OK;
		fitting += status == GALVO_OK;
		/* What fits into so much fits into more. */
		is_bounded = is_bounded && (status == GALVO_OK || fitting == 0);
	}
	OK(is_bounded && has_failed && fitting > 10);
}

static void parts_for_servers(void)
{
	const char *bytes = NULL;
	size_t len = 0;
	galvo_error error;
	galvo_status status = galvo_page_part_at(GALVO_PAGE_HTML, &bytes, &len, &error);

	OK(galvo_page_part_at(0, &bytes, &len, NULL) == GALVO_ERR_INVALID);
	OK(galvo_page_part_at(4, &bytes, &len, NULL) == GALVO_ERR_INVALID);
	OK(galvo_page_part_at(1, NULL, &len, NULL) == GALVO_ERR_INVALID);
	if (status == GALVO_ERR_ABSENT) {
		OK(strncmp(error.text, "this galvo was built without its page: ", 39) == 0);
		return;
	}
	OK(status == GALVO_OK && len > 100 && strstr(bytes, "\"page.js\"") && strstr(bytes, "\"page.css\""));
	OK(galvo_page_part_at(GALVO_PAGE_SCRIPT, &bytes, &len, &error) == GALVO_OK && len > 1000);
	OK(galvo_page_part_at(GALVO_PAGE_STYLE, &bytes, &len, &error) == GALVO_OK && len > 100);
}

static int finds_empty_bucket(void *ctx, const void *bytes, size_t n)
{
	bool *is_found = ctx;

	*is_found = *is_found || memmem(bytes, n, "= 0 ns", 6);
	return 0;
}

/* An overview is shown, and news go on from it; a detail is not. */
static void what_was_shown(void)
{
	galvo_page_memory *m = NULL;
	struct taken t = {0};
	bool is_found = false;
	const galvo_page_data_options detail = {.struct_size = sizeof(detail), .kind = 2, .from_s = 1, .end_s = 2};

	EQ(galvo_page_memory_create(&m, NULL), GALVO_OK);
	EQ(data(full_run, (galvo_page_data_options){.kind = 2, .end_s = 100, .memory = m}, &t, NULL), GALVO_OK);
	OK(!page_memory_has(m, "cpu/user"));
	EQ(data(full_run, (galvo_page_data_options){.kind = 1, .memory = m}, &t, NULL), GALVO_OK);
	OK(page_memory_has(m, "cpu/user"));
	galvo_page_memory_destroy(m);
	EQ(galvo_page_data(&full_run->run, &detail, finds_empty_bucket, &is_found, NULL), GALVO_OK);
	OK(!is_found);
}

static const struct tap_test tests[] = {
	{"wishes that make no sense", wishes_that_make_no_sense},
	{"runs begin together", runs_begin_together},
	{"memory runs out", memory_runs_out},
	{"the receiver may stop", the_receiver_may_stop},
	{"the same run is the same page", the_same_run_is_the_same_page},
	{"a page is not larger", a_page_is_not_larger},
	{"parts for servers", parts_for_servers},
	{"what was shown", what_was_shown},
};

int main(void)
{
	int failed;

	full_run = alloc_array(1, sizeof(*full_run));
	small_run = alloc_array(1, sizeof(*small_run));
	if (!full_run || !small_run)
		return 1;
	full(full_run);
	fake_init(small_run);
	full_system(small_run);
	fake_process(small_run, 4711, 1, 1000, "make")->root = true;
	fake_region(small_run, "train", 2500, 3000);
	fake_mark(small_run, "checkpoint", 4000);
	failed = tap_run(tests, ARRAY_LEN(tests));
	free(full_run);
	free(small_run);
	return failed;
}
