/* A real filter of system calls, of a kernel that says no: galvo records in it, or says what it lacks. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "galvo/galvo.h"
#include "host.h"
#include "stream/stream.h"

enum { FILTER_MAX = 64, CHILD_FINE = 40, CHILD_NO_FILTER = 77 };

static char base[] = "/tmp/galvo-sandbox-XXXXXX";
static char dir[128];

/* What a container's profile or a service manager may well forbid. */
static const unsigned spared[] = {
	SYS_pidfd_open, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_setpriority, SYS_prctl,
	SYS_clock_gettime, SYS_getdents64, SYS_newfstatat, SYS_statx, SYS_ftruncate, SYS_madvise,
	SYS_getrusage, SYS_socket, SYS_clock_getres,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};
static const unsigned threads[] = {SYS_clone, SYS_clone3};
static const unsigned opening[] = {SYS_openat};

static bool refuse(const unsigned *numbers, size_t n, int sys_errno)
{
	struct sock_filter code[FILTER_MAX] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.filter = code};
	size_t i, len = 1;

	for (i = 0; i < n; i++) {
		code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
		                                           SECCOMP_RET_ERRNO | (unsigned)sys_errno);
	}
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)len;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* A short life. */
static galvo_status record(galvo_error *reterr)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	const struct timespec moment = {0, NS_PER_MS};
	const galvo_process self = {.alias = "self"};
	galvo_suite *suite = NULL;
	galvo_status status;
	size_t i;

	config.output_dir = dir;
	config.system_hz = config.disk_hz = 1000;
	config.budget_pct = 100;
	config.processes = &self;
	config.processes_len = 1;
	config.follow = GALVO_FOLLOW_TREE;
	status = galvo_suite_create(&config, &suite, reterr);
	if (status == GALVO_OK)
		status = galvo_suite_start(suite, reterr);
	for (i = 0; status == GALVO_OK && stats.ticks < 5 && i < 5000; i++) {
		nanosleep(&moment, NULL);
		galvo_suite_get_stats(suite, &stats, NULL);
	}
	if (status == GALVO_OK)
		status = galvo_suite_stop(suite, reterr);
	galvo_suite_destroy(suite);
	return status;
}

/* In a child, as a filter is for ever. GALVO_OK or the words of the error are wanted. */
static int child(const unsigned *numbers, size_t n, int sys_errno, const char *words)
{
	galvo_error e = {0};

	if (!refuse(numbers, n, sys_errno))
		return CHILD_NO_FILTER;
	if (record(&e) == GALVO_OK ? !words[0] : words[0] && strstr(e.text, words))
		return CHILD_FINE;
	printf("# errno %d: '%s', not '%s'\n", sys_errno, e.text, words);
	fflush(stdout);
	return 1;
}

static int in_child(const unsigned *numbers, size_t n, int sys_errno, const char *words)
{
	int status = 0;
	pid_t pid;

	host_remove(dir);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(child(numbers, n, sys_errno, words));
	waitpid(pid, &status, 0);
	if (!OK(WIFEXITED(status)))
		printf("# status %x\n", (unsigned)status);
	return WEXITSTATUS(status);
}

/* The CPU of the process is absent, its memory is there, and there is a word on it. */
static void look_at_run(void)
{
	const struct table *t = NULL;
	struct galvo_run *run = NULL;
	size_t cpu, rss, i, k, told = 0;

	if (!OK(galvo_run_open(dir, &run, NULL) == GALVO_OK))
		return;
	t = run_table(run, STREAM_SYSTEM, SCOPE_PROCESS);
	if (OK(t && t->rows_len > 0)) {
		cpu = table_column(t, "proc__cycles_active.sum.per_second");
		rss = table_column(t, "proc__rss_bytes");
		for (i = 0; i < t->rows_len; i++)
			OK(isnan(t->values[cpu][i]) && t->values[rss][i] > 0);
	}
	for (k = 0; k < run->sources_len; k++)
		told += strstr(run->sources[k].reason, "CPU clock: ") != NULL;
	EQ(told, 1);
	OK(run->damages_len == 0 && run->session && run->session->stop_mono_ns);
	galvo_run_close(run);
}

static void recording(void)
{
	static const int errnos[] = {EPERM, ENOSYS, EACCES, EINVAL};
	size_t i;

	for (i = 0; i < ARRAY_LEN(errnos); i++)
		if (EQ(in_child(spared, ARRAY_LEN(spared), errnos[i], ""), CHILD_FINE))
			look_at_run();
}

static void refusing(void)
{
	EQ(in_child(threads, ARRAY_LEN(threads), EPERM, "thread"), CHILD_FINE);
	EQ(in_child(opening, ARRAY_LEN(opening), EACCES, "/: "), CHILD_FINE);
}

static const struct tap_test tests[] = {
	{"what can be spared", recording},
	{"what cannot", refusing},
};

int main(void)
{
	int failed = !mkdtemp(base);

	snprintf(dir, sizeof(dir), "%s/run", base);
	if (!failed && in_child(NULL, 0, 0, "") == CHILD_NO_FILTER) {
		host_remove(base);
		printf("skip: no filter of system calls may be set here\n");
		return 77;
	}
	failed = failed || tap_run(tests, ARRAY_LEN(tests));
	host_remove(base);
	return failed;
}
