/* libcuda: the driver API, which comes with the driver. */
#include "nvidia.h"

#include "places.h"

static const struct dso_symbol cuda_symbols[] = {
#define X(member, names, args, required) {names, offsetof(struct cuda, member), required},
	CUDA_CALLS(X)
#undef X
};

static bool judge_cuda(void *ctx, void *handle, galvo_error *reterr)
{
	struct cuda *c = ctx;
	int result;

	memset(c, 0, sizeof(*c));
	if (dso_bind(handle, cuda_symbols, ARRAY_LEN(cuda_symbols), c, reterr))
		return false;
	result = c->driver_get_version(&c->version);
	if (result) {
		cuda_failed(reterr, "cuDriverGetVersion", result);
		err_wrap(reterr, "%s", dso_path(handle));
		return false;
	}
	c->handle = handle;
	c->path = dso_path(handle);
	return true;
}

galvo_status cuda_open(struct cuda *ret, const struct nvidia_places *where, galvo_error *reterr)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static const struct library library = {names, driver_folders, NULL, NULL};
	struct cuda c;
	galvo_status status = library_find(&library, where, judge_cuda, &c, reterr);

	if (!status)
		*ret = c;
	return status;
}

void cuda_close(struct cuda *c)
{
	if (c)
		memset(c, 0, sizeof(*c));
}
