/* Whether this is all of a machine or a corner of it: namespaces, masks, cgroups, limits, directories. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "situation.h"
#include "source/source.h"
#include "track/track.h"

/* linux/magic.h, and those that are not in it. */
#define MAGIC_PROC 0x9fa0
#define MAGIC_FUSE 0x65735546
#define MAGIC_TMPFS 0x01021994
#define MAGIC_RAMFS 0x858458f6
#define MAGIC_CGROUP2 0x63677270
#define LITTLE_SPACE_BYTES (UINT64_C(256) << 20)
#define PROCESSES_FEW 100
#define PROCESSES_NONE 8

/* ---- namespaces ---------------------------------------------------------------------------------- */

static bool read_link(const struct situation *s, const char *path, char to[64])
{
	ssize_t n = readlinkat(s->world->root_fd, path, to, 63);

	if (n > 0)
		to[n] = '\0';
	return n > 0;
}

void look_pid_namespace(struct situation *s, struct finding *f)
{
	char link[64];

	if (s->strange_pid) {
		finding_is(f, GALVO_VERDICT_NO, "proc is of another one, where this process is %u and not %d",
		           (unsigned)s->strange_pid, (int)getpid());
		situation_doubt_numbers(s, f);
	} else if (!read_link(s, "proc/self/ns/pid", link)) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "the PID namespace is not told");
	} else if (!s->in_other_pids) {
		finding_is(f, GALVO_VERDICT_YES, "the initial PID namespace");
	} else {
		finding_is(f, GALVO_VERDICT_PARTLY, "a PID namespace of its own, %s", link);
		finding_means(f, "processes outside of it, which share CPUs and disks, are not to be seen");
		finding_cure(f, "docker run --pid=host …");
	}
}

void look_user_namespace(struct situation *s, struct finding *f)
{
	char link[64];

	if (!read_link(s, "proc/self/ns/user", link)) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "the user namespace is not told");
	} else if (!s->in_other_users) {
		finding_is(f, GALVO_VERDICT_YES, "the initial user namespace");
	} else {
		finding_is(f, GALVO_VERDICT_PARTLY, "a user namespace of its own, %s", link);
		finding_means(f, "root and capabilities hold for what is inside of it only");
	}
}

/* ---- what stands before the files of the kernel -------------------------------------------------- */

/* The mount point, without its slash, is the file or a folder above it. */
static bool covers(const struct mount *m, const char *path)
{
	struct span point = span_of(m->point.p + 1, m->point.n - 1);
	size_t len = strlen(path);

	return point.n <= len && memcmp(point.p, path, point.n) == 0 &&
	       (path[point.n] == '\0' || path[point.n] == '/');
}

static bool is_below(const struct mount *m, const char *folder)
{
	return span_starts(span_of(m->point.p + 1, m->point.n - 1), folder);
}

/* Inside of proc or sys; not these themselves, nor what the kernel mounts there. */
static bool is_mask(const struct mount *m)
{
	static const char *const types[] = {"tmpfs", "devtmpfs", "ext4", "xfs", "btrfs", "overlay"};
	size_t i;

	if (is_below(m, "sys/fs/") ||
	    (!is_below(m, "proc/") && !is_below(m, "sys/")))
		return false;
	for (i = 0; i < ARRAY_LEN(types); i++)
		if (span_eq_str(m->type, types[i]))
			return true;
	return false;
}

/* A file that galvo reads, and that lies behind that mount. */
static const char *masked_source(const struct mount *m)
{
	size_t i, j;

	for (i = 0; i < source_table_len; i++)
		for (j = 0; source_is_of_machine(source_table[i]) && j < source_table[i]->texts_len; j++)
			if (covers(m, source_table[i]->texts[j].path))
				return source_table[i]->texts[j].path;
	return NULL;
}

void look_masked_files(struct situation *s, struct finding *f)
{
	struct span rest = s->mounts_text;
	const char *first = NULL;
	size_t masks = 0, hit = 0;
	struct mount m;

	if (rest.n == 0) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "mounts are not told");
		return;
	}
	while (parse_mount(&rest, &m)) {
		const char *path;

		if (!is_mask(&m))
			continue;
		masks++;
		path = masked_source(&m);
		hit += path != NULL;
		if (!first)
			first = path;
	}
	if (hit == 0) {
		finding_is(f, GALVO_VERDICT_YES, masks ? "%zu, none of them over what galvo reads"
		                                       : "nothing is mounted over files in proc", masks);
		return;
	}
	finding_is(f, GALVO_VERDICT_PARTLY, "%s lies behind a mount%s", first,
	           hit > 1 ? ", and others do" : "");
	finding_means(f, "what comes from there is missing, or as the mount has it");
	finding_cure(f, "docker run --security-opt systempaths=unconfined …");
}

