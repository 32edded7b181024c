/*
 * Inside sampling: the thread that owns the stream. It takes what all devices made, records it, and keeps
 * the newest of it for whoever drains.
 */
#ifndef GALVO_GPU_PEN_H
#define GALVO_GPU_PEN_H

#include "counters.h"
#include "device.h"

enum { ANCHORS_MAX = 1024 }; /* of one message */

/* The newest samples, all devices' together. */
struct newest {
	pthread_mutex_t lock;
	struct kept_sample {
		uint32_t gpu;
		uint64_t start_mono_ns, end_mono_ns;
	} *samples;
	double *values; /* of each, one for each column */
	size_t cap;     /* 0: none are kept */
	uint64_t head, tail, overwritten;
};

struct pen {
	/* Fixed before it runs. */
	struct device **devices;
	const struct gpu_info *infos;
	size_t devices_len, columns_len;
	const struct world *world;
	uint64_t flush_interval_ns;
	struct stream *stream; /* may be NULL */

	struct newest newest;
	struct decode_stats *decodes; /* of each device */
	struct gpu_anchor anchors[ANCHORS_MAX]; /* of the next message */
	size_t anchors_len;
	bool has_offset;
	int64_t offset_ns; /* of all that is in the next message */
	uint64_t rows;     /* in it */
	uint64_t began_mono_ns, flushed_mono_ns;
	pthread_t thread;
	bool is_running;
	bool is_left_behind; /* with the stream */
	_Atomic uint32_t wake, stop, done;
	_Atomic uint32_t give_up; /* nobody waits for devices any longer */
	_Atomic uint64_t cpu_ns;
};

bool pen_init(struct pen *p, size_t drain_samples); /* false: no memory; finish it all the same */
void pen_finish(struct pen *p);
galvo_status pen_start(struct pen *p, galvo_error *reterr);
/* As counters_join; false too where a device was not waited for any longer. */
bool pen_join(struct pen *p, uint64_t timeout_ns);
galvo_status pen_drain(struct pen *p, struct counters_sample *ret, uint64_t *ret_overwritten);
uint64_t pen_cpu_ns(const struct pen *p); /* of it and the threads of devices */

#endif
