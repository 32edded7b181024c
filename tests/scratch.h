/* What tests of whole suites share: paths in a scratch directory, and a child that only waits. */
#ifndef GALVO_SCRATCH_H
#define GALVO_SCRATCH_H

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* dir/name; good until the fourth call from now. */
static inline const char *scratch_path(const char *dir, const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", dir, name);
	return to;
}

/* A child that does nothing until it is let go. */
static inline pid_t a_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static inline void let_go(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
