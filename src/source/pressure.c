/* Pressure stall information: time lost because CPU, memory or I/O was not to be had. */
#include "parser.h"

enum field { CPU_SOME, CPU_FULL, MEMORY_SOME, MEMORY_FULL, IO_SOME, IO_FULL };

static const struct raw_field fields[] = {
	[CPU_SOME] = {"cpu_some_us", RAW_COUNTER},
	[CPU_FULL] = {"cpu_full_us", RAW_COUNTER},
	[MEMORY_SOME] = {"memory_some_us", RAW_COUNTER},
	[MEMORY_FULL] = {"memory_full_us", RAW_COUNTER},
	[IO_SOME] = {"io_some_us", RAW_COUNTER},
	[IO_FULL] = {"io_full_us", RAW_COUNTER},
};

/* Microseconds a second to percent; the kernel and we have other clocks, but not by that much. */
#define STALL(name_, of_, help_)                                                                   \
	.name = name_ OF_PEAK, .type = METRIC_THROUGHPUT, .unit = UNIT_PCT, .form = FORM_RATE,     \
	.of = FIELD(of_), .scale = 100 / 1e6, .limit = 120, .help = (help_)

static const struct metric metrics[] = {
	{STALL("pressure__cpu_some", CPU_SOME,
	       "Time in which at least one task waited for a CPU, in percent of elapsed time.")},
	{STALL("pressure__cpu_full", CPU_FULL,
	       "Time in which every task that was not idle waited for a CPU, in percent of elapsed "
	       "time; zero for a whole machine.")},
	{STALL("pressure__memory_some", MEMORY_SOME,
	       "Time in which at least one task waited for memory, in percent of elapsed time.")},
	{STALL("pressure__memory_full", MEMORY_FULL,
	       "Time in which every task that was not idle waited for memory, in percent of "
	       "elapsed time.")},
	{STALL("pressure__io_some", IO_SOME,
	       "Time in which at least one task waited for I/O, in percent of elapsed time.")},
	{STALL("pressure__io_full", IO_FULL,
	       "Time in which every task that was not idle waited for I/O, in percent of "
	       "elapsed time.")},
};

/* True if the line has that word first; puts the number that follows "total=". */
static bool take_total(struct span line, const char *word, struct raw *r, unsigned field)
{
	struct span part;
	uint64_t us;

	if (!span_take_word(&line, &part) || !span_eq_str(part, word))
		return false;
	while (span_take_word(&line, &part))
		if (span_starts(part, "total=") &&
		    span_to_u64(span_trim(span_of(part.p + 6, part.n - 6)), &us)) {
			raw_put(r, field, us);
			return true;
		}
	return false;
}

/* some avg10=2.53 avg60=0.98 avg300=0.29 total=4325776 */
static galvo_status parse(struct span text, const char *path, unsigned some, struct raw_sink *sink,
                          galvo_error *reterr)
{
	struct span rest = text, line;
	struct raw *r = row_only(sink);
	bool got = !r;

	while (r && span_take_line(&rest, &line))
		got |= take_total(line, "some", r, some) || take_total(line, "full", r, some + 1);
	return got ? GALVO_OK : err_malformed(reterr, path, text, text, "a line with total=");
}

static galvo_status parse_cpu(struct span text, const struct world *w, struct raw_sink *sink,
                              galvo_error *reterr)
{
	(void)w;
	return parse(text, "proc/pressure/cpu", CPU_SOME, sink, reterr);
}

static galvo_status parse_memory(struct span text, const struct world *w, struct raw_sink *sink,
                                 galvo_error *reterr)
{
	(void)w;
	return parse(text, "proc/pressure/memory", MEMORY_SOME, sink, reterr);
}

static galvo_status parse_io(struct span text, const struct world *w, struct raw_sink *sink,
                             galvo_error *reterr)
{
	(void)w;
	return parse(text, "proc/pressure/io", IO_SOME, sink, reterr);
}

/* Optional: kernels before 4.20 have none, and others are started with psi=0. */
static const struct source_text texts[] = {
	{.path = "proc/pressure/cpu", .kind = FILE_RECORD, .optional = true, .parse = parse_cpu},
	{.path = "proc/pressure/memory", .kind = FILE_RECORD, .optional = true,
	 .parse = parse_memory},
	{.path = "proc/pressure/io", .kind = FILE_RECORD, .optional = true, .parse = parse_io},
};

const struct source source_pressure = {
	.name = "pressure",
	.summary = "time lost waiting for CPU, memory and I/O (PSI)",
	.shape = SHAPE_SINGLE,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_SYSTEM_DETAIL,
	.period_ns = 100 * NS_PER_MS,
	TABLE(fields),
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
