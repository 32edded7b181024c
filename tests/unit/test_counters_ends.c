/* Sampled counters and what never returns, is gone, or is another process: nothing else suffers. */
#include "counters_rig.h"

/* In a process of its own: what hangs is left behind. Returns how long the end took, ns. */
static uint64_t end_with_a_hang(struct take *t, galvo_run **ret_run)
{
	uint64_t begin_ns = clock_real.mono_ns(&clock_real), took_ns;

	counters_signal_stop(t->counters);
	OK(!counters_join(t->counters, NS_PER_S / 4));
	took_ns = clock_real.mono_ns(&clock_real) - begin_ns;
	counters_destroy(t->counters);
	OK(writer_stop(t->writer, 5 * NS_PER_S, &t->error) == GALVO_OK);
	OK(writer_destroy(t->writer));
	OK(galvo_run_open(t->dir, ret_run, &t->error) == GALVO_OK);
	return took_ns;
}

static void hang_in_a_reading(void)
{
	struct scene_fault *f;
	struct take t;
	galvo_run *run = NULL;
	size_t i;

	take_stage("GH100", 2);
	f = scene_fault(scene, FAULT_HANG, "cuptiPmSamplingDecodeData", 0);
	f->device = 1;
	f->from_ns = 450 * NS_PER_MS;
	take_init(&t);
	t.config.flush_interval_ns = NS_PER_S;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 4; i++)
		take_pass(100, 2);
	await_asleep(2);
	pass_ms(100);
	AWAIT(scene->hanging == 1);
	for (i = 5; i < 80; i++)
		take_pass(100, 1);
	EQ(notes_with(&t, "GPU 1", "cuptiPmSamplingDecodeData has not returned"), 1);
	OK(end_with_a_hang(&t, &run) < 2 * NS_PER_S);
	EQ(rows_of_gpu(run, 0), 7999);
	EQ(rows_of_gpu(run, 1), 399);
	OK(says(decode_of(run, 1)->reason, "cuptiPmSamplingDecodeData has not returned"));
	EQ(decode_of(run, 1)->missing_ns, 7600 * NS_PER_MS);
	OK(decode_of(run, 0)->reason[0] == '\0');
	EQ(rows_wrong(run), 0);
	/* It returns after all, and finds its memory where it was. */
	scene->released = 1;
	AWAIT(scene_calls(scene, "cuptiPmSamplingDisable") == 2);
	galvo_run_close(run);
}

static void hang_in_the_end(void)
{
	struct take t;
	galvo_run *run = NULL;

	take_stage("GH100", 2);
	scene_fault(scene, FAULT_HANG, "cuptiPmSamplingStop", 0)->device = 0;
	take_init(&t);
	if (!take_begin(&t))
		return;
	take_pass(100, 2);
	OK(end_with_a_hang(&t, &run) < 2 * NS_PER_S);
	EQ(rows_of_gpu(run, 0), 99);
	EQ(rows_of_gpu(run, 1), 99);
	scene->released = 1;
	AWAIT(scene_calls(scene, "cuptiPmSamplingDisable") == 2);
	galvo_run_close(run);
}

/* One that hangs while it is opened is left alone; the others are sampled. */
static void hang_in_the_beginning(void)
{
	struct gpu_info info;
	struct take t;
	galvo_run *run = NULL;

	take_stage("GH100", 2);
	scene_fault(scene, FAULT_HANG, "cuptiPmSamplingEnable", 0)->device = 0;
	take_init(&t);
	t.config.open_timeout_ns = NS_PER_S * 3 / 2; /* an eighth of it for the second one */
	if (!take_begin(&t))
		return;
	EQ(notes_with(&t, "GPU 0", "cuptiPmSamplingEnable has not returned"), 1);
	OK(counters_device_at(t.counters, 0, &info) && info.index == 0);
	take_pass(100, 1);
	end_with_a_hang(&t, &run);
	EQ(rows_of_gpu(run, 0), 0);
	EQ(rows_of_gpu(run, 1), 99);
	OK(says(decode_of(run, 0)->reason, "cuptiPmSamplingEnable has not returned"));
	EQ(decode_of(run, 0)->missing_ns, 100 * NS_PER_MS);
	scene->released = 1;
	AWAIT(scene_calls(scene, "cuptiPmSamplingDisable") == 2);
	galvo_run_close(run);
}

