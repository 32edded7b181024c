/* Where the files of a process are, and what it calls itself: name, start of the command line. */
#include <time.h>

#include "internal.h"

/* Names are read again, since exec changes them: soon after the first sight, and now and then. */
#define YOUNG_NS NS_PER_S
#define RENAME_YOUNG_NS (NS_PER_S / 5)
#define RENAME_NS (NS_PER_S * 5)
#define EXEC_PAUSE_NS 100000
enum { MANY = 256, RENAMES_AT_ONCE = 32, EXEC_PAUSES = 30 };

int track_path(const struct world *w, const struct tracked *e, const char *name,
               char at[TRACK_PATH_BYTES])
{
	const char *mark = strchr(name, '%');
	size_t n = 0;

	if (e->dir_fd >= 0 && !mark) {
		/* At every tick, for every file: no formatting. Names of ours are short. */
		memcpy(at, name, strnlen(name, TRACK_PATH_BYTES - 1) + 1);
		at[TRACK_PATH_BYTES - 1] = '\0';
		return e->dir_fd;
	}
	if (e->dir_fd < 0)
		n = (size_t)snprintf(at, TRACK_PATH_BYTES, "proc/%u/", e->info.pid);
	if (mark)
		snprintf(at + n, TRACK_PATH_BYTES - n, "%.*s%u%s", (int)(mark - name), name, e->info.pid,
		         mark + 2);
	else
		snprintf(at + n, TRACK_PATH_BYTES - n, "%s", name);
	return e->dir_fd < 0 ? w->root_fd : e->dir_fd;
}

galvo_status track_read_stat(const struct world *w, const struct tracked *e, struct buf *into,
                             struct process_stat *ret, galvo_error *reterr)
{
	char path[TRACK_PATH_BYTES];
	int dir_fd = track_path(w, e, "stat", path);

	return process_stat_read(dir_fd, path, into, ret, reterr);
}

galvo_status track_read_stat_of(const struct world *w, uint32_t pid, struct buf *into,
                                struct process_stat *ret)
{
	char path[TRACK_PATH_BYTES];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	return process_stat_read(w->root_fd, path, into, ret, NULL);
}

static void copy_text(char *to, size_t cap, struct span text)
{
	size_t n = text.n < cap - 1 ? text.n : cap - 1;

	memcpy(to, text.p, n);
	to[n] = '\0';
}

