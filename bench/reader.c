/* How fast a large stream is read into columns, beside what its bytes cost to copy and to sum at all. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "galvo/run.h"
#include "measure.h"
#include "scratch.h"
#include "source/source.h"
#include "stream/stream.h"

enum { ROUNDS = 9, PROCESSES = 20, CORES = 8, SLOW_TICKS = 100, FLUSH_TICKS = 500 };

static const uint64_t TICK_NS = 10 * NS_PER_MS;

/* Columns of a scope in the stream of the system. */
static size_t columns_of(enum scope scope)
{
	struct catalog_row row;
	size_t i, n = 0;

	for (i = 0; catalog_at(i, &row); i++)
		n += row.stream == STREAM_SYSTEM && row.scope == scope;
	return n;
}

/* Rows of things numbered from `first`; their values are different, as those of a machine are. */
static void put_rows(struct stream *s, enum scope scope, uint64_t tick, uint32_t first, uint32_t n)
{
	size_t columns = columns_of(scope), c;
	double values[ROW_MAX];
	uint32_t i;

	for (i = 0; i < n; i++) {
		for (c = 0; c < columns; c++)
			values[c] = (double)((tick * 7919 + i * 104729 + c * 1299709) % 1000003) / 3;
		stream_row(s, scope, (tick + 1) * TICK_NS, (struct row_key){.number = first + i}, values,
		           columns);
	}
}

static void put_tick(struct stream *s, uint64_t tick)
{
	put_rows(s, SCOPE_SYSTEM, tick, 0, 1);
	put_rows(s, SCOPE_PROCESS, tick, 4000, PROCESSES);
	if (tick % SLOW_TICKS)
		return;
	put_rows(s, SCOPE_CORE, tick, 0, CORES);
	put_rows(s, SCOPE_SYSTEM_DETAIL, tick, 0, 1);
	put_rows(s, SCOPE_PROCESS_DETAIL, tick, 4000, PROCESSES);
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
		                                     .first_mono_ns = TICK_NS, .comm = "worker",
		                                     .command = "worker --of bench"};
		all[i] = &processes[i];
	}
	stream_flush(s, &info);
}

/* A recording at 100 Hz, faster than time: as many ticks as make that many bytes. */
static galvo_status generate(int dir_fd, uint64_t bytes, galvo_error *reterr)
{
	struct stream_config config = {
		.kind = STREAM_SYSTEM, .file_name = stream_file_name(STREAM_SYSTEM), .hostname = "bench",
		.frequency_hz = 100, .cpu_count = CORES, .catalog_at = catalog_at,
	};
	struct writer_totals totals = {0};
	struct writer *w = NULL;
	struct stream *s;
	uint64_t tick;
	galvo_status status = writer_create(dir_fd, &w, reterr);

	if (status == GALVO_OK)
		status = writer_add(w, &config, &s, reterr);
	if (status == GALVO_OK)
		status = writer_start(w, reterr);
	for (tick = 0; status == GALVO_OK && totals.bytes_written < bytes; tick++) {
		while (!stream_is_ready(s))
			usleep(100);
		put_tick(s, tick);
		if (tick % FLUSH_TICKS == FLUSH_TICKS - 1) {
			flush(s, tick);
			writer_get_totals(w, &totals);
		}
	}
	if (status == GALVO_OK)
		status = writer_stop(w, 60 * NS_PER_S, reterr);
	writer_destroy(w);
	return status;
}

static uint64_t sum_bytes(const struct galvo_run *run, uint64_t *ret_rows)
{
	uint64_t bytes = 0;
	size_t i;

	*ret_rows = 0;
	for (i = 0; i < run->streams_len; i++) {
		bytes += run->streams[i].bytes;
		*ret_rows += run->streams[i].rows;
	}
	return bytes;
}

struct rates {
	struct figures reader, copy, sum;
	uint64_t bytes, rows;
};

static galvo_status measure_reader(const char *dir, struct rates *rates, galvo_error *reterr)
{
	uint64_t from_ns = cpu_now_ns();
	struct galvo_run *run;
	galvo_status status = galvo_run_open(dir, &run, reterr);

	if (status != GALVO_OK)
		return status;
	rates->bytes = sum_bytes(run, &rates->rows);
	figures_put(&rates->reader, (double)rates->bytes * 1e3 / (double)(cpu_now_ns() - from_ns));
	galvo_run_close(run);
	return GALVO_OK;
}

/* The floor: the same bytes, in memory already, copied to memory that is there, and summed. */
static void measure_floor(struct span bytes, char *to, struct rates *rates)
{
	volatile uint32_t sink;
	uint64_t from_ns = cpu_now_ns();

	memcpy(to, bytes.p, bytes.n);
	figures_put(&rates->copy, (double)bytes.n * 1e3 / (double)(cpu_now_ns() - from_ns));
	from_ns = cpu_now_ns();
	sink = (uint32_t)crc32_z(0, (const unsigned char *)bytes.p, bytes.n);
	(void)sink;
	figures_put(&rates->sum, (double)bytes.n * 1e3 / (double)(cpu_now_ns() - from_ns));
}

static void print(const struct rates *r)
{
	double reader = figures_median(&r->reader), copy = figures_median(&r->copy),
	       sum = figures_median(&r->sum), floor = 1 / (1 / copy + 1 / sum);

	printf("%.1f MB, %llu rows; MB/s of CPU time, medians of %d rounds\n", (double)r->bytes / 1e6,
	       (unsigned long long)r->rows, ROUNDS);
	printf("memcpy           %8.0f\ncrc32            %8.0f\nboth, the floor  %8.0f\n", copy, sum,
	       floor);
	printf("galvo_run_open   %8.0f  %.2f x the floor's time\n", reader, floor / reader);
	printf("%8.0f >= 300  %s\n", reader, reader >= 300 ? "pass" : "miss");
}

static galvo_status measure(const char *dir, int dir_fd, struct rates *rates, galvo_error *reterr)
{
	struct buf file;
	struct span bytes;
	char *copy = NULL;
	galvo_status status;
	int round;

	buf_init(&file, SIZE_MAX / 2);
	status = file_read(dir_fd, stream_file_name(STREAM_SYSTEM), &file, &bytes, reterr);
	if (status == GALVO_OK && !(copy = alloc_array(bytes.n, 1)))
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (round = 0; round < ROUNDS && status == GALVO_OK; round++) {
		measure_floor(bytes, copy, rates);
		status = measure_reader(dir, rates, reterr);
	}
	free(copy);
	buf_finish(&file);
	return status;
}

int main(int argc, char **argv)
{
	static struct rates rates;
	char dir[SCRATCH_BYTES];
	galvo_error error;
	uint64_t mb = 200;
	galvo_status status = scratch_make(dir, &error);
	int dir_fd = -1;

	if (argc > 1)
		span_to_u64(span_str(argv[1]), &mb);
	if (status == GALVO_OK && (dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		status = err_set(&error, GALVO_ERR_IO, "%s: cannot be opened", dir);
	if (status == GALVO_OK)
		status = generate(dir_fd, mb * 1000000, &error);
	if (status == GALVO_OK)
		status = measure(dir, dir_fd, &rates, &error);
	if (status == GALVO_OK)
		print(&rates);
	else
		fprintf(stderr, "%s\n", error.text);
	if (dir_fd >= 0)
		close(dir_fd);
	scratch_remove(dir);
	return status != GALVO_OK;
}
