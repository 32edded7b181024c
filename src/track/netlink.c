/* Netlink sockets: opened, asked, and emptied many messages at a time. */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"

enum { ROOM_BYTES = 8 << 20, CONTENT_MAX = 128 };

int netlink_open(int protocol, uint32_t groups)
{
	const struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = groups};
	const int room = ROOM_BYTES;
	int fd = fd_keep(socket(AF_NETLINK, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
	int failed;

	if (fd < 0)
		return -1;
	/* As much as may be had: more than the system's limit only with CAP_NET_ADMIN. */
	if ((setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) == 0 ||
	     setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0) &&
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	failed = errno;
	close(fd);
	errno = failed;
	return -1;
}

bool netlink_ask(int fd, uint16_t type, uint16_t flags, uint32_t seq, const void *content, size_t n)
{
	const struct nlmsghdr header = {.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + n), .nlmsg_type = type,
	                                .nlmsg_flags = flags, .nlmsg_seq = seq};
	char message[NLMSG_HDRLEN + CONTENT_MAX];

	if (n > CONTENT_MAX) {
		errno = EMSGSIZE;
		return false;
	}
	memcpy(message, &header, sizeof(header));
	memcpy(message + NLMSG_HDRLEN, content, n);
	return send(fd, message, NLMSG_HDRLEN + n, MSG_NOSIGNAL) == (ssize_t)(NLMSG_HDRLEN + n);
}

/* ---- the inbox ----------------------------------------------------------------------------------- */

/* Messages that were dropped, as the kernel counts them (since 4.12). */
static uint64_t count_drops(int fd)
{
	uint32_t facts[SK_MEMINFO_VARS] = {0};
	socklen_t n = sizeof(facts);

	return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, facts, &n) == 0 ? facts[SK_MEMINFO_DROPS] : 0;
}

/* Mostly nothing has come, so only what was used is made ready again. */
static void make_ready(struct inbox *box)
{
	for (; box->ready_len < MESSAGES_AT_ONCE; box->ready_len++) {
		const size_t i = box->ready_len;

		box->parts[i] = (struct iovec){box->bytes[i], MESSAGE_BYTES};
		box->headers[i].msg_hdr = (struct msghdr){
			.msg_name = &box->from[i], .msg_namelen = sizeof(box->from[i]),
			.msg_iov = &box->parts[i], .msg_iovlen = 1,
		};
		box->from[i].nl_pid = 0;
	}
}

int inbox_take(struct inbox *box, int fd, uint64_t *drops, uint64_t *ret_lost)
{
	uint64_t now;
	int n;

	*ret_lost = 0;
	make_ready(box);
	for (;;) {
		n = recvmmsg(fd, box->headers, MESSAGES_AT_ONCE, MSG_DONTWAIT, NULL);
		if (n > 0)
			box->ready_len = 0;
		if (n >= 0 || (errno != ENOBUFS && errno != EINTR))
			return n > 0 ? n : 0;
		if (errno == EINTR)
			continue;
		now = count_drops(fd);
		*ret_lost += now > *drops ? now - *drops : 1;
		*drops = now;
	}
}

/* Who may send to others' sockets may send anything: only the kernel has no number. */
struct span inbox_at(const struct inbox *box, int i)
{
	const struct mmsghdr *m = &box->headers[i];
	bool is_whole = !(m->msg_hdr.msg_flags & MSG_TRUNC);

	return span_of(box->bytes[i], is_whole && box->from[i].nl_pid == 0 ? m->msg_len : 0);
}
