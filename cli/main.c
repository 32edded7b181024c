/* The table of commands, and finding the one that is meant. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands.def"
#undef COMMAND

const struct command *const command_table[] = {
#define COMMAND(name) &command_##name,
#include "commands.def"
#undef COMMAND
};
const size_t command_table_len = sizeof(command_table) / sizeof(command_table[0]);

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edits that turn one short word into another; words longer than the table are far from all. */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 24 };
	size_t row[MAX + 1], n = strlen(a), m = strlen(b), i, j;

	if (n > MAX || m > MAX)
		return MAX;
	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (j = 1; j <= m; j++) {
			size_t above = row[j];

			row[j] = least(least(above, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[m];
}

static int unknown(const char *name)
{
	const char *nearest = NULL;
	size_t i, best = 3;

	for (i = 0; i < command_table_len; i++) {
		size_t d = distance(name, command_table[i]->name);

		if (d < best) {
			best = d;
			nearest = command_table[i]->name;
		}
	}
	if (nearest)
		complain("there is no command '%s'; did you mean '%s'?", name, nearest);
	else
		complain("there is no command '%s'; `galvo help` lists them", name);
	return EXIT_OF_USAGE;
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < command_table_len; i++)
		if (!strcmp(command_table[i]->name, name))
			return command_table[i];
	return NULL;
}

/*
 * Started with descriptor 0, 1 or 2 closed, the next file that is opened would get its number and
 * what is printed. So they lead nowhere: to the wrong end, to fail as closed ones do. A program we
 * start finds them closed again.
 */
static void keep_standard_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name;

	keep_standard_descriptors();
	if (argc < 2) {
		fputs("usage: galvo record [options] -- command…\n"
		      "       galvo help\n",
		      stderr);
		return EXIT_OF_USAGE;
	}
	name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	command = find(name);
	if (!command)
		return unknown(name);
	return command->run(command, argc - 1, argv + 1);
}
