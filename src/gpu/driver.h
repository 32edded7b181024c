/* Inside sampling: the libraries, and a driver that may not answer. */
#ifndef GALVO_GPU_DRIVER_H
#define GALVO_GPU_DRIVER_H

#include "nvidia/nvidia.h"

struct driver {
	struct cuda cuda;
	struct cupti cupti;
	bool was_loaded; /* libcupti, by the program or another recording */
	bool is_left_behind; /* a thread is in a call still, with this memory */
	galvo_error begin_error;
	_Atomic uint32_t begun;
};

/* Loads both and initialises them; STATE if that takes longer. Of zeroed memory; places may be NULL. */
galvo_status driver_open(struct driver *d, const struct nvidia_places *cuda,
                         const struct nvidia_places *cupti, uint64_t timeout_ns,
                         galvo_error *reterr);

/* Set in time? See clock_wake. */
static inline bool flag_await(_Atomic uint32_t *flag, uint64_t timeout_ns)
{
	clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + timeout_ns, flag);
	return atomic_load_explicit(flag, memory_order_acquire) != 0;
}

#endif
