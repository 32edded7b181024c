/* The recording: workload, signals, time, and the exit status that comes of it all. */
#include "record.h"
#include "outside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define POLL_S 0.1  /* how often attached processes are asked whether they still are */
#define WORTH_PCT 1 /* of samples of hardware counters that are lost */
#define BURST_S 0.2 /* timeout(1) sends a signal to the process, and then to its group */

struct session {
	struct recording *r;
	galvo_suite *suite;
	galvo_listener *listener; /* NULL: what the workload says is not heard */
	struct launch launch;
	struct watch watch;
	sigset_t signals, mask_before;
	bool ignored_children; /* SIGCHLD, when we were started */
	galvo_workload workload;
	int interrupts;       /* SIGINT and the like so far */
	double interrupted_s; /* the last one */
	bool is_recording, workload_ended;
	bool is_slowed_told;
	size_t notes_seen;
	bool is_lost;         /* part of the recording could not be written */
	double deadline_s;    /* 0: none */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- ends ----------------------------------------------------------------------------------------- */

static void workload_ended(struct session *s, const galvo_child *end)
{
	galvo_workload *w = &s->workload;

	w->exited = 1;
	w->end_mono_ns = now_ns();
	w->term_signal = end->term_signal;
	w->exit_code = end->exit_code;
	w->user_ns = end->user_ns;
	w->system_ns = end->system_ns;
	w->max_rss_bytes = end->max_rss_bytes;
	w->minor_faults = end->minor_faults;
	w->major_faults = end->major_faults;
	w->read_blocks = end->read_blocks;
	w->write_blocks = end->write_blocks;
	w->voluntary_switches = end->voluntary_switches;
	w->involuntary_switches = end->involuntary_switches;
	s->workload_ended = true;
}

/* The workload, and orphans of its tree that came to us: none may stay a zombie. */
static void reap(struct session *s)
{
	galvo_child child = {.struct_size = sizeof(child)};

	while (galvo_suite_reap(s->suite, &child, NULL) == GALVO_OK)
		if (child.pid == (uint32_t)s->launch.pid)
			workload_ended(s, &child);
}

/* The budget slows what was asked for: that is worth a line, once. */
static void tell_slowed(struct session *s, const galvo_suite_stats *stats)
{
	const double pct = s->r->config.budget_pct;

	if (s->is_slowed_told || s->r->is_quiet || stats->largest_divisor <= 1)
		return;
	s->is_slowed_told = true;
	fprintf(stderr, "galvo: sources slowed by the budget of %g %%: %s (to 1/%u at most); "
	                "--budget PCT raises it\n",
	        pct > 0 ? pct : 1, stats->slowed_sources, stats->largest_divisor);
}

/* Counters were asked for, and there are none. */
static void tell_no_counters(const struct session *s)
{
	galvo_profiler *profiler = galvo_suite_gpu_profiler(s->suite);
	galvo_error error;

	if (profiler && (!s->r->is_quiet || s->r->asks_counters) &&
	    galvo_gpu_status(profiler, &error) != GALVO_OK)
		complain("no GPU counters: %s; the rest is recorded, and galvo doctor tells more", error.text);
}

/* Of one, a part of theirs, or the library of a vendor. */
static bool is_of_gpus(const char *subject)
{
	return !strncmp(subject, "GPU ", 4) || !strcmp(subject, "nvidia");
}

/*
 * What is wrong with GPUs, as far as it was not told. Of the counters themselves it was, or it is what a set
 * leaves out.
 */
static void tell_gpu_notes(struct session *s, bool is_start)
{
	galvo_note note = {.struct_size = sizeof(note)};

	while (galvo_suite_note_at(s->suite, s->notes_seen, &note, NULL) == GALVO_OK) {
		s->notes_seen++;
		if (!s->r->is_quiet && is_of_gpus(note.subject) &&
		    !(is_start && !strcmp(note.subject, "GPU counters")))
			complain("%s: %s", note.subject, note.text);
	}
}

static void stop_recording(struct session *s)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	galvo_error error;

	if (!s->is_recording)
		return;
	s->is_recording = false;
	galvo_listener_close(s->listener); /* what was said before the end is heard */
	s->listener = NULL;
	if (s->r->argc)
		galvo_suite_set_workload(s->suite, &s->workload, NULL);
	if (galvo_suite_stop(s->suite, &error) != GALVO_OK) {
		complain("part of the recording is lost: %s", error.text);
		s->is_lost = true;
	}
	tell_gpu_notes(s, false);
	if (s->is_lost || s->r->is_quiet ||
	    galvo_suite_get_stats(s->suite, &stats, NULL) != GALVO_OK)
		return;
	tell_slowed(s, &stats);
	if (stats.gpu_lost_pct > WORTH_PCT && stats.gpu_lost_why[0])
		complain("%.3g %% of the samples of hardware counters are lost: %s; galvo report tells more",
		         stats.gpu_lost_pct, stats.gpu_lost_why);
	fprintf(stderr, "galvo: %.2f s recorded in %s (%.1f KiB); see it with: galvo report %s\n",
	        (double)stats.elapsed_ns / 1e9, s->r->config.output_dir,
	        (double)stats.bytes_written / 1024, s->r->config.output_dir);
}

