/* Readings of many processes, spread over the ticks: whose turn it is, and that nothing is lost. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "derive/derive.h"
#include "host.h"
#include "probe/internal.h"
#include "tap.h"

enum { PERIOD = 100, MEMBERS = 500, TICK_MOST = 40 };

static const struct source of_processes = {.name = "processes", .shape = SHAPE_PROCESS};

struct crowd {
	struct probe probe;
	struct member *list[MEMBERS];
	uint64_t last_tick[MEMBERS];
	uint64_t longest, shortest; /* ticks between two readings */
};

static struct crowd *a_crowd(size_t n)
{
	struct crowd *c = calloc(1, sizeof(*c));
	struct probe *p = &c->probe;
	size_t i;

	p->lanes_len = p->pens_len = 1;
	p->pens[0].source = &of_processes;
	p->pens[0].lane = &p->lanes[0];
	p->lanes[0] = (struct lane){.pens = {&p->pens[0]}, .pens_len = 1, .period_ticks = PERIOD,
	                            .divisor = 1, .largest_divisor = 1};
	p->members = c->list;
	p->members_len = n;
	for (i = 0; i < MEMBERS; i++)
		(c->list[i] = calloc(1, sizeof(struct member)))->phase = (uint32_t)i;
	c->shortest = UINT64_MAX;
	return c;
}

static void disperse(struct crowd *c)
{
	size_t i;

	for (i = 0; i < MEMBERS; i++)
		free(c->list[i]);
	free(c);
}

/* One tick; how many were read. */
static size_t tick(struct crowd *c, size_t at_least)
{
	struct probe *p = &c->probe;
	struct pen *pen = &p->pens[0];
	size_t i, n;

	p->tick++;
	if (!slice_take(&pen->slice, pen, p->tick, p->members_len, at_least))
		return 0;
	n = slice_size(&pen->slice);
	for (i = 0; i < n; i++) {
		size_t who = p->members[slice_index(&pen->slice, i)]->phase;
		uint64_t since = p->tick - c->last_tick[who];

		if (c->last_tick[who]) {
			c->longest = since > c->longest ? since : c->longest;
			c->shortest = since < c->shortest ? since : c->shortest;
		}
		c->last_tick[who] = p->tick;
	}
	slice_end(pen, 1000 * n);
	return n;
}

static void few_at_once(void)
{
	struct crowd *c = a_crowd(MEMBERS);
	size_t i, sum = 0, most = 0;

	EQ(tick(c, 0), MEMBERS); /* all are new, and begin */
	for (i = 0; i < 20 * PERIOD; i++) {
		size_t n = tick(c, 0);

		sum += n;
		most = n > most ? n : most;
		if (i == 2 * PERIOD) { /* all but the first readings are a period apart */
			c->longest = 0;
			c->shortest = UINT64_MAX;
		}
	}
	OK(sum <= 20 * MEMBERS && sum + TICK_MOST >= 20 * MEMBERS);
	OK(most <= TICK_MOST);
	OK(c->longest <= PERIOD + 8 && c->shortest >= PERIOD - 8);
	EQ(c->probe.pens[0].reads, 20); /* rounds: it is not quite through the last one */
	OK(c->probe.pens[0].mean_ns == 1000 * MEMBERS);
	EQ(tick(c, SIZE_MAX), MEMBERS);
	disperse(c);
}

/* No more than one would read at once anyway: on time, all together. */
static void small_families(void)
{
	struct crowd *c = a_crowd(4);
	size_t i;

	EQ(tick(c, 0), 4);
	for (i = 1; i <= 5 * PERIOD; i++)
		EQ(tick(c, 0), i % PERIOD ? 0 : 4);
	c->probe.tick += 3 * PERIOD; /* missed */
	EQ(tick(c, 0), 4);
	EQ(tick(c, 0), 0);
	disperse(c);
	c = a_crowd(0);
	EQ(tick(c, 0) + tick(c, SIZE_MAX), 0);
	disperse(c);
}

static void those_that_come_and_go(void)
{
	struct crowd *c = a_crowd(100);
	struct member *gone;
	size_t i;

	tick(c, 0);
	for (i = 0; i < 50; i++)
		tick(c, 0);
	c->probe.members_len = 103;
	EQ(tick(c, 0) >= 3, 1);
	OK(c->last_tick[100] == c->probe.tick && c->last_tick[102] == c->probe.tick);
	gone = c->list[10];
	memmove(c->list + 10, c->list + 11, (103 - 11) * sizeof(c->list[0]));
	c->list[102] = gone;
	slice_drop(&c->probe.pens[0].slice, 10);
	c->probe.members_len = 102;
	for (i = 0; i < 3 * PERIOD; i++)
		tick(c, 0);
	OK(c->longest <= PERIOD + 40 && c->probe.tick - c->last_tick[10] > 2 * PERIOD);
	for (i = 0; i < 103; i++)
		OK(i == 10 || c->probe.tick - c->last_tick[i] <= PERIOD + 40);
	for (; c->probe.members_len; c->probe.members_len--)
		slice_drop(&c->probe.pens[0].slice, 0);
	EQ(tick(c, 0), 0);
	disperse(c);
}

