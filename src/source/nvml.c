/* NVIDIA's GPUs, by libnvidia-ml: finding them, what they are, what they are cut into. */
#include "nvml_device.h"

#include <math.h>
#include <unistd.h>

#define BIT(question) (UINT64_C(1) << (question))

/* ---- asking ---------------------------------------------------------------------------------- */

/* The GPU itself, or the whole library, is out of reach. */
static bool is_lost(int result)
{
	switch (result) {
	case NVML_UNINITIALIZED:
	case NVML_DRIVER_NOT_LOADED:
	case NVML_GPU_IS_LOST:
	case NVML_RESET_REQUIRED:
	case NVML_GPU_NOT_FOUND: return true;
	default: return false;
	}
}

bool nvml_answered(struct gpu_device *d, struct nvml_part *p, unsigned question, size_t call,
                   int result)
{
	char name[64];

	switch (result) {
	case NVML_OK: return true;
	case NVML_NOT_SUPPORTED:
	case NVML_FUNCTION_NOT_FOUND:
	case NVML_ARGUMENT_VERSION_MISMATCH: /* of the struct; there may be an older call */
		p->refused |= BIT(question);
		return false;
	case NVML_NOT_FOUND:
	case NVML_NO_DATA:
	case NVML_NOT_READY: return false; /* not now */
	default: break;
	}
	if (is_lost(result))
		d->lost = result;
	else
		p->put_off |= BIT(question);
	if (!d->failure.text[0] || d->lost) {
		nvml_call_name(call, name, sizeof(name));
		nvml_failed(&d->failure, name, result);
	}
	if (d->lost)
		nvml_blame_xid(d);
	return false;
}

void nvml_reading_begin(struct gpu_device *d)
{
	err_clear(&d->failure);
}

galvo_status nvml_reading_end(const struct gpu_device *d, galvo_error *reterr)
{
	if (d->failure.text[0] && reterr)
		*reterr = d->failure;
	if (d->lost)
		return err_set(reterr, GALVO_ERR_ABSENT, "%s", d->failure.text);
	return d->failure.status;
}

/* ---- the library ----------------------------------------------------------------------------- */

static struct nvidia_places places_of(const struct gpu_places *places)
{
	return (struct nvidia_places){
		.file = places->nvml, .root = places->root, .no_linker = places->no_linker,
	};
}

static galvo_status find(const struct gpu_places *places, const struct world *w, galvo_error *reterr)
{
	const struct nvidia_places where = places_of(places);

	(void)w;
	return nvml_find(&where, reterr);
}

static galvo_status begin(const struct gpu_places *places, const struct world *w, void **ret_library,
                          galvo_error *reterr)
{
	const struct nvidia_places where = places_of(places);
	struct nvml_library *l;
	galvo_status status;

	if (nvml_all_sleep(w))
		return GALVO_DONE;
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	l->world = w;
	l->is_wsl = faccessat(w->root_fd, "dev/dxg", F_OK, 0) == 0;
	l->foreign_pids = !gpu_pids_are_ours(w);
	tegra_look(l);
	status = nvml_open(&l->nvml, &where, reterr);
	if (status != GALVO_OK) {
		free(l);
		return status;
	}
	pthread_mutex_init(&l->mutex, NULL);
	if (l->nvml.driver_version(l->driver, sizeof(l->driver)) != NVML_OK)
		l->driver[0] = '\0';
	*ret_library = l;
	return GALVO_OK;
}

static void end(void *library)
{
	struct nvml_library *l = library;

	nvml_close(&l->nvml);
	pthread_mutex_destroy(&l->mutex);
	free(l);
}

/* Somebody in this process has shut it down for all: it is begun again, by the first who finds that. */
static void revive(struct nvml_library *l)
{
	unsigned n;

	pthread_mutex_lock(&l->mutex);
	if (l->nvml.count(&n) == NVML_UNINITIALIZED)
		l->nvml.init();
	pthread_mutex_unlock(&l->mutex);
}

static galvo_status count(void *library, uint32_t *ret, galvo_error *reterr)
{
	struct nvml_library *l = library;
	unsigned n = 0;
	int result = l->nvml.count(&n);

	if (result == NVML_UNINITIALIZED) {
		revive(l);
		result = l->nvml.count(&n);
	}
	if (result != NVML_OK)
		return nvml_failed(reterr, "nvmlDeviceGetCount_v2", result);
	*ret = n;
	return GALVO_OK;
}

static galvo_status attach(void *library, uint32_t number, struct gpu_device **ret_device,
                           galvo_error *reterr)
{
	struct nvml_library *l = library;
	struct gpu_device *d;
	void *handle = NULL;
	int result = l->nvml.by_index(number, &handle);

	if (result == NVML_UNINITIALIZED) {
		revive(l);
		result = l->nvml.by_index(number, &handle);
	}
	if (result != NVML_OK)
		return nvml_failed(reterr, "nvmlDeviceGetHandleByIndex_v2", result);
	d = calloc(1, sizeof(*d));
	if (!d)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	d->library = l;
	buf_init(&d->text, TEGRA_TEXT_MAX_BYTES);
	d->parts[0] = (struct nvml_part){.handle = handle, .index = number};
	d->parts_len = 1;
	*ret_device = d;
	return GALVO_OK;
}

