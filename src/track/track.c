/* The door: following begins and ends, scans, handing over to samplers. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"

/*
 * What is new may take this part of the time between scans, as it is the dear part, and there may be any
 * number of them; and so long at once after a while without.
 */
enum { ADMIT_SHARE = 20 };
#define ADMIT_MOST_NS (10 * NS_PER_MS)

/* Half of the descriptors this process may have. */
static size_t affordable_fds(void)
{
	struct rlimit limit = {.rlim_cur = 1024};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX / 2 : limit.rlim_cur / 2;
}

/* Each is known by a pidfd and a directory; files that are kept open come second. */
static size_t affordable_processes(const struct fd_budget *b)
{
	size_t n = b->max / TRACK_FDS_PER_PROCESS;

	return n < FEWEST_PROCESSES ? FEWEST_PROCESSES : n > MAX_PROCESSES ? MAX_PROCESSES : n;
}

galvo_status track_create(const struct track_config *config, struct track **ret_track,
                          galvo_error *reterr)
{
	const struct clock *clock = config->world->clock;
	struct track *t = calloc(1, sizeof(*t));

	if (!t)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	t->config = *config;
	t->config.streams = config->streams ? config->streams : STREAM_ALL;
	t->follows = config->follow == FOLLOW_CHILDREN || config->follow == FOLLOW_TREE;
	t->follows_tree = config->follow == FOLLOW_TREE;
	t->fds.max = config->max_fds ? config->max_fds : affordable_fds();
	t->max = config->max_processes ? config->max_processes : affordable_processes(&t->fds);
	t->start_ticks = clock->boot_ns(clock) / (NS_PER_S / config->world->clk_tck);
	t->keeps_io = geteuid() != 0;
	t->epoll_fd = fd_keep(epoll_create1(EPOLL_CLOEXEC));
	t->loadavg = KEPT_NONE;
	buf_init(&t->text, MAX_TEXT);
	buf_init(&t->children, MAX_TEXT);
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->counted_lock, NULL);
	/* Without it, ends are noticed when files of the process are gone. */
	if (config->adopter_pid) {
		if (t->follows_tree)
			kernel_begin(t);
		track_ignore_children(t, config->adopter_pid);
	}
	*ret_track = t;
	return GALVO_OK;
}

void track_destroy(struct track *t)
{
	struct tracked *e, *next;
	size_t i;

	if (!t)
		return;
	kernel_finish(t);
	for (i = 0; i < t->len; i++)
		track_drop_files(t, t->list[i]);
	for (i = 0; i < t->len; i++)
		free(t->list[i]);
	for (e = t->free_list; e; e = next) {
		next = e->next;
		free(e);
	}
	kept_close(&t->loadavg);
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	buf_finish(&t->text);
	buf_finish(&t->children);
	free(t->strangers);
	free(t->turns);
	free(t->zombies);
	free(t->untold);
	free(t->refused);
	free(t->ignored);
	free(t->list);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->counted_lock);
	free(t);
}

/* ---- the door ------------------------------------------------------------------------------------ */

galvo_status track_add(struct track *t, uint32_t pid, const char *alias, uint32_t streams,
                       enum follow follow, galvo_error *reterr)
{
	const struct clock *clock = t->config.world->clock;
	galvo_status status = GALVO_OK;
	struct tracked *e;

	pid = pid ? pid : (uint32_t)getpid();
	follow = follow == FOLLOW_NONE ? t->config.follow : follow == FOLLOW_SELF ? FOLLOW_NONE : follow;
	pthread_mutex_lock(&t->lock);
	if (follow != FOLLOW_NONE)
		kernel_begin(t);
	while (!(e = track_find(t, pid))) {
		status = track_admit(t, &(struct newcomer){.pid = pid, .streams = streams, .follow = follow,
		                                           .is_root = true, .alias = alias},
		                     clock->mono_ns(clock), reterr);
		if (status != GALVO_DONE)
			break;
	}
	if (e) {
		track_set_follow(t, e, e->info.root ? follow : follow > e->follow ? follow : e->follow);
		t->roots_alive += !e->info.root;
		e->info.root = true;
		if (alias)
			utf8_copy(e->info.alias, sizeof(e->info.alias), span_str(alias));
		e->denied &= ~streams;
		track_widen(t, e, streams);
		status = GALVO_OK;
	}
	t->must_walk = true; /* it may have children already */
	pthread_mutex_unlock(&t->lock);
	return status;
}

