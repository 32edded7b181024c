/* A profiler of events, and CUDA as the double plays it, on one clock. */
#ifndef GALVO_GPU_RIG_H
#define GALVO_GPU_RIG_H

#include <dlfcn.h>

#include "event/gpu.h"
#include "event_rig.h"
#include "scene_rig.h"

static struct cuda cuda;
static int (*make_stream)(void **, int, uint64_t); /* these of the double only */
static int (*add_work)(void *, uint64_t);
static int (*set_capture)(void *, int);
static int (*ctx_destroy)(void *);
static uint64_t clock_step_ns; /* what a look at the fake clock takes */

struct gpu_rig {
	struct rig r;
	galvo_tracker *t; /* of the GPU */
	void *context, *stream;
};

static inline uint64_t stage_mono_ns(const struct clock *c)
{
	(void)c;
	return atomic_fetch_add(&scene->fake_mono_ns, clock_step_ns) + clock_step_ns;
}

static inline void stage_sleep_until(const struct clock *c, uint64_t deadline, _Atomic uint32_t *stop)
{
	(void)c;
	(void)stop;
	if (scene->fake_mono_ns < deadline)
		scene->fake_mono_ns = deadline;
}

static const struct clock stage_clock = {stage_mono_ns, stage_mono_ns, stage_mono_ns, stage_sleep_until};

static inline void take_symbol(const char *name, void *to)
{
	void *symbol = dlsym(cuda.handle, name);

	OK(symbol != NULL);
	memcpy(to, &symbol, sizeof(symbol));
}

/* The program has loaded CUDA, and works on a stream in a context of its own. */
static inline void play_program(struct gpu_rig *g, const char *library)
{
	const struct nvidia_places where = {.file = double_path(library)};

	OK(cuda_open(&cuda, &where, NULL) == GALVO_OK);
	take_symbol("double_cuda_stream", &make_stream);
	take_symbol("double_cuda_work", &add_work);
	take_symbol("double_cuda_capture", &set_capture);
	take_symbol("cuCtxDestroy_v2", &ctx_destroy);
	EQ(cuda.init(0), CUDA_OK);
	EQ(cuda.ctx_create(&g->context, 0, 0), CUDA_OK);
	EQ(make_stream(&g->stream, CUDA_CAPTURE_NONE, 0), CUDA_OK);
}

/* By hand on a fake clock, or with threads on the real one. */
static inline void gpu_rig_init(struct gpu_rig *g, bool is_threaded)
{
	scene_begin();
	scene->is_fake = !is_threaded;
	if (is_threaded)
		scene->begin_mono_ns = clock_real.mono_ns(&clock_real);
	clock_step_ns = 0;
	scene_add(scene, "GH100");
	*g = (struct gpu_rig){.stream = NULL};
	play_program(g, "lib/libcuda.so.1");
	rig_init_with(&g->r, is_threaded, is_threaded ? &clock_real : &stage_clock);
	g->t = events_tracker(g->r.events, DOMAIN_GPU);
}

/* The program ends its context, if it has not yet. */
static inline void gpu_rig_finish(struct gpu_rig *g)
{
	rig_finish(&g->r);
	if (g->context)
		ctx_destroy(g->context);
	VIOLATIONS(0);
	scene_end();
}

static inline void work(struct gpu_rig *g)
{
	gpu_work(g->t->gpu);
	events_drain(g->r.events);
}

static inline uint64_t gpu_begins(struct gpu_rig *g, const char *name)
{
	return galvo_region_begin(g->t, name, strlen(name));
}

static inline void stop_and_read(struct gpu_rig *g)
{
	events_signal_stop(g->r.events);
	events_finish(g->r.events);
	rig_read(&g->r);
}

/* Since the scene began. */
static inline uint64_t since_ns(uint64_t mono_ns)
{
	return mono_ns - scene->begin_mono_ns;
}

/* The true instant is within what is told. */
static inline bool is_at(uint64_t mono_ns, uint64_t error_ns, uint64_t true_ns)
{
	const uint64_t off_ns = since_ns(mono_ns) > true_ns ? since_ns(mono_ns) - true_ns
	                                                    : true_ns - since_ns(mono_ns);

	if (error_ns && off_ns <= error_ns)
		return true;
	printf("# at %llu with an error of %llu, not %llu\n", (unsigned long long)since_ns(mono_ns),
	       (unsigned long long)error_ns, (unsigned long long)true_ns);
	return false;
}

static inline bool await(bool (*holds)(void))
{
	size_t i;

	for (i = 0; i < 2000 && !holds(); i++)
		nanosleep(&(struct timespec){0, NS_PER_MS}, NULL);
	return holds();
}

static inline bool hangs(void)
{
	return scene->hanging > 0;
}

static inline bool hangs_no_more(void)
{
	return scene->hanging == 0;
}

static inline struct gpu_events lost_of(const struct gpu_rig *g)
{
	return g->r.run->streams_len ? g->r.run->streams[0].gpu_events : (struct gpu_events){0};
}

#endif
