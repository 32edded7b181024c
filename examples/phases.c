/*
 * A workload that is worth a recording: about five seconds of CPU, memory, disk and short-lived children.
 *
 * usage: galvo-demo-workload [DIRECTORY-FOR-THE-FILE]
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, BLOCK_BYTES = 200 * MIB, FILE_MIB = 100, CHILDREN = 40 };

static void phase(const char *what)
{
	printf("phase: %s\n", what);
	fflush(stdout);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void rest(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Computes for that long; the result is of no use, but the compiler must not know. */
static void compute(double seconds)
{
	volatile uint64_t sink;
	uint64_t x = (uint64_t)getpid() | 1;
	double end_s = now_s() + seconds;
	int i;

	do {
		for (i = 0; i < 100000; i++)
			x = x * UINT64_C(6364136223846793005) + 1;
		sink = x;
	} while (now_s() < end_s);
	(void)sink;
}

static pid_t start(void (*work)(double), double seconds)
{
	pid_t pid = fork();

	if (pid == 0) {
		work(seconds);
		_exit(0);
	}
	return pid;
}

static int compute_in_two_children(void)
{
	pid_t first = start(compute, 2.0), second = start(compute, 2.0);

	return (first > 0 && waitpid(first, NULL, 0) == first) +
	       (second > 0 && waitpid(second, NULL, 0) == second) == 2;
}

/* Touches page after page of a block, ten times a little more, and gives it back. */
static int grow(void)
{
	char *block = malloc(BLOCK_BYTES);
	size_t step = BLOCK_BYTES / 10, i;

	if (!block)
		return 0;
	for (i = 0; i < 10; i++) {
		memset(block + i * step, (int)i + 1, step);
		rest(90);
	}
	rest(400);
	free(block);
	return 1;
}

/* A file without a name: it goes when this process goes, however that comes about. */
static int write_file(const char *dir)
{
	static char chunk[MIB];
	char path[4096];
	int fd, i, good;

	if ((size_t)snprintf(path, sizeof(path), "%s/galvo-demo-XXXXXX", dir) >= sizeof(path))
		return 0;
	fd = mkstemp(path);
	if (fd < 0)
		return 0;
	unlink(path);
	memset(chunk, 'g', sizeof(chunk));
	for (i = 0, good = 1; good && i < FILE_MIB; i++) {
		good = write(fd, chunk, sizeof(chunk)) == (ssize_t)sizeof(chunk);
		if (good && i % 20 == 19)
			good = fsync(fd) == 0;
	}
	return (close(fd) == 0) && good;
}

static int many_children(void)
{
	int i, good = 1;

	for (i = 0; i < CHILDREN; i++) {
		pid_t pid = start(compute, 0.02);

		good = pid > 0 && waitpid(pid, NULL, 0) == pid && good;
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *failed = NULL;

	phase("two children compute, each on a CPU of its own");
	if (!compute_in_two_children())
		failed = "starting children";
	phase("memory grows to 200 MiB");
	if (!grow())
		failed = "getting memory";
	phase("100 MiB go to disk, with fsync");
	if (!write_file(argc > 1 ? argv[1] : "."))
		failed = "writing the file";
	phase("40 children live for 20 ms each");
	if (!many_children())
		failed = "starting children";
	phase("nothing for half a second");
	rest(500);
	if (failed)
		fprintf(stderr, "galvo-demo-workload: %s failed\n", failed);
	return failed != NULL;
}
