/* A suite in a helper process, and programs that end, stop, fork, close everything or are killed meanwhile. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "galvo/galvo.h"
#include "host.h"

enum { FINE = 40, NO_START, FAILS, PATIENCE_MS = 10000, FEW_KILLS = 3 };

static char base[] = "/tmp/galvo-ends-XXXXXX";
static size_t kills = FEW_KILLS;

/* What a program says of itself as it goes, in memory that we share with it. */
struct said {
	_Atomic int has_begun;
	_Atomic uint64_t regions; /* ended */
	_Atomic uint64_t mono_ns; /* just now */
	_Atomic int child, child_failed;
};
static struct said *said;

static void pass_time(uint64_t ns)
{
	_Atomic uint32_t stop = 0;

	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ns, &stop);
}

static const char *in_base(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", base, name);
	return to;
}

static galvo_suite_config config_for(const char *dir, const galvo_process *self)
{
	galvo_suite_config config = galvo_suite_config_default();

	config.output_dir = in_base(dir);
	config.overwrite = 1;
	config.mode = GALVO_SIDECAR;
	config.sidecar_path = SIDECAR;
	config.system_hz = 1000;
	config.budget_pct = 100;
	config.processes = self;
	config.processes_len = 1;
	config.follow = GALVO_FOLLOW_TREE;
	return config;
}

static galvo_suite *begin(const char *dir)
{
	const galvo_process self = {0};
	galvo_suite_config config = config_for(dir, &self);
	galvo_suite *suite = NULL;
	galvo_error e = {0};

	if (galvo_suite_create(&config, &suite, &e) == GALVO_OK &&
	    galvo_suite_start(suite, &e) == GALVO_OK) {
		said->has_begun = 1;
		return suite;
	}
	printf("# %s\n", e.text);
	_exit(NO_START);
}

/* One region after the other, until it is ended from outside; in the middle of each it says so. */
static void speak_for_ever(galvo_suite *suite)
{
	galvo_tracker *t = galvo_suite_host_tracker(suite);
	uint64_t id;

	for (;;) {
		id = galvo_region_begin(t, "r", 1);
		galvo_region_end(t, id);
		said->regions += id != 0;
		said->mono_ns = clock_real.mono_ns(&clock_real);
		pass_time(NS_PER_MS / 10);
	}
}

/* ---- the test's side -------------------------------------------------------------------------------- */

static pid_t start_host(int (*program)(void))
{
	pid_t pid;

	*said = (struct said){0};
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(program());
	return pid;
}

static void await_begin(void)
{
	size_t i;

	for (i = 0; i < PATIENCE_MS && !said->regions; i++)
		pass_time(NS_PER_MS);
	OK(said->regions);
}

static int status_of(pid_t pid)
{
	int status = -1;

	OK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Orphans come to us, so this is the next sidecar that ends; it does so well, and soon. */
static void await_sidecar(void)
{
	uint64_t start_ns = clock_real.mono_ns(&clock_real);
	int status = -1;
	pid_t pid = 0;
	size_t i;

	for (i = 0; i < PATIENCE_MS && pid == 0; i++) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid == 0)
			pass_time(NS_PER_MS);
	}
	if (!OK(pid > 0 && status == 0))
		printf("# sidecar %d: status %x after %llu ms\n", (int)pid, (unsigned)status,
		       (unsigned long long)(clock_real.mono_ns(&clock_real) - start_ns) / NS_PER_MS);
}

struct ended {
	galvo_run *run;
	galvo_run_info info;
	size_t regions, unfinished;
};

static bool open_run(const char *dir, struct ended *ret)
{
	galvo_run_region region = {.struct_size = sizeof(region)};

	*ret = (struct ended){.info.struct_size = sizeof(ret->info)};
	if (galvo_run_open(in_base(dir), &ret->run, NULL) != GALVO_OK)
		return false;
	galvo_run_get_info(ret->run, &ret->info, NULL);
	while (galvo_run_region_at(ret->run, ret->regions + ret->unfinished, &region, NULL) == GALVO_OK)
		*(region.is_unfinished ? &ret->unfinished : &ret->regions) += 1;
	return true;
}

static bool has_note(const galvo_run *run, const char *text)
{
	galvo_run_note note = {.struct_size = sizeof(note)};
	size_t i;

	for (i = 0; galvo_run_note_at(run, i, &note, NULL) == GALVO_OK; i++)
		if (!strcmp(note.subject, "sidecar") && strstr(note.text, text))
			return true;
	return false;
}

