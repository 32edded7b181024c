/* NVIDIA GPUs: which counters there are, what fits together, and how they are sampled. */
#ifndef GALVO_GPU_GPU_H
#define GALVO_GPU_GPU_H

#include "counters.h"
#include "environment.h"
#include "metrics.h"

#endif
