/* Questions that need work on the GPU: events while sampling, clocks under load, edges. */
#include <dlfcn.h>
#include <math.h>

#include "probe.h"

enum { KERNELS = 40, BLOCK = 256 };

/* Multiplies and adds that many rounds; the store that never happens keeps the work alive. */
static const char ptx[] =
	".version 6.4\n.target sm_70\n.address_size 64\n"
	".visible .entry spin(.param .u64 p_rounds)\n{\n"
	"  .reg .pred %p<3>;\n  .reg .f32 %f<4>;\n  .reg .b64 %d<2>;\n"
	"  ld.param.u64 %d1, [p_rounds];\n"
	"  mov.f32 %f1, 0f3F800000;\n  mov.f32 %f2, 0f3F7FBE77;\n  mov.f32 %f3, 0f3A83126F;\n"
	"LOOP:\n"
	"  fma.rn.f32 %f1, %f1, %f2, %f3;\n  fma.rn.f32 %f1, %f1, %f2, %f3;\n"
	"  fma.rn.f32 %f1, %f1, %f2, %f3;\n  fma.rn.f32 %f1, %f1, %f2, %f3;\n"
	"  sub.u64 %d1, %d1, 1;\n  setp.ne.u64 %p1, %d1, 0;\n  @%p1 bra LOOP;\n"
	"  setp.eq.f32 %p2, %f1, 0f47F12345;\n  @%p2 trap;\n"
	"  ret;\n}\n";

/* Beside what galvo itself needs of libcuda. */
static struct {
	int (*stream_create)(void **, unsigned);
	int (*module_load)(void **, const void *);
	int (*module_function)(void **, void *, const char *);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	              void *, void **, void **);
} more;

static const struct dso_symbol more_symbols[] = {
	{"cuStreamCreate", 0, true},
	{"cuModuleLoadData", sizeof(void *), true},
	{"cuModuleGetFunction", 2 * sizeof(void *), true},
	{"cuLaunchKernel", 3 * sizeof(void *), true},
};

struct gpu {
	void *context, *stream, *module, *spin;
	unsigned blocks;
	uint64_t rounds_a_ms;
};

static int launch(struct gpu *g, uint64_t rounds)
{
	void *args[] = {&rounds};

	return more.launch(g->spin, g->blocks, 1, 1, BLOCK, 1, 1, 0, g->stream, args, NULL);
}

/* Two events around a kernel; NaN if that fails, with the result. */
static double time_kernel(struct gpu *g, uint64_t rounds, int *ret_rc)
{
	void *start = NULL, *stop = NULL;
	float ms = 0;
	int rc = cuda.event_create(&start, CUDA_EVENT_DEFAULT);

	rc = rc ? rc : cuda.event_create(&stop, CUDA_EVENT_DEFAULT);
	rc = rc ? rc : cuda.event_record(start, g->stream);
	rc = rc ? rc : launch(g, rounds);
	rc = rc ? rc : cuda.event_record(stop, g->stream);
	rc = rc ? rc : cuda.event_synchronize(stop);
	rc = rc ? rc : cuda.event_elapsed(&ms, start, stop);
	cuda.event_destroy(start);
	cuda.event_destroy(stop);
	*ret_rc = rc;
	return rc ? NAN : ms;
}

static bool begin_gpu(struct gpu *g)
{
	galvo_error e = {0};
	int sms = 1, rc;
	double ms;

	memset(g, 0, sizeof(*g));
	if (!has_cuda())
		return false;
	if (dso_bind(cuda.handle, more_symbols, ARRAY_LEN(more_symbols), &more, &e) != GALVO_OK) {
		answer("%s", e.text);
		return false;
	}
	cuda.device_get_attribute(&sms, CUDA_ATTRIBUTE_SM_COUNT, 0);
	g->blocks = (unsigned)sms * 4;
	if (!good_cuda("the primary context", cuda.primary_retain(&g->context, 0)) ||
	    !good_cuda("cuCtxSetCurrent", cuda.ctx_set_current(g->context)) ||
	    !good_cuda("cuStreamCreate", more.stream_create(&g->stream, 1)) ||
	    !good_cuda("cuModuleLoadData", more.module_load(&g->module, ptx)) ||
	    !good_cuda("cuModuleGetFunction", more.module_function(&g->spin, g->module, "spin")))
		return false;
	time_kernel(g, 100000, &rc);
	ms = time_kernel(g, 1000000, &rc);
	if (!good_cuda("a kernel between events", rc))
		return false;
	g->rounds_a_ms = (uint64_t)(1e6 / ms);
	return true;
}

/* Kernels of 10 ms; how long they take, what fails, which clock NVML tells and which the counters. */
static void phase(struct gpu *g, const char *what, struct sampling *s)
{
	struct list ms = {NULL, 0, 0}, mhz = {NULL, 0, 0};
	size_t failed = 0;
	struct catch c;
	char name[64];
	int i, rc;

	if (s)
		catch_begin(&c, s);
	for (i = 0; i < KERNELS; i++) {
		list_add(&ms, time_kernel(g, g->rounds_a_ms * 10, &rc));
		failed += rc != 0;
		if (i % 4 == 0)
			list_add(&mhz, sm_mhz());
		if (s && i % 8 == 0)
			catch_drain(&c);
	}
	answer("%s: a kernel takes %.4f ms, %zu of %d could not be timed, SM clock %.0f MHz", what,
	       list_at(&ms, 0.5), failed, KERNELS, list_at(&mhz, 0.5));
	snprintf(name, sizeof(name), "%s_ms", what);
	figure(name, list_at(&ms, 0.5));
	snprintf(name, sizeof(name), "%s_failed", what);
	figure(name, (double)failed);
	snprintf(name, sizeof(name), "%s_mhz", what);
	figure(name, list_at(&mhz, 0.5));
	if (s) {
		catch_drain(&c);
		snprintf(name, sizeof(name), "%s_counter_mhz", what);
		figure(name, catch_mean(&c, "gpc__cycles_elapsed.avg.per_second") / 1e6);
		snprintf(name, sizeof(name), "%s_active", what);
		figure(name, catch_mean(&c, "sm__cycles_active.avg") /
		                     catch_mean(&c, "sm__cycles_elapsed.avg"));
		snprintf(name, sizeof(name), "%s_warps", what);
		figure(name, catch_mean(&c, "sm__warps_active.avg") /
		                     catch_mean(&c, "sm__cycles_elapsed.avg"));
		session_do(s, cupti.stop);
		catch_free(&c);
		session_end(s);
	}
	list_free(&ms);
	list_free(&mhz);
}

static void ask_events(void)
{
	struct session_wish fast = {100000, 512 << 20, CUPTI_KEEP_LATEST, 4096,
	                            CUPTI_TIME_INTERVAL};
	struct sampling s;
	struct gpu g;

	if (!begin_gpu(&g))
		return;
	phase(&g, "without", NULL);
	if (open_session(&s, standard, ARRAY_LEN(standard), usual_wish))
		phase(&g, "at_1kHz", &s);
	if (open_session(&s, standard, ARRAY_LEN(standard), fast))
		phase(&g, "at_10kHz", &s);
	phase(&g, "without_again", NULL);
}

const struct question kernel_questions[] = {
	{"events", 25, "do events work while sampling, and do kernels and clocks stay as they were",
         ask_events},
	{NULL, 0, NULL, NULL},
};
