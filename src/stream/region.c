/* The owner's side of a stream of events: regions and marks into the batch, by clock. */
#include "writer.h"

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

void stream_region(struct stream *s, const struct region *r)
{
	if (!buffer_open(s, r->domain))
		return;
	s->at = region_put(s->at, BUFFER_REGIONS, s, r);
	s->rows++;
}

void stream_mark(struct stream *s, const struct mark *m)
{
	char *start;

	if (!buffer_open(s, m->domain))
		return;
	start = nested_begin(s->at, BUFFER_MARKS);
	s->at = wire_put_bytes(start, MARK_NAME, event_name_clip(m->name));
	s->at = wire_put_u64(s->at, MARK_MONO_NS, event_time(s, m->domain, m->mono_ns));
	s->at = wire_put_u64(s->at, MARK_THREAD, m->thread);
	s->at = wire_put_u64(s->at, MARK_PID, m->pid);
	s->at = wire_put_u64(s->at, MARK_ERROR_NS, m->error_ns);
	s->at = wire_put_u64(s->at, MARK_STREAM, m->stream);
	s->at = nested_end(start, s->at);
	s->rows++;
}
