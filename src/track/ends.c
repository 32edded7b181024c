/* How processes end: a last look at zombies, and who waits for them; how their books begin. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum { FDS_WITH_IO = TRACK_FDS_PER_PROCESS + 2 };

/* ---- the end ------------------------------------------------------------------------------------- */

/* A pidfd knows its process until somebody has waited for it. */
static bool is_there(const struct tracked *e)
{
	return e->pidfd >= 0 &&
	       (syscall(SYS_pidfd_send_signal, e->pidfd, 0, NULL, 0) == 0 || errno == EPERM);
}

/* Descriptors of files below proc/PID outlive the right to open them. */
static galvo_status read_last(struct track *t, const struct tracked *e, const char *name,
                              struct span *ret_text)
{
	char path[TRACK_PATH_BYTES];
	int dir_fd = track_path(t->config.world, e, name, path);
	int fd = !strcmp(name, "io") ? e->io_fd[0] : !strcmp(name, "task/%u/io") ? e->io_fd[1] : -1;
	struct kept kept = {.fd = fd_keep(fcntl(fd, F_DUPFD_CLOEXEC, 0))}; /* a failure closes it */
	galvo_status status;

	if (kept.fd < 0)
		return file_read(dir_fd, path, &t->text, ret_text, NULL);
	status = kept_read(&kept, dir_fd, path, 0, FILE_RECORD, &t->text, ret_text, NULL);
	kept_close(&kept);
	return status;
}

/* One source's view of a zombie. It waits for nobody any more, so that what is read is consistent. */
static void close_source(struct track *t, struct tracked *e, const struct source *source)
{
	const struct world *w = t->config.world;
	struct raw_only_sink to = {.sink.row = raw_only_row};
	struct span text;
	uint64_t ns;
	size_t i;

	raw_clear(&to.raw);
	for (i = 0; i < source->texts_len; i++)
		if (source->texts[i].accounts &&
		    read_last(t, e, source->texts[i].path, &text) == GALVO_OK)
			source->texts[i].parse(text, w, &to.sink, NULL);
	if (source->cpu_clock_field >= 0 && process_clock_read(e->info.pid, &ns) == 0 && is_there(e))
		raw_put(&to.raw, (unsigned)source->cpu_clock_field, ns);
	if (source->settle)
		source->settle(&e->settled, &to.raw, true);
	books_enter_last(t, e, source, &to.raw);
}

/* Its parent may have ended first; then it went to another one. False: it is gone already. */
static bool find_reaper(struct track *t, struct tracked *e)
{
	struct process_stat stat;

	if (track_read_stat(t->config.world, e, &t->text, &stat, NULL) != GALVO_OK || stat.state == 'X')
		return false;
	books_move(t, e, stat.ppid);
	track_take_name(t, e, stat.comm);
	return true;
}

static void keep_zombie(struct track *t, struct tracked *e)
{
	if (!grow_array((void **)&t->zombies, &t->zombies_cap, t->zombies_len, sizeof(*t->zombies),
	                MAX_PROCESSES))
		return;
	e->refs++;
	t->zombies[t->zombies_len++] = e;
}

/* Only a zombie has a pidfd that is ready and yet is there. */
static bool close_account(struct track *t, struct tracked *e)
{
	size_t i;

	if (!e->is_closed && t->config.world->live && is_there(e) && find_reaper(t, e)) {
		for (i = 0; i < source_table_len; i++)
			if (source_table[i]->accounts_len)
				close_source(t, e, source_table[i]);
		books_finish(t, e);
		e->is_closed = true;
	} else if (!e->is_closed && e->parent) {
		uint64_t parent_end_mono_ns = atomic_load(&e->parent->end_mono_ns);

		/* Whoever was left without a parent before went to one we do not follow. */
		if (parent_end_mono_ns && parent_end_mono_ns < t->polled_mono_ns)
			books_set_parent(t, e, NULL);
	}
	return e->is_closed && is_there(e);
}

static bool read_mark(struct track *t, const struct tracked *e, uint64_t *ret)
{
	struct raw_only_sink to = {.sink.row = raw_only_row};
	char path[TRACK_PATH_BYTES];
	struct span text;
	size_t i;

	raw_clear(&to.raw);
	for (i = 0; i < source_table_len; i++) {
		const struct source *source = source_table[i];
		const struct source_text *first = source->texts;

		if (!source->settle ||
		    file_read(track_path(t->config.world, e, first->path, path), path, &t->text, &text,
		              NULL) != GALVO_OK ||
		    first->parse(text, t->config.world, &to.sink, NULL) != GALVO_OK ||
		    !(to.raw.present & FIELD(source->mark_field)))
			continue;
		*ret = to.raw.value[source->mark_field];
		return true;
	}
	return false;
}

/*
 * It is gone already, and its parent has waited for nobody since it was alive: that ignores SIGCHLD,
 * or wants no zombies (SA_NOCLDWAIT).
 */
