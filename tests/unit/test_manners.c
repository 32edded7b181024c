/* galvo as a guest in a program that has its own ideas of everything: nothing of it is touched. */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/base.h"
#include "galvo/galvo.h"
#include "host.h"

enum { CHILD_SAYS = 7, PATIENCE_MS = 3000 };

static char base[] = "/tmp/galvo-manners-XXXXXX";
static struct host was, is;
static struct host_numbers was_fds, was_threads;
static _Atomic int strays, alarms; /* signals on threads that are not the program's; all of them */
static pid_t main_thread;
static int32_t mode; /* of the suites and profilers */

static const char *in_base(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", base, name);
	return to;
}

/* ---- the program ------------------------------------------------------------------------------------ */

static void on_signal(int number)
{
	(void)number;
	alarms++;
	strays += (pid_t)syscall(SYS_gettid) != main_thread;
}

static void take_signals(void)
{
	static char stack[1 << 16];
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigset_t blocked;

	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	sigaddset(&act.sa_mask, SIGTERM);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGCHLD, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGXFSZ, &act, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGRTMIN + 3);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}

static void *do_nothing(void *ctx)
{
	return ctx;
}

static void move_in(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	pthread_t thread;

	/* libc takes two signals for itself with the first thread. */
	OK(pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
	main_thread = (pid_t)syscall(SYS_gettid);
	host_take_locale(base);
	take_signals();
	OK(chdir(base) == 0);
	umask(027);
	setenv("GALVO_SOCKET", "nowhere", 1);
	setenv("HOST", "x", 1);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	prctl(PR_SET_TIMERSLACK, 70000);
	prctl(PR_SET_NAME, "host");
	fesetround(FE_UPWARD);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* ---- what galvo does in it --------------------------------------------------------------------------- */

static void pass_time(uint64_t ns)
{
	_Atomic uint32_t stop = 0;

	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ns, &stop);
}

static unsigned digit_of(char c)
{
	return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

/* A mask as the kernel prints it: all but the two that nobody blocks, libc's two, which it may, and faults. */
static bool is_full(struct span mask)
{
	static const char full[] = "fffffffe3ffbfa37";
	size_t i;

	for (i = 0; i < mask.n && i < sizeof(full) - 1; i++)
		if (digit_of(full[i]) & ~digit_of(mask.p[i]))
			return false;
	return mask.n == sizeof(full) - 1;
}

/* Samplers are threads of ours, or in a process that is nobody's child. */
static void during(size_t samplers, size_t others)
{
	const size_t threads = (mode == GALVO_SIDECAR ? 0 : samplers) + others;
	struct host_numbers fds, now;
	char path[64], text[4096];
	size_t i;

	pass_time(10 * NS_PER_MS);
	host_look(&is);
	OK(host_is_same(&was, &is, "while running"));
	host_list("/proc/self/fd", &fds);
	OK(host_count_new(&was_fds, &fds) > 0);
	for (i = 0; i < fds.len; i++)
		if (!host_has(&was_fds, fds.at[i]) &&
		    !OK(fds.at[i] > STDERR_FILENO && fcntl(fds.at[i], F_GETFD) == FD_CLOEXEC))
			printf("# descriptor %d\n", fds.at[i]);
	host_list("/proc/self/task", &now);
	EQ(host_count_new(&was_threads, &now), threads);
	for (i = 0; i < now.len; i++) {
		struct span all, blocked;
		struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};

		snprintf(path, sizeof(path), "/proc/self/task/%d/status", now.at[i]);
		if (host_has(&was_threads, now.at[i]) ||
		    !OK(file_read(AT_FDCWD, path, &b, &all, NULL) == GALVO_OK))
			continue;
		while (span_take_line(&all, &blocked) && !span_starts(blocked, "SigBlk:"))
			;
		blocked = span_trim(span_of(blocked.p + 7, blocked.n - 7));
		if (!OK(is_full(blocked)))
			printf("# thread %d blocks %.*s\n", now.at[i], (int)blocked.n, blocked.p);
	}
}

static void say_something(galvo_tracker *t)
{
	uint64_t id;

	errno = CHILD_SAYS;
	id = galvo_region_begin(t, "region", 6);
	galvo_mark(t, "mark", 4);
	galvo_region_end(t, id);
	EQ(errno, CHILD_SAYS); /* a signal handler may say it */
}

static void a_suite(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_process self = {0};
	galvo_listener *listener;
	galvo_suite *suite;
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	config.output_dir = "run"; /* where the program is */
	config.system_hz = config.disk_hz = 1000;
	config.processes = &self;
	config.processes_len = 1;
	config.follow = GALVO_FOLLOW_TREE;
	config.overwrite = 1;
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	if (!OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK) ||
	    !OK(galvo_listener_open("/tmp", &listener, NULL) == GALVO_OK) ||
	    !OK(galvo_suite_start(suite, NULL) == GALVO_OK))
		return;
	OK(galvo_listener_start(listener, galvo_suite_host_tracker(suite), NULL) == GALVO_OK);
	OK(galvo_suite_remove_process(suite, (uint32_t)getpid(), NULL) == GALVO_OK);
	OK(galvo_suite_add_process(suite, (uint32_t)child, "child", NULL) == GALVO_OK);
	say_something(galvo_suite_host_tracker(suite));
	OK(galvo_say(galvo_listener_path(listener), GALVO_SAY_MARK, 0, "m", 1, NULL) == GALVO_OK);
	during(4, 1);
	kill(child, SIGKILL);
	galvo_listener_close(listener);
	OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	OK(waitpid(child, NULL, 0) == child);
}

