/* Programs in odd states: no standard streams, limits on files, one that exits while galvo records. */
#include <errno.h>
#include <sys/wait.h>

#include "galvo/galvo.h"
#include "host.h"

enum { FINE = 40, NO_START = 41, FAILS = 42, TAKEN = 43, SIGNALLED = 44, FDS_OF_A_POOR_ONE = 12,
       CHILDREN = 40, OWN_FDS = 40, PATIENCE_MS = 1500 };

static char base[] = "/tmp/galvo-hosts-XXXXXX";

static int32_t mode;

static galvo_status start(const char *dir, galvo_suite **ret_suite, galvo_error *reterr)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_process self = {0};
	char path[128];
	galvo_status status;

	snprintf(path, sizeof(path), "%s/%s", base, dir);
	config.output_dir = path;
	config.system_hz = config.disk_hz = 1000;
	config.processes = &self;
	config.processes_len = 1;
	config.overwrite = 1;
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	status = galvo_suite_create(&config, ret_suite, reterr);
	return status == GALVO_OK ? galvo_suite_start(*ret_suite, reterr) : status;
}

/* The program and its children. */
static galvo_status start_family(const char *dir, galvo_suite **ret_suite)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_process self = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", base, dir);
	config.output_dir = path;
	config.system_hz = config.disk_hz = 1000;
	config.processes = &self;
	config.processes_len = 1;
	config.follow = GALVO_FOLLOW_TREE;
	config.budget_pct = 100;
	if (galvo_suite_create(&config, ret_suite, NULL) != GALVO_OK)
		return GALVO_ERR_STATE;
	return galvo_suite_start(*ret_suite, NULL);
}

/* Runs it in a process of its own, and checks how that ended. */
static void in_child(int (*program)(void), int want)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exit(program());
	OK(waitpid(pid, &status, 0) == pid);
	if (!OK(WIFEXITED(status) && WEXITSTATUS(status) == want))
		printf("# status %x, wanted exit %d\n", (unsigned)status, want);
}

static bool is_sound(const char *dir)
{
	galvo_check_result result = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", base, dir);
	return galvo_run_check(path, NULL, NULL, &result, NULL) == GALVO_OK && result.is_sound;
}

/* ---- closed streams ---------------------------------------------------------------------------------- */

static bool streams_are_closed(void)
{
	int i;

	for (i = 0; i <= STDERR_FILENO; i++)
		if (fcntl(i, F_GETFD) != -1 || errno != EBADF)
			return false;
	return true;
}

static int without_streams(void)
{
	static const char text[] = "printed by the program, into nothing\n";
	galvo_listener *listener = NULL;
	galvo_suite *suite;
	struct stat before, after;
	char path[128];
	int i;

	for (i = 0; i <= STDERR_FILENO; i++)
		close(i);
	if (start("closed", &suite, NULL) != GALVO_OK ||
	    galvo_listener_open(base, &listener, NULL) != GALVO_OK ||
	    galvo_listener_start(listener, galvo_suite_host_tracker(suite), NULL) != GALVO_OK)
		return NO_START;
	galvo_say(galvo_listener_path(listener), GALVO_SAY_MARK, 0, "m", 1, NULL);
	if (!streams_are_closed() || write(STDOUT_FILENO, text, sizeof(text)) != -1 ||
	    write(STDERR_FILENO, text, sizeof(text)) != -1)
		return TAKEN;
	galvo_listener_close(listener);
	if (galvo_suite_stop(suite, NULL) != GALVO_OK)
		return FAILS;
	galvo_suite_destroy(suite);
	snprintf(path, sizeof(path), "%s/closed/session_metadata.pb", base);
	if (!is_sound("closed") || stat(path, &before) != 0 || !streams_are_closed())
		return TAKEN;
	return stat(path, &after) == 0 && before.st_size == after.st_size ? FINE : FAILS;
}

static void closed_streams(void)
{
	for (mode = GALVO_IN_PROCESS; mode <= GALVO_SIDECAR; mode++) {
		in_child(without_streams, FINE);
		OK(is_sound("closed"));
	}
	mode = GALVO_IN_PROCESS;
}

/* ---- limits ------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals = signals + 1;
}

/* A session fits in no file of 100 bytes. The signal would end the program if it came. */
static int with_small_files(void)
{
	galvo_suite *suite = NULL;
	galvo_error e = {0};

	setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
	if (start("small", &suite, &e) != GALVO_ERR_IO || e.sys_errno != EFBIG ||
	    !strstr(e.text, "small: session_metadata.pb: "))
		return FAILS;
	galvo_suite_destroy(suite);
	return FINE;
}

/* The handler is the program's, for files of its own; what was pending before still is. */
static int with_a_handler(void)
{
	galvo_suite *suite = NULL;
	sigset_t set, pending;

	signal(SIGXFSZ, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
	if (start("small", &suite, NULL) == GALVO_OK)
		return NO_START;
	galvo_suite_destroy(suite);
	if (signals)
		return SIGNALLED;
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGXFSZ);
	if (start("small", &suite, NULL) == GALVO_OK)
		return NO_START;
	galvo_suite_destroy(suite);
	sigpending(&pending);
	return sigismember(&pending, SIGXFSZ) && !signals ? FINE : SIGNALLED;
}

