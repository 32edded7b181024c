/* From the GPU's clock to ours: anchors, instants that are known on both of them. */
#include <float.h>
#include <math.h>

#include "gpu.h"

enum {
	TRIES = 4,
	TRY_NS = 1000000,
	POLLS = 10000,       /* of one try, should time stand still */
	PATIENT_NAPS = 400,  /* of the last try, where the GPU is busy with another program's work */
	NAP_NS = 50000,
	GOOD_NS = 4000,      /* as close as that: no further try */
	TICK_NS = 500,       /* the resolution of events, as the vendor has it */
};
static const uint64_t ANCHOR_EVERY_NS = 500 * NS_PER_MS, ANCHOR_FIRST_NS = 20 * NS_PER_MS;
static const double DRIFT = 200e-6, /* between the clocks, until it is measured */
	NONSENSE = 2000e-6,         /* beyond what clocks do: that of the GPU was set */
	ROUNDING = FLT_EPSILON / 2.0;  /* a time of CUDA's is rounded by up to that share of it */

int gpu_clock_init(struct gpu *g, struct gpu_clock *k)
{
	int result = g->cuda.stream_create(&k->stream, CUDA_STREAM_NON_BLOCKING);

	if (result)
		return result;
	for (k->spare_len = 0; k->spare_len < ARRAY_LEN(k->spare); k->spare_len++) {
		result = g->cuda.event_create(&k->spare[k->spare_len], CUDA_EVENT_DEFAULT);
		if (result) {
			gpu_clock_finish(g, k);
			return result;
		}
	}
	k->pace = 1;
	k->pace_error = DRIFT;
	return CUDA_OK;
}

static void forget(struct gpu_clock *k)
{
	while (k->len)
		k->spare[k->spare_len++] = k->anchors[--k->len].event;
}

void gpu_clock_finish(struct gpu *g, struct gpu_clock *k)
{
	forget(k);
	while (k->spare_len)
		g->cuda.event_destroy(k->spare[--k->spare_len]);
	if (g->cuda.stream_destroy)
		g->cuda.stream_destroy(k->stream);
	k->stream = NULL;
}

/* ---- anchors --------------------------------------------------------------------------------------- */

bool gpu_clock_is_due(const struct gpu_clock *k, uint64_t mono_ns)
{
	uint64_t age_ns, every_ns;

	if (!k->len)
		return true;
	/* At first often, until there is a pace. */
	age_ns = k->anchors[k->len - 1].mono_ns - k->anchors[0].mono_ns;
	every_ns = age_ns > ANCHOR_FIRST_NS ? age_ns : ANCHOR_FIRST_NS;
	if (every_ns > ANCHOR_EVERY_NS)
		every_ns = ANCHOR_EVERY_NS;
	return mono_ns - k->added_mono_ns >= every_ns;
}

/* The stream is idle: the GPU gets there between the call and the poll that finds it so. */
static int try_anchor(const struct gpu *g, const struct gpu_clock *k, bool is_patient,
                      struct event_anchor *a)
{
	const struct timespec nap = {0, NAP_NS};
	const uint64_t from_ns = g->clock->mono_ns(g->clock);
	int result = g->cuda.event_record(a->event, k->stream), i = 0;
	uint64_t to_ns;

	if (result)
		return result;
	do {
		result = g->cuda.event_query(a->event);
		to_ns = g->clock->mono_ns(g->clock);
	} while (result == CUDA_NOT_READY && to_ns - from_ns < TRY_NS && i++ < POLLS);
	for (i = 0; i < PATIENT_NAPS && is_patient && result == CUDA_NOT_READY; i++) {
		nanosleep(&nap, NULL);
		result = g->cuda.event_query(a->event);
		to_ns = g->clock->mono_ns(g->clock);
	}
	a->mono_ns = from_ns + (to_ns - from_ns) / 2;
	a->half_ns = (to_ns - from_ns + 1) / 2;
	return result;
}

/* The best of some tries; its event is no spare one any more. */
static int find_anchor(const struct gpu *g, struct gpu_clock *k, struct event_anchor *best)
{
	struct event_anchor a = {0};
	int result = CUDA_NOT_READY, i;

	*best = (struct event_anchor){.half_ns = UINT64_MAX};
	for (i = 1; i <= TRIES && best->half_ns > GOOD_NS; i++) {
		a = (struct event_anchor){.event = k->spare[--k->spare_len]};
		result = try_anchor(g, k, i == TRIES && !best->event, &a);
		if (result == CUDA_OK && a.half_ns < best->half_ns) {
			struct event_anchor worse = *best;

			*best = a;
			a = worse;
		}
		if (a.event)
			k->spare[k->spare_len++] = a.event;
		if (result != CUDA_OK && result != CUDA_NOT_READY)
			break;
	}
	return best->event ? CUDA_OK : result;
}

