/* The curves of a page: which of them share their instants, and what is packed of each. */
#include "page.h"

/* ---- bases: instants that curves have in common ----------------------------------------------------- */

static uint64_t hash_words(uint64_t hash, const uint64_t *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

static bool is_same(const struct base *b, const struct points *p)
{
	size_t bytes = p->len * sizeof(uint64_t);

	return b->len == p->len && memcmp(b->end, p->end_mono_ns, bytes) == 0 &&
	       memcmp(b->from, p->from_mono_ns, bytes) == 0;
}

/* The base of these points; a new one takes their arrays over. SIZE_MAX: no memory. */
static size_t base_of(struct page_run_data *r, struct points *p)
{
	uint64_t hash = hash_words(hash_words(p->len, p->end_mono_ns, p->len), p->from_mono_ns, p->len);
	size_t i;

	for (i = 0; i < r->bases_len; i++)
		if (r->bases[i].hash == hash && is_same(&r->bases[i], p))
			return i;
	if (!grow_array((void **)&r->bases, &r->bases_cap, i, sizeof(*r->bases), SIZE_MAX / 256))
		return SIZE_MAX;
	r->bases[i] = (struct base){.from = p->from_mono_ns, .end = p->end_mono_ns, .len = p->len,
	                            .hash = hash};
	p->from_mono_ns = p->end_mono_ns = NULL;
	return r->bases_len++;
}

bool base_is_whole(const struct base *b)
{
	return b->pieces_len && b->pieces[0].per == 1 && b->pieces[0].n == b->len;
}

/* ---- figures ---------------------------------------------------------------------------------------- */

static void figure_out(struct page_curve *c, const struct base *b, const double *value)
{
	double integral = 0, time = 0;
	size_t i;

	c->n = b->len;
	c->min = c->max = value[0];
	for (i = 0; i < b->len; i++) {
		double s = (double)(b->end[i] - b->from[i]) / 1e9;

		integral += value[i] * s;
		time += s;
		c->min = value[i] < c->min ? value[i] : c->min;
		c->max = value[i] > c->max ? value[i] : c->max;
	}
	c->mean = time > 0 ? integral / time : NAN;
	c->integral = c->curve->is_level ? NAN : integral;
}

/* ---- pieces ----------------------------------------------------------------------------------------- */

/* What a piece is made of: buckets, or points when lowest is NULL. */
struct slice {
	uint64_t *from, *end;
	double *lowest, *highest, *mean;
	size_t n, per;
};

/* One more piece of a curve; the first curve of a base makes the base's. */
static galvo_status add_piece(struct document *d, struct page_run_data *r, struct page_curve *c,
                              enum layer layer, size_t number, const struct slice *s,
                              galvo_error *reterr)
{
	const double *const points[] = {s->mean};
	const double *const buckets[] = {s->lowest, s->highest, s->mean};
	struct pack_values values = {.parts = s->per == 1 ? points : buckets,
	                             .parts_len = s->per == 1 ? 1 : 3, .n = s->n, .bytes = d->bytes};
	struct base *b = &r->bases[c->base];
	struct piece *piece;
	galvo_status status = GALVO_OK;

	if (number >= b->pieces_len) {
		if (!grow_array((void **)&b->pieces, &b->pieces_cap, b->pieces_len, sizeof(*b->pieces),
		                SIZE_MAX / 256))
			return page_no_memory(reterr);
		piece = &b->pieces[b->pieces_len];
		*piece = (struct piece){.layer = layer, .n = s->n, .per = s->per,
		                        .from_mono_ns = s->from[0], .end_mono_ns = s->end[s->n - 1]};
		status = pack_instants(&d->packer, s->from, s->end, s->n, r->zero_mono_ns,
		                       &d->blocks[layer], &piece->block, reterr);
		if (status != GALVO_OK)
			return status;
		b->pieces_len++;
	}
	if (!grow_array((void **)&c->blocks, &c->blocks_cap, number, sizeof(*c->blocks), SIZE_MAX / 64))
		return page_no_memory(reterr);
	return pack_values(&d->packer, &values, &d->blocks[layer], &c->blocks[number], reterr);
}

static galvo_status pack_points(struct document *d, struct page_run_data *r, struct page_curve *c,
                                const struct packing *p, size_t *number, double *value,
                                galvo_error *reterr)
{
	struct base *b = &r->bases[c->base];
	size_t i = count_up_to(b->end, b->len, p->from_mono_ns);
	size_t last = count_below(b->from, b->len, p->end_mono_ns);
	galvo_status status = GALVO_OK;

	for (; i < last && status == GALVO_OK; i += PIECE_POINTS) {
		struct slice s = {.from = b->from + i, .end = b->end + i, .mean = value + i, .per = 1,
		                  .n = last - i < PIECE_POINTS ? last - i : PIECE_POINTS};

		status = add_piece(d, r, c, p->layer, (*number)++, &s, reterr);
	}
	return status;
}

/* Turns an array of buckets into arrays of their members: three of doubles, two of instants. */
static bool slice_buckets(struct slice *s, const struct bucket *buckets, size_t n)
{
	size_t i;

	s->from = alloc_array(n, 2 * sizeof(uint64_t));
	s->lowest = alloc_array(n, 3 * sizeof(double));
	if (!s->from || !s->lowest)
		return false;
	s->end = s->from + n;
	s->highest = s->lowest + n;
	s->mean = s->highest + n;
	s->n = n;
	s->per = 1;
	for (i = 0; i < n; i++) {
		s->from[i] = buckets[i].from_mono_ns;
		s->end[i] = buckets[i].end_mono_ns;
		s->lowest[i] = buckets[i].min;
		s->highest[i] = buckets[i].max;
		s->mean[i] = buckets[i].mean;
		if (buckets[i].len > s->per)
			s->per = buckets[i].len;
	}
	return true;
}

static galvo_status pack_buckets(struct document *d, struct page_run_data *r, struct page_curve *c,
                                 const struct packing *p, size_t *number, double *value,
                                 galvo_error *reterr)
{
	struct base *b = &r->bases[c->base];
	struct points points = {.from_mono_ns = b->from, .end_mono_ns = b->end, .value = value,
	                        .len = b->len};
	struct slice s = {0};
	struct bucket *buckets = NULL;
	size_t n = 0;
	galvo_status status = points_buckets(&points, p->from_mono_ns, p->end_mono_ns, p->wish,
	                                     &buckets, &n, reterr);

	if (status == GALVO_OK && n) {
		status = slice_buckets(&s, buckets, n)
		         ? add_piece(d, r, c, p->layer, (*number)++, &s, reterr)
		         : page_no_memory(reterr);
		free(s.from);
		free(s.lowest);
	}
	free(buckets);
	return status;
}

/* All that is wanted of one curve. What a base has point by point already is not packed finer. */
static galvo_status pack_curve(struct document *d, struct page_run_data *r, struct page_curve *c,
                               double *value, struct packing *packings, size_t n,
                               const size_t *numbers, galvo_error *reterr)
{
	size_t number = numbers[c->base], i;
	galvo_status status = GALVO_OK;

	for (i = 0; i < n && status == GALVO_OK; i++) {
		struct packing p = packings[i];

		if (p.gave_up || (p.layer != LAYER_OVERVIEW && base_is_whole(&r->bases[c->base])))
			continue;
		if (p.end_s > 0) {
			p.from_mono_ns = r->zero_mono_ns + (uint64_t)(p.from_s * 1e9);
			p.end_mono_ns = r->zero_mono_ns + (uint64_t)(p.end_s * 1e9);
		}
		status = p.wish == SIZE_MAX ? pack_points(d, r, c, &p, &number, value, reterr)
		                            : pack_buckets(d, r, c, &p, &number, value, reterr);
		packings[i].gave_up = p.room_bytes && d->blocks[p.layer].written_bytes > p.room_bytes;
	}
	return status;
}

static galvo_status take_curve(const struct document *d, struct page_run_data *r,
                               struct page_curve *c, struct points *points)
{
	if (points->len == 0 || c->base != SIZE_MAX)
		return GALVO_OK;
	c->base = base_of(r, points);
	if (c->base == SIZE_MAX)
		return GALVO_ERR_NOMEM;
	if (!d->is_detail)
		figure_out(c, &r->bases[c->base], points->value);
	return GALVO_OK;
}

static galvo_status pack_run(struct document *d, struct page_run_data *r, struct packing *packings,
                             size_t n, galvo_error *reterr)
{
	/* How many pieces each base has before; bases that come up in this pass have none. */
	size_t *numbers = alloc_array(r->bases_len + r->curves_len + 1, sizeof(*numbers)), i;
	galvo_status status = numbers ? GALVO_OK : page_no_memory(reterr);

	for (i = 0; status == GALVO_OK && i < r->bases_len; i++)
		numbers[i] = r->bases[i].pieces_len;
	for (i = 0; status == GALVO_OK && i < r->curves_len; i++) {
		struct page_curve *c = &r->curves[i];
		struct points points = {0};

		status = curve_points(&r->panels, c->curve, &points, reterr);
		if (status == GALVO_OK && d->memory && !page_memory_note(d->memory, c->curve->key, &points))
			status = page_no_memory(reterr);
		if (status == GALVO_OK && take_curve(d, r, c, &points) != GALVO_OK)
			status = page_no_memory(reterr);
		if (status == GALVO_OK && c->base != SIZE_MAX)
			status = pack_curve(d, r, c, points.value, packings, n, numbers, reterr);
		points_finish(&points);
	}
	free(numbers);
	return status;
}

galvo_status document_pack(struct document *d, struct packing *packings, size_t n,
                           galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < d->runs_len && status == GALVO_OK; i++)
		status = pack_run(d, &d->runs[i], packings, n, reterr);
	for (i = 0; i < n; i++)
		if (packings[i].gave_up)
			document_drop(d, packings[i].layer);
	return status;
}

/* A layer's pieces are the last ones of their base. */
void document_drop(struct document *d, enum layer layer)
{
	size_t i, k;

	for (i = 0; i < d->runs_len; i++)
		for (k = 0; k < d->runs[i].bases_len; k++) {
			struct base *b = &d->runs[i].bases[k];

			while (b->pieces_len && b->pieces[b->pieces_len - 1].layer == layer)
				b->pieces_len--;
		}
	blocks_finish(&d->blocks[layer]);
}

bool document_has(const struct document *d, enum layer layer)
{
	return d->blocks[layer].len > 0;
}
