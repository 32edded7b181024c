/* Numbers along an axis: round ones, few, with the unit that suits them. */
#include <float.h>
#include <math.h>

#include "plot.h"

#define VALUE_MAX 1e300 /* so that differences are finite */

/* How values of a unit are written. */
struct writing {
	const char *unit;
	enum { PLAIN, DECIMAL, BINARY } prefixes;
	bool is_small; /* m, u and n are known of it */
	double factor; /* from a value to the unit */
};

static struct writing writing_of(enum metric_unit unit)
{
	switch (unit) {
	case UNIT_BYTES: return (struct writing){"B", BINARY, false, 1};
	case UNIT_BYTES_PER_SEC: return (struct writing){"B/s", BINARY, false, 1};
	case UNIT_PCT:
	case UNIT_PCT_OF_CORE: return (struct writing){"%", PLAIN, false, 1};
	case UNIT_HZ: return (struct writing){"Hz", DECIMAL, false, 1};
	case UNIT_PER_SEC:
	case UNIT_REQUESTS_PER_SEC: return (struct writing){"/s", DECIMAL, false, 1};
	case UNIT_NANOSECONDS: return (struct writing){"s", DECIMAL, true, 1e-9};
	case UNIT_WATTS: return (struct writing){"W", DECIMAL, true, 1};
	case UNIT_JOULES: return (struct writing){"J", DECIMAL, true, 1};
	case UNIT_CELSIUS: return (struct writing){"\xc2\xb0" "C", PLAIN, false, 1};
	case UNIT_PER_CYCLE: return (struct writing){"/cycle", PLAIN, false, 1};
	case UNIT_BYTES_PER_CYCLE: return (struct writing){"B/cycle", PLAIN, false, 1};
	case UNIT_RATIO: return (struct writing){"", PLAIN, false, 1};
	case UNIT_COUNT:
	case UNIT_CYCLES:
	case UNIT_REQUESTS:
	case UNIT_COUNT_CYCLES:
	case UNIT_OTHER: break;
	}
	return (struct writing){"", DECIMAL, false, 1};
}

