/* Any datagram is a message from outside, or none: what is taken says the same when it is said again. */
#include "event/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char bytes[SAID_BYTES_MAX];
	struct said said;

	if (!said_parse(span_of((const char *)data, n), &said))
		return 0;
	if (said_put(bytes, &said) != n || memcmp(bytes, data, n) != 0)
		abort();
	return 0;
}
