/* Calls that fail on demand: the linker sends what galvo calls here (--wrap), which refuses or passes on. */
#ifndef GALVO_FAULTS_H
#define GALVO_FAULTS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum call {
	CALL_NONE, CALL_MEMORY, CALL_OPENAT, CALL_PREAD, CALL_READ, CALL_WRITE, CALL_CLOSE,
	CALL_EPOLL_CREATE, CALL_EPOLL_CTL, CALL_EPOLL_WAIT, CALL_PIDFD, CALL_FUTEX, CALL_GETTID,
	CALL_THREAD, CALL_CPU_CLOCK, CALL_CLOCK, CALL_PRCTL, CALL_PRIORITY, CALL_FSTATAT, CALL_READDIR,
	CALL_MKDIR, CALL_RENAMEAT, CALL_FTRUNCATE, CALL_FACCESSAT, CALL_MMAP, CALLS
};

static const char *const call_names[CALLS] = {
	"none", "memory", "openat", "pread", "read", "write", "close", "epoll_create1", "epoll_ctl",
	"epoll_wait", "pidfd_open", "futex", "gettid", "pthread_create", "process clocks",
	"CLOCK_MONOTONIC", "prctl", "setpriority", "fstatat", "readdir", "mkdir", "renameat",
	"ftruncate", "faccessat", "mmap",
};

enum fault_mode { FAULT_ONCE, FAULT_FROM, FAULT_ALWAYS, FAULT_EVERY_OTHER };

struct fault {
	_Atomic int call;       /* CALL_NONE: all is well */
	enum fault_mode mode;
	long at;                /* ONCE: the number of the one that fails, from 0; FROM: of the first */
	int sys_errno;
	_Atomic long count;     /* calls so far */
};
static struct fault fault;

static inline void fault_arm(enum call call, enum fault_mode mode, long at, int sys_errno)
{
	fault.mode = mode;
	fault.at = at;
	fault.sys_errno = sys_errno;
	atomic_store(&fault.count, 0);
	atomic_store(&fault.call, (int)call);
}

/* Returns how many calls there were. */
static inline long fault_disarm(void)
{
	atomic_store(&fault.call, CALL_NONE);
	return atomic_load(&fault.count);
}

static inline bool fault_hits(enum call call)
{
	long n;

	if (atomic_load(&fault.call) != (int)call)
		return false;
	n = atomic_fetch_add(&fault.count, 1);
	if ((fault.mode == FAULT_ONCE && n != fault.at) || (fault.mode == FAULT_FROM && n < fault.at) ||
	    (fault.mode == FAULT_EVERY_OTHER && n % 2 != 0))
		return false;
	errno = fault.sys_errno;
	return true;
}

/* WRAP(what it returns when refused, call, type, name, parameters, arguments) */
#define WRAP(refused, call, type, name, params, args)                                              \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return fault_hits(call) ? (refused) : __real_##name args;                          \
	}

WRAP(NULL, CALL_MEMORY, void *, malloc, (size_t n), (n))
WRAP(NULL, CALL_MEMORY, void *, calloc, (size_t n, size_t size), (n, size))
WRAP(NULL, CALL_MEMORY, void *, realloc, (void *p, size_t n), (p, n))
WRAP(NULL, CALL_MEMORY, char *, strdup, (const char *s), (s))
WRAP(NULL, CALL_MEMORY, char *, strndup, (const char *s, size_t n), (s, n))
WRAP(NULL, CALL_MEMORY, DIR *, fdopendir, (int fd), (fd))
WRAP(-1, CALL_PREAD, ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
WRAP(-1, CALL_READ, ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
WRAP(-1, CALL_WRITE, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
WRAP(-1, CALL_EPOLL_CREATE, int, epoll_create1, (int flags), (flags))
WRAP(-1, CALL_EPOLL_CTL, int, epoll_ctl, (int e, int op, int fd, struct epoll_event *event),
     (e, op, fd, event))
WRAP(-1, CALL_EPOLL_WAIT, int, epoll_wait, (int e, struct epoll_event *to, int n, int ms),
     (e, to, n, ms))
WRAP(EAGAIN, CALL_THREAD, int, pthread_create,
     (pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *ctx), (t, a, run, ctx))
WRAP(-1, CALL_PRIORITY, int, setpriority, (__priority_which_t which, id_t who, int nice),
     (which, who, nice))
WRAP(-1, CALL_FSTATAT, int, fstatat, (int fd, const char *path, struct stat *to, int flags),
     (fd, path, to, flags))
WRAP(NULL, CALL_READDIR, struct dirent *, readdir, (DIR *d), (d))
WRAP(-1, CALL_MKDIR, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(-1, CALL_RENAMEAT, int, renameat, (int a, const char *from, int b, const char *to),
     (a, from, b, to))
WRAP(-1, CALL_FTRUNCATE, int, ftruncate, (int fd, off_t n), (fd, n))
WRAP(-1, CALL_FACCESSAT, int, faccessat, (int fd, const char *path, int mode, int flags),
     (fd, path, mode, flags))
WRAP(MAP_FAILED, CALL_MMAP, void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at),
     (p, n, prot, flags, fd, at))

int __real_close(int fd);
int __wrap_close(int fd);
int __real_openat(int dir_fd, const char *path, int flags, ...);
int __wrap_openat(int dir_fd, const char *path, int flags, ...);
int __real_clock_gettime(clockid_t id, struct timespec *to);
int __wrap_clock_gettime(clockid_t id, struct timespec *to);
int __real_prctl(int what, ...);
int __wrap_prctl(int what, ...);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* It is closed all the same. */
int __wrap_close(int fd)
{
	int result = __real_close(fd);

	return fault_hits(CALL_CLOSE) ? -1 : result;
}

int __wrap_openat(int dir_fd, const char *path, int flags, ...)
{
	return fault_hits(CALL_OPENAT) ? -1 : __real_openat(dir_fd, path, flags, 0666);
}

/* Clocks of processes and threads have other numbers than those of the machine. */
int __wrap_clock_gettime(clockid_t id, struct timespec *to)
{
	if (id < 0 || id == CLOCK_THREAD_CPUTIME_ID ? fault_hits(CALL_CPU_CLOCK)
	                                            : fault_hits(CALL_CLOCK))
		return -1;
	return __real_clock_gettime(id, to);
}

int __wrap_prctl(int what, ...)
{
	unsigned long arg;
	va_list args;

	va_start(args, what);
	arg = va_arg(args, unsigned long);
	va_end(args);
	return fault_hits(CALL_PRCTL) ? -1 : __real_prctl(what, arg, 0, 0, 0);
}

/* Most have fewer than six: what stands behind those is handed on and not looked at. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	const enum call call = number == SYS_pidfd_open ? CALL_PIDFD
	                 : number == SYS_futex    ? CALL_FUTEX
	                 : number == SYS_gettid   ? CALL_GETTID
	                 : number == SYS_pread64  ? CALL_PREAD
	                                          : CALL_NONE;
	long a[6] = {0};
	va_list args;
	size_t i;

	va_start(args, number);
	for (i = 0; i < sizeof(a) / sizeof(a[0]); i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (call != CALL_NONE && fault_hits(call))
		return -1;
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
