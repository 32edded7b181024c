/* Whether processes can be seen: one's own, those of other users, their counters, clocks and ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "situation.h"
#include "source/source.h"

enum { SCAN_MAX = 4096 };

/* ---- one's own ----------------------------------------------------------------------------------- */

/* The texts of every per-process source, of this process. */
void look_own_files(struct situation *s, struct finding *f)
{
	galvo_error why = {0}, first = {0};
	bool misses_needed = false, at_open;
	char path[64];
	size_t i, j, n = 0, failed = 0;

	for (i = 0; i < source_table_len; i++) {
		const struct source *source = source_table[i];

		for (j = 0; source->shape == SHAPE_PROCESS && j < source->texts_len; j++) {
			if (source->texts[j].on_request || strchr(source->texts[j].path, '%'))
				continue;
			n++;
			snprintf(path, sizeof(path), "proc/self/%s", source->texts[j].path);
			if (situation_try(s->world, path, &at_open, &why) == GALVO_OK)
				continue;
			if (failed++ == 0)
				first = why;
			misses_needed |= !source->texts[j].optional;
		}
	}
	if (failed == 0) {
		finding_is(f, GALVO_VERDICT_YES, "those of proc/self could be read");
		if (s->strange_pid)
			finding_is(f, GALVO_VERDICT_NO, "proc/%u is this process, whose number is %d: it is of "
			           "another PID namespace", (unsigned)s->strange_pid, (int)getpid());
		situation_doubt_numbers(s, f);
		return;
	}
	finding_is(f, misses_needed ? GALVO_VERDICT_NO : GALVO_VERDICT_PARTLY, "%s (%zu of %zu fail)",
	           first.text, failed, n);
	finding_means(f, misses_needed ? "processes cannot be recorded"
	                               : "what is in these files is missing of every process");
	if (first.status == GALVO_ERR_DENIED && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1)
		finding_means(f, "this program may not be dumped, so its own files are root's; those of "
		                 "processes it starts are not");
	else if (misses_needed)
		finding_cure(f, "mount -t proc proc /proc");
}

/* Of a process that is not this one, if there is any: some sandboxes allow no other. */
void look_process_clock(struct situation *s, struct finding *f)
{
	const pid_t parent = getppid(), pid = parent > 0 ? parent : 1; /* 0: outside of the namespace */
	struct timespec t;
	int failed = clock_gettime((clockid_t)((~(unsigned)pid << 3) | 2), &t) != 0 ? errno : 0;

	if (!failed) {
		finding_is(f, GALVO_VERDICT_YES, "the clock of process %d could be read", (int)pid);
		situation_doubt_numbers(s, f);
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "the clock of process %d: %s", (int)pid, strerror(failed));
	finding_means(f, "CPU time of processes is missing; that of all cores is there");
	finding_cure(f, "run outside of the sandbox, which forbids clock_gettime on processes");
}

void look_pidfd(struct situation *s, struct finding *f)
{
	int fd = fd_keep((int)syscall(SYS_pidfd_open, getpid(), 0)), failed = errno;

	if (fd >= 0) {
		close(fd);
		finding_is(f, GALVO_VERDICT_YES, "pidfd_open works");
		situation_doubt_numbers(s, f);
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "pidfd_open: %s", strerror(failed));
	finding_means(f, "that a process ended is found out at the next reading of its files");
	finding_cure(f, failed == ENOSYS ? "a kernel of 5.3 or later"
	                                 : "allow pidfd_open in the seccomp profile");
}

void look_children(struct situation *s, struct finding *f)
{
	bool at_open;
	galvo_error why;

	if (situation_try(s->world, "proc/thread-self/children", &at_open, &why) == GALVO_OK) {
		finding_is(f, GALVO_VERDICT_YES, "proc/thread-self/children could be read");
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "%s", why.text);
	finding_means(f, "each look for descendants reads the stat file of every process: the budget makes "
	                 "looks rarer, and short lives are missed");
	finding_cure(f, "a kernel with CONFIG_PROC_CHILDREN=y");
}

/* ---- those of others ----------------------------------------------------------------------------- */

/* Where another root is looked at, its proc is mounted further down. */
static bool is_proc_point(struct span point, bool is_live)
{
	const size_t len = sizeof("proc");

	return (point.n == len || (point.n > len && !is_live)) && point.p[point.n - len] == '/' &&
	       !memcmp(point.p + point.n - len + 1, "proc", len - 1);
}

/* The options of the proc that is seen: of mounts over each other, the last. */
static bool proc_mount(const struct situation *s, struct proc_options *ret)
{
	struct span rest = s->mounts_text;
	struct mount m;
	bool is_there = false;

	while (parse_mount(&rest, &m)) {
		if (!span_eq_str(m.type, "proc") || !span_eq_str(m.root, "/"))
			continue;
		if (is_proc_point(m.point, s->world->live)) {
			parse_proc_options(m.options, ret);
			is_there = true;
		}
	}
	return is_there;
}

