/* A sidecar, and programs that end, stop, fork, close everything or are killed meanwhile. */
#include <pthread.h>

#include "sidecar_host.h"

enum { FEW_KILLS = 3 };

static size_t kills = FEW_KILLS;

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
	if (galvo_suite_stop(suite, &e) != GALVO_ERR_STATE || !strstr(e.text, "has ended") ||
	    galvo_suite_stop(suite, &e) != GALVO_ERR_STATE || !strstr(e.text, "stopped already"))
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

/* ---- bounds ----------------------------------------------------------------------------------------- */

static void on_alarm(int number)
{
	(void)number;
}

static void *ask_it(void *arg)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};

	galvo_suite_get_stats(arg, &stats, NULL);
	return NULL;
}

/* A stop does not wait for ever, be there somebody before it, or not, and signals all the time. */
static int that_stops_a_frozen_one(bool is_busy)
{
	const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
	const struct timespec moment = {0, 100 * NS_PER_MS};
	galvo_suite *suite = begin("frozen");
	pid_t pid = sidecar_of("frozen");
	uint64_t start_ns;
	pthread_t thread;
	galvo_error e = {0};
	bool is_refused;

	said->mono_ns = clock_real.mono_ns(&clock_real);
	kill(pid, SIGSTOP);
	if (is_busy) {
		pthread_create(&thread, NULL, ask_it, suite);
		nanosleep(&moment, NULL);
	}
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	start_ns = clock_real.mono_ns(&clock_real);
	is_refused = galvo_suite_stop(suite, &e) == GALVO_ERR_STATE && strstr(e.text, "does not answer");
	start_ns = clock_real.mono_ns(&clock_real) - start_ns;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("# stop returned after %.1f s: %s\n", (double)start_ns / 1e9, e.text);
	fflush(stdout);
	if (is_busy)
		pthread_join(thread, NULL);
	kill(pid, SIGCONT);
	galvo_suite_destroy(suite);
	return is_refused && start_ns < 20 * NS_PER_S ? FINE : FAILS;
}

static int that_stops_it(void)
{
	return that_stops_a_frozen_one(false);
}

static int that_asks_and_stops_it(void)
{
	return that_stops_a_frozen_one(true);
}

static void frozen(void)
{
	int (*const programs[])(void) = {that_stops_it, that_asks_and_stops_it};
	size_t i;

	for (i = 0; i < ARRAY_LEN(programs); i++) {
		EQ(WEXITSTATUS(status_of(start_host(programs[i]))), FINE);
		await_sidecar();
		check_run("frozen", NULL); /* a late stop ended it, or an answer that nobody took */
	}
}

static const struct tap_test tests[] = {
	{"killed", killed},
	{"exits", exits},
	{"closes everything", closes_everything},
	{"forks", forks},
	{"its sidecar is terminated", terminated},
	{"stopped", stopped},
	{"frozen", frozen}, /* the last, as it takes its time */
};

int main(int argc, char **argv)
{
	uint64_t more;

	if (argc > 1 && span_to_u64(span_str(argv[1]), &more))
		kills = more;
	return run_hosts(tests, ARRAY_LEN(tests) - (argc == 1));
}
