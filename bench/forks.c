/* Storms of forks under galvo: what following them costs it and them, by kernel events and by files. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "scratch.h"
#include "stream/stream.h"

enum { ROUNDS = 5, STEP_NS = 1000000, ARGS_MAX = 16 };

struct storm {
	const char *name;
	unsigned rate;    /* a second; 0: as fast as it can */
	unsigned live_ms; /* of each child; 0: it ends at once, and is waited for */
};

static const struct storm storms[] = {
	{"no forks", 1, 0},
	{"short-lived", 1000, 0},
	{"short-lived", 5000, 0},
	{"short-lived", 10000, 0},
	{"short-lived, no pauses", 0, 0},
	{"150 ms each", 200, 150},
	{"150 ms each", 1000, 150},
	{"150 ms each", 2000, 150},
};

/* Nobody follows it; or galvo does. */
enum mode { ALONE, EVENTS, FILES, MODES };

/* What the storm tells while it goes on: shared memory. */
struct told {
	_Atomic uint64_t forks, busy_ns;
	_Atomic uint32_t stop;
};

/* Of one round. */
struct result {
	double rate, fork_us; /* a fork, and the wait for a child that ends at once */
	double cpu_pct;       /* galvo's */
	uint64_t rows, forks, short_children, lost, put_off, longest_ns;
};

static uint64_t now_ns(void)
{
	return clock_real.mono_ns(&clock_real);
}

/* ---- the storm ------------------------------------------------------------------------------------ */

/* What ends at once needs no memory of its own, and is the faster for it. */
static bool fork_one(const struct storm *s)
{
	const struct timespec life = {0, (long)s->live_ms * 1000000};
	pid_t child = s->live_ms ? fork()
	                         : (pid_t)syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);

	if (child == 0) {
		if (s->live_ms)
			nanosleep(&life, NULL);
		_exit(0);
	}
	if (child > 0 && s->live_ms == 0)
		waitpid(child, NULL, 0);
	return child > 0;
}

static void be_storm(const struct storm *s, struct told *told)
{
	uint64_t from_ns = now_ns(), due, done = 0, before_ns;

	if (s->live_ms)
		signal(SIGCHLD, SIG_IGN); /* they need no waiting for */
	while (!atomic_load(&told->stop)) {
		before_ns = now_ns();
		due = s->rate ? (before_ns - from_ns) * s->rate / NS_PER_S : done + 1;
		if (done >= due) {
			clock_real.sleep_until(&clock_real, before_ns + STEP_NS, &told->stop);
			continue;
		}
		if (!fork_one(s))
			_exit(1);
		done++;
		atomic_fetch_add(&told->busy_ns, now_ns() - before_ns);
		atomic_store(&told->forks, done);
	}
	_exit(0);
}

/* ---- galvo ---------------------------------------------------------------------------------------- */

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * 1000;
}

static bool read_run(const char *dir, struct result *ret)
{
	const struct session_following *f;
	struct galvo_run *run;
	bool ok;

	if (galvo_run_open(dir, &run, NULL) != GALVO_OK)
		return false;
	ok = run->session && run->session->following.present;
	if (ok) {
		f = &run->session->following;
		ret->rows = run->processes_len;
		ret->forks = f->forks;
		ret->short_children = f->short_children;
		ret->lost = f->lost_events;
		ret->put_off = f->put_off;
		ret->longest_ns = f->longest_interval_ns;
	}
	galvo_run_close(run);
	return ok;
}

/* Follows the storm for so long; or sleeps as long, as its pair. */
static bool record(const char *galvo, enum mode mode, pid_t storm, unsigned for_s, struct result *ret)
{
	char dir[SCRATCH_BYTES], seconds[32], pid_text[32];
	const char *argv[ARGS_MAX] = {galvo, "record", "-q", "--for", seconds, "-o", dir, "-p", pid_text,
	                              mode == FILES ? "--no-kernel-events" : NULL};
	union { const char *const *in; char *const *out; } args = {argv}; /* exec changes none of it */
	struct rusage use;
	int status = -1;
	pid_t pid;
	bool ok;

	if (mode == ALONE) {
		sleep(for_s);
		return true;
	}
	snprintf(seconds, sizeof(seconds), "%us", for_s);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)storm);
	if (scratch_make(dir, NULL) != GALVO_OK)
		return false;
	pid = fork();
	if (pid == 0) {
		execv(argv[0], args.out);
		_exit(127);
	}
	ok = wait4(pid, &status, 0, &use) == pid && status == 0 && read_run(dir, ret);
	if (ok)
		ret->cpu_pct = (double)(ns_of(use.ru_utime) + ns_of(use.ru_stime)) / (for_s * 1e9) * 100;
	scratch_remove(dir);
	return ok;
}

