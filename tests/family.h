/* Families of processes for tests of following: they live until the test closes their pipe. */
#ifndef GALVO_FAMILY_H
#define GALVO_FAMILY_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "track/track.h"

static inline uint64_t now(void)
{
	return clock_real.mono_ns(&clock_real);
}

/* A process that lives until its pipe is closed; what it does before is up to `then`. */
struct family {
	int hold[2];  /* closed: everybody ends */
	int tell[2];  /* pids come through here */
	pid_t child;
};

static inline void wait_for_end(const struct family *f)
{
	char c;
	ssize_t got;

	close(f->hold[1]);
	got = read(f->hold[0], &c, 1);
	_exit((int)got);
}

static inline void say_pid(const struct family *f)
{
	pid_t me = getpid();

	if (write(f->tell[1], &me, sizeof(me)) != sizeof(me))
		_exit(1);
}

static inline pid_t hear_pid(const struct family *f)
{
	pid_t pid = 0;

	OK(read(f->tell[0], &pid, sizeof(pid)) == sizeof(pid));
	return pid;
}

static inline void start(struct family *f, void (*then)(const struct family *))
{
	OK(pipe(f->hold) == 0 && pipe(f->tell) == 0);
	f->child = fork();
	if (f->child == 0) {
		then(f);
		wait_for_end(f);
	}
}

static inline void finish(struct family *f)
{
	close(f->hold[0]);
	close(f->hold[1]);
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(f->tell[0]);
	close(f->tell[1]);
}

static inline void two_generations(const struct family *f)
{
	if (fork() == 0) {
		if (fork() == 0) {
			say_pid(f);
			wait_for_end(f);
		}
		say_pid(f);
		wait_for_end(f);
	}
}

static inline uint64_t alive(struct track *t)
{
	struct track_counts counts;
	track_count(t, &counts);
	return counts.alive;
}

/* Until the kernel has told: an exit reaches the pidfd a moment after waitpid's caller knows. */
static inline void poll_until(struct track *t, uint64_t want)
{
	uint64_t give_up = now() + 5 * NS_PER_S;

	while (alive(t) != want && now() < give_up)
		track_poll(t);
	EQ(alive(t), want);
}

#endif
