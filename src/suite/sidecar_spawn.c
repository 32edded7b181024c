/* The program galvo-sidecar: where it is, and how it begins without anything of the caller's. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sidecar.h"

enum {
	STACK_BYTES = 64 << 10,
	MAPS_BYTES_MAX = 64 << 20,
	SIGNALS = 64,
	MASK_BYTES = SIGNALS / 8,
	SETTINGS_MAX = 64,
};

/* ---- where it is ----------------------------------------------------------------------------------- */

static bool take_hex(struct span *s, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t v = 0;
	const char *digit;
	size_t i;

	for (i = 0; i < s->n && s->p[i] && (digit = strchr(digits, s->p[i])); i++)
		v = v << 4 | (uint64_t)(digit - digits);
	*s = span_of(s->p + i, s->n - i);
	*ret = v;
	return i > 0;
}

/*
 * "55d0-55d8 r-xp 0 08:01 1234   /usr/lib/libgalvo.so.0.1.0": the path, if the address is in there. The
 * loader's own answer may be relative to a directory in which the program was once.
 */
static bool is_of(struct span line, uint64_t address, struct span *ret_path)
{
	uint64_t from, to;
	struct span word;
	size_t i;

	if (!take_hex(&line, &from) || !span_starts(line, "-"))
		return false;
	line = span_of(line.p + 1, line.n - 1);
	if (!take_hex(&line, &to) || address < from || address >= to)
		return false;
	for (i = 0; i < 4; i++)
		if (!span_take_word(&line, &word))
			return false;
	*ret_path = span_trim(line);
	return span_starts(*ret_path, "/");
}

/* The directory of the file that this code was loaded from, with its last slash; empty: who knows. */
static galvo_status find_own_directory(int root_fd, char to[PATH_MAX], galvo_error *reterr)
{
	const uint64_t here = (uint64_t)(uintptr_t)&find_own_directory;
	struct span text, line, path = {0};
	struct buf buf;
	bool found = false;
	galvo_status status;

	to[0] = '\0';
	buf_init(&buf, MAPS_BYTES_MAX);
	status = file_read(root_fd, "proc/self/maps", &buf, &text, reterr);
	if (status == GALVO_OK)
		while (!found && span_take_line(&text, &line))
			found = is_of(line, here, &path);
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	if (found && path.n < PATH_MAX) {
		memcpy(to, path.p, path.n);
		to[path.n] = '\0';
	}
	buf_finish(&buf);
	return status == GALVO_ERR_NOMEM ? status : GALVO_OK;
}

static bool is_program(const char *path)
{
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Beside the library, where it is installed as the library is, or where the build said. */
static galvo_status find_program(int root_fd, char to[PATH_MAX], galvo_error *reterr)
{
	static const char *const from_library[] = {"", GALVO_LIBEXEC_FROM_LIB "/"};
	const char *named = world_setting("GALVO_SIDECAR");
	char own[PATH_MAX];
	galvo_status status;
	size_t i;

	if (named && named[0] && (size_t)snprintf(to, PATH_MAX, "%s", named) < PATH_MAX)
		return GALVO_OK;
	status = find_own_directory(root_fd, own, reterr);
	if (status != GALVO_OK)
		return status;
	for (i = 0; own[0] && i < ARRAY_LEN(from_library); i++)
		if ((size_t)snprintf(to, PATH_MAX, "%s%s" SIDECAR_PROGRAM, own, from_library[i]) < PATH_MAX &&
		    is_program(to))
			return GALVO_OK;
	snprintf(to, PATH_MAX, "%s", GALVO_LIBEXEC "/" SIDECAR_PROGRAM);
	if (is_program(to))
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_ABSENT, "sidecar: there is no " SIDECAR_PROGRAM
	               " in %.100s or " GALVO_LIBEXEC ": name it (sidecar_path)", own);
}

/* ---- how it begins --------------------------------------------------------------------------------- */

/*
 * Both processes on the way to it use our memory, on stacks of their own, while our thread is held. What
 * they call is the kernel, directly: libc and sanitizers would take it for ours.
 */
struct spawn {
	const char *path;
	char name[sizeof(SIDECAR_PROGRAM)];
	char *argv[2], *envp[SETTINGS_MAX + 1]; /* the lists end with NULL */
	int fd, null_fd;
	char *stacks; /* two of STACK_BYTES */
	unsigned long nothing[MASK_BYTES]; /* the default action, the empty mask */
	int failed; /* errno */
	long pid;
};

