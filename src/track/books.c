/* The books: what processes used before, in and after their samples, and who took it over. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/* Far more than a chain of processes that end in one instant. */
enum { GENERATIONS_MAX = 1024 };

static uint64_t get(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static bool has_part(const struct account *a, enum account_part part)
{
	return atomic_load_explicit(&a->has, memory_order_relaxed) >> part & 1;
}

/* ---- readings ------------------------------------------------------------------------------------ */

/* The sampler of that part, or at the end whoever has the lock. */
static void enter(struct account *a, enum account_part part, uint64_t value)
{
	uint32_t has = atomic_load_explicit(&a->has, memory_order_relaxed);

	if (!(has >> part & 1)) {
		atomic_store_explicit(&a->first[part], value, memory_order_relaxed);
		atomic_fetch_or_explicit(&a->has, UINT32_C(1) << part, memory_order_relaxed);
	}
	atomic_store_explicit(&a->last[part], value, memory_order_relaxed);
}

/* What one needs no lock for is its own use, by its only sampler. */
static bool is_own_alone(const struct source *source)
{
	return !source->settle && source->accounts_len == 1 && source->accounts[0].part == PART_OWN;
}

bool track_enter(struct track *t, struct tracked *e, const struct source *source, struct raw *now,
                 bool is_sure, uint32_t *ret_mixed)
{
	bool is_locked = !is_own_alone(source), is_told = true;
	size_t i;

	*ret_mixed = 0;
	if (is_locked)
		pthread_mutex_lock(&t->lock);
	/* Closed: the last word on it has been said. */
	if (is_locked && e->is_closed)
		goto out;
	if (source->settle) {
		is_told = source->settle(&e->settled, now, is_sure);
		if (!is_told)
			goto out;
		e->settled = *now;
	}
	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];
		struct account *a = &e->account[from->kind];

		if (!(now->present & FIELD(from->field)))
			continue;
		if (from->part == PART_MIXED && has_part(a, PART_MIXED) &&
		    get(&a->last[PART_MIXED]) != now->value[from->field])
			*ret_mixed |= UINT32_C(1) << from->kind;
		if (from->part == PART_REAPED)
			a->explained_late = 0;
		enter(a, from->part, now->value[from->field]);
	}
out:
	if (is_locked)
		pthread_mutex_unlock(&t->lock);
	return is_told;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static uint64_t own_of(const struct account *a)
{
	return a->is_final ? a->final_own : get(&a->last[PART_OWN]);
}

/* All that the kernel adds to the account of who waits for it, as far as we know. */
static uint64_t total_of(const struct account *a)
{
	return own_of(a) + get(&a->last[PART_REAPED]) + get(&a->last[PART_MIXED]) +
	       (a->is_final ? 0 : a->explained_late);
}

/* Since it joined, or was born. */
static uint64_t growth_of(const struct tracked *e, const struct account *a, enum account_part part)
{
	uint64_t last = get(&a->last[part]), first = e->is_born ? 0 : get(&a->first[part]);

	return last > first ? last - first : 0;
}

void books_tell(const struct tracked *e, struct usage usage[USAGE_END])
{
	enum usage_kind kind;

	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++) {
		const struct account *a = &e->account[kind];
		struct usage *to = &usage[kind];
		uint64_t first = get(&a->first[PART_OWN]), last = get(&a->last[PART_OWN]);
		uint64_t mixed = growth_of(e, a, PART_MIXED);
		uint64_t others = growth_of(e, a, PART_REAPED) + mixed;

		*to = (struct usage){.is_known = has_part(a, PART_OWN) || (a->is_final && e->is_born)};
		if (!to->is_known)
			continue;
		others = others > a->explained ? others - a->explained : 0;
		to->head = e->is_born ? first : 0;
		to->sampled = last > first ? last - first : 0;
		to->tail = own_of(a) > last ? own_of(a) - last : 0;
		to->mixed = mixed < others ? mixed : others;
		to->unseen = others - to->mixed;
	}
}

/* ---- who takes it over --------------------------------------------------------------------------- */

/*
 * Children of who ignores SIGCHLD are waited for by nobody, and their use is lost to it. It shows in
 * that more is explained than was ever taken over.
 */
static bool takes_over(const struct tracked *e, const struct account *a)
{
	return a->explained - a->explained_late <= growth_of(e, a, PART_REAPED) +
	                                           growth_of(e, a, PART_MIXED);
}

/* What of the reaped part of its ancestors is no riddle any more. */
static void explain(struct tracked *parent, enum usage_kind kind, uint64_t use)
{
	int i;

	for (i = 0; parent && i < GENERATIONS_MAX; i++) {
		struct account *a = &parent->account[kind];

		a->explained += use;
		a->explained_late += use;
		/* Closed without a last look, it told its own parent of less. */
		if (!parent->is_settled || a->is_final)
			return;
		parent = parent->parent;
	}
}

/* Somebody has waited for it. */
static void settle(struct tracked *e)
{
	struct tracked *parent = e->parent;
	enum usage_kind kind;

	if (e->is_settled)
		return;
	e->is_settled = true;
	for (kind = USAGE_CPU_NS; parent && kind < USAGE_END; kind++) {
		struct account *a = &e->account[kind];

		if (!a->is_final && !takes_over(e, a))
			a->explained_late = 0;
		explain(parent, kind, total_of(a));
	}
}

static void set_parent(struct track *t, struct tracked *e, struct tracked *parent)
{
	struct tracked *before = e->parent;

	if (parent == before || parent == e)
		return;
	if (parent)
		parent->refs++;
	e->parent = parent;
	if (before)
		track_unref(t, before);
}

