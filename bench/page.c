/* How long a page takes to be written and how large it is, beside opening the same run. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "galvo/page.h"
#include "measure.h"
#include "output/page.h"
#include "scratch.h"
#include "source/source.h"
#include "stream/stream.h"

enum { PROCESSES = 5, COUNTERS = 10 };

/* A run to be made: rows of `scopes`, so many ticks apart by period_ns. */
struct recipe {
	const char *name;
	enum stream_kind kind;
	uint64_t period_ns, ticks, flush_ticks;
};

static const struct recipe recipes[] = {
	{"1 h at 100 Hz", STREAM_SYSTEM, 10 * NS_PER_MS, 360000, 500},
	{"60 s at 10 kHz, 10 counters", STREAM_GPU, NS_PER_MS / 10, 600000, 5000},
};

static uint64_t random_state = 1;

static double random_below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)((random_state >> 33) % n);
}

/* Levels wander by pages, shares are so many ticks of the kernel, counters are any number. */
static void next_values(double *values, const struct catalog_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!rows)
			values[i] = fmax(0, values[i] + (random_below(2001) - 1000) / 977);
		else if (rows[i].metric->form == FORM_LEVEL)
			values[i] = fmax(0, values[i] + (random_below(21) - 10) * 4096);
		else
			values[i] = random_below(9) * 12.5;
}

static size_t columns_of(enum scope scope, struct catalog_row *ret_rows)
{
	struct catalog_row row;
	size_t i, n = 0;

	for (i = 0; catalog_at(i, &row); i++)
		if (row.stream == STREAM_SYSTEM && row.scope == scope)
			ret_rows[n++] = row;
	return n;
}

/* Rows of one tick; instants waver by some µs, as those of a sampler do. */
static void put_tick(struct stream *s, const struct recipe *r, uint64_t tick)
{
	static double values[PROCESSES + 1][ROW_MAX], counters[COUNTERS];
	static struct catalog_row machine[ROW_MAX], process[ROW_MAX];
	uint64_t at = (tick + 1) * r->period_ns + (uint64_t)random_below(5000);
	size_t machine_n = columns_of(SCOPE_SYSTEM, machine), n = columns_of(SCOPE_PROCESS, process);
	uint32_t i;

	if (r->kind == STREAM_GPU) {
		next_values(counters, NULL, COUNTERS);
		stream_row(s, SCOPE_GPU, (tick + 1) * r->period_ns,
		           (struct row_key){.duration_ns = r->period_ns}, counters, COUNTERS);
		return;
	}
	next_values(values[PROCESSES], machine, machine_n);
	stream_row(s, SCOPE_SYSTEM, at, (struct row_key){0}, values[PROCESSES], machine_n);
	for (i = 0; i < PROCESSES; i++) {
		next_values(values[i], process, n);
		stream_row(s, SCOPE_PROCESS, at, (struct row_key){.number = 4000 + i}, values[i], n);
	}
}

static void flush(struct stream *s, const struct recipe *r, uint64_t tick)
{
	struct process_info processes[PROCESSES];
	const struct process_info *all[PROCESSES];
	struct gpu_info gpu = {.name = "GPU", .uuid = "GPU-0"};
	struct gpu_anchor anchor = {.mono_ns = (tick + 1) * r->period_ns,
	                            .gpu_ns = (tick + 1) * r->period_ns};
	struct decode_stats decodes = {.samples = tick};
	struct flush_info info = {.mono_ns = (tick + 1) * r->period_ns,
	                          .wall_ns = (tick + 2) * r->period_ns};
	uint32_t i;

	for (i = 0; i < PROCESSES; i++) {
		processes[i] = (struct process_info){.pid = 4000 + i, .ppid = 1, .start_ticks = 5,
		                                     .first_mono_ns = r->period_ns, .comm = "worker"};
		all[i] = &processes[i];
	}
	info.processes = all;
	info.processes_len = PROCESSES;
	if (r->kind == STREAM_GPU) {
		info.processes_len = 0;
		info.gpus = &gpu;
		info.decodes = &decodes;
		info.anchors = &anchor;
		info.gpus_len = info.decodes_len = info.anchors_len = 1;
		info.gpu_ns = anchor.gpu_ns;
	}
	stream_flush(s, &info);
}

static galvo_status generate(int dir_fd, const struct recipe *r, galvo_error *reterr)
{
	static const char *const counters[COUNTERS] = {
		"gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__warps_active.avg.per_cycle_active",
		"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
		"pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second",
		"nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second",
		"gpc__cycles_elapsed.avg.per_second",
	};
	struct stream_config config = {
		.kind = r->kind, .file_name = stream_file_name(r->kind), .hostname = "bench",
		.frequency_hz = NS_PER_S / r->period_ns, .cpu_count = 8, .batch_bytes = 4 << 20};
	struct writer *w = NULL;
	struct stream *s;
	uint64_t tick;
	galvo_status status = writer_create(dir_fd, &w, reterr);

	if (r->kind == STREAM_GPU) {
		config.columns = counters;
		config.columns_len = COUNTERS;
	} else {
		config.catalog_at = catalog_at;
	}
	if (status == GALVO_OK)
		status = writer_add(w, &config, &s, reterr);
	if (status == GALVO_OK)
		status = writer_start(w, reterr);
	for (tick = 0; status == GALVO_OK && tick < r->ticks; tick++) {
		while (!stream_is_ready(s))
			usleep(100);
		put_tick(s, r, tick);
		if ((tick + 1) % r->flush_ticks == 0)
			flush(s, r, tick);
	}
	if (status == GALVO_OK)
		status = writer_stop(w, 60 * NS_PER_S, reterr);
	writer_destroy(w);
	return status;
}

