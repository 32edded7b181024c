/* Regions on CUDA streams, step by step: when they were, what is left out, what goes wrong. */
#include <math.h>

#include "gpu_rig.h"

static bool maps(const char *what)
{
	struct span text;
	struct buf buf;
	bool found;

	buf_init(&buf, 4 << 20);
	OK(file_read(AT_FDCWD, "/proc/self/maps", &buf, &text, NULL) == GALVO_OK);
	found = memmem(text.p, text.n, what, strlen(what)) != NULL;
	buf_finish(&buf);
	return found;
}

/* ---- before there is a stream ---------------------------------------------------------------------- */

/* In a process of its own: the doubles are not there yet. */
static void without_cuda_body(void)
{
	galvo_tracker *t;
	galvo_error e = {0};
	struct rig r;

	rig_init(&r, true);
	t = events_tracker(r.events, DOMAIN_GPU);
	EQ(galvo_tracker_status(t, &e), GALVO_ERR_ABSENT);
	EQ(galvo_tracker_set_stream(t, NULL, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "GPU regions: this program has not loaded CUDA (libcuda.so.1)") == e.text);
	EQ(galvo_region_begin(t, "x", 1), 0);
	galvo_mark(t, "x", 1);
	OK(!maps("libcuda"));
	events_signal_stop(r.events);
	events_join(r.events);
	rig_read(&r);
	EQ(r.run->regions_len + r.run->marks_len, 0);
	EQ(r.run->streams[0].gpu_events.unbound, 2);
	rig_finish(&r);
	OK(!maps("libcuda"));
}

static void without_cuda(void)
{
	apart(without_cuda_body);
}

static void without_a_stream(void)
{
	struct gpu_rig g;
	galvo_error e;
	void *popped;

	gpu_rig_init(&g, false);
	EQ(galvo_tracker_status(g.t, &e), GALVO_ERR_STATE);
	OK(strstr(e.text, "galvo_tracker_set_stream"));
	EQ(gpu_begins(&g, "too early"), 0);
	EQ(galvo_tracker_set_stream(g.t, &g, &e), GALVO_ERR_INVALID);
	OK(strstr(e.text, "GPU regions: cuStreamGetCtx: CUDA_ERROR_INVALID_HANDLE (400)") == e.text);
	EQ(cuda.ctx_pop(&popped), CUDA_OK);
	EQ(galvo_tracker_set_stream(g.t, NULL, &e), GALVO_ERR_STATE);
	OK(strstr(e.text, "no CUDA context is current"));
	scene_fault(scene, FAULT_RESULT, "cuEventCreate", CUDA_OUT_OF_MEMORY)->times = 1;
	EQ(galvo_tracker_set_stream(g.t, g.stream, &e), GALVO_ERR_NOMEM);
	scene->fault_count = 0;
	EQ(galvo_tracker_status(g.t, &e), GALVO_ERR_STATE);
	OK(galvo_tracker_set_stream(g.t, g.stream, &e) == GALVO_OK);
	OK(galvo_tracker_status(g.t, &e) == GALVO_OK);
	EQ(cuda.ctx_get_current(&popped), CUDA_OK);
	OK(popped == NULL); /* none before, none after */
	events_signal_stop(g.r.events);
	EQ(galvo_tracker_set_stream(g.t, g.stream, &e), GALVO_ERR_STATE);
	events_finish(g.r.events);
	EQ(gpu_begins(&g, "too late"), 0);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 0);
	EQ(lost_of(&g).unbound, 1);
	gpu_rig_finish(&g);
}

/* ---- when ------------------------------------------------------------------------------------------ */

