/* galvo report: what happened in a run. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct opt opts[] = {
	{257, "by", "WHAT", "processes by pid, as a tree, or by comm, grouped by their names [pid]",
	 "pid or comm"},
	{256, "json", NULL, "as JSON; the keys are in galvo-report(1)", NULL},
	OPT_HELP,
};

static int write_report(const char *dir, const galvo_report_options *options)
{
	galvo_error error;
	galvo_run *run;
	galvo_summary *summary;
	galvo_status status = galvo_run_open(dir, &run, &error);

	if (status == GALVO_OK) {
		status = galvo_summary_create(run, &summary, &error);
		if (status == GALVO_OK) {
			status = galvo_summary_report(summary, options, write_to_file, stdout, &error);
			galvo_summary_destroy(summary);
		}
		galvo_run_close(run);
	}
	return end_stdout(status, &error);
}

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	galvo_report_options *options = ctx;

	if (key == 256)
		options->format = GALVO_REPORT_JSON;
	else if (strcmp(arg, "comm") == 0)
		options->by = GALVO_REPORT_BY_COMM;
	else if (strcmp(arg, "pid") == 0)
		options->by = GALVO_REPORT_BY_PID;
	else
		return OPT_WRONG;
	return OPT_TAKEN;
}

static int run(const struct command *command, int argc, char **argv)
{
	galvo_report_options options = {.struct_size = sizeof(options),
	                                .format = GALVO_REPORT_TEXT};
	int at, exit_code;

	if (!opts_take_mixed(command, argc, argv, &at, take_option, &options, &exit_code))
		return exit_code;
	if (argc - at != 1)
		return usage_error(command, "expected one run directory");
	return write_report(argv[at], &options);
}

const struct command command_report = {
	"report", "[options] RUN", "What happened in a run, on one screen.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
