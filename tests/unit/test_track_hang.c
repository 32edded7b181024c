/* A process whose stat file does not answer, as while it hangs in exec: others do not wait for it. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "tap.h"
#include "track/track.h"

enum { PATIENCE_S = 10, HANGS = 7000, PARENT = 100, FIRST = 50, OTHER = 60 };

static char dir[] = "/tmp/galvo-hang-XXXXXX";
static struct world world;

/* ---- a machine of files --------------------------------------------------------------------------- */

static const char *path_of(uint32_t pid, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/proc/%u%s", dir, pid, name);
	return path;
}

static void put(uint32_t pid, const char *name, const char *text)
{
	int fd = open(path_of(pid, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	OK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void put_stat(uint32_t pid, uint32_t ppid)
{
	char text[128];

	snprintf(text, sizeof(text), "%u (p) S %u 1 1 0 -1 0 1 0 0 0 5 1 0 0 20 0 1 0 %u 1 1\n", pid, ppid,
	         pid);
	put(pid, "/stat", text);
}

static void put_process(uint32_t pid, uint32_t ppid, const char *children)
{
	char name[64];

	snprintf(name, sizeof(name), "/task/%u", pid);
	OK(mkdir(path_of(pid, ""), 0700) == 0 && mkdir(path_of(pid, "/task"), 0700) == 0 &&
	   mkdir(path_of(pid, name), 0700) == 0);
	snprintf(name, sizeof(name), "/task/%u/children", pid);
	put(pid, name, children);
	put_stat(pid, ppid);
}

/* An open of its stat file waits until somebody opens the other end; then reading it fails. */
static void let_hang(uint32_t pid)
{
	OK(unlink(path_of(pid, "/stat")) == 0 && mkfifo(path_of(pid, "/stat"), 0600) == 0);
}

static void answer(uint32_t pid)
{
	int fd = open(path_of(pid, "/stat"), O_RDWR | O_CLOEXEC);

	OK(fd >= 0 && unlink(path_of(pid, "/stat")) == 0);
	put_stat(pid, PARENT);
	close(fd);
}

/* ---- who waits for it ----------------------------------------------------------------------------- */

struct patient {
	struct track *track;
	void (*work)(struct patient *);
	pthread_t thread;
	_Atomic int tid;
	galvo_status status;
};

static void *begin(void *ctx)
{
	struct patient *p = ctx;

	atomic_store(&p->tid, (int)syscall(SYS_gettid));
	p->work(p);
	return NULL;
}

/* The thread sleeps in the system call that opens files. */
static bool is_in_open(int tid)
{
	char path[64], text[200];
	struct span rest, word;
	uint64_t number;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text));
	close(fd);
	rest = span_of(text, n > 0 ? (size_t)n : 0);
	return span_take_word(&rest, &word) && span_to_u64(word, &number) && number == SYS_openat;
}

static void start(struct patient *p, struct track *t, void (*work)(struct patient *))
{
	const struct timespec moment = {0, NS_PER_MS};
	uint64_t give_up = clock_real.mono_ns(&clock_real) + PATIENCE_S * NS_PER_S;

	*p = (struct patient){.track = t, .work = work, .status = GALVO_DONE};
	OK(pthread_create(&p->thread, NULL, begin, p) == 0);
	while (!is_in_open(atomic_load(&p->tid)) && clock_real.mono_ns(&clock_real) < give_up)
		nanosleep(&moment, NULL);
	OK(is_in_open(atomic_load(&p->tid)));
}

/* Whoever does not come back in time waits for a lock, which another one has who hangs. */
static bool is_done(struct patient *p)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	return pthread_timedjoin_np(p->thread, NULL, &until) == 0;
}

static void add(struct patient *p)
{
	p->status = track_add(p->track, HANGS, NULL, STREAM_ALL, FOLLOW_NONE, NULL);
}

