/* galvo region: begins and ends a region, or puts one around a command. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "outside.h"

static const struct opt opts[] = {OPT_HELP};

/* What ends the command is for it: we only wait. */
static void block_signals(sigset_t *signals, sigset_t *before, bool *ignored_children)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
	struct sigaction was;
	size_t i;

	sigemptyset(signals);
	*ignored_children = false;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN) {
			if (numbers[i] != SIGCHLD)
				continue;
			*ignored_children = true;
			signal(SIGCHLD, SIG_DFL);
		}
		sigaddset(signals, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, signals, before);
}

/* What the terminal sends, the command has got already. */
static int wait_for(int pid, const sigset_t *signals)
{
	siginfo_t info;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		int number = sigwaitinfo(signals, &info);

		if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
			kill(pid, number);
	}
	if (ended < 0)
		return EXIT_OF_GALVO;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* One of ours, whatever other regions have the same name. Never 0. */
static uint64_t make_token(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)getpid() << 32 | (uint32_t)t.tv_nsec;
}

/* The command comes first: it runs whether or not somebody hears of it. */
static int run_inside(const char *name, char **argv)
{
	int exit_code = launch_check(argv[0]), failed;
	uint64_t token = make_token();
	sigset_t signals, before;
	bool ignored_children;
	struct launch launch;
	galvo_error error;
	bool is_told;

	if (exit_code)
		return exit_code;
	block_signals(&signals, &before, &ignored_children);
	if (!launch_fork(argv, &before, ignored_children, &launch)) {
		complain("cannot start a process: %s", strerror(errno));
		return EXIT_OF_GALVO;
	}
	is_told = outside_say(GALVO_SAY_BEGIN, token, name, &error) == GALVO_OK;
	if (!is_told)
		complain("the region is not recorded: %s", error.text);
	failed = launch_go(&launch);
	if (failed)
		complain("cannot run '%s': %s", argv[0], strerror(failed));
	exit_code = wait_for(launch.pid, &signals);
	if (is_told && outside_say(GALVO_SAY_END, token, name, &error) != GALVO_OK)
		complain("the end of the region is not recorded: %s", error.text);
	return exit_code;
}

static int run(const struct command *command, int argc, char **argv)
{
	int at, exit_code;

	if (!opts_take(command, argc, argv, &at, NULL, NULL, &exit_code))
		return exit_code;
	argc -= at;
	argv += at;
	if (argc >= 2 && !strcmp(argv[1], "--"))
		return argc > 2 ? run_inside(argv[0], argv + 2)
		                : usage_error(command, "expected a command behind --");
	if (argc == 2 && !strcmp(argv[0], "begin"))
		return outside_say_or_fail(GALVO_SAY_BEGIN, argv[1]);
	if (argc == 2 && !strcmp(argv[0], "end"))
		return outside_say_or_fail(GALVO_SAY_END, argv[1]);
	return usage_error(command, "expected begin or end and a name, or a name, -- and a command");
}

const struct command command_region = {
	"region", "begin NAME | end NAME | NAME -- command…",
	"Name a stretch of the running recording.", opts, sizeof(opts) / sizeof(opts[0]), run,
};
