/* Pictures: round numbers, colours that can be told apart, words that fit, the same bytes twice, failures. */
#include "allocations.h"
#include "full_run.h"
#include "gpu_run.h"
#include "output/plot.h"
#include "tap.h"

/* What fontconfig, below cairo, keeps for the process is no leak of ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

/* ---- what is drawn --------------------------------------------------------------------------------------- */

struct taken {
	char *bytes;
	size_t len, cap, stop_after; /* stop_after 0: takes all */
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct taken *t = ctx;
	char *more;

	if (t->stop_after && t->len + n > t->stop_after)
		return 1;
	if (t->len + n + 1 > t->cap) {
		t->cap = (t->len + n + 1) * 2;
		more = __real_realloc(t->bytes, t->cap);
		if (!more)
			return 1;
		t->bytes = more;
	}
	memcpy(t->bytes + t->len, bytes, n);
	t->len += n;
	t->bytes[t->len] = '\0';
	return 0;
}

static struct fake_run *full_run(void)
{
	struct fake_run *f = alloc_array(1, sizeof(*f));

	full(f);
	return f;
}

static galvo_status draw(const struct fake_run *f, galvo_plot_options o, struct taken *t, galvo_error *error)
{
	*t = (struct taken){.stop_after = t->stop_after};
	o.struct_size = sizeof(o);
	return galvo_plot_write(&f->run, &o, take, t, error);
}

/* Whether PNG and PDF can be drawn here. */
static bool has_cairo(const struct fake_run *f)
{
	struct taken t = {0};
	galvo_error error;
	galvo_status status = draw(f, (galvo_plot_options){.format = GALVO_PLOT_PNG}, &t, &error);

	free(t.bytes);
	if (status == GALVO_ERR_ABSENT)
		printf("# skip: %s\n", error.text);
	return status == GALVO_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------- */

static void put_ticks(const struct ticks *t, char *to, size_t cap)
{
	struct buf b;
	size_t i;

	buf_init(&b, 4096);
	for (i = 0; i < t->len; i++) {
		buf_put_str(&b, i ? " | " : "");
		put_tick(&b, t, i);
	}
	snprintf(to, cap, "%.*s", (int)b.len, b.p ? b.p : "");
	buf_finish(&b);
}

static void ticks_are_round(void)
{
	static const struct {
		enum metric_unit unit;
		bool fixed_low, fixed_high;
		double low, high;
		const char *want;
	} rows[] = {
		{UNIT_PCT, true, true, 0, 100, "0 % | 50 % | 100 %"},
		{UNIT_PCT, true, false, 0, 1.7, "0 % | 0.5 % | 1.0 % | 1.5 % | 2.0 %"},
		{UNIT_BYTES, true, false, 0, 3.2e9, "0 | 1 GiB | 2 GiB | 3 GiB"},
		{UNIT_BYTES_PER_SEC, true, false, 0, 900, "0 | 0.25 KiB/s | 0.50 KiB/s | 0.75 KiB/s | 1.00 KiB/s"},
		{UNIT_BYTES, true, false, 0, 1000 * 1048576.0, "0 | 0.25 GiB | 0.50 GiB | 0.75 GiB | 1.00 GiB"},
		{UNIT_WATTS, true, true, 0, 1000, "0 | 0.5 kW | 1.0 kW"},
		{UNIT_HZ, false, false, 1.2e9, 1.98e9, "1.2 GHz | 1.4 GHz | 1.6 GHz | 1.8 GHz | 2.0 GHz"},
		{UNIT_WATTS, true, false, 0, 700, "0 | 200 W | 400 W | 600 W | 800 W"},
		{UNIT_CELSIUS, false, false, 41, 63, "40 \xc2\xb0" "C | 50 \xc2\xb0" "C | 60 \xc2\xb0" "C | 70 \xc2\xb0" "C"},
		{UNIT_NANOSECONDS, true, false, 0, 2.5e6, "0 | 1 ms | 2 ms | 3 ms"},
		{UNIT_COUNT, true, false, 0, 0, "0 | 0.5 | 1.0"},
		{UNIT_COUNT, false, false, -30, 1e18, "0 | 0.5 E | 1.0 E"},
		{UNIT_COUNT, false, false, 5, 5, NULL},
		{UNIT_OTHER, false, false, -1e308, 1e308, NULL},
		{UNIT_OTHER, false, false, NAN, NAN, NULL},
	};
	struct ticks t;
	char got[512];
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		ticks_of_values(&t, rows[i].unit, rows[i].low, rows[i].high, rows[i].fixed_low,
		                rows[i].fixed_high, 4);
		put_ticks(&t, got, sizeof(got));
		if (!OK(!rows[i].want || strcmp(got, rows[i].want) == 0))
			printf("# %zu: %s\n", i, got);
		OK(t.len >= 1 && t.len <= TICKS_MAX && t.high > t.low && isfinite(t.high - t.low));
		OK(isnan(rows[i].low) || (t.low <= rows[i].low + (t.high - t.low) * 1e-6 &&
		    t.high >= rows[i].high - (t.high - t.low) * 1e-6) ||
		   fabs(rows[i].high) > 1e299);
		for (k = 1; k < t.len; k++)
			OK(t.at[k] > t.at[k - 1]);
	}
}

