/* The output directory: made, locked, and cleared of an old recording only when a new one begins. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* File i of profilers by themselves: others may have theirs beside it. */
static const char *own_file_at(const struct galvo_suite *s, size_t i)
{
	size_t part;

	for (part = 0; part < PARTS; part++)
		if (suite_wants(s, part) && i-- == 0)
			return s->files[part];
	return NULL;
}

/* File i of a run in this directory: the metadata, streams by their given and by their usual names. */
static const char *file_at(const struct galvo_suite *s, size_t i)
{
	if (s->is_alone)
		return own_file_at(s, i);
	if (i == 0)
		return SESSION_FILE;
	if (i <= PARTS)
		return s->files[i - 1];
	return i <= 2 * PARTS ? stream_file_name(s->parts[i - 1 - PARTS].kind) : NULL;
}

/* What stands where a file of ours is to be: nothing, a file that may go, or what we do not touch. */
static galvo_status look(const struct galvo_suite *s, const char *name, bool *ret_is_there,
                         galvo_error *reterr)
{
	struct stat facts;

	*ret_is_there = fstatat(s->dir_fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
	if (*ret_is_there && !S_ISREG(facts.st_mode))
		return err_set(reterr, GALVO_ERR_INVALID, "%s/%s is there, and no plain file",
		               s->output_dir, name);
	return GALVO_OK;
}

/*
 * One suite a directory, or profilers by themselves, which share it. Where a file system knows no
 * locks, nobody is kept out.
 */
static galvo_status lock(struct galvo_suite *s, galvo_error *reterr)
{
	int how = s->is_alone ? LOCK_SH : LOCK_EX;

	if (flock(s->dir_fd, how | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return err_set(reterr, GALVO_ERR_DENIED, "%s: another galvo is recording there",
		               s->output_dir);
	return GALVO_OK;
}

/* Profilers in one directory are kept apart by a lock on the file, which its stream has all along. */
static galvo_status expect_free(const struct galvo_suite *s, const char *name, galvo_error *reterr)
{
	int fd = file_open(s->dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK), failed;

	if (fd < 0)
		return GALVO_OK; /* there is none, or whether it can be replaced will be seen */
	failed = flock(fd, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
	close(fd);
	if (failed != EWOULDBLOCK)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_DENIED, "%s/%s: another profiler is writing it", s->output_dir,
	               name);
}

/* What is there may be replaced. */
static galvo_status expect_replaceable(const struct galvo_suite *s, const char *name,
                                       galvo_error *reterr)
{
	bool is_there;
	galvo_status status = look(s, name, &is_there, reterr);

	if (status != GALVO_OK || !is_there)
		return status;
	if (s->is_alone)
		return expect_free(s, name, reterr);
	if (s->config.overwrite)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_STATE,
	               "%s holds a recording already; it is replaced only on request", s->output_dir);
}

galvo_status output_open(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status;
	size_t i;

	s->made_dir = !s->is_alone && mkdir(s->output_dir, 0777) == 0;
	if (!s->is_alone && !s->made_dir && errno != EEXIST)
		return err_sys(reterr, errno, "%s", s->output_dir);
	s->dir_fd = file_open(AT_FDCWD, s->output_dir, O_RDONLY | O_DIRECTORY);
	if (s->dir_fd < 0)
		return err_sys(reterr, errno, "%s", s->output_dir);
	if (faccessat(s->dir_fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return err_sys(reterr, errno, "%s", s->output_dir);
	status = lock(s, reterr);
	for (i = 0; file_at(s, i) && status == GALVO_OK; i++)
		status = expect_replaceable(s, file_at(s, i), reterr);
	return status;
}

static void clear(const struct galvo_suite *s)
{
	size_t i;

	for (i = 0; file_at(s, i); i++)
		unlinkat(s->dir_fd, file_at(s, i), 0);
}

galvo_status output_clear(struct galvo_suite *s, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; s->is_alone && file_at(s, i) && status == GALVO_OK; i++)
		status = expect_free(s, file_at(s, i), reterr);
	if (status == GALVO_OK)
		clear(s);
	return status;
}

static const char *path_of(const struct galvo_suite *s)
{
	return s->dir_path ? s->dir_path : s->output_dir;
}

void output_fix(struct galvo_suite *s)
{
	free(s->dir_path);
	s->dir_path = realpath(s->output_dir, NULL);
}

/* The path still means the directory that we opened: the program may have gone elsewhere meanwhile. */
static bool is_same_dir(const struct galvo_suite *s)
{
	struct stat named, opened;

	return stat(path_of(s), &named) == 0 && fstat(s->dir_fd, &opened) == 0 &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

void output_close(struct galvo_suite *s)
{
	bool is_unused;

	if (s->dir_fd < 0)
		return;
	is_unused = suite_state(s) == SUITE_CREATED || suite_state(s) == SUITE_FAILED;
	if (is_unused && s->has_files)
		clear(s); /* files without a recording */
	if (is_unused && s->made_dir && is_same_dir(s))
		rmdir(path_of(s));
	flock(s->dir_fd, LOCK_UN); /* children that were forked meanwhile have the descriptor, too */
	close(s->dir_fd);
	s->dir_fd = -1;
}
