/* Whether the kernel tells of forks and exits: sockets are tried once, and what is in the way is kept. */
#include "kernel.h"

void kernel_begin(struct track *t)
{
	const struct world *w = t->config.world;
	struct kernel_events *k;

	if (t->kernel_was_tried)
		return;
	t->kernel_was_tried = true;
	if (!w->live || t->config.no_kernel_events) {
		snprintf(t->why_no_events, sizeof(t->why_no_events), "%s",
		         w->live ? "they were not wanted" : "the processes are not this machine's");
		return;
	}
	k = calloc(1, sizeof(*k));
	if (!k) {
		snprintf(t->why_no_events, sizeof(t->why_no_events), "out of memory");
		return;
	}
	k->exits_fd = -1;
	k->fd = t->config.events_fd > 0 ? t->config.events_fd
	                                : connector_open(w, &k->inbox, t->why_no_events);
	if (k->fd < 0) {
		free(k);
		return;
	}
	if (t->config.events_fd <= 0)
		k->exits_fd = taskstats_open(&k->inbox, &k->family, t->why_no_exits);
	exits_begin(t, k);
	t->kernel = k;
}
