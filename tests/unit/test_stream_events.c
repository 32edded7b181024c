/* The stream of events: what is written is read, whatever is cut, flipped or made up. */
#include "galvo/reader.h"
#include "stream_sample.h"
#include "tap.h"
#include "wire/wire.h"

static struct galvo_run *read_bytes(struct span bytes)
{
	struct galvo_run *run = NULL;
	/* Exactly as long as they are, so that a sanitizer sees a step too far. */
	char *copy = malloc(bytes.n ? bytes.n : 1);

	if (bytes.n)
		memcpy(copy, bytes.p, bytes.n);
	OK(run_read_bytes(STREAM_EVENTS, span_of(copy, bytes.n), &run, NULL) == GALVO_OK);
	free(copy);
	return run;
}

static void round_trip(void)
{
	struct buf b;
	struct galvo_run *run = read_bytes(sample_bytes_kind(2, &b, STREAM_EVENTS));
	const struct region *r = run->regions;
	const struct mark *m = run->marks;

	EQ(run->damages_len, 0);
	EQ(run->streams[0].rows, 6);
	EQ(run->regions_len, 3);
	EQ(run->marks_len, 4);
	OK(span_eq(r[0].name, span_of("a\xff\0b", 4)) && span_eq(r[1].name, r[0].name));
	OK(r[0].id == 1 && r[0].start_mono_ns == 1 && r[0].end_mono_ns == 2 && !r[0].unfinished);
	OK(r[0].begin_thread == 8 && r[0].end_thread == 9 && r[0].pid == 7);
	OK(r[1].unfinished && r[1].start_mono_ns == 1001);
	/* Of the open ones the last message's word counts. */
	OK(r[2].unfinished && r[2].id == 101 && r[2].end_mono_ns == 0);
	OK(span_eq_str(r[2].name, "open") && r[2].start_mono_ns == 1003);
	OK(m[0].name.n == 0 && m[0].mono_ns == 4 && m[0].domain == DOMAIN_GENERIC);
	OK(span_eq_str(m[1].name, "gpu") && m[1].domain == DOMAIN_GPU && m[1].thread == 8);
	OK(m[1].mono_ns == 5 && m[1].error_ns == 40 && m[1].stream == 3);
	EQ(run->streams[0].gpu_events.unbound, 5);
	EQ(run->streams[0].gpu_events.capturing, 1);
	OK(!strcmp(run->streams[0].gpu_events.reason, "why"));
	galvo_run_close(run);
	buf_finish(&b);
}

static void every_cut(void)
{
	struct buf b;
	struct span file = sample_bytes_kind(3, &b, STREAM_EVENTS);
	size_t cut;

	for (cut = 0; cut <= file.n; cut++) {
		struct galvo_run *run = read_bytes(span_of(file.p, cut));
		size_t whole = (size_t)run->streams[0].messages;

		if (!EQ(run->regions_len, whole ? whole + 1 : 0) || !EQ(run->marks_len, 2 * whole) ||
		    !OK(run->damages_len <= 1) || !EQ(run->streams[0].bad_messages, 0))
			printf("# cut at %zu\n", cut);
		galvo_run_close(run);
	}
	buf_finish(&b);
}

static void every_bit(void)
{
	struct buf b;
	struct span file = sample_bytes_kind(3, &b, STREAM_EVENTS);
	char *copy = malloc(file.n);
	size_t bit;

	memcpy(copy, file.p, file.n);
	for (bit = 0; bit < file.n * 8; bit++) {
		struct galvo_run *run;

		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		run = read_bytes(span_of(copy, file.n));
		if (!EQ(run->streams[0].messages, 2) || !EQ(run->regions_len, 3) ||
		    !OK(run->damages_len == 1 || run->damages_len == 2))
			printf("# bit %zu\n", bit);
		galvo_run_close(run);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
	}
	free(copy);
	buf_finish(&b);
}

