/* Points made buckets: nothing of them is lost, gaps part them, ranges end where they end. */
#include <math.h>
#include <string.h>

#include "derive/panels.h"
#include "base/base.h"
#include "tap.h"

#define MANY 10000000

static struct points make(size_t n)
{
	struct points p = {.from_mono_ns = alloc_array(n, sizeof(uint64_t)),
	                   .end_mono_ns = alloc_array(n, sizeof(uint64_t)),
	                   .value = alloc_array(n, sizeof(double))};

	if (!p.from_mono_ns || !p.end_mono_ns || !p.value)
		abort();
	return p;
}

static void add(struct points *p, uint64_t from_ns, uint64_t end_ns, double value)
{
	p->from_mono_ns[p->len] = from_ns;
	p->end_mono_ns[p->len] = end_ns;
	p->value[p->len++] = value;
}

/* One after the other, `each` long, from 1000 on. */
static struct points even(size_t n, uint64_t each_ns)
{
	struct points p = make(n);
	size_t i;

	for (i = 0; i < n; i++)
		add(&p, 1000 + i * each_ns, 1000 + (i + 1) * each_ns, (double)(i % 100));
	return p;
}

struct result {
	struct bucket *all;
	size_t len;
};

static struct result buckets(const struct points *p, uint64_t from_ns, uint64_t end_ns, size_t wish)
{
	struct result r = {0};

	OK(points_buckets(p, from_ns, end_ns, wish, &r.all, &r.len, NULL) == GALVO_OK);
	return r;
}

/* All points are in one each, in order, and they say of them what they should. */
static void check(const struct points *p, const struct result *r)
{
	size_t at = r->len ? r->all[0].first : 0, i, k, bad = 0;

	for (i = 0; i < r->len; i++) {
		const struct bucket *b = &r->all[i];
		double sum = 0, whole = 0, low = INFINITY, high = -INFINITY;

		bad += b->first != at || b->len == 0;
		bad += b->from_mono_ns != p->from_mono_ns[b->first];
		bad += b->end_mono_ns != p->end_mono_ns[b->first + b->len - 1];
		for (k = b->first; k < b->first + b->len; k++) {
			double ns = (double)(p->end_mono_ns[k] - p->from_mono_ns[k]);

			sum += ns * p->value[k];
			whole += ns;
			low = fmin(low, p->value[k]);
			high = fmax(high, p->value[k]);
		}
		bad += b->min < low || b->min > low || b->max < high || b->max > high;
		bad += !(fabs(b->mean - sum / whole) <= 1e-9 * fmax(1, fabs(high)));
		bad += b->mean < b->min || b->mean > b->max;
		at += b->len;
	}
	EQ(bad, 0);
}

static void spike(void)
{
	static const size_t wishes[] = {2048, 1, 99991, SIZE_MAX};
	static const size_t places[] = {0, 1, MANY / 2 + 1, MANY - 1};
	struct points p = even(MANY, 100);
	struct result r;
	size_t i, k, found;

	for (i = 0; i < ARRAY_LEN(places); i++) {
		double before = p.value[places[i]];

		p.value[places[i]] = i % 2 ? -5000 : 5000;
		for (k = 0; k < ARRAY_LEN(wishes); k++) {
			if (k && i)
				continue; /* it takes its time */
			r = buckets(&p, 0, UINT64_MAX, wishes[k]);
			OK(r.len <= wishes[k]);
			for (found = 0; found < r.len; found++)
				if (r.all[found].max > 4999 || r.all[found].min < -4999)
					break;
			OK(found < r.len);
			EQ(r.all[r.len - 1].first + r.all[r.len - 1].len, MANY);
			free(r.all);
		}
		p.value[places[i]] = before;
	}
	points_finish(&p);
}

static void wishes(void)
{
	struct points p = even(1000, 10);
	struct result r;
	size_t wish;

	for (wish = 1; wish < 1100; wish += wish < 50 ? 1 : 37) {
		r = buckets(&p, 1000, 11000, wish);
		OK(r.len <= wish && r.len >= 1 && r.len * 2 >= (wish < 1000 ? wish : 1000));
		EQ(r.all[0].first, 0);
		if (1000 % wish == 0)
			EQ(r.len, wish); /* all as large */
		check(&p, &r);
		free(r.all);
	}
	points_finish(&p);
}

