/* The panels that people look for: which columns each of them shows, and how. */
#include "panels_parts.h"

#define SHARE_OF(name) name ".avg.pct_of_peak_sustained_elapsed"
#define SHARE(name, label) {SHARE_OF(name), label, false}
#define RATE(name, label) {name ".sum.per_second", label, false}
#define LEVEL(name, label) {name, label, true}
#define PCT(name, label) {name ".pct", label, false}
#define THROTTLE(name, label) {"gpu__throttle_" name ".ratio", label, false}
#define COLUMNS(...)                                                                               \
	.columns = (const struct panel_column[]){__VA_ARGS__},                                     \
	.columns_len = ARRAY_LEN(((const struct panel_column[]){__VA_ARGS__}))
#define OF(stream_, scope_) .stream = STREAM_##stream_, .scope = SCOPE_##scope_

#define MACHINE .group = "Machine", OF(SYSTEM, SYSTEM)
#define DETAIL .group = "Machine", OF(SYSTEM, SYSTEM_DETAIL)
#define CORES .group = "Machine", OF(SYSTEM, CORE), .unit = UNIT_PCT, .ceiling = 100
#define PROCESSES .group = "Processes", .shape = PANEL_STACK
#define FAST OF(SYSTEM, PROCESS)
#define SLOW OF(SYSTEM, PROCESS_DETAIL)
#define IO OF(DISK, PROCESS), .unit = UNIT_BYTES_PER_SEC
#define DISKS .group = "Disks", OF(DISK, DEVICE)
#define NETWORK .group = "Network", OF(SYSTEM, INTERFACE)
#define GPUS .group = "GPUs", OF(TELEMETRY, GPU)
#define GPU_DETAIL .group = "GPUs", OF(TELEMETRY, GPU_DETAIL)
#define GPU_USERS .group = "GPUs", OF(TELEMETRY, GPU_PROCESS), .shape = PANEL_STACK
#define FEW .flags = PANEL_FEW
#define FEW_IF_ANY .flags = PANEL_FEW | PANEL_ANY
#define QUIET .flags = PANEL_QUIET
#define IF_ANY .flags = PANEL_QUIET | PANEL_ANY
#define THOSE_THAT_ARE .flags = PANEL_SPARE | PANEL_ANY

