/* Capabilities: which there are, which the file of this program gives, and the one command for what lacks. */
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "situation.h"

/* Each does something for a recording, as the rows have it. */
#define CAPS_OF_USE                                                                                \
	(CAP_BIT(CAP_DAC_READ_SEARCH) | CAP_BIT(CAP_NET_ADMIN) | CAP_BIT(CAP_SYS_PTRACE) |             \
	 CAP_BIT(CAP_SYS_NICE))

/* By their numbers, as setcap(8) has them. */
static const char *const names[] = {
	"chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid",
	"setpcap", "linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw",
	"ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct",
	"sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod",
	"lease", "audit_write", "audit_control", "setfcap", "mac_override", "mac_admin", "syslog",
	"wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore",
};

void situation_take_caps(struct situation *s)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct ours[_LINUX_CAPABILITY_U32S_3];
	char program[FOUND_BYTES / 2], bytes[64];
	struct span text;
	ssize_t n;

	if (parse_field(s->status_text, "CapEff", &text))
		s->knows_caps = parse_hex(text, &s->caps);
	if (!s->world->live)
		return;
	if (syscall(SYS_capget, &head, ours) == 0) { /* proc may not be there */
		s->caps = (uint64_t)ours[1].effective << 32 | ours[0].effective;
		s->knows_caps = true;
	}
	situation_program(s, program, sizeof(program));
	n = getxattr(program, "security.capability", bytes, sizeof(bytes));
	s->has_file_caps = n > 0;
	if (n > 0)
		parse_file_caps(span_of(bytes, (size_t)n), &s->file_caps);
}

/* "cap_net_admin,cap_sys_ptrace" */
static void put_names(struct buf *to, uint64_t caps)
{
	const char *between = "cap_";
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (caps >> i & 1) {
			buf_printf(to, "%s%s", between, names[i]);
			between = ",cap_";
		}
	buf_put(to, "", 1);
}

/* A file's capabilities are replaced, and end those that a user was lent (ambient ones). */
void situation_cure_caps(const struct situation *s, struct finding *all, size_t n)
{
	char program[FOUND_BYTES / 2];
	uint64_t lacking = 0;
	struct buf list;
	size_t i;

	for (i = 0; i < n; i++)
		lacking |= all[i].lacks;
	situation_program(s, program, sizeof(program));
	buf_init(&list, REMEDY_BYTES);
	put_names(&list, lacking | s->file_caps | (s->uid ? s->caps & CAPS_OF_USE : 0));
	for (i = 0; i < n; i++) {
		if (all[i].lacks && !list.failed)
			finding_cure(&all[i], "sudo setcap %s=ep %s", list.p, program);
		if (!all[i].is_by_file)
			continue;
		if (lacking || (s->file_caps & CAPS_OF_USE)) /* without them it would be worse */
			finding_cure(&all[i],
			             "galvo record -- env LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\" command …");
		else
			finding_cure(&all[i], "sudo setcap -r %s", program);
	}
	buf_finish(&list);
}
