/* The set of followed processes, under the lock: finding, publishing, ending, recycling. */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

static void drop_file(struct track *t, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	fd_budget_put(&t->fds, 1);
	t->own_fds--;
	*fd = -1;
}

void track_let_files_go(struct track *t, struct tracked *e)
{
	/* A zombie is looked at until somebody has waited for it. */
	bool is_zombie = e->is_closed && !e->is_settled;

	if (!atomic_load(&e->end_mono_ns) || e->readers || is_zombie)
		return;
	track_drop_files(t, e);
	t->must_walk |= t->has_refused; /* there is room for others now */
}

void track_drop_files(struct track *t, struct tracked *e)
{
	/* Closing it is not enough: a child that the program forked may have it, too. */
	if (e->pidfd >= 0 && t->epoll_fd >= 0)
		epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, e->pidfd, NULL);
	drop_file(t, &e->pidfd);
	drop_file(t, &e->dir_fd);
	drop_file(t, &e->io_fd[0]);
	drop_file(t, &e->io_fd[1]);
}

struct tracked *track_find(struct track *t, uint32_t pid)
{
	struct tracked *e = t->buckets[pid % BUCKETS];

	while (e && e->info.pid != pid)
		e = e->next;
	return e;
}

static void index_drop(struct track *t, struct tracked *e)
{
	struct tracked **at = &t->buckets[e->info.pid % BUCKETS];

	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		*at = e->next;
}

void track_recycle(struct track *t, struct tracked *e)
{
	track_drop_files(t, e);
	e->next = t->free_list;
	t->free_list = e;
}

static void list_drop(struct track *t, struct tracked *e)
{
	size_t i;

	for (i = 0; i < t->len && t->list[i] != e; i++)
		;
	if (i == t->len)
		return;
	memmove(t->list + i, t->list + i + 1, (t->len - i - 1) * sizeof(*t->list));
	t->len--;
}

void track_unref(struct track *t, struct tracked *e)
{
	struct tracked *parent;

	for (; e && --e->refs == 0; e = parent) {
		parent = e->parent;
		list_drop(t, e);
		track_recycle(t, e);
	}
}

bool track_is_untold(const struct track *t, const struct tracked *e)
{
	return atomic_load(&e->streams) & t->config.streams & ~e->offered;
}

/* What its parent's account takes for known has to be told. */
static void keep_untold(struct track *t, struct tracked *e)
{
	if (!track_is_untold(t, e) || !grow_array((void **)&t->untold, &t->untold_cap, t->untold_len,
	                                          sizeof(*t->untold), MAX_PROCESSES))
		return;
	e->refs++;
	t->untold[t->untold_len++] = e;
}

/* The process has ended, or is let go: it leaves when the last sampler has released it. */
void track_end(struct track *t, struct tracked *e, bool has_exited)
{
	const struct clock *clock = t->config.world->clock;
	uint64_t mono_ns;

	if (atomic_load(&e->end_mono_ns))
		return;
	/* Whoever makes a row of it now finds the mark, or has taken its instant before ours. */
	atomic_store(&e->end_mono_ns, 1);
	mono_ns = clock->mono_ns(clock);
	atomic_store(&e->end_mono_ns, mono_ns ? mono_ns : 1);
	if (has_exited) {
		books_close(t, e);
		keep_untold(t, e);
	}
	index_drop(t, e);
	t->alive--;
	t->roots_alive -= e->info.root;
	if (!t->config.world->live || t->has_refused)
		t->must_walk = true; /* there is room for others now */
	if (e->info.pid == t->last_fork)
		t->must_walk = true; /* the number may be given out again, which would look like nothing new */
	atomic_fetch_add(&t->generation, 1);
	kernel_has_ended(t, e);
	track_let_files_go(t, e);
	track_unref(t, e);
}

bool track_is_full(const struct track *t)
{
	return t->alive >= t->max ||
	       (t->alive >= FEWEST_PROCESSES && t->own_fds + TRACK_FDS_PER_PROCESS > t->fds.max);
}

bool track_make_room(struct track *t)
{
	return grow_array((void **)&t->list, &t->cap, t->len, sizeof(*t->list),
	                  (size_t)MAX_PROCESSES * 2);
}

struct tracked *track_new_entry(struct track *t)
{
	struct tracked *e = t->free_list;

	if (track_is_full(t) || !track_make_room(t))
		return NULL;
	if (e)
		t->free_list = e->next;
	else
		e = malloc(sizeof(*e));
	if (e)
		*e = (struct tracked){.dir_fd = -1, .pidfd = -1, .io_fd = {-1, -1}, .refs = 1};
	return e;
}

void track_publish(struct track *t, struct tracked *e)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = e};

	e->serial = ++t->last_serial;
	e->next = t->buckets[e->info.pid % BUCKETS];
	t->buckets[e->info.pid % BUCKETS] = e;
	t->list[t->len++] = e;
	t->alive++;
	t->roots_alive += e->info.root;
	if (e->pidfd >= 0 && epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, e->pidfd, &event) != 0)
		drop_file(t, &e->pidfd);
	atomic_fetch_add(&t->generation, 1);
}

void track_widen(struct track *t, struct tracked *e, uint32_t streams)
{
	uint32_t all = atomic_load(&e->streams) | (streams & ~e->denied);

	if (all == atomic_load(&e->streams))
		return;
	atomic_store(&e->streams, all);
	t->must_walk = true; /* its children are for them, too */
	/* To the end of the list with a new serial: samplers that do not have it look at it again. */
	list_drop(t, e);
	e->serial = ++t->last_serial;
	t->list[t->len++] = e;
	atomic_fetch_add(&t->generation, 1);
}

void track_set_follow(struct track *t, struct tracked *e, enum follow follow)
{
	e->follow = follow;
	t->follows |= follow != FOLLOW_NONE;
	t->follows_tree |= follow == FOLLOW_TREE;
}

bool track_has_exited(const struct tracked *e)
{
	struct pollfd p = {.fd = e->pidfd, .events = POLLIN};

	return e->pidfd >= 0 && poll(&p, 1, 0) == 1;
}
