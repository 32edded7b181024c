/* What the scheduler and the interrupt controller of the machine are kept busy with. */
#include "parser.h"

enum field { INTERRUPTS, SWITCHES, FORKS, RUNNING, BLOCKED };

static const struct raw_field fields[] = {
	[INTERRUPTS] = {"interrupts_count", RAW_COUNTER},
	[SWITCHES] = {"context_switches_count", RAW_COUNTER},
	[FORKS] = {"forks_count", RAW_COUNTER},
	[RUNNING] = {"procs_running_count", RAW_GAUGE},
	[BLOCKED] = {"procs_blocked_count", RAW_GAUGE},
};

static const struct metric metrics[] = {
	{RATE("kernel__context_switches", UNIT_PER_SEC, FIELD(SWITCHES),
	      "Switches from one task to another a second, on all CPUs.")},
	{RATE("kernel__forks", UNIT_PER_SEC, FIELD(FORKS),
	      "Processes and threads made a second.")},
	{RATE("kernel__interrupts", UNIT_PER_SEC, FIELD(INTERRUPTS),
	      "Interrupts served a second, on all CPUs.")},
	{LEVEL("kernel__procs_running", UNIT_COUNT, FIELD(RUNNING),
	       "Tasks that run or wait for a CPU.")},
	{LEVEL("kernel__procs_blocked", UNIT_COUNT, FIELD(BLOCKED),
	       "Tasks that wait for I/O and cannot be interrupted.")},
};

static const struct key key[] = {
	KEY("intr ", INTERRUPTS, KEY_FIRST),
	KEY("ctxt ", SWITCHES, KEY_PLAIN),
	KEY("processes ", FORKS, KEY_PLAIN),
	KEY("procs_running ", RUNNING, KEY_PLAIN),
	KEY("procs_blocked ", BLOCKED, KEY_PLAIN),
};
static const struct keys keys = {"proc/stat", key, ARRAY_LEN(key), false};

/* ctxt 1234567 */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	struct raw *r = row_only(sink);

	(void)w;
	return r ? keys_parse(text, &keys, r, reterr) : GALVO_OK;
}

static const struct source_text texts[] = {
	{.path = "proc/stat", .kind = FILE_RECORD, .parse = parse},
};

const struct source source_kernel = {
	.name = "kernel",
	.summary = "context switches, forks, interrupts, tasks that run and that are blocked",
	.shape = SHAPE_SINGLE,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_SYSTEM_DETAIL,
	.period_ns = 100 * NS_PER_MS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