void books_move(struct track *t, struct tracked *e, uint32_t ppid)
{
	if (!e->parent || e->parent->info.pid != ppid)
		set_parent(t, e, track_find(t, ppid));
}

/* ---- the end ------------------------------------------------------------------------------------- */

/* A pidfd knows its process until somebody has waited for it. */
static bool is_there(const struct tracked *e)
{
	return e->pidfd >= 0 &&
	       (syscall(SYS_pidfd_send_signal, e->pidfd, 0, NULL, 0) == 0 || errno == EPERM);
}

struct last_sink {
	struct raw_sink sink; /* first */
	struct raw raw;
};

static struct raw *last_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	(void)name;
	(void)number;
	return &((struct last_sink *)sink)->raw;
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

static void enter_last(struct tracked *e, const struct source *source, const struct raw *now)
{
	size_t i;

	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];
		struct account *a = &e->account[from->kind];

		if (!(now->present & FIELD(from->field)))
			continue;
		if (from->part == PART_OWN) {
			a->final_own = now->value[from->field];
			a->is_final = true;
		} else if (now->value[from->field] >= get(&a->last[from->part])) {
			enter(a, from->part, now->value[from->field]);
			if (from->part == PART_REAPED)
				a->explained_late = 0;
		}
	}
}

/* One source's view of a zombie. It waits for nobody any more, so that what is read is consistent. */
static void close_source(struct track *t, struct tracked *e, const struct source *source)
{
	const struct world *w = t->config.world;
	struct last_sink to = {.sink.row = last_row};
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
	enter_last(e, source, &to.raw);
}

/* Its parent may have ended first; then it went to another one. False: it is gone already. */
static bool find_reaper(struct track *t, struct tracked *e)
{
	char path[TRACK_PATH_BYTES];
	struct process_stat stat;
	struct span text;

	if (file_read(track_path(t->config.world, e, "stat", path), path, &t->text, &text, NULL) !=
	    GALVO_OK || process_stat_parse(text, &stat, NULL) != GALVO_OK)
		return false;
	books_move(t, e, stat.ppid);
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
		e->is_closed = true;
	} else if (!e->is_closed && e->parent) {
		uint64_t parent_end_mono_ns = atomic_load(&e->parent->end_mono_ns);

		/* Whoever was left without a parent before went to one we do not follow. */
		if (parent_end_mono_ns && parent_end_mono_ns < t->polled_mono_ns)
			set_parent(t, e, NULL);
	}
	return e->is_closed && is_there(e);
}

void books_close(struct track *t, struct tracked *e)
{
	bool is_zombie = close_account(t, e);

	e->is_closed = true;
	if (is_zombie)
		keep_zombie(t, e);
	else
		settle(e);
}

void books_settle_zombies(struct track *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->zombies_len; i++) {
		struct tracked *e = t->zombies[i];

		if (!e->is_settled && is_there(e)) {
			find_reaper(t, e);
			t->zombies[kept++] = e;
			continue;
		}
		settle(e);
		track_unref(t, e);
	}
	t->zombies_len = kept;
}

/* ---- our own children ---------------------------------------------------------------------------- */

/* Living, or ended and not waited for. */
static struct tracked *find_child(struct track *t, uint32_t pid)
{
	struct tracked *e = track_find(t, pid);
	size_t i;

	for (i = 0; !e && i < t->zombies_len; i++)
		if (t->zombies[i]->info.pid == pid)
			e = t->zombies[i];
	return e;
}

void track_close(struct track *t, uint32_t pid)
{
	struct tracked *e;

	track_poll(t); /* those that it has waited for ended before it, and are its children still */
	pthread_mutex_lock(&t->lock);
	e = find_child(t, pid);
	if (e && !atomic_load(&e->end_mono_ns))
		track_end(t, e, true);
	pthread_mutex_unlock(&t->lock);
}

/* What wait4 adds to what we know of its own is of the children that it had waited for. */
void track_reaped(struct track *t, uint32_t pid, const struct process_end *end)
{
	struct account *cpu;
	struct tracked *e;
	uint64_t total_ns;

	pthread_mutex_lock(&t->lock);
	e = find_child(t, pid);
	if (e) {
		cpu = &e->account[USAGE_CPU_NS];
		total_ns = end->user_ns + end->system_ns;
		e->info.end = *end;
		if (cpu->is_final && total_ns > cpu->final_own + get(&cpu->last[PART_REAPED]))
			enter(cpu, PART_REAPED, total_ns - cpu->final_own);
		e->is_settled = true; /* it was ours: nobody that we follow took it over */
	}
	pthread_mutex_unlock(&t->lock);
}

/* ---- the beginning ------------------------------------------------------------------------------- */

void books_open(struct track *t, struct tracked *e)
{
	const struct world *w = t->config.world;
	char path[TRACK_PATH_BYTES];
	int dir_fd;

	e->is_born = e->info.start_ticks >= t->start_ticks ||
	             (t->config.adopter_pid && e->info.ppid == t->config.adopter_pid);
	set_parent(t, e, track_find(t, e->info.ppid));
	if (!t->keeps_io || !w->live)
		return;
	dir_fd = track_path(w, e, "io", path);
	e->io_fd[0] = file_open(dir_fd, path, O_RDONLY);
	dir_fd = track_path(w, e, "task/%u/io", path);
	e->io_fd[1] = file_open(dir_fd, path, O_RDONLY);
}