/* ---- signals -------------------------------------------------------------------------------------- */

/* Ctrl-C goes to the whole process group. A hang-up does not: it comes to a session's leader alone. */
static bool has_it_already(const struct session *s, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL && info->si_signo != SIGHUP &&
	       getpgid(s->launch.pid) == getpgrp();
}

static void forward(const struct session *s, const siginfo_t *info)
{
	if (s->r->argc && !s->workload_ended && !has_it_already(s, info))
		kill(s->launch.pid, info->si_signo);
}

/*
 * The first goes to the workload, which ends as it likes, and the recording with it; a second Ctrl-C
 * kills it. Whoever sends SIGTERM twice has SIGKILL at hand.
 */
static void interrupted(struct session *s, const siginfo_t *info)
{
	bool is_key = info->si_signo == SIGINT || info->si_signo == SIGQUIT;
	double at_s = now_s();

	if (info->si_signo == SIGUSR1 || info->si_signo == SIGUSR2) {
		forward(s, info); /* a word to the workload; to us it means nothing */
		return;
	}
	if (is_key && s->interrupts && info->si_code != SI_KERNEL &&
	    at_s - s->interrupted_s < BURST_S)
		return;
	s->interrupts++;
	s->interrupted_s = at_s;
	if (is_key && s->interrupts > 1 && s->r->argc && !s->workload_ended)
		kill(s->launch.pid, SIGKILL);
	else
		forward(s, info);
}

static bool roots_are_alive(const struct session *s)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};

	return galvo_suite_get_stats(s->suite, &stats, NULL) == GALVO_OK && stats.roots_alive > 0;
}

static bool is_over(const struct session *s)
{
	if (s->r->argc)
		return s->workload_ended;
	if (s->interrupts || !s->is_recording)
		return true;
	return s->r->processes_len && !roots_are_alive(s);
}

/* Until a signal comes or there is something to look after. */
static void wait_for_signal(struct session *s)
{
	double wait_s = s->r->argc ? 3600 : POLL_S, left_s;
	struct timespec t;
	siginfo_t info;
	int number;

	if (s->is_recording && s->deadline_s > 0) {
		left_s = s->deadline_s - now_s();
		wait_s = left_s < 0 ? 0 : left_s < wait_s ? left_s : wait_s;
	}
	t.tv_sec = (time_t)wait_s;
	t.tv_nsec = (long)((wait_s - (double)t.tv_sec) * 1e9);
	number = sigtimedwait(&s->signals, &info, &t);
	if (number > 0 && number != SIGCHLD)
		interrupted(s, &info);
	reap(s);
}

static void supervise(struct session *s)
{
	while (!is_over(s)) {
		wait_for_signal(s);
		if (s->deadline_s > 0 && s->is_recording && now_s() >= s->deadline_s)
			stop_recording(s); /* a workload goes on without us; its status is still ours */
	}
	stop_recording(s);
}

static void block_signals(struct session *s)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};
	struct sigaction before;
	size_t i;

	sigemptyset(&s->signals);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) {
			if (numbers[i] != SIGCHLD)
				continue; /* nohup, or a shell's background job: it stays ignored */
			s->ignored_children = true;
			signal(SIGCHLD, SIG_DFL); /* or the kernel would reap the workload for us */
		}
		sigaddset(&s->signals, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &s->signals, &s->mask_before);
}

/* ---- the recording -------------------------------------------------------------------------------- */

/* The workload keeps its own. */
void record_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int print_report(const struct session *s)
{
	galvo_summary *summary;
	galvo_error error;
	galvo_run *run;
	galvo_status status = galvo_run_open(s->r->config.output_dir, &run, &error);

	if (status == GALVO_OK) {
		status = galvo_summary_create(run, &summary, &error);
		if (status == GALVO_OK) {
			status = galvo_summary_write(summary, GALVO_REPORT_TEXT, write_to_file, stderr, &error);
			galvo_summary_destroy(summary);
		}
		galvo_run_close(run);
	}
	if (status == GALVO_OK)
		return 0;
	complain("%s", error.text);
	return EXIT_OF_GALVO;
}

static int exit_code_of(const struct session *s)
{
	int failed = s->is_lost ? EXIT_OF_GALVO : 0;

	if (s->r->wants_report && print_report(s) != 0)
		failed = EXIT_OF_GALVO;
	return s->r->argc && s->workload.exit_code ? s->workload.exit_code : failed;
}

