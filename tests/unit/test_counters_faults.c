/* Sampled counters where something goes wrong: what is lost is counted, and nothing else is. */
#include "counters_rig.h"

static uint64_t at_ms(uint64_t ms)
{
	return ms * NS_PER_MS;
}

/* One device at 1 kHz with that fault, read every 100 ms. */
static galvo_run *record_with(struct take *t, size_t readings, int kind, const char *call, int result,
                              uint64_t value, uint64_t from_ms, uint64_t until_ms)
{
	/* Values are made when they are: faults of them are told by their turn. */
	uint32_t skip = kind == FAULT_NAN || strstr(call, "Evaluate") ? 400 : 0;
	struct scene_fault *f;
	size_t i;

	take_stage("GH100", 1);
	f = scene_fault(scene, kind, call, result);
	f->value = value;
	f->from_ns = at_ms(from_ms);
	f->until_ns = at_ms(until_ms);
	f->skip = skip;
	f->times = skip ? 100 : 0;
	take_init(t);
	if (!take_begin(t))
		return NULL;
	for (i = 0; i < readings; i++)
		take_pass(100, 1);
	return take_end(t);
}

static void soft_overflow(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_OVERFLOW, "", 0, 30, 450, 550);
	const struct decode_stats *d = decode_of(run, 0);

	EQ(d->overflows, 1);
	EQ(d->samples, 999 - 30);
	EQ(d->missing_ns, at_ms(30));
	EQ(d->restarts, 0);
	EQ(rows_of(run)->rows_len, d->samples);
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* The buffer holds 50 samples only, and keeps the latest. */
static void buffer_too_small(void)
{
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.buffer_bytes = 50 * scene->sample_bytes;
	if (!take_begin(&t))
		return;
	take_pass(100, 1);
	for (i = 0; i < 4; i++)
		take_pass(50, 1); /* it is read twice as often from here on */
	EQ(ticks_of(&t), 5);
	run = take_end(&t);
	EQ(decode_of(run, 0)->overflows, 1);
	EQ(decode_of(run, 0)->buffer_bytes, 50 * scene->sample_bytes);
	EQ(rows_of(run)->rows_len, 249);
	EQ(decode_of(run, 0)->missing_ns, 0); /* of what came before the first sample */
	EQ(rows_wrong(run), 0);
	take_remove(&t, run);
}

/* Nothing comes any more until it is begun anew, which it is at once. */
static void overflow_that_lasts(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 12, FAULT_STUCK, "", 0, 0, 450, 550);
	const struct decode_stats *d = decode_of(run, 0);

	EQ(d->overflows, 1);
	EQ(d->restarts, 1);
	EQ(d->failures, 0);
	EQ(d->stretched, 2);
	OK(d->reason[0] == '\0');
	EQ(d->samples, 399 + 699); /* up to 400 ms, and from 500 on */
	EQ(d->missing_ns, at_ms(101));
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* Every two seconds: each time little is lost. */
static void overflows_that_last(void)
{
	struct take t;
	galvo_run *run;
	const struct decode_stats *d;
	size_t i;

	take_stage("GH100", 1);
	for (i = 1; i < 6; i++) {
		struct scene_fault *f = scene_fault(scene, FAULT_STUCK, "", 0);

		f->from_ns = at_ms(2000 * i - 50);
		f->until_ns = at_ms(2000 * i + 50);
	}
	take_init(&t);
	if (!take_begin(&t))
		return;
	for (i = 0; i < 120; i++)
		take_pass(100, 1);
	run = take_end(&t);
	d = decode_of(run, 0);
	EQ(d->restarts, 5);
	EQ(d->missing_ns, at_ms(5 * 101));
	EQ(d->samples, 11999 - 5 * 101);
	OK(d->reason[0] == '\0');
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* At 500 ms and again at once: after 100 ms, 200, 400. */
static void overflow_again_and_again(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 20, FAULT_STUCK, "", 0, 0, 450, 1450);

	EQ(decode_of(run, 0)->restarts, 4);
	EQ(decode_of(run, 0)->samples, 399 + 499);
	EQ(decode_of(run, 0)->missing_ns, at_ms(1101));
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* Two samples of 50 ms each are none, and none that come later are judged by them. */
static void stalls(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_STALL, "", 0, 50, 450, 550);

	EQ(decode_of(run, 0)->stretched, 3);
	EQ(decode_of(run, 0)->samples, 899);
	EQ(decode_of(run, 0)->missing_ns, at_ms(100));
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* Chips that keep the oldest get there by themselves. */
static void oldest_are_kept(void)
{
	struct take t;
	galvo_run *run;

	take_stage("TU102", 1);
	take_init(&t);
	t.config.buffer_bytes = 100 * scene->sample_bytes;
	if (!take_begin(&t))
		return;
	take_pass(198, 1);  /* 99 samples */
	take_pass(1002, 1); /* too many */
	pass_ms(100);
	AWAIT(scene_calls(scene, "cuptiPmSamplingStart") == 2);
	await_asleep(1);
	take_pass(198, 1);
	run = take_end(&t);
	EQ(decode_of(run, 0)->overflows, 1);
	EQ(decode_of(run, 0)->restarts, 1);
	EQ(decode_of(run, 0)->samples, 99 + 99);
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* An image for 150 samples, and time for 300: half of them are lost, and it is read more often then. */
static void full_image(void)
{
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.max_samples = 150; /* so it is read every 50 ms */
	if (!take_begin(&t))
		return;
	take_pass(50, 1);
	take_pass(300, 1);
	for (i = 0; i < 6; i++)
		take_pass(25, 1);
	run = take_end(&t);
	EQ(decode_of(run, 0)->full_images, 1);
	EQ(decode_of(run, 0)->timeless, 2);
	EQ(decode_of(run, 0)->samples, 49 + 150 + 150 - 2);
	EQ(decode_of(run, 0)->missing_ns, at_ms(150 + 2));
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void other_stop_reason(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_STOP_OTHER, "", 0, 0, 0, 0);

	EQ(decode_of(run, 0)->samples, 999);
	EQ(decode_of(run, 0)->failures, 0);
	EQ(rows_wrong(run), 0);
	take_remove(&t, run);
}

/* Samples that are there but not finished are not looked at. */
static void unfinished_samples(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_UNFINISHED, "", 0, 3, 450, 550);

	EQ(decode_of(run, 0)->samples, 996);
	EQ(decode_of(run, 0)->missing_ns, at_ms(3));
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void zero_times(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_ZERO_STAMPS, "", 0, 10, 450, 550);

	EQ(decode_of(run, 0)->timeless, 10);
	EQ(decode_of(run, 0)->samples, 989);
	EQ(decode_of(run, 0)->missing_ns, at_ms(10));
	EQ(rows_wrong(run), 0);
	take_remove(&t, run);
}

static void not_a_number(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_NAN, "pcie__", 0, 0, 0, 0);
	const struct table *rows = rows_of(run);
	size_t i, absent = 0, other = 0;

	for (i = 0; i < rows->rows_len; i++) {
		absent += isnan(rows->values[1][i]) != 0;
		other += isnan(rows->values[0][i]) != 0;
	}
	EQ(absent, 100);
	EQ(other, 0);
	EQ(decode_of(run, 0)->not_finite, 100);
	EQ(decode_of(run, 0)->samples, 999);
	take_remove(&t, run);
}