#define UNWATCHED __attribute__((no_sanitize("thread"))) /* calls that never return would be ours */

/* By its other name, as the thread sanitizer takes the first one for a fork, and us for the child. */
#ifdef __GLIBC__
int __clone(int (*run)(void *), void *stack, int how, void *arg, ...);
#else
#define __clone clone
#endif

UNWATCHED static int clone_beside(int (*run)(void *), char *stack, int how, void *arg)
{
	return __clone(run, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | how, arg);
}

/* In the process that becomes the program. */
UNWATCHED static int become_program(void *arg)
{
	struct spawn *s = arg;
	int i;

	for (i = 1; i <= SIGNALS; i++)
		syscall(SYS_rt_sigaction, i, s->nothing, NULL, MASK_BYTES);
	for (i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		syscall(SYS_dup3, s->null_fd, i, 0);
	if (s->fd != SIDECAR_FD)
		syscall(SYS_dup3, s->fd, SIDECAR_FD, 0);
	else
		syscall(SYS_fcntl, s->fd, F_SETFD, 0);
#ifdef SYS_close_range
	syscall(SYS_close_range, SIDECAR_FD + 1, ~0U, 0); /* Linux 5.9; before, the program does it */
#endif
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, s->nothing, NULL, MASK_BYTES);
	syscall(SYS_execve, s->path, s->argv, s->envp);
	s->failed = errno;
	syscall(SYS_exit_group, 1);
	return 1;
}

/*
 * In the process between: it makes the session, and by its end an orphan of the program. That end sends
 * no signal, nor does wait(2) tell of it, for want of a signal to be sent.
 */
UNWATCHED static int make_orphan(void *arg)
{
	struct spawn *s = arg;

	syscall(SYS_setsid);
	s->pid = clone_beside(become_program, s->stacks + STACK_BYTES, SIGCHLD, s);
	if (s->pid < 0)
		s->failed = errno;
	syscall(SYS_exit_group, 0);
	return 0;
}

static void spawn(struct spawn *s)
{
	sigset_t all, before;
	int pid;

	s->stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s->stacks == MAP_FAILED) {
		s->failed = errno;
		return;
	}
	/* No handler of the program's may run in either of them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_beside(make_orphan, s->stacks, 0, s);
	if (pid < 0)
		s->failed = errno;
	else
		while (waitpid(pid, NULL, (int)__WCLONE) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	munmap(s->stacks, 2 * STACK_BYTES);
}

/*
 * Of the environment it gets what its loader may need, and what decides which GPUs there are and where
 * their libraries are found; nothing of that in a program with privileges that its user has not.
 */
static void take_settings(char *to[SETTINGS_MAX + 1])
{
	static const char *const starts[] = {"LD_LIBRARY_PATH=", "CUDA_", "NVIDIA_", "GALVO_", "HOME=",
	                                     "CONDA_PREFIX=", "VIRTUAL_ENV="};
	char **at;
	size_t i, n = 0;

	for (at = getauxval(AT_SECURE) ? NULL : environ; at && *at && n < SETTINGS_MAX; at++)
		for (i = 0; i < ARRAY_LEN(starts); i++)
			if (span_starts(span_str(*at), starts[i])) {
				to[n++] = *at;
				break;
			}
	to[n] = NULL;
}

galvo_status sidecar_spawn(const char *path, int fd, pid_t *ret_pid, galvo_error *reterr)
{
	struct spawn s = {.path = path, .name = SIDECAR_PROGRAM, .fd = fd, .null_fd = -1};
	char found[PATH_MAX];
	struct world here;
	galvo_status status = world_open(&here, NULL, reterr);

	if (status != GALVO_OK)
		return status;
	if (!path) {
		s.path = found;
		status = find_program(here.root_fd, found, reterr);
	}
	if (status == GALVO_OK) {
		s.null_fd = file_open(here.root_fd, "dev/null", O_RDWR);
		if (s.null_fd < 0)
			status = err_sys(reterr, errno, "dev/null");
	}
	world_close(&here);
	if (status != GALVO_OK)
		return status;
	s.argv[0] = s.name;
	take_settings(s.envp);
	spawn(&s);
	close(s.null_fd);
	if (s.failed)
		return err_sys(reterr, s.failed, "sidecar: %s", s.path);
	*ret_pid = (pid_t)s.pid;
	return GALVO_OK;
}