galvo_status track_remove(struct track *t, uint32_t pid, uint32_t streams, galvo_error *reterr)
{
	bool is_followed;
	struct tracked *e;

	pid = pid ? pid : (uint32_t)getpid();
	pthread_mutex_lock(&t->lock);
	e = track_find(t, pid);
	is_followed = e && atomic_load(&e->streams) & streams;
	if (is_followed) {
		e->denied |= streams;
		atomic_fetch_and(&e->streams, ~streams);
		atomic_fetch_add(&t->generation, 1);
		if (!(atomic_load(&e->streams) & t->config.streams)) {
			track_ignore(t, pid, e->info.start_ticks); /* a scan does not bring it back */
			track_end(t, e, false);
		}
	}
	pthread_mutex_unlock(&t->lock);
	return is_followed ? GALVO_OK
	                   : err_set(reterr, GALVO_ERR_ABSENT, "process %u is not followed", pid);
}

void track_notice(struct track *t)
{
	const struct clock *clock = t->config.world->clock;
	uint64_t mono_ns = clock->mono_ns(clock);
	struct epoll_event events[32];
	int i, n;

	t->alive_mono_ns = atomic_load(&t->quiet_mono_ns);
	t->polled_mono_ns = mono_ns;
	do {
		n = epoll_wait(t->epoll_fd, events, (int)ARRAY_LEN(events), 0);
		for (i = 0; i < n; i++) {
			struct tracked *e = events[i].data.ptr;

			if (!track_has_exited(e))
				continue;
			epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, e->pidfd, NULL);
			track_end(t, e, true);
		}
	} while (n == (int)ARRAY_LEN(events));
	atomic_store(&t->quiet_mono_ns, mono_ns);
}

void track_poll(struct track *t)
{
	const struct clock *clock = t->config.world->clock;
	uint64_t mono_ns = clock->mono_ns(clock);
	struct epoll_event event;

	kernel_read(t, mono_ns); /* before ends are noticed, most of which it explains */
	if (epoll_wait(t->epoll_fd, &event, 1, 0) <= 0) {
		atomic_store(&t->quiet_mono_ns, mono_ns);
		return;
	}
	pthread_mutex_lock(&t->lock);
	track_notice(t);
	pthread_mutex_unlock(&t->lock);
}

uint64_t track_generation(const struct track *t)
{
	return atomic_load_explicit(&t->generation, memory_order_acquire);
}

/* Of the processes that have ended, those that all have been told of. */
static void drop_told(struct track *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->untold_len; i++) {
		struct tracked *e = t->untold[i];

		if (track_is_untold(t, e))
			t->untold[kept++] = e;
		else
			track_unref(t, e);
	}
	t->untold_len = kept;
}

void track_join(struct track *t, enum stream_kind stream, uint64_t *cursor,
                bool (*take)(void *ctx, struct tracked *), void *ctx)
{
	size_t i;

	pthread_mutex_lock(&t->lock);
	for (i = t->len; i > 0 && t->list[i - 1]->serial > *cursor; i--)
		;
	for (; i < t->len; i++) {
		struct tracked *e = t->list[i];

		bool is_alive = atomic_load(&e->end_mono_ns) == 0;

		if ((is_alive || track_is_untold(t, e)) && take(ctx, e)) {
			e->refs++;
			e->readers += is_alive;
		}
		e->offered |= STREAM_BIT(stream);
	}
	*cursor = t->last_serial;
	drop_told(t);
	pthread_mutex_unlock(&t->lock);
}

void track_part(struct track *t, struct tracked *e)
{
	pthread_mutex_lock(&t->lock);
	e->readers--;
	track_let_files_go(t, e);
	pthread_mutex_unlock(&t->lock);
}

