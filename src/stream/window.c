/* Feeds a file to its parser through a window that goes along it: memory stays small and warm. */
#include <errno.h>
#include <unistd.h>

#include "reader.h"

enum { WINDOW_BYTES = 2 << 20 };

/* Any message that begins in its first half is in it whole. */
static const size_t WINDOW_MAX_BYTES = 2 * ((size_t)STREAM_MESSAGE_MAX + WIRE_VARINT_MAX);

void window_open(struct window *w, int fd, uint64_t offset, uint64_t end)
{
	w->fd = fd;
	w->offset = offset;
	w->end = end;
	w->len = 0;
}

void window_finish(struct window *w)
{
	free(w->p);
	w->p = NULL;
	w->cap = w->len = 0;
}

static bool grow(struct window *w)
{
	size_t cap = !w->cap ? WINDOW_BYTES : w->cap * 2;
	char *p;

	cap = cap < WINDOW_MAX_BYTES ? cap : WINDOW_MAX_BYTES;
	p = realloc(w->p, cap);
	if (!p)
		return false;
	w->p = p;
	w->cap = cap;
	return true;
}

/* Reads on until the window is full or the file ends. The errno, 0 if all is well. */
static int fill(struct window *w, bool *ret_is_end)
{
	*ret_is_end = false;
	while (w->len < w->cap && !*ret_is_end) {
		uint64_t at = w->offset + w->len, left = w->end > at ? w->end - at : 0;
		size_t room = w->cap - w->len;
		ssize_t n = pread(w->fd, w->p + w->len, left < room ? (size_t)left : room, (off_t)at);

		if (n < 0 && errno != EINTR)
			return errno;
		*ret_is_end = n == 0;
		w->len += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void drop(struct window *w, size_t n)
{
	w->len -= n;
	w->offset += n;
	if (w->len)
		memmove(w->p, w->p + n, w->len);
}

/* One look at what is in the window. */
static galvo_status feed(struct window *w, struct stream_build *b, enum scan_end end,
                         galvo_error *reterr)
{
	size_t taken;
	galvo_status status = stream_build_push(b, span_of(w->p, w->len), end, &taken, reterr);

	if (status != GALVO_OK)
		return status;
	if (taken || w->len < w->cap)
		drop(w, taken);
	else if (w->cap < WINDOW_MAX_BYTES)
		return grow(w) ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	else if (!stream_build_skip(b, WINDOW_MAX_BYTES / 2))
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	else
		drop(w, WINDOW_MAX_BYTES / 2);
	return GALVO_OK;
}

galvo_status window_feed(struct window *w, struct stream_build *b, enum scan_end end,
                         uint64_t most_bytes, bool *ret_is_end, int *ret_errno, galvo_error *reterr)
{
	const uint64_t until = most_bytes < UINT64_MAX - w->offset ? w->offset + most_bytes : UINT64_MAX;
	galvo_status status = GALVO_OK;
	bool is_end = false;

	*ret_errno = 0;
	if (!w->cap && !grow(w))
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	while (status == GALVO_OK && !is_end && w->offset < until) {
		*ret_errno = fill(w, &is_end);
		is_end = is_end || *ret_errno;
		status = feed(w, b, is_end ? end : END_WINDOW, reterr);
	}
	*ret_is_end = is_end;
	return status;
}
