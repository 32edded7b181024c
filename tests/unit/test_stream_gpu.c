/* Streams about GPUs: what is written is read, on our clock, and the same GPU is one in all streams. */
#include "galvo/reader.h"
#include "stream/reader.h"
#include "stream_sample.h"
#include "tap.h"
#include "wire/wire.h"

static struct galvo_run *read_bytes(enum stream_kind kind, struct span bytes)
{
	struct galvo_run *run = NULL;
	/* Exactly as long as they are, so that a sanitizer sees a step too far. */
	char *copy = malloc(bytes.n ? bytes.n : 1);

	if (bytes.n)
		memcpy(copy, bytes.p, bytes.n);
	OK(run_read_bytes(kind, span_of(copy, bytes.n), &run, NULL) == GALVO_OK);
	free(copy);
	return run;
}

static void counters(void)
{
	struct buf b;
	struct galvo_run *run = read_bytes(STREAM_GPU, sample_bytes_kind(3, &b, STREAM_GPU));
	const struct table *t = run_table(run, STREAM_GPU, SCOPE_GPU);
	const struct decode_stats *d = &run->gpus[0].decode;
	size_t i;

	EQ(run->damages_len, 0);
	EQ(run->gpus_len, 2);
	EQ(t->rows_len, 9);
	EQ(t->columns_len, 2);
	for (i = 0; i < t->rows_len; i++) {
		EQ(t->mono_ns[i], (i / 3 + 1) * 1000000 - 3000 + i % 3 * 1000);
		EQ(t->duration_ns[i], i % 3 ? 1000 : 0);
		EQ(t->key[i], i % 3 % 2);
		OK(t->values[0][i] == (double)(i / 3) && isnan(t->values[1][i]));
	}
	OK(!t->pid);
	OK(!strcmp(run->gpus[0].info.name, "Big\xef\xbf\xbd") && run->gpus[0].info.sm_count == 132);
	OK(run->gpus[0].info.peak_dram_bytes_per_s == 4.8e12);
	OK(isnan(run->gpus[0].info.peak_pcie_bytes_per_s));
	OK(isnan(run->gpus[0].info.peak_nvlink_bytes_per_s));
	OK(run->gpus[0].has_decode && !run->gpus[0].in_telemetry && !run->gpus[1].has_decode);
	OK(d->samples == 9 && d->overflows == 2 && d->missing_ns == 7 && !strcmp(d->reason, "so"));
	EQ(d->interval_ns, 1000000);
	EQ(run->streams[0].last_mono_ns, 3000000);
	galvo_run_close(run);
	buf_finish(&b);
}

/* By the anchor that is nearest, which may be the one before, the one behind, or the header's. */
static void anchors(void)
{
	static const struct gpu_anchor said[] = {{50000, 600000}, {10000, 500000}};
	const struct header header = {.anchor.mono_ns = 90000, .gpu_ns = 700000};
	static const uint64_t rows[][2] = {
		{499000, 9000}, {500000, 10000}, {549999, 59999}, {550001, 1}, {599999, 49999},
		{600000, 50000}, {649999, 99999}, {650001, 40001}, {699000, 89000}, {701000, 91000},
	};
	uint64_t at[ARRAY_LEN(rows)];
	struct gpus_build g;
	size_t i;

	gpus_init(&g);
	buf_put(&g.anchors, said, sizeof(said));
	for (i = 0; i < ARRAY_LEN(rows); i++)
		at[i] = rows[i][0];
	OK(gpus_convert(&g, &header, at, ARRAY_LEN(rows)));
	for (i = 0; i < ARRAY_LEN(rows); i++)
		EQ(at[i], rows[i][1]);
	gpus_finish(&g);
}

static void telemetry(void)
{
	struct buf b;
	struct galvo_run *run =
		read_bytes(STREAM_TELEMETRY, sample_bytes_kind(2, &b, STREAM_TELEMETRY));
	const struct table *t = run_table(run, STREAM_TELEMETRY, SCOPE_GPU_PROCESS);

	EQ(run->damages_len, 0);
	EQ(run->gpus_len, 2);
	EQ(t->rows_len, 2);
	OK(t->pid[1] == 4242 && t->key[1] == 0 && t->values[0][1] == 300.5 && !t->duration_ns);
	t = run_table(run, STREAM_TELEMETRY, SCOPE_GPU_DETAIL);
	OK(t->rows_len == 2 && t->key[0] == 1);
	OK(run->gpus[1].info.is_instance && run->gpus[1].info.parent == 0);
	OK(run->gpus[1].info.gpu_instance == 3 && run->gpus[1].info.compute_instance == 4);
	OK(run->gpus[1].info.foreign_pids && run->gpus[1].info.lost_mono_ns == 77);
	OK(!strcmp(run->gpus[1].info.note, "gone") && !run->gpus[0].info.note[0]);
	OK(run->gpus[0].in_telemetry);
	galvo_run_close(run);
	buf_finish(&b);
}

