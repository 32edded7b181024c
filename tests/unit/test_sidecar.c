/* A suite in a helper process: calls and errors as in the caller's own, and what it is told in bytes. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "galvo/galvo.h"
#include "host.h"
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
	while (stats.ticks < 1000 && galvo_suite_get_stats(suite, &stats, e) == GALVO_OK)
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
	c.no_events = 1;
	c.system_hz = c.core_hz = 1000;
	c.budget_pct = 100;
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){64 << 10, before.rlim_max};
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
	static const galvo_process nobody = {.pid = INT32_MAX};
	static const char *const no_disk[] = {"nvme99n99"};
	galvo_suite_config c = config_for(GALVO_SIDECAR);

	same_failure(&c, stop_too_soon, "stop: not started");
	same_failure(&c, start_twice, "start: started before");
	same_failure(&c, add_too_soon, "not started");
	same_failure(&c, add_nobody, "process 2147483647");
	same_failure(&c, remove_stranger, "not followed");
	same_failure(&c, replay_here, "live machine");
	same_failure(&c, ask_too_soon, "stats: not started");
	same_failure(&c, remove_from_events, "has no processes");
	c.processes = &nobody;
	c.processes_len = 1;
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

static void programs(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	host_remove(in_base("beside"));
	self[n > 0 ? n : 0] = '\0';
	refused_program("/none-such", GALVO_ERR_ABSENT, "sidecar: /none-such: No such file");
	refused_program("/", GALVO_ERR_DENIED, "sidecar: /: Permission denied");
	refused_program("/bin/true", GALVO_ERR_ABSENT, "the program is no galvo-sidecar");
	refused_program(self, GALVO_ERR_NEWER, "the program is of galvo 0.0.0, protocol 1; expected ");
	OK(setenv("GALVO_SIDECAR", "/none-either", 1) == 0);
	refused_program(NULL, GALVO_ERR_ABSENT, "sidecar: /none-either: No such file");
	OK(unsetenv("GALVO_SIDECAR") == 0);
	refused_program(NULL, GALVO_ERR_ABSENT, "there is no galvo-sidecar in ");
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

static void cpus(void)
{
	static const struct {
		const char *text;
		bool is_fine;
		unsigned long low;
	} rows[] = {
		{NULL, true, 0}, {"0", true, 1}, {"0-3,8", true, 0x10f}, {" 1 , 2-2", true, 6}, {"8191", true, 0},
		{"", false, 0}, {",", false, 0}, {"0,", false, 0}, {"3-1", false, 0}, {"8192", false, 0},
		{"-1", false, 0}, {"1-", false, 0}, {"a", false, 0}, {"1-2-3", false, 0},
		{"99999999999999999999", false, 0},
	};
	struct cpus set;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!OK(suite_parse_cpus(rows[i].text, &set) == rows[i].is_fine) ||
		    !OK(!rows[i].is_fine || set.bits[0] == rows[i].low))
			printf("# '%s': %lx\n", rows[i].text, set.bits[0]);
}

/* ---- hostile bytes ---------------------------------------------------------------------------------- */

/* A sidecar of ours to talk to; orphans come to this program, so its end is known. */
static int talk(pid_t *ret_pid)
{
	int fds[2];

	if (!OK(fd_pair(fds)) || !OK(sidecar_spawn(SIDECAR, fds[1], ret_pid, NULL) == GALVO_OK))
		return -1;
	close(fds[1]);
	return fds[0];
}

static void hang_up(int fd, pid_t pid)
{
	int status = -1;

	close(fd);
	OK(waitpid(pid, &status, 0) == pid);
	EQ(status, 0);
}

/* An answer comes, and it is a refusal. */
static void say_rubbish(int fd, struct span bytes)
{
	struct sidecar_memory memory = {0};
	struct sidecar_message reply;
	struct buf in;

	buf_init(&in, 1 << 20);
	OK(sidecar_send(fd, bytes, NULL, 0, NULL) == GALVO_OK);
	OK(sidecar_receive(fd, &in, NULL, NULL) == GALVO_OK);
	OK(sidecar_take_message(span_of(in.p, in.len), &reply, &memory, NULL) == GALVO_OK && reply.code &&
	   reply.text);
	sidecar_memory_free(&memory);
	buf_finish(&in);
}

