/* galvo plot: a run as a picture, for paper. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "outfile.h"

enum { KEY_FORMAT = 256, KEY_GPU_ONLY, KEY_HEIGHT, KEY_LIST, KEY_PANELS, KEY_RANGE, KEY_THEME, KEY_TITLE, KEY_WIDTH };

static const struct opt opts[] = {
	{KEY_FORMAT, "format", "NAME", "png, svg or pdf [as the file's name ends]", "png, svg or pdf"},
	{KEY_GPU_ONLY, "gpu-only", NULL, "panels and regions of GPUs alone", NULL},
	{KEY_LIST, "list", NULL, "names and titles of the panels that there are, and no picture", NULL},
	{'o', "output", "FILE", "where to, - being standard output; replaces a file", "a file name"},
	{KEY_HEIGHT, "panel-height", "N", "of each panel, in pixels; in points of a PDF",
	 "a whole number from 24 to 4000"},
	{KEY_PANELS, "panels", "IDS", "those panels alone: names with commas between, * and ? as in a shell",
	 "names of panels"},
	{KEY_RANGE, "range", "START-END", "that part of the time: 10s-1m, 10s-, -500ms",
	 "START-END, such as 10s-1m or 10s-"},
	{KEY_THEME, "theme", "NAME", "light or dark [light]", "light or dark"},
	{KEY_TITLE, "title", "TEXT", "what stands above it [the command]", NULL},
	{KEY_WIDTH, "width", "N", "of the picture, in pixels [1600]; in points of a PDF [595: A4]",
	 "a whole number from 320 to 20000"},
	OPT_HELP,
};

struct plot_wish {
	galvo_plot_options options;
	const char *file;
	bool is_list;
};

static int format_of(const char *name)
{
	static const struct {
		const char *name;
		int format;
	} formats[] = {{"png", GALVO_PLOT_PNG}, {"svg", GALVO_PLOT_SVG}, {"pdf", GALVO_PLOT_PDF}};
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcasecmp(name, formats[i].name) == 0)
			return formats[i].format;
	return 0;
}

/* A whole number of the bounds. */
static bool take_number(const char *text, uint32_t least, uint32_t most, uint32_t *ret)
{
	double v;

	if (!parse_number(text, &v) || v < least || v > most || v != (double)(uint32_t)v)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* "10s-1m"; either side may be left out, not both. */
static bool take_range(const char *text, galvo_plot_options *o)
{
	double from_s, end_s;

	if (!parse_range(text, &from_s, &end_s) || (isnan(from_s) && isnan(end_s)))
		return false;
	o->after_ns = isnan(from_s) ? 0 : (uint64_t)(from_s * 1e9 + 0.5);
	o->before_ns = isnan(end_s) ? 0 : (uint64_t)(end_s * 1e9 + 0.5);
	return isnan(end_s) || o->before_ns > o->after_ns;
}

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	struct plot_wish *w = ctx;
	galvo_plot_options *o = &w->options;
	bool is_right = true;

	switch (key) {
	case 'o': is_right = (w->file = arg)[0] != '\0'; break;
	case KEY_FORMAT: is_right = (o->format = format_of(arg)) != 0; break;
	case KEY_GPU_ONLY: o->gpu_only = 1; break;
	case KEY_LIST: w->is_list = true; break;
	case KEY_HEIGHT: is_right = take_number(arg, 24, 4000, &o->panel_height); break;
	case KEY_PANELS: o->panels = arg; break;
	case KEY_RANGE: is_right = take_range(arg, o); break;
	case KEY_THEME:
		o->is_dark = strcmp(arg, "dark") == 0;
		is_right = o->is_dark || strcmp(arg, "light") == 0;
		break;
	case KEY_TITLE: o->title = arg; break;
	case KEY_WIDTH: is_right = take_number(arg, 320, 20000, &o->width); break;
	default: is_right = false; break;
	}
	return is_right ? OPT_TAKEN : OPT_WRONG;
}

static int plot_file(const galvo_run *run, const struct plot_wish *w)
{
	struct outfile file;
	galvo_error error;
	galvo_status status;
	int exit_code;

	if (strcmp(w->file, "-") == 0) {
		status = galvo_plot_write(run, &w->options, write_to_file, stdout, &error);
		return end_stdout(status, &error);
	}
	if (!outfile_open(&file, w->file)) {
		complain("%s: %s", w->file, strerror(errno));
		return EXIT_OF_GALVO;
	}
	status = galvo_plot_write(run, &w->options, write_to_file, file.file, &error);
	exit_code = outfile_end(&file, status, &error);
	outfile_finish(&file);
	return exit_code;
}

static int list_panels(const galvo_run *run, const struct plot_wish *w)
{
	galvo_error error;
	galvo_status status = galvo_plot_list(run, &w->options, write_to_file, stdout, &error);

	return end_stdout(status, &error);
}

static int plot_run(const char *dir, const struct plot_wish *w)
{
	galvo_error error;
	galvo_run *run;
	int exit_code;

	if (galvo_run_open(dir, &run, &error) != GALVO_OK) {
		complain("%s", error.text);
		return EXIT_OF_GALVO;
	}
	exit_code = w->is_list ? list_panels(run, w) : plot_file(run, w);
	galvo_run_close(run);
	return exit_code;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct plot_wish w = {.options = {.struct_size = sizeof(galvo_plot_options)}};
	const char *ending, *dir;
	int at, exit_code;

	if (!opts_take_mixed(command, argc, argv, &at, take_option, &w, &exit_code))
		return exit_code;
	if (at == argc)
		return usage_error(command, "expected a run directory");
	if (argc - at > 1)
		return usage_error(command, "expected one run directory, got '%s' too", argv[at + 1]);
	dir = argv[at];
	if (w.is_list)
		return plot_run(dir, &w);
	if (!w.file)
		return usage_error(command, "expected -o FILE, or --list");
	ending = strrchr(w.file, '.');
	if (!w.options.format && ending && !strchr(ending, '/'))
		w.options.format = format_of(ending + 1);
	if (!w.options.format)
		return usage_error(command, "expected a file that ends in .png, .svg or .pdf, or --format; "
		                   "got '%s'", w.file);
	return plot_run(dir, &w);
}

const struct command command_plot = {
	"plot", "[options] RUN -o FILE", "A run as a picture: panels over time, for paper.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
