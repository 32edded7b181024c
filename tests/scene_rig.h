/* What tests against the doubles of NVIDIA's libraries share: a scene of this process. */
#ifndef GALVO_SCENE_RIG_H
#define GALVO_SCENE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvidia/nvidia.h"
#include "scene.h"
#include "tap.h"

#define MS UINT64_C(1000000)

static struct scene *scene;
static char scene_path[64];

static inline void scene_remove(void)
{
	if (scene_path[0])
		unlink(scene_path);
}

/*
 * The scene is made anew, with a fake clock that stands at 1000 s. The file stays the same for as
 * long as the process lives: doubles that are loaded have mapped it.
 */
static inline void scene_begin(void)
{
	if (!scene_path[0]) {
		snprintf(scene_path, sizeof(scene_path), "/tmp/galvo-scene-%d", (int)getpid());
		setenv(SCENE_VARIABLE, scene_path, 1);
		atexit(scene_remove);
	}
	scene_unmap(scene);
	scene = scene_new(scene_path);
	if (!scene)
		abort();
	scene->is_fake = 1;
	scene->fake_mono_ns = scene->begin_mono_ns = 1000 * NS_PER_S;
}

static inline void scene_end(void)
{
	scene_unmap(scene);
	scene = NULL;
}

static inline void pass_ms(uint64_t ms)
{
	scene->fake_mono_ns += ms * MS;
}

/* Claims how many violations there are, shows them if it is another number, and forgets them. */
#define VIOLATIONS(n)                                                                              \
	do {                                                                                       \
		uint32_t v_, all_ = scene->violation_count;                                        \
                                                                                                   \
		if (!EQ(all_, n))                                                                  \
			for (v_ = 0; v_ < all_ && v_ < SCENE_VIOLATIONS; v_++)                     \
				printf("# %s\n", scene->violations[v_]);                           \
		scene->violation_count = 0;                                                        \
	} while (0)

static inline bool told(const char *words)
{
	uint32_t i;

	for (i = 0; i < scene->violation_count && i < SCENE_VIOLATIONS; i++)
		if (strstr(scene->violations[i], words))
			return true;
	return false;
}

static inline const char *double_path(const char *name)
{
	static char path[2][256];
	static unsigned next;
	char *to = path[next++ % 2];

	snprintf(to, sizeof(path[0]), "%s/%s", DOUBLES, name);
	return to;
}

/* Runs it in a process of its own, as libraries cannot be unloaded; before any is loaded here. */
static inline void apart(void (*body)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		scene_path[0] = '\0';
		body();
		scene_remove();
		fflush(stdout);
		_exit(tap_failures != 0);
	}
	waitpid(pid, &status, 0);
	OK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
