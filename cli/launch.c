/* Starting the workload: forked before there are threads, held back until sampling runs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* 0: it is a program we may run; else why not. */
static int try_program(const char *path)
{
	struct stat facts;

	if (stat(path, &facts) != 0)
		return errno;
	if (S_ISDIR(facts.st_mode))
		return EISDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* As execvp(3) looks: a name with a slash is a path, any other is sought along PATH. */
static int find_program(const char *program)
{
	const char *path = getenv("PATH"), *end;
	int why = ENOENT;

	if (strchr(program, '/'))
		return try_program(program);
	if (!path)
		path = "/bin:/usr/bin";
	for (; program[0]; path = end + 1) {
		char at[4096];
		int failed;

		end = strchrnul(path, ':');
		if ((size_t)snprintf(at, sizeof(at), "%.*s%s%s", (int)(end - path), path,
		                     end > path ? "/" : "", program) < sizeof(at)) {
			failed = try_program(at);
			if (failed == 0)
				return 0;
			/* That a directory is closed to us does not say that it has the program. */
			if (failed == EACCES && faccessat(AT_FDCWD, at, F_OK, AT_EACCESS) == 0)
				why = failed;
		}
		if (!*end)
			break;
	}
	return why;
}

static int exit_code_of(int failed)
{
	return failed == ENOENT || failed == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

int launch_check(const char *program)
{
	int failed = find_program(program);

	if (failed == 0)
		return 0;
	complain("cannot run '%s': %s", program,
	         failed == ENOENT && !strchr(program, '/') ? "command not found" : strerror(failed));
	return exit_code_of(failed);
}

/* In the child. Only calls that are safe after fork. */
static void wait_and_exec(char **argv, const sigset_t *mask, bool ignores_children, int go_fd,
                          int error_fd)
{
	char go;
	ssize_t got;
	int failed;

	do
		got = read(go_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(EXIT_NOT_RUN); /* called off, or the recorder is gone */
	if (ignores_children)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	failed = errno;
	got = write(error_fd, &failed, sizeof(failed));
	(void)got;
	_exit(exit_code_of(failed));
}

bool launch_fork(char **argv, const void *signal_mask, bool ignores_children, struct launch *ret)
{
	int go[2], error[2], failed;

	if (pipe2(go, O_CLOEXEC) != 0)
		return false;
	if (pipe2(error, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return false;
	}
	ret->pid = fork();
	if (ret->pid == 0) {
		close(go[1]);
		close(error[0]);
		wait_and_exec(argv, signal_mask, ignores_children, go[0], error[1]);
	}
	failed = errno;
	close(go[0]);
	close(error[1]);
	ret->go_fd = go[1];
	ret->error_fd = error[0];
	if (ret->pid > 0)
		return true;
	close(go[1]);
	close(error[0]);
	errno = failed;
	return false;
}

int launch_go(struct launch *l)
{
	ssize_t put, got;
	int failed = 0;

	do
		put = write(l->go_fd, "", 1);
	while (put < 0 && errno == EINTR);
	close(l->go_fd);
	do
		got = read(l->error_fd, &failed, sizeof(failed)); /* ends when exec closes it */
	while (got < 0 && errno == EINTR);
	close(l->error_fd);
	return got == (ssize_t)sizeof(failed) ? failed : 0;
}

void launch_cancel(struct launch *l)
{
	close(l->go_fd);
	close(l->error_fd);
	waitpid(l->pid, NULL, 0);
}
