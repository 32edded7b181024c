/* This machine, recorded into a directory of our own while it is looked at. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"
#include "serve.h"

enum { LIVE_FLUSH_MS = 500 };

/* A directory that nobody else sees. */
static bool make_dir(struct live *l)
{
	static const char *const variables[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
	const char *place = NULL;
	size_t i;

	for (i = 0; !place && i < sizeof(variables) / sizeof(variables[0]); i++) {
		place = getenv(variables[i]);
		if (place && (place[0] != '/' || access(place, W_OK | X_OK) != 0))
			place = NULL;
	}
	if (snprintf(l->dir, sizeof(l->dir), "%s/galvo-live-XXXXXX", place ? place : "/tmp") >= (int)sizeof(l->dir) ||
	    !mkdtemp(l->dir)) {
		complain("cannot make a directory in %s: %s", place ? place : "/tmp", strerror(errno));
		l->dir[0] = '\0';
		return false;
	}
	return true;
}

/* It holds files of a recording and nothing else. */
static void remove_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	rmdir(path);
}

bool live_start(struct live *l)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_error error;

	if (l->keep_dir)
		snprintf(l->dir, sizeof(l->dir), "%s", l->keep_dir);
	else if (!make_dir(l))
		return false;
	record_raise_descriptors();
	config.output_dir = l->dir;
	config.processes = l->processes;
	config.processes_len = l->processes_len;
	config.follow = GALVO_FOLLOW_TREE;
	config.is_recorder = 1;
	config.gpu_telemetry = 2; /* where there are GPUs */
	config.flush_interval_ms = LIVE_FLUSH_MS;
	if (galvo_suite_create(&config, &l->suite, &error) == GALVO_OK &&
	    galvo_suite_start(l->suite, &error) == GALVO_OK)
		return true;
	complain("%s", error.text);
	live_stop(l);
	return false;
}

int live_stop(struct live *l)
{
	galvo_error error;
	int exit_code = 0;

	if (l->suite && galvo_suite_stop(l->suite, &error) != GALVO_OK && error.status != GALVO_ERR_STATE) {
		complain("%s", error.text);
		exit_code = EXIT_OF_GALVO;
	}
	galvo_suite_destroy(l->suite);
	l->suite = NULL;
	if (l->dir[0] && !l->keep_dir)
		remove_dir(l->dir);
	return exit_code;
}
