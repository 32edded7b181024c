/* Is this the name of something that can be counted? If not, what might have been meant. */
#include "host.h"

enum { TEXT_MAX = 4096, SHOWN_CHARS = 96, PARTS_MAX = 64, CHIPS_SHOWN = 3 };


/* ---- parts of names -------------------------------------------------------------------------- */

size_t base_chars(const char *name)
{
	const char *unit = strstr(name, "__");

	return unit ? (size_t)(unit - name) + strcspn(unit, ".") : strcspn(name, ".");
}

void put_name(struct buf *b, const char *name)
{
	buf_put_escaped(b, span_of(name, strnlen(name, SHOWN_CHARS)));
}

/* What is too long ends behind a word, and says so. */
static void clip(char *to, size_t cap, struct span text)
{
	static const char end[] = "…";

	if (text.n >= cap) {
		text.n = cap - sizeof(end);
		while (text.n && text.p[text.n - 1] != ' ')
			text.n--;
	}
	utf8_copy(to, cap, text);
	if (text.n && text.p[text.n - 1] == ' ')
		memcpy(to + text.n, end, sizeof(end));
}

galvo_status say_invalid(struct buf *b, galvo_error *reterr)
{
	galvo_status status = GALVO_ERR_INVALID;

	if (!b->p)
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	else if (reterr)
		clip(reterr->text, sizeof(reterr->text), span_of(b->p, b->len));
	if (reterr) {
		reterr->status = status;
		reterr->sys_errno = 0;
	}
	buf_finish(b);
	return status;
}

/* ---- suffixes -------------------------------------------------------------------------------- */

struct suffixes {
	const char *const *all;
	size_t len;
	struct span rollups[PARTS_MAX], rests[PARTS_MAX]; /* ".avg", ".per_second"; none twice */
	size_t rollups_len, rests_len;
};

static void add_part(struct span *parts, size_t *len, struct span part)
{
	size_t i;

	for (i = 0; i < *len && !span_eq(parts[i], part); i++)
		;
	if (i == *len && i < PARTS_MAX)
		parts[(*len)++] = part;
}

static bool take_suffixes(struct gpu_host *h, const struct gpu_metric *metric, struct suffixes *s)
{
	size_t i, n;

	memset(s, 0, sizeof(*s));
	if (gpu_host_suffixes(h, metric, &s->all, &s->len, NULL))
		return false;
	for (i = 0; i < s->len; i++) {
		n = 1 + strcspn(s->all[i] + 1, ".");
		add_part(s->rollups, &s->rollups_len, span_of(s->all[i], n));
		add_part(s->rests, &s->rests_len, span_str(s->all[i] + n));
	}
	return s->len > 0;
}

static bool begins(struct span s, struct span with)
{
	return with.n > 0 && s.n > with.n && memcmp(s.p, with.p, with.n) == 0;
}

