/* What galvo can and cannot see here: the table of all that is looked at, and the looking. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "situation.h"
#include "galvo/doctor.h"

/* In the order in which they are told. */
static const struct situation_row rows[] = {
	{"machine-files", "machine", "files of the machine", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_machine_files},
	{"pressure", "machine", "pressure (PSI)", GALVO_NEED_SOME, LOOK_ALWAYS, look_pressure},
	{"disk-statistics", "machine", "statistics of all disks", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_disk_statistics},
	{"clock", "machine", "a clock that is read quickly", GALVO_NEED_SOME, LOOK_ALWAYS, look_clock},
	{"tick", "machine", "CPU time that moves at every tick", GALVO_NEED_SOME, LOOK_ALWAYS, look_tick},

	{"own-files", "processes", "files of one's own processes", GALVO_NEED_ALL, LOOK_ALWAYS,
	 look_own_files},
	{"process-clock", "processes", "CPU clocks of processes", GALVO_NEED_ALL, LOOK_LIVE,
	 look_process_clock},
	{"pidfd", "processes", "ends of processes as they happen", GALVO_NEED_SOME, LOOK_LIVE, look_pidfd},
	{"children", "processes", "children files", GALVO_NEED_SOME, LOOK_ALWAYS, look_children},
	{"process-list", "processes", "processes of other users", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_process_list},
	{"process-io", "processes", "I/O counters of other users", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_process_io},
	{"yama", "processes", "reading in spite of yama", GALVO_NEED_NONE, LOOK_LATER, look_yama},
	{"secure-exec", "processes", "a start without extra rights", GALVO_NEED_SOME, LOOK_LIVE,
	 look_secure_exec},

	/* What a recording lost by it, if anything, it says itself: how descendants were found. */
	{"proc-connector", "kernel", "process events (connector)", GALVO_NEED_NONE, LOOK_LIVE,
	 look_proc_connector},
	{"taskstats", "kernel", "taskstats", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER, look_taskstats},
	{"bpf", "kernel", "BPF programs", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER, look_bpf},
	{"perf-events", "kernel", "perf events", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER,
	 look_perf_events},

	{"pid-namespace", "container", "all processes of the machine", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_pid_namespace},
	{"user-namespace", "container", "capabilities that count", GALVO_NEED_NONE, LOOK_LATER,
	 look_user_namespace},
	{"masked-files", "container", "files without a mask", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_masked_files},
	{"lxcfs", "container", "figures from the kernel itself", GALVO_NEED_SOME, LOOK_ALWAYS,
	 look_lxcfs},
	{"cgroup", "container", "cgroup version 2", GALVO_NEED_NONE, LOOK_LATER, look_cgroup},
	{"cgroup-private", "container", "a cgroup of its own", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER,
	 look_cgroup_private},

	{"limits", "limits", "all of the CPUs and memory", GALVO_NEED_SOME, LOOK_ALWAYS, look_limits},
	{"descriptors", "limits", "descriptors for many processes", GALVO_NEED_ALL, LOOK_LIVE,
	 look_descriptors},
	{"priority", "limits", "priority for sampling", GALVO_NEED_NONE, LOOK_LIVE, look_priority},
	{"output", "limits", "a fit place for recordings", GALVO_NEED_SOME, LOOK_LIVE, look_output},

	{"nvidia-driver", "gpu", "NVIDIA devices", GALVO_NEED_SOME, LOOK_ALWAYS, look_nvidia_driver},
	/* A recording asks them itself, if it has GPUs in it. */
	{"nvidia-telemetry", "gpu", "telemetry of NVIDIA GPUs", GALVO_NEED_SOME, LOOK_LIVE | LOOK_LATER,
	 look_nvidia_telemetry},
	{"nvidia-persistence", "gpu", "NVIDIA GPUs that are awake", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER,
	 look_nvidia_persistence},
	{"nvidia-mig", "gpu", "NVIDIA GPUs in one piece", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER,
	 look_nvidia_mig},
	{"nvidia-libraries", "gpu", "libraries for counters", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER,
	 look_nvidia_libraries},
	{"nvidia-counters", "gpu", "rights to count", GALVO_NEED_NONE, LOOK_LATER, look_nvidia_counters},
	{"nvidia-sampling", "gpu", "hardware counters, tried out", GALVO_NEED_NONE, LOOK_LIVE | LOOK_LATER,
	 look_nvidia_sampling},
	{"render-nodes", "gpu", "render nodes (DRM)", GALVO_NEED_NONE, LOOK_LATER, look_render_nodes},
};
_Static_assert(ARRAY_LEN(rows) <= FINDINGS_MAX, "room for every row");