static void a_divisor_that_changes(void)
{
	static const uint32_t divisors[] = {1, 8, 2, 1};
	struct crowd *c = a_crowd(MEMBERS);
	size_t i, j, n;

	tick(c, 0);
	for (i = 0; i < ARRAY_LEN(divisors); i++) {
		c->probe.lanes[0].divisor = divisors[i];
		for (j = n = 0; j < 8 * PERIOD; j++) {
			size_t now = tick(c, 0);

			OK(now <= TICK_MOST);
			n += now;
		}
		OK(n + 2 * TICK_MOST >= 8 * MEMBERS / divisors[i] &&
		   n <= 8 * MEMBERS / divisors[i] + 2 * TICK_MOST);
	}
	disperse(c);
}

/* ---- all CPU time is counted ---------------------------------------------------------------------- */

enum { WORKERS = 70 };

static double clock_s(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void work(double cpu_s)
{
	double until = clock_s(CLOCK_PROCESS_CPUTIME_ID) + cpu_s;

	while (clock_s(CLOCK_PROCESS_CPUTIME_ID) < until)
		;
}

static galvo_status record(struct track *track, const struct world *world, int dir_fd)
{
	static const uint32_t divisors[] = {1, 64, 16, 64, 1};
	const struct stream_config file = {
		.kind = STREAM_SYSTEM, .file_name = stream_file_name(STREAM_SYSTEM), .hostname = "test",
		.frequency_hz = 1000, .cpu_count = 1, .catalog_at = catalog_at,
	};
	struct probe_config config = {
		.kind = STREAM_SYSTEM, .world = world, .track = track, .period_ns = NS_PER_MS,
		.flush_interval_ns = 100 * NS_PER_S,
	};
	struct probe *probe = NULL;
	struct writer *writer = NULL;
	galvo_status status = writer_create(dir_fd, &writer, NULL);
	size_t i, j;

	if (status == GALVO_OK)
		status = writer_add(writer, &file, &config.stream, NULL);
	if (status == GALVO_OK)
		status = probe_create(&config, &probe, NULL);
	if (status == GALVO_OK)
		status = writer_start(writer, NULL);
	if (status == GALVO_OK)
		probe_prime(probe);
	for (i = 0; i < ARRAY_LEN(divisors) && status == GALVO_OK; i++) {
		for (j = 0; j < probe->lanes_len; j++) {
			probe->lanes[j].divisor = divisors[i];
			if (divisors[i] > probe->lanes[j].largest_divisor)
				probe->lanes[j].largest_divisor = divisors[i];
		}
		for (j = 0; j < 130; j++) {
			work(1e-4);
			probe_tick(probe);
		}
	}
	if (status == GALVO_OK) {
		probe_signal_stop(probe);
		status = probe_start(probe, NULL); /* its last tick reads all */
		OK(probe_join(probe, 10 * NS_PER_S));
	}
	writer_stop(writer, 10 * NS_PER_S, NULL);
	probe_destroy(probe);
	writer_destroy(writer);
	return status;
}

/* This process works while it ticks, and others sleep beside it: they get their rows in between. */
static void all_cpu_time_is_counted(void)
{
	char dir[64] = "/tmp/galvo-spread-XXXXXX";
	struct galvo_summary *sum = NULL;
	struct galvo_run *run = NULL;
	struct track *track = NULL;
	struct world world;
	struct track_config config = {.world = &world};
	double before_s, grown_s, found_s = NAN;
	pid_t workers[WORKERS];
	int fd = -1;
	size_t i;

	OK(mkdtemp(dir) && (fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0);
	OK(world_open(&world, NULL, NULL) == GALVO_OK);
	for (i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] == 0)
			for (;;)
				pause();
	}
	OK(track_create(&config, &track, NULL) == GALVO_OK);
	for (i = 0; i < WORKERS; i++)
		OK(track_add(track, (uint32_t)workers[i], NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	OK(track_add(track, 0, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	before_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	OK(record(track, &world, fd) == GALVO_OK);
	grown_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - before_s;
	OK(galvo_run_open(dir, &run, NULL) == GALVO_OK &&
	   galvo_summary_create(run, &sum, NULL) == GALVO_OK);
	for (i = 0; sum && i < sum->processes_len; i++)
		if (sum->processes[i].info->pid == (uint32_t)getpid())
			found_s = sum->processes[i].cpu_pct_of_core.total;
	/* But what it took to prepare, and to write the file. */
	if (!OK(found_s > 0.9 * grown_s - 0.02 && found_s <= grown_s))
		printf("# %.4f s of %.4f s\n", found_s, grown_s);
	OK(sum->memory.followed_rss_bytes.peak < 1.2 * sum->memory.followed_rss_bytes.avg);
	galvo_summary_destroy(sum);
	galvo_run_close(run);
	track_destroy(track);
	for (i = 0; i < WORKERS; i++) {
		kill(workers[i], SIGKILL);
		waitpid(workers[i], NULL, 0);
	}
	world_close(&world);
	close(fd);
	host_remove(dir);
}

static const struct tap_test tests[] = {
	{"few at once, each in its turn", few_at_once},
	{"small families", small_families},
	{"those that come and go", those_that_come_and_go},
	{"a divisor that changes", a_divisor_that_changes},
	{"all CPU time is counted", all_cpu_time_is_counted},
};
TAP_MAIN(tests)
