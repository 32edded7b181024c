/* Followed processes: their files and CPU clocks, a row each at every turn. */
#include <errno.h>

#include "internal.h"

/* ---- coming and going ----------------------------------------------------------------------------- */

static bool is_mine(const struct probe *p, const struct tracked *who)
{
	return atomic_load(&who->streams) & STREAM_BIT(p->config.kind);
}

static bool is_member(const struct probe *p, const struct tracked *who)
{
	size_t i;

	for (i = 0; i < p->members_len; i++)
		if (p->members[i]->who == who && !p->members[i]->gone)
			return true;
	return false;
}

static bool take(void *ctx, struct tracked *who)
{
	struct probe *p = ctx;
	struct member *m = p->free_members;
	const size_t series_end = sizeof(*m) + p->process_pens * sizeof(m->series[0]);
	size_t i;
	bool fell_short = p->join_fell_short;

	if (!is_mine(p, who) || is_member(p, who))
		return false;
	p->join_fell_short = true; /* unless it comes to an end */
	if (!grow_array((void **)&p->members, &p->members_cap, p->members_len, sizeof(*p->members),
	                MEMBERS_MAX) ||
	    !grow_array((void **)&p->infos, &p->infos_cap, p->members_len, sizeof(*p->infos),
	                MEMBERS_MAX) ||
	    !grow_array((void **)&p->info_at, &p->info_at_cap, p->members_len, sizeof(*p->info_at),
	                MEMBERS_MAX))
		return false;
	if (m)
		p->free_members = m->next_free;
	else
		m = malloc(series_end + p->member_texts_len * sizeof(*m->keeps));
	if (!m)
		return false;
	p->join_fell_short = fell_short;
	m->who = who;
	m->gone = false;
	m->phase = p->members_made++;
	m->keeps = (struct keep *)(void *)((char *)m + series_end);
	for (i = 0; i < p->pens_len; i++)
		if (p->pens[i].source->shape == SHAPE_PROCESS)
			series_init(&m->series[p->pens[i].member_slot], p->pens[i].source);
	for (i = 0; i < p->member_texts_len; i++)
		m->keeps[i] = KEEP_NONE;
	p->members[p->members_len++] = m;
	return true;
}

static void close_files(struct probe *p, struct member *m)
{
	size_t i;

	for (i = 0; i < p->member_texts_len; i++)
		keep_close(&p->keeper, &m->keeps[i]);
}

void members_join(struct probe *p)
{
	uint64_t generation = track_generation(p->config.track);
	size_t i;

	if (generation == p->joined_generation)
		return;
	p->joined_generation = generation;
	for (i = 0; i < p->members_len; i++) {
		struct member *m = p->members[i];

		if (!m->gone && (atomic_load(&m->who->end_mono_ns) || !is_mine(p, m->who))) {
			m->gone = true;
			close_files(p, m);
		}
	}
	p->join_fell_short = false;
	track_join(p->config.track, &p->join_cursor, take, p);
	if (p->join_fell_short) {
		p->joined_generation = UINT64_MAX;
		p->join_cursor = 0;
	}
	for (i = p->living = 0; i < p->members_len; i++)
		p->living += !p->members[i]->gone;
}

static void let_go(struct probe *p, struct member *m)
{
	close_files(p, m);
	track_release(p->config.track, m->who);
	m->next_free = p->free_members;
	p->free_members = m;
}

void members_drop_gone(struct probe *p)
{
	size_t i, kept = 0;

	for (i = 0; i < p->members_len; i++) {
		struct member *m = p->members[i];

		if (m->gone && p->infos[i].removed) {
			slices_drop(p, kept);
			let_go(p, m);
		} else {
			p->members[kept++] = m;
		}
	}
	p->members_len = kept;
}

void members_finish(struct probe *p)
{
	struct member *m, *next;
	size_t i;

	for (i = 0; i < p->members_len; i++)
		let_go(p, p->members[i]);
	for (m = p->free_members; m; m = next) {
		next = m->next_free;
		free(m);
	}
	p->free_members = NULL;
	p->members_len = 0;
	free(p->members);
	free(p->infos);
	free(p->info_at);
}

/* ---- reading -------------------------------------------------------------------------------------- */

struct member_sink {
	struct raw_sink sink; /* first */
	struct raw raw;
};

static struct raw *member_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	(void)name;
	(void)number;
	return &((struct member_sink *)sink)->raw;
}

/*
 * The CPU clock of a process, in ns, of exited threads too. It is asked for by number, so it comes
 * after track_poll said that this number still is this process. Returns errno.
 */
static int read_cpu_clock(uint32_t pid, uint64_t *ret_ns)
{
	clockid_t id = (clockid_t)((~(unsigned)pid << 3) | 2); /* CPUCLOCK_SCHED of a process */
	struct timespec t;

	if (clock_gettime(id, &t) != 0)
		return errno;
	*ret_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	return 0;
}

