/* A recording by hand: both probes with a real writer, ticked by whoever measures or tests them. */
#ifndef GALVO_BENCH_RIG_H
#define GALVO_BENCH_RIG_H

#include "probe/probe.h"
#include "scratch.h"

enum { RIG_SYSTEM, RIG_DISK, RIG_PROBES };

struct rig_config {
	double hz;                  /* of the system probe */
	double disk_hz;             /* 0: 10 */
	uint64_t flush_interval_ns; /* 0: 5 s */
	const pid_t *pids;          /* processes to follow */
	size_t pids_len;
	enum follow follow;         /* and what of their descendants */
	double budget_pct;          /* of both probes, shared as a suite does; 0: no limit */
	bool threads;               /* a row for each thread, too */
	int events_fd;              /* where kernel events come from instead of the kernel; 0: from it */
};

struct rig {
	struct world world;
	struct track *track;
	struct writer *writer;
	struct probe *probes[RIG_PROBES];
	int dir_fd;
	char dir[SCRATCH_BYTES];
	uint64_t tick, disk_every; /* system ticks to one of the disk probe */
};

/* Opens a run in a new temporary directory and primes both probes. */
galvo_status rig_open(struct rig *, const struct rig_config *, galvo_error *reterr);
/* One tick of the system probe. */
void rig_tick_system(struct rig *);
/* The same, and one of the disk probe when its turn has come. */
void rig_tick_full(struct rig *);
void rig_flush(struct rig *);
/* Stops the writer and removes the directory. */
void rig_close(struct rig *);

#endif
