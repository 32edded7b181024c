/* Counter to rate: growth between two readings, and the columns made of it. */
#include "series.h"

#include <math.h>

#define WAVER_MAX 300 /* a step back larger than this many units is a reset */

void series_init(struct series *s, const struct source *source)
{
	*s = (struct series){.source = source};
	series_reset(s);
}

void series_reset(struct series *s)
{
	size_t i;

	s->present = 0;
	s->reads = 0;
	for (i = 0; i < TEXTS_MAX; i++)
		s->text[i] = (struct series_text){0};
	for (i = 0; i < METRICS_MAX; i++)
		s->value[i] = NAN;
}

bool counter_growth(enum raw_kind kind, uint64_t before, uint64_t after, uint64_t *ret)
{
	uint64_t top = kind == RAW_COUNTER32 ? UINT32_MAX : UINT64_MAX;

	if (after >= before) {
		*ret = after - before;
		return true;
	}
	if (kind == RAW_WAVERING) {
		*ret = 0;
		return before - after <= WAVER_MAX;
	}
	/* From the last quarter of its range into the first: it went round. */
	if (before <= top && before > top - top / 4 && after < top / 4) {
		*ret = top - before + after + 1;
		return true;
	}
	return false;
}

struct growth {
	uint32_t known; /* fields whose growth is known */
	uint32_t moved; /* fields whose base has to follow */
	uint32_t whole; /* fields of the share looked at last: all shares of a source have one whole */
	double whole_by; /* their growth, as far as it is known */
	double by[RAW_MAX];
};

static void grow(const struct series *s, const struct raw *now, uint32_t fields, struct growth *g)
{
	uint32_t both = s->present & now->present & fields;

	g->known = g->whole = 0;
	g->whole_by = 0;
	g->moved = now->present & fields;
	while (both) {
		unsigned i = (unsigned)__builtin_ctz(both);
		enum raw_kind kind = s->source->fields[i].kind;
		uint64_t by;

		both &= both - 1;
		if (kind == RAW_GAUGE || !counter_growth(kind, s->base[i], now->value[i], &by))
			continue;
		g->by[i] = (double)by;
		g->known |= FIELD(i);
		/* A counter that stepped back has not moved: its base stays the higher value. */
		if (kind == RAW_WAVERING && now->value[i] < s->base[i])
			g->moved &= ~FIELD(i);
	}
}

static double sum_of_growth(const struct growth *g, uint32_t fields)
{
	double sum = 0;

	for (; fields; fields &= fields - 1)
		sum += g->by[__builtin_ctz(fields)];
	return sum;
}

static double sum_of_levels(const struct raw *now, uint32_t fields)
{
	double sum = 0;

	for (; fields; fields &= fields - 1)
		sum += (double)now->value[__builtin_ctz(fields)];
	return sum;
}

static double whole_growth(struct growth *g, uint32_t whole)
{
	if (g->whole != whole) {
		g->whole = whole;
		g->whole_by = sum_of_growth(g, whole & g->known);
	}
	return g->whole_by;
}

static double evaluate(const struct metric *m, const struct raw *now, struct growth *g,
                       uint64_t dt_ns)
{
	double scale = m->scale != 0 ? m->scale : 1, whole;

	switch (m->form) {
	case FORM_LEVEL:
		return m->of & ~now->present ? NAN : sum_of_levels(now, m->of) * scale;
	case FORM_RATE:
		if (m->of & ~g->known || dt_ns == 0)
			return NAN;
		return sum_of_growth(g, m->of) * scale * 1e9 / (double)dt_ns;
	case FORM_SHARE:
		/* Older kernels have fewer fields in the whole; one that was reset spoils it. */
		whole = whole_growth(g, m->whole);
		if (m->of & ~g->known || m->whole & now->present & ~g->known)
			return NAN;
		return whole > 0 ? 100 * sum_of_growth(g, m->of) / whole : NAN;
	}
	return NAN;
}

/* Nothing of a whole has moved yet: wait for it, rather than divide by nothing. */
static bool is_standing_still(const struct growth *g, uint32_t fields)
{
	return g->whole && (g->whole & g->known) == (g->whole & fields) && g->whole_by <= 0;
}

void series_update(struct series *s, size_t text, const struct raw *now, uint64_t mono_ns)
{
	struct series_text *t = &s->text[text];
	const struct source *source = s->source;
	uint32_t fields = t->fields | now->present; /* all that this text answers for */
	uint64_t dt_ns = t->mono_ns && mono_ns > t->mono_ns ? mono_ns - t->mono_ns : 0;
	struct growth g;
	size_t i;

	grow(s, now, fields, &g);
	for (i = 0; i < source->metrics_len; i++) {
		const struct metric *m = &source->metrics[i];
		double v;

		if (!(m->of & fields))
			continue;
		v = evaluate(m, now, &g, dt_ns);
		if (m->limit > 0 && v > m->limit) {
			v = NAN;
			s->rejected++;
		}
		s->value[i] = v;
	}
	s->reads += text == 0;
	if (s->reads > 1 && is_standing_still(&g, fields))
		return; /* keep the base, so that the next interval covers this one too */
	s->present = (s->present & ~fields) | now->present;
	for (; g.moved; g.moved &= g.moved - 1) {
		i = (size_t)__builtin_ctz(g.moved);
		s->base[i] = now->value[i];
	}
	t->fields = now->present;
	t->mono_ns = mono_ns;
}

bool series_has_value(const struct series *s)
{
	size_t i;

	for (i = 0; i < s->source->metrics_len; i++)
		if (!isnan(s->value[i]))
			return true;
	return false;
}
