/* The panels that people look for: which columns each of them shows, and how. */
#include "panels_parts.h"

#define SHARE(name, label) {name ".avg.pct_of_peak_sustained_elapsed", label, false}
#define RATE(name, label) {name ".sum.per_second", label, false}
#define LEVEL(name, label) {name, label, true}
#define COLUMNS(...)                                                                               \
	.columns = (const struct panel_column[]){__VA_ARGS__},                                     \
	.columns_len = ARRAY_LEN(((const struct panel_column[]){__VA_ARGS__}))
#define OF(stream_, scope_) .stream = STREAM_##stream_, .scope = SCOPE_##scope_
#define MACHINE .group = "Machine"
#define PROCESSES .group = "Processes", .flags = PANEL_FEW, .shape = PANEL_STACK
#define DISKS .group = "Disks", OF(DISK, DEVICE)

const struct panel_rule panel_rules[] = {
	{"cpu", "CPU", MACHINE, OF(SYSTEM, SYSTEM), .unit = UNIT_PCT, .shape = PANEL_STACK,
	 .ceiling = 100,
	 COLUMNS(SHARE("cpu__cycles_user", "user"), SHARE("cpu__cycles_kernel", "kernel"),
	         SHARE("cpu__cycles_steal", "steal"), SHARE("cpu__cycles_iowait", "iowait"))},
	{"memory", "Memory", MACHINE, OF(SYSTEM, SYSTEM), .unit = UNIT_BYTES, .limit = LIMIT_MEMORY,
	 COLUMNS(LEVEL("mem__used_bytes", "used"), LEVEL("mem__available_bytes", "available"),
	         LEVEL("mem__cached_bytes", "cached"), LEVEL("mem__buffers_bytes", "buffers"))},
	{"process-cpu", "CPU of processes", PROCESSES, OF(SYSTEM, PROCESS),
	 .unit = UNIT_PCT_OF_CORE, .limit = LIMIT_CPUS_PCT,
	 COLUMNS(RATE("proc__cycles_active", NULL))},
	{"process-memory", "Memory of processes", PROCESSES, OF(SYSTEM, PROCESS),
	 .unit = UNIT_BYTES, .limit = LIMIT_MEMORY, COLUMNS(LEVEL("proc__rss_bytes", NULL))},
	{"disk-bytes", "Disk transfer", DISKS, .unit = UNIT_BYTES_PER_SEC, .flags = PANEL_QUIET,
	 COLUMNS(RATE("disk__read_bytes", "read"), RATE("disk__write_bytes", "written"))},
	{"disk-busy", "Disk busy", DISKS, .unit = UNIT_PCT, .flags = PANEL_QUIET, .ceiling = 100,
	 COLUMNS(SHARE("disk__cycles_busy", NULL))},
};
const size_t panel_rules_len = ARRAY_LEN(panel_rules);
