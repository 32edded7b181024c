/* What galvo finds out about where it is: verdicts over trees of files made for them. */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "galvo/galvo.h"
#include "stream/stream.h"
#include "suite/situation.h"
#include "tap.h"

#define MAN FIXTURES "/../../man/galvo-doctor.1"

/* ---- trees --------------------------------------------------------------------------------------- */

static char root[] = "/tmp/galvo-situation-XXXXXX";

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at)
{
	(void)facts;
	(void)kind;
	return at->level ? remove(path) : 0;
}

static void clear(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A file, or with "-> " before its text a link, and the folders above it. */
static void put(const char *path, const char *text)
{
	char full[512], *slash;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	unlink(full);
	if (!strncmp(text, "-> ", 3)) {
		OK(symlink(text + 3, full) == 0);
		return;
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	OK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static struct finding findings[FINDINGS_MAX];
static size_t findings_len;

/* Looks around below root; what the row of that name says. */
static const struct finding *found(const char *id, bool is_start)
{
	static const struct finding none = {.id = "", .found = "(no such finding)"};
	struct world w;
	size_t i;

	if (!OK(world_open(&w, root, NULL) == GALVO_OK))
		return &none;
	w.cpu_count = 8;
	findings_len = situation_look(&w, -1, is_start, findings);
	world_close(&w);
	for (i = 0; i < findings_len; i++)
		if (!strcmp(findings[i].id, id))
			return &findings[i];
	return &none;
}

static void says(const char *id, galvo_verdict verdict, const char *words)
{
	const struct finding *f = found(id, false);

	if (!OK(f->id[0] && f->verdict == verdict && strstr(f->found, words)))
		printf("# %s: %d, %s\n", id, (int)f->verdict, f->found);
}

#define IS(id, verdict, words) says(id, GALVO_VERDICT_##verdict, words)

static void an_empty_tree_hinders(void)
{
	const struct finding *f;

	clear();
	put("proc/self/x", "");
	IS("machine-files", NO, "No such file");
	IS("own-files", NO, "No such file");
	IS("pressure", NO, "proc/pressure/cpu");
	IS("process-list", UNKNOWN, "");
	IS("process-io", UNKNOWN, "proc cannot be read");
	IS("yama", UNKNOWN, "proc cannot be read");
	IS("cgroup", UNKNOWN, "proc cannot be read");
	OK(!found("pressure", false)->remedy[0] && !found("process-io", false)->remedy[0]);
	IS("pid-namespace", UNKNOWN, "");
	IS("masked-files", UNKNOWN, "");
	IS("nvidia-driver", NOT_APPLICABLE, "");
	IS("render-nodes", NOT_APPLICABLE, "");
	IS("disk-statistics", NOT_APPLICABLE, "");
	IS("pidfd", NOT_APPLICABLE, "this machine only");
	f = found("own-files", true);
	OK(f->need == GALVO_NEED_ALL && f->meaning[0] && f->remedy[0]);
	OK(!found("bpf", true)->id[0] && !found("pidfd", true)->id[0] && found("bpf", false)->id[0]);
}

static void the_machine(void)
{
	static const char *const files[] = {"proc/stat", "proc/meminfo", "proc/diskstats",
		"proc/net/dev", "proc/vmstat", "proc/loadavg", "proc/pressure/cpu",
		"proc/pressure/memory", "proc/pressure/io"};
	char folder[512];
	size_t i;

	clear();
	for (i = 0; i < ARRAY_LEN(files); i++)
		put(files[i], "x\n");
	IS("machine-files", YES, "could be read");
	IS("pressure", YES, "");
	put("proc/cmdline", "ro quiet psi=0\n");
	for (i = 6; i < ARRAY_LEN(files); i++) {
		char path[512];

		says("pressure", i == 6 ? GALVO_VERDICT_YES : GALVO_VERDICT_PARTLY, "");
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		unlink(path);
	}
	IS("pressure", NO, "proc/pressure/cpu: No such file");
	OK(strstr(found("pressure", true)->remedy, "without psi=0"));
	put("proc/cmdline", "ro quiet\n");
	put("proc/self/status", "Uid:\t0 0 0 0\n");
	OK(strstr(found("pressure", true)->remedy, "systempaths=unconfined")); /* its folder is empty */
	snprintf(folder, sizeof(folder), "%s/proc/pressure", root);
	OK(rmdir(folder) == 0);
	OK(strstr(found("pressure", true)->remedy, "psi=1"));
	IS("cgroup", NO, "without cgroups");
	put("sys/block/sda/queue/iostats", "1\n");
	put("sys/block/loop0/queue/iostats", "0\n");
	IS("disk-statistics", YES, "1 disk");
	put("sys/block/sdb/queue/iostats", "0\n");
	IS("disk-statistics", PARTLY, "1 of 2 disks without statistics: sdb");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	IS("clock", YES, "tsc");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	IS("clock", PARTLY, "hpet");
	put("sys/devices/system/cpu/nohz_full", "(null)\n");
	IS("tick", UNKNOWN, "");
	put("sys/devices/system/cpu/nohz_full", "2-7\n");
	IS("tick", PARTLY, "6 CPUs");
}

static void other_users(void)
{
	static const struct { const char *options, *status; galvo_verdict verdict; } rows[] = {
		{"x", "Gid:\t7 7 7 7\n", GALVO_VERDICT_YES},
		{"hidepid=2", "Gid:\t7 7 7 7\nGroups:\t9\n", GALVO_VERDICT_NO},
		{"hidepid=1", "Gid:\t7 7 7 7\n", GALVO_VERDICT_NO},
		{"hidepid=2,gid=9", "Gid:\t7 7 7 7\nGroups:\t4 9\n", GALVO_VERDICT_YES},
		{"hidepid=2", "Gid:\t0 0 0 0\n", GALVO_VERDICT_YES}, /* by default the group is root's */
		{"hidepid=4,gid=9", "Gid:\t9 9 9 9\n", GALVO_VERDICT_NO},
		{"hidepid=4", "CapEff:\t0000000000080000\n", GALVO_VERDICT_YES}, /* CAP_SYS_PTRACE */
		{"hidepid=8", "Gid:\t7 7 7 7\n", GALVO_VERDICT_UNKNOWN},
	};
	char mount[128];
	size_t i;

	clear();
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(mount, sizeof(mount), "22 27 0:21 / /proc rw - proc proc rw,%s\n", rows[i].options);
		put("proc/self/mountinfo", mount);
		put("proc/self/status", rows[i].status);
		says("process-list", rows[i].verdict, "");
	}
	put("proc/self/status", "Uid:\t4242 4242 4242 4242\n");
	IS("process-io", UNKNOWN, "capabilities are not told");
	put("proc/self/status", "Uid:\t4242 4242 4242 4242\nCapEff:\t0000000000000000\n");
	IS("process-io", UNKNOWN, "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH are missing");
	/* All files here are ours, and "we" are another user: so they are another's. */
	IS("process-io", UNKNOWN, "no process of another user");
	put("proc/1/stat", "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 1 0 2 1 1\n");
	put("proc/1/io", "rchar: 1\n");
	IS("process-io", YES, "proc/1/io");
	put("proc/1/stat", "1 (init) Z 0 1 1 0 -1 4194564 0 0 0 0 1 1 0 0 20 0 1 0 2 1 1\n");
	IS("process-io", UNKNOWN, "no process of another user");
	put("proc/self/status", "Uid:\t4242 4242 4242 4242\nCapEff:\t0000000000080004\n");
	IS("process-io", YES, "the capabilities are there");
	put("proc/self/status", "Uid:\t4242 4242 4242 4242\nCapEff:\t0000000000080000\n");
	IS("process-io", UNKNOWN, "CAP_DAC_READ_SEARCH is missing");
	put("proc/self/status", "Uid:\t4242 4242 4242 4242\nCapEff:\t0000000000000004\n");
	IS("process-io", UNKNOWN, "CAP_SYS_PTRACE is missing");
	IS("yama", NOT_APPLICABLE, "no yama");
	put("proc/sys/kernel/yama/ptrace_scope", "3\n");
	IS("yama", YES, "ptrace_scope is 3, which keeps nobody from reading");
}

static void containers(void)
{
	clear();
	put("proc/self/ns/pid", "-> pid:[4026531836]");
	put("proc/self/ns/user", "-> user:[4026531837]");
	put("proc/stat", "cpu 1\n");
	IS("pid-namespace", YES, "");
	IS("user-namespace", YES, "");
	put("proc/self/ns/pid", "-> pid:[4026532441]");
	put("proc/self/ns/user", "-> user:[4026532440]");
	IS("pid-namespace", PARTLY, "pid:[4026532441]");
	IS("user-namespace", PARTLY, "user:[4026532440]");
	put("proc/self/mountinfo", "1 1 0:1 / /proc rw - proc proc rw\n"
	                           "2 1 0:2 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
	IS("masked-files", YES, "nothing is mounted");
	put("proc/self/mountinfo", "1 1 0:1 / /proc rw - proc proc rw\n"
	                           "2 1 0:2 /null /proc/kcore rw - tmpfs tmpfs rw\n"
	                           "3 1 0:3 / /proc/sys ro - proc proc rw\n"
	                           "4 1 0:2 / /proc/scsi ro - tmpfs tmpfs rw\n");
	IS("masked-files", YES, "2, none of them over what galvo reads");
	put("proc/self/mountinfo", "2 1 0:2 /x /proc/diskstats rw - ext4 /dev/sda rw\n"
	                           "3 1 0:2 / /proc/pressure rw - tmpfs tmpfs rw\n");
	IS("masked-files", PARTLY, "and others do");
	IS("lxcfs", NOT_APPLICABLE, "captured");
}

static void limits(void)
{
	clear();
	put("proc/meminfo", "MemTotal:       16777216 kB\n");
	IS("limits", YES, "8 CPUs");
	put("proc/self/cgroup", "0::/a/b\n");
	put("sys/fs/cgroup/unified/a/b/cpu.max", "max 100000\n");
	put("sys/fs/cgroup/unified/a/b/memory.max", "max\n");
	IS("limits", YES, "8 CPUs");
	put("sys/fs/cgroup/unified/a/cpu.max", "150000 100000\n");
	put("sys/fs/cgroup/unified/a/b/cpu.max", "400000 100000\n");
	put("sys/fs/cgroup/unified/a/b/memory.max", "1073741824\n");
	IS("limits", PARTLY, "1024 MiB of memory; the time of 1.5 of 8 CPUs");
	put("sys/fs/cgroup/unified/a/b/memory.max", "99999999999999\n"); /* more than there is */
	put("sys/fs/cgroup/unified/a/cpu.max", "1600000 100000\n");
	put("sys/fs/cgroup/unified/a/b/cpu.max", "1600000 100000\n");
	IS("limits", YES, "");
	put("proc/self/cgroup", "4:cpu,cpuacct:/d\n3:memory:/d\n");
	put("sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "-1\n");
	put("sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "100000\n");
	put("sys/fs/cgroup/memory/d/memory.limit_in_bytes", "9223372036854771712\n");
	IS("limits", YES, "");
	put("sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "50000\n");
	put("sys/fs/cgroup/memory/d/memory.limit_in_bytes", "536870912\n");
	IS("limits", PARTLY, "512 MiB of memory; the time of 0.5 of 8 CPUs");
	IS("cgroup", PARTLY, "version 1, in /d");
}

static void graphics(void)
{
	clear();
	put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
	put("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
	IS("nvidia-driver", NO, "without its driver");
	put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  S\n");
	IS("nvidia-driver", NO, "driver 535.104.05, and no /dev/nvidia0");
	put("dev/nvidia0", "");
	put("dev/nvidiactl", "");
	put("dev/nvidia-caps", "");
	IS("nvidia-driver", YES, "driver 535.104.05, 1 device");
	IS("nvidia-counters", NOT_APPLICABLE, "");
	put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
	IS("nvidia-counters", UNKNOWN, "capabilities are not told");
	put("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
	put("proc/self/status", "CapEff:\t0000000000000000\n");
	IS("nvidia-counters", NO, "RmProfilingAdminOnly is 1");
	OK(strstr(found("nvidia-counters", false)->remedy, "NVreg_RestrictProfilingToAdminUsers=0"));
	put("proc/self/status", "CapEff:\t0000000000200000\n");
	put("proc/self/ns/user", "-> user:[4026531837]");
	IS("nvidia-counters", YES, "CAP_SYS_ADMIN");
	put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	IS("nvidia-counters", YES, "everybody");
	put("proc/driver/nvidia/params", "RmProfilingAdmin: 0\n");
	IS("nvidia-counters", UNKNOWN, "");
	put("dev/dri/renderD128", "");
	put("dev/dri/card0", "");
	IS("render-nodes", YES, "1, all open");
}

/* ---- remedies ------------------------------------------------------------------------------------ */

/* What each would have been told by itself undoes the others. */
static void one_remedy_for_what_lacks(void)
{
	const struct world w = {.root_fd = -1};
	struct situation s = {.world = &w, .uid = 1000};
	struct finding all[3] = {
		{.lacks = CAP_BIT(CAP_NET_ADMIN)}, {.remedy = "another"},
		{.lacks = CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_DAC_READ_SEARCH)}};
	static const char both[] = "sudo setcap cap_dac_read_search,cap_net_admin,cap_sys_ptrace=ep GALVO";

	situation_cure_caps(&s, all, 3);
	OK(!strcmp(all[0].remedy, both) && !strcmp(all[1].remedy, "another") && !strcmp(all[2].remedy, both));
	all[2] = (struct finding){.is_by_file = true};
	s.has_file_caps = true;
	s.file_caps = CAP_BIT(CAP_NET_BIND_SERVICE);
	s.caps = CAP_BIT(CAP_SYS_NICE) | CAP_BIT(CAP_SYS_ADMIN);
	situation_cure_caps(&s, all, 3);
	OK(!strcmp(all[0].remedy, "sudo setcap cap_net_bind_service,cap_net_admin,cap_sys_nice=ep GALVO"));
	OK(all[2].remedy[0] && !strstr(all[2].remedy, "setcap"));
	all[0].lacks = 0;
	situation_cure_caps(&s, all, 3);
	OK(!strcmp(all[2].remedy, "sudo setcap -r GALVO"));
	s.file_caps = CAP_BIT(CAP_SYS_PTRACE); /* which another finding is well by */
	situation_cure_caps(&s, all, 3);
	OK(!strstr(all[2].remedy, "setcap"));
	all[0].lacks = CAP_BIT(CAP_NET_ADMIN);
	s.file_caps = UINT64_MAX;
	situation_cure_caps(&s, all, 3);
	OK(strstr(all[0].remedy, "cap_chown,") && strstr(all[0].remedy, "cap_checkpoint_restore=ep GALVO"));
}

/* ---- all of them --------------------------------------------------------------------------------- */

/* By its name the page explains each; and what is not well comes with what it means. */
static void every_finding_is_documented(void)
{
	static char page[64 << 10];
	galvo_doctor *doctor;
	galvo_finding f = {.struct_size = sizeof(f)};
	FILE *file = fopen(MAN, "r");
	size_t i, n = file ? fread(page, 1, sizeof(page) - 1, file) : 0;

	OK(n > 0 && n < sizeof(page) - 1);
	if (file)
		fclose(file);
	if (!OK(galvo_doctor_create(NULL, &doctor, NULL) == GALVO_OK))
		return;
	for (i = 0; galvo_doctor_finding_at(doctor, i, &f, NULL) == GALVO_OK; i++) {
		if (!OK(strstr(page, f.id) && f.found[0] && f.title[0] && f.group[0]))
			printf("# %s\n", f.id);
		if (f.verdict == GALVO_VERDICT_NO || f.verdict == GALVO_VERDICT_PARTLY)
			OK(f.meaning[0]);
		OK(!strchr(f.found, '\n') && !strchr(f.meaning, '\n') && !strchr(f.remedy, '\n'));
	}
	OK(i > 25);
	EQ(galvo_doctor_finding_at(doctor, i, &f, NULL), GALVO_DONE);
	f.struct_size = 0;
	EQ(galvo_doctor_finding_at(doctor, 0, &f, NULL), GALVO_ERR_INVALID);
	galvo_doctor_destroy(doctor);
	galvo_doctor_destroy(NULL);
}

static void wrong_places(void)
{
	galvo_doctor_config config = {.struct_size = sizeof(config), .root = root};
	galvo_doctor *doctor = NULL;
	galvo_error e = {0};

	clear();
	EQ(galvo_doctor_create(&config, &doctor, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "/proc: No such file"));
	put("proc/x", "");
	config.output_dir = "/nowhere/at/all";
	EQ(galvo_doctor_create(&config, &doctor, &e), GALVO_ERR_ABSENT);
	config.struct_size = 0;
	EQ(galvo_doctor_create(&config, &doctor, &e), GALVO_ERR_INVALID);
	OK(!doctor);
	clear();
	rmdir(root);
}

static const struct tap_test tests[] = {
	{"one remedy for what lacks", one_remedy_for_what_lacks},
	{"an empty tree hinders", an_empty_tree_hinders},
	{"the machine", the_machine},
	{"other users", other_users},
	{"containers", containers},
	{"limits", limits},
	{"graphics", graphics},
	{"every finding is documented", every_finding_is_documented},
	{"wrong places", wrong_places},
};

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	return tap_run(tests, ARRAY_LEN(tests));
}
