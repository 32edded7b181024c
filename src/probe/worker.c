/* A thread that does one thing at a time, and may be left behind. */
#include "worker.h"

static void let_go(struct worker *w)
{
	if (atomic_fetch_sub(&w->holders, 1) == 1)
		w->release(w);
}

static void *run(void *arg)
{
	struct worker *w = arg;

	pthread_setname_np(pthread_self(), w->name);
	for (;;) {
		clock_real.sleep_until(&clock_real, UINT64_MAX, &w->asked);
		atomic_store(&w->asked, 0);
		if (atomic_load(&w->stop))
			break;
		w->work(w);
		atomic_store(&w->cpu_ns, thread_cpu_ns());
		clock_wake(&w->done);
	}
	w->end(w);
	clock_wake(&w->gone);
	let_go(w);
	return NULL;
}

int worker_start(struct worker *w)
{
	int failed;

	atomic_store(&w->holders, 2);
	atomic_store(&w->done, 1);
	failed = thread_start(&w->thread, run, w);
	if (failed)
		atomic_store(&w->holders, 1);
	w->is_running = failed == 0;
	return failed;
}

void worker_ask(struct worker *w)
{
	atomic_store(&w->done, 0);
	clock_wake(&w->asked);
}

bool worker_await(struct worker *w, uint64_t until_mono_ns)
{
	if (!w->is_running)
		return true;
	clock_real.sleep_until(&clock_real, until_mono_ns, &w->done);
	return worker_is_idle(w);
}

void worker_signal_stop(struct worker *w)
{
	atomic_store(&w->stop, 1);
	clock_wake(&w->asked);
}

bool worker_join(struct worker *w, uint64_t until_mono_ns)
{
	if (!w->is_running)
		return true;
	w->is_running = false;
	clock_real.sleep_until(&clock_real, until_mono_ns, &w->gone);
	if (!atomic_load_explicit(&w->gone, memory_order_acquire)) {
		thread_leave(w->thread);
		return false;
	}
	pthread_join(w->thread, NULL);
	return true;
}

void worker_let_go(struct worker *w)
{
	if (atomic_load(&w->holders) == 0)
		w->release(w); /* it never had a thread */
	else
		let_go(w);
}