static const char *const decimal_prefixes[] = {"n", "\xc2\xb5", "m", "", "k", "M", "G", "T", "P", "E"};
static const char *const binary_prefixes[] = {"", "", "", "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
enum { NO_PREFIX = 3, LAST_PREFIX = 9 };

/* The prefix for numbers up to `most`; *ret_size is what 1 of it is, in values. */
static const char *prefix_for(const struct writing *w, double most, double *ret_size)
{
	double base = w->prefixes == BINARY ? 1024 : 1000, size = 1;
	int i = NO_PREFIX;

	most = fabs(most) * w->factor;
	/* Three digits at most: 1000 MiB are 0.98 GiB. */
	if (w->prefixes != PLAIN)
		for (; most >= 999.5 * size && i < LAST_PREFIX; i++)
			size *= base;
	if (w->is_small)
		for (; most > 0 && most < size * 0.9995 && i > 0; i--)
			size /= base;
	*ret_size = size / w->factor;
	return w->prefixes == BINARY ? binary_prefixes[i] : decimal_prefixes[i];
}

/* A blank, the prefix, the unit; shorter where there is no room for units: static strings only. */
static void put_unit(struct buf *b, const char *prefix, const char *unit)
{
	if (prefix[0] || unit[0])
		buf_printf(b, " %s%s", prefix, unit);
}

void put_value(struct buf *b, enum metric_unit unit, double v)
{
	const struct writing w = writing_of(unit);
	bool is_pct = unit == UNIT_PCT || unit == UNIT_PCT_OF_CORE;
	const char *prefix;
	double size;

	if (!isfinite(v)) {
		buf_put_str(b, "-");
		return;
	}
	prefix = prefix_for(&w, v, &size);
	v /= size;
	if (fabs(v) >= 1e6 || (v != 0 && fabs(v) < 0.001 && !is_pct))
		buf_put_general(b, v, 3);
	else if (w.prefixes == PLAIN && fabs(v) < 99.95)
		buf_put_fixed(b, v, fabs(v) < 9.995 && !is_pct ? 2 : 1);
	else if (v == floor(v) && fabs(v) < 1000)
		buf_put_fixed(b, v, 0);
	else
		buf_put_three(b, v);
	put_unit(b, prefix, w.unit);
}

/* The round number from `least` up: 1, 2 or 5 of a power of ten, or a power of two. */
static double round_step(double least, bool is_binary)
{
	static const double of_ten[] = {1, 2, 5, 10};
	double power;
	size_t i;

	if (is_binary)
		return exp2(ceil(log2(least) - 1e-9));
	power = pow(10, floor(log10(least)));
	for (i = 0; i + 1 < ARRAY_LEN(of_ten) && of_ten[i] * power < least * (1 - 1e-9); i++)
		;
	return of_ten[i] * power;
}

static int decimals_of(double step)
{
	int n;

	for (n = 0; n < 9 && fabs(step - floor(step + 0.5)) > 1e-6 * step; n++)
		step *= 10;
	return n;
}

/* Multiples of the step from low to high. */
static void place(struct ticks *t, double step)
{
	double first = ceil(t->low / step - 1e-6), i;

	t->len = 0;
	for (i = 0; i < TICKS_MAX && (first + i) * step <= t->high + step * 1e-6; i++)
		t->at[t->len++] = (first + i) * step;
}

static double bounded(double v)
{
	return isnan(v) ? 0 : fmax(-VALUE_MAX, fmin(VALUE_MAX, v));
}

void ticks_of_values(struct ticks *ret, enum metric_unit unit, double low, double high,
                     bool fixed_low, bool fixed_high, size_t most)
{
	const struct writing w = writing_of(unit);
	double span, step, size, ceiling;
	const char *prefix;

	*ret = (struct ticks){.low = bounded(low), .high = bounded(high)};
	/* All is one value, or as good as: some room around it. */
	span = fmax(fabs(ret->low), fabs(ret->high));
	if (ret->high - ret->low <= span * 1e-9) {
		ret->high = ret->low + (span > 0 ? span * 0.1 : 1);
		if (!fixed_low && ret->low != 0)
			ret->low -= span * 0.1;
	}
	step = round_step((ret->high - ret->low) * w.factor / (double)most, w.prefixes == BINARY) / w.factor;
	ceiling = ceil(ret->high / step - 1e-6) * step;
	if (!fixed_high && isfinite(ceiling))
		ret->high = ceiling;
	if (!fixed_low && isfinite(floor(ret->low / step) * step))
		ret->low = floor(ret->low / step + 1e-6) * step;
	place(ret, step);
	/* Of what the axis came to: its end, too, has three digits at most. */
	prefix = prefix_for(&w, fmax(fabs(ret->low), fabs(ret->high)), &size);
	ret->unit_worth = size;
	ret->decimals = decimals_of(step / size);
	snprintf(ret->unit, sizeof(ret->unit), "%s%s%s", prefix[0] || w.unit[0] ? " " : "", prefix, w.unit);
}

/* Steps of a clock and the units in which they are counted. */
static const struct { double step_s, unit_s; const char *unit; } time_steps[] = {
	{1e-9, 1e-9, "ns"}, {2e-9, 1e-9, "ns"}, {5e-9, 1e-9, "ns"},
	{1e-8, 1e-9, "ns"}, {2e-8, 1e-9, "ns"}, {5e-8, 1e-9, "ns"},
	{1e-7, 1e-9, "ns"}, {2e-7, 1e-9, "ns"}, {5e-7, 1e-9, "ns"},
	{1e-6, 1e-6, "\xc2\xb5s"}, {2e-6, 1e-6, "\xc2\xb5s"}, {5e-6, 1e-6, "\xc2\xb5s"},
	{1e-5, 1e-6, "\xc2\xb5s"}, {2e-5, 1e-6, "\xc2\xb5s"}, {5e-5, 1e-6, "\xc2\xb5s"},
	{1e-4, 1e-6, "\xc2\xb5s"}, {2e-4, 1e-6, "\xc2\xb5s"}, {5e-4, 1e-6, "\xc2\xb5s"},
	{1e-3, 1e-3, "ms"}, {2e-3, 1e-3, "ms"}, {5e-3, 1e-3, "ms"},
	{1e-2, 1e-3, "ms"}, {2e-2, 1e-3, "ms"}, {5e-2, 1e-3, "ms"},
	{1e-1, 1, "s"}, {2e-1, 1, "s"}, {5e-1, 1, "s"}, {1, 1, "s"}, {2, 1, "s"}, {5, 1, "s"},
	{10, 1, "s"}, {15, 1, "s"}, {20, 1, "s"}, {30, 1, "s"}, {60, 60, "min"}, {120, 60, "min"},
	{300, 60, "min"}, {600, 60, "min"}, {900, 60, "min"}, {1200, 60, "min"}, {1800, 60, "min"},
	{3600, 3600, "h"}, {7200, 3600, "h"}, {10800, 3600, "h"}, {21600, 3600, "h"},
	{43200, 3600, "h"}, {86400, 86400, "d"}, {172800, 86400, "d"}, {432000, 86400, "d"},
	{864000, 86400, "d"}, {8640000, 86400, "d"}, {86400000, 86400, "d"},
};

void ticks_of_time(struct ticks *ret, double from_s, double end_s, size_t most)
{
	double least = (end_s - from_s) / (double)most;
	size_t i;

	for (i = 0; i + 1 < ARRAY_LEN(time_steps) && time_steps[i].step_s < least * (1 - 1e-9); i++)
		;
	*ret = (struct ticks){.is_time = true, .low = from_s, .high = end_s,
	                      .unit_worth = time_steps[i].unit_s};
	place(ret, time_steps[i].step_s);
	/* Milliseconds of an hour are no help: seconds, then, with decimals. */
	if (ret->unit_worth < 1 && end_s >= 10000 * ret->unit_worth)
		ret->unit_worth = 1;
	snprintf(ret->unit, sizeof(ret->unit), " %s", ret->unit_worth == 1 ? "s" : time_steps[i].unit);
	ret->decimals = decimals_of(time_steps[i].step_s / ret->unit_worth);
}

void put_tick(struct buf *b, const struct ticks *t, size_t i)
{
	double v = t->at[i] / t->unit_worth;

	if (v == 0) { /* of whatever */
		buf_printf(b, "0%s", t->is_time || t->unit[1] == '%' ? t->unit : "");
		return;
	}
	if (fabs(v) >= 1e6)
		buf_put_general(b, v, 2);
	else
		buf_put_fixed(b, v, (unsigned)t->decimals);
	buf_put_str(b, t->unit);
}
