/*
 * A thread that does one thing at a time for somebody who never waits for it, and who may have to leave
 * it behind: what both of them use is let go of by the last one.
 */
#ifndef GALVO_PROBE_WORKER_H
#define GALVO_PROBE_WORKER_H

#include "base/base.h"

/* The first member of what it works on. Zeroes, and the three functions, to begin with. */
struct worker {
	void (*work)(struct worker *);    /* on its thread, each time that it is asked */
	void (*end)(struct worker *);     /* on its thread, at its end */
	void (*release)(struct worker *); /* frees it; on either thread */
	char name[16];
	pthread_t thread;
	bool is_running;            /* the owner's, and all above */
	_Atomic uint32_t asked, done, gone, stop;
	_Atomic uint32_t holders;
	_Atomic uint64_t cpu_ns;    /* of its thread, up to when it was done last */
};

/* Starts its thread. If that fails it has only its owner. Fails with errno. */
int worker_start(struct worker *);
/* It has finished what it was asked, and what it wrote may be read. Running workers only. */
static inline bool worker_is_idle(const struct worker *w)
{
	return atomic_load_explicit(&w->done, memory_order_acquire) != 0;
}
void worker_ask(struct worker *); /* of one that is idle */
bool worker_await(struct worker *, uint64_t until_mono_ns); /* is it idle by then? Of clock_real */
void worker_signal_stop(struct worker *);
/* False: it is busy still, and left behind. */
bool worker_join(struct worker *, uint64_t until_mono_ns);
void worker_let_go(struct worker *); /* by its owner: joined, left behind, or never started */

#endif
