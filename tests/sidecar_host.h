/* Programs that are recorded by a sidecar, in processes of their own, and what they must leave behind. */
#ifndef GALVO_SIDECAR_HOST_H
#define GALVO_SIDECAR_HOST_H

#include <sys/mman.h>
#include <sys/wait.h>

#include "galvo/galvo.h"
#include "host.h"

enum { FINE = 40, NO_START, FAILS, PATIENCE_MS = 10000 };

static char base[] = "/tmp/galvo-sidecar-XXXXXX";

/* What a program says of itself as it goes, in memory that we share with it. */
struct said {
	_Atomic int has_begun;
	_Atomic uint64_t regions; /* ended */
	_Atomic uint64_t mono_ns; /* just now */
	_Atomic int child, child_failed;
};
static struct said *said;

static inline void pass_time(uint64_t ns)
{
	_Atomic uint32_t stop = 0;

	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ns, &stop);
}

static inline const char *in_base(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *to = path[next++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", base, name);
	return to;
}

static inline galvo_suite_config config_for(const char *dir, const galvo_process *self)
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

static inline galvo_suite *begin(const char *dir)
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
static inline void speak_for_ever(galvo_suite *suite)
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

static inline pid_t start_host(int (*program)(void))
{
	pid_t pid;

	*said = (struct said){0};
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(program());
	return pid;
}

static inline void await_begin(void)
{
	size_t i;

	for (i = 0; i < PATIENCE_MS && !said->regions; i++)
		pass_time(NS_PER_MS);
	OK(said->regions);
}

static inline int status_of(pid_t pid)
{
	int status = -1;

	OK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Orphans come to us, so this is the next sidecar that ends; it does so well, and soon. */
static inline void await_sidecar(void)
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

static inline bool open_run(const char *dir, struct ended *ret)
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

static inline bool has_note(const galvo_run *run, const char *text)
{
	galvo_run_note note = {.struct_size = sizeof(note)};
	size_t i;

	for (i = 0; galvo_run_note_at(run, i, &note, NULL) == GALVO_OK; i++)
		if (!strcmp(note.subject, "sidecar") && strstr(note.text, text))
			return true;
	return false;
}

/* Closed and whole, with all that was said, and rows until the end. NULL: no note is expected. */
static inline void check_run(const char *dir, const char *note)
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

static inline pid_t sidecar_of(const char *dir)
{
	struct ended r;
	pid_t pid = 0;

	if (OK(open_run(dir, &r)))
		pid = (pid_t)r.info.recorder_pid;
	galvo_run_close(r.run);
	return pid;
}

/* Orphans come to this program: it knows when sidecars end, and how. */
static inline int run_hosts(const struct tap_test *tests, size_t n)
{
	int failed;

	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	failed = said == MAP_FAILED || !mkdtemp(base) || tap_run(tests, n);
	host_remove(base);
	return failed;
}

#endif
