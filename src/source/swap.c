/* Swap, and memory by what becomes of it: written back, shared, the kernel's own. */
#include "parser.h"

enum field { TOTAL, FREE, DIRTY, WRITEBACK, SHMEM, SLAB, USED };

static const struct raw_field fields[] = {
	[TOTAL] = {"swap_total_bytes", RAW_GAUGE}, [FREE] = {"swap_free_bytes", RAW_GAUGE},
	[DIRTY] = {"dirty_bytes", RAW_GAUGE},      [WRITEBACK] = {"writeback_bytes", RAW_GAUGE},
	[SHMEM] = {"shmem_bytes", RAW_GAUGE},      [SLAB] = {"slab_bytes", RAW_GAUGE},
	[USED] = {"swap_used_bytes", RAW_GAUGE},
};

static const struct metric metrics[] = {
	{LEVEL("mem__swap_capacity_bytes", UNIT_BYTES, FIELD(TOTAL), "Swap space there is.")},
	{LEVEL("mem__swap_used_bytes", UNIT_BYTES, FIELD(USED),
	       "Swap space that holds something.")},
	{LEVEL("mem__dirty_bytes", UNIT_BYTES, FIELD(DIRTY),
	       "Cached file data that is not on its device yet.")},
	{LEVEL("mem__writeback_bytes", UNIT_BYTES, FIELD(WRITEBACK),
	       "Cached file data that is on its way to the device.")},
	{LEVEL("mem__shmem_bytes", UNIT_BYTES, FIELD(SHMEM), "Shared memory and tmpfs in RAM.")},
	{LEVEL("mem__slab_bytes", UNIT_BYTES, FIELD(SLAB),
	       "Memory of the kernel's own objects, reclaimable ones included.")},
};

static const struct key key[] = {
	KEY("SwapTotal:", TOTAL, KEY_KIB), KEY("SwapFree:", FREE, KEY_KIB),
	KEY("Dirty:", DIRTY, KEY_KIB),     KEY("Writeback:", WRITEBACK, KEY_KIB),
	KEY("Shmem:", SHMEM, KEY_KIB),     KEY("Slab:", SLAB, KEY_KIB),
};
static const struct keys keys = {"proc/meminfo", key, ARRAY_LEN(key), false};

/* SwapFree:        2097148 kB */
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
		raw_put_used(r, USED, TOTAL, FREE);
	return status;
}

static const struct source_text texts[] = {
	{.path = "proc/meminfo", .kind = FILE_RECORD, .parse = parse},
};

const struct source source_swap = {
	.name = "swap",
	.summary = "swap, dirty and shared memory, the kernel's objects",
	.shape = SHAPE_SINGLE,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_SYSTEM_DETAIL,
	.period_ns = 100 * NS_PER_MS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
