/* The end of a recording: on any thread, at any moment, several at once, and without being asked for. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/base.h"
#include "galvo/galvo.h"
#include "host.h"
#include "scratch.h"
#include "tap.h"

enum { ROUNDS = 20, ENDS = 6, READY = 41 };

static int32_t mode; /* of the suites and profilers */
static char base[] = "/tmp/galvo-stop-XXXXXX";

static const char *in_base(const char *name)
{
	return scratch_path(base, name);
}

static galvo_suite *a_suite(bool at_exit)
{
	galvo_suite_config config = galvo_suite_config_default();
	const galvo_process self = {0};
	galvo_suite *suite = NULL;
	galvo_error e = {0};

	config.output_dir = in_base("run");
	config.overwrite = 1;
	config.system_hz = config.disk_hz = 1000;
	config.processes = &self;
	config.processes_len = 1;
	config.stop_at_exit = at_exit;
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	if (!OK(galvo_suite_create(&config, &suite, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	return suite;
}

static galvo_check_result checked(void)
{
	galvo_check_result result = {0};

	OK(galvo_run_check(in_base("run"), NULL, NULL, &result, NULL) == GALVO_OK);
	EQ(result.damaged_messages, 0);
	EQ(result.missing_messages, 0);
	return result;
}

/* Of a program and its sidecar, which is an orphan that came to us. */
static int await_end(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return status;
}

static void pass_time(uint64_t ns)
{
	_Atomic uint32_t stop = 0;

	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + ns, &stop);
}

/* ---- several threads ---------------------------------------------------------------------------------- */

struct crowd {
	galvo_suite *suite;
	pthread_barrier_t barrier;
	_Atomic uint32_t stopped, refused, over;
};

static void *stop_it(void *arg)
{
	struct crowd *c = arg;
	galvo_error e = {0};

	pthread_barrier_wait(&c->barrier);
	if (galvo_suite_stop(c->suite, &e) == GALVO_OK)
		c->stopped++;
	else if (e.status == GALVO_ERR_STATE && strstr(e.text, "stopped already"))
		c->refused++;
	else
		printf("# %s\n", e.text);
	return NULL;
}

static void *disturb(void *arg)
{
	struct crowd *c = arg;
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};

	pthread_barrier_wait(&c->barrier);
	do {
		galvo_suite_get_stats(c->suite, &stats, NULL);
		galvo_suite_add_process(c->suite, (uint32_t)getppid(), "parent", NULL);
		galvo_suite_remove_process(c->suite, (uint32_t)getppid(), NULL);
		galvo_suite_signal_stop(c->suite);
	} while (!c->over);
	return NULL;
}

/* Stops on some threads, everything else on others; now and then before start has returned. */
static void at_once(bool is_started)
{
	struct crowd c = {.suite = a_suite(false)};
	pthread_t threads[ENDS + 2];
	size_t i;

	pthread_barrier_init(&c.barrier, NULL, ENDS + 3);
	if (is_started)
		OK(galvo_suite_start(c.suite, NULL) == GALVO_OK);
	for (i = 0; i < ENDS + 2; i++)
		pthread_create(&threads[i], NULL, i < ENDS ? stop_it : disturb, &c);
	pthread_barrier_wait(&c.barrier);
	for (i = 0; i < ENDS; i++)
		pthread_join(threads[i], NULL);
	c.over = 1;
	for (; i < ENDS + 2; i++)
		pthread_join(threads[i], NULL);
	EQ(c.stopped, 1);
	EQ(c.refused, ENDS - 1);
	galvo_suite_destroy(c.suite);
	pthread_barrier_destroy(&c.barrier);
	OK(checked().is_complete);
}

static void many_at_once(void)
{
	size_t i;

	for (i = 0; i < ROUNDS; i++)
		at_once(true);
}

static void *start_it(void *arg)
{
	struct crowd *c = arg;

	pthread_barrier_wait(&c->barrier);
	OK(galvo_suite_start(c->suite, NULL) == GALVO_OK);
	return NULL;
}

/* It comes too early, and says so; or it waits for the start, and then there is a whole recording. */
static void during_start(void)
{
	size_t i, early = 0;

	for (i = 0; i < ROUNDS; i++) {
		struct crowd c = {.suite = a_suite(false)};
		pthread_t thread;
		galvo_error e = {0};

		pthread_barrier_init(&c.barrier, NULL, 2);
		pthread_create(&thread, NULL, start_it, &c);
		pthread_barrier_wait(&c.barrier);
		pass_time(i * 100 * 1000);
		galvo_suite_signal_stop(c.suite);
		if (galvo_suite_stop(c.suite, &e) != GALVO_OK) {
			early++;
			OK(strstr(e.text, "stop: not started"));
		}
		pthread_join(thread, NULL);
		galvo_suite_destroy(c.suite);
		pthread_barrier_destroy(&c.barrier);
		OK(checked().is_complete);
	}
	OK(early < ROUNDS);
}

static void *destroy_it(void *arg)
{
	galvo_suite_destroy(arg);
	return NULL;
}

static void elsewhere(galvo_suite *suite)
{
	pthread_t thread;

	pthread_create(&thread, NULL, destroy_it, suite);
	pthread_join(thread, NULL);
}

static void destroyed_in_any_state(void)
{
	galvo_suite *suite;
	const galvo_process nobody = {.pid = INT32_MAX};
	galvo_suite_config config = galvo_suite_config_default();

	galvo_suite_destroy(NULL);
	elsewhere(NULL);
	OK(access(in_base("run"), F_OK) == 0);
	host_remove(in_base("run"));
	elsewhere(a_suite(true)); /* created */
	OK(access(in_base("run"), F_OK) != 0);
	config.output_dir = in_base("run");
	config.processes = &nobody;
	config.processes_len = 1;
	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	EQ(galvo_suite_start(suite, NULL), GALVO_ERR_ABSENT);
	EQ(galvo_suite_start(suite, NULL), GALVO_ERR_STATE);
	EQ(galvo_suite_stop(suite, NULL), GALVO_ERR_STATE);
	elsewhere(suite); /* failed */
	OK(access(in_base("run"), F_OK) != 0);
	suite = a_suite(true);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK);
	elsewhere(suite); /* started */
	OK(checked().is_complete);
	suite = a_suite(false);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK && galvo_suite_stop(suite, NULL) == GALVO_OK);
	elsewhere(suite); /* stopped */
	OK(checked().is_complete);
}