/* ---- for the rows -------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 0))) static void put(char *to, size_t cap, const char *fmt,
                                                       va_list args)
{
	char text[REMEDY_BYTES * 2];

	vsnprintf(text, sizeof(text), fmt, args);
	utf8_copy(to, cap, span_str(text));
}

void finding_is(struct finding *f, galvo_verdict verdict, const char *fmt, ...)
{
	va_list args;

	f->verdict = verdict;
	va_start(args, fmt);
	put(f->found, sizeof(f->found), fmt, args);
	va_end(args);
}

void finding_means(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(f->meaning, sizeof(f->meaning), fmt, args);
	va_end(args);
}

void finding_cure(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(f->remedy, sizeof(f->remedy), fmt, args);
	va_end(args);
}

/* What is larger than the buffer leaves its start there. */
static bool read_into(const struct world *w, const char *path, struct buf *into, struct span *ret)
{
	galvo_status status = file_read(w->root_fd, path, into, ret, NULL);

	if (status == GALVO_ERR_MALFORMED)
		*ret = span_of(into->p, into->len);
	return status == GALVO_OK || status == GALVO_ERR_MALFORMED;
}

bool situation_read(struct situation *s, const char *path, struct span *ret_text)
{
	return read_into(s->world, path, &s->text, ret_text);
}

bool situation_read_u64(struct situation *s, const char *path, uint64_t *ret)
{
	struct span text;

	return situation_read(s, path, &text) && span_take_u64(&text, ret);
}

galvo_status situation_try(const struct world *w, const char *path, bool *ret_at_open,
                           galvo_error *reterr)
{
	int fd = file_open(w->root_fd, path, O_RDONLY);
	int failed = fd < 0 ? errno : 0;
	char c;

	*ret_at_open = fd < 0;
	if (fd >= 0 && read(fd, &c, 1) < 0)
		failed = errno;
	if (fd >= 0)
		close(fd);
	return failed ? err_sys(reterr, failed, "%s", path) : GALVO_OK;
}

void situation_program(const struct situation *s, char *to, size_t cap)
{
	char path[FOUND_BYTES];
	ssize_t n = readlinkat(s->world->root_fd, "proc/self/exe", path, sizeof(path));

	if (!s->world->live || n <= 0 || (size_t)n >= sizeof(path) || memchr(path, ' ', (size_t)n))
		utf8_copy(to, cap, span_str("GALVO"));
	else
		utf8_copy(to, cap, span_of(path, (size_t)n));
}

void situation_doubt_numbers(const struct situation *s, struct finding *f)
{
	if (!s->strange_pid)
		return;
	if (f->verdict == GALVO_VERDICT_YES)
		finding_is(f, GALVO_VERDICT_PARTLY, "by our numbers, which are not those of proc");
	finding_means(f, "what proc has under the number of a process is of another one: none can be "
	                 "followed");
	finding_cure(f, "mount -t proc proc /proc  # or unshare --mount-proc …");
}

/* ---- looking ------------------------------------------------------------------------------------- */

static bool is_other_namespace(const struct world *w, const char *path, uint64_t inode)
{
	char link[64];
	ssize_t n = readlinkat(w->root_fd, path, link, sizeof(link));
	uint64_t number;

	return n > 0 && parse_namespace(span_of(link, (size_t)n), &number) && number != inode;
}

/* PROC_USER_INIT_INO and PROC_PID_INIT_INO of include/linux/proc_ns.h: the same since 3.8. */
#define FIRST_USERS UINT64_C(0xEFFFFFFD)
#define FIRST_PIDS UINT64_C(0xEFFFFFFC)

/* The link has the number that this process has in the namespace of that proc. */
static uint32_t strange_pid(const struct world *w)
{
	char link[32];
	ssize_t n = w->live ? readlinkat(w->root_fd, "proc/self", link, sizeof(link)) : -1;
	uint64_t pid;

	return n > 0 && span_to_u64(span_of(link, (size_t)n), &pid) && pid != (uint64_t)getpid()
	               ? (uint32_t)pid : 0;
}

