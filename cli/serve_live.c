/* This machine, recorded into a directory of our own while it is looked at. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "serve.h"

#define DIR_NAME "galvo-live-"
#define DIR_RANDOM "XXXXXX"

enum { LIVE_FLUSH_MS = 500, DEAD_S = 60 };

/* It holds files of a recording and nothing else. */
static void empty_dir(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again >= 0 ? fdopendir(again) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (again >= 0)
		close(again);
}

/* Left by a galvo that was killed: a recorder has a lock on its directory, and this one is not just being made. */
static void remove_if_dead(int place, const char *name)
{
	int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && st.st_mtime + DEAD_S < time(NULL) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		empty_dir(fd);
		unlinkat(place, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void remove_dead(const char *place)
{
	int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, DIR_NAME, sizeof(DIR_NAME) - 1) == 0 &&
		    strlen(entry->d_name) == sizeof(DIR_NAME DIR_RANDOM) - 1)
			remove_if_dead(fd, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* A directory that nobody else sees, on a disk where there is one: it grows. */
static bool make_dir(struct live *l)
{
	const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"}, *place = NULL;
	size_t i;

	for (i = 0; !place && i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] && places[i][0] == '/' && access(places[i], W_OK | X_OK) == 0)
			place = places[i];
	place = place ? place : "/tmp";
	remove_dead(place);
	if (snprintf(l->dir, sizeof(l->dir), "%s/" DIR_NAME DIR_RANDOM, place) >= (int)sizeof(l->dir) ||
	    !mkdtemp(l->dir)) {
		complain("cannot make a directory in %s: %s", place, strerror(errno));
		l->dir[0] = '\0';
		return false;
	}
	return true;
}

static void remove_dir(const struct live *l)
{
	int fd = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		empty_dir(fd);
		close(fd);
	}
	rmdir(l->dir);
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
		remove_dir(l);
	return exit_code;
}
