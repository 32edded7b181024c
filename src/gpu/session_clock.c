/* How far the GPU's clock is from ours, and what to do when the wall clock is set. */
#include "session.h"

enum { TRIES = 3, GOOD_WIDTH_NS = 20000 };

struct bracket { /* the GPU's clock, and ours before and behind it */
	uint64_t before_ns, gpu_ns, after_ns;
};

/* The narrowest of a few: who was interrupted in between looks once more. */
static bool take_bracket(struct pm_session *s, struct bracket *ret)
{
	bool is_there = false;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct bracket b = {.before_ns = pm_now(s)};

		if (s->cupti->get_timestamp(&b.gpu_ns) != CUPTI_OK)
			return false;
		b.after_ns = pm_now(s);
		if (!is_there || b.after_ns - b.before_ns < ret->after_ns - ret->before_ns)
			*ret = b;
		is_there = true;
		if (ret->after_ns - ret->before_ns <= GOOD_WIDTH_NS)
			break;
	}
	return true;
}

/* Moves the offset no further than the bracket proves it wrong: a wide one tells little. */
static int64_t follow(int64_t offset, const struct bracket *b)
{
	int64_t low = (int64_t)(b->gpu_ns - b->after_ns), high = (int64_t)(b->gpu_ns - b->before_ns);

	return offset < low ? low : offset > high ? high : offset;
}

/* Were they converted before the clock was set? Then they go on where the last sample ended. */
static bool are_older(const struct pm_session *s, const struct moment *moments, size_t n,
                      int64_t moved)
{
	size_t i;

	for (i = 0; i < n && !moments[i].start_gpu_ns; i++)
		;
	return i < n && s->covered_gpu_ns &&
	       distance_of(moments[i].start_gpu_ns, s->covered_gpu_ns) <
		       distance_of(moments[i].start_gpu_ns,
	                           s->covered_gpu_ns + (uint64_t)moved);
}

int64_t pm_anchor(struct pm_session *s, const struct moment *moments, size_t n,
                       uint64_t *ret_mono_ns)
{
	struct bracket b;
	uint64_t mono_ns = pm_now(s);
	int64_t offset, moved;

	if (ret_mono_ns)
		*ret_mono_ns = mono_ns;
	if (!take_bracket(s, &b))
		return s->offset_ns;
	if (!s->has_offset) {
		s->has_offset = true;
		s->offset_ns = (int64_t)(b.gpu_ns - b.before_ns - (b.after_ns - b.before_ns) / 2);
		s->anchored_mono_ns = b.after_ns;
	}
	offset = follow(s->offset_ns, &b);
	moved = offset - s->offset_ns;
	/* The kernel slews by no more than 1 in 2000. */
	if (offset_distance(moved, 0) >
	    CLOCK_STEP_NS + (b.after_ns - s->anchored_mono_ns) / 2000) {
		if (are_older(s, moments, n, moved))
			return s->offset_ns; /* the next reading finds that it was set */
		count_up(&s->counts->clock_steps, 1);
		s->is_stepped = true;
		if (s->covered_gpu_ns)
			s->covered_gpu_ns += (uint64_t)moved;
	}
	s->offset_ns = offset;
	s->anchored_mono_ns = b.after_ns;
	return offset;
}
