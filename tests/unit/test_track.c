/* Following real processes: finding descendants, noticing ends, letting go, adopting orphans. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"

static struct world world;
static bool by_files; /* not by what the kernel tells, even where it does */

static struct track *follow(enum follow what, uint32_t adopter, size_t max)
{
	const struct track_config config = {&world, what, adopter, max, 0, 0, 0, by_files, 0};
	struct track *t = NULL;

	OK(track_create(&config, &t, NULL) == GALVO_OK);
	return t;
}

struct names {
	struct tracked *who[1024];
	size_t len;
};

static bool take(void *ctx, struct tracked *who)
{
	struct names *n = ctx;

	if (atomic_load(&who->end_mono_ns))
		return false; /* it has come and gone */
	n->who[n->len++] = who;
	return true;
}

static bool has(const struct names *n, pid_t pid)
{
	size_t i;

	for (i = 0; i < n->len; i++)
		if (n->who[i]->info.pid == (uint32_t)pid)
			return true;
	return false;
}

static void release(struct track *t, struct names *n)
{
	while (n->len)
		track_release(t, n->who[--n->len]);
}

/* ---- what the families do ------------------------------------------------------------------------- */

static void nothing(const struct family *f)
{
	say_pid(f);
}

static void *fork_in_thread(void *ctx)
{
	const struct family *f = ctx;

	if (fork() == 0) {
		say_pid(f);
		wait_for_end(f);
	}
	for (;;)
		pause();
	return NULL;
}

static void child_of_a_thread(const struct family *f)
{
	union { const struct family *in; void *ctx; } arg = {f};
	pthread_t thread;

	pthread_create(&thread, NULL, fork_in_thread, arg.ctx);
}

static void orphan(const struct family *f)
{
	if (fork() == 0) {
		if (fork() == 0) {
			setsid();
			say_pid(f);
			wait_for_end(f);
		}
		_exit(0); /* its child goes to the adopter */
	}
	wait(NULL);
	say_pid(f);
}

/* ---- tests ---------------------------------------------------------------------------------------- */

static void one_process(void)
{
	struct names names = {0};
	struct process_info info;
	struct track *t = follow(FOLLOW_NONE, 0, 0);
	struct family f;
	uint64_t cursor = 0, generation = track_generation(t);
	galvo_error e;

	start(&f, nothing);
	hear_pid(&f);
	OK(track_add(t, (uint32_t)f.child, "alias", STREAM_ALL, FOLLOW_NONE, &e) == GALVO_OK);
	OK(track_add(t, (uint32_t)f.child, "again", STREAM_ALL, FOLLOW_NONE, &e) == GALVO_OK); /* once is enough */
	OK(track_generation(t) != generation);
	track_join(t, STREAM_SYSTEM, &cursor, take, &names);
	if (OK(names.len == 1)) {
		track_info(t, names.who[0], &info);
		OK(info.pid == (uint32_t)f.child && info.ppid == (uint32_t)getpid());
		OK(info.root && !strcmp(info.alias, "again") && info.start_ticks > 0);
		OK(!strcmp(info.comm, "test_track") && strstr(info.command, "test_track"));
		OK(!info.removed);
	}
	finish(&f);
	poll_until(t, 0);
	track_info(t, names.who[0], &info);
	OK(info.removed && info.end_mono_ns != 0);
	EQ(track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "No such process") != NULL);
	release(t, &names);
	track_destroy(t);
}

static void how_far(enum follow all, enum follow this_one, size_t want)
{
	struct names names = {0};
	struct track *t = follow(all, 0, 0);
	struct family f;
	uint64_t cursor = 0;
	start(&f, two_generations);
	hear_pid(&f), hear_pid(&f);
	OK(track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, this_one, NULL) == GALVO_OK);
	track_scan(t, now());
	track_scan(t, now()); /* nothing new the second time */
	track_join(t, STREAM_SYSTEM, &cursor, take, &names);
	EQ(names.len, want);
	finish(&f);
	poll_until(t, 0);
	release(t, &names);
	track_destroy(t);
}

static void generations(void)
{
	how_far(FOLLOW_NONE, FOLLOW_NONE, 1);
	how_far(FOLLOW_CHILDREN, FOLLOW_NONE, 2);
	how_far(FOLLOW_TREE, FOLLOW_NONE, 3); /* both generations in one scan */
	how_far(FOLLOW_NONE, FOLLOW_TREE, 3); /* one process is not like the others */
	how_far(FOLLOW_TREE, FOLLOW_CHILDREN, 2);
	how_far(FOLLOW_TREE, FOLLOW_SELF, 1);
}

