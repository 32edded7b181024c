/* Looking for descendants, quiet and after a fork: medians of rounds that take turns. */
#include "scan.h"

#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "track/track.h"

enum { SCAN_ROUNDS = 15 };

static bool fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static double scan_once(struct track *t)
{
	uint64_t from = cpu_now_ns();

	track_scan(t, clock_real.mono_ns(&clock_real));
	return (double)(cpu_now_ns() - from) / 1e3;
}

bool scan_measure(const pid_t *pids, size_t pids_len, struct scan_us *ret)
{
	struct figures idle = {0}, forked = {0};
	struct track_config config = {.follow = FOLLOW_TREE};
	struct track *track = NULL;
	struct world world;
	size_t i;
	bool ok;

	if (world_open(&world, NULL, NULL) != GALVO_OK)
		return false;
	config.world = &world;
	ok = track_create(&config, &track, NULL) == GALVO_OK;
	for (i = 0; i < pids_len && ok; i++)
		ok = track_add(track, (uint32_t)pids[i], NULL, STREAM_ALL,
		               FOLLOW_NONE, NULL) == GALVO_OK;
	if (ok)
		measure_sleep(SETTLE_NS);
	for (i = 0; i < SCAN_ROUNDS && ok; i++) {
		ok = fork_once();
		figures_put(&forked, scan_once(track));
		scan_once(track); /* what was new is looked at twice */
		figures_put(&idle, scan_once(track));
	}
	track_destroy(track);
	world_close(&world);
	*ret = (struct scan_us){figures_median(&idle), figures_median(&forked)};
	return ok;
}
