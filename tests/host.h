/* A program that uses galvo, as galvo finds it: a text of all that is the program's own, to compare. */
#ifndef GALVO_HOST_H
#define GALVO_HOST_H

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "tap.h"

enum { HOST_TEXT = 1 << 17, HOST_NUMBERS = 4096 };

/* A line a fact. */
struct host {
	char text[HOST_TEXT];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static inline void host_say(struct host *h, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(h->text + h->len, sizeof(h->text) - h->len, fmt, args);
	va_end(args);
	if (n > 0 && h->len + (size_t)n < sizeof(h->text))
		h->len += (size_t)n;
}

static inline void host_say_signals(struct host *h)
{
	struct sigaction act;
	stack_t stack;
	int i, k;

	for (i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &act) != 0)
			continue;
		host_say(h, "signal %d: handler %lx, flags %x, blocks", i,
		         (unsigned long)act.sa_handler, (unsigned)act.sa_flags);
		for (k = 1; k < NSIG; k++)
			if (sigismember(&act.sa_mask, k) > 0)
				host_say(h, " %d", k);
		host_say(h, "\n");
	}
	sigaltstack(NULL, &stack);
	host_say(h, "signal stack: %p %zu %d\n", stack.ss_sp, stack.ss_size, stack.ss_flags);
}

/* Of the calling thread, as the kernel has it. */
static inline void host_say_status(struct host *h)
{
	static const char *const kept[] = {"Name:", "Umask:", "SigBlk:", "SigIgn:", "SigCgt:", "CapEff:",
		"NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Uid:", "Gid:"};
	char text[8192], *line, *next;
	int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	size_t i;

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (!strncmp(line, kept[i], strlen(kept[i])))
				host_say(h, "status %s\n", line);
	}
}

static inline void host_say_limits(struct host *h)
{
	struct itimerval timer;
	struct rlimit limit;
	int i;

	for (i = 0; i < (int)RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			host_say(h, "limit %d: %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			         (unsigned long long)limit.rlim_max);
	for (i = ITIMER_REAL; i <= ITIMER_PROF; i++)
		if (getitimer((__itimer_which_t)i, &timer) == 0)
			host_say(h, "timer %d: every %ld us\n", i,
			         (long)timer.it_interval.tv_sec * 1000000 + timer.it_interval.tv_usec);
	host_say(h, "nice %d, timer slack %d\n", getpriority(PRIO_PROCESS, 0), prctl(PR_GET_TIMERSLACK));
	host_say(h, "scheduler %d, dumpable %d, rounding %d\n", sched_getscheduler(0),
	         prctl(PR_GET_DUMPABLE), fegetround());
	i = -1;
	prctl(PR_GET_CHILD_SUBREAPER, &i);
	host_say(h, "adopts orphans: %d\n", i);
	i = -1;
	prctl(PR_GET_PDEATHSIG, &i);
	host_say(h, "dies with its parent: %d\n", i);
}

static inline void host_say_files(struct host *h)
{
	char cwd[4096] = "";
	struct stat st;
	int i;

	host_say(h, "directory %s\n", getcwd(cwd, sizeof(cwd)));
	for (i = 0; i <= STDERR_FILENO; i++)
		if (fstat(i, &st) == 0)
			host_say(h, "stream %d: %lu %lu, %lld bytes, at %lld, flags %x\n", i,
			         (unsigned long)st.st_dev, (unsigned long)st.st_ino, (long long)st.st_size,
			         (long long)lseek(i, 0, SEEK_CUR), (unsigned)fcntl(i, F_GETFL));
		else
			host_say(h, "stream %d: closed\n", i);
}

static inline void host_look(struct host *h)
{
	size_t i;

	h->len = 0;
	host_say_signals(h);
	host_say_status(h);
	host_say_limits(h);
	host_say_files(h);
	host_say(h, "locale %s, environment %p\n", setlocale(LC_ALL, NULL), (void *)environ);
	for (i = 0; environ[i]; i++)
		host_say(h, "%p %s\n", (void *)environ[i], environ[i]);
}

/* Tells the first line that differs. */
static inline int host_is_same(const struct host *was, const struct host *is, const char *when)
{
	size_t line = 0, i;

	if (was->len == is->len && !memcmp(was->text, is->text, was->len))
		return 1;
	for (i = 0; i < was->len && i < is->len && was->text[i] == is->text[i]; i++)
		if (was->text[i] == '\n')
			line = i + 1;
	printf("# %s: was %.*s\n# now %.*s\n", when, (int)strcspn(was->text + line, "\n"),
	       was->text + line, (int)strcspn(is->text + line, "\n"), is->text + line);
	return 0;
}

/* The names in a directory of numbers: open descriptors, threads. */
struct host_numbers {
	int at[HOST_NUMBERS];
	size_t len;
};

static inline void host_list(const char *dir, struct host_numbers *ret)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int own = d && strstr(dir, "fd") ? dirfd(d) : -1;

	ret->len = 0;
	while (d && ret->len < HOST_NUMBERS && (entry = readdir(d))) {
		uint64_t number;

		if (span_to_u64(span_str(entry->d_name), &number) && (int)number != own)
			ret->at[ret->len++] = (int)number;
	}
	if (d)
		closedir(d);
}

static inline int host_has(const struct host_numbers *all, int number)
{
	size_t i;

	for (i = 0; i < all->len; i++)
		if (all->at[i] == number)
			return 1;
	return 0;
}

/* How many of `now` were not there `before`. */
static inline size_t host_count_new(const struct host_numbers *before, const struct host_numbers *now)
{
	size_t i, n = 0;

	for (i = 0; i < now->len; i++)
		n += !host_has(before, now->at[i]);
	return n;
}

/* A locale whose numbers have commas: one that is there, or one made for the purpose. */
static inline void host_take_locale(const char *scratch)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
	char path[512];
	pid_t pid;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (setlocale(LC_ALL, names[i]))
			return;
	snprintf(path, sizeof(path), "%s/%s", scratch, names[0]);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("localedef", "localedef", "-i", "de_DE", "-f", "UTF-8", path,
		       (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	setenv("LOCPATH", scratch, 1);
	if (!setlocale(LC_ALL, names[0])) {
		printf("# no locale with a comma, and none could be made\n");
		setlocale(LC_ALL, "C.UTF-8");
	}
}

/* A directory of the test's with all that is in it. */
static inline void host_remove(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[512];

	while (d && (entry = readdir(d))) {
		int n = snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && n > 0 &&
		    (size_t)n < sizeof(path) && unlink(path) != 0)
			host_remove(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

#endif
