/*
 * What the kernel's events mean for who is followed. A process that one of ours forks is a candidate:
 * what is still there at the next scan is admitted, what has ended before is counted on the nearest
 * ancestor that is followed. So nothing is missed, and only what lasts is dear.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

/*
 * News that are read in a second, a microsecond each. Where more of it comes for long, the kernel runs
 * out of room, says so, and scans walk.
 */
enum { NEWS_A_SECOND = 60000, NEWS_AT_ONCE = 20000 };
enum { CANDIDATES_MAX = 1 << 16, OVER_MAX = 1 << 12, NAMES_AT_ONCE = 32 };
#define GAP_MAX (1 << 24)
/* How often a walk is done all the same, where it is short. */
#define CHECK_EVERY_NS (NS_PER_S * 5)
enum { CHECK_FILES_MAX = 256 };

/* ---- candidates ---------------------------------------------------------------------------------- */

struct candidate *candidate_find(struct kernel_events *k, uint32_t pid)
{
	struct candidate *c = k->buckets[pid % BUCKETS];

	while (c && c->pid != pid)
		c = c->next;
	return c;
}

static void drop(struct track *t, struct candidate *c)
{
	struct kernel_events *k = t->kernel;
	struct candidate **at = &k->buckets[c->pid % BUCKETS];

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	*(c->older ? &c->older->newer : &k->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &k->newest) = c->older;
	if (c->anchor)
		track_unref(t, c->anchor);
	k->candidates_len--;
	k->over_len -= c->is_over;
	c->next = k->free_list;
	k->free_list = c;
}

/* It has lived, and is counted. */
static void count_short(struct track *t, struct candidate *c)
{
	struct tracked *parent = track_find(t, c->parent);
	struct tracked *to = parent ? parent : c->anchor;
	size_t i;

	if (!c->has_total)
		c->account = (struct exit_account){0};
	t->seen.short_children++;
	t->seen.late_children += c->was_put_off;
	t->seen.short_without_totals += !c->has_total;
	t->seen.short_used.cpu_ns += c->account.cpu_ns;
	if (to) {
		to->short_children++;
		to->short_cpu_ns += c->account.cpu_ns;
		for (i = 0; i < ARRAY_LEN(to->short_io) && c->account.has_io; i++)
			to->short_io[i] += c->account.io[i];
	}
	drop(t, c);
}

static void put_candidate(struct track *t, const struct news *n, enum follow follow,
                          struct tracked *anchor)
{
	struct kernel_events *k = t->kernel;
	struct candidate *c = candidate_find(k, n->tgid);

	if (c)
		count_short(t, c); /* its end was not told */
	c = k->free_list;
	if (c)
		k->free_list = c->next;
	else if (k->candidates_len < CANDIDATES_MAX)
		c = malloc(sizeof(*c));
	if (!c) {
		t->seen.lost++;
		t->must_walk = true;
		return;
	}
	*c = (struct candidate){.pid = n->tgid, .parent = n->parent, .follow = follow, .threads = 1,
	                        .born_mono_ns = n->mono_ns, .anchor = anchor, .older = k->newest};
	if (anchor)
		anchor->refs++;
	c->next = k->buckets[c->pid % BUCKETS];
	k->buckets[c->pid % BUCKETS] = c;
	*(k->newest ? &k->newest->newer : &k->oldest) = c;
	k->newest = c;
	k->candidates_len++;
}

/* ---- news ---------------------------------------------------------------------------------------- */

struct tracked *kernel_find_tracked(struct track *t, uint32_t pid)
{
	struct tracked *e = track_find(t, pid);
	size_t i;

	for (i = 0; !e && i < t->kernel->awaited_len; i++)
		if (t->kernel->awaited[i].who->info.pid == pid)
			e = t->kernel->awaited[i].who;
	return e;
}

