/* Measures what following costs: 3 processes of 119 threads, beside the floor and a usual tool; 1000. */
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

enum { HZ = 100, ROUNDS = 15, QUICK_ROUNDS = 3, HOT_TICKS = 200, REFERENCE_TICKS = 20,
       MANY = 1000, MANY_ROUNDS = 7, MANY_HZ = 100, FDS_PER_PROCESS = 12, FLEETS = 2 };
#define PACED_S 0.5
#define BUDGET_PCT 1.0
#define STOP_NS (10 * NS_PER_S)

/* Everything that is measured side by side, a column each. */
enum way { NOTHING, FLOOR, OURS, OURS_DISK, THREADS, THREADS_FREE, REFERENCE, WAYS };

static const struct {
	const char *name;
	double disk_hz, budget_pct;
	bool threads;
} ways[WAYS] = {
	[NOTHING] = {"the empty wake", 0, 0, false},
	[FLOOR] = {"floor: bare reads of what galvo reads", 0, 0, false},
	[OURS] = {"galvo", 10, BUDGET_PCT, false},
	[OURS_DISK] = {"galvo, disks and process I/O at 100 Hz", HZ, BUDGET_PCT, false},
	[THREADS] = {"galvo, threads too", 10, BUDGET_PCT, true},
	[THREADS_FREE] = {"galvo, threads at 10 Hz, no budget", 10, 0, true},
	[REFERENCE] = {"a usual tool: opens and scans it all", 0, 0, false},
};

struct bench {
	const pid_t *pids;
	size_t pids_len, rounds;
	double paced_s, many_s;
};

/* ---- 3 processes, 119 threads --------------------------------------------------------------------- */

static void tick_nothing(void *ctx)
{
	(void)ctx;
}

static void tick_floor(void *ctx)
{
	floor_tick(ctx);
}

static void tick_rig(void *ctx)
{
	rig_tick_full(ctx);
}

static void tick_reference(void *ctx)
{
	reference_track(ctx);
}

struct side {
	struct rig rigs[WAYS];
	struct floor floor;
	struct reference reference;
	struct work work[WAYS];
};

static bool is_ours(size_t way)
{
	return ways[way].disk_hz > 0;
}

static galvo_status side_open(struct side *s, const struct bench *b, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t way;

	*s = (struct side){.reference = {.pids = b->pids, .pids_len = b->pids_len}};
	s->work[NOTHING] = (struct work){tick_nothing, NULL};
	s->work[FLOOR] = (struct work){tick_floor, &s->floor};
	s->work[REFERENCE] = (struct work){tick_reference, &s->reference};
	for (way = 0; way < WAYS && status == GALVO_OK; way++) {
		const struct rig_config config = {
			.hz = HZ, .disk_hz = ways[way].disk_hz, .pids = b->pids, .pids_len = b->pids_len,
			.follow = FOLLOW_TREE, .budget_pct = ways[way].budget_pct,
			.threads = ways[way].threads,
		};

		if (!is_ours(way))
			continue;
		s->work[way] = (struct work){tick_rig, &s->rigs[way]};
		status = rig_open(&s->rigs[way], &config, reterr);
	}
	if (status == GALVO_OK)
		status = floor_open(&s->floor, &s->rigs[OURS].world, b->pids, b->pids_len,
		                    NS_PER_S / HZ, true, reterr);
	return status;
}

static void side_close(struct side *s)
{
	size_t way;

	floor_close(&s->floor);
	reference_finish(&s->reference);
	for (way = 0; way < WAYS; way++)
		if (s->rigs[way].track)
			rig_close(&s->rigs[way]);
}

/* One round of all ways, hot or at HZ. */
static void measure_round(struct side *s, const struct bench *b, bool is_hot, double us[WAYS])
{
	uint64_t missed = 0;
	size_t way;

	for (way = 0; way < WAYS; way++) {
		if (is_hot)
			us[way] = measure_hot_us(&s->work[way], way == REFERENCE ? REFERENCE_TICKS : HOT_TICKS);
		else
			us[way] = measure_paced_us(&s->work[way], (size_t)(b->paced_s * HZ), NS_PER_S / HZ,
			                           &missed);
	}
}

static void judge(const char *what, double value, double target)
{
	printf("  %-62s %8.3f  <= %6.3f  %s\n", what, value, target,
	       value <= target ? "pass" : "miss");
}

