/*
 * What the files of this room share. A pen is a source in action; pens that read the same file share
 * a feed, so that it is read once a tick; a lane is the row that the pens of one scope fill together.
 */
#ifndef GALVO_PROBE_INTERNAL_H
#define GALVO_PROBE_INTERNAL_H

#include <pthread.h>

#include "keep.h"
#include "probe.h"
#include "series.h"

enum {
	LANES_MAX = 12,
	PENS_MAX = 31, /* and following, a bit each */
	LANE_PENS_MAX = 8,
	FEEDS_MAX = 32,
	INSTANCES_MAX = 4096,
	MEMBERS_MAX = 1 << 16,
	MANY = 64, /* members */
	OWED_MAX = 1024, /* last mentions that lost flushes owe: each holds descriptors */
	NAME_BYTES = 64,
	REASON_BYTES = 160,
	TEXT_MAX_BYTES = 16 << 20, /* of one file under proc/ or sys/ */
};

/* One file that one or more pens read, at most once a tick. */
struct feed {
	const char *path;
	enum file_kind kind;
	struct kept kept;
	struct buf buf;
	struct span text;
	uint64_t tick;    /* when it was read; valid if it is the probe's */
	uint64_t mono_ns;
	galvo_status status;
};

/* One thing that a listing source names: a disk, a CPU, an interface. */
struct instance {
	char name[NAME_BYTES];
	uint32_t number;
	bool wanted;            /* rows are recorded */
	bool when_used;         /* wanted as soon as a field of it is not zero */
	bool whole, stacked;
	uint64_t seen;          /* the turn at which it was listed last */
	struct kept kept[TEXTS_MAX];
	struct series series;
};

/* One followed process as this probe knows it. */
struct member {
	struct tracked *who;
	uint64_t clock_ns, clock_mono_ns; /* its CPU clock, and when that was read */
	int clock_failed;       /* errno */
	bool gone;              /* its last mention is due at the next flush */
	uint32_t phase;         /* which of its readings are the n-th ones: other ones than others' */
	bool mentioned;         /* that flush is on its way */
	struct member *next_free;
	/* its threads, where they are recorded, by tid */
	struct thread **threads;
	size_t threads_len, threads_cap;
	uint64_t tasks, listed_mono_ns; /* how many the last list had, and when that was */
	struct keep *keeps;     /* behind the pens: a file for each of the probe's member_texts */
	struct member_pen {
		struct series series;
		bool is_denied; /* a text was, while the process was in its prime */
		uint64_t clock_ns; /* of its CPU, before it was read last; 0: not known */
	} pen[];                /* one for each pen of a per-process source */
};

/* One thread of a member. It goes after the flush that mentioned its end. */
struct thread {
	struct thread_info info;
	struct member *of;
	bool mentioned; /* its end is in a message that may not have been written yet */
	uint64_t listed_mono_ns, named_mono_ns;
	struct keep keep;
	struct series series;
};

/* Whose turn it is of many things: `len` of them in turn, from `at` on, and the new ones. */
struct slice {
	size_t at, len;
	size_t known, fresh; /* things there are, and those of them that were there at the last time */
	size_t read;         /* in this round */
	uint64_t tick, period_ticks, owed; /* owed: readings, times that period */
	uint64_t cost_ns, cost_of;
};

struct pen {
	const struct source *source;
	const struct lane *lane; /* whose turn is its turn */
	size_t member_slot;      /* SHAPE_PROCESS: which of member.pen is its */
	size_t member_text[TEXTS_MAX]; /* and which of member.keeps are the files of its texts */
	struct feed *feeds[TEXTS_MAX];
	uint64_t turns;
	/* what it costs */
	uint64_t reads, failures, first_failure_mono_ns, calibrated_ns, mean_ns;
	size_t mean_things;  /* SHAPE_PROCESS, SHAPE_THREAD: that the mean is of */
	struct slice slice;  /* of them */
	char reason[REASON_BYTES];
	/* SHAPE_SINGLE */
	struct series series;
	/* SHAPE_LISTED, in the order of the text */
	struct instance **instances;
	size_t instances_len, instances_cap;
};

struct lane {
	enum scope scope;
	struct pen *pens[LANE_PENS_MAX];
	size_t pens_len;
	uint64_t period_ticks, next_tick;
	uint32_t divisor; /* it is its turn every period_ticks * divisor */
	uint32_t largest_divisor; /* since start */
};

