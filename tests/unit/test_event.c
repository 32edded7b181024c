/* Regions and marks: what is said is in the file, whoever says it, however much, until the crash. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "event/event.h"
#include "stream_sample.h"
#include "tap.h"

/* A profiler with its stream in a directory of its own; by hand unless `threaded`. */
struct rig {
	char path[64];
	int dir_fd;
	struct clock_fake clock;
	struct world world;
	struct writer *writer;
	struct stream *stream;
	struct events *events;
	galvo_tracker *t;
	struct galvo_run *run; /* after rig_read */
};

static void rig_init(struct rig *r, bool is_threaded)
{
	struct stream_config config = sample_config(STREAM_EVENTS);

	*r = (struct rig){.dir_fd = -1};
	r->dir_fd = sample_dir(r->path);
	clock_fake_init(&r->clock, 1000, 2000, 3000);
	r->world = (struct world){.clock = is_threaded ? &clock_real : &r->clock.clock};
	OK(writer_create(r->dir_fd, &r->writer, NULL) == GALVO_OK);
	OK(writer_add(r->writer, &config, &r->stream, NULL) == GALVO_OK);
	OK(writer_start(r->writer, NULL) == GALVO_OK);
	OK(events_create(&r->world, true, &r->events, NULL) == GALVO_OK);
	r->t = events_tracker(r->events, DOMAIN_GENERIC);
	events_open(r->events, r->stream, is_threaded ? 2 * NS_PER_MS : NS_PER_S);
	if (is_threaded)
		OK(events_start(r->events, NULL) == GALVO_OK);
}

/* Ends as a crash does: what was flushed is there, and nothing else. */
static void rig_read(struct rig *r)
{
	OK(writer_stop(r->writer, 10 * NS_PER_S, NULL) == GALVO_OK);
	OK(galvo_run_open(r->path, &r->run, NULL) == GALVO_OK);
}

static void rig_finish(struct rig *r)
{
	galvo_run_close(r->run);
	events_destroy(r->events);
	writer_destroy(r->writer);
	sample_remove(r->path, r->dir_fd);
}

/* An empty one if there is none. */
static struct region region_named(const struct rig *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->run->regions_len; i++)
		if (span_eq_str(r->run->regions[i].name, name))
			return r->run->regions[i];
	printf("# no region '%s'\n", name);
	tap_failures++;
	return (struct region){0};
}

static uint64_t begin(struct rig *r, const char *name)
{
	return galvo_region_begin(r->t, name, strlen(name));
}

/* ---- by hand ------------------------------------------------------------------------------------- */

static void regions_and_marks(void)
{
	static char long_name[2000];
	uint64_t a, b, c;
	struct region g;
	struct rig r;

	memset(long_name, 'n', sizeof(long_name) - 1);
	rig_init(&r, false);
	a = begin(&r, "a");
	r.clock.mono_ns = 1100;
	b = begin(&r, long_name);
	c = galvo_region_begin(r.t, "", 0);
	galvo_mark(r.t, "m\0\xff", 3);
	OK(a && b && c && a != b && b != c);
	events_drain(r.events);
	events_flush(r.events); /* ids outlive a flush */
	r.clock.mono_ns = 1200;
	galvo_region_end(r.t, a);
	galvo_region_end(r.t, 0);
	galvo_region_end(r.t, a); /* twice: counted */
	r.clock.mono_ns = 1300;
	galvo_region_end(r.t, b);
	r.clock.mono_ns = 1400;
	events_signal_stop(r.events);
	EQ(begin(&r, "late"), 0);
	galvo_mark(r.t, "late", 4);
	events_finish(r.events);
	rig_read(&r);
	EQ(r.run->regions_len, 3);
	EQ(r.run->marks_len, 1);
	OK(span_eq(r.run->marks[0].name, span_of("m\0\xff", 3)));
	OK(r.run->marks[0].mono_ns == 1100 && r.run->marks[0].pid == (uint32_t)getpid());
	g = region_named(&r, "a");
	OK(g.start_mono_ns == 1000 && g.end_mono_ns == 1200 && !g.unfinished);
	OK(g.pid == (uint32_t)getpid() && g.begin_thread && g.begin_thread == g.end_thread);
	long_name[EVENT_NAME_MAX] = '\0';
	g = region_named(&r, long_name);
	OK(g.start_mono_ns == 1100 && g.end_mono_ns == 1300);
	g = region_named(&r, "");
	OK(g.unfinished && g.end_mono_ns == 1400);
	rig_finish(&r);
}

