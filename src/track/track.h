/*
 * Which processes are followed: found, identified, noticed when they end.
 *
 * A process is pid and start time together, pinned by a pidfd and by an open proc/PID directory, so
 * a number that is used again never continues another's series. Where the kernel tells of forks and
 * exits (to root, in no container), no descendant is missed. Elsewhere they are found by looking at
 * what was forked on the machine since the last scan, or by asking the kernel for the children of
 * every followed process and of the adopter (a subreaper), to which orphans of the tree go.
 *
 * Threads: one thread is the lead (poll, scan). Any thread may add, remove, poll and count. Each sampler
 * keeps its own cursor and takes over new processes with track_join, which it needs to call only
 * when the generation has moved: while nothing comes and goes, a tick takes no lock.
 */
#ifndef GALVO_TRACK_H
#define GALVO_TRACK_H

#include <errno.h>

#include "source/source.h"

enum { TRACK_FDS_PER_PROCESS = 2 }; /* descriptors that tell who it is */

enum follow { FOLLOW_NONE, FOLLOW_CHILDREN, FOLLOW_TREE, FOLLOW_SELF };

struct track;

/*
 * Descriptors that followed processes cost: the two of each that say who it is, and files of them
 * that probes keep open. At most half of what this process may have; whoever finds it full lets go
 * of a file. Any thread.
 */
struct fd_budget {
	_Atomic size_t used;
	_Atomic size_t wanted; /* of max, by who cannot have them as the rest of the process has too many */
	size_t max;
};

static inline size_t fd_budget_limit(const struct fd_budget *b)
{
	size_t wanted = atomic_load_explicit(&b->wanted, memory_order_relaxed);

	return wanted < b->max ? b->max - wanted : 0;
}

static inline bool fd_budget_take(struct fd_budget *b, size_t n)
{
	size_t used = atomic_load_explicit(&b->used, memory_order_relaxed);

	while (used + n <= fd_budget_limit(b))
		if (atomic_compare_exchange_weak_explicit(&b->used, &used, used + n,
		                                          memory_order_relaxed, memory_order_relaxed))
			return true;
	return false;
}

/* For what cannot wait: whoever has files open closes some. */
static inline void fd_budget_add(struct fd_budget *b, size_t n)
{
	atomic_fetch_add_explicit(&b->used, n, memory_order_relaxed);
}

static inline void fd_budget_put(struct fd_budget *b, size_t n)
{
	atomic_fetch_sub_explicit(&b->used, n, memory_order_relaxed);
}

static inline bool fd_budget_is_over(const struct fd_budget *b)
{
	return atomic_load_explicit(&b->used, memory_order_relaxed) > fd_budget_limit(b);
}

/* It failed for want of descriptors. */
static inline bool fd_is_short(const galvo_error *e)
{
	return e->sys_errno == EMFILE || e->sys_errno == ENFILE;
}

struct track_config {
	const struct world *world; /* borrowed until track_destroy */
	enum follow follow;   /* for those that are added without a word on it */
	uint32_t adopter_pid; /* 0: none */
	size_t max_processes; /* followed at once; 0: as many as there are descriptors to know them by */
	size_t max_fds;       /* of the budget; 0: half of what the process may have */
	uint32_t streams;     /* STREAM_BIT of those there are; 0: all */
	uint32_t never_pid;   /* who is no descendant, whoever forked it; 0: none */
	bool no_kernel_events; /* files tell who is new, even where the kernel would */
	int events_fd;         /* for tests: where events come from instead of the kernel; 0: none */
};

/* A stream that records a process. */
#define STREAM_BIT(kind) (UINT32_C(1) << (kind))
#define STREAM_ALL UINT32_MAX

/*
 * The account of one kind of usage. Numbers are the kernel's, since the birth of the process. The
 * sampler that reads a part writes it; the rest is under the lock.
 */
struct account {
	_Atomic uint64_t first[PARTS_END], last[PARTS_END]; /* readings that samples are made of */
	_Atomic uint32_t has;                               /* 1 << part of those that were read */
	bool is_final;     /* all parts of it: read from a zombie */
	bool is_own_final; /* its own use: the kernel told */
	uint64_t final_own;
	uint64_t explained; /* of what it reaped, the use of followed children */
	uint64_t due[2];    /* of followed children that ended: not in a reading; nor in one after it */
	bool loses;         /* what was due never came: nobody waits for its children */
};

/* What moves when a process has waited for a child, and until when at least it stood there. */
struct wait_mark {
	uint64_t value, mono_ns;
};

/* What a process used by itself, all its threads, until it ended. */
struct exit_account {
	uint64_t cpu_ns;
	uint64_t io[5]; /* read and written through calls, from and to storage, cancelled; bytes */
	bool has_io;
};

