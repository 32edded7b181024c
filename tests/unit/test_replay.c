/* A captured machine replayed: every figure of the run is known beforehand, and the bytes repeat. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "galvo/suite.h"
#include "stream/stream.h"
#include "tap.h"

#define CPU(what) "cpu__cycles_" what ".avg.pct_of_peak_sustained_elapsed"
#define MACHINE FIXTURES "/machine/small"

static char base[] = "/tmp/galvo-replay-XXXXXX";

static galvo_status replay(const char *dir, galvo_error *error)
{
	static const galvo_process root = {.pid = 100, .alias = "the shell"};
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite *suite;
	galvo_status status;

	config.output_dir = dir;
	config.root = MACHINE;
	config.processes = &root;
	config.processes_len = 1;
	config.follow = GALVO_FOLLOW_TREE;
	status = galvo_suite_create(&config, &suite, error);
	if (status != GALVO_OK)
		return status;
	OK(galvo_suite_is_replay(suite));
	EQ(galvo_suite_start(suite, NULL), GALVO_ERR_STATE);
	status = galvo_suite_replay(suite, error);
	galvo_suite_destroy(suite);
	return status;
}

static struct galvo_run *recorded(void)
{
	static struct galvo_run *run;
	galvo_error error = {0};
	char dir[64];

	if (run)
		return run;
	if (!OK(mkdtemp(base)))
		return NULL;
	snprintf(dir, sizeof(dir), "%s/a", base);
	if (!OK(replay(dir, &error) == GALVO_OK) || !OK(galvo_run_open(dir, &run, &error) == GALVO_OK))
		printf("# %s\n", error.text);
	return run;
}

/* Row by key and instant: t1 is 101 s on the clock. NaN, and a failed claim, if it is not there. */
static double at(enum stream_kind stream, enum scope scope, uint32_t key, double mono_s,
                 const char *column)
{
	const struct table *t = run_table(recorded(), stream, scope);
	size_t c = t ? table_column(t, column) : SIZE_MAX, i;

	for (i = 0; c != SIZE_MAX && i < t->rows_len; i++)
		if (t->key[i] == key && t->mono_ns[i] == (uint64_t)(mono_s * 1e9))
			return t->values[c][i];
	printf("# no row: %s, key %u, at %g s\n", column, key, mono_s);
	tap_failures++;
	return NAN;
}

static void system_rows(void)
{
	const char *busy = CPU("busy"), *used = "mem__used_bytes";

	/* CPU 2 went offline, so the sums went back: nothing is known of that interval. */
	OK(isnan(at(STREAM_SYSTEM, SCOPE_SYSTEM, 0, 101, busy)));
	/* 50 + 10 + 5 of 400 hundredths; what CPU 2 did while it came back is in the sums. */
	OK(fabs(at(STREAM_SYSTEM, SCOPE_SYSTEM, 0, 102, busy) - 65 * 100.0 / 400) < 1e-9);
	/* iowait of CPU 3 stepped back by one: taken as zero. */
	OK(fabs(at(STREAM_SYSTEM, SCOPE_SYSTEM, 0, 103.5, busy) - 75 * 100.0 / 599) < 1e-9);
	OK(at(STREAM_SYSTEM, SCOPE_SYSTEM, 0, 103.5, CPU("iowait")) == 0);
	OK(at(STREAM_SYSTEM, SCOPE_SYSTEM, 0, 101, used) == 4100000 * 1024.0);
	OK(at(STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, 0, 102, "kernel__context_switches.sum.per_second") == 2000);
	/* A negative fork counter is no reason to lose the rest of the file. */
	OK(isnan(at(STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, 0, 102, "kernel__forks.sum.per_second")));
	OK(at(STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, 0, 101, "kernel__forks.sum.per_second") == 10);
	OK(at(STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, 0, 101,
	      "pressure__io_some.avg.pct_of_peak_sustained_elapsed") == 10);
}

static void core_rows(void)
{
	const struct table *t = run_table(recorded(), STREAM_SYSTEM, SCOPE_CORE);
	const char *busy = "core__cycles_busy.avg.pct_of_peak_sustained_elapsed";
	size_t i, of_cpu2 = 0;

	OK(at(STREAM_SYSTEM, SCOPE_CORE, 0, 101, busy) == 60);
	OK(at(STREAM_SYSTEM, SCOPE_CORE, 1, 101, busy) == 0);
	for (i = 0; t && i < t->rows_len; i++)
		of_cpu2 += t->key[i] == 2;
	EQ(of_cpu2, 1); /* neither while it was offline, nor at its first sight again */
	OK(at(STREAM_SYSTEM, SCOPE_CORE, 2, 103.5, busy) == 0);
}