static void open_at_a_crash(void)
{
	struct events_counts counts;
	uint64_t ended;
	struct region g;
	struct rig r;

	rig_init(&r, false);
	ended = begin(&r, "ended");
	begin(&r, "open");
	events_drain(r.events);
	events_flush(r.events);
	r.clock.mono_ns = 5000;
	galvo_region_end(r.t, ended);
	events_drain(r.events);
	events_flush(r.events);
	begin(&r, "too late for a flush");
	rig_read(&r);
	EQ(r.run->regions_len, 2);
	OK(!region_named(&r, "ended").unfinished);
	g = region_named(&r, "open");
	OK(g.unfinished && g.end_mono_ns == 0 && g.start_mono_ns == 1000);
	events_count(r.events, &counts);
	EQ(counts.dropped + counts.unmatched, 0);
	rig_finish(&r);
}

/* Nobody takes: beginning stops early enough for every end. */
static void no_end_is_dropped(void)
{
	enum { N = 1 << 17 };
	uint64_t *ids = alloc_array(N, sizeof(*ids));
	struct events_counts counts;
	size_t round, n = 0, refused = 0, i;
	struct rig r;

	rig_init(&r, false);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 20000; i++) {
			ids[n] = begin(&r, "a name that is longer than one cell has room for");
			n += ids[n] != 0;
			refused += ids[n] == 0 && i + 1 < 20000;
		}
		events_drain(r.events);
	}
	EQ(begin(&r, "crowded"), 0);
	OK(n > 10000 && n <= 32768 && refused > 0);
	for (i = 0; i < n; i++)
		galvo_region_end(r.t, ids[i]);
	events_drain(r.events);
	events_count(r.events, &counts);
	EQ(counts.unmatched, 0);
	OK(begin(&r, "room again"));
	events_finish(r.events);
	rig_read(&r);
	EQ(r.run->regions_len + r.run->streams[0].dropped_rows, 80002);
	for (i = 0; i < r.run->regions_len; i++)
		if (!span_eq_str(r.run->regions[i].name, "room again"))
			OK(!r.run->regions[i].unfinished);
	rig_finish(&r);
	free(ids);
}

static void trackers_that_record_nothing(void)
{
	struct world world = {.clock = &clock_real};
	struct events *events;
	galvo_error e;

	OK(events_create(&world, true, &events, NULL) == GALVO_OK);
	EQ(galvo_tracker_status(events_tracker(events, DOMAIN_GPU), &e), GALVO_ERR_ABSENT);
	OK(strcmp(e.text, "GPU regions: no CUDA") == 0);
	EQ(galvo_tracker_status(events_tracker(events, DOMAIN_GENERIC), &e), GALVO_ERR_STATE);
	EQ(galvo_region_begin(events_tracker(events, DOMAIN_GPU), "x", 1), 0);
	EQ(galvo_region_begin(events_tracker(events, DOMAIN_GENERIC), "x", 1), 0);
	galvo_mark(events_tracker(events, DOMAIN_GPU), "x", 1);
	galvo_region_end(events_tracker(events, DOMAIN_GPU), 7);
	events_destroy(events);
	OK(events_create(&world, false, &events, NULL) == GALVO_OK);
	EQ(galvo_tracker_status(events_tracker(events, DOMAIN_GENERIC), &e), GALVO_ERR_ABSENT);
	events_destroy(events);
}

/* ---- threads and processes ----------------------------------------------------------------------- */

enum { THREADS = 8, CALLS = 100000 };

struct crowd {
	galvo_tracker *t;
	_Atomic uint64_t begun, handed; /* handed: a region that another thread ends */
};

/* A hundred regions, two marks, and one region that goes to whoever comes by. */
static void *speak(void *arg)
{
	struct crowd *crowd = arg;
	uint64_t i, begun = 0;

	for (i = 0; i < CALLS / 2; i++) {
		uint64_t id = galvo_region_begin(crowd->t, "region", 6), other;

		begun += id != 0;
		if (i % 50 == 0)
			galvo_mark(crowd->t, "mark", 4);
		other = i % 100 ? id : atomic_exchange(&crowd->handed, id);
		galvo_region_end(crowd->t, other);
		if (i % 4096 == 0)
			sched_yield();
	}
	atomic_fetch_add(&crowd->begun, begun);
	return NULL;
}

