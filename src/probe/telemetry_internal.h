/*
 * What the files of telemetry share. A finder is a vendor's library with the thread that opens it; a
 * reader is the thread of one GPU, with all that its calls fill; a unit is that GPU as the sampler sees
 * it: its parts (the whole, and instances), their series, when to ask for what.
 *
 * What a reader writes is its own while it works. A bit of `ready` hands one group over; the sampler
 * has taken all of them before it asks again.
 */
#ifndef GALVO_PROBE_TELEMETRY_INTERNAL_H
#define GALVO_PROBE_TELEMETRY_INTERNAL_H

#include "sampler.h"
#include "series.h"
#include "telemetry.h"
#include "worker.h"

enum {
	VENDORS_MAX = 8,
	UNITS_MAX = 1024,
	USERS_MAX = 1 << 16,
	PARTS_KEPT = 2 * GPU_PARTS_MAX, /* of one GPU: instances that are gone are told of, too */
	VENDOR_NUMBERS = 10000,         /* each vendor's GPUs are numbered from a multiple of it */
	REASON_BYTES = 160,
};
#define GPU_LOOK GPU_GROUPS       /* asked for like a group: what it is, and its instances */
#define LOOK_SOON_NS NS_PER_S     /* the second look: by then it is known what it does not tell */
#define LOOK_PERIOD_NS (10 * NS_PER_S)
#define SILENT_NS (5 * NS_PER_S)  /* a call that takes longer hangs */
#define RETRY_MIN_NS NS_PER_S
#define RETRY_MAX_NS (60 * NS_PER_S)

/* ---- on the threads of finders and readers ---------------------------------------------------- */

/* A vendor's library, for as long as a thread may be in it. */
struct library_use {
	const struct gpu_vendor *vendor;
	struct gpu_places places; /* copies */
	struct world world;       /* a copy, with a root of its own */
	void *library;
	_Atomic uint32_t users;
};

struct finder {
	struct worker worker; /* first */
	struct library_use *use;
	/* written by its thread */
	galvo_status status;
	galvo_error error;
	uint32_t gpus;
	/* the sampler's */
	const struct gpu_vendor *vendor;
	uint32_t first_number, units; /* GPUs that have a unit */
	bool is_asked;
	uint64_t asked_mono_ns, retry_ns, next_mono_ns;
	char pending[64]; /* when it is over: what had not come; empty: nothing */
};

struct told_user {
	uint32_t pid;
	struct raw raw;
};

struct finished {
	galvo_status status; /* the first that failed */
	galvo_error error;
	uint64_t took_ns, cpu_ns;
	uint64_t mono_ns[GPU_PARTS_MAX]; /* in the middle of the call */
	struct raw raw[GPU_PARTS_MAX];   /* but of GPU_PROCESSES */
};

struct reader {
	struct worker worker; /* first */
	struct library_use *use;
	uint32_t number;      /* the vendor's */
	uint32_t wanted;      /* bits of groups; the sampler's */
	_Atomic uint32_t ready;
	_Atomic uint32_t doing;          /* the group, or GPU_LOOK, whose calls it makes or made last, … */
	_Atomic uint64_t doing_mono_ns;  /* … and since when */
	/* its thread's; a bit of `ready` hands them over */
	struct gpu_device *device;
	struct finished finished[GPU_GROUPS];
	galvo_status look_status; /* ABSENT: it is gone, or was not to be had */
	galvo_error look_error;
	struct gpu_info infos[GPU_PARTS_MAX];
	size_t parts_len;
	struct {
		struct told_user *at;
		size_t len, cap;
	} users[GPU_PARTS_MAX];
};

galvo_status library_use_new(const struct gpu_vendor *, const struct telemetry_config *,
                             struct library_use **ret_use, galvo_error *reterr);
void library_use_free(struct library_use *); /* of one that nobody has come to use; NULL is fine */
struct finder *finder_new(struct library_use *);
struct reader *reader_new(struct library_use *, uint32_t number);

/* ---- the sampler's ---------------------------------------------------------------------------- */

struct user {
	uint32_t pid;
	bool is_listed;
	struct series series;
};

struct part {
	struct gpu_info info;
	char subject[24];               /* "GPU 3" */
	bool is_there;
	struct series series[GPU_GROUPS]; /* but of GPU_PROCESSES */
	uint32_t told[GPU_GROUPS];      /* columns that have had a value */
	struct user *users;
	size_t users_len, users_cap;
};

struct unit {
	struct reader *reader;
	uint32_t first_number;          /* of its vendor */
	struct part *parts[PARTS_KEPT];
	size_t parts_len;
	uint8_t part_at[GPU_PARTS_MAX]; /* which of them the reader's n-th is */
	size_t read_parts;              /* how many the reader reads */
	bool is_attached, is_silent;
	uint64_t asked_mono_ns, retry_ns, retry_mono_ns, look_mono_ns;
	uint64_t looks;
	uint64_t next_tick[GPU_GROUPS];
	uint64_t mean_ns[GPU_GROUPS], mean_cpu_ns[GPU_GROUPS]; /* of one reading */
	uint64_t rejected;              /* of users that are gone */
	uint64_t missed;                /* turns of GPU_FAST that came while a call took long */
};

struct group {
	uint64_t period_ticks;
	uint32_t divisor, largest_divisor;
	uint64_t reads, failures, first_failure_mono_ns, calibrated_ns;
	char reason[REASON_BYTES];
};

struct telemetry {
	struct telemetry_config config;
	struct stream *stream;
	struct finder *finders[VENDORS_MAX];
	size_t finders_len;
	struct unit **units;
	size_t units_len, units_cap;
	struct group groups[GPU_GROUPS];
	struct gpu_info *infos; /* for a flush */
	size_t infos_cap;
	uint64_t tick, flushed_mono_ns, judged_mono_ns;
	_Atomic uint64_t ticks_done, ticks_missed;
	_Atomic uint32_t gpus, lost;
	_Atomic uint64_t slowed; /* as in struct probe */
	_Atomic uint32_t stop, done;
	pthread_t thread;
	bool is_running, is_left_behind;
};

static inline uint64_t telemetry_now(const struct telemetry *t)
{
	return t->config.world->clock->mono_ns(t->config.world->clock);
}

static inline struct part *unit_whole(const struct unit *u)
{
	return u->parts_len ? u->parts[0] : NULL;
}

/* Takes what the unit's reader has finished: series, rows, what became of it. */
void unit_take(struct telemetry *, struct unit *);
/* It is gone, or silent, from then on. */
void unit_lose(struct telemetry *, struct unit *, uint64_t mono_ns, const char *why);
struct unit *unit_new(struct library_use *, uint32_t number, uint32_t first_number);
void unit_free(struct unit *); /* its reader is let go of */
uint64_t unit_rejected(const struct unit *);
/* What it is, for a flush: with all that is to be said of it. */
void part_tell(const struct unit *, const struct part *, struct gpu_info *ret);
/* One more turn, or several, of GPU_FAST had to wait for another reading: counted, with the reason. */
void unit_miss(struct telemetry *, struct unit *, uint64_t turns);
void group_fail(struct group *, uint64_t mono_ns, const char *subject, const char *text);
/* Sets divisors so that readings stay within the budget, and let the GPU be most of the time. */
void telemetry_judge(struct telemetry *);

#endif