static int count(void *ctx, const void *bytes, size_t n)
{
	uint64_t *sum = ctx;

	(void)bytes;
	*sum += n;
	return 0;
}

static double peak_mib(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static galvo_status measure_data(const galvo_run *run, const char *what,
                                 galvo_page_data_options options, galvo_error *reterr)
{
	uint64_t bytes = 0, from_ns = cpu_now_ns();
	galvo_status status;

	options.struct_size = sizeof(options);
	status = galvo_page_data(run, &options, count, &bytes, reterr);
	printf("  %-24s %6.2f s CPU %8.2f MB\n", what, (double)(cpu_now_ns() - from_ns) / 1e9,
	       (double)bytes / 1e6);
	return status;
}

static galvo_status measure_page(const galvo_run *run, const char *what, uint64_t max_bytes,
                                 galvo_error *reterr)
{
	const struct page_parts parts = {span_str("1"), span_str("1"), span_str("script-src 'none'")};
	const galvo_page_options options = {.struct_size = sizeof(options), .max_bytes = max_bytes};
	const galvo_page_run shown = {run, NULL};
	uint64_t bytes = 0, from_ns = cpu_now_ns();
	galvo_status status = page_write(&parts, &shown, 1, &options, count, &bytes, reterr);

	printf("  %-24s %6.2f s CPU %8.2f MB  %.0f MiB at most\n", what,
	       (double)(cpu_now_ns() - from_ns) / 1e9, (double)bytes / 1e6, peak_mib());
	return status;
}

static int put(void *ctx, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, ctx) != n;
}

/* The page as users get it, to be looked at. */
static galvo_status leave_page(const galvo_run *run, const char *name, galvo_error *reterr)
{
	const galvo_page_run shown = {run, NULL};
	FILE *file = fopen(name, "w");
	galvo_status status;

	if (!file)
		return err_set(reterr, GALVO_ERR_IO, "%s: cannot be written", name);
	status = galvo_page_write(&shown, 1, NULL, put, file, reterr);
	if (fclose(file) != 0 && status == GALVO_OK)
		status = err_set(reterr, GALVO_ERR_IO, "%s: cannot be written", name);
	return status;
}

static galvo_status measure(const char *dir, const char *name, const char *page_name,
                            galvo_error *reterr)
{
	galvo_run *run = NULL;
	galvo_summary *sum = NULL;
	uint64_t from_ns = cpu_now_ns();
	galvo_status status = galvo_run_open(dir, &run, reterr);

	printf("%s\n  %-24s %6.2f s CPU              %.0f MiB at most\n", name, "galvo_run_open",
	       (double)(cpu_now_ns() - from_ns) / 1e9, peak_mib());
	from_ns = cpu_now_ns();
	if (status == GALVO_OK)
		status = galvo_summary_create(run, &sum, reterr);
	printf("  %-24s %6.2f s CPU\n", "galvo_summary_create", (double)(cpu_now_ns() - from_ns) / 1e9);
	if (status == GALVO_OK)
		status = measure_page(run, "page", 0, reterr);
	if (status == GALVO_OK)
		status = measure_page(run, "page of 4 MiB", 4 << 20, reterr);
	if (status == GALVO_OK)
		status = measure_data(run, "overview", (galvo_page_data_options){
			.kind = GALVO_PAGE_OVERVIEW, .summary = sum}, reterr);
	if (status == GALVO_OK)
		status = measure_data(run, "detail of 1 s", (galvo_page_data_options){
			.kind = GALVO_PAGE_DETAIL, .from_s = 30, .end_s = 31, .summary = sum}, reterr);
	if (status == GALVO_OK && page_name)
		status = leave_page(run, page_name, reterr);
	galvo_summary_destroy(sum);
	galvo_run_close(run);
	return status;
}

int main(int argc, char **argv)
{
	char dir[SCRATCH_BYTES], page_name[256];
	galvo_error error;
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < ARRAY_LEN(recipes) && status == GALVO_OK; i++) {
		int dir_fd;

		snprintf(page_name, sizeof(page_name), "%s/%zu.html", argc > 1 ? argv[1] : "", i + 1);
		status = scratch_make(dir, &error);
		dir_fd = status == GALVO_OK ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		if (status == GALVO_OK)
			status = generate(dir_fd, &recipes[i], &error);
		if (status == GALVO_OK)
			status = measure(dir, recipes[i].name, argc > 1 ? page_name : NULL, &error);
		if (dir_fd >= 0)
			close(dir_fd);
		scratch_remove(dir);
	}
	if (status != GALVO_OK)
		fprintf(stderr, "%s\n", error.text);
	return status != GALVO_OK;
}
