/* The books: what processes used before, in and after their samples, and who took it over. */
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

/* Since it joined, or was born. */
static uint64_t growth_of(const struct tracked *e, const struct account *a, enum account_part part)
{
	uint64_t last = get(&a->last[part]), first = e->is_born ? 0 : get(&a->first[part]);

	return last > first ? last - first : 0;
}

/* What it took over of others, or may have. */
static uint64_t others_of(const struct tracked *e, const struct account *a)
{
	return growth_of(e, a, PART_REAPED) + growth_of(e, a, PART_MIXED);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- who takes it over --------------------------------------------------------------------------- */

/*
 * What a followed child used is due to show in what its parent reaped: in the reading before whose
 * entry the end of the child was noticed, or, that having been made a little earlier, in the next one.
 * What does not, nobody has waited for: children of who ignores SIGCHLD are lost to it.
 */
enum { FRESH, STALE };

/* Times of children are told in two counts of ticks, each rounded down. */
static uint64_t rounding_of(const struct track *t, enum usage_kind kind)
{
	return kind == USAGE_CPU_NS ? 2 * NS_PER_S / t->config.world->clk_tck : 0;
}

static uint64_t match(struct account *a, uint64_t *due, uint64_t most)
{
	uint64_t n = lesser(*due, most);

	*due -= n;
	a->explained += n;
	return n;
}

/* A reading has found that what it reaped has grown so much. */
static void take_over(const struct track *t, struct account *a, enum usage_kind kind, uint64_t growth)
{
	growth -= match(a, &a->due[STALE], growth);
	match(a, &a->due[FRESH], growth);
	/* Without pidfds ends are noticed late, and in any order. */
	if (a->due[STALE] > rounding_of(t, kind) && t->config.world->live) {
		a->due[STALE] = 0;
		a->loses = true;
	}
	a->due[STALE] += a->due[FRESH];
	a->due[FRESH] = 0;
}

/* After the last reading that there will be: the rest never comes, but for what was rounded. */
static void match_finally(const struct track *t, const struct tracked *e, struct account *a,
                          enum usage_kind kind)
{
	uint64_t most = others_of(e, a) + rounding_of(t, kind);

	a->due[FRESH] += a->due[STALE];
	if (most > a->explained)
		match(a, &a->due[FRESH], most - a->explained);
	a->due[FRESH] = a->due[STALE] = 0;
}

/*
 * What of the reaped part of its ancestors is no riddle any more. Late: the reading that has it may have
 * been made before it was known.
 */
static void explain(struct track *t, struct tracked *parent, enum usage_kind kind, uint64_t use,
                    bool is_late)
{
	int i;

	for (i = 0; parent && i < GENERATIONS_MAX; i++) {
		struct account *a = &parent->account[kind];
		uint64_t others = others_of(parent, a);

		a->due[FRESH] += use;
		/* What is found in it there, it has told its own parent of. */
		if (is_late && others > a->explained)
			use -= match(a, &a->due[FRESH], lesser(use, others - a->explained));
		if (a->is_final)
			match_finally(t, parent, a, kind);
		/* Closed without a last look, it told its own parent of less. */
		if (!parent->is_settled || a->is_final || a->loses)
			return;
		parent = parent->parent;
	}
}

static uint64_t own_of(const struct account *a)
{
	return a->is_final || a->is_own_final ? a->final_own : get(&a->last[PART_OWN]);
}

/* All that the kernel adds to the account of who waits for it, as far as we know. */
static uint64_t total_of(const struct tracked *e, const struct account *a)
{
	uint64_t others = others_of(e, a);

	return own_of(a) + get(&a->last[PART_REAPED]) + get(&a->last[PART_MIXED]) +
	       (a->explained > others ? a->explained - others : 0) +
	       (a->loses ? 0 : a->due[FRESH] + a->due[STALE]);
}

void books_settle(struct track *t, struct tracked *e, bool is_lost)
{
	enum usage_kind kind;

	if (e->is_settled)
		return;
	e->is_settled = true;
	e->is_lost = is_lost;
	if (is_lost)
		return;
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		explain(t, e->parent, kind, total_of(e, &e->account[kind]), false);
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

static bool is_in(const struct raw *r, const struct source_account *from)
{
	return r->present & FIELD(from->field);
}

static bool others_have_grown(const struct tracked *e, const struct source *source,
                              const struct raw *now)
{
	size_t i;

	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];

		if (from->part != PART_OWN && is_in(now, from) &&
		    now->value[from->field] != get(&e->account[from->kind].last[from->part]))
			return true;
	}
	return false;
}

