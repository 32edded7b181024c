/*
 * A suite in two processes: the caller's, which asks, and galvo-sidecar, which does what it is asked.
 *
 * They speak over a socket that keeps messages apart. A message is one datagram or several; its bytes
 * are a protobuf message, as the tables in sidecar_message.c have it, and so is the configuration: not
 * ProfilerSuiteConfig, which has whole frequencies only, and is loaded with allowances for what is not
 * there. Each request has one reply. The first one says who asks; what does not answer as expected is
 * told nothing more. Sampling is stopped by another socket's end, which is shut down, once.
 */
#ifndef GALVO_SUITE_SIDECAR_H
#define GALVO_SUITE_SIDECAR_H

#include "internal.h"

#define SIDECAR_PROGRAM "galvo-sidecar"

enum {
	SIDECAR_PROTOCOL = 3, /* moves on with every change of what is said, or of what is shared */
	SIDECAR_FD = 3,       /* where the program finds its end of the socket */
	SIDECAR_FDS_MAX = 3,
	SIDECAR_BYTES_MAX = 16 << 20, /* of a message */
};

enum sidecar_request {
	SIDECAR_HELLO = 1,
	SIDECAR_CREATE,
	SIDECAR_START,
	SIDECAR_STOP = 5, /* 4 was said amid other messages, in protocol 1 */
	SIDECAR_ADD,
	SIDECAR_REMOVE,
	SIDECAR_CLOSE,
	SIDECAR_REAPED,
	SIDECAR_SET_WORKLOAD,
	SIDECAR_GET_STATS,
	SIDECAR_REPLAY,
	SIDECAR_BYE,
	SIDECAR_NOTE_AT,
	SIDECAR_GPU_STATUS,
	SIDECAR_GPU_DEVICE_AT,
	SIDECAR_GPU_METRIC_AT,
	SIDECAR_GPU_DRAIN,
};

/* A request, or the reply to one. */
struct sidecar_message {
	size_t struct_size;  /* as sized structs have it: the tables serve both */
	uint32_t code;       /* a sidecar_request; of a reply the status, negated */
	uint32_t sys_errno;  /* of a reply */
	uint32_t pid;        /* HELLO: who asks; ADD, REMOVE, CLOSE: of whom; …_AT: which one, from 0 */
	uint32_t protocol;   /* HELLO and its reply */
	uint32_t streams;    /* ADD, REMOVE */
	uint32_t flags;      /* SIDECAR_IS_… */
	uint32_t follow, reserved; /* ADD: as galvo_process has them */
	const char *text;    /* ADD: alias; HELLO and its reply: version; else of a reply what went wrong */
	struct span body;    /* CREATE: configuration; SET_WORKLOAD, REAPED; GET_STATS, NOTE_AT, GPU_…: the
	                        reply's */
};

#define SIDECAR_IS_ALONE UINT32_C(1)  /* CREATE: one profiler by itself */
#define SIDECAR_IS_REPLAY UINT32_C(2) /* the reply to CREATE: the root is a captured machine */
#define SIDECAR_HAS_PIDFD UINT32_C(4) /* CREATE: the first descriptor is that of the caller's process */
#define SIDECAR_HAS_RING UINT32_C(8)  /* CREATE: the next one is that of the regions; the last one, of stop */

/* ---- sidecar_message.c: what is said, in bytes; taking it is total on any bytes ------------------- */

/* What strings and arrays of a struct that was taken are in. Zero it to begin with. */
struct sidecar_memory {
	char *texts;
	size_t texts_used;
	void *arrays[8];
	size_t arrays_len;
};
void sidecar_memory_free(struct sidecar_memory *m);

/* Appends. Process 0 is `self`. */
void sidecar_put_message(struct buf *to, const struct sidecar_message *m);
void sidecar_put_config(struct buf *to, const galvo_suite_config *c, uint32_t self);
void sidecar_put_workload(struct buf *to, const galvo_workload *w);
void sidecar_put_child(struct buf *to, const galvo_child *c);
void sidecar_put_stats(struct buf *to, const galvo_suite_stats *s);
void sidecar_put_note(struct buf *to, const galvo_note *n);
void sidecar_put_gpu(struct buf *to, const galvo_gpu_device *d);
/* MALFORMED, and what is in the memory is to be freed, too. Bodies borrow from the bytes. */
galvo_status sidecar_take_message(struct span bytes, struct sidecar_message *ret,
                                  struct sidecar_memory *memory, galvo_error *reterr);
galvo_status sidecar_take_config(struct span bytes, galvo_suite_config *ret,
                                 struct sidecar_memory *memory, galvo_error *reterr);
galvo_status sidecar_take_workload(struct span bytes, galvo_workload *ret,
                                   struct sidecar_memory *memory, galvo_error *reterr);
galvo_status sidecar_take_child(struct span bytes, galvo_child *ret, struct sidecar_memory *memory,
                                galvo_error *reterr);
