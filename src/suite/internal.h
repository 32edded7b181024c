/* What the files of this room share: the suite, its copy of the configuration, replays. */
#ifndef GALVO_SUITE_INTERNAL_H
#define GALVO_SUITE_INTERNAL_H

#include <pthread.h>

#include "event/event.h"
#include "galvo/gpu.h"
#include "galvo/profiler.h"
#include "galvo/suite.h"
#include "gpu/gpu.h"
#include "probe/probe.h"
#include "situation.h"
#include "suite.h"
#include "wire/wire.h"

enum {
	NOTES_MAX = 64,
	NOTE_BYTES = 256,
	INSTANTS_MAX = 10000,
	FACT_BYTES = 128,
	HZ_MAX = 10000,
	INTERVAL_MS_MAX = 86400000,
};

enum { PROBE_SYSTEM, PROBE_DISK, PROBES };

struct instant { /* of a captured machine: a directory with proc/ and sys/ */
	char name[64];
	uint64_t mono_ns, boot_ns, wall_ns;
};

/* A captured machine: root/host.txt and its instants. */
struct replay {
	int base_fd;
	struct clock_fake clock;
	struct instant *instants;
	size_t len, cap;
};

struct note {
	char subject[64], text[NOTE_BYTES];
};

/* What a suite is made of: its probes, the events, and what is about GPUs. A stream each. */
enum { PART_EVENTS = PROBES, PART_GPU, PART_TELEMETRY, PARTS };

struct galvo_profiler {
	struct galvo_suite *suite;
	enum stream_kind kind;
};

enum suite_state {
	SUITE_CREATED, SUITE_STARTING, SUITE_STARTED, SUITE_STOPPING, SUITE_STOPPED, SUITE_FAILED,
};

/* A set of CPUs, as the kernel has it. */
struct cpus {
	unsigned long bits[8192 / (8 * sizeof(unsigned long))];
};

struct sidecar;

struct galvo_suite {
	/* the configuration, copied: strings and arrays are the suite's */
	galvo_suite_config config;
	char *output_dir, *root, *files[PARTS];
	char **disks, **gpus, **gpu_metrics;
	galvo_process *processes;
	struct buf catalog; /* wire bytes of what is laid over the built-in one */

	pid_t owner;   /* the process that made it: in a child of that, nothing of it works */
	struct sidecar *sidecar; /* it does the work, and of what is below there is little; NULL: we do */
	bool is_sidecar;         /* we are one, and serve the suite of another process */
	bool is_alone; /* one profiler by itself: no metadata */
	struct galvo_profiler parts[PARTS];
	/* Any thread: what it is, whether start and stop have returned, whether an end was asked for. */
	_Atomic uint32_t state, begun, ended, is_signalled;
	bool has_files;      /* that output_clear may take away again */
	bool is_left_behind; /* a thread hangs, and may come back */
	bool is_gpu_left_behind; /* as that, in a call of a driver; what it recorded is good */
	bool is_counting, has_telemetry; /* of GPUs: they have been started */
	struct exit_cell *exit_cell; /* NULL: the program's end is not ours */
	struct world world;
	struct replay *replay; /* NULL: a live machine */
	int dir_fd;
	bool made_dir;
	char *dir_path; /* absolute, as far as known: where to remove it; NULL: output_dir */
	struct track *track;   /* NULL: no processes */
	struct writer *writer;
	struct probe *probes[PROBES];
	struct events *events;
	struct counters *counters;   /* NULL: none, or they cannot be had */
	struct telemetry *telemetry; /* as counters */
	struct stream *gpu_stream, *telemetry_stream;
	galvo_error no_counters;     /* why they cannot be had */
	uint64_t start_mono_ns, start_boot_ns, start_wall_ns, stop_mono_ns;

	/* for the session metadata */
	char hostname[FACT_BYTES], kernel[FACT_BYTES], boot_id[FACT_BYTES];
	struct note notes[NOTES_MAX];
	size_t notes_len;
	struct finding *findings; /* NULL: nothing was looked at */
	size_t findings_len;
	char **argv;
	size_t argv_len;
	galvo_workload workload;
	bool has_workload;
};