static void scan(struct patient *p)
{
	track_scan_whole(p->track, clock_real.mono_ns(&clock_real));
}

static bool take(void *ctx, struct tracked *who)
{
	(void)ctx;
	(void)who;
	return false;
}

/* Everything that samplers and the program may do meanwhile. */
static void live_on(struct patient *p)
{
	struct track_counts counts;
	uint64_t cursor = 0;

	track_poll(p->track);
	track_join(p->track, STREAM_DISK, &cursor, take, NULL);
	track_count(p->track, &counts);
	OK(track_add(p->track, OTHER, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	OK(track_remove(p->track, FIRST, STREAM_ALL, NULL) == GALVO_OK);
	p->status = counts.alive == 2 ? GALVO_OK : GALVO_ERR_STATE;
}

/* ---- tests ---------------------------------------------------------------------------------------- */

static struct track *follow(void)
{
	const struct track_config config = {.world = &world, .follow = FOLLOW_TREE};
	struct track *t = NULL;

	OK(track_create(&config, &t, NULL) == GALVO_OK);
	OK(track_add(t, FIRST, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	OK(track_add(t, PARENT, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	return t;
}

static uint64_t alive(struct track *t)
{
	struct track_counts counts;

	track_count(t, &counts);
	return counts.alive;
}

static void while_it_hangs(struct track *t, void (*work)(struct patient *))
{
	struct patient hangs, other = {.track = t, .work = live_on};
	int is_free;

	let_hang(HANGS);
	start(&hangs, t, work);
	OK(pthread_create(&other.thread, NULL, begin, &other) == 0);
	is_free = OK(is_done(&other));
	answer(HANGS);
	if (!is_free)
		pthread_join(other.thread, NULL);
	pthread_join(hangs.thread, NULL);
	EQ(other.status, GALVO_OK);
	OK(work == scan || hangs.status == GALVO_ERR_IO); /* a FIFO cannot be read as a file is */
}

static void one_that_is_added(void)
{
	struct track *t = follow();

	while_it_hangs(t, add);
	EQ(alive(t), 2); /* the parent and the other one */
	track_destroy(t);
}

/* The scan goes on where it was, though the list is another one now. */
static void one_that_a_scan_finds(void)
{
	struct track *t = follow();

	put(PARENT, "/task/100/children", "7000 7001 ");
	while_it_hangs(t, scan);
	EQ(alive(t), 3); /* and the child behind the one that hung */
	track_destroy(t);
}

/* What an exec does first can be told by files that always answer, so that not even the scan waits. */
static void one_amid_an_exec(void)
{
	struct track *t = follow();

	put(PARENT, "/task/100/children", "7000 7001 ");
	put(HANGS, "/cmdline", "");
	put(HANGS, "/statm", "34 1 0 0 0 33 0\n");
	let_hang(HANGS);
	track_scan_whole(t, clock_real.mono_ns(&clock_real));
	EQ(alive(t), 3);
	put(HANGS, "/statm", "800 300 200 12 0 90 0\n");
	answer(HANGS);
	track_scan(t, clock_real.mono_ns(&clock_real));
	EQ(alive(t), 4);
	track_destroy(t);
}

static const struct tap_test tests[] = {
	{"one that is added", one_that_is_added},
	{"one that a scan finds", one_that_a_scan_finds},
	{"one amid an exec", one_amid_an_exec},
};

int main(void)
{
	int failed;

	if (!mkdtemp(dir) || chdir(dir) != 0 || mkdir("proc", 0700) != 0 || world_open(&world, dir, NULL))
		return 1;
	put_process(FIRST, 1, "");
	put_process(OTHER, 1, "");
	put_process(PARENT, 1, "");
	put_process(HANGS, PARENT, "");
	put_process(HANGS + 1, PARENT, "");
	failed = tap_run(tests, ARRAY_LEN(tests));
	world_close(&world);
	host_remove(dir);
	return failed;
}
