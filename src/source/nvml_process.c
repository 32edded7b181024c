/* Who uses one of NVIDIA's GPUs: its lists of processes, whatever size their entries have. */
#include "nvml_device.h"

enum { ENTRIES_MIN = 64, ENTRIES_MAX = 1 << 16, USERS_MAX = 1 << 16, TRIES = 4 };
#define PID_LIMIT (UINT32_C(1) << 22) /* PID_MAX_LIMIT of the kernel */

struct nvml_user *nvml_user_of(struct gpu_device *d, uint32_t pid)
{
	size_t i;

	for (i = 0; i < d->users_len; i++)
		if (d->users[i].pid == pid)
			return &d->users[i];
	if (!grow_array((void **)&d->users, &d->users_cap, d->users_len, sizeof(*d->users), USERS_MAX))
		return NULL;
	d->users[d->users_len] = (struct nvml_user){.pid = pid};
	return &d->users[d->users_len++];
}

bool nvml_is_pid(uint32_t pid)
{
	return pid && pid <= PID_LIMIT;
}

/* ---- entries --------------------------------------------------------------------------------- */

struct list {
	unsigned n;
	size_t declared;      /* bytes of an entry, as the function that was called has it */
	uint64_t total_bytes; /* of the GPU's memory; 0: not known */
};

static struct nvml_process entry_at(const struct gpu_device *d, size_t stride, unsigned i)
{
	struct nvml_process e = {.gpuInstanceId = NVML_NO_INSTANCE,
	                         .computeInstanceId = NVML_NO_INSTANCE};
	size_t bytes = stride < sizeof(e) ? sizeof(struct nvml_process_v1) : sizeof(e);

	memcpy(&e, d->list + i * stride, bytes);
	return e;
}

static bool is_sane(const struct nvml_process *e, const struct list *list)
{
	return nvml_is_pid(e->pid) && (e->usedGpuMemory == NVML_NOT_AVAILABLE || !list->total_bytes ||
	                               e->usedGpuMemory <= list->total_bytes);
}

static bool all_are_sane(const struct gpu_device *d, size_t stride, const struct list *list)
{
	struct nvml_process e;
	unsigned i;

	for (i = 0; i < list->n; i++) {
		e = entry_at(d, stride, i);
		if (!is_sane(&e, list))
			return false;
	}
	return true;
}

/*
 * Drivers have written other entries than they declare: another size is right if all entries make sense
 * with it, and not otherwise. Nonsense at any size is nonsense.
 */
static size_t find_stride(const struct gpu_device *d, const struct list *list)
{
	static const size_t strides[] = {sizeof(struct nvml_process), NVML_ENTRY_BYTES,
	                                 sizeof(struct nvml_process_v1)};
	size_t i;

	if (all_are_sane(d, list->declared, list))
		return list->declared;
	for (i = 0; i < ARRAY_LEN(strides); i++)
		if (all_are_sane(d, strides[i], list))
			return strides[i];
	return list->declared;
}

/* Of an instance, entries of others are none of its. */
static bool is_of_part(const struct nvml_part *p, size_t part, const struct nvml_process *e)
{
	return part == 0 || ((e->gpuInstanceId == NVML_NO_INSTANCE ||
	                      e->gpuInstanceId == p->gpu_instance) &&
	                     (e->computeInstanceId == NVML_NO_INSTANCE ||
	                      e->computeInstanceId == p->compute_instance));
}

/* A process may be in several lists: its memory is in all of them, and counts once. */
static void take_entries(struct gpu_device *d, size_t part, const struct list *list)
{
	size_t stride = find_stride(d, list);
	struct nvml_user *user;
	struct nvml_process e;
	unsigned i;

	for (i = 0; i < list->n; i++) {
		e = entry_at(d, stride, i);
		if (!is_sane(&e, list) || !is_of_part(&d->parts[part], part, &e))
			continue;
		user = nvml_user_of(d, e.pid);
		if (!user)
			return;
		if (stride != list->declared)
			d->stride = stride;
		if (e.usedGpuMemory == NVML_NOT_AVAILABLE)
			continue;
		if (!user->has_memory || e.usedGpuMemory > user->memory_bytes)
			user->memory_bytes = e.usedGpuMemory;
		user->has_memory = true;
	}
}

/* ---- lists ----------------------------------------------------------------------------------- */

typedef int (*list_call)(void *, unsigned *, struct nvml_process *);
typedef int (*list_call_v1)(void *, unsigned *, struct nvml_process_v1 *);