void track_release(struct track *t, struct tracked *e)
{
	pthread_mutex_lock(&t->lock);
	track_unref(t, e);
	pthread_mutex_unlock(&t->lock);
}

void track_gone(struct track *t, struct tracked *e)
{
	pthread_mutex_lock(&t->lock);
	track_notice(t);
	track_end(t, e, true);
	pthread_mutex_unlock(&t->lock);
}

void track_info(struct track *t, struct tracked *e, struct process_info *ret)
{
	pthread_mutex_lock(&t->lock);
	*ret = e->info;
	books_tell(e, ret->usage);
	e->is_told |= atomic_load(&e->end_mono_ns) != 0;
	kernel_tell(e, &ret->end);
	pthread_mutex_unlock(&t->lock);
	ret->end_mono_ns = atomic_load(&e->end_mono_ns);
	ret->removed = ret->end_mono_ns != 0;
}

bool track_lock_soon(struct track *t)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	return pthread_mutex_timedlock(&t->lock, &until) == 0;
}

void track_count(struct track *t, struct track_counts *ret)
{
	if (!track_lock_soon(t)) {
		pthread_mutex_lock(&t->counted_lock);
		*ret = t->counted;
		pthread_mutex_unlock(&t->counted_lock);
		return;
	}
	*ret = (struct track_counts){
		.alive = t->alive,
		.roots_alive = t->roots_alive,
		.refused = t->refused_len,
		.refused_are_more = t->refused_are_more,
		.way = !t->follows ? WAY_NONE
		       : t->kernel ? WAY_EVENTS
		       : t->last_fork ? WAY_NUMBERS : WAY_FILES,
		.why_no_events = t->why_no_events,
		.forks = t->seen.forks,
		.short_children = t->seen.short_children,
		.late_children = t->seen.late_children,
		.short_without_totals = t->seen.short_without_totals,
		.short_cpu_ns = t->seen.short_used.cpu_ns,
		.put_off = t->seen.put_off,
		.lost_events = t->seen.lost,
		.longest_scan_ns = t->seen.longest_scan_ns,
	};
	pthread_mutex_lock(&t->counted_lock);
	t->counted = *ret;
	pthread_mutex_unlock(&t->counted_lock);
	pthread_mutex_unlock(&t->lock);
}

struct fd_budget *track_fds(struct track *t)
{
	return &t->fds;
}

static void begin_scan(struct track *t, uint64_t mono_ns, bool is_whole)
{
	bool is_first = t->scanned_mono_ns == 0;
	uint64_t ago_ns = is_first ? 0 : mono_ns - t->scanned_mono_ns;

	if (ago_ns > t->seen.longest_scan_ns)
		t->seen.longest_scan_ns = ago_ns;
	t->scanned_mono_ns = mono_ns;
	t->admits_all = is_whole || is_first;
	t->is_behind = false;
	/* At least one, or a scan that comes too soon after the last one would be for nothing. */
	t->admit_left_ns += 1 + ago_ns / ADMIT_SHARE;
	if (is_first || t->admit_left_ns > ADMIT_MOST_NS)
		t->admit_left_ns = ADMIT_MOST_NS;
}

static void scan(struct track *t, uint64_t mono_ns, bool is_whole)
{
	kernel_read(t, mono_ns);
	pthread_mutex_lock(&t->lock);
	begin_scan(t, mono_ns, is_whole);
	track_notice(t); /* or who has the number of one that has ended is taken for it */
	books_settle_zombies(t);
	track_renew_names(t, mono_ns, is_whole);
	if (t->follows)
		track_look(t, mono_ns, is_whole);
	if (is_whole)
		kernel_settle(t);
	pthread_mutex_unlock(&t->lock);
}

bool track_is_behind(const struct track *t)
{
	return t->is_behind;
}

void track_scan(struct track *t, uint64_t mono_ns)
{
	scan(t, mono_ns, false);
}

void track_scan_whole(struct track *t, uint64_t mono_ns)
{
	scan(t, mono_ns, true);
}
