/* Ticks by hand for the count of instructions: ticks N, the default system and disk ticks. */
#include <sys/socket.h>
#include <unistd.h>

#include "children.h"
#include "rig.h"

enum { PROCESSES = 3, TICKS_TO_FLUSH = 500, TICKS_MAX = 100000 };
#define NEVER_NS (3600 * NS_PER_S)

int main(int argc, char **argv)
{
	struct rig_config config = {
		.hz = 100,
		.flush_interval_ns = NEVER_NS,
		.follow = FOLLOW_TREE,
	};
	struct children children;
	galvo_error error = {0};
	struct rig rig;
	uint64_t ticks, i;
	int quiet[2];

	if (argc != 2 || !span_to_u64(span_str(argv[1]), &ticks) || ticks > TICKS_MAX) {
		fprintf(stderr, "usage: ticks N\n");
		return 2;
	}
	if (!children_start(&children, PROCESSES, 1))
		return 1;
	config.pids = children.pids;
	config.pids_len = children.len;
	/* What others fork meanwhile is nothing that can be counted: no event ever comes. */
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, quiet) != 0)
		return 1;
	config.events_fd = quiet[0];
	if (rig_open(&rig, &config, &error) != GALVO_OK) {
		fprintf(stderr, "ticks: %s\n", error.text);
		children_stop(&children);
		return 1;
	}
	for (i = 1; i <= ticks; i++) {
		rig_tick_full(&rig);
		if (i % TICKS_TO_FLUSH == 0)
			rig_flush(&rig);
	}
	rig_close(&rig);
	close(quiet[0]);
	close(quiet[1]);
	children_stop(&children);
	return 0;
}
