/* What a program sees of its sidecar, and pays for it. */
#include <errno.h>

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
	{"cost", cost},
};

int main(void)
{
	return run_hosts(tests, ARRAY_LEN(tests));
}
