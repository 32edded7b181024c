/* Commands about galvo itself: help, version, metrics. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const struct opt only_help[] = {OPT_HELP};

/* True: go on. False: *ret_exit is the exit status. Operands are at argv[*at]. */
static bool only_options(const struct command *command, int argc, char **argv, int *at, bool *ret_json,
                         int *ret_exit)
{
	const char *arg;
	int key;

	while ((key = opt_next(command, argc, argv, at, &arg)) != OPT_END) {
		if (key == OPT_WRONG) {
			*ret_exit = EXIT_OF_USAGE;
			return false;
		}
		if (key == 'h') {
			command_print_help(command);
			*ret_exit = close_stdout();
			return false;
		}
		*ret_json = true;
	}
	return true;
}

static int expect_operands(const struct command *command, int have, int want)
{
	return have == want ? 0 : usage_error(command, "expected %s", want ? "one operand" : "no operands");
}

/* ---- help and version ---------------------------------------------------------------------------- */

static int run_help(const struct command *command, int argc, char **argv)
{
	bool json;
	int at = 1, exit_code;
	size_t i;

	if (!only_options(command, argc, argv, &at, &json, &exit_code))
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
	bool json;
	int at = 1, exit_code;

	if (!only_options(command, argc, argv, &at, &json, &exit_code))
		return exit_code;
	if ((exit_code = expect_operands(command, argc - at, 0)))
		return exit_code;
	printf("galvo %s\n", galvo_version());
	return close_stdout();
}

const struct command command_version = {
	"version", "", "The version of galvo.", only_help, 1, run_version,
};

/* ---- metrics -------------------------------------------------------------------------------------- */

static const struct opt metrics_opts[] = {
	{256, "json", NULL, "as JSON"},
	OPT_HELP,
};

static void print_json(const galvo_metric *m, bool first)
{
	/* Names and help texts are our own: nothing in them needs an escape. */
	printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"scope\": \"%s\", \"stream\": \"%s\", "
	       "\"type\": \"%s\", \"source\": \"%s\", \"help\": \"%s\"}",
	       first ? "[" : ",", m->name, m->unit, m->scope, m->stream, m->type, m->source, m->help);
}

static int run_metrics(const struct command *command, int argc, char **argv)
{
	galvo_metric m = {.struct_size = sizeof(m)};
	bool json = false, is_terminal = isatty(STDOUT_FILENO);
	const char *group = "";
	int at = 1, exit_code;
	size_t i;

	if (!only_options(command, argc, argv, &at, &json, &exit_code))
		return exit_code;
	if ((exit_code = expect_operands(command, argc - at, 0)))
		return exit_code;
	for (i = 0; galvo_metric_at(i, &m, NULL) == GALVO_OK; i++) {
		if (json) {
			print_json(&m, i == 0);
		} else if (!is_terminal) {
			printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.name, m.unit, m.scope, m.stream, m.type,
			       m.source, m.help);
		} else {
			if (strcmp(group, m.source) != 0)
				printf("%s%s: a row each %s, in %s\n", i ? "\n" : "", m.source, m.scope, m.stream);
			group = m.source;
			printf("  %s [%s]\n      %s\n", m.name, m.unit, m.help);
		}
	}
	if (json)
		puts("\n]");
	return close_stdout();
}

const struct command command_metrics = {
	"metrics", "[options]", "The columns galvo records: names, units, meanings.",
	metrics_opts, 2, run_metrics,
};

const struct command command_help = {
	"help", "[COMMAND]", "The commands, or one of them.", only_help, 1, run_help,
};