static bool ends(struct span s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

/* Is s the same as t but for its end? */
static bool is_twin(struct span s, const char *end_of_s, struct span t, const char *end_of_t)
{
	size_t n = s.n - strlen(end_of_s);

	return ends(s, end_of_s) && ends(t, end_of_t) && t.n - strlen(end_of_t) == n &&
	       memcmp(s.p, t.p, n) == 0;
}

/* ".per_second .per_cycle_{active,elapsed} .peak_sustained…": briefly, as there is not much room. */
static void put_rests(struct buf *b, const struct suffixes *s, const char *between)
{
	size_t i, j, n = 0;

	for (i = 0; i < s->rests_len; i++) {
		struct span rest = s->rests[i];
		bool is_told = rest.n == 0, has_twin = false, has_more = false;

		for (j = 0; j < s->rests_len; j++) {
			is_told = is_told || begins(rest, s->rests[j]) ||
			          is_twin(rest, "_elapsed", s->rests[j], "_active");
			has_twin = has_twin || is_twin(rest, "_active", s->rests[j], "_elapsed");
			has_more = has_more || begins(s->rests[j], rest);
		}
		if (is_told)
			continue;
		if (has_twin)
			rest.n -= strlen("active");
		buf_printf(b, "%s%.*s%s%s", n++ ? between : "", (int)rest.n, rest.p,
		           has_twin ? "{active,elapsed}" : "", has_more ? "…" : "");
	}
}

static void put_legal(struct buf *b, const struct suffixes *s)
{
	bool is_grid = s->rollups_len * s->rests_len == s->len;
	size_t i, n = is_grid ? s->rollups_len : s->len;

	for (i = 0; i < n; i++) {
		struct span part = is_grid ? s->rollups[i] : span_str(s->all[i]);

		buf_printf(b, " %.*s", (int)part.n, part.p);
	}
	if (!is_grid || (s->rests_len == 1 && s->rests[0].n == 0))
		return;
	for (i = 0; i < s->rests_len && s->rests[i].n; i++)
		;
	buf_put_str(b, i < s->rests_len ? ", alone or followed by " : ", followed by ");
	put_rests(b, s, " ");
}

galvo_status metric_put_class(struct gpu_host *h, const struct gpu_metric *metric, struct buf *b,
                              galvo_error *reterr)
{
	struct suffixes s;
	bool is_whole = false;
	size_t i;

	if (!take_suffixes(h, metric, &s))
		return err_set(reterr, GALVO_ERR_IO, "%s: libcupti tells no suffixes", metric->name);
	for (i = 0; i < s.rollups_len; i++)
		buf_printf(b, "%s%.*s", i ? "," : ".{", (int)s.rollups[i].n - 1, s.rollups[i].p + 1);
	buf_put_str(b, "}");
	for (i = 0; i < s.rests_len; i++)
		is_whole = is_whole || s.rests[i].n == 0;
	if (!is_whole)
		put_rests(b, &s, "|");
	else if (s.rests_len > 1)
		buf_put_str(b, "[…]");
	return GALVO_OK;
}

static galvo_status no_suffix(const struct suffixes *s, const struct gpu_metric *base,
                              galvo_error *reterr)
{
	struct buf b;

	buf_init(&b, TEXT_MAX);
	put_name(&b, base->name);
	if (base->type == METRIC_COUNTER) {
		size_t i;

		buf_put_str(&b, " lacks a roll-up: a counter needs one of");
		for (i = 0; i < s->rollups_len; i++)
			buf_printf(&b, " %.*s", (int)s->rollups[i].n, s->rollups[i].p);
	} else {
		buf_printf(&b, " lacks a suffix: a %s needs one of", metric_type_name(base->type));
		put_legal(&b, s);
	}
	return say_invalid(&b, reterr);
}

static galvo_status wrong_suffix(const struct suffixes *s, const struct gpu_metric *base,
                                 const char *suffix, galvo_error *reterr)
{
	size_t i, cost, best = 2 + strlen(suffix) / 3;
	const char *meant = NULL;
	struct buf b;

	for (i = 0; i < s->len; i++) {
		cost = edit_distance(span_str(suffix), span_str(s->all[i]), true);
		if (cost < best) {
			best = cost;
			meant = s->all[i];
		}
	}
	buf_init(&b, TEXT_MAX);
	put_name(&b, base->name);
	buf_put_str(&b, " has no suffix '");
	put_name(&b, suffix);
	buf_put_str(&b, meant ? "'; did you mean " : "'");
	if (meant)
		buf_printf(&b, "%s?", meant);
	buf_printf(&b, "%s %s takes", meant ? " A" : "; a", metric_type_name(base->type));
	put_legal(&b, s);
	return say_invalid(&b, reterr);
}

/* ---- base names ------------------------------------------------------------------------------ */

/* ", which GH100, GA100 and 10 more have"; nothing if no chip has. */
static bool put_other_chips(struct gpu_host *h, const char *base, struct buf *b)
{
	const char *const *chips, *shown[CHIPS_SHOWN];
	size_t n = 0, i, found = 0;
	void *object;

	if (gpu_chips(&h->cupti, &chips, &n, NULL))
		return false;
	for (i = 0; i < n; i++) {
		if (host_object(&h->cupti, chips[i], CUPTI_PM_SAMPLING, NULL, &object))
			continue;
		if (host_knows(&h->cupti, object, base, NULL) && found++ < CHIPS_SHOWN)
			shown[found - 1] = chips[i];
		host_object_end(&h->cupti, object);
	}
	for (i = 0; i < found && i < CHIPS_SHOWN; i++)
		buf_printf(b, "%s%s", i == 0 ? ", which " : i + 1 == found ? " and " : ", ", shown[i]);
	if (found > CHIPS_SHOWN)
		buf_printf(b, " and %zu more", found - CHIPS_SHOWN);
	if (found)
		buf_put_str(b, found == 1 ? " has" : " have");
	return found > 0;
}

static bool is_of_range_profiler(struct gpu_host *h, const char *base)
{
	void *object;
	bool knows;

	if (host_object(&h->cupti, h->chip, CUPTI_RANGE_PROFILER, NULL, &object))
		return false;
	knows = host_knows(&h->cupti, object, base, NULL);
	host_object_end(&h->cupti, object);
	return knows;
}

/* With the suffix that was given, if it may stand there. */
static void put_candidate(struct gpu_host *h, const char *base, const char *suffix, struct buf *b)
{
	char full[2 * SHOWN_CHARS];
	size_t n = (size_t)snprintf(full, sizeof(full), "%s%s", base, suffix), i;

	for (i = strlen(base); i < n && i < sizeof(full); i++)
		if (full[i] >= 'A' && full[i] <= 'Z')
			full[i] = (char)(full[i] - 'A' + 'a');
	if (n >= sizeof(full) || !host_knows(&h->cupti, h->object, full, NULL))
		buf_put_str(b, base);
	else
		buf_put_str(b, full);
}

static galvo_status no_metric(struct gpu_host *h, const char *base, const char *suffix,
                              galvo_error *reterr)
{
	struct nearest found = {.len = 0};
	struct gpu_metric m;
	struct buf b;
	size_t i;

	buf_init(&b, TEXT_MAX);
	if (!strstr(base, "__")) {
		buf_put_str(&b, "'");
		put_name(&b, base);
		buf_put_str(&b, "' is no metric, which reads unit__counter.suffix");
		return say_invalid(&b, reterr);
	}
	for (i = 0; gpu_host_metric_at(h, i, &m); i++)
		nearest_offer(&found, span_str(base), m.name);
	buf_printf(&b, "%s has no metric '", h->chip);
	put_name(&b, base);
	buf_put_str(&b, "'");
	if (!put_other_chips(h, base, &b) && is_of_range_profiler(h, base))
		buf_put_str(&b, " that can be sampled: it is one of kernel profilers (ncu)");
	for (i = 0; i < found.len; i++) {
		buf_put_str(&b, i == 0 ? "; did you mean " : i + 1 == found.len ? " or " : ", ");
		put_candidate(h, found.names[i], suffix, &b);
	}
	buf_put_str(&b, found.len ? "?" : "");
	return say_invalid(&b, reterr);
}

/* ---- the doors ------------------------------------------------------------------------------- */

static galvo_status find(struct gpu_host *h, const char *name, bool needs_suffix,
                         struct gpu_metric *ret, galvo_error *reterr)
{
	size_t chars = base_chars(name);
	struct gpu_metric base;
	struct suffixes s;
	galvo_status status;
	char *text;

	if ((name[chars] || !needs_suffix) && host_knows(&h->cupti, h->object, name, ret))
		return GALVO_OK;
	text = strndup(name, chars);
	if (!text)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (!host_knows(&h->cupti, h->object, text, &base))
		status = no_metric(h, text, name + chars, reterr);
	else if (!take_suffixes(h, &base, &s))
		status = err_set(reterr, GALVO_ERR_IO, "%s: libcupti tells no suffixes", text);
	else if (!name[chars])
		status = no_suffix(&s, &base, reterr);
	else
		status = wrong_suffix(&s, &base, name + chars, reterr);
	free(text);
	return status;
}

galvo_status gpu_host_metric_find(struct gpu_host *h, const char *name, struct gpu_metric *ret,
                                  galvo_error *reterr)
{
	return find(h, name, false, ret, reterr);
}

galvo_status metric_check(struct gpu_host *h, const char *name, struct gpu_metric *ret,
                          galvo_error *reterr)
{
	return find(h, name, true, ret, reterr);
}

galvo_status gpu_host_check(struct gpu_host *h, const char *const *names, size_t n,
                            size_t *ret_passes, galvo_error *reterr)
{
	struct trial t;
	const char **all;
	galvo_status status = GALVO_OK;
	size_t i;

	if (n == 0)
		return err_set(reterr, GALVO_ERR_INVALID, "no metric is named");
	for (i = 0; i < n && status == GALVO_OK; i++)
		status = metric_check(h, names[i], NULL, reterr);
	if (status || !ret_passes)
		return status;
	all = alloc_array(n, sizeof(*all));
	if (!all)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	memcpy(all, names, n * sizeof(*all));
	status = host_try(h, all, n, &t, reterr);
	free(all);
	if (status)
		return status;
	*ret_passes = t.passes;
	if (t.passes == 0)
		status = err_set(reterr, GALVO_ERR_INVALID, "this %s cannot count them", h->chip);
	trial_end(h, &t);
	return status;
}
