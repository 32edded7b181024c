/* Regions and marks of a stream of events, read back; those that a crash left open among them. */
#include "reader.h"

enum { EVENT_LEAST_BYTES = 4 }; /* a region or mark in fewer bytes has no time: it is none */

/* The number of the name stands in for it until all names are known. */
static bool take_name(struct reading *r, struct span name, struct span *ret)
{
	size_t i;

	name.n = name.n < EVENT_NAME_MAX ? name.n : EVENT_NAME_MAX;
	i = intern(&r->event_names, name);
	*ret = span_of(NULL, i);
	return i != INTERN_NOMEM && i != INTERN_FULL;
}

static bool region_read(struct reading *r, struct span bytes, struct region *to)
{
	struct span name = {0};
	struct wire_field f;

	while (wire_next(&bytes, &f) == GALVO_OK) {
		uint64_t value = f.type == WIRE_VARINT ? f.value : 0;

		switch ((enum region_field)f.number) {
		case REGION_NAME: name = f.type == WIRE_BYTES ? f.bytes : name; break;
		case REGION_START_MONO_NS: to->start_mono_ns = value; break;
		case REGION_END_MONO_NS: to->end_mono_ns = value; break;
		case REGION_ID: to->id = value; break;
		case REGION_UNFINISHED: to->unfinished = value != 0; break;
		case REGION_BEGIN_THREAD: to->begin_thread = (uint32_t)value; break;
		case REGION_END_THREAD: to->end_thread = (uint32_t)value; break;
		case REGION_PID: to->pid = (uint32_t)value; break;
		case REGION_DOMAIN: to->domain = value == DOMAIN_GPU ? DOMAIN_GPU : DOMAIN_GENERIC; break;
		}
	}
	return take_name(r, name, &to->name);
}

static bool region_add(struct reading *r, struct buf *to, enum time_domain domain,
                       struct span bytes)
{
	struct region region = {.domain = domain};

	if (!region_read(r, bytes, &region))
		return false;
	buf_put(to, &region, sizeof(region));
	return !to->failed;
}

static bool mark_add(struct reading *r, enum time_domain domain, struct span bytes)
{
	struct mark mark = {.domain = domain};
	struct span name = {0};
	struct wire_field f;

	while (wire_next(&bytes, &f) == GALVO_OK) {
		if (f.number == MARK_NAME && f.type == WIRE_BYTES)
			name = f.bytes;
		else if (f.number == MARK_MONO_NS && f.type == WIRE_VARINT)
			mark.mono_ns = f.value;
		else if (f.number == MARK_THREAD && f.type == WIRE_VARINT)
			mark.thread = (uint32_t)f.value;
		else if (f.number == MARK_PID && f.type == WIRE_VARINT)
			mark.pid = (uint32_t)f.value;
	}
	if (!take_name(r, name, &mark.name))
		return false;
	buf_put(&r->marks, &mark, sizeof(mark));
	return !r->marks.failed;
}

/* Protobuf promises no order: the clock is looked for first. */
static bool buffer_read(struct reading *r, struct run_stream *stream, struct span bytes)
{
	enum time_domain domain = DOMAIN_GENERIC;
	struct span rest = bytes;
	struct wire_field f;
	bool ok = true;

	while (wire_next(&rest, &f) == GALVO_OK)
		if (f.number == BUFFER_DOMAIN && f.type == WIRE_VARINT && f.value == DOMAIN_GPU)
			domain = DOMAIN_GPU;
	while (ok && wire_next(&bytes, &f) == GALVO_OK) {
		if (f.type != WIRE_BYTES || f.bytes.n < EVENT_LEAST_BYTES)
			continue;
		if (f.number == BUFFER_REGIONS)
			ok = region_add(r, &r->regions, domain, f.bytes);
		else if (f.number == BUFFER_MARKS)
			ok = mark_add(r, domain, f.bytes);
		stream->rows += f.number == BUFFER_REGIONS || f.number == BUFFER_MARKS;
	}
	return ok;
}

bool events_read(struct reading *r, struct run_stream *stream, uint32_t field, struct span bytes)
{
	if (field == EVENTS_BUFFERS)
		return buffer_read(r, stream, bytes);
	if (field == EVENTS_OPEN_REGIONS && bytes.n >= EVENT_LEAST_BYTES)
		return region_add(r, &r->open_regions, DOMAIN_GENERIC, bytes);
	return true;
}

void events_forget_open(struct reading *r)
{
	r->open_regions.len = 0;
}

/* What the last message called open, nobody has ended. */
static void take_open(struct reading *r)
{
	struct region *open = (struct region *)(void *)r->open_regions.p;
	size_t n = r->open_regions.len / sizeof(*open), i;

	for (i = 0; i < n; i++) {
		open[i].end_mono_ns = 0;
		open[i].unfinished = true;
	}
	if (n)
		buf_put(&r->regions, r->open_regions.p, r->open_regions.len);
}

bool events_name(struct reading *r)
{
	const struct span *names = interner_spans(&r->event_names, &r->arena);
	struct region *regions;
	struct mark *marks;
	size_t i;

	take_open(r);
	if (!names || r->regions.failed)
		return false;
	regions = (struct region *)(void *)r->regions.p;
	marks = (struct mark *)(void *)r->marks.p;
	for (i = 0; i < r->regions.len / sizeof(*regions); i++)
		regions[i].name = names[regions[i].name.n];
	for (i = 0; i < r->marks.len / sizeof(*marks); i++)
		marks[i].name = names[marks[i].name.n];
	return true;
}
