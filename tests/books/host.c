/* A program that records its own descendants and adopts nobody: host DIRECTORY COMMAND [WORD…]. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "galvo/galvo.h"

static int complain(const galvo_error *error)
{
	fprintf(stderr, "host: %s\n", error->text);
	return 1;
}

int main(int argc, char **argv)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_process self = {0};
	galvo_suite *suite;
	galvo_error error;
	pid_t pid;

	if (argc < 3)
		return 2;
	config.output_dir = argv[1];
	config.follow = GALVO_FOLLOW_TREE;
	config.processes = &self;
	config.processes_len = 1;
	if (galvo_suite_create(&config, &suite, &error) != GALVO_OK ||
	    galvo_suite_start(suite, &error) != GALVO_OK)
		return complain(&error);
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return 1;
	if (galvo_suite_stop(suite, &error) != GALVO_OK)
		return complain(&error);
	galvo_suite_destroy(suite);
	return 0;
}
