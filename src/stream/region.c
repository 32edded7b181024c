/* The owner's side of a stream of events: regions and marks into the batch, by clock. */
#include "writer.h"

static struct span clip(struct span name)
{
	return span_of(name.p, name.n < EVENT_NAME_MAX ? name.n : EVENT_NAME_MAX);
}

/* One buffer a clock: another clock than the last one's opens another. */
static bool buffer_open(struct stream *s, enum time_domain domain)
{
	if (!stream_make_room(s))
		return false;
	if (s->buffer && s->domain == domain)
		return true;
	events_close_buffer(s);
	s->buffer = nested_begin(s->at, EVENTS_BUFFERS);
	s->at = wire_put_u64(s->buffer, BUFFER_DOMAIN, domain);
	s->domain = domain;
	return true;
}

void events_close_buffer(struct stream *s)
{
	if (s->buffer)
		s->at = nested_end(s->buffer, s->at);
	s->buffer = NULL;
}

/* An empty name is written too. */
static char *put_region(char *p, uint32_t field, const struct region *r)
{
	char *start = nested_begin(p, field);

	p = wire_put_bytes(start, REGION_NAME, clip(r->name));
	p = wire_put_u64(p, REGION_START_MONO_NS, r->start_mono_ns);
	p = wire_put_u64(p, REGION_END_MONO_NS, r->end_mono_ns);
	p = wire_put_u64(p, REGION_ID, r->id);
	p = wire_put_u64(p, REGION_UNFINISHED, r->unfinished);
	p = wire_put_u64(p, REGION_BEGIN_THREAD, r->begin_thread);
	p = wire_put_u64(p, REGION_END_THREAD, r->end_thread);
	p = wire_put_u64(p, REGION_PID, r->pid);
	if (field == EVENTS_OPEN_REGIONS)
		p = wire_put_u64(p, REGION_DOMAIN, r->domain);
	return nested_end(start, p);
}

char *events_put_open(char *p, const struct region *r)
{
	return put_region(p, EVENTS_OPEN_REGIONS, r);
}

void stream_region(struct stream *s, const struct region *r)
{
	if (!buffer_open(s, r->domain))
		return;
	s->at = put_region(s->at, BUFFER_REGIONS, r);
	s->rows++;
}

void stream_mark(struct stream *s, const struct mark *m)
{
	char *start;

	if (!buffer_open(s, m->domain))
		return;
	start = nested_begin(s->at, BUFFER_MARKS);
	s->at = wire_put_bytes(start, MARK_NAME, clip(m->name));
	s->at = wire_put_u64(s->at, MARK_MONO_NS, m->mono_ns);
	s->at = wire_put_u64(s->at, MARK_THREAD, m->thread);
	s->at = wire_put_u64(s->at, MARK_PID, m->pid);
	s->at = nested_end(start, s->at);
	s->rows++;
}
