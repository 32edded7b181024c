/* Who a process is, and whether it joins the set: files opened, start time read, names. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum { REFUSED_MAX = 4096 };

/* The pidfd, which only a process has, and the directory. */
static galvo_status open_process(const struct track *t, struct tracked *e, galvo_error *reterr)
{
	const struct world *w = t->config.world;
	const uint32_t pid = e->info.pid;
	char path[TRACK_PATH_BYTES];

	e->pidfd = fd_keep((int)syscall(SYS_pidfd_open, pid, 0));
	/* Not for threads, on old kernels, and in some sandboxes: what it is, files will tell. */
	if (e->pidfd < 0 && (errno == ESRCH || errno == EMFILE || errno == ENFILE))
		return err_sys(reterr, errno, "process %u", pid);
	snprintf(path, sizeof(path), "proc/%u", pid);
	e->dir_fd = file_open(w->root_fd, path, O_RDONLY | O_DIRECTORY);
	if (e->dir_fd < 0)
		return err_sys(reterr, errno == ENOENT ? ESRCH : errno, "process %u", pid);
	return GALVO_OK;
}

/* Threads have a place in proc too, though it is not listed. */
static galvo_status check_is_process(const struct track *t, const struct tracked *e, struct buf *into,
                                     galvo_error *reterr)
{
	char path[TRACK_PATH_BYTES];
	struct span text, line, word;
	uint64_t leader;

	if (e->pidfd >= 0 || !t->config.world->live)
		return GALVO_OK;
	/* A thread that is gone by now would never be noticed to end. */
	if (file_read(track_path(t->config.world, e, "status", path), path, into, &text, NULL) !=
	    GALVO_OK || text.n == 0)
		return err_sys(reterr, ESRCH, "process %u", e->info.pid);
	while (span_take_line(&text, &line))
		if (span_take_word(&line, &word) && span_eq_str(word, "Tgid:") &&
		    span_to_u64(span_trim(line), &leader) && leader != e->info.pid)
			return err_set(reterr, GALVO_ERR_INVALID, "%u is a thread of process %u", e->info.pid,
			               (unsigned)leader);
	return GALVO_OK;
}

static bool is_in_exec(const struct world *w, const struct tracked *e, struct buf *into)
{
	char path[TRACK_PATH_BYTES];
	struct span text;

	return file_read(track_path(w, e, "statm", path), path, into, &text, NULL) == GALVO_OK &&
	       process_is_in_exec(text);
}

/*
 * Opens and identifies the process. The pidfd comes first: if it still says alive after the start
 * time was read through the directory, directory and pidfd are of one process. STATE: it is amid an exec,
 * as is to be expected of who is new, and would be waited for.
 */
static galvo_status identify(const struct track *t, struct tracked *e, bool may_wait, struct buf *into,
                             galvo_error *reterr)
{
	const struct world *w = t->config.world;
	const uint32_t pid = e->info.pid;
	struct process_stat stat;
	galvo_status status;

	status = w->live ? open_process(t, e, reterr) : GALVO_OK;
	if (status != GALVO_OK)
		return status;
	if (!track_read_names(t, e, into) && !may_wait && is_in_exec(w, e, into))
		return GALVO_ERR_STATE;
	status = track_read_stat(w, e, into, &stat, reterr);
	if (status == GALVO_OK && stat.state == 'X')
		status = err_sys(reterr, ESRCH, "process %u", pid);
	if (status != GALVO_OK) {
		if (status == GALVO_ERR_ABSENT)
			return err_sys(reterr, ESRCH, "process %u", pid);
		err_wrap(reterr, "process %u", pid);
		return status;
	}
	e->info.ppid = stat.ppid;
	e->info.start_ticks = stat.start_ticks;
	return check_is_process(t, e, into, reterr);
}

/* Nobody else knows of it yet, and nobody is to wait for its files. */
static galvo_status identify_unlocked(struct track *t, struct tracked *e, bool may_wait,
                                      galvo_error *reterr)
{
	galvo_status status;
	struct buf text;

	pthread_mutex_unlock(&t->lock);
	buf_init(&text, MAX_TEXT);
	status = identify(t, e, may_wait, &text, reterr);
	buf_finish(&text);
	pthread_mutex_lock(&t->lock);
	track_count_files(t, (size_t)(e->pidfd >= 0) + (e->dir_fd >= 0));
	return status;
}

/* A scan does not bring it in. */
void track_ignore(struct track *t, uint32_t pid, uint64_t start_ticks)
{
	if (grow_array((void **)&t->ignored, &t->ignored_cap, t->ignored_len,
	               sizeof(*t->ignored), MAX_PROCESSES))
		t->ignored[t->ignored_len++] = (struct identity){pid, start_ticks};
}

static bool is_ignored(const struct track *t, const struct tracked *e)
{
	size_t i;

	for (i = 0; i < t->ignored_len; i++)
		if (t->ignored[i].pid == e->info.pid && t->ignored[i].start_ticks == e->info.start_ticks)
			return true;
	return false;
}

