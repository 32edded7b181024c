/*
 * Inside the suite: what can and cannot be seen here, a row a thing.
 *
 * To add one: write its function in the file of its group, which tries the thing and says what it
 * found, and its row in situation.c. Texts are parsed by the pure functions of situation_parse.c.
 */
#ifndef GALVO_SITUATION_H
#define GALVO_SITUATION_H

#include <linux/capability.h>

#include "base/base.h"
#include "galvo/doctor.h"

enum { FOUND_BYTES = 256, REMEDY_BYTES = 1024, START_TEXT_BYTES = 64 << 10, FINDINGS_MAX = 48 };

struct finding {
	const char *id, *group, *title;
	galvo_verdict verdict;
	galvo_need need;
	uint64_t lacks;  /* capabilities that would do, a bit each: the remedy is written after all rows */
	bool is_by_file; /* what is not well comes of the program's file capabilities; so is this one's */
	char found[FOUND_BYTES], meaning[FOUND_BYTES], remedy[REMEDY_BYTES];
};

/* Where one looks, and what several rows want to know of it. */
struct situation {
	const struct world *world;
	int output_fd;     /* the directory of the recording */
	bool is_start;     /* of a recording: what takes long is left out */
	struct buf status, mounts, text;
	struct span status_text; /* proc/self/status; empty: cannot be read */
	struct span mounts_text; /* proc/self/mountinfo, its first START_TEXT_BYTES */
	uint32_t uid;
	uint64_t caps;      /* effective ones, a bit each */
	uint64_t file_caps; /* those that the file of this program gives */
	bool has_file_caps; /* or something that is meant to be such */
	bool knows_caps;
	uint32_t strange_pid; /* what proc, of another PID namespace, calls this process; 0: it is ours */
	bool in_other_users, in_other_pids; /* namespaces: known not to be the initial ones */
	struct nvidia_facts *nvidia; /* NULL: not asked */
};

enum row_when {
	LOOK_ALWAYS,
	LOOK_LIVE = 1,  /* the kernel is asked, which is that of this machine only */
	LOOK_LATER = 2, /* not at the start of a recording: dear, or of no use to it */
};

struct situation_row {
	const char *id, *group, *title;
	galvo_need need;
	unsigned when; /* of enum row_when */
	void (*look)(struct situation *, struct finding *);
};

/*
 * Looks at everything, or at the start of a recording at what it may need, within a millisecond or so;
 * then only what is not plainly so is kept. Room for FINDINGS_MAX. output_fd -1: there is none.
 */
size_t situation_look(const struct world *w, int output_fd, bool is_start, struct finding *to);

/* ---- for the rows -------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) void finding_is(struct finding *f, galvo_verdict verdict,
                                                      const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void finding_means(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void finding_cure(struct finding *f, const char *fmt, ...);

/* A file below the root, or as much of it as there is room for; false if it cannot be read. */
bool situation_read(struct situation *s, const char *path, struct span *ret_text);
/* The first number in it. */
bool situation_read_u64(struct situation *s, const char *path, uint64_t *ret);
/* For what is well but for the numbers in proc, which are not those of our PID namespace. */
void situation_doubt_numbers(const struct situation *s, struct finding *f);
/* proc/self can be read, so that what is not there is not there. */
static inline bool situation_has_proc(const struct situation *s)
{
	return s->status_text.n > 0;
}
/* Opens and reads: ABSENT, DENIED, IO; *ret_at_open: it was the opening that failed. */
galvo_status situation_try(const struct world *w, const char *path, bool *ret_at_open,
                           galvo_error *reterr);
/* The program that asks, for commands: "/usr/bin/galvo"; "GALVO" where that is not known. */
void situation_program(const struct situation *s, char *to, size_t cap);

/* There is a device of NVIDIA's. */
bool situation_has_nvidia(const struct situation *s);
/* What the driver told; if it still hangs it keeps that. */
void situation_forget_nvidia(struct situation *s);

/* ---- situation_caps.c ---------------------------------------------------------------------------- */

#define CAP_BIT(capability) (UINT64_C(1) << (capability))