static void many_threads(void)
{
	struct crowd crowd = {0};
	struct events_counts counts;
	pthread_t threads[THREADS];
	uint64_t said = THREADS * (CALLS / 2 + CALLS / 100), i;
	struct rig r;

	rig_init(&r, true);
	crowd.t = r.t;
	for (i = 0; i < THREADS; i++)
		OK(pthread_create(&threads[i], NULL, speak, &crowd) == 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	galvo_region_end(crowd.t, atomic_load(&crowd.handed));
	events_signal_stop(r.events);
	events_join(r.events);
	events_join(r.events);
	events_count(r.events, &counts);
	rig_read(&r);
	EQ(r.run->damages_len, 1); /* there is no metadata */
	EQ(counts.unmatched, 0);
	EQ(r.run->regions_len + r.run->marks_len + r.run->streams[0].dropped_rows, said);
	OK(r.run->regions_len > 0 && r.run->regions_len <= crowd.begun);
	for (i = 0; i < r.run->regions_len; i++) {
		const struct region *g = &r.run->regions[i];

		if (g->unfinished || g->end_mono_ns < g->start_mono_ns || g->name.n != 6) {
			EQ(i, -1); /* it is not as it was said */
			break;
		}
	}
	rig_finish(&r);
}

static void a_child_after_fork(void)
{
	uint64_t id;
	int status = -1, i;
	struct rig r;
	pid_t pid;

	rig_init(&r, false);
	id = begin(&r, "parent's");
	pid = fork();
	if (pid == 0) {
		galvo_region_end(r.t, id);
		for (i = 0; i < 100000; i++)
			galvo_mark(r.t, "child's", 7);
		_exit(begin(&r, "child's") != 0 || galvo_tracker_status(r.t, NULL) != GALVO_ERR_STATE);
	}
	OK(waitpid(pid, &status, 0) == pid && status == 0);
	galvo_region_end(r.t, id);
	events_finish(r.events);
	rig_read(&r);
	EQ(r.run->regions_len, 1);
	EQ(r.run->marks_len, 0);
	OK(!region_named(&r, "parent's").unfinished);
	rig_finish(&r);
}

/* ---- from outside -------------------------------------------------------------------------------- */

static void messages(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool is_good;
	} rows[] = {
		{"GLVE\1\1\3\0AAAAAAAABBBBBBBBabc", 27, true},
		{"GLVE\1\3\0\0AAAAAAAABBBBBBBB", 24, true},
		{"", 0, false},
		{"GLVE\1\1\3\0AAAAAAAABBBBBBB", 23, false},
		{"GLVE\1\1\3\0AAAAAAAABBBBBBBBab", 26, false},
		{"GLVE\1\1\3\0AAAAAAAABBBBBBBBabcd", 28, false},
		{"GLVE\1\0\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"GLVE\1\4\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"GLVE\2\1\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"glve\1\1\3\0AAAAAAAABBBBBBBBabc", 27, false},
		{"GLVE\1\1\1\4AAAAAAAABBBBBBBBabc", 27, false},
	};
	char bytes[SAID_BYTES_MAX], name[EVENT_NAME_MAX] = "n";
	struct said s = {GALVO_SAY_END, UINT64_MAX, 5, span_of(name, sizeof(name))}, back;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!OK(said_parse(span_of(rows[i].bytes, rows[i].n), &back) == rows[i].is_good))
			printf("# row %zu\n", i);
	EQ(said_put(bytes, &s), SAID_BYTES_MAX);
	OK(said_parse(span_of(bytes, sizeof(bytes)), &back) && span_eq(back.name, s.name));
	OK(back.what == s.what && back.mono_ns == s.mono_ns && back.token == s.token);
}

static galvo_status say(const char *path, galvo_saying what, uint64_t token, const char *name)
{
	return galvo_say(path, what, token, name, strlen(name), NULL);
}

static void from_outside(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char path[sizeof(at.sun_path)], bytes[SAID_BYTES_MAX];
	struct said early = {GALVO_SAY_MARK, 1, 0, span_str("early")};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct events_counts counts;
	galvo_listener *l = NULL;
	struct rig r;
	size_t i;

	rig_init(&r, true);
	OK(galvo_listener_open("/tmp", &l, NULL) == GALVO_OK);
	snprintf(path, sizeof(path), "%s", galvo_listener_path(l));
	EQ(say(path, GALVO_SAY_BEGIN, 0, "outer"), GALVO_OK); /* before anyone listens */
	OK(galvo_listener_start(l, r.t, NULL) == GALVO_OK);
	EQ(say(path, GALVO_SAY_BEGIN, 0, "outer"), GALVO_OK); /* inside of it, the same name */
	EQ(say(path, GALVO_SAY_BEGIN, 9, "outer"), GALVO_OK);
	EQ(say(path, GALVO_SAY_END, 0, "outer"), GALVO_OK);
	EQ(say(path, GALVO_SAY_MARK, 0, "mark"), GALVO_OK);
	EQ(say(path, GALVO_SAY_END, 0, "outer"), GALVO_OK);
	EQ(say(path, GALVO_SAY_END, 0, "outer"), GALVO_OK); /* there is none left */
	memcpy(at.sun_path, path, sizeof(path));
	OK(sendto(fd, "hello", 5, 0, (struct sockaddr *)&at, sizeof(at)) == 5);
	OK(sendto(fd, bytes, said_put(bytes, &early), 0, (struct sockaddr *)&at, sizeof(at)) > 0);
	close(fd);
	galvo_listener_stop(l);
	EQ(access(path, F_OK), 0);
	galvo_listener_close(l);
	EQ(access(path, F_OK), -1);
	EQ(say(path, GALVO_SAY_MARK, 0, "nobody"), GALVO_ERR_ABSENT);
	events_signal_stop(r.events);
	events_join(r.events);
	events_count(r.events, &counts);
	EQ(counts.unmatched, 1);
	EQ(counts.refused, 1);
	rig_read(&r);
	EQ(r.run->regions_len, 3);
	EQ(r.run->marks_len, 2);
	/* The innermost ended first, the one with a token not at all. */
	OK(r.run->regions[0].start_mono_ns >= r.run->regions[1].start_mono_ns);
	OK(!r.run->regions[1].unfinished && r.run->regions[2].unfinished);
	for (i = 0; i < 3; i++)
		OK(r.run->regions[i].pid == (uint32_t)getpid());
	OK(r.run->marks[1].mono_ns > NS_PER_S / 1000); /* not the time that it told */
	rig_finish(&r);
}

