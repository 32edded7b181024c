/* Where libcupti is looked for follows the environment, but of a program with privileges. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "tap.h"

static char root[64];

static void make(const char *path)
{
	char at[256], *slash;

	snprintf(at, sizeof(at), "%s/%s/", root, path);
	for (slash = strchr(at + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(at, 0700);
		*slash = '/';
	}
}

static const char *below(const char *path)
{
	static char at[4][256];
	static unsigned next;
	char *to = at[next++ % 4];

	snprintf(to, sizeof(at[0]), "%s/%s", root, path);
	return to;
}

static void forget(void)
{
	static const char *const names[] = {"GALVO_CUPTI_LIB", "CUDA_HOME", "CUDA_PATH",
	                                    "CONDA_PREFIX", "VIRTUAL_ENV", "HOME"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		unsetenv(names[i]);
}

static bool is(const char *a, const char *b)
{
	if (a && b && !strcmp(a, b))
		return true;
	printf("# %s, not %s\n", a ? a : "(none)", b);
	return false;
}

static void none(void)
{
	struct env_places p;

	forget();
	OK(env_places_find(&p, below("nothing"), NULL) == GALVO_OK);
	OK(!p.cupti.file && !p.homes[0] && !p.pythons[0]);
	OK(is(p.cupti.root, below("nothing")) && is(p.driver.root, below("nothing")));
	env_places_free(&p);
}

static void toolkits(void)
{
	struct env_places p;

	forget();
	setenv("CUDA_PATH", "/b", 1);
	setenv("CUDA_HOME", "", 1);
	setenv("CONDA_PREFIX", "/c", 1);
	setenv("GALVO_CUPTI_LIB", "/x/libcupti.so.13", 1);
	OK(env_places_find(&p, below("nothing"), NULL) == GALVO_OK);
	OK(is(p.homes[0], "/b") && is(p.homes[1], "/c") && !p.homes[2]);
	OK(is(p.cupti.file, "/x/libcupti.so.13"));
	OK(!p.driver.file && p.cupti.homes == p.homes && p.cupti.pythons == p.pythons);
	env_places_free(&p);
	OK(!p.cupti.file && !p.homes[0]);
}

/* Of each prefix the newest Python first, where 3.9 is older than 3.12. */
static void pythons(void)
{
	static const char *const want[] = {
		"venv/lib/python3.12/site-packages", "venv/lib/python3.9/site-packages",
		"home/.local/lib/python3.11/site-packages", "usr/local/lib/python3.10/dist-packages",
		"usr/lib/python3/dist-packages",
	};
	struct env_places p;
	size_t i;

	forget();
	for (i = 0; i < ARRAY_LEN(want); i++)
		make(want[i]);
	make("venv/lib/pythonic/site-packages");
	make("venv/lib/python3.13");
	setenv("VIRTUAL_ENV", below("venv"), 1);
	setenv("HOME", below("home"), 1);
	OK(env_places_find(&p, root, NULL) == GALVO_OK);
	for (i = 0; i < ARRAY_LEN(want); i++)
		OK(is(p.pythons[i], below(want[i])));
	OK(!p.pythons[i]);
	env_places_free(&p);
}

/* No more than there is room for, and those that come first. */
static void crowd(void)
{
	struct env_places p;
	char path[64];
	size_t i;

	forget();
	for (i = 0; i < PLACES_PYTHONS + 2; i++) {
		snprintf(path, sizeof(path), "crowd/lib/python3.%zu/site-packages", i);
		make(path);
	}
	setenv("VIRTUAL_ENV", below("crowd"), 1);
	OK(env_places_find(&p, root, NULL) == GALVO_OK);
	for (i = 0; p.pythons[i]; i++)
		;
	OK(i > 0 && i <= PLACES_PYTHONS);
	env_places_free(&p);
}

static const struct tap_test tests[] = {
	{"an environment without them", none},
	{"toolkits and a named library", toolkits},
	{"packages of Python", pythons},
	{"many Pythons", crowd},
};

int main(void)
{
	int failed;

	snprintf(root, sizeof(root), "/tmp/galvo-gpu-places-%d", (int)getpid());
	mkdir(root, 0700);
	failed = tap_run(tests, ARRAY_LEN(tests));
	execlp("sh", "sh", "-c", "rm -rf \"$0\"; exit $1", root, failed ? "1" : "0", (char *)NULL);
	return 1;
}