const struct panel_rule panel_rules[] = {
	/* the machine */
	{"cpu", "CPU", MACHINE, .unit = UNIT_PCT, .shape = PANEL_STACK, .ceiling = 100,
	 COLUMNS(SHARE("cpu__cycles_user", "user"), SHARE("cpu__cycles_kernel", "kernel"),
	         SHARE("cpu__cycles_steal", "steal"), SHARE("cpu__cycles_iowait", "iowait"))},
	{"cores", "Cores busy", CORES, .flags = PANEL_MANY, COLUMNS(SHARE("core__cycles_busy", NULL))},
	{"memory", "Memory", MACHINE, .unit = UNIT_BYTES, .limit = LIMIT_MEMORY,
	 COLUMNS(LEVEL("mem__used_bytes", "used"), LEVEL("mem__cached_bytes", "cached"),
	         LEVEL("mem__buffers_bytes", "buffers"))},
	{"pressure", "Pressure: time in which tasks waited", DETAIL, .unit = UNIT_PCT, .ceiling = 100,
	 COLUMNS(SHARE("pressure__cpu_some", "some for a CPU"),
	         SHARE("pressure__cpu_full", "all for a CPU"),
	         SHARE("pressure__memory_some", "some for memory"),
	         SHARE("pressure__memory_full", "all for memory"),
	         SHARE("pressure__io_some", "some for I/O"),
	         SHARE("pressure__io_full", "all for I/O"))},
	{"tasks", "Tasks", DETAIL, .unit = UNIT_COUNT, .limit = LIMIT_CPUS,
	 COLUMNS(LEVEL("kernel__procs_running", "running or ready"),
	         LEVEL("kernel__procs_blocked", "waiting for I/O"))},
	{"scheduler", "Scheduler", DETAIL, .unit = UNIT_PER_SEC,
	 COLUMNS(RATE("kernel__context_switches", "context switches"),
	         RATE("kernel__interrupts", "interrupts"), RATE("kernel__forks", "forks"))},
	{"memory-detail", "Memory in detail", DETAIL, .unit = UNIT_BYTES,
	 COLUMNS(LEVEL("mem__slab_bytes", "slab"), LEVEL("mem__shmem_bytes", "shared"),
	         LEVEL("mem__dirty_bytes", "dirty"), LEVEL("mem__writeback_bytes", "being written"))},
	{"swap", "Swap", DETAIL, .unit = UNIT_BYTES, .limit = LIMIT_SWAP,
	 COLUMNS(LEVEL("mem__swap_used_bytes", "used"))},
	{"cores-user", "Cores in user mode", CORES, .flags = PANEL_MANY,
	 COLUMNS(SHARE("core__cycles_user", NULL))},
	{"cores-kernel", "Cores in the kernel", CORES, .flags = PANEL_MANY,
	 COLUMNS(SHARE("core__cycles_kernel", NULL))},
	{"cores-iowait", "Cores waiting for I/O", CORES, .flags = PANEL_MANY | PANEL_ANY,
	 COLUMNS(SHARE("core__cycles_iowait", NULL))},
	{"cores-steal", "Cores that were taken away", CORES, .flags = PANEL_MANY | PANEL_ANY,
	 COLUMNS(SHARE("core__cycles_steal", NULL))},

	/* processes */
	{"process-cpu", "CPU of processes", PROCESSES, FAST, FEW, .unit = UNIT_PCT_OF_CORE,
	 .limit = LIMIT_CPUS_PCT, COLUMNS(RATE("proc__cycles_active", NULL))},
	{"process-memory", "Memory of processes", PROCESSES, FAST, FEW, .unit = UNIT_BYTES,
	 .limit = LIMIT_MEMORY, COLUMNS(LEVEL("proc__rss_bytes", NULL))},
	{"process-pss", "Memory of processes, shared pages divided", PROCESSES, SLOW, FEW,
	 .unit = UNIT_BYTES, .limit = LIMIT_MEMORY, COLUMNS(LEVEL("proc__pss_bytes", NULL))},
	{"process-swap", "Swap of processes", PROCESSES, SLOW, FEW_IF_ANY, .unit = UNIT_BYTES,
	 .limit = LIMIT_SWAP, COLUMNS(LEVEL("proc__swap_bytes", NULL))},
	{"process-read", "Read from storage by processes", PROCESSES, IO, FEW,
	 COLUMNS(RATE("proc__io_read_bytes", NULL))},
	{"process-written", "Written to storage by processes", PROCESSES, IO, FEW,
	 COLUMNS(RATE("proc__io_write_bytes", NULL))},
	{"process-read-calls", "Read calls of processes", PROCESSES, IO, FEW,
	 COLUMNS(RATE("proc__io_rchar", NULL))},
	{"process-write-calls", "Write calls of processes", PROCESSES, IO, FEW,
	 COLUMNS(RATE("proc__io_wchar", NULL))},
	{"process-cancelled", "Writes of processes that were thrown away", PROCESSES, IO, FEW_IF_ANY,
	 COLUMNS(RATE("proc__io_cancelled_write_bytes", NULL))},
	{"process-faults-minor", "Page faults of processes without I/O", PROCESSES, SLOW, FEW,
	 .unit = UNIT_PER_SEC, COLUMNS(RATE("proc__faults_minor", NULL))},
	{"process-faults-major", "Page faults of processes with I/O", PROCESSES, SLOW, FEW_IF_ANY,
	 .unit = UNIT_PER_SEC, COLUMNS(RATE("proc__faults_major", NULL))},
	{"process-threads", "Threads of processes", PROCESSES, SLOW, FEW, .unit = UNIT_COUNT,
	 COLUMNS(LEVEL("proc__threads", NULL))},
	{"process-switches-voluntary", "Waits of processes' main threads", PROCESSES, SLOW, FEW,
	 .unit = UNIT_PER_SEC, COLUMNS(RATE("proc__context_switches_voluntary", NULL))},
	{"process-switches-involuntary", "Main threads that lost their CPU", PROCESSES, SLOW, FEW,
	 .unit = UNIT_PER_SEC, COLUMNS(RATE("proc__context_switches_involuntary", NULL))},
	{"process-user", "CPU of processes in user mode", PROCESSES, SLOW, FEW,
	 .unit = UNIT_PCT_OF_CORE, COLUMNS(RATE("proc__cycles_user", NULL))},
	{"process-kernel", "CPU of processes in the kernel", PROCESSES, SLOW, FEW,
	 .unit = UNIT_PCT_OF_CORE, COLUMNS(RATE("proc__cycles_kernel", NULL))},
	{"process-shared", "Shared memory of processes", PROCESSES, FAST, FEW_IF_ANY,
	 .unit = UNIT_BYTES, COLUMNS(LEVEL("proc__shared_bytes", NULL))},
	{"process-address-space", "Address space of processes", PROCESSES, FAST, FEW,
	 .unit = UNIT_BYTES, COLUMNS(LEVEL("proc__vms_bytes", NULL))},
	{"thread-cpu", "CPU of threads", PROCESSES, OF(SYSTEM, THREAD), FEW,
	 .unit = UNIT_PCT_OF_CORE, .limit = LIMIT_CPUS_PCT,
	 COLUMNS(RATE("thread__cycles_active", NULL))},
	{"thread-waiting", "Threads waiting for a CPU", PROCESSES, OF(SYSTEM, THREAD), FEW,
	 .unit = UNIT_PCT, COLUMNS(SHARE("thread__run_delay", NULL))},
	{"thread-timeslices", "Time slices of threads", PROCESSES, OF(SYSTEM, THREAD), FEW,
	 .unit = UNIT_PER_SEC, COLUMNS(RATE("thread__timeslices", NULL))},

	/* disks */
	{"disk-bytes", "Disk transfer", DISKS, QUIET, .unit = UNIT_BYTES_PER_SEC,
	 COLUMNS(RATE("disk__read_bytes", "read"), RATE("disk__write_bytes", "written"))},
	{"disk-requests", "Disk requests", DISKS, QUIET, .unit = UNIT_REQUESTS_PER_SEC,
	 COLUMNS(RATE("disk__read_requests", "read"), RATE("disk__write_requests", "write"),
	         RATE("disk__flush_requests", "flush"))},
	{"disk-busy", "Disks busy", DISKS, QUIET, .unit = UNIT_PCT, .ceiling = 100,
	 COLUMNS(SHARE("disk__cycles_busy", NULL))},
	{"disk-queue", "Disk queues", DISKS, QUIET, .unit = UNIT_REQUESTS,
	 COLUMNS({"disk__queue_depth.avg", NULL, false})},
	{"disk-inflight", "Disk requests in work", DISKS, QUIET, .unit = UNIT_REQUESTS,
	 COLUMNS(LEVEL("disk__read_inflight", "read"), LEVEL("disk__write_inflight", "write"))},
	{"disk-discard", "Disk space given back", DISKS, IF_ANY, .unit = UNIT_BYTES_PER_SEC,
	 COLUMNS(RATE("disk__discard_bytes", NULL))},

	/* network */
	{"net-bytes", "Network transfer", NETWORK, QUIET, .unit = UNIT_BYTES_PER_SEC,
	 COLUMNS(RATE("net__rx_bytes", "received"), RATE("net__tx_bytes", "sent"))},
	{"net-packets", "Network packets", NETWORK, QUIET, .unit = UNIT_PER_SEC,
	 COLUMNS(RATE("net__rx_packets", "received"), RATE("net__tx_packets", "sent"))},
	{"net-drops", "Network packets thrown away", NETWORK, THOSE_THAT_ARE, .unit = UNIT_PER_SEC,
	 COLUMNS(RATE("net__rx_drops", "received"), RATE("net__tx_drops", "to be sent"))},
	{"net-errors", "Network errors", NETWORK, THOSE_THAT_ARE, .unit = UNIT_PER_SEC,
	 COLUMNS(RATE("net__rx_errors", "received"), RATE("net__tx_errors", "sent"))},

	/* GPUs */
	{"gpu-utilization", "GPUs busy", GPUS, .unit = UNIT_PCT, .ceiling = 100,
	 COLUMNS(PCT("gpu__utilization", NULL))},
	{"gpu-memory", "Memory of GPUs", GPUS, .unit = UNIT_BYTES, .limit = LIMIT_GPU_MEMORY,
	 COLUMNS(LEVEL("gpu__memory_used_bytes", NULL))},
	{"gpu-power", "Power of GPUs", GPUS, .unit = UNIT_WATTS, .limit = LIMIT_GPU_POWER,
	 COLUMNS(LEVEL("gpu__power_watts", NULL), LEVEL("gpu__power_instant_watts", "at the moment"))},
	{"gpu-temperature", "Temperature of GPUs", GPUS, .unit = UNIT_CELSIUS, .flags = PANEL_FLOATS,
	 COLUMNS(LEVEL("gpu__temperature_celsius", NULL),
	         LEVEL("gpu__memory_temperature_celsius", "memory"))},
	{"gpu-clocks", "Clocks of GPUs: multiprocessors", GPUS, .unit = UNIT_HZ,
	 .limit = LIMIT_GPU_CLOCK, COLUMNS(LEVEL("gpu__clock_sm_hz", NULL))},
	{"gpu-throttle", "GPUs held down", GPUS, THOSE_THAT_ARE, .unit = UNIT_RATIO,
	 .shape = PANEL_HEAT, .ceiling = 1,
	 COLUMNS(THROTTLE("sw_power_cap", "power limit"), THROTTLE("hw_slowdown", "hardware slowdown"),
	         THROTTLE("sw_thermal", "heat, by the driver"),
	         THROTTLE("hw_thermal", "heat, by the hardware"),
	         THROTTLE("hw_power_brake", "power brake"), THROTTLE("sync_boost", "sync boost"),
	         THROTTLE("app_clocks", "clocks of applications"))},
	{"gpu-pcie", "PCIe of GPUs", GPUS, .unit = UNIT_BYTES_PER_SEC, .limit = LIMIT_GPU_PCIE,
	 COLUMNS(RATE("gpu__pcie_rx_bytes", "received"), RATE("gpu__pcie_tx_bytes", "sent"))},
	{"gpu-nvlink", "NVLink of GPUs", GPUS, .unit = UNIT_BYTES_PER_SEC, .limit = LIMIT_GPU_NVLINK,
	 COLUMNS(RATE("gpu__nvlink_rx_bytes", "received"), RATE("gpu__nvlink_tx_bytes", "sent"))},
	{"gpu-memory-utilization", "Memory of GPUs busy", GPUS, .unit = UNIT_PCT, .ceiling = 100,
	 COLUMNS(PCT("gpu__memory_utilization", NULL))},
	{"gpu-video", "Video engines of GPUs", GPUS, IF_ANY, .unit = UNIT_PCT, .ceiling = 100,
	 COLUMNS(PCT("gpu__encoder_utilization", "encoder"),
	         PCT("gpu__decoder_utilization", "decoder"))},
	{"gpu-process-memory", "Memory of GPUs by process", GPU_USERS, FEW, .unit = UNIT_BYTES,
	 .limit = LIMIT_GPUS, COLUMNS(LEVEL("proc__gpu_memory_used_bytes", NULL))},
	{"gpu-process-utilization", "GPUs busy by process", GPU_USERS, FEW, .unit = UNIT_PCT,
	 COLUMNS(PCT("proc__gpu_utilization", NULL))},
	{"gpu-process-memory-utilization", "Memory of GPUs busy by process", GPU_USERS, FEW_IF_ANY,
	 .unit = UNIT_PCT, COLUMNS(PCT("proc__gpu_memory_utilization", NULL))},
	{"gpu-process-encoder", "Video encoders of GPUs by process", GPU_USERS, FEW_IF_ANY,
	 .unit = UNIT_PCT, COLUMNS(PCT("proc__gpu_encoder_utilization", NULL))},
	{"gpu-process-decoder", "Video decoders of GPUs by process", GPU_USERS, FEW_IF_ANY,
	 .unit = UNIT_PCT, COLUMNS(PCT("proc__gpu_decoder_utilization", NULL))},
	{"gpu-clocks-memory", "Clocks of GPUs: memory", GPUS, .unit = UNIT_HZ,
	 .limit = LIMIT_GPU_MEMORY_CLOCK, COLUMNS(LEVEL("gpu__clock_memory_hz", NULL))},
	{"gpu-clocks-other", "Clocks of GPUs: graphics and video", GPUS, .unit = UNIT_HZ,
	 COLUMNS(LEVEL("gpu__clock_graphics_hz", "graphics"), LEVEL("gpu__clock_video_hz", "video"))},
	{"gpu-memory-reserved", "Memory of GPUs for the driver", GPUS, .unit = UNIT_BYTES,
	 COLUMNS(LEVEL("gpu__memory_reserved_bytes", NULL))},
	{"gpu-performance-state", "Performance states of GPUs", GPUS, .unit = UNIT_COUNT,
	 COLUMNS(LEVEL("gpu__performance_state", NULL))},
	{"gpu-errors", "Errors of GPUs", GPU_DETAIL, THOSE_THAT_ARE, .unit = UNIT_COUNT,
	 COLUMNS(LEVEL("gpu__xid_errors", "Xid"), LEVEL("gpu__ecc_uncorrected_errors", "ECC"),
	         LEVEL("gpu__ecc_corrected_errors", "ECC, corrected"),
	         LEVEL("gpu__pcie_replays", "PCIe replays"))},
	{"gpu-held-down", "Time in which GPUs were held down, since the driver was loaded", GPU_DETAIL,
	 THOSE_THAT_ARE, .unit = UNIT_NANOSECONDS,
	 COLUMNS(LEVEL("gpu__throttled_power_ns", "power limit"),
	         LEVEL("gpu__throttled_thermal_ns", "heat"),
	         LEVEL("gpu__throttled_power_brake_ns", "power brake"),
	         LEVEL("gpu__throttled_sync_boost_ns", "sync boost"))},
	{"gpu-fan", "Fans of GPUs", GPU_DETAIL, .unit = UNIT_PCT, .ceiling = 100,
	 COLUMNS(PCT("gpu__fan_speed", NULL))},
	{"gpu-pcie-link", "PCIe links of GPUs", GPU_DETAIL, .unit = UNIT_COUNT,
	 COLUMNS(LEVEL("gpu__pcie_link_generation", "generation"),
	         LEVEL("gpu__pcie_link_width", "lanes"))},
	{"gpu-processes", "Processes on GPUs", GPU_DETAIL, .unit = UNIT_COUNT,
	 COLUMNS(LEVEL("gpu__processes", NULL))},
	{"gpu-xid", "Newest Xid of GPUs", GPU_DETAIL, .unit = UNIT_COUNT,
	 COLUMNS(LEVEL("gpu__xid_last", NULL))},
};
const size_t panel_rules_len = ARRAY_LEN(panel_rules);

