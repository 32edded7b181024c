/* Counter to rate: first sight, growth, resets, wraps, wavering, values beyond belief. */
#include <math.h>

#include "probe/series.h"
#include "tap.h"

enum { A, B, W32, IDLE, LEVEL, READY, FIELDS };

static const struct raw_field fields[] = {
	[A] = {"a", RAW_COUNTER},
	[B] = {"b", RAW_COUNTER},
	[W32] = {"w32", RAW_COUNTER32},
	[IDLE] = {"idle", RAW_WAVERING},
	[LEVEL] = {"level", RAW_GAUGE},
	[READY] = {"ready", RAW_GAUGE},
};

enum { RATE_A, RATE_32, SHARE_A, NOW, SUM_AB, EITHER };

static const struct metric metrics[] = {
	[RATE_A] = {.name = "t__a", .form = FORM_RATE, .of = FIELD(A), .scale = 512, .limit = 1e12},
	[RATE_32] = {.name = "t__w", .form = FORM_RATE, .of = FIELD(W32)},
	[SHARE_A] = {.name = "t__s", .form = FORM_SHARE, .of = FIELD(A),
	             .whole = FIELD(A) | FIELD(IDLE)},
	[NOW] = {.name = "t__l", .form = FORM_LEVEL, .of = FIELD(LEVEL), .scale = 2},
	[SUM_AB] = {.name = "t__ab", .form = FORM_RATE, .of = FIELD(A) | FIELD(B)},
	[EITHER] = {.name = "t__r", .form = FORM_RATE, .of = FIELD(B), .rates = FIELD(READY), .scale = 2,
	            .limit = 5000},
};

static const struct source source = {
	.name = "t", .fields = fields, .fields_len = FIELDS, .metrics = metrics,
	.metrics_len = ARRAY_LEN(metrics),
};

static void say(struct series *s, uint64_t mono_s, uint64_t a, uint64_t w32, uint64_t idle,
                uint64_t level)
{
	struct raw r = {0};

	raw_put(&r, A, a);
	raw_put(&r, W32, w32);
	raw_put(&r, IDLE, idle);
	raw_put(&r, LEVEL, level);
	series_update(s, 0, &r, mono_s * NS_PER_S);
}

static void first_sight(void)
{
	struct series s;

	series_init(&s, &source);
	say(&s, 1, 1000000, 7, 500, 21);
	OK(isnan(s.value[RATE_A]) && isnan(s.value[SHARE_A]));
	OK(s.value[NOW] == 42);
	say(&s, 3, 1000010, 7, 530, 0);
	OK(s.value[RATE_A] == 10 * 512 / 2.0);
	OK(s.value[RATE_32] == 0);
	OK(s.value[SHARE_A] == 25);
	OK(s.value[NOW] == 0);
	OK(isnan(s.value[SUM_AB])); /* b was never read: the sum is not a's alone */
}

static void resets(void)
{
	struct series s;

	series_init(&s, &source);
	say(&s, 1, 1000, 500, 1000, 1);
	say(&s, 2, 10, 400, 1100, 1); /* both counters start anew */
	OK(isnan(s.value[RATE_A]) && isnan(s.value[RATE_32]) && isnan(s.value[SHARE_A]));
	say(&s, 3, 20, 410, 1190, 1);
	OK(s.value[RATE_A] == 5120 && s.value[RATE_32] == 10 && s.value[SHARE_A] == 10);
}

static void wraps(void)
{
	static const struct {
		enum raw_kind kind;
		uint64_t before, after, by;
		bool known;
	} rows[] = {
		{RAW_COUNTER32, 4294967290, 15, 21, true},
		{RAW_COUNTER, 18446744073709551000U, 200, 816, true},
		{RAW_COUNTER, 816, 1, 0, false},
		{RAW_COUNTER32, 3000000000, 15, 0, false},          /* not near the top: a reset */
		{RAW_COUNTER32, 4294967290, 4000000000, 0, false},
		{RAW_COUNTER, 4294967290, 15, 0, false},            /* 64 bits do not wrap there */
		{RAW_COUNTER32, 5000000000, 10, 0, false},          /* never was of 32 bits */
		{RAW_WAVERING, 1000, 990, 0, true},
		{RAW_WAVERING, 1000, 100, 0, false},
		{RAW_COUNTER, 5, 5, 0, true},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t by = 0;

		if (!EQ(counter_growth(rows[i].kind, rows[i].before, rows[i].after, &by), rows[i].known))
			printf("# row %zu\n", i);
		EQ(by, rows[i].by);
	}
}

