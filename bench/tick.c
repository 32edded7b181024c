/* Measures one tick of galvo, hot and paced, between the floor and the usual style, in one run. */
#include <math.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "children.h"
#include "floor.h"
#include "measure.h"
#include "reference.h"
#include "rig.h"
#include "scan.h"
#include "tick.h"

enum { FDS_PER_PROCESS = 12, HOT_HZ = 100,
       QUICK_HOT_ROUNDS = 11, QUICK_PACED_ROUNDS = 3 };
#define WORTH 0.6 /* what takes more than this part of a period is not paced */

static const struct population populations[] = {
	{1, 1, {0, 100, 1000}, 31, 5, false},
	{4, 1, {0, 100, 1000}, 31, 5, true},
	{3, 40, {0, 100, 1000}, 31, 5, true},
	{100, 1, {0, 100, 1000}, 15, 5, false},
	{1000, 1, {0, 10, 0}, 5, 1, false},
};

struct options {
	bool is_quick;
};

struct bench {
	struct rig rig;
	struct floor floor[2]; /* system, full */
	struct reference reference, with_threads;
	struct work work[WAYS];
};

/* ---- what is measured ----------------------------------------------------------------------------- */

static void tick_nothing(void *ctx)
{
	(void)ctx;
}

static void tick_floor(void *ctx)
{
	floor_tick(ctx);
}

static void tick_system(void *ctx)
{
	rig_tick_system(ctx);
}

static void tick_full(void *ctx)
{
	rig_tick_full(ctx);
}

static void tick_reference(void *ctx)
{
	reference_tick(ctx);
}

static galvo_status bench_open(struct bench *b, const struct children *c, unsigned hz,
                               galvo_error *reterr)
{
	const double rate = hz ? hz : HOT_HZ;
	const uint64_t period_ns = (uint64_t)(1e9 / rate);
	/* Looking for descendants depends on how much the machine forks: measured apart. */
	const struct rig_config config = {
		.hz = rate, .pids = c->pids, .pids_len = c->len, .follow = FOLLOW_NONE,
	};
	galvo_status status = rig_open(&b->rig, &config, reterr);
	size_t i;

	for (i = 0; i < 2; i++)
		b->floor[i] = (struct floor){0};
	for (i = 0; i < 2 && status == GALVO_OK; i++)
		status = floor_open(&b->floor[i], &b->rig.world, c->pids, c->len, period_ns, i == 1,
		                    reterr);
	b->reference = b->with_threads = (struct reference){.pids = c->pids, .pids_len = c->len};
	b->with_threads.has_threads = true;
	b->work[NOTHING] = (struct work){tick_nothing, NULL};
	b->work[FLOOR_SYSTEM] = (struct work){tick_floor, &b->floor[0]};
	b->work[FLOOR_FULL] = (struct work){tick_floor, &b->floor[1]};
	b->work[SYSTEM] = (struct work){tick_system, &b->rig};
	b->work[FULL] = (struct work){tick_full, &b->rig};
	b->work[REFERENCE] = (struct work){tick_reference, &b->reference};
	b->work[THREADS] = (struct work){tick_reference, &b->with_threads};
	return status;
}

static void bench_close(struct bench *b)
{
	floor_close(&b->floor[0]);
	floor_close(&b->floor[1]);
	rig_close(&b->rig);
}

/* ---- rounds --------------------------------------------------------------------------------------- */

static bool is_wanted(const struct population *of, enum way way)
{
	return way != THREADS || of->threads > 1;
}

static size_t hot_ticks(const struct population *of, enum way way)
{
	bool is_reference = way == REFERENCE || way == THREADS;

	if (of->processes > 100)
		return is_reference ? 2 : 10;
	if (of->processes > 4)
		return is_reference ? 4 : 100;
	return is_reference ? 20 : 300; /* whole turns of what is read less often */
}

static void measure_hot(struct bench *b, size_t rounds, struct result *ret)
{
	struct figures figures[WAYS] = {0};
	size_t round, way;

	for (round = 0; round < rounds; round++)
		for (way = FLOOR_SYSTEM; way < WAYS; way++)
			if (is_wanted(ret->of, (enum way)way))
				figures_put(&figures[way],
				            measure_hot_us(&b->work[way], hot_ticks(ret->of, (enum way)way)));
	for (way = 0; way < WAYS; way++)
		ret->us[way] = figures_median(&figures[way]);
}