/* On its own clock in the file, on ours when it is read, in the order of the ends. */
static void regions_of_the_gpu(void)
{
	struct stream_config config = sample_config(STREAM_EVENTS);
	const struct region ended = {.domain = DOMAIN_GPU, .name = span_str("kernel"), .id = 1,
	                             .start_mono_ns = 100, .end_mono_ns = 150, .error_ns = 7,
	                             .stream = 2},
	                    host = {.domain = DOMAIN_GENERIC, .name = span_str("host"), .id = 2,
	                            .start_mono_ns = 110, .end_mono_ns = 200},
	                    open = {.domain = DOMAIN_GPU, .name = span_str("open"), .id = 3,
	                            .start_mono_ns = 120};
	const struct region *const opens[] = {&open};
	struct flush_info info = sample_flush(1000);
	struct galvo_run *run = NULL;
	struct writer *w = NULL;
	struct stream *s;
	galvo_run_region r = {.struct_size = sizeof(r)};
	char path[64];
	int fd = sample_dir(path);

	if (!OK(writer_create(fd, &w, NULL) == GALVO_OK && writer_add(w, &config, &s, NULL) == GALVO_OK))
		return;
	stream_region(s, &host);
	stream_region(s, &ended);
	info.open_regions = opens;
	info.open_regions_len = 1;
	stream_flush(s, &info);
	OK(writer_start(w, NULL) == GALVO_OK && writer_stop(w, 10 * NS_PER_S, NULL) == GALVO_OK);
	writer_destroy(w);
	OK(galvo_run_open(path, &run, NULL) == GALVO_OK);
	EQ(run->regions_len, 3);
	OK(galvo_run_region_at(run, 0, &r, NULL) == GALVO_OK);
	OK(!strcmp(r.name, "kernel") && r.is_gpu && r.start_mono_ns == 100 && r.end_mono_ns == 150);
	OK(r.error_ns == 7 && r.stream == 2);
	OK(galvo_run_region_at(run, 1, &r, NULL) == GALVO_OK && r.id == 2 && !r.is_gpu);
	OK(galvo_run_region_at(run, 2, &r, NULL) == GALVO_OK && r.id == 3 && r.is_gpu);
	OK(r.start_mono_ns == 120 && r.end_mono_ns == 0 && r.error_ns == 0 && r.is_unfinished);
	galvo_run_close(run);
	sample_remove(path, fd);
}

/* What the last message of events calls open stays so, whatever other streams are read after it. */
static void open_beside_other_streams(void)
{
	struct galvo_run *run = NULL;
	char path[64];
	int fd = sample_dir(path);

	OK(sample_write_kind(fd, 2, STREAM_EVENTS) == GALVO_OK);
	OK(sample_write_kind(fd, 2, STREAM_TELEMETRY) == GALVO_OK);
	OK(galvo_run_open(path, &run, NULL) == GALVO_OK);
	EQ(run->regions_len, 3);
	OK(run->regions[2].id == 101 && run->regions[2].end_mono_ns == 0);
	galvo_run_close(run);
	sample_remove(path, fd);
}

/* Of a foreign writer: no checksum, the clock behind the regions, an end before its begin. */
static void foreign(void)
{
	char region[64], buffer[128], message[256], *p;
	struct galvo_run *run;

	p = wire_put_bytes(region, 1, span_str("r"));
	p = wire_put_u64(wire_put_u64(p, 2, 9), 3, 5);
	p = wire_put_bytes(buffer, 2, span_of(region, (size_t)(p - region)));
	p = wire_put_bytes(p, 2, span_str("\x08\x01")); /* too short to be one */
	p = wire_put_u64(p, 1, 2);
	p = wire_put_bytes(wire_put_bytes(message + 1, 1, span_str("")), 2,
	                   span_of(buffer, (size_t)(p - buffer)));
	message[0] = (char)(p - message - 1);
	run = read_bytes(span_of(message, (size_t)(p - message)));
	EQ(run->damages_len, 0);
	EQ(run->regions_len, 1);
	OK(run->regions[0].domain == DOMAIN_GPU && run->regions[0].start_mono_ns == 9);
	galvo_run_close(run);
	/* Broken inside of a region: no checksum tells, the shape does. */
	message[12] = '\x7f';
	run = read_bytes(span_of(message, (size_t)(p - message)));
	EQ(run->streams[0].messages, 0);
	galvo_run_close(run);
}

