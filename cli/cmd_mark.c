/* galvo mark: an instant with a name, in the recording that this process is part of. */
#include "outside.h"

static const struct opt opts[] = {OPT_HELP};

static int run(const struct command *command, int argc, char **argv)
{
	int at, exit_code;

	if (!opts_take(command, argc, argv, &at, NULL, NULL, &exit_code))
		return exit_code;
	if (argc - at != 1)
		return usage_error(command, "expected one name");
	return outside_say_or_fail(GALVO_SAY_MARK, argv[at]);
}

const struct command command_mark = {
	"mark", "NAME", "Mark this instant in the running recording.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
