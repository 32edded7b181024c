/* Files that are there whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"

/* A device or a pipe must not be replaced by a file. */
static bool is_special(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

/* That of the file that is replaced, else what open(2) would give it. */
static mode_t mode_for(const char *path)
{
	struct stat facts;
	mode_t mask;

	if (stat(path, &facts) == 0)
		return facts.st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/*
 * A file without a name, where there are such: nothing of it stays when we are killed. Its name is in
 * `scratch`, and nobody has it yet.
 */
static int make_unnamed(struct outfile *o)
{
	const char *slash = strrchr(o->scratch, '/');
	char *dir = !slash ? strdup(".") : strndup(o->scratch, slash == o->scratch ? 1 : (size_t)(slash - o->scratch));
	int fd = dir ? open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;

	free(dir);
	o->is_unnamed = fd >= 0;
	return fd;
}

/* Fills in the Xs, as mkostemps(3) does. */
static bool draw_name(char *scratch, size_t suffix_len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[6];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	for (i = 0; i < sizeof(random); i++)
		scratch[strlen(scratch) - suffix_len - sizeof(random) + i] = letters[random[i] % (sizeof(letters) - 1)];
	return true;
}

static bool give_name(const struct outfile *o)
{
	char fd_path[40];

	snprintf(fd_path, sizeof(fd_path), "/dev/fd/%d", fileno(o->file));
	return linkat(AT_FDCWD, fd_path, AT_FDCWD, o->scratch, AT_SYMLINK_FOLLOW) == 0;
}

static bool make_scratch(struct outfile *o, int suffix_len, mode_t mode)
{
	int fd = access("/dev/fd", X_OK) == 0 ? make_unnamed(o) : -1, failed;

	if (fd >= 0 && !draw_name(o->scratch, (size_t)suffix_len)) {
		close(fd);
		fd = -1;
		o->is_unnamed = false;
	}
	if (fd < 0)
		fd = mkostemps(o->scratch, suffix_len, O_CLOEXEC);
	if (fd < 0)
		return false;
	o->file = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
	if (o->file)
		return true;
	failed = errno;
	close(fd);
	if (!o->is_unnamed)
		unlink(o->scratch);
	errno = failed;
	return false;
}

static bool open_beside(struct outfile *o, const char *path)
{
	o->path = strdup(path);
	o->target = realpath(path, NULL);
	if (!o->target)
		o->target = strdup(path);
	if (!o->path || !o->target || asprintf(&o->scratch, "%s.XXXXXX", o->target) < 0) {
		o->scratch = NULL;
		errno = ENOMEM;
		return false;
	}
	return make_scratch(o, 0, mode_for(o->target));
}

bool outfile_open(struct outfile *o, const char *path)
{
	int failed;

	*o = (struct outfile){0};
	if (is_special(path)) {
		o->path = strdup(path);
		o->file = o->path ? fopen(path, "we") : NULL;
	} else if (open_beside(o, path)) {
		return true;
	}
	failed = errno;
	if (!o->file)
		outfile_finish(o);
	errno = failed;
	return o->file;
}

bool outfile_open_temporary(struct outfile *o, const char *name)
{
	const char *dirs[] = {getenv("XDG_CACHE_HOME"), getenv("TMPDIR"), "/tmp"};
	const char *suffix = strrchr(name, '.') ? strrchr(name, '.') : name + strlen(name);
	int failed = ENOENT;
	size_t i;

	*o = (struct outfile){0};
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!dirs[i] || dirs[i][0] != '/')
			continue;
		if (asprintf(&o->scratch, "%s/%.*s-XXXXXX%s", dirs[i], (int)(suffix - name), name,
		             suffix) < 0) {
			o->scratch = NULL;
			continue;
		}
		if (make_scratch(o, (int)strlen(suffix), 0600)) {
			o->path = strdup(o->scratch);
			o->target = strdup(o->scratch);
			if (o->path && o->target)
				return true;
			outfile_close(o, false);
		}
		failed = errno;
		outfile_finish(o);
	}
	errno = failed;
	return false;
}

bool outfile_close(struct outfile *o, bool keep)
{
	bool is_done = !keep || (fflush(o->file) == 0 && (!o->is_unnamed || give_name(o)));
	bool has_name = !o->is_unnamed || (is_done && keep);
	int failed = errno;

	if (fclose(o->file) != 0 && is_done && keep) {
		is_done = false;
		failed = errno;
	}
	o->file = NULL;
	if (is_done && keep && o->scratch && rename(o->scratch, o->target) != 0) {
		is_done = false;
		failed = errno;
	}
	if (o->scratch && has_name && !(is_done && keep))
		unlink(o->scratch);
	errno = failed;
	return is_done;
}

int outfile_end(struct outfile *o, galvo_status status, const galvo_error *error)
{
	int failed = errno; /* of the write, if the writer stopped it */

	if (status == GALVO_ERR_CALLBACK)
		complain("%s: %s", o->path, strerror(failed));
	else if (status != GALVO_OK)
		complain("%s", error->text);
	if (outfile_close(o, status == GALVO_OK))
		return status == GALVO_OK ? 0 : EXIT_OF_GALVO;
	complain("%s: %s", o->path, strerror(errno));
	return EXIT_OF_GALVO;
}

void outfile_finish(struct outfile *o)
{
	free(o->path);
	free(o->target);
	free(o->scratch);
	*o = (struct outfile){0};
}
