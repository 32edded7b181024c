/* Following real processes: finding descendants, noticing ends, letting go, adopting orphans. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "track/track.h"

static struct world world;

/* A process that lives until its pipe is closed; what it does before is up to `then`. */
struct family {
	int hold[2];  /* closed: everybody ends */
	int tell[2];  /* pids come through here */
	pid_t child;
};

static void wait_for_end(const struct family *f)
{
	char c;
	ssize_t got;

	close(f->hold[1]);
	got = read(f->hold[0], &c, 1);
	_exit((int)got);
}

static void say_pid(const struct family *f)
{
	pid_t me = getpid();

	if (write(f->tell[1], &me, sizeof(me)) != sizeof(me))
		_exit(1);
}

static pid_t hear_pid(const struct family *f)
{
	pid_t pid = 0;

	OK(read(f->tell[0], &pid, sizeof(pid)) == sizeof(pid));
	return pid;
}

static void start(struct family *f, void (*then)(const struct family *))
{
	OK(pipe(f->hold) == 0 && pipe(f->tell) == 0);
	f->child = fork();
	if (f->child == 0) {
		then(f);
		wait_for_end(f);
	}
}

static void finish(struct family *f)
{
	close(f->hold[0]);
	close(f->hold[1]);
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(f->tell[0]);
	close(f->tell[1]);
}

static struct track *follow(enum follow what, uint32_t adopter, size_t max)
{
	const struct track_config config = {&world, what, adopter, max, 0};
	struct track *t = NULL;

	OK(track_create(&config, &t, NULL) == GALVO_OK);
	return t;
}

static uint64_t now(void)
{
	return clock_real.mono_ns(&clock_real);
}

static uint64_t alive(struct track *t)
{
	struct track_counts counts;

	track_count(t, &counts);
	return counts.alive;
}

struct names {
	struct tracked *who[64];
	size_t len;
};

static bool take(void *ctx, struct tracked *who)
{
	struct names *n = ctx;

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

/* Until the kernel has told: an exit reaches the pidfd a moment after waitpid's caller knows. */
static void poll_until(struct track *t, uint64_t want)
{
	uint64_t give_up = now() + 5 * NS_PER_S;

	while (alive(t) != want && now() < give_up)
		track_poll(t, now());
	EQ(alive(t), want);
}

/* ---- what the families do ------------------------------------------------------------------------- */

static void nothing(const struct family *f)
{
	say_pid(f);
}

static void two_generations(const struct family *f)
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
	OK(track_add(t, (uint32_t)f.child, "alias", STREAM_ALL, &e) == GALVO_OK);
	OK(track_add(t, (uint32_t)f.child, "again", STREAM_ALL, &e) == GALVO_OK); /* once is enough */
	OK(track_generation(t) != generation);
	track_join(t, &cursor, take, &names);
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
	EQ(track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "No such process") != NULL);
	release(t, &names);
	track_destroy(t);
}

static void how_far(enum follow what, size_t want)
{
	struct names names = {0};
	struct track *t = follow(what, 0, 0);
	struct family f;
	uint64_t cursor = 0;

	start(&f, two_generations);
	hear_pid(&f);
	hear_pid(&f);
	OK(track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, NULL) == GALVO_OK);
	track_scan(t, now());
	track_scan(t, now()); /* nothing new the second time */
	track_join(t, &cursor, take, &names);
	EQ(names.len, want);
	finish(&f);
	poll_until(t, 0);
	release(t, &names);
	track_destroy(t);
}

static void generations(void)
{
	how_far(FOLLOW_NONE, 1);
	how_far(FOLLOW_CHILDREN, 2);
	how_far(FOLLOW_TREE, 3); /* both generations in one scan */
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
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, NULL);
	track_scan(t, now());
	track_join(t, &cursor, take, &names);
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
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, NULL);
	track_scan(t, now());
	track_join(t, &cursor, take, &names);
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
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, NULL);
	track_scan(t, now());
	EQ(alive(t), 2);
	OK(track_remove(t, (uint32_t)grandchild, STREAM_ALL, &e) == GALVO_OK);
	track_scan(t, now());
	EQ(alive(t), 1); /* a scan does not bring it back */
	EQ(track_remove(t, (uint32_t)grandchild, STREAM_ALL, &e), GALVO_ERR_ABSENT);
	OK(track_add(t, (uint32_t)grandchild, NULL, STREAM_ALL, &e) == GALVO_OK);
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
	track_add(t, (uint32_t)f.child, NULL, STREAM_ALL, NULL);
	track_scan(t, now());
	track_count(t, &counts);
	EQ(counts.alive, 2);
	OK(counts.refused > 0);
	finish(&f);
	poll_until(t, 0);
	track_destroy(t);
}

static const struct tap_test tests[] = {
	{"one process", one_process},
	{"none, children, tree", generations},
	{"a child of a thread", forked_by_a_thread},
	{"orphans go to the adopter", orphans},
	{"let go", let_go},
	{"a limit", a_limit},
};

int main(void)
{
	int failed = world_open(&world, NULL, NULL) != GALVO_OK || tap_run(tests, ARRAY_LEN(tests));

	world_close(&world);
	return failed;
}