static void measure_paced(struct bench *b, size_t rounds, double round_s, const struct result *hot,
                          struct result *ret)
{
	const size_t ticks = (size_t)(round_s * ret->hz + 0.5);
	const uint64_t period_ns = NS_PER_S / ret->hz;
	struct figures figures[WAYS] = {0};
	size_t round, way;

	for (round = 0; round < rounds; round++)
		for (way = 0; way < WAYS; way++)
			if (is_wanted(ret->of, (enum way)way) &&
			    !(hot->us[way] > WORTH * (double)period_ns / 1e3))
				figures_put(&figures[way], measure_paced_us(&b->work[way], ticks, period_ns,
				                                            &ret->missed[way]));
	for (way = 0; way < WAYS; way++)
		ret->us[way] = figures_median(&figures[way]);
}

/* ---- one population -------------------------------------------------------------------------------- */

static double paced_round_s(unsigned hz, const struct options *o)
{
	/* At 10 Hz whole turns of what is read once a second. */
	double s = hz == 1000 ? 0.1 : hz == 100 ? 0.2 : 1;

	return o->is_quick ? s / 2 : s;
}

/* Hot first: it tells what is worth pacing. */
static bool measure(const struct population *of, const struct options *o, struct result *ret,
                    struct scan *ret_scan)
{
	struct children children;
	galvo_error error = {0};
	struct bench bench;
	size_t hot_rounds = o->is_quick ? QUICK_HOT_ROUNDS : of->hot_rounds;
	size_t paced_rounds = o->is_quick ? QUICK_PACED_ROUNDS : of->paced_rounds;
	size_t i;

	if (!children_start(&children, of->processes, of->threads)) {
		fprintf(stderr, "tick: cannot start %zu processes\n", of->processes);
		return false;
	}
	for (i = 0; i < MODES_MAX && (i == 0 || of->hz[i]); i++) {
		ret[i] = (struct result){.of = of, .hz = of->hz[i]};
		if (bench_open(&bench, &children, of->hz[i], &error) != GALVO_OK)
			break;
		measure_sleep(SETTLE_NS);
		if (of->hz[i] == 0)
			measure_hot(&bench, hot_rounds, &ret[i]);
		else
			measure_paced(&bench, paced_rounds, paced_round_s(of->hz[i], o), &ret[0], &ret[i]);
		print_result(&ret[i]);
		bench_close(&bench);
	}
	*ret_scan = (struct scan){.of = of};
	if (!error.text[0] && !scan_measure(children.pids, children.len, &ret_scan->us))
		err_set(&error, GALVO_ERR_STATE, "cannot look for descendants");
	children_stop(&children);
	if (error.text[0])
		fprintf(stderr, "tick: %s\n", error.text);
	return !error.text[0];
}

/* ---- targets -------------------------------------------------------------------------------------- */

/* ---- main ----------------------------------------------------------------------------------------- */

/* False: not that many descriptors are to be had here. */
static bool has_descriptors(size_t processes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max == RLIM_INFINITY || limit.rlim_max / FDS_PER_PROCESS > processes;
}

static void print_machine(void)
{
	double load[1] = {NAN};
	struct utsname name = {0};

	uname(&name);
	if (getloadavg(load, 1) != 1)
		load[0] = NAN;
	printf("Linux %s, %ld CPUs online, load %.2f\n", name.release, sysconf(_SC_NPROCESSORS_ONLN),
	       load[0]);
}

int main(int argc, char **argv)
{
	struct result results[ARRAY_LEN(populations) * MODES_MAX] = {0};
	struct options o = {.is_quick = argc == 2 && !strcmp(argv[1], "--quick")};
	struct scan scans[ARRAY_LEN(populations)];
	size_t i, len = 0, scans_len = 0;

	if (argc > 1 && !o.is_quick) {
		fprintf(stderr, "usage: tick [--quick]\n");
		return 2;
	}
	measure_settle();
	print_machine();
	print_head();
	for (i = 0; i < ARRAY_LEN(populations); i++) {
		const struct population *of = &populations[i];

		if (o.is_quick && !of->is_quick)
			continue;
		if (!has_descriptors(of->processes)) {
			printf("%zu processes: skipped, the limit of descriptors is too low\n", of->processes);
			continue;
		}
		if (!measure(of, &o, &results[len], &scans[scans_len++]))
			return 1;
		for (; len < ARRAY_LEN(results) && results[len].of; len++)
			;
	}
	print_scans(scans, scans_len);
	print_verdicts(results, len);
	return 0;
}
