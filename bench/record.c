/* Measures whole recordings: what `galvo record` costs a machine that has nothing else to do. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "measure.h"
#include "scratch.h"
#include "stream/stream.h"

enum { STARTS = 15, NULL_ROUNDS = 5, ARGS_MAX = 16, PIDS_BYTES = 256 };
#define NULL_HZ 100

struct kind {
	const char *name;
	size_t processes;
	const char *option, *value; /* one more; NULL: none */
	bool is_family, is_storm;   /* one is named, the others are its children; it forks on and on */
};

static const struct kind kinds[] = {
	{"the machine alone", 0, NULL, NULL, false, false},
	{"1 process", 1, NULL, NULL, false, false},
	{"4 processes", 4, NULL, NULL, false, false},
	{"4 processes, --budget 100", 4, "--budget", "100", false, false},
	{"100 processes", 100, "--follow", "tree", true, false},
	{"1000 processes", 1000, "--follow", "tree", true, false},
	{"1 that forks and forks", 1, "--follow", "tree", true, true},
};

/* What one recording cost. */
struct cost {
	double null_us; /* an empty wake just before and after it */
	double cpu_pct, sampler_pct, tick_cpu_ns, rss_mib, tick_bytes;
	uint64_t ticks, missed;
	uint32_t divisor; /* the largest */
};

struct bench {
	const char *galvo, *self;
	unsigned for_s;
};

static double pct_of(uint64_t part_ns, uint64_t whole_ns)
{
	return 100 * (double)part_ns / (double)whole_ns;
}

/* ---- running galvo -------------------------------------------------------------------------------- */

/* Starts it with stdout going to out_fd. *at_exec_ns, shared, is set on the way into exec. */
static pid_t start(const char *const *argv, int out_fd, uint64_t *at_exec_ns)
{
	union { const char *const *in; char *const *out; } args = {argv}; /* exec changes none of it */
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	dup2(out_fd, STDOUT_FILENO);
	*at_exec_ns = clock_real.mono_ns(&clock_real);
	execv(argv[0], args.out);
	_exit(127);
}

static bool wait_for(pid_t pid, struct rusage *ret_use)
{
	int status = -1;
	pid_t got;

	do
		got = wait4(pid, &status, 0, ret_use);
	while (got < 0 && errno == EINTR);
	return got == pid && status == 0;
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * 1000;
}

/* What the run itself says. */
static bool read_run(const char *dir, struct cost *ret)
{
	uint64_t bytes = 0, whole_ns;
	struct galvo_run *run;
	size_t i;

	if (galvo_run_open(dir, &run, NULL) != GALVO_OK)
		return false;
	if (!run->session || run->session->stop_mono_ns == 0) {
		galvo_run_close(run);
		return false;
	}
	whole_ns = run->session->stop_mono_ns - run->session->start_mono_ns;
	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *s = &run->streams[i];

		bytes += s->bytes;
		if (s->kind != STREAM_SYSTEM)
			continue;
		ret->ticks = s->stats.ticks;
		ret->missed = s->stats.missed_ticks;
		ret->sampler_pct = pct_of(s->stats.thread_cpu_ns, whole_ns);
	}
	for (i = 0; i < run->sources_len; i++)
		if (run->sources[i].divisor > ret->divisor)
			ret->divisor = run->sources[i].divisor;
	ret->rss_mib = (double)run->session->cost.max_rss_bytes / (1 << 20);
	ret->tick_bytes = (double)bytes / (double)(ret->ticks ? ret->ticks : 1);
	galvo_run_close(run);
	return true;
}

static void join_pids(const struct children *c, char to[PIDS_BYTES])
{
	size_t i;
	int at = 0;

	to[0] = '\0';
	for (i = 0; i < c->len && at >= 0 && at < PIDS_BYTES; i++)
		at += snprintf(to + at, (size_t)(PIDS_BYTES - at), "%s%d", i ? "," : "", c->pids[i]);
}