static void evaluation_that_fails(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_RESULT, "cuptiProfilerHostEvaluateToGpuValues",
	                               CUPTI_INVALID_PARAMETER, 0, 0, 0);

	EQ(decode_of(run, 0)->not_finite, 200);
	EQ(decode_of(run, 0)->samples, 999);
	take_remove(&t, run);
}

/* Once is nothing: the next reading has it all. */
static void reading_that_fails_once(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_RESULT, "cuptiPmSamplingDecodeData",
	                               CUPTI_NOT_READY, 0, 450, 550);

	EQ(decode_of(run, 0)->failures, 1);
	EQ(decode_of(run, 0)->restarts, 0);
	EQ(decode_of(run, 0)->samples, 999);
	EQ(decode_of(run, 0)->missing_ns, 0);
	OK(decode_of(run, 0)->reason[0] == '\0');
	EQ(rows_wrong(run), 0);
	take_remove(&t, run);
}

static void readings_that_fail(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 10, FAULT_RESULT, "cuptiPmSamplingDecodeData",
	                               CUPTI_NOT_READY, 0, 450, 850);
	const struct decode_stats *d = decode_of(run, 0);

	EQ(d->failures, 3);
	EQ(d->restarts, 1);
	EQ(d->samples, 399);
	EQ(d->missing_ns, at_ms(600));
	EQ(rows_wrong(run), 0);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* Another client has the counters: that needs no second look. */
static void busy_once(void)
{
	struct take t;
	galvo_run *run = record_with(&t, 12, FAULT_RESULT, "cuptiPmSamplingDecodeData",
	                             CUPTI_HARDWARE_BUSY, 0, 450, 550);

	EQ(decode_of(run, 0)->failures, 1);
	EQ(decode_of(run, 0)->restarts, 1);
	VIOLATIONS(0);
	take_remove(&t, run);
}

/* ---- the wall clock ------------------------------------------------------------------------------ */

static void clock_set(int64_t by_ns)
{
	struct take t;
	galvo_run *run;
	const struct table *rows;
	size_t i, apart = 0;

	take_stage("GH100", 2);
	take_init(&t);
	if (!take_begin(&t))
		return;
	for (i = 0; i < 10; i++) {
		if (i == 3 || i == 7)
			scene->wall_step_ns += i == 3 ? by_ns : -by_ns;
		take_pass(100, 2);
	}
	run = take_end(&t);
	rows = rows_of(run);
	EQ(rows->rows_len, 2 * 999);
	/* Each sample begins where the one before it ended, on our clock. */
	for (i = 1; i < rows->rows_len; i++)
		if (rows->key[i] == rows->key[i - 1])
			apart += rows->mono_ns[i] - rows->mono_ns[i - 1] != NS_PER_MS;
	EQ(apart <= 20, 1); /* from one part of a device's rows to the next */
	EQ(rows_wrong(run), 0);
	for (i = 0; i < 2; i++) {
		EQ(decode_of(run, i)->clock_steps, 2);
		EQ(decode_of(run, i)->missing_ns, 0);
		EQ(decode_of(run, i)->timeless, 0);
	}
	VIOLATIONS(0);
	take_remove(&t, run);
}