static void detach(struct gpu_device *d)
{
	nvml_end_events(d);
	buf_finish(&d->text);
	free(d->list);
	free(d->samples);
	free(d->users);
	free(d->held);
	free(d);
}

/* ---- what it is ------------------------------------------------------------------------------ */

/* Names and numbers, none of which says anything of the others. */
#define FACT(d, p, member, ...)                                                                    \
	((p)->refused &= ~BIT(ASK_FACTS), (p)->put_off &= ~BIT(ASK_FACTS),                         \
	 NVML_ASK(d, p, ASK_FACTS, member, __VA_ARGS__))

static void take_text(char *to, size_t cap, const char *text)
{
	utf8_copy(to, cap, span_of(text, strnlen(text, NVML_NAME_CHARS)));
}

/* 00000000:3B:00.0 is 0000:3b:00.0 in sysfs. */
static void take_pci(char *to, size_t cap, const char *id)
{
	size_t n = strnlen(id, sizeof(((struct nvml_pci_info *)NULL)->busId)), i;

	if (n > 8 && id[8] == ':' && !strncmp(id, "0000", 4)) {
		id += 4;
		n -= 4;
	}
	utf8_copy(to, cap, span_of(id, n));
	for (i = 0; to[i]; i++)
		if (to[i] >= 'A' && to[i] <= 'F')
			to[i] = (char)(to[i] - 'A' + 'a');
}

/* Of each lane, in both directions alike, less what its encoding takes. */
static double pcie_peak(unsigned generation, unsigned width)
{
	static const double lane[] = {0, 250e6, 500e6, 985e6, 1969e6, 3938e6, 7563e6, 15125e6};

	return generation && generation < ARRAY_LEN(lane) && width ? lane[generation] * width : NAN;
}

static void look_at_links(struct gpu_device *d, struct nvml_part *p, struct gpu_info *info)
{
	struct nvml_field_value v[] = {{.fieldId = NVML_FIELD_NVLINK_COUNT},
	                               {.fieldId = NVML_FIELD_NVLINK_SPEED_MBPS}};
	unsigned generation = 0, width = 0;

	info->peak_pcie_bytes_per_s = info->peak_nvlink_bytes_per_s = NAN;
	if (FACT(d, p, max_pcie_generation, &generation) && FACT(d, p, max_pcie_width, &width))
		info->peak_pcie_bytes_per_s = pcie_peak(generation, width);
	if (!FACT(d, p, field_values, ARRAY_LEN(v), v))
		return;
	if (v[0].nvmlReturn == NVML_OK && v[0].value.uiVal <= NVML_MAX_LINKS)
		d->links = v[0].value.uiVal;
	/* It says Mbps and means megabytes. */
	if (d->links && v[1].nvmlReturn == NVML_OK && !gpu_is_blank32(v[1].value.uiVal) &&
	    v[1].value.uiVal)
		info->peak_nvlink_bytes_per_s = 1e6 * v[1].value.uiVal * d->links;
}

static void look_at_whole(struct gpu_device *d)
{
	struct nvml_pci_info pci = {.domain = 0};
	struct nvml_part *p = &d->parts[0];
	struct gpu_info *info = &d->info;
	char text[NVML_NAME_CHARS] = "";
	int major = 0, minor = 0;

	*info = (struct gpu_info){
		.index = p->index, .vendor = "nvidia", .foreign_pids = d->library->foreign_pids,
		.peak_dram_bytes_per_s = NAN,
	};
	if (FACT(d, p, name, text, sizeof(text)))
		take_text(info->name, sizeof(info->name), text);
	if (FACT(d, p, uuid, text, sizeof(text)))
		take_text(info->uuid, sizeof(info->uuid), text);
	utf8_copy(info->driver, sizeof(info->driver), span_str(d->library->driver));
	if (FACT(d, p, pci_info, &pci))
		take_pci(info->pci, sizeof(info->pci), pci.busId);
	if (FACT(d, p, compute_capability, &major, &minor) && major > 0 && minor >= 0) {
		info->compute_major = (uint32_t)major;
		info->compute_minor = (uint32_t)minor;
	}
	look_at_links(d, p, info);
	d->is_named = !d->lost && info->uuid[0];
}

/* ---- MIG ------------------------------------------------------------------------------------- */

/* That there is no such thing, that it is off, that it is on: three answers. */
static void look_at_mode(struct gpu_device *d)
{
	struct nvml_part *p = &d->parts[0];
	unsigned current = 0, pending = 0;
	bool was_cut = d->is_cut;

	if (!NVML_ASK(d, p, ASK_MIG_MODE, mig_mode, &current, &pending))
		current = pending = 0;
	d->is_cut = current == 1;
	d->is_cut_pending = !d->is_cut && pending == 1;
	if (d->is_cut != was_cut)
		p->refused &= BIT(ASK_MIG_MODE); /* it now answers other questions */
}