void look_lxcfs(struct situation *s, struct finding *f)
{
	static const char *const paths[] = {
		"proc/stat", "proc/meminfo", "proc/diskstats", "proc/loadavg", "proc/uptime"};
	size_t i, n = 0, fuse = 0, strange = 0;
	const char *first = NULL;
	struct statfs facts;
	int fd;

	for (i = 0; i < ARRAY_LEN(paths); i++) {
		fd = file_open(s->world->root_fd, paths[i], O_RDONLY);
		if (fd < 0)
			continue;
		if (fstatfs(fd, &facts) == 0) {
			n++;
			fuse += facts.f_type == MAGIC_FUSE;
			strange += facts.f_type != MAGIC_PROC;
			if (facts.f_type == MAGIC_FUSE && !first)
				first = paths[i];
		}
		close(fd);
	}
	if (fuse) {
		finding_is(f, GALVO_VERDICT_PARTLY, "%s%s made by a FUSE file system (lxcfs)", first,
		           fuse > 1 ? " and others are" : " is");
		finding_means(f, "figures are those that it makes up for the container; each reading costs "
		                 "milliseconds, so the budget makes them rarer");
		finding_cure(f, "sudo umount /%s  # in the container", first);
	} else if (n == 0 && s->world->live) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "proc cannot be read");
	} else if (!s->world->live) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "not asked of captured files");
	} else if (strange) {
		finding_is(f, GALVO_VERDICT_PARTLY, "%zu of %zu files in proc are not the kernel's", strange,
		           n);
		finding_means(f, "figures are what somebody put there");
	} else {
		finding_is(f, GALVO_VERDICT_YES, "proc is the kernel's own");
	}
}

/* ---- cgroups and limits -------------------------------------------------------------------------- */

static bool is_cgroup2(const struct situation *s, const char *path)
{
	int fd = file_open(s->world->root_fd, path, O_RDONLY | O_DIRECTORY);
	struct statfs facts = {0};
	bool is_so = fd >= 0 && fstatfs(fd, &facts) == 0 && facts.f_type == MAGIC_CGROUP2;

	if (fd >= 0)
		close(fd);
	return is_so;
}

/* The one that this process is in, of version 2. */
static bool own_cgroup(struct situation *s, char *to, size_t cap)
{
	struct span text, path;

	if (!situation_read(s, "proc/self/cgroup", &text) || !parse_cgroup(text, "", &path) ||
	    path.n > 200)
		return false;
	snprintf(to, cap, "%s%.*s", is_cgroup2(s, "sys/fs/cgroup") ? "sys/fs/cgroup"
	                                                           : "sys/fs/cgroup/unified",
	         path.n > 1 ? (int)path.n : 0, path.p);
	return true;
}

void look_cgroup(struct situation *s, struct finding *f)
{
	struct span text, path = {0};
	char own[FOUND_BYTES];

	if (!situation_read(s, "proc/self/cgroup", &text)) {
		if (situation_has_proc(s))
			finding_is(f, GALVO_VERDICT_NO, "a kernel without cgroups");
		else
			finding_is(f, GALVO_VERDICT_UNKNOWN, "proc cannot be read");
	} else if (is_cgroup2(s, "sys/fs/cgroup")) {
		finding_is(f, GALVO_VERDICT_YES, "%s", own_cgroup(s, own, sizeof(own)) ? own : "outside");
	} else if (parse_cgroup(text, "memory", &path)) {
		finding_is(f, GALVO_VERDICT_PARTLY, "version 1, in %.*s", (int)(path.n < 100 ? path.n : 100),
		           path.p);
	} else {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "no version that is known here");
	}
	if (f->verdict != GALVO_VERDICT_YES)
		finding_means(f, "nothing: this galvo records no cgroups");
}

/* Not made: that would be a change. */
void look_cgroup_private(struct situation *s, struct finding *f)
{
	char own[FOUND_BYTES], procs[FOUND_BYTES + 16];

	if (!own_cgroup(s, own, sizeof(own))) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "in no cgroup of version 2");
		return;
	}
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", own);
	if (faccessat(s->world->root_fd, own, W_OK, AT_EACCESS) == 0 &&
	    faccessat(s->world->root_fd, procs, W_OK, AT_EACCESS) == 0) {
		finding_is(f, GALVO_VERDICT_YES, "%s may be written to", own);
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "%s: %s", own, strerror(errno));
	finding_means(f, "nothing: this galvo makes none");
}