static void wavering(void)
{
	struct series s;

	series_init(&s, &source);
	say(&s, 1, 0, 0, 1000, 0);
	say(&s, 2, 10, 0, 990, 0); /* idle steps back: nothing idle, and the base stays at 1000 */
	OK(s.value[SHARE_A] == 100);
	say(&s, 3, 20, 0, 1010, 0);
	OK(s.value[SHARE_A] == 50);
}

static void beyond_belief(void)
{
	struct series s;

	series_init(&s, &source);
	say(&s, 1, 0, 0, 0, 0);
	say(&s, 2, UINT64_C(1) << 40, 0, 0, 0);
	OK(isnan(s.value[RATE_A]));
	EQ(s.rejected, 1);
	say(&s, 3, (UINT64_C(1) << 40) + 2, 0, 2, 0); /* and it goes on from there */
	OK(s.value[RATE_A] == 1024);
}

static void standing_still(void)
{
	struct series s;

	series_init(&s, &source);
	say(&s, 1, 100, 0, 100, 0);
	say(&s, 2, 100, 0, 100, 0); /* the kernel has not counted on: no share is known */
	OK(isnan(s.value[SHARE_A]));
	say(&s, 3, 101, 0, 103, 0);
	OK(s.value[SHARE_A] == 25);
}

/* It is not read again, as it cannot have changed: as if it had been, and had said the same. */
static void said_again(void)
{
	struct series s;

	series_init(&s, &source);
	say(&s, 1, 100, 7, 100, 21);
	say(&s, 2, 110, 7, 120, 22);
	OK(s.value[RATE_A] == 10 * 512);
	series_repeat(&s, 0, 3 * NS_PER_S);
	OK(s.value[RATE_A] == 0 && s.value[RATE_32] == 0 && s.value[NOW] == 44);
	OK(isnan(s.value[SUM_AB])); /* what it did not say it does not say now */
	EQ(s.reads, 3);
	say(&s, 4, 130, 7, 120, 22);
	OK(s.value[RATE_A] == 20 * 512);
}

/*
 * Two CPUs, counted in hundredths as the kernel does: a busy one gets a whole unit at its tick, an
 * idle one what has come together. Whatever the rate, the values over time add up to the truth.
 */
static void few_units(uint64_t hz, unsigned busy_of_100)
{
	uint64_t seed = 88172645463325252U, now_ns = NS_PER_S, from_ns, a = 0, idle = 0, tick = 0;
	uint64_t first_a = 0, first_idle = 0;
	double sum = 0, highest = 0;
	struct series s;
	bool is_busy = false;

	series_init(&s, &source);
	for (from_ns = now_ns; now_ns < from_ns + 20 * NS_PER_S; now_ns += NS_PER_S / hz) {
		struct raw r = {0};
		double v;

		for (; tick < (now_ns - from_ns) / (10 * NS_PER_MS); tick++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			if (tick % 7 == 0)
				is_busy = seed % 100 < busy_of_100;
			a += 2 * is_busy;
			/* idle time is brought up to date only now and then */
			idle += is_busy ? 0 : tick % 3 == 0 ? 6 : 0;
		}
		raw_put(&r, A, a);
		raw_put(&r, IDLE, idle);
		series_update(&s, 0, &r, now_ns);
		v = s.value[SHARE_A];
		if (now_ns < from_ns + NS_PER_S || isnan(v)) {
			first_a = a;
			first_idle = idle;
			continue;
		}
		sum += v / (double)hz;
		highest = v > highest ? v : highest;
	}
	sum /= 19;
	OK(highest <= 100.0001);
	if (!OK(fabs(sum - 100.0 * (double)(a - first_a) /
	             (double)(a - first_a + idle - first_idle)) < 1))
		printf("# %llu Hz: %.2f, not %.2f\n", (unsigned long long)hz, sum,
		       100.0 * (double)(a - first_a) / (double)(a - first_a + idle - first_idle));
}

