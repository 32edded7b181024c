/* Memory that panels are made of: given back all at once. */
#include <stdalign.h>

#include "panels_parts.h"

#define CHUNK_BYTES (UINT32_C(64) << 10)

struct chunk {
	struct chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

void *panels_alloc(struct panels_memory *m, size_t n, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct chunk *c = m->chunks;
	size_t bytes, whole;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 4)
		return NULL;
	bytes = (bytes + align - 1) / align * align;
	if (!c || c->size - c->used < bytes) {
		whole = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
		c = alloc_array(1, sizeof(*c) + whole);
		if (!c)
			return NULL;
		*c = (struct chunk){.next = m->chunks, .size = whole};
		m->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += bytes;
	return p;
}

const char *panels_text(struct panels_memory *m, struct buf *b)
{
	char *text = b->failed ? NULL : panels_alloc(m, b->len + 1, 1);

	if (text && b->len)
		memcpy(text, b->p, b->len);
	b->len = 0;
	return text;
}

void panels_memory_destroy(struct panels_memory *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->feeds_len; i++)
		feed_finish(&m->feeds[i]);
	free(m->feeds);
	gpu_rows_finish(&m->samples);
	while (m->chunks) {
		struct chunk *c = m->chunks;

		m->chunks = c->next;
		free(c);
	}
	free(m);
}