static void live_alone(galvo_profiler *p, size_t threads)
{
	OK(galvo_profiler_start(p, NULL) == GALVO_OK);
	say_something(galvo_profiler_host_tracker(p));
	during(threads, 0);
	OK(galvo_profiler_stop(p, NULL) == GALVO_OK);
	galvo_profiler_destroy(p);
}

static void system_alone(void)
{
	galvo_system_config config = galvo_system_config_default();
	galvo_process self = {0};
	galvo_profiler *p;

	config.frequency_hz = 1000;
	config.processes = &self;
	config.processes_len = 1;
	config.output_file = "system.pb";
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	if (OK(galvo_system_profiler_create(&config, &p, NULL) == GALVO_OK))
		live_alone(p, 2);
}

static void disk_alone(void)
{
	galvo_disk_config config = galvo_disk_config_default();
	galvo_process self = {0};
	galvo_profiler *p;

	config.frequency_hz = 1000;
	config.processes = &self;
	config.processes_len = 1;
	config.output_file = "disk.pb";
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	if (OK(galvo_disk_profiler_create(&config, &p, NULL) == GALVO_OK))
		live_alone(p, 2);
}

static void events_alone(void)
{
	galvo_event_config config = galvo_event_config_default();
	galvo_profiler *p;

	config.output_file = "events.pb";
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	if (OK(galvo_event_profiler_create(&config, &p, NULL) == GALVO_OK))
		live_alone(p, 2);
}

/* In JSON numbers have points, whatever the locale. */
static int write_json(void *ctx, const void *bytes, size_t n)
{
	struct buf *json = ctx;

	buf_put(json, bytes, n);
	return 0;
}

/* Text for people. */
static int write_nowhere(void *ctx, const void *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)ctx += n;
	return 0;
}

