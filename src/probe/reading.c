/* Readings of followed processes: their CPU clocks and files, a row each at every turn. */
#include <errno.h>
#include <math.h>

#include "internal.h"

enum { REST_TURNS = 8 };

/* Where there are no process clocks, utime + stime of the stat file stand in. */
static int read_cpu_ticks(struct probe *p, const struct tracked *who, uint64_t *ret_ns)
{
	const struct world *w = p->config.world;
	struct process_stat stat;

	if (track_read_stat(w, who, &p->text, &stat, NULL) != GALVO_OK)
		return ESRCH;
	*ret_ns = stat.cpu_ticks * (NS_PER_S / w->clk_tck);
	return 0;
}

/*
 * Clocks are asked for by number, so all of them are read first, then one look tells who has ended: of
 * whoever has not, the number was its own all the while.
 */
static void read_clocks(struct probe *p, const struct pen *pen)
{
	size_t i;

	for (i = 0; i < slice_size(&pen->slice); i++) {
		struct member *m = p->members[slice_index(&pen->slice, i)];

		if (m->gone)
			continue;
		m->clock_mono_ns = probe_now(p);
		m->clock_failed = process_clock_read(m->who->info.pid, &m->clock_ns);
	}
	track_poll(p->config.track);
	p->polled_tick = p->tick;
}

static void take_clock(struct probe *p, struct member *m, struct series *s, uint64_t mono_ns)
{
	const struct source *source = s->source;
	struct raw_only_sink to;
	uint32_t mixed;

	raw_clear(&to.raw);
	if (!p->config.world->live)
		m->clock_failed = read_cpu_ticks(p, m->who, &m->clock_ns);
	if (!m->clock_failed)
		raw_put(&to.raw, (unsigned)source->cpu_clock_field, m->clock_ns);
	track_enter(p->config.track, m->who, source, &to.raw, true, &mixed);
	series_update(s, source->texts_len, &to.raw, mono_ns);
}

/* A stat file tells the name and the parent for nothing. */
static void see_stat(struct probe *p, struct member *m, struct span text)
{
	struct process_stat stat;

	if (process_stat_parse(text, &stat, NULL) == GALVO_OK && stat.state != 'X')
		track_saw_stat(p->config.track, m->who, &stat);
}

/*
 * The same text of another thread, the main thread being at its end. False: there is none, in a process
 * that has let go of all it had, or a thread of the kernel.
 */
static bool read_stand_in(struct probe *p, struct member *m, const struct source_text *t,
                          struct raw_only_sink *to)
{
	const struct world *w = p->config.world;
	char path[TRACK_PATH_BYTES], name[TRACK_PATH_BYTES];
	bool is_read = false;
	struct dirent *entry;
	struct span text;
	DIR *dir = file_open_dir(track_path(w, m->who, "task", path), path);

	while (dir && !is_read && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    snprintf(name, sizeof(name), "%s/%s", entry->d_name, t->path) >= (int)sizeof(name))
			continue;
		if (file_read(dirfd(dir), name, &p->text, &text, NULL) == GALVO_OK && text.n)
			is_read = t->parse(text, w, &to->sink, NULL) == GALVO_OK;
	}
	if (dir)
		closedir(dir);
	return is_read;
}

static galvo_status read_text(struct probe *p, struct member *m, struct pen *pen, size_t i,
                              struct raw_only_sink *to, galvo_error *reterr)
{
	const struct source_text *t = &pen->source->texts[i];
	const struct world *w = p->config.world;
	const uint32_t present = to->raw.present;
	struct keep *keep = &m->keeps[pen->member_text[i]];
	const char *path = t->path; /* what is open needs it for messages only */
	char at[TRACK_PATH_BYTES];
	galvo_status status;
	struct span text;
	int dir_fd = -1;

	if (keep->file.fd < 0 || keep->file.epoch != w->epoch) {
		dir_fd = track_path(w, m->who, t->path, at);
		path = at;
	}
	status = keep_read(&p->keeper, keep, dir_fd, path, w->epoch, t->kind, &p->text, &text, reterr);
	if (status == GALVO_OK && text.n == 0 && !t->optional)
		status = err_sys(reterr, ESRCH, "%s", t->path);
	if (status == GALVO_OK)
		status = t->parse(text, w, &to->sink, reterr);
	if (status == GALVO_DONE) {
		if (!read_stand_in(p, m, t, to))
			to->raw.present = present; /* nothing is not zero */
		status = GALVO_OK;
	}
	if (status == GALVO_OK && !pen->source->settle && !strcmp(t->path, "stat"))
		see_stat(p, m, text);
	/* An open smaps_rollup is of the memory that the process had then, and an exec gives it another. */
	if (t->on_request)
		keep_close(&p->keeper, keep);
	return status;
}