/* One followed process. Fixed from birth but for what the comments say. */
struct tracked {
	struct process_info info;     /* comm and command: under the lock, see track_info */
	int dir_fd;                   /* proc/PID; -1 where root is not this machine */
	_Atomic uint64_t end_mono_ns; /* 0: alive */
	_Atomic uint32_t streams;     /* STREAM_BIT of each that records it */
	_Atomic bool in_exec;         /* when that was looked at last: its stat file may not answer */
	/* under the lock: what the kernel told of it */
	uint64_t born_mono_ns;        /* 0: not known */
	uint64_t exit_mono_ns;        /* of its last thread so far */
	bool has_status;              /* once it has ended, this is how: as wait(2) has it */
	uint32_t exit_status;
	struct exit_account exited;   /* of its threads that have ended */
	bool exited_is_all;
	/* its children (and theirs) that ended before they could be looked at */
	uint64_t short_children, short_cpu_ns, short_io[5];
	/* track's own */
	uint64_t serial;
	enum follow follow; /* of its descendants */
	uint32_t denied; /* streams it was taken from by hand: a scan does not bring it back there */
	uint32_t offered; /* streams that it was given to, wanted or not */
	uint32_t refs, readers; /* samplers that may be at its files */
	int pidfd;
	uint64_t named_mono_ns;
	struct tracked *next; /* in its bucket, or in the free list */
	struct tracked *parent;     /* who would wait for it; a reference, or NULL: nobody we follow */
	bool is_born;               /* in the recording: all it ever used belongs there */
	bool is_closed, is_settled; /* the account is final; and its parent's knows of it */
	bool is_told;               /* how it ended: what it used stays as it was said */
	bool has_begun;             /* the program that it was forked for */
	bool is_lost;               /* nobody waited for it, so that it is in no one else's account */
	int io_fd[2];               /* of the process and its main thread; -1: opened when needed */
	struct raw settled;         /* the last reading of the source that settles */
	struct wait_mark mark[2];      /* of that, and of the one before it */
	struct account account[USAGE_END];
};

galvo_status track_create(const struct track_config *, struct track **ret_track, galvo_error *reterr);
void track_destroy(struct track *); /* NULL is fine; all cursors' processes must be released */

/*
 * For these streams; descendants are for the streams of who they descend from. Any thread. ABSENT: no
 * such process; pid 0 is the caller. Twice is once, with the newer alias, for the streams of both.
 * FOLLOW_NONE: as the track was configured.
 */
galvo_status track_add(struct track *, uint32_t pid, const char *alias, uint32_t streams,
                       enum follow follow, galvo_error *reterr);
/* From these streams. Any thread. ABSENT: not followed there. Its children stay followed. */
galvo_status track_remove(struct track *, uint32_t pid, uint32_t streams, galvo_error *reterr);

/* Notices ends; one system call for any number of processes. The lead, at every tick; any thread. */
void track_poll(struct track *);
/*
 * Lead only. Looks for new descendants, renews names: what is due of both, so that it costs little
 * while little was forked; or all of it.
 */
void track_scan(struct track *, uint64_t mono_ns);
void track_scan_whole(struct track *, uint64_t mono_ns);
/* The last scan had no time for some that are new. */
bool track_is_behind(const struct track *);

/* Moves on with every change of membership. Any thread. */
uint64_t track_generation(const struct track *);
/*
 * Gives this stream every process that came after *cursor (0: all), or got more streams since, in
 * that order, and moves the cursor on; also one that has ended before it could be given. `take`
 * answers whether it wants it; what it takes it gives back with track_release.
 */
void track_join(struct track *, enum stream_kind stream, uint64_t *cursor,
                bool (*take)(void *ctx, struct tracked *), void *ctx);
void track_release(struct track *, struct tracked *);
/* It was alive when it was taken, and will be read no more: its files may go. Before the release. */
void track_part(struct track *, struct tracked *);
/* Any thread that read a file of it and found it gone. */
void track_gone(struct track *, struct tracked *);
void track_info(struct track *, struct tracked *, struct process_info *ret);
/*
 * Names: the last one counts. Any thread. It has just called exec, so its names are read (after an
 * instant, if need be); a reading found what it is called and whose child it is, which may be new.
 */
void track_has_begun(struct track *, uint32_t pid);
void track_saw_stat(struct track *, struct tracked *, const struct process_stat *);

/*
 * The books: each reading of a source with accounts is entered before it becomes a sample. False: the
 * source cannot settle it without its first texts read again (then with is_sure). *ret_mixed: kinds
 * (1 << kind) of which the growth is not known to be its own: no sample of these.
 */
bool track_enter(struct track *, struct tracked *, const struct source *, struct raw *now,
                 bool is_sure, uint32_t *ret_mixed);
/*
 * For a source that settles: what is in `now` is what the last reading had, and `now` becomes all of
 * that. False: something is new, or nothing has been read yet.
 */
bool track_is_entered(struct track *, const struct tracked *, struct raw *now);
/*
 * A child of this process has ended and is about to be waited for: its account is closed while it
 * still can be read; an orphan of the tree that nobody knew joins for it. Then what wait4(2) said of it
 * (NULL: nothing), which gives it back. Any thread. NULL: it is not followed, which is fine.
 */
struct tracked *track_close(struct track *t, uint32_t pid);
void track_reaped(struct track *t, struct tracked *, const struct process_end *end);

struct track_counts {
	uint64_t alive, roots_alive;
	uint64_t refused;       /* descendants not followed: no room, no descriptors */
	bool refused_are_more;  /* so many that only the first are told apart: at least as many */
	enum follow_way way;
	const char *why_no_events; /* why the kernel does not tell; or empty */
	uint64_t forks;            /* WAY_EVENTS: of new descendants, that it told of */
	uint64_t short_children;   /* of those, ended before they could be looked at: only counted */
	uint64_t late_children;    /* of those, because scans had no time for them */
	uint64_t short_without_totals; /* of those, whose CPU time is not known either */
	uint64_t short_cpu_ns;     /* of the others, all together */
	uint64_t put_off;          /* how often a new one had to wait for a later scan: no time, no descriptors */
	uint64_t lost_events;
	uint64_t longest_scan_ns;  /* from one scan to the next */
};
void track_count(struct track *, struct track_counts *ret);
struct fd_budget *track_fds(struct track *);

/* Where a file of a process is: below dir_fd, or below the root. The path is written to `at`. */
#define TRACK_PATH_BYTES 64
int track_path(const struct world *, const struct tracked *, const char *name,
               char at[TRACK_PATH_BYTES]);
galvo_status track_read_stat(const struct world *, const struct tracked *, struct buf *into,
                             struct process_stat *ret, galvo_error *reterr);

#endif