/* A file that was begun for nothing goes again; what was there before is gone only with a new start. */
static void failed_start_keeps_the_old(void)
{
	const galvo_process nobody = {.pid = INT32_MAX};
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite *suite = a_suite(false);

	OK(galvo_suite_start(suite, NULL) == GALVO_OK && galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	config.output_dir = in_base("run");
	config.overwrite = 1;
	config.processes = &nobody;
	config.processes_len = 1;
	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	EQ(galvo_suite_start(suite, NULL), GALVO_ERR_ABSENT);
	galvo_suite_destroy(suite);
	OK(checked().is_complete);
}

/* ---- at the end of the program -------------------------------------------------------------------------- */

static void *exit_here(void *arg)
{
	(void)arg;
	exit(READY);
}

static void exits(galvo_suite *suite)
{
	(void)suite;
	exit(READY);
}

static void exits_on_a_thread(galvo_suite *suite)
{
	pthread_t thread;

	(void)suite;
	pthread_create(&thread, NULL, exit_here, NULL);
	for (;;)
		pause();
}

static void exits_while_destroyed(galvo_suite *suite)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_here, NULL);
	galvo_suite_destroy(suite);
	for (;;)
		pause();
}

static void exits_while_stopped(galvo_suite *suite)
{
	pthread_t thread;

	pthread_create(&thread, NULL, destroy_it, suite);
	pthread_detach(thread);
	exit(READY);
}

/* Its child ends first, and is not the one that records. */
static void forks(galvo_suite *suite)
{
	int status = -1;
	pid_t child = fork();

	(void)suite;
	if (child == 0)
		exit(0);
	waitpid(child, &status, 0);
	exit(status == 0 && !checked().is_complete ? READY : 1);
}

static void destroys(galvo_suite *suite)
{
	galvo_suite_destroy(suite);
	exit(READY);
}

static void ends_at_once(galvo_suite *suite)
{
	(void)suite;
	_exit(READY);
}