/* However few descriptors there are: it starts, or says which file it was. */
static int with_few_descriptors(void)
{
	galvo_suite *suite = NULL;
	galvo_error e = {0};
	galvo_status status;
	char path[128];
	rlim_t n;

	snprintf(path, sizeof(path), "%s/few", base);
	for (n = 3; n < 3 + 4 * FDS_OF_A_POOR_ONE; n++) {
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){n, 4096});
		suite = NULL;
		status = start("few", &suite, &e);
		if (status == GALVO_OK)
			status = galvo_suite_stop(suite, &e);
		else if (e.sys_errno != EMFILE || !strchr(e.text, ':'))
			return FAILS;
		galvo_suite_destroy(suite);
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){4096, 4096});
		if (status == GALVO_OK && !is_sound("few"))
			return TAKEN;
		host_remove(path);
	}
	return status == GALVO_OK ? FINE : NO_START;
}

static bool wait_for_ticks(const galvo_suite *suite, uint64_t more)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	const struct timespec moment = {0, 1000000};
	uint64_t until = 0;
	int i;

	for (i = 0; i < PATIENCE_MS && (!until || stats.ticks < until); i++) {
		nanosleep(&moment, NULL);
		galvo_suite_get_stats(suite, &stats, NULL);
		until = until ? until : stats.ticks + more;
	}
	return stats.ticks >= until && stats.processes_alive > CHILDREN;
}

/* More files could be kept open than there are descriptors: the program finds some all the same. */
static int with_many_processes(void)
{
	int taken[OWN_FDS], i, answer = FINE;
	pid_t children[CHILDREN];
	galvo_suite *suite = NULL;

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){5 * CHILDREN, 4096});
	for (i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0)
			for (;;)
				pause();
	}
	if (start_family("many", &suite) != GALVO_OK)
		answer = NO_START;
	if (answer == FINE && !wait_for_ticks(suite, 200))
		answer = FAILS;
	for (i = 0; i < OWN_FDS && answer == FINE; i++)
		if ((taken[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
			answer = TAKEN;
	if (answer == FINE && (!wait_for_ticks(suite, 200) || galvo_suite_stop(suite, NULL) != GALVO_OK))
		answer = FAILS;
	for (i = 0; i < CHILDREN; i++)
		kill(children[i], SIGKILL);
	galvo_suite_destroy(suite);
	return answer == FINE && !is_sound("many") ? FAILS : answer;
}

static void limits(void)
{
	in_child(with_small_files, FINE);
	in_child(with_a_handler, FINE);
	for (mode = GALVO_IN_PROCESS; mode <= GALVO_SIDECAR; mode++)
		in_child(with_few_descriptors, FINE);
	mode = GALVO_IN_PROCESS;
	in_child(with_many_processes, FINE);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static galvo_suite *running;

static void last_words(void)
{
	uint64_t id = galvo_region_begin(galvo_suite_host_tracker(running), "the end", 7);

	galvo_region_end(galvo_suite_host_tracker(running), id);
	_exit(id ? FINE : FAILS);
}

/* Nobody stops it; handlers of the program run, and may speak to it. */
static int that_exits(void)
{
	atexit(last_words);
	return start("exits", &running, NULL) == GALVO_OK ? 0 : NO_START;
}

/* A child that the program forks while galvo records: not recorded, and not in its way. */
static int that_forks(void)
{
	galvo_suite *suite;
	int status = 0;
	pid_t pid;

	if (start("forks", &suite, NULL) != GALVO_OK)
		return NO_START;
	pid = fork();
	if (pid == 0) {
		uint64_t id = galvo_region_begin(galvo_suite_host_tracker(suite), "child", 5);

		galvo_region_end(galvo_suite_host_tracker(suite), id);
		_exit(id ? FAILS : FINE);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != FINE)
		return FAILS;
	if (galvo_suite_stop(suite, NULL) != GALVO_OK)
		return FAILS;
	galvo_suite_destroy(suite);
	return is_sound("forks") ? FINE : TAKEN;
}

static void ends(void)
{
	galvo_check_result result = {0};
	char path[128];

	in_child(that_exits, FINE);
	snprintf(path, sizeof(path), "%s/exits", base);
	OK(galvo_run_check(path, NULL, NULL, &result, NULL) == GALVO_OK);
	OK(!result.is_complete && !result.damaged_messages && !result.torn_bytes);
	in_child(that_forks, FINE);
}

static const struct tap_test tests[] = {
	{"closed streams", closed_streams},
	{"limits on files", limits},
	{"exits and forks", ends},
};

int main(void)
{
	int failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));

	host_remove(base);
	return failed;
}
