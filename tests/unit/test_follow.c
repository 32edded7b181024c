/* A probe that leads: when it looks for descendants of real processes, and what that costs. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/internal.h"
#include "stream_sample.h"
#include "tap.h"

enum { SCAN_TICKS = 10 };

static struct world world;

struct rig {
	struct track *track;
	struct probe *probe;
	pid_t root;
	int say[2]; /* a byte: fork a child */
	int hear[2];
};

/* Forks a child for each byte; all end when `say` is closed. */
static void be_root(const struct rig *r)
{
	pid_t pid;
	char c;

	close(r->say[1]);
	while (read(r->say[0], &c, 1) == 1) {
		pid = fork();
		if (pid == 0)
			for (;;)
				pause();
		if (write(r->hear[1], &pid, sizeof(pid)) != sizeof(pid))
			break;
	}
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static pid_t fork_there(const struct rig *r)
{
	pid_t pid = 0;

	OK(write(r->say[1], "", 1) == 1 && read(r->hear[0], &pid, sizeof(pid)) == sizeof(pid));
	return pid;
}

static void open_rig(struct rig *r, uint64_t scan_period_ns)
{
	const struct track_config track = {.world = &world, .follow = FOLLOW_TREE};
	struct probe_config config = {
		.kind = STREAM_SYSTEM, .world = &world, .leads = true, .period_ns = 10 * NS_PER_MS,
		.core_period_ns = NS_PER_S, .scan_period_ns = scan_period_ns,
		.flush_interval_ns = 5 * NS_PER_S,
	};

	OK(pipe(r->say) == 0 && pipe(r->hear) == 0);
	r->root = fork();
	if (r->root == 0) {
		setpgid(0, 0);
		be_root(r);
	}
	OK(track_create(&track, &r->track, NULL) == GALVO_OK);
	OK(track_add(r->track, (uint32_t)r->root, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	config.track = r->track;
	OK(probe_create(&config, &r->probe, NULL) == GALVO_OK);
	probe_prime(r->probe);
}

static void close_rig(struct rig *r)
{
	close(r->say[0]);
	close(r->say[1]);
	waitpid(r->root, NULL, 0);
	close(r->hear[0]);
	close(r->hear[1]);
	probe_destroy(r->probe);
	track_destroy(r->track);
}

static uint64_t alive(const struct rig *r)
{
	struct track_counts counts;

	track_count(r->track, &counts);
	return counts.alive;
}

/* A machine that is late again and again: no tick that is done has a number that ten divides. */
static void missed_ticks(void)
{
	struct rig r;
	int i;

	open_rig(&r, SCAN_TICKS * 10 * NS_PER_MS);
	while (r.probe->tick % SCAN_TICKS)
		probe_tick(r.probe);
	EQ(alive(&r), 1);
	fork_there(&r);
	for (i = 0; i < 3; i++) {
		r.probe->tick += i == 0 ? SCAN_TICKS / 2 : SCAN_TICKS - 1;
		probe_tick(r.probe);
	}
	EQ(alive(&r), 2);
	close_rig(&r);
}

static void the_last_tick(void)
{
	struct rig r;

	open_rig(&r, 3600 * NS_PER_S);
	EQ(alive(&r), 1);
	OK(probe_start(r.probe, NULL) == GALVO_OK);
	fork_there(&r);
	probe_signal_stop(r.probe);
	OK(probe_join(r.probe, 10 * NS_PER_S));
	EQ(alive(&r), 2);
	close_rig(&r);
}

/* It is a source of the stream, and finding a hundred children has its price. */
static void an_account(void)
{
	struct rig r;
	const struct pen *pen;
	int i;

	open_rig(&r, SCAN_TICKS * 10 * NS_PER_MS);
	pen = &r.probe->follow_pen;
	OK(probe_follows(r.probe) && pen->calibrated_ns > 0 && pen->reads == 0);
	for (i = 0; i < 100; i++)
		fork_there(&r);
	for (i = 0; i < SCAN_TICKS || (alive(&r) < 101 && i < 10 * SCAN_TICKS); i++)
		probe_tick(r.probe);
	EQ(alive(&r), 101);
	budget_judge(r.probe);
	OK(pen->reads >= 2); /* in the first tick, and in its turn; and again if one has no time for all */
	OK(pen->mean_ns > 100 * 1000 && pen->mean_ns > 4 * pen->calibrated_ns);
	close_rig(&r);
}

/* A stream whose writer does not run yet: three messages find room, the fourth is dropped. */
static void a_last_mention(void)
{
	struct stream_config config = sample_config(STREAM_SYSTEM);
	char path[64];
	int dir_fd = sample_dir(path);
	struct galvo_run *run = NULL;
	struct writer *writer;
	struct rig r;
	pid_t child;
	uint64_t lost;
	size_t i;

	config.catalog_at = catalog_at;
	open_rig(&r, 3600 * NS_PER_S);
	child = fork_there(&r);
	OK(track_add(r.track, (uint32_t)child, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	OK(writer_create(dir_fd, &writer, NULL) == GALVO_OK);
	OK(writer_add(writer, &config, &r.probe->config.stream, NULL) == GALVO_OK);
	probe_tick(r.probe);
	for (i = 0; i < 3; i++)
		probe_flush(r.probe);
	kill(child, SIGKILL);
	while (alive(&r) == 2)
		probe_tick(r.probe);
	probe_tick(r.probe);
	probe_flush(r.probe);
	OK(!stream_is_settled(r.probe->config.stream, &lost) && lost == 1);
	EQ(r.probe->members_len, 2);
	OK(writer_start(writer, NULL) == GALVO_OK);
	while (!stream_is_settled(r.probe->config.stream, &lost))
		;
	probe_flush(r.probe); /* it is said again… */
	while (!stream_is_settled(r.probe->config.stream, &lost))
		;
	EQ(r.probe->members_len, 2);
	probe_tick(r.probe); /* …and that was written */
	EQ(r.probe->members_len, 1);
	OK(writer_stop(writer, 10 * NS_PER_S, NULL) == GALVO_OK);
	r.probe->config.stream = NULL;
	writer_destroy(writer);
	OK(galvo_run_open(path, &run, NULL) == GALVO_OK);
	EQ(run->streams[0].missing_messages, 1);
	for (i = 0; i < run->processes_len && run->processes[i].pid != (uint32_t)child; i++)
		;
	OK(i < run->processes_len && run->processes[i].removed && run->processes[i].end_mono_ns);
	galvo_run_close(run);
	close_rig(&r);
	sample_remove(path, dir_fd);
}

static const struct tap_test tests[] = {
	{"a scan that missed ticks jumped over", missed_ticks},
	{"a scan in the last tick", the_last_tick},
	{"following has an account", an_account},
	{"a last mention that is dropped is made again", a_last_mention},
};

int main(void)
{
	int failed = world_open(&world, NULL, NULL) != GALVO_OK || tap_run(tests, ARRAY_LEN(tests));

	world_close(&world);
	return failed;
}