static void take_fork(struct track *t, const struct news *n)
{
	struct kernel_events *k = t->kernel;
	struct candidate *c = candidate_find(k, n->tid == n->tgid ? n->parent : n->tgid);
	struct newcomer who = {.follow = c ? c->follow : FOLLOW_NONE};
	struct tracked *known, *parent;

	if (n->tid != n->tgid) {
		if (c)
			c->threads++;
		return;
	}
	parent = kernel_find_tracked(t, n->parent); /* which may have ended meanwhile */
	if (who.follow == FOLLOW_NONE && !(parent && track_child_of(t, parent, &who)) &&
	    !track_is_wanted(t, n->parent, &who))
		return;
	t->seen.forks++;
	k->has_unchecked = true;
	known = track_find(t, n->tgid);
	if (known && !track_has_exited(known)) {
		known->born_mono_ns = n->mono_ns; /* a walk found it before this was read */
		return;
	}
	put_candidate(t, n, who.follow, c ? c->anchor : parent);
}

static void take_exit(struct track *t, const struct news *n)
{
	struct kernel_events *k = t->kernel;
	struct candidate *c = candidate_find(k, n->tgid);
	struct tracked *e;

	k->exits_seen++;
	if (c && !c->is_over) {
		c->threads -= c->threads > 0;
		c->is_over = c->threads == 0;
		c->exit_status = n->code;
		c->exit_mono_ns = n->mono_ns;
		k->over_len += c->is_over;
		return;
	}
	e = kernel_find_tracked(t, n->tgid);
	if (!e)
		return;
	/* Of the last thread, as far as is known: the next one overrules it. */
	e->has_status = true;
	e->exit_status = n->code;
	e->exit_mono_ns = n->mono_ns;
}

static void take_exec(struct track *t, const struct news *n)
{
	struct tracked *e = track_find(t, n->tgid);

	/* A command's first exec is told by whoever started it: its name before was that one's. */
	if (!e || track_has_exited(e) ||
	    (e->info.root && n->mono_ns < e->info.first_mono_ns + NS_PER_S))
		return;
	if (t->kernel->named++ < NAMES_AT_ONCE)
		track_read_names(t, e, &t->text);
	else
		e->named_mono_ns = 0; /* it is its turn in the next scan */
}

static void lose(struct track *t, uint64_t n)
{
	if (!n)
		return;
	t->seen.lost += n;
	t->must_walk = true;
}

/* Numbers that are missing are events that were lost, unless the kernel has said so already. */
static void check_number(struct track *t, const struct news *n)
{
	struct kernel_events *k = t->kernel;
	uint32_t *next, missing;

	if (n->cpu >= CPUS_MAX)
		return;
	next = &k->next_seq[n->cpu];
	missing = *next ? n->seq - *next : 0;
	*next = n->seq + 1;
	if (missing > GAP_MAX)
		return; /* it began anew */
	if (missing <= k->excused) {
		k->excused -= missing;
		return;
	}
	lose(t, missing - k->excused);
	k->excused = 0;
}

static void take_news(struct track *t, struct span datagram)
{
	struct news n;

	if (!news_parse(datagram, &n))
		return;
	check_number(t, &n);
	if (n.kind == NEWS_FORK)
		take_fork(t, &n);
	else if (n.kind == NEWS_EXIT)
		take_exit(t, &n);
	else if (n.kind == NEWS_NAME)
		take_exec(t, &n);
}

/* ---- ends ---------------------------------------------------------------------------------------- */

/* All that the kernel had to say of it has been read. */
static void settle(struct track *t, struct tracked *e)
{
	if (e->exited_is_all)
		books_enter_exit(t, e, &e->exited);
	track_unref(t, e);
}

void kernel_tell(const struct tracked *e, struct process_end *end)
{
	const int status = (int)e->exit_status;

	if (end->has_status || !e->has_status || !e->is_closed)
		return;
	end->has_status = true;
	end->term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->exit_code = end->term_signal ? 128 + end->term_signal : WEXITSTATUS(status);
}