static bool is_lost(struct track *t, const struct tracked *e)
{
	const struct tracked *parent = e->parent;
	uint64_t mark;
	size_t i;

	/* While it is there, somebody may be about to add it to the parent's account. */
	if (!parent || atomic_load(&parent->end_mono_ns) || atomic_load(&parent->in_exec) || is_there(e))
		return false;
	for (i = 0; i < ARRAY_LEN(parent->mark); i++)
		if (parent->mark[i].mono_ns && parent->mark[i].mono_ns <= t->alive_mono_ns)
			return read_mark(t, parent, &mark) && mark == parent->mark[i].value;
	return false;
}

/* Those that were waited for meanwhile: all, or those of one parent. */
static void settle_zombies(struct track *t, const struct tracked *parent)
{
	size_t i, kept = 0;

	for (i = 0; i < t->zombies_len; i++) {
		struct tracked *e = t->zombies[i];
		bool is_meant = !parent || e->parent == parent;

		if (!is_meant || (!e->is_settled && is_there(e))) {
			if (is_meant)
				find_reaper(t, e);
			t->zombies[kept++] = e;
			continue;
		}
		books_settle(t, e, false);
		track_let_files_go(t, e);
		track_unref(t, e);
	}
	t->zombies_len = kept;
}

void books_settle_zombies(struct track *t)
{
	settle_zombies(t, NULL);
}

void books_close(struct track *t, struct tracked *e)
{
	bool is_zombie = close_account(t, e);

	e->is_closed = true;
	settle_zombies(t, e); /* whoever tells of it now tells of them */
	if (e->exited_is_all)
		books_enter_exit(t, e, &e->exited);
	if (is_zombie)
		keep_zombie(t, e);
	else
		books_settle(t, e, is_lost(t, e));
}

bool books_has_ended(const struct track *t, const struct tracked *e)
{
	size_t i;

	for (i = 0; i < t->zombies_len; i++)
		if (t->zombies[i]->info.pid == e->info.pid &&
		    t->zombies[i]->info.start_ticks == e->info.start_ticks)
			return true;
	return false;
}

/* ---- our own children ---------------------------------------------------------------------------- */

struct tracked *books_find_zombie(struct track *t, uint32_t pid)
{
	size_t i;

	for (i = 0; i < t->zombies_len; i++) {
		struct tracked *e = t->zombies[i];

		/* Others of that number may have been before it. */
		if (e->info.pid == pid && !e->is_settled && is_there(e))
			return e;
	}
	return NULL;
}

/* Living as far as we know, or a zombie. */
static struct tracked *find_child(struct track *t, uint32_t pid)
{
	struct tracked *e = track_find(t, pid);

	return e ? e : books_find_zombie(t, pid);
}

struct tracked *track_close(struct track *t, uint32_t pid)
{
	const struct clock *clock = t->config.world->clock;
	struct newcomer who;
	struct tracked *e;

	if (!track_lock_soon(t))
		return NULL;
	track_notice(t); /* those that it has waited for ended before it, and are its children still */
	/* An orphan of the tree, too short-lived to be found before. */
	if (!find_child(t, pid) && t->config.adopter_pid && track_child_of(t, NULL, &who)) {
		who.pid = pid;
		who.at_once = true;
		track_admit_child(t, &who, clock->mono_ns(clock));
	}
	e = find_child(t, pid);
	if (e) {
		e->refs++;
		track_end(t, e, true);
	}
	pthread_mutex_unlock(&t->lock);
	return e;
}

void track_reaped(struct track *t, struct tracked *e, const struct process_end *end)
{
	if (!e || !track_lock_soon(t))
		return;
	if (end) {
		e->info.end = *end;
		books_enter_wait(e, end);
		e->is_settled = true; /* it was ours: nobody that we follow took it over */
		track_let_files_go(t, e);
	}
	track_unref(t, e);
	pthread_mutex_unlock(&t->lock);
}

/* ---- the beginning ------------------------------------------------------------------------------- */

/* What identifies processes comes first. */
static bool has_room_for_io(const struct track *t)
{
	return (t->alive + 1) * FDS_WITH_IO <= t->fds.max;
}

void books_open(struct track *t, struct tracked *e)
{
	const struct world *w = t->config.world;
	char path[TRACK_PATH_BYTES];
	int dir_fd;

	e->is_born = e->info.start_ticks >= t->start_ticks ||
	             (t->config.adopter_pid && e->info.ppid == t->config.adopter_pid);
	books_set_parent(t, e, track_find(t, e->info.ppid));
	if (!t->keeps_io || !w->live || !has_room_for_io(t))
		return;
	dir_fd = track_path(w, e, "io", path);
	e->io_fd[0] = file_open(dir_fd, path, O_RDONLY);
	dir_fd = track_path(w, e, "task/%u/io", path);
	e->io_fd[1] = file_open(dir_fd, path, O_RDONLY);
	track_count_files(t, (size_t)(e->io_fd[0] >= 0) + (e->io_fd[1] >= 0));
}
