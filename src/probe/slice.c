/*
 * Who of many things is read at a tick: each of them once in a period, in turn, and so few at once
 * that no tick is long because of them. One by one would be dearer, as the first reading after a
 * sleep finds nothing in the caches.
 */
#include "internal.h"

enum { AT_ONCE = 32 };

bool slice_take(struct slice *s, const struct pen *pen, uint64_t tick, size_t things,
                size_t at_least)
{
	const uint64_t period = pen->lane->period_ticks * pen->lane->divisor;
	const uint64_t elapsed = tick - s->tick;

	s->tick = tick;
	if (s->period_ticks && s->period_ticks != period)
		s->owed = s->owed * period / s->period_ticks;
	s->period_ticks = period;
	if (s->at >= s->known)
		s->at = 0;
	s->fresh = s->known; /* what came since the last time begins now */
	s->known = things;
	s->owed += elapsed < period ? elapsed * s->fresh : period * s->fresh;
	s->len = s->owed / period;
	if (s->len < s->fresh && s->len < AT_ONCE)
		s->len = 0;
	s->owed -= s->len * period;
	if (s->len < at_least)
		s->len = at_least;
	if (s->len > s->fresh) {
		s->len = s->fresh;
		s->owed = 0;
	}
	return slice_size(s) > 0;
}

size_t slice_index(const struct slice *s, size_t i)
{
	if (i >= s->len)
		return s->fresh + i - s->len;
	i += s->at;
	return i < s->fresh ? i : i - s->fresh;
}

void slice_advance(struct slice *s)
{
	s->at += s->len;
	if (s->at >= s->fresh)
		s->at -= s->fresh;
}

void slice_end(struct pen *pen, uint64_t took_ns)
{
	struct slice *s = &pen->slice;

	slice_advance(s);
	s->read += slice_size(s);
	if (s->read >= s->known) {
		s->read = s->known ? s->read % s->known : 0;
		pen->reads++;
	}
	/* What all of them cost is told by as many as there are, or by enough to tell. */
	s->cost_ns += took_ns;
	s->cost_of += slice_size(s);
	if (!s->cost_of || (s->cost_of < s->known && s->cost_of < MANY))
		return;
	budget_account(pen, s->cost_ns * s->known / s->cost_of);
	s->cost_ns = s->cost_of = 0;
}

void slice_drop(struct slice *s, size_t i)
{
	s->at -= i < s->at;
	s->known -= i < s->known;
}
