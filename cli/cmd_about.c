/* Commands about galvo itself: help, version. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct opt only_help[] = {OPT_HELP};

/* ---- help and version ---------------------------------------------------------------------------- */

static int run_help(const struct command *command, int argc, char **argv)
{
	int at, exit_code;
	size_t i;

	if (!opts_take(command, argc, argv, &at, NULL, NULL, &exit_code))
		return exit_code;
	for (i = 0; argc - at == 1 && i < command_table_len; i++)
		if (!strcmp(command_table[i]->name, argv[at])) {
			command_print_help(command_table[i]);
			return close_stdout();
		}
	if (argc - at != 0)
		return usage_error(command, "there is no command '%s'", argv[at]);
	puts("galvo records what a workload does to a machine.\n\n"
	     "usage: galvo record [options] -- command…\n"
	     "       galvo COMMAND --help\n");
	for (i = 0; i < command_table_len; i++)
		printf("  %-12s %s\n", command_table[i]->name, command_table[i]->summary);
	return close_stdout();
}

static int run_version(const struct command *command, int argc, char **argv)
{
	int at, exit_code;

	if (!opts_take(command, argc, argv, &at, NULL, NULL, &exit_code))
		return exit_code;
	if (argc != at)
		return usage_error(command, "expected no operands");
	printf("galvo %s\n", galvo_version());
	return close_stdout();
}

const struct command command_version = {
	"version", "", "The version of galvo.", only_help, 1, run_version,
};

const struct command command_help = {
	"help", "[COMMAND]", "The commands, or one of them.", only_help, 1, run_help,
};