static bool measure(const char *galvo, const struct storm *s, enum mode mode, unsigned for_s,
                    struct told *told, struct result *ret)
{
	uint64_t forks, busy_ns, from_ns;
	pid_t storm;
	bool ok;

	*ret = (struct result){0};
	atomic_store(&told->stop, 0);
	atomic_store(&told->forks, 0);
	atomic_store(&told->busy_ns, 0);
	storm = fork();
	if (storm == 0)
		be_storm(s, told);
	from_ns = now_ns();
	ok = storm > 0 && record(galvo, mode, storm, for_s, ret);
	forks = atomic_load(&told->forks);
	busy_ns = atomic_load(&told->busy_ns);
	ret->rate = (double)forks * 1e9 / (double)(now_ns() - from_ns);
	ret->fork_us = forks ? (double)busy_ns / (double)forks / 1e3 : NAN;
	clock_wake(&told->stop);
	return storm > 0 && waitpid(storm, NULL, 0) == storm && ok;
}

/* ---- main ----------------------------------------------------------------------------------------- */

static void print(const struct storm *s, enum mode mode, const struct result *last,
                  const struct figures *rate, const struct figures *cpu, const struct figures *slower)
{
	static const char *const names[] = {"alone", "events", "files"};

	printf("%-24s %6u %-7s %7.0f", s->name, s->rate, names[mode], figures_median(rate));
	if (mode == ALONE) {
		printf("\n");
		return;
	}
	printf(" %8.2f %+9.1f %7llu %7llu %8llu %5llu %7llu %8.0f\n", figures_median(cpu),
	       figures_median(slower), (unsigned long long)last->rows,
	       (unsigned long long)last->forks, (unsigned long long)last->short_children,
	       (unsigned long long)last->lost, (unsigned long long)last->put_off,
	       (double)last->longest_ns / 1e6);
}

/* Its rounds go in turn, so that what else the machine does hits all modes alike. */
static bool measure_storm(const char *galvo, const struct storm *s, unsigned for_s, struct told *told)
{
	struct figures rate[MODES] = {0}, cpu[MODES] = {0}, slower[MODES] = {0};
	struct result r[MODES];
	size_t i, m;

	for (i = 0; i < ROUNDS; i++) {
		for (m = 0; m < MODES; m++)
			if (!measure(galvo, s, (enum mode)((m + i) % MODES), for_s, told,
			             &r[(m + i) % MODES]))
				return false;
		for (m = 0; m < MODES; m++) {
			figures_put(&rate[m], r[m].rate);
			figures_put(&cpu[m], r[m].cpu_pct);
			figures_put(&slower[m], (r[m].fork_us / r[ALONE].fork_us - 1) * 100);
		}
	}
	for (m = 0; m < MODES; m++)
		print(s, (enum mode)m, &r[m], &rate[m], &cpu[m], &slower[m]);
	fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	bool is_quick = argc == 3 && !strcmp(argv[1], "--quick");
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if ((argc != 2 && !is_quick) || told == MAP_FAILED) {
		fprintf(stderr, "usage: forks [--quick] GALVO\n");
		return 2;
	}
	printf("%-24s %6s %-7s %7s %8s %9s %7s %7s %8s %5s %7s %8s\n", "storm", "asked", "galvo",
	       "forks/s", "its CPU%", "slower %", "listed", "forks", "short", "lost", "put off",
	       "scan ms");
	for (i = 0; i < ARRAY_LEN(storms); i++)
		if (!measure_storm(argv[argc - 1], &storms[i], is_quick ? 1 : 3, told)) {
			fprintf(stderr, "forks: '%s' at %u failed\n", storms[i].name, storms[i].rate);
			return 1;
		}
	return 0;
}