/* Regions that fill batches, with the longest names: the length of a buffer is known last. */
static void long_names_many_regions(void)
{
	struct stream_config config = sample_config(STREAM_EVENTS);
	struct flush_info info = sample_flush(5);
	char path[64], name[EVENT_NAME_MAX + 10];
	int fd = sample_dir(path);
	struct galvo_run *run = NULL;
	struct writer *w = NULL;
	struct stream *s;
	struct region r = {.domain = DOMAIN_GENERIC, .name = span_of(name, sizeof(name)),
	                   .start_mono_ns = UINT64_MAX, .end_mono_ns = UINT64_MAX,
	                   .id = UINT64_MAX, .begin_thread = UINT32_MAX,
	                   .end_thread = UINT32_MAX, .pid = UINT32_MAX, .unfinished = true};
	size_t n = 0;

	memset(name, 'x', sizeof(name));
	OK(writer_create(fd, &w, NULL) == GALVO_OK && writer_add(w, &config, &s, NULL) == GALVO_OK);
	while (n < 5000 && !stream_dropped_rows(s)) {
		stream_region(s, &r);
		n++;
	}
	stream_flush(s, &info);
	OK(n > 900);
	OK(writer_start(w, NULL) == GALVO_OK && writer_stop(w, 10 * NS_PER_S, NULL) == GALVO_OK);
	writer_destroy(w);
	OK(galvo_run_open(path, &run, NULL) == GALVO_OK);
	EQ(run->regions_len, n - 1);
	EQ(run->regions[0].name.n, EVENT_NAME_MAX);
	OK(run->regions[n - 2].id == UINT64_MAX && run->regions[n - 2].unfinished);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static void check_and_repair(void)
{
	char path[64], out[80];
	int fd = sample_dir(path), out_fd;
	struct galvo_run *run = NULL;
	galvo_check_result r;
	struct stat facts;

	snprintf(out, sizeof(out), "%s.whole", path);
	OK(sample_write_kind(fd, 3, STREAM_EVENTS) == GALVO_OK);
	EQ(fstatat(fd, "events.pb", &facts, 0), 0);
	OK(galvo_run_check(path, NULL, NULL, &r, NULL) == GALVO_OK);
	OK(r.messages == 3 && r.rows == 9 && r.torn_bytes == 0);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/events.pb");
	EQ(truncate(path, facts.st_size - 5), 0);
	path[strlen(path) - strlen("/events.pb")] = '\0';
	OK(galvo_run_check(path, NULL, NULL, &r, NULL) == GALVO_OK);
	OK(r.messages == 2 && r.rows == 6 && r.torn_bytes > 0);
	OK(galvo_run_repair(path, out, NULL, NULL) == GALVO_OK);
	OK(galvo_run_check(out, NULL, NULL, &r, NULL) == GALVO_OK);
	OK(r.messages == 2 && r.rows == 6 && r.torn_bytes == 0);
	OK(galvo_run_open(out, &run, NULL) == GALVO_OK);
	EQ(run->regions_len, 3); /* what the second message calls open among them */
	galvo_run_close(run);
	out_fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sample_remove(out, out_fd);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"round trip", round_trip},
	{"a cut at every byte", every_cut},
	{"every bit flipped", every_bit},
	{"regions of the GPU", regions_of_the_gpu},
	{"open beside other streams", open_beside_other_streams},
	{"another writer's file", foreign},
	{"long names, many regions", long_names_many_regions},
	{"check and repair", check_and_repair},
};
TAP_MAIN(tests)