static void ends_quickly(galvo_suite *suite)
{
	(void)suite;
	quick_exit(READY);
}

static void at_the_end(void)
{
	static const struct {
		void (*end)(galvo_suite *);
		bool at_exit, is_complete;
	} rows[] = {
		{exits, true, true},
		{exits, false, false},
		{exits_on_a_thread, true, true},
		{exits_while_destroyed, true, true},
		{exits_while_stopped, true, true},
		{forks, true, true},
		{destroys, true, true},
		{ends_at_once, true, false},
		{ends_quickly, true, false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		int status;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			galvo_suite *suite = a_suite(rows[i].at_exit);

			if (galvo_suite_start(suite, NULL) != GALVO_OK)
				_exit(1);
			rows[i].end(suite);
		}
		if (rows[i].at_exit && rows[i].is_complete) { /* and not only when its sidecar has noticed */
			waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
			OK(checked().is_complete);
		}
		status = await_end(child);
		if (!OK(WIFEXITED(status) && WEXITSTATUS(status) == READY) ||
		    !OK((checked().is_complete != 0) ==
		        (rows[i].is_complete || mode == GALVO_SIDECAR)))
			printf("# row %zu, status %x\n", i, (unsigned)status);
	}
}

/* A profiler by itself has no metadata: whole is what has its last rows, which no flush has written. */
static void alone_at_the_end(void)
{
	struct stat st;
	int with;

	for (with = 0; with < 2; with++) {
		galvo_system_config config = galvo_system_config_default();
		galvo_profiler *p = NULL;
		pid_t child;

		fflush(stdout);
		config.output_file = in_base("alone.pb");
		config.stop_at_exit = with;
		config.mode = mode;
		config.sidecar_path = SIDECAR;
		child = fork();
		if (child == 0) {
			if (galvo_system_profiler_create(&config, &p, NULL) == GALVO_OK)
				galvo_profiler_start(p, NULL);
			exit(0);
		}
		await_end(child);
		OK(stat(in_base("alone.pb"), &st) == 0 &&
		   (st.st_size > 0) == (with || mode == GALVO_SIDECAR));
	}
}

/* The library is unloaded while it records: it is stopped before its code is gone. */
static void unloaded(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	int status;
	pid_t child;

	config.output_dir = in_base("run");
	config.overwrite = config.stop_at_exit = 1;
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		void *library = dlopen(GALVO_SHARED, RTLD_NOW | RTLD_LOCAL);
		union {
			void *symbol;
			galvo_status (*create)(const galvo_suite_config *, galvo_suite **, galvo_error *);
			galvo_status (*start)(galvo_suite *, galvo_error *);
		} create = {library ? dlsym(library, "galvo_suite_create") : NULL},
		  start = {library ? dlsym(library, "galvo_suite_start") : NULL};
		galvo_suite *suite;

		if (!create.symbol || create.create(&config, &suite, NULL) != GALVO_OK ||
		    start.start(suite, NULL) != GALVO_OK)
			_exit(1);
		dlclose(library);
		library = dlopen(GALVO_SHARED, RTLD_NOW | RTLD_NOLOAD);
		exit(library ? 2 : READY);
	}
	status = await_end(child);
	if (!OK(WIFEXITED(status) && WEXITSTATUS(status) == READY))
		printf("# status %x\n", (unsigned)status);
	OK(checked().is_complete);
}

static const struct tap_test tests[] = {
	{"many stop it at once", many_at_once},
	{"a stop during start", during_start},
	{"destroyed in any state", destroyed_in_any_state},
	{"a failed start keeps the old recording", failed_start_keeps_the_old},
	{"at the end of the program", at_the_end},
	{"a profiler by itself at the end of the program", alone_at_the_end},
	{"unloaded", unloaded},
};

int main(void)
{
	/* Sanitizers do not let go of a library. */
	size_t n = ARRAY_LEN(tests) - !GALVO_SHARED[0];
	int failed = !mkdtemp(base);

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (mode = GALVO_IN_PROCESS; mode <= GALVO_SIDECAR && !failed; mode++)
		failed = tap_run(tests, n);
	host_remove(base);
	return failed;
}
