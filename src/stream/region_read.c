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

/* Back to our clock, as far as the message says how. */
static uint64_t own_time(const struct reading *r, enum time_domain domain, uint64_t at_ns)
{
	return domain == DOMAIN_GPU && at_ns ? at_ns - r->gpu_offset_ns : at_ns;
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
		case REGION_ERROR_NS: to->error_ns = value; break;
		case REGION_STREAM: to->stream = (uint32_t)value; break;
		}
	}
	to->start_mono_ns = own_time(r, to->domain, to->start_mono_ns);
	to->end_mono_ns = own_time(r, to->domain, to->end_mono_ns);
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
		else if (f.number == MARK_ERROR_NS && f.type == WIRE_VARINT)
			mark.error_ns = f.value;
		else if (f.number == MARK_STREAM && f.type == WIRE_VARINT)
			mark.stream = (uint32_t)f.value;
	}
	mark.mono_ns = own_time(r, domain, mark.mono_ns);
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

/* Counts are since the start: the last word is the whole. */
static void gpu_events_read(struct gpu_events *to, struct span bytes)
{
	struct wire_field f;

	*to = (struct gpu_events){0};
	while (wire_next(&bytes, &f) == GALVO_OK) {
		uint64_t value = f.type == WIRE_VARINT ? f.value : 0;

		switch ((enum gpu_stats_field)f.number) {
		case GPU_STATS_CAPTURING: to->capturing = value; break;
		case GPU_STATS_NO_ROOM: to->no_room = value; break;
		case GPU_STATS_FAILED: to->failed = value; break;
		case GPU_STATS_UNREACHED: to->unreached = value; break;
		case GPU_STATS_UNBOUND: to->unbound = value; break;
		case GPU_STATS_REASON:
			if (f.type == WIRE_BYTES)
				utf8_copy(to->reason, sizeof(to->reason), f.bytes);
			break;
		}
	}
}

bool events_read(struct reading *r, struct run_stream *stream, uint32_t field, struct span bytes)
{
	if (field == EVENTS_BUFFERS)
		return buffer_read(r, stream, bytes);
	if (field == EVENTS_OPEN_REGIONS && bytes.n >= EVENT_LEAST_BYTES)
		return region_add(r, &r->open_regions, DOMAIN_GENERIC, bytes);
	if (field == EVENTS_GPU_STATS)
		gpu_events_read(&stream->gpu_events, bytes);
	return true;
}

void events_begin_message(struct reading *r, const struct header *header)
{
	r->gpu_offset_ns = header->gpu_ns ? header->gpu_ns - header->anchor.mono_ns : 0;
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

static int compare_ends(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (!x->end_mono_ns != !y->end_mono_ns)
		return x->end_mono_ns ? -1 : 1;
	if (x->end_mono_ns != y->end_mono_ns)
		return x->end_mono_ns < y->end_mono_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Those of the GPU are recorded when their end is known, which is later. An end of 0 is the last one. */
static void sort_by_end(struct region *regions, size_t n)
{
	size_t i = 1;

	while (i < n && regions[i - 1].end_mono_ns - 1 <= regions[i].end_mono_ns - 1)
		i++;
	if (i < n)
		qsort(regions, n, sizeof(*regions), compare_ends);
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
	sort_by_end(regions, r->regions.len / sizeof(*regions));
	return true;
}