static bool is_in_group(const struct situation *s, uint64_t gid)
{
	struct span text;

	return (parse_field(s->status_text, "Gid", &text) && parse_has_number(text, gid)) ||
	       (parse_field(s->status_text, "Groups", &text) && parse_has_number(text, gid));
}

void look_process_list(struct situation *s, struct finding *f)
{
	struct proc_options o = {0};

	if (!proc_mount(s, &o) || !o.is_known) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "the mount of /proc could not be looked up");
		return;
	}
	if (o.hidepid == 0) {
		finding_is(f, GALVO_VERDICT_YES, "proc is mounted without hidepid");
		return;
	}
	/* fs/proc/base.c, has_pid_permissions: the group does not help against 4. */
	if (situation_can(s, CAP_SYS_PTRACE) || (o.hidepid != 4 && is_in_group(s, o.gid))) {
		finding_is(f, GALVO_VERDICT_YES, "proc has hidepid=%u, from which %s exempts us", o.hidepid,
		           situation_can(s, CAP_SYS_PTRACE) ? "CAP_SYS_PTRACE" : "our group");
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "proc has hidepid=%u", o.hidepid);
	finding_means(f, "processes of other users, setuid programs of the command among them, %s",
	              o.hidepid == 1 ? "are listed, but nothing of them can be read"
	                             : "are not to be seen");
	if (o.hidepid == 4)
		finding_cure(f, "sudo mount -o remount,hidepid=0 /proc");
	else
		finding_cure(f, "sudo mount -o remount,hidepid=%u,gid=%u /proc", o.hidepid,
		             (unsigned)getegid());
}

/* Whose directory that is; 0 and more. -1: there is none such. */
static int64_t owner_of(const struct situation *s, const char *pid)
{
	char path[64];
	struct stat facts;

	snprintf(path, sizeof(path), "proc/%s", pid);
	return fstatat(s->world->root_fd, path, &facts, 0) == 0 ? (int64_t)facts.st_uid : -1;
}

/* ABSENT: it is none of another user, or none to be judged by. */
static galvo_status try_io_of(struct situation *s, const char *pid, bool *ret_at_open)
{
	struct process_stat stat;
	struct span text;
	char path[64];
	int64_t owner = owner_of(s, pid);

	if (owner < 0 || owner == s->uid)
		return GALVO_ERR_ABSENT;
	snprintf(path, sizeof(path), "proc/%s/stat", pid);
	if (!situation_read(s, path, &text) || process_stat_parse(text, &stat, NULL) != GALVO_OK ||
	    stat.is_dying)
		return GALVO_ERR_ABSENT;
	snprintf(path, sizeof(path), "proc/%s/io", pid);
	return situation_try(s->world, path, ret_at_open, NULL);
}

/*
 * The first process, which to all but root is mostly another user's; then, with time, any. One that is
 * closed settles it, unless we have what it takes: security modules may guard single processes.
 */
static galvo_status try_any_io(struct situation *s, bool is_able, char pid[16], bool *ret_at_open)
{
	galvo_status status, best;
	char first[16] = "1";
	struct dirent *entry;
	size_t i;
	DIR *dir;

	snprintf(pid, 16, "1");
	best = try_io_of(s, pid, ret_at_open);
	if (best == GALVO_OK || (best == GALVO_ERR_DENIED && !is_able) || s->is_start)
		return best;
	dir = file_open_dir(s->world->root_fd, "proc");
	for (i = 0; dir && i < SCAN_MAX && (entry = readdir(dir)); i++) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || strlen(entry->d_name) > 15)
			continue;
		snprintf(pid, 16, "%.15s", entry->d_name);
		status = try_io_of(s, pid, ret_at_open);
		if (status == GALVO_ERR_DENIED && best != GALVO_ERR_DENIED)
			memcpy(first, pid, sizeof(first));
		if (status == GALVO_OK || status == GALVO_ERR_DENIED)
			best = status;
		if (status == GALVO_OK || (status == GALVO_ERR_DENIED && !is_able))
			break;
	}
	if (dir)
		closedir(dir);
	if (best == GALVO_ERR_DENIED)
		memcpy(pid, first, sizeof(first));
	return best;
}

static void cure_io(const struct situation *s, struct finding *f)
{
	if (s->in_other_users)
		finding_cure(f, "sudo, outside of this user namespace");
	else if (s->in_other_pids)
		finding_cure(f, "docker run --cap-add=SYS_PTRACE --cap-add=DAC_READ_SEARCH …");
	else
		f->lacks = CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_DAC_READ_SEARCH);
}

/* Where nobody was tried, and what we may do is not known. */
static bool doubt_io(const struct situation *s, struct finding *f)
{
	if (!situation_has_proc(s))
		finding_is(f, GALVO_VERDICT_UNKNOWN, "proc cannot be read");
	else if (!s->knows_caps)
		finding_is(f, GALVO_VERDICT_UNKNOWN,
		           "no process of another user to try; capabilities are not told");
	return !situation_has_proc(s) || !s->knows_caps;
}

