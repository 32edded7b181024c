/*
 * NVIDIA's libraries: declarations of what galvo uses of them, where they are found, which of their
 * versions is there. Knows nothing of what is sampled.
 *
 * Nothing is linked: libraries are loaded when one of the *_open functions is called and stay
 * loaded until the process ends, as a thread may be inside, and as CUPTI does not survive being
 * unloaded. What a library lacks is a NULL pointer in its struct. Structs belong to the caller; the
 * calls themselves may be made from any thread, one at a time for each of CUPTI's objects.
 */
#ifndef GALVO_NVIDIA_NVIDIA_H
#define GALVO_NVIDIA_NVIDIA_H

#include <stdbool.h>

#include "base/base.h"

#include "abi_cuda.h"
#include "abi_cupti.h"
#include "abi_nvml.h"

/* ---- where a library is looked for; all zero: wherever it usually is ------------------------- */

struct nvidia_places {
	const char *file;           /* this one and no other; NULL or "": look for it */
	const char *const *homes;   /* of CUDA toolkits, NULL behind the last; may be NULL */
	const char *const *pythons; /* site-packages, NULL behind the last; may be NULL */
	const char *root;           /* before the usual folders; NULL is "" */
	bool only_loaded;           /* what this process has loaded already, or nothing */
	bool no_linker;             /* does not ask the dynamic linker for the bare name */
};

/* ---- libcuda --------------------------------------------------------------------------------- */

struct cuda {
	void *handle;
	const char *path; /* of the file; good for ever */
	int version;      /* 13000: CUDA 13.0 is the newest that this driver can do */
#define X(member, names, args, required) int(*member) args;
	CUDA_CALLS(X)
#undef X
};

/*
 * Loads libcuda and asks its version; nothing is initialised. ABSENT if it is not there or lacks a
 * function, ABSENT too if it is the stub that toolkits have for linking.
 */
galvo_status cuda_open(struct cuda *ret, const struct nvidia_places *where, galvo_error *reterr);
void cuda_close(struct cuda *c); /* forgets it; it stays loaded */

/* ---- libcupti -------------------------------------------------------------------------------- */

/* The sizes of structs that have grown. */
struct cupti_sizes {
#define X(member, function, tag, old, added, since) size_t member;
	CUPTI_GROWN(X)
#undef X
};

struct cupti {
	void *handle;
	const char *path;
	uint32_t version;  /* as cuptiGetVersion tells it: 24, 130001 */
	uint32_t cuda;     /* of which CUDA it is: 12060, 13000 */
	void *nvperf;      /* libnvperf_host, which the host side needs; NULL: not beside it */
	struct cupti_sizes sizes;
	uint32_t resized;  /* bit 0, 1 …: that row of CUPTI_GROWN took another size */
	int (*nvperf_initialize)(struct nvperf_initialize_host *); /* these two may be NULL */
	int (*nvperf_sample_size)(struct nvperf_sample_size *);
#define X(member, function, tag, last) int (*member)(struct tag *);
	CUPTI_CALLS(X)
#undef X
#define X(member, function, tag, old, added, since) int (*member)(struct tag *);
	CUPTI_GROWN(X)
#undef X
#define X(member, function, args, required) int(*member) args;
	CUPTI_PLAIN(X)
#undef X
};

/*
 * Loads libcupti, the newest that a driver of `driver_version` can do (cuda.version; 0: any), and
 * what it needs from beside it. ABSENT, with all that was tried in the text, if there is none; an
 * older one than CUDA 12.6 or a newer one than the driver is none.
 */
galvo_status cupti_open(struct cupti *ret, const struct nvidia_places *where, int driver_version,
                        galvo_error *reterr);
void cupti_close(struct cupti *c);

/* Of a result of cuptiGetVersion: 24 is 12060, 130001 is 13000; 0 if it is older than 12.6. */
uint32_t cupti_cuda_version(uint32_t version);
struct cupti_sizes cupti_sizes_of(uint32_t version);

enum {
#define X(member, function, tag, last) CUPTI_BYTES_##member = CUPTI_UNTIL(tag, last),
	CUPTI_CALLS(X)
#undef X
};

/* CUPTI_CALL(&cupti, decode, &params): sets the size, calls, gives the result. */
#define CUPTI_CALL(c, member, params)                                                              \
	((params)->structSize = CUPTI_BYTES_##member, (c)->member(params))

/*
 * The calls whose struct has grown, with the size of the library's version. If that is refused as
 * invalid, the other known size is tried once, and kept if it is taken.
 */
int cupti_set_config(struct cupti *c, struct cupti_set_config *params);
int cupti_device_supported(struct cupti *c, struct cupti_device_supported *params);
int cupti_metric_properties(struct cupti *c, struct cupti_metric_properties *params);
int cupti_host_initialize(struct cupti *c, struct cupti_host_initialize *params);

/*
 * The gate before all calls that need a driver: without it some of them crash. Initialises libcuda,
 * sees that there is a device, and initialises the profiler. Once a process is enough, more do no
 * harm.
 */
galvo_status cupti_begin(const struct cupti *c, const struct cuda *cuda, galvo_error *reterr);

/*
 * What a raw sample of this configuration takes in the hardware buffer; ABSENT where nobody can
 * tell.
 */
galvo_status cupti_sample_bytes(const struct cupti *c, const uint8_t *image, size_t image_bytes,
                                size_t *ret_bytes, galvo_error *reterr);

/* ---- libnvidia-ml ---------------------------------------------------------------------------- */

struct nvml {
	void *handle;
	const char *path;
	const char *(*error_string)(int);
#define X(member, names, args, required) int(*member) args;
	NVML_CALLS(X)
#undef X
};

/* Is it there? Loads it and calls nothing of it: returns at once, and nvml_open then finds it loaded. */
galvo_status nvml_find(const struct nvidia_places *where, galvo_error *reterr);
/* Loads libnvidia-ml and initialises it: ABSENT if it is not there, lacks a function, finds no
 * driver or another driver than it belongs to. */
galvo_status nvml_open(struct nvml *ret, const struct nvidia_places *where, galvo_error *reterr);
/* "nvmlDeviceGetName", of the pointer at that place of the struct; for messages. */
void nvml_call_name(size_t offset, char *to, size_t cap);
void nvml_close(struct nvml *n); /* shuts it down, once for each that was opened */

/* ---- results --------------------------------------------------------------------------------- */

/*
 * "CUDA_ERROR_NO_DEVICE", "CUPTI_ERROR_HARDWARE_BUSY", "NVML_ERROR_GPU_IS_LOST"; NULL if unknown.
 */
const char *cuda_result_name(int result);
const char *cupti_result_name(int result);
const char *nvml_result_name(int result);

/*
 * A result that is not 0 as an error: the call, the name and the number, and what it means if the
 * name does not say it. DENIED where rights are lacking, STATE where it may go well later, ABSENT
 * where the machine has no such thing, IO otherwise.
 */
galvo_status cuda_failed(galvo_error *reterr, const char *call, int result);
galvo_status cupti_failed(galvo_error *reterr, const char *call, int result);
galvo_status nvml_failed(galvo_error *reterr, const char *call, int result);

#endif
