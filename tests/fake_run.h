/* Runs made by hand, without files: tables of a few rows, a session, processes. */
#ifndef GALVO_FAKE_RUN_H
#define GALVO_FAKE_RUN_H

#include <math.h>

#include "stream/stream.h"

#define FAKE_ROWS 512
#define FAKE_COLUMNS 40
#define FAKE_TABLES 12
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

struct fake_columns {
	uint64_t mono_ns[FAKE_ROWS];
	uint32_t key[FAKE_ROWS], pid[FAKE_ROWS];
	uint64_t duration_ns[FAKE_ROWS];
	double value[FAKE_COLUMNS][FAKE_ROWS];
	const double *values[FAKE_COLUMNS];
};

struct fake_run {
	struct galvo_run run;
	struct session session;
	struct run_stream streams[4];
	struct table tables[FAKE_TABLES];
	struct fake_columns columns[FAKE_TABLES];
	struct process_info processes[128];
	struct run_device devices[8];
	struct run_gpu gpus[16];
	struct region regions[32];
	struct mark marks[16];
};

/* A finished session of 10 s that began at 100 s, two streams, nothing else. */
static inline void fake_init(struct fake_run *f)
{
	memset(f, 0, sizeof(*f));
	f->session = (struct session){
		.hostname = "node1", .kernel = "6.1.0", .galvo_version = "0.1.0", .root = "/",
		.cpu_count = 2, .clk_tck = 100, .start_wall_ns = UINT64_C(1782907200) * S,
		.start_mono_ns = 100 * S, .stop_mono_ns = 110 * S,
	};
	f->streams[0] = (struct run_stream){.kind = STREAM_SYSTEM, .file_name = "system_metrics.pb",
		.present = true, .bytes = 2048, .messages = 10, .frequency_hz = 10};
	f->streams[1] = (struct run_stream){.kind = STREAM_DISK, .file_name = "disk_metrics.pb",
		.present = true, .bytes = 1024, .messages = 10, .frequency_hz = 10};
	f->run = (struct galvo_run){
		.session = &f->session, .streams = f->streams, .streams_len = 2,
		.tables = f->tables, .processes = f->processes, .devices = f->devices,
		.gpus = f->gpus, .regions = f->regions, .marks = f->marks,
	};
}

/* For tables of GPUs: telemetry, a reading a second, and hardware counters, one each ms. */
static inline void fake_gpu_streams(struct fake_run *f)
{
	f->streams[2] = (struct run_stream){.kind = STREAM_TELEMETRY, .file_name = "gpu_telemetry.pb",
		.present = true, .bytes = 4096, .messages = 10, .frequency_hz = 1};
	f->streams[3] = (struct run_stream){.kind = STREAM_GPU, .file_name = "gpu_metrics.pb",
		.present = true, .bytes = 8192, .messages = 10, .frequency_hz = 1000};
	f->run.streams_len = 4;
}

static inline struct run_gpu *fake_gpu(struct fake_run *f, const char *name)
{
	struct run_gpu *g = &f->gpus[f->run.gpus_len];

	*g = (struct run_gpu){.info = {.index = (uint32_t)f->run.gpus_len, .vendor = "nvidia",
	                               .peak_dram_bytes_per_s = NAN, .peak_pcie_bytes_per_s = NAN,
	                               .peak_nvlink_bytes_per_s = NAN},
	                      .in_telemetry = true};
	f->run.gpus_len++;
	snprintf(g->info.name, sizeof(g->info.name), "%s", name);
	snprintf(g->info.uuid, sizeof(g->info.uuid), "GPU-%u", (unsigned)g->info.index);
	return g;
}

/* Names are for tables that are keyed by them. All arrays are the caller's, for as long as f. */
static inline size_t fake_table(struct fake_run *f, enum stream_kind stream, enum scope scope,
                                const char *const *columns, size_t columns_len,
                                const char *const *names, size_t names_len)
{
	size_t t = f->run.tables_len++, c;

	for (c = 0; c < columns_len; c++)
		f->columns[t].values[c] = f->columns[t].value[c];
	f->tables[t] = (struct table){
		.stream = stream, .scope = scope, .columns = columns, .columns_len = columns_len,
		.mono_ns = f->columns[t].mono_ns, .key = f->columns[t].key,
		.values = f->columns[t].values, .names = names, .names_len = names_len};
	return t;
}

static inline void fake_row(struct fake_run *f, size_t t, uint64_t mono_ns, uint32_t key,
                            const double *values, size_t n)
{
	size_t row = f->tables[t].rows_len++, c;

	f->columns[t].mono_ns[row] = mono_ns;
	f->columns[t].key[row] = key;
	for (c = 0; c < n && c < f->tables[t].columns_len; c++)
		f->columns[t].value[c][row] = values[c];
}
/* The last row's other key, or how much time it covers. */
static inline void fake_row_pid(struct fake_run *f, size_t t, uint32_t pid)
{
	f->columns[t].pid[f->tables[t].rows_len - 1] = pid;
	f->tables[t].pid = f->columns[t].pid;
}

static inline void fake_row_covers(struct fake_run *f, size_t t, uint64_t duration_ns)
{
	f->columns[t].duration_ns[f->tables[t].rows_len - 1] = duration_ns;
	f->tables[t].duration_ns = f->columns[t].duration_ns;
}

#define ROW(f, t, mono_ns, key, ...)                                                               \
	fake_row((f), (t), (mono_ns), (key), (const double[]){__VA_ARGS__},                        \
	         sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* From and to in ms since 100 s; to 0: it is open. */
static inline struct region *fake_region(struct fake_run *f, const char *name, uint64_t from_ms,
                                         uint64_t to_ms)
{
	struct region *r = &f->regions[f->run.regions_len++];

	*r = (struct region){.domain = DOMAIN_GENERIC, .name = span_str(name),
	                     .id = f->run.regions_len, .start_mono_ns = 100 * S + from_ms * MS,
	                     .end_mono_ns = to_ms ? 100 * S + to_ms * MS : 0, .unfinished = !to_ms};
	return r;
}

static inline void fake_mark(struct fake_run *f, const char *name, uint64_t at_ms)
{
	f->marks[f->run.marks_len++] = (struct mark){
		.domain = DOMAIN_GENERIC, .name = span_str(name), .mono_ns = 100 * S + at_ms * MS};
}

/* First seen at 100 s. */
static inline struct process_info *fake_process(struct fake_run *f, uint32_t pid, uint32_t ppid,
                                                uint64_t start_ticks, const char *comm)
{
	struct process_info *p = &f->processes[f->run.processes_len++];

	*p = (struct process_info){.pid = pid, .ppid = ppid, .start_ticks = start_ticks,
	                           .first_mono_ns = 100 * S};
	snprintf(p->comm, sizeof(p->comm), "%s", comm);
	return p;
}

#endif
