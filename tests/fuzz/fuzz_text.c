/*
 * Text format: what parses prints, and what was printed parses to the same; and any bytes print or are
 * refused. The first byte of an input picks the message and the direction.
 */
#include "metric_catalog.pb-c.h"
#include "profiler_config.pb-c.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { OUT_BYTES_MAX = 64 << 20 };

static struct span whole(const struct buf *b)
{
	return span_of(b->p, b->len);
}

/* Text of sound bytes is text that we take, and means the same. */
static void there_and_back(const ProtobufCMessageDescriptor *m, struct span bytes)
{
	struct buf text, again, text_again;
	galvo_error e = {0};

	buf_init(&text, OUT_BYTES_MAX);
	buf_init(&again, OUT_BYTES_MAX);
	buf_init(&text_again, OUT_BYTES_MAX);
	if (text_print(m, bytes, &text, &e) != GALVO_OK) {
		if (!e.text[0])
			abort();
	} else if (text_parse(m, "text", whole(&text), &again, &e) == GALVO_OK &&
	           (text_print(m, whole(&again), &text_again, &e) != GALVO_OK ||
	            !span_eq(whole(&text), whole(&text_again)))) {
		abort();
	}
	buf_finish(&text);
	buf_finish(&again);
	buf_finish(&text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const ProtobufCMessageDescriptor *m = n && data[0] & 1 ? &galvo__metric_catalog__descriptor
	                                                       : &galvo__profiler_suite_config__descriptor;
	struct span input = span_of((const char *)data + (n > 0), n - (n > 0));
	galvo_error e = {0};
	struct buf bytes;

	if (n && data[0] & 2) {
		there_and_back(m, input);
		return 0;
	}
	buf_init(&bytes, OUT_BYTES_MAX);
	if (text_parse(m, "text", input, &bytes, &e) == GALVO_OK) {
		ProtobufCMessage *message =
			protobuf_c_message_unpack(m, NULL, bytes.len, (const uint8_t *)bytes.p);

		if (!message)
			abort();
		protobuf_c_message_free_unpacked(message, NULL);
		there_and_back(m, whole(&bytes));
	} else if (!e.text[0]) {
		abort();
	}
	buf_finish(&bytes);
	return 0;
}
