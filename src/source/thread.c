/* CPU time of one thread, and the time it waits for a CPU. */
#include "parser.h"

enum field { RUN_NS, WAIT_NS, SLICES };

static const struct raw_field fields[] = {
	[RUN_NS] = {"run_ns", RAW_COUNTER},
	[WAIT_NS] = {"wait_ns", RAW_COUNTER},
	[SLICES] = {"slices_count", RAW_COUNTER},
};

static const struct metric metrics[] = {
	{RATE("thread__cycles_active", UNIT_PCT_OF_CORE, FIELD(RUN_NS),
	      "CPU time of the thread, in percent of one CPU."),
	 .scale = 100 / 1e9},
	{.name = "thread__run_delay" OF_PEAK, .type = METRIC_THROUGHPUT, .unit = UNIT_PCT,
	 .form = FORM_RATE, .of = FIELD(WAIT_NS), .scale = 100 / 1e9,
	 .help = "Time in which the thread could run and waited for a CPU."},
	{RATE("thread__timeslices", UNIT_PER_SEC, FIELD(SLICES),
	      "Times a second that the thread was put on a CPU.")},
};

/*
 * Kernels without CONFIG_SCHED_INFO say 0 0 0, always.
 *
 * 148361279 2083456 123
 */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	enum { RUN, WAIT, COUNT, WANTED };
	static const struct column map[] = {{RUN, RUN_NS}, {WAIT, WAIT_NS}, {COUNT, SLICES}};
	struct raw *r = row_only(sink);
	struct columns c;

	(void)w;
	if (text.n == 0)
		return err_set(reterr, GALVO_ERR_ABSENT, "schedstat: empty");
	columns_read(text, WANTED, &c);
	if (!c.good)
		return err_malformed(reterr, "schedstat", text, text, "nanoseconds and a number of slices");
	if (r)
		columns_put(&c, map, ARRAY_LEN(map), r);
	return GALVO_OK;
}

static const struct source_text texts[] = {
	{.path = "schedstat", .kind = FILE_RECORD, .parse = parse},
};

const struct source source_thread = {
	.name = "thread",
	.summary = "CPU time of each thread of followed processes, on request",
	.shape = SHAPE_THREAD,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_THREAD,
	.period_ns = NS_PER_S / 10,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
