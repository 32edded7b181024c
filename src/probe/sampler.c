/* Deadlines of a sampler, and the manners of its thread. */
#include "sampler.h"

#include <sys/prctl.h>

bool ticker_wait(struct ticker *t, _Atomic uint32_t *stop, uint64_t *ret_late)
{
	uint64_t now = t->clock->mono_ns(t->clock), late = 0;

	if (t->is_begun) {
		t->deadline_mono_ns += t->period_ns;
		if (now >= t->deadline_mono_ns)
			late = (now - t->deadline_mono_ns) / t->period_ns + 1;
		t->deadline_mono_ns += late * t->period_ns;
	}
	t->is_begun = true;
	*ret_late = late;
	t->clock->sleep_until(t->clock, t->deadline_mono_ns, stop);
	return !atomic_load_explicit(stop, memory_order_acquire);
}

void sampler_settle(const char *name)
{
	/* By itself: naming another thread opens a file for a moment, as low as it gets, and inherited. */
	pthread_setname_np(pthread_self(), name);
	prctl(PR_SET_TIMERSLACK, 1);
	thread_hurry();
}
