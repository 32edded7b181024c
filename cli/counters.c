/* What can be counted on GPUs, for galvo metrics: lists, and whether names are counted in one pass. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { NAMES_MAX = 256, PATTERN_MAX = 256 };

struct listing {
	galvo_counters *counters;
	const struct counters_wish *wish;
	char pattern[PATTERN_MAX];
	char hardware[64]; /* of the one before, on a terminal */
	size_t count;
};

/* ---- one metric --------------------------------------------------------------------------------- */

/* In a line of fields nothing is a tab or a newline. */
static void put_field(const char *text, char end)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	putchar(end);
}

static void print_line(const galvo_counter *m, const char *suffix)
{
	printf("%s%s\t%s\t", m->name, suffix ? suffix : "", m->type);
	put_field(m->vendor_unit, '\t');
	put_field(m->hardware, '\t');
	if (!suffix)
		put_field(m->suffixes, '\t');
	put_field(m->description, '\n');
}

static void print_item(struct listing *l, const galvo_counter *m)
{
	if (strncmp(l->hardware, m->hardware, sizeof(l->hardware) - 1) != 0)
		printf("%s%s\n", l->count ? "\n" : "", m->hardware);
	snprintf(l->hardware, sizeof(l->hardware), "%s", m->hardware);
	printf("  %s%s", m->name, m->suffixes);
	if (m->vendor_unit[0])
		printf(" [%s]", m->vendor_unit);
	fputs("\n      ", stdout);
	put_field(m->description, '\n');
}

static void print_key(const char *key, const char *text)
{
	printf(", \"%s\": ", key);
	print_json_text(text);
}

static void print_object(struct listing *l, const galvo_counter *m, const char *const *suffixes,
                         size_t n)
{
	size_t i;

	fputs(l->count ? ",\n    {\"name\": " : "\n    {\"name\": ", stdout);
	print_json_text(m->name);
	print_key("type", m->type);
	print_key("unit", m->unit);
	print_key("vendor_unit", m->vendor_unit);
	print_key("hardware", m->hardware);
	print_key("suffix_class", m->suffixes);
	for (i = 0; i < n; i++) {
		fputs(i ? ", " : ", \"suffixes\": [", stdout);
		print_json_text(suffixes[i]);
	}
	fputs(n ? "]" : "", stdout);
	print_key("description", m->description);
	putchar('}');
}

/* ---- the list ----------------------------------------------------------------------------------- */

static bool print_full_names(struct listing *l, const galvo_counter *m, const char *const *suffixes,
                             size_t n, galvo_error *error)
{
	galvo_counter full = {.struct_size = sizeof(full)};
	char name[PATTERN_MAX];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%s", m->name, suffixes[i]);
		if (galvo_counters_find(l->counters, name, &full, error) != GALVO_OK)
			return false;
		print_line(&full, suffixes[i]);
	}
	return true;
}

static bool print_metric(struct listing *l, const galvo_counter *m, bool is_terminal,
                         galvo_error *error)
{
	const char *const *suffixes = NULL;
	size_t n = 0;

	if (l->wish->has_suffixes &&
	    galvo_counters_suffixes(l->counters, m->name, &suffixes, &n, error) != GALVO_OK)
		return false;
	if (l->wish->is_json)
		print_object(l, m, suffixes, n);
	else if (l->wish->has_suffixes)
		return print_full_names(l, m, suffixes, n, error);
	else if (is_terminal)
		print_item(l, m);
	else
		print_line(m, NULL);
	return true;
}

static int failed(const galvo_error *error)
{
	complain("%s", error->text);
	return EXIT_OF_GALVO;
}

static int nothing_found(struct listing *l)
{
	galvo_counter m = {.struct_size = sizeof(m)};
	galvo_error error;

	/* A name that is nearly one is told better by those who know them. */
	if (!strpbrk(l->wish->pattern, "*?[") && strstr(l->wish->pattern, "__") &&
	    galvo_counters_find(l->counters, l->wish->pattern, &m, &error) == GALVO_ERR_INVALID)
		complain("%s", error.text);
	else
		complain("%s has no metric like '%s'", galvo_counters_chip(l->counters),
		         l->wish->pattern);
	return EXIT_OF_USAGE;
}

static int print_list(struct listing *l)
{
	bool is_terminal = isatty(STDOUT_FILENO);
	galvo_counter m = {.struct_size = sizeof(m)};
	galvo_status status;
	galvo_error error;
	size_t i;

	for (i = 0; (status = galvo_counters_at(l->counters, i, &m, &error)) == GALVO_OK; i++) {
		if (fnmatch(l->pattern, m.name, FNM_CASEFOLD) != 0)
			continue;
		if (l->count == 0 && l->wish->is_json) {
			fputs("{\n  \"galvo_counters\": 1,\n  \"chip\": ", stdout);
			print_json_text(galvo_counters_chip(l->counters));
			fputs(",\n  \"metrics\": [", stdout);
		}
		if (!print_metric(l, &m, is_terminal, &error))
			return failed(&error);
		l->count++;
	}
	if (status != GALVO_DONE)
		return failed(&error);
	if (l->count == 0 && l->wish->pattern)
		return nothing_found(l);
	if (l->wish->is_json)
		puts("\n  ]\n}");
	return close_stdout();
}