static void ticks_of_clocks(void)
{
	static const struct {
		double from, end;
		const char *want;
	} rows[] = {
		{0, 0.005, "0 ms | 1 ms | 2 ms | 3 ms | 4 ms | 5 ms"},
		{0, 4.78, "0 s | 1 s | 2 s | 3 s | 4 s"},
		{0, 240, "0 s | 30 s | 60 s | 90 s | 120 s | 150 s | 180 s | 210 s | 240 s"},
		{0, 3600, "0 min | 10 min | 20 min | 30 min | 40 min | 50 min | 60 min"},
		{0, 36000, "0 h | 2 h | 4 h | 6 h | 8 h | 10 h"},
		{3600.1, 3600.2, "3600.10 s | 3600.12 s | 3600.14 s | 3600.16 s | 3600.18 s | 3600.20 s"},
		{0, 5e-7, "0 ns | 100 ns | 200 ns | 300 ns | 400 ns | 500 ns"},
		{0, 1e9, NULL},
	};
	struct ticks t;
	char got[512];
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		ticks_of_time(&t, rows[i].from, rows[i].end, 9);
		put_ticks(&t, got, sizeof(got));
		if (!OK(!rows[i].want || strcmp(got, rows[i].want) == 0))
			printf("# %zu: %s\n", i, got);
		OK(t.len >= 2 && t.len <= TICKS_MAX);
	}
}

static void values_are_short(void)
{
	static const struct {
		enum metric_unit unit;
		double v;
		const char *want;
	} rows[] = {
		{UNIT_PCT, 42.123, "42.1 %"}, {UNIT_PCT, 1e-10, "0.0 %"}, {UNIT_PCT_OF_CORE, 1234, "1234 %"},
		{UNIT_BYTES, 1536, "1.50 KiB"}, {UNIT_BYTES, 1000 * 1048576.0, "0.98 GiB"},
		{UNIT_BYTES_PER_SEC, 1000 * 1024, "0.98 MiB/s"}, {UNIT_BYTES_PER_SEC, 0, "0 B/s"}, {UNIT_HZ, 1.98e9, "1.98 GHz"},
		{UNIT_NANOSECONDS, 2500, "2.50 \xc2\xb5s"}, {UNIT_CELSIUS, 61.4, "61.4 \xc2\xb0" "C"},
		{UNIT_COUNT, 12345, "12.3 k"}, {UNIT_RATIO, 0.25, "0.25"}, {UNIT_COUNT, NAN, "-"},
		{UNIT_WATTS, -75.25, "-75.2 W"}, {UNIT_COUNT, 1e300, "1e+282 E"},
	};
	struct buf b;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		buf_init(&b, 256);
		put_value(&b, rows[i].unit, rows[i].v);
		if (!OK(span_eq_str(span_of(b.p, b.len), rows[i].want)))
			printf("# %zu: %.*s\n", i, (int)b.len, b.p);
		buf_finish(&b);
	}
}

/* ---- colours ------------------------------------------------------------------------------------------------ */

