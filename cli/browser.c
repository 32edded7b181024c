/* Showing a file in the browser of a desktop, if there is one. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0];
}

bool desktop_is_there(void)
{
	return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && isatty(STDOUT_FILENO);
}

/* In a session of its own, with nothing of ours: it lives on, and nobody waits for it. */
static bool open_with_desktop(char *what)
{
	char program[] = "xdg-open", *argv[] = {program, what, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, ours;
	bool is_open = false;
	pid_t pid;

	sigemptyset(&none);
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	if (posix_spawnattr_init(&attributes) == 0) {
		if (posix_spawn_file_actions_init(&files) == 0) {
			is_open = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
			          POSIX_SPAWN_SETSIGDEF) == 0 &&
			          posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
			          posix_spawnattr_setsigdefault(&attributes, &ours) == 0 &&
			          posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
			          posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0 &&
			          posix_spawn_file_actions_adddup2(&files, 1, 2) == 0 &&
			          posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ) == 0;
			posix_spawn_file_actions_destroy(&files);
		}
		posix_spawnattr_destroy(&attributes);
	}
	return is_open;
}

bool browser_open(const char *path)
{
	char *full = realpath(path, NULL);
	bool is_open = full && open_with_desktop(full);

	free(full);
	return is_open;
}
