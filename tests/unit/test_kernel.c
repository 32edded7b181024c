/* Real forks and exits as a real kernel tells of them: all are counted. Needs root, in no container. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "track/kernel.h"

enum { STORM = 2000, BURNERS = 200, BURN_NS = 2000000, LOST_STORM = 300, SKIPPED = 77 };

static struct world world;

static uint64_t now(void)
{
	return clock_real.mono_ns(&clock_real);
}

struct rig {
	struct track *track;
	struct tracked *who; /* the root */
	pid_t root;
	int say[2], hear[2];
};

static bool take_first(void *ctx, struct tracked *who)
{
	struct rig *r = ctx;

	if (r->who)
		return false;
	r->who = who;
	return true;
}

/* A root that does what it is told when it is followed, says so, and waits for the end. */
static void open_rig(struct rig *r, void (*what)(const struct rig *))
{
	const struct track_config config = {.world = &world, .follow = FOLLOW_TREE};
	uint64_t cursor = 0;
	char c;

	*r = (struct rig){0};
	OK(pipe(r->say) == 0 && pipe(r->hear) == 0);
	r->root = fork();
	if (r->root == 0) {
		close(r->say[1]);
		if (read(r->say[0], &c, 1) == 1)
			what(r);
		if (read(r->say[0], &c, 1) == 0)
			_exit(3);
	}
	OK(track_create(&config, &r->track, NULL) == GALVO_OK);
	OK(track_add(r->track, (uint32_t)r->root, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	track_join(r->track, STREAM_SYSTEM, &cursor, take_first, r);
	track_scan(r->track, now());
}

static void close_rig(struct rig *r)
{
	close(r->say[0]);
	close(r->say[1]);
	while (waitpid(r->root, NULL, 0) < 0)
		;
	close(r->hear[0]);
	close(r->hear[1]);
	track_release(r->track, r->who);
	track_destroy(r->track);
}

static void done(const struct rig *r, uint64_t what)
{
	if (write(r->hear[1], &what, sizeof(what)) != sizeof(what))
		_exit(1);
}

/* Polls every 10 ms, scans at every tenth, until the root has said so. */
static uint64_t follow_until_done(struct rig *r)
{
	const struct timespec tick = {0, 10 * NS_PER_MS};
	uint64_t what = 0;
	unsigned i = 0;

	OK(write(r->say[1], "", 1) == 1);
	fcntl(r->hear[0], F_SETFL, O_NONBLOCK);
	while (read(r->hear[0], &what, sizeof(what)) != sizeof(what)) {
		nanosleep(&tick, NULL);
		track_poll(r->track);
		if (++i % 10 == 0)
			track_scan(r->track, now());
	}
	for (i = 0; i < 2; i++) {
		nanosleep(&tick, NULL);
		track_poll(r->track);
		track_scan_whole(r->track, now());
	}
	return what;
}

static struct track_counts counts(const struct rig *r)
{
	struct track_counts c;

	track_count(r->track, &c);
	return c;
}

/* ---- storms --------------------------------------------------------------------------------------- */

static void many_short(const struct rig *r)
{
	const struct timespec moment = {0, 200000};
	int i;

	for (i = 0; i < STORM; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (i % 8 == 0)
				nanosleep(&moment, NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	done(r, 1);
}

static void all_are_counted(void)
{
	struct track_counts c;
	struct rig r;
	uint64_t followed;

	open_rig(&r, many_short);
	follow_until_done(&r);
	c = counts(&r);
	followed = r.track->last_serial - 1; /* those that a scan happened to see alive */
	EQ(c.forks, STORM);
	EQ(c.short_children + followed, STORM);
	EQ(r.who->short_children, c.short_children);
	EQ(c.lost_events, 0);
	OK(c.short_children > STORM * 9 / 10);
	close_rig(&r);
}

static void burn(const struct rig *r)
{
	struct rusage use;
	struct timespec t;
	int i;

	for (i = 0; i < BURNERS; i++) {
		pid_t child = fork();

		if (child == 0) {
			do
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			while (t.tv_sec == 0 && t.tv_nsec < BURN_NS);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &use);
	done(r, ((uint64_t)use.ru_utime.tv_sec + (uint64_t)use.ru_stime.tv_sec) * NS_PER_S +
	     ((uint64_t)use.ru_utime.tv_usec + (uint64_t)use.ru_stime.tv_usec) * 1000);
}

/* What the short-lived used: all but the last of it, in which they were taken apart. */
static void totals_of_short(void)
{
	uint64_t used_ns, known;
	struct track_counts c;
	struct rig r;

	open_rig(&r, burn);
	used_ns = follow_until_done(&r);
	c = counts(&r);
	known = c.short_children - c.short_without_totals; /* all, unless others end in hordes */
	OK(known > 0 && r.who->short_cpu_ns == c.short_cpu_ns);
	OK(c.short_cpu_ns >= known * BURN_NS && c.short_cpu_ns <= used_ns);
	OK(c.short_cpu_ns <= used_ns / BURNERS * known * 11 / 10);
	close_rig(&r);
}

static void lost(const struct rig *r)
{
	pid_t child;
	int i;

	for (i = 0; i < LOST_STORM; i++) {
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	done(r, (uint64_t)child);
	while (waitpid(child, NULL, WNOHANG) == 0)
		usleep(1000);
}

/* News that found no room: it is known that some are lost, and who lasts is found all the same. */
static void lost_events(void)
{
	const int room = 1;
	uint64_t child = 0;
	struct rig r;

	open_rig(&r, lost);
	OK(setsockopt(r.track->kernel->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0);
	OK(write(r.say[1], "", 1) == 1);
	OK(read(r.hear[0], &child, sizeof(child)) == sizeof(child));
	track_scan(r.track, now());
	OK(counts(&r).lost_events > LOST_STORM);
	OK(track_find(r.track, (uint32_t)child) != NULL);
	kill((pid_t)child, SIGKILL);
	close_rig(&r);
}

/* ---- ends ----------------------------------------------------------------------------------------- */

static void a_grandchild(const struct rig *r)
{
	pid_t child = fork();
	char c;

	if (child == 0) {
		if (read(r->say[0], &c, 1) == 1)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	done(r, (uint64_t)child);
	waitpid(child, NULL, 0);
	done(r, 1);
}

static bool take_it(void *ctx, struct tracked *who)
{
	*(struct tracked **)ctx = who;
	return true;
}

/* How it ended is known of processes that are no children of ours. */
static void how_it_ended(void)
{
	struct tracked *who = NULL;
	struct process_info info;
	struct rig r;
	uint64_t cursor, before_ns;
	pid_t child;

	open_rig(&r, a_grandchild);
	cursor = r.track->last_serial;
	child = (pid_t)follow_until_done(&r);
	track_join(r.track, STREAM_SYSTEM, &cursor, take_it, &who);
	if (!OK(who != NULL && who->info.pid == (uint32_t)child))
		return;
	OK(who->born_mono_ns > 0 && who->born_mono_ns < who->info.first_mono_ns);
	before_ns = now();
	follow_until_done(&r);
	OK(who->has_status && who->exit_status == SIGKILL);
	track_info(r.track, who, &info);
	OK(info.end.has_status && info.end.term_signal == SIGKILL && info.end.exit_code == 137);
	OK(who->exit_mono_ns > before_ns && who->exit_mono_ns < atomic_load(&who->end_mono_ns));
	OK(info.usage[USAGE_CPU_NS].is_known && info.usage[USAGE_CPU_NS].tail > 0);
	OK(info.usage[USAGE_WCHAR].is_known && who->exited_is_all && who->exited.has_io);
	track_release(r.track, who);
	close_rig(&r);
}

/* ---- where it does not work ----------------------------------------------------------------------- */

/* Runs it in a child of its own, which answers with its status. */
static void apart(int (*what)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(what());
	waitpid(child, &status, 0);
	EQ(status, 0);
}

/* From Linux 6.6 on everybody is told of forks and exits; of totals only who may administer the net. */
static int as_nobody(void)
{
	const struct track_config config = {.world = &world, .follow = FOLLOW_TREE};
	bool is_told;
	struct track_counts c;
	struct track *t;

	if (setuid(65534) != 0 || track_create(&config, &t, NULL) != GALVO_OK)
		return 1;
	if (track_add(t, 0, NULL, STREAM_ALL, FOLLOW_NONE, NULL) != GALVO_OK)
		return 2;
	track_scan(t, now());
	track_count(t, &c);
	is_told = c.way == WAY_EVENTS && t->kernel->exits_fd < 0;
	if (!is_told && (c.way != WAY_NUMBERS || !strstr(c.why_no_events, "not permitted")))
		return 3;
	track_destroy(t);
	return 0;
}

static void without_rights(void)
{
	apart(as_nobody);
}

static bool set_next_pid(pid_t pid)
{
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	int n = snprintf(text, sizeof(text), "%d", pid - 1);
	bool ok = fd >= 0 && write(fd, text, (size_t)n) == n;

	if (fd >= 0)
		close(fd);
	return ok;
}

static pid_t sleeper(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	return child;
}

/* As the first process of a container: events are off, and a number is used twice between two scans. */
static int twice_the_number(void)
{
	struct track_config config = {.follow = FOLLOW_TREE};
	struct tracked *first = NULL, *second = NULL;
	struct track_counts c;
	uint64_t cursor;
	struct world w;
	struct track *t;
	pid_t one, two;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0)
		return 1;
	if (world_open(&w, NULL, NULL) != GALVO_OK)
		return 2;
	config.world = &w;
	if (track_create(&config, &t, NULL) != GALVO_OK ||
	    track_add(t, 0, NULL, STREAM_ALL, FOLLOW_NONE, NULL) != GALVO_OK)
		return 3;
	track_scan(t, now());
	cursor = t->last_serial;
	one = sleeper();
	track_scan(t, now());
	track_join(t, STREAM_SYSTEM, &cursor, take_it, &first);
	kill(one, SIGKILL);
	waitpid(one, NULL, 0);
	if (!set_next_pid(one))
		return SKIPPED;
	usleep(20000); /* another start time */
	two = sleeper();
	track_poll(t);
	track_scan_whole(t, now());
	track_join(t, STREAM_SYSTEM, &cursor, take_it, &second);
	track_count(t, &c);
	if (two != one || !first || !second || first == second)
		return 4;
	if (!atomic_load(&first->end_mono_ns) || atomic_load(&second->end_mono_ns))
		return 5;
	if (first->info.start_ticks == second->info.start_ticks)
		return 6;
	if (c.way == WAY_EVENTS || !strstr(c.why_no_events, "container"))
		return 7;
	return 0;
}

static int in_a_container(void)
{
	int status = -1;
	pid_t child;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
		return 1;
	child = fork();
	if (child == 0)
		_exit(twice_the_number());
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) != SKIPPED ? WEXITSTATUS(status) : 0;
}

static void numbers_again(void)
{
	apart(in_a_container);
}

static const struct tap_test tests[] = {
	{"all are counted", all_are_counted},
	{"totals of the short-lived", totals_of_short},
	{"events that are lost", lost_events},
	{"how it ended", how_it_ended},
	{"without rights", without_rights},
	{"a number again, in a container", numbers_again},
};

/* Empty: it works here. */
static const char *why_not(void)
{
	static char why[WHY_BYTES];
	struct inbox *box = calloc(1, sizeof(*box));
	int fd = connector_open(&world, box, why);

	connector_close(fd);
	free(box);
	return why;
}

int main(void)
{
	int failed;

	if (world_open(&world, NULL, NULL) != GALVO_OK)
		return 1;
	if (why_not()[0]) {
		printf("skip: %s\n", why_not());
		return SKIPPED;
	}
	failed = tap_run(tests, ARRAY_LEN(tests));
	world_close(&world);
	return failed;
}