static void when_the_stream_gets_there(void)
{
	uint64_t outer, inner, again;
	struct region r;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	work(&g);
	EQ(add_work(g.stream, 5 * MS), CUDA_OK);
	outer = gpu_begins(&g, "outer");
	EQ(add_work(g.stream, 3 * MS), CUDA_OK);
	inner = gpu_begins(&g, "inner\xff");
	galvo_mark(g.t, "mark", 4);
	EQ(add_work(g.stream, 2 * MS), CUDA_OK);
	galvo_region_end(g.t, inner);
	galvo_region_end(g.t, outer);
	galvo_region_end(g.t, outer); /* twice: counted */
	OK(outer && inner && outer != inner);
	pass_ms(9);
	work(&g); /* the mark, and no end */
	pass_ms(1);
	work(&g);
	again = gpu_begins(&g, "again"); /* in a slot that was used before */
	galvo_region_end(g.t, again);
	OK(again != outer && again != inner);
	events_signal_stop(g.r.events);
	events_finish(g.r.events);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 3);
	EQ(g.r.run->marks_len, 1);
	r = region_named(&g.r, "outer");
	OK(is_at(r.start_mono_ns, r.error_ns, 5 * MS) && is_at(r.end_mono_ns, r.error_ns, 10 * MS));
	OK(r.domain == DOMAIN_GPU && r.stream == 1 && r.error_ns < 5000 && !r.unfinished);
	OK(r.pid == (uint32_t)getpid() && r.begin_thread && r.begin_thread == r.end_thread);
	r = region_named(&g.r, "inner\xff");
	OK(is_at(r.start_mono_ns, r.error_ns, 8 * MS) && is_at(r.end_mono_ns, r.error_ns, 10 * MS));
	OK(is_at(g.r.run->marks[0].mono_ns, g.r.run->marks[0].error_ns, 8 * MS));
	OK(g.r.run->marks[0].domain == DOMAIN_GPU && g.r.run->marks[0].stream == 1);
	r = region_named(&g.r, "again");
	OK(is_at(r.start_mono_ns, r.error_ns, 10 * MS));
	EQ(g.r.run->streams[0].dropped_rows, 0);
	gpu_rig_finish(&g);
}

/* The GPU's clock is 150 ppm too fast, and takes a while to hear of what is asked of it. */
static void another_pace(void)
{
	enum { N = 120 };
	uint64_t at_ns[N][2], worst_ns = 0, late_ns = 0, id, whole, i;
	struct events_counts counts;
	struct gpu_rig g;
	char name[16];

	gpu_rig_init(&g, false);
	clock_step_ns = 200;
	scene->gpu_delay_ns = 3000;
	scene->gpu_ppm = 150;
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	work(&g);
	whole = gpu_begins(&g, "whole");
	for (i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "%d", (int)i);
		at_ns[i][0] = since_ns(scene->fake_mono_ns) + 3000;
		id = gpu_begins(&g, name);
		EQ(add_work(g.stream, 20 * MS), CUDA_OK);
		at_ns[i][1] = since_ns(scene->fake_mono_ns) + 20 * MS;
		galvo_region_end(g.t, id);
		pass_ms(i == N / 2 ? 60000 : 100); /* idle, for a minute */
		work(&g);
	}
	galvo_region_end(g.t, whole);
	events_signal_stop(g.r.events);
	events_finish(g.r.events);
	events_count(g.r.events, &counts);
	EQ(counts.unmatched, 0);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, N + 1);
	for (i = 0; i < N; i++) {
		struct region r;

		snprintf(name, sizeof(name), "%d", (int)i);
		r = region_named(&g.r, name);
		OK(is_at(r.start_mono_ns, r.error_ns, at_ns[i][0]));
		OK(is_at(r.end_mono_ns, r.error_ns, at_ns[i][1]));
		worst_ns = r.error_ns > worst_ns ? r.error_ns : worst_ns;
		if (i > N / 4)
			late_ns = r.error_ns > late_ns ? r.error_ns : late_ns;
	}
	printf("# errors up to %llu ns, %llu ns once the pace is known\n",
	       (unsigned long long)worst_ns, (unsigned long long)late_ns);
	OK(worst_ns < 60000 && late_ns < 20000);
	id = region_named(&g.r, "whole").start_mono_ns;
	OK(is_at(id, region_named(&g.r, "whole").error_ns, at_ns[0][0]));
	gpu_rig_finish(&g);
}

/* ---- which stream ---------------------------------------------------------------------------------- */

