/* Lanes of regions: what is nested lies below, what overlaps lies apart, and all as high as it goes. */
#include "panels_parts.h"

/* A region that is being placed. */
struct piece {
	const struct region *region;
	uint64_t start_ns, end_ns;
	size_t number;  /* in the run: of two alike the first one is the outer one */
	uint32_t depth; /* its lane in its cluster */
	uint32_t cluster;
};

/* Regions of one thread or stream that overlap each other, one by one. */
struct cluster {
	uint64_t start_ns, end_ns;
	uint32_t height, lane;
	size_t number;
	bool is_gpu;
};

static struct piece piece_of(const struct region *r, size_t number)
{
	uint64_t end_ns = r->end_mono_ns ? r->end_mono_ns : UINT64_MAX;

	return (struct piece){.region = r, .number = number, .start_ns = r->start_mono_ns,
	                      .end_ns = end_ns > r->start_mono_ns ? end_ns : r->start_mono_ns + 1};
}

static int compare_u64(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* Outer ones before those that are in them. */
static int compare_spans(const struct piece *x, const struct piece *y)
{
	int order = compare_u64(x->start_ns, y->start_ns);

	if (!order)
		order = compare_u64(y->end_ns, x->end_ns);
	return order ? order : compare_u64(x->number, y->number);
}

/* By domain, and by thread or stream. */
static int compare_tracks(const struct piece *x, const struct piece *y)
{
	const struct region *a = x->region, *b = y->region;
	int order = compare_u64(a->domain, b->domain);

	if (!order)
		order = compare_u64(a->pid, b->pid);
	if (order)
		return order;
	return a->domain == DOMAIN_GPU ? compare_u64(a->stream, b->stream)
	                               : compare_u64(a->begin_thread, b->begin_thread);
}

static int compare_pieces(const void *a, const void *b)
{
	int order = compare_tracks(a, b);

	return order ? order : compare_spans(a, b);
}

static int compare_starts(const void *a, const void *b)
{
	return compare_spans(a, b);
}

static int compare_clusters(const void *a, const void *b)
{
	const struct cluster *x = *(const struct cluster *const *)a;
	const struct cluster *y = *(const struct cluster *const *)b;
	int order = compare_u64(x->start_ns, y->start_ns);

	return order ? order : compare_u64(x->number, y->number);
}

static int compare_ends(const void *a, const void *b)
{
	const struct cluster *x = *(const struct cluster *const *)a;
	const struct cluster *y = *(const struct cluster *const *)b;

	return compare_u64(x->end_ns, y->end_ns);
}

static size_t power_of_two(size_t least)
{
	size_t n = 1;

	while (n < least)
		n *= 2;
	return n;
}

/* ---- one thread: how deep each region lies ---------------------------------------------------- */

/* A tree over lanes: until when each is taken, the earliest of them above. */
struct depths {
	uint64_t *until_ns;
	size_t cap; /* lanes; a power of two */
};

static void depth_take(struct depths *d, size_t lane, uint64_t until_ns)
{
	size_t i = d->cap + lane;

	d->until_ns[i] = until_ns;
	while (i /= 2) {
		uint64_t left = d->until_ns[2 * i], right = d->until_ns[2 * i + 1];

		d->until_ns[i] = left < right ? left : right;
	}
}

/* The first lane from that one on that is free then; there always is one. */
static size_t depth_find(const struct depths *d, size_t from, uint64_t at_ns)
{
	size_t i = d->cap + from;

	while (d->until_ns[i] > at_ns) {
		while (i % 2)
			i /= 2;
		i++;
	}
	while (i < d->cap)
		i = d->until_ns[2 * i] <= at_ns ? 2 * i : 2 * i + 1;
	return i - d->cap;
}

/* Of those that end at a moment or later, the lowest lane: by the place of the end, latest first. */
struct holders {
	uint64_t *end_ns;
	uint32_t *below; /* a tree of sums, of maxima: the lane below, 0: there is none */
	size_t len;
};

static int compare_descending(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)b, *(const uint64_t *)a);
}

static void holders_init(struct holders *h, const struct piece *pieces, size_t n)
{
	size_t i;

	h->len = n;
	memset(h->below, 0, (n + 1) * sizeof(*h->below));
	for (i = 0; i < n; i++)
		h->end_ns[i] = pieces[i].end_ns;
	qsort(h->end_ns, n, sizeof(*h->end_ns), compare_descending);
}

