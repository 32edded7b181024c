/* Reading through a window: as if all of the file were at hand, wherever its borders fall. */
#include "galvo/run.h"
#include "stream_sample.h"
#include "tap.h"

enum { FILE_BYTES = 5 << 20, DAMAGES = 12, SEEDS = 4 };

static uint64_t xorshift(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

/* The run of these bytes as a file, and of the same bytes at once. */
static void read_both(const struct buf *b, struct galvo_run **ret_file, struct galvo_run **ret_bytes)
{
	char path[64];
	int dir_fd = sample_dir(path);
	int fd = openat(dir_fd, "system_metrics.pb", O_WRONLY | O_CREAT, 0600);
	size_t written;

	EQ(file_write_all(fd, b->p, b->len, &written), 0);
	close(fd);
	EQ(galvo_run_open(path, ret_file, NULL), GALVO_OK);
	EQ(run_read_bytes(STREAM_SYSTEM, span_of(b->p, b->len), ret_bytes, NULL), GALVO_OK);
	sample_remove(path, dir_fd);
}

static bool same_table(const struct table *a, const struct table *b)
{
	size_t c;

	if (a->scope != b->scope || a->rows_len != b->rows_len || a->columns_len != b->columns_len ||
	    a->names_len != b->names_len ||
	    memcmp(a->mono_ns, b->mono_ns, a->rows_len * sizeof(*a->mono_ns)) != 0 ||
	    memcmp(a->key, b->key, a->rows_len * sizeof(*a->key)) != 0)
		return false;
	for (c = 0; c < a->columns_len; c++)
		if (memcmp(a->values[c], b->values[c], a->rows_len * sizeof(double)) != 0)
			return false;
	return true;
}

/* The file has one damage more, of the metadata that are not there. */
static void compare(const struct buf *b)
{
	struct galvo_run *file, *bytes;
	size_t i;

	read_both(b, &file, &bytes);
	EQ(file->streams[0].bytes, b->len);
	EQ(file->streams[0].messages, bytes->streams[0].messages);
	EQ(file->streams[0].rows, bytes->streams[0].rows);
	EQ(file->streams[0].bad_messages, bytes->streams[0].bad_messages);
	EQ(file->streams[0].missing_messages, bytes->streams[0].missing_messages);
	EQ(file->tables_len, bytes->tables_len);
	for (i = 0; i < file->tables_len; i++)
		OK(same_table(&file->tables[i], &bytes->tables[i]));
	EQ(file->damages_len, bytes->damages_len + 1);
	for (i = 0; i < bytes->damages_len; i++)
		if (!EQ(file->damages[i].offset, bytes->damages[i].offset) ||
		    !OK(strcmp(file->damages[i].text, bytes->damages[i].text) == 0))
			printf("# %s\n# %s\n", file->damages[i].text, bytes->damages[i].text);
	galvo_run_close(file);
	galvo_run_close(bytes);
}

static void make(struct buf *b)
{
	struct buf sample;
	struct span bytes = sample_bytes(4, &sample);

	buf_init(b, FILE_BYTES + bytes.n);
	while (b->len < FILE_BYTES)
		buf_put(b, bytes.p, bytes.n);
	buf_finish(&sample);
}

static void sound_and_cut(void)
{
	struct buf b;

	make(&b);
	compare(&b);
	b.len -= 5;
	compare(&b);
	b.len = 2 << 20; /* a whole window */
	compare(&b);
	buf_finish(&b);
}

static void damaged(void)
{
	uint64_t seed, x, at, n;
	struct buf b;
	int i;

	for (seed = 1; seed <= SEEDS; seed++) {
		make(&b);
		for (i = 0, x = seed; i < DAMAGES; i++) {
			at = xorshift(&x) % b.len;
			n = xorshift(&x) % (i % 3 ? 4 : 5000);
			n = n < b.len - at ? n : b.len - at;
			memset(b.p + at, i % 2 ? (int)(x & 0xff) : 0, (size_t)n);
		}
		compare(&b);
		if (tap_failures)
			printf("# seed %llu\n", (unsigned long long)seed);
		buf_finish(&b);
	}
}

/* Garbage that is longer than a window, and a length that promises more than there is. */
static void far_away(void)
{
	struct buf b;
	size_t at = 1 << 20;

	make(&b);
	memset(b.p + at, 0xff, 3 << 20);
	compare(&b);
	memcpy(b.p + at, "\xff\xff\xff\x0f", 4); /* 32 MiB */
	compare(&b);
	buf_finish(&b);
}

/* Messages that are larger than a window. */
static void large(void)
{
	struct stream_config config = sample_config(STREAM_SYSTEM);
	struct flush_info info = sample_flush(1);
	struct galvo_run *run;
	double v[2] = {1, 2};
	struct writer *w;
	struct stream *s;
	char path[64];
	int fd = sample_dir(path), i;

	config.batch_bytes = 6 << 20;
	EQ(writer_create(fd, &w, NULL), GALVO_OK);
	EQ(writer_add(w, &config, &s, NULL), GALVO_OK);
	EQ(writer_start(w, NULL), GALVO_OK);
	for (i = 0; i < 300000; i++) {
		v[0] = i;
		stream_row(s, SCOPE_SYSTEM, (uint64_t)i, (struct row_key){0}, v, 2);
		if (stream_is_full(s) || i == 299999)
			stream_flush(s, &info);
	}
	EQ(writer_stop(w, 10 * NS_PER_S, NULL), GALVO_OK);
	writer_destroy(w);
	EQ(galvo_run_open(path, &run, NULL), GALVO_OK);
	EQ(run->streams[0].messages, 2);
	EQ(run->streams[0].bad_messages, 0);
	if (EQ(run->tables[0].rows_len, 300000))
		OK(run->tables[0].values[0][299999] == 299999);
	galvo_run_close(run);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"sound files, and cut ones", sound_and_cut},
	{"damage anywhere", damaged},
	{"damage that is longer than a window", far_away},
	{"messages that are longer than a window", large},
};
TAP_MAIN(tests)
