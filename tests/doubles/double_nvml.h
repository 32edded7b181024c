/* Inside the double of libnvidia-ml: its handles, and what every call on a device begins with. */
#ifndef GALVO_DOUBLE_NVML_H
#define GALVO_DOUBLE_NVML_H

#include "nvidia/nvidia.h"
#include "scene.h"

/* A handle is a pointer to one of these; `mig` is -1 for the whole GPU. */
struct nvml_handle {
	uint32_t device;
	int32_t mig;
};

/*
 * Counts the call and finds what the handle is of. A result to give at once: of the scene's faults,
 * or because NVML is not initialised, the handle is none, or the GPU is lost.
 */
int nvml_enter(const char *call, void *handle, struct nvml_handle *ret);

/* The same of a call on the whole library. */
int nvml_enter_system(const char *call);

#define ENTER(call, handle)                                                                        \
	struct nvml_handle h;                                                                      \
	int enter_ = nvml_enter(call, handle, &h);                                                 \
	const struct scene_device *d;                                                              \
                                                                                                   \
	if (enter_)                                                                                \
		return enter_;                                                                     \
	d = &scene_of_process()->devices[h.device];                                                \
	(void)d

/* Of the whole GPU; for every second one it is another pointer than the one it is asked with. */
void *nvml_handle_of(uint32_t device);
/* At the last nvmlShutdown: no set may be left. */
void nvml_check_sets(void);

/* A call on the whole library, which has to be initialised. */
#define ENTER_SYSTEM(call)                                                                         \
	do {                                                                                       \
		int system_ = nvml_enter_system(call);                                             \
                                                                                                   \
		if (system_)                                                                       \
			return system_;                                                            \
	} while (0)

/* The curve's value now, or the result that it has instead. */
int nvml_curve(uint32_t device, int curve, uint64_t *ret);
/* The same as 32 bits. */
int nvml_curve32(uint32_t device, int curve, unsigned *ret);

#endif