galvo_status sidecar_take_stats(struct span bytes, galvo_suite_stats *ret,
                                struct sidecar_memory *memory, galvo_error *reterr);
galvo_status sidecar_take_note(struct span bytes, galvo_note *ret, struct sidecar_memory *memory,
                               galvo_error *reterr);
galvo_status sidecar_take_gpu(struct span bytes, galvo_gpu_device *ret, struct sidecar_memory *memory,
                              galvo_error *reterr);

/* ---- sidecar_link.c: messages through the socket --------------------------------------------------- */

/* Descriptors go with it and stay the caller's. */
galvo_status sidecar_send(int fd, struct span bytes, const int *fds, size_t fds_len,
                          galvo_error *reterr);
/*
 * Waits for one. DONE: the other end is closed. What came with it of descriptors is the caller's, -1 where
 * there is none; NULL: there are to be none.
 */
galvo_status sidecar_receive(int fd, struct buf *into, int ret_fds[SIDECAR_FDS_MAX],
                             galvo_error *reterr);
/* How long either of these waits at most. */
bool sidecar_set_patience(int fd, unsigned seconds);

/* ---- sidecar_spawn.c: the program, found and started ----------------------------------------------- */

/*
 * Starts the program, with that end of the socket and nothing else of ours. It is not our child, unless
 * orphans come to us. ABSENT: there is none.
 */
galvo_status sidecar_spawn(const char *path, int fd, pid_t *ret_pid, galvo_error *reterr);

/* ---- sidecar.c: the caller's half ------------------------------------------------------------------- */

/* Makes s->sidecar, with a suite of that configuration in it, and s->events. */
galvo_status sidecar_create(struct galvo_suite *s, const galvo_suite_config *config,
                            galvo_error *reterr);
void sidecar_destroy(struct sidecar *c); /* NULL is fine */
/* Any thread. STATE: it has ended, or does not answer. */
galvo_status sidecar_call(struct sidecar *c, enum sidecar_request what, galvo_error *reterr);
galvo_status sidecar_call_for(struct sidecar *c, enum sidecar_request what, uint32_t pid,
                              uint32_t streams, galvo_error *reterr);
galvo_status sidecar_add(struct sidecar *c, const galvo_process *p, galvo_error *reterr);
galvo_status sidecar_stop(struct sidecar *c, galvo_error *reterr); /* within what is said of stop */
/* wait_for is called in any case, and says whether it did; as much of the rest as there is a sidecar for. */
bool sidecar_reap(struct sidecar *c, uint32_t pid, bool (*wait_for)(uint32_t pid, galvo_child *ret),
                  galvo_child *ret_child);
galvo_status sidecar_set_workload(struct sidecar *c, const galvo_workload *w, galvo_error *reterr);
galvo_status sidecar_get_stats(struct sidecar *c, galvo_suite_stats *ret, galvo_error *reterr);
/* A request, and what takes a reply that is a success, whose body is borrowed. */
typedef galvo_status (*sidecar_taker)(void *ctx, struct span body, galvo_error *reterr);
galvo_status sidecar_ask(struct sidecar *c, enum sidecar_request what, size_t i, sidecar_taker take,
                         void *ctx, galvo_error *reterr);
bool sidecar_is_replay(const struct sidecar *c);
void sidecar_signal_stop(struct sidecar *c); /* any thread; waits for nobody, and is never lost */

/* ---- sidecar_gpu.c: what is asked of GPUs and of notes, on both sides -------------------------------- */

/* Samples that were taken there and wait here. Zero it to begin with. */
struct drained {
	struct buf bytes;
	size_t at;
	uint64_t overwritten;
};

/* DONE past the last one, as of galvo/gpu.h and galvo_suite_note_at. */
galvo_status sidecar_note_at(struct sidecar *c, size_t i, galvo_note *ret, galvo_error *reterr);
galvo_status sidecar_gpu_device_at(struct sidecar *c, size_t i, galvo_gpu_device *ret,
                                   galvo_error *reterr);
galvo_status sidecar_gpu_metric_at(struct sidecar *c, size_t i, char *to, size_t cap,
                                   galvo_error *reterr);
galvo_status sidecar_gpu_drain(struct sidecar *c, struct counters_sample *ret, size_t *ret_len,
                               uint64_t *ret_overwritten, galvo_error *reterr);
struct drained *sidecar_drained(struct sidecar *c); /* of that half */
/* Answers one of these: the body of the reply. */
galvo_status sidecar_serve_facts(struct galvo_suite *s, enum sidecar_request what, size_t i,
                                 struct buf *body, galvo_error *reterr);
/* The first sample of such a body; false if that is none. */
bool drained_take(struct span *body, struct counters_sample *ret, size_t *ret_len);

/* ---- sidecar_serve.c: the other half ---------------------------------------------------------------- */

/* All that the program does. Returns when the caller has gone, or a signal asks for it. */
void sidecar_serve(int fd);

#endif