static void driver_that_hangs(void)
{
	struct take t;

	take_stage("GH100", 1);
	scene_fault(scene, FAULT_HANG, "cuInit", 0);
	take_init(&t);
	t.config.open_timeout_ns = NS_PER_S / 10;
	EQ(counters_create(&t.config, &t.counters, &t.error), GALVO_ERR_STATE);
	OK(says(t.error.text, "cuInit has not returned"));
}

/* What was read and has no values is lost; what is not read is missing. */
static void hang_in_an_evaluation(void)
{
	struct take t;
	galvo_run *run = NULL;
	size_t i;

	take_stage("GH100", 1);
	scene_fault(scene, FAULT_HANG, "cuptiProfilerHostEvaluateToGpuValues", 0)->skip = 400;
	take_init(&t);
	t.config.flush_interval_ns = NS_PER_S;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 5; i++)
		take_pass(100, 1);
	AWAIT(scene->hanging == 1);
	take_pass(100, 1);
	EQ(ticks_of(&t), 6);
	pass_ms(6000);
	AWAIT(notes_with(&t, "GPU 0", "cuptiProfilerHostEvaluateToGpuValues has not returned") == 1);
	OK(end_with_a_hang(&t, &run) < 2 * NS_PER_S);
	EQ(rows_of_gpu(run, 0), 400);
	EQ(decode_of(run, 0)->unwritten, 199);
	EQ(decode_of(run, 0)->missing_ns, 6000 * NS_PER_MS);
	OK(says(decode_of(run, 0)->reason, "cuptiProfilerHostEvaluateToGpuValues has not returned"));
	EQ(rows_wrong(run), 0);
	scene->released = 1;
	AWAIT(scene_calls(scene, "cuptiPmSamplingDisable") == 1);
	galvo_run_close(run);
}

static void hangs(void)
{
	apart(hang_in_an_evaluation);
	apart(hang_in_a_reading);
	apart(hang_in_the_end);
	apart(hang_in_the_beginning);
	apart(driver_that_hangs);
}

static void off_the_bus(void)
{
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 2);
	scene->devices[1].lost_at_ns = 450 * NS_PER_MS;
	take_init(&t);
	t.config.flush_interval_ns = NS_PER_S;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 4; i++)
		take_pass(100, 2);
	await_asleep(2);
	for (i = 4; i < 20; i++) {
		pass_ms(100);
		await_asleep(i < 9 ? 2 : 1); /* it waits for the second try, and no longer */
	}
	EQ(notes_with(&t, "GPU 1", "CUPTI_ERROR_HARDWARE"), 1);
	run = take_end(&t);
	EQ(rows_of_gpu(run, 0), 1999);
	EQ(rows_of_gpu(run, 1), 399);
	OK(says(decode_of(run, 1)->reason, "CUPTI_ERROR_HARDWARE"));
	EQ(decode_of(run, 1)->missing_ns, 1600 * NS_PER_MS);
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* The double's session is lost with it: later tests need another one. */
static void alone_off_the_bus(void)
{
	apart(off_the_bus);
}

/* A child has the counters in its memory and no threads: nothing of it waits, or calls CUPTI. */
static void after_fork(void)
{
	struct counters_sample s;
	struct take t;
	galvo_run *run;
	int status;
	pid_t pid;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.drain_samples = 10;
	if (!take_begin(&t))
		return;
	take_pass(100, 1);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		counters_signal_stop(t.counters);
		OK(counters_join(t.counters, 10 * NS_PER_S));
		OK(counters_drain(t.counters, &s, NULL) == GALVO_DONE);
		OK(counters_start(t.counters, NULL, NULL) == GALVO_ERR_STATE);
		counters_destroy(t.counters);
		_exit(tap_failures != 0);
	}
	waitpid(pid, &status, 0);
	OK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EQ(scene_calls(scene, "cuptiPmSamplingStop"), 0);
	take_pass(100, 1);
	run = take_end(&t);
	EQ(rows_of(run)->rows_len, 199);
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void never_started(void)
{
	struct take t;

	take_stage("GH100", 2);
	take_init(&t);
	if (!take_create(&t))
		return;
	counters_destroy(t.counters);
	counters_destroy(NULL);
	EQ(scene_calls(scene, "cuptiPmSamplingEnable"), 2);
	EQ(scene_calls(scene, "cuptiPmSamplingDisable"), 2);
	VIOLATIONS(0);
	take_remove(&t, NULL);
}

