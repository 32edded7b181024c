/* NVIDIA's GPUs, by libnvidia-ml. */
#include "gpu_raw.h"

#include "nvidia/nvidia.h"

static galvo_status find(const struct gpu_places *places, const struct world *w, galvo_error *reterr)
{
	const struct nvidia_places where = {
		.file = places->nvml, .root = places->root, .no_linker = places->no_linker,
	};

	(void)w;
	return nvml_find(&where, reterr);
}

const struct gpu_vendor gpu_vendor_nvidia = {
	.name = "nvidia",
	.find = find,
};