/* Reads s->caps and what the file has; after status_text. */
void situation_take_caps(struct situation *s);
/* One command for all that is lacking, as each would undo what the one before has done. */
void situation_cure_caps(const struct situation *s, struct finding *all, size_t n);

static inline bool situation_can(const struct situation *s, int capability)
{
	return s->caps >> capability & 1;
}

/* ---- situation_parse.c: pure, total ------------------------------------------------------------- */

/* What stands behind "Key:" in a text of such lines, trimmed. */
bool parse_field(struct span text, const char *key, struct span *ret);
bool parse_hex(struct span text, uint64_t *ret); /* all of it */
/* The words of it: is that number one of them? */
bool parse_has_number(struct span words, uint64_t number);
/* "0-3,8,10-11": how many numbers; false if it is no such list. "" has none. */
bool parse_list(struct span text, uint64_t *ret_count);
/* An attribute security.capability: what it permits. */
bool parse_file_caps(struct span bytes, uint64_t *ret);
bool parse_namespace(struct span link, uint64_t *ret_inode); /* pid:[4026531836] */

struct mount {
	struct span root, point, type, options; /* options: of the file system; octal escapes as they are */
};
/* Takes the next one off a mountinfo text; lines that are none are passed over. */
bool parse_mount(struct span *rest, struct mount *ret);

struct proc_options {
	unsigned hidepid; /* 0: off, 1: noaccess, 2: invisible, 4: ptraceable */
	bool has_gid, is_known; /* known: hidepid is a word or number we know */
	uint64_t gid;
};
void parse_proc_options(struct span options, struct proc_options *ret);

/* The group of a controller in proc/self/cgroup; "": that of version 2. */
bool parse_cgroup(struct span text, const char *controller, struct span *ret_path);
/* "max 100000": false, no limit; "150000 100000": 1.5 */
bool parse_cpu_max(struct span text, double *ret_cpus);
/* "535.104.05" of proc/driver/nvidia/version */
bool parse_nvidia_version(struct span text, struct span *ret);

/* ---- the rows ------------------------------------------------------------------------------------ */

void look_machine_files(struct situation *s, struct finding *f);
void look_pressure(struct situation *s, struct finding *f);
void look_disk_statistics(struct situation *s, struct finding *f);
void look_clock(struct situation *s, struct finding *f);
void look_tick(struct situation *s, struct finding *f);

void look_own_files(struct situation *s, struct finding *f);
void look_process_clock(struct situation *s, struct finding *f);
void look_pidfd(struct situation *s, struct finding *f);
void look_children(struct situation *s, struct finding *f);
void look_process_list(struct situation *s, struct finding *f);
void look_process_io(struct situation *s, struct finding *f);
void look_yama(struct situation *s, struct finding *f);
void look_secure_exec(struct situation *s, struct finding *f);

void look_proc_connector(struct situation *s, struct finding *f);
void look_taskstats(struct situation *s, struct finding *f);
void look_bpf(struct situation *s, struct finding *f);
void look_perf_events(struct situation *s, struct finding *f);

void look_pid_namespace(struct situation *s, struct finding *f);
void look_user_namespace(struct situation *s, struct finding *f);
void look_masked_files(struct situation *s, struct finding *f);
void look_lxcfs(struct situation *s, struct finding *f);
void look_cgroup(struct situation *s, struct finding *f);
void look_cgroup_private(struct situation *s, struct finding *f);
void look_limits(struct situation *s, struct finding *f);
void look_descriptors(struct situation *s, struct finding *f);
void look_priority(struct situation *s, struct finding *f);
void look_output(struct situation *s, struct finding *f);

void look_nvidia_driver(struct situation *s, struct finding *f);
void look_nvidia_counters(struct situation *s, struct finding *f);
void look_nvidia_libraries(struct situation *s, struct finding *f);
void look_nvidia_telemetry(struct situation *s, struct finding *f);
void look_nvidia_persistence(struct situation *s, struct finding *f);
void look_nvidia_mig(struct situation *s, struct finding *f);
void look_nvidia_sampling(struct situation *s, struct finding *f);
void look_render_nodes(struct situation *s, struct finding *f);

#endif