/* The configuration has that part. */
static inline bool suite_wants(const struct galvo_suite *s, size_t part)
{
	const galvo_suite_config *c = &s->config;
	const bool all[PARTS] = {
		[PROBE_SYSTEM] = !c->no_system, [PROBE_DISK] = !c->no_disk, [PART_EVENTS] = !c->no_events,
		[PART_GPU] = c->gpu_counters != 0, [PART_TELEMETRY] = c->gpu_telemetry != 0,
	};

	return all[part];
}

/* ---- output.c: the output directory ------------------------------------------------------------- */

/*
 * Makes and opens it, and keeps others out. STATE: it holds a recording, which is not to be replaced;
 * DENIED: another galvo is at work there; INVALID: where a file of ours would be is something else.
 */
galvo_status output_open(struct galvo_suite *s, galvo_error *reterr);
/* Of an old recording, when the new one begins. DENIED: another profiler by itself writes this file. */
galvo_status output_clear(struct galvo_suite *s, galvo_error *reterr);
void output_fix(struct galvo_suite *s); /* from here on the working directory may change */
void output_close(struct galvo_suite *s); /* leaves nothing behind where nothing was recorded */

/* ---- stop.c ------------------------------------------------------------------------------------- */

static inline enum suite_state suite_state(const struct galvo_suite *s)
{
	return (enum suite_state)atomic_load(&s->state);
}

/* One thread alone gets it from here to there. */
static inline bool suite_move(struct galvo_suite *s, uint32_t from, enum suite_state to)
{
	return atomic_compare_exchange_strong(&s->state, &from, to);
}

void suite_begun(struct galvo_suite *s, enum suite_state to); /* start is done: whoever waits goes on */
void suite_stop_probes(struct galvo_suite *s);
galvo_status suite_finish(struct galvo_suite *s, galvo_error *reterr); /* files and metadata */
galvo_status suite_refuse_child(galvo_error *reterr); /* threads do not go with a fork */

/* ---- exit.c: config.stop_at_exit; without it all of these do nothing ------------------------------ */

galvo_status suite_exit_prepare(struct galvo_suite *s, galvo_error *reterr);
/* The end of the program waits from lock to forget, and then knows the suite no more. */
void suite_exit_lock(struct galvo_suite *s);
void suite_exit_forget(struct galvo_suite *s);

/* ---- reap.c: a child that has ended, on either side of waiting for it ------------------------------ */

struct tracked *suite_close_account(struct galvo_suite *s, uint32_t pid);
/* Gives it back; NULL is fine. Pid 0: there is nothing to be told. */
void suite_enter_end(struct galvo_suite *s, struct tracked *who, const galvo_child *child);

/* ---- events.c: regions and marks, of live machines only --------------------------------------- */

bool suite_has_events(const struct galvo_suite *s);
galvo_status suite_prepare_events(struct galvo_suite *s, galvo_error *reterr); /* with the files */
galvo_status suite_start_events(struct galvo_suite *s, galvo_error *reterr);
void suite_signal_events(struct galvo_suite *s); /* no more from now on */
void suite_stop_events(struct galvo_suite *s); /* started or not */

/* ---- gpu.c: hardware counters and telemetry of GPUs, of live machines only -------------------------- */

enum { CATALOG_BYTES_MAX = 1 << 20 };
enum { GPU_INDEX_MAX = 1023 };
#define GPU_BUFFER_BYTES_MAX (UINT64_C(1) << 36)
#define GPUS_EXPECTED "expected numbers of GPUs, UUIDs (GPU-…) or all"
/* Defaults and bounds of what is about GPUs. */
galvo_status suite_set_gpu(galvo_suite_config *c, galvo_error *reterr);
bool suite_is_gpu_name(const char *text); /* "0", "GPU-…", "all" */
bool suite_is_gpu_uuid(const char *text);
/* Fails where the user is wrong, or where nothing else is to be recorded; else there is a note. */
galvo_status suite_create_gpu(struct galvo_suite *s, galvo_error *reterr);
galvo_status suite_prepare_gpu(struct galvo_suite *s, galvo_error *reterr); /* with the files */
galvo_status suite_start_gpu(struct galvo_suite *s, galvo_error *reterr);
void suite_signal_gpu(struct galvo_suite *s);
void suite_join_gpu(struct galvo_suite *s, uint64_t until_ns);
void suite_note_gpu(struct galvo_suite *s); /* what they say of themselves */
void suite_destroy_gpu(struct galvo_suite *s);

