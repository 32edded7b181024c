/* galvo view: runs as one page of HTML, and the page in a browser. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outfile.h"

#define PAGE_NAME "view.html"
#define DETAILS_MAX 64

enum { NO_OPEN = 256, MAX_SIZE, PRECISION, DETAIL, ALIGN, TITLE };

static const struct opt opts[] = {
	{'o', "output", "FILE", "where to: view.html in RUN, here of several; -: standard output", NULL},
	{NO_OPEN, "no-open", NULL, "open no browser", NULL},
	{MAX_SIZE, "max-size", "SIZE", "the largest page: values that do not fit are in buckets [32M]",
	 "a size like 500K, 32M or 1G"},
	{DETAIL, "detail", "START-END", "all values of this time, in s; several times",
	 "two times like 10-12.5 or 2m-150s"},
	{PRECISION, "precision", "BITS", "of values: f32, a relative error of 6e-8, or f64 [f32]",
	 "f32 or f64"},
	{ALIGN, "align", "REGION", "draw several runs so that these regions begin together", NULL},
	{TITLE, "title", "TEXT", "what the page is called [the command]", NULL},
	OPT_HELP,
};

struct view {
	galvo_page_options page;
	galvo_page_window details[DETAILS_MAX];
	const char *output;
	bool has_no_open;
};

/* ---- options ------------------------------------------------------------------------------------------ */

static bool take_detail(struct view *v, const char *text)
{
	galvo_page_window *w = &v->details[v->page.details_len];

	if (v->page.details_len == DETAILS_MAX || !parse_range(text, &w->from_s, &w->end_s) ||
	    !(w->end_s > w->from_s))
		return false;
	v->page.details = v->details;
	v->page.details_len++;
	return true;
}

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	struct view *v = ctx;

	switch (key) {
	case 'o': v->output = arg; return OPT_TAKEN;
	case NO_OPEN: v->has_no_open = true; return OPT_TAKEN;
	case MAX_SIZE: return parse_size(arg, &v->page.max_bytes) ? OPT_TAKEN : OPT_WRONG;
	case DETAIL: return take_detail(v, arg) ? OPT_TAKEN : OPT_WRONG;
	case ALIGN: v->page.align = arg; return OPT_TAKEN;
	case TITLE: v->page.title = arg; return OPT_TAKEN;
	default: break;
	}
	if (strcmp(arg, "f32") != 0 && strcmp(arg, "f64") != 0)
		return OPT_WRONG;
	v->page.precision_bits = arg[1] == '3' ? 32 : 64;
	return OPT_TAKEN;
}

/* ---- runs --------------------------------------------------------------------------------------------- */

/* The last part of a path, without slashes at its end. */
static const char *name_of(const char *dir, int *ret_len)
{
	size_t end = strlen(dir), from;

	while (end > 1 && dir[end - 1] == '/')
		end--;
	for (from = end; from > 0 && dir[from - 1] != '/'; from--)
		;
	*ret_len = (int)(end - from);
	return dir + from;
}

/* The name of a run's directory, or the path to it where another run has the same name. */
static void put_label(char **dirs, size_t n, size_t i, char *label, size_t bytes)
{
	int len, other_len;
	const char *name = name_of(dirs[i], &len), *other;
	size_t k;

	for (k = 0; k < n; k++) {
		other = name_of(dirs[k], &other_len);
		if (k != i && len == other_len && memcmp(name, other, (size_t)len) == 0)
			break;
	}
	snprintf(label, bytes, "%.*s", k < n ? (int)strlen(dirs[i]) : len, k < n ? dirs[i] : name);
}

struct runs {
	galvo_page_run *all;
	galvo_run **opened;
	char (*labels)[256];
	size_t len;
};

static galvo_status open_runs(struct runs *r, char **dirs, size_t n, galvo_error *error)
{
	galvo_status status = GALVO_OK;

	r->all = calloc(n, sizeof(*r->all));
	r->opened = calloc(n, sizeof(galvo_run *));
	r->labels = calloc(n, sizeof(*r->labels));
	if (!r->all || !r->opened || !r->labels) {
		snprintf(error->text, sizeof(error->text), "no memory for %zu runs", n);
		return GALVO_ERR_NOMEM;
	}
	for (; r->len < n && status == GALVO_OK; r->len++) {
		galvo_page_run *run = &r->all[r->len];

		status = galvo_run_open(dirs[r->len], &r->opened[r->len], error);
		if (status != GALVO_OK)
			break;
		run->run = r->opened[r->len];
		put_label(dirs, n, r->len, r->labels[r->len], sizeof(*r->labels));
		run->label = r->labels[r->len];
	}
	return status;
}

static void close_runs(struct runs *r)
{
	size_t i;

	for (i = 0; i < r->len; i++)
		galvo_run_close(r->opened[i]);
	free(r->all);
	free(r->opened);
	free(r->labels);
}

/* ---- the file ----------------------------------------------------------------------------------------- */

/* Where it was asked for; else in the run or here, or wherever one may write. */
static bool open_output(const struct view *v, char **dirs, size_t n, struct outfile *o)
{
	char *path = NULL;
	bool is_open;

	if (v->output) {
		is_open = outfile_open(o, v->output);
		if (!is_open)
			complain("%s: %s", v->output, strerror(errno));
		return is_open;
	}
	if (asprintf(&path, "%s%s" PAGE_NAME, n == 1 ? dirs[0] : "", n == 1 ? "/" : "") < 0) {
		complain("no memory");
		return false;
	}
	is_open = outfile_open(o, path);
	if (!is_open && errno != ENOSPC)
		is_open = outfile_open_temporary(o, "galvo-" PAGE_NAME);
	if (!is_open)
		complain("%s: %s", path, strerror(errno));
	free(path);
	return is_open;
}

static int write_page(const struct view *v, const struct runs *runs, char **dirs)
{
	struct outfile out;
	galvo_error error;
	galvo_status status;
	int code = EXIT_OF_GALVO;

	if (!open_output(v, dirs, runs->len, &out))
		return code;
	status = galvo_page_write(runs->all, runs->len, &v->page, write_to_file, out.file, &error);
	code = outfile_end(&out, status, &error);
	if (code == 0) {
		puts(out.path);
		code = close_stdout();
		if (code == 0 && !v->has_no_open && desktop_is_there())
			browser_open(out.path);
	}
	outfile_finish(&out);
	return code;
}

static int print_page(const struct view *v, const struct runs *runs)
{
	galvo_error error;
	galvo_status status = galvo_page_write(runs->all, runs->len, &v->page, write_to_file, stdout,
	                                       &error);

	return end_stdout(status, &error);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct view v = {.page.struct_size = sizeof(v.page)};
	struct runs runs = {0};
	galvo_error error;
	int at, code;

	if (!opts_take_mixed(command, argc, argv, &at, take_option, &v, &code))
		return code;
	if (at == argc)
		return usage_error(command, "expected a run directory");
	code = EXIT_OF_GALVO;
	if (open_runs(&runs, argv + at, (size_t)(argc - at), &error) != GALVO_OK)
		complain("%s", error.text);
	else if (v.output && strcmp(v.output, "-") == 0)
		code = print_page(&v, &runs);
	else
		code = write_page(&v, &runs, argv + at);
	close_runs(&runs);
	return code;
}

const struct command command_view = {
	"view", "[options] RUN [RUN...]", "Runs as a page to look at, in the browser or as a file.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
