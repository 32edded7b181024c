/* After warm-up a sampler allocates nothing: ticks and flushes of both probes, with a real writer. */
#include "children.h"
#include "rig.h"
#include "tap.h"

enum { PROCESSES = 3, WARM_TICKS = 220, TICKS = 1000, TICKS_TO_FLUSH = 50 };
#define NEVER_NS (3600 * NS_PER_S)

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

static void tick(struct rig *r, size_t n)
{
	size_t i;

	for (i = 1; i <= n; i++) {
		rig_tick_full(r);
		if (i % TICKS_TO_FLUSH == 0)
			rig_flush(r);
	}
}

static void samplers(void)
{
	struct rig_config config = {
		.hz = 100,
		.flush_interval_ns = NEVER_NS,
		.follow = FOLLOW_NONE,
	};
	struct children children;
	struct rig rig;
	uint64_t before;

	if (!OK(children_start(&children, PROCESSES, 1)))
		return;
	config.pids = children.pids;
	config.pids_len = children.len;
	before = atomic_load(&allocations);
	if (OK(rig_open(&rig, &config, NULL) == GALVO_OK)) {
		OK(atomic_load(&allocations) > before); /* they are counted */
		tick(&rig, WARM_TICKS);
		before = atomic_load(&allocations);
		tick(&rig, TICKS);
		EQ(atomic_load(&allocations) - before, 0);
		rig_close(&rig);
	}
	children_stop(&children);
}

static const struct tap_test tests[] = {
	{"ticks and flushes allocate nothing", samplers},
};
TAP_MAIN(tests)
