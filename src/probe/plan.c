/* The plan of a probe: a pen for each source, a lane for each scope, a feed for each file. */
#include "internal.h"

static struct feed *feed_of(struct probe *p, const struct source_text *t)
{
	struct feed *f;
	size_t i;

	for (i = 0; i < p->feeds_len; i++)
		if (!strcmp(p->feeds[i].path, t->path))
			return &p->feeds[i];
	if (p->feeds_len == FEEDS_MAX)
		return NULL;
	f = &p->feeds[p->feeds_len++];
	f->path = t->path;
	f->kind = t->kind;
	f->kept = KEPT_NONE;
	buf_init(&f->buf, TEXT_MAX_BYTES);
	return f;
}

static struct lane *lane_of(struct probe *p, enum scope scope)
{
	size_t i;

	for (i = 0; i < p->lanes_len; i++)
		if (p->lanes[i].scope == scope)
			return &p->lanes[i];
	if (p->lanes_len == LANES_MAX)
		return NULL;
	p->lanes[p->lanes_len] = (struct lane){.scope = scope, .divisor = 1, .largest_divisor = 1};
	return &p->lanes[p->lanes_len++];
}

static uint64_t period_of(const struct probe *p, const struct source *source)
{
	uint64_t period_ns = source->period_ns, ticks;

	if (source->scope == SCOPE_CORE && p->config.core_period_ns)
		period_ns = p->config.core_period_ns;
	ticks = (period_ns + p->config.period_ns / 2) / p->config.period_ns;
	return ticks ? ticks : 1;
}

/* Two sources that read the same file of a process have it open once. */
static bool share_member_texts(struct probe *p, struct pen *pen)
{
	size_t i, j;

	for (i = 0; i < pen->source->texts_len; i++) {
		const char *path = pen->source->texts[i].path;

		for (j = 0; j < p->member_texts_len && strcmp(p->member_texts[j], path) != 0; j++)
			;
		if (j == ARRAY_LEN(p->member_texts))
			return false;
		if (j == p->member_texts_len)
			p->member_texts[p->member_texts_len++] = path;
		pen->member_text[i] = j;
	}
	return true;
}

galvo_status plan_add(struct probe *p, const struct source *source, galvo_error *reterr)
{
	struct lane *lane = lane_of(p, source->scope);
	struct pen *pen = &p->pens[p->pens_len];
	size_t i;

	if (!lane || lane->pens_len == LANE_PENS_MAX || p->pens_len == PENS_MAX ||
	    source->texts_len >= TEXTS_MAX || (source->shape != SHAPE_SINGLE && lane->pens_len))
		return err_set(reterr, GALVO_ERR_INVALID, "source %s: no place for it in the probe",
		               source->name);
	for (i = 0; i < source->metrics_len; i++)
		if (source->metrics[i].whole >> SHARE_FIELDS_MAX)
			return err_set(reterr, GALVO_ERR_INVALID, "source %s: shares of too many fields",
			               source->name);
	pen->source = source;
	pen->lane = lane;
	series_init(&pen->series, source);
	for (i = 0; i < source->texts_len && !is_in_slices(pen); i++) {
		if (source->shape == SHAPE_LISTED && i > 0)
			break; /* texts that each thing has for itself */
		pen->feeds[i] = feed_of(p, &source->texts[i]);
		if (!pen->feeds[i])
			return err_set(reterr, GALVO_ERR_INVALID, "source %s: too many files", source->name);
	}
	if (source->shape == SHAPE_PROCESS) {
		pen->member_slot = p->process_pens++;
		if (!share_member_texts(p, pen))
			return err_set(reterr, GALVO_ERR_INVALID, "source %s: too many files", source->name);
	}
	if (source->shape == SHAPE_THREAD)
		p->thread_pen = pen;
	/* Sources that share a row are read together, as often as the most eager of them. */
	if (!lane->period_ticks || period_of(p, source) < lane->period_ticks)
		lane->period_ticks = period_of(p, source);
	lane->pens[lane->pens_len++] = pen;
	p->pens_len++;
	return GALVO_OK;
}
