/*
 * What tests of NVIDIA's libraries share: a scene of this process, the doubles, a session of PM
 * sampling.
 */
#ifndef GALVO_NVIDIA_RIG_H
#define GALVO_NVIDIA_RIG_H

#include "scene_rig.h"

static struct cuda cuda;
static struct nvml nvml;
static struct cupti cupti;

#include "nvidia_session.h"

/* Opens the three doubles; the process keeps them, whatever scene comes. */
static inline void doubles_open(void)
{
	struct nvidia_places c = {.file = double_path("lib/libcuda.so.1")};
	struct nvidia_places p = {.file = double_path("lib/libcupti.so.13")};
	galvo_error e = {0};

	if (!OK(cuda_open(&cuda, &c, &e) == GALVO_OK) ||
	    !OK(cupti_open(&cupti, &p, 0, &e) == GALVO_OK))
		printf("# %s\n", e.text);
	c.file = double_path("lib/libnvidia-ml.so.1");
	if (!OK(nvml_open(&nvml, &c, &e) == GALVO_OK))
		printf("# %s\n", e.text);
}

/* A scene with one GPU of that chip, the doubles, and the profiler initialised. */
static inline void stage(const char *chip)
{
	scene_begin();
	scene_add(scene, chip);
	doubles_open();
	OK(cupti_begin(&cupti, &cuda, NULL) == GALVO_OK);
}

static inline void stage_end(void)
{
	nvml_close(&nvml);
	scene_end();
}

#endif
