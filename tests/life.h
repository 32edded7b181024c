/* The whole life of a suite, short, for tests that let something fail in it, and what it must leave. */
#ifndef GALVO_LIFE_H
#define GALVO_LIFE_H

#include <sys/wait.h>

#include "faults.h"
#include "galvo/galvo.h"
#include "host.h"

enum { LIFE_PATIENCE_MS = 1000 };

struct life {
	char dir[128];
	pid_t child;
	galvo_status status; /* of what failed first: create, start or stop */
	galvo_status added;
	galvo_error error;
	uint64_t alive;      /* processes at the end */
};

static inline void life_wait(const galvo_suite *suite, uint64_t ticks)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	const struct timespec moment = {0, NS_PER_MS / 2};
	size_t i;

	for (i = 0; i < 2 * LIFE_PATIENCE_MS && stats.ticks < ticks; i++) {
		nanosleep(&moment, NULL);
		galvo_suite_get_stats(suite, &stats, NULL);
	}
}

static inline galvo_suite_config life_config(const struct life *l, const galvo_process *self)
{
	galvo_suite_config config = galvo_suite_config_default();

	config.output_dir = l->dir;
	config.overwrite = 1;
	config.system_hz = config.disk_hz = config.core_hz = 1000;
	config.scan_interval_ms = 1;
	config.budget_pct = 100;
	config.processes = self;
	config.processes_len = 1;
	config.follow = GALVO_FOLLOW_TREE;
	config.pss = 1;
	config.threads = 1;
	return config;
}

static inline void life_work(struct life *l, galvo_suite *suite)
{
	galvo_suite_stats stats = {.struct_size = sizeof(stats)};
	char name[100] = "a long name, which has no place where short ones are";
	galvo_tracker *t = galvo_suite_host_tracker(suite);
	galvo_error e = {0};
	uint64_t id;

	l->added = galvo_suite_add_process(suite, (uint32_t)l->child, "child", &e);
	OK(l->added == GALVO_OK || e.text[0]);
	id = galvo_region_begin(t, name, sizeof(name));
	galvo_mark(t, "m", 1);
	life_wait(suite, 3);
	galvo_region_end(t, id);
	galvo_suite_get_stats(suite, &stats, NULL);
	l->alive = stats.processes_alive;
	if (l->added == GALVO_OK)
		galvo_suite_remove_process(suite, (uint32_t)l->child, &e);
}

static inline void life_live(struct life *l)
{
	const galvo_process self = {.pid = (uint32_t)getpid(), .alias = "self"};
	galvo_suite_config config = life_config(l, &self);
	galvo_suite *suite = NULL;

	l->error = (galvo_error){0};
	l->added = GALVO_DONE;
	l->alive = 0;
	l->status = galvo_suite_create(&config, &suite, &l->error);
	if (l->status != GALVO_OK)
		return;
	l->status = galvo_suite_start(suite, &l->error);
	if (l->status == GALVO_OK) {
		life_work(l, suite);
		l->status = galvo_suite_stop(suite, &l->error);
	}
	galvo_suite_destroy(suite);
}

/* One line that says what failed, or nothing at all. */
static inline void life_check_error(galvo_status status, const galvo_error *e)
{
	if (status == GALVO_OK)
		EQ(e->text[0], 0);
	else if (!OK(status < 0 && e->status == status && e->text[0] && !strchr(e->text, '\n')))
		printf("# status %d, error %d: '%s'\n", (int)status, (int)e->status, e->text);
}

/* Whatever happened: what is there can be read, and what says that it is whole, is. */
static inline void life_check_files(const struct life *l)
{
	galvo_check_result result = {0};
	galvo_error e = {0};
	galvo_status status = galvo_run_check(l->dir, NULL, NULL, &result, &e);

	if (status == GALVO_ERR_ABSENT && l->status != GALVO_OK)
		return;
	if (!OK(status == GALVO_OK && !result.damaged_messages && !result.torn_bytes) ||
	    !OK(l->status != GALVO_OK || result.is_sound))
		printf("# %s: complete %d, missing %d\n", e.text, result.is_complete,
		       (int)result.missing_messages);
}

/* A process that only waits for its end. */
static inline pid_t life_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static inline void life_end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static inline size_t life_count_fds(void)
{
	struct host_numbers fds;

	host_list("/proc/self/fd", &fds);
	return fds.len;
}

#endif
