/* Sleeping processes, which die with their parent at the latest. */
#include "children.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10 };

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* In the child: says that it is complete by closing its end of the pipe. */
static void live(size_t threads, pid_t parent, int ready_fd)
{
	pthread_attr_t attr;
	pthread_t thread;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 1; i < threads; i++)
		if (pthread_create(&thread, &attr, sleep_for_ever, NULL) != 0)
			_exit(1);
	close(ready_fd);
	sleep_for_ever(NULL);
}

bool children_start(struct children *c, size_t n, size_t threads)
{
	pid_t parent = getpid();
	bool is_complete;
	int ready[2];
	char nothing;

	c->len = 0;
	c->pids = calloc(n ? n : 1, sizeof(*c->pids));
	if (!c->pids || pipe(ready) != 0)
		return false;
	while (c->len < n) {
		pid_t pid = fork();

		if (pid == 0) {
			close(ready[0]);
			live(threads, parent, ready[1]);
		}
		if (pid < 0)
			break;
		c->pids[c->len++] = pid;
	}
	close(ready[1]);
	is_complete = c->len == n && read(ready[0], &nothing, 1) == 0;
	close(ready[0]);
	if (is_complete)
		return true;
	children_stop(c);
	return false;
}

void children_stop(struct children *c)
{
	size_t i;

	for (i = 0; i < c->len; i++)
		kill(c->pids[i], SIGKILL);
	for (i = 0; i < c->len; i++)
		waitpid(c->pids[i], NULL, 0);
	free(c->pids);
	*c = (struct children){0};
}
