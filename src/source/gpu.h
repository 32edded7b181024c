/*
 * GPUs: the columns of any vendor, and what a vendor's part has to offer.
 *
 * To add a vendor: write src/source/NAME.c with a `const struct gpu_vendor gpu_vendor_NAME`, and add its
 * row to gpu_vendors (gpu_vendor.c). It puts raw values into the fields of gpu_raw.h; what it does not
 * know it leaves out, and the columns of that are absent. nvml.c is the model.
 */
#ifndef GALVO_SOURCE_GPU_H
#define GALVO_SOURCE_GPU_H

#include "source.h"

/* Where the libraries of vendors are looked for; all zero: wherever they usually are. Borrowed. */
struct gpu_places {
	const char *nvml; /* this libnvidia-ml and no other; NULL or "": look for it */
	const char *root; /* before the usual folders of libraries; NULL is "" */
	bool no_linker;   /* does not ask the dynamic linker for the bare name */
};

/* What is asked together, each at a cadence of its own. */
enum gpu_group {
	GPU_FAST,      /* source gpu: load, memory, power, temperatures, clocks */
	GPU_LINK,      /* gpu_link: PCIe, NVLink, video engines; part of the same rows */
	GPU_PROCESSES, /* gpu_process: who uses it */
	GPU_DETAIL,    /* gpu_detail: what changes slowly */
	GPU_GROUPS,
};
extern const struct source *const gpu_sources[GPU_GROUPS];

#define GPU_PARTS_MAX 16 /* a GPU, and the instances that it is cut into */

struct gpu_device; /* the vendor's */

/*
 * A vendor. `find` returns at once, on any thread. Everything else may be slow, or hang for ever: it
 * is called by one thread at a time for each library and for each device, and calls on different
 * devices do not wait for each other.
 */
struct gpu_vendor {
	const char *name; /* "nvidia" */
	/* ABSENT if the machine lacks what it takes. */
	galvo_status (*find)(const struct gpu_places *, const struct world *, galvo_error *reterr);
	/*
	 * Where it fails it is tried again, less and less often. DONE: all GPUs sleep, and are let sleep;
	 * that is looked at again soon. Places and world are borrowed until `end`.
	 */
	galvo_status (*begin)(const struct gpu_places *, const struct world *, void **ret_library,
	                      galvo_error *reterr);
	void (*end)(void *library); /* after all devices of it are let go of */
	/* GPUs there are, instances not counted; they are numbered from 0. */
	galvo_status (*count)(void *library, uint32_t *ret, galvo_error *reterr);
	galvo_status (*attach)(void *library, uint32_t number, struct gpu_device **ret_device,
	                       galvo_error *reterr);
	void (*detach)(struct gpu_device *);
	/* What it is, and the instances it is cut into now: to[0] is the whole. At least once before a
	 * reading, and now and then, as it may change. */
	galvo_status (*look)(struct gpu_device *, struct gpu_info to[GPU_PARTS_MAX], size_t *ret_len,
	                     galvo_error *reterr);
	/*
	 * A reading of part number `part` of the last look. Rows have the pid of a process as their
	 * number, or 0. The first call that failed is told, and what the others gave stands; ABSENT: it is
	 * gone, is let go of, and attached anew later. What it cannot tell by its nature is no failure.
	 */
	galvo_status (*read[GPU_GROUPS])(struct gpu_device *, size_t part, struct raw_sink *,
	                                 galvo_error *reterr);
};

extern const struct gpu_vendor *const gpu_vendors[];
extern const size_t gpu_vendors_len;

#endif
