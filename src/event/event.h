/*
 * What the workload says of itself: regions and marks, from its own threads and from outside.
 *
 * Callers put fixed cells into a ring that many may write; one thread reads it every now and then,
 * matches ends with begins, and owns the stream. Callers never wait for it and never wake it.
 *
 * The ring leaves room for ends: a begin is refused when a quarter of the ring is in use, or a
 * quarter of its size in regions is open, so that the end of every region that was begun fits.
 * The public half of the door is galvo/event.h.
 */
#ifndef GALVO_EVENT_ROOM_H
#define GALVO_EVENT_ROOM_H

#include "galvo/event.h"
#include "stream/stream.h"

struct events;

/*
 * Borrows the world. The trackers are there at once, and record nothing before events_open; if not
 * wanted, they never will, and nothing but the trackers may be used.
 */
galvo_status events_create(const struct world *world, bool is_wanted, struct events **ret_events,
                           galvo_error *reterr);
/*
 * The two halves of it in two processes, and shared memory between them. Callers: trackers, which record
 * from events_open_callers to events_signal_stop; all else here is the reader's. The descriptor is the
 * caller's to hand over and to close.
 */
galvo_status events_create_callers(const struct world *world, struct events **ret_events,
                                   int *ret_ring_fd, galvo_error *reterr);
galvo_status events_create_reader(const struct world *world, int ring_fd, struct events **ret_events,
                                  galvo_error *reterr);
void events_open_callers(struct events *);
void events_destroy(struct events *); /* NULL is fine; joined already, or never started */
galvo_tracker *events_tracker(struct events *, enum time_domain);

/*
 * From now on trackers record into that stream, which the thread owns while it runs. Without a
 * thread (tests) events_drain and events_finish are called by hand.
 */
void events_open(struct events *, struct stream *, uint64_t flush_interval_ns);
galvo_status events_start(struct events *, galvo_error *reterr); /* after events_open */
void events_signal_stop(struct events *); /* trackers record no more; returns at once */
void events_join(struct events *);        /* after signal_stop; flushes what is left. Twice is once */

/* Takes what is in the ring. Returns how many cells that was. */
uint64_t events_drain(struct events *);
void events_flush(struct events *);
/* Ends what is open and flushes. */
void events_finish(struct events *);

struct events_counts {
	uint64_t dropped;   /* regions and marks there was no room for */
	uint64_t unmatched; /* ends of regions that were not open */
	uint64_t refused;   /* messages from outside: malformed, another user's, too many at once */
	bool gpu_hangs;     /* at the end a call of CUDA did not return */
};
void events_count(const struct events *, struct events_counts *ret); /* any thread */

/* ---- from outside: one datagram ------------------------------------------------------------------ */

struct said {
	galvo_saying what;
	uint64_t mono_ns, token;
	struct span name;
};

#define SAID_BYTES_MAX (24 + EVENT_NAME_MAX)

/* Returns its length. The name is at most EVENT_NAME_MAX long. */
size_t said_put(char *to, const struct said *s);
/* Total on any bytes: false if it is no message of this version. The name borrows from them. */
bool said_parse(struct span datagram, struct said *ret);

/* As the public calls, with a time and a process of the caller's choice. */
uint64_t tracker_begin(galvo_tracker *, struct span name, uint64_t mono_ns, uint32_t pid);
void tracker_end(galvo_tracker *, uint64_t id, uint64_t mono_ns);
void tracker_mark(galvo_tracker *, struct span name, uint64_t mono_ns, uint32_t pid);

#endif
