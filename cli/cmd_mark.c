/* galvo mark: an instant with a name, in the recording that this process is part of. */
#include "outside.h"

static const struct opt opts[] = {OPT_HELP};

static int run(const struct command *command, int argc, char **argv)
{
	const char *arg;
	int at = 1, key;

	while ((key = opt_next(command, argc, argv, &at, &arg)) != OPT_END) {
		if (key == OPT_WRONG)
			return EXIT_OF_USAGE;
		command_print_help(command);
		return close_stdout();
	}
	if (argc - at != 1)
		return usage_error(command, "expected one name");
	return outside_say_or_fail(GALVO_SAY_MARK, argv[at]);
}

const struct command command_mark = {
	"mark", "NAME", "Mark this instant in the running recording.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
