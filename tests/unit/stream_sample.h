/* A small catalog and a small recording, for the tests of streams. */
#ifndef GALVO_STREAM_SAMPLE_H
#define GALVO_STREAM_SAMPLE_H

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/stream.h"

static const struct metric sample_metrics[] = {
	{.name = "cpu__busy.avg.pct_of_peak_sustained_elapsed", .type = METRIC_RATIO,
	 .unit = UNIT_PCT, .form = FORM_SHARE, .of = 1, .whole = 3, .help = "Busy."},
	{.name = "mem__used_bytes", .type = METRIC_COUNTER, .unit = UNIT_BYTES, .help = "Used."},
	{.name = "proc__rss_bytes", .type = METRIC_COUNTER, .unit = UNIT_BYTES, .help = "Resident."},
	{.name = "net__rx_bytes.sum.per_second", .type = METRIC_THROUGHPUT,
	 .unit = UNIT_BYTES_PER_SEC, .form = FORM_RATE, .help = "Received."},
	{.name = "disk__read_bytes.sum.per_second", .type = METRIC_THROUGHPUT,
	 .unit = UNIT_BYTES_PER_SEC, .form = FORM_RATE, .help = "Read."},
	{.name = "proc__io_rchar.sum.per_second", .type = METRIC_THROUGHPUT,
	 .unit = UNIT_BYTES_PER_SEC, .form = FORM_RATE, .help = "Read by calls."},
	{.name = "gpu__power_watts", .type = METRIC_COUNTER, .unit = UNIT_WATTS, .help = "Power."},
	{.name = "gpu__pcie_replays", .type = METRIC_COUNTER, .unit = UNIT_COUNT, .help = "Replays."},
	{.name = "proc__gpu_memory_used_bytes", .type = METRIC_COUNTER, .unit = UNIT_BYTES,
	 .help = "Its memory."},
};

/* Rows of scopes are mixed on purpose: the writer groups them. */
static inline bool sample_catalog(size_t i, struct catalog_row *ret)
{
	static const struct catalog_row rows[] = {
		{STREAM_SYSTEM, SCOPE_SYSTEM, "cpu", &sample_metrics[0]},
		{STREAM_SYSTEM, SCOPE_PROCESS, "process", &sample_metrics[2]},
		{STREAM_SYSTEM, SCOPE_SYSTEM, "memory", &sample_metrics[1]},
		{STREAM_DISK, SCOPE_DEVICE, "disk", &sample_metrics[4]},
		{STREAM_SYSTEM, SCOPE_INTERFACE, "net", &sample_metrics[3]},
		{STREAM_DISK, SCOPE_PROCESS, "process_io", &sample_metrics[5]},
		{STREAM_TELEMETRY, SCOPE_GPU, "nvml", &sample_metrics[6]},
		{STREAM_TELEMETRY, SCOPE_GPU_DETAIL, "nvml", &sample_metrics[7]},
		{STREAM_TELEMETRY, SCOPE_GPU_PROCESS, "nvml", &sample_metrics[8]},
	};

	if (i >= ARRAY_LEN(rows))
		return false;
	*ret = rows[i];
	return true;
}