/* Stopped as soon as it is started, again and again. */
static void short_ones(void)
{
	struct take t;
	int i;

	take_stage("GH100", 2);
	for (i = 0; i < 20; i++) {
		take_init(&t);
		if (!take_create(&t) ||
		    !OK(counters_start(t.counters, NULL, &t.error) == GALVO_OK))
			return;
		counters_signal_stop(t.counters);
		OK(counters_join(t.counters, 10 * NS_PER_S));
		counters_destroy(t.counters);
		close(t.dir_fd);
		rmdir(t.dir);
	}
	VIOLATIONS(0);
	scene_end();
}

/* No patience at all is asked for: devices that do not hang have some all the same. */
static void join_at_once(void)
{
	struct take t;
	galvo_run *run = NULL;

	take_stage("GH100", 2);
	take_init(&t);
	if (!take_begin(&t))
		return;
	take_pass(100, 2);
	counters_signal_stop(t.counters);
	OK(counters_join(t.counters, 0));
	OK(!counters_hold_stream(t.counters));
	run = take_end(&t);
	EQ(rows_of(run)->rows_len, 2 * 99);
	EQ(rows_wrong(run), 0);
	take_remove(&t, run);
}

/* CUPTI may still have the device, and the image that says what it counts. */
static void disable_fails(void)
{
	struct take t;

	take_stage("GH100", 1);
	scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingDisable", CUPTI_UNKNOWN);
	take_init(&t);
	if (!take_begin(&t))
		return;
	take_pass(100, 1);
	galvo_run_close(take_end(&t));
	if (!take_create(&t))
		return;
	VIOLATIONS(1); /* that it is enabled already; not that the image has changed */
	counters_destroy(t.counters);
}

static void disable_that_fails(void)
{
	apart(disable_fails);
}

/* One that cannot be sampled is missing all the time, whether it hung or was refused. */
static void never_counted(void)
{
	struct take t;
	galvo_run *run;

	take_stage("GH100", 2);
	scene->devices[0].support = CUPTI_UNSUPPORTED;
	take_init(&t);
	if (!take_begin(&t))
		return;
	take_pass(100, 1);
	run = take_end(&t);
	EQ(decode_of(run, 0)->missing_ns, 100 * NS_PER_MS);
	EQ(decode_of(run, 1)->missing_ns, 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* What is noted keeps its place, whichever device has trouble first. */
static void notes_in_turn(void)
{
	const char *about, *text;
	struct scene_fault *f;
	struct take t;
	size_t i, n;

	take_stage("GH100", 2);
	for (i = 0; i < 2; i++) {
		f = scene_fault(scene, FAULT_RESULT, "cuptiPmSamplingDecodeData", CUPTI_HARDWARE_BUSY);
		f->device = i == 0;
		f->from_ns = (i ? 250 : 150) * NS_PER_MS;
		f->until_ns = f->from_ns + 100 * NS_PER_MS;
	}
	take_init(&t);
	if (!take_begin(&t))
		return;
	for (n = 0; counters_note_at(t.counters, n, &about, &text); n++)
		;
	take_pass(100, 2);
	take_pass(100, 2);
	OK(counters_note_at(t.counters, n, &about, &text) && strcmp(about, "GPU 1") == 0);
	take_pass(100, 2);
	OK(counters_note_at(t.counters, n, &about, &text) && strcmp(about, "GPU 1") == 0);
	OK(counters_note_at(t.counters, n + 1, &about, &text) && strcmp(about, "GPU 0") == 0);
	OK(!counters_note_at(t.counters, n + 2, &about, &text));
	take_remove(&t, take_end(&t));
}

static const struct tap_test tests[] = {
	{"calls that hang keep nobody from ending", hangs},
	{"a GPU that falls off the bus takes no other with it", alone_off_the_bus},
	{"what CUPTI does not give back stays in memory", disable_that_fails},
	{"a join without patience leaves no healthy device behind", join_at_once},
	{"a GPU that is never counted is missing all the time", never_counted},
	{"notes keep their places", notes_in_turn},
	{"a child after fork does nothing", after_fork},
	{"opened, and never started", never_started},
	{"stopped as soon as started", short_ones},
};

TAP_MAIN(tests)