static void process_rows(void)
{
	const char *cpu = "proc__cycles_active.sum.per_second", *rss = "proc__rss_bytes";
	const struct galvo_run *run = recorded();

	OK(at(STREAM_SYSTEM, SCOPE_PROCESS, 100, 101, cpu) == 5); /* 50 ms in 1 s, of one CPU */
	OK(fabs(at(STREAM_SYSTEM, SCOPE_PROCESS, 100, 103.5, cpu) - 5 / 1.5) < 1e-9);
	OK(at(STREAM_SYSTEM, SCOPE_PROCESS, 101, 102, cpu) == 50);
	OK(at(STREAM_SYSTEM, SCOPE_PROCESS, 101, 102, rss) == 3000 * 4096.0);
	OK(at(STREAM_SYSTEM, SCOPE_PROCESS, 100, 101, "proc__shared_bytes") == 12 * 1024.0);
	OK(at(STREAM_DISK, SCOPE_PROCESS, 100, 102, "proc__io_rchar.sum.per_second") == 1000);
	OK(at(STREAM_DISK, SCOPE_PROCESS, 101, 102, "proc__io_wchar.sum.per_second") == 10000);
	if (!EQ(run->processes_len, 2))
		return;
	OK(run->processes[0].root && !strcmp(run->processes[0].alias, "the shell"));
	OK(!strcmp(run->processes[0].comm, "sh) R 1 (x"));
	OK(!strcmp(run->processes[0].command, "sh -c make all"));
	OK(run->processes[1].pid == 101 && run->processes[1].ppid == 100);
	OK(run->processes[1].removed && !run->processes[0].removed);
	EQ(run->processes[1].start_ticks, 10050);
}

static void device_rows(void)
{
	const struct table *t = run_table(recorded(), STREAM_DISK, SCOPE_DEVICE);
	const char *read = "disk__read_bytes.sum.per_second";
	size_t i;

	if (!OK(t && t->names_len == 2))
		return;
	for (i = 0; i < t->names_len; i++)
		OK(!strcmp(t->names[i], "sda") || !strcmp(t->names[i], "zram0")); /* whole, and in use */
	i = strcmp(t->names[0], "sda") != 0;
	OK(at(STREAM_DISK, SCOPE_DEVICE, (uint32_t)i, 101, read) == 2000 * 512.0);
	OK(at(STREAM_DISK, SCOPE_DEVICE, (uint32_t)i, 102, read) == 816 * 512.0); /* wrapped at 2^64 */
	OK(at(STREAM_DISK, SCOPE_DEVICE, (uint32_t)i, 102, "disk__write_inflight") == 4);
	/* 16 ms of 1000, over the 32-bit wrap. */
	OK(fabs(at(STREAM_DISK, SCOPE_DEVICE, (uint32_t)i, 102,
	           "disk__cycles_busy.avg.pct_of_peak_sustained_elapsed") - 1.6) < 1e-9);
	OK(at(STREAM_SYSTEM, SCOPE_INTERFACE, 0, 102, "net__rx_bytes.sum.per_second") == 1e6);
}

static bool same_bytes(const char *name)
{
	static char a[1 << 20], b[1 << 20];
	char path[128];
	ssize_t n, m;
	int fd;

	snprintf(path, sizeof(path), "%s/a/%s", base, name);
	fd = open(path, O_RDONLY);
	n = read(fd, a, sizeof(a));
	close(fd);
	snprintf(path, sizeof(path), "%s/b/%s", base, name);
	fd = open(path, O_RDONLY);
	m = read(fd, b, sizeof(b));
	close(fd);
	unlink(path);
	snprintf(path, sizeof(path), "%s/a/%s", base, name);
	unlink(path);
	return n > 0 && n == m && memcmp(a, b, (size_t)n) == 0;
}

static void the_same_every_time(void)
{
	galvo_error error;
	char dir[64];

	snprintf(dir, sizeof(dir), "%s/b", base);
	OK(replay(dir, &error) == GALVO_OK);
	OK(replay(dir, &error) == GALVO_ERR_STATE); /* holds a recording already */
	if (OK(recorded()->session != NULL))
		OK(recorded()->session->cost.kind == COST_NONE &&
		   recorded()->session->cost.bytes_written > 0);
	OK(same_bytes("system_metrics.pb"));
	OK(same_bytes("disk_metrics.pb"));
	OK(same_bytes("session_metadata.pb"));
	rmdir(dir);
	snprintf(dir, sizeof(dir), "%s/a", base);
	rmdir(dir);
	rmdir(base);
	galvo_run_close(recorded());
}

static const struct tap_test tests[] = {
	{"system rows", system_rows},
	{"core rows", core_rows},
	{"process rows", process_rows},
	{"device and interface rows", device_rows},
	{"the same every time", the_same_every_time},
};
TAP_MAIN(tests)
