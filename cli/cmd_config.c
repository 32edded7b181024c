/* galvo config check: is a configuration sound, and what does it ask for that is not here? */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct opt opts[] = {OPT_HELP};

static int check(const char *path)
{
	galvo_config *config;
	galvo_error error;
	galvo_status status = galvo_config_load(path, &config, &error);
	const char *text;
	size_t i;

	if (status == GALVO_ERR_MALFORMED || status == GALVO_ERR_INVALID) {
		puts(error.text);
		return close_stdout() ? EXIT_OF_GALVO : 1;
	}
	if (status != GALVO_OK) {
		complain("%s", error.text);
		return EXIT_OF_GALVO;
	}
	printf("%s: sound\n", path);
	for (i = 0; galvo_config_note_at(config, i, &text, NULL) == GALVO_OK; i++)
		printf("%s: note: %s\n", path, text);
	galvo_config_destroy(config);
	return close_stdout();
}

static int run(const struct command *command, int argc, char **argv)
{
	int at, exit_code;

	if (!opts_take(command, argc, argv, &at, NULL, NULL, &exit_code))
		return exit_code;
	if (argc - at != 2 || strcmp(argv[at], "check") != 0)
		return usage_error(command, "expected check and a file");
	return check(argv[at + 1]);
}

const struct command command_config = {
	"config", "check FILE", "Is a configuration sound? What of it is not here?", opts, 1, run,
};
