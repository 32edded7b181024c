/* What goes into one pass: which names are in each other's way, and how many of a list there is room for. */
#include "host.h"

enum { CONFLICT_MAX = 6, TEXT_MAX = 4096 };

bool names_have(const struct names *n, const char *name)
{
	size_t i;

	for (i = 0; i < n->len; i++)
		if (strcmp(n->all[i], name) == 0)
			return true;
	return false;
}

/* In how many passes the first m of `more` are counted beside `names`; 0: some are refused. */
static galvo_status passes_of(struct gpu_host *h, const struct names *names,
                              const struct names *more, size_t m, size_t *ret_passes,
                              galvo_error *reterr)
{
	const char *all[2 * ROW_MAX];
	struct trial t;
	galvo_status status;
	size_t i;

	for (i = 0; i < names->len + m; i++)
		all[i] = i < names->len ? names->all[i] : more->all[i - names->len];
	status = host_try(h, all, names->len + m, &t, reterr);
	if (status)
		return status;
	*ret_passes = t.passes;
	trial_end(h, &t);
	return GALVO_OK;
}

/*
 * How many of `more` are the most that go into one pass beside `names`, if `most` of them are too many
 * and none of them is not.
 */
static galvo_status most_beside(struct gpu_host *h, const struct names *names,
                                const struct names *more, size_t most, size_t *ret,
                                galvo_error *reterr)
{
	size_t fits = 0, fails = most, middle, passes;
	galvo_status status;

	while (fails - fits > 1) {
		middle = fits + (fails - fits) / 2;
		status = passes_of(h, names, more, middle, &passes, reterr);
		if (status)
			return status;
		if (passes == 1)
			fits = middle;
		else
			fails = middle;
	}
	*ret = fits;
	return GALVO_OK;
}

/* ---- names that have to be counted --------------------------------------------------------------- */

/* The names at fault, the last one first: no fewer of them would be. */
struct conflict {
	struct names names;
	size_t passes;   /* of these alone */
	bool has_more;   /* there are more than are worth telling */
	bool others_fit; /* without the first one */
};

/*
 * Takes the shortest beginning of the list that does not fit: its last name is at fault, with some of
 * those before it. The same with that one in hand, until what is in hand does not fit by itself.
 */
static galvo_status find_conflict(struct gpu_host *h, const struct names *all, struct conflict *c,
                                  galvo_error *reterr)
{
	size_t most = all->len, fits;
	galvo_status status = GALVO_OK;

	memset(c, 0, sizeof(*c));
	for (;;) {
		status = most_beside(h, &c->names, all, most, &fits, reterr);
		if (status)
			return status;
		c->names.all[c->names.len++] = all->all[fits];
		most = fits;
		status = passes_of(h, &c->names, all, 0, &c->passes, reterr);
		if (status || c->passes != 1)
			return status;
		c->has_more = c->names.len == CONFLICT_MAX;
		if (c->has_more || most == 0)
			return GALVO_OK;
	}
}

static galvo_status try_others(struct gpu_host *h, const struct names *all, struct conflict *c,
                               galvo_error *reterr)
{
	struct names others = {.len = 0};
	size_t i, passes = 1;
	galvo_status status = GALVO_OK;

	for (i = 0; i < all->len; i++)
		if (all->all[i] != c->names.all[0])
			others.all[others.len++] = all->all[i];
	if (others.len)
		status = passes_of(h, &others, all, 0, &passes, reterr);
	c->others_fit = passes == 1;
	return status;
}

static galvo_status say_conflict(const struct gpu_host *h, const struct names *all,
                                 const struct conflict *c, galvo_error *reterr)
{
	const struct names *n = &c->names;
	struct buf b;
	size_t i;

	buf_init(&b, TEXT_MAX);
	put_name(&b, n->all[0]);
	if (n->len == 1 && c->passes == 0) {
		buf_printf(&b, " cannot be counted on this %s", h->chip);
		return say_invalid(&b, reterr);
	}
	if (n->len == 1) {
		buf_printf(&b, " needs %zu passes alone on %s, and only one pass can be sampled", c->passes, h->chip);
	} else {
		buf_printf(&b, " does not fit into one pass of %s beside ", h->chip);
		for (i = 1; i < n->len; i++) {
			if (i > 1)
				buf_put_str(&b, i + 1 < n->len || c->has_more ? ", " : " and ");
			put_name(&b, n->all[i]);
		}
		if (c->has_more)
			buf_put_str(&b, " and others");
	}
	if (c->others_fit && all->len > n->len)
		buf_printf(&b, "; the other %zu fit without it", all->len - 1);
	return say_invalid(&b, reterr);
}

galvo_status fit_all(struct gpu_host *h, const struct names *names, galvo_error *reterr)
{
	const struct names none = {.len = 0};
	struct conflict c;
	size_t passes;
	galvo_status status = passes_of(h, names, &none, 0, &passes, reterr);

	if (status || passes == 1)
		return status;
	status = find_conflict(h, names, &c, reterr);
	if (status == GALVO_OK)
		status = try_others(h, names, &c, reterr);
	return status ? status : say_conflict(h, names, &c, reterr);
}

/* ---- names that may be left out ------------------------------------------------------------------ */

static galvo_status why_not(struct gpu_host *h, const char *name, char why[WHY_BYTES],
                            galvo_error *reterr)
{
	const struct names one = {.all = {name}, .len = 1};
	size_t passes;
	galvo_status status = passes_of(h, &one, &one, 0, &passes, reterr);

	if (status)
		return status;
	if (passes == 0)
		snprintf(why, WHY_BYTES, "this %s cannot count it", h->chip);
	else if (passes > 1)
		snprintf(why, WHY_BYTES, "needs %zu passes alone on %s", passes, h->chip);
	else
		snprintf(why, WHY_BYTES, "does not fit into one pass of %s beside the others", h->chip);
	return GALVO_OK;
}

galvo_status fit_more(struct gpu_host *h, struct names *names, const struct names *more,
                      left_out tell, void *ctx, galvo_error *reterr)
{
	struct names rest = *more;
	char why[WHY_BYTES];
	galvo_status status;
	size_t passes, fits;

	while (rest.len) {
		size_t room = ROW_MAX - names->len, most = rest.len < room ? rest.len : room;

		passes = 1;
		status = most ? passes_of(h, names, &rest, most, &passes, reterr) : GALVO_OK;
		fits = most;
		if (status == GALVO_OK && passes != 1)
			status = most_beside(h, names, &rest, most, &fits, reterr);
		if (status)
			return status;
		memcpy(names->all + names->len, rest.all, fits * sizeof(rest.all[0]));
		names->len += fits;
		if (fits == rest.len)
			return GALVO_OK;
		if (names->len == ROW_MAX)
			snprintf(why, sizeof(why), "a sample has room for %d values", ROW_MAX);
		else
			status = why_not(h, rest.all[fits], why, reterr);
		if (status)
			return status;
		if (!tell(ctx, rest.all[fits], why))
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
		rest.len -= fits + 1;
		memmove(rest.all, rest.all + fits + 1, rest.len * sizeof(rest.all[0]));
	}
	return GALVO_OK;
}
