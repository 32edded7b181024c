/*
 * A recorded run: open it, check it, repair it.
 *
 * A run is a directory with session_metadata.pb and stream files; galvo-stream(5) has the format.
 * Reading tolerates what a crash leaves: a torn last message, a missing stop. Once open, a run does
 * not change: any number of threads may look at it. galvo/reader.h shows what is in it.
 */
#ifndef GALVO_RUN_H
#define GALVO_RUN_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct galvo_run galvo_run;

/*
 * Reads a whole run into memory. Damage does not make it fail: what is sound is there, and the
 * damage is reported by galvo_run_check and in every report. ABSENT: no such directory, or not a
 * run; NEWER: made by a galvo with a newer major format. Free with galvo_run_close.
 */
GALVO_API galvo_status galvo_run_open(const char *dir, galvo_run **ret_run, galvo_error *reterr);
GALVO_API void galvo_run_close(galvo_run *run); /* NULL is fine */

typedef struct galvo_check_result { /* layout frozen; more members may be appended in a later major */
	uint64_t messages;         /* sound ones, over all streams */
	uint64_t rows;
	uint64_t damaged_messages; /* framing or checksum is wrong */
	uint64_t missing_messages; /* the sequence jumps: dropped while recording, or lost since */
	uint64_t torn_bytes;       /* at the ends of streams: a message that was never finished */
	int32_t is_complete;       /* 1: the recorder wrote its closing metadata */
	int32_t is_sound;          /* 1: nothing of the above is amiss; ticks may have been missed */
} galvo_check_result;

/*
 * Looks at every message of every stream of the run and writes one line for each thing that is
 * wrong and one for each stream, as UTF-8 text. OK if it could look, whatever it found.
 */
GALVO_API galvo_status galvo_run_check(const char *dir, galvo_write_fn write_fn, void *ctx,
                                       galvo_check_result *ret_result, galvo_error *reterr);

/*
 * Copies the run to out_dir (which must not exist), leaving out torn tails and damaged messages;
 * sound messages are copied byte for byte. The original is not touched.
 */
GALVO_API galvo_status galvo_run_repair(const char *dir, const char *out_dir,
                                        galvo_check_result *ret_result, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