/* ---- how much of the machine is ours ------------------------------------------------------------- */

struct allowance {
	double cpus;           /* fewest of all limits; 0: none */
	uint64_t memory_bytes; /* 0: none */
};

static void narrow(struct situation *s, const char *folder, struct allowance *a)
{
	char path[FOUND_BYTES * 2];
	struct span text;
	uint64_t bytes;
	double cpus;

	snprintf(path, sizeof(path), "%s/cpu.max", folder);
	if (situation_read(s, path, &text) && parse_cpu_max(text, &cpus) &&
	    (a->cpus == 0 || cpus < a->cpus))
		a->cpus = cpus;
	snprintf(path, sizeof(path), "%s/memory.max", folder);
	if (situation_read(s, path, &text) && span_to_u64(span_trim(text), &bytes) &&
	    (a->memory_bytes == 0 || bytes < a->memory_bytes))
		a->memory_bytes = bytes;
}

/* Every group up to the root has its say. Version 1: the own group, or the root of a namespace. */
static void cgroup_allowance(struct situation *s, struct allowance *a)
{
	char own[FOUND_BYTES], path[FOUND_BYTES * 2];
	uint64_t quota_us, period_us, bytes;
	struct span text, group;
	char *slash;

	if (own_cgroup(s, own, sizeof(own)))
		for (narrow(s, own, a); (slash = strrchr(own, '/')) && strlen(own) > strlen("sys/fs/cgroup");
		     narrow(s, own, a))
			*slash = '\0';
	if (!situation_read(s, "proc/self/cgroup", &text) || !parse_cgroup(text, "cpu", &group) ||
	    group.n > 200)
		return;
	snprintf(own, sizeof(own), "%.*s", (int)group.n, group.p);
	snprintf(path, sizeof(path), "sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", own);
	if (situation_read_u64(s, path, &quota_us)) { /* -1, which is none, is no number of this kind */
		snprintf(path, sizeof(path), "sys/fs/cgroup/cpu%s/cpu.cfs_period_us", own);
		if (situation_read_u64(s, path, &period_us) && period_us)
			a->cpus = (double)quota_us / (double)period_us;
	}
	if (!situation_read(s, "proc/self/cgroup", &text) || !parse_cgroup(text, "memory", &group) ||
	    group.n > 200)
		return;
	snprintf(own, sizeof(own), "%.*s", (int)group.n, group.p);
	snprintf(path, sizeof(path), "sys/fs/cgroup/memory%s/memory.limit_in_bytes", own);
	if (situation_read_u64(s, path, &bytes) && bytes < INT64_MAX / 2)
		a->memory_bytes = bytes;
}

static uint64_t machine_bytes(struct situation *s)
{
	struct span text, value;
	uint64_t kib;

	if (situation_read(s, "proc/meminfo", &text) && parse_field(text, "MemTotal", &value) &&
	    span_take_u64(&value, &kib))
		return kib * 1024;
	return UINT64_MAX;
}

void look_limits(struct situation *s, struct finding *f)
{
	struct allowance a = {0};
	uint64_t allowed = 0, total = machine_bytes(s);
	struct span text;
	char memory[64] = "", cpus[64] = "", affinity[64] = "";

	cgroup_allowance(s, &a);
	if (a.memory_bytes && a.memory_bytes < total)
		snprintf(memory, sizeof(memory), " %llu MiB of memory;",
		         (unsigned long long)(a.memory_bytes >> 20));
	if (a.cpus > 0 && a.cpus < s->world->cpu_count)
		snprintf(cpus, sizeof(cpus), " the time of %.3g of %u CPUs;", a.cpus, s->world->cpu_count);
	if (parse_field(s->status_text, "Cpus_allowed_list", &text) && parse_list(text, &allowed) &&
	    s->world->live && allowed && allowed < s->world->cpu_count)
		snprintf(affinity, sizeof(affinity), " %llu of %u CPUs may be used;",
		         (unsigned long long)allowed, s->world->cpu_count);
	if (!memory[0] && !cpus[0] && !affinity[0]) {
		finding_is(f, GALVO_VERDICT_YES, "no limit below the machine's, %u CPU%s",
		           s->world->cpu_count, s->world->cpu_count == 1 ? "" : "s");
		return;
	}
	finding_is(f, GALVO_VERDICT_PARTLY, "limited to%s%s%s", memory, cpus, affinity);
	f->found[strlen(f->found) - 1] = '\0';
	finding_means(f, "percentages and memory of the machine are of all of it, not of what the limit "
	                 "leaves");
}

