/* A temporary directory for a run. */
#ifndef GALVO_BENCH_SCRATCH_H
#define GALVO_BENCH_SCRATCH_H

#include "base/base.h"

#define SCRATCH_BYTES 128

/* Makes one below $TMPDIR or /tmp; `dir` is empty if that fails. */
galvo_status scratch_make(char dir[SCRATCH_BYTES], galvo_error *reterr);
/* Removes the files of a run from it, and the directory. */
void scratch_remove(char dir[SCRATCH_BYTES]);

#endif
