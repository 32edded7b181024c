/* Memory of a run, given back all at once, and names by number. */
#include "reader.h"

enum { BLOCK_BYTES = 16 << 10, LARGE_BYTES = 4 << 10, FIRST_SLOTS = 16 };

struct arena_block {
	struct arena_block *next;
	void *adopted;
	size_t used, cap;
	_Alignas(max_align_t) char bytes[];
};

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	struct arena_block *b = a->top, *fresh;
	size_t bytes, cap;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
	if (b && b->cap - b->used >= bytes) {
		b->used += bytes;
		return b->bytes + b->used - bytes;
	}
	cap = bytes > LARGE_BYTES ? bytes : BLOCK_BYTES;
	fresh = calloc(1, sizeof(*fresh) + cap);
	if (!fresh)
		return NULL;
	fresh->used = bytes;
	fresh->cap = cap;
	if (b && cap == bytes) { /* a large one: go on filling the block at the top */
		fresh->next = b->next;
		b->next = fresh;
	} else {
		fresh->next = b;
		a->top = fresh;
	}
	return fresh->bytes;
}

void *arena_copy(struct arena *a, const void *from, size_t n, size_t size)
{
	void *to = arena_alloc(a, n, size);

	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

const char *arena_text(struct arena *a, struct span s)
{
	char *to = arena_alloc(a, s.n + 1, 1);

	if (to && s.n)
		memcpy(to, s.p, s.n);
	return to;
}

bool arena_adopt(struct arena *a, void *p)
{
	struct arena_block *b = calloc(1, sizeof(*b));

	if (!b)
		return false;
	b->adopted = p;
	b->next = a->top ? a->top->next : NULL;
	*(a->top ? &a->top->next : &a->top) = b;
	return true;
}

void arena_finish(struct arena *a)
{
	while (a->top) {
		struct arena_block *b = a->top;

		a->top = b->next;
		free(b->adopted);
		free(b);
	}
}

void interner_init(struct interner *it, size_t max)
{
	*it = (struct interner){.max = max < UINT32_MAX ? max : UINT32_MAX - 1};
	buf_init(&it->bytes, SIZE_MAX / 2);
	buf_init(&it->starts, SIZE_MAX / 2);
}

void interner_finish(struct interner *it)
{
	buf_finish(&it->bytes);
	buf_finish(&it->starts);
	free(it->slots);
	it->slots = NULL;
	it->slots_len = it->len = 0;
}

static struct span key_at(const struct interner *it, size_t i)
{
	size_t start, end = it->bytes.len;

	memcpy(&start, it->starts.p + i * sizeof(start), sizeof(start));
	if (i + 1 < it->len)
		memcpy(&end, it->starts.p + (i + 1) * sizeof(end), sizeof(end));
	return span_of(it->bytes.p + start, end - start - 1);
}

/* FNV-1a, folded once more because its low bits alone pick the slot. */
static size_t hash(struct span key)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * UINT64_C(0x100000001b3);
	return (size_t)(h ^ h >> 32);
}

/* Where the key is, or where it would go. */
static uint32_t *slot_find(const struct interner *it, struct span key)
{
	size_t i = hash(key) & (it->slots_len - 1);

	while (it->slots[i] && !span_eq(key_at(it, it->slots[i] - 1), key))
		i = (i + 1) & (it->slots_len - 1);
	return &it->slots[i];
}

static bool slots_grow(struct interner *it)
{
	size_t n = it->slots_len ? it->slots_len * 2 : FIRST_SLOTS, i;
	uint32_t *slots;

	if (it->len < it->slots_len / 2)
		return true;
	slots = alloc_array(n, sizeof(*slots));
	if (!slots)
		return false;
	free(it->slots);
	it->slots = slots;
	it->slots_len = n;
	for (i = 0; i < it->len; i++)
		*slot_find(it, key_at(it, i)) = (uint32_t)i + 1;
	return true;
}

size_t intern(struct interner *it, struct span key)
{
	size_t start = it->bytes.len;
	uint32_t *slot;

	if (!slots_grow(it))
		return INTERN_NOMEM;
	slot = slot_find(it, key);
	if (*slot)
		return *slot - 1;
	if (it->len >= it->max)
		return INTERN_FULL;
	if (!buf_reserve(&it->bytes, key.n + 1) || !buf_reserve(&it->starts, sizeof(start)))
		return INTERN_NOMEM;
	buf_put(&it->bytes, key.p, key.n);
	buf_put(&it->bytes, "", 1);
	buf_put(&it->starts, &start, sizeof(start));
	*slot = (uint32_t)++it->len;
	return it->len - 1;
}

size_t intern_text(struct interner *it, struct span text)
{
	char clean[NAME_MAX_BYTES];

	text.n = strnlen(text.p ? text.p : "", text.n);
	return intern(it, span_of(clean, utf8_copy(clean, sizeof(clean), text)));
}

const struct span *interner_spans(const struct interner *it, struct arena *a)
{
	struct span *keys = arena_alloc(a, it->len, sizeof(*keys));
	size_t i;

	for (i = 0; keys && i < it->len; i++) {
		struct span key = key_at(it, i);

		keys[i] = span_of(arena_text(a, key), key.n);
		if (!keys[i].p)
			return NULL;
	}
	return keys;
}

const char *const *interner_export(const struct interner *it, struct arena *a)
{
	const char **names = arena_alloc(a, it->len, sizeof(*names));
	size_t i;

	for (i = 0; names && i < it->len; i++) {
		names[i] = arena_text(a, key_at(it, i));
		if (!names[i])
			return NULL;
	}
	return names;
}
