/* Processes that do not run: their files are left alone, and what they do when they wake is not missed. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/internal.h"
#include "rig.h"
#include "tap.h"

enum { TURNS = 8, BYTES = 1000 };
#define NEVER_NS (3600 * NS_PER_S)

/* It sleeps, but for a thousand bytes that it writes at a word, and one to say so. */
struct sleeper {
	int word[2], answer[2];
	pid_t pid;
};

static void sleep_on(const struct sleeper *s)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char bytes[BYTES] = "";

	while (read(s->word[0], bytes, 1) == 1)
		if (write(null, bytes, BYTES) != BYTES || write(s->answer[1], bytes, 1) != 1)
			break;
	_exit(0);
}

static void start(struct sleeper *s)
{
	OK(pipe(s->word) == 0 && pipe(s->answer) == 0);
	s->pid = fork();
	if (s->pid == 0)
		sleep_on(s);
}

static bool is_asleep(const struct sleeper *s)
{
	struct process_stat stat = {0};
	char path[64];
	struct buf text;

	snprintf(path, sizeof(path), "/proc/%d/stat", s->pid);
	buf_init(&text, 1 << 12);
	process_stat_read(AT_FDCWD, path, &text, &stat, NULL);
	buf_finish(&text);
	return stat.state == 'S';
}

/* Until it sleeps again. */
static void wake(const struct sleeper *s)
{
	uint64_t give_up = clock_real.mono_ns(&clock_real) + 10 * NS_PER_S;
	char c = 'x';

	OK(write(s->word[1], &c, 1) == 1 && read(s->answer[0], &c, 1) == 1);
	while (!is_asleep(s) && clock_real.mono_ns(&clock_real) < give_up)
		sched_yield();
	OK(is_asleep(s));
}

static void stop(struct sleeper *s)
{
	int i;

	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	for (i = 0; i < 2; i++) {
		close(s->word[i]);
		close(s->answer[i]);
	}
}

static void tick(struct rig *r, size_t n)
{
	while (n--)
		rig_tick_full(r);
}

static uint64_t readings(const struct rig *r, size_t which)
{
	return r->probes[which]->keeper.count;
}

/* Bytes that it wrote, as samples have them. */
static uint64_t sampled(const struct rig *r)
{
	static struct process_info info;

	track_info(r->track, r->probes[RIG_DISK]->members[0]->who, &info);
	return info.usage[USAGE_WCHAR].sampled;
}

static const struct series *series_of(const struct rig *r, size_t which, const char *source)
{
	const struct probe *p = r->probes[which];
	size_t i;

	for (i = 0; i < p->pens_len; i++)
		if (!strcmp(p->pens[i].source->name, source))
			return &p->members[0]->pen[p->pens[i].member_slot].series;
	return NULL;
}

static void one_that_sleeps(void)
{
	struct rig_config config = {.hz = 1, .disk_hz = 1, .flush_interval_ns = NEVER_NS, .pids_len = 1};
	const struct series *io, *detail;
	uint64_t of_system, of_disk, bytes;
	double threads;
	struct sleeper s;
	struct rig r;

	start(&s);
	wake(&s);
	config.pids = &s.pid;
	if (!OK(rig_open(&r, &config, NULL) == GALVO_OK)) {
		stop(&s);
		return;
	}
	tick(&r, 3);
	io = series_of(&r, RIG_DISK, "process_io");
	detail = series_of(&r, RIG_SYSTEM, "process_detail");
	of_system = readings(&r, RIG_SYSTEM);
	of_disk = readings(&r, RIG_DISK);
	bytes = sampled(&r);
	threads = detail->value[4];
	tick(&r, TURNS);
	/* What is cheap at each turn, and all of it once: stat and status; io, which says nothing new. */
	OK(readings(&r, RIG_SYSTEM) - of_system <= TURNS + 3);
	EQ(readings(&r, RIG_DISK) - of_disk, 1);
	EQ(io->reads, detail->reads);
	/* Rows say so all the same: no byte more, as many threads. */
	OK(io->value[1] == 0 && threads >= 1 && detail->value[4] >= threads && detail->value[4] <= threads);
	wake(&s);
	tick(&r, 1);
	EQ(sampled(&r) - bytes, BYTES + 1);
	OK(io->value[1] > 0);
	tick(&r, 1);
	EQ(sampled(&r) - bytes, BYTES + 1);
	rig_close(&r);
	stop(&s);
}

static const struct tap_test tests[] = {
	{"one that sleeps, and wakes", one_that_sleeps},
};
TAP_MAIN(tests)
