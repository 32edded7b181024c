/* Threads in a program that is not ours: started, and left behind if they do not come back. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

enum { NICE = -10 };

/* A fault that is blocked kills the program without a word: its handler, if it has one, is to see it. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};

int thread_start(pthread_t *ret, void *(*body)(void *), void *arg)
{
	sigset_t others, before;
	size_t i;
	int failed;

	sigfillset(&others);
	for (i = 0; i < ARRAY_LEN(faults); i++)
		sigdelset(&others, faults[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before); /* the thread inherits it */
	failed = pthread_create(ret, NULL, body, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

void thread_hurry(void)
{
	/* If it is allowed. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
}

uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void thread_leave(pthread_t thread)
{
	pthread_detach(thread);
	dso_stay();
}