static void compare(struct side *s, const struct bench *b, bool is_hot)
{
	struct figures us[WAYS] = {0}, ratio[WAYS] = {0}, above[WAYS] = {0};
	char what[96];
	size_t round, way;

	for (round = 0; round < b->rounds; round++) {
		double now[WAYS];

		measure_round(s, b, is_hot, now);
		for (way = 0; way < WAYS; way++) {
			figures_put(&us[way], now[way]);
			figures_put(&ratio[way], now[way] / now[REFERENCE]);
			figures_put(&above[way],
			            (now[way] - now[NOTHING]) / (now[REFERENCE] - now[NOTHING]));
		}
	}
	printf("%s\n", is_hot ? "hot, us of CPU a tick:" : "at 100 Hz:");
	for (way = is_hot ? FLOOR : NOTHING; way < WAYS; way++) {
		double median = figures_median(&us[way]);

		printf("  %-44s %8.1f us", ways[way].name, median);
		if (!is_hot)
			printf(" %6.2f %% of a CPU", median * HZ / 1e4);
		printf("\n");
	}
	for (way = 0; way < WAYS; way++) {
		if (!is_ours(way))
			continue;
		snprintf(what, sizeof(what), "%s / the tool", ways[way].name);
		judge(what, figures_median(&ratio[way]), 0.1);
		if (is_hot)
			continue;
		snprintf(what, sizeof(what), "%s / the tool, above the wake", ways[way].name);
		judge(what, figures_median(&above[way]), 0.1);
	}
	fflush(stdout);
}

/* How often each source that is slowed was read in the end, as the recording itself says. */
static void print_rates(struct rig *rig)
{
	struct galvo_run *run;
	size_t i;

	rig_flush(rig);
	writer_stop(rig->writer, STOP_NS, NULL);
	if (galvo_run_open(rig->dir, &run, NULL) != GALVO_OK)
		return;
	for (i = 0; i < run->sources_len; i++) {
		const struct run_source *s = &run->sources[i];

		if (s->divisor > 1)
			printf("  %s of %s: every %.2f s, %.1f us each\n", s->name,
			       stream_file_name(s->stream), (double)s->period_ns / 1e9,
			       (double)s->mean_read_ns / 1e3);
	}
	galvo_run_close(run);
}

static bool follow_threads(const struct bench *b)
{
	galvo_error error = {0};
	struct scan_us scan;
	struct side side;
	bool ok = side_open(&side, b, &error) == GALVO_OK;

	if (ok) {
		measure_sleep(SETTLE_NS);
		compare(&side, b, true);
		compare(&side, b, false);
		printf("with threads and a budget of %.0f %%:\n", BUDGET_PCT);
		print_rates(&side.rigs[THREADS]);
	} else {
		fprintf(stderr, "track: %s\n", error.text);
	}
	side_close(&side);
	ok = ok && scan_measure(b->pids, b->pids_len, &scan);
	if (ok) {
		printf("looking for descendants once, every 100 ms, us of CPU\n");
		judge("nothing was forked", scan.idle, 60);
		judge("something was forked", scan.forked, 60);
	}
	return ok;
}

/* ---- 1000 processes ------------------------------------------------------------------------------- */

/* Every source at every tick: those of the machine are read once a second at least. */
static bool many_everything(const struct bench *b)
{
	struct figures ours = {0}, bare = {0}, ratio = {0};
	const struct rig_config config = {.hz = 1, .disk_hz = 1, .pids = b->pids,
	                                  .pids_len = b->pids_len};
	galvo_error error = {0};
	struct floor floor = {0};
	struct rig rig;
	bool ok = rig_open(&rig, &config, &error) == GALVO_OK &&
	          floor_open(&floor, &rig.world, b->pids, b->pids_len, NS_PER_S, true, &error) ==
	                  GALVO_OK;
	size_t i;

	for (i = 0; i < MANY_ROUNDS && ok; i++) {
		const struct work floor_work = {tick_floor, &floor}, work = {tick_rig, &rig};
		double floor_us = measure_hot_us(&floor_work, 2), us = measure_hot_us(&work, 2);

		figures_put(&bare, floor_us / 1e3);
		figures_put(&ours, us / 1e3);
		figures_put(&ratio, us / floor_us);
	}
	if (ok) {
		printf("%zu processes, everything in one tick: floor %.1f ms\n", b->pids_len,
		       figures_median(&bare));
		judge("galvo, ms of CPU a tick", figures_median(&ours), 20);
		judge("galvo / floor", figures_median(&ratio), 1.5);
	} else {
		fprintf(stderr, "track: %s\n", error.text);
	}
	floor_close(&floor);
	rig_close(&rig);
	return ok;
}