/* Where the first one of that end is, counted from 1. */
static size_t holder_place(const struct holders *h, uint64_t end_ns)
{
	size_t low = 0, high = h->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->end_ns[middle] > end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low + 1;
}

static uint32_t holders_below(const struct holders *h, size_t place)
{
	uint32_t below = 0;

	for (; place; place &= place - 1)
		below = h->below[place] > below ? h->below[place] : below;
	return below;
}

static void holders_add(struct holders *h, size_t place, uint32_t below)
{
	for (; place <= h->len; place += place & (~place + 1))
		h->below[place] = h->below[place] < below ? below : h->below[place];
}

/* In order of their starts: what ends later than the next one holds it. */
static void place_track(struct piece *pieces, size_t n, struct depths *d, struct holders *h,
                        struct cluster *clusters, size_t *clusters_len)
{
	size_t i;

	d->cap = power_of_two(n + 1);
	memset(d->until_ns, 0, 2 * d->cap * sizeof(*d->until_ns));
	holders_init(h, pieces, n);
	for (i = 0; i < n; i++) {
		struct piece *p = &pieces[i];
		const size_t place = holder_place(h, p->end_ns);
		struct cluster *c;

		if (i == 0 || p->start_ns >= clusters[*clusters_len - 1].end_ns)
			clusters[(*clusters_len)++] = (struct cluster){
				.start_ns = p->start_ns, .end_ns = p->end_ns, .number = p->number,
				.is_gpu = p->region->domain == DOMAIN_GPU};
		c = &clusters[*clusters_len - 1];
		p->depth = (uint32_t)depth_find(d, holders_below(h, place), p->start_ns);
		depth_take(d, p->depth, p->end_ns);
		holders_add(h, place, p->depth + 1);
		p->cluster = (uint32_t)(*clusters_len - 1);
		c->end_ns = p->end_ns > c->end_ns ? p->end_ns : c->end_ns;
		c->height = p->depth + 1 > c->height ? p->depth + 1 : c->height;
	}
}

/* ---- all threads: where each cluster lies ------------------------------------------------------ */

/* A tree over lanes: how many are free side by side at its left end, at its right end, at most. */
struct run_of_lanes {
	uint32_t left, right, most;
};

struct lanes {
	struct run_of_lanes *node;
	size_t cap; /* a power of two */
};

static void lanes_join(struct lanes *l, size_t i, uint32_t half)
{
	const struct run_of_lanes *a = &l->node[2 * i], *b = a + 1;
	uint32_t across = a->right + b->left;
	uint32_t most = a->most > b->most ? a->most : b->most;

	l->node[i] = (struct run_of_lanes){
		.left = a->left == half ? half + b->left : a->left,
		.right = b->right == half ? half + a->right : b->right,
		.most = across > most ? across : most};
}

static void lanes_set(struct lanes *l, size_t lane, bool is_free)
{
	size_t i = l->cap + lane;
	uint32_t half = 1, one = is_free;

	l->node[i] = (struct run_of_lanes){one, one, one};
	while (i /= 2) {
		lanes_join(l, i, half);
		half *= 2;
	}
}

/* The first of so many that are free side by side; there always are. */
static size_t lanes_find(const struct lanes *l, uint32_t n)
{
	size_t i = 1, first = 0, half = l->cap / 2;

	while (i < l->cap) {
		const struct run_of_lanes *a = &l->node[2 * i], *b = a + 1;

		if (a->most < n && a->right + b->left >= n)
			return first + half - a->right;
		if (a->most >= n) {
			i = 2 * i;
		} else {
			i = 2 * i + 1;
			first += half;
		}
		half /= 2;
	}
	return first;
}

static void cluster_set(struct lanes *l, const struct cluster *c, bool is_free)
{
	uint32_t i;

	for (i = 0; i < c->height; i++)
		lanes_set(l, c->lane + i, is_free);
}

/* Returns how many lanes there are. */
static uint32_t place_clusters(struct cluster **by_start, struct cluster **by_end, size_t n,
                               struct lanes *l)
{
	uint32_t lanes = 0;
	size_t height = 0, ended = 0, i;

