/* Where the environment says that NVIDIA's libraries are: of the room gpu, and whoever opens them. */
#ifndef GALVO_GPU_ENVIRONMENT_H
#define GALVO_GPU_ENVIRONMENT_H

#include "nvidia/nvidia.h"

enum { PLACES_HOMES = 3, PLACES_PYTHONS = 16 };

/*
 * GALVO_CUPTI_LIB names libcupti and no other is taken; CUDA_HOME, CUDA_PATH and CONDA_PREFIX are
 * homes of toolkits; VIRTUAL_ENV, CONDA_PREFIX, HOME/.local, /usr/local and /usr have packages of
 * Python. A program with privileges that its user has not asks none of them but the last two.
 */
struct env_places {
	struct nvidia_places cupti; /* for cupti_open; borrows from what is below */
	struct nvidia_places driver; /* for cuda_open and nvml_open */
	const char *homes[PLACES_HOMES + 1];
	const char *pythons[PLACES_PYTHONS + 1];
	char *owned[PLACES_PYTHONS];
};

/* `root` is put before the last two folders; NULL is "". Borrowed, as is the environment. */
galvo_status env_places_find(struct env_places *ret, const char *root, galvo_error *reterr);
void env_places_free(struct env_places *p);

#endif