static bool many_budgeted(const struct bench *b)
{
	const struct rig_config config = {.hz = MANY_HZ, .pids = b->pids, .pids_len = b->pids_len,
	                                  .follow = FOLLOW_TREE, .budget_pct = BUDGET_PCT};
	const struct work nothing = {tick_nothing, NULL};
	struct figures wake = {0}, ours = {0};
	galvo_error error = {0};
	uint64_t ignored = 0, missed = 0;
	struct rig rig;
	struct work work = {tick_rig, &rig};
	size_t i;

	if (rig_open(&rig, &config, &error) != GALVO_OK) {
		fprintf(stderr, "track: %s\n", error.text);
		rig_close(&rig);
		return false;
	}
	measure_sleep(SETTLE_NS);
	measure_paced_us(&work, 2 * MANY_HZ, NS_PER_S / MANY_HZ, &ignored);
	for (i = 0; i < 5; i++) {
		figures_put(&wake, measure_paced_us(&nothing, MANY_HZ / 5, NS_PER_S / MANY_HZ, &ignored));
		figures_put(&ours, measure_paced_us(&work, (size_t)(b->many_s * MANY_HZ),
		                                    NS_PER_S / MANY_HZ, &missed));
	}
	printf("%zu processes at %d Hz with a budget of %.0f %%: the wake %.2f %% of a CPU\n",
	       b->pids_len, MANY_HZ, BUDGET_PCT, figures_median(&wake) * MANY_HZ / 1e4);
	judge("galvo, % of a CPU above the wake", (figures_median(&ours) - figures_median(&wake)) *
	      MANY_HZ / 1e4, BUDGET_PCT);
	printf("  ticks missed: %llu\n", (unsigned long long)missed);
	print_rates(&rig);
	rig_close(&rig);
	return true;
}

/* ---- main ----------------------------------------------------------------------------------------- */

/* The limit of descriptors as high as it gets. */
static bool has_descriptors(size_t processes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max == RLIM_INFINITY || limit.rlim_max / FDS_PER_PROCESS > processes;
}

/* 40 + 40 + 39 threads. */
static bool measure_threads(struct bench *b)
{
	struct children fleets[FLEETS] = {0};
	pid_t pids[3];
	bool ok = children_start(&fleets[0], 2, 40) && children_start(&fleets[1], 1, 39);

	if (ok) {
		memcpy(pids, fleets[0].pids, 2 * sizeof(pids[0]));
		pids[2] = fleets[1].pids[0];
		b->pids = pids;
		b->pids_len = ARRAY_LEN(pids);
		ok = follow_threads(b);
	}
	children_stop(&fleets[0]);
	children_stop(&fleets[1]);
	return ok;
}

static bool measure_many(struct bench *b)
{
	struct children children;
	bool ok;

	if (!has_descriptors(MANY)) {
		printf("%d processes: skipped, the limit of descriptors is too low\n", MANY);
		return true;
	}
	if (!children_start(&children, MANY, 1))
		return false;
	b->pids = children.pids;
	b->pids_len = children.len;
	ok = many_everything(b) && many_budgeted(b);
	children_stop(&children);
	return ok;
}

int main(int argc, char **argv)
{
	struct bench b = {.rounds = ROUNDS, .paced_s = PACED_S, .many_s = 2};
	struct utsname name = {0};

	if (argc == 2 && !strcmp(argv[1], "--quick")) {
		b.rounds = QUICK_ROUNDS;
		b.paced_s /= 2;
		b.many_s /= 2;
	} else if (argc > 1) {
		fprintf(stderr, "usage: track [--quick]\n");
		return 2;
	}
	measure_settle();
	uname(&name);
	printf("Linux %s, %ld CPUs online; 3 processes, 119 threads\n", name.release,
	       sysconf(_SC_NPROCESSORS_ONLN));
	return measure_threads(&b) && measure_many(&b) ? 0 : 1;
}
