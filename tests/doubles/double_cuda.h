/* What the double of libcuda has beyond the real one: streams, which galvo never makes itself. */
#ifndef GALVO_DOUBLE_CUDA_H
#define GALVO_DOUBLE_CUDA_H

#include <stdint.h>

/* A stream of the current context with work for that long; `capture` is an enum cuda_capture. */
int double_cuda_stream(void **ret, int capture, uint64_t busy_ns);

#endif