/* What a reading says of others than the process itself. Returns the kinds of which MIXED has grown. */
static uint32_t enter_others(const struct track *t, struct tracked *e, const struct source *source,
                             const struct raw *now)
{
	uint64_t before[USAGE_END];
	uint32_t kinds = 0, mixed = 0;
	enum usage_kind kind;
	size_t i;

	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];
		struct account *a = &e->account[from->kind];

		if (from->part == PART_OWN || !is_in(now, from))
			continue;
		if (!(kinds >> from->kind & 1))
			before[from->kind] = others_of(e, a);
		kinds |= UINT32_C(1) << from->kind;
		if (from->part == PART_MIXED && has_part(a, PART_MIXED) &&
		    get(&a->last[PART_MIXED]) != now->value[from->field])
			mixed |= UINT32_C(1) << from->kind;
		enter(a, from->part, now->value[from->field]);
	}
	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		if (kinds >> kind & 1) {
			uint64_t others = others_of(e, &e->account[kind]);

			take_over(t, &e->account[kind], kind,
			          others > before[kind] ? others - before[kind] : 0);
		}
	return mixed;
}

/* What one needs no lock for is its own use, by its only sampler. */
static bool is_own_alone(const struct source *source)
{
	return !source->settle && source->accounts_len == 1 && source->accounts[0].part == PART_OWN;
}

static void note_mark(const struct track *t, struct tracked *e, const struct source *source)
{
	const struct clock *clock = t->config.world->clock;

	if (!(e->settled.present & FIELD(source->mark_field)))
		return;
	e->mark[1] = e->mark[0];
	e->mark[0] = (struct wait_mark){e->settled.value[source->mark_field], clock->mono_ns(clock)};
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
	is_told = !source->settle || source->settle(&e->settled, now, is_sure);
	if (!is_told)
		goto out;
	/* Whoever is in this reading as a child that was waited for has to be known to have ended. */
	if (is_locked && others_have_grown(e, source, now)) {
		track_notice(t);
		books_settle_zombies(t);
		if (e->is_closed)
			goto out;
	}
	if (source->settle) {
		e->settled = *now;
		note_mark(t, e, source);
	}
	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];

		if (from->part == PART_OWN && is_in(now, from))
			enter(&e->account[from->kind], PART_OWN, now->value[from->field]);
	}
	if (is_locked)
		*ret_mixed = enter_others(t, e, source, now);
out:
	if (is_locked)
		pthread_mutex_unlock(&t->lock);
	return is_told;
}

bool track_is_entered(struct track *t, const struct tracked *e, struct raw *now)
{
	const struct raw *before = &e->settled;
	uint32_t fields = now->present;
	bool is_same;

	pthread_mutex_lock(&t->lock);
	is_same = fields && (before->present & fields) == fields && !e->is_closed;
	for (; is_same && fields; fields &= fields - 1) {
		int i = __builtin_ctz(fields);

		is_same = now->value[i] == before->value[i];
	}
	if (is_same)
		*now = *before;
	pthread_mutex_unlock(&t->lock);
	return is_same;
}

