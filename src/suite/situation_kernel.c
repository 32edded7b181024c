/* What the kernel tells beyond files: process events, taskstats, BPF, perf. Each is asked for something. */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/taskstats.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "situation.h"

enum { MESSAGE_BYTES = 8192, MESSAGES_MAX = 64, ATTRIBUTE_HEAD_BYTES = sizeof(struct nlattr) };

static int netlink_open(int protocol, unsigned groups)
{
	const struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = fd_keep(socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
	int failed;

	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	failed = errno;
	close(fd);
	errno = failed;
	return -1;
}

/* As CAP_NET_ADMIN of the initial namespaces is asked for. */
static uint64_t lacking_for(const struct situation *s, int failed)
{
	return (failed == EPERM || failed == EACCES) && !s->in_other_users && !s->in_other_pids
	               ? CAP_BIT(CAP_NET_ADMIN) : 0;
}

/* ---- process events ------------------------------------------------------------------------------ */

static bool say_to_connector(int fd, enum proc_cn_mcast_op op)
{
	char message[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof(op))] = {0};
	const struct cn_msg body = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof(op)};
	const struct nlmsghdr head = {.nlmsg_len = NLMSG_LENGTH(sizeof(body) + sizeof(op)),
	                              .nlmsg_type = NLMSG_DONE};

	memcpy(message, &head, sizeof(head));
	memcpy(message + NLMSG_HDRLEN, &body, sizeof(body));
	memcpy(message + NLMSG_HDRLEN + sizeof(body), &op, sizeof(op));
	return send(fd, message, head.nlmsg_len, 0) == (ssize_t)head.nlmsg_len;
}

/* The kernel answers before send returns, or, from outside the initial namespaces, never. */
static bool take_answer(int fd, uint32_t *ret_errno)
{
	const size_t event_at = NLMSG_HDRLEN + sizeof(struct cn_msg);
	char message[MESSAGE_BYTES];
	struct proc_event event;
	size_t i;

	for (i = 0; i < MESSAGES_MAX; i++) {
		ssize_t n = recv(fd, message, sizeof(message), MSG_DONTWAIT);

		if (n < 0)
			return false;
		memset(&event, 0, sizeof(event));
		if ((size_t)n <= event_at)
			continue;
		memcpy(&event, message + event_at, (size_t)n - event_at < sizeof(event)
		                                           ? (size_t)n - event_at : sizeof(event));
		if (event.what == 0) { /* PROC_EVENT_NONE, which became an enum elsewhere in 6.6 */
			*ret_errno = event.event_data.ack.err;
			return true;
		}
	}
	return false;
}

void look_proc_connector(struct situation *s, struct finding *f)
{
	int fd = netlink_open(NETLINK_CONNECTOR, CN_IDX_PROC), failed = errno;
	bool is_sent = fd >= 0 && say_to_connector(fd, PROC_CN_MCAST_LISTEN);
	uint32_t answer = 0;
	bool is_answered = is_sent && take_answer(fd, &answer);

	failed = fd < 0 ? failed : is_sent ? (int)answer : errno;
	if (is_sent)
		say_to_connector(fd, PROC_CN_MCAST_IGNORE);
	if (fd >= 0)
		close(fd);
	if (is_answered && failed == 0) {
		finding_is(f, GALVO_VERDICT_YES, "the kernel tells of every fork and exit");
		return;
	}
	finding_means(f, "processes are found by looking: what lives shorter than the time between two "
	                 "looks may be missed");
	if (failed) {
		finding_is(f, GALVO_VERDICT_NO, "%s: %s",
		           fd < 0 ? "a socket of the connector" : "listening to the connector",
		           strerror(failed));
		f->lacks = lacking_for(s, failed);
	} else {
		finding_is(f, GALVO_VERDICT_NO, "no answer%s",
		           !s->in_other_users && !s->in_other_pids
		               ? ": a kernel without CONFIG_PROC_EVENTS, or another network namespace"
		               : ", as this is not the initial namespace of processes or users");
		if (s->in_other_users || s->in_other_pids)
			finding_cure(f, "record from the host, outside of the container");
	}
}

/* ---- taskstats ----------------------------------------------------------------------------------- */

static uint32_t aligned(uint32_t n)
{
	return (n + 3) & ~UINT32_C(3);
}

