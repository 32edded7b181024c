/*
 * What each process used until it ended, as the kernel tells it, thread by thread. That costs whoever
 * ends 7 us (measured on one machine), and us less: it is switched off while there are many exits.
 */
#include "kernel.h"

/*
 * Threads a second that may end so, for each CPU: 0.7 % of it; and in all, for us. On again after a
 * while with half as many.
 */
enum { EXITS_EACH = 1000, EXITS_MAX = 10000 };
#define QUIET_NS (NS_PER_S * 2)

static void add(struct exit_account *to, const struct exit_record *r)
{
	size_t i;

	to->cpu_ns = r->has_group ? r->group_cpu_ns : to->cpu_ns + r->own.cpu_ns;
	for (i = 0; i < ARRAY_LEN(to->io); i++)
		to->io[i] += r->own.io[i];
}

bool exits_take(struct track *t, const struct exit_record *r)
{
	uint64_t since_ns = t->kernel->exits_since_mono_ns;
	struct candidate *c = candidate_find(t->kernel, r->tgid);
	struct tracked *e;

	if (c) {
		add(&c->account, r);
		c->has_total |= r->is_last;
		c->account.has_io = c->born_mono_ns >= since_ns;
		return true;
	}
	e = kernel_find_tracked(t, r->tgid);
	if (!e)
		return false;
	add(&e->exited, r);
	e->exited_is_all |= r->is_last;
	e->exited.has_io = e->born_mono_ns && e->born_mono_ns >= since_ns;
	return true;
}

void exits_read(struct track *t)
{
	struct kernel_events *k = t->kernel;
	struct exit_record record;
	size_t k_pending = k->pending_len, j;
	uint64_t lost;
	int i, n;

	pthread_mutex_lock(&t->lock);
	for (j = 0; j < k_pending; j++)
		exits_take(t, &k->pending[j]);
	k->pending_len = 0;
	pthread_mutex_unlock(&t->lock);
	do {
		n = inbox_take(&k->inbox, k->exits_fd, &k->exits_drops, &lost);
		pthread_mutex_lock(&t->lock);
		for (i = 0; i < n; i++)
			if (exit_record_parse(inbox_at(&k->inbox, i), k->family, &record) &&
			    !exits_take(t, &record) && k->pending_len < PENDING_MAX)
				k->pending[k->pending_len++] = record;
		pthread_mutex_unlock(&t->lock);
	} while (n == MESSAGES_AT_ONCE);
}

static void turn(struct track *t, struct kernel_events *k, bool on, uint64_t mono_ns)
{
	if (!taskstats_switch(k->exits_fd, t->config.world, k->family, on))
		return;
	k->exits_since_mono_ns = on ? mono_ns : UINT64_MAX;
}

void exits_judge(struct track *t, uint64_t mono_ns)
{
	struct kernel_events *k = t->kernel;
	uint64_t took_ns = mono_ns - k->judged_mono_ns, rate;
	uint64_t most = (uint64_t)t->config.world->cpu_count * EXITS_EACH;
	bool is_on = k->exits_since_mono_ns != UINT64_MAX;

	if (took_ns < JUDGE_EVERY_NS)
		return;
	k->judged_mono_ns = mono_ns;
	if (k->exits_fd < 0)
		return;
	rate = k->exits_seen * NS_PER_S / took_ns;
	k->exits_seen = 0;
	most = most < EXITS_MAX ? most : EXITS_MAX;
	if (rate > most / 2)
		k->quiet_since_mono_ns = mono_ns;
	if (is_on && rate > most)
		turn(t, k, false, mono_ns);
	else if (!is_on && mono_ns - k->quiet_since_mono_ns >= QUIET_NS)
		turn(t, k, true, mono_ns);
}

void exits_begin(struct track *t, struct kernel_events *k)
{
	const struct clock *clock = t->config.world->clock;

	k->exits_since_mono_ns = UINT64_MAX;
	k->judged_mono_ns = clock->mono_ns(clock);
	if (k->exits_fd >= 0)
		turn(t, k, true, k->judged_mono_ns);
}
