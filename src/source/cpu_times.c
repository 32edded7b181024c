/* The times of one CPU, or of all, as a line of /proc/stat has them. */
#include "parser.h"

/* user nice system idle iowait irq softirq steal; guest times, next, are inside user and nice. */
enum { TIMES_OLDEST = 4, TIMES = 8 };

/*
 * The kernel books an open idle period as idle or as iowait by who waits just then, so either may
 * step back (Documentation/filesystems/proc.rst).
 */
const struct raw_field cpu_fields[CPU_FIELDS] = {
	[CPU_USER] = {"user_ticks", RAW_COUNTER},
	[CPU_KERNEL] = {"kernel_ticks", RAW_COUNTER},
	[CPU_IDLE] = {"idle_ticks", RAW_WAVERING},
	[CPU_IOWAIT] = {"iowait_ticks", RAW_WAVERING},
	[CPU_STEAL] = {"steal_ticks", RAW_COUNTER},
};

/* A kernel too old for a column (before 2.6.11) books nothing apart there: that time is zero. */
bool cpu_times_put(struct span numbers, struct raw *r)
{
	uint64_t t[TIMES] = {0};
	size_t n;

	for (n = 0; n < TIMES && span_take_u64(&numbers, &t[n]); n++)
		;
	if (n < TIMES_OLDEST || (n < TIMES && span_trim(numbers).n))
		return false;
	if (n == TIMES && numbers.n && numbers.p[0] != ' ' && numbers.p[0] != '\r')
		return false;
	/* Sums may wrap like the counters they are made of. */
	raw_put(r, CPU_USER, t[0] + t[1]);
	raw_put(r, CPU_KERNEL, t[2] + t[5] + t[6]);
	raw_put(r, CPU_IDLE, t[3]);
	raw_put(r, CPU_IOWAIT, t[4]);
	raw_put(r, CPU_STEAL, t[7]);
	return true;
}

/* cpu  1558 0 1574 194315 349 0 35 8 0 0 */
galvo_status cpu_line_parse(struct span text, const struct world *w, struct raw_sink *sink,
                            galvo_error *reterr)
{
	struct span rest = text, line = {0};
	struct raw *r = row_only(sink);

	(void)w;
	if (!span_take_line(&rest, &line) || !span_starts(line, "cpu "))
		return err_malformed(reterr, "proc/stat", text, line, "the line 'cpu'");
	if (r && !cpu_times_put(span_of(line.p + 3, line.n - 3), r))
		return err_malformed(reterr, "proc/stat", text, line, "times of all CPUs");
	return GALVO_OK;
}
