/* Signals while a recording is made ready: opening a driver may hang, and then they end galvo at once. */
#include <signal.h>
#include <stddef.h>

#include "record.h"

enum { SIGNALS = 4 };
static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Dies of it, as whoever sent it expects; the command that waits is called off by that. */
static void *watch(void *arg)
{
	sigset_t set;
	int number = 0, i;

	(void)arg;
	sigemptyset(&set);
	for (i = 0; i < SIGNALS; i++)
		if (!is_ignored(numbers[i]))
			sigaddset(&set, numbers[i]);
	sigaddset(&set, SIGRTMIN);
	if (sigwait(&set, &number) != 0 || number == SIGRTMIN)
		return NULL;
	complain("ended by a signal before anything was recorded");
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return NULL;
}

void watch_begin(struct watch *w)
{
	sigset_t end, before;

	sigemptyset(&end);
	sigaddset(&end, SIGRTMIN); /* ours to the thread; cancelling one needs a library, and descriptors */
	pthread_sigmask(SIG_BLOCK, &end, &before);
	w->is_there = pthread_create(&w->thread, NULL, watch, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watch_end(struct watch *w)
{
	if (!w->is_there)
		return;
	w->is_there = false;
	pthread_kill(w->thread, SIGRTMIN);
	pthread_join(w->thread, NULL);
}
