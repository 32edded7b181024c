/* galvo check: is a run whole; galvo check --repair: a copy of what is. */
#include <stdio.h>

#include "cli.h"

static const struct opt opts[] = {
	{256, "repair", "DIR", "copy the run to DIR, without torn tails and damaged messages"},
	{'q', "quiet", NULL, "say nothing; the exit status tells"},
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

static int run(const struct command *command, int argc, char **argv)
{
	const char *repair_dir = NULL, *arg;
	bool is_quiet = false;
	int at = 1, key;

	while ((key = opt_next(command, argc, argv, &at, &arg)) != OPT_END) {
		if (key == OPT_WRONG)
			return EXIT_OF_USAGE;
		if (key == 'h') {
			command_print_help(command);
			return close_stdout();
		}
		if (key == 'q')
			is_quiet = true;
		else
			repair_dir = arg;
	}
	if (argc - at != 1)
		return usage_error(command, "expected one run directory");
	return check(argv[at], repair_dir, is_quiet);
}

const struct command command_check = {
	"check", "[options] RUN", "Is a run whole? Every message, every gap, torn tails.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