struct probe {
	struct probe_config config;
	struct feed feeds[FEEDS_MAX];
	struct pen pens[PENS_MAX];
	struct lane lanes[LANES_MAX];
	size_t feeds_len, pens_len, lanes_len, process_pens;
	const char *member_texts[TEXTS_MAX * 2]; /* files of processes: sources may share one */
	size_t member_texts_len;
	struct keeper keeper; /* of files of processes */
	/* following as a source: it has a lane and a pen, which are in neither list */
	struct lane follow_lane;
	struct pen follow_pen;
	uint64_t follow_ns, follow_turns; /* of CPU, since they were accounted for */
	/* what of the time that readings took was CPU time, and how that is found out */
	double cpu_of_wall; /* 0: not known yet */
	uint64_t read_ns, judged_cpu_ns;
	/* members, and what a flush says of them */
	struct member **members;
	size_t members_len, members_cap, living, judged_members;
	size_t mentioned;               /* of them: see members_settle */
	uint64_t mentions_lost;         /* batches dropped, when that was looked at */
	struct member *free_members;
	uint32_t members_made;
	uint64_t joined_generation, join_cursor;
	bool join_fell_short; /* memory: to be done again */
	/* threads, in order of first sight; NULL without the source */
	struct pen *thread_pen;
	struct thread **threads;
	const struct thread_info **thread_at;
	size_t threads_len, threads_cap, thread_at_cap;
	struct slice look; /* at members, for new ones */
	struct process_info *infos;
	const struct process_info **info_at;
	size_t infos_cap, info_at_cap;
	struct stream_device *devices;
	size_t devices_cap;
	bool *device_found; /* of config.devices */
	struct buf text;    /* of files of processes and instances */
	/* time */
	uint64_t polled_tick; /* the last one in which ends were looked for */
	uint64_t tick, first_deadline_ns, flushed_mono_ns, judged_mono_ns;
	uint64_t vanished;
	_Atomic uint64_t ticks_done, ticks_missed;
	_Atomic uint64_t slowed; /* the largest divisor, in the high half; a bit for each pen slowed */
	_Atomic uint32_t stop, done;
	pthread_t thread;
	bool is_running;
};

static inline uint64_t probe_now(const struct probe *p)
{
	return p->config.world->clock->mono_ns(p->config.world->clock);
}

/* CPU time of the calling thread; 0 in a replay, which is the same every time. */
static inline uint64_t probe_cpu_ns(const struct probe *p)
{
	return p->config.world->live ? thread_cpu_ns() : 0;
}

/* What a pen reads one by one, and not all of it at one tick. */
static inline bool is_in_slices(const struct pen *pen)
{
	return pen->source->shape == SHAPE_PROCESS || pen->source->shape == SHAPE_THREAD;
}

static inline size_t pen_things(const struct probe *p, const struct pen *pen)
{
	return pen->source->shape == SHAPE_THREAD ? p->threads_len : p->living;
}

/* Following is a source of this probe: not where another one leads. */
static inline bool probe_follows(const struct probe *p)
{
	return p->config.track && p->config.leads;
}

/* Text `path` of the world, read at most once a tick. */
void feed_read(struct probe *p, struct feed *f, galvo_error *reterr);
void pen_fail(struct pen *pen, galvo_status status, const galvo_error *why);
/* Makes room for a source: its pen, in the lane of its scope, and the feeds of its files. */
galvo_status plan_add(struct probe *p, const struct source *source, galvo_error *reterr);
/*
 * The turn of a lane: its sources are read, whatever their shape, and its rows go to the stream.
 * Begins at the instant given and returns that at which it is done: where one source ends the next
 * begins, so a turn of n of them asks for the time n + 1 times.
 */
uint64_t lane_read(struct probe *p, struct lane *lane, uint64_t from_mono_ns);
void follow_plan(struct probe *p);
/* Who ended, who is new (at its turn, or all that can be known), who joins. Returns when it was done. */
uint64_t probe_follow(struct probe *p, bool is_whole);
void budget_account_following(struct probe *p); /* what it has cost since the last time */
/*
 * Whose turn it is of so many things that a pen reads, and at least so many of them; false: nobody's.
 * Those are numbered from 0; slice_index tells which of all each of them is. Slices are advanced, and
 * that of a pen is ended with what it took to read it.
 */
bool slice_take(struct slice *, const struct pen *pen, uint64_t tick, size_t things,
                size_t at_least);
static inline size_t slice_size(const struct slice *s)
{
	return s->len + s->known - s->fresh;
}
size_t slice_index(const struct slice *, size_t i);
void slice_advance(struct slice *);
void slice_end(struct pen *pen, uint64_t took_ns);
void slice_drop(struct slice *, size_t i); /* thing i leaves the list */
/* For those whose turn it is: readings of a per-process source, and their rows. */
void members_read(struct probe *p, struct pen *pen);
void members_join(struct probe *p);           /* takes over who came, notices who went */
/* What the next message says of them, in info_at: how many. */
size_t members_mention(struct probe *p);
/* Lets go of who is gone and was mentioned in what is written by now. What was lost is said again. */
void members_settle(struct probe *p);
void members_finish(struct probe *p);
/* Looks for threads that are new or gone, and takes the slice of those whose turn it is. */
bool threads_begin(struct probe *p, struct pen *pen, size_t at_least);
void threads_read(struct probe *p, struct pen *pen);
void threads_end(struct probe *p, struct member *m); /* all of them: the member is gone */
void threads_tell(struct probe *p, struct flush_info *info);
void threads_settle(struct probe *p, bool is_lost); /* what became of it; before members go */
void threads_finish(struct probe *p);         /* before members_finish */
void instances_read(struct probe *p, struct pen *pen);
void instances_finish(struct pen *pen);
/* Sets divisors so that the sources stay within the budget. */
void budget_judge(struct probe *p);
/* What came costs as much as each of the others, which no reading has told yet; and so for what went. */
void budget_foresee(struct probe *p);
void budget_account(struct pen *pen, uint64_t took_ns);

static inline uint64_t lane_period_ns(const struct probe *p, const struct lane *lane)
{
	return lane->period_ticks * lane->divisor * p->config.period_ns;
}

static inline bool text_is_wanted(const struct probe *p, const struct source_text *t)
{
	return !t->on_request || p->config.on_request;
}

static inline bool text_is_due(const struct pen *pen, const struct source_text *t)
{
	return t->every <= 1 || pen->turns % t->every == 0;
}

#endif
