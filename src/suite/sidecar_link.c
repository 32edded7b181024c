/* Messages of a suite and its sidecar through their socket: pieces of them, descriptors with the first. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sidecar.h"

enum { PIECE_BYTES = 32 << 10 }; /* small enough for any socket; one more says whether it is the last */

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(SIDECAR_FDS_MAX * sizeof(int))];
};

bool sidecar_set_patience(int fd, unsigned seconds)
{
	const struct timeval t = {.tv_sec = seconds};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) == 0;
}

/* Counted from here, as signals would begin a wait of the kernel's anew. */
static uint64_t patience_until_ns(int fd)
{
	struct timeval t = {0};
	socklen_t n = sizeof(t);

	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, &n);
	return t.tv_sec ? clock_real.mono_ns(&clock_real) + (uint64_t)t.tv_sec * NS_PER_S : UINT64_MAX;
}

/* After a call that would have had to wait, or was interrupted; false: that was an error, or is one now. */
static bool may_try_again(int fd, short events, uint64_t until_ns)
{
	struct pollfd p = {.fd = fd, .events = events};
	uint64_t now_ns, left_ms;

	while (errno == EAGAIN || errno == EINTR) {
		now_ns = clock_real.mono_ns(&clock_real);
		left_ms = now_ns < until_ns ? (until_ns - now_ns) / NS_PER_MS + 1 : 0;
		switch (poll(&p, 1, left_ms < INT32_MAX ? (int)left_ms : -1)) {
		case 0:
			errno = ETIMEDOUT;
			return false;
		case 1:
			return true;
		}
	}
	return false;
}

static void attach(struct msghdr *m, union control *control, const int *fds, size_t fds_len)
{
	struct cmsghdr *c;

	if (!fds_len)
		return;
	memset(control, 0, sizeof(*control));
	m->msg_control = control;
	m->msg_controllen = CMSG_SPACE(fds_len * sizeof(int));
	c = CMSG_FIRSTHDR(m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(fds_len * sizeof(int));
	memcpy(CMSG_DATA(c), fds, fds_len * sizeof(int));
}

galvo_status sidecar_send(int fd, struct span bytes, const int *fds, size_t fds_len,
                          galvo_error *reterr)
{
	const uint64_t until_ns = patience_until_ns(fd);
	bool is_first = true;

	do {
		size_t n = bytes.n < PIECE_BYTES ? bytes.n : PIECE_BYTES;
		unsigned char has_more = n < bytes.n;
		union { const char *in; char *out; } piece = {bytes.p};
		struct iovec parts[] = {{&has_more, 1}, {piece.out, n}};
		struct msghdr m = {.msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts)};
		union control control;
		ssize_t put;

		if (is_first)
			attach(&m, &control, fds, fds_len);
		do
			put = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		while (put < 0 && may_try_again(fd, POLLOUT, until_ns));
		if (put < 0)
			return err_sys(reterr, errno, "sidecar");
		bytes = span_of(bytes.p + n, bytes.n - n);
		is_first = false;
	} while (bytes.n);
	return GALVO_OK;
}

/* Those that are expected go to ret_fds, all others are closed. */
static void take_fds(struct msghdr *m, int ret_fds[SIDECAR_FDS_MAX], bool is_wanted)
{
	struct cmsghdr *c;
	size_t i, n, len = 0;
	int fd;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (is_wanted && len < SIDECAR_FDS_MAX)
				ret_fds[len++] = fd_keep(fd);
			else
				close(fd);
		}
	}
}

galvo_status sidecar_receive(int fd, struct buf *into, int ret_fds[SIDECAR_FDS_MAX],
                             galvo_error *reterr)
{
	const uint64_t until_ns = patience_until_ns(fd);
	unsigned char has_more;
	bool is_first = true;
	size_t i;

	for (i = 0; ret_fds && i < SIDECAR_FDS_MAX; i++)
		ret_fds[i] = -1;
	into->len = 0;
	do {
		struct iovec parts[] = {{&has_more, 1}, {NULL, PIECE_BYTES}};
		struct msghdr m = {.msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts)};
		union control control;
		ssize_t got;

		if (!buf_reserve(into, PIECE_BYTES))
			return err_set(reterr, GALVO_ERR_NOMEM, "sidecar: too long a message, or out of memory");
		parts[1].iov_base = into->p + into->len;
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		do
			got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		while (got < 0 && may_try_again(fd, POLLIN, until_ns));
		if (got < 0)
			return err_sys(reterr, errno, "sidecar");
		take_fds(&m, ret_fds, ret_fds && is_first);
		is_first = false;
		if (got == 0)
			return GALVO_DONE;
		if (m.msg_flags & MSG_TRUNC)
			return err_set(reterr, GALVO_ERR_MALFORMED, "sidecar: that is no message");
		into->len += (size_t)got - 1;
	} while (has_more);
	return GALVO_OK;
}