static void forked_by_a_thread(void)
{
	struct names names = {0};
	struct track *t = follow(FOLLOW_TREE, 0, 0);
	struct family f;
	uint64_t cursor = 0;
	pid_t grandchild;

	start(&f, child_of_a_thread);
	grandchild = hear_pid(&f);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	track_scan(t, now());
	track_join(t, STREAM_SYSTEM, &cursor, take, &names);
	OK(has(&names, grandchild));
	release(t, &names);
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

static void orphans(void)
{
	struct names names = {0};
	struct track *t = follow(FOLLOW_TREE, (uint32_t)getpid(), 0);
	struct family f;
	uint64_t cursor = 0;
	pid_t a, b;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start(&f, orphan);
	a = hear_pid(&f);
	b = hear_pid(&f);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	track_scan(t, now());
	track_join(t, STREAM_SYSTEM, &cursor, take, &names);
	OK(has(&names, a) && has(&names, b)); /* the daemon, though it has left family and session */
	EQ(names.len, 2);
	release(t, &names);
	finish(&f);
	poll_until(t, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	track_destroy(t);
}

static void let_go(void)
{
	struct track *t = follow(FOLLOW_TREE, 0, 0);
	struct family f;
	pid_t grandchild;
	galvo_error e;

	start(&f, child_of_a_thread);
	grandchild = hear_pid(&f);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	track_scan(t, now());
	EQ(alive(t), 2);
	OK(track_remove(t, (uint32_t)grandchild, STREAM_ALL, &e) == GALVO_OK);
	track_scan(t, now());
	EQ(alive(t), 1); /* a scan does not bring it back */
	EQ(track_remove(t, (uint32_t)grandchild, STREAM_ALL, &e), GALVO_ERR_ABSENT);
	OK(track_add(t, (uint32_t)grandchild, NULL, STREAM_ALL, FOLLOW_NONE, &e) == GALVO_OK);
	EQ(alive(t), 2); /* but asking for it does */
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

static void a_limit(void)
{
	struct track *t = follow(FOLLOW_TREE, 0, 2);
	struct track_counts counts;
	struct family f;

	start(&f, two_generations);
	hear_pid(&f);
	hear_pid(&f);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	track_scan(t, now());
	track_count(t, &counts);
	EQ(counts.alive, 2);
	EQ(counts.refused, 1);
	track_scan_whole(t, now());
	track_scan_whole(t, now());
	track_count(t, &counts);
	EQ(counts.refused, 1); /* descendants, not attempts */
	OK(!counts.refused_are_more);
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

static void *say_tid(void *ctx)
{
	const struct family *f = ctx;
	pid_t me = (pid_t)syscall(SYS_gettid);

	if (write(f->tell[1], &me, sizeof(me)) != sizeof(me))
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

static void with_a_thread(const struct family *f)
{
	union { const struct family *in; void *ctx; } arg = {f};
	pthread_t thread;

	pthread_create(&thread, NULL, say_tid, arg.ctx);
}

static void a_thread(void)
{
	struct track *t = follow(FOLLOW_TREE, (uint32_t)getpid(), 0);
	struct family f;
	char want[80];
	galvo_error e;
	pid_t tid;

	track_scan(t, now());
	start(&f, with_a_thread);
	tid = hear_pid(&f);
	EQ(track_add(t, (uint32_t)tid, NULL, STREAM_ALL, FOLLOW_NONE, &e), GALVO_ERR_INVALID);
	snprintf(want, sizeof(want), "%d is a thread of process %d", tid, f.child);
	OK(!strcmp(e.text, want));
	track_scan(t, now()); /* its number is new, and its parent followed */
	track_scan(t, now());
	EQ(alive(t), 1);
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

/* ---- a storm -------------------------------------------------------------------------------------- */

enum { STORM_ROUNDS = 300 };

/* Forks on and on: short ones, families, threads; a few stay. */
static void storm(const struct family *f)
{
	int i;

	for (i = 0; i < STORM_ROUNDS; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (i % 3 == 0 && fork() == 0 && i % 2 == 0)
				wait_for_end(f);
			if (i % 10 == 0)
				wait_for_end(f);
			_exit(0);
		}
		if (i % 10)
			waitpid(child, NULL, 0);
	}
	say_pid(f);
}

/* What the walk of another track finds, the looks at new numbers have found. */
static void a_storm(void)
{
	struct track *t = follow(FOLLOW_TREE, (uint32_t)getpid(), 0);
	struct track *walker = follow(FOLLOW_TREE, (uint32_t)getpid(), 0);
	struct names found = {0}, walked = {0};
	uint64_t cursor = 0, walker_cursor = 0, give_up;
	struct pollfd told = {.events = POLLIN};
	struct family f;
	size_t i;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start(&f, storm);
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	track_add(walker, (uint32_t)f.child, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
	track_scan(t, now());
	told.fd = f.tell[0];
	do {
		track_poll(t);
		track_scan(t, now());
	} while (poll(&told, 1, 1) == 0);
	hear_pid(&f);
	give_up = now() + 20 * NS_PER_S; /* the next walk is sure to find all */
	track_scan(t, now());
	track_scan_whole(walker, now());
	/* Some are still dying, and one scan has no time for any number of them. */
	for (i = 0; (i < 5 || alive(t) != alive(walker)) && now() < give_up; i++) {
		track_poll(t);
		track_poll(walker);
		track_scan(t, now());
	}
	track_join(t, STREAM_SYSTEM, &cursor, take, &found);
	track_join(walker, STREAM_SYSTEM, &walker_cursor, take, &walked);
	OK(walked.len > STORM_ROUNDS / 10);
	EQ(alive(t), alive(walker));
	for (i = 0; i < walked.len; i++)
		OK(walked.who[i]->end_mono_ns || has(&found, (pid_t)walked.who[i]->info.pid));
	release(t, &found);
	release(walker, &walked);
	finish(&f);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	track_destroy(t);
	track_destroy(walker);
}

static const struct tap_test tests[] = {
	{"one process", one_process},
	{"none, children, tree", generations},
	{"a child of a thread", forked_by_a_thread},
	{"orphans go to the adopter", orphans},
	{"let go", let_go},
	{"a limit", a_limit},
	{"a thread is no process", a_thread},
	{"a storm of forks", a_storm},
};

int main(int argc, char **argv)
{
	by_files = argc > 1 && !strcmp(argv[1], "files");
	return world_open(&world, NULL, NULL) || tap_run(tests, ARRAY_LEN(tests));
}
