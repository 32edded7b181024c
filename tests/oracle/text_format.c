/*
 * Parses and prints protobuf text for text_format.py, many cases in one process. stdin: for each case
 * a letter for the message, 'P' to parse or 'R' to print, the length in 4 bytes, the bytes. stdout:
 * 'y' or 'n', a length, then the result or the error.
 */
#include "metric_catalog.pb-c.h"
#include "profiler_config.pb-c.h"
#include "stress.pb-c.h"
#include "wire/wire.h"

enum { CASE_BYTES_MAX = 256 << 20 };

static const ProtobufCMessageDescriptor *message_of(int letter)
{
	switch (letter) {
	case 's': return &galvo__test__stress__descriptor;
	case 'p': return &galvo__test__pile__descriptor;
	case 'c': return &galvo__profiler_suite_config__descriptor;
	case 'm': return &galvo__metric_catalog__descriptor;
	}
	return NULL;
}

/* What we parsed, protobuf-c takes. */
static bool unpacks(const ProtobufCMessageDescriptor *m, const struct buf *bytes)
{
	ProtobufCMessage *message = protobuf_c_message_unpack(m, NULL, bytes->len, (const uint8_t *)bytes->p);

	if (message)
		protobuf_c_message_free_unpacked(message, NULL);
	return message != NULL;
}

static bool answer(bool is_yes, const void *bytes, size_t n)
{
	uint32_t length = (uint32_t)n;

	return putchar(is_yes ? 'y' : 'n') != EOF && fwrite(&length, sizeof(length), 1, stdout) == 1 &&
	       (!n || fwrite(bytes, n, 1, stdout) == 1);
}

/* One case; its input in memory of exactly its size. */
static bool run_case(const ProtobufCMessageDescriptor *m, int what, uint32_t n)
{
	char *bytes = alloc_array(n, 1);
	struct span input = span_of(bytes, n);
	galvo_error error = {0};
	galvo_status status;
	struct buf out;
	bool ok;

	if (!bytes || (n && fread(bytes, n, 1, stdin) != 1)) {
		free(bytes);
		return false;
	}
	buf_init(&out, CASE_BYTES_MAX);
	status = what == 'P' ? text_parse(m, "case", input, &out, &error) : text_print(m, input, &out, &error);
	if (status == GALVO_OK && what == 'P' && !unpacks(m, &out))
		status = err_set(&error, GALVO_ERR_MALFORMED, "protobuf-c does not take it");
	ok = status == GALVO_OK ? answer(true, out.p, out.len) : answer(false, error.text, strlen(error.text));
	buf_finish(&out);
	free(bytes);
	return ok;
}

int main(void)
{
	uint32_t n;
	int letter;

	while ((letter = getchar()) != EOF) {
		const ProtobufCMessageDescriptor *m = message_of(letter);
		int what = getchar();

		if (!m || fread(&n, sizeof(n), 1, stdin) != 1 || n > CASE_BYTES_MAX || !run_case(m, what, n))
			return 1;
	}
	return fflush(stdout) != 0;
}
