/* System calls that are refused, once or always, as a sandbox does: galvo goes on, or says what failed. */
#include <math.h>

#include "life.h"
#include "stream/stream.h"

enum { LIVES_OF_A_SWEEP = 14, CALLS_MAX = 4000 };

static char base[] = "/tmp/galvo-faults-XXXXXX";
static struct life life;
static bool is_thorough; /* every single call, however many */

static void live(enum call call, enum fault_mode mode, long at, int sys_errno)
{
	size_t fds = life_count_fds();
	int before = tap_failures;

	host_remove(life.dir);
	fault_arm(call, mode, at, sys_errno);
	life_live(&life);
	fault_disarm();
	life_check_error(life.status, &life.error);
	life_check_files(&life);
	EQ(life_count_fds(), fds);
	if (tap_failures != before)
		printf("# with %s, mode %d, at %ld, errno %d\n", call_names[call], mode, at, sys_errno);
}

/* What became of the run in life.dir. */
static struct galvo_run *opened(void)
{
	struct galvo_run *run = NULL;
	galvo_error e = {0};

	if (!OK(galvo_run_open(life.dir, &run, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return run;
}

static void all_is_well(void)
{
	life.child = life_child();
	snprintf(life.dir, sizeof(life.dir), "%s/run", base);
	live(CALL_NONE, FAULT_ALWAYS, 0, 0);
	EQ(life.status, GALVO_OK);
	EQ(life.added, GALVO_OK);
}

/* ---- always ------------------------------------------------------------------------------------------ */

/* With these it goes on, if GALVO_OK is wanted; or fails with these words. */
static void always(void)
{
	static const struct {
		enum call call;
		int sys_errno;
		galvo_status want;
		const char *words;
	} rows[] = {
		{CALL_PIDFD, ENOSYS, GALVO_OK, ""},
		{CALL_PIDFD, EPERM, GALVO_OK, ""},
		{CALL_PIDFD, EMFILE, GALVO_ERR_IO, "Too many open files"},
		{CALL_EPOLL_CREATE, ENOSYS, GALVO_OK, ""},
		{CALL_EPOLL_CREATE, EMFILE, GALVO_OK, ""},
		{CALL_EPOLL_CTL, EPERM, GALVO_OK, ""},
		{CALL_EPOLL_CTL, ENOSPC, GALVO_OK, ""},
		{CALL_EPOLL_WAIT, ENOSYS, GALVO_OK, ""},
		{CALL_EPOLL_WAIT, EINTR, GALVO_OK, ""},
		{CALL_FUTEX, ENOSYS, GALVO_OK, ""},
		{CALL_FUTEX, EPERM, GALVO_OK, ""},
		{CALL_GETTID, EPERM, GALVO_OK, ""},
		{CALL_CPU_CLOCK, EPERM, GALVO_OK, ""},
		{CALL_CPU_CLOCK, EINVAL, GALVO_OK, ""},
		{CALL_PRCTL, EPERM, GALVO_OK, ""},
		{CALL_PRIORITY, EACCES, GALVO_OK, ""},
		{CALL_FSTATAT, EPERM, GALVO_OK, ""},
		{CALL_READDIR, EIO, GALVO_OK, ""},
		{CALL_FTRUNCATE, EPERM, GALVO_OK, ""},
		{CALL_READ, EIO, GALVO_OK, ""},
		{CALL_CLOCK, EPERM, GALVO_ERR_DENIED, "CLOCK_MONOTONIC: "},
		{CALL_OPENAT, EPERM, GALVO_ERR_DENIED, "/: "},
		{CALL_OPENAT, EMFILE, GALVO_ERR_IO, "/: "},
		{CALL_OPENAT, ENOSYS, GALVO_ERR_IO, "/: "},
		{CALL_PREAD, EIO, GALVO_ERR_IO, "process "},
		{CALL_PREAD, EPERM, GALVO_ERR_DENIED, "process "},
		{CALL_MKDIR, EPERM, GALVO_ERR_DENIED, "/run: "},
		{CALL_MKDIR, EIO, GALVO_ERR_IO, "/run: "},
		{CALL_FACCESSAT, EPERM, GALVO_ERR_DENIED, "/run: "},
		{CALL_MMAP, ENOMEM, GALVO_ERR_NOMEM, "no memory for regions"},
		{CALL_THREAD, EAGAIN, GALVO_ERR_IO, "thread"},
		{CALL_WRITE, EIO, GALVO_ERR_IO, "/run: session_metadata.pb: "},
		{CALL_WRITE, EPERM, GALVO_ERR_DENIED, "/run: session_metadata.pb: "},
		{CALL_RENAMEAT, EPERM, GALVO_ERR_DENIED, "/run: session_metadata.pb: "},
		{CALL_CLOSE, EIO, GALVO_ERR_IO, "/run: session_metadata.pb: "},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		live(rows[i].call, FAULT_ALWAYS, 0, rows[i].sys_errno);
		if (!OK(life.status == rows[i].want && strstr(life.error.text, rows[i].words)))
			printf("# %s always %s: %d '%s'\n", call_names[rows[i].call],
			       strerrorname_np(rows[i].sys_errno), (int)life.status, life.error.text);
	}
}

/* ---- what is recorded all the same ------------------------------------------------------------------- */

/* The reason that a source gives in the run. */
static const char *reason_of(const struct galvo_run *run, const char *source)
{
	size_t i;

	for (i = 0; run && i < run->sources_len; i++)
		if (!strcmp(run->sources[i].name, source))
			return run->sources[i].reason;
	return "";
}

/* How many values of a column there are. */
static size_t values_of(const struct galvo_run *run, const char *column, size_t *ret_rows)
{
	const struct table *t = run ? run_table(run, STREAM_SYSTEM, SCOPE_PROCESS) : NULL;
	size_t c = t ? table_column(t, column) : 0, i, n = 0;

	*ret_rows = t ? t->rows_len : 0;
	for (i = 0; t && c < t->columns_len && i < t->rows_len; i++)
		n += isnan(t->values[c][i]) ? 0 : 1;
	return n;
}

/* Absent is not zero, and the reason is there to be read. */
static void no_process_clocks(void)
{
	struct galvo_run *run;
	size_t rows;

	live(CALL_CPU_CLOCK, FAULT_ALWAYS, 0, EPERM);
	run = opened();
	EQ(values_of(run, "proc__cycles_active.sum.per_second", &rows), 0);
	OK(rows > 0);
	OK(values_of(run, "proc__rss_bytes", &rows) > 0);
	OK(strstr(reason_of(run, "process"), ": CPU clock: "));
	galvo_run_close(run);
	live(CALL_NONE, FAULT_ALWAYS, 0, 0);
	run = opened();
	EQ(reason_of(run, "process")[0], 0);
	OK(values_of(run, "proc__cycles_active.sum.per_second", &rows) > 0);
	galvo_run_close(run);
}

static void ends_without(enum call call, int sys_errno)
{
	const galvo_process mine = {.pid = (uint32_t)life_child()};
	galvo_suite_config config = life_config(&life, &mine);
	galvo_suite_stats stats = {.struct_size = sizeof(stats), .roots_alive = 1};
	const struct timespec moment = {0, NS_PER_MS};
	galvo_suite *suite = NULL;
	galvo_error e = {0};
	struct galvo_run *run;
	size_t i;

	fault_arm(call, FAULT_ALWAYS, 0, sys_errno);
	OK(galvo_suite_create(&config, &suite, &e) == GALVO_OK &&
	   galvo_suite_start(suite, &e) == GALVO_OK);
	life_end_child((pid_t)mine.pid);
	for (i = 0; stats.roots_alive && i < 2000; i++) {
		nanosleep(&moment, NULL);
		galvo_suite_get_stats(suite, &stats, &e);
	}
	EQ(stats.roots_alive, 0);
	OK(galvo_suite_stop(suite, &e) == GALVO_OK);
	galvo_suite_destroy(suite);
	fault_disarm();
	run = opened();
	if (!OK(run && run->processes_len == 1 && run->processes[0].end_mono_ns))
		printf("# %s: %zu processes\n", call_names[call], run ? run->processes_len : 0);
	galvo_run_close(run);
}

/* Then it is files that are gone which tell of it. */
static void ends_are_noticed(void)
{
	ends_without(CALL_PIDFD, ENOSYS);
	ends_without(CALL_EPOLL_CREATE, ENOSYS);
	ends_without(CALL_EPOLL_WAIT, EPERM);
}

/* ---- once -------------------------------------------------------------------------------------------- */

/* Any number of them, evenly over the life; thorough: each. */
static void once(void)
{
	static const int errnos[] = {EPERM, ENOSYS, EMFILE, EIO, EINTR, ENOMEM};
	enum call call;
	long at, calls, step;

	for (call = CALL_OPENAT; call < CALLS; call++) {
		if (call == CALL_CLOCK || call == CALL_FUTEX)
			continue; /* refused for good, or not at all */
		fault_arm(call, FAULT_ONCE, -1, 0);
		life_live(&life);
		calls = fault_disarm();
		OK(life.status == GALVO_OK);
		calls = calls < CALLS_MAX ? calls : CALLS_MAX;
		step = is_thorough ? 1 : 1 + calls / LIVES_OF_A_SWEEP;
		for (at = 0; at < calls; at += step)
			live(call, FAULT_ONCE, at, errnos[(size_t)(at / step) % ARRAY_LEN(errnos)]);
	}
}

/* A call that is interrupted is made again. */
static void interrupted(void)
{
	static const enum call calls[] = {CALL_OPENAT, CALL_PREAD, CALL_WRITE};
	size_t i;

	for (i = 0; i < ARRAY_LEN(calls); i++) {
		live(calls[i], FAULT_EVERY_OTHER, 0, EINTR);
		EQ(life.status, GALVO_OK);
	}
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static int write_nowhere(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	return n == 0;
}

static galvo_status read_all(galvo_error *reterr)
{
	galvo_check_result result;
	galvo_summary *summary = NULL;
	galvo_run *run = NULL;
	char copy[160];
	galvo_status status = galvo_run_open(life.dir, &run, reterr);

	snprintf(copy, sizeof(copy), "%s/copy", base);
	if (status == GALVO_OK)
		status = galvo_summary_create(run, &summary, reterr);
	if (status == GALVO_OK)
		status = galvo_summary_write(summary, GALVO_REPORT_TEXT, write_nowhere, NULL, reterr);
	galvo_summary_destroy(summary);
	galvo_run_close(run);
	if (status == GALVO_OK)
		status = galvo_run_check(life.dir, write_nowhere, NULL, &result, reterr);
	return status == GALVO_OK ? galvo_run_repair(life.dir, copy, &result, reterr) : status;
}

static void reading(void)
{
	static const int errnos[] = {EPERM, ENOSYS, EMFILE, EIO};
	char copy[160];
	enum call call;
	size_t fds;
	long at;

	snprintf(copy, sizeof(copy), "%s/copy", base);
	live(CALL_NONE, FAULT_ALWAYS, 0, 0);
	fds = life_count_fds();
	for (call = CALL_OPENAT; call < CALLS; call++) {
		long calls = 1;

		for (at = -1; at < calls; at++) { /* -1: always */
			galvo_error e = {0};
			galvo_status status;

			host_remove(copy);
			fault_arm(call, at < 0 ? FAULT_ALWAYS : FAULT_ONCE, at,
			          errnos[(size_t)(at + 1) % ARRAY_LEN(errnos)]);
			status = read_all(&e);
			calls = fault_disarm() > calls ? atomic_load(&fault.count) : calls;
			life_check_error(status, &e);
			EQ(life_count_fds(), fds);
		}
	}
}

static const struct tap_test tests[] = {
	{"all is well", all_is_well},
	{"a call that always fails", always},
	{"no clocks of processes", no_process_clocks},
	{"ends are noticed", ends_are_noticed},
	{"interrupted calls", interrupted},
	{"a call that fails once", once},
	{"reading", reading},
};

int main(int argc, char **argv)
{
	int failed;

	is_thorough = argc > 1 && !strcmp(argv[1], "thorough");
	failed = !mkdtemp(base) || tap_run(tests, ARRAY_LEN(tests));
	life_end_child(life.child);
	host_remove(base);
	return failed;
}