static void settle_awaited(struct track *t, bool all)
{
	struct kernel_events *k = t->kernel;
	size_t i, kept = 0;

	for (i = 0; i < k->awaited_len; i++) {
		if (all || k->reading - k->awaited[i].reading > 1)
			settle(t, k->awaited[i].who);
		else
			k->awaited[kept++] = k->awaited[i];
	}
	k->awaited_len = kept;
}

void kernel_has_ended(struct track *t, struct tracked *e)
{
	struct kernel_events *k = t->kernel;

	if (!k)
		return;
	if (k->awaited_len == AWAITED_MAX) {
		lose(t, 1); /* what it did at last may be in news that we cannot assign */
		return;
	}
	e->refs++;
	k->awaited[k->awaited_len++] = (struct awaited){e, k->reading};
}

void kernel_settle(struct track *t)
{
	if (t->kernel)
		settle_awaited(t, true);
}

/* More of them than a scan has any use for. */
static void count_over(struct track *t)
{
	struct candidate *c, *newer;

	for (c = t->kernel->oldest; c && t->kernel->over_len > OVER_MAX; c = newer) {
		newer = c->newer;
		if (c->is_over)
			count_short(t, c);
	}
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Since the last reading, and what was not used before, within reason. */
static uint64_t allowance(struct kernel_events *k, uint64_t mono_ns)
{
	uint64_t ago_ns = mono_ns - k->read_mono_ns;

	k->read_mono_ns = mono_ns;
	k->allowance += (ago_ns < NS_PER_S ? ago_ns : NS_PER_S) * NEWS_A_SECOND / NS_PER_S;
	return k->allowance = k->allowance < NEWS_AT_ONCE ? k->allowance : NEWS_AT_ONCE;
}

/* Returns how many came. */
static size_t read_news(struct track *t, struct kernel_events *k, uint64_t mono_ns)
{
	uint64_t lost, most = allowance(k, mono_ns);
	size_t taken = 0;
	int i, n = 0;

	while (taken < most && (taken == 0 || n == MESSAGES_AT_ONCE)) {
		n = inbox_take(&k->inbox, k->fd, &k->drops, &lost);
		if (n == 0 && lost == 0)
			break;
		pthread_mutex_lock(&t->lock);
		lose(t, lost);
		k->excused += lost;
		for (i = 0; i < n; i++)
			take_news(t, inbox_at(&k->inbox, i));
		pthread_mutex_unlock(&t->lock);
		taken += (size_t)n;
	}
	k->is_behind = taken >= most;
	k->allowance -= taken < most ? taken : most;
	return taken;
}

/* Where nothing has come, no lock is taken. */
void kernel_read(struct track *t, uint64_t mono_ns)
{
	struct kernel_events *k = t->kernel;
	size_t taken;

	if (!k || atomic_exchange(&k->is_reading, true))
		return;
	taken = read_news(t, k, mono_ns);
	/* Who ended has left its record before its news. */
	if (k->exits_fd >= 0 && (taken || k->pending_len))
		exits_read(t);
	if (taken || k->awaited_len || mono_ns - k->judged_mono_ns >= JUDGE_EVERY_NS) {
		pthread_mutex_lock(&t->lock);
		k->reading += !k->is_behind; /* there may be news of who ended long ago */
		k->named = 0;
		count_over(t);
		settle_awaited(t, false);
		exits_judge(t, mono_ns);
		pthread_mutex_unlock(&t->lock);
	}
	atomic_store(&k->is_reading, false);
}

/* ---- admission ----------------------------------------------------------------------------------- */

/* How it is to be followed: as its parent says, or its ancestor if that is gone. */
static struct newcomer newcomer_of(struct track *t, const struct candidate *c)
{
	struct newcomer who;

	if (!track_is_wanted(t, c->parent, &who))
		who = (struct newcomer){
			.streams = c->anchor ? atomic_load(&c->anchor->streams) : STREAM_ALL,
			.follow = c->follow,
		};
	who.pid = c->pid;
	return who;
}

static void is_followed(struct track *t, struct candidate *c, struct tracked *e)
{
	e->born_mono_ns = c->born_mono_ns;
	e->exited = c->account; /* of threads that have ended already */
	e->exited_is_all = c->has_total;
	e->has_status = c->is_over;
	e->exit_status = c->exit_status;
	e->exit_mono_ns = c->exit_mono_ns;
	drop(t, c);
}

static void admit(struct track *t, struct candidate *c, uint64_t mono_ns)
{
	struct newcomer who = newcomer_of(t, c);
	struct tracked *e = track_find(t, c->pid);
	uint64_t born_mono_ns = c->born_mono_ns;
	galvo_status status = GALVO_OK;

	if (e && track_has_exited(e)) {
		track_end(t, e, true); /* the number's last owner, of whose end we hear only now */
		e = NULL;
	}
	if (!e) {
		status = track_admit_child(t, &who, mono_ns);
		e = track_find(t, who.pid);
		/* While its files were read others may have read news of it. */
		c = candidate_find(t->kernel, who.pid);
		if (!c || c->born_mono_ns != born_mono_ns)
			return;
	}
	if (e)
		is_followed(t, c, e);
	else if (status != GALVO_ERR_ABSENT && status != GALVO_ERR_STATE)
		drop(t, c); /* let go of by hand, or refused */
	else if (c->is_over || (status == GALVO_ERR_ABSENT && c->was_missed))
		count_short(t, c);
	else if (status == GALVO_ERR_STATE)
		c->was_put_off = true; /* no time, or it was amid an exec */
	else
		c->was_missed = true; /* the news of its end are on their way, unless they were lost */
}

static void put_off(struct track *t, struct candidate *c)
{
	t->seen.put_off += !c->was_put_off;
	c->was_put_off = true;
	t->is_behind = true;
}

/*
 * The oldest first, so that parents come before their children. Of those that have ended a zombie can
 * still be read, which is worth what time there is left.
 */
static void admit_candidates(struct track *t, bool over, uint64_t mono_ns)
{
	struct candidate *c;
	size_t i, n = 0;

	/* By number, as some may be gone when it is their turn. */
	for (c = t->kernel->oldest; c; c = c->newer)
		if (c->is_over == over && grow_array((void **)&t->turns, &t->turns_cap, n, sizeof(*t->turns),
		                                     CANDIDATES_MAX))
			t->turns[n++] = c->pid;
	for (i = 0; i < n; i++) {
		c = candidate_find(t->kernel, t->turns[i]);
		if (!c || c->is_over != over)
			continue;
		if (t->admits_all || t->admit_left_ns)
			admit(t, c, mono_ns);
		else if (over)
			count_short(t, c);
		else
			put_off(t, c);
	}
}

bool kernel_look(struct track *t, uint64_t mono_ns)
{
	struct kernel_events *k = t->kernel;

	if (!k)
		return false;
	admit_candidates(t, false, mono_ns);
	admit_candidates(t, true, mono_ns);
	t->must_walk |= k->has_unchecked && t->asked <= CHECK_FILES_MAX &&
	                mono_ns - t->walked_mono_ns >= CHECK_EVERY_NS;
	if (t->must_walk) {
		t->must_walk = k->has_unchecked = false;
		t->walked_mono_ns = mono_ns;
		track_walk(t, mono_ns);
	}
	return true;
}

/* ---- the end of it --------------------------------------------------------------------------------- */

/* Of everybody, and entries of ended ones go with the track. */
void kernel_finish(struct track *t)
{
	struct kernel_events *k = t->kernel;
	struct candidate *c;

	if (!k)
		return;
	settle_awaited(t, true);
	while (k->oldest)
		drop(t, k->oldest);
	while ((c = k->free_list)) {
		k->free_list = c->next;
		free(c);
	}
	if (t->config.events_fd <= 0)
		connector_close(k->fd);
	if (k->exits_fd >= 0)
		close(k->exits_fd);
	free(k);
	t->kernel = NULL;
}
