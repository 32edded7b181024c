/* Inside the double of libcuda: what its two files share. */
#ifndef GALVO_DOUBLE_CUDA_H
#define GALVO_DOUBLE_CUDA_H

#include <pthread.h>
#include <stdio.h>

#include "nvidia/nvidia.h"
#include "scene.h"

enum { CONTEXTS = 16 };

struct context {
	bool lives;
	int device;
	uint32_t uses; /* of a primary one */
	uint64_t id;
	int sticky;    /* what every call about it gives from now on; 0: it is sound */
	uint64_t work_until_ns; /* of its default stream */
};

extern bool double_cuda_is_initialized;
extern pthread_mutex_t double_cuda_lock;

/* Counted; needs cuInit, and a device that is there. */
#define ENTER(call, device)                                                                        \
	do {                                                                                       \
		int enter_ = scene_enter(call, device);                                            \
		if (enter_)                                                                        \
			return enter_;                                                             \
		if (!double_cuda_is_initialized) {                                                 \
			scene_violation("%s before cuInit", call);                                 \
			return CUDA_NOT_INITIALIZED;                                               \
		}                                                                                  \
		if ((device) >= 0 && scene_is_lost((uint32_t)(device)))                            \
			return CUDA_UNKNOWN;                                                       \
	} while (0)

struct context *double_cuda_current(void); /* or NULL */
void double_cuda_end_streams(const struct context *c); /* under the lock */

#endif
