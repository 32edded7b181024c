/* A run with something of everything, for reports. */
#ifndef GALVO_FULL_RUN_H
#define GALVO_FULL_RUN_H

#include "galvo/doctor.h"
#include "fake_run.h"

#define SHARE(name) name ".avg.pct_of_peak_sustained_elapsed"
#define RATE(name) name ".sum.per_second"
#define MIB 1048576.0

static inline void full_system(struct fake_run *f)
{
	static const char *const fast[] = {
		SHARE("cpu__cycles_busy"), SHARE("cpu__cycles_user"), SHARE("cpu__cycles_kernel"),
		SHARE("cpu__cycles_iowait"), "mem__capacity_bytes", "mem__used_bytes",
		SHARE("cpu__cycles_steal"),
	};
	static const char *const slow[] = {
		RATE("kernel__forks"), "mem__swap_used_bytes", "mem__swap_capacity_bytes",
		SHARE("pressure__cpu_some"), SHARE("pressure__io_some"), SHARE("pressure__io_full"),
		SHARE("pressure__memory_some"),
	};
	static const char *const core[] = {SHARE("core__cycles_busy"), SHARE("core__cycles_user")};
	size_t whole = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM, fast, 7, NULL, 0);
	size_t detail = fake_table(f, STREAM_SYSTEM, SCOPE_SYSTEM_DETAIL, slow, 7, NULL, 0);
	size_t cores = fake_table(f, STREAM_SYSTEM, SCOPE_CORE, core, 2, NULL, 0);
	uint64_t i;

	for (i = 1; i <= 10; i++) {
		double load = (double)i;

		ROW(f, whole, (100 + i) * S, 0, 10 * load - 2, 6 * load, 3 * load, 0.5, 16384 * MIB,
		    4096 * MIB + 64 * MIB * load, 0);
		ROW(f, detail, (100 + i) * S, 0, 12, 0, 2048 * MIB, 4 * load,
		    i == 10 ? 20 : 0, 0, 0);
		ROW(f, cores, (100 + i) * S, 0, 9 * load, 8 * load);
		ROW(f, cores, (100 + i) * S, 1, load, load);
	}
}

static inline void full_devices(struct fake_run *f)
{
	static const char *const disk[] = {
		RATE("disk__read_bytes"), RATE("disk__write_bytes"), SHARE("disk__cycles_busy"),
		"disk__queue_depth.avg",
	};
	static const char *const net[] = {
		RATE("net__rx_bytes"), RATE("net__tx_bytes"), RATE("net__rx_drops"),
		RATE("net__tx_drops"), RATE("net__rx_errors"), RATE("net__tx_errors"),
	};
	static const char *const disks[] = {"nvme0n1", "nvme0n1p2", "dm-0", "sda", "sdb"};
	static const char *const nets[] = {"lo", "enp0s31f6", "wlan0"};
	size_t d = fake_table(f, STREAM_DISK, SCOPE_DEVICE, disk, 4, disks, 5);
	size_t n = fake_table(f, STREAM_SYSTEM, SCOPE_INTERFACE, net, 6, nets, 3);
	uint64_t i;
	uint32_t k;

	for (k = 0; k < 5; k++)
		f->devices[k] = (struct run_device){disks[k], k != 1, k == 2};
	f->run.devices_len = 5;
	for (i = 1; i <= 10; i++) {
		for (k = 0; k < 3; k++)
			ROW(f, d, (100 + i) * S, k, 4096, 30 * MIB * (double)i,
			    9.5 * (double)i, 2.5);
		ROW(f, d, (100 + i) * S, 3, 512, 0, 0.1, 0);
		ROW(f, d, (100 + i) * S, 4, 0, 0, 0, 0); /* idle: not on the page */
		ROW(f, n, (100 + i) * S, 0, 5e6, 5e6, 0, 0, 0, 0);
		ROW(f, n, (100 + i) * S, 1, 1.5e6, 2e4, 1, 0, 0, 0);
		ROW(f, n, (100 + i) * S, 2, 0, 0, 0, 0, 0, 0);
	}
}

static inline void full_processes(struct fake_run *f)
{
	static const char *const fast[] = {RATE("proc__cycles_active"), "proc__rss_bytes"};
	static const char *const io[] = {RATE("proc__io_read_bytes"), RATE("proc__io_write_bytes")};
	size_t t = fake_table(f, STREAM_SYSTEM, SCOPE_PROCESS, fast, 2, NULL, 0);
	size_t d = fake_table(f, STREAM_DISK, SCOPE_PROCESS, io, 2, NULL, 0);
	uint32_t k;
	uint64_t i;

	fake_process(f, 4711, 1, 1000, "make")->root = true;
	fake_process(f, 4712, 4711, 1001, "sh");
	for (k = 0; k < 20; k++) {
		fake_process(f, 4720 + k, 4712, 1002 + k, "cc1")->end_mono_ns = (104 + k / 4) * S;
	}
	for (i = 1; i <= 10; i++) {
		ROW(f, t, (100 + i) * S, 4711, 1, 2 * MIB);
		ROW(f, d, (100 + i) * S, 4711, NAN, NAN);
		ROW(f, t, (100 + i) * S, 4712, 0, 1.5 * MIB);
		ROW(f, d, (100 + i) * S, 4712, 0, 0);
		for (k = 0; k < 20 && i <= 4 + k / 4; k++) {
			ROW(f, t, (100 + i) * S, 4720 + k, 5 + k, 20 * MIB + MIB * (double)i);
			ROW(f, d, (100 + i) * S, 4720 + k, 0, 3e5 * k);
		}
	}
}

