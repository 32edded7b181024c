/* galvo check: is a run whole; galvo check --repair: a copy of what is. */
#include <stdio.h>

#include "cli.h"

static const struct opt opts[] = {
	{256, "repair", "DIR", "copy the run to DIR, without torn tails and damaged messages",
	 "the name of a new directory"},
	{'q', "quiet", NULL, "say nothing; the exit status tells", NULL},
	OPT_HELP,
};

static int write_nowhere(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

static int check(const char *dir, const char *repair_dir, bool is_quiet)
{
	galvo_check_result result;
	galvo_error error;
	galvo_status status;

	status = galvo_run_check(dir, is_quiet ? write_nowhere : write_to_file, stdout, &result, &error);
	if (status == GALVO_OK && repair_dir) {
		status = galvo_run_repair(dir, repair_dir, &result, &error);
		if (status == GALVO_OK && !is_quiet)
			printf("%s: %llu sound messages copied\n", repair_dir,
			       (unsigned long long)result.messages);
	}
	if (status != GALVO_OK && status != GALVO_ERR_CALLBACK) {
		complain("%s", error.text);
		return EXIT_OF_GALVO;
	}
	if (close_stdout() != 0)
		return EXIT_OF_GALVO;
	return result.is_sound ? 0 : 1;
}

struct ways {
	const char *repair_dir;
	bool is_quiet;
};

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	struct ways *ways = ctx;

	if (key == 'q')
		ways->is_quiet = true;
	else
		ways->repair_dir = arg;
	return key == 'q' || arg[0] ? OPT_TAKEN : OPT_WRONG;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct ways ways = {0};
	int at, exit_code;

	if (!opts_take_mixed(command, argc, argv, &at, take_option, &ways, &exit_code))
		return exit_code;
	if (argc - at != 1)
		return usage_error(command, "expected one run directory");
	return check(argv[at], ways.repair_dir, ways.is_quiet);
}

const struct command command_check = {
	"check", "[options] RUN", "Is a run whole? Every message, every gap, torn tails.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
