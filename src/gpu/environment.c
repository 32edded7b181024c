/* Looks up where the environment says that NVIDIA's libraries are. */
#include "environment.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Of one prefix; more Pythons than a few, and the oldest are left out. */
enum { VERSIONS_MAX = 16 };

static void add_home(struct env_places *p, const char *name)
{
	const char *home = world_setting(name);
	size_t i;

	for (i = 0; p->homes[i]; i++)
		;
	if (home && home[0] && i < PLACES_HOMES)
		p->homes[i] = home;
}

static int newest_first(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

/* False: no memory. */
static bool add_packages(struct env_places *p, const char *lib, const char *version, size_t *len)
{
	static const char *const folders[] = {"site-packages", "dist-packages"};
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_LEN(folders) && *len < PLACES_PYTHONS; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", lib, version, folders[i]) >=
		            sizeof(path) ||
		    access(path, X_OK) != 0)
			continue;
		p->owned[*len] = strdup(path);
		if (!p->owned[*len])
			return false;
		p->pythons[*len] = p->owned[*len];
		++*len;
	}
	return true;
}

/* PREFIX/BELOW/python3.12/site-packages, for each Python there. False: no memory. */
static bool add_pythons(struct env_places *p, const char *prefix, const char *below, size_t *len)
{
	char *found[VERSIONS_MAX] = {NULL}, lib[PATH_MAX];
	struct dirent *entry;
	size_t n = 0, i;
	bool ok = true;
	DIR *dir;

	if (!prefix || !prefix[0] ||
	    (size_t)snprintf(lib, sizeof(lib), "%s%s", prefix, below) >= sizeof(lib))
		return true;
	dir = file_open_dir(AT_FDCWD, lib);
	while (dir && ok && n < VERSIONS_MAX && (entry = readdir(dir))) {
		if (!span_starts(span_str(entry->d_name), "python3"))
			continue;
		found[n] = strdup(entry->d_name);
		ok = found[n++] != NULL;
	}
	if (dir)
		closedir(dir);
	if (ok)
		qsort(found, n, sizeof(found[0]), newest_first);
	for (i = 0; i < n; i++) {
		ok = ok && add_packages(p, lib, found[i], len);
		free(found[i]);
	}
	return ok;
}

galvo_status env_places_find(struct env_places *ret, const char *root, galvo_error *reterr)
{
	const char *at = root ? root : "";
	char usr_local[PATH_MAX], usr[PATH_MAX];
	size_t len = 0;

	*ret = (struct env_places){
		.cupti = {.file = world_setting("GALVO_CUPTI_LIB"), .homes = ret->homes,
		          .pythons = ret->pythons, .root = root},
		.driver = {.root = root},
	};
	add_home(ret, "CUDA_HOME");
	add_home(ret, "CUDA_PATH");
	add_home(ret, "CONDA_PREFIX");
	snprintf(usr_local, sizeof(usr_local), "%.*s/usr/local", PATH_MAX / 2, at);
	snprintf(usr, sizeof(usr), "%.*s/usr", PATH_MAX / 2, at);
	if (add_pythons(ret, world_setting("VIRTUAL_ENV"), "/lib", &len) &&
	    add_pythons(ret, world_setting("CONDA_PREFIX"), "/lib", &len) &&
	    add_pythons(ret, world_setting("HOME"), "/.local/lib", &len) &&
	    add_pythons(ret, usr_local, "/lib", &len) && add_pythons(ret, usr, "/lib", &len))
		return GALVO_OK;
	env_places_free(ret);
	return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}

void env_places_free(struct env_places *p)
{
	size_t i;

	for (i = 0; i < PLACES_PYTHONS; i++)
		free(p->owned[i]);
	*p = (struct env_places){.cupti = {.file = NULL}};
}