/* In another user's shoes; what that user's attempt ends with. Needs root. */
static int as_nobody(int (*attempt)(const char *path, int fd), const char *path, int fd)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setresuid(65534, 65534, 65534) ? 100 : attempt(path, fd));
	OK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Connected by somebody who may, used by somebody who may not. */
static int use_connected(const char *path, int fd)
{
	(void)path;
	return send(fd, "GLVE\1\1\3\0AAAAAAAABBBBBBBBabc", 27, 0) != 27;
}

static int say_it(const char *path, int fd)
{
	(void)fd;
	return say(path, GALVO_SAY_MARK, 0, "x") != GALVO_ERR_DENIED;
}

static void another_user(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct events_counts counts;
	galvo_listener *l = NULL;
	struct rig r;

	if (geteuid() != 0) {
		close(fd);
		return;
	}
	rig_init(&r, true);
	OK(galvo_listener_open("/tmp", &l, NULL) == GALVO_OK);
	OK(galvo_listener_start(l, r.t, NULL) == GALVO_OK);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", galvo_listener_path(l));
	OK(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	EQ(as_nobody(say_it, at.sun_path, fd), 0); /* the directory lets nobody in */
	EQ(as_nobody(use_connected, at.sun_path, fd), 0);
	galvo_listener_close(l);
	close(fd);
	events_count(r.events, &counts);
	EQ(counts.refused, 1);
	events_signal_stop(r.events);
	events_join(r.events);
	rig_read(&r);
	EQ(r.run->marks_len, 0);
	rig_finish(&r);
}

/* A socket that a third user has put there. */
static void a_foreign_socket(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), dir_fd;
	char dir[64];

	dir_fd = sample_dir(dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dir);
	OK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	if (geteuid() == 0) {
		OK(chmod(dir, 0755) == 0 && chmod(at.sun_path, 0777) == 0);
		OK(chown(at.sun_path, 1, 1) == 0);
		EQ(as_nobody(say_it, at.sun_path, -1), 0);
	}
	close(fd);
	unlink(at.sun_path);
	sample_remove(dir, dir_fd);
}

static void nobody_listens(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char dir[64], path[96];
	int dir_fd = sample_dir(dir), fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	galvo_listener *l = NULL;
	galvo_error e;

	snprintf(path, sizeof(path), "%s/socket", dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	OK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	close(fd); /* the name stays: a recorder that was killed */
	EQ(galvo_say(path, GALVO_SAY_MARK, 0, "x", 1, &e), GALVO_ERR_STATE);
	OK(strstr(e.text, "is gone"));
	EQ(galvo_say(dir, GALVO_SAY_MARK, 0, "x", 1, &e), GALVO_ERR_ABSENT);
	EQ(galvo_say(path, GALVO_SAY_MARK, 0, dir, EVENT_NAME_MAX + 1, &e), GALVO_ERR_INVALID);
	EQ(galvo_listener_open("tmp", &l, &e), GALVO_ERR_INVALID);
	EQ(galvo_listener_open("/tmp/no/such", &l, &e), GALVO_ERR_ABSENT);
	unlink(path);
	sample_remove(dir, dir_fd);
}

static const struct tap_test tests[] = {
	{"regions and marks", regions_and_marks},
	{"open at a crash", open_at_a_crash},
	{"no end is dropped", no_end_is_dropped},
	{"trackers that record nothing", trackers_that_record_nothing},
	{"many threads", many_threads},
	{"a child after fork", a_child_after_fork},
	{"messages", messages},
	{"from outside", from_outside},
	{"another user", another_user},
	{"a foreign socket", a_foreign_socket},
	{"nobody listens", nobody_listens},
};
TAP_MAIN(tests)