/* Instance `at` of the GPU has the number 100 * (GPU + 1) + at, which none of 100 GPUs has. */
static void look_at_instance(struct gpu_device *d, unsigned at, void *handle, struct nvml_part *p)
{
	struct nvml_part *whole = &d->parts[0];
	uint32_t index = (whole->index + 1) * 100 + at;
	unsigned gi = NVML_NO_INSTANCE, ci = NVML_NO_INSTANCE;
	struct nvml_part now = {.handle = handle, .index = index};

	/* Asked of the instance, remembered with nobody. */
	FACT(d, &now, gpu_instance, &gi);
	FACT(d, &now, compute_instance, &ci);
	if (p->index == index && p->handle == handle && p->gpu_instance == gi &&
	    p->compute_instance == ci)
		return;
	*p = now;
	p->gpu_instance = gi;
	p->compute_instance = ci;
}

static void look_at_instances(struct gpu_device *d)
{
	struct nvml_part *whole = &d->parts[0];
	unsigned most = 0, i;
	void *handle;

	d->parts_len = 1;
	if (!d->is_cut || !FACT(d, whole, max_mig_count, &most))
		return;
	for (i = 0; i < most && i < 100 && d->parts_len < GPU_PARTS_MAX; i++) {
		handle = NULL;
		/* In between there are places without one. */
		if (!d->library->nvml.mig_by_index ||
		    d->library->nvml.mig_by_index(whole->handle, i, &handle) != NVML_OK)
			continue;
		look_at_instance(d, i, handle, &d->parts[d->parts_len++]);
	}
}

static void tell_instance(struct gpu_device *d, struct nvml_part *p, struct gpu_info *to)
{
	char text[NVML_NAME_CHARS] = "";

	*to = d->info;
	to->note[0] = to->uuid[0] = '\0';
	to->peak_dram_bytes_per_s = to->peak_pcie_bytes_per_s = to->peak_nvlink_bytes_per_s = NAN;
	to->index = p->index;
	to->is_instance = true;
	to->parent = d->parts[0].index;
	to->gpu_instance = p->gpu_instance == NVML_NO_INSTANCE ? 0 : p->gpu_instance;
	to->compute_instance = p->compute_instance == NVML_NO_INSTANCE ? 0 : p->compute_instance;
	if (FACT(d, p, name, text, sizeof(text)))
		take_text(to->name, sizeof(to->name), text);
	if (FACT(d, p, uuid, text, sizeof(text)))
		take_text(to->uuid, sizeof(to->uuid), text);
}

/* ---- the look -------------------------------------------------------------------------------- */

static void tell_note(const struct gpu_device *d, char *to, size_t cap)
{
	const struct {
		bool is_so;
		const char *text;
	} notes[] = {
		{d->is_cut_pending, "MIG is off, and on after the next reset"},
		{d->is_cut, "MIG is on: the load is that of its instances, which do not tell it"},
		{d->library->is_wsl, "the driver is that of Windows (WSL), which tells no processes"},
		{d->library->load_path[0], "its memory is the machine's"},
		{d->stride, "its lists of processes have entries of another size than declared"},
	};
	size_t i, at = 0;

	to[0] = '\0';
	for (i = 0; i < ARRAY_LEN(notes); i++)
		if (notes[i].is_so && at + strlen(notes[i].text) + 3 <= cap)
			at += (size_t)snprintf(to + at, cap - at, "%s%s", at ? "; " : "", notes[i].text);
}

static galvo_status look(struct gpu_device *d, struct gpu_info to[GPU_PARTS_MAX], size_t *ret_len,
                         galvo_error *reterr)
{
	struct nvml_memory_v2 memory;
	size_t i;

	nvml_reading_begin(d);
	for (i = 0; i < d->parts_len; i++)
		d->parts[i].put_off = 0;
	if (!d->is_named)
		look_at_whole(d);
	look_at_mode(d);
	look_at_instances(d);
	tell_note(d, d->info.note, sizeof(d->info.note));
	to[0] = d->info;
	for (i = 1; i < d->parts_len; i++)
		tell_instance(d, &d->parts[i], &to[i]);
	for (i = 0; i < d->parts_len; i++)
		if (nvml_memory(d, &d->parts[i], &memory))
			to[i].memory_bytes = memory.total;
	*ret_len = d->parts_len;
	return nvml_reading_end(d, reterr);
}

const struct gpu_vendor gpu_vendor_nvidia = {
	.name = "nvidia",
	.find = find,
	.begin = begin,
	.end = end,
	.count = count,
	.attach = attach,
	.detach = detach,
	.look = look,
	.read = {
		[GPU_FAST] = nvml_read_fast,
		[GPU_LINK] = nvml_read_link,
		[GPU_PROCESSES] = nvml_read_processes,
		[GPU_DETAIL] = nvml_read_detail,
	},
};