void books_enter_last(const struct track *t, struct tracked *e, const struct source *source,
                      struct raw *now)
{
	size_t i;

	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];
		struct account *a = &e->account[from->kind];

		if (from->part != PART_OWN && is_in(now, from) &&
		    now->value[from->field] < get(&a->last[from->part]))
			now->present &= ~FIELD(from->field);
	}
	enter_others(t, e, source, now);
	for (i = 0; i < source->accounts_len; i++) {
		const struct source_account *from = &source->accounts[i];
		struct account *a = &e->account[from->kind];

		if (from->part != PART_OWN || !is_in(now, from))
			continue;
		a->final_own = now->value[from->field];
		a->is_final = true;
	}
}

/* It stands in the unseen part of an ancestor, if it has one, which has not said its last word yet. */
static bool may_explain(const struct tracked *e, enum usage_kind kind)
{
	const struct tracked *parent = e->parent;
	int i;

	if (e->is_told)
		return false;
	for (i = 0; e->is_settled && !e->is_lost && parent && i < GENERATIONS_MAX; i++) {
		const struct account *a = &parent->account[kind];

		if (others_of(parent, a) > a->explained || a->is_final || a->loses)
			return !parent->is_told;
		if (!parent->is_settled)
			return true;
		parent = parent->parent;
	}
	return true;
}

void books_enter_exit(struct track *t, struct tracked *e, const struct exit_account *x)
{
	enum usage_kind kind;

	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++) {
		struct account *a = &e->account[kind];
		uint64_t known = own_of(a), all = kind == USAGE_CPU_NS ? x->cpu_ns : x->io[kind - USAGE_RCHAR];

		if (a->is_final || all < known || (kind != USAGE_CPU_NS && !x->has_io) ||
		    !(e->is_born || has_part(a, PART_OWN)) || !may_explain(e, kind))
			continue;
		a->final_own = all;
		a->is_own_final = true;
		if (e->is_settled && !e->is_lost && all > known)
			explain(t, e->parent, kind, all - known, true);
	}
}

void books_finish(const struct track *t, struct tracked *e)
{
	enum usage_kind kind;

	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++)
		if (e->account[kind].is_final)
			match_finally(t, e, &e->account[kind], kind);
}

/* What wait4 adds to what we know of its own is of the children that it had waited for. */
void books_enter_wait(struct tracked *e, const struct process_end *end)
{
	struct account *cpu = &e->account[USAGE_CPU_NS];
	uint64_t total_ns = end->user_ns + end->system_ns;

	if (cpu->is_final && total_ns > cpu->final_own + get(&cpu->last[PART_REAPED]))
		enter(cpu, PART_REAPED, total_ns - cpu->final_own);
}

void books_tell(const struct tracked *e, struct usage usage[USAGE_END])
{
	enum usage_kind kind;

	for (kind = USAGE_CPU_NS; kind < USAGE_END; kind++) {
		const struct account *a = &e->account[kind];
		struct usage *to = &usage[kind];
		uint64_t first = get(&a->first[PART_OWN]), last = get(&a->last[PART_OWN]);
		uint64_t others = others_of(e, a);

		*to = (struct usage){.is_known = has_part(a, PART_OWN) ||
		                                (e->is_born && (a->is_final || a->is_own_final))};
		if (!to->is_known)
			continue;
		others = others > a->explained ? others - a->explained : 0;
		to->head = e->is_born ? first : 0;
		to->sampled = last > first ? last - first : 0;
		to->tail = own_of(a) > last ? own_of(a) - last : 0;
		to->mixed = lesser(growth_of(e, a, PART_MIXED), others);
		to->unseen = others - to->mixed;
	}
}

/* ---- whose child it is --------------------------------------------------------------------------- */

void books_set_parent(struct track *t, struct tracked *e, struct tracked *parent)
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
	/* 0: it has been waited for while its file was read; or of a world that we do not see. */
	if (ppid && (!e->parent || e->parent->info.pid != ppid))
		books_set_parent(t, e, track_find(t, ppid));
}

