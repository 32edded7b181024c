/* A process that has ended and that nobody has waited for: followed once, its account closed. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "track/track.h"

static struct world world;

struct seen {
	struct tracked *who[8];
	size_t len;
};

static bool take(void *ctx, struct tracked *who)
{
	struct seen *s = ctx;

	if (s->len < ARRAY_LEN(s->who))
		s->who[s->len] = who;
	return s->len++ < ARRAY_LEN(s->who);
}

static uint64_t now(void)
{
	return clock_real.mono_ns(&clock_real);
}

/* The family: a parent that has a child, which uses some CPU and ends, and does not wait for it. */
static void be_parent(int tell)
{
	siginfo_t info;
	volatile uint64_t n = 0;
	pid_t child = fork();

	if (child == 0) {
		while (n < 3000000)
			n++;
		_exit(3);
	}
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	if (write(tell, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	for (;;)
		pause();
}

static void a_zombie_is_followed_once(void)
{
	const struct track_config config = {.world = &world, .follow = FOLLOW_TREE};
	struct seen seen = {0};
	struct process_info info;
	struct track *t = NULL;
	pid_t parent, child = 0;
	uint64_t cursor = 0;
	int tell[2], i;

	OK(pipe(tell) == 0 && track_create(&config, &t, NULL) == GALVO_OK);
	parent = fork();
	if (parent == 0)
		be_parent(tell[1]);
	OK(read(tell[0], &child, sizeof(child)) == sizeof(child));
	OK(track_add(t, (uint32_t)parent, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	for (i = 0; i < 4; i++) {
		track_scan_whole(t, now());
		track_poll(t);
		track_join(t, STREAM_SYSTEM, &cursor, take, &seen);
	}
	if (EQ(seen.len, 2)) {
		track_info(t, seen.who[1], &info);
		EQ(info.pid, (uint32_t)child);
		OK(info.end_mono_ns && info.usage[USAGE_CPU_NS].is_known &&
		   info.usage[USAGE_CPU_NS].tail > 0);
	}
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	while (seen.len)
		track_release(t, seen.who[--seen.len]);
	close(tell[0]);
	close(tell[1]);
	track_destroy(t);
}

/* A child that the program forks has its descriptors, and keeps alive what they stand for. */
static void ends_under_a_fork(void)
{
	enum { MANY = 40 };
	const struct track_config config = {.world = &world};
	struct tracked *who[MANY];
	struct track *t = NULL;
	uint64_t cursor = 0;
	pid_t child[MANY], holder;
	size_t i;

	OK(track_create(&config, &t, NULL) == GALVO_OK);
	for (i = 0; i < MANY; i++) {
		struct seen seen = {0};

		child[i] = fork();
		if (child[i] == 0)
			for (;;)
				pause();
		OK(track_add(t, (uint32_t)child[i], NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
		track_join(t, STREAM_SYSTEM, &cursor, take, &seen);
		EQ(seen.len, 1);
		who[i] = seen.who[0];
	}
	holder = fork();
	if (holder == 0)
		for (;;)
			pause();
	for (i = 0; i < MANY; i++) {
		track_remove(t, (uint32_t)child[i], STREAM_ALL, NULL);
		track_release(t, who[i]);
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	alarm(10);
	track_poll(t); /* comes to an end */
	alarm(0);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	track_destroy(t);
}

static const struct tap_test tests[] = {
	{"a zombie is followed once", a_zombie_is_followed_once},
	{"ends are over, whoever was forked meanwhile", ends_under_a_fork},
};

int main(void)
{
	int failed = world_open(&world, NULL, NULL) || tap_run(tests, ARRAY_LEN(tests));

	world_close(&world);
	return failed;
}