/* Closed and whole, with all that was said, and rows until the end. NULL: no note is expected. */
static void check_run(const char *dir, const char *note)
{
	galvo_check_result result = {0};
	struct ended r;

	OK(galvo_run_check(in_base(dir), NULL, NULL, &result, NULL) == GALVO_OK);
	OK(result.is_complete && result.is_sound);
	if (!OK(open_run(dir, &r)))
		return;
	OK(r.info.stop_mono_ns >= said->mono_ns);
	OK(r.info.last_mono_ns + 500 * NS_PER_MS > said->mono_ns);
	OK(r.info.recorder_pid && r.info.recorder_pid != (uint32_t)getpid());
	if (!OK(r.regions >= said->regions && r.regions + r.unfinished <= said->regions + 1))
		printf("# %zu regions and %zu, %llu were said\n", r.regions, r.unfinished,
		       (unsigned long long)said->regions);
	OK(!note || has_note(r.run, note));
	galvo_run_close(r.run);
}

static pid_t sidecar_of(const char *dir)
{
	struct ended r;
	pid_t pid = 0;

	if (OK(open_run(dir, &r)))
		pid = (pid_t)r.info.recorder_pid;
	galvo_run_close(r.run);
	return pid;
}

/* ---- ends ------------------------------------------------------------------------------------------- */

static int that_speaks(void)
{
	speak_for_ever(begin("speaks"));
	return FAILS;
}

/* At any moment, also of its beginning: then there is a whole run, or none. */
static void killed(void)
{
	uint64_t moment = clock_real.mono_ns(&clock_real);
	size_t i;

	for (i = 0; i < kills; i++) {
		pid_t pid;

		host_remove(in_base("speaks"));
		pid = start_host(that_speaks);
		moment = moment * 6364136223846793005 + 1442695040888963407;
		if (i % 3)
			await_begin();
		pass_time(moment % (i % 3 ? 100 : 8) * NS_PER_MS);
		kill(pid, SIGKILL);
		OK(WIFSIGNALED(status_of(pid)));
		if (said->has_begun) {
			await_sidecar();
			check_run("speaks", "has ended without stopping it");
		} else {
			while (waitpid(-1, NULL, 0) > 0) /* if it came to that */
				;
			OK(access(in_base("speaks/session_metadata.pb"), F_OK) != 0 ||
			   galvo_run_check(in_base("speaks"), NULL, NULL, &(galvo_check_result){0}, NULL) ==
			           GALVO_OK);
		}
	}
}

static int that_exits(void)
{
	galvo_tracker *t = galvo_suite_host_tracker(begin("exits"));

	galvo_region_end(t, galvo_region_begin(t, "r", 1));
	said->regions = 1;
	said->mono_ns = clock_real.mono_ns(&clock_real);
	return FINE;
}

static void exits(void)
{
	EQ(WEXITSTATUS(status_of(start_host(that_exits))), FINE);
	await_sidecar();
	check_run("exits", "has ended without stopping it");
}

/* Afterwards its numbers are somebody else's. */
static int that_closes_everything(void)
{
	galvo_suite *suite = begin("closes");
	struct stat facts;
	galvo_error e;
	int fd, null;

	for (fd = 3; fd < 1024; fd++)
		close(fd);
	null = open("/dev/null", O_RDWR);
	for (fd = 3; fd < 64; fd++)
		if (fd != null)
			dup2(null, fd);
	if (galvo_suite_stop(suite, &e) != GALVO_ERR_STATE || !strstr(e.text, "has ended, or does not answer"))
		return FAILS;
	galvo_suite_signal_stop(suite);
	galvo_suite_destroy(suite);
	for (fd = 3; fd < 64; fd++)
		if (fstat(fd, &facts) != 0 || !S_ISCHR(facts.st_mode))
			return FAILS;
	return FINE;
}

static void closes_everything(void)
{
	EQ(WEXITSTATUS(status_of(start_host(that_closes_everything))), FINE);
	await_sidecar();
	check_run("closes", "has ended without stopping it");
}

/* Children have the socket, too: nobody hears of its end, but of the program's. */
static int that_forks(void)
{
	galvo_suite *suite = begin("forks");
	pid_t child = fork();

	if (child == 0) {
		galvo_tracker *t = galvo_suite_host_tracker(suite);
		galvo_suite_stats stats = {.struct_size = sizeof(stats)};
		galvo_workload workload = {.struct_size = sizeof(workload)};

		if (galvo_region_begin(t, "child", 5) ||
		    galvo_tracker_status(t, NULL) != GALVO_ERR_STATE ||
		    galvo_suite_stop(suite, NULL) != GALVO_ERR_STATE ||
		    galvo_suite_get_stats(suite, &stats, NULL) != GALVO_ERR_STATE ||
		    galvo_suite_set_workload(suite, &workload, NULL) != GALVO_ERR_STATE ||
		    galvo_suite_add_process(suite, 0, NULL, NULL) != GALVO_ERR_STATE)
			said->child_failed = 1;
		galvo_suite_signal_stop(suite);
		galvo_suite_destroy(suite);
		for (;;)
			pause();
	}
	said->child = child;
	speak_for_ever(suite);
	return FAILS;
}

