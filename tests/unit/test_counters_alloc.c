/* From the start on, sampling allocates nothing: readings, values, rows, flushes, overflows. */
#include "counters_rig.h"

/* The linker sends what galvo calls here (--wrap). One test program, one count. */
static _Atomic uint64_t allocations;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
	atomic_fetch_add(&allocations, 1);
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	atomic_fetch_add(&allocations, 1);
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	atomic_fetch_add(&allocations, 1);
	return __real_realloc(p, n);
}

static void nothing_is_allocated(void)
{
	struct counters_sample s;
	struct scene_fault *f;
	struct take t;
	galvo_run *run;
	uint64_t before;
	size_t i;

	take_stage("GH100", 2);
	f = scene_fault(scene, FAULT_STUCK, "", 0);
	f->device = 1;
	f->from_ns = 2450 * NS_PER_MS;
	f->until_ns = 2550 * NS_PER_MS;
	take_init(&t);
	t.config.flush_interval_ns = NS_PER_S;
	t.config.drain_samples = 100;
	if (!take_begin(&t))
		return;
	before = allocations;
	OK(before > 0); /* they are counted */
	for (i = 0; i < 50; i++) {
		take_pass(100, 2);
		counters_drain(t.counters, &s, NULL);
	}
	EQ(allocations - before, 0);
	run = take_end(&t);
	EQ(decode_of(run, 1)->restarts, 1);
	EQ(rows_of_gpu(run, 0), 4999);
	take_remove(&t, run);
}

static const struct tap_test tests[] = {
	{"nothing is allocated while counters are sampled", nothing_is_allocated},
};

TAP_MAIN(tests)