/* As src/track/track.c reckons: half of the descriptors, TRACK_FDS_PER_PROCESS for each process. */
void look_descriptors(struct situation *s, struct finding *f)
{
	const char *which;
	struct rlimit limit;
	rlim_t n;

	(void)s;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "the limit is not told: %s", strerror(errno));
		return;
	}
	n = limit.rlim_cur / 2 / TRACK_FDS_PER_PROCESS;
	which = limit.rlim_cur < limit.rlim_max ? "soft" : "hard";
	if (limit.rlim_cur == RLIM_INFINITY || n >= PROCESSES_FEW) {
		finding_is(f, GALVO_VERDICT_YES, "%llu, the %s limit: enough for %llu processes at once",
		           (unsigned long long)limit.rlim_cur, which, (unsigned long long)n);
		return;
	}
	finding_is(f, n < PROCESSES_NONE ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY,
	           "%llu, the %s limit: enough for %llu processes at once",
	           (unsigned long long)limit.rlim_cur, which, (unsigned long long)n);
	finding_means(f, "of more, the first are followed, and a note tells how many were not");
	if (limit.rlim_max > limit.rlim_cur)
		finding_cure(f, "ulimit -n %llu",
		             (unsigned long long)(limit.rlim_max < 65536 ? limit.rlim_max : 65536));
	else
		finding_cure(f, "sudo prlimit --nofile=65536 --pid $$");
}

/* Samplers ask for nice -10, and do without it. */
void look_priority(struct situation *s, struct finding *f)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NICE, &limit);
	if (situation_can(s, CAP_SYS_NICE) || limit.rlim_cur >= 30) {
		finding_is(f, GALVO_VERDICT_YES, "nice -10 may be had (%s)",
		           situation_can(s, CAP_SYS_NICE) ? "CAP_SYS_NICE" : "RLIMIT_NICE");
		return;
	}
	if (!s->knows_caps) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "RLIMIT_NICE is %llu; capabilities are not told",
		           (unsigned long long)limit.rlim_cur);
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "RLIMIT_NICE is %llu, and CAP_SYS_NICE is missing",
	           (unsigned long long)limit.rlim_cur);
	finding_means(f, "on a machine that is full, more ticks come late or are missed, which is counted");
	finding_cure(f, "sudo prlimit --nice=30 --pid $$");
}

/* ---- where the recording goes -------------------------------------------------------------------- */

static const struct {
	uint32_t magic;
	const char *name;
} remote[] = {
	{0x6969, "NFS"}, {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"}, {0x0bd00bd0, "Lustre"},
	{0x47504653, "GPFS"}, {0x19830326, "BeeGFS"}, {0x00c36400, "Ceph"}, {0x01021997, "9p"},
	{MAGIC_FUSE, "FUSE"}, {0x5346414f, "AFS"},
};

void look_output(struct situation *s, struct finding *f)
{
	struct statfs facts;
	struct statvfs space;
	uint32_t magic;
	size_t i;

	if (s->output_fd < 0 || fstatfs(s->output_fd, &facts) != 0 ||
	    fstatvfs(s->output_fd, &space) != 0) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "its file system does not tell");
		return;
	}
	magic = (uint32_t)facts.f_type;
	finding_is(f, GALVO_VERDICT_YES, "%llu MiB free",
	           (unsigned long long)space.f_bavail * space.f_frsize >> 20);
	if (magic == MAGIC_TMPFS || magic == MAGIC_RAMFS) {
		finding_is(f, GALVO_VERDICT_PARTLY, "it is in memory (tmpfs)");
		finding_means(f, "a recording takes memory from what it records, and is gone with the machine");
	}
	for (i = 0; i < ARRAY_LEN(remote); i++)
		if (magic == remote[i].magic) {
			finding_is(f, GALVO_VERDICT_PARTLY, "it is on %s", remote[i].name);
			finding_means(f, "writing is in the figures of the network; where the server hangs, "
			                 "batches are dropped and counted");
		}
	if (f->verdict == GALVO_VERDICT_PARTLY)
		finding_cure(f, "galvo record -o DIR, with a directory on a local disk");
	if ((uint64_t)space.f_bavail * space.f_frsize >= LITTLE_SPACE_BYTES)
		return;
	finding_is(f, GALVO_VERDICT_PARTLY, "%llu MiB free",
	           (unsigned long long)space.f_bavail * space.f_frsize >> 20);
	finding_means(f, "a disk that fills up ends the recording early; what was written stays whole");
	finding_cure(f, "galvo record -o DIR, with a directory where there is room");
}
