/* Lines, columns and keys with values, taken apart by tables. */
#include "parser.h"

galvo_status lines_parse(struct span text, const char *path, const char *want,
                         enum line (*read)(struct span line, struct raw_sink *),
                         struct raw_sink *sink, galvo_error *reterr)
{
	struct span rest = text, line, bad = {0};
	bool got = false;

	while (span_take_line(&rest, &line)) {
		enum line kind = read(line, sink);

		if (kind == LINE_LAST)
			break;
		got |= kind == LINE_READ;
		if (kind == LINE_BAD && !bad.p)
			bad = line;
	}
	return bad.p && !got ? err_malformed(reterr, path, text, bad, want) : GALVO_OK;
}

static bool ends_word(struct span rest)
{
	return rest.n == 0 || rest.p[0] == ' ' || rest.p[0] == '\t' || rest.p[0] == '\r' ||
	       rest.p[0] == '\n';
}

void columns_read(struct span line, size_t max, struct columns *ret)
{
	struct span rest = line, word;
	uint32_t i;

	ret->good = 0;
	for (i = 0; i < max; i++) {
		bool number = span_take_u64(&rest, &ret->value[i]);

		if (number && ends_word(rest)) {
			ret->good |= FIELD(i);
			continue;
		}
		ret->value[i] = 0;
		if (!number && (!span_take_word(&rest, &word) || span_trim(word).n == 0))
			break;
		if (number)
			span_take_word(&rest, &word); /* what is glued to it */
	}
	ret->len = i;
}

void columns_put(const struct columns *c, const struct column *map, size_t map_len, struct raw *r)
{
	size_t i;

	for (i = 0; i < map_len; i++)
		if (c->good & FIELD(map[i].at))
			raw_put(r, map[i].field, c->value[map[i].at]);
}

static bool is_key(const struct key *k, struct span line)
{
	size_t n = k->word.n;

	/* The separator stands at the end of both only if the words are equally long. */
	return line.n >= n && line.p[n - 1] == k->word.p[n - 1] &&
	       memcmp(line.p, k->word.p, n - 1) == 0;
}

static bool key_put(const struct key *k, struct span value, struct raw *r)
{
	uint64_t v;

	if (!span_take_u64(&value, &v) || !ends_word(value))
		return false;
	if (k->form == KEY_FIRST) {
		raw_put(r, k->field, v);
		return true;
	}
	if (k->form == KEY_KIB &&
	    (value.n < 3 || memcmp(value.p, " kB", 3) != 0 || __builtin_mul_overflow(v, KIB, &v)))
		return false;
	if (k->form == KEY_KIB)
		value = span_of(value.p + 3, value.n - 3);
	if (value.n && span_trim(value).n)
		return false;
	raw_put(r, k->field, v);
	return true;
}

/* The key of this line among those not met yet; the one after the last found is the likeliest. */
static size_t key_find(const struct keys *keys, size_t from, uint32_t met, struct span line)
{
	size_t i, at = from;

	for (i = 0; i < keys->len; i++, at++) {
		if (at >= keys->len)
			at = 0;
		if (!(met & FIELD(at)) && is_key(&keys->key[at], line))
			return at;
	}
	return keys->len;
}

galvo_status keys_parse(struct span text, const struct keys *keys, struct raw *r,
                        galvo_error *reterr)
{
	const uint32_t all = FIELD(keys->len) - 1;
	struct span rest = text, line, bad = {0};
	uint32_t met = 0, got = 0;
	size_t at, next = 0;

	if (text.n == 0)
		return err_set(reterr, GALVO_ERR_ABSENT, "%s: empty", keys->path);
	while (met != all && span_take_line(&rest, &line)) {
		at = key_find(keys, next, met, line);
		if (at == keys->len)
			continue;
		next = at + 1;
		met |= FIELD(at);
		line = span_of(line.p + keys->key[at].word.n, line.n - keys->key[at].word.n);
		if (key_put(&keys->key[at], line, r))
			got |= FIELD(at);
		else if (!bad.p)
			bad = span_trim(line);
	}
	if (got || (keys->may_lack && !met))
		return GALVO_OK;
	if (met)
		return err_malformed(reterr, keys->path, text, bad, "a number in its unit");
	return err_set(reterr, GALVO_ERR_MALFORMED, "%s: expected a line '%s', got none",
	               keys->path, keys->key[0].word.p);
}

struct raw *raw_only_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	(void)name;
	(void)number;
	return &((struct raw_only_sink *)sink)->raw;
}
