/* Records a small run into a directory and prints every value it recorded, for protobuf.py. */
#include "../unit/stream_sample.h"

static void print_values(const double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf(isnan(v[i]) ? " nan" : " %a", v[i]);
	printf("\n");
}

static void row(struct stream *s, const char *file, const char *field, enum scope scope,
                uint64_t at, struct row_key key, const double *v, size_t n)
{
	stream_row(s, scope, at, key, v, n);
	printf("%s %s %llu %u", file, field, (unsigned long long)at, key.number);
	printf(" [%.*s]", (int)key.name.n, key.name.p ? key.name.p : "");
	print_values(v, n);
}

/* What sample_events writes, as it must come back: clock, field, instants, name in hex. */
static void record_events(struct stream *events)
{
	uint64_t m;

	for (m = 0; m < 2; m++) {
		sample_events(events, m);
		printf("events region %llu %llu %llu %d 8 9 7 61ff0062\n", (unsigned long long)m + 1,
		       (unsigned long long)(1000 * m + 1), (unsigned long long)(1000 * m + 2), m == 1);
		printf("events event 1 %llu 8 7 0 0 -\n", (unsigned long long)(1000 * m + 4));
		printf("events event 2 %llu 8 7 40 3 677075\n", (unsigned long long)(1000 * m + 5));
		printf("events open %llu %llu 8 7 1 6f70656e\n", (unsigned long long)(100 + m),
		       (unsigned long long)(1000 * m + 3));
		if (m)
			printf("events lost 1 2 3 4 5 why\n");
	}
}

/* What the samples of GPUs must come back as. */
static void record_gpus(struct stream *counted, struct stream *told)
{
	uint64_t m, i;

	for (m = 0; m < 2; m++) {
		sample_counted(counted, m);
		sample_told(told, m);
		for (i = 0; i < 3; i++)
			printf("gpu samples %llu %llu 0 %llu %a\n",
			       (unsigned long long)sample_gpu_ns((m + 1) * 1000000 - 3000 + i * 1000),
			       (unsigned long long)(i % 2), i ? 1000ull : 0ull, (double)m);
		printf("gpu samples %llu 1 0 0 %a\n", (unsigned long long)(1000 * m + 1), 300.5);
		printf("gpu detail_samples %llu 7 0 0 %a\n", (unsigned long long)(1000 * m + 2), 300.5);
		printf("gpu process_samples %llu 1 4242 0 %a\n",
		       (unsigned long long)(1000 * m + 3), 300.5);
	}
}

/* The extremes of varints and doubles among them. */
static void record(struct stream *whole, struct stream *disk)
{
	static const double v[][2] = {{0, -0.0}, {1.0 / 3, NAN}, {HUGE_VAL, 5e-324}, {-1e308, 100}};
	static const uint64_t at[] = {0, 1, 300, UINT64_MAX};
	static const struct process_info process = {
		.pid = UINT32_MAX, .ppid = 1, .start_ticks = UINT64_MAX, .first_mono_ns = 1,
		.end_mono_ns = 2, .removed = true, .root = true, .alias = "caf\xc3\xa9",
		.comm = "a\xff) R", .command = "a b",
	};
	static const struct process_info *const processes[] = {&process};
	static const struct thread_info thread = {
		.pid = UINT32_MAX, .tid = 7, .start_ticks = 8, .first_mono_ns = 9, .end_mono_ns = 10,
		.name = "t\xff",
	};
	static const struct thread_info *const threads[] = {&thread};
	static const struct stream_device device = {"sda\xff", true, true};
	static const struct source_stats source = {"cpu", 3, 4, 5, 6, 7, 8, "gone", 9, 10};
	struct flush_info info = {
		.mono_ns = 1, .boot_ns = 2, .wall_ns = 3, .processes = processes, .processes_len = 1,
		.threads = threads, .threads_len = 1, .devices = &device, .devices_len = 1, .sources = &source, .sources_len = 1,
		.stats = {11, 12, 13, 14, 15},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(v); i++) {
		struct row_key none = {0}, number = {.number = i ? UINT32_MAX : 0};
		struct row_key name = {.name = span_str(i ? "eth\xff" : "")};

		row(whole, "system", "system_samples", SCOPE_SYSTEM, at[i], none, v[i], 2);
		row(whole, "system", "process_samples", SCOPE_PROCESS, at[i], number, v[i], 1);
		row(whole, "system", "interface_samples", SCOPE_INTERFACE, at[i], name, v[i], 1);
		row(disk, "disk", "device_samples", SCOPE_DEVICE, at[i], name, v[i], 1);
		row(disk, "disk", "process_samples", SCOPE_PROCESS, at[i], number, v[i], 1);
		if (i != 1)
			continue;
		stream_flush(whole, &info);
		stream_flush(disk, &info);
	}
	info.mono_ns = 1001;
	stream_flush(whole, &info);
	stream_flush(disk, &info);
}

int main(int argc, char **argv)
{
	static const struct session session = {
		.hostname = "h\xff", .start_wall_ns = NS_PER_S, .start_mono_ns = 2,
		.stop_mono_ns = 3,
		.galvo_version = "0.1.0", .budget_pct = 0.25,
	};
	int dir_fd = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stream_config system_config = sample_config(STREAM_SYSTEM);
	struct stream_config disk_config = sample_config(STREAM_DISK);
	struct stream_config events_config = sample_config(STREAM_EVENTS);
	struct stream_config gpu_config = sample_config(STREAM_GPU);
	struct stream_config telemetry_config = sample_config(STREAM_TELEMETRY);
	struct stream *system_stream, *disk_stream, *events_stream, *gpu_stream, *telemetry_stream;
	struct writer *w = NULL;
	bool ok;

	ok = dir_fd >= 0 && writer_create(dir_fd, &w, NULL) == GALVO_OK &&
	     writer_add(w, &system_config, &system_stream, NULL) == GALVO_OK &&
	     writer_add(w, &disk_config, &disk_stream, NULL) == GALVO_OK &&
	     writer_add(w, &events_config, &events_stream, NULL) == GALVO_OK &&
	     writer_add(w, &gpu_config, &gpu_stream, NULL) == GALVO_OK &&
	     writer_add(w, &telemetry_config, &telemetry_stream, NULL) == GALVO_OK &&
	     session_write(dir_fd, &session, sample_catalog, NULL) == GALVO_OK;
	if (ok) {
		record(system_stream, disk_stream);
		record_events(events_stream);
		record_gpus(gpu_stream, telemetry_stream);
		ok = writer_start(w, NULL) == GALVO_OK &&
		     writer_stop(w, 10 * NS_PER_S, NULL) == GALVO_OK;
	}
	writer_destroy(w);
	return ok ? 0 : 1;
}
