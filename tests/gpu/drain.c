/* Sessions for the probe: as many metrics as fit in one pass; all that decoding meets is counted. */
#include <math.h>

#include "probe.h"

bool open_session(struct sampling *s, const char **names, size_t n, struct session_wish wish)
{
	const char *gpu;
	int rc;

	if (!has_cupti())
		return false;
	gpu = chip();
	rc = session_host(s, gpu, names, n);
	/* What a chip does not have makes all fail; so the last ones go until it is well. */
	while (n > 2 && (rc || s->passes != 1)) {
		session_host_end(s);
		n--;
		rc = session_host(s, gpu, names, n);
	}
	if (!good_cupti("the host side", rc)) {
		session_host_end(s);
		return false;
	}
	rc = session_start(s, 0, wish);
	if (!good_cupti("Enable to Start", rc)) {
		session_end(s);
		return false;
	}
	return true;
}

void catch_begin(struct catch *c, struct sampling *s)
{
	memset(c, 0, sizeof(*c));
	c->of = s;
	c->stride = 1;
}

void catch_free(struct catch *c)
{
	free(c->begin);
	free(c->end);
	free(c->values);
	list_free(&c->empty_us);
	list_free(&c->age_us);
	memset(c, 0, sizeof(*c));
}

static bool make_room(struct catch *c, size_t more)
{
	size_t cap = c->cap ? c->cap : 4096;
	uint64_t *begin, *end;
	double *values;

	while (cap < c->n + more)
		cap *= 2;
	if (cap == c->cap)
		return true;
	begin = realloc(c->begin, cap * sizeof(*begin));
	c->begin = begin ? begin : c->begin;
	end = realloc(c->end, cap * sizeof(*end));
	c->end = end ? end : c->end;
	values = realloc(c->values, cap * c->of->count * sizeof(*values));
	c->values = values ? values : c->values;
	if (!begin || !end || !values)
		return false;
	c->cap = cap;
	return true;
}

/* The image's samples. */
static void take(struct catch *c, size_t n)
{
	uint64_t begin = now_ns();
	size_t i, k;

	if (!make_room(c, n))
		return;
	for (i = 0; i < n; i++)
		if (session_sample(c->of, i, &c->begin[c->n + i], &c->end[c->n + i]) != CUPTI_OK)
			c->begin[c->n + i] = c->end[c->n + i] = 0;
	c->info_us += us_since(begin);
	begin = now_ns();
	for (i = 0; i < n; i++) {
		double *to = c->values + (c->n + i) * c->of->count;

		if (i % c->stride || session_evaluate(c->of, i, to) != CUPTI_OK)
			for (k = 0; k < c->of->count; k++)
				to[k] = NAN;
		else
			c->evaluated++;
	}
	c->evaluate_us += us_since(begin);
	c->n += n;
}

/* One decode and what it brought; false: nothing more is to be had now. */
static bool decode_once(struct catch *c, int *ret_rc)
{
	struct cupti_decode d;
	uint64_t begin = now_ns(), wall = wall_ns();
	size_t n = 0;
	double us;

	*ret_rc = session_decode(c->of, &d);
	us = us_since(begin);
	c->decodes++;
	c->overflows += d.overflow != 0;
	c->full += *ret_rc == CUPTI_OK && d.decodeStopReason == CUPTI_STOP_FULL;
	c->ended += *ret_rc == CUPTI_OK && d.decodeStopReason == CUPTI_STOP_END;
	c->other += *ret_rc == CUPTI_OK && d.decodeStopReason == CUPTI_STOP_OTHER;
	if (*ret_rc) {
		c->failed++;
		c->first_failure = c->first_failure ? c->first_failure : *ret_rc;
		return false;
	}
	n = session_completed(c->of);
	if (n == 0) {
		list_add(&c->empty_us, us);
		return false;
	}
	c->decode_us += us;
	take(c, n);
	if (c->n && c->end[c->n - 1])
		list_add(&c->age_us, (double)(int64_t)(wall - c->end[c->n - 1]) / 1e3);
	begin = now_ns();
	*ret_rc = session_image(c->of);
	c->fresh_us += us_since(begin);
	return *ret_rc == CUPTI_OK && d.decodeStopReason == CUPTI_STOP_FULL;
}

int catch_drain(struct catch *c)
{
	int rc, turns;

	/* Where it comes faster than it can be read there is no end. */
	for (turns = 0; turns < 20 && decode_once(c, &rc); turns++)
		;
	return rc;
}

double catch_mean(const struct catch *c, const char *metric)
{
	double sum = 0, v;
	size_t i, k, n = 0;

	for (k = 0; k < c->of->count && strcmp(c->of->names[k], metric) != 0; k++)
		;
	if (k == c->of->count)
		return NAN;
	for (i = 1; i < c->n; i++) {
		v = c->values[i * c->of->count + k];
		if (c->end[i] > c->begin[i] && isfinite(v)) {
			sum += v;
			n++;
		}
	}
	return n ? sum / (double)n : NAN;
}

size_t catch_long(const struct catch *c, double usual_ns)
{
	size_t i, n = 0;

	for (i = 1; i < c->n; i++)
		n += (double)(c->end[i] - c->begin[i]) > 1.5 * usual_ns;
	return n;
}