/* As things are now. */
static galvo_status check_is_wanted(struct track *t, const struct tracked *e,
                                    const struct newcomer *who, galvo_error *reterr)
{
	struct tracked *known = track_find(t, who->pid);

	if (known && !who->is_root)
		track_widen(t, known, who->streams);
	/* A zombie is listed among the children until somebody waits for it. */
	if (known || (!who->is_root && (is_ignored(t, e) || books_has_ended(t, e))))
		return GALVO_DONE;
	return track_make_room(t) ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM,
	                                               "process %u: out of memory", who->pid);
}

galvo_status track_admit(struct track *t, const struct newcomer *who, uint64_t mono_ns,
                         galvo_error *reterr)
{
	struct tracked *e;
	galvo_status status;

	if (!who->is_root && who->pid == t->config.never_pid)
		return GALVO_DONE;
	e = track_new_entry(t);
	if (!e && !track_is_full(t))
		return err_set(reterr, GALVO_ERR_NOMEM, "process %u: out of memory", who->pid);
	if (!e)
		return err_set(reterr, GALVO_ERR_NOMEM,
		               "process %u: %zu processes are followed already, the limit (ulimit -n)",
		               who->pid, t->alive);
	e->info.pid = who->pid;
	status = identify_unlocked(t, e, who->is_root, reterr);
	if (status == GALVO_OK)
		status = check_is_wanted(t, e, who, reterr);
	if (status != GALVO_OK) {
		track_recycle(t, e);
		return status;
	}
	atomic_store(&e->streams, who->streams);
	track_set_follow(t, e, who->follow);
	e->info.root = who->is_root;
	e->info.first_mono_ns = mono_ns;
	utf8_copy(e->info.alias, sizeof(e->info.alias), span_str(who->alias));
	books_open(t, e);
	track_publish(t, e);
	return GALVO_OK;
}

/* Counts every process once, as far as there is room to tell them apart. */
static void refuse(struct track *t, uint32_t pid)
{
	struct process_stat stat = {0};
	struct buf text;
	size_t i;

	t->has_refused = true;
	pthread_mutex_unlock(&t->lock);
	buf_init(&text, MAX_TEXT);
	track_read_stat_of(t->config.world, pid, &text, &stat);
	buf_finish(&text);
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < t->refused_len; i++)
		if (t->refused[i].pid == pid &&
		    (!stat.start_ticks || t->refused[i].start_ticks == stat.start_ticks))
			return;
	if (grow_array((void **)&t->refused, &t->refused_cap, t->refused_len, sizeof(*t->refused),
	               REFUSED_MAX))
		t->refused[t->refused_len++] = (struct identity){pid, stat.start_ticks};
	else
		t->refused_are_more = true;
}

/* Others that had the CPU meanwhile are none of it. */
static uint64_t time_of(const struct track *t)
{
	const struct clock *clock = t->config.world->clock;
	uint64_t cpu_ns = t->config.world->live ? thread_cpu_ns() : 0;

	return cpu_ns ? cpu_ns : clock->mono_ns(clock);
}

/*
 * Files that are kept open give way to who is new, but it is others that have them, who close them at
 * their next reading: until then many that are new at once would take what is the program's own.
 */
static size_t kept_files(const struct track *t)
{
	size_t used = atomic_load(&t->fds.used);

	return used > t->own_fds ? used - t->own_fds : 0;
}

static bool is_crowded(const struct track *t)
{
	return kept_files(t) && atomic_load(&t->fds.used) > t->fds.max + t->fds.max / 4;
}

/* Descriptors have run out within the budget: the rest of the process has more than its half. */
static bool ask_for_room(struct track *t)
{
	size_t used = atomic_load(&t->fds.used), wanted = atomic_load(&t->fds.wanted);
	size_t rest = t->fds.max > used ? t->fds.max - used : 0;

	if (!kept_files(t))
		return false;
	wanted = (wanted > rest ? wanted : rest) + TRACK_FDS_PER_PROCESS;
	atomic_store(&t->fds.wanted, wanted < t->fds.max ? wanted : t->fds.max);
	return true;
}

static galvo_status put_off(struct track *t)
{
	t->seen.put_off++;
	t->is_behind = true;
	return GALVO_ERR_STATE;
}

galvo_status track_admit_child(struct track *t, const struct newcomer *who, uint64_t mono_ns)
{
	bool at_once = t->admits_all || who->at_once;
	uint64_t from_ns = time_of(t), took_ns;
	galvo_error error = {0};
	galvo_status status;

	/* It stands in its parent's list, and is not to take the time of those behind it. */
	if (books_find_zombie(t, who->pid))
		return GALVO_DONE;
	if (!at_once && (!t->admit_left_ns || is_crowded(t)))
		return put_off(t);
	status = track_admit(t, who, mono_ns, &error);
	took_ns = time_of(t) - from_ns;
	t->admit_left_ns -= took_ns < t->admit_left_ns ? took_ns : t->admit_left_ns;
	if (status == GALVO_OK)
		atomic_store(&t->fds.wanted, 0);
	if (status == GALVO_ERR_IO && fd_is_short(&error) && !at_once && ask_for_room(t))
		return put_off(t);
	if (status == GALVO_ERR_NOMEM || status == GALVO_ERR_IO)
		refuse(t, who->pid);
	if (status == GALVO_ERR_NOMEM && !track_is_full(t))
		t->must_walk = true; /* memory was short: the next scan looks again */
	return status;
}