static void streams_and_contexts(void)
{
	void *other_context, *other, *current;
	uint64_t a, b, c, d;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	EQ(cuda.ctx_create(&other_context, 0, 0), CUDA_OK);
	EQ(make_stream(&other, CUDA_CAPTURE_NONE, 0), CUDA_OK);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	a = gpu_begins(&g, "a"); /* while another context is current */
	OK(galvo_tracker_set_stream(g.t, NULL, NULL) == GALVO_OK); /* of that one */
	EQ(cuda.ctx_pop(&current), CUDA_OK);
	OK(current == other_context);
	EQ(add_work(g.stream, 7 * MS), CUDA_OK);
	b = gpu_begins(&g, "b");
	galvo_region_end(g.t, a); /* on its own stream */
	OK(galvo_tracker_set_stream(g.t, other, NULL) == GALVO_OK);
	c = gpu_begins(&g, "c");
	galvo_region_end(g.t, b);
	galvo_region_end(g.t, c);
	OK(galvo_tracker_set_stream(g.t, CUDA_STREAM_PER_THREAD, NULL) == GALVO_OK);
	d = gpu_begins(&g, "d");
	galvo_region_end(g.t, d);
	EQ(cuda.ctx_get_current(&current), CUDA_OK);
	OK(current == g.context);
	pass_ms(8);
	work(&g);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK); /* known: nothing is made again */
	EQ(scene_calls(scene, "cuStreamCreate"), 2);
	events_signal_stop(g.r.events);
	events_finish(g.r.events);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 4);
	OK(region_named(&g.r, "a").stream == 1 && region_named(&g.r, "b").stream == 2);
	OK(region_named(&g.r, "c").stream == 3 && region_named(&g.r, "d").stream == 4);
	OK(is_at(region_named(&g.r, "a").end_mono_ns, 4000, 7 * MS));
	OK(is_at(region_named(&g.r, "b").end_mono_ns, 4000, 0));
	EQ(scene_calls(scene, "cuEventDestroy_v2"), scene_calls(scene, "cuEventCreate"));
	EQ(scene_calls(scene, "cuStreamDestroy_v2"), 2);
	ctx_destroy(other_context);
	gpu_rig_finish(&g);
}

/* An older driver, which lacks what it can be done without. */
static void old_driver_body(void)
{
	struct gpu_rig g = {.stream = NULL};
	uint64_t id;

	scene_begin();
	scene_add(scene, "GH100");
	play_program(&g, "old/libcuda.so.1");
	OK(!cuda.stream_get_ctx && !cuda.ctx_get_id && !cuda.exchange_capture_mode);
	rig_init_with(&g.r, false, &stage_clock);
	g.t = events_tracker(g.r.events, DOMAIN_GPU);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	id = gpu_begins(&g, "old");
	galvo_region_end(g.t, id);
	events_finish(g.r.events);
	rig_read(&g.r);
	OK(!region_named(&g.r, "old").unfinished && region_named(&g.r, "old").error_ns);
	gpu_rig_finish(&g);
}

static void old_driver(void)
{
	apart(old_driver_body);
}

/* ---- what is left out ------------------------------------------------------------------------------ */

static void streams_that_are_captured(void)
{
	struct events_counts counts;
	uint64_t whole, cut;
	void *captured;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	whole = gpu_begins(&g, "whole");
	cut = gpu_begins(&g, "cut");
	set_capture(g.stream, CUDA_CAPTURE_ACTIVE);
	work(&g); /* asks, and spoils nothing */
	EQ(gpu_begins(&g, "captured"), 0);
	galvo_mark(g.t, "captured", 8);
	galvo_region_end(g.t, cut);
	OK(galvo_tracker_status(g.t, NULL) == GALVO_OK);
	set_capture(g.stream, CUDA_CAPTURE_NONE);
	pass_ms(3);
	galvo_region_end(g.t, whole);
	/* The default stream waits for others, but for those that are captured it cannot. */
	EQ(make_stream(&captured, CUDA_CAPTURE_ACTIVE, 0), CUDA_OK);
	OK(galvo_tracker_set_stream(g.t, NULL, NULL) == GALVO_OK);
	EQ(gpu_begins(&g, "implied"), 0);
	work(&g);
	events_finish(g.r.events);
	events_count(g.r.events, &counts);
	EQ(counts.unmatched, 0);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 2);
	EQ(g.r.run->marks_len, 0);
	EQ(lost_of(&g).capturing, 4);
	EQ(lost_of(&g).failed, 0);
	OK(!region_named(&g.r, "whole").unfinished);
	OK(region_named(&g.r, "cut").unfinished && region_named(&g.r, "cut").error_ns);
	OK(since_ns(region_named(&g.r, "cut").end_mono_ns) == 0); /* of the call */
	gpu_rig_finish(&g);
}

