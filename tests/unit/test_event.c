/* Regions and marks: what is said is in the file, however much, until the crash. */
#include <pthread.h>
#include <sys/wait.h>

#include "event_rig.h"

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
	OK(strstr(e.text, "GPU regions: this program has not loaded CUDA") == e.text);
	EQ(galvo_tracker_set_stream(events_tracker(events, DOMAIN_GPU), NULL, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "GPU regions: this program has not loaded CUDA") == e.text);
	EQ(galvo_tracker_status(events_tracker(events, DOMAIN_GENERIC), &e), GALVO_ERR_STATE);
	EQ(galvo_region_begin(events_tracker(events, DOMAIN_GPU), "x", 1), 0);
	EQ(galvo_region_begin(events_tracker(events, DOMAIN_GENERIC), "x", 1), 0);
	galvo_mark(events_tracker(events, DOMAIN_GPU), "x", 1);
	galvo_region_end(events_tracker(events, DOMAIN_GPU), 7);
	events_destroy(events);
	OK(events_create(&world, false, &events, NULL) == GALVO_OK);
	EQ(galvo_tracker_status(events_tracker(events, DOMAIN_GENERIC), &e), GALVO_ERR_ABSENT);
	EQ(galvo_tracker_set_stream(events_tracker(events, DOMAIN_GPU), NULL, &e), GALVO_ERR_ABSENT);
	OK(strcmp(e.text, "regions: switched off") == 0);
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

static const struct tap_test tests[] = {
	{"regions and marks", regions_and_marks},
	{"open at a crash", open_at_a_crash},
	{"no end is dropped", no_end_is_dropped},
	{"trackers that record nothing", trackers_that_record_nothing},
	{"many threads", many_threads},
	{"a child after fork", a_child_after_fork},
};
TAP_MAIN(tests)
