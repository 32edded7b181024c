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

static const char *name_at(size_t i)
{
	return i < command_table_len ? command_table[i]->name : NULL;
}

static int unknown(const char *name)
{
	const char *meant = nearest(name, 2, name_at);

	if (meant)
		complain("there is no command '%s'; did you mean '%s'?", name, meant);
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
