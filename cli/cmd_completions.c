/* galvo completions: a completion script for a shell, made from the tables of commands. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct opt opts[] = {OPT_HELP};

/* What completes an option's argument or an operand, by the name it has in the tables. */
static const char *kind_of(const char *arg)
{
	if (!arg)
		return "";
	if (strstr(arg, "FILE"))
		return "file";
	return strstr(arg, "DIR") || strstr(arg, "RUN") ? "dir" : strstr(arg, "command") ? "command" : "";
}

static bool is_kind(const char *arg, const char *kind)
{
	return strcmp(kind_of(arg), kind) == 0;
}

static bool may_have_one(const struct opt *o)
{
	return o->arg && o->arg[0] == '[';
}

/* A variable of bash: the options of a command whose arguments are of that kind, and `operand`. */
static void bash_kind(const struct command *c, const char *variable, const char *kind)
{
	size_t i;

	printf("\n\t\t%s='", variable);
	for (i = 0; i < c->opts_len; i++) {
		const struct opt *o = &c->opts[i];

		if (!is_kind(o->arg, kind))
			continue;
		printf(" --%s", o->name);
		if (o->key < 256)
			printf(" -%c", o->key);
	}
	printf("%s'", is_kind(c->arguments, kind) ? " operand" : "");
}

static void bash(void)
{
	size_t i, j;

	puts("# bash completion for galvo; made by `galvo completions bash`\n"
	     "_galvo() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} opts= dirs= files= i\n"
	     "\tCOMPREPLY=()\n"
	     "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	     "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then _command_offset $((i + 1)); return; fi\n"
	     "\tdone\n"
	     "\tcase ${COMP_WORDS[1]} in");
	for (i = 0; i < command_table_len; i++) {
		const struct command *c = command_table[i];

		printf("\t%s)\n\t\topts='", c->name);
		for (j = 0; j < c->opts_len; j++)
			printf("%s--%s", j ? " " : "", c->opts[j].name);
		fputs("'", stdout);
		bash_kind(c, "dirs", "dir");
		bash_kind(c, "files", "file");
		puts(" ;;");
	}
	puts("\tesac\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\tCOMPREPLY=($(compgen -W '", stdout);
	for (i = 0; i < command_table_len; i++)
		printf("%s%s", i ? " " : "", command_table[i]->name);
	puts("' -- \"$cur\"))\n"
	     "\telif [[ $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n"
	     "\telif [[ \" $files \" == *\" $prev \"* || \" $files \" == *' operand '* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	     "\telif [[ \" $dirs \" == *\" $prev \"* || \" $dirs \" == *' operand '* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -d -- \"$cur\"))\n"
	     "\tfi\n"
	     "}\n"
	     "complete -F _galvo galvo");
}

/* Text within single quotes of a shell, and of zsh's [explanations]. */
static void quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh(void)
{
	size_t i, j;

	puts("#compdef galvo\n# zsh completion for galvo; made by `galvo completions zsh`\n"
	     "_galvo() {\n"
	     "\tlocal context state state_descr line\n"
	     "\ttypeset -A opt_args\n"
	     "\tlocal -a commands=(");
	for (i = 0; i < command_table_len; i++) {
		printf("\t\t'%s:", command_table[i]->name);
		quoted(command_table[i]->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\t_arguments -C '1:command:->command' '*::argument:->argument'\n"
	     "\tif [[ $state == command ]]; then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	     "\tcase $line[1] in");
	for (i = 0; i < command_table_len; i++) {
		const struct command *c = command_table[i];

		printf("\t%s)\n\t\t_arguments", c->name);
		for (j = 0; j < c->opts_len; j++) {
			const struct opt *o = &c->opts[j];

			fputs(" \\\n\t\t\t", stdout);
			if (o->key < 256)
				printf("'(-%c --%s)'{-%c,--%s}'[", o->key, o->name, o->key, o->name);
			else
				printf("'--%s%s[", o->name, may_have_one(o) ? "=-" : "");
			quoted(o->help);
			fputs("]", stdout);
			if (o->arg) {
				fputs(may_have_one(o) ? "::" : ":", stdout);
				quoted(may_have_one(o) ? "value" : o->arg);
				printf(":%s", is_kind(o->arg, "dir") ? "_directories"
				              : is_kind(o->arg, "file") ? "_files" : "");
			}
			fputs("'", stdout);
		}
		if (is_kind(c->arguments, "dir"))
			fputs(" \\\n\t\t\t'*:run:_directories'", stdout);
		if (is_kind(c->arguments, "file"))
			fputs(" \\\n\t\t\t'*:file:_files'", stdout);
		if (is_kind(c->arguments, "command"))
			fputs(" \\\n\t\t\t'*::command:_normal'", stdout);
		puts(" ;;");
	}
	puts("\tesac\n}\n_galvo \"$@\"");
}

static void fish(void)
{
	size_t i, j;

	puts("# fish completion for galvo; made by `galvo completions fish`\n"
	     "complete -c galvo -f");
	for (i = 0; i < command_table_len; i++) {
		const struct command *c = command_table[i];

		printf("complete -c galvo -n __fish_use_subcommand -a %s -d '%s'\n", c->name, c->summary);
		for (j = 0; j < c->opts_len; j++) {
			const struct opt *o = &c->opts[j];

			printf("complete -c galvo -n '__fish_seen_subcommand_from %s'", c->name);
			if (o->key < 256)
				printf(" -s %c", o->key);
			printf(" -l %s%s -d '%s'\n", o->name,
			       !o->arg || may_have_one(o) ? "" : is_kind(o->arg, "dir") ? " -r -a '(__fish_complete_directories)'"
			       : is_kind(o->arg, "file") ? " -r -F" : " -x", o->help);
		}
		if (is_kind(c->arguments, "dir"))
			printf("complete -c galvo -n '__fish_seen_subcommand_from %s' "
			       "-a '(__fish_complete_directories)'\n", c->name);
		if (is_kind(c->arguments, "file"))
			printf("complete -c galvo -n '__fish_seen_subcommand_from %s' -F\n", c->name);
		if (is_kind(c->arguments, "command"))
			printf("complete -c galvo -n '__fish_seen_subcommand_from %s' "
			       "-a '(__fish_complete_subcommand)'\n", c->name);
	}
}

static int run(const struct command *command, int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	int at, exit_code;
	size_t i;

	if (!opts_take(command, argc, argv, &at, NULL, NULL, &exit_code))
		return exit_code;
	for (i = 0; argc - at == 1 && i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shells[i].name, argv[at])) {
			shells[i].print();
			return close_stdout();
		}
	return usage_error(command, "expected bash, zsh or fish");
}

const struct command command_completions = {
	"completions", "SHELL", "A completion script for bash, zsh or fish.", opts, 1, run,
};
