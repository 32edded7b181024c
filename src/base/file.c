/* Files below a directory descriptor: kept open and read again, read once, replaced atomically. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base.h"

enum { FIRST_READ = 4096, NAME_BYTES = 256 };

/* ---- descriptors -------------------------------------------------------------------------------- */

int fd_keep(int fd)
{
	int moved, failed;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	failed = errno;
	close(fd);
	errno = failed;
	return moved;
}

bool fd_pair(int ret_fds[2])
{
	int i, failed;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) != 0)
		return false;
	for (i = 0; i < 2; i++)
		ret_fds[i] = fd_keep(ret_fds[i]);
	if (ret_fds[0] >= 0 && ret_fds[1] >= 0)
		return true;
	failed = errno;
	for (i = 0; i < 2; i++)
		if (ret_fds[i] >= 0)
			close(ret_fds[i]);
	errno = failed;
	return false;
}

int file_open(int dir_fd, const char *path, int flags)
{
	int fd;

	do
		fd = openat(dir_fd, path, flags | O_CLOEXEC | O_NOCTTY, 0666);
	while (fd < 0 && errno == EINTR);
	return fd_keep(fd);
}

DIR *file_open_dir(int dir_fd, const char *path)
{
	int fd = file_open(dir_fd, path, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* pread(2) without its being a cancellation point, which in glibc costs as much as a short parser. */
static ssize_t read_once(int fd, char *to, size_t n, size_t at)
{
#if defined(SYS_pread64) && __SIZEOF_LONG__ == 8
	return syscall(SYS_pread64, fd, to, n, at);
#else
	return pread(fd, to, n, (off_t)at);
#endif
}

static ssize_t read_at(int fd, char *to, size_t n, size_t at)
{
	ssize_t got;

	do
		got = read_once(fd, to, n, at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* For a buffer that is full. */
static galvo_status make_room(struct buf *into, const char *path, galvo_error *reterr)
{
	size_t more = into->len ? into->len : FIRST_READ, left = into->max - into->len;

	if (left == 0)
		return err_set(reterr, GALVO_ERR_MALFORMED, "%s: larger than %zu bytes", path, into->max);
	if (!buf_reserve(into, more < left ? more : left))
		return err_set(reterr, GALVO_ERR_NOMEM, "%s: out of memory", path);
	return GALVO_OK;
}

/* Everything from offset 0. A record must have left room at the end, or it may have been cut. */
static galvo_status read_all(int fd, const char *path, enum file_kind kind, struct buf *into,
                             galvo_error *reterr)
{
	galvo_status status;
	ssize_t got;

	into->len = 0;
	into->failed = false;
	for (;;) {
		if (into->len == into->cap) {
			status = make_room(into, path, reterr);
			if (status != GALVO_OK)
				return status;
			if (kind == FILE_RECORD)
				into->len = 0; /* once more, with a larger buffer */
		}
		got = read_at(fd, into->p + into->len, into->cap - into->len, into->len);
		if (got < 0)
			return err_sys(reterr, errno, "%s", path);
		into->len += (size_t)got;
		if (got == 0 || (kind == FILE_RECORD && into->len < into->cap))
			return GALVO_OK;
	}
}

galvo_status kept_read(struct kept *k, int dir_fd, const char *path, uint32_t epoch,
                       enum file_kind kind, struct buf *into, struct span *ret_text,
                       galvo_error *reterr)
{
	galvo_status status;

	if (k->fd >= 0 && k->epoch != epoch)
		kept_close(k);
	if (k->fd < 0) {
		k->fd = file_open(dir_fd, path, O_RDONLY);
		if (k->fd < 0)
			return err_sys(reterr, errno, "%s", path);
		k->epoch = epoch;
	}
	status = read_all(k->fd, path, kind, into, reterr);
	if (status != GALVO_OK)
		kept_close(k);
	else
		*ret_text = span_of(into->p, into->len);
	return status;
}

void kept_close(struct kept *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

galvo_status file_read(int dir_fd, const char *path, struct buf *into, struct span *ret_text,
                       galvo_error *reterr)
{
	struct kept once = KEPT_NONE;
	galvo_status status;

	status = kept_read(&once, dir_fd, path, 0, FILE_RECORDS, into, ret_text, reterr);
	kept_close(&once);
	return status;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/*
 * A limit on the size of files (ulimit -f) is a failure to us, not the signal that would end the
 * program, or reach its handler: it is kept from this thread while it writes.
 */
struct quiet {
	sigset_t before, pending;
};

static void begin_quiet(struct quiet *q)
{
	sigset_t size_limit;

	sigemptyset(&size_limit);
	sigaddset(&size_limit, SIGXFSZ);
	sigpending(&q->pending);
	pthread_sigmask(SIG_BLOCK, &size_limit, &q->before);
}

/* Leaves errno as the call between has set it. */
static void end_quiet(const struct quiet *q, bool has_failed)
{
	const struct timespec now = {0};
	const int failed = errno;
	sigset_t size_limit;

	sigemptyset(&size_limit);
	sigaddset(&size_limit, SIGXFSZ);
	if (has_failed && failed == EFBIG && !sigismember(&q->pending, SIGXFSZ))
		while (sigtimedwait(&size_limit, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &q->before, NULL);
	errno = failed;
}

static ssize_t write_quietly(int fd, const char *p, size_t n)
{
	struct quiet quiet;
	ssize_t put;

	begin_quiet(&quiet);
	put = write(fd, p, n);
	end_quiet(&quiet, put < 0);
	return put;
}

int file_set_size(int fd, uint64_t bytes)
{
	struct quiet quiet;
	int status;

	begin_quiet(&quiet);
	status = ftruncate(fd, (off_t)bytes);
	end_quiet(&quiet, status != 0);
	return status == 0 ? 0 : errno;
}

int file_write_all(int fd, const void *bytes, size_t n, size_t *ret_written)
{
	const char *p = bytes;

	*ret_written = 0;
	while (*ret_written < n) {
		ssize_t put = write_quietly(fd, p + *ret_written, n - *ret_written);

		if (put > 0)
			*ret_written += (size_t)put;
		else if (put == 0 || errno != EINTR)
			return put == 0 ? EIO : errno;
	}
	return 0;
}

galvo_status file_replace(int dir_fd, const char *name, const void *bytes, size_t n,
                          galvo_error *reterr)
{
	char part[NAME_BYTES];
	size_t written;
	int fd, failed;

	if ((size_t)snprintf(part, sizeof(part), "%s.tmp", name) >= sizeof(part))
		return err_set(reterr, GALVO_ERR_INVALID, "%s: name too long", name);
	unlinkat(dir_fd, part, 0); /* what a crash has left; nothing is ever written through a link */
	fd = file_open(dir_fd, part, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return err_sys(reterr, errno, "%s", part);
	failed = file_write_all(fd, bytes, n, &written);
	if (close(fd) != 0 && !failed)
		failed = errno;
	if (!failed && renameat(dir_fd, part, dir_fd, name) != 0)
		failed = errno;
	if (!failed)
		return GALVO_OK;
	unlinkat(dir_fd, part, 0);
	return err_sys(reterr, failed, "%s", name);
}
