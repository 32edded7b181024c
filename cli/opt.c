/* Options from tables: parsing, help, values; writing to the standard streams. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { OPTS_MAX = 40, OPT_END = -1, OPT_BAD = -2 };
enum { HELP_COLUMNS = 80, HELP_INDENT = 25, TEXT_MAX = 16384, RANGE_START_BYTES = 32 };

/* What others wrote is in it: nothing there ends the line or moves the cursor. */
__attribute__((format(printf, 1, 0))) static void say(const char *fmt, va_list args)
{
	char text[TEXT_MAX];
	size_t i;

	vsnprintf(text, sizeof(text), fmt, args);
	for (i = 0; text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n' || c == '\t')
			fputs(c == '\n' ? "\\n" : "\\t", stderr);
		else if (c < ' ' || c == 0x7f)
			fprintf(stderr, "\\x%02x", c);
		else
			fputc(c, stderr);
	}
}

void complain(const char *fmt, ...)
{
	va_list args;

	fputs("galvo: ", stderr);
	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

int usage_error(const struct command *command, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "galvo %s: ", command->name);
	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	fprintf(stderr, "; try `galvo %s --help`\n", command->name);
	return EXIT_OF_USAGE;
}

/* The next option's key, its argument in *ret_arg; OPT_END, or OPT_BAD when stderr says why. */
static int opt_next(const struct command *command, bool is_mixed, int argc, char **argv, int *at,
                    const char **ret_arg)
{
	struct option longs[OPTS_MAX + 1] = {0};
	char shorts[2 * OPTS_MAX + 3] = "+:";
	size_t i, n = 2;
	int key;

	for (i = 0; i < command->opts_len && i < OPTS_MAX; i++) {
		const struct opt *o = &command->opts[i];

		longs[i] = (struct option){o->name, !o->arg ? no_argument : o->arg[0] == '[' ? optional_argument
		                           : required_argument, NULL, o->key};
		if (o->key >= 256)
			continue;
		shorts[n++] = (char)o->key;
		if (o->arg)
			shorts[n++] = ':';
	}
	opterr = 0;
	optind = *at;
	key = getopt_long(argc, argv, is_mixed ? shorts + 1 : shorts, longs, NULL);
	*at = optind;
	*ret_arg = optarg;
	if (key == '?' || key == ':') {
		const char *word = argv[optind - 1];

		usage_error(command, key == ':' ? "option '%s' needs an argument"
		                                : "unknown or ambiguous option '%s'", word);
		return OPT_BAD;
	}
	return key == -1 ? OPT_END : key;
}

/* Words up to the last column, each further line under the first. */
static void print_help_text(const char *text)
{
	size_t room = HELP_COLUMNS - HELP_INDENT, len = strlen(text);

	while (len > room) {
		size_t n = room;

		while (n > 0 && text[n] != ' ')
			n--;
		if (n == 0)
			break; /* a word without end */
		printf("%.*s\n%*s", (int)n, text, HELP_INDENT, "");
		text += n + 1;
		len -= n + 1;
	}
	puts(text);
}

void command_print_help(const struct command *command)
{
	size_t i;

	printf("usage: galvo %s %s\n\n%s\n\n", command->name, command->arguments, command->summary);
	for (i = 0; i < command->opts_len; i++) {
		const struct opt *o = &command->opts[i];
		char left[40];

		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg && o->arg[0] != '[' ? " " : "",
		         o->arg ? o->arg : "");
		if (o->key < 256)
			printf("  -%c, ", o->key);
		else
			printf("      ");
		printf("%-*s ", HELP_INDENT - 7, left);
		print_help_text(o->help);
	}
}

static int wrong_value(const struct command *command, int key, const char *arg)
{
	size_t i;

	for (i = 0; i < command->opts_len && command->opts[i].key != key; i++)
		;
	if (i == command->opts_len)
		return EXIT_OF_USAGE;
	return usage_error(command, "--%s: expected %s, got '%s'", command->opts[i].name,
	                   command->opts[i].takes ? command->opts[i].takes : "another value", arg);
}

