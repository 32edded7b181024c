/* Bytes that one process reads and writes, as it asked and as devices saw it. */
#include "parser.h"

enum field { RCHAR, WCHAR, READ_BYTES, WRITE_BYTES, CANCELLED };

static const struct raw_field fields[] = {
	[RCHAR] = {"rchar_bytes", RAW_COUNTER},
	[WCHAR] = {"wchar_bytes", RAW_COUNTER},
	[READ_BYTES] = {"read_bytes", RAW_COUNTER},
	[WRITE_BYTES] = {"write_bytes", RAW_COUNTER},
	[CANCELLED] = {"cancelled_write_bytes", RAW_COUNTER},
};

static const struct metric metrics[] = {
	{RATE("proc__io_rchar", UNIT_BYTES_PER_SEC, FIELD(RCHAR),
	      "Bytes a second that the process, and children it waited for, got from read calls, "
	      "cached or not.")},
	{RATE("proc__io_wchar", UNIT_BYTES_PER_SEC, FIELD(WCHAR),
	      "Bytes a second that the process, and children it waited for, gave to write calls, "
	      "wherever they went.")},
	{RATE("proc__io_read_bytes", UNIT_BYTES_PER_SEC, FIELD(READ_BYTES),
	      "Bytes a second that storage had to deliver for the process and children it waited "
	      "for.")},
	{RATE("proc__io_write_bytes", UNIT_BYTES_PER_SEC, FIELD(WRITE_BYTES),
	      "Bytes a second of cached pages that the process, and children it waited for, made "
	      "to be written to storage.")},
	{RATE("proc__io_cancelled_write_bytes", UNIT_BYTES_PER_SEC, FIELD(CANCELLED),
	      "Bytes a second of those that were thrown away before they were written.")},
};

static const struct key key[] = {
	KEY("rchar:", RCHAR, KEY_PLAIN),
	KEY("wchar:", WCHAR, KEY_PLAIN),
	KEY("read_bytes:", READ_BYTES, KEY_PLAIN),
	KEY("write_bytes:", WRITE_BYTES, KEY_PLAIN),
	KEY("cancelled_write_bytes:", CANCELLED, KEY_PLAIN),
};
static const struct keys keys = {"io", key, ARRAY_LEN(key), false};

/* rchar: 6976 */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	return r ? keys_parse(text, &keys, r, reterr) : GALVO_OK;
}

/* Optional: the file of another user's process, or of one not to be traced, is closed to us. */
static const struct source_text texts[] = {
	{.path = "io", .kind = FILE_RECORD, .optional = true, .parse = parse},
};

const struct source source_process_io = {
	.name = "process_io",
	.summary = "bytes that each followed process reads and writes",
	.shape = SHAPE_PROCESS,
	.stream = STREAM_DISK,
	.scope = SCOPE_PROCESS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
