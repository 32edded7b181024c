/* A profiler of events with its stream in a directory of its own, and what it has written. */
#ifndef GALVO_EVENT_RIG_H
#define GALVO_EVENT_RIG_H

#include "event/event.h"
#include "tap.h"
#include "unit/stream_sample.h"

/* By hand unless it is threaded. */
struct rig {
	char path[64];
	int dir_fd;
	struct clock_fake clock;
	struct world world;
	struct writer *writer;
	struct stream *stream;
	struct events *events;
	galvo_tracker *t;
	struct galvo_run *run; /* after rig_read */
};

static inline void rig_init_with(struct rig *r, bool is_threaded, const struct clock *clock)
{
	struct stream_config config = sample_config(STREAM_EVENTS);

	*r = (struct rig){.dir_fd = -1};
	r->dir_fd = sample_dir(r->path);
	clock_fake_init(&r->clock, 1000, 2000, 3000);
	r->world = (struct world){.clock = clock ? clock : &r->clock.clock};
	OK(writer_create(r->dir_fd, &r->writer, NULL) == GALVO_OK);
	OK(writer_add(r->writer, &config, &r->stream, NULL) == GALVO_OK);
	OK(writer_start(r->writer, NULL) == GALVO_OK);
	OK(events_create(&r->world, true, &r->events, NULL) == GALVO_OK);
	r->t = events_tracker(r->events, DOMAIN_GENERIC);
	events_open(r->events, r->stream, is_threaded ? 2 * NS_PER_MS : NS_PER_S);
	if (is_threaded)
		OK(events_start(r->events, NULL) == GALVO_OK);
}

static inline void rig_init(struct rig *r, bool is_threaded)
{
	rig_init_with(r, is_threaded, is_threaded ? &clock_real : NULL);
}

/* Ends as a crash does: what was flushed is there, and nothing else. */
static inline void rig_read(struct rig *r)
{
	OK(writer_stop(r->writer, 10 * NS_PER_S, NULL) == GALVO_OK);
	OK(galvo_run_open(r->path, &r->run, NULL) == GALVO_OK);
}

static inline void rig_finish(struct rig *r)
{
	galvo_run_close(r->run);
	events_destroy(r->events);
	writer_destroy(r->writer);
	sample_remove(r->path, r->dir_fd);
}

/* An empty one if there is none. */
static inline struct region region_named(const struct rig *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->run->regions_len; i++)
		if (span_eq_str(r->run->regions[i].name, name))
			return r->run->regions[i];
	printf("# no region '%s'\n", name);
	tap_failures++;
	return (struct region){0};
}

static inline uint64_t begin(struct rig *r, const char *name)
{
	return galvo_region_begin(r->t, name, strlen(name));
}

#endif
