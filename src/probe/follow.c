/*
 * Following processes, a source like any other to the budget: ends are noticed at every tick, what is
 * new is looked for at turns of their own, and who came and went is taken over.
 */
#include "internal.h"

static const struct source source_track = {
	.name = "track",
	.summary = "who is followed: ends, new descendants, names",
};

void follow_plan(struct probe *p)
{
	uint64_t ticks = p->config.scan_period_ns / p->config.period_ns;

	p->follow_pen.source = &source_track;
	p->follow_pen.lane = &p->follow_lane;
	p->follow_lane = (struct lane){.pens = {&p->follow_pen}, .pens_len = 1, .divisor = 1, .largest_divisor = 1,
	                               .period_ticks = ticks ? ticks : 1};
}

uint64_t probe_follow(struct probe *p, bool is_whole)
{
	uint64_t from = probe_now(p), cpu_ns, period;
	struct lane *lane = &p->follow_lane;
	struct track *track = p->config.track;
	bool is_turn = false;

	if (!track)
		return from;
	/* Ticks that were missed may have jumped over its turn: it is due from then on. */
	if (p->config.leads)
		is_turn = is_whole || p->tick >= lane->next_tick;
	if (!is_turn && track_generation(track) == p->joined_generation)
		return from;
	cpu_ns = probe_cpu_ns(p);
	if (is_turn) {
		is_whole ? track_scan_whole(track, from) : track_scan(track, from);
		/* Whoever is new is not to wait for the budget, too. */
		period = lane->period_ticks * (track_is_behind(track) ? 1 : lane->divisor);
		lane->next_tick = (p->tick / period + 1) * period;
		p->follow_pen.reads++;
		p->follow_turns++;
	}
	members_join(p);
	budget_foresee(p);
	p->follow_ns += probe_cpu_ns(p) - cpu_ns;
	return probe_now(p);
}
