/* Messages made of bytes from outside, their strings as C can have them: UTF-8 without NUL. */
#include <protobuf-c/protobuf-c.h>

#include "internal.h"

static const ProtobufCFieldDescriptor *find(const ProtobufCMessageDescriptor *m, uint32_t number)
{
	unsigned i;

	for (i = 0; i < m->n_fields; i++)
		if (m->fields[i].id == number)
			return &m->fields[i];
	return NULL;
}

static galvo_status check_strings(const ProtobufCMessageDescriptor *message, const char *name,
                                  struct span bytes, galvo_error *reterr)
{
	const ProtobufCFieldDescriptor *f;
	struct wire_field w;
	galvo_status status = GALVO_OK, field;

	while ((field = wire_next(&bytes, &w)) == GALVO_OK && status == GALVO_OK) {
		f = find(message, w.number);
		if (!f || w.type != WIRE_BYTES)
			continue;
		if (f->type == PROTOBUF_C_TYPE_MESSAGE)
			status = check_strings(f->descriptor, name, w.bytes, reterr);
		else if (f->type == PROTOBUF_C_TYPE_STRING &&
		         (!utf8_is_valid(w.bytes) || (w.bytes.n && memchr(w.bytes.p, '\0', w.bytes.n))))
			status = err_set(reterr, GALVO_ERR_MALFORMED,
			                 "%s: field '%s': expected UTF-8 without a NUL", name, f->name);
	}
	if (status == GALVO_OK && field != GALVO_DONE)
		return err_set(reterr, GALVO_ERR_MALFORMED, "%s: not a %s", name, message->short_name);
	return status;
}

static void *unpack_alloc(void *is_out, size_t n)
{
	void *p = malloc(n);

	*(bool *)is_out = *(bool *)is_out || !p;
	return p;
}

static void unpack_free(void *is_out, void *p)
{
	(void)is_out;
	free(p);
}

galvo_status message_unpack(const struct ProtobufCMessageDescriptor *message, const char *name,
                            struct span bytes, void *ret_message, galvo_error *reterr)
{
	bool is_out = false;
	ProtobufCAllocator allocator = {unpack_alloc, unpack_free, &is_out};
	galvo_status status = check_strings(message, name, bytes, reterr);
	ProtobufCMessage *made;

	if (status != GALVO_OK)
		return status;
	made = protobuf_c_message_unpack(message, &allocator, bytes.n, (const uint8_t *)bytes.p);
	if (!made && is_out)
		return err_set(reterr, GALVO_ERR_NOMEM, "%s: out of memory", name);
	if (!made)
		return err_set(reterr, GALVO_ERR_MALFORMED, "%s: not a %s", name, message->short_name);
	memcpy(ret_message, &made, sizeof(made));
	return GALVO_OK;
}
