/* Things that come and go by name: disks, interfaces, CPUs. A row each. */
#include "internal.h"

struct listing {
	struct raw_sink sink; /* first */
	struct probe *probe;
	struct pen *pen;
	size_t text, at;      /* at: where the next name is expected, as the order rarely changes */
	uint64_t mono_ns;
	struct instance *open; /* raw belongs to it */
	struct raw raw;
};

static bool is_named(const struct probe *p, struct span name)
{
	size_t i;

	for (i = 0; i < p->config.devices_len; i++)
		if (span_eq_str(name, p->config.devices[i])) {
			p->device_found[i] = true;
			return true;
		}
	return false;
}

/* At first sight: is it recorded? */
static void decide(struct probe *p, const struct pen *pen, struct instance *it)
{
	struct block_device block;

	switch (pen->source->scope) {
	case SCOPE_DEVICE:
		block_device_look(p->config.world, span_str(it->name), &block);
		it->whole = block.whole;
		it->stacked = block.stacked;
		it->wanted = p->config.devices_len ? is_named(p, span_str(it->name)) : block.by_default;
		it->when_used = !p->config.devices_len && block.when_used;
		break;
	case SCOPE_INTERFACE:
		it->when_used = true;
		break;
	default:
		it->wanted = true;
	}
}

static struct instance *first_sight(struct listing *l, struct span name, uint32_t number)
{
	struct pen *pen = l->pen;
	struct instance *it;
	size_t i;

	if (name.n >= NAME_BYTES ||
	    !grow_array((void **)&pen->instances, &pen->instances_cap, pen->instances_len,
	                sizeof(*pen->instances), INSTANCES_MAX))
		return NULL;
	it = calloc(1, sizeof(*it));
	if (!it)
		return NULL;
	memcpy(it->name, name.p, name.n);
	it->number = number;
	for (i = 0; i < TEXTS_MAX; i++)
		it->kept[i] = KEPT_NONE;
	series_init(&it->series, pen->source);
	decide(l->probe, pen, it);
	pen->instances[pen->instances_len++] = it;
	return it;
}

static bool is_it(const struct instance *it, struct span name, uint32_t number)
{
	return it->number == number && span_eq_str(name, it->name);
}

static struct instance *find(struct listing *l, struct span name, uint32_t number)
{
	struct pen *pen = l->pen;
	size_t i;

	if (l->at < pen->instances_len && is_it(pen->instances[l->at], name, number))
		return pen->instances[l->at++];
	for (i = 0; i < pen->instances_len; i++)
		if (is_it(pen->instances[i], name, number)) {
			l->at = i + 1;
			return pen->instances[i];
		}
	return first_sight(l, name, number);
}

static bool is_used(const struct raw *raw)
{
	uint32_t fields = raw->present;

	for (; fields; fields &= fields - 1)
		if (raw->value[__builtin_ctz(fields)])
			return true;
	return false;
}

/* The parser has gone on to the next line: what it said of the open one is complete. */
static void close_row(struct listing *l)
{
	struct instance *it = l->open;

	l->open = NULL;
	if (!it)
		return;
	if (!it->wanted && it->when_used)
		it->wanted = is_used(&l->raw);
	if (it->wanted)
		series_update(&it->series, l->text, &l->raw, l->mono_ns);
}

static struct raw *listed_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	struct listing *l = (struct listing *)sink;
	struct instance *it;

	close_row(l);
	it = find(l, name, number);
	if (!it)
		return NULL;
	it->seen = l->pen->turns + 1;
	if (!it->wanted && !it->when_used)
		return NULL;
	l->open = it;
	l->raw.present = 0;
	return &l->raw;
}

static struct raw *own_row(struct raw_sink *sink, struct span name, uint32_t number)
{
	(void)name;
	(void)number;
	return &((struct listing *)sink)->raw;
}

/* The texts that each thing has for itself, "%s" in the path standing for its name in sysfs. */
static void read_own_texts(struct listing *l, struct instance *it)
{
	const struct source *source = l->pen->source;
	struct probe *p = l->probe;
	const struct world *w = p->config.world;
	char path[256], name[NAME_BYTES];
	size_t i;

	if (source->texts_len < 2 || !block_device_sysfs_name(span_str(it->name), name, sizeof(name)))
		return;
	for (i = 1; i < source->texts_len; i++) {
		const struct source_text *t = &source->texts[i];
		struct span rest = span_str(t->path), before = {0};
		galvo_error error = {0};
		galvo_status status;
		struct span text;

		if (!text_is_wanted(p, t) || !text_is_due(l->pen, t))
			continue;
		span_cut(&rest, '%', &before);
		snprintf(path, sizeof(path), "%.*s%s%s", (int)before.n, before.p, name,
		         rest.n ? rest.p + 1 : "");
		l->raw.present = 0;
		l->sink.row = own_row;
		status = kept_read(&it->kept[i], w->root_fd, path, w->epoch, t->kind, &p->text, &text,
		                   &error);
		if (status == GALVO_OK)
			status = t->parse(text, w, &l->sink, &error);
		series_update(&it->series, i, &l->raw, probe_now(p));
		if (!t->optional)
			pen_fail(l->pen, status, &error);
	}
}

void instances_read(struct probe *p, struct pen *pen)
{
	const struct source_text *list = &pen->source->texts[0];
	struct listing l = {.sink.row = listed_row, .probe = p, .pen = pen};
	galvo_error error = {0};
	galvo_status status;
	size_t i;

	feed_read(p, pen->feeds[0], &error);
	status = pen->feeds[0]->status;
	l.mono_ns = pen->feeds[0]->mono_ns;
	if (status == GALVO_OK)
		status = list->parse(pen->feeds[0]->text, p->config.world, &l.sink, &error);
	close_row(&l);
	pen_fail(pen, status, &error);
	for (i = 0; i < pen->instances_len; i++) {
		struct instance *it = pen->instances[i];

		if (it->seen != pen->turns + 1) {
			series_reset(&it->series); /* not listed: if it comes back, it is another one */
			continue;
		}
		if (!it->wanted)
			continue;
		read_own_texts(&l, it);
		if (p->config.stream && it->series.reads > 1 && series_has_value(&it->series))
			stream_row(p->config.stream, pen->source->scope, l.mono_ns,
			           (struct row_key){.number = it->number, .name = span_str(it->name)}, it->series.value,
			           pen->source->metrics_len);
	}
}

void instances_finish(struct pen *pen)
{
	size_t i, j;

	for (i = 0; i < pen->instances_len; i++) {
		for (j = 0; j < TEXTS_MAX; j++)
			kept_close(&pen->instances[i]->kept[j]);
		free(pen->instances[i]);
	}
	free(pen->instances);
	pen->instances = NULL;
	pen->instances_len = pen->instances_cap = 0;
}