static void clock_is_set(void)
{
	clock_set(INT64_C(3600000000000));
	clock_set(-INT64_C(3600000000000));
	clock_set(INT64_C(30000000));
	clock_set(-INT64_C(30000000));
	clock_set(INT64_C(1500000));
}

/* NTP moves it by up to 500 ppm: 1 ms from one reading to the next is no step here. */
static void clock_is_slewed(void)
{
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.frequency_hz = 100;
	t.config.decode_interval_ns = 2 * NS_PER_S;
	if (!take_begin(&t))
		return;
	for (i = 0; i < 4; i++) {
		scene->wall_step_ns += INT64_C(1000000);
		take_pass(2000, 1);
	}
	run = take_end(&t);
	EQ(decode_of(run, 0)->clock_steps, 0);
	EQ(decode_of(run, 0)->missing_ns, 0);
	EQ(decode_of(run, 0)->samples, 799);
	take_remove(&t, run);
}

/* ---- slow ones ---------------------------------------------------------------------------------- */

/* A reading that takes a while disturbs no other device. */
static void slow_reading(void)
{
	struct scene_fault *f;
	struct take t;
	galvo_run *run;
	size_t i;

	take_stage("GH100", 2);
	f = scene_fault(scene, FAULT_SLOW, "cuptiPmSamplingDecodeData", 0);
	f->device = 1;
	f->value = 20 * NS_PER_MS;
	take_init(&t);
	if (!take_begin(&t))
		return;
	for (i = 0; i < 5; i++)
		take_pass(100, 2);
	run = take_end(&t);
	EQ(rows_of_gpu(run, 0), 499);
	EQ(rows_of_gpu(run, 1), 499);
	EQ(rows_wrong(run), 0);
	take_remove(&t, run);
}

/* Nobody takes the messages: what is decoded stays in its queue, and what that has no room for is lost. */
static void file_that_is_behind(void)
{
	struct stream_config config = {
		.kind = STREAM_GPU,
		.file_name = stream_file_name(STREAM_GPU),
		.hostname = "here",
	};
	struct counters_counts n;
	struct take t;
	size_t i;

	take_stage("GH100", 1);
	take_init(&t);
	t.config.flush_interval_ns = 100 * NS_PER_MS;
	if (!take_create(&t))
		return;
	config.columns = counters_columns(t.counters, &config.columns_len);
	OK(writer_create(t.dir_fd, &t.writer, &t.error) == GALVO_OK);
	OK(writer_add(t.writer, &config, &t.stream, &t.error) == GALVO_OK);
	OK(counters_start(t.counters, t.stream, &t.error) == GALVO_OK);
	for (i = 0; i < 40; i++)
		take_pass(100, 1);
	counters_count(t.counters, &n);
	EQ(n.ticks, 40); /* it has been read all the time */
	counters_signal_stop(t.counters);
	OK(counters_join(t.counters, NS_PER_S));
	counters_count(t.counters, &n);
	EQ(n.samples + n.lost_samples, 3999);
	OK(n.lost_samples > 3000);
	counters_destroy(t.counters);
	writer_destroy(t.writer);
	VIOLATIONS(0);
	take_remove(&t, NULL);
}

static const struct tap_test tests[] = {
	{"an overflow that loses the oldest samples", soft_overflow},
	{"a hardware buffer that is too small is read more often", buffer_too_small},
	{"an overflow that lasts: sampling is begun anew", overflow_that_lasts},
	{"overflows that last, now and then, cost a few percent", overflows_that_last},
	{"one that comes back at once is given more and more time", overflow_again_and_again},
	{"samples that cover a stall are none, as often as they come", stalls},
	{"where the oldest are kept, too many samples stop it", oldest_are_kept},
	{"an image that is full, and the samples behind it without times", full_image},
	{"readings that end for another reason are as good", other_stop_reason},
	{"samples that are not finished are left alone", unfinished_samples},
	{"samples without times", zero_times},
	{"values that are none are absent, and counted", not_a_number},
	{"values that cannot be had are absent", evaluation_that_fails},
	{"a reading that fails once", reading_that_fails_once},
	{"readings that fail: sampling is begun anew", readings_that_fail},
	{"a reading that says busy: sampling is begun anew at once", busy_once},
	{"a wall clock that is set forth and back moves no sample", clock_is_set},
	{"a wall clock that is slewed is not set", clock_is_slewed},
	{"a slow reading disturbs no other device", slow_reading},
	{"a file that is behind stops nothing, and losses are counted", file_that_is_behind},
};

TAP_MAIN(tests)
