/* The double of libnvidia-ml: sets of events, and Xid errors as the scene has them. */
#include "double_nvml.h"

#include <pthread.h>

enum { SETS = 256 }; /* a handle is given out again after that many others */

enum set_state { SET_NONE, SET_OPEN, SET_FREED };

struct event_set {
	enum set_state state;
	bool is_on[SCENE_DEVICES];
	uint64_t from_ns[SCENE_DEVICES]; /* what was before is not told */
	uint32_t given[SCENE_XIDS];
};

static struct event_set sets[SETS];
static size_t sets_next;
static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;

void nvml_check_sets(void)
{
	size_t i;

	pthread_mutex_lock(&sets_lock);
	for (i = 0; i < SETS; i++)
		if (sets[i].state == SET_OPEN) {
			scene_violation("nvmlShutdown: a set of events is not freed");
			sets[i].state = SET_FREED;
		}
	pthread_mutex_unlock(&sets_lock);
}

/* With the lock held. */
static struct event_set *set_of(const char *call, void *handle)
{
	struct event_set *set = handle;

	if (set >= sets && set < sets + SETS && set->state == SET_OPEN)
		return set;
	scene_crash("%s: %s", call,
	            set >= sets && set < sets + SETS && set->state == SET_FREED
	                    ? "the set is freed" : "no such set");
	return NULL;
}

EXPORT(nvmlDeviceGetSupportedEventTypes, (void *handle, unsigned long long *ret))
{
	ENTER("nvmlDeviceGetSupportedEventTypes", handle);
	if (h.mig >= 0)
		return NVML_NOT_SUPPORTED;
	*ret = d->events;
	return NVML_OK;
}

EXPORT(nvmlEventSetCreate, (void **ret))
{
	int result = NVML_UNKNOWN;
	size_t i;

	ENTER_SYSTEM("nvmlEventSetCreate");
	pthread_mutex_lock(&sets_lock);
	for (i = 0; i < SETS && result; i++) {
		struct event_set *set = &sets[sets_next++ % SETS];

		if (set->state == SET_OPEN)
			continue;
		*set = (struct event_set){.state = SET_OPEN};
		*ret = set;
		result = NVML_OK;
	}
	pthread_mutex_unlock(&sets_lock);
	return result;
}

EXPORT(nvmlDeviceRegisterEvents, (void *handle, unsigned long long types, void *to))
{
	struct event_set *set;

	ENTER("nvmlDeviceRegisterEvents", handle);
	if (h.mig >= 0)
		return NVML_NOT_SUPPORTED;
	if (!types || types & ~(unsigned long long)d->events) {
		scene_violation("nvmlDeviceRegisterEvents: types %#llx, of which it supports %#x", types,
		                d->events);
		return types ? NVML_NOT_SUPPORTED : NVML_INVALID_ARGUMENT;
	}
	pthread_mutex_lock(&sets_lock);
	set = set_of("nvmlDeviceRegisterEvents", to);
	if (set && types & NVML_EVENT_XID && !set->is_on[h.device]) {
		set->is_on[h.device] = true;
		set->from_ns[h.device] = scene_now_ns(scene_of_process());
	}
	pthread_mutex_unlock(&sets_lock);
	return set ? NVML_OK : NVML_INVALID_ARGUMENT;
}

static bool is_for(const struct event_set *set, const struct scene_xid *x, uint64_t now)
{
	uint32_t i;

	if (x->at_ns > now || x->device < 0 || x->device >= SCENE_DEVICES)
		return false;
	for (i = 0; i < SCENE_DEVICES; i++)
		if (set->is_on[i] && x->at_ns >= set->from_ns[i] &&
		    (x->is_astray || (int32_t)i == x->device))
			return true;
	return false;
}

/* The oldest that it was not given yet. */
static int take(struct event_set *set, struct nvml_event_data *ret)
{
	const struct scene *s = scene_of_process();
	const struct scene_xid *x = NULL;
	uint64_t now = scene_now_ns(s);
	uint32_t i, at = 0;

	for (i = 0; i < s->xid_count; i++)
		if (set->given[i] < s->xids[i].times && is_for(set, &s->xids[i], now) &&
		    (!x || s->xids[i].at_ns < x->at_ns)) {
			x = &s->xids[i];
			at = i;
		}
	for (i = 0; i < SCENE_DEVICES && !x; i++)
		if (set->is_on[i] && scene_is_lost(i))
			return NVML_GPU_IS_LOST;
	if (!x)
		return NVML_TIMEOUT;
	set->given[at]++;
	*ret = (struct nvml_event_data){
		.device = nvml_handle_of((uint32_t)x->device), .eventType = NVML_EVENT_XID,
		.eventData = x->code, .gpuInstanceId = NVML_NO_INSTANCE,
		.computeInstanceId = NVML_NO_INSTANCE,
	};
	return NVML_OK;
}

/* Time may be a fake one: however long the wait, it is over at once. */
EXPORT(nvmlEventSetWait_v2, (void *from, struct nvml_event_data *ret, unsigned timeout_ms))
{
	struct event_set *set;
	int result = NVML_INVALID_ARGUMENT;

	(void)timeout_ms;
	ENTER_SYSTEM("nvmlEventSetWait_v2");
	pthread_mutex_lock(&sets_lock);
	set = set_of("nvmlEventSetWait_v2", from);
	if (set)
		result = take(set, ret);
	pthread_mutex_unlock(&sets_lock);
	return result;
}

EXPORT(nvmlEventSetFree, (void *handle))
{
	struct event_set *set;

	ENTER_SYSTEM("nvmlEventSetFree");
	pthread_mutex_lock(&sets_lock);
	set = set_of("nvmlEventSetFree", handle);
	if (set)
		set->state = SET_FREED;
	pthread_mutex_unlock(&sets_lock);
	return set ? NVML_OK : NVML_INVALID_ARGUMENT;
}