/* A generic netlink message with one attribute; the length of the answer, or -1 and errno. */
static ssize_t ask_generic(int fd, uint16_t family, uint8_t command, uint16_t attribute,
                           const void *value, uint16_t value_bytes, char answer[MESSAGE_BYTES])
{
	char message[256] = {0};
	const struct genlmsghdr generic = {.cmd = command, .version = 1};
	const struct nlattr head = {.nla_type = attribute, .nla_len = (uint16_t)(ATTRIBUTE_HEAD_BYTES + value_bytes)};
	const struct nlmsghdr outer = {
		.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + aligned(head.nla_len),
		.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST};
	struct nlmsgerr error;
	struct nlmsghdr first;
	ssize_t n;

	memcpy(message, &outer, sizeof(outer));
	memcpy(message + NLMSG_HDRLEN, &generic, sizeof(generic));
	memcpy(message + NLMSG_HDRLEN + GENL_HDRLEN, &head, sizeof(head));
	memcpy(message + NLMSG_HDRLEN + GENL_HDRLEN + ATTRIBUTE_HEAD_BYTES, value, value_bytes);
	if (send(fd, message, outer.nlmsg_len, 0) < 0 ||
	    (n = recv(fd, answer, MESSAGE_BYTES, MSG_DONTWAIT)) < 0)
		return -1;
	memcpy(&first, answer, sizeof(first));
	if (first.nlmsg_type != NLMSG_ERROR)
		return n;
	memcpy(&error, answer + NLMSG_HDRLEN, sizeof(error));
	errno = -error.error;
	return error.error ? -1 : n;
}

/* The number of the family, from the attributes of the answer; 0: not there. */
static uint16_t family_of(const char *answer, ssize_t n)
{
	size_t at = NLMSG_HDRLEN + GENL_HDRLEN, end = n > 0 ? (size_t)n : 0;
	struct nlattr head;
	uint16_t id;

	while (at + ATTRIBUTE_HEAD_BYTES <= end) {
		memcpy(&head, answer + at, sizeof(head));
		if (head.nla_len < ATTRIBUTE_HEAD_BYTES || at + head.nla_len > end)
			return 0;
		if (head.nla_type == CTRL_ATTR_FAMILY_ID && head.nla_len >= ATTRIBUTE_HEAD_BYTES + sizeof(id)) {
			memcpy(&id, answer + at + ATTRIBUTE_HEAD_BYTES, sizeof(id));
			return id;
		}
		at += aligned(head.nla_len);
	}
	return 0;
}

void look_taskstats(struct situation *s, struct finding *f)
{
	char answer[MESSAGE_BYTES];
	const uint32_t pid = (uint32_t)getpid();
	int fd = netlink_open(NETLINK_GENERIC, 0), failed;
	uint16_t family = 0;
	uint64_t has_delays = 0;
	ssize_t n = -1;

	if (fd >= 0)
		n = ask_generic(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		                TASKSTATS_GENL_NAME, sizeof(TASKSTATS_GENL_NAME), answer);
	if (n > 0)
		family = family_of(answer, n);
	if (family)
		n = ask_generic(fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid, sizeof(pid),
		                answer);
	failed = errno;
	if (fd >= 0)
		close(fd);
	situation_read_u64(s, "proc/sys/kernel/task_delayacct", &has_delays);
	if (family && n > 0)
		finding_is(f, GALVO_VERDICT_YES, "answered%s",
		           has_delays ? "" : "; delays are off (kernel.task_delayacct=0)");
	else
		finding_is(f, GALVO_VERDICT_NO, "%s: %s", family ? "asking for this process" : "its family",
		           strerror(failed));
	if (!family || n <= 0) {
		f->lacks = lacking_for(s, failed);
		finding_means(f, "nobody tells what a process used that was born and gone between two looks");
	}
}

/* ---- BPF and perf -------------------------------------------------------------------------------- */

/* "return 0", of a kind that traces: never attached. */
static int load_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = ARRAY_LEN(code);
	attr.license = (uint64_t)(uintptr_t)"GPL";
	return fd_keep((int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
}

void look_bpf(struct situation *s, struct finding *f)
{
	int fd = load_program(), failed = errno;
	bool at_open, has_types =
		situation_try(s->world, "sys/kernel/btf/vmlinux", &at_open, NULL) == GALVO_OK;
	uint64_t locked = 0;

	situation_read_u64(s, "proc/sys/kernel/unprivileged_bpf_disabled", &locked);
	if (fd >= 0) {
		close(fd);
		finding_is(f, has_types ? GALVO_VERDICT_YES : GALVO_VERDICT_PARTLY,
		           "a tracing program was loaded%s",
		           has_types ? "" : "; sys/kernel/btf/vmlinux cannot be read");
	} else {
		finding_is(f, GALVO_VERDICT_NO,
		           "loading a tracing program: %s (kernel.unprivileged_bpf_disabled=%llu%s)",
		           strerror(failed), (unsigned long long)locked,
		           has_types ? "" : ", no sys/kernel/btf/vmlinux");
	}
	if (fd < 0 || !has_types)
		finding_means(f, "nothing: this galvo loads no program");
}

void look_perf_events(struct situation *s, struct finding *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .size = sizeof(attr),
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1};
	int fd = fd_keep((int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
	int failed = errno;
	struct span text;
	char level[32] = "not told";

	if (situation_read(s, "proc/sys/kernel/perf_event_paranoid", &text))
		utf8_copy(level, sizeof(level), span_trim(text));
	if (fd >= 0) {
		close(fd);
		finding_is(f, GALVO_VERDICT_YES, "a counter was opened (perf_event_paranoid is %s)", level);
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "a counter of this process: %s (perf_event_paranoid is %s)",
	           strerror(failed), level);
	finding_means(f, "nothing: this galvo opens none");
}
