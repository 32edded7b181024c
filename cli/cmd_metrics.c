/* galvo metrics: the columns that are recorded, as a list, one explained, or as a catalog; counters of GPUs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const struct opt opts[] = {
	{256, "json", NULL, "as JSON", NULL},
	{257, "catalog", NULL, "as a MetricCatalog in text form, for metric_catalog_path", NULL},
	{258, "gpu", NULL, "what the GPU that is here can count", NULL},
	{259, "chip", "CHIP", "what this chip (GH100) can count, without a GPU; list: which chips there are",
	 "a chip as GH100, or list"},
	{260, "suffixes", NULL, "of these all full names", NULL},
	{261, "check", "NAMES",
	 "is this set of full names, default or rich, with commas between, counted in one pass?", NULL},
	OPT_HELP,
};

static const char *name_at(size_t i)
{
	galvo_metric m = {.struct_size = sizeof(m)};

	return galvo_metric_at(i, &m, NULL) == GALVO_OK ? m.name : NULL;
}

/* ---- ways to print one -------------------------------------------------------------------------- */

/* Names and help texts are our own: nothing in them needs an escape. */
static void print_json(const galvo_metric *m, bool first)
{
	printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"scope\": \"%s\", \"stream\": \"%s\", "
	       "\"type\": \"%s\", \"source\": \"%s\", \"help\": \"%s\"}",
	       first ? "[" : ",", m->name, m->unit, m->scope, m->stream, m->type, m->source, m->help);
}

static void print_line(const galvo_metric *m)
{
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m->name, m->unit, m->scope, m->stream, m->type, m->source,
	       m->help);
}

/* A line of the list for people, the source above it where it changes. */
static void print_item(const galvo_metric *m, const char *source_before)
{
	if (strcmp(source_before, m->source) != 0)
		printf("%s%s: a row each %s, in %s\n", source_before[0] ? "\n" : "", m->source, m->scope,
		       m->stream);
	printf("  %s [%s]\n      %s\n", m->name, m->unit, m->help);
}

static void explain(const galvo_metric *m)
{
	printf("%s\n  %s\n\n  unit    %s\n  type    %s\n  scope   %s\n  stream  %s\n  source  %s\n", m->name,
	       m->help, m->unit, m->type, m->scope, m->stream, m->source);
}

/* ---- the command -------------------------------------------------------------------------------- */

static int unknown(const char *name)
{
	const char *meant = nearest(name, strlen(name), name_at);

	if (meant)
		complain("there is no column '%s'; did you mean '%s'?", name, meant);
	else
		complain("there is no column '%s'; `galvo metrics` lists them", name);
	return EXIT_OF_USAGE;
}

/* All of them, or those of one name. */
static int list(const char *name, bool is_json)
{
	bool is_terminal = isatty(STDOUT_FILENO);
	galvo_metric m = {.struct_size = sizeof(m)};
	const char *source = "";
	size_t i, count = 0;

	for (i = 0; galvo_metric_at(i, &m, NULL) == GALVO_OK; i++) {
		if (name && strcmp(m.name, name) != 0)
			continue;
		if (is_json)
			print_json(&m, count == 0);
		else if (name)
			explain(&m);
		else if (is_terminal)
			print_item(&m, source);
		else
			print_line(&m);
		source = m.source;
		count++;
	}
	if (count == 0 && name)
		return unknown(name);
	if (is_json)
		puts("\n]");
	return close_stdout();
}

static int print_catalog(void)
{
	galvo_error error;
	galvo_status status = galvo_catalog_write(write_to_file, stdout, &error);

	return end_stdout(status, &error);
}

struct ways {
	bool is_catalog, is_gpu;
	struct counters_wish counters;
};

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	struct ways *ways = ctx;

	if (key == 256)
		ways->counters.is_json = true;
	else if (key == 257)
		ways->is_catalog = true;
	else if (key == 258)
		ways->is_gpu = true;
	else if (key == 259 && !arg[0])
		return OPT_WRONG;
	else if (key == 259)
		ways->counters.chip = arg;
	else if (key == 260)
		ways->counters.has_suffixes = true;
	else
		ways->counters.check = arg;
	return OPT_TAKEN;
}

/* What does not go together, or NULL. */
static const char *at_odds(const struct ways *ways, bool has_operand)
{
	const struct counters_wish *c = &ways->counters;
	bool is_counters = ways->is_gpu || c->chip;

	if (ways->is_catalog && (c->is_json || has_operand || is_counters))
		return "--catalog stands alone";
	if (ways->is_gpu && c->chip)
		return "expected --gpu or --chip, not both";
	if (!is_counters && (c->has_suffixes || c->check))
		return "--suffixes and --check need --gpu or --chip";
	if (c->check && (has_operand || c->has_suffixes))
		return "--check takes its names with commas between, and nothing else";
	if (c->chip && strcmp(c->chip, "list") == 0 && (c->check || has_operand || c->has_suffixes))
		return "--chip list stands alone";
	return NULL;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct ways ways = {0};
	const char *operand, *wrong;
	int at, exit_code;

	if (!opts_take_mixed(command, argc, argv, &at, take_option, &ways, &exit_code))
		return exit_code;
	if (argc - at > 1)
		return usage_error(command, "expected one name at most");
	operand = argc == at ? NULL : argv[at];
	wrong = at_odds(&ways, operand != NULL);
	if (wrong)
		return usage_error(command, "%s", wrong);
	ways.counters.pattern = operand;
	if (ways.is_gpu || ways.counters.chip)
		return counters_print(&ways.counters);
	return ways.is_catalog ? print_catalog() : list(operand, ways.counters.is_json);
}

const struct command command_metrics = {
	"metrics", "[options] [NAME]", "The columns galvo records, and what GPUs can count.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