const struct panel_silent panel_silent[] = {
	{STREAM_SYSTEM, SCOPE_SYSTEM, SHARE_OF("cpu__cycles_busy")},
	{STREAM_SYSTEM, SCOPE_SYSTEM, "mem__capacity_bytes"},
	{STREAM_SYSTEM, SCOPE_SYSTEM, "mem__available_bytes"}, /* capacity less what is used */
	{STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, "mem__swap_capacity_bytes"},
	{STREAM_SYSTEM, SCOPE_CORE, SHARE_OF("core__cycles_idle")},
	{STREAM_TELEMETRY, SCOPE_GPU, "gpu__memory_total_bytes"},
	{STREAM_TELEMETRY, SCOPE_GPU, "gpu__power_limit_watts"},
	{STREAM_TELEMETRY, SCOPE_GPU, "gpu__energy_joules"},
	{STREAM_TELEMETRY, SCOPE_GPU, "gpu__throttle_idle.ratio"},
	{STREAM_TELEMETRY, SCOPE_GPU_DETAIL, "gpu__clock_graphics_max_hz"},
	{STREAM_TELEMETRY, SCOPE_GPU_DETAIL, "gpu__clock_sm_max_hz"},
	{STREAM_TELEMETRY, SCOPE_GPU_DETAIL, "gpu__clock_memory_max_hz"},
};
const size_t panel_silent_len = ARRAY_LEN(panel_silent);
