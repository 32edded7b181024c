/*
 * Finds a library: in the process, by the dynamic linker, in folders of toolkits, drivers and
 * Python.
 */
#include "places.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Containers may have the driver's files mounted; WSL has them nowhere else. */
const char *const driver_folders[] = {
	"usr/local/nvidia/lib64", "usr/local/nvidia/lib", "usr/lib/x86_64-linux-gnu",
	"usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib/wsl/lib",
	"run/nvidia/driver/usr/lib/x86_64-linux-gnu", "run/nvidia/driver/usr/lib64", NULL};

struct walk {
	const struct library *library;
	const struct nvidia_places *where;
	library_judge judge;
	void *ctx;
	galvo_error refused; /* the first that was found and is not good */
	bool found;
};

static const char *root_of(const struct walk *w)
{
	return w->where->root ? w->where->root : "";
}

/* Loads and judges; true ends the walk. */
static bool try_name(struct walk *w, const char *name, int flags)
{
	bool is_path = strchr(name, '/') != NULL;
	void *handle = NULL;
	galvo_error e;

	err_clear(&e);
	if (is_path && access(name, R_OK) != 0)
		return false;
	if (dso_open(name, RTLD_LAZY | RTLD_LOCAL | flags, &handle, &e)) {
		/* A bare name that is not there is no news; a file that cannot be loaded is. */
		if (is_path && !w->refused.text[0])
			w->refused = e;
		return false;
	}
	if (w->judge(w->ctx, handle, &e)) {
		w->found = true;
		return true;
	}
	if (!w->refused.text[0])
		w->refused = e;
	dlclose(handle);
	return false;
}

static bool try_folder(struct walk *w, const char *before, const char *folder)
{
	const char *const *name;
	char path[PATH_MAX];

	for (name = w->library->names; *name; name++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", before, folder, *name) >=
		    sizeof(path))
			continue;
		if (try_name(w, path, 0))
			return true;
	}
	return false;
}

static bool try_below(struct walk *w, const char *before, const char *const *folders)
{
	for (; folders && *folders; folders++)
		if (try_folder(w, before, *folders))
			return true;
	return false;
}

static bool try_names(struct walk *w, int flags)
{
	const char *const *name;

	for (name = w->library->names; *name; name++)
		if (try_name(w, *name, flags))
			return true;
	return false;
}

static int newest_first(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

/*
 * usr/local/cuda, the one that the machine's owner chose, then usr/local/cuda-*, the newest first.
 */
static bool try_toolkits(struct walk *w)
{
	char *found[32] = {NULL}, parent[PATH_MAX], home[PATH_MAX];
	struct dirent *entry;
	size_t n = 0, i;
	bool done;
	DIR *dir;

	if ((size_t)snprintf(parent, sizeof(parent), "%s/usr/local", root_of(w)) >= sizeof(parent))
		return false;
	snprintf(home, sizeof(home), "%.*s/cuda", PATH_MAX - 8, parent);
	if (try_below(w, home, w->library->home))
		return true;
	dir = file_open_dir(AT_FDCWD, parent);
	if (!dir)
		return false;
	while (n < ARRAY_LEN(found) && (entry = readdir(dir)))
		if (span_starts(span_str(entry->d_name), "cuda-") &&
		    (found[n] = strdup(entry->d_name)))
			n++;
	closedir(dir);
	qsort(found, n, sizeof(found[0]), newest_first);
	for (done = false, i = 0; i < n; i++) {
		if ((size_t)snprintf(home, sizeof(home), "%s/%s", parent, found[i]) < sizeof(home))
			done = done || try_below(w, home, w->library->home);
		free(found[i]);
	}
	return done;
}

static bool walk_places(struct walk *w)
{
	const struct nvidia_places *where = w->where;
	const char *const *at;

	if (where->file && where->file[0])
		return try_name(w, where->file, where->only_loaded ? RTLD_NOLOAD : 0);
	/* A process must not have two: the one that is there already comes first. */
	if (try_names(w, RTLD_NOLOAD))
		return true;
	if (where->only_loaded)
		return false;
	if (!where->no_linker && try_names(w, 0))
		return true;
	for (at = where->homes; w->library->home && at && *at; at++)
		if (try_below(w, *at, w->library->home))
			return true;
	if (w->library->home && try_toolkits(w))
		return true;
	if (try_below(w, root_of(w), w->library->usual))
		return true;
	for (at = where->pythons; w->library->python && at && *at; at++)
		if (try_below(w, *at, w->library->python))
			return true;
	return false;
}

galvo_status library_find(const struct library *library, const struct nvidia_places *where,
                          library_judge judge, void *ctx, galvo_error *reterr)
{
	static const struct nvidia_places usual = {.file = NULL};
	struct walk w = {library, where ? where : &usual, judge, ctx, .found = false};
	const char *file = w.where->file;

	err_clear(&w.refused);
	if (walk_places(&w))
		return GALVO_OK;
	if (w.refused.text[0]) {
		if (reterr)
			*reterr = w.refused;
		return w.refused.status;
	}
	if (file && file[0])
		return err_set(reterr, GALVO_ERR_ABSENT, "%s: not there", file);
	return err_set(reterr, GALVO_ERR_ABSENT, "%s: %s", library->names[0],
	               w.where->only_loaded ? "not loaded by this process" : "not found");
}
