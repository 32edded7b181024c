/* Following when descriptors are few: who is refused, and who only waits until others give theirs. */
#include <sys/resource.h>

#include "family.h"

static struct world world;
static bool by_files; /* not by what the kernel tells, even where it does */

static struct track *follow(size_t max_fds)
{
	const struct track_config config = {.world = &world, .follow = FOLLOW_TREE, .max_fds = max_fds,
	                                    .no_kernel_events = by_files};
	struct track *t = NULL;

	OK(track_create(&config, &t, NULL) == GALVO_OK);
	return t;
}

static uint64_t refused(struct track *t)
{
	struct track_counts counts;

	track_count(t, &counts);
	return counts.refused;
}

/* When descriptors run out in the middle, that is a refusal like any other. */
static void no_descriptors(void)
{
	struct track *t = follow(0);
	struct rlimit before, limit;
	struct family f;
	int next;

	start(&f, two_generations);
	hear_pid(&f);
	hear_pid(&f);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	getrlimit(RLIMIT_NOFILE, &before);
	next = dup(0);
	close(next);
	do { /* some day for loadavg and a pidfd, and not for a directory */
		limit = (struct rlimit){(rlim_t)++next, before.rlim_max};
		setrlimit(RLIMIT_NOFILE, &limit);
		track_scan_whole(t, now());
		setrlimit(RLIMIT_NOFILE, &before);
	} while (!refused(t) && alive(t) == 1 && next < 100);
	OK(alive(t) == 1 && refused(t) == 1);
	track_scan_whole(t, now());
	EQ(alive(t), 3); /* there is room again */
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

/* Files that probes keep open give way, which is worth a moment's patience: nobody is refused for them. */
static void descriptors_that_will_be_free(void)
{
	struct track *t = follow(8);
	struct fd_budget *fds = track_fds(t);
	struct family f;

	track_scan(t, now()); /* the first one takes everybody */
	start(&f, two_generations);
	hear_pid(&f);
	hear_pid(&f);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	fd_budget_add(fds, 9);
	track_scan(t, now());
	OK(alive(t) == 1 && refused(t) == 0 && track_is_behind(t));
	fd_budget_put(fds, 1); /* no more than a quarter beyond */
	track_scan(t, now());
	EQ(alive(t), 2);
	fd_budget_put(fds, 8);
	track_scan(t, now());
	OK(alive(t) == 3 && refused(t) == 0 && !track_is_behind(t));
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

/* The same where descriptors have run out, as the program has so many itself. */
static void descriptors_of_the_program(void)
{
	struct track *t = follow(0);
	struct fd_budget *fds = track_fds(t);
	struct rlimit before, limit;
	struct family f;
	int next;

	track_scan(t, now());
	start(&f, two_generations);
	hear_pid(&f);
	hear_pid(&f);
	fd_budget_add(fds, 4);
	getrlimit(RLIMIT_NOFILE, &before);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	next = dup(0);
	close(next);
	do {
		track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL); /* it walks then */
		limit = (struct rlimit){(rlim_t)++next, before.rlim_max};
		setrlimit(RLIMIT_NOFILE, &limit);
		track_scan(t, now());
		setrlimit(RLIMIT_NOFILE, &before);
	} while (!track_is_behind(t) && alive(t) == 1 && next < 100);
	OK(alive(t) == 1 && refused(t) == 0 && track_is_behind(t));
	EQ(fd_budget_limit(fds), 2 + 4 - TRACK_FDS_PER_PROCESS); /* less than there are: they go */
	fd_budget_put(fds, 4);
	setrlimit(RLIMIT_NOFILE, &limit);
	track_scan(t, now()); /* nobody has any to give */
	setrlimit(RLIMIT_NOFILE, &before);
	OK(alive(t) == 1 && refused(t) == 1);
	track_scan_whole(t, now());
	EQ(alive(t), 3);
	EQ(fd_budget_limit(fds), fds->max);
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

static const struct tap_test tests[] = {
	{"none", no_descriptors},
	{"descriptors that will be free", descriptors_that_will_be_free},
	{"the program has more than its half", descriptors_of_the_program},
};

int main(int argc, char **argv)
{
	by_files = argc > 1 && !strcmp(argv[1], "files");
	return world_open(&world, NULL, NULL) || tap_run(tests, ARRAY_LEN(tests));
}
