/* What a program sees of its sidecar, and pays for it. */
#include <errno.h>
#include <pthread.h>

#include "sidecar_host.h"

/* "Cpus_allowed_list:\t0" */
static bool has_cpus(pid_t pid, const char *list)
{
	char path[64], text[4096], want[64];
	struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};
	struct span all = {0}, line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	snprintf(want, sizeof(want), "Cpus_allowed_list:\t%s", list);
	if (file_read(AT_FDCWD, path, &b, &all, NULL) == GALVO_OK)
		while (span_take_line(&all, &line))
			if (span_eq_str(line, want))
				return true;
	return false;
}

static volatile sig_atomic_t told;

static void on_child(int number)
{
	(void)number;
	told = told + 1;
}

/* Two at once, to CPU 0 both; the program has no children, hears of none, and what it had it has. */
static int that_looks(void)
{
	const galvo_process self = {0};
	galvo_suite_config config = config_for("looks", &self);
	struct host_numbers before, after;
	galvo_suite *suite[2] = {NULL, NULL};
	size_t i;

	prctl(PR_SET_CHILD_SUBREAPER, 0);
	signal(SIGCHLD, on_child);
	host_list("/proc/self/fd", &before);
	config.sidecar_cpus = "0";
	if (galvo_suite_create(&config, &suite[0], NULL) != GALVO_OK)
		return NO_START;
	config.output_dir = in_base("looks too");
	if (galvo_suite_create(&config, &suite[1], NULL) != GALVO_OK)
		return NO_START;
	for (i = 0; i < 2; i++)
		if (galvo_suite_start(suite[i], NULL) != GALVO_OK)
			return NO_START;
	if (waitpid(-1, NULL, WNOHANG | __WALL) != -1 || errno != ECHILD)
		return FAILS;
	for (i = 0; i < 2; i++) {
		pid_t pid = sidecar_of(i ? "looks too" : "looks");

		if (!has_cpus(pid, "0") || getsid(pid) == getsid(0) || getpgid(pid) == getpgrp())
			return FAILS + 1;
	}
	for (i = 0; i < 2; i++) {
		if (galvo_suite_stop(suite[i], NULL) != GALVO_OK)
			return FAILS + 2;
		galvo_suite_destroy(suite[i]);
	}
	host_list("/proc/self/fd", &after);
	said->mono_ns = clock_real.mono_ns(&clock_real) - NS_PER_S;
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD && !told && before.len == after.len
	               ? FINE : FAILS + 3;
}

static void looks(void)
{
	EQ(WEXITSTATUS(status_of(start_host(that_looks))), FINE);
	await_sidecar();
	await_sidecar();
	check_run("looks", NULL);
	check_run("looks too", NULL);
}

/* Where orphans come to the program, the sidecar is its child: it is not recorded as one, nor left a zombie. */
static int that_adopts(void)
{
	galvo_run_process p = {.struct_size = sizeof(p)};
	galvo_suite *suite;
	struct ended r;
	size_t n, i;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, on_child);
	suite = begin("adopts");
	if (waitpid(-1, NULL, WNOHANG) != 0)
		return FAILS;
	pass_time(300 * NS_PER_MS); /* scans look for children meanwhile */
	if (galvo_suite_stop(suite, NULL) != GALVO_OK)
		return FAILS + 1;
	galvo_suite_destroy(suite);
	for (i = 0; i < PATIENCE_MS && !told; i++)
		pass_time(NS_PER_MS);
	if (waitpid(-1, NULL, WNOHANG) != -1 || told != 1 || !open_run("adopts", &r))
		return FAILS + 2;
	for (n = 0; galvo_run_process_at(r.run, n, &p, NULL) == GALVO_OK; n++)
		if (p.pid != (uint32_t)getpid())
			return FAILS + 3;
	galvo_run_close(r.run);
	return n == 1 ? FINE : FAILS + 4;
}

static void adopts(void)
{
	EQ(WEXITSTATUS(status_of(start_host(that_adopts))), FINE);
}

/* ---- a signal amid messages ------------------------------------------------------------------------- */

enum { LONG_BYTES = 100 << 10, LONG_ROUNDS = 300, FILLING_BYTES = 512 << 10 };

struct speaker {
	galvo_suite *suite;
	char *argument; /* of many pieces */
	size_t rounds;
	_Atomic bool has_begun, is_over;
	_Atomic uint32_t failed;
};

static galvo_suite *begin_beside(const char *dir)
{
	const galvo_process self = {0};
	galvo_suite_config config = config_for(dir, &self);
	galvo_suite *suite = NULL;

	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK);
	return suite;
}

