/* How much of one of NVIDIA's GPUs each process used since the last look. */
#include "nvml_device.h"

#define US_PER_S UINT64_C(1000000)
#define HOLD_US (3 * US_PER_S / 2) /* drivers sample each sixth of a second, to each second */

enum { SAMPLES_MIN = 128, SAMPLES_MAX = 1 << 14, USERS_MAX = 1 << 16, TRIES = 4 };

static bool grow_samples(struct gpu_device *d, uint32_t wanted)
{
	uint32_t cap = wanted < SAMPLES_MIN ? SAMPLES_MIN : wanted;
	struct nvml_process_sample *samples;

	if (cap <= d->samples_cap)
		return true;
	if (cap > SAMPLES_MAX)
		return false;
	samples = realloc(d->samples, cap * sizeof(*samples));
	if (!samples)
		return false;
	d->samples = samples;
	d->samples_cap = cap;
	return true;
}

/* The newer call, whose entries are larger, by way of the same room. */
static int call_use(struct gpu_device *d, unsigned *n)
{
	struct nvml_processes_use info = {.version = NVML_VERSION(nvml_processes_use, 1),
	                                  .lastSeenTimeStamp = d->seen};
	struct nvml_process_use *uses;
	unsigned i;
	int result;

	info.processSamplesCount = (uint32_t)(*n * sizeof(*d->samples) / sizeof(*uses));
	info.procUtilArray = uses = (struct nvml_process_use *)(void *)d->samples;
	result = d->library->nvml.processes_use(d->parts[0].handle, &info);
	*n = info.processSamplesCount;
	for (i = 0; result == NVML_OK && i < *n && i < d->samples_cap; i++) {
		struct nvml_process_use u;

		/* Entry i ends behind where it goes to: it is taken out before. */
		memcpy(&u, &uses[i], sizeof(u));
		d->samples[i] = (struct nvml_process_sample){
			.pid = u.pid, .timeStamp = u.timeStamp, .smUtil = u.smUtil,
			.memUtil = u.memUtil, .encUtil = u.encUtil, .decUtil = u.decUtil,
		};
	}
	return result;
}

/* DONE: nothing new; ABSENT: it cannot be had. */
static galvo_status get_samples(struct gpu_device *d, unsigned *ret_n)
{
	struct nvml_part *p = &d->parts[0];
	const struct nvml *nvml = &d->library->nvml;
	bool is_old = nvml->process_utilization && nvml_may_ask(d, p, ASK_PROCESS_SAMPLES);
	unsigned question = is_old ? ASK_PROCESS_SAMPLES : ASK_PROCESS_USE;
	size_t call = is_old ? offsetof(struct nvml, process_utilization)
	                     : offsetof(struct nvml, processes_use);
	int result = NVML_INSUFFICIENT_SIZE, tries;
	unsigned n = 0;

	if (!is_old && !(nvml->processes_use && nvml_may_ask(d, p, ASK_PROCESS_USE)))
		return GALVO_ERR_ABSENT;
	for (tries = 0; result == NVML_INSUFFICIENT_SIZE && tries < TRIES; tries++) {
		/* It tells how many there are, or not even that. */
		if (!grow_samples(d, n > d->samples_cap ? n + n / 2 : tries ? 2 * d->samples_cap : 0))
			return GALVO_ERR_ABSENT;
		n = d->samples_cap;
		result = is_old ? nvml->process_utilization(p->handle, d->samples, &n, d->seen)
		                : call_use(d, &n);
	}
	*ret_n = n < d->samples_cap ? n : d->samples_cap;
	if (result == NVML_NOT_FOUND)
		return GALVO_DONE;
	return nvml_answered(d, p, question, call, result) ? GALVO_OK : GALVO_ERR_ABSENT;
}

/* Samples may be old ones, or made of whatever was in memory. */
static bool is_sane(const struct gpu_device *d, const struct nvml_process_sample *s, uint64_t now_us)
{
	return nvml_is_pid(s->pid) && s->timeStamp > d->seen && s->timeStamp <= now_us &&
	       s->smUtil <= 100 && s->memUtil <= 100 && s->encUtil <= 100 && s->decUtil <= 100;
}

static int by_time(const void *a, const void *b)
{
	const struct nvml_process_sample *x = a, *y = b;

	return x->timeStamp < y->timeStamp ? -1 : x->timeStamp > y->timeStamp;
}

/* Each sample is of the time since the one before of its process. */
static void add_sample(struct gpu_device *d, const struct nvml_process_sample *s)
{
	const uint64_t pct[] = {s->smUtil, s->memUtil, s->encUtil, s->decUtil};
	struct nvml_user *user = nvml_user_of(d, s->pid);
	uint64_t from;
	size_t i;

	if (!user)
		return;
	from = user->last ? user->last : d->seen;
	for (i = 0; i < ARRAY_LEN(pct); i++)
		user->area[i] += pct[i] * (s->timeStamp - from);
	user->last = s->timeStamp;
}

/* To tenths of a percent, over its own samples: the last one of each tells up to when it is known. */
static void settle_user(const struct gpu_device *d, struct nvml_user *user)
{
	uint64_t span = user->last ? user->last - d->seen : 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(user->area); i++)
		user->permille[i] = span ? (uint32_t)((user->area[i] * 10 + span / 2) / span) : 0;
}

/* All of them, as it is for as long as no sample comes. */
static void keep_use(struct gpu_device *d)
{
	d->held_len = 0;
	while (d->held_len < d->users_len &&
	       grow_array((void **)&d->held, &d->held_cap, d->held_len, sizeof(*d->held), USERS_MAX)) {
		d->users[d->held_len].has_use = true;
		d->held[d->held_len] = d->users[d->held_len];
		d->held_len++;
	}
}

/* No sample has come, and need not have: each is as it was; of one that is new nothing is known. */
static void hold_use(struct gpu_device *d)
{
	size_t i, k;

	for (i = 0; i < d->users_len; i++)
		for (k = 0; k < d->held_len; k++)
			if (d->held[k].pid == d->users[i].pid) {
				d->users[i].has_use = true;
				memcpy(d->users[i].permille, d->held[k].permille,
				       sizeof(d->users[i].permille));
			}
}

void nvml_read_use(struct gpu_device *d)
{
	const struct clock *clock = d->library->world->clock;
	/* Its clock and ours are of one machine; a second is room for what was set in between. */
	uint64_t wall_us = clock->wall_ns(clock) / 1000, now_us = wall_us + US_PER_S, newest = 0;
	galvo_status status;
	unsigned n, i, good = 0;

	if (!d->seen || d->seen > now_us)
		d->seen = wall_us > US_PER_S ? wall_us - US_PER_S : 1;
	status = get_samples(d, &n);
	if (status == GALVO_ERR_ABSENT)
		return;
	for (i = 0; status == GALVO_OK && i < n; i++)
		if (is_sane(d, &d->samples[i], now_us))
			d->samples[good++] = d->samples[i];
	qsort(d->samples, good, sizeof(*d->samples), by_time);
	for (i = 0; i < good; i++) {
		add_sample(d, &d->samples[i]);
		newest = d->samples[i].timeStamp;
	}
	if (!newest && wall_us <= d->seen + HOLD_US) {
		hold_use(d);
		return;
	}
	for (i = 0; i < d->users_len; i++)
		settle_user(d, &d->users[i]);
	keep_use(d);
	if (newest)
		d->seen = newest;
}
