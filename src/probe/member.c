/* Followed processes as one sampler knows them: coming, mentioned, going. */
#include "internal.h"

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
	const size_t pens_end = sizeof(*m) + p->process_pens * sizeof(m->pen[0]);
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
		m = malloc(pens_end + p->member_texts_len * sizeof(*m->keeps));
	if (!m)
		return false;
	p->join_fell_short = fell_short;
	m->who = who;
	m->gone = atomic_load(&who->end_mono_ns) != 0;
	m->mentioned = false;
	m->phase = p->members_made++;
	m->threads = NULL;
	m->threads_len = m->threads_cap = 0;
	m->tasks = m->listed_mono_ns = 0;
	m->keeps = (struct keep *)(void *)((char *)m + pens_end);
	for (i = 0; i < p->pens_len; i++)
		if (p->pens[i].source->shape == SHAPE_PROCESS) {
			struct member_pen *pen = &m->pen[p->pens[i].member_slot];

			series_init(&pen->series, p->pens[i].source);
			pen->is_denied = false;
			pen->clock_ns = 0;
		}
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
	threads_end(p, m);
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
			track_part(p->config.track, m->who);
		}
	}
	p->join_fell_short = false;
	track_join(p->config.track, p->config.kind, &p->join_cursor, take, p);
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
	free(m->threads);
	track_release(p->config.track, m->who);
	m->next_free = p->free_members;
	p->free_members = m;
}

static void drop_from_slices(struct probe *p, size_t i)
{
	size_t j;

	for (j = 0; j < p->pens_len; j++)
		if (p->pens[j].source->shape == SHAPE_PROCESS)
			slice_drop(&p->pens[j].slice, i);
	slice_drop(&p->look, i);
}

size_t members_mention(struct probe *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->members_len; i++) {
		struct member *m = p->members[i];

		if (m->mentioned)
			continue;
		track_info(p->config.track, m->who, &p->infos[n]);
		p->infos[n].removed = m->mentioned = m->gone;
		p->mentioned += m->gone;
		p->info_at[n] = &p->infos[n];
		n++;
	}
	return n;
}

void members_settle(struct probe *p)
{
	uint64_t lost = p->mentions_lost;
	bool is_settled = !p->config.stream || stream_is_settled(p->config.stream, &lost);
	bool is_lost = lost != p->mentions_lost;
	size_t i, kept = 0, owed = 0;

	p->mentions_lost = lost;
	if (!p->mentioned || (!is_lost && !is_settled))
		return;
	if (p->thread_pen)
		threads_settle(p, is_lost);
	for (i = 0; i < p->members_len; i++) {
		struct member *m = p->members[i];

		if (m->mentioned && (!is_lost || owed++ >= OWED_MAX)) {
			drop_from_slices(p, kept);
			let_go(p, m);
			continue;
		}
		m->mentioned = false;
		p->members[kept++] = m;
	}
	p->members_len = kept;
	p->mentioned = 0;
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
