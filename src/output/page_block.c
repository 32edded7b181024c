/* Blocks of a page: instants as varints, values as shuffled floats, both deflated; base64. */
#include <float.h>

#include "page.h"

#define PACK_LEVEL 3 /* 6 takes twice as long for 2 % less; bench/page */
#define BLOCK_BYTES_MAX (UINT32_C(1) << 30)
/* Around a block: its element, and what the document says of it. */
#define BLOCK_EXTRA_BYTES 100

static bool packer_open(struct packer *p)
{
	if (p->is_open)
		return deflateReset(&p->z) == Z_OK;
	if (deflateInit2(&p->z, PACK_LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	buf_init(&p->plain, BLOCK_BYTES_MAX);
	buf_init(&p->packed, BLOCK_BYTES_MAX);
	p->is_open = true;
	return true;
}

void packer_finish(struct packer *p)
{
	if (!p->is_open)
		return;
	deflateEnd(&p->z);
	buf_finish(&p->plain);
	buf_finish(&p->packed);
	p->is_open = false;
}

/* Deflates what is in `plain` and keeps a copy of what comes out. */
static galvo_status pack(struct packer *p, struct blocks *to, size_t *ret, galvo_error *reterr)
{
	size_t bound = deflateBound(&p->z, (uLong)p->plain.len), n;
	struct block *b;

	p->packed.len = 0;
	if (p->plain.failed || !buf_reserve(&p->packed, bound) ||
	    !grow_array((void **)&to->all, &to->cap, to->len, sizeof(*to->all), SIZE_MAX / 64))
		return page_no_memory(reterr);
	p->z.next_in = (Bytef *)p->plain.p;
	p->z.avail_in = (uInt)p->plain.len;
	p->z.next_out = (Bytef *)p->packed.p;
	p->z.avail_out = (uInt)bound;
	if (deflate(&p->z, Z_FINISH) != Z_STREAM_END)
		return page_no_memory(reterr);
	n = bound - p->z.avail_out;
	b = &to->all[to->len];
	b->bytes = alloc_array(n, 1);
	if (!b->bytes)
		return page_no_memory(reterr);
	memcpy(b->bytes, p->packed.p, n);
	b->len = n;
	to->written_bytes += (n + 2) / 3 * 4 + BLOCK_EXTRA_BYTES;
	*ret = to->len++;
	return GALVO_OK;
}

/* Room for ten bytes is there. */
static char *put_zigzag(char *to, uint64_t v)
{
	uint64_t bits = (v << 1) ^ (v >> 63 ? UINT64_MAX : 0);

	for (; bits >= 0x80; bits >>= 7)
		*to++ = (char)(bits | 0x80);
	*to++ = (char)bits;
	return to;
}

/* Differences wrap around, so that whatever is in them comes back. */
galvo_status pack_instants(struct packer *p, const uint64_t *from, const uint64_t *end, size_t n,
                           uint64_t zero, struct blocks *to, size_t *ret, galvo_error *reterr)
{
	uint64_t before = zero, difference = 0;
	char *at;
	size_t i;

	if (!packer_open(p))
		return page_no_memory(reterr);
	p->plain.len = 0;
	if (n > BLOCK_BYTES_MAX / 20 || !buf_reserve(&p->plain, n * 20 + 1))
		return page_no_memory(reterr);
	at = p->plain.p;
	for (i = 0; i < n; i++) {
		at = put_zigzag(at, end[i] - before - difference);
		difference = end[i] - before;
		before = end[i];
	}
	for (i = 0, before = zero; i < n; i++) {
		at = put_zigzag(at, from[i] - before);
		before = end[i];
	}
	p->plain.len = (size_t)(at - p->plain.p);
	return pack(p, to, ret, reterr);
}

/* The bytes of n numbers: all first ones, all second ones … from the lowest up. */
static void shuffle(char *to, const double *values, size_t n, unsigned bytes)
{
	size_t i;
	unsigned k;

	for (i = 0; i < n; i++) {
		float narrow = (float)fmax(-FLT_MAX, fmin(values[i], FLT_MAX));
		uint32_t narrow_bits;
		uint64_t bits;

		memcpy(&bits, &values[i], sizeof(bits));
		memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
		if (bytes == 4)
			bits = narrow_bits;
		for (k = 0; k < bytes; k++)
			to[k * n + i] = (char)(bits >> (8 * k));
	}
}

galvo_status pack_values(struct packer *p, const struct pack_values *values, struct blocks *to,
                         size_t *ret, galvo_error *reterr)
{
	size_t part = values->n * values->bytes, i;

	if (!packer_open(p))
		return page_no_memory(reterr);
	p->plain.len = 0;
	if (values->n > BLOCK_BYTES_MAX / 32 || !buf_reserve(&p->plain, part * values->parts_len + 1))
		return page_no_memory(reterr);
	for (i = 0; i < values->parts_len; i++)
		shuffle(p->plain.p + i * part, values->parts[i], values->n, values->bytes);
	p->plain.len = part * values->parts_len;
	return pack(p, to, ret, reterr);
}

void blocks_finish(struct blocks *b)
{
	size_t i;

	for (i = 0; i < b->len; i++)
		free(b->all[i].bytes);
	free(b->all);
	*b = (struct blocks){0};
}

void put_base64(struct buf *b, const char *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)bytes;
	char *to;
	size_t i;

	if (!buf_reserve(b, (n + 2) / 3 * 4))
		return;
	to = b->p + b->len;
	for (i = 0; i + 2 < n; i += 3, to += 4) {
		to[0] = digits[p[i] >> 2];
		to[1] = digits[(p[i] & 3) << 4 | p[i + 1] >> 4];
		to[2] = digits[(p[i + 1] & 15) << 2 | p[i + 2] >> 6];
		to[3] = digits[p[i + 2] & 63];
	}
	if (i < n) {
		unsigned second = i + 1 < n ? p[i + 1] : 0;

		to[0] = digits[p[i] >> 2];
		to[1] = digits[(p[i] & 3U) << 4 | second >> 4];
		to[2] = i + 1 < n ? digits[(second & 15) << 2] : '=';
		to[3] = '=';
	}
	b->len += (n + 2) / 3 * 4;
}
