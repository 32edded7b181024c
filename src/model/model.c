/* Names of scopes, units and types; the grammar of metric names. */
#include "model.h"

const char *scope_name(enum scope s)
{
	switch (s) {
	case SCOPE_SYSTEM: return "system";
	case SCOPE_DEVICE: return "device";
	case SCOPE_PROCESS: return "process";
	case SCOPE_GPU: return "gpu";
	case SCOPE_CORE: return "core";
	case SCOPE_INTERFACE: return "interface";
	case SCOPE_SYSTEM_DETAIL: return "system_detail";
	case SCOPE_PROCESS_DETAIL: return "process_detail";
	case SCOPE_THREAD: return "thread";
	case SCOPE_GPU_DETAIL: return "gpu_detail";
	case SCOPE_GPU_PROCESS: return "gpu_process";
	}
	return "?";
}

const char *unit_name(enum metric_unit u)
{
	switch (u) {
	case UNIT_COUNT: return "count";
	case UNIT_BYTES: return "bytes";
	case UNIT_BYTES_PER_SEC: return "bytes_per_s";
	case UNIT_PCT: return "pct";
	case UNIT_PCT_OF_CORE: return "pct_of_core";
	case UNIT_RATIO: return "ratio";
	case UNIT_HZ: return "hz";
	case UNIT_CYCLES: return "cycles";
	case UNIT_REQUESTS: return "requests";
	case UNIT_PER_SEC: return "per_s";
	case UNIT_REQUESTS_PER_SEC: return "requests_per_s";
	case UNIT_NANOSECONDS: return "ns";
	case UNIT_WATTS: return "watts";
	case UNIT_JOULES: return "joules";
	case UNIT_CELSIUS: return "celsius";
	case UNIT_PER_CYCLE: return "per_cycle";
	case UNIT_BYTES_PER_CYCLE: return "bytes_per_cycle";
	case UNIT_COUNT_CYCLES: return "count_cycles";
	case UNIT_OTHER: return "other";
	}
	return "?";
}

bool unit_of_name(const char *name, enum metric_unit *ret)
{
	int u;

	for (u = UNIT_COUNT; u <= UNIT_OTHER; u++)
		if (!strcmp(unit_name((enum metric_unit)u), name) && strcmp(name, "?") != 0) {
			*ret = (enum metric_unit)u;
			return true;
		}
	return false;
}

const char *metric_type_name(enum metric_type t)
{
	switch (t) {
	case METRIC_COUNTER: return "counter";
	case METRIC_RATIO: return "ratio";
	case METRIC_THROUGHPUT: return "throughput";
	}
	return "?";
}

const char *stream_file_name(enum stream_kind k)
{
	switch (k) {
	case STREAM_GPU: return "gpu_metrics.pb";
	case STREAM_SYSTEM: return "system_metrics.pb";
	case STREAM_DISK: return "disk_metrics.pb";
	case STREAM_EVENTS: return "events.pb";
	case STREAM_TELEMETRY: return "gpu_telemetry.pb";
	}
	return "?";
}

bool metric_name_split(const char *name, struct metric_name *ret)
{
	struct metric_name parts = {0};
	struct span rest = span_str(name), all = rest;
	size_t i, from = 0;

	/* A unit of a group of counters: "TPC.TriageCompute.sm__…" is of sm. */
	for (i = 0; i + 1 < all.n && !(all.p[i] == '_' && all.p[i + 1] == '_'); i++)
		if (all.p[i] == '.')
			from = i + 1;
	if (i == from || i + 2 >= all.n)
		return false;
	parts.entity = span_of(all.p + from, i - from);
	rest = span_of(all.p + i + 2, all.n - i - 2);
	if (!span_cut(&rest, '.', &parts.counter)) {
		parts.counter = rest;
	} else if (!span_cut(&rest, '.', &parts.rollup)) {
		parts.rollup = rest;
	} else {
		parts.submetric = rest;
	}
	if (parts.counter.n == 0)
		return false;
	*ret = parts;
	return true;
}