static void many_on_their_way(void)
{
	enum { N = 9000 };
	uint64_t *ids = alloc_array(N, sizeof(*ids));
	size_t begun = 0, more, i;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	EQ(add_work(g.stream, NS_PER_S), CUDA_OK);
	while ((ids[begun] = gpu_begins(&g, "waits")))
		begun++;
	EQ(begun, 1024);
	while (begun < N) { /* there are more with each look, until there are enough */
		work(&g);
		for (more = 0; begun < N && (ids[begun] = gpu_begins(&g, "waits")); more++)
			begun++;
		if (!more)
			break;
	}
	EQ(begun, 8192);
	for (i = 0; i < begun; i++)
		galvo_region_end(g.t, ids[i]);
	work(&g);
	EQ(g.t->gpu ? scene_calls(scene, "cuEventElapsedTime_v2") : 1, 0);
	pass_ms(1000);
	work(&g);
	OK(gpu_begins(&g, "room again"));
	events_signal_stop(g.r.events);
	events_finish(g.r.events);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 8193);
	for (i = 0; i < begun; i++)
		if (g.r.run->regions[i].unfinished ||
		    !is_at(g.r.run->regions[i].end_mono_ns, 9000, NS_PER_S))
			break;
	EQ(i, begun);
	OK(lost_of(&g).no_room > 4);
	EQ(lost_of(&g).failed + lost_of(&g).unreached, 0);
	gpu_rig_finish(&g);
	free(ids);
}

/* Each time the GPU has memory for the events of the clock, and for none or one of a region's. */
static void no_memory_for_events(void)
{
	enum { FAILURES = 40, N = 1024 };
	uint64_t ids[N];
	struct gpu_rig g;
	galvo_error e;
	uint32_t i;

	gpu_rig_init(&g, false);
	for (i = 0; i < FAILURES; i++) {
		scene->fault_count = 0;
		scene_fault(scene, FAULT_RESULT, "cuEventCreate", CUDA_OUT_OF_MEMORY)->skip =
			GPU_ANCHORS + GPU_SPARE + i % 2;
		EQ(galvo_tracker_set_stream(g.t, g.stream, &e), GALVO_ERR_NOMEM);
		EQ(g.t->gpu->slots_made, 0);
		EQ(scene_calls(scene, "cuEventDestroy_v2"), scene_calls(scene, "cuEventCreate") - i - 1);
	}
	/* Then for all but the last one. */
	scene->fault_count = 0;
	scene_fault(scene, FAULT_RESULT, "cuEventCreate", CUDA_OUT_OF_MEMORY)->skip =
		GPU_ANCHORS + GPU_SPARE + 2 * N - 1;
	OK(galvo_tracker_set_stream(g.t, g.stream, &e) == GALVO_OK);
	EQ(g.t->gpu->slots_made, N - 1);
	for (i = 0; i < N && (ids[i] = gpu_begins(&g, "fits")); i++)
		;
	EQ(i, N - 1);
	while (i--)
		galvo_region_end(g.t, ids[i]);
	stop_and_read(&g);
	EQ(g.r.run->regions_len, N - 1);
	EQ(scene_calls(scene, "cuEventDestroy_v2"),
	   scene_calls(scene, "cuEventCreate") - FAILURES - 1);
	gpu_rig_finish(&g);
}

/* Ids of one tracker mean nothing to the other. */
static void ids_of_the_other_tracker(void)
{
	struct events_counts counts;
	uint64_t host, gpu;
	struct gpu_rig g;

	gpu_rig_init(&g, false);
	OK(galvo_tracker_set_stream(g.t, g.stream, NULL) == GALVO_OK);
	host = begin(&g.r, "host");
	gpu = gpu_begins(&g, "gpu");
	galvo_region_end(g.t, host);
	galvo_region_end(g.r.t, gpu);
	galvo_region_end(g.t, UINT64_MAX);
	galvo_region_end(g.t, 1);
	events_drain(g.r.events);
	galvo_region_end(g.t, gpu);
	galvo_region_end(g.r.t, host);
	events_finish(g.r.events);
	events_count(g.r.events, &counts);
	EQ(counts.unmatched, 4);
	rig_read(&g.r);
	EQ(g.r.run->regions_len, 2);
	OK(!region_named(&g.r, "host").unfinished && region_named(&g.r, "host").error_ns == 0);
	OK(!region_named(&g.r, "gpu").unfinished && region_named(&g.r, "gpu").error_ns != 0);
	gpu_rig_finish(&g);
}

static const struct tap_test tests[] = {
	{"a program without CUDA stays one", without_cuda},
	{"an older driver", old_driver},
	{"without a stream", without_a_stream},
	{"when the stream gets there", when_the_stream_gets_there},
	{"a clock of another pace", another_pace},
	{"streams and contexts", streams_and_contexts},
	{"streams that are captured", streams_that_are_captured},
	{"many on their way", many_on_their_way},
	{"no memory for events", no_memory_for_events},
	{"ids of the other tracker", ids_of_the_other_tracker},
};
TAP_MAIN(tests)
