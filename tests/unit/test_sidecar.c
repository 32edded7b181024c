/* A suite in a helper process: calls and errors as in the caller's own, and what it is told in bytes. */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "galvo/galvo.h"
#include "host.h"
#include "scratch.h"
#include "suite/sidecar.h"

static char base[] = "/tmp/galvo-sidecar-XXXXXX";

static const char *in_base(const char *name)
{
	static char path[4][160];
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", base, name);
	return to;
}

static galvo_suite_config config_for(int32_t mode)
{
	galvo_suite_config config = galvo_suite_config_default();

	config.mode = mode;
	config.sidecar_path = SIDECAR;
	config.system_hz = config.disk_hz = 1000;
	config.overwrite = 1;
	config.output_dir = mode ? in_base("beside") : in_base("within");
	return config;
}

/* ---- the same in both modes ------------------------------------------------------------------------- */

/* Up to the first call that fails; what it says, with the name of the directory evened out. */
static galvo_status try_life(const galvo_suite_config *config,
                             galvo_status (*call)(galvo_suite *, galvo_error *), galvo_error *e)
{
	galvo_suite *suite = NULL;
	galvo_status status = galvo_suite_create(config, &suite, e);
	char *name;

	if (status == GALVO_OK)
		status = call(suite, e);
	galvo_suite_destroy(suite);
	name = strstr(e->text, "within");
	if (name)
		memcpy(name, "beside", 6);
	return status;
}

static void same_failure(const galvo_suite_config *config,
                         galvo_status (*call)(galvo_suite *, galvo_error *), const char *words)
{
	galvo_suite_config own = *config, other = *config;
	galvo_error e[2] = {{0}};
	galvo_status status[2];

	own.mode = GALVO_IN_PROCESS;
	own.output_dir = config->output_dir ? in_base("within") : NULL;
	other.mode = GALVO_SIDECAR;
	other.output_dir = config->output_dir ? in_base("beside") : NULL;
	status[0] = try_life(&own, call, &e[0]);
	status[1] = try_life(&other, call, &e[1]);
	if (!OK(status[0] == status[1] && status[0] < 0 && e[0].status == e[1].status &&
	        e[0].sys_errno == e[1].sys_errno && !strcmp(e[0].text, e[1].text) &&
	        strstr(e[0].text, words)))
		printf("# %d '%s', %d '%s', not '%s'\n", (int)status[0], e[0].text, (int)status[1],
		       e[1].text, words);
}

static galvo_status start_it(galvo_suite *suite, galvo_error *e)
{
	return galvo_suite_start(suite, e);
}

static galvo_status stop_too_soon(galvo_suite *suite, galvo_error *e)
{
	return galvo_suite_stop(suite, e);
}

static galvo_status start_twice(galvo_suite *suite, galvo_error *e)
{
	OK(galvo_suite_start(suite, e) == GALVO_OK);
	return galvo_suite_start(suite, e);
}

static galvo_status add_too_soon(galvo_suite *suite, galvo_error *e)
{
	return galvo_suite_add_process(suite, 1, NULL, e);
}

static galvo_status add_nobody(galvo_suite *suite, galvo_error *e)
{
	OK(galvo_suite_start(suite, e) == GALVO_OK);
	return galvo_suite_add_process(suite, INT32_MAX, NULL, e);
}

static galvo_status add_nonsense(galvo_suite *suite, galvo_error *e)
{
	OK(galvo_suite_start(suite, e) == GALVO_OK);
	return galvo_suite_add(suite, &(galvo_process){.pid = 1, .follow = -1}, e);
}

static galvo_status add_reserved(galvo_suite *suite, galvo_error *e)
{
	OK(galvo_suite_start(suite, e) == GALVO_OK);
	return galvo_suite_add(suite, &(galvo_process){.pid = 1, .reserved = 1}, e);
}

static galvo_status reap_too_soon(galvo_suite *suite, galvo_error *e)
{
	galvo_child child = {.struct_size = sizeof(child)};

	return galvo_suite_reap(suite, &child, e);
}

static galvo_status stop_twice(galvo_suite *suite, galvo_error *e)
{
	OK(galvo_suite_start(suite, e) == GALVO_OK && galvo_suite_stop(suite, e) == GALVO_OK);
	return galvo_suite_stop(suite, e);
}

static galvo_status remove_stranger(galvo_suite *suite, galvo_error *e)
{
	OK(galvo_suite_start(suite, e) == GALVO_OK);
	return galvo_suite_remove_process(suite, 1, e);
}

static galvo_status replay_here(galvo_suite *suite, galvo_error *e)
{
	return galvo_suite_replay(suite, e);
}

static galvo_status ask_too_soon(galvo_suite *suite, galvo_error *e)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};

	return galvo_suite_get_stats(suite, &stats, e);
}