static void begin(struct situation *s)
{
	struct span text;
	uint64_t uid;

	buf_init(&s->status, START_TEXT_BYTES);
	buf_init(&s->mounts, START_TEXT_BYTES);
	buf_init(&s->text, START_TEXT_BYTES);
	if (!read_into(s->world, "proc/self/status", &s->status, &s->status_text))
		s->status_text = span_str("");
	if (!read_into(s->world, "proc/self/mountinfo", &s->mounts, &s->mounts_text))
		s->mounts_text = span_str("");
	situation_take_caps(s);
	s->uid = geteuid();
	if (parse_field(s->status_text, "Uid", &text) && span_take_u64(&text, &uid) &&
	    span_take_u64(&text, &uid) && uid <= UINT32_MAX)
		s->uid = (uint32_t)uid; /* the second one is the effective one */
	s->strange_pid = strange_pid(s->world);
	s->in_other_users = is_other_namespace(s->world, "proc/self/ns/user", FIRST_USERS);
	s->in_other_pids = is_other_namespace(s->world, "proc/self/ns/pid", FIRST_PIDS);
}

static void finish(struct situation *s)
{
	buf_finish(&s->status);
	buf_finish(&s->mounts);
	buf_finish(&s->text);
	situation_forget_nvidia(s);
}

static bool is_worth_keeping(const struct finding *f)
{
	return f->verdict != GALVO_VERDICT_YES && f->verdict != GALVO_VERDICT_NOT_APPLICABLE;
}

size_t situation_look(const struct world *w, int output_fd, bool is_start, struct finding *to)
{
	struct situation s = {.world = w, .output_fd = output_fd, .is_start = is_start};
	size_t i, n = 0;

	begin(&s);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct situation_row *row = &rows[i];
		struct finding *f = &to[n];

		if (is_start && (row->when & LOOK_LATER))
			continue;
		*f = (struct finding){
			.id = row->id, .group = row->group, .title = row->title, .need = row->need};
		if (row->when & LOOK_LIVE && !w->live)
			finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "asked of this machine only");
		else
			row->look(&s, f);
		n += !is_start || is_worth_keeping(f);
	}
	situation_cure_caps(&s, to, n);
	finish(&s);
	return n;
}

/* ---- the public door ----------------------------------------------------------------------------- */

struct galvo_doctor {
	struct finding findings[FINDINGS_MAX];
	size_t len;
};

static galvo_status open_here(const galvo_doctor_config *known, struct world *w, int *ret_output_fd,
                              galvo_error *reterr)
{
	const char *dir = known->output_dir ? known->output_dir : ".";
	galvo_status status = world_open(w, known->root, reterr);
	struct stat facts;

	*ret_output_fd = -1;
	if (status != GALVO_OK)
		return status;
	if (fstatat(w->root_fd, "proc", &facts, 0) != 0)
		status = err_sys(reterr, errno, "%s/proc", known->root ? known->root : "");
	if (status == GALVO_OK) {
		*ret_output_fd = file_open(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
		if (*ret_output_fd < 0)
			status = err_sys(reterr, errno, "%s", dir);
	}
	if (status != GALVO_OK)
		world_close(w);
	return status;
}

galvo_status galvo_doctor_create(const galvo_doctor_config *config, galvo_doctor **ret_doctor,
                                 galvo_error *reterr)
{
	galvo_doctor_config known = {.struct_size = sizeof(known)};
	galvo_status status = GALVO_OK;
	galvo_doctor *doctor;
	struct world w;
	int output_fd;

	if (config)
		status = sized_take("doctor config", &known, sizeof(known), config, reterr);
	if (status == GALVO_OK)
		status = open_here(&known, &w, &output_fd, reterr);
	if (status != GALVO_OK)
		return status;
	doctor = calloc(1, sizeof(*doctor));
	if (doctor)
		doctor->len = situation_look(&w, output_fd, false, doctor->findings);
	close(output_fd);
	world_close(&w);
	if (!doctor)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	*ret_doctor = doctor;
	return GALVO_OK;
}

void galvo_doctor_destroy(galvo_doctor *doctor)
{
	free(doctor);
}

galvo_status galvo_doctor_finding_at(const galvo_doctor *doctor, size_t i, galvo_finding *ret_finding,
                                     galvo_error *reterr)
{
	galvo_finding finding = {0};
	const struct finding *f;

	if (i >= doctor->len)
		return GALVO_DONE;
	f = &doctor->findings[i];
	finding.id = f->id;
	finding.group = f->group;
	finding.title = f->title;
	finding.verdict = (int32_t)f->verdict;
	finding.need = (int32_t)f->need;
	finding.found = f->found;
	finding.meaning = f->meaning;
	finding.remedy = f->remedy;
	return sized_give("finding", ret_finding, &finding, sizeof(finding), reterr);
}