	for (i = 0; i < n; i++)
		height += by_start[i]->height;
	l->cap = power_of_two(height + 1);
	for (i = 0; i < l->cap; i++)
		l->node[l->cap + i] = (struct run_of_lanes){1, 1, 1};
	for (i = l->cap; i-- > 1;)
		lanes_join(l, i, l->node[2 * i].most);
	for (i = 0; i < n; i++) {
		struct cluster *c = by_start[i];

		for (; ended < n && by_end[ended]->end_ns <= c->start_ns; ended++)
			cluster_set(l, by_end[ended], true);
		c->lane = (uint32_t)lanes_find(l, c->height);
		cluster_set(l, c, false);
		lanes = c->lane + c->height > lanes ? c->lane + c->height : lanes;
	}
	return lanes;
}

/* ---- all of it --------------------------------------------------------------------------------- */

struct packer {
	struct piece *pieces;
	size_t len, clusters_len;
	struct cluster *clusters, **by_start, **by_end;
	struct depths depths;
	struct holders holders;
	struct lanes lanes;
};

static void packer_finish(struct packer *x)
{
	free(x->pieces);
	free(x->clusters);
	free(x->by_start);
	free(x->by_end);
	free(x->depths.until_ns);
	free(x->holders.end_ns);
	free(x->holders.below);
	free(x->lanes.node);
}

static bool packer_init(struct packer *x, size_t n)
{
	const size_t cap = power_of_two(n + 1);

	*x = (struct packer){.pieces = alloc_array(n, sizeof(*x->pieces)),
	                     .clusters = alloc_array(n, sizeof(*x->clusters)),
	                     .by_start = alloc_array(n, sizeof(struct cluster *)),
	                     .by_end = alloc_array(n, sizeof(struct cluster *)),
	                     .depths = {alloc_array(2 * cap, sizeof(*x->depths.until_ns)), 0},
	                     .holders = {alloc_array(n, sizeof(uint64_t)),
	                                 alloc_array(n + 1, sizeof(uint32_t)), 0},
	                     .lanes = {alloc_array(2 * cap, sizeof(*x->lanes.node)), 0}};
	return n < UINT32_MAX / 4 && x->pieces && x->clusters && x->by_start && x->by_end &&
	       x->depths.until_ns && x->holders.end_ns && x->holders.below && x->lanes.node;
}

static uint32_t place_domain(struct packer *x, bool is_gpu)
{
	size_t n = 0, i;

	for (i = 0; i < x->clusters_len; i++)
		if (x->clusters[i].is_gpu == is_gpu)
			x->by_start[n++] = &x->clusters[i];
	if (n == 0)
		return 0;
	qsort(x->by_start, n, sizeof(struct cluster *), compare_clusters);
	memcpy(x->by_end, x->by_start, n * sizeof(struct cluster *));
	qsort(x->by_end, n, sizeof(struct cluster *), compare_ends);
	return place_clusters(x->by_start, x->by_end, n, &x->lanes);
}

static void pack(struct packer *x, struct panels *p)
{
	size_t i, k;

	qsort(x->pieces, x->len, sizeof(*x->pieces), compare_pieces);
	for (i = 0; i < x->len; i = k) {
		for (k = i + 1; k < x->len && !compare_tracks(&x->pieces[i], &x->pieces[k]); k++)
			;
		place_track(x->pieces + i, k - i, &x->depths, &x->holders, x->clusters,
		            &x->clusters_len);
	}
	p->host_lanes = place_domain(x, false);
	p->gpu_lanes = place_domain(x, true);
	qsort(x->pieces, x->len, sizeof(*x->pieces), compare_starts);
}

galvo_status panels_lanes(struct panel_maker *m, galvo_error *reterr)
{
	const struct galvo_run *run = m->run;
	struct panels *p = m->panels;
	struct packer x;
	size_t i;

	if (!packer_init(&x, run->regions_len)) {
		packer_finish(&x);
		return panels_no_memory(reterr);
	}
	for (i = 0; i < run->regions_len; i++)
		if (!m->options.gpu_only || run->regions[i].domain == DOMAIN_GPU)
			x.pieces[x.len++] = piece_of(&run->regions[i], i);
	if (x.len)
		pack(&x, p);
	p->regions = panels_alloc(m->memory, x.len, sizeof(*p->regions));
	for (i = 0; p->regions && i < x.len; i++)
		p->regions[p->regions_len++] = (struct lane_region){
			x.pieces[i].region,
			x.clusters[x.pieces[i].cluster].lane + x.pieces[i].depth};
	packer_finish(&x);
	return p->regions ? GALVO_OK : panels_no_memory(reterr);
}