/* ---- gpu_profiler.c: what galvo/gpu.h asks, where the counters are ---------------------------------- */

galvo_status suite_gpu_status(const struct galvo_suite *s, galvo_error *reterr);
galvo_status suite_gpu_device_at(const struct galvo_suite *s, size_t i, galvo_gpu_device *ret,
                                 galvo_error *reterr);
galvo_status suite_gpu_metric_at(const struct galvo_suite *s, size_t i, const char **ret,
                                 galvo_error *reterr);
galvo_status suite_gpu_drain(struct galvo_suite *s, struct counters_sample *ret, size_t *ret_len,
                             uint64_t *ret_overwritten, galvo_error *reterr);

/* For whom a suite works. */
struct suite_role {
	bool is_alone;
	bool is_sidecar;
	int ring_fd; /* of a sidecar: where the regions are; -1: there are none */
};

/* Callers other than the sidecar itself leave the last two alone. */
galvo_status suite_create(const galvo_suite_config *config, const struct suite_role *role,
                          galvo_suite **ret_suite, galvo_error *reterr);
#define CPUS_EXPECTED "expected numbers and ranges of CPUs below 8192, as in 0-3,8"
/* 0 is the other one. */
galvo_status suite_bound_hz(const char *name, double *hz, double otherwise, double most,
                            galvo_error *reterr);
/* NULL is fine, and none. */
bool suite_parse_cpus(const char *text, struct cpus *ret);
/*
 * A profiler by itself, of that part: the directory of `path` is the suite's output directory, and its
 * name that of the stream, whose member of the configuration is *file.
 */
galvo_status profiler_create(galvo_suite_config *config, const char **file, const char *path, size_t part,
                             galvo_profiler **ret_profiler, galvo_error *reterr);
/* Files that are not named get their usual names; all have to be names that may stand side by side. */
galvo_status suite_set_files(galvo_suite_config *c, galvo_error *reterr);
/* As headers and metadata have it: 0 would say that nothing is sampled. */
static inline uint64_t suite_whole_hz(double hz)
{
	return hz < 1 ? 1 : (uint64_t)(hz + 0.5);
}

/* For these streams alone. */
galvo_status suite_remove_process(struct galvo_suite *s, uint32_t pid, uint32_t streams,
                                  galvo_error *reterr);
/* Looks for host.txt below root_fd. ABSENT: a live machine. Takes root_fd on success. */
galvo_status replay_open(int root_fd, struct replay **ret_replay, struct world *w,
                         galvo_error *reterr);
/* Makes the world the instant number i. */
galvo_status replay_go(struct replay *r, struct world *w, size_t i, galvo_error *reterr);
void replay_close(struct replay *r);

/* Appends the session metadata as things stand. */
galvo_status suite_pack_session(const struct galvo_suite *s, struct buf *into, galvo_error *reterr);
/* Remembers what could not be done; the oldest NOTES_MAX are kept. */
__attribute__((format(printf, 3, 4))) void suite_note(struct galvo_suite *s, const char *subject,
                                                      const char *fmt, ...);
/* What cannot be seen here, before the recording begins; nothing of captured machines. */
void suite_look_around(struct galvo_suite *s);
/* Hostname, kernel, boot id of the world. */
void suite_look_up_facts(struct galvo_suite *s);
galvo_status suite_copy_config(struct galvo_suite *s, const galvo_suite_config *config,
                               galvo_error *reterr);
void suite_free_config(struct galvo_suite *s);

/* A MetricCatalog in text form, checked, as wire bytes. */
galvo_status catalog_load(const char *path, struct buf *into, galvo_error *reterr);
/*
 * The message of those bytes; free it with its free_unpacked and no allocator. MALFORMED if there is
 * text in it that is not UTF-8 or has a NUL. `name` is for errors.
 */
galvo_status message_unpack(const struct ProtobufCMessageDescriptor *message, const char *name,
                            struct span bytes, void *ret_message, galvo_error *reterr);

#endif