static void gaps(void)
{
	struct points p = make(100);
	struct result r;
	size_t i;

	/* Of 4096000 ns, a gap of 1000 is no gap, one of 1001 is. */
	for (i = 0; i < 50; i++)
		add(&p, i * 2000, i * 2000 + 1000, 1);
	add(&p, 50 * 2000 + 1, 50 * 2000 + 500, 2);
	add(&p, 4000000, 4096000, 3);
	/* Of all time there is, too, as points cover no more. */
	r = buckets(&p, 0, UINT64_MAX, 10);
	EQ(r.all[r.len - 1].len, 1);
	EQ(r.len, 9 + 2);
	free(r.all);
	r = buckets(&p, 0, 4096000, 10);
	check(&p, &r);
	for (i = 0; i < r.len; i++)
		OK(r.all[i].first + r.all[i].len <= 50 || r.all[i].first >= 50);
	EQ(r.all[r.len - 1].len, 1);
	EQ(r.all[r.len - 2].len, 1);
	EQ(r.len, 9 + 2); /* of 6 points each, but for the last ones */
	free(r.all);
	points_finish(&p);
}

static void edges(void)
{
	struct points p = even(10, 100); /* 1000 to 2000 */
	const struct { uint64_t from_ns, end_ns; size_t first, len; } rows[] = {
		{1000, 2000, 0, 10}, {1100, 1200, 1, 1}, {1199, 1201, 1, 2}, {1200, 1201, 2, 1},
		{0, 1000, 0, 0}, {2000, 3000, 0, 0}, {1999, 3000, 9, 1}, {999, 1001, 0, 1},
		{1500, 1500, 0, 0}, {1600, 1500, 0, 0}, {0, UINT64_MAX, 0, 10}, {1150, 1160, 1, 1},
	};
	struct result r;
	size_t i, k, n;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		r = buckets(&p, rows[i].from_ns, rows[i].end_ns, 3);
		for (k = n = 0; k < r.len; k++)
			n += r.all[k].len;
		EQ(n, rows[i].len);
		if (n)
			EQ(r.all[0].first, rows[i].first);
		check(&p, &r);
		free(r.all);
	}
	points_finish(&p);
}

static void few(void)
{
	struct points p = make(2);
	struct result r = buckets(&p, 0, UINT64_MAX, 100);

	EQ(r.len, 0);
	OK(r.all != NULL);
	free(r.all);
	add(&p, 5, 6, -7.5);
	r = buckets(&p, 0, UINT64_MAX, 100);
	EQ(r.len, 1);
	check(&p, &r);
	free(r.all);
	points_finish(&p);
}

/* Weighted with time, and never beyond what was read, however large the numbers. */
static void means(void)
{
	static const double odd[] = {1e308, -1e308, 1.7e308, 1.7e308, 0.1, 5e-324, -0.0};
	struct points p = make(8);
	struct result r;
	size_t i;

	add(&p, 0, 10, 1);
	add(&p, 10, 1000, 0.1);
	r = buckets(&p, 0, 1000, 1);
	OK(fabs(r.all[0].mean - (10 + 99) / 1000.0) < 1e-12);
	free(r.all);
	p.len = 0;
	for (i = 0; i < ARRAY_LEN(odd); i++)
		add(&p, i * 1000000000, (i + 1) * 1000000000, odd[i]);
	r = buckets(&p, 0, UINT64_MAX, 1);
	OK(r.len == 1 && isfinite(r.all[0].mean));
	OK(r.all[0].mean >= -1e308 && r.all[0].mean <= 1.7e308);
	free(r.all);
	points_finish(&p);
}

static const struct tap_test tests[] = {
	{"a spike in ten million is in a bucket", spike},
	{"as many buckets as wished for", wishes},
	{"gaps part them", gaps},
	{"edges of ranges", edges},
	{"none, and one", few},
	{"means", means},
};
TAP_MAIN(tests)
