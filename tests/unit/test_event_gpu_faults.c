/* Regions on CUDA streams when CUDA fails, hangs or ends, in threads, across a fork, with a sidecar. */
#include <sys/wait.h>

#include "galvo/galvo.h"
#include "gpu_rig.h"

/* ---- contexts that fail or end --------------------------------------------------------------------- */

/* An error of the program's that ruins its context: with regions on their way, open, and to come. */
static void ruined_for_good(void)
{
	struct events_counts counts;
	uint64_t on_its_way, open;
	struct gpu_rig g;
	galvo_error e;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	EQ(add_work(g.stream, 5 * MS), CUDA_OK);
	open = gpu_begins(&g, "open");
	on_its_way = gpu_begins(&g, "on its way");
	galvo_mark(g.t, "mark", 4);
	galvo_region_end(g.t, on_its_way);
	work(&g);
	pass_ms(1);
	scene_fault(scene, FAULT_RESULT, "cuEventQuery", CUDA_ILLEGAL_ADDRESS)->times = 1;
	work(&g);
	EQ(galvo_tracker_status(g.t, &e), GALVO_ERR_STATE);
	OK(strstr(e.text, "cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
	galvo_region_end(g.t, open);
	EQ(gpu_begins(&g, "after"), 0);
	pass_ms(10);
	stop_and_read(&g);
	events_count(g.r.events, &counts);
	EQ(counts.unmatched, 0);
	EQ(g.r.run->regions_len, 2);
	EQ(g.r.run->marks_len, 0);
	EQ(lost_of(&g).failed, 4);
	OK(strstr(lost_of(&g).reason, "cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
	OK(region_named(&g.r, "open").unfinished && region_named(&g.r, "on its way").unfinished);
	EQ(since_ns(region_named(&g.r, "open").end_mono_ns), MS); /* when that was known */
	gpu_rig_finish(&g);
}

/* cudaDeviceReset: handles become loose ends, the handle of the context may be another one's. */
static void destroyed_and_made_again(void)
{
	void *stream;
	uint64_t id;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	id = gpu_begins(&g, "before");
	galvo_region_end(g.t, id);
	gpu_begins(&g, "open");
	EQ(ctx_destroy(g.context), CUDA_OK);
	stream = g.context;
	EQ(cuda.ctx_create(&g.context, 0, 0), CUDA_OK);
	OK(g.context == stream);
	work(&g);
	EQ(gpu_begins(&g, "to the old stream"), 0);
	EQ(make_stream(&stream, CUDA_CAPTURE_NONE, 0), CUDA_OK);
	OK(galvo_tracker_set_stream(g.t, stream, NULL) == GALVO_OK);
	OK(galvo_tracker_status(g.t, NULL) == GALVO_OK);
	id = gpu_begins(&g, "after");
	galvo_region_end(g.t, id);
	work(&g);
	stop_and_read(&g);
	EQ(g.r.run->regions_len, 3);
	OK(region_named(&g.r, "before").unfinished && region_named(&g.r, "open").unfinished);
	OK(!region_named(&g.r, "after").unfinished && region_named(&g.r, "after").error_ns);
	EQ(lost_of(&g).failed, 3);
	OK(strstr(lost_of(&g).reason, "CUDA_ERROR_CONTEXT_IS_DESTROYED (709)"));
	gpu_rig_finish(&g);
}

/* What fails but for once costs the regions that it concerns. */
static void calls_that_fail(void)
{
	static const struct {
		const char *call;
		uint32_t skip;
		bool is_broken;
		const char *reason;
	} rows[] = {
		{"cuEventElapsedTime_v2", 0, false, "cuEventElapsedTime: CUDA_ERROR_UNKNOWN (999)"},
		{"cuEventElapsedTime_v2", 1, false, "cuEventElapsedTime: CUDA_ERROR_UNKNOWN (999)"},
		{"cuEventRecord", 0, true, "cuEventRecord: CUDA_ERROR_UNKNOWN (999)"},
		{"cuEventRecord", 1, true, "cuEventRecord: CUDA_ERROR_UNKNOWN (999)"},
		{"cuCtxPushCurrent_v2", 0, true, "cuCtxGetId: CUDA_ERROR_UNKNOWN (999)"},
	};
	uint64_t id;
	struct gpu_rig g;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		gpu_rig_init(&g, false);
		OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
		work(&g);
		scene_fault(scene, FAULT_RESULT, rows[i].call, CUDA_UNKNOWN)->times = 1;
		scene->faults[0].skip = rows[i].skip;
		id = gpu_begins(&g, "fails");
		galvo_region_end(g.t, id);
		work(&g);
		id = gpu_begins(&g, "then");
		OK((id == 0) == rows[i].is_broken);
		galvo_region_end(g.t, id);
		stop_and_read(&g);
		EQ(lost_of(&g).failed, rows[i].is_broken ? 2 : 1);
		OK(!strcmp(lost_of(&g).reason, rows[i].reason));
		EQ(g.r.run->regions_len, rows[i].is_broken ? i != 2 : 2);
		if (i != 2)
			OK(region_named(&g.r, "fails").unfinished);
		if (!rows[i].is_broken)
			OK(!region_named(&g.r, "then").unfinished);
		gpu_rig_finish(&g);
	}
}

/* The GPU works for another program when an anchor is wanted. */
static void anchors_that_come_late(void)
{
	uint64_t id;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	clock_step_ns = 1000;
	scene->gpu_delay_ns = NS_PER_S;
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	id = gpu_begins(&g, "waits for an anchor");
	galvo_region_end(g.t, id);
	pass_ms(2000);
	work(&g);
	scene->gpu_delay_ns = 0;
	work(&g);
	stop_and_read(&g);
	OK(is_at(region_named(&g.r, "waits for an anchor").start_mono_ns,
	         region_named(&g.r, "waits for an anchor").error_ns, NS_PER_S));
	EQ(lost_of(&g).failed + lost_of(&g).unreached, 0);
	gpu_rig_finish(&g);
}

/* ---- the end --------------------------------------------------------------------------------------- */

/* What is on the far side of work that does not end, and what nobody ended. */
static void not_reached(void)
{
	struct region r;
	uint64_t id;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	gpu_begins(&g, "open");
	id = gpu_begins(&g, "half");
	EQ(add_work(g.stream, 3600 * NS_PER_S), CUDA_OK);
	galvo_region_end(g.t, id);
	id = gpu_begins(&g, "behind");
	galvo_region_end(g.t, id);
	gpu_begins(&g, "open behind");
	galvo_mark(g.t, "behind", 6);
	pass_ms(7);
	stop_and_read(&g);
	EQ(g.r.run->regions_len, 4);
	EQ(g.r.run->marks_len, 0);
	EQ(lost_of(&g).unreached, 3);
	r = region_named(&g.r, "open");
	OK(r.unfinished && is_at(r.start_mono_ns, r.error_ns, 0) && since_ns(r.end_mono_ns) == 7 * MS);
	r = region_named(&g.r, "half");
	OK(r.unfinished && is_at(r.start_mono_ns, r.error_ns, 0) && r.stream == 1);
	r = region_named(&g.r, "behind");
	OK(r.unfinished && r.error_ns == 0 && since_ns(r.start_mono_ns) == 0); /* of the call */
	OK(region_named(&g.r, "open behind").unfinished);
	gpu_rig_finish(&g);
}

static void open_at_a_crash(void)
{
	struct region r;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	EQ(add_work(g.stream, MS), CUDA_OK);
	gpu_begins(&g, "open");
	galvo_mark(g.t, "asked", 5);
	pass_ms(600);
	work(&g);
	events_flush(g.r.events);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 1);
	EQ(g.r.run->marks_len, 1);
	r = region_named(&g.r, "open");
	OK(r.unfinished && r.end_mono_ns == 0 && is_at(r.start_mono_ns, r.error_ns, MS));
	gpu_rig_finish(&g);
}

/* ---- threads and processes ------------------------------------------------------------------------- */

/* The driver does not answer: regions of the host are recorded, and the stop does not wait for ever. */
static void a_driver_that_hangs(void)
{
	struct events_counts counts;
	uint64_t id, from_ns;
	struct gpu_rig g;

	gpu_rig_init(&g, true);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	scene_fault(scene, FAULT_HANG, "cuEventQuery", CUDA_OK);
	id = gpu_begins(&g, "gpu");
	galvo_region_end(g.t, id);
	OK(await(hangs));
	id = begin(&g.r, "host");
	galvo_region_end(g.r.t, id);
	id = gpu_begins(&g, "gpu, too"); /* callers do not hang with it */
	galvo_region_end(g.t, id);
	from_ns = clock_real.mono_ns(&clock_real);
	events_signal_stop(g.r.events);
	events_join(g.r.events);
	OK(clock_real.mono_ns(&clock_real) - from_ns < 5 * NS_PER_S);
	events_count(g.r.events, &counts);
	OK(counts.gpu_hangs);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 3);
	OK(!region_named(&g.r, "host").unfinished && region_named(&g.r, "gpu").unfinished);
	OK(region_named(&g.r, "gpu, too").unfinished);
	rig_finish(&g.r); /* the worker is left behind, and comes back to nothing of it */
	scene->released = 1;
	OK(await(hangs_no_more));
	/* It goes on with what is its own until it ends. */
	scene->violation_count = 0;
}

/* A caller that CUDA holds up while the recording stops. */
static pthread_t held_caller;

static void *begin_one(void *arg)
{
	OK(gpu_begins(arg, "held up") != 0);
	return NULL;
}

static void hold_caller(struct gpu_rig *g, const struct clock *clock)
{
	scene_begin();
	scene->is_fake = 1;
	scene_add(scene, "GH100");
	*g = (struct gpu_rig){.stream = NULL};
	play_program(g, "lib/libcuda.so.1");
	rig_init_with(&g->r, false, clock);
	g->t = events_tracker(g->r.events, DOMAIN_GPU);
	OK(galvo_tracker_set_stream(g->t, g->stream, NULL) == GALVO_OK);
	scene_fault(scene, FAULT_HANG, "cuEventRecord", CUDA_OK)->times = 1;
	OK(pthread_create(&held_caller, NULL, begin_one, g) == 0);
	OK(await(hangs));
}

static void let_caller_go(void)
{
	if (scene->released)
		return;
	scene->released = 1;
	pthread_join(held_caller, NULL);
}

static void sleep_and_let_go(const struct clock *c, uint64_t deadline, _Atomic uint32_t *stop)
{
	let_caller_go();
	stage_sleep_until(c, deadline, stop);
}

/* Events are destroyed once it has left; not at all if it does not. */
static void a_caller_inside_at_the_stop(void)
{
	static const struct clock lets_go = {stage_mono_ns, stage_mono_ns, stage_mono_ns,
	                                     sleep_and_let_go};
	struct gpu_rig g;

	hold_caller(&g, &lets_go);
	stop_and_read(&g);
	EQ(scene_calls(scene, "cuEventDestroy_v2"), scene_calls(scene, "cuEventCreate"));
	EQ(g.r.run->regions_len, 1);
	let_caller_go();
	gpu_rig_finish(&g);

	hold_caller(&g, &stage_clock);
	stop_and_read(&g);
	EQ(scene_calls(scene, "cuEventDestroy_v2"), 0);
	let_caller_go();
	gpu_rig_finish(&g);
}

enum { THREADS = 8, CALLS = 1000 };

static void *speak(void *arg)
{
	struct gpu_rig *g = arg;
	uint64_t id;
	int i;

	for (i = 0; i < CALLS; i++) {
		id = gpu_begins(g, "region");
		if (i % 10 == 0)
			galvo_mark(g->t, "mark", 4);
		galvo_region_end(g->t, id);
		if (i % 10 == 0)
			nanosleep(&(struct timespec){0, 100000}, NULL);
	}
	return NULL;
}

static void many_threads(void)
{
	pthread_t threads[THREADS];
	uint64_t recorded, i;
	struct gpu_rig g;

	gpu_rig_init(&g, true);
	scene->gpu_delay_ns = 3000;
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	for (i = 0; i < THREADS; i++)
		OK(pthread_create(&threads[i], NULL, speak, &g) == 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	events_signal_stop(g.r.events);
	events_join(g.r.events);
	rig_read(&g.r);
	recorded = g.r.run->regions_len + g.r.run->marks_len;
	EQ(recorded + lost_of(&g).no_room, THREADS * (CALLS + CALLS / 10));
	OK(recorded > 1024 && lost_of(&g).failed + lost_of(&g).unreached == 0);
	for (i = 0; i < g.r.run->regions_len; i++) {
		const struct region *r = &g.r.run->regions[i];

		if (r->unfinished || !r->error_ns || r->end_mono_ns < r->start_mono_ns)
			break;
	}
	EQ(i, g.r.run->regions_len);
	gpu_rig_finish(&g);
}

/* A child of a fork has no CUDA: nothing of it is called there. */
static void a_child_after_fork(void)
{
	uint32_t calls;
	uint64_t id;
	int status = -1;
	struct gpu_rig g;
	pid_t pid;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	id = gpu_begins(&g, "parent's");
	calls = scene_calls(scene, "cuEventRecord");
	pid = fork();
	if (pid == 0) {
		galvo_region_end(g.t, id);
		galvo_mark(g.t, "child's", 7);
		_exit(gpu_begins(&g, "child's") != 0 ||
		      galvo_tracker_set_stream(g.t, g.stream, NULL) != GALVO_ERR_STATE);
	}
	OK(waitpid(pid, &status, 0) == pid && status == 0);
	EQ(scene_calls(scene, "cuEventRecord"), calls);
	galvo_region_end(g.t, id);
	stop_and_read(&g);
	EQ(g.r.run->regions_len, 1);
	EQ(g.r.run->marks_len, 0);
	OK(!region_named(&g.r, "parent's").unfinished);
	gpu_rig_finish(&g);
}

/* The whole way, through the library's calls, in this process or with a helper beside it. */
static void a_suite(int32_t mode)
{
	galvo_suite_config config = galvo_suite_config_default();
	galvo_run_region r = {.struct_size = sizeof(r)};
	galvo_suite *suite = NULL;
	struct gpu_rig g = {.stream = NULL};
	struct galvo_run *run = NULL;
	uint64_t id, before_ns, after_ns;
	galvo_tracker *t;
	size_t kernel_at;
	char dir[64];
	int fd = sample_dir(dir);

	scene_begin();
	scene->is_fake = 0;
	scene->begin_mono_ns = clock_real.mono_ns(&clock_real);
	scene_add(scene, "GH100");
	play_program(&g, "lib/libcuda.so.1");
	config.mode = mode;
	config.sidecar_path = SIDECAR;
	config.output_dir = dir;
	config.no_system = config.no_disk = 1;
	OK(galvo_suite_create(&config, &suite, NULL) == GALVO_OK);
	t = galvo_suite_gpu_tracker(suite);
	OK(galvo_tracker_set_stream(t, g.stream, NULL) == GALVO_OK); /* before the start: that is fine */
	EQ(galvo_region_begin(t, "early", 5), 0);
	OK(galvo_suite_start(suite, NULL) == GALVO_OK);
	OK(galvo_tracker_status(t, NULL) == GALVO_OK);
	before_ns = clock_real.mono_ns(&clock_real);
	id = galvo_region_begin(t, "kernel", 6);
	EQ(add_work(g.stream, 20 * MS), CUDA_OK);
	galvo_region_end(t, id);
	galvo_region_begin(t, "open", 4);
	EQ(add_work(g.stream, 3600 * NS_PER_S), CUDA_OK);
	galvo_mark(t, "never", 5);
	after_ns = clock_real.mono_ns(&clock_real);
	OK(galvo_suite_stop(suite, NULL) == GALVO_OK);
	galvo_suite_destroy(suite);
	OK(galvo_run_open(dir, &run, NULL) == GALVO_OK);
	EQ(run->regions_len, 2);
	/* The GPU is done with the one after the stop, which ends the other. */
	OK(galvo_run_region_at(run, 0, &r, NULL) == GALVO_OK);
	kernel_at = strcmp(r.name, "kernel") ? 1 : 0;
	OK(galvo_run_region_at(run, kernel_at, &r, NULL) == GALVO_OK);
	OK(!strcmp(r.name, "kernel") && r.is_gpu && r.stream == 1 && !r.is_unfinished);
	OK(r.start_mono_ns + r.error_ns >= before_ns && r.start_mono_ns < after_ns + r.error_ns);
	OK(r.end_mono_ns - r.start_mono_ns >= 20 * MS - 2000);
	OK(galvo_run_region_at(run, !kernel_at, &r, NULL) == GALVO_OK && r.is_unfinished && r.error_ns);
	EQ(run->streams[0].gpu_events.unreached, 1);
	galvo_run_close(run);
	EQ(ctx_destroy(g.context), CUDA_OK);
	VIOLATIONS(0);
	scene_end();
	sample_remove(dir, fd);
}

static void within(void)
{
	a_suite(GALVO_IN_PROCESS);
}

static void beside(void)
{
	a_suite(GALVO_SIDECAR);
}

static const struct tap_test tests[] = {
	{"a context that is ruined", ruined_for_good},
	{"a context that is destroyed, and made again", destroyed_and_made_again},
	{"calls that fail", calls_that_fail},
	{"anchors that come late", anchors_that_come_late},
	{"not reached when it stops", not_reached},
	{"open at a crash", open_at_a_crash},
	{"a caller inside at the stop", a_caller_inside_at_the_stop},
	{"a child after fork", a_child_after_fork},
	{"many threads", many_threads},
	{"a suite", within},
	{"a suite with a sidecar", beside},
	{"a driver that hangs", a_driver_that_hangs},
};
TAP_MAIN(tests)