static void hostile(void)
{
	static const char *const rows[] = {
		"", "\xff", "\x08", "\x08\x02", "\x08\x63", "\x08\x02\x42\x01\xff", "\x08\x06\x3a\x02" "a",
		"\x08\x09", "\x08\x08\x42\x04\x0a\x02" "ab", "\x0d\x01\x02\x03\x04", "\x42\x7f", "\x48\x01",
		"\x08\x02\x42\x09\x52\x07\x1a\x05" "alias", "\x08\x02\x30\x0e", "\x08\x02\x42\x04\x0a\x02" "x\x01",
	};
	char large[100000], *more;
	pid_t pid = 0;
	size_t i;
	int fd = talk(&pid);

	for (i = 0; fd >= 0 && i < ARRAY_LEN(rows); i++)
		say_rubbish(fd, span_str(rows[i]));
	memset(large, 0x0a, sizeof(large));
	say_rubbish(fd, span_of(large, sizeof(large)));
	hang_up(fd, pid);
	/* A datagram longer than any message has, and one that is empty: it hangs up. */
	fd = talk(&pid);
	OK(send(fd, large, sizeof(large), MSG_NOSIGNAL) == (ssize_t)sizeof(large));
	hang_up(fd, pid);
	fd = talk(&pid);
	OK(send(fd, large, 0, MSG_NOSIGNAL) == 0);
	hang_up(fd, pid);
	/* One without an end. */
	fd = talk(&pid);
	more = alloc_array(1 << 15, 1);
	more[0] = 1;
	for (i = 0; i < 2000 && send(fd, more, 1 << 15, MSG_NOSIGNAL) > 0; i++)
		;
	OK(i < 2000);
	free(more);
	hang_up(fd, pid);
}

static void round_trip(void)
{
	static const char *const disks[] = {"sda", "nvme0n1"}, *const notes[] = {"a: b"};
	static const galvo_process processes[] = {{.pid = 0, .alias = ""}, {.pid = 7, .profilers = 8}};
	galvo_suite_config c = config_for(GALVO_SIDECAR), got;
	struct sidecar_memory memory;
	struct buf bytes;
	size_t i;

	c.disks = disks;
	c.disks_len = 2;
	c.notes = notes;
	c.notes_len = 1;
	c.processes = processes;
	c.processes_len = 2;
	c.system_hz = 0.5;
	c.flush_interval_ms = UINT64_MAX;
	c.sidecar_cpus = "0-1";
	buf_init(&bytes, 1 << 20);
	sidecar_put_config(&bytes, &c, 99);
	OK(sidecar_take_config(span_of(bytes.p, bytes.len), &got, &memory, NULL) == GALVO_OK);
	OK(got.struct_size == sizeof(got) && !strcmp(got.output_dir, c.output_dir) && !got.root);
	OK(got.disks_len == 2 && !strcmp(got.disks[1], "nvme0n1") && got.notes_len == 1);
	OK(got.processes_len == 2 && got.processes[0].pid == 99 && !got.processes[0].alias[0] &&
	   got.processes[1].profilers == 8 && !got.processes[1].alias);
	OK(got.system_hz > 0.4 && got.system_hz < 0.6 && got.flush_interval_ms == UINT64_MAX);
	OK(!strcmp(got.sidecar_cpus, "0-1") && got.overwrite == 1 && got.mode == GALVO_IN_PROCESS);
	sidecar_memory_free(&memory);
	for (i = 0; i < bytes.len; i++) { /* cut anywhere: no crash, and mostly no configuration */
		sidecar_take_config(span_of(bytes.p, i), &got, &memory, NULL);
		sidecar_memory_free(&memory);
	}
	buf_finish(&bytes);
}

static const struct tap_test tests[] = {
	{"failures", failures},
	{"a full disk", full_disk},
	{"directories", directories},
	{"relative", relative},
	{"replays", replays},
	{"programs", programs},
	{"lists of CPUs", cpus},
	{"hostile bytes", hostile},
	{"round trip", round_trip},
};

int main(int argc, char **argv)
{
	int failed;

	if (argc && !strcmp(argv[0], SIDECAR_PROGRAM))
		return be_another_version();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));
	host_remove(base);
	return failed;
}
