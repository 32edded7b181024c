/* The least that a tick can cost: bare reads of the files that galvo reads, kept open, and no more. */
#ifndef GALVO_BENCH_FLOOR_H
#define GALVO_BENCH_FLOOR_H

#include "source/source.h"

struct floor_file {
	int fd;
	uint64_t every; /* read at every n-th tick */
};

struct floor {
	struct floor_file *files;
	size_t files_len, files_cap;
	const pid_t *pids;
	size_t pids_len;
	uint64_t tick, nonsense; /* nonsense: of the clocks, so that nothing is optimised away */
};

/*
 * Opens what the table of sources names, so that the floor follows it; period_ns is of one tick of
 * the floor, which is one of the system probe.
 */
galvo_status floor_open(struct floor *, const struct world *, const pid_t *pids, size_t pids_len,
                        uint64_t period_ns, bool with_disk, galvo_error *reterr);
void floor_tick(struct floor *);
void floor_close(struct floor *);

#endif
