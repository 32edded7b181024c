/*
 * Files of processes and threads, kept open as long as descriptors last. There is one budget of them
 * for all probes of a recording, which identities of processes are in too; each probe closes its own.
 */
#ifndef GALVO_PROBE_KEEP_H
#define GALVO_PROBE_KEEP_H

#include "track/track.h"

/* One file. Zero it to begin with KEEP_NONE. */
struct keep {
	struct kept file;
	struct keep *older, *newer; /* among the open ones of its keeper */
	uint64_t used;              /* when it was read last, by the keeper's count; 0: never */
};
#define KEEP_NONE ((struct keep){.file.fd = -1})

/* All of one probe. Zeroes but for the budget to begin with. */
struct keeper {
	struct fd_budget *budget; /* NULL: nothing is kept */
	struct keep *oldest, *newest;
	uint64_t count; /* of readings */
};

/* As kept_read. The file stays open if there is room for it. */
galvo_status keep_read(struct keeper *, struct keep *, int dir_fd, const char *path, uint32_t epoch,
                       enum file_kind kind, struct buf *into, struct span *ret_text,
                       galvo_error *reterr);
void keep_close(struct keeper *, struct keep *);

#endif