static void forks(void)
{
	pid_t pid = start_host(that_forks);

	await_begin();
	pass_time(20 * NS_PER_MS);
	kill(pid, SIGKILL);
	OK(WIFSIGNALED(status_of(pid)));
	await_sidecar();
	check_run("forks", "has ended without stopping it");
	EQ(said->child_failed, 0);
	kill(said->child, SIGKILL); /* it has come to us */
	OK(WIFSIGNALED(status_of(said->child)));
}

/* ---- signals ---------------------------------------------------------------------------------------- */

static int that_outlives_it(void)
{
	galvo_suite *suite = begin("outlives");
	galvo_tracker *t = galvo_suite_host_tracker(suite);
	galvo_error e = {0};
	size_t i;

	galvo_region_end(t, galvo_region_begin(t, "r", 1));
	said->mono_ns = clock_real.mono_ns(&clock_real);
	said->regions = 1;
	for (i = 0; i < PATIENCE_MS && galvo_tracker_status(t, NULL) == GALVO_OK; i++)
		pass_time(NS_PER_MS);
	if (galvo_tracker_status(t, NULL) != GALVO_ERR_STATE || galvo_region_begin(t, "r", 1))
		return FAILS;
	for (i = 0; i < 2; i++)
		if (galvo_suite_stop(suite, &e) != GALVO_ERR_STATE || !strstr(e.text, "has ended"))
			return FAILS;
	galvo_suite_destroy(suite);
	return FINE;
}

static void terminated(void)
{
	pid_t pid = start_host(that_outlives_it);

	await_begin();
	OK(kill(sidecar_of("outlives"), SIGTERM) == 0);
	EQ(WEXITSTATUS(status_of(pid)), FINE);
	await_sidecar();
	check_run("outlives", "a signal ended the recording");
}

/* Nobody reads what the program says meanwhile, but it is stopped; its sidecar is not. */
static void stopped(void)
{
	pid_t pid = start_host(that_speaks);
	uint64_t stopped_mono_ns;
	struct ended r;

	await_begin();
	kill(pid, SIGSTOP);
	OK(waitpid(pid, &(int){0}, WUNTRACED) == pid);
	stopped_mono_ns = clock_real.mono_ns(&clock_real);
	pass_time(300 * NS_PER_MS);
	kill(pid, SIGKILL);
	OK(WIFSIGNALED(status_of(pid)));
	await_sidecar();
	check_run("speaks", "has ended without stopping it");
	if (OK(open_run("speaks", &r)))
		OK(r.info.last_mono_ns > stopped_mono_ns + 250 * NS_PER_MS);
	galvo_run_close(r.run);
}

/* ---- what a program sees of it ---------------------------------------------------------------------- */

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
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
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
	size_t n;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, on_child);
	suite = begin("adopts");
	if (waitpid(-1, NULL, WNOHANG) != 0)
		return FAILS;
	pass_time(300 * NS_PER_MS); /* scans look for children meanwhile */
	if (galvo_suite_stop(suite, NULL) != GALVO_OK)
		return FAILS + 1;
	galvo_suite_destroy(suite);
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
	pass_time(NS_PER_S);
	OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	return own_cpu_ns() - before_ns;
}

static void cost(void)
{
	uint64_t within_ns = cost_of(GALVO_IN_PROCESS), beside_ns = cost_of(GALVO_SIDECAR);

	printf("# own CPU time of a second at 1000 Hz: %.2f ms within, %.2f ms with a sidecar\n",
	       (double)within_ns / 1e6, (double)beside_ns / 1e6);
	OK(beside_ns * 5 < within_ns);
}

static const struct tap_test tests[] = {
	{"killed", killed},
	{"exits", exits},
	{"closes everything", closes_everything},
	{"forks", forks},
	{"its sidecar is terminated", terminated},
	{"stopped", stopped},
	{"looks", looks},
	{"adopts", adopts},
	{"cost", cost},
};

int main(int argc, char **argv)
{
	struct span n = span_str(argc > 1 ? argv[1] : NULL);
	uint64_t more;
	int failed;

	if (span_to_u64(n, &more))
		kills = more;
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	failed = said == MAP_FAILED || !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));
	host_remove(base);
	return failed;
}
