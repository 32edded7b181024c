/* What is asked of GPUs and of notes through the link: requests, and what answers them. */
#include "sidecar.h"

enum { DRAINED_BYTES_MAX = 1 << 20 }; /* of a reply, about */

/* ---- samples in bytes: both halves are of one build, so that numbers are as they lie in memory ------- */

struct head {
	uint32_t gpu, len;
	uint64_t start_mono_ns, end_mono_ns;
};

static void put_sample(struct buf *to, const struct counters_sample *s, size_t n)
{
	const struct head head = {s->gpu, (uint32_t)n, s->start_mono_ns, s->end_mono_ns};

	buf_put(to, &head, sizeof(head));
	buf_put(to, s->values, n * sizeof(s->values[0]));
}

bool drained_take(struct span *body, struct counters_sample *ret, size_t *ret_len)
{
	struct head head;
	size_t bytes;

	if (body->n < sizeof(head))
		return false;
	memcpy(&head, body->p, sizeof(head));
	if (head.len > ROW_MAX || body->n - sizeof(head) < head.len * sizeof(ret->values[0]))
		return false;
	bytes = head.len * sizeof(ret->values[0]);
	ret->gpu = head.gpu;
	ret->start_mono_ns = head.start_mono_ns;
	ret->end_mono_ns = head.end_mono_ns;
	memcpy(ret->values, body->p + sizeof(head), bytes);
	*ret_len = head.len;
	*body = span_of(body->p + sizeof(head) + bytes, body->n - sizeof(head) - bytes);
	return true;
}

/* ---- the half that answers ------------------------------------------------------------------------- */

/* How many were overwritten, and all that are kept, or as many as go into a reply. */
static galvo_status put_drained(struct galvo_suite *s, struct buf *body, galvo_error *reterr)
{
	struct counters_sample sample;
	uint64_t overwritten, sum = 0;
	galvo_status status = GALVO_OK;
	size_t n;

	buf_put(body, &sum, sizeof(sum));
	while (status == GALVO_OK && !body->failed && body->len < DRAINED_BYTES_MAX) {
		status = suite_gpu_drain(s, &sample, &n, &overwritten, reterr);
		sum += overwritten;
		if (status == GALVO_OK)
			put_sample(body, &sample, n);
	}
	if (body->failed)
		return err_set(reterr, GALVO_ERR_NOMEM, "sidecar: out of memory");
	memcpy(body->p, &sum, sizeof(sum));
	return status == GALVO_DONE && body->len > sizeof(sum) ? GALVO_OK : status;
}

galvo_status sidecar_serve_facts(struct galvo_suite *s, enum sidecar_request what, size_t i,
                                 struct buf *body, galvo_error *reterr)
{
	galvo_gpu_device device = {.struct_size = sizeof(device)};
	galvo_note note = {.struct_size = sizeof(note)};
	const char *name = "";
	galvo_status status;

	switch (what) {
	case SIDECAR_NOTE_AT:
		status = galvo_suite_note_at(s, i, &note, reterr);
		if (status == GALVO_OK)
			sidecar_put_note(body, &note);
		return status;
	case SIDECAR_GPU_STATUS:
		return suite_gpu_status(s, reterr);
	case SIDECAR_GPU_DEVICE_AT:
		status = suite_gpu_device_at(s, i, &device, reterr);
		if (status == GALVO_OK)
			sidecar_put_gpu(body, &device);
		return status;
	case SIDECAR_GPU_METRIC_AT:
		status = suite_gpu_metric_at(s, i, &name, reterr);
		buf_put_str(body, name);
		return status;
	case SIDECAR_GPU_DRAIN:
		return put_drained(s, body, reterr);
	default:
		return err_set(reterr, GALVO_ERR_INVALID, "sidecar: no such request: %u", (unsigned)what);
	}
}

/* ---- the half that asks ---------------------------------------------------------------------------- */

static galvo_status take_note(void *ctx, struct span body, galvo_error *reterr)
{
	struct sidecar_memory memory;
	galvo_status status = sidecar_take_note(body, ctx, &memory, reterr);

	sidecar_memory_free(&memory);
	return status;
}

galvo_status sidecar_note_at(struct sidecar *c, size_t i, galvo_note *ret, galvo_error *reterr)
{
	return sidecar_ask(c, SIDECAR_NOTE_AT, i, take_note, ret, reterr);
}

static galvo_status take_device(void *ctx, struct span body, galvo_error *reterr)
{
	struct sidecar_memory memory;
	galvo_status status = sidecar_take_gpu(body, ctx, &memory, reterr);

	sidecar_memory_free(&memory);
	return status;
}

galvo_status sidecar_gpu_device_at(struct sidecar *c, size_t i, galvo_gpu_device *ret,
                                   galvo_error *reterr)
{
	return sidecar_ask(c, SIDECAR_GPU_DEVICE_AT, i, take_device, ret, reterr);
}

struct room {
	char *to;
	size_t cap;
};

static galvo_status take_name(void *ctx, struct span body, galvo_error *reterr)
{
	const struct room *room = ctx;

	(void)reterr;
	utf8_copy(room->to, room->cap, body);
	return GALVO_OK;
}

galvo_status sidecar_gpu_metric_at(struct sidecar *c, size_t i, char *to, size_t cap,
                                   galvo_error *reterr)
{
	struct room room = {to, cap};

	return sidecar_ask(c, SIDECAR_GPU_METRIC_AT, i, take_name, &room, reterr);
}

static galvo_status take_drained(void *ctx, struct span body, galvo_error *reterr)
{
	struct drained *d = ctx;

	d->bytes.len = d->at = 0;
	d->bytes.failed = false;
	if (body.n < sizeof(d->overwritten))
		return err_set(reterr, GALVO_ERR_MALFORMED, "sidecar: that is no sample");
	memcpy(&d->overwritten, body.p, sizeof(d->overwritten));
	buf_put(&d->bytes, body.p + sizeof(d->overwritten), body.n - sizeof(d->overwritten));
	return d->bytes.failed ? err_set(reterr, GALVO_ERR_NOMEM, "out of memory") : GALVO_OK;
}

galvo_status sidecar_gpu_drain(struct sidecar *c, struct counters_sample *ret, size_t *ret_len,
                               uint64_t *ret_overwritten, galvo_error *reterr)
{
	struct drained *d = sidecar_drained(c);
	galvo_status status = GALVO_OK;
	struct span rest;

	if (d->at >= d->bytes.len)
		status = sidecar_ask(c, SIDECAR_GPU_DRAIN, 0, take_drained, d, reterr);
	if (status != GALVO_OK)
		return status;
	rest = span_of(d->bytes.p + d->at, d->bytes.len - d->at);
	if (!drained_take(&rest, ret, ret_len)) {
		d->at = d->bytes.len;
		return err_set(reterr, GALVO_ERR_MALFORMED, "sidecar: that is no sample");
	}
	d->at = d->bytes.len - rest.n;
	*ret_overwritten = d->overwritten;
	d->overwritten = 0;
	return GALVO_OK;
}
