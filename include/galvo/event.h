/*
 * Regions and marks: what the workload says of itself, on the same axis as what is measured.
 *
 *     galvo_tracker *tracker = galvo_suite_host_tracker(suite);
 *     uint64_t id = galvo_region_begin(tracker, "training", 8);
 *     …
 *     galvo_region_end(tracker, id);
 *
 * The three calls take some tens of nanoseconds. They never wait, allocate, or enter the kernel (but
 * to ask once for the number of a new thread), and may be made on any thread, in a signal handler,
 * and before start and after stop, when they do nothing. When more is said than galvo can take, it is
 * dropped and counted, and the recording says so; an end is never dropped for that reason.
 *
 * Regions and marks of the GPU are the same calls with the other tracker, once it knows a stream:
 *
 *     galvo_tracker *gpu = galvo_suite_gpu_tracker(suite);
 *     galvo_status status = galvo_tracker_set_stream(gpu, stream, &error);
 *     uint64_t id = galvo_region_begin(gpu, "forward", 7);
 *     … work is put into the stream …
 *     galvo_region_end(gpu, id);
 *
 * They have the instants at which the stream gets there, on CLOCK_MONOTONIC and in ns as all others, and
 * a bound of what may be wrong with them, usually some microseconds. Each call costs what recording a
 * CUDA event does and a tenth of a microsecond: nothing is waited for, the caller's CUDA context and
 * capture mode stay as they are, and nothing synchronises. They may be made on any thread, but not in a signal handler, and
 * wait only where CUDA does for any work, when the stream's queue is full. What cannot be recorded is
 * left out and counted: in a stream that is being captured into a graph, when some thousands are on their
 * way to the GPU and back, after CUDA has failed. What the GPU has not got to 0.2 s after the stop is
 * recorded as unfinished: stop when the work is done, and before cudaDeviceReset.
 *
 * In a child after fork they do nothing: what is recorded is the process that started the suite. A
 * program that the child becomes, and any other, speaks to the recorder through its socket: see
 * galvo_say. Trackers belong to their suite and are gone with it.
 */
#ifndef GALVO_EVENT_H
#define GALVO_EVENT_H

#include "suite.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GALVO_EVENT_NAME_MAX 1024 /* bytes of a name; longer ones are clipped */

typedef struct galvo_tracker galvo_tracker;

typedef enum galvo_domain {
	GALVO_DOMAIN_HOST = 1, /* CLOCK_MONOTONIC, at the call */
	GALVO_DOMAIN_GPU = 2,  /* when a CUDA stream gets there */
	GALVO_DOMAIN_WIDTH = 0x7fffffff
} galvo_domain;

/* Never NULL. Regions of the host, and regions of the GPU. Any thread. */
GALVO_API galvo_tracker *galvo_suite_host_tracker(galvo_suite *suite);
GALVO_API galvo_tracker *galvo_suite_gpu_tracker(galvo_suite *suite);

/*
 * OK: what is said is recorded. STATE: not now: the suite is not started, or in another process, or, of
 * the GPU, no stream is set, or its CUDA context is lost. ABSENT: this machine or configuration has no
 * such thing, or this program has not loaded CUDA (yet). Any thread.
 */
GALVO_API galvo_status galvo_tracker_status(const galvo_tracker *tracker, galvo_error *reterr);

GALVO_API galvo_domain galvo_tracker_domain(const galvo_tracker *tracker); /* any thread */
/*
 * The CUDA stream, a cudaStream_t or CUstream, of regions and marks that begin from now on; before or
 * after the start, and again for another stream, of this GPU or another one. Regions that are open end on
 * their own. NULL is the default stream of the context that is current, cudaStreamPerThread each thread's.
 * The first one in a context makes CUDA events there, and a stream for galvo. galvo loads no CUDA: the
 * program has, by its first call of CUDA.
 *
 * INVALID: the tracker is the host's, or CUDA knows no such stream; ABSENT: as galvo_tracker_status;
 * STATE: no context, or stopped; NOMEM: more than 16 contexts or 256 streams. A tracker that had a stream
 * keeps it. Not while others use the tracker.
 */
GALVO_API galvo_status galvo_tracker_set_stream(galvo_tracker *tracker, void *stream,
                                                galvo_error *reterr);

/*
 * Names are any bytes. Returns what galvo_region_end wants of the same tracker, 0 if the region is not
 * recorded. It may be ended on another thread. A region that is open when the suite stops is recorded as
 * unfinished.
 */
GALVO_API uint64_t galvo_region_begin(galvo_tracker *tracker, const char *name, size_t name_len);
GALVO_API void galvo_region_end(galvo_tracker *tracker, uint64_t id); /* 0 is fine */
GALVO_API void galvo_mark(galvo_tracker *tracker, const char *name, size_t name_len);

/* ---- from outside ------------------------------------------------------------------------------- */

/*
 * A listener takes what other processes say, through a socket that only this user and root reach.
 * open, and hand the path to whom it concerns (in the environment, as GALVO_SOCKET); start when the
 * suite is started; stop before the suite stops; close. One thread at a time.
 *
 * A begin and an end that belong together are found by name, the innermost first, or exactly where
 * both give the same name and token. The speaker's clock counts if it tells a time between the start of the
 * recording and now. More than some thousand messages in a tenth of a second are dropped, counted.
 */
typedef struct galvo_listener galvo_listener;

/*
 * Makes a directory of its own below `dir`, an absolute path, and the socket in it. What listeners of
 * this user left there when they were killed is removed.
 */
GALVO_API galvo_status galvo_listener_open(const char *dir, galvo_listener **ret_listener,
                                           galvo_error *reterr);
GALVO_API const char *galvo_listener_path(const galvo_listener *listener); /* until close */
GALVO_API galvo_status galvo_listener_start(galvo_listener *listener, galvo_tracker *tracker,
                                            galvo_error *reterr);
GALVO_API void galvo_listener_stop(galvo_listener *listener); /* what has arrived still counts */
/* Removes socket and directory. NULL is fine; stops first if need be. */
GALVO_API void galvo_listener_close(galvo_listener *listener);

typedef enum galvo_saying {
	GALVO_SAY_MARK = 1,
	GALVO_SAY_BEGIN = 2,
	GALVO_SAY_END = 3,
	GALVO_SAYING_WIDTH = 0x7fffffff
} galvo_saying;

/*
 * Says it to the recorder whose socket that is, with the time of now. Does not wait for an answer.
 * token 0: begins and ends are matched by name. ABSENT: there is no such socket; STATE: nobody
 * listens there any more, or cannot keep up; DENIED: it is another user's. INVALID: too long a name.
 * Any thread.
 */
GALVO_API galvo_status galvo_say(const char *socket_path, galvo_saying what, uint64_t token,
                                 const char *name, size_t name_len, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
