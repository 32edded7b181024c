/* Counter to rate: growth between two readings, and the columns made of it. */
#include "series.h"

#include <math.h>

#define WAVER_MAX 300 /* a step back larger than this many units is a reset */
#define MANY_UNITS 50 /* a whole that grew by as many needs no smoothing */
#define PACE_BLOCK_NS NS_PER_S
#define PACE_MIN_NS (NS_PER_S / 5)
#define DEBT_MAX_NS (NS_PER_S / 10)
#define DUST_UNITS 1e-6 /* owed and never paid: some ns of CPU time */

void series_init(struct series *s, const struct source *source)
{
	size_t i;

	*s = (struct series){.source = source};
	for (i = 0; i < source->metrics_len; i++) {
		s->whole |= source->metrics[i].whole; /* all shares of a source have one */
		s->used |= source->metrics[i].of | source->metrics[i].whole | source->metrics[i].rates;
	}
	series_reset(s);
}

void series_reset(struct series *s)
{
	size_t i;

	s->present = 0;
	s->reads = 0;
	s->share = (struct share){0};
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
	uint32_t whole; /* fields of the whole, of which all shares of a source are; 0: it has none */
	double by[RAW_MAX];
	/* shares: 100 * per_unit * owed is percent, of what is owed `paid` is paid out */
	double per_unit, paid;
};

static void grow(const struct series *s, const struct raw *now, uint32_t fields, struct growth *g)
{
	uint32_t both = s->present & now->present & fields;

	g->known = 0;
	g->paid = 0;
	g->per_unit = NAN;
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

static double sum_of_owed(const struct share *share, uint32_t fields)
{
	double sum = 0;

	for (; fields; fields &= fields - 1)
		sum += share->owed[__builtin_ctz(fields)];
	return sum;
}

/* Units of the whole a nanosecond; 0: not known yet. */
static double share_pace(struct share *share, double grown, uint64_t dt_ns)
{
	uint64_t took_ns;

	share->grown[1] += grown;
	share->took_ns[1] += dt_ns;
	if (share->took_ns[1] >= PACE_BLOCK_NS) {
		share->grown[0] = share->grown[1];
		share->took_ns[0] = share->took_ns[1];
		share->grown[1] = 0;
		share->took_ns[1] = 0;
	}
	took_ns = share->took_ns[0] + share->took_ns[1];
	return took_ns >= PACE_MIN_NS ? (share->grown[0] + share->grown[1]) / (double)took_ns : 0;
}

/* How much of what is owed this reading pays out, and what a unit of it is worth. */
static void share_settle(struct series *s, struct growth *g, uint64_t dt_ns)
{
	struct share *share = &s->share;
	uint32_t fields = g->whole & g->known;
	double grown = 0, sum, pace, room;

	for (; fields; fields &= fields - 1) {
		unsigned i = (unsigned)__builtin_ctz(fields);

		share->owed[i] += g->by[i];
		grown += g->by[i];
	}
	sum = sum_of_owed(share, g->whole & g->known);
	pace = share_pace(share, grown, dt_ns);
	room = pace * (double)dt_ns;
	/* With many units the ratio is good as it is; with a long debt, better late than never. */
	if (room <= 0 || grown >= MANY_UNITS || sum > pace * (double)(dt_ns + DEBT_MAX_NS)) {
		g->paid = 1;
		g->per_unit = sum > 0 ? 1 / sum : NAN;
		return;
	}
	g->paid = sum > room ? room / sum : 1;
	g->per_unit = g->paid / room;
}

static void share_pay(struct share *share, const struct growth *g)
{
	uint32_t fields = g->whole & g->known;

	for (; fields; fields &= fields - 1) {
		double *owed = &share->owed[__builtin_ctz(fields)];

		*owed *= 1 - g->paid;
		/* Halves of halves: nothing that anybody read. */
		if (*owed < DUST_UNITS)
			*owed = 0;
	}
}

static double evaluate(const struct series *s, const struct metric *m, const struct raw *now,
                       const struct growth *g, uint64_t dt_ns)
{
	double scale = m->scale != 0 ? m->scale : 1;

	switch (m->form) {
	case FORM_LEVEL:
		return m->of & ~now->present ? NAN : sum_of_levels(now, m->of) * scale;
	case FORM_RATE:
		if (m->rates && !(m->rates & ~now->present))
			return sum_of_levels(now, m->rates) * scale;
		if (m->of & ~g->known || dt_ns == 0)
			return NAN;
		return sum_of_growth(g, m->of) * scale * 1e9 / (double)dt_ns;
	case FORM_SHARE:
		/* Older kernels have fewer fields in the whole; one that was reset spoils it. */
		if (m->of & ~g->known || m->whole & now->present & ~g->known)
			return NAN;
		return 100 * g->per_unit * sum_of_owed(&s->share, m->of);
	}
	return NAN;
}

void series_update(struct series *s, size_t text, const struct raw *now, uint64_t mono_ns)
{
	struct series_text *t = &s->text[text];
	const struct source *source = s->source;
	uint32_t present = now->present & s->used;
	uint32_t fields = t->fields | present; /* all that this text answers for */
	uint64_t dt_ns = t->mono_ns && mono_ns > t->mono_ns ? mono_ns - t->mono_ns : 0;
	struct growth g;
	size_t i;

	grow(s, now, fields, &g);
	g.whole = s->whole & fields;
	if (g.whole & now->present & ~g.known)
		s->share = (struct share){0}; /* first sight, or a reset */
	else if (g.whole)
		share_settle(s, &g, dt_ns);
	for (i = 0; i < source->metrics_len; i++) {
		const struct metric *m = &source->metrics[i];
		double v;

		if (!((m->of | m->rates) & fields))
			continue;
		v = evaluate(s, m, now, &g, dt_ns);
		if (m->limit > 0 && v > m->limit) {
			v = NAN;
			s->rejected++;
		}
		s->value[i] = v;
	}
	share_pay(&s->share, &g);
	s->reads += text == 0;
	s->present = (s->present & ~fields) | present;
	for (; g.moved; g.moved &= g.moved - 1) {
		i = (size_t)__builtin_ctz(g.moved);
		s->base[i] = now->value[i];
	}
	t->fields = present;
	t->mono_ns = mono_ns;
}

void series_repeat(struct series *s, size_t text, uint64_t mono_ns)
{
	struct raw now = {.present = s->text[text].fields};

	memcpy(now.value, s->base, sizeof(s->base));
	series_update(s, text, &now, mono_ns);
}

bool series_has_value(const struct series *s)
{
	size_t i;

	for (i = 0; i < s->source->metrics_len; i++)
		if (!isnan(s->value[i]))
			return true;
	return false;
}
