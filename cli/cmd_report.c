/* galvo report: what happened in a run. */
#include <stdio.h>

#include "cli.h"

static const struct opt opts[] = {
	{256, "json", NULL, "as JSON; the keys are in galvo-report(1)", NULL},
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

/* There is one. */
static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	galvo_report_format *format = ctx;

	(void)key;
	(void)arg;
	*format = GALVO_REPORT_JSON;
	return OPT_TAKEN;
}

static int run(const struct command *command, int argc, char **argv)
{
	galvo_report_format format = GALVO_REPORT_TEXT;
	int at, exit_code;

	if (!opts_take(command, argc, argv, &at, take_option, &format, &exit_code))
		return exit_code;
	if (argc - at != 1)
		return usage_error(command, "expected one run directory");
	return write_report(argv[at], format);
}

const struct command command_report = {
	"report", "[options] RUN", "What happened in a run, on one screen.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