static galvo_status remove_from_events(galvo_suite *suite, galvo_error *e)
{
	return galvo_profiler_remove_process(galvo_suite_event_profiler(suite), 1, e);
}

/* More than a file may hold. */
static galvo_status stop_when_full(galvo_suite *suite, galvo_error *e)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	const struct timespec moment = {0, NS_PER_MS};

	OK(galvo_suite_start(suite, e) == GALVO_OK);
	while (stats.ticks < 500 && galvo_suite_get_stats(suite, &stats, e) == GALVO_OK)
		nanosleep(&moment, NULL);
	return galvo_suite_stop(suite, e);
}

static void full_disk(void)
{
	galvo_suite_config c = config_for(GALVO_SIDECAR);
	struct rlimit before, small;
	galvo_suite *suite = NULL;
	galvo_error e = {0};

	/* It has no signal of it, nor memory for regions, which is a file to the kernel. */
	c.no_events = c.no_disk = 1;
	c.system_hz = c.core_hz = 1000;
	c.budget_pct = 100;
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){24 << 10, before.rlim_max};
	OK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	same_failure(&c, stop_when_full, "beside: system_metrics.pb: File too large");
	small.rlim_cur = 100;
	OK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	same_failure(&c, start_it, "beside: session_metadata.pb: File too large");
	c.no_events = 0;
	EQ(galvo_suite_create(&c, &suite, &e), GALVO_ERR_IO);
	OK(!strcmp(e.text, "memory for regions: File too large"));
	OK(setrlimit(RLIMIT_FSIZE, &before) == 0);
}

static void failures(void)
{
	static const galvo_process nobody = {.pid = INT32_MAX}, strange = {.pid = 1, .follow = 9};
	static const char *const no_disk[] = {"nvme99n99"};
	galvo_suite_config c = config_for(GALVO_SIDECAR);

	same_failure(&c, stop_too_soon, "stop: not started");
	same_failure(&c, start_twice, "start: started before");
	same_failure(&c, add_too_soon, "not started");
	same_failure(&c, add_nobody, "process 2147483647");
	same_failure(&c, add_nonsense, "process 1: follow: expected a galvo_follow");
	same_failure(&c, add_reserved, "process 1: follow: expected a galvo_follow");
	same_failure(&c, reap_too_soon, "reap: not started");
	same_failure(&c, stop_twice, "stop: stopped already");
	same_failure(&c, remove_stranger, "not followed");
	same_failure(&c, replay_here, "live machine");
	same_failure(&c, ask_too_soon, "stats: not started");
	same_failure(&c, remove_from_events, "has no processes");
	c.processes = &strange;
	c.processes_len = 1;
	same_failure(&c, start_it, "process 1: follow: expected a galvo_follow");
	c.processes = &nobody;
	same_failure(&c, start_it, "process 2147483647");
	c.processes_len = 0;
	c.disks = no_disk;
	c.disks_len = 1;
	c.require_disks = 1;
	same_failure(&c, start_it, "there is no block device 'nvme99n99'");
	c = config_for(GALVO_SIDECAR);
	c.root = "/none-such";
	same_failure(&c, start_it, "/none-such");
	c.root = FIXTURES "/machine/small";
	same_failure(&c, start_it, "captured machine");
	c = config_for(GALVO_SIDECAR);
	c.system_hz = 1e9;
	same_failure(&c, start_it, "system_hz");
	c = config_for(GALVO_SIDECAR);
	c.metric_catalog_path = "/none-such";
	same_failure(&c, start_it, "/none-such");
	c = config_for(GALVO_SIDECAR);
	c.output_dir = NULL;
	same_failure(&c, start_it, "output_dir");
}

/* Of a run: who was followed, and how `pid` ended. */
static size_t count_processes(const char *dir, pid_t pid, galvo_run_process *ret)
{
	galvo_run_process p = {.struct_size = sizeof(p)};
	galvo_run *run = NULL;
	size_t n = 0;

	if (!OK(galvo_run_open(dir, &run, NULL) == GALVO_OK))
		return 0;
	for (; galvo_run_process_at(run, n, &p, NULL) == GALVO_OK; n++)
		if (p.pid == (uint32_t)pid) {
			*ret = p;
			OK(!strcmp(p.alias, "named"));
		}
	galvo_run_close(run);
	return n;
}

static pid_t reap_one(galvo_suite *suite, galvo_child *ret)
{
	const struct timespec moment = {0, NS_PER_MS};
	galvo_status status;

	*ret = (galvo_child){.struct_size = sizeof(*ret)};
	while ((status = galvo_suite_reap(suite, ret, NULL)) == GALVO_DONE)
		nanosleep(&moment, NULL);
	EQ(status, GALVO_OK);
	return (pid_t)ret->pid;
}