static bool take_all(const struct command *command, bool is_mixed, int argc, char **argv, int *at,
                     enum opt_taken (*take)(void *ctx, int key, const char *arg), void *ctx,
                     int *ret_exit)
{
	const char *arg;
	int key;

	*at = 0; /* for getopt: begin anew */
	while ((key = opt_next(command, is_mixed, argc, argv, at, &arg)) != OPT_END) {
		enum opt_taken taken = OPT_SAID;

		if (key == 'h') {
			command_print_help(command);
			*ret_exit = close_stdout();
			return false;
		}
		if (key != OPT_BAD)
			taken = take(ctx, key, arg);
		if (taken == OPT_TAKEN)
			continue;
		*ret_exit = taken == OPT_WRONG ? wrong_value(command, key, arg) : EXIT_OF_USAGE;
		return false;
	}
	return true;
}

bool opts_take(const struct command *command, int argc, char **argv, int *at,
               enum opt_taken (*take)(void *ctx, int key, const char *arg), void *ctx, int *ret_exit)
{
	return take_all(command, false, argc, argv, at, take, ctx, ret_exit);
}

bool opts_take_mixed(const struct command *command, int argc, char **argv, int *at,
                     enum opt_taken (*take)(void *ctx, int key, const char *arg), void *ctx,
                     int *ret_exit)
{
	return take_all(command, true, argc, argv, at, take, ctx, ret_exit);
}

bool parse_number(const char *text, double *ret)
{
	double v = 0, place = 1;
	bool has_digit = false, has_point = false;
	const char *p;

	for (p = text; *p; p++) {
		if (*p == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (*p < '0' || *p > '9')
			return false;
		has_digit = true;
		v = v * 10 + (*p - '0');
		if (has_point)
			place *= 10;
	}
	if (!has_digit || v > 1e15)
		return false;
	*ret = v / place;
	return true;
}

struct unit {
	const char *suffix;
	double worth;
};

/* A number and the suffix of one of them, the last of which may be none. */
static bool parse_in(const struct unit *units, size_t units_len, const char *text, double *ret)
{
	size_t i, n, len = strlen(text);
	char number[32];

	for (i = 0; i < units_len; i++) {
		n = strlen(units[i].suffix);
		if (len < n || strcmp(text + len - n, units[i].suffix) != 0)
			continue;
		if (len - n >= sizeof(number))
			return false;
		memcpy(number, text, len - n);
		number[len - n] = '\0';
		if (!parse_number(number, ret))
			return false;
		*ret *= units[i].worth;
		return true;
	}
	return false;
}

bool parse_duration(const char *text, double *ret_s)
{
	static const struct unit units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}};
	double s;

	if (!parse_in(units, sizeof(units) / sizeof(units[0]), text, &s) || s > 1e9)
		return false;
	*ret_s = s;
	return true;
}

bool parse_range(const char *text, double *ret_from_s, double *ret_end_s)
{
	const char *dash = strchr(text, '-');
	char start[RANGE_START_BYTES];
	size_t n;

	if (!dash || (n = (size_t)(dash - text)) >= sizeof(start))
		return false;
	memcpy(start, text, n);
	start[n] = '\0';
	*ret_from_s = *ret_end_s = NAN;
	return (n == 0 || parse_duration(start, ret_from_s)) &&
	       (!dash[1] || parse_duration(dash + 1, ret_end_s));
}

bool parse_size(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {{"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824},
	                                    {"K", 1024},   {"M", 1048576},   {"G", 1073741824}, {"", 1}};
	double bytes;

	if (!parse_in(units, sizeof(units) / sizeof(units[0]), text, &bytes) || bytes < 1 || bytes > 1e15)
		return false;
	*ret = (uint64_t)bytes;
	return true;
}

bool parse_pid(const char **text, uint32_t *ret)
{
	const char *p = *text;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9' && v < UINT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == *text || v == 0 || v > INT32_MAX)
		return false;
	*ret = (uint32_t)v;
	*text = p;
	return true;
}

char *next_word(char **rest)
{
	static const char blanks[] = " \t";
	char *word = strsep(rest, ",");
	size_t end;

	word += strspn(word, blanks);
	for (end = strlen(word); end && strchr(blanks, word[end - 1]); end--)
		word[end - 1] = '\0';
	return word;
}

int write_to_file(void *file, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, file) != n;
}

void print_json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", (unsigned)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

int end_stdout(galvo_status status, const galvo_error *error)
{
	if (status == GALVO_OK || status == GALVO_ERR_CALLBACK)
		return close_stdout();
	complain("%s", error->text);
	return EXIT_OF_GALVO;
}

int close_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	complain("standard output: %s", strerror(errno));
	return EXIT_OF_GALVO;
}