/* What is read less often than the rest is due at other readings for each process. */
static bool is_due(const struct member *m, const struct series *s, const struct source_text *t)
{
	return t->every <= 1 || (s->reads + m->phase) % t->every == 0;
}

/*
 * The kernel closes the files of a process that exits to all but root (fs/proc/base.c,
 * task_dump_owner). That is no matter of permissions: it is asked once of each process.
 */
static bool is_denied_as_it_dies(struct probe *p, const struct member *m)
{
	struct process_stat stat;
	galvo_status status = track_read_stat(p->config.world, m->who, &p->text, &stat, NULL);

	return status == GALVO_ERR_ABSENT || (status == GALVO_OK && stat.is_dying);
}

/* What is optional may be absent; that we may not look at it is worth a word all the same. */
static bool is_failure(struct probe *p, struct member *m, const struct pen *pen, bool is_optional,
                       galvo_status status)
{
	bool *is_denied = &m->pen[pen->member_slot].is_denied;

	if (status == GALVO_ERR_DENIED && !*is_denied)
		*is_denied = !is_denied_as_it_dies(p, m);
	return status == GALVO_ERR_DENIED ? *is_denied
	                                  : !is_optional || status != GALVO_ERR_ABSENT;
}

static void tell_failure(struct probe *p, struct member *m, struct pen *pen,
                         const struct source_text *t, galvo_status status, galvo_error *error)
{
	if (status == GALVO_OK || !is_failure(p, m, pen, t->optional, status))
		return;
	err_wrap(error, "process %u", m->who->info.pid);
	pen_fail(pen, status, error);
}

/* There is no telling whose these bytes were: they are in the books, and in no sample. */
static void leave_out(struct series *s, uint32_t mixed)
{
	const struct source *source = s->source;
	size_t i, j;

	for (i = 0; mixed && i < source->accounts_len; i++)
		for (j = 0; j < source->metrics_len; j++)
			if ((mixed >> source->accounts[i].kind & 1) &&
			    source->accounts[i].part == PART_OWN &&
			    source->metrics[j].of == FIELD(source->accounts[i].field))
				s->value[j] = NAN;
}

/*
 * Of many processes most are asleep. Its number may be another one's by now, whose clock is another one,
 * too. What may change all the same is read at every n-th turn. First readings tell the price of one.
 */
static bool has_rested(struct probe *p, struct member *m, const struct pen *pen)
{
	struct member_pen *mine = &m->pen[pen->member_slot];
	const struct series *s = &mine->series;
	uint64_t before = mine->clock_ns;

	if (!pen->source->rests_with_cpu || !p->config.world->live || !p->config.stream)
		return false;
	if (process_clock_read(m->who->info.pid, &mine->clock_ns) != 0)
		mine->clock_ns = 0;
	return before && before == mine->clock_ns && s->present && (s->reads + m->phase) % REST_TURNS;
}

/* Its last text is what the others explain: where that says nothing new, neither do they. */
static bool has_nothing_new(struct probe *p, struct member *m, struct pen *pen,
                            struct raw_only_sink *to)
{
	const struct series *s = &m->pen[pen->member_slot].series;

	raw_clear(&to->raw);
	return s->reads > 0 &&
	       read_text(p, m, pen, pen->source->texts_len - 1, to, NULL) == GALVO_OK &&
	       track_is_entered(p->config.track, m->who, &to->raw);
}

/* All texts are one reading. */
static void read_settled(struct probe *p, struct member *m, struct pen *pen, uint64_t mono_ns)
{
	struct series *s = &m->pen[pen->member_slot].series;
	const struct source *source = pen->source;
	struct raw_only_sink to = {.sink.row = raw_only_row};
	galvo_error error = {0}, first = {0};
	galvo_status status, failed = GALVO_OK;
	size_t i, at = 0;
	uint32_t mixed;

	if (has_rested(p, m, pen)) {
		series_repeat(s, 0, mono_ns);
		return;
	}
	if (has_nothing_new(p, m, pen, &to)) {
		series_update(s, 0, &to.raw, mono_ns);
		return;
	}
	raw_clear(&to.raw);
	for (i = 0; i < source->texts_len; i++) {
		err_clear(&error);
		status = read_text(p, m, pen, i, &to, &error);
		if (status != GALVO_OK && status != GALVO_ERR_ABSENT && failed == GALVO_OK) {
			failed = status;
			first = error;
			at = i;
		}
	}
	if (!track_enter(p->config.track, m->who, source, &to.raw, false, &mixed)) {
		for (i = 0; i + 1 < source->texts_len; i++)
			read_text(p, m, pen, i, &to, NULL);
		track_enter(p->config.track, m->who, source, &to.raw, true, &mixed);
	}
	series_update(s, 0, &to.raw, mono_ns);
	leave_out(s, mixed);
	tell_failure(p, m, pen, &source->texts[at], failed, &first);
}

