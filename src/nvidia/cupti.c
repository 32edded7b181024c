/* libcupti: hardware counters, which come with a CUDA toolkit. */
#include "nvidia.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "places.h"

static const struct dso_symbol cupti_symbols[] = {
#define X(member, function, args, required) {#function, offsetof(struct cupti, member), required},
	CUPTI_PLAIN(X)
#undef X
#define X(member, function, tag, last) {#function, offsetof(struct cupti, member), true},
	CUPTI_CALLS(X)
#undef X
#define X(member, function, tag, old, added, since)                                                \
	{#function, offsetof(struct cupti, member), true},
	CUPTI_GROWN(X)
#undef X
};

static const struct dso_symbol nvperf_symbols[] = {
	{"NVPW_InitializeHost", offsetof(struct cupti, nvperf_initialize), false},
	{"NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize",
	 offsetof(struct cupti, nvperf_sample_size), false},
};

uint32_t cupti_cuda_version(uint32_t version)
{
	static const uint32_t counted[] = {12060, 12070, 12080, 12090, 12090};

	if (version >= 100000)
		return version / 10000 * 1000 + version / 100 % 100 * 10;
	if (version < 24)
		return 0;
	return version - 24 < ARRAY_LEN(counted) ? counted[version - 24] : 12090;
}

struct cupti_sizes cupti_sizes_of(uint32_t version)
{
	struct cupti_sizes sizes = {
#define X(member, function, tag, old, added, since)                                                \
	.member = version >= (since) ? CUPTI_UNTIL(tag, added) : CUPTI_UNTIL(tag, old),
		CUPTI_GROWN(X)
#undef X
	};

	return sizes;
}

struct judge_ctx {
	struct cupti *cupti;
	int driver_version;
};

static bool judge_cupti(void *ctx, void *handle, galvo_error *reterr)
{
	struct judge_ctx *j = ctx;
	struct cupti *c = j->cupti;
	const char *path = dso_path(handle);
	int (*get_version)(uint32_t *) = NULL;
	const struct dso_symbol version = {"cuptiGetVersion", 0, true};

	memset(c, 0, sizeof(*c));
	if (dso_bind(handle, &version, 1, &get_version, reterr))
		return false;
	if (get_version(&c->version))
		return err_set(reterr, GALVO_ERR_ABSENT, "%s: tells no version", path), false;
	c->cuda = cupti_cuda_version(c->version);
	if (c->cuda == 0)
		return err_set(reterr, GALVO_ERR_ABSENT,
		               "%s: is of CUPTI %u, too old: PM sampling came with CUDA 12.6", path,
		               c->version), false;
	if (j->driver_version > 0 && c->cuda / 1000 > (uint32_t)j->driver_version / 1000)
		return err_set(reterr, GALVO_ERR_ABSENT,
		               "%s: is of CUDA %u.%u, too new: the driver can do %d.%d", path,
		               c->cuda / 1000, c->cuda % 1000 / 10, j->driver_version / 1000,
		               j->driver_version % 1000 / 10), false;
	if (dso_bind(handle, cupti_symbols, ARRAY_LEN(cupti_symbols), c, reterr))
		return false;
	c->sizes = cupti_sizes_of(c->version);
	c->handle = handle;
	c->path = path;
	return true;
}

/*
 * libcupti asks the linker for the bare name of libnvperf_host.so and does not look beside itself.
 * Loaded from there before its first call, that one is taken; another one may belong to another
 * CUDA.
 */
static void *load_beside(const char *path, const char *name)
{
	char real[PATH_MAX], file[PATH_MAX];
	char *slash;

	if (!realpath(path, real) || !(slash = strrchr(real, '/')))
		return NULL;
	*slash = '\0';
	if ((size_t)snprintf(file, sizeof(file), "%s/%s", real, name) >= sizeof(file) ||
	    access(file, R_OK) != 0)
		return NULL;
	return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

galvo_status cupti_open(struct cupti *ret, const struct nvidia_places *where, int driver_version,
                        galvo_error *reterr)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", NULL};
	static const char *const home[] = {
		"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib",
		"targets/sbsa-linux/lib", NULL};
	static const char *const python[] = {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib", NULL};
	struct library library = {names, NULL, home, python};
	struct cupti c;
	struct judge_ctx ctx = {&c, driver_version};
	galvo_status status;

	/* A driver of 12.x cannot do 13: do not even load that. */
	if (driver_version > 0 && driver_version < 13000)
		library.names = names + 1;
	status = library_find(&library, where, judge_cupti, &ctx, reterr);
	if (status)
		return status;
	c.nvperf = load_beside(c.path, "libnvperf_host.so");
	load_beside(c.path, "libnvperf_target.so");
	if (c.nvperf)
		dso_bind(c.nvperf, nvperf_symbols, ARRAY_LEN(nvperf_symbols), &c, NULL);
	*ret = c;
	return GALVO_OK;
}

void cupti_close(struct cupti *c)
{
	if (c)
		memset(c, 0, sizeof(*c));
}

enum {
#define X(member, function, tag, old, added, since) ROW_##member,
	CUPTI_GROWN(X)
#undef X
};

/*
 * With the size that is known to work, and if that is refused for the first time, with the other
 * one.
 */
#define X(member_, function, tag, old, added, since)                                               \
	int cupti_##member_(struct cupti *c, struct tag *params)                                   \
	{                                                                                          \
		const uint32_t bit = UINT32_C(1) << ROW_##member_;                                 \
		size_t other = CUPTI_UNTIL(tag, old);                                              \
		int first, second;                                                                 \
                                                                                                   \
		if (c->sizes.member_ == other)                                                     \
			other = CUPTI_UNTIL(tag, added);                                           \
		params->structSize = c->sizes.member_;                                             \
		first = c->member_(params);                                                        \
		if (first != CUPTI_INVALID_PARAMETER || (c->resized & bit))                        \
			return first;                                                              \
		params->structSize = other;                                                        \
		second = c->member_(params);                                                       \
		if (second == CUPTI_INVALID_PARAMETER)                                             \
			return first;                                                              \
		c->sizes.member_ = other;                                                          \
		c->resized |= bit;                                                                 \
		return second;                                                                     \
	}
CUPTI_GROWN(X)
#undef X

galvo_status cupti_begin(const struct cupti *c, const struct cuda *cuda, galvo_error *reterr)
{
	struct cupti_nothing nothing = {.pPriv = NULL};
	int result, count = 0;

	result = cuda->init(0);
	if (result)
		return cuda_failed(reterr, "cuInit", result);
	result = cuda->device_get_count(&count);
	if (result)
		return cuda_failed(reterr, "cuDeviceGetCount", result);
	if (count <= 0)
		return err_set(reterr, GALVO_ERR_ABSENT, "CUDA sees no device");
	result = CUPTI_CALL(c, initialize, &nothing);
	if (result)
		return cupti_failed(reterr, "cuptiProfilerInitialize", result);
	return GALVO_OK;
}

galvo_status cupti_sample_bytes(const struct cupti *c, const uint8_t *image, size_t image_bytes,
                                size_t *ret_bytes, galvo_error *reterr)
{
	struct nvperf_initialize_host host = {
		.structSize = CUPTI_UNTIL(nvperf_initialize_host, pPriv),
	};
	struct nvperf_sample_size size = {
		.structSize = CUPTI_UNTIL(nvperf_sample_size, sampleSize),
		.pConfig = image,
		.configSize = image_bytes,
	};

	if (!c->nvperf_initialize || !c->nvperf_sample_size)
		return err_set(reterr, GALVO_ERR_ABSENT,
		               "no libnvperf_host.so that tells the size of samples");
	if (c->nvperf_initialize(&host) || c->nvperf_sample_size(&size) || size.sampleSize == 0)
		return err_set(reterr, GALVO_ERR_ABSENT,
		               "libnvperf_host.so does not tell the size of samples");
	*ret_bytes = size.sampleSize;
	return GALVO_OK;
}