static void shares_of_few_units(void)
{
	few_units(100, 50);
	few_units(100, 10);
	few_units(1000, 50);
	few_units(10, 50);
}

/* One unit is paid out over some readings, and then it is all paid. */
static void a_share_comes_to_its_end(void)
{
	struct series s;
	uint64_t i, nothing = 0;

	series_init(&s, &source);
	for (i = 1; i <= 400; i++) {
		struct raw r = {0};

		raw_put(&r, A, i > 200);
		raw_put(&r, IDLE, 2 * i - (i > 200) + i % 2);
		series_update(&s, 0, &r, i * (NS_PER_S / 100));
		if (i <= 200)
			continue;
		OK(s.value[SHARE_A] == 0 || s.value[SHARE_A] > 1e-6);
		nothing += s.value[SHARE_A] == 0;
	}
	OK(nothing > 150 && nothing < 200);
}

static void absent_fields(void)
{
	struct series s;
	struct raw none = {0}, b = {0};

	series_init(&s, &source);
	say(&s, 1, 10, 1, 1, 5);
	say(&s, 2, 20, 2, 2, 5);
	series_update(&s, 0, &none, 3 * NS_PER_S); /* the file could not be read */
	OK(isnan(s.value[RATE_A]) && isnan(s.value[NOW]) && isnan(s.value[SHARE_A]));
	say(&s, 4, 40, 4, 4, 6);
	OK(isnan(s.value[RATE_A])); /* no base: not the growth of two intervals as of one */
	OK(s.value[NOW] == 12);
	say(&s, 5, 50, 5, 5, 6);
	OK(s.value[RATE_A] == 5120);
	/* Another text of the source says other fields, at its own pace: these are held. */
	raw_put(&b, B, 7);
	series_update(&s, 1, &b, 5 * NS_PER_S);
	OK(s.value[RATE_A] == 5120 && s.value[NOW] == 12);
}

static void rate_of_a_linear_counter(void)
{
	uint64_t seed = 88172645463325252U, mono_ns = 1, a = 5;
	struct series s;
	int i;

	series_init(&s, &source);
	for (i = 0; i < 10000; i++) { /* whatever the intervals, the rate is the same */
		struct raw r = {0};
		uint64_t step_ns;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		step_ns = 1000000 * (1 + seed % 50);
		mono_ns += step_ns;
		a += step_ns / 1000000;
		raw_put(&r, A, a);
		series_update(&s, 0, &r, mono_ns);
		if (i && !OK(fabs(s.value[RATE_A] - 1000.0 * 512) < 1e-6))
			return;
	}
}

/* Who cannot give a counter gives the rate: at first sight, too, and within its limit. */
static void rates_that_are_ready(void)
{
	struct series s;
	struct raw r = {0};

	series_init(&s, &source);
	raw_put(&r, READY, 300);
	series_update(&s, 0, &r, NS_PER_S);
	OK(s.value[EITHER] == 600 && isnan(s.value[RATE_A]));
	raw_put(&r, READY, 3000);
	series_update(&s, 0, &r, 2 * NS_PER_S);
	OK(isnan(s.value[EITHER]) && s.rejected == 1);
	raw_clear(&r);
	series_update(&s, 0, &r, 3 * NS_PER_S);
	OK(isnan(s.value[EITHER]) && s.rejected == 1);
	raw_put(&r, B, 10);
	series_update(&s, 0, &r, 4 * NS_PER_S);
	raw_put(&r, B, 30);
	series_update(&s, 0, &r, 6 * NS_PER_S);
	OK(s.value[EITHER] == 20);
}

static const struct tap_test tests[] = {
	{"first sight", first_sight},
	{"resets", resets},
	{"wraps", wraps},
	{"wavering counters", wavering},
	{"beyond belief", beyond_belief},
	{"standing still", standing_still},
	{"said again", said_again},
	{"shares of few units", shares_of_few_units},
	{"a share comes to its end", a_share_comes_to_its_end},
	{"absent fields", absent_fields},
	{"the rate of a linear counter", rate_of_a_linear_counter},
	{"rates that are ready", rates_that_are_ready},
};
TAP_MAIN(tests)
