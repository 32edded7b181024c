/* galvo report: what happened in a run. */
#include <stdio.h>

#include "cli.h"

static const struct opt opts[] = {
	{256, "json", NULL, "as JSON; the keys are in galvo-report(1)"},
	OPT_HELP,
};

static int write_report(const char *dir, galvo_report_format format)
{
	galvo_error error;
	galvo_run *run;
	galvo_summary *summary;
	galvo_status status = galvo_run_open(dir, &run, &error);

	if (status == GALVO_OK) {
		status = galvo_summary_create(run, &summary, &error);
		if (status == GALVO_OK) {
			status = galvo_summary_write(summary, format, write_to_file, stdout, &error);
			galvo_summary_destroy(summary);
		}
		galvo_run_close(run);
	}
	if (status == GALVO_ERR_CALLBACK)
		return close_stdout();
	if (status != GALVO_OK) {
		complain("%s", error.text);
		return EXIT_OF_GALVO;
	}
	return close_stdout();
}

static int run(const struct command *command, int argc, char **argv)
{
	galvo_report_format format = GALVO_REPORT_TEXT;
	const char *arg;
	int at = 1, key;

	while ((key = opt_next(command, argc, argv, &at, &arg)) != OPT_END) {
		if (key == OPT_WRONG)
			return EXIT_OF_USAGE;
		if (key == 'h') {
			command_print_help(command);
			return close_stdout();
		}
		format = GALVO_REPORT_JSON;
	}
	if (argc - at != 1)
		return usage_error(command, "expected one run directory");
	return write_report(argv[at], format);
}

const struct command command_report = {
	"report", "[options] RUN", "What happened in a run, on one screen.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