/* A fresh directory; its descriptor. The path goes to `path`, of 64 bytes. */
static inline int sample_dir(char *path)
{
	snprintf(path, 64, "/tmp/galvo-test-XXXXXX");
	if (!mkdtemp(path))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline void sample_remove(const char *path, int fd)
{
	static const char *const names[] = {"session_metadata.pb", "system_metrics.pb",
	                                    "disk_metrics.pb", "events.pb", "gpu_metrics.pb",
	                                    "gpu_telemetry.pb"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		unlinkat(fd, names[i], 0);
	close(fd);
	rmdir(path);
}

#define SAMPLE_GPU_OFFSET_NS UINT64_C(1700000000123456789)
static const char *const sample_counters[] = {"sm__cycles_active.avg", "dram__bytes_read.sum"};

static inline struct stream_config sample_config(enum stream_kind kind)
{
	return (struct stream_config){
		.kind = kind,
		.file_name = stream_file_name(kind),
		.hostname = "host",
		.frequency_hz = 100,
		.cpu_count = 2,
		.catalog_at = sample_catalog,
		.gpu_offset_ns = kind == STREAM_EVENTS ? SAMPLE_GPU_OFFSET_NS : 0,
		.columns = kind == STREAM_GPU ? sample_counters : NULL,
		.columns_len = ARRAY_LEN(sample_counters),
	};
}

static inline struct flush_info sample_flush(uint64_t mono_ns)
{
	return (struct flush_info){
		.mono_ns = mono_ns, .boot_ns = mono_ns + 1, .wall_ns = mono_ns + 2,
	};
}

/* Message m: two system rows, one of a process, one of an interface. The process ends in 2. */
static inline void sample_message(struct stream *s, uint64_t m)
{
	struct process_info p = {.pid = 7, .ppid = 1, .start_ticks = 99, .first_mono_ns = 5,
	                         .root = true, .comm = "s\xffh", .command = "sh -c x",
	                         .alias = "job", .earlier_len = 1};
	const struct process_info *const processes[] = {&p};
	const struct source_stats source = {.name = "cpu", .divisor = 1, .period_ns = 10,
	                                    .reads = m + 1, .failures = m,
	                                    .first_failure_mono_ns = m ? 1001 : 0,
	                                    .reason = m == 1 ? "no" : ""};
	struct flush_info info = sample_flush(1000 * (m + 1));
	double v[] = {(double)m, NAN}, rss[] = {4096.0 * (double)m}, rx[] = {0.5};

	stream_row(s, SCOPE_SYSTEM, 1000 * m + 1, (struct row_key){0}, v, 2);
	v[1] = 0.1;
	stream_row(s, SCOPE_SYSTEM, 1000 * m + 2, (struct row_key){0}, v, 2);
	stream_row(s, SCOPE_PROCESS, 1000 * m + 2, (struct row_key){.number = 7}, rss, 1);
	stream_row(s, SCOPE_INTERFACE, 1000 * m + 3, (struct row_key){.name = span_str("eth0")}, rx,
	           1);
	p.removed = m == 2;
	p.end_mono_ns = m == 2 ? 2500 : 0;
	p.usage[USAGE_CPU_NS] = (struct usage){true, 1, 10 * m, 3, 4, UINT64_MAX};
	p.earlier[0] = (struct earlier_name){6, "b\xff"};
	if (m == 2)
		p.end = (struct process_end){true, 143, 15, true, .user_ns = 8, .system_ns = 9,
			.max_rss_bytes = 4096, .minor_faults = 1, .major_faults = 2,
			.read_blocks = 3, .write_blocks = 4, .voluntary_switches = 5,
			.involuntary_switches = 6};
	info.processes = processes;
	info.processes_len = 1;
	info.sources = &source;
	info.sources_len = 1;
	info.stats = (struct probe_stats){.ticks = 2 * (m + 1), .missed_ticks = m};
	stream_flush(s, &info);
}

/* Message m of events: a region that ended in it, one that is open, two marks. */
static inline void sample_events(struct stream *s, uint64_t m)
{
	const struct region open = {.domain = DOMAIN_GENERIC, .name = span_str("open"), .id = 100 + m,
	                            .start_mono_ns = 1000 * m + 3, .begin_thread = 8, .pid = 7};
	const struct region region = {
		.domain = DOMAIN_GENERIC, .name = span_of("a\xff\0b", 4), .id = m + 1,
		.start_mono_ns = 1000 * m + 1, .end_mono_ns = 1000 * m + 2, .begin_thread = 8,
		.end_thread = 9, .pid = 7, .unfinished = m == 1,
	};
	const struct mark mark = {DOMAIN_GENERIC, span_str(""), 1000 * m + 4, 8, 7, 0, 0};
	const struct mark gpu = {DOMAIN_GPU, span_str("gpu"), 1000 * m + 5, 8, 7, 40, 3};
	const struct gpu_events lost = {m, 2, 3, 4, 5, "why"};
	const struct region *const opens[] = {&open};
	struct flush_info info = sample_flush(1000 * (m + 1));

	stream_region(s, &region);
	stream_mark(s, &mark);
	stream_mark(s, &gpu);
	info.open_regions = opens;
	info.open_regions_len = 1;
	if (m)
		info.gpu_events = &lost;
	stream_flush(s, &info);
}

/* The GPUs' clock is the wall's; it is set forth by an hour between messages 1 and 2. */
#define SAMPLE_HOUR_NS (UINT64_C(3600) * NS_PER_S)
static inline uint64_t sample_gpu_ns(uint64_t mono_ns)
{
	return 50 * SAMPLE_HOUR_NS + mono_ns + (mono_ns >= 2000000 ? SAMPLE_HOUR_NS : 0);
}

/* GPU 0 is GPU 1 for telemetry, which lists an instance of it, too. */
static inline void sample_gpus(struct gpu_info *to, enum stream_kind kind)
{
	to[0] = (struct gpu_info){
		.index = kind == STREAM_GPU ? 0 : 1, .name = "Big\xff", .vendor = "nvidia", .chip = "GH100",
		.uuid = "GPU-1", .pci = "0000:3b:00.0", .driver = "580.1", .memory_bytes = 1 << 30,
		.peak_dram_bytes_per_s = 4.8e12, .peak_pcie_bytes_per_s = NAN, .sm_count = 132,
		.warps_per_sm = 64, .compute_major = 9,
	};
	if (kind == STREAM_GPU)
		to[1] = (struct gpu_info){.index = 1, .pci = "0000:5e:00.0"};
	else
		to[1] = (struct gpu_info){.index = 7, .uuid = "MIG-1", .pci = "0000:3b:00.0",
		                          .is_instance = true, .parent = 1};
	to[1].gpu_instance = 3;
	to[1].compute_instance = 4;
	to[1].foreign_pids = true;
	to[1].lost_mono_ns = 77;
	snprintf(to[1].note, sizeof(to[1].note), "gone");
}

/* Message m of hardware counters: three samples of a millisecond, of two GPUs. */
static inline void sample_counted(struct stream *s, uint64_t m)
{
	struct gpu_info gpus[2];
	struct decode_stats decode = {.gpu = 0, .samples = 3 * (m + 1), .overflows = m,
	                              .missing_ns = 7, .interval_ns = 1000000, .reason = "so"};
	const uint64_t mono_ns = (m + 1) * 1000000;
	const struct gpu_anchor anchor = {mono_ns - 500000, sample_gpu_ns(mono_ns - 500000)};
	struct flush_info info = sample_flush(mono_ns);
	double v[] = {(double)m, NAN};
	uint32_t i;

	sample_gpus(gpus, STREAM_GPU);
	for (i = 0; i < 3; i++)
		stream_row(s, SCOPE_GPU, sample_gpu_ns(mono_ns - 3000 + i * 1000),
		           (struct row_key){.number = i % 2, .duration_ns = i ? 1000 : 0}, v, 2);
	info.gpu_ns = sample_gpu_ns(mono_ns);
	info.gpus = gpus;
	info.gpus_len = 2;
	info.decodes = &decode;
	info.decodes_len = 1;
	info.anchors = &anchor;
	info.anchors_len = 1;
	stream_flush(s, &info);
}

/* Message m of telemetry: a row of each scope. */
static inline void sample_told(struct stream *s, uint64_t m)
{
	struct gpu_info gpus[2];
	struct flush_info info = sample_flush(1000 * (m + 1));
	double v[] = {300.5};

	sample_gpus(gpus, STREAM_TELEMETRY);
	stream_row(s, SCOPE_GPU, 1000 * m + 1, (struct row_key){.number = 1}, v, 1);
	stream_row(s, SCOPE_GPU_DETAIL, 1000 * m + 2, (struct row_key){.number = 7}, v, 1);
	stream_row(s, SCOPE_GPU_PROCESS, 1000 * m + 3,
	           (struct row_key){.number = 4242, .second = 1}, v, 1);
	info.gpus = gpus;
	info.gpus_len = 2;
	stream_flush(s, &info);
}

/* Writes a stream with n messages into the directory. */
static inline galvo_status sample_write_kind(int dir_fd, uint64_t n, enum stream_kind kind)
{
	struct stream_config config = sample_config(kind);
	struct writer *w = NULL;
	struct stream *s;
	galvo_status status = writer_create(dir_fd, &w, NULL);
	struct writer_totals totals = {0};
	uint64_t m;

	if (status == GALVO_OK)
		status = writer_add(w, &config, &s, NULL);
	if (status == GALVO_OK)
		status = writer_start(w, NULL);
	for (m = 0; status == GALVO_OK && m < n; m++) {
		if (kind == STREAM_EVENTS)
			sample_events(s, m);
		else if (kind == STREAM_GPU)
			sample_counted(s, m);
		else if (kind == STREAM_TELEMETRY)
			sample_told(s, m);
		else
			sample_message(s, m);
		while (totals.messages == m) /* none may be dropped here */
			writer_get_totals(w, &totals);
	}
	if (status == GALVO_OK)
		status = writer_stop(w, 10 * NS_PER_S, NULL);
	writer_destroy(w);
	return status;
}

static inline galvo_status sample_write(int dir_fd, uint64_t n)
{
	return sample_write_kind(dir_fd, n, STREAM_SYSTEM);
}

/* The bytes of a stream with n messages; free `b` with buf_finish. */
static inline struct span sample_bytes_kind(uint64_t n, struct buf *b, enum stream_kind kind)
{
	char path[64];
	int fd = sample_dir(path);
	struct span bytes = {0};

	buf_init(b, 1 << 20);
	if (fd < 0 || sample_write_kind(fd, n, kind) != GALVO_OK ||
	    file_read(fd, stream_file_name(kind), b, &bytes, NULL) != GALVO_OK)
		printf("# no sample could be made\n");
	sample_remove(path, fd);
	return bytes;
}

static inline struct span sample_bytes(uint64_t n, struct buf *b)
{
	return sample_bytes_kind(n, b, STREAM_SYSTEM);
}

#endif
