/* galvo doctor: what galvo can and cannot see here, what that means, and how to change it. */
#include <stdio.h>
#include <string.h>

#include "record.h"

enum { PAGE_COLUMNS = 80, TEXT_INDENT = 10 };

static const struct opt opts[] = {
	{256, "json", NULL, "as JSON; the keys are in galvo-doctor(1)", NULL},
	{'o', "output", "DIR", "where a recording would go (default: the working directory)", NULL},
	{257, "root", "DIR", "look at proc/ and sys/ below DIR instead of /", NULL},
	OPT_HELP,
};

static const char *const verdicts[] = {
	[GALVO_VERDICT_UNKNOWN] = "unknown", [GALVO_VERDICT_YES] = "yes",
	[GALVO_VERDICT_PARTLY] = "partly", [GALVO_VERDICT_NO] = "no",
	[GALVO_VERDICT_NOT_APPLICABLE] = "not applicable",
};
static const char *const needs[] = {
	[GALVO_NEED_NONE] = "none", [GALVO_NEED_SOME] = "some", [GALVO_NEED_ALL] = "all",
};

struct wishes {
	galvo_doctor_config config;
	bool is_json;
};

/* Without it a recording of one's own processes is not worth while. */
static bool hinders(const galvo_finding *f)
{
	return f->need == GALVO_NEED_ALL && f->verdict == GALVO_VERDICT_NO;
}

/* ---- for people --------------------------------------------------------------------------------- */

static size_t columns_of(const char *text, size_t n)
{
	size_t i, columns = 0;

	for (i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* Names of files are the world's: nothing in them moves the cursor. */
static void put_plain(const char *text, size_t n)
{
	for (; n > 0; n--, text++)
		putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

/* Words up to the last column; further lines are indented, and each may end with a mark. */
static void put_words(const char *text, size_t column, size_t indent, const char *mark)
{
	const size_t room = PAGE_COLUMNS - strlen(mark);
	size_t left = strlen(text);

	while (left) {
		size_t n = strcspn(text, " "), columns = columns_of(text, n);

		if (column + 1 + columns > (n == left ? PAGE_COLUMNS : room) && column > indent) {
			printf("%s\n%*s", mark, (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		put_plain(text, n);
		column += columns;
		text += n;
		left -= n;
		if (left) {
			text++;
			left--;
		}
	}
	putchar('\n');
}

static void print_finding(const galvo_finding *f)
{
	bool is_bad = f->verdict == GALVO_VERDICT_NO || f->verdict == GALVO_VERDICT_PARTLY ||
	              f->verdict == GALVO_VERDICT_UNKNOWN;
	char title[PAGE_COLUMNS];

	/* What is not well has its name, by which galvo-doctor(1) explains it. */
	snprintf(title, sizeof(title), is_bad ? "%s (%s):" : "%s:", f->title, f->id);
	printf("  %-*s%s", TEXT_INDENT - 2,
	       f->verdict == GALVO_VERDICT_NOT_APPLICABLE ? "-" : verdicts[f->verdict], title);
	put_words(f->found, TEXT_INDENT + strlen(title), TEXT_INDENT, "");
	if (is_bad && f->meaning[0]) {
		printf("%*s", TEXT_INDENT, "");
		put_words(f->meaning, TEXT_INDENT, TEXT_INDENT, "");
	}
	if (is_bad && f->remedy[0]) {
		printf("%*s> ", TEXT_INDENT, "");
		put_words(f->remedy, TEXT_INDENT + 2, TEXT_INDENT + 2, " \\");
	}
}

static int print_page(const galvo_doctor *doctor)
{
	galvo_finding f = {.struct_size = sizeof(f)};
	const char *group = "";
	size_t i, hindering = 0;

	for (i = 0; galvo_doctor_finding_at(doctor, i, &f, NULL) == GALVO_OK; i++) {
		if (strcmp(group, f.group) != 0)
			printf("%s%s\n", group[0] ? "\n" : "", f.group);
		group = f.group;
		print_finding(&f);
		hindering += hinders(&f);
	}
	if (hindering == 0)
		puts("\nNothing hinders a recording of your own processes.");
	else
		printf("\n%zu thing%s that a recording of your own processes needs %s missing.\n", hindering,
		       hindering == 1 ? "" : "s", hindering == 1 ? "is" : "are");
	return hindering != 0;
}

/* ---- as JSON ------------------------------------------------------------------------------------ */

/* Absent is null. */
static void print_text(const char *key, const char *text)
{
	printf(", \"%s\": ", key);
	if (text[0])
		print_json_text(text);
	else
		fputs("null", stdout);
}

static int print_json(const galvo_doctor *doctor)
{
	galvo_finding f = {.struct_size = sizeof(f)};
	bool is_hindered = false;
	size_t i;

	fputs("{\n  \"galvo_doctor\": 1,\n  \"findings\": [", stdout);
	for (i = 0; galvo_doctor_finding_at(doctor, i, &f, NULL) == GALVO_OK; i++) {
		printf("%s\n    {\"id\": \"%s\"", i ? "," : "", f.id);
		print_text("group", f.group);
		print_text("title", f.title);
		print_text("verdict", verdicts[f.verdict]);
		print_text("need", needs[f.need]);
		print_text("found", f.found);
		print_text("meaning", f.meaning);
		print_text("remedy", f.remedy);
		putchar('}');
		is_hindered |= hinders(&f);
	}
	printf("\n  ],\n  \"hindered\": %s\n}\n", is_hindered ? "true" : "false");
	return is_hindered;
}

/* ---- the command -------------------------------------------------------------------------------- */

static enum opt_taken take_option(void *ctx, int key, const char *arg)
{
	struct wishes *w = ctx;

	if (key == 256)
		w->is_json = true;
	else if (key == 257)
		w->config.root = arg;
	else
		w->config.output_dir = arg;
	return OPT_TAKEN;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct wishes w = {.config = {.struct_size = sizeof(w.config)}};
	galvo_doctor *doctor;
	galvo_error error;
	int at, exit_code, printed;

	if (!opts_take(command, argc, argv, &at, take_option, &w, &exit_code))
		return exit_code;
	if (argc != at)
		return usage_error(command, "expected no operands");
	record_raise_descriptors(); /* it looks with what a recording would have */
	if (galvo_doctor_create(&w.config, &doctor, &error) != GALVO_OK) {
		complain("%s", error.text);
		return EXIT_OF_GALVO;
	}
	exit_code = w.is_json ? print_json(doctor) : print_page(doctor);
	galvo_doctor_destroy(doctor);
	printed = close_stdout();
	return printed ? printed : exit_code;
}

const struct command command_doctor = {
	"doctor", "[options]", "What galvo can and cannot see here, and how to change it.",
	opts, sizeof(opts) / sizeof(opts[0]), run,
};
