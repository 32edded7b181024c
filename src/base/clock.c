/* The three clocks, sleeping to a deadline that can be called off, and a clock that is told. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t real_mono_ns(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_MONOTONIC);
}

static uint64_t real_boot_ns(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_BOOTTIME);
}

static uint64_t real_wall_ns(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_REALTIME);
}

/* A futex waits to an absolute instant and can be woken: one system call does both. */
static void real_sleep_until(const struct clock *c, uint64_t deadline, _Atomic uint32_t *stop)
{
	const struct timespec moment = {0, NS_PER_MS};
	struct timespec t = {(time_t)(deadline / NS_PER_S), (long)(deadline % NS_PER_S)};

	while (atomic_load_explicit(stop, memory_order_acquire) == 0) {
		if (syscall(SYS_futex, stop, FUTEX_WAIT_BITSET_PRIVATE, 0, &t, NULL,
		            FUTEX_BITSET_MATCH_ANY) == 0 || errno == EAGAIN || errno == EINTR)
			continue;
		if (errno == ETIMEDOUT || real_mono_ns(c) >= deadline)
			return;
		nanosleep(&moment, NULL); /* refused: better late than busy */
	}
}

const struct clock clock_real = {real_mono_ns, real_boot_ns, real_wall_ns, real_sleep_until};

void clock_wake(_Atomic uint32_t *stop)
{
	atomic_store_explicit(stop, 1, memory_order_release);
	syscall(SYS_futex, stop, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static uint64_t fake_mono_ns(const struct clock *c)
{
	return atomic_load_explicit(&((const struct clock_fake *)c)->mono_ns, memory_order_relaxed);
}

static uint64_t fake_boot_ns(const struct clock *c)
{
	return atomic_load_explicit(&((const struct clock_fake *)c)->boot_ns, memory_order_relaxed);
}

static uint64_t fake_wall_ns(const struct clock *c)
{
	return atomic_load_explicit(&((const struct clock_fake *)c)->wall_ns, memory_order_relaxed);
}

static void fake_sleep_until(const struct clock *c, uint64_t deadline, _Atomic uint32_t *stop)
{
	union { const struct clock *in; struct clock_fake *fake; } who = {c};
	uint64_t step = deadline > who.fake->mono_ns ? deadline - who.fake->mono_ns : 0;

	(void)stop;
	who.fake->mono_ns += step;
	who.fake->boot_ns += step;
	who.fake->wall_ns += step;
}

void clock_fake_init(struct clock_fake *f, uint64_t mono_ns, uint64_t boot_ns, uint64_t wall_ns)
{
	f->clock = (struct clock){fake_mono_ns, fake_boot_ns, fake_wall_ns, fake_sleep_until};
	f->mono_ns = mono_ns;
	f->boot_ns = boot_ns;
	f->wall_ns = wall_ns;
}