/* What is left of a colour without the receptors of red, green or blue (Machado, Oliveira, Fernandes 2009). */
static void seen_without(int receptor, uint32_t rgb, double ret[3])
{
	static const double rows[4][3][3] = {
		{{0.152, 1.053, -0.205}, {0.115, 0.786, 0.099}, {-0.004, -0.048, 1.052}},
		{{0.367, 0.861, -0.228}, {0.280, 0.673, 0.047}, {-0.012, 0.043, 0.969}},
		{{1.256, -0.077, -0.179}, {-0.078, 0.931, 0.148}, {0.005, 0.691, 0.304}},
		{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	};
	const double c[3] = {rgb >> 16, rgb >> 8 & 0xff, rgb & 0xff};
	int i;

	for (i = 0; i < 3; i++)
		ret[i] = rows[receptor][i][0] * c[0] + rows[receptor][i][1] * c[1] + rows[receptor][i][2] * c[2];
}

static void colours_are_told_apart(void)
{
	double a[3], b[3];
	int dark, receptor, i, k;

	for (dark = 0; dark < 2; dark++) {
		const struct theme *t = theme_of(dark);

		OK(colour_contrast(t->ink.rgb, t->paper.rgb) > 7);
		OK(colour_contrast(t->soft_ink.rgb, t->paper.rgb) > 4.5);
		OK(colour_contrast(t->mark.rgb, t->paper.rgb) > 3);
		OK(colour_contrast(t->gpu.rgb, t->paper.rgb) > 4.5);
		for (i = 0; i < CURVE_COLOURS; i++) {
			if (!OK(colour_contrast(t->curves[i], t->paper.rgb) >= 3))
				printf("# %06x: %.2f\n", t->curves[i], colour_contrast(t->curves[i], t->paper.rgb));
			OK(colour_contrast(t->ink.rgb, t->regions[i]) >= 4.5);
			/* The first five are those that most panels have. */
			for (k = 0; k < i; k++)
				for (receptor = 0; receptor < 4; receptor++) {
					double d;

					seen_without(receptor, t->curves[i], a);
					seen_without(receptor, t->curves[k], b);
					d = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
					if (!OK(d > (i < 5 ? 40 : 20)))
						printf("# dark %d: %d and %d, receptor %d: %.0f\n", dark, i, k, receptor, d);
				}
		}
		for (i = 1; i < HEAT_LEVELS; i++) /* much is always darker, or lighter, than little */
			OK((colour_contrast(theme_heat(t, (size_t)i).rgb, 0xffffff) >
			    colour_contrast(theme_heat(t, (size_t)i - 1).rgb, 0xffffff)) == !dark);
	}
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

static void words_are_printable(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"make -j8", "make -j8"}, {"\x1b[2J", "\\x1b[2J"}, {"\xff", "\\xff"}, {"\xef\xbf\xbf", "\xef\xbf\xbd"},
		{"a\xcc\x81\xcc\x81\xcc\x81\xcc\x81", "a\xcc\x81\xcc\x81"}, {"", ""},
	};
	struct buf b;
	size_t i;
	char *text = alloc_array(1, 100001);

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		buf_init(&b, 4096);
		put_printable(&b, span_str(rows[i].text));
		OK(span_eq_str(span_of(b.p, b.len), rows[i].want));
		buf_finish(&b);
	}
	memset(text, 'x', 100000);
	buf_init(&b, 4096);
	put_printable(&b, span_str(text));
	OK(!b.failed && b.len < 1000);
	buf_finish(&b);
	free(text);
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

/* Twice in one process, another picture in between: nothing is numbered on. */
static void same_bytes_twice(void)
{
	struct fake_run *f = full_run();
	bool cairo = has_cairo(f);
	int32_t format;

	for (format = GALVO_PLOT_PNG; format <= GALVO_PLOT_PDF; format++) {
		struct taken a = {0}, b = {0}, other = {0};
		galvo_plot_options o = {.format = format};

		if (!cairo && format != GALVO_PLOT_SVG)
			continue;
		OK(draw(f, o, &a, NULL) == GALVO_OK);
		OK(draw(f, (galvo_plot_options){.format = format, .is_dark = 1}, &other, NULL) == GALVO_OK);
		OK(draw(f, o, &b, NULL) == GALVO_OK);
		OK(a.len > 1000 && span_eq(span_of(a.bytes, a.len), span_of(b.bytes, b.len)));
		OK(!span_eq(span_of(a.bytes, a.len), span_of(other.bytes, other.len)));
		free(a.bytes);
		free(b.bytes);
		free(other.bytes);
	}
	free(f);
}

