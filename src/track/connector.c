/* The proc connector: its socket, whether it works here, its messages. */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"

enum { WAIT_FOR_ACK = 64 }; /* readings, of others' news */
/* Numbers of the initial namespaces, the same on every machine (include/linux/proc_ns.h). */

#define PROC_PID_INIT_INO UINT64_C(0xEFFFFFFC)
#define PROC_USER_INIT_INO UINT64_C(0xEFFFFFFD)
#define ASK UINT32_C(0x67616c76) /* the answer has this, and one more */

/* Of this event; messages are in the machine's byte order, and of any alignment. */
#define EVENT_AT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define EVENT_MEMBER(member) (EVENT_AT + offsetof(struct proc_event, event_data.member))

/* ---- messages ------------------------------------------------------------------------------------ */

static bool take_u32(struct span s, size_t at, uint32_t *ret)
{
	if (at + sizeof(*ret) > s.n)
		return false;
	memcpy(ret, s.p + at, sizeof(*ret));
	return true;
}

static bool take_fork(struct span s, struct news *ret)
{
	ret->kind = NEWS_FORK;
	return take_u32(s, EVENT_MEMBER(fork.parent_tgid), &ret->parent) &&
	       take_u32(s, EVENT_MEMBER(fork.child_pid), &ret->tid) &&
	       take_u32(s, EVENT_MEMBER(fork.child_tgid), &ret->tgid);
}

static bool take_other(struct span s, uint32_t what, struct news *ret)
{
	if (what == PROC_EVENT_NONE) {
		ret->kind = NEWS_ACK;
		return take_u32(s, EVENT_MEMBER(ack.err), &ret->code);
	}
	ret->kind = what == PROC_EVENT_EXIT ? NEWS_EXIT : NEWS_NAME;
	if (!take_u32(s, EVENT_MEMBER(exit.process_pid), &ret->tid) ||
	    !take_u32(s, EVENT_MEMBER(exit.process_tgid), &ret->tgid))
		return false;
	if (what == PROC_EVENT_COMM && ret->tid != ret->tgid)
		ret->kind = NEWS_OTHER; /* a thread has a name of its own */
	return what != PROC_EVENT_EXIT || take_u32(s, EVENT_MEMBER(exit.exit_code), &ret->code);
}

/* What we have no use for has a number, too. */
static bool take_event(struct span s, struct news *ret)
{
	uint32_t what;

	if (!take_u32(s, EVENT_AT + offsetof(struct proc_event, what), &what) ||
	    !take_u32(s, EVENT_AT + offsetof(struct proc_event, cpu), &ret->cpu))
		return false;
	if (what == PROC_EVENT_FORK)
		return take_fork(s, ret);
	if (what == PROC_EVENT_NONE || what == PROC_EVENT_EXEC || what == PROC_EVENT_COMM ||
	    what == PROC_EVENT_EXIT)
		return take_other(s, what, ret);
	ret->kind = NEWS_OTHER;
	return true;
}

bool news_parse(struct span s, struct news *ret)
{
	struct news news = {0};
	struct nlmsghdr header;
	struct cn_msg message;

	if (s.n < EVENT_AT + offsetof(struct proc_event, event_data))
		return false;
	memcpy(&header, s.p, sizeof(header));
	memcpy(&message, s.p + NLMSG_HDRLEN, sizeof(message));
	if (header.nlmsg_type != NLMSG_DONE || header.nlmsg_len > s.n ||
	    message.id.idx != CN_IDX_PROC || message.id.val != CN_VAL_PROC ||
	    message.len > s.n - EVENT_AT)
		return false;
	s.n = EVENT_AT + message.len;
	if (s.n < EVENT_AT + offsetof(struct proc_event, event_data))
		return false;
	memcpy(&news.mono_ns, s.p + EVENT_AT + offsetof(struct proc_event, timestamp_ns),
	       sizeof(news.mono_ns));
	news.ack = message.ack;
	news.seq = message.seq;
	if (!take_event(s, &news))
		return false;
	*ret = news;
	return true;
}

/* ---- the socket ---------------------------------------------------------------------------------- */

/*
 * Since 6.6 a listener may name the events that it wants. We want all: their numbers, which are those
 * of a CPU, then tell of each one that was lost (drivers/connector/cn_proc.c, send_msg), and what we
 * have no use for is rare.
 */
static bool ask(int fd, uint32_t op)
{
	const struct cn_msg head = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .ack = ASK, .len = sizeof(op)};
	char content[sizeof(head) + sizeof(op)];

	memcpy(content, &head, sizeof(head));
	memcpy(content + sizeof(head), &op, sizeof(op));
	return netlink_ask(fd, NLMSG_DONE, 0, ASK, content, sizeof(content));
}

/* The answer is there when the request was taken; others' news may come before it. */
static bool was_heard(struct inbox *box, int fd, uint32_t *ret_errno)
{
	uint64_t drops = 0, lost;
	struct news news;
	int i, n, rounds;

	for (rounds = 0; rounds < WAIT_FOR_ACK; rounds++) {
		n = inbox_take(box, fd, &drops, &lost);
		for (i = 0; i < n; i++)
			if (news_parse(inbox_at(box, i), &news) && news.kind == NEWS_ACK &&
			    news.ack == ASK + 1) {
				*ret_errno = news.code;
				return true;
			}
		if (n == 0)
			break;
	}
	return false;
}

static bool is_initial(const struct world *w, const char *path, uint64_t inode)
{
	struct stat facts;

	return fstatat(w->root_fd, path, &facts, 0) == 0 && facts.st_ino == inode;
}

static int refuse(char why[WHY_BYTES], int fd, int sys_errno, const char *text)
{
	galvo_error e = {0};

	if (sys_errno)
		err_sys(&e, sys_errno, "%s", text);
	utf8_copy(why, WHY_BYTES, span_str(sys_errno ? e.text : text));
	if (fd >= 0)
		connector_close(fd);
	return -1;
}

int connector_open(const struct world *w, struct inbox *box, char why[WHY_BYTES])
{
	uint32_t code = 0;
	int fd;

	if (!is_initial(w, "proc/self/ns/pid", PROC_PID_INIT_INO) ||
	    !is_initial(w, "proc/self/ns/user", PROC_USER_INIT_INO))
		return refuse(why, -1, 0, "the kernel tells nobody in a container");
	fd = netlink_open(NETLINK_CONNECTOR, CN_IDX_PROC);
	if (fd < 0)
		return refuse(why, fd, errno, "kernel events");
	if (!ask(fd, PROC_CN_MCAST_LISTEN))
		return refuse(why, fd, errno, "kernel events");
	if (!was_heard(box, fd, &code))
		return refuse(why, fd, 0, "the kernel does not answer (CONFIG_PROC_EVENTS)");
	return code ? refuse(why, fd, (int)code, "kernel events") : fd;
}

/* The kernel counts listeners by what they say, not by their sockets. */
void connector_close(int fd)
{
	if (fd < 0)
		return;
	ask(fd, PROC_CN_MCAST_IGNORE);
	close(fd);
}