static int print_chips(galvo_counters *counters, bool is_json)
{
	galvo_status status;
	galvo_error error;
	const char *name;
	size_t i;

	for (i = 0; (status = galvo_counters_chip_at(counters, i, &name, &error)) == GALVO_OK; i++)
		printf(is_json ? "%s\"%s\"" : "%s%s\n", !is_json ? "" : i ? ", " : "[", name);
	if (status != GALVO_DONE)
		return failed(&error);
	fputs(is_json ? "]\n" : "", stdout);
	return close_stdout();
}

/* ---- whether names are counted in one pass ------------------------------------------------------ */

static void print_check_json(const char *chip, const galvo_counter_set *set, const char *error)
{
	size_t i;

	fputs("{\n  \"galvo_counters_check\": 1,\n  \"chip\": ", stdout);
	print_json_text(chip);
	printf(",\n  \"is_one_pass\": %s,\n  \"error\": ", error ? "false" : "true");
	if (error)
		print_json_text(error);
	else
		fputs("null", stdout);
	fputs(",\n  \"metrics\": [", stdout);
	for (i = 0; i < set->names_len; i++) {
		fputs(i ? ",\n    " : "\n    ", stdout);
		print_json_text(set->names[i]);
	}
	fputs("],\n  \"dropped\": [", stdout);
	for (i = 0; i < set->dropped_len; i++) {
		fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", stdout);
		print_json_text(set->dropped[i]);
		print_key("reason", set->reasons[i]);
		putchar('}');
	}
	if (error)
		puts("],\n  \"sample_bytes\": null,\n  \"is_guess\": null\n}");
	else
		printf("],\n  \"sample_bytes\": %zu,\n  \"is_guess\": %s\n}\n", set->sample_bytes,
		       set->is_guess ? "true" : "false");
}

static void print_check(const char *chip, const galvo_counter_set *set)
{
	double mb = (double)set->sample_bytes / 1e6;
	size_t i;

	printf("%s: %zu metric%s in one pass\n", chip, set->names_len,
	       set->names_len == 1 ? "" : "s");
	for (i = 0; i < set->names_len; i++)
		printf("  %s\n", set->names[i]);
	if (set->dropped_len)
		puts("left out");
	for (i = 0; i < set->dropped_len; i++)
		printf("  %s: %s\n", set->dropped[i], set->reasons[i]);
	printf("%s%zu bytes a sample in the hardware buffer: %.3g MB a second at 1 kHz, %.3g MB at "
	       "10 kHz\n", set->is_guess ? "perhaps " : "", set->sample_bytes, 1e3 * mb, 1e4 * mb);
}

static int check_names(galvo_counters *counters, char *text, bool is_json)
{
	galvo_counter_set set = {.struct_size = sizeof(set)};
	const char *names[NAMES_MAX], *chip = galvo_counters_chip(counters);
	galvo_status status;
	galvo_error error;
	size_t n = 0;
	int closed;

	while (text) {
		if (n == NAMES_MAX) {
			complain("--check: more than %d names", NAMES_MAX);
			return EXIT_OF_USAGE;
		}
		names[n++] = next_word(&text);
	}
	status = galvo_counters_choose(counters, names, n, &set, &error);
	if (is_json)
		print_check_json(chip, &set, status ? error.text : NULL);
	else if (status == GALVO_OK)
		print_check(chip, &set);
	else
		complain("%s", error.text);
	closed = close_stdout();
	return closed ? closed : status ? 1 : 0;
}

/* ---- the door ----------------------------------------------------------------------------------- */

/* Then it is the chip that cannot be sampled. */
static bool has_library(void)
{
	galvo_counters_config config = {.struct_size = sizeof(config), .chip = ""};
	galvo_counters *counters;

	if (galvo_counters_open(&config, &counters, NULL) != GALVO_OK)
		return false;
	galvo_counters_close(counters);
	return true;
}

static int cannot_open(const struct counters_wish *wish, galvo_status status,
                       const galvo_error *error)
{
	if (!wish->chip) /* without libcupti a chip with a name is of no use either */
		complain("%s%s", error->text, strstr(error->text, "libcupti")
		         ? "" : "; `galvo metrics --chip GH100` lists those of a chip that is not here");
	else
		complain("%s", error->text);
	return status == GALVO_ERR_INVALID || (wish->chip && has_library()) ? EXIT_OF_USAGE : EXIT_OF_GALVO;
}

int counters_print(const struct counters_wish *wish)
{
	bool is_chips = wish->chip && strcmp(wish->chip, "list") == 0;
	galvo_counters_config config = {.struct_size = sizeof(config),
	                                .chip = is_chips ? "" : wish->chip};
	struct listing l = {.wish = wish, .pattern = "*"};
	galvo_status status;
	galvo_error error;
	char *names;
	int exit_code;

	if (wish->pattern)
		snprintf(l.pattern, sizeof(l.pattern),
		         strpbrk(wish->pattern, "*?[") ? "%s" : "*%s*", wish->pattern);
	status = galvo_counters_open(&config, &l.counters, &error);
	if (status != GALVO_OK)
		return cannot_open(wish, status, &error);
	if (is_chips) {
		exit_code = print_chips(l.counters, wish->is_json);
	} else if (wish->check) {
		names = strdup(wish->check);
		exit_code = names ? check_names(l.counters, names, wish->is_json) : EXIT_OF_GALVO;
		free(names);
	} else {
		exit_code = print_list(&l);
	}
	galvo_counters_close(l.counters);
	return exit_code;
}