static void note_exec(struct tracked *who, const struct raw *r, unsigned field)
{
	bool is_in_exec = (r->present & FIELD(field)) && r->value[field];

	if (atomic_load_explicit(&who->in_exec, memory_order_relaxed) != is_in_exec)
		atomic_store_explicit(&who->in_exec, is_in_exec, memory_order_relaxed);
}

/* False: the process has gone. */
static bool read_apart(struct probe *p, struct member *m, struct pen *pen, uint64_t mono_ns)
{
	struct series *s = &m->pen[pen->member_slot].series;
	bool rests = has_rested(p, m, pen);
	galvo_error error;
	uint32_t mixed;
	size_t i;

	for (i = 0; i < pen->source->texts_len; i++) {
		const struct source_text *t = &pen->source->texts[i];
		struct raw_only_sink to;
		galvo_status status;

		if (!text_is_wanted(p, t) || (s->text[i].mono_ns && !is_due(m, s, t)))
			continue;
		if (rests && !t->on_request && s->text[i].mono_ns) {
			series_repeat(s, i, mono_ns);
			continue;
		}
		to.sink.row = raw_only_row;
		raw_clear(&to.raw);
		err_clear(&error);
		status = read_text(p, m, pen, i, &to, &error);
		if (status == GALVO_ERR_ABSENT && !t->optional)
			return false;
		if (i == 0 && pen->source->exec_field)
			note_exec(m->who, &to.raw, pen->source->exec_field);
		if (t->accounts)
			track_enter(p->config.track, m->who, pen->source, &to.raw, true, &mixed);
		series_update(s, i, &to.raw, mono_ns);
		tell_failure(p, m, pen, t, status, &error);
	}
	return true;
}

/*
 * False: the process has gone. All is read as of mono_ns, which is the row's instant too: the sum of
 * rate times time is then the counter's growth, to the unit.
 */
static bool read_member(struct probe *p, struct member *m, struct pen *pen, uint64_t mono_ns)
{
	bool has_clock = pen->source->cpu_clock_field >= 0;
	galvo_error error;

	if (has_clock)
		take_clock(p, m, &m->pen[pen->member_slot].series, mono_ns);
	if (pen->source->settle)
		read_settled(p, m, pen, mono_ns);
	else if (!read_apart(p, m, pen, mono_ns))
		return false;
	if (has_clock && m->clock_failed) /* and yet it is there */
		pen_fail(pen, err_sys(&error, m->clock_failed, "process %u: CPU clock",
		                      m->who->info.pid), &error);
	return true;
}

void members_read(struct probe *p, struct pen *pen)
{
	bool has_clocks = pen->source->cpu_clock_field >= 0 && p->config.world->live;
	size_t i;

	if (has_clocks)
		read_clocks(p, pen);
	for (i = 0; i < slice_size(&pen->slice); i++) {
		struct member *m = p->members[slice_index(&pen->slice, i)];
		struct series *s = &m->pen[pen->member_slot].series;
		uint64_t mono_ns;

		if (m->gone || atomic_load(&m->who->end_mono_ns) ||
		    (pen->source->waits_for_exec && atomic_load(&m->who->in_exec)))
			continue;
		mono_ns = has_clocks ? m->clock_mono_ns : probe_now(p);
		if (!read_member(p, m, pen, mono_ns)) {
			p->vanished++;
			track_gone(p->config.track, m->who);
			continue; /* members_join closes it at the next tick */
		}
		/* It may have ended under our hands: no sample is later than the end. */
		if (p->config.stream && s->reads > 1 && series_has_value(s) &&
		    !atomic_load(&m->who->end_mono_ns))
			stream_row(p->config.stream, pen->source->scope, mono_ns,
			           (struct row_key){.number = m->who->info.pid}, s->value,
			           pen->source->metrics_len);
	}
}
