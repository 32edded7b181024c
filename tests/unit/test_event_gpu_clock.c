/* From the GPU's clock to ours: which anchors are used, what they are worth, when that clock is set. */
#include "gpu_rig.h"

/* A context with a clock, entered; events of the program's are on the stream. */
static struct gpu_clock *enter_clock(struct gpu_rig *g)
{
	struct gpu_context *c;

	gpu_rig_init(g, false);
	OK(galvo_tracker_set_stream(g->t, g->stream, NULL) == GALVO_OK);
	c = &g->t->gpu->contexts[0];
	OK(gpu_enter(g->t->gpu, c));
	return &c->clock;
}

static void leave_clock(struct gpu_rig *g)
{
	gpu_leave(g->t->gpu);
	stop_and_read(g);
	gpu_rig_finish(g);
}

static void *event_now(const struct gpu_rig *g)
{
	void *event = NULL;

	EQ(cuda.event_create(&event, CUDA_EVENT_DEFAULT), CUDA_OK);
	EQ(cuda.event_record(event, g->stream), CUDA_OK);
	return event;
}

/* Known to a nanosecond. */
static void good_anchor(struct gpu_rig *g, struct gpu_clock *k)
{
	EQ(gpu_clock_anchor(g->t->gpu, k), CUDA_OK);
}

/* The GPU gets there late, so that it is known to a millisecond. */
static void bad_anchor(struct gpu_rig *g, struct gpu_clock *k)
{
	scene->gpu_delay_ns = 2 * MS;
	clock_step_ns = 20000;
	EQ(gpu_clock_anchor(g->t->gpu, k), CUDA_OK);
	scene->gpu_delay_ns = 0;
	clock_step_ns = 0;
}

/* Where it is placed is where it was, and how exactly. */
static uint64_t error_of(struct gpu_rig *g, struct gpu_clock *k, void *event, uint64_t true_ns)
{
	struct gpu_instant at = {0, 0};

	EQ(gpu_clock_place(g->t->gpu, k, event, &at), CUDA_OK);
	OK(is_at(at.mono_ns, at.error_ns, true_ns));
	EQ(cuda.event_destroy(event), CUDA_OK);
	return at.error_ns;
}

/* Neither the last nor the closest is the best one. */
static void the_most_exact_anchor(void)
{
	uint64_t first_ns, early_ns, middle_ns, late_ns, error_ns;
	void *early, *middle, *late;
	struct gpu_rig g;
	struct gpu_clock *k = enter_clock(&g);

	good_anchor(&g, k);
	first_ns = since_ns(scene->fake_mono_ns);
	pass_ms(10);
	early = event_now(&g);
	early_ns = since_ns(scene->fake_mono_ns);
	pass_ms(6000);
	middle = event_now(&g);
	middle_ns = since_ns(scene->fake_mono_ns);
	pass_ms(4000);
	bad_anchor(&g, k);
	EQ(k->len, 2); /* better than 200 ppm of ten seconds */
	OK(k->anchors[1].half_ns > MS / 2 && k->anchors[1].half_ns < 3 * MS / 2);
	pass_ms(1);
	late = event_now(&g);
	late_ns = since_ns(scene->fake_mono_ns);
	error_ns = error_of(&g, k, early, early_ns);
	OK(error_ns < 5000);
	error_ns = error_of(&g, k, middle, middle_ns);
	OK(error_ns <= (middle_ns - first_ns) / 5000 + 2000); /* 200 ppm, from the first one */
	error_ns = error_of(&g, k, late, late_ns);
	OK(error_ns >= MS / 2 && error_ns < 3 * MS / 2);
	leave_clock(&g);
}

/* What says less than the one before it, later by that much, is none; nor is it tried again at once. */
static void anchors_of_no_use(void)
{
	uint64_t true_ns;
	struct gpu_rig g;
	struct gpu_clock *k = enter_clock(&g);
	void *event;

	good_anchor(&g, k);
	pass_ms(30);
	OK(gpu_clock_is_due(k, scene->fake_mono_ns));
	bad_anchor(&g, k);
	EQ(k->len, 1);
	EQ(k->spare_len, GPU_ANCHORS + GPU_SPARE - 1);
	OK(!gpu_clock_is_due(k, scene->fake_mono_ns + 10 * MS));
	OK(gpu_clock_is_due(k, scene->fake_mono_ns + 30 * MS));
	event = event_now(&g);
	true_ns = since_ns(scene->fake_mono_ns);
	OK(error_of(&g, k, event, true_ns) < 20000);
	leave_clock(&g);
}

static void pace_of_good_anchors(void)
{
	uint64_t true_ns;
	struct gpu_rig g;
	struct gpu_clock *k = enter_clock(&g);
	void *event;

	scene->gpu_ppm = -150;
	bad_anchor(&g, k); /* the first one is better than none */
	EQ(k->len, 1);
	pass_ms(100);
	good_anchor(&g, k);
	pass_ms(1000);
	good_anchor(&g, k);
	pass_ms(400);
	bad_anchor(&g, k);
	pass_ms(1000);
	event = event_now(&g);
	true_ns = since_ns(scene->fake_mono_ns);
	OK(error_of(&g, k, event, true_ns) < 10000);
	leave_clock(&g);
}

/* What is known of before says nothing of after. */
static void a_clock_that_is_set(void)
{
	uint64_t true_ns;
	struct gpu_rig g;
	struct gpu_clock *k = enter_clock(&g);
	void *event;
	int i;

	for (i = 0; i < 4; i++) {
		good_anchor(&g, k);
		pass_ms(500);
	}
	EQ(k->len, 4);
	scene->gpu_set_by_ns = 2 * MS;
	scene->gpu_set_at_ns = since_ns(scene->fake_mono_ns);
	good_anchor(&g, k);
	EQ(k->len, 1);
	EQ(k->spare_len, GPU_ANCHORS + GPU_SPARE - 1);
	pass_ms(500);
	event = event_now(&g);
	true_ns = since_ns(scene->fake_mono_ns);
	OK(error_of(&g, k, event, true_ns) > 90000); /* the pace is not known any more */
	good_anchor(&g, k);
	pass_ms(500);
	event = event_now(&g);
	true_ns = since_ns(scene->fake_mono_ns);
	OK(error_of(&g, k, event, true_ns) < 5000);
	leave_clock(&g);
}

/* Times of CUDA's are floats: of two minutes they are 7 us off, and so is a pace that comes of them. */
static void times_that_are_rounded(void)
{
	uint64_t true_ns;
	struct gpu_rig g;
	struct gpu_clock *k = enter_clock(&g);
	void *event;

	good_anchor(&g, k);
	scene->fake_mono_ns += 524288 * MS + 32500; /* becomes 62500 */
	good_anchor(&g, k);
	scene->fake_mono_ns += 131072 * MS + 7500; /* becomes 0 */
	event = event_now(&g);
	true_ns = since_ns(scene->fake_mono_ns);
	OK(error_of(&g, k, event, true_ns) < 20000);
	leave_clock(&g);
}

static const struct tap_test tests[] = {
	{"the most exact anchor", the_most_exact_anchor},
	{"anchors of no use", anchors_of_no_use},
	{"a pace of good anchors", pace_of_good_anchors},
	{"a clock that is set", a_clock_that_is_set},
	{"times that are rounded", times_that_are_rounded},
};
TAP_MAIN(tests)
