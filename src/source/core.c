/* Where the time of each CPU goes. */
#include "parser.h"

#define OF_CPU " in percent of the time of this CPU."

static const struct metric metrics[] = {
	{CPU_SHARE("core__cycles_user", FIELD(CPU_USER),
	           "Time in user mode, at any nice level and guests included," OF_CPU)},
	{CPU_SHARE("core__cycles_kernel", FIELD(CPU_KERNEL),
	           "Time in the kernel, its interrupts included," OF_CPU)},
	{CPU_SHARE("core__cycles_idle", FIELD(CPU_IDLE), "Time without work," OF_CPU)},
	{CPU_SHARE("core__cycles_iowait", FIELD(CPU_IOWAIT),
	           "Idle time while a task that last ran here waited for I/O, by an accounting the "
	           "kernel calls unreliable," OF_CPU)},
	{CPU_SHARE("core__cycles_steal", FIELD(CPU_STEAL),
	           "Time in which the hypervisor ran something else," OF_CPU)},
	{CPU_SHARE("core__cycles_busy", CPU_BUSY,
	           "Time neither idle nor waiting for I/O," OF_CPU)},
};

static enum line read_line(struct span line, struct raw_sink *sink)
{
	struct span rest = line, name;
	struct raw *r;
	uint64_t number;

	if (!span_starts(line, "cpu"))
		return LINE_LAST;
	if (!span_take_word(&rest, &name) || name.n == 3)
		return LINE_OTHER;
	if (!span_to_u64(span_of(name.p + 3, name.n - 3), &number) || number > UINT32_MAX)
		return LINE_BAD;
	r = sink->row(sink, name, (uint32_t)number);
	return !r || cpu_times_put(rest, r) ? LINE_READ : LINE_BAD;
}

/* cpu1 1110 0 1002 96403 339 0 25 5 0 0 */
static galvo_status parse(struct span text, const struct world *w, struct raw_sink *sink,
                          galvo_error *reterr)
{
	(void)w;
	return lines_parse(text, "proc/stat", "times of a CPU", read_line, sink, reterr);
}

static const struct source_text texts[] = {
	{.path = "proc/stat", .kind = FILE_RECORD, .parse = parse},
};

const struct source source_core = {
	.name = "core",
	.summary = "time of each CPU online: user, kernel, idle, waiting for I/O, stolen",
	.shape = SHAPE_LISTED,
	.stream = STREAM_SYSTEM,
	.scope = SCOPE_CORE,
	.period_ns = NS_PER_S,
	.fields = cpu_fields,
	.fields_len = CPU_FIELDS,
	TABLE(metrics),
	TABLE(texts),
	.cpu_clock_field = -1,
};
