/* The regions that are open: found by id, listed at each flush. */
#include "internal.h"

bool open_init(struct open_table *t)
{
	/* Pages of the pool are touched only as far as it is used. */
	*t = (struct open_table){
		.pool = alloc_array(OPEN_MAX, sizeof(*t->pool)),
		.buckets = alloc_array(OPEN_BUCKETS, sizeof(struct open_region *)),
		.all = alloc_array(OPEN_MAX, sizeof(const struct region *)),
	};
	return t->pool && t->buckets && t->all;
}

void open_finish(struct open_table *t)
{
	size_t i;

	for (i = 0; t->pool && i < t->pool_used; i++)
		free(t->pool[i].long_name);
	free(t->pool);
	free(t->buckets);
	free(t->all);
	*t = (struct open_table){0};
}

static struct open_region **bucket_of(const struct open_table *t, uint64_t id)
{
	return &t->buckets[id % OPEN_BUCKETS];
}

/* What has no memory for a long name keeps the start of it. */
static void copy_name(struct open_region *o, struct span name)
{
	if (name.n > OPEN_NAME_BYTES) {
		o->long_name = alloc_array(name.n, 1);
		if (!o->long_name)
			name.n = OPEN_NAME_BYTES;
	}
	o->region.name = span_of(o->long_name ? o->long_name : o->name, name.n);
	if (name.n)
		memcpy(o->long_name ? o->long_name : o->name, name.p, name.n);
}

bool open_add(struct open_table *t, const struct region *r)
{
	struct open_region **bucket = bucket_of(t, r->id), *o = t->unused;

	if (o)
		t->unused = o->next;
	else if (t->pool_used < OPEN_MAX)
		o = &t->pool[t->pool_used++];
	else
		return false;
	o->region = *r;
	copy_name(o, r->name);
	o->next = *bucket;
	*bucket = o;
	o->at = t->len;
	t->all[t->len++] = &o->region;
	return true;
}

struct open_region *open_find(const struct open_table *t, uint64_t id)
{
	struct open_region *o;

	for (o = *bucket_of(t, id); o && o->region.id != id; o = o->next)
		;
	return o;
}

void open_remove(struct open_table *t, struct open_region *o)
{
	struct open_region **at = bucket_of(t, o->region.id), *last;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	last = open_find(t, t->all[t->len - 1]->id);
	if (o->at != --t->len && last) {
		t->all[o->at] = &last->region;
		last->at = o->at;
	}
	free(o->long_name);
	o->long_name = NULL;
	o->next = t->unused;
	t->unused = o;
}