static void reading(void)
{
	static const char text[] = "output_dir: 'r' budget_pct: 2.5 system { enabled: true }";
	galvo_summary *summary = NULL;
	galvo_config *config = NULL;
	galvo_check_result result;
	galvo_run *run = NULL;
	struct buf json;
	size_t written = 0;

	buf_init(&json, 1 << 20);
	OK(galvo_run_open("run", &run, NULL) == GALVO_OK);
	OK(galvo_summary_create(run, &summary, NULL) == GALVO_OK);
	OK(galvo_summary_write(summary, GALVO_REPORT_JSON, write_json, &json, NULL) == GALVO_OK);
	OK(galvo_summary_write(summary, GALVO_REPORT_TEXT, write_nowhere, &written, NULL) == GALVO_OK);
	buf_put(&json, "", 1);
	OK(written > 100 && !json.failed && strstr(json.p, "\"recorded_s\": 0.") != NULL);
	buf_finish(&json);
	galvo_summary_destroy(summary);
	galvo_run_close(run);
	OK(galvo_run_check("run", write_nowhere, &written, &result, NULL) == GALVO_OK);
	OK(result.is_sound);
	OK(galvo_run_repair("run", mode ? "repaired too" : "repaired", NULL, NULL) == GALVO_OK);
	OK(galvo_catalog_write(write_nowhere, &written, NULL) == GALVO_OK);
	if (OK(galvo_config_parse(text, strlen(text), 1, NULL, &config, NULL) == GALVO_OK))
		OK(galvo_config_suite(config)->budget_pct > 2.4 &&
		   galvo_config_suite(config)->budget_pct < 2.6);
	galvo_config_destroy(config);
	OK(galvo_config_load("none", &config, NULL) == GALVO_ERR_ABSENT);
	OK(galvo_say("nowhere", GALVO_SAY_MARK, 0, "m", 1, NULL) == GALVO_ERR_ABSENT);
	host_look(&is);
	OK(host_is_same(&was, &is, "after reading"));
}

/* ---- what it leaves ---------------------------------------------------------------------------------- */

/* A thread that was joined is in /proc for a moment more. */
static size_t threads_left(void)
{
	struct host_numbers now;
	size_t i, n = 1;

	for (i = 0; n && i < PATIENCE_MS; i++) {
		host_list("/proc/self/task", &now);
		n = host_count_new(&was_threads, &now);
		if (n)
			pass_time(NS_PER_MS);
	}
	return n;
}

/* The standard streams are files meanwhile, which nobody writes to or reads from. */
static void borrow_streams(int kept[3])
{
	int i;

	fflush(stdout);
	for (i = 0; i < 3; i++) {
		int fd = open(in_base("streams"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		dup2(fd, i);
		close(fd);
	}
}

static void give_back_streams(const int kept[3])
{
	int i;

	fflush(stdout);
	for (i = 0; i < 3; i++) {
		dup2(kept[i], i);
		close(kept[i]);
	}
}

static void visit(void (*live)(void))
{
	struct host_numbers fds;
	siginfo_t info = {0};
	int kept[3];
	char said[4096];
	struct span text = {0};
	struct buf b = {.p = said, .cap = sizeof(said), .max = sizeof(said)};
	pid_t child = fork();

	if (child == 0)
		_exit(CHILD_SAYS);
	borrow_streams(kept);
	host_list("/proc/self/fd", &was_fds);
	host_list("/proc/self/task", &was_threads);
	host_look(&was);
	live();
	EQ(threads_left(), 0);
	host_look(&is);
	OK(host_is_same(&was, &is, "afterwards"));
	host_list("/proc/self/fd", &fds);
	OK(host_count_new(&was_fds, &fds) == 0 && fds.len == was_fds.len);
	give_back_streams(kept);
	if (OK(file_read(AT_FDCWD, in_base("streams"), &b, &text, NULL) == GALVO_OK) && !OK(text.n == 0))
		printf("%.*s", (int)text.n, text.p);
	OK(truncate(in_base("streams"), 0) == 0);
	OK(waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_status == CHILD_SAYS);
	EQ(strays, 0);
}

static void visits(void)
{
	static void (*const lives[])(void) = {a_suite, system_alone, disk_alone, events_alone, reading};
	size_t i;

	move_in();
	for (mode = GALVO_IN_PROCESS; mode <= GALVO_SIDECAR; mode++)
		for (i = 0; i < ARRAY_LEN(lives); i++)
			visit(lives[i]);
	OK(alarms > 10);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

static const struct tap_test tests[] = {
	{"a guest leaves everything as it was", visits},
};

int main(void)
{
	int failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));

	host_remove(base);
	return failed;
}
