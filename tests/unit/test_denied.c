/* I/O counters that are closed to us: of another user's process, and of one that is on its way out. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/internal.h"
#include "tap.h"

enum { NOBODY = 65534, OTHER_USER = 1, TURNS = 5, PATIENCE_MS = 10000 };

static const struct timespec moment = {0, NS_PER_MS};

static void *stay(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* A process of that user; its first thread may be gone, which leaves a zombie that lives. */
static pid_t a_process(uid_t user, bool is_headless)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid)
		return pid;
	if ((user != getuid() && (setgid(user) != 0 || setuid(user) != 0)) ||
	    (is_headless && pthread_create(&thread, NULL, stay, NULL) != 0))
		_exit(1);
	if (is_headless)
		pthread_exit(NULL);
	stay(NULL);
	return 0;
}

static struct process_stat stat_of(const struct world *w, pid_t pid)
{
	struct process_stat stat = {0};
	struct span text;
	struct buf buf;
	char path[64];

	buf_init(&buf, 4096);
	snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
	if (OK(file_read(w->root_fd, path, &buf, &text, NULL) == GALVO_OK))
		OK(process_stat_parse(text, &stat, NULL) == GALVO_OK);
	buf_finish(&buf);
	return stat;
}

static void wait_for_zombie(const struct world *w, pid_t pid)
{
	int i;

	for (i = 0; i < PATIENCE_MS && stat_of(w, pid).state != 'Z'; i++)
		nanosleep(&moment, NULL);
	OK(stat_of(w, pid).state == 'Z');
}

/* What the sampler of the disk stream makes of it, a few turns long. */
static void look_at(const struct world *w, pid_t pid, bool is_denied)
{
	const struct track_config following = {.world = w};
	struct probe_config config = {
		.kind = STREAM_DISK, .world = w, .leads = true, .period_ns = 10 * NS_PER_MS,
		.scan_period_ns = NS_PER_S, .flush_interval_ns = 5 * NS_PER_S,
	};
	uint64_t before = w->clock->mono_ns(w->clock);
	const struct pen *pen = NULL;
	struct probe *p;
	size_t i;

	OK(track_create(&following, &config.track, NULL) == GALVO_OK);
	OK(track_add(config.track, (uint32_t)pid, NULL, STREAM_ALL, FOLLOW_NONE, NULL) == GALVO_OK);
	OK(probe_create(&config, &p, NULL) == GALVO_OK);
	probe_prime(p);
	for (i = 0; i < TURNS; i++)
		probe_tick(p);
	for (i = 0; i < p->pens_len; i++)
		if (!strcmp(p->pens[i].source->name, "process_io"))
			pen = &p->pens[i];
	if (OK(pen && p->members_len == 1)) {
		EQ(pen->failures, is_denied ? TURNS : 0);
		OK(is_denied ? pen->first_failure_mono_ns >= before &&
		                       pen->first_failure_mono_ns <= probe_now(p)
		             : pen->first_failure_mono_ns == 0);
		OK(is_denied ? strstr(pen->reason, "Permission denied") != NULL : !pen->reason[0]);
		OK(!series_has_value(&p->members[0]->pen[pen->member_slot].series));
	}
	probe_destroy(p);
	track_destroy(config.track);
}

/* A user who is nobody in particular looks at a process of another user, and at a dying one of its own. */
static int as_nobody(pid_t other)
{
	struct world w;
	pid_t headless;

	if (!OK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0) ||
	    !OK(world_open(&w, NULL, NULL) == GALVO_OK))
		return 1;
	look_at(&w, other, true);
	headless = a_process(NOBODY, true);
	wait_for_zombie(&w, headless);
	look_at(&w, headless, false);
	kill(headless, SIGKILL);
	waitpid(headless, NULL, 0);
	world_close(&w);
	fflush(stdout);
	return tap_failures;
}

static void closed_is_missing_and_counted_and_dying_is_neither(void)
{
	pid_t other = a_process(OTHER_USER, false), nobody;
	int status;

	nobody = fork();
	if (nobody == 0)
		_exit(as_nobody(other));
	OK(waitpid(nobody, &status, 0) == nobody && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static const struct tap_test tests[] = {
	{"closed is missing and counted, dying is neither",
	 closed_is_missing_and_counted_and_dying_is_neither},
};

int main(void)
{
	if (getuid() != 0) {
		puts("skip: only root can be somebody else");
		return 77;
	}
	return tap_run(tests, ARRAY_LEN(tests));
}
