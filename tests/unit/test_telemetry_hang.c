/* Telemetry of GPUs when calls hang or are slow, what readings may cost, and what the end waits for. */
#include <sched.h>

#include "probe/telemetry_internal.h"
#include "telemetry_rig.h"

/* The linker sends what galvo allocates here (--wrap). */
static _Atomic uint64_t allocations;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
	allocations++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	allocations++;
	return __real_realloc(p, n);
}

static uint64_t now_ns(void)
{
	return clock_real.mono_ns(&clock_real);
}

static void await_hanging(uint32_t calls)
{
	while (scene->hanging != calls)
		sched_yield();
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void settle_without(size_t hung)
{
	struct telemetry *t = rig.telemetry;
	size_t i;

	for (i = 0; i < t->units_len; i++)
		OK(i == hung || worker_await(&t->units[i]->reader->worker, now_ns() + SOON_NS));
}

/* As ticks(), but nobody waits for that one. */
static void ticks_without(size_t hung, unsigned n)
{
	while (n--) {
		pass(TICK_MS);
		telemetry_tick(rig.telemetry);
		settle_without(hung);
	}
}

static void one_of_eight_hangs(void)
{
	struct telemetry_counts counts;
	struct scene_fault *f;
	unsigned i;

	rig_scene(8);
	rig_begin();
	ticks(3);
	f = scene_fault(scene, FAULT_HANG, "nvmlDeviceGetPowerUsage", 0);
	f->device = 5;
	curve(5, CURVE_power_average_mw)->result = NVML_NOT_SUPPORTED;
	pass(TICK_MS);
	telemetry_tick(rig.telemetry);
	await_hanging(1);
	settle_without(5);
	ticks_without(5, 40);
	telemetry_count(rig.telemetry, &counts);
	EQ(counts.lost, 0); /* it may be slow only */
	ticks_without(5, 20);
	telemetry_count(rig.telemetry, &counts);
	EQ(counts.gpus * 10 + counts.lost, 81);
	EQ(scene->hanging, 1); /* and no other call is made into it */
	f->times = 1;
	scene->released = 1;
	await_hanging(0);
	OK(telemetry_settle(rig.telemetry, SOON_NS));
	OK(worker_await(&rig.telemetry->units[5]->reader->worker, now_ns() + SOON_NS));
	ticks(5);
	rig_read();
	for (i = 0; i < 8; i++)
		EQ(rig_rows(SCOPE_GPU, i, 0), i == 5 ? 4 + 5 : 70);
	EQ(rig_gpu(5)->lost_mono_ns, 0);
	OK(!strcmp(rig_source("gpu")->reason, "GPU 5: a call into its driver (gpu) hangs, after 5.0 s"));
	EQ(rig_source("gpu")->failures, 1);
	/* What was read when nobody knows makes no row, and no rate. */
	EQ(rig_mono_ns(SCOPE_GPU, 5, 3), 1000 * NS_PER_S + 300 * MS);
	OK(rig_mono_ns(SCOPE_GPU, 5, 4) > 1006 * NS_PER_S);
	GPU_IS(5, 4, "pcie_rx_bytes.sum.per_second", NAN);
	GPU_IS(5, 5, "pcie_rx_bytes.sum.per_second", 3072000);
	rig_end();
}

/* A clock that, when the sampler asks it once more (first it is the finder's turn), lets a reading finish before it answers. */
struct late_clock {
	struct clock clock; /* first */
	const struct clock *real;
	struct worker *worker; /* of that reading; NULL: none */
	unsigned skip;
};

static uint64_t late_mono_ns(const struct clock *c)
{
	union { const struct clock *in; struct late_clock *late; } who = {c};
	struct worker *w = who.late->worker;

	if (w && !who.late->skip--) {
		who.late->worker = NULL;
		scene->released = 1;
		OK(worker_await(w, now_ns() + SOON_NS));
	}
	return who.late->real->mono_ns(who.late->real);
}

/* A reading is finished after the sampler looked for what is ready, and before it asks who is idle. */
static void finished_in_between(void)
{
	struct late_clock late;
	struct reader *r;
	uint32_t calls;

	rig_scene(1);
	add_process(0, 77, 1 << 20);
	rig_begin();
	late = (struct late_clock){rig.clock.clock, &rig.clock.clock, NULL, 1};
	late.clock.mono_ns = late_mono_ns;
	ticks(8);
	r = rig.telemetry->units[0]->reader;
	scene_fault(scene, FAULT_HANG, "nvmlDeviceGetCurrPcieLinkWidth", 0)->times = 1;
	pass(TICK_MS);
	telemetry_tick(rig.telemetry); /* the tenth */
	await_hanging(1);
	telemetry_tick(rig.telemetry); /* takes what was handed over before that call */
	OK(!worker_is_idle(&r->worker) && r->ready == 0);
	calls = scene_calls(scene, "nvmlDeviceGetMemoryInfo_v2");
	late.worker = &r->worker;
	rig.world.clock = &late.clock; /* which stands still while the reader may look at it */
	telemetry_tick(rig.telemetry);
	rig.world.clock = &rig.clock.clock;
	EQ(late.worker != NULL, 0);
	OK(worker_is_idle(&r->worker) && r->ready != 0); /* so it is not asked before that is taken */
	EQ(scene_calls(scene, "nvmlDeviceGetMemoryInfo_v2"), calls);
	ticks(3);
	rig_read();
	EQ(rig_source("gpu_detail")->reads, 2);
	EQ(rig_source("gpu")->failures, 2);
	OK(strstr(rig_source("gpu")->reason, "GPU 0: 2 readings missed, as one of ") != NULL);
	rig_end();
}

/* A process more, a GPU more may need memory; what goes on as before does not. */
static void nothing_is_allocated(void)
{
	uint64_t before;

	rig_scene(8);
	add_process(2, 77, 1 << 20);
	rig_begin();
	ticks(30);
	telemetry_flush(rig.telemetry);
	telemetry_flush(rig.telemetry);
	before = allocations;
	OK(before > 0);
	ticks(60);
	telemetry_flush(rig.telemetry);
	EQ(allocations - before, 0);
	rig_read();
	rig_end();
}

/* ---- the budget ------------------------------------------------------------------------------ */

#define US UINT64_C(1000)

/* Divisors for GPUs whose readings cost that much CPU, and take that long. */
static void judge(struct telemetry *t, double budget_pct, const uint64_t cpu_us[GPU_GROUPS],
                  const uint64_t took_us[GPU_GROUPS])
{
	size_t i, g;

	t->config.budget_pct = budget_pct;
	for (i = 0; i < t->units_len; i++)
		for (g = 0; g < GPU_GROUPS; g++) {
			t->units[i]->mean_cpu_ns[g] = cpu_us[g] * US;
			t->units[i]->mean_ns[g] = took_us[g] * US;
		}
	telemetry_judge(t);
}

#define DIVISORS(fast, link, processes, detail)                                                    \
	do {                                                                                       \
		EQ(t->groups[GPU_FAST].divisor, fast);                                             \
		EQ(t->groups[GPU_LINK].divisor, link);                                             \
		EQ(t->groups[GPU_PROCESSES].divisor, processes);                                   \
		EQ(t->groups[GPU_DETAIL].divisor, detail);                                         \
	} while (0)

static void budget(void)
{
	static const uint64_t cheap[] = {100, 50, 200, 100}, dear[] = {1000, 200, 200, 100},
		slow[] = {100, 45000, 300000, 100}, stuck[] = {400000, 100, 100, 100},
		crowd[] = {100, 45000, 300000, 900000};
	struct telemetry *t;
	char names[64] = "";

	rig_scene(4);
	rig_begin();
	ticks(2);
	t = rig.telemetry;
	judge(t, 1, cheap, cheap); /* 4 × (0.1 + 0.05 + 0.04 + 0.01) % */
	DIVISORS(1, 1, 1, 1);
	EQ(telemetry_slowed(t, names, sizeof(names)), 1);
	judge(t, 1, dear, dear); /* 4 × 1 % for the one */
	DIVISORS(8, 4, 1, 1);
	EQ(telemetry_slowed(t, names, sizeof(names)), 8);
	OK(!strcmp(names, "gpu, gpu_link"));
	judge(t, 0, dear, dear); /* no limit */
	DIVISORS(1, 1, 1, 1);
	EQ(t->groups[GPU_FAST].largest_divisor, 8);
	/* They wait, and cost no CPU: yet the thread has to be free for what is read most often. */
	judge(t, 1, cheap, slow);
	DIVISORS(1, 2, 4, 1);
	judge(t, 1, cheap, crowd); /* a quarter each would leave a quarter for what is read most often */
	DIVISORS(1, 4, 4, 4);
	judge(t, 1, cheap, stuck);
	DIVISORS(8, 1, 1, 1); /* not slower than once a second, about */
	judge(t, 1, cheap, cheap);
	DIVISORS(2, 1, 1, 1); /* there has to be room to spare */
	judge(t, 2, cheap, cheap);
	DIVISORS(1, 1, 1, 1);
	rig_read();
	rig_end();
}

/* A group that is slowed is read at every n-th turn, and says so. */
static void slowed(void)
{
	static const uint64_t dear[] = {1000, 200, 200, 100};

	rig_scene(4);
	rig_begin();
	ticks(2);
	judge(rig.telemetry, 1, dear, dear);
	ticks(7); /* judged anew after a second only */
	telemetry_flush(rig.telemetry);
	rig_read();
	EQ(rig_source("gpu")->divisor, 8);
	EQ(rig_source("gpu")->period_ns, 800 * MS);
	EQ(rig_source("gpu")->longest_period_ns, 800 * MS);
	EQ(rig_source("gpu_detail")->divisor, 1);
	EQ(rig_rows(SCOPE_GPU, 0, 0), 5); /* 0, 1, 2, then at 8 of its ticks, which count from 1 */
	rig_end();
}

/* ---- with threads ---------------------------------------------------------------------------- */

/* The double's clock is the real one. */
static void real_scene(unsigned gpus)
{
	rig_scene(gpus);
	scene->is_fake = 0;
	scene->begin_mono_ns = now_ns();
	OK(world_open(&rig.world, NULL, NULL) == GALVO_OK);
	rig_files();
}

static void real_start(uint64_t period_ns)
{
	struct telemetry_config config = rig_config(&rig.world);

	config.period_ns = period_ns;
	OK(telemetry_create(&config, &rig.telemetry, NULL) == GALVO_OK);
	OK(telemetry_start(rig.telemetry, rig.stream, NULL) == GALVO_OK);
}

static void await_ticks(uint64_t n)
{
	struct telemetry_counts counts;

	do {
		sched_yield();
		telemetry_count(rig.telemetry, &counts);
	} while (counts.ticks < n);
}

static void real_read(void)
{
	OK(writer_stop(rig.writer, SOON_NS, NULL) == GALVO_OK);
	OK(galvo_run_open(rig.dir, &rig.run, NULL) == GALVO_OK);
}

static void threads(void)
{
	size_t i;

	real_scene(8);
	real_start(5 * MS);
	await_ticks(30);
	telemetry_signal_stop(rig.telemetry);
	OK(telemetry_join(rig.telemetry, SOON_NS));
	real_read();
	EQ(rig.run->gpus_len, 8);
	for (i = 0; i < 8; i++) {
		OK(rig_rows(SCOPE_GPU, (uint32_t)i, 0) >= 2);
		/* The last one is read at the end. */
		OK(rig_rows(SCOPE_GPU_DETAIL, (uint32_t)i, 0) >= 2);
	}
	for (i = 0; i < rig.run->streams_len; i++)
		OK(rig.run->streams[i].kind != STREAM_TELEMETRY ||
		   rig.run->streams[i].stats.thread_cpu_ns > 0);
	OK(rig_source("gpu")->mean_read_ns > 0 && rig_source("gpu")->calibrated_ns > 0);
	rig_end();
}

/* One hangs for good: the rest is recorded, the end comes soon, and what is left lets go by itself. */
static void the_end_does_not_wait(void)
{
	const char *subject, *text;
	uint64_t from;
	uint32_t i;

	real_scene(3);
	scene_fault(scene, FAULT_HANG, "nvmlDeviceGetTemperature*", 0)->device = 1;
	real_start(5 * MS);
	await_hanging(1);
	await_ticks(20);
	from = now_ns();
	telemetry_signal_stop(rig.telemetry);
	OK(!telemetry_join(rig.telemetry, 700 * MS));
	OK(now_ns() - from < 2 * NS_PER_S);
	OK(telemetry_note_at(rig.telemetry, 0, &subject, &text));
	if (!OK(!strcmp(subject, "GPU 1") &&
	        strstr(text, "a call into its driver (gpu) had not returned by the end, after ") == text))
		printf("# %s: %s\n", subject, text);
	telemetry_destroy(rig.telemetry);
	rig.telemetry = NULL;
	real_read();
	for (i = 0; i < 3; i++)
		EQ(rig_rows(SCOPE_GPU, i, 0) > 2, i != 1);
	OK(rig_gpu(1)->lost_mono_ns && strstr(rig_gpu(1)->note, "had not returned by the end"));
	/* Its thread comes back, and closes the library as the last one out. */
	EQ(scene_calls(scene, "nvmlShutdown"), 0);
	scene->released = 1;
	while (scene_calls(scene, "nvmlShutdown") == 0)
		sched_yield();
	galvo_run_close(rig.run);
	rig.run = NULL;
	writer_destroy(rig.writer);
	close(rig.dir_fd);
	host_remove(rig.dir);
	world_close(&rig.world);
	VIOLATIONS(0);
	scene_end();
}

/* The library itself hangs when it is opened. */
static void opening_hangs(void)
{
	const char *subject, *text;
	uint64_t from;

	real_scene(1);
	scene_fault(scene, FAULT_HANG, "nvmlInit_v2", NVML_UNKNOWN)->times = 1;
	from = now_ns();
	real_start(5 * MS);
	OK(now_ns() - from < NS_PER_S);
	await_hanging(1);
	await_ticks(5);
	telemetry_signal_stop(rig.telemetry);
	from = now_ns();
	OK(!telemetry_join(rig.telemetry, SOON_NS));
	OK(now_ns() - from < SOON_NS / 4); /* it may be only slow, and is not waited for */
	OK(telemetry_note_at(rig.telemetry, 0, &subject, &text));
	OK(!strcmp(subject, "nvidia") && strstr(text, "the driver had not answered by the end ("));
	OK(!telemetry_note_at(rig.telemetry, 1, &subject, &text));
	telemetry_destroy(rig.telemetry);
	real_read();
	EQ(rig.run->gpus_len, 0);
	scene->released = 1;
	await_hanging(0);
	galvo_run_close(rig.run);
	rig.run = NULL;
	writer_destroy(rig.writer);
	close(rig.dir_fd);
	host_remove(rig.dir);
	world_close(&rig.world);
	scene_end();
}

/* Never started, and stopped before anything came of it. */
static void short_lives(void)
{
	struct telemetry_config config;

	real_scene(2);
	config = rig_config(&rig.world);
	OK(telemetry_create(&config, &rig.telemetry, NULL) == GALVO_OK);
	OK(telemetry_join(rig.telemetry, SOON_NS));
	telemetry_destroy(rig.telemetry);
	telemetry_destroy(NULL);
	EQ(scene_calls(scene, "nvmlInit_v2"), 0);
	/* One whose sampler could not be started: its threads end by themselves. */
	OK(telemetry_create(&config, &rig.telemetry, NULL) == GALVO_OK);
	OK(telemetry_begin(rig.telemetry, NULL, NULL) == GALVO_OK);
	OK(telemetry_settle(rig.telemetry, SOON_NS));
	tick();
	telemetry_destroy(rig.telemetry);
	while (scene_calls(scene, "nvmlShutdown") == 0)
		sched_yield();
	real_start(100 * MS);
	telemetry_signal_stop(rig.telemetry);
	OK(telemetry_join(rig.telemetry, SOON_NS));
	OK(telemetry_join(rig.telemetry, SOON_NS));
	real_read();
	EQ(scene_calls(scene, "nvmlInit_v2"), scene_calls(scene, "nvmlShutdown"));
	rig_end();
}

static const struct tap_test tests[] = {
	{"one of eight GPUs hangs", one_of_eight_hangs},
	{"a reading is finished between two looks", finished_in_between},
	{"after warm-up nothing is allocated", nothing_is_allocated},
	{"divisors stay within the budget", budget},
	{"a group that is slowed", slowed},
	{"threads", threads},
	{"the end does not wait for what hangs", the_end_does_not_wait},
	{"opening the library hangs", opening_hangs},
	{"short lives", short_lives},
};

TAP_MAIN(tests)