/* A process that is followed without its children has two: one of them is added, and both end. */
static void reaps(void)
{
	const galvo_process self = {.follow = GALVO_FOLLOW_SELF};
	int32_t mode;

	for (mode = GALVO_IN_PROCESS; mode <= GALVO_SIDECAR; mode++) {
		galvo_suite_config c = config_for(mode);
		galvo_run_process seen = {0};
		galvo_suite *suite = NULL;
		galvo_child child;
		pid_t named, other;

		c.processes = &self;
		c.processes_len = 1;
		c.follow = GALVO_FOLLOW_TREE;
		c.scan_interval_ms = 1;
		OK(galvo_suite_create(&c, &suite, NULL) == GALVO_OK);
		OK(galvo_suite_start(suite, NULL) == GALVO_OK);
		named = a_child();
		other = a_child();
		OK(galvo_suite_add(suite, &(galvo_process){.pid = (uint32_t)named, .alias = "named"}, NULL) ==
		   GALVO_OK);
		nanosleep(&(struct timespec){0, 100 * NS_PER_MS}, NULL); /* scans look for others */
		EQ(galvo_suite_reap(suite, &child, NULL), GALVO_DONE);
		kill(named, SIGTERM);
		OK(reap_one(suite, &child) == named && child.term_signal == SIGTERM &&
		   child.exit_code == 128 + SIGTERM && child.max_rss_bytes);
		kill(other, SIGKILL);
		OK(reap_one(suite, &child) == other && child.term_signal == SIGKILL);
		OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
		EQ(galvo_suite_reap(suite, &child, NULL), GALVO_DONE);
		galvo_suite_destroy(suite);
		EQ(count_processes(c.output_dir, named, &seen), 2);
		OK(seen.has_status && seen.term_signal == SIGTERM && seen.exit_code == 128 + SIGTERM);
		OK(seen.has_rusage && seen.max_rss_bytes);
	}
}

static void record_once(int32_t mode)
{
	galvo_suite_config config = config_for(mode);
	galvo_suite *suite = NULL;

	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK);
	OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
}

static void directories(void)
{
	galvo_suite_config c = config_for(GALVO_SIDECAR);

	record_once(GALVO_IN_PROCESS);
	record_once(GALVO_SIDECAR);
	c.overwrite = 0;
	same_failure(&c, start_it, "holds a recording already");
	host_remove(in_base("within"));
	host_remove(in_base("beside"));
	OK(mkdir(in_base("within"), 0777) == 0 && mkdir(in_base("beside"), 0777) == 0);
	OK(mkdir(in_base("within/events.pb"), 0777) == 0 && mkdir(in_base("beside/events.pb"), 0777) == 0);
	same_failure(&c, start_it, "no plain file");
	host_remove(in_base("within"));
	host_remove(in_base("beside"));
}

/* A relative name is one below where the program was at create. */
static void relative(void)
{
	galvo_suite_config c = config_for(GALVO_SIDECAR);
	galvo_check_result result = {0};
	galvo_suite *suite = NULL, *idle = NULL;

	OK(chdir(base) == 0);
	c.output_dir = "relative";
	OK(galvo_suite_create(&c, &suite, NULL) == GALVO_OK);
	c.output_dir = "idle";
	OK(galvo_suite_create(&c, &idle, NULL) == GALVO_OK && access(in_base("idle"), F_OK) == 0);
	OK(chdir("/") == 0);
	galvo_suite_destroy(idle);
	OK(access(in_base("idle"), F_OK) != 0);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK && galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	OK(galvo_run_check(in_base("relative"), NULL, NULL, &result, NULL) == GALVO_OK && result.is_sound);
}

static void replays(void)
{
	static const galvo_process root = {.pid = 100, .alias = "the shell"};
	static const char *const names[] = {"system_metrics.pb", "disk_metrics.pb"};
	struct span text[2];
	struct buf file[2];
	size_t i, k;

	for (i = 0; i < 2; i++) {
		galvo_suite_config c = config_for((int32_t)i);
		galvo_suite *suite = NULL;

		c.root = FIXTURES "/machine/small";
		c.processes = &root;
		c.processes_len = 1;
		c.follow = GALVO_FOLLOW_TREE;
		OK(galvo_suite_create(&c, &suite, NULL) == GALVO_OK && galvo_suite_is_replay(suite));
		OK(!galvo_suite_event_profiler(suite));
		EQ(galvo_tracker_status(galvo_suite_host_tracker(suite), NULL), GALVO_ERR_ABSENT);
		OK(galvo_suite_replay(suite, NULL) == GALVO_OK);
		galvo_suite_destroy(suite);
	}
	for (k = 0; k < ARRAY_LEN(names); k++) {
		for (i = 0; i < 2; i++) {
			char path[256];

			snprintf(path, sizeof(path), "%s/%s", in_base(i ? "beside" : "within"), names[k]);
			buf_init(&file[i], 1 << 20);
			OK(file_read(AT_FDCWD, path, &file[i], &text[i], NULL) == GALVO_OK);
		}
		OK(text[0].n > 0 && span_eq(text[0], text[1]));
		buf_finish(&file[0]);
		buf_finish(&file[1]);
	}
}

