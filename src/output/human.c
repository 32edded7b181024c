/* Numbers as people read them: three digits, binary units, "-" for what is not known. */
#include <math.h>

#include "output.h"

void put_bytes(struct buf *b, double bytes)
{
	buf_put_bytes(b, bytes);
}

/* The blank and all behind the first letter of the unit go: of bytes, the unit. */
void put_short_bytes(struct buf *b, double bytes)
{
	size_t from = b->len, i;

	buf_put_bytes(b, bytes);
	for (i = from; i < b->len && b->p[i] != ' '; i++)
		;
	if (i + 1 >= b->len)
		return;
	b->p[i] = b->p[i + 1];
	b->len = b->p[i] == 'B' ? i : i + 1;
}

void put_bytes_per_s(struct buf *b, double rate)
{
	buf_put_bytes(b, rate);
	if (isfinite(rate))
		buf_put_str(b, "/s");
}

void put_pct(struct buf *b, double pct)
{
	buf_put_fixed(b, pct, fabs(pct) < 999.95 ? 1 : 0);
	if (isfinite(pct))
		buf_put_str(b, " %");
}

void put_small_pct(struct buf *b, double pct)
{
	if (fabs(pct) < 0.9995)
		buf_put_fixed(b, pct, 3);
	else
		buf_put_three(b, pct);
	if (isfinite(pct))
		buf_put_str(b, " %");
}

void put_seconds(struct buf *b, double s)
{
	buf_put_fixed(b, s, fabs(s) < 99.995 ? 2 : fabs(s) < 9999.95 ? 1 : 0);
}

void put_fine_seconds(struct buf *b, double s)
{
	if (fabs(s) < 9.9995)
		buf_put_fixed(b, s, 3);
	else
		put_seconds(b, s);
}

void put_duration(struct buf *b, double s)
{
	static const struct { uint64_t whole_s, part_s; const char *whole, *part; } units[] = {
		{86400, 3600, "d", "h"}, {3600, 60, "h", "min"}, {60, 1, "min", "s"},
	};
	uint64_t n;
	size_t i;

	if (!isfinite(s) || s < 0 || s > 1e15) {
		buf_put_str(b, "-");
		return;
	}
	if (s < 59.995) {
		buf_put_three(b, s < 0.9995 ? s * 1e3 : s);
		buf_put_str(b, s < 0.9995 ? " ms" : " s");
		return;
	}
	/* The largest unit that is there at least once. */
	for (i = 0; i + 1 < ARRAY_LEN(units) && s < (double)units[i].whole_s; i++)
		;
	/* Rounded to what is shown, so that no part of an hour is 60 minutes. */
	n = (uint64_t)(s / (double)units[i].part_s + 0.5) * units[i].part_s;
	buf_printf(b, "%llu %s %02llu %s", (unsigned long long)(n / units[i].whole_s),
	           units[i].whole, (unsigned long long)(n % units[i].whole_s / units[i].part_s),
	           units[i].part);
}

void put_brief(struct buf *b, double s)
{
	static const struct { double below_s, unit_s; const char *unit; } units[] = {
		{0.9995e-6, 1e-9, " ns"}, {0.9995e-3, 1e-6, " \xc2\xb5s"}, {0.9995, 1e-3, " ms"},
		{99.95, 1, " s"}, {5997, 60, " min"}, {359820, 3600, " h"},
	};
	size_t i;

	if (!isfinite(s) || s < 0) {
		buf_put_str(b, "-");
		return;
	}
	for (i = 0; i < ARRAY_LEN(units) && s >= units[i].below_s; i++)
		;
	buf_put_three(b, i < ARRAY_LEN(units) ? s / units[i].unit_s : s / 86400);
	buf_put_str(b, i < ARRAY_LEN(units) ? units[i].unit : " d");
}

void put_count(struct buf *b, double v)
{
	static const char *const units[] = {" k", " M", " G", " T"};
	size_t i;

	if (!(v >= 99999.5)) {
		buf_put_fixed(b, v, 0);
		return;
	}
	v /= 1000;
	for (i = 0; v >= 999.5 && i + 1 < ARRAY_LEN(units); i++)
		v /= 1000;
	buf_put_three(b, v);
	buf_put_str(b, units[i]);
}

/* Three digits and the largest unit that they are at least one of. */
static void put_si(struct buf *b, double v, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
	size_t i;

	for (i = 0; fabs(v) >= 999.5 && i + 1 < ARRAY_LEN(prefixes); i++)
		v /= 1000;
	buf_put_three(b, v);
	if (isfinite(v))
		buf_printf(b, " %s%s", prefixes[i], unit);
}

void put_watts(struct buf *b, double watts)
{
	put_si(b, watts, "W");
}

void put_joules(struct buf *b, double joules)
{
	put_si(b, joules, "J");
}

void put_hz(struct buf *b, double hz)
{
	put_si(b, hz, "Hz");
}

void put_celsius(struct buf *b, double celsius)
{
	buf_put_fixed(b, celsius, 0);
	if (isfinite(celsius))
		buf_put_str(b, " \xc2\xb0" "C");
}

void put_decimal(struct buf *b, double v)
{
	buf_put_fixed(b, v, 1);
}

void put_whole(struct buf *b, double v)
{
	buf_put_fixed(b, v, 0);
}

/* In UTC: a report reads the same wherever it is made. */
void put_time(struct buf *b, uint64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;

	if (wall_ns == 0 || !gmtime_r(&t, &tm))
		buf_put_str(b, "-");
	else
		buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
		           tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}
