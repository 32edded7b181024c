/* Taskstats: the socket on which each thread that ends leaves its totals, and their layout. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <unistd.h>

#include "kernel.h"

enum {
	CPUS_BYTES = 100, /* of their list */
	ASK_SEQ = 0x676c,
	/* Since version 12 a record says of which process it is, and whether that has ended with it. */
	VERSION_LEAST = 12,
	FLAG_GROUP = 0x20,
	TYPE_MASK = 0x3fff, /* an attribute's type, without its flags */
};

static size_t align(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static bool take_attribute(struct span *rest, uint16_t *ret_type, struct span *ret_content)
{
	struct nlattr a;
	size_t padded;

	if (rest->n < sizeof(a))
		return false;
	memcpy(&a, rest->p, sizeof(a));
	if (a.nla_len < sizeof(a) || a.nla_len > rest->n)
		return false;
	*ret_type = a.nla_type & TYPE_MASK;
	*ret_content = span_of(rest->p + sizeof(a), a.nla_len - sizeof(a));
	padded = align(a.nla_len);
	padded = padded > rest->n ? rest->n : padded;
	*rest = span_of(rest->p + padded, rest->n - padded);
	return true;
}

/* What is behind the headers. */
static bool take_headers(struct span s, uint16_t type, struct span *ret)
{
	struct nlmsghdr header;

	if (s.n < NLMSG_HDRLEN + GENL_HDRLEN)
		return false;
	memcpy(&header, s.p, sizeof(header));
	if (header.nlmsg_type != type || header.nlmsg_len > s.n ||
	    header.nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return false;
	*ret = span_of(s.p + NLMSG_HDRLEN + GENL_HDRLEN,
	               header.nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN);
	return true;
}

uint16_t family_parse(struct span datagram)
{
	struct span rest, content;
	uint16_t type, family;

	if (!take_headers(datagram, GENL_ID_CTRL, &rest))
		return 0;
	while (take_attribute(&rest, &type, &content))
		if (type == CTRL_ATTR_FAMILY_ID && content.n == sizeof(family)) {
			memcpy(&family, content.p, sizeof(family));
			return family;
		}
	return 0;
}

/* What we use is where it was in version 12 (but for 15, which is found out by a question). */
static bool stats_are(struct span s, struct taskstats *ret)
{
	const size_t enough = offsetof(struct taskstats, ac_tgid) + sizeof(ret->ac_tgid);

	*ret = (struct taskstats){0};
	if (s.n < enough)
		return false;
	memcpy(ret, s.p, s.n < sizeof(*ret) ? s.n : sizeof(*ret));
	return ret->version >= VERSION_LEAST;
}

/* The one attribute of statistics in an aggregate. */
static bool take_stats(struct span aggregate, struct taskstats *ret)
{
	struct span content;
	uint16_t type;

	while (take_attribute(&aggregate, &type, &content))
		if (type == TASKSTATS_TYPE_STATS)
			return stats_are(content, ret);
	return false;
}

bool exit_record_parse(struct span datagram, uint16_t family, struct exit_record *ret)
{
	struct taskstats one = {0}, group = {0};
	bool has_one = false, has_group = false;
	struct span rest, content;
	uint16_t type;

	if (!take_headers(datagram, family, &rest))
		return false;
	while (take_attribute(&rest, &type, &content)) {
		if (type == TASKSTATS_TYPE_AGGR_PID)
			has_one = take_stats(content, &one);
		else if (type == TASKSTATS_TYPE_AGGR_TGID)
			has_group = take_stats(content, &group);
	}
	if (!has_one)
		return false;
	*ret = (struct exit_record){
		.tid = one.ac_pid,
		.tgid = one.ac_tgid,
		.is_last = one.ac_flag & FLAG_GROUP,
		.has_group = has_group,
		.group_cpu_ns = group.cpu_run_virtual_total,
		.own = {one.cpu_run_virtual_total,
		        {one.read_char, one.write_char, one.read_bytes, one.write_bytes,
		         one.cancelled_write_bytes}, true},
	};
	return true;
}

/* ---- the socket ---------------------------------------------------------------------------------- */

static bool ask(int fd, uint16_t type, uint8_t command, uint16_t attribute, const void *content,
                size_t n)
{
	const struct genlmsghdr head = {.cmd = command, .version = TASKSTATS_GENL_VERSION};
	const struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = attribute};
	char message[sizeof(head) + sizeof(a) + CPUS_BYTES + 4] = {0};

	if (n > CPUS_BYTES)
		return false;
	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), &a, sizeof(a));
	memcpy(message + sizeof(head) + sizeof(a), content, n);
	return netlink_ask(fd, type, NLM_F_REQUEST, ASK_SEQ, message,
	                   sizeof(head) + align(a.nla_len));
}

bool taskstats_switch(int fd, const struct world *w, uint16_t family, bool on)
{
	uint16_t what = on ? TASKSTATS_CMD_ATTR_REGISTER_CPUMASK
	                   : TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK;
	char cpus[CPUS_BYTES] = {0};
	struct span text;
	struct buf buf;
	bool ok;

	buf_init(&buf, CPUS_BYTES - 1);
	ok = file_read(w->root_fd, "sys/devices/system/cpu/possible", &buf, &text, NULL) == GALVO_OK;
	text = ok ? span_trim(text) : text;
	if (ok)
		memcpy(cpus, text.p, text.n);
	ok = ok && ask(fd, family, TASKSTATS_CMD_GET, what, cpus, text.n + 1);
	buf_finish(&buf);
	return ok;
}

static struct span answer(struct inbox *box, int fd)
{
	uint64_t drops = 0, lost;

	return inbox_take(box, fd, &drops, &lost) > 0 ? inbox_at(box, 0) : span_of(NULL, 0);
}

static int refuse(char why[WHY_BYTES], int fd, const char *text)
{
	snprintf(why, WHY_BYTES, "%s", text);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A record of our own shows whether its layout is the one we know: it begins otherwise in 15. */
int taskstats_open(struct inbox *box, uint16_t *ret_family, char why[WHY_BYTES])
{
	int fd = netlink_open(NETLINK_GENERIC, 0);
	struct exit_record record = {0};
	uint32_t pid = (uint32_t)getpid();

	if (fd < 0 || !ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
	                   TASKSTATS_GENL_NAME, sizeof(TASKSTATS_GENL_NAME)))
		return refuse(why, fd, "no taskstats");
	*ret_family = family_parse(answer(box, fd));
	if (!*ret_family)
		return refuse(why, fd, "the kernel keeps no taskstats (CONFIG_TASKSTATS)");
	if (!ask(fd, *ret_family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid, sizeof(pid)) ||
	    !exit_record_parse(answer(box, fd), *ret_family, &record))
		return refuse(why, fd, "the kernel's taskstats do not say whose threads they are (5.17)");
	if (record.tid != pid || record.tgid != pid)
		return refuse(why, fd, "the layout of this kernel's taskstats is not known");
	return fd;
}
