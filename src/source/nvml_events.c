/* Xid errors of one of NVIDIA's GPUs: the driver tells each once, to who listens when it happens. */
#include "nvml_device.h"

enum { EVENTS_MAX = 64 }; /* in one reading; the next one goes on */

static bool has_calls(const struct nvml *nvml)
{
	return nvml->event_types && nvml->event_set_create && nvml->register_events &&
	       nvml->event_set_wait && nvml->event_set_free;
}

/* A set with one GPU on it: a thread that waits takes nothing away from another. */
static bool begin_events(struct gpu_device *d, struct nvml_part *p)
{
	const struct nvml *nvml = &d->library->nvml;
	unsigned long long types = 0;
	void *set = NULL;

	if (d->events)
		return true;
	if (!has_calls(nvml) || !NVML_ASK(d, p, ASK_EVENTS, event_types, &types))
		return false;
	if (!(types & NVML_EVENT_XID))
		return nvml_answered(d, p, ASK_EVENTS, offsetof(struct nvml, event_types),
		                     NVML_NOT_SUPPORTED);
	if (!nvml_answered(d, p, ASK_EVENTS, offsetof(struct nvml, event_set_create),
	                   nvml->event_set_create(&set)))
		return false;
	if (NVML_ASK(d, p, ASK_EVENTS, register_events, NVML_EVENT_XID, set))
		d->events = set;
	else
		nvml->event_set_free(set);
	return d->events != NULL;
}

/* No document says that it is told by the same pointer. */
static bool is_of_another(const struct gpu_device *d, const struct nvml_part *p, void *device)
{
	char uuid[NVML_NAME_CHARS] = "";

	return device != p->handle &&
	       d->library->nvml.uuid(device, uuid, sizeof(uuid)) == NVML_OK &&
	       strncmp(uuid, d->info.uuid, sizeof(d->info.uuid)) != 0;
}

/* NVML_TIMEOUT: that was all. */
static int take_events(struct gpu_device *d, const struct nvml_part *p)
{
	struct nvml_xids *xids = &d->library->xids[p->index];
	int result = NVML_OK;
	unsigned i;

	for (i = 0; i < EVENTS_MAX; i++) {
		struct nvml_event_data event = {.eventType = 0};

		result = d->library->nvml.event_set_wait(d->events, &event, 0);
		if (result != NVML_OK)
			break;
		if (is_of_another(d, p, event.device) || event.eventType != NVML_EVENT_XID)
			continue;
		xids->count++;
		xids->last = event.eventData;
	}
	return result;
}

void nvml_read_xids(struct gpu_device *d, struct nvml_part *p, struct raw *r)
{
	const struct nvml_xids *xids;
	int result;

	if (p->index >= NVML_GPUS_MAX || !nvml_may_ask(d, p, ASK_EVENTS) || !begin_events(d, p))
		return;
	result = take_events(d, p);
	if (result != NVML_TIMEOUT &&
	    !nvml_answered(d, p, ASK_EVENTS, offsetof(struct nvml, event_set_wait), result))
		return;
	xids = &d->library->xids[p->index];
	raw_put(r, GPU_XID_ERRORS, xids->count);
	if (xids->count)
		raw_put(r, GPU_XID_LAST, xids->last);
}

void nvml_blame_xid(struct gpu_device *d)
{
	const struct nvml_xids *xids;
	uint64_t before;

	if (!d->events)
		return;
	xids = &d->library->xids[d->parts[0].index];
	before = xids->count;
	take_events(d, &d->parts[0]);
	if (xids->count > before)
		err_wrap(&d->failure, "Xid %llu", (unsigned long long)xids->last);
}

void nvml_end_events(struct gpu_device *d)
{
	if (!d->events)
		return;
	take_events(d, &d->parts[0]);
	d->library->nvml.event_set_free(d->events);
	d->events = NULL;
}
