/*
 * Who of the followed processes is read at a tick: each of them once in a period, in turn, and so few
 * at once that no tick is long because of them. One by one would be dearer, as the first reading after
 * a sleep finds nothing in the caches.
 */
#include "internal.h"

enum { AT_ONCE = 32 };

bool slice_begin(struct probe *p, struct pen *pen, size_t at_least)
{
	struct slice *s = &pen->slice;
	const uint64_t period = pen->lane->period_ticks * pen->lane->divisor;
	const uint64_t elapsed = p->tick - s->tick;

	s->tick = p->tick;
	if (s->period_ticks && s->period_ticks != period)
		s->owed = s->owed * period / s->period_ticks;
	s->period_ticks = period;
	if (s->at >= s->known)
		s->at = 0;
	s->fresh = s->known; /* who joined since the last time begins now */
	s->known = p->members_len;
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
	return slice_size(pen) > 0;
}

struct member *slice_at(const struct probe *p, const struct pen *pen, size_t i)
{
	const struct slice *s = &pen->slice;

	if (i >= s->len)
		return p->members[s->fresh + i - s->len];
	i += s->at;
	return p->members[i < s->fresh ? i : i - s->fresh];
}

void slice_end(struct pen *pen, uint64_t took_ns)
{
	struct slice *s = &pen->slice;
	const size_t n = slice_size(pen);

	s->at += s->len;
	if (s->at >= s->fresh)
		s->at -= s->fresh;
	s->read += n;
	if (s->read >= s->known) {
		s->read = s->known ? s->read % s->known : 0;
		pen->reads++;
	}
	/* What all of them cost is told by as many as there are, or by enough to tell. */
	s->cost_ns += took_ns;
	s->cost_of += n;
	if (s->cost_of < s->known && s->cost_of < MANY)
		return;
	budget_account(pen, s->cost_ns * s->known / s->cost_of);
	s->cost_ns = s->cost_of = 0;
}

void slices_drop(struct probe *p, size_t i)
{
	size_t j;

	for (j = 0; j < p->pens_len; j++) {
		struct slice *s = &p->pens[j].slice;

		s->at -= i < s->at;
		s->known -= i < s->known;
	}
}
