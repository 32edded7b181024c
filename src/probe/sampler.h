/* What every sampler does: it keeps absolute deadlines, on a thread that is on time. */
#ifndef GALVO_PROBE_SAMPLER_H
#define GALVO_PROBE_SAMPLER_H

#include "base/base.h"

struct ticker {
	const struct clock *clock;
	uint64_t period_ns, deadline_mono_ns; /* the next one */
	bool is_begun;
};

/* Waits for the deadline. Those that have passed are skipped; *ret_late says how many. False: stop. */
bool ticker_wait(struct ticker *, _Atomic uint32_t *stop, uint64_t *ret_late);
/* Of the calling thread: its name, sharp timers, the first priority that it may have. */
void sampler_settle(const char *name);

#endif
