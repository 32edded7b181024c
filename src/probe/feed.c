/* Texts that several sources share, and what is remembered when one could not be read. */
#include "internal.h"

void feed_read(struct probe *p, struct feed *f, galvo_error *reterr)
{
	const struct world *w = p->config.world;

	if (f->tick == p->tick && f->mono_ns)
		return;
	f->status = kept_read(&f->kept, w->root_fd, f->path, w->epoch, f->kind, &f->buf, &f->text,
	                      reterr);
	f->mono_ns = probe_now(p);
	f->tick = p->tick;
}

void pen_fail(struct pen *pen, galvo_status status, const galvo_error *why)
{
	if (status == GALVO_OK)
		return;
	pen->failures++;
	if (why->text[0])
		utf8_copy(pen->reason, sizeof(pen->reason), span_str(why->text));
}