/* The start of it, with a mark where there is more: no character is cut in two. */
static void copy_clipped(char *to, size_t cap, struct span text)
{
	static const char mark[] = "\xe2\x80\xa6";
	size_t n = cap - sizeof(mark);

	if (text.n < cap) {
		copy_text(to, cap, text);
		return;
	}
	while (n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	memcpy(to, text.p, n);
	memcpy(to + n, mark, sizeof(mark));
}

/* Its start is enough: one that is larger than our buffer has filled that. */
static struct span read_command(const struct world *w, const struct tracked *e, struct buf *into)
{
	char path[TRACK_PATH_BYTES];
	struct span text;
	galvo_status status = file_read(track_path(w, e, "cmdline", path), path, into, &text, NULL);
	size_t i;

	if (status == GALVO_ERR_MALFORMED)
		text = span_of(into->p, into->len);
	else if (status != GALVO_OK)
		return span_of(NULL, 0);
	for (i = 0; i + 1 < text.n; i++)
		if (into->p[i] == '\0')
			into->p[i] = ' ';
	return text;
}

/* The one it had until now is kept beside it, if there is room for the newest of them. */
void track_take_name(const struct track *t, struct tracked *e, struct span comm)
{
	const struct clock *clock = t->config.world->clock;
	struct process_info *info = &e->info;
	struct earlier_name *last;

	if (info->comm[0] && !span_eq_str(comm, info->comm)) {
		if (info->earlier_len == EARLIER_NAMES)
			memmove(info->earlier, info->earlier + 1,
			        --info->earlier_len * sizeof(info->earlier[0]));
		last = &info->earlier[info->earlier_len++];
		copy_text(last->comm, sizeof(last->comm), span_str(info->comm));
		last->until_mono_ns = clock->mono_ns(clock);
	}
	copy_text(info->comm, sizeof(info->comm), comm);
}

bool track_read_names(const struct track *t, struct tracked *e, struct buf *into)
{
	const struct world *w = t->config.world;
	char path[TRACK_PATH_BYTES];
	struct span text;

	if (file_read(track_path(w, e, "comm", path), path, into, &text, NULL) == GALVO_OK)
		track_take_name(t, e,
		          span_of(text.p, text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n));
	text = read_command(w, e, into);
	if (text.n)
		copy_clipped(e->info.command, sizeof(e->info.command), span_trim(text));
	e->named_mono_ns = w->clock->mono_ns(w->clock);
	return text.n > 0;
}

/* The more there are, the less often. */
static bool is_due(const struct track *t, const struct tracked *e, uint64_t mono_ns)
{
	bool is_young = mono_ns - e->info.first_mono_ns < YOUNG_NS;
	uint64_t age_ns = (is_young ? RENAME_YOUNG_NS : RENAME_NS) * (1 + t->alive / MANY);

	return mono_ns >= e->named_mono_ns && mono_ns - e->named_mono_ns >= age_ns;
}

void track_renew_names(struct track *t, uint64_t mono_ns, bool all)
{
	size_t i, n = 0;

	for (i = 0; i < t->len && (all || n < RENAMES_AT_ONCE); i++) {
		struct tracked *e = t->list[(t->names_at + i) % t->len];

		if (atomic_load(&e->end_mono_ns) || !(all || is_due(t, e, mono_ns)))
			continue;
		track_read_names(t, e, &t->text);
		n++;
	}
	t->names_at = t->len ? (t->names_at + i) % t->len : 0;
}

void track_saw_stat(struct track *t, struct tracked *e, const struct process_stat *stat)
{
	pthread_mutex_lock(&t->lock);
	if (!atomic_load(&e->end_mono_ns)) {
		if (!span_eq_str(stat->comm, e->info.comm))
			track_read_names(t, e, &t->text);
		if (stat->ppid != e->info.ppid)
			books_move(t, e, stat->ppid);
	}
	pthread_mutex_unlock(&t->lock);
}

/* Ended or not, the newest of that number. */
static struct tracked *newest(const struct track *t, uint32_t pid)
{
	size_t i;

	for (i = t->len; i > 0; i--)
		if (t->list[i - 1]->info.pid == pid)
			return t->list[i - 1];
	return NULL;
}

/* What it was called when it was forked is the name of who did that: a sampler may have seen it go. */
static void forget_first_name(struct process_info *info)
{
	if (!info->earlier_len)
		info->comm[0] = '\0';
	else
		memmove(info->earlier, info->earlier + 1, --info->earlier_len * sizeof(info->earlier[0]));
}

/*
 * An exec closes what is to be closed, then gives the new name, then the command line, which until
 * then is empty: who was told by the first has to wait for the last, unless the process is over.
 */
void track_has_begun(struct track *t, uint32_t pid)
{
	const struct timespec pause = {0, EXEC_PAUSE_NS};
	bool is_done = false;
	size_t i;

	for (i = 0; i < EXEC_PAUSES && !is_done; i++) {
		struct tracked *e;

		if (i)
			nanosleep(&pause, NULL);
		pthread_mutex_lock(&t->lock);
		e = newest(t, pid);
		if (e && !i) {
			e->info.command[0] = '\0'; /* of whoever called exec */
			if (e->info.ppid == t->config.adopter_pid && !e->has_begun)
				forget_first_name(&e->info);
			e->has_begun = true;
		}
		is_done = !e || track_read_names(t, e, &t->text) || track_has_exited(e);
		pthread_mutex_unlock(&t->lock);
	}
}