/* How long the GPU took from one to the other, and how far off that may be. */
static int elapsed(const struct gpu *g, void *from, void *to, double *ret_ns, double *ret_error_ns)
{
	float ms = 0;
	int result = g->cuda.event_elapsed(&ms, from, to);

	if (!result && !isfinite(ms))
		result = CUDA_UNKNOWN;
	*ret_ns = (double)ms * 1e6;
	*ret_error_ns = TICK_NS + fabs(*ret_ns) * ROUNDING;
	return result;
}

/* Of the two anchors that say it best. */
static void set_pace(struct gpu_clock *k)
{
	const struct event_anchor *from, *to, *const end = k->anchors + k->len;

	k->pace = 1;
	k->pace_error = DRIFT;
	for (to = k->anchors; to < end; to++)
		for (from = k->anchors; from < to; from++) {
			const double gpu_ns = to->gpu_ns - from->gpu_ns;
			const double off_ns = (double)(from->half_ns + to->half_ns + 2 * TICK_NS) +
			                      gpu_ns * ROUNDING;

			if (gpu_ns <= 0 || off_ns > gpu_ns * k->pace_error)
				continue;
			k->pace = (double)(to->mono_ns - from->mono_ns) / gpu_ns;
			k->pace_error = off_ns / gpu_ns;
		}
}

/* How far off an instant is that is so far from it. */
static double error_at(const struct gpu_clock *k, const struct event_anchor *a, double ns)
{
	return (double)a->half_ns + TICK_NS + fabs(ns) * (k->pace_error + ROUNDING);
}

static void append(struct gpu_clock *k, const struct event_anchor *a)
{
	if (k->len == GPU_ANCHORS) {
		k->spare[k->spare_len++] = k->anchors[0].event;
		memmove(k->anchors, k->anchors + 1, --k->len * sizeof(*k->anchors));
	}
	k->anchors[k->len++] = *a;
	set_pace(k);
}

static int add(const struct gpu *g, struct gpu_clock *k, struct event_anchor *a)
{
	const struct event_anchor *last = &k->anchors[k->len ? k->len - 1 : 0];
	double ns = 0, error_ns = 0, own_ns;
	bool is_of_use = true;
	int result = CUDA_OK;

	k->added_mono_ns = a->mono_ns;
	if (k->len) {
		result = elapsed(g, last->event, a->event, &ns, &error_ns);
		own_ns = (double)(a->mono_ns - last->mono_ns);
		if (!result && fabs(ns - own_ns) > own_ns * NONSENSE + (double)(last->half_ns + a->half_ns) +
		                                   error_ns)
			forget(k);
		else
			is_of_use = (double)a->half_ns <= error_at(k, last, ns);
		a->gpu_ns = k->len ? last->gpu_ns + ns : 0;
	}
	if (result || !is_of_use)
		k->spare[k->spare_len++] = a->event;
	else
		append(k, a);
	return result;
}

int gpu_clock_anchor(struct gpu *g, struct gpu_clock *k)
{
	struct event_anchor a;
	int result = find_anchor(g, k, &a);

	return result ? result : add(g, k, &a);
}

/* ---- instants -------------------------------------------------------------------------------------- */

/* One that was hard to get is worse than another one that is farther away. */
static const struct event_anchor *best_for(const struct gpu_clock *k, double gpu_ns)
{
	const struct event_anchor *best = &k->anchors[k->len - 1], *a;

	for (a = k->anchors; a < k->anchors + k->len; a++)
		if (error_at(k, a, a->gpu_ns - gpu_ns) < error_at(k, best, best->gpu_ns - gpu_ns))
			best = a;
	return best;
}

int gpu_clock_place(struct gpu *g, struct gpu_clock *k, void *event, struct gpu_instant *ret)
{
	const struct event_anchor *last = &k->anchors[k->len - 1], *a;
	double ns, error_ns;
	int result = elapsed(g, last->event, event, &ns, &error_ns);

	if (result)
		return result;
	a = best_for(k, last->gpu_ns + ns);
	if (a != last)
		result = elapsed(g, a->event, event, &ns, &error_ns);
	if (result)
		return result;
	ret->mono_ns = a->mono_ns + (uint64_t)llrint(ns * k->pace);
	ret->error_ns = a->half_ns + (uint64_t)ceil(error_ns + fabs(ns) * k->pace_error);
	return CUDA_OK;
}

/* What is wrong with an anchor is then not in the length of the region, unless that is worse. */
int gpu_clock_place_start(struct gpu *g, struct gpu_clock *k, void *start, void *end,
                          const struct gpu_instant *of_end, struct gpu_instant *ret)
{
	double ns, error_ns;
	int result = elapsed(g, start, end, &ns, &error_ns);

	if (result)
		return result;
	error_ns += fabs(ns) * k->pace_error;
	if (error_ns > (double)of_end->error_ns)
		return gpu_clock_place(g, k, start, ret);
	ret->mono_ns = of_end->mono_ns - (uint64_t)llrint(ns * k->pace);
	ret->error_ns = of_end->error_ns + (uint64_t)ceil(error_ns);
	return CUDA_OK;
}
