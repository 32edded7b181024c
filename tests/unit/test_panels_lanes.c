/* Lanes: what is nested lies below, nothing overlaps, threads stay apart, and it takes no time. */
#include "panels_rig.h"

static struct region region(uint64_t start_ns, uint64_t end_ns, uint32_t thread)
{
	return (struct region){.domain = DOMAIN_GENERIC, .name = span_str("r"), .begin_thread = thread,
	                       .start_mono_ns = 1000 + start_ns,
	                       .end_mono_ns = end_ns ? 1000 + end_ns : 0};
}

static struct drawn lanes(const struct region *regions, size_t n, bool gpu_only)
{
	static struct galvo_run run;

	run = (struct galvo_run){.regions = regions, .regions_len = n};
	return draw(&run, &(struct panels_options){.gpu_only = gpu_only});
}

static uint32_t lane_of(const struct drawn *d, const struct region *r)
{
	size_t i;

	for (i = 0; i < d->panels.regions_len; i++)
		if (d->panels.regions[i].region == r)
			return d->panels.regions[i].lane;
	return UINT32_MAX;
}

static uint64_t end_of(const struct region *r)
{
	uint64_t end_ns = r->end_mono_ns ? r->end_mono_ns : UINT64_MAX;

	return end_ns > r->start_mono_ns ? end_ns : r->start_mono_ns + 1;
}

static bool is_one_track(const struct region *a, const struct region *b)
{
	return a->domain == b->domain && a->pid == b->pid &&
	       (a->domain == DOMAIN_GPU ? a->stream == b->stream : a->begin_thread == b->begin_thread);
}

/* By comparing each with each. */
static void check(const struct drawn *d)
{
	const struct lane_region *all = d->panels.regions;
	size_t i, k, wrong = 0;

	for (i = 0; i < d->panels.regions_len; i++) {
		const struct region *a = all[i].region;
		bool is_gpu = a->domain == DOMAIN_GPU;

		wrong += all[i].lane >= (is_gpu ? d->panels.gpu_lanes : d->panels.host_lanes);
		wrong += i && a->start_mono_ns < all[i - 1].region->start_mono_ns;
		for (k = i + 1; k < d->panels.regions_len; k++) {
			const struct region *b = all[k].region;

			if (is_gpu != (b->domain == DOMAIN_GPU) || b->start_mono_ns >= end_of(a))
				continue;
			wrong += all[i].lane == all[k].lane;
			wrong += is_one_track(a, b) && end_of(b) <= end_of(a) &&
			         all[k].lane <= all[i].lane;
		}
	}
	EQ(wrong, 0);
}

static void nested(void)
{
	const struct region all[] = {
		region(0, 100, 1), region(10, 50, 1), region(20, 30, 1), region(30, 40, 1),
		region(50, 90, 1), region(100, 110, 1), region(5, 20, 2), region(120, 130, 2),
	};
	static const uint32_t want[] = {0, 1, 2, 2, 1, 0, 3, 0};
	struct drawn d = lanes(all, ARRAY_LEN(all), false);
	size_t i;

	for (i = 0; i < ARRAY_LEN(all); i++)
		EQ(lane_of(&d, &all[i]), want[i]);
	EQ(d.panels.host_lanes, 4);
	EQ(d.panels.gpu_lanes, 0);
	check(&d);
	undraw(&d);
}

static void crossing(void)
{
	const struct region all[] = {
		region(0, 100, 1), region(10, 50, 1), region(30, 80, 1), region(40, 45, 1),
		region(60, 70, 1), region(90, 0, 1), region(95, 95, 1), region(95, 95, 1),
	};
	struct drawn d = lanes(all, ARRAY_LEN(all), false);

	EQ(lane_of(&d, &all[1]), 1);
	EQ(lane_of(&d, &all[2]), 2);
	EQ(lane_of(&d, &all[3]), 3);
	EQ(lane_of(&d, &all[4]), 3);
	EQ(lane_of(&d, &all[5]), 1);
	check(&d);
	undraw(&d);
}

static void domains(void)
{
	struct region all[] = {region(0, 100, 1), region(0, 100, 1), region(10, 20, 1),
	                       region(50, 150, 1)};
	struct drawn d;

	all[0].domain = all[2].domain = all[3].domain = DOMAIN_GPU;
	all[2].stream = 7;
	d = lanes(all, ARRAY_LEN(all), false);
	EQ(d.panels.host_lanes, 1);
	EQ(d.panels.gpu_lanes, 3);
	EQ(lane_of(&d, &all[1]), 0);
	check(&d);
	undraw(&d);
	d = lanes(all, ARRAY_LEN(all), true);
	EQ(d.panels.regions_len, 3);
	EQ(d.panels.host_lanes, 0);
	undraw(&d);
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void by_chance(void)
{
	struct region all[400];
	uint32_t state = 1, round;
	size_t i;

	for (round = 0; round < 60; round++) {
		struct drawn d, again;

		for (i = 0; i < ARRAY_LEN(all); i++) {
			uint64_t start_ns = next(&state) % 1000;

			all[i] = region(start_ns, start_ns + next(&state) % (round % 2 ? 30 : 300),
			                next(&state) % (1 + round % 8));
			if (next(&state) % 4 == 0)
				all[i].domain = DOMAIN_GPU;
			all[i].stream = all[i].begin_thread;
		}
		d = lanes(all, ARRAY_LEN(all), false);
		again = lanes(all, ARRAY_LEN(all), false);
		EQ(d.panels.regions_len, ARRAY_LEN(all));
		check(&d);
		for (i = 0; i < ARRAY_LEN(all); i++)
			OK(lane_of(&d, &all[i]) == lane_of(&again, &all[i]));
		undraw(&d);
		undraw(&again);
	}
}

/* Stairs, all open at once, and a thread each: what is slow by the square takes minutes here. */
static void many(void)
{
	const size_t n = 200000;
	struct region *all = alloc_array(n, sizeof(*all));
	struct drawn d;
	size_t i, kind;

	for (kind = 0; kind < 4; kind++) {
		for (i = 0; i < n; i++)
			all[i] = kind == 0   ? region(i, 2 * n + i, 1)
			         : kind == 1 ? region(i, 2 * n - i, 1)
			         : kind == 2 ? region(i, 2 * n + i, (uint32_t)i)
			                     : region(3 * i, 3 * i + 2, (uint32_t)i % 7);
		d = lanes(all, n, false);
		EQ(d.panels.host_lanes, kind < 3 ? n : 1);
		EQ(lane_of(&d, &all[n - 1]), kind < 3 ? n - 1 : 0);
		undraw(&d);
	}
	free(all);
}

static const struct tap_test tests[] = {
	{"nested ones are below", nested},
	{"those that cross are apart", crossing},
	{"host and GPU have lanes of their own", domains},
	{"regions by chance", by_chance},
	{"hundreds of thousands", many},
};
TAP_MAIN(tests)
