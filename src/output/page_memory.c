/* What a page that is served was shown: which curves it has, and where each of them ends. */
#include "page.h"

struct galvo_page_memory {
	struct shown {
		char *key; /* NULL: an empty place */
		uint64_t end_mono_ns;
		uint64_t step_ns; /* from the end before, or what the last point covers if that is more */
	} *places; /* found by their keys' hashes */
	size_t len, cap;
	uint64_t newest_mono_ns;
};

/* What is still there is shown on and on: an end as old as this is of a process that is gone. */
#define FORGOTTEN_NS (UINT64_C(600) * 1000000000)

galvo_status galvo_page_memory_create(galvo_page_memory **ret_memory, galvo_error *reterr)
{
	galvo_page_memory *m;

	if (!ret_memory)
		return err_set(reterr, GALVO_ERR_INVALID, "a place for the memory is needed");
	m = alloc_array(1, sizeof(*m));
	if (!m)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	*ret_memory = m;
	return GALVO_OK;
}

void galvo_page_memory_destroy(galvo_page_memory *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->cap; i++)
		free(m->places[i].key);
	free(m->places);
	free(m);
}

/* Its place, or the empty one where it belongs. Places are never full. */
static struct shown *place_of(const galvo_page_memory *m, const char *key)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	const char *p;
	size_t i;

	for (p = key; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	for (i = (size_t)hash & (m->cap - 1); m->places[i].key && strcmp(m->places[i].key, key) != 0;)
		i = (i + 1) & (m->cap - 1);
	return &m->places[i];
}

static bool is_forgotten(const galvo_page_memory *m, const struct shown *s)
{
	return m->newest_mono_ns > FORGOTTEN_NS && s->end_mono_ns < m->newest_mono_ns - FORGOTTEN_NS;
}

/* Room for one more. What is old goes on this occasion. */
static bool grow(galvo_page_memory *m)
{
	galvo_page_memory larger = {.newest_mono_ns = m->newest_mono_ns};
	size_t i;

	if (m->len + m->len / 2 < m->cap)
		return true;
	for (i = 0; i < m->cap; i++)
		larger.len += m->places[i].key && !is_forgotten(m, &m->places[i]);
	for (larger.cap = 64; 3 * larger.len >= larger.cap;)
		larger.cap *= 2;
	larger.places = alloc_array(larger.cap, sizeof(*larger.places));
	if (!larger.places)
		return false;
	for (i = 0; i < m->cap; i++)
		if (is_forgotten(m, &m->places[i]))
			free(m->places[i].key);
		else if (m->places[i].key)
			*place_of(&larger, m->places[i].key) = m->places[i];
	free(m->places);
	*m = larger;
	return true;
}

bool page_memory_has(const void *memory, const char *key)
{
	const galvo_page_memory *m = memory;

	return m->cap && place_of(m, key)->key;
}

/* What the row before was, news do not know: their first point covers what others do, or less if it is alone. */
static void join(struct shown *s, struct points *p)
{
	const size_t last = p->len - 1;
	const uint64_t before = last ? p->end_mono_ns[last - 1] : s->end_mono_ns;
	uint64_t own = p->end_mono_ns[0] - p->from_mono_ns[0];

	own = own > s->step_ns ? own : s->step_ns;
	if (s->end_mono_ns && p->end_mono_ns[0] - s->end_mono_ns < own + own / 2)
		p->from_mono_ns[0] = s->end_mono_ns;
	s->step_ns = p->end_mono_ns[last] - (before ? before : p->from_mono_ns[last]);
	own = p->end_mono_ns[last] - p->from_mono_ns[last];
	s->step_ns = own > s->step_ns ? own : s->step_ns;
	s->end_mono_ns = p->end_mono_ns[last];
}

bool page_memory_note(galvo_page_memory *m, const char *key, struct points *p)
{
	struct shown *s;

	if (p->len == 0)
		return true;
	if (!grow(m))
		return false;
	s = place_of(m, key);
	if (!s->key) {
		s->key = strdup(key);
		if (!s->key)
			return false;
		m->len++;
	}
	if (s->end_mono_ns < p->end_mono_ns[0])
		join(s, p);
	else if (s->end_mono_ns < p->end_mono_ns[p->len - 1])
		s->end_mono_ns = p->end_mono_ns[p->len - 1];
	if (m->newest_mono_ns < s->end_mono_ns)
		m->newest_mono_ns = s->end_mono_ns;
	return true;
}