static bool grow_list(struct gpu_device *d, uint32_t wanted)
{
	uint32_t cap = wanted < ENTRIES_MIN ? ENTRIES_MIN : wanted;
	char *list;

	if (cap <= d->list_cap)
		return true;
	if (cap > ENTRIES_MAX)
		return false;
	list = realloc(d->list, (size_t)cap * NVML_ENTRY_BYTES);
	if (!list)
		return false;
	d->list = list;
	d->list_cap = cap;
	return true;
}

/* Calls with all the room there is, and with more where that was too little. */
static bool get_list(struct gpu_device *d, size_t part, unsigned question, size_t offset,
                     list_call call, list_call_v1 call_v1, struct list *list)
{
	struct nvml_part *p = &d->parts[part];
	int result = NVML_INSUFFICIENT_SIZE, tries;

	if ((!call && !call_v1) || !nvml_may_ask(d, p, question) || !grow_list(d, ENTRIES_MIN))
		return false;
	for (tries = 0; result == NVML_INSUFFICIENT_SIZE && tries < TRIES; tries++) {
		if (tries && !grow_list(d, list->n > d->list_cap ? list->n + list->n / 2
		                                                 : 2 * d->list_cap))
			return false;
		memset(d->list, 0, (size_t)d->list_cap * NVML_ENTRY_BYTES);
		list->n = d->list_cap;
		result = call ? call(p->handle, &list->n, (struct nvml_process *)(void *)d->list)
		              : call_v1(p->handle, &list->n, (struct nvml_process_v1 *)(void *)d->list);
	}
	list->declared = call ? sizeof(struct nvml_process) : sizeof(struct nvml_process_v1);
	if (list->n > d->list_cap)
		list->n = d->list_cap;
	return nvml_answered(d, p, question, offset, result);
}

static bool read_lists(struct gpu_device *d, size_t part)
{
	const struct nvml *n = &d->library->nvml;
	const struct {
		unsigned question;
		size_t offset;
		list_call call;
		list_call_v1 call_v1;
	} lists[] = {
		{ASK_COMPUTE_PROCESSES, offsetof(struct nvml, compute_processes), n->compute_processes,
		 n->compute_processes_v1},
		{ASK_GRAPHICS_PROCESSES, offsetof(struct nvml, graphics_processes),
		 n->graphics_processes, n->graphics_processes_v1},
		{ASK_MPS_PROCESSES, offsetof(struct nvml, mps_processes), n->mps_processes, NULL},
	};
	struct nvml_memory_v2 memory;
	struct list list = {.total_bytes = 0};
	bool has_any = false;
	size_t i;

	if (nvml_memory(d, &d->parts[part], &memory) && !gpu_is_blank64(memory.total))
		list.total_bytes = memory.total;
	for (i = 0; i < ARRAY_LEN(lists); i++) {
		if (!get_list(d, part, lists[i].question, lists[i].offset, lists[i].call,
		              lists[i].call_v1, &list))
			continue;
		has_any = true;
		take_entries(d, part, &list);
	}
	return has_any;
}

/* ---- the reading ----------------------------------------------------------------------------- */

static void tell(const struct nvml_user *user, struct raw *r)
{
	static const uint8_t fields[] = {GPU_PROCESS_PERMILLE, GPU_PROCESS_MEMORY_PERMILLE,
	                                 GPU_PROCESS_ENCODER_PERMILLE, GPU_PROCESS_DECODER_PERMILLE};
	size_t i;

	if (user->has_memory)
		raw_put(r, GPU_PROCESS_MEMORY_BYTES, user->memory_bytes);
	/* Who has no sample, where others have, is known to have done nothing. */
	for (i = 0; user->has_use && i < ARRAY_LEN(fields); i++)
		raw_put(r, fields[i], user->permille[i]);
}

galvo_status nvml_read_processes(struct gpu_device *d, size_t part, struct raw_sink *sink,
                                 galvo_error *reterr)
{
	struct nvml_part *p = &d->parts[part];
	struct raw *r;
	size_t i;

	nvml_reading_begin(d);
	d->users_len = 0;
	p->has_processes = false;
	p->processes_len = 0;
	/* The whole of a GPU that is cut has none: each is listed with its instance. */
	if (d->library->is_wsl || (part == 0 && d->is_cut))
		return GALVO_OK;
	p->has_processes = read_lists(d, part);
	if (part == 0)
		nvml_read_use(d);
	p->processes_len = d->users_len;
	for (i = 0; i < d->users_len && !d->lost; i++) {
		r = sink->row(sink, (struct span){"", 0}, d->users[i].pid);
		if (r)
			tell(&d->users[i], r);
	}
	return nvml_reading_end(d, reterr);
}