/* By uuid, by the place on the bus where one has no uuid; a part is not the whole. */
static void both(void)
{
	galvo_run_gpu gpu = {.struct_size = sizeof(gpu)};
	galvo_run_table table = {.struct_size = sizeof(table)};
	galvo_instance of = {.struct_size = sizeof(of)};
	galvo_reader *reader = NULL;
	galvo_run *run = NULL;
	char path[64];
	int fd = sample_dir(path);

	OK(sample_write_kind(fd, 1, STREAM_GPU) == GALVO_OK);
	OK(sample_write_kind(fd, 1, STREAM_TELEMETRY) == GALVO_OK);
	if (!OK(galvo_run_open(path, &run, NULL) == GALVO_OK))
		return;
	EQ(run->gpus_len, 3); /* the big one, another one that is only counted, the instance */
	OK(run->gpus[0].in_telemetry && run->gpus[0].has_decode);
	OK(galvo_run_gpu_at(run, 0, &gpu, NULL) == GALVO_OK);
	OK(!strcmp(gpu.uuid, "GPU-1") && gpu.samples == 3 && gpu.has_counters && !gpu.is_instance);
	OK(gpu.parent == UINT32_MAX && gpu.warps_per_sm == 64 && gpu.compute_major == 9);
	OK(galvo_run_gpu_at(run, 2, &gpu, NULL) == GALVO_OK);
	OK(gpu.is_instance && gpu.parent == 0 && !gpu.has_counters && !gpu.reason[0]);
	OK(galvo_run_gpu_at(run, 3, &gpu, NULL) == GALVO_DONE);
	OK(galvo_run_gpu_at(NULL, 0, &gpu, NULL) == GALVO_ERR_INVALID);
	OK(galvo_run_table_at(run, 0, &table, NULL) == GALVO_OK);
	OK(table.stream == GALVO_STREAM_GPU && table.key_kind == GALVO_KEY_GPU);
	OK(table.duration_ns && !table.pid && table.rows_len == 3);
	OK(galvo_reader_create(run, 0, &reader, NULL) == GALVO_OK);
	OK(galvo_reader_instance_at(reader, 0, &of, NULL) == GALVO_OK);
	OK(!strcmp(of.name, "Big\xef\xbf\xbd") && of.rows_len == 2);
	galvo_reader_destroy(reader);
	OK(galvo_run_table_at(run, 3, &table, NULL) == GALVO_OK);
	OK(table.stream == GALVO_STREAM_TELEMETRY && table.key_kind == GALVO_KEY_GPU_PROCESS);
	OK(table.pid && table.pid[0] == 4242 && table.key[0] == 0);
	OK(galvo_reader_create(run, 3, &reader, NULL) == GALVO_OK);
	OK(galvo_reader_instance_at(reader, 0, &of, NULL) == GALVO_OK);
	OK(of.process == SIZE_MAX && of.thread == SIZE_MAX && !of.name[0]);
	galvo_reader_destroy(reader);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void every_cut(void)
{
	struct buf b;
	struct span file = sample_bytes_kind(2, &b, STREAM_GPU);
	size_t cut;

	for (cut = 0; cut <= file.n; cut++) {
		struct galvo_run *run = read_bytes(STREAM_GPU, span_of(file.p, cut));
		const struct table *t = run_table(run, STREAM_GPU, SCOPE_GPU);

		if (!EQ(t ? t->rows_len : 0, run->streams[0].messages * 3) ||
		    !OK(run->damages_len <= 1) || !EQ(run->streams[0].bad_messages, 0))
			printf("# cut at %zu\n", cut);
		galvo_run_close(run);
	}
	buf_finish(&b);
}

/* A message of another writer: whatever is around, rows are not lost and keys stay in bounds. */
static void foreign(void)
{
	char message[512], file[600], names[64], *p = message, *row;
	struct galvo_run *run;
	const struct table *t;
	double v = 5;
	uint32_t i;

	row = wire_put_u64(names, 1, SCOPE_GPU);
	row = wire_put_bytes(row, 2, span_str("sm__cycles_active.avg"));
	p = wire_put_bytes(p, 1, span_str("\x0a\x01h")); /* a header, which tells no time */
	p = wire_put_bytes(p, 2, span_of(names, (size_t)(row - names)));
	for (i = 0; i < 2; i++) {
		char fields[64], *q = fields;

		q = wire_put_u64(q, 100, 9); /* in an order of its own */
		q = wire_put_double(q, 3, v);
		q = wire_put_u64(q, 2, i ? UINT32_MAX : 3);
		q = wire_put_u64(q, 1, 77);
		p = wire_put_bytes(p, 4, span_of(fields, (size_t)(q - fields)));
	}
	row = wire_put_varint(file, (size_t)(p - message));
	memcpy(row, message, (size_t)(p - message));
	run = read_bytes(STREAM_GPU, span_of(file, (size_t)(row + (p - message) - file)));
	t = run_table(run, STREAM_GPU, SCOPE_GPU);
	for (i = 0; i < run->damages_len; i++)
		printf("# %s\n", run->damages[i].text);
	if (OK(t && t->rows_len == 2)) {
		OK(t->mono_ns[0] == 77 && t->duration_ns[0] == 9 && t->values[0][0] == 5);
		OK(t->key[0] == 0 && t->key[1] == 1);
	}
	EQ(run->gpus_len, 2);
	OK(run->gpus[0].info.index == 3 && run->gpus[1].info.index == UINT32_MAX);
	OK(!run->gpus[0].info.name[0]);
	galvo_run_close(run);
}

static const struct tap_test tests[] = {
	{"counters", counters},
	{"anchors", anchors},
	{"telemetry", telemetry},
	{"the same GPU in both", both},
	{"a cut at every byte", every_cut},
	{"another writer's file", foreign},
};
TAP_MAIN(tests)
