/*
 * Threads of followed processes, where they are recorded: noticed by the number of links of the task
 * directory, listed again now and then as one may have taken the place of another, and read in turn.
 */
#include <sys/stat.h>

#include "internal.h"

enum { THREADS_MAX = 1 << 16, RENAMES_AT_ONCE = 8 };
#define LIST_EVERY_NS NS_PER_S
/* A thread is often named by whoever started it, soon after; later hardly ever. */
#define YOUNG_NS (2 * NS_PER_S)
#define RENAME_NS (10 * NS_PER_S)

/* ---- coming and going ----------------------------------------------------------------------------- */

static void end_thread(struct probe *p, struct thread *t, uint64_t mono_ns)
{
	if (t->info.end_mono_ns)
		return;
	t->info.end_mono_ns = mono_ns;
	keep_close(&p->keeper, &t->keep);
}

void threads_end(struct probe *p, struct member *m)
{
	uint64_t end_ns = atomic_load(&m->who->end_mono_ns);
	size_t i;

	for (i = 0; i < m->threads_len; i++)
		end_thread(p, m->threads[i], end_ns ? end_ns : probe_now(p));
}

/* Start and name, of the thread that has the number now; false: there is none. */
static bool read_identity(struct probe *p, const struct member *m, uint32_t tid,
                          struct process_stat *ret)
{
	char path[TRACK_PATH_BYTES], name[TRACK_PATH_BYTES];
	int dir_fd;

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	dir_fd = track_path(p->config.world, m->who, name, path);
	return process_stat_read(dir_fd, path, &p->text, ret, NULL) == GALVO_OK && ret->state != 'X';
}

static void take_name(struct thread *t, struct span comm, uint64_t mono_ns)
{
	size_t n = comm.n < sizeof(t->info.name) - 1 ? comm.n : sizeof(t->info.name) - 1;

	memset(t->info.name, 0, sizeof(t->info.name));
	memcpy(t->info.name, comm.p, n);
	t->named_mono_ns = mono_ns;
}

/* Is it still the one that it was? Its name may be a new one. */
static bool is_same(struct probe *p, struct thread *t, uint64_t mono_ns)
{
	struct process_stat stat;

	if (!read_identity(p, t->of, t->info.tid, &stat) || stat.start_ticks != t->info.start_ticks)
		return false;
	take_name(t, stat.comm, mono_ns);
	return true;
}

