/* What members of a family do, and how they tell what they used doing it. */
#ifndef FAMILY_H
#define FAMILY_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS_MAX = 4096, MS = 1000000, BLOCK = 1 << 16 };

/* Who learns of its end. */
enum fate {
	WAITED,   /* its parent, which adds its use to its own */
	ADOPTED,  /* whoever adopts orphans */
	LOST,     /* nobody */
	STRANGER, /* it is none of the family */
};

struct record {
	uint32_t pid, fate;
	uint64_t start_mono_ns, end_mono_ns; /* end 0: it was killed */
	uint64_t own_cpu_ns, cpu_ns;         /* the second with children that it waited for, as all below */
	uint64_t rchar, wchar, read_bytes, write_bytes, cancelled;
};

struct truth {
	_Atomic uint64_t len;
	_Atomic uint64_t at; /* for scenarios: how far they are */
	struct record record[RECORDS_MAX];
};

static struct truth *truth;
static struct record *mine;
static const char *truth_path, *program;

static inline void fail(const char *what)
{
	fprintf(stderr, "family: %s: %s\n", what, strerror(errno));
	_exit(3);
}

/* ---- measuring ----------------------------------------------------------------------------------- */

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline uint64_t usage_ns(int who)
{
	struct rusage use;

	getrusage(who, &use);
	return (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000000U +
	       (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
}

static inline uint64_t number_at(const char *text)
{
	uint64_t n = 0;

	while (*text >= '0' && *text <= '9')
		n = n * 10 + (uint64_t)(*text++ - '0');
	return n;
}

static inline uint64_t value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? number_at(at + strlen(key)) : 0;
}

static inline void measure_io(struct record *r)
{
	char text[512];
	int file = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(file, text, sizeof(text) - 1);

	if (n <= 0)
		fail("/proc/self/io");
	close(file);
	text[n] = '\0';
	r->rchar = value_of(text, "rchar: ") + (uint64_t)n; /* what we just read comes on top */
	r->wchar = value_of(text, "wchar: ");
	r->read_bytes = value_of(text, "\nread_bytes: ");
	r->write_bytes = value_of(text, "\nwrite_bytes: ");
	r->cancelled = value_of(text, "cancelled_write_bytes: ");
}

/* ---- coming and going ---------------------------------------------------------------------------- */

static inline void enter(enum fate fate)
{
	uint64_t i = atomic_fetch_add(&truth->len, 1);

	if (i >= RECORDS_MAX)
		fail("too many");
	mine = &truth->record[i];
	mine->pid = (uint32_t)getpid();
	mine->fate = fate;
	mine->start_mono_ns = clock_ns(CLOCK_MONOTONIC);
}

static inline void leave(void)
{
	measure_io(mine);
	mine->own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	mine->cpu_ns = mine->own_cpu_ns + usage_ns(RUSAGE_CHILDREN);
	mine->end_mono_ns = clock_ns(CLOCK_MONOTONIC);
	_exit(0);
}

typedef void deed(int);

static inline pid_t child(enum fate fate, deed *what, int arg)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	enter(fate);
	what(arg);
	leave();
	return 0;
}

static inline void await(pid_t pid)
{
	if (waitpid(pid, NULL, 0) != pid)
		fail("waitpid");
}

static inline void await_all(void)
{
	while (wait(NULL) > 0)
		;
}

/* Our parent adopts them, and has no other children but us in the end. */
static inline void await_orphans(void)
{
	char path[64], text[64];
	int file;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getppid(), getppid());
	do {
		usleep(2000);
		file = open(path, O_RDONLY | O_CLOEXEC);
		n = read(file, text, sizeof(text) - 1);
		close(file);
		text[n > 0 ? n : 0] = '\0';
	} while (n > 0 && strchr(text, ' ') != strrchr(text, ' '));
}

/* ---- deeds --------------------------------------------------------------------------------------- */

static inline void rest(int ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * MS};

	while (nanosleep(&t, &t) != 0)
		;
}

static inline void burn(int ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * MS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static inline void put(size_t bytes)
{
	static const char block[BLOCK];
	char name[32];
	int file;

	snprintf(name, sizeof(name), "file-%d", gettid());
	file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	for (; bytes; bytes -= bytes < BLOCK ? bytes : BLOCK)
		if (write(file, block, bytes < BLOCK ? bytes : BLOCK) < 0)
			fail(name);
	close(file);
}

static inline void get(size_t bytes)
{
	char block[BLOCK];
	int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (; bytes; bytes -= bytes < BLOCK ? bytes : BLOCK)
		if (read(file, block, bytes < BLOCK ? bytes : BLOCK) < 0)
			fail("/dev/zero");
	close(file);
}

static inline void work(int i)
{
	burn(i % 21);
	put((size_t)(i % 7) * 5000);
	get((size_t)(i % 11) * 777);
}

static inline void run_true(int i)
{
	burn(i % 3);
	mine->end_mono_ns = clock_ns(CLOCK_MONOTONIC); /* as far as we go */
	execl("/bin/true", "true", (char *)NULL);
	fail("/bin/true");
}

static inline void nap(int i)
{
	burn(1 + i % 4);
	rest(1500);
	burn(1);
}

/* Again and again, until somebody has enough of it. */
static inline void toil(int i)
{
	for (;;)
		work(++i);
}

#endif