static void options_that_make_no_sense(void)
{
	const struct {
		galvo_plot_options o;
		galvo_status status;
		const char *want;
	} rows[] = {
		{{.format = 9}, GALVO_ERR_INVALID, "there is no format 9 of pictures"},
		{{.reserved = 1}, GALVO_ERR_INVALID, "reserved is 1, not 0"},
		{{.width = 5}, GALVO_ERR_INVALID, "expected a width of 320 to 20000, got 5"},
		{{.panel_height = 1}, GALVO_ERR_INVALID, "expected a height of 24 to 4000 for a panel, got 1"},
		{{.after_ns = 12 * S, .before_ns = 13 * S}, GALVO_ERR_INVALID,
		 "no such time: 12 s to 13 s of a recording of 10.0 s"},
		{{.after_ns = 3 * S, .before_ns = 2 * S}, GALVO_ERR_INVALID,
		 "no such time: 3 s to 2 s of a recording of 10.0 s"},
		{{.after_ns = UINT64_MAX}, GALVO_ERR_INVALID,
		 "no such time: 1.84467e+10 s to 10 s of a recording of 10.0 s"},
		{{.gpu_only = 1}, GALVO_ERR_ABSENT, "nothing to draw: there are no values of GPUs"},
	};
	struct fake_run *f = full_run();
	struct taken t = {0};
	galvo_error error;
	size_t i;

	f->run.regions_len = 0;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		galvo_plot_options o = rows[i].o;

		if (o.format == 0)
			o.format = GALVO_PLOT_SVG;
		EQ(draw(f, o, &t, &error), rows[i].status);
		if (!OK(strcmp(error.text, rows[i].want) == 0))
			printf("# %s\n", error.text);
		OK(t.len == 0);
		free(t.bytes);
	}
	EQ(galvo_plot_write(NULL, NULL, take, &t, NULL), GALVO_ERR_INVALID);
	EQ(galvo_plot_write(&f->run, &(galvo_plot_options){.struct_size = 1}, take, &t, NULL), GALVO_ERR_INVALID);
	free(f);
}

static void a_part_of_the_time(void)
{
	struct fake_run *f = full_run();
	galvo_plot_options o = {.format = GALVO_PLOT_SVG, .after_ns = 2 * S, .before_ns = 5 * S, .title = "A <title>"};
	struct taken t = {0};

	OK(draw(f, o, &t, NULL) == GALVO_OK);
	OK(strstr(t.bytes, "here: 2 s to 5 s") && strstr(t.bytes, "A &lt;title&gt;"));
	OK(strstr(t.bytes, ">2.5 s<") && !strstr(t.bytes, ">6 s<"));
	free(t.bytes);
	/* An end beyond that of the recording is that. */
	o.before_ns = UINT64_MAX;
	OK(draw(f, o, &t, NULL) == GALVO_OK && strstr(t.bytes, "here: 2 s to 10 s"));
	free(t.bytes);
	free(f);
}

static void receivers_that_stop(void)
{
	struct fake_run *f = full_run();
	bool cairo = has_cairo(f);
	int32_t format;
	size_t after;

	for (format = GALVO_PLOT_PNG; format <= GALVO_PLOT_PDF; format++)
		for (after = 1; after < 20000 && (cairo || format == GALVO_PLOT_SVG); after *= 20) {
			struct taken t = {.stop_after = after};
			galvo_error error;

			EQ(draw(f, (galvo_plot_options){.format = format}, &t, &error), GALVO_ERR_CALLBACK);
			OK(strcmp(error.text, "the receiver of the picture stopped it") == 0);
			free(t.bytes);
		}
	free(f);
}

static void without_memory(void)
{
	struct fake_run *f = full_run();
	bool cairo = has_cairo(f);
	int32_t format;
	long n;

	for (format = GALVO_PLOT_PNG; format <= GALVO_PLOT_PDF; format++) {
		galvo_status status = GALVO_ERR_NOMEM;

		/* Each of the first, then some. */
		for (n = 0; status != GALVO_OK && (cairo || format == GALVO_PLOT_SVG); n += n < 400 ? 1 : n / 40) {
			struct taken t = {0};
			galvo_error error = {0};

			allocations_left = n;
			status = draw(f, (galvo_plot_options){.format = format}, &t, &error);
			allocations_left = -1;
			if (!OK(status == GALVO_OK || (status == GALVO_ERR_NOMEM && error.text[0])))
				printf("# %ld: %d %s\n", n, (int)status, error.text);
			free(t.bytes);
		}
	}
	free(f);
}

static const struct tap_test tests[] = {
	{"ticks are round and have units", ticks_are_round},
	{"ticks of clocks", ticks_of_clocks},
	{"values are short", values_are_short},
	{"colours are told apart", colours_are_told_apart},
	{"words are printable", words_are_printable},
	{"the same bytes twice", same_bytes_twice},
	{"options that make no sense", options_that_make_no_sense},
	{"a part of the time", a_part_of_the_time},
	{"receivers that stop", receivers_that_stop},
	{"without memory", without_memory},
};

TAP_MAIN(tests)
