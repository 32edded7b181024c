/* libnvidia-ml: telemetry, which comes with the driver. */
#include "nvidia.h"

#include "places.h"

static const struct dso_symbol nvml_symbols[] = {
	{"nvmlErrorString", offsetof(struct nvml, error_string), true},
#define X(member, names, args, required) {names, offsetof(struct nvml, member), required},
	NVML_CALLS(X)
#undef X
};

/* Has it the functions? */
static bool judge_functions(void *ctx, void *handle, galvo_error *reterr)
{
	struct nvml *n = ctx;

	memset(n, 0, sizeof(*n));
	return dso_bind(handle, nvml_symbols, ARRAY_LEN(nvml_symbols), n, reterr) == GALVO_OK;
}

static bool judge_nvml(void *ctx, void *handle, galvo_error *reterr)
{
	struct nvml *n = ctx;
	int result;

	if (!judge_functions(ctx, handle, reterr))
		return false;
	result = n->init();
	if (result) {
		nvml_failed(reterr, "nvmlInit_v2", result);
		err_wrap(reterr, "%s", dso_path(handle));
		return false;
	}
	n->handle = handle;
	n->path = dso_path(handle);
	return true;
}

static const char *const names[] = {"libnvidia-ml.so.1", NULL};
static const struct library library = {names, driver_folders, NULL, NULL};

galvo_status nvml_find(const struct nvidia_places *where, galvo_error *reterr)
{
	struct nvml n;

	return library_find(&library, where, judge_functions, &n, reterr);
}

galvo_status nvml_open(struct nvml *ret, const struct nvidia_places *where, galvo_error *reterr)
{
	struct nvml n;
	galvo_status status = library_find(&library, where, judge_nvml, &n, reterr);

	if (!status)
		*ret = n;
	return status;
}

void nvml_call_name(size_t offset, char *to, size_t cap)
{
	struct span rest, name = span_str("?");
	size_t i;

	for (i = 0; i < ARRAY_LEN(nvml_symbols); i++)
		if (nvml_symbols[i].offset == offset) {
			rest = span_str(nvml_symbols[i].names);
			span_take_word(&rest, &name);
		}
	snprintf(to, cap, "%.*s", (int)name.n, name.p);
}

void nvml_close(struct nvml *n)
{
	if (!n)
		return;
	if (n->handle)
		n->shutdown();
	memset(n, 0, sizeof(*n));
}