/* Where a thread of that number is in the member's list, or would be. */
static size_t place_of(const struct member *m, uint32_t tid)
{
	size_t low = 0, high = m->threads_len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->threads[middle]->info.tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void begin_thread(struct probe *p, struct member *m, uint32_t tid, uint64_t mono_ns)
{
	size_t at = place_of(m, tid);
	struct process_stat stat;
	struct thread *t;

	if (!read_identity(p, m, tid, &stat) ||
	    !grow_array((void **)&p->threads, &p->threads_cap, p->threads_len, sizeof(*p->threads),
	                THREADS_MAX) ||
	    !grow_array((void **)&p->thread_at, &p->thread_at_cap, p->threads_len,
	                sizeof(*p->thread_at), THREADS_MAX) ||
	    !grow_array((void **)&m->threads, &m->threads_cap, m->threads_len, sizeof(*m->threads),
	                THREADS_MAX))
		return;
	t = calloc(1, sizeof(*t));
	if (!t)
		return;
	t->of = m;
	t->info.pid = m->who->info.pid;
	t->info.tid = tid;
	t->info.start_ticks = stat.start_ticks;
	t->info.first_mono_ns = t->listed_mono_ns = mono_ns;
	t->keep = KEEP_NONE;
	take_name(t, stat.comm, mono_ns);
	series_init(&t->series, p->thread_pen->source);
	memmove(m->threads + at + 1, m->threads + at, (m->threads_len++ - at) * sizeof(*m->threads));
	m->threads[at] = t;
	p->threads[p->threads_len++] = t;
}

static void see_thread(struct probe *p, struct member *m, uint32_t tid, uint64_t mono_ns,
                       size_t *renamed)
{
	struct thread *t = NULL;
	size_t at;
	bool is_young;

	for (at = place_of(m, tid); at < m->threads_len && m->threads[at]->info.tid == tid; at++)
		if (!m->threads[at]->info.end_mono_ns)
			t = m->threads[at];
	if (t) {
		is_young = mono_ns - t->info.first_mono_ns < YOUNG_NS;
		t->listed_mono_ns = mono_ns;
		if (*renamed >= RENAMES_AT_ONCE ||
		    mono_ns - t->named_mono_ns < (is_young ? LIST_EVERY_NS / 2 : RENAME_NS))
			return;
		(*renamed)++;
		if (is_same(p, t, mono_ns))
			return;
		end_thread(p, t, mono_ns);
	}
	begin_thread(p, m, tid, mono_ns);
}

static void list_threads(struct probe *p, struct member *m, uint64_t mono_ns)
{
	char path[TRACK_PATH_BYTES];
	DIR *dir = file_open_dir(track_path(p->config.world, m->who, "task", path), path);
	struct dirent *entry;
	size_t i, renamed = 0;
	uint64_t tid;

	m->tasks = 0;
	while (dir && (entry = readdir(dir))) {
		if (!span_to_u64(span_str(entry->d_name), &tid) || tid > INT32_MAX)
			continue;
		m->tasks++;
		see_thread(p, m, (uint32_t)tid, mono_ns, &renamed);
	}
	for (i = 0; dir && i < m->threads_len; i++)
		if (m->threads[i]->listed_mono_ns != mono_ns)
			end_thread(p, m->threads[i], mono_ns);
	if (dir)
		closedir(dir);
	m->listed_mono_ns = mono_ns;
}

/* A directory of tasks has a link for each, besides the two of every directory. */
static void look_at(struct probe *p, struct member *m)
{
	uint64_t mono_ns = probe_now(p);
	char path[TRACK_PATH_BYTES];
	struct stat facts;
	int dir_fd;

	if (m->gone || atomic_load(&m->who->in_exec))
		return;
	dir_fd = track_path(p->config.world, m->who, "task", path);
	if (fstatat(dir_fd, path, &facts, 0) != 0)
		return;
	if (facts.st_nlink != m->tasks + 2 || mono_ns - m->listed_mono_ns >= LIST_EVERY_NS)
		list_threads(p, m, mono_ns);
}

bool threads_begin(struct probe *p, struct pen *pen, size_t at_least)
{
	bool has_looked = slice_take(&p->look, pen, p->tick, p->members_len, at_least);
	size_t i;

	for (i = 0; has_looked && i < slice_size(&p->look); i++)
		look_at(p, p->members[slice_index(&p->look, i)]);
	if (has_looked)
		slice_advance(&p->look);
	return slice_take(&pen->slice, pen, p->tick, p->threads_len, at_least) || has_looked;
}

/* ---- reading -------------------------------------------------------------------------------------- */

/* An open file is that thread's for ever; one that is opened anew may be another one's by now. */
static void read_thread(struct probe *p, struct pen *pen, struct thread *t)
{
	const struct source_text *text = &pen->source->texts[0];
	const struct world *w = p->config.world;
	struct raw_only_sink to = {.sink.row = raw_only_row};
	char path[TRACK_PATH_BYTES], name[TRACK_PATH_BYTES];
	uint64_t mono_ns = probe_now(p);
	galvo_error error = {0};
	galvo_status status = GALVO_OK;
	struct span got = {0};
	int dir_fd = -1;

	if (t->keep.file.fd < 0 || t->keep.file.epoch != w->epoch) {
		snprintf(name, sizeof(name), "task/%u/%s", t->info.tid, text->path);
		dir_fd = track_path(w, t->of->who, name, path);
		if (t->series.reads && !is_same(p, t, mono_ns))
			status = GALVO_ERR_ABSENT;
	}
	if (status == GALVO_OK)
		status = keep_read(&p->keeper, &t->keep, dir_fd, dir_fd < 0 ? text->path : path, w->epoch,
		                   text->kind, &p->text, &got, &error);
	if (status == GALVO_ERR_ABSENT || (status == GALVO_OK && !got.n)) {
		end_thread(p, t, mono_ns);
		t->of->tasks = 0; /* whoever is there is to be listed */
		return;
	}
	if (status == GALVO_OK)
		status = text->parse(got, w, &to.sink, &error);
	series_update(&t->series, 0, &to.raw, mono_ns);
	if (status != GALVO_OK) {
		err_wrap(&error, "thread %u", t->info.tid);
		pen_fail(pen, status, &error);
	}
	if (p->config.stream && t->series.reads > 1 && series_has_value(&t->series))
		stream_row(p->config.stream, pen->source->scope, mono_ns,
		           (struct row_key){.number = t->info.pid, .second = t->info.tid},
		           t->series.value, pen->source->metrics_len);
}

void threads_read(struct probe *p, struct pen *pen)
{
	size_t i;

	for (i = 0; i < slice_size(&pen->slice); i++) {
		struct thread *t = p->threads[slice_index(&pen->slice, i)];

		if (!t->info.end_mono_ns && !atomic_load(&t->of->who->in_exec))
			read_thread(p, pen, t);
	}
}

/* ---- flushing ------------------------------------------------------------------------------------- */

void threads_tell(struct probe *p, struct flush_info *info)
{
	size_t i, n = 0;

	for (i = 0; i < p->threads_len; i++) {
		struct thread *t = p->threads[i];

		if (t->mentioned)
			continue;
		t->mentioned = t->info.end_mono_ns != 0;
		p->mentioned += t->mentioned;
		p->thread_at[n++] = &t->info;
	}
	info->threads = p->thread_at;
	info->threads_len = n;
}

static void forget(struct thread *t)
{
	struct member *m = t->of;
	size_t i;

	for (i = place_of(m, t->info.tid); i < m->threads_len && m->threads[i] != t; i++)
		;
	if (i < m->threads_len)
		memmove(m->threads + i, m->threads + i + 1, (--m->threads_len - i) * sizeof(*m->threads));
	free(t);
}

/* An end that was in a message which was dropped is told again. */
void threads_settle(struct probe *p, bool is_lost)
{
	size_t i, kept = 0;

	for (i = 0; i < p->threads_len; i++) {
		struct thread *t = p->threads[i];

		if (t->mentioned && !is_lost) {
			slice_drop(&p->thread_pen->slice, kept);
			forget(t);
		} else {
			t->mentioned = false;
			p->threads[kept++] = t;
		}
	}
	p->threads_len = kept;
}

void threads_finish(struct probe *p)
{
	size_t i;

	for (i = 0; i < p->threads_len; i++) {
		keep_close(&p->keeper, &p->threads[i]->keep);
		forget(p->threads[i]);
	}
	p->threads_len = 0;
	free(p->threads);
	free(p->thread_at);
	p->threads = NULL;
	p->thread_at = NULL;
}
