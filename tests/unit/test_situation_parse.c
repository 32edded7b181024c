/* What galvo makes of texts that tell where it is, and of texts that are none. */
#include "suite/situation.h"
#include "tap.h"

static void fields(void)
{
	static const char status[] = "Name:\tgalvo: Uid:\nUid:\t0\t 1000 0 0\nGroups:\t4 27 \nCapEff:\t00ff\n";
	struct span v;
	uint64_t n;

	OK(parse_field(span_str(status), "Uid", &v) && span_eq_str(v, "0\t 1000 0 0"));
	OK(parse_field(span_str(status), "Groups", &v) && parse_has_number(v, 27) &&
	   !parse_has_number(v, 2) && !parse_has_number(v, 0));
	OK(parse_field(span_str(status), "CapEff", &v) && parse_hex(v, &n) && n == 255);
	OK(!parse_field(span_str(status), "Cap", &v) && !parse_field(span_str(""), "Uid", &v));
	OK(parse_field(span_str("A:"), "A", &v) && v.n == 0);
	OK(parse_hex(span_str("000001fffeffffff"), &n) && n == UINT64_C(0x1fffeffffff));
	OK(parse_hex(span_str("FFffFFffFFffFFff"), &n) && n == UINT64_MAX);
	OK(!parse_hex(span_str(""), &n) && !parse_hex(span_str("0x1"), &n) &&
	   !parse_hex(span_str("10000000000000000"), &n) && !parse_hex(span_str("-1"), &n) &&
	   !parse_hex(span_of("1\0", 2), &n));
	OK(!parse_has_number(span_str("99999999999999999999 x -1"), 1));
}

static void lists_of_numbers(void)
{
	static const struct { const char *text; int64_t count; } rows[] = {
		{"0-3,8,10-11\n", 7}, {"0", 1}, {"", 0}, {"\n", 0}, {"5-5", 1},
		/* none */
		{"(null)", -1}, {"3-1", -1}, {"1,", -1}, {",1", -1}, {"1-", -1}, {"-1", -1}, {"1--2", -1},
		{"0-18446744073709551615", -1}, {"0-2147483647,0-2147483647", -1}, {"1 2", -1}, {"a", -1},
	};
	uint64_t count;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		bool is_list = parse_list(span_str(rows[i].text), &count);

		if (!OK(is_list == (rows[i].count >= 0) && (!is_list || count == (uint64_t)rows[i].count)))
			printf("# %s\n", rows[i].text);
	}
}

static void mounts(void)
{
	struct span rest = span_str(
		"22 27 0:21 / /proc rw,relatime shared:5 master:1 - proc proc rw,hidepid=2\n"
		"no mount\n"
		"23 27 0:21 / /x - type\n"
		"\n"
		"24 22 0:9 /null /proc/kcore rw - devtmpfs dev\\040fs rw,size=4k");
	struct mount m;

	OK(parse_mount(&rest, &m) && span_eq_str(m.root, "/") && span_eq_str(m.point, "/proc") &&
	   span_eq_str(m.type, "proc") && span_eq_str(m.options, "rw,hidepid=2"));
	OK(parse_mount(&rest, &m) && span_eq_str(m.root, "/null") &&
	   span_eq_str(m.point, "/proc/kcore") && span_eq_str(m.options, "rw,size=4k"));
	OK(!parse_mount(&rest, &m));
}

static void options_of_proc(void)
{
	static const struct {
		const char *text;
		unsigned hidepid;
		int64_t gid; /* -1: none */
		bool is_known;
	} rows[] = {
		{"rw", 0, -1, true}, {"rw,hidepid=2", 2, -1, true}, {"hidepid=invisible,gid=5", 2, 5, true},
		{"rw,gid=7,hidepid=noaccess", 1, 7, true}, {"hidepid=ptraceable", 4, -1, true},
		{"rw,hidepid=off", 0, -1, true}, {"", 0, -1, true}, {"hidepid=1,hidepid=0", 0, -1, true},
		/* strange */
		{"hidepid=3", 0, -1, false}, {"hidepid=", 0, -1, false}, {"hidepid=22", 0, -1, false},
		{"xhidepid=2,gid=-1", 0, -1, true}, {",,", 0, -1, true},
		{"gid=18446744073709551616", 0, -1, true},
	};
	struct proc_options o;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		parse_proc_options(span_str(rows[i].text), &o);
		if (!OK(o.is_known == rows[i].is_known && o.hidepid == rows[i].hidepid &&
		        o.has_gid == (rows[i].gid >= 0) && (!o.has_gid || o.gid == (uint64_t)rows[i].gid)))
			printf("# %s\n", rows[i].text);
	}
}

