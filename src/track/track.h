/*
 * Which processes are followed: found, identified, noticed when they end.
 *
 * A process is pid and start time together, pinned by a pidfd and by an open proc/PID directory, so
 * a number that is used again never continues another's series. Descendants are found by looking at
 * what was forked on the machine since the last scan, or by asking the kernel for the children of
 * every followed process and of the adopter (a subreaper), to which orphans of the tree go.
 *
 * Threads: one thread is the lead (poll, scan). Any thread may add, remove, poll and count. Each sampler
 * keeps its own cursor and takes over new processes with track_join, which it needs to call only
 * when the generation has moved: while nothing comes and goes, a tick takes no lock.
 */
#ifndef GALVO_TRACK_H
#define GALVO_TRACK_H

#include "source/source.h"

enum { TRACK_FDS_PER_PROCESS = 6 }; /* descriptors, those of the samplers with it */

enum follow { FOLLOW_NONE, FOLLOW_CHILDREN, FOLLOW_TREE, FOLLOW_SELF };

struct track;

struct track_config {
	const struct world *world; /* borrowed until track_destroy */
	enum follow follow;   /* for those that are added without a word on it */
	uint32_t adopter_pid; /* 0: none */
	size_t max_processes; /* followed at once; 0: as many as half the descriptors allow */
	uint32_t streams;     /* STREAM_BIT of those there are; 0: all */
	uint32_t never_pid;   /* who is no descendant, whoever forked it; 0: none */
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
	bool is_final;
	uint64_t final_own;
	uint64_t explained; /* of what it reaped, the use of followed children */
	uint64_t explained_late; /* of that, since the reaped part was read last */
};

/* One followed process. Fixed from birth but for what the comments say. */
struct tracked {
	struct process_info info;     /* comm and command: under the lock, see track_info */
	int dir_fd;                   /* proc/PID; -1 where root is not this machine */
	_Atomic uint64_t end_mono_ns; /* 0: alive */
	_Atomic uint32_t streams;     /* STREAM_BIT of each that records it */
	/* track's own */
	uint64_t serial;
	enum follow follow; /* of its descendants */
	uint32_t denied; /* streams it was taken from by hand: a scan does not bring it back there */
	uint32_t offered; /* streams that it was given to, wanted or not */
	uint32_t refs;
	int pidfd;
	uint64_t named_mono_ns;
	struct tracked *next; /* in its bucket, or in the free list */
	struct tracked *parent;     /* who would wait for it; a reference, or NULL: nobody we follow */
	bool is_born;               /* in the recording: all it ever used belongs there */
	bool is_closed, is_settled; /* the account is final; and its parent's knows of it */
	int io_fd[2];               /* of the process and its main thread; -1: opened when needed */
	struct raw settled;         /* the last reading of the source that settles */
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
 * source cannot settle it without reading its first text again (then with is_sure). *ret_mixed: kinds
 * (1 << kind) of which the growth is not known to be its own: no sample of these.
 */
bool track_enter(struct track *, struct tracked *, const struct source *, struct raw *now,
                 bool is_sure, uint32_t *ret_mixed);
/*
 * A child of this process has ended and is about to be waited for: its account is closed while it
 * still can be read. Then what wait4(2) said of it. Any thread; a pid that is not followed is fine.
 */
void track_close(struct track *, uint32_t pid);
void track_reaped(struct track *, uint32_t pid, const struct process_end *end);

struct track_counts {
	uint64_t alive, roots_alive;
	uint64_t refused;       /* descendants not followed: no room, no descriptors */
	bool refused_are_more;  /* so many that only the first are told apart: at least as many */
};
void track_count(struct track *, struct track_counts *ret);

/* Where a file of a process is: below dir_fd, or below the root. The path is written to `at`. */
#define TRACK_PATH_BYTES 64
int track_path(const struct world *, const struct tracked *, const char *name,
               char at[TRACK_PATH_BYTES]);

#endif
