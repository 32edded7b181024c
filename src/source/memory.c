/* Memory of the machine: how much there is, is used, and could be had. */
#include "parser.h"

enum field { TOTAL, AVAILABLE, BUFFERS, CACHED, USED };

static const struct raw_field fields[] = {
	[TOTAL] = {"total_bytes", RAW_GAUGE},     [AVAILABLE] = {"available_bytes", RAW_GAUGE},
	[BUFFERS] = {"buffers_bytes", RAW_GAUGE}, [CACHED] = {"cached_bytes", RAW_GAUGE},
	[USED] = {"used_bytes", RAW_GAUGE},
};

static const struct metric metrics[] = {
	{LEVEL("mem__capacity_bytes", UNIT_BYTES, FIELD(TOTAL), "Memory that the kernel manages.")},
	{LEVEL("mem__used_bytes", UNIT_BYTES, FIELD(USED),
	       "Memory that could not be had without swapping: capacity less what is available.")},
	{LEVEL("mem__available_bytes", UNIT_BYTES, FIELD(AVAILABLE),
	       "Memory that new work could have without swapping, by the kernel's estimate.")},
	{LEVEL("mem__buffers_bytes", UNIT_BYTES, FIELD(BUFFERS),
	       "Memory that caches block devices, file system metadata most of all.")},
	{LEVEL("mem__cached_bytes", UNIT_BYTES, FIELD(CACHED),
	       "Memory that caches files, shared memory and tmpfs included.")},
};

static const struct key key[] = {
	KEY("MemTotal:", TOTAL, KEY_KIB),
	KEY("MemAvailable:", AVAILABLE, KEY_KIB),
	KEY("Buffers:", BUFFERS, KEY_KIB),
	KEY("Cached:", CACHED, KEY_KIB),
};
static const struct keys keys = {"proc/meminfo", key, ARRAY_LEN(key), false};

/* MemTotal:       24684100 kB */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	struct raw *r = row_only(sink);
	galvo_status status;

	(void)w;
	if (!r)
		return GALVO_OK;
	status = keys_parse(text, &keys, r, reterr);
	if (status == GALVO_OK)
		raw_put_used(r, USED, TOTAL, AVAILABLE);
	return status;
}

static const struct source_text texts[] = {
	{.path = "proc/meminfo", .kind = FILE_RECORD, .parse = parse},
};

const struct source source_memory = {
	.name = "memory",
	.summary = "memory of the machine: capacity, used, available, caches",
	.shape = SHAPE_SINGLE,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_SYSTEM,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
