/* Files below a directory descriptor: kept open and read again, read once, replaced atomically. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base.h"

enum { FIRST_READ = 4096, NAME_BYTES = 256 };

static ssize_t read_at(int fd, char *to, size_t n, size_t at)
{
	ssize_t got;

	do
		got = pread(fd, to, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Everything from offset 0. A record must have left room at the end, or it may have been cut. */
static galvo_status read_all(int fd, const char *path, enum file_kind kind, struct buf *into,
                             galvo_error *reterr)
{
	into->len = 0;
	into->failed = false;
	for (;;) {
		ssize_t got;

		if (into->cap == into->len && !buf_reserve(into, into->len ? into->len : FIRST_READ) &&
		    !buf_reserve(into, into->max - into->len ? into->max - into->len : 1))
			return err_set(reterr, GALVO_ERR_MALFORMED, "%s: larger than %zu bytes", path,
			               into->max);
		got = read_at(fd, into->p + into->len, into->cap - into->len, into->len);
		if (got < 0)
			return err_sys(reterr, errno, "%s", path);
		into->len += (size_t)got;
		if (got == 0 || (kind == FILE_RECORD && into->len < into->cap))
			return GALVO_OK;
		if (kind == FILE_RECORD)
			into->len = 0; /* filled to the brim: once more, with a larger buffer */
		if (kind == FILE_RECORD && !buf_reserve(into, into->cap + 1))
			return err_set(reterr, GALVO_ERR_MALFORMED, "%s: larger than %zu bytes", path,
			               into->max);
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
		k->fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
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

int file_write_all(int fd, const void *bytes, size_t n, size_t *ret_written)
{
	const char *p = bytes;

	*ret_written = 0;
	while (*ret_written < n) {
		ssize_t put = write(fd, p + *ret_written, n - *ret_written);

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
	fd = openat(dir_fd, part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
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