/*
 * The file has mode 0400, which opening it meets; reading it asks as ptrace does. So one capability
 * alone, CAP_SYS_PTRACE without CAP_DAC_READ_SEARCH or the other way round, does not help.
 */
void look_process_io(struct situation *s, struct finding *f)
{
	bool at_open = false;
	bool has_trace = situation_can(s, CAP_SYS_PTRACE);
	bool has_mode = situation_can(s, CAP_DAC_READ_SEARCH) || situation_can(s, CAP_DAC_OVERRIDE);
	char pid[16];
	galvo_status status = try_any_io(s, has_trace && has_mode, pid, &at_open);

	if (status == GALVO_OK) {
		finding_is(f, GALVO_VERDICT_YES, "proc/%s/io, of user %lld, could be read", pid,
		           (long long)owner_of(s, pid));
		return;
	}
	if (status != GALVO_ERR_DENIED && doubt_io(s, f))
		return;
	if (status == GALVO_ERR_DENIED && has_trace && has_mode && !s->is_start) {
		finding_is(f, GALVO_VERDICT_PARTLY, "proc/%s/io is closed to us, in spite of capabilities",
		           pid);
		finding_means(f, "a security module guards processes of other users: their I/O is missing");
		return;
	}
	if (has_trace && has_mode) {
		finding_is(f, GALVO_VERDICT_YES, "no other user's process to try; the capabilities are there");
		return;
	}
	if (status != GALVO_ERR_DENIED) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "no process of another user to try; %s%s%s missing",
		           has_trace ? "" : "CAP_SYS_PTRACE", has_trace || has_mode ? "" : " and ",
		           has_mode ? " is" : has_trace ? "CAP_DAC_READ_SEARCH is"
		                                        : "CAP_DAC_READ_SEARCH are");
	} else {
		finding_is(f, GALVO_VERDICT_NO, "proc/%s/io, of user %lld, is closed to us (%s)", pid,
		           (long long)owner_of(s, pid),
		           at_open ? "its mode: CAP_DAC_READ_SEARCH" : "no right to trace: CAP_SYS_PTRACE");
	}
	finding_means(f, "bytes read and written by processes of other users, setuid programs among "
	                 "them, are missing, which is not zero");
	cure_io(s, f);
}

/* security/yama/yama_lsm.c looks at PTRACE_MODE_ATTACH alone; a reader of /proc asks for _READ. */
void look_yama(struct situation *s, struct finding *f)
{
	uint64_t scope;
	bool at_open;
	char pid[16], path[32];

	if (!situation_read_u64(s, "proc/sys/kernel/yama/ptrace_scope", &scope)) {
		if (situation_has_proc(s))
			finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "there is no yama in this kernel");
		else
			finding_is(f, GALVO_VERDICT_UNKNOWN, "proc cannot be read");
		return;
	}
	finding_is(f, GALVO_VERDICT_YES, "ptrace_scope is %llu, which keeps nobody from reading /proc",
	           (unsigned long long)scope);
	snprintf(pid, sizeof(pid), "%d", (int)getppid());
	snprintf(path, sizeof(path), "proc/%s/io", pid);
	if (s->world->live && owner_of(s, pid) == s->uid &&
	    situation_try(s->world, path, &at_open, NULL) == GALVO_OK)
		finding_is(f, GALVO_VERDICT_YES,
		           "ptrace_scope is %llu, and %s, of no child of ours, could be read",
		           (unsigned long long)scope, path);
	finding_means(f, "nothing: yama limits attaching to processes, which galvo never does");
}

/* ---- this program -------------------------------------------------------------------------------- */

/*
 * Under AT_SECURE the loader takes LD_LIBRARY_PATH and its kin out of the environment, from which what
 * we start gets its own. Rights that were gained make a process one that may not be dumped, and its
 * files root's (fs/exec.c, begin_new_exec).
 */
void look_secure_exec(struct situation *s, struct finding *f)
{
	bool is_secure = getauxval(AT_SECURE) != 0;
	bool is_closed = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1;
	bool has_caps = s->has_file_caps;

	if (!is_secure && !is_closed) {
		finding_is(f, GALVO_VERDICT_YES, has_caps ? "file capabilities, which gave nothing new"
		                                          : "no file capabilities, no setuid");
		return;
	}
	if (!is_secure) {
		finding_is(f, GALVO_VERDICT_PARTLY, "this process may not be dumped");
		finding_means(f, "its own files in /proc are root's, and so are those of its threads");
		return;
	}
	finding_is(f, GALVO_VERDICT_PARTLY, "started by %s, so AT_SECURE is set%s",
	           has_caps ? "file capabilities" : "setuid or the like",
	           is_closed ? ", and it may not be dumped" : "");
	finding_means(f, "LD_LIBRARY_PATH, LD_PRELOAD, TMPDIR and their kin are taken away, from the "
	                 "recorded command too; set them in it: env LD_LIBRARY_PATH=… command");
	f->is_by_file = has_caps;
}