static void namespaces_groups_and_quotas(void)
{
	static const char groups[] = "5:cpu,cpuacct:/a\nx\n4:memory:no slash\n1:name=systemd:/s\n0::/u:v\n";
	struct span v;
	uint64_t inode;
	double cpus;

	OK(parse_namespace(span_str("pid:[4026531836]"), &inode) && inode == UINT64_C(4026531836));
	OK(!parse_namespace(span_str("pid:[4026531836"), &inode) &&
	   !parse_namespace(span_str("pid:[]"), &inode) && !parse_namespace(span_str(""), &inode) &&
	   !parse_namespace(span_str("pid:[1x]"), &inode) && !parse_namespace(span_str("1]"), &inode));
	OK(parse_cgroup(span_str(groups), "", &v) && span_eq_str(v, "/u:v"));
	OK(parse_cgroup(span_str(groups), "cpuacct", &v) && span_eq_str(v, "/a"));
	OK(!parse_cgroup(span_str(groups), "memory", &v) && !parse_cgroup(span_str(groups), "cp", &v) &&
	   !parse_cgroup(span_str("0::/"), "cpu", &v) && !parse_cgroup(span_str("0:"), "", &v));
	OK(parse_cpu_max(span_str("150000 100000\n"), &cpus) && cpus > 1.49 && cpus < 1.51);
	OK(!parse_cpu_max(span_str("max 100000\n"), &cpus) && !parse_cpu_max(span_str("1 0"), &cpus) &&
	   !parse_cpu_max(span_str("1"), &cpus) && !parse_cpu_max(span_str("1 2 3"), &cpus) &&
	   !parse_cpu_max(span_str(""), &cpus) && !parse_cpu_max(span_str("-1 100000"), &cpus));
}

static void capabilities_of_files(void)
{
	static const struct { const char *bytes; size_t n; uint64_t caps; } rows[] = {
		{"\1\0\0\2" "\0\0\x08\0" "\0\0\0\0" "\2\0\0\0" "\0\0\0\0", 20,
		 CAP_BIT(CAP_SYS_PTRACE) | UINT64_C(1) << 33},
		{"\1\0\0\3" "\0\x10\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\1\0\0\0", 24,
		 CAP_BIT(CAP_NET_ADMIN)},
		{"\1\0\0\1" "\4\0\0\x80" "\xff\xff\xff\xff", 12, UINT64_C(0x80000004)},
		/* none */
		{"", 0, 0}, {"\1\0\0", 3, 0}, {"\1\0\0\2", 4, 0}, {"\1\0\0\2" "\0\0\x08\0", 8, 0},
		{"\1\0\0\0" "\4\0\0\0" "\0\0\0\0", 12, 0}, {"\1\0\0\4" "\4\0\0\0" "\0\0\0\0", 12, 0},
		{"\1\0\0\xff" "\4\0\0\0" "\0\0\0\0", 12, 0}, {"\1\0\0\1" "\4\0\0\0" "\0\0\0\0x", 13, 0},
	};
	uint64_t caps;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!OK(parse_file_caps(span_of(rows[i].bytes, rows[i].n), &caps) == (rows[i].caps != 0) &&
		        (!rows[i].caps || caps == rows[i].caps)))
			printf("# row %zu\n", i);
}

static void versions_of_nvidia(void)
{
	static const struct { const char *text, *version; } rows[] = {
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
		 "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n", "535.104.05"},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build  "
		 "(dvs-builder@U22)\n", "575.57.08"},
		{"GCC version:  gcc version 12.2.0\n", NULL}, {"NVRM version: NVIDIA UNIX\n", NULL},
		{"NVRM version: 535 .5 5. ... x1.2\n", NULL}, {"", NULL}, {"NVRM version:", NULL},
	};
	struct span v;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		OK(parse_nvidia_version(span_str(rows[i].text), &v) ==
		       (rows[i].version != NULL) &&
		   (!rows[i].version || span_eq_str(v, rows[i].version)));
}

static const struct tap_test tests[] = {
	{"fields", fields},
	{"lists of numbers", lists_of_numbers},
	{"mounts", mounts},
	{"options of proc", options_of_proc},
	{"namespaces, groups and quotas", namespaces_groups_and_quotas},
	{"capabilities of files", capabilities_of_files},
	{"versions of NVIDIA", versions_of_nvidia},
};

int main(void)
{
	return tap_run(tests, ARRAY_LEN(tests));
}
