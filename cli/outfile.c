/* Writes a file by way of another name beside it, so that it is never seen half. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"

#define FIRST_BYTES 65536
#define TEMP_SUFFIX ".XXXXXX"

void outfile_init(struct outfile *f, const char *path)
{
	*f = (struct outfile){.path = path};
}

void outfile_finish(struct outfile *f)
{
	free(f->bytes);
	*f = (struct outfile){0};
}

int outfile_write(void *ctx, const void *bytes, size_t n)
{
	struct outfile *f = ctx;
	size_t cap = f->cap ? f->cap : FIRST_BYTES;
	char *more;

	if (n > SIZE_MAX / 4 - f->len)
		return 1;
	while (cap < f->len + n)
		cap *= 2;
	if (cap != f->cap) {
		if (!(more = realloc(f->bytes, cap)))
			return 1;
		f->bytes = more;
		f->cap = cap;
	}
	memcpy(f->bytes + f->len, bytes, n);
	f->len += n;
	return 0;
}

static int write_all(int fd, const struct outfile *f)
{
	size_t at = 0;

	while (at < f->len) {
		ssize_t n = write(fd, f->bytes + at, f->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += (size_t)n;
	}
	return 0;
}

/* errno of the first that fails. */
static int write_and_close(int fd, const struct outfile *f)
{
	int error = write_all(fd, f);

	if (close(fd) != 0 && error == 0)
		error = errno;
	return error;
}

/* What a new file may be, as the user's umask has it. */
static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int replace(const char *path, mode_t mode, const struct outfile *f)
{
	char temp[PATH_MAX];
	int fd, error;

	if ((size_t)snprintf(temp, sizeof(temp), "%s" TEMP_SUFFIX, path) >= sizeof(temp))
		return ENAMETOOLONG;
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return errno;
	error = fchmod(fd, mode) != 0 ? errno : 0;
	if (error)
		close(fd);
	else
		error = write_and_close(fd, f);
	if (error == 0 && rename(temp, path) != 0)
		error = errno;
	if (error)
		unlink(temp);
	return error;
}

static int write_through(const char *path, const struct outfile *f)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? errno : write_and_close(fd, f);
}

/* Where links lead to; `path` itself if that is nowhere yet. */
static int place_file(const struct outfile *f)
{
	char real[PATH_MAX];
	const char *path = realpath(f->path, real) ? real : f->path;
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? replace(path, new_mode(), f) : errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return S_ISREG(st.st_mode) ? replace(path, st.st_mode & 0777, f) : write_through(path, f);
}

int outfile_place(struct outfile *f)
{
	int error;

	if (strcmp(f->path, "-") == 0) {
		fwrite(f->bytes, 1, f->len, stdout);
		return close_stdout();
	}
	error = place_file(f);
	if (error == 0)
		return 0;
	complain("%s: %s", f->path, strerror(error));
	return EXIT_OF_GALVO;
}