static bool record(const struct bench *b, const struct kind *kind, const struct children *c,
                   struct cost *ret)
{
	char dir[SCRATCH_BYTES], seconds[32], pids[PIDS_BYTES];
	const char *argv[ARGS_MAX] = {b->galvo, "record", "-q", "--for", seconds, "-o", dir, "-a"};
	uint64_t ignored, cpu_ns;
	struct rusage use;
	size_t n = 8;
	pid_t pid;
	bool ok;

	snprintf(seconds, sizeof(seconds), "%us", b->for_s);
	join_pids(c, pids);
	if (c->len) {
		argv[n - 1] = "-p";
		argv[n++] = pids;
	}
	if (kind->option) {
		argv[n++] = kind->option;
		argv[n++] = kind->value;
	}
	if (scratch_make(dir, NULL) != GALVO_OK)
		return false;
	pid = start(argv, STDOUT_FILENO, &ignored);
	ok = pid > 0 && wait_for(pid, &use) && read_run(dir, ret);
	if (ok) {
		cpu_ns = ns_of(use.ru_utime) + ns_of(use.ru_stime);
		ret->cpu_pct = pct_of(cpu_ns, b->for_s * NS_PER_S);
		ret->tick_cpu_ns = (double)cpu_ns / (double)(ret->ticks ? ret->ticks : 1);
	}
	scratch_remove(dir);
	return ok;
}

static void fork_on(void)
{
	pid_t child;

	do {
		child = fork();
		if (child == 0)
			_exit(0);
	} while (child > 0 && waitpid(child, NULL, 0) == child);
}

/* A process with a group of its own: it forks on and on, or once and for all. */
static pid_t start_family(const struct kind *kind, int ready_fd)
{
	struct children children = {0};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	setpgid(0, 0);
	if (!kind->is_storm && !children_start(&children, kind->processes - 1, 1))
		_exit(1);
	if (write(ready_fd, "", 1) == 1 && kind->is_storm)
		fork_on();
	for (;;)
		pause();
}