static bool begin_speaker(struct speaker *s, const char *dir, size_t bytes, size_t rounds)
{
	*s = (struct speaker){.suite = begin_beside(dir), .rounds = rounds, .argument = alloc_array(bytes, 1)};
	if (s->argument)
		memset(s->argument, 'x', bytes - 1);
	return OK(s->suite && s->argument);
}

static void *speak(void *arg)
{
	struct speaker *s = arg;
	const char *const argv[] = {s->argument};
	galvo_workload workload = {.struct_size = sizeof(workload), .argv = argv, .argv_len = 1};
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	galvo_error e = {0};
	size_t i;

	s->has_begun = true;
	for (i = 0; i < s->rounds; i++)
		if (galvo_suite_set_workload(s->suite, &workload, &e) != GALVO_OK ||
		    galvo_suite_get_stats(s->suite, &stats, &e) != GALVO_OK || !stats.elapsed_ns) {
			s->failed++;
			printf("# round %zu: %s\n", i, e.text);
			break;
		}
	s->is_over = true;
	return NULL;
}

/* It samples no more. */
static bool is_quiet(galvo_suite *suite)
{
	galvo_suite_stats before = {.struct_size = sizeof(before)}, after = before;
	size_t i;

	for (i = 0; i < PATIENCE_MS / 100; i++) {
		OK(galvo_suite_get_stats(suite, &before, NULL) == GALVO_OK);
		pass_time(100 * NS_PER_MS); /* a hundred ticks */
		OK(galvo_suite_get_stats(suite, &after, NULL) == GALVO_OK);
		if (before.ticks == after.ticks)
			return true;
	}
	return false;
}

static void end_speaker(struct speaker *s, const char *dir)
{
	galvo_check_result result = {0};

	OK(!s->failed);
	OK(is_quiet(s->suite));
	OK(galvo_suite_stop(s->suite, NULL) == GALVO_OK);
	galvo_suite_destroy(s->suite);
	free(s->argument);
	OK(galvo_run_check(in_base(dir), NULL, NULL, &result, NULL) == GALVO_OK && result.is_sound);
}

/* Signals on one thread, messages of several pieces on another: each has its own reply. */
static void signals_amid_messages(void)
{
	struct speaker s;
	pthread_t thread;

	if (!begin_speaker(&s, "amid", LONG_BYTES, LONG_ROUNDS))
		return;
	pthread_create(&thread, NULL, speak, &s);
	while (!s.is_over)
		galvo_suite_signal_stop(s.suite);
	pthread_join(thread, NULL);
	end_speaker(&s, "amid");
}

/* A sidecar that takes nothing, and whose socket is full of what was said to it. */
static void signal_to_the_deaf(void)
{
	struct speaker s;
	pthread_t thread;
	pid_t pid;

	if (!begin_speaker(&s, "deaf", FILLING_BYTES, 1))
		return;
	pid = sidecar_of("deaf");
	OK(pid > 0 && kill(pid, SIGSTOP) == 0);
	pthread_create(&thread, NULL, speak, &s);
	while (!s.has_begun)
		pass_time(NS_PER_MS);
	pass_time(20 * NS_PER_MS);
	OK(!s.is_over);
	galvo_suite_signal_stop(s.suite);
	OK(kill(pid, SIGCONT) == 0);
	pthread_join(thread, NULL);
	end_speaker(&s, "deaf");
}

/* ---- cost ------------------------------------------------------------------------------------------- */

static uint64_t own_cpu_ns(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
}

/* What a program that does nothing used while it was recorded at 1000 Hz. */
static uint64_t cost_of(int32_t mode)
{
	const galvo_process self = {0};
	galvo_suite_config config = config_for("cost", &self);
	galvo_suite *suite = NULL;
	uint64_t before_ns = own_cpu_ns();

	config.mode = mode;
	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK);
	pass_time(400 * NS_PER_MS);
	OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	return own_cpu_ns() - before_ns;
}

static void cost(void)
{
	uint64_t within_ns = cost_of(GALVO_IN_PROCESS), beside_ns = cost_of(GALVO_SIDECAR);

	printf("# own CPU time of 0.4 s at 1000 Hz: %.2f ms within, %.2f ms with a sidecar\n",
	       (double)within_ns / 1e6, (double)beside_ns / 1e6);
	OK(beside_ns * 5 < within_ns);
}

static const struct tap_test tests[] = {
	{"looks", looks},
	{"adopts", adopts},
	{"signals amid messages", signals_amid_messages},
	{"a signal to the deaf", signal_to_the_deaf},
	{"cost", cost},
};

int main(void)
{
	return run_hosts(tests, ARRAY_LEN(tests));
}