/* ---- the program that is started -------------------------------------------------------------------- */

static void refused_program(const char *path, galvo_status want, const char *words)
{
	galvo_suite_config c = config_for(GALVO_SIDECAR);
	galvo_suite *suite = NULL;
	galvo_error e = {0};

	c.sidecar_path = path;
	if (!OK(galvo_suite_create(&c, &suite, &e) == want && !suite && strstr(e.text, words)))
		printf("# %s: %s\n", path, e.text);
	OK(access(c.output_dir, F_OK) != 0);
}

/* A copy of this program that is another user's, and runs as that one: it has no say in what is started. */
static void privileged(const char *self)
{
	char *const argv[] = {(char[]){"privileged"}, NULL};
	char *const envp[] = {(char[]){"GALVO_SIDECAR=/none-such"}, NULL};
	const char *copy = in_base("privileged");
	struct span text = {0};
	struct buf program;
	int status = -1, fd;
	size_t n = 0;
	pid_t pid;

	buf_init(&program, 64 << 20);
	fd = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	OK(file_read(AT_FDCWD, self, &program, &text, NULL) == GALVO_OK);
	OK(file_write_all(fd, text.p, text.n, &n) == 0 && close(fd) == 0 && chmod(base, 0755) == 0);
	buf_finish(&program);
	if (chown(copy, 65534, 65534) != 0) {
		printf("# not root: privileges are not tried\n");
		return;
	}
	OK(chmod(copy, 04755) == 0);
	pid = fork();
	if (pid == 0) {
		execve(copy, argv, envp);
		_exit(1);
	}
	OK(waitpid(pid, &status, 0) == pid);
	EQ(WEXITSTATUS(status), 0);
}

static _Noreturn void be_privileged(void)
{
	_exit(getauxval(AT_SECURE) && world_setting("GALVO_SIDECAR") ? 1 : 0);
}

static void programs(void)
{
	galvo_suite_config c = config_for(GALVO_SIDECAR);
	galvo_suite *suite = NULL;
	galvo_error e = {0};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	host_remove(in_base("beside"));
	self[n > 0 ? n : 0] = '\0';
	refused_program("/none-such", GALVO_ERR_ABSENT, "sidecar: /none-such: No such file");
	refused_program("/", GALVO_ERR_DENIED, "sidecar: /: Permission denied");
	refused_program("/bin/true", GALVO_ERR_ABSENT, "the program is no galvo-sidecar");
	refused_program(self, GALVO_ERR_NEWER, "the program is of galvo 0.0.0, protocol 3; expected ");
	OK(setenv("GALVO_SIDECAR", "/none-either", 1) == 0);
	refused_program(NULL, GALVO_ERR_ABSENT, "sidecar: /none-either: No such file");
	OK(unsetenv("GALVO_SIDECAR") == 0);
	refused_program(NULL, GALVO_ERR_ABSENT, "there is no galvo-sidecar in ");
	privileged(self);
	c.sidecar_cpus = "8191";
	EQ(galvo_suite_create(&c, &suite, &e), GALVO_ERR_INVALID);
	OK(!strcmp(e.text, "sidecar_cpus: none of 8191 may be used"));
}

/* What this program does when it is started as a sidecar: it answers as another version would. */
static int be_another_version(void)
{
	const struct sidecar_message hello = {.protocol = SIDECAR_PROTOCOL, .text = "0.0.0"};
	struct buf in, out;

	buf_init(&in, 1 << 20);
	buf_init(&out, 1 << 20);
	if (sidecar_receive(SIDECAR_FD, &in, NULL, NULL) != GALVO_OK)
		return 1;
	sidecar_put_message(&out, &hello);
	sidecar_send(SIDECAR_FD, span_of(out.p, out.len), NULL, 0, NULL);
	return sidecar_receive(SIDECAR_FD, &in, NULL, NULL) == GALVO_DONE;
}

static const struct tap_test tests[] = {
	{"failures", failures},
	{"a full disk", full_disk},
	{"reaps", reaps},
	{"directories", directories},
	{"relative", relative},
	{"replays", replays},
	{"programs", programs},
};

int main(int argc, char **argv)
{
	int failed;

	if (argc && !strcmp(argv[0], SIDECAR_PROGRAM))
		return be_another_version();
	if (argc && !strcmp(argv[0], "privileged"))
		be_privileged();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));
	host_remove(base);
	return failed;
}
