/* What pictures of an hour at 100 Hz cost, nine panels of some thirty curves, beside opening the run. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "galvo/plot.h"
#include "galvo/summary.h"
#include "measure.h"
#include "scratch.h"
#include "source/source.h"
#include "stream/stream.h"

enum { TICKS = 360000, PROCESSES = 3, FLUSH_TICKS = 500, ROUNDS = 3 };

static const uint64_t TICK_NS = 10 * NS_PER_MS;
/* With three processes: 4 + 4 + 6 + 3 + 4 + 4 x 3 curves. */
static const char panels[] = "cpu,memory,pressure,scheduler,memory-detail,process-cpu,"
			     "process-memory,process-shared,process-address-space";

static size_t columns_of(enum scope scope)
{
	struct catalog_row row;
	size_t i, n = 0;

	for (i = 0; catalog_at(i, &row); i++)
		n += row.stream == STREAM_SYSTEM && row.scope == scope;
	return n;
}

static void put_rows(struct stream *s, enum scope scope, uint64_t tick, uint32_t first, uint32_t n)
{
	size_t columns = columns_of(scope), c;
	double values[ROW_MAX];
	uint32_t i;

	for (i = 0; i < n; i++) {
		for (c = 0; c < columns; c++)
			values[c] = (double)((tick * 7919 + i * 104729 + c * 1299709) % 1000003) / 2e4;
		stream_row(s, scope, (tick + 1) * TICK_NS, (struct row_key){.number = first + i}, values,
		           columns);
	}
}

static void flush(struct stream *s, uint64_t tick)
{
	struct process_info processes[PROCESSES];
	const struct process_info *all[PROCESSES];
	struct flush_info info = {.mono_ns = (tick + 1) * TICK_NS, .wall_ns = (tick + 2) * TICK_NS,
	                          .processes = all, .processes_len = PROCESSES};
	uint32_t i;

	for (i = 0; i < PROCESSES; i++) {
		processes[i] = (struct process_info){.pid = 4000 + i, .ppid = 1, .start_ticks = 5,
		                                     .first_mono_ns = TICK_NS, .comm = "worker"};
		all[i] = &processes[i];
	}
	stream_flush(s, &info);
}

static galvo_status generate(int dir_fd, galvo_error *reterr)
{
	struct stream_config config = {
		.kind = STREAM_SYSTEM, .file_name = stream_file_name(STREAM_SYSTEM), .hostname = "bench",
		.frequency_hz = 100, .cpu_count = 2, .catalog_at = catalog_at,
	};
	struct writer *w = NULL;
	struct stream *s;
	uint64_t tick;
	galvo_status status = writer_create(dir_fd, &w, reterr);

	if (status == GALVO_OK)
		status = writer_add(w, &config, &s, reterr);
	if (status == GALVO_OK)
		status = writer_start(w, reterr);
	for (tick = 0; status == GALVO_OK && tick < TICKS; tick++) {
		while (!stream_is_ready(s))
			usleep(100);
		put_rows(s, SCOPE_SYSTEM, tick, 0, 1);
		put_rows(s, SCOPE_SYSTEM_DETAIL, tick, 0, 1);
		put_rows(s, SCOPE_PROCESS, tick, 4000, PROCESSES);
		if (tick % FLUSH_TICKS == FLUSH_TICKS - 1)
			flush(s, tick);
	}
	if (status == GALVO_OK)
		status = writer_stop(w, 60 * NS_PER_S, reterr);
	writer_destroy(w);
	return status;
}

static int count(void *ctx, const void *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)ctx += n;
	return 0;
}

static galvo_status measure_format(const struct galvo_run *run, const char *name, int32_t format,
                                   galvo_error *reterr)
{
	const galvo_plot_options o = {.struct_size = sizeof(o), .format = format, .panels = panels};
	galvo_status status = GALVO_OK;
	struct figures s = {0};
	size_t bytes = 0;
	int i;

	for (i = 0; i < ROUNDS && status == GALVO_OK; i++) {
		uint64_t from_ns = cpu_now_ns();

		bytes = 0;
		status = galvo_plot_write(run, &o, count, &bytes, reterr);
		figures_put(&s, (double)(cpu_now_ns() - from_ns) / 1e9);
	}
	if (status == GALVO_OK)
		printf("%-30s %6.2f s  %6zu KB\n", name, figures_median(&s), bytes / 1000);
	return status;
}

/* The figures of a report: a picture has its head and its choice of processes from them. */
static galvo_status measure_summary(const struct galvo_run *run, galvo_error *reterr)
{
	uint64_t from_ns = cpu_now_ns();
	galvo_summary *summary;
	galvo_status status = galvo_summary_create(run, &summary, reterr);

	if (status != GALVO_OK)
		return status;
	printf("%-30s %6.2f s\n", "galvo_summary_create", (double)(cpu_now_ns() - from_ns) / 1e9);
	galvo_summary_destroy(summary);
	return GALVO_OK;
}

static galvo_status measure(const char *dir, galvo_error *reterr)
{
	uint64_t from_ns = cpu_now_ns();
	struct galvo_run *run;
	galvo_status status = galvo_run_open(dir, &run, reterr);

	if (status != GALVO_OK)
		return status;
	printf("%d ticks, %zu columns; CPU time, medians of %d rounds\n", TICKS,
	       columns_of(SCOPE_SYSTEM) + columns_of(SCOPE_SYSTEM_DETAIL) +
	       PROCESSES * columns_of(SCOPE_PROCESS), ROUNDS);
	printf("%-30s %6.2f s\n", "galvo_run_open", (double)(cpu_now_ns() - from_ns) / 1e9);
	status = measure_summary(run, reterr);
	if (status == GALVO_OK)
		status = measure_format(run, "SVG, that included", GALVO_PLOT_SVG, reterr);
	if (status == GALVO_OK)
		status = measure_format(run, "PDF, that included", GALVO_PLOT_PDF, reterr);
	if (status == GALVO_OK)
		status = measure_format(run, "PNG, that included", GALVO_PLOT_PNG, reterr);
	galvo_run_close(run);
	return status;
}

int main(void)
{
	char dir[SCRATCH_BYTES];
	galvo_error error;
	galvo_status status = scratch_make(dir, &error);
	int dir_fd = -1;

	if (status == GALVO_OK && (dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		status = err_set(&error, GALVO_ERR_IO, "%s: cannot be opened", dir);
	if (status == GALVO_OK)
		status = generate(dir_fd, &error);
	if (status == GALVO_OK)
		status = measure(dir, &error);
	if (status != GALVO_OK)
		fprintf(stderr, "%s\n", error.text);
	if (dir_fd >= 0)
		close(dir_fd);
	scratch_remove(dir);
	return status != GALVO_OK;
}
