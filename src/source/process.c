/* CPU time and memory of one process, cheap enough for every tick. */
#include "parser.h"

enum field { CPU_NS, VMS, RSS, SHARED, IN_EXEC };

enum { TINY_PAGES = 256 }; /* no program is so small, but for one without a library */

static const struct raw_field fields[] = {
	[CPU_NS] = {"cpu_ns", RAW_COUNTER},
	[VMS] = {"vms_bytes", RAW_GAUGE},
	[RSS] = {"rss_bytes", RAW_GAUGE},
	[SHARED] = {"shared_bytes", RAW_GAUGE},
	[IN_EXEC] = {"in_exec", RAW_GAUGE},
};

static const struct metric metrics[] = {
	{RATE("proc__cycles_active", UNIT_PCT_OF_CORE, FIELD(CPU_NS),
	      "CPU time of all threads of the process, ended ones included, in percent of one "
	      "CPU."),
	 .scale = 100 / 1e9},
	{LEVEL("proc__rss_bytes", UNIT_BYTES, FIELD(RSS),
	       "Memory of the process that is in RAM, pages it shares included.")},
	{LEVEL("proc__vms_bytes", UNIT_BYTES, FIELD(VMS),
	       "Address space that the process has mapped.")},
	{LEVEL("proc__shared_bytes", UNIT_BYTES, FIELD(SHARED),
	       "Shared memory and tmpfs pages in the memory of the process that is in RAM.")},
};

/* 765 432 404 5 0 123 0 */
static galvo_status parse_statm(struct span text, const struct world *w, struct raw_sink *sink,
                                galvo_error *reterr)
{
	enum { SIZE, RESIDENT, WANTED };
	struct raw *r = row_only(sink);
	struct columns c;

	if (text.n == 0)
		return err_set(reterr, GALVO_ERR_ABSENT, "statm: empty");
	columns_read(text, WANTED, &c);
	if (!c.good)
		return err_malformed(reterr, "statm", text, text, "numbers of pages");
	if (r && (c.good & FIELD(SIZE)))
		raw_put_scaled(r, VMS, c.value[SIZE], w->page_bytes);
	if (r && (c.good & FIELD(RESIDENT)))
		raw_put_scaled(r, RSS, c.value[RESIDENT], w->page_bytes);
	if (r && (c.good & FIELD(SIZE)))
		raw_put(r, IN_EXEC, c.value[SIZE] < TINY_PAGES && process_is_in_exec(text));
	return c.value[SIZE] ? GALVO_OK : GALVO_DONE;
}

/* Kernel threads, zombies and kernels before 4.5 have no such line. */
static const struct key key[] = {KEY("RssShmem:", SHARED, KEY_KIB)};
static const struct keys keys = {"status", key, ARRAY_LEN(key), true};

/* RssShmem:	       0 kB */
static galvo_status parse_status(struct span text, const struct world *w, struct raw_sink *sink,
                                 galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	return r ? keys_parse(text, &keys, r, reterr) : GALVO_OK;
}

static const struct source_text texts[] = {
	{.path = "statm", .kind = FILE_RECORD, .parse = parse_statm},
	{.path = "status", .kind = FILE_RECORD, .optional = true, .every = 100,
	 .parse = parse_status},
};

static const struct source_account accounts[] = {{USAGE_CPU_NS, PART_OWN, CPU_NS}};

const struct source source_process = {
	.name = "process",
	.summary = "CPU time and memory of each followed process",
	.shape = SHAPE_PROCESS,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_PROCESS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	TABLE(accounts),
	.cpu_clock_field = CPU_NS,
	.exec_field = IN_EXEC,
};