/* What the rows do not tell, as a recorder that reads ends has it. */
static inline void full_usage(struct fake_run *f)
{
	uint32_t k;

	for (k = 0; k < f->run.processes_len; k++) {
		struct process_info *p = &f->processes[k];
		uint32_t c = k < 2 ? 0 : k - 2;

		p->usage[USAGE_CPU_NS] = (struct usage){.is_known = true,
			.sampled = k == 0 ? 100 * MS : k == 1 ? 0 : (5 + c) * 40 * MS,
			.head = 5 * MS, .tail = 3 * MS};
		p->usage[USAGE_WRITE] = p->usage[USAGE_READ] = (struct usage){.is_known = true};
		p->usage[USAGE_WRITE].sampled = k < 2 ? 0 : UINT64_C(1200000) * c;
		p->usage[USAGE_WRITE].tail = 4096;
		p->end = (struct process_end){.has_status = k > 0 && k != 20};
	}
	f->processes[0].usage[USAGE_CPU_NS].mixed = 20 * MS;
	f->processes[1].usage[USAGE_CPU_NS].unseen = 100 * MS;
	f->processes[1].usage[USAGE_WRITE].unseen = 12288;
	f->processes[3].end.exit_code = 1; /* folded */
	f->processes[19].end = (struct process_end){true, 143, 15, .has_usage = true,
		.user_ns = 800 * MS, .system_ns = 88 * MS, .max_rss_bytes = UINT64_C(24) << 20,
		.read_blocks = 1, .write_blocks = 40000, .voluntary_switches = 7};
	f->processes[21].earlier[0] = (struct earlier_name){107 * S, "sh"};
	f->processes[21].earlier[1] = (struct earlier_name){107 * S + 250 * MS, "gcc"};
	f->processes[21].earlier_len = 2;
	f->processes[18].earlier[0] = (struct earlier_name){108 * S, "python3.11-conf"};
	f->processes[18].earlier[1] = (struct earlier_name){108 * S, "collect2"};
	f->processes[18].earlier_len = 2;
}

/* As a galvo wrote it that told no parts. */
static inline void without_usage(struct fake_run *f)
{
	uint32_t k;

	for (k = 0; k < f->run.processes_len; k++) {
		memset(f->processes[k].usage, 0, sizeof(f->processes[k].usage));
		f->processes[k].end = (struct process_end){0};
		f->processes[k].earlier_len = 0;
	}
}

/* More regions than a page has room for, one inside of another, one that nobody ended. */
static inline void full_regions(struct fake_run *f)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
	uint64_t i;

	fake_region(f, "configure", 0, 1500);
	fake_region(f, "build", 1500, 9000);
	for (i = 0; i < 4; i++)
		fake_region(f, "compile a file", 2000 + 1000 * i, 2500 + 1200 * i);
	for (i = 0; i < ARRAY_LEN(names); i++)
		fake_region(f, names[i], 9000, 9010 + i);
	fake_region(f, "install", 9500, 0);
	*fake_region(f, "kernel", 3000, 4000) = (struct region){
		.domain = DOMAIN_GPU, .name = span_str("kernel"), .id = 99, .start_mono_ns = 103 * S,
		.end_mono_ns = 104 * S, .error_ns = 12345, .stream = 1};
	fake_mark(f, "checkpoint", 4000);
	fake_mark(f, "checkpoint", 8000);
	fake_mark(f, "start", 5);
}

static const char *const argv[] = {"make", "-j2", "CFLAGS=-O2 -g", "all"};
static const struct session_note notes[] = {
	{"source process_detail", "PSS is not read unless asked for"},
};
static const struct session_finding findings[] = {
	{"process-io", GALVO_VERDICT_NO, GALVO_NEED_SOME,
	 "proc/1/io, of user 0, is closed to us (its mode: CAP_DAC_READ_SEARCH)",
	 "bytes of other users are missing", "sudo setcap cap_sys_ptrace=ep galvo"},
	{"priority", GALVO_VERDICT_NO, GALVO_NEED_NONE, "RLIMIT_NICE is 0", "late ticks", ""},
	{"process-list", GALVO_VERDICT_UNKNOWN, GALVO_NEED_SOME, "not told", "", ""},
	{"limits", GALVO_VERDICT_PARTLY, GALVO_NEED_SOME, "limited to 2 of 4 CPUs", "of all", ""},
};
static const struct run_source sources[] = {
	{STREAM_SYSTEM, "cpu", "", 1, 100 * MS, 100, 0, 0, 9000, 0, 0},
	{STREAM_DISK, "process_io", "proc/4711/io: Permission denied", 1, 100 * MS, 100, 10, 0,
	 4000, 103 * S, 0},
};

static inline void full(struct fake_run *f)
{
	fake_init(f);
	full_system(f);
	full_devices(f);
	full_processes(f);
	full_usage(f);
	full_regions(f);
	f->session.workload = (struct session_workload){
		.present = true, .argv = argv, .argv_len = 4, .pid = 4711, .start_mono_ns = 100 * S,
		.end_mono_ns = 109 * S + 870 * MS, .exited = true, .user_ns = 11 * S + 234 * MS,
		.system_ns = 810 * MS, .max_rss_bytes = UINT64_C(30) << 20, .minor_faults = 1234,
		.write_blocks = 446000};
	f->session.notes = notes;
	f->session.notes_len = 1;
	f->session.findings = findings;
	f->session.findings_len = 4;
	f->session.cost = (struct session_cost){.present = true, .user_ns = 31 * MS,
		.system_ns = 21 * MS, .max_rss_bytes = UINT64_C(4300) << 10,
		.bytes_written = 120000};
	f->run.sources = sources;
	f->run.sources_len = 2;
	f->streams[0].stats = (struct probe_stats){.ticks = 1000, .missed_ticks = 1, .vanished = 4};
	f->streams[1].stats = (struct probe_stats){.ticks = 100};
}

#endif