/* Everything is set up: let it run. */
static int run_workload(struct session *s)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	galvo_error error;
	galvo_status status = galvo_suite_start(s->suite, &error);
	int failed = 0;

	watch_end(&s->watch);
	if (status != GALVO_OK) {
		complain("%s", error.text);
		if (s->r->argc)
			launch_cancel(&s->launch);
		return EXIT_OF_GALVO;
	}
	s->is_recording = true;
	tell_no_counters(s);
	tell_gpu_notes(s, true);
	if (s->r->config.system_hz > 0 &&
	    galvo_suite_get_stats(s->suite, &stats, NULL) == GALVO_OK)
		tell_slowed(s, &stats);
	if (s->listener && galvo_listener_start(s->listener, galvo_suite_host_tracker(s->suite),
	                                        &error) != GALVO_OK) {
		complain("%s", error.text);
		galvo_listener_close(s->listener); /* who speaks is told that nobody listens */
		s->listener = NULL;
	}
	s->deadline_s = s->r->for_s > 0 ? now_s() + s->r->for_s : 0;
	s->workload.start_mono_ns = now_ns();
	if (s->r->argc)
		failed = launch_go(&s->launch);
	if (failed)
		complain("cannot run '%s': %s", s->r->argv[0], strerror(failed));
	else if (s->r->argc)
		galvo_suite_set_workload(s->suite, &s->workload, NULL);
	supervise(s);
	return exit_code_of(s);
}

static int replay(struct session *s)
{
	galvo_error error;

	if (galvo_suite_replay(s->suite, &error) != GALVO_OK) {
		complain("%s", error.text);
		return EXIT_OF_GALVO;
	}
	return exit_code_of(s);
}

static const char *default_output_dir(void)
{
	static char name[64];
	time_t now = time(NULL);
	struct tm t;
	size_t len;
	int n;

	localtime_r(&now, &t);
	len = strftime(name, sizeof(name), "galvo-%Y%m%d-%H%M%S", &t);
	/* A script may start many in a second. */
	for (n = 2; access(name, F_OK) == 0 && n < 1000; n++)
		snprintf(name + len, sizeof(name) - len, "-%d", n);
	return name;
}

/* The child has to be forked before the suite has threads, and to be known when it starts. */
static bool launch(struct session *s)
{
	struct recording *r = s->r;

	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the tree come to us and stay in sight */
	r->config.adopter_pid = (uint32_t)getpid();
	s->listener = r->config.no_events ? NULL : outside_listen();
	if (!launch_fork(r->argv, &s->mask_before, s->ignored_children, &s->launch)) {
		complain("cannot start a process: %s", strerror(errno));
		return false;
	}
	r->processes[0].pid = (uint32_t)s->launch.pid;
	s->workload.pid = (uint32_t)s->launch.pid;
	s->workload.argv = (const char *const *)r->argv;
	s->workload.argv_len = (size_t)r->argc;
	return true;
}

/* What options ask of GPUs, and no GPU there has. */
static bool is_gpu_mistake(const galvo_error *error)
{
	return error->status == GALVO_ERR_INVALID && !strncmp(error->text, "gpu: ", 5);
}

static int record_session(struct session *s)
{
	struct recording *r = s->r;
	galvo_status status;
	galvo_error error;
	int exit_code;

	if (!r->config.output_dir)
		r->config.output_dir = default_output_dir();
	block_signals(s);
	if (r->argc && !launch(s))
		return EXIT_OF_GALVO;
	crash_tell(r->config.output_dir);
	signal(SIGPIPE, SIG_IGN); /* our own writes say so themselves; the workload keeps its own */
	signal(SIGXFSZ, SIG_IGN);
	record_raise_descriptors();
	r->config.processes = r->processes;
	r->config.processes_len = r->processes_len;
	r->config.disks = r->disks;
	r->config.disks_len = r->disks_len;
	watch_begin(&s->watch);
	status = galvo_suite_create(&r->config, &s->suite, &error);
	if (status != GALVO_OK || galvo_suite_is_replay(s->suite))
		watch_end(&s->watch);
	if (status != GALVO_OK) {
		complain("%s%s", error.text,
		         error.status == GALVO_ERR_STATE ? " (--force replaces it)" : "");
		if (r->argc)
			launch_cancel(&s->launch);
		return is_gpu_mistake(&error) ? EXIT_OF_USAGE : EXIT_OF_GALVO;
	}
	if (r->argc)
		galvo_suite_set_workload(s->suite, &s->workload, NULL);
	if (galvo_suite_is_replay(s->suite) && r->argc) {
		complain("%s is a captured machine: nothing can be run there", r->config.root);
		launch_cancel(&s->launch);
		exit_code = EXIT_OF_USAGE;
	} else {
		exit_code = galvo_suite_is_replay(s->suite) ? replay(s) : run_workload(s);
	}
	galvo_suite_destroy(s->suite);
	return exit_code;
}

int record(struct recording *r)
{
	struct session s = {.r = r, .workload.struct_size = sizeof(s.workload)};
	int exit_code = r->argc ? launch_check(r->argv[0]) : 0;

	if (exit_code)
		return exit_code;
	exit_code = record_session(&s);
	galvo_listener_close(s.listener); /* where it came to no recording */
	return exit_code;
}
