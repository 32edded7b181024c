/*
 * What was forked since the last look. Numbers of processes are given out in turn, and proc/loadavg
 * ends with the newest: those from the last one we saw up to it are looked at one by one, and whose
 * parent is followed is admitted. That is work for each fork on the machine, not for each thread of
 * each followed process. Where it would be more, and now and then in any case, the walk is done.
 */
#include "internal.h"

enum {
	RANGE_MAX = 4096, /* new numbers that are looked at one by one */
	AGAIN = 256,      /* the newest ones are looked at twice, see track_look */
	PEEKS_PER_FILE = 4, /* of the walk: most numbers are of processes that are gone already */
	PEEKS_MIN = 64,
	FILES_A_WALK = 256, /* with more, walks are further apart */
};
#define WALK_EVERY_NS (NS_PER_S * 5)

/* 0: it cannot be known. Processes of elsewhere have numbers of their own. */
static uint64_t newest_number(struct track *t)
{
	const struct world *w = t->config.world;
	struct span text, word = {0};
	uint64_t last = 0;

	if ((!w->live && !w->epoch) ||
	    kept_read(&t->loadavg, w->root_fd, "proc/loadavg", w->epoch, FILE_RECORD, &t->children,
	              &text, NULL) != GALVO_OK)
		return 0;
	text = span_trim(text);
	while (span_take_word(&text, &word))
		;
	return span_to_u64(word, &last) ? last : 0;
}

/*
 * A parent may be new itself and come after its child: those that nobody wanted are asked again. False:
 * there was no time for all of them.
 */
static bool admit_families(struct track *t, uint64_t mono_ns)
{
	size_t i, kept, before;
	bool is_done = true;

	do {
		before = t->strangers_len;
		for (i = kept = 0; i < before; i++) {
			const struct stranger s = t->strangers[i];
			struct newcomer who;

			if (!track_is_wanted(t, s.ppid, &who)) {
				t->strangers[kept++] = s;
				continue;
			}
			who.pid = s.pid;
			is_done &= track_admit_child(t, &who, mono_ns) != GALVO_ERR_STATE;
		}
		t->strangers_len = kept;
	} while (kept < before);
	return is_done;
}

/* Of those that are there still. */
static void read_parents(struct track *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->strangers_len; i++) {
		const uint32_t pid = t->strangers[i].pid;
		struct process_stat stat;

		if (track_read_stat_of(t->config.world, pid, &t->children, &stat) == GALVO_OK)
			t->strangers[kept++] = (struct stranger){pid, stat.ppid};
	}
	t->strangers_len = kept;
}

static bool look_at(struct track *t, uint64_t from, uint64_t to, uint64_t mono_ns)
{
	t->strangers_len = 0;
	for (; from <= to; from++) {
		if (track_find(t, (uint32_t)from) ||
		    !grow_array((void **)&t->strangers, &t->strangers_cap, t->strangers_len,
		                sizeof(*t->strangers), RANGE_MAX + AGAIN))
			continue;
		t->strangers[t->strangers_len++] = (struct stranger){.pid = (uint32_t)from};
	}
	pthread_mutex_unlock(&t->lock);
	read_parents(t);
	pthread_mutex_lock(&t->lock);
	return admit_families(t, mono_ns);
}

/* Now and then, since a walk finds what was missed; also later than the last fork. */
static bool is_walk_due(struct track *t, uint64_t last, uint64_t mono_ns)
{
	t->has_unwalked |= last != t->last_fork;
	return t->must_walk || !last || !t->config.world->live ||
	       (t->has_unwalked &&
	        mono_ns - t->walked_mono_ns >= WALK_EVERY_NS * (1 + t->asked / FILES_A_WALK));
}

/*
 * A number is given out a moment before its process can be seen, so the newest are looked at again in
 * the next scan, whether anything was forked meanwhile or not.
 */
void track_look(struct track *t, uint64_t mono_ns, bool is_whole)
{
	uint64_t last, before = t->last_fork, from = t->look_from;
	bool must_walk;

	t->must_walk |= is_whole;
	if (kernel_look(t, mono_ns))
		return;
	last = newest_number(t);
	must_walk = is_walk_due(t, last, mono_ns);
	if (last && last == before && !from && !must_walk)
		return;
	t->last_fork = last;
	t->look_from = 0;
	if (last != before) {
		uint64_t next = before + 1, room = PEEKS_MIN + PEEKS_PER_FILE * t->asked;

		must_walk |= !before || last < before || last - before > RANGE_MAX ||
		             last - before > room;
		if (before && last > before)
			t->look_from = last - before > AGAIN ? last - AGAIN + 1 : next;
		from = from && from < next ? from : next;
	}
	t->must_walk = false;
	if (must_walk) {
		track_walk(t, mono_ns);
		t->walked_mono_ns = mono_ns;
		t->has_unwalked = false;
	} else if (!look_at(t, from, last, mono_ns)) {
		t->last_fork = before; /* those again, and what is new then */
		t->look_from = from;
	}
}