/* Where there are no process clocks, utime + stime of the stat file stand in. */
static int read_cpu_ticks(struct probe *p, const struct tracked *who, uint64_t *ret_ns)
{
	const struct world *w = p->config.world;
	char path[TRACK_PATH_BYTES];
	struct process_stat stat;
	struct span text;
	int dir_fd = track_path(w, who, "stat", path);

	if (file_read(dir_fd, path, &p->text, &text, NULL) != GALVO_OK ||
	    process_stat_parse(text, &stat, NULL) != GALVO_OK)
		return ESRCH;
	*ret_ns = stat.cpu_ticks * (NS_PER_S / w->clk_tck);
	return 0;
}

/* Returns errno: the process is gone, or its clock is refused. */
static int read_clock_field(struct probe *p, struct member *m, struct series *s, uint64_t mono_ns)
{
	const struct source *source = s->source;
	struct member_sink to;
	uint64_t ns = 0;
	int failed;

	if (source->cpu_clock_field < 0)
		return 0;
	raw_clear(&to.raw);
	failed = p->config.world->live ? read_cpu_clock(m->who->info.pid, &ns)
	                               : read_cpu_ticks(p, m->who, &ns);
	if (!failed)
		raw_put(&to.raw, (unsigned)source->cpu_clock_field, ns);
	series_update(s, source->texts_len, &to.raw, mono_ns);
	return failed;
}

/* A stat file begins with the name, so that a new one is seen for nothing. */
static void see_name(struct probe *p, struct member *m, struct span text)
{
	struct process_stat stat;

	if (process_stat_parse(text, &stat, NULL) == GALVO_OK && stat.state != 'X')
		track_saw_name(p->config.track, m->who, stat.comm);
}

static galvo_status read_text(struct probe *p, struct member *m, struct pen *pen, size_t i,
                              struct member_sink *to, galvo_error *reterr)
{
	const struct source_text *t = &pen->source->texts[i];
	const struct world *w = p->config.world;
	struct keep *keep = &m->keeps[pen->member_text[i]];
	char path[TRACK_PATH_BYTES];
	struct span text;
	galvo_status status;
	int dir_fd = track_path(w, m->who, t->path, path);

	status = keep_read(&p->keeper, keep, dir_fd, path, w->epoch, t->kind, &p->text, &text, reterr);
	if (status == GALVO_OK && text.n == 0 && !t->optional)
		status = err_sys(reterr, ESRCH, "%s", t->path);
	if (status == GALVO_OK)
		status = t->parse(text, w, &to->sink, reterr);
	if (status == GALVO_OK && !strcmp(t->path, "stat"))
		see_name(p, m, text);
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
 * False: the process has gone. All is read as of mono_ns, which is the row's instant too: the sum of
 * rate times time is then the counter's growth, to the unit.
 */
static bool read_member(struct probe *p, struct member *m, struct pen *pen, uint64_t mono_ns)
{
	struct series *s = &m->series[pen->member_slot];
	int clock_failed = read_clock_field(p, m, s, mono_ns);
	galvo_error error;
	size_t i;

	for (i = 0; i < pen->source->texts_len; i++) {
		const struct source_text *t = &pen->source->texts[i];
		struct member_sink to;
		galvo_status status;

		if (!text_is_wanted(p, t) || (s->text[i].mono_ns && !is_due(m, s, t)))
			continue;
		to.sink.row = member_row;
		raw_clear(&to.raw);
		err_clear(&error);
		status = read_text(p, m, pen, i, &to, &error);
		if (status == GALVO_ERR_ABSENT && !t->optional)
			return false;
		series_update(s, i, &to.raw, mono_ns);
		/* What is optional may be absent; that we may not look at it is worth a word all the same. */
		if (status != GALVO_OK && (!t->optional || status != GALVO_ERR_ABSENT)) {
			err_wrap(&error, "process %u", m->who->info.pid);
			pen_fail(pen, status, &error);
		}
	}
	if (clock_failed) /* and yet it is there */
		pen_fail(pen, err_sys(&error, clock_failed, "process %u: CPU clock", m->who->info.pid),
		         &error);
	return true;
}

void members_read(struct probe *p, struct pen *pen)
{
	size_t i;

	for (i = 0; i < slice_size(pen); i++) {
		struct member *m = slice_at(p, pen, i);
		struct series *s = &m->series[pen->member_slot];
		uint64_t mono_ns;

		if (m->gone)
			continue;
		mono_ns = probe_now(p);
		if (!read_member(p, m, pen, mono_ns)) {
			p->vanished++;
			track_gone(p->config.track, m->who, mono_ns);
			continue; /* members_join closes it at the next tick */
		}
		if (p->config.stream && s->reads > 1 && series_has_value(s))
			stream_row(p->config.stream, pen->source->scope, mono_ns,
			           (struct row_key){.number = m->who->info.pid}, s->value,
			           pen->source->metrics_len);
	}
}