static bool measure_family(const struct bench *b, const struct kind *kind, struct cost *ret)
{
	struct children one = {.len = 1};
	int ready[2];
	pid_t pid;
	bool ok;
	char c;

	if (pipe(ready) != 0)
		return false;
	pid = start_family(kind, ready[1]);
	close(ready[1]);
	one.pids = &pid;
	ok = pid > 0 && read(ready[0], &c, 1) == 1 && record(b, kind, &one, ret);
	close(ready[0]);
	if (pid > 0) {
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return ok;
}

static bool measure_kind(const struct bench *b, const struct kind *kind, struct cost *ret)
{
	struct children children = {0};
	bool ok;

	if (kind->is_family)
		return measure_family(b, kind, ret);
	if (kind->processes && !children_start(&children, kind->processes, 1))
		return false;
	ok = record(b, kind, &children, ret);
	children_stop(&children);
	return ok;
}

/* ---- the start ------------------------------------------------------------------------------------ */

/* As the workload: says when it began. */
static int say_when(void)
{
	printf("%llu\n", (unsigned long long)clock_real.mono_ns(&clock_real));
	return 0;
}

static bool start_once(const struct bench *b, uint64_t *at_exec_ns, struct figures *ms)
{
	char dir[SCRATCH_BYTES], text[64];
	const char *argv[ARGS_MAX] = {b->galvo, "record", "-q", "-o", dir, "--", b->self, "--say-when"};
	struct rusage use;
	uint64_t begin_ns;
	struct span rest;
	ssize_t got = -1;
	int out[2];
	pid_t pid;
	bool ok;

	if (scratch_make(dir, NULL) != GALVO_OK || pipe2(out, O_CLOEXEC) != 0)
		return false;
	pid = start(argv, out[1], at_exec_ns);
	close(out[1]);
	if (pid > 0)
		got = read(out[0], text, sizeof(text));
	close(out[0]);
	ok = pid > 0 && wait_for(pid, &use) && got > 0;
	scratch_remove(dir);
	rest = span_of(text, ok ? (size_t)got : 0);
	if (!span_take_u64(&rest, &begin_ns) || begin_ns < *at_exec_ns)
		return false;
	figures_put(ms, (double)(begin_ns - *at_exec_ns) / 1e6);
	return true;
}

/* From the exec of galvo to the first line of the workload's main, median, in ms. NaN: failed. */
static double measure_start_ms(const struct bench *b)
{
	uint64_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct figures ms = {0};
	size_t i;

	if (shared == MAP_FAILED)
		return NAN;
	for (i = 0; i < STARTS; i++)
		if (!start_once(b, shared, &ms))
			break;
	munmap(shared, sizeof(*shared));
	return i == STARTS ? figures_median(&ms) : NAN;
}

/* ---- the null wake -------------------------------------------------------------------------------- */

static void tick_nothing(void *ctx)
{
	(void)ctx;
}

static double measure_null_us(void)
{
	const struct work nothing = {tick_nothing, NULL};
	struct figures us = {0};
	uint64_t missed = 0;
	size_t i;

	for (i = 0; i < NULL_ROUNDS; i++)
		figures_put(&us, measure_paced_us(&nothing, NULL_HZ / 5, NS_PER_S / NULL_HZ, &missed));
	return figures_median(&us);
}

/* ---- main ----------------------------------------------------------------------------------------- */

static void judge(const char *what, double value, double target)
{
	printf("%-62s %8.2f  <= %6.2f  %s\n", what, value, target, value <= target ? "pass" : "miss");
}

static bool measure_all(const struct bench *b)
{
	struct cost cost[ARRAY_LEN(kinds)] = {0};
	double before_us = measure_null_us(), after_us, start_ms;
	size_t i;

	printf("%-26s %7s %6s %9s %8s %7s %6s %7s %7s %s\n", "recording", "null us", "CPU %",
	       "sampler %", "us/tick", "RSS MiB", "B/tick", "ticks", "missed", "largest divisor");
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct cost *c = &cost[i];

		if (!measure_kind(b, &kinds[i], &cost[i])) {
			fprintf(stderr, "record: '%s' failed\n", kinds[i].name);
			return false;
		}
		after_us = measure_null_us();
		cost[i].null_us = (before_us + after_us) / 2;
		before_us = after_us;
		printf("%-26s %7.1f %6.2f %9.2f %8.1f %7.2f %6.0f %7llu %7llu %u\n", kinds[i].name,
		       c->null_us, c->cpu_pct, c->sampler_pct, c->tick_cpu_ns / 1e3, c->rss_mib,
		       c->tick_bytes, (unsigned long long)c->ticks, (unsigned long long)c->missed,
		       c->divisor);
		fflush(stdout);
	}
	start_ms = measure_start_ms(b);
	printf("\nan empty wake of %.1f us is %.2f %% of one CPU at %d Hz\n\n", cost[2].null_us,
	       cost[2].null_us * NULL_HZ / 1e4, NULL_HZ);
	judge("resident memory at most, MiB", cost[2].rss_mib, 6);
	judge("bytes a tick, 1 process", cost[1].tick_bytes, 200);
	judge("from the exec of galvo to the workload, ms", start_ms, 10);
	judge("sampler at 100 Hz, 4 processes, % of one CPU", cost[2].sampler_pct, 0.1);
	judge("the same above the empty wake", cost[2].sampler_pct - cost[2].null_us * NULL_HZ / 1e4,
	      0.1);
	return !isnan(start_ms);
}

int main(int argc, char **argv)
{
	struct bench b = {.for_s = 10};
	char self[4096];
	struct utsname name = {0};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc == 2 && !strcmp(argv[1], "--say-when"))
		return say_when();
	if (argc == 3 && !strcmp(argv[1], "--quick"))
		b.for_s = 2;
	if ((argc != 2 && b.for_s != 2) || n < 0) {
		fprintf(stderr, "usage: record [--quick] GALVO\n");
		return 2;
	}
	self[n] = '\0';
	b.self = self;
	b.galvo = argv[argc - 1];
	uname(&name);
	printf("Linux %s, %ld CPUs online\n", name.release, sysconf(_SC_NPROCESSORS_ONLN));
	return measure_all(&b) ? 0 : 1;
}
