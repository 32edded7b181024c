/* What a sample of GPU counters costs the owner of its stream, a value, beside a bare copy of it. */
#include <fcntl.h>
#include <unistd.h>

#include "measure.h"
#include "scratch.h"
#include "stream/stream.h"

enum { ROUNDS = 30, ROUND_BATCHES = 8, GPUS = 8 };
static const double TARGET_NS = 10; /* a value, of samples with ten of them */

struct bench {
	struct stream *stream;
	struct decode_stats decodes[GPUS];
	struct gpu_info gpus[GPUS];
	double values[ROW_MAX];
	size_t columns;
	uint64_t rows;
	char *copy; /* of the floor */
};

/* A batch of rows and its flush; returns what that took of this thread. */
static uint64_t fill_batch(struct bench *b)
{
	struct gpu_anchor anchor = {.mono_ns = 1};
	struct flush_info info = {.gpus = b->gpus, .gpus_len = GPUS, .decodes = b->decodes,
	                          .decodes_len = GPUS, .anchors = &anchor, .anchors_len = 1};
	uint64_t from, wall_ns = UINT64_C(1800000000000000000);

	stream_await_ready(b->stream, clock_real.mono_ns(&clock_real) + 10 * NS_PER_S);
	from = thread_cpu_ns();
	while (!stream_is_full(b->stream)) {
		b->values[b->rows % b->columns] = (double)b->rows;
		stream_row(b->stream, SCOPE_GPU, wall_ns + b->rows * 12500,
		           (struct row_key){.number = (uint32_t)(b->rows % GPUS), .duration_ns = 100000},
		           b->values, b->columns);
		b->rows++;
	}
	anchor.gpu_ns = info.gpu_ns = wall_ns + b->rows * 12500;
	info.mono_ns = b->rows * 12500;
	stream_flush(b->stream, &info);
	return thread_cpu_ns() - from;
}

/* As many bytes of values, one row after the other, into memory of the size of a batch. */
static uint64_t copy_rows(struct bench *b, uint64_t rows)
{
	size_t bytes = b->columns * sizeof(*b->values), at = 0;
	uint64_t from = thread_cpu_ns(), i;

	for (i = 0; i < rows; i++) {
		b->values[i % b->columns] = (double)i;
		memcpy(b->copy + at, b->values, bytes);
		__asm__ volatile("" : : "r"(b->copy) : "memory");
		at += bytes;
		if (at > (1 << 20))
			at = 0;
	}
	return thread_cpu_ns() - from;
}

static void measure(struct bench *b)
{
	struct figures row = {.len = 0}, copy = {.len = 0};
	double row_ns, copy_ns, columns = (double)b->columns;
	uint64_t rows, took, i, k;

	for (i = 0; i < ROUNDS; i++) {
		rows = b->rows;
		for (took = k = 0; k < ROUND_BATCHES; k++)
			took += fill_batch(b);
		rows = b->rows - rows;
		figures_put(&row, (double)took / (double)rows);
		figures_put(&copy, (double)copy_rows(b, rows) / (double)rows);
	}
	row_ns = figures_median(&row);
	copy_ns = figures_median(&copy);
	printf("%7zu %10.1f %10.2f %12.2f %8.1f", b->columns, row_ns, row_ns / columns,
	       copy_ns / columns, row_ns / copy_ns);
	if (b->columns == 10)
		printf("   <= %g ns a value: %s", TARGET_NS,
		       row_ns / columns <= TARGET_NS ? "pass" : "miss");
	printf("\n");
}

static galvo_status run(size_t columns, galvo_error *reterr)
{
	static char names[ROW_MAX][32];
	const char *name_at[ROW_MAX];
	struct stream_config config = {
		.kind = STREAM_GPU,
		.file_name = stream_file_name(STREAM_GPU),
		.hostname = "here",
		.columns = name_at,
		.columns_len = columns,
	};
	struct bench b = {.columns = columns, .copy = calloc(1, 4 << 20)};
	char dir[SCRATCH_BYTES];
	struct writer *writer = NULL;
	galvo_status status = scratch_make(dir, reterr);
	int fd = status == GALVO_OK ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	size_t i;

	for (i = 0; i < columns; i++) {
		snprintf(names[i], sizeof(names[i]), "a__metric%zu", i);
		name_at[i] = names[i];
	}
	if (status == GALVO_OK)
		status = writer_create(fd, &writer, reterr);
	if (status == GALVO_OK)
		status = writer_add(writer, &config, &b.stream, reterr);
	if (status == GALVO_OK)
		status = writer_start(writer, reterr);
	if (status == GALVO_OK) {
		measure(&b);
		status = writer_stop(writer, 60 * NS_PER_S, reterr);
	}
	writer_destroy(writer);
	close(fd);
	scratch_remove(dir);
	free(b.copy);
	return status;
}

int main(void)
{
	static const size_t columns[] = {1, 10, 17, 54};
	galvo_error error;
	size_t i;

	printf("columns  ns a row  ns a value  copy a value  x copy\n");
	for (i = 0; i < ARRAY_LEN(columns); i++)
		if (run(columns[i], &error) != GALVO_OK) {
			fprintf(stderr, "%s\n", error.text);
			return 1;
		}
	return 0;
}
