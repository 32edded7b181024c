/* Writing: what goes in comes out, the owner never waits, a full disk leaves a whole file. */
#include <sys/resource.h>

#include "stream_sample.h"
#include "tap.h"

static void round_trip(void)
{
	struct buf b;
	struct span bytes = sample_bytes(3, &b);
	struct galvo_run *run = NULL;
	const struct table *t;
	size_t c;

	if (!OK(run_read_bytes(STREAM_SYSTEM, bytes, &run, NULL) == GALVO_OK))
		return;
	EQ(run->damages_len, 0);
	EQ(run->streams_len, 1);
	EQ(run->streams[0].messages, 3);
	EQ(run->streams[0].rows, 12);
	EQ(run->streams[0].bytes, bytes.n);
	EQ(run->streams[0].frequency_hz, 100);
	EQ(run->streams[0].last_mono_ns, 3000);
	EQ(run->streams[0].stats.ticks, 6);
	EQ(run->streams[0].stats.missed_ticks, 2);
	EQ(run->tables_len, 3);
	t = run_table(run, STREAM_SYSTEM, SCOPE_SYSTEM);
	EQ(t->columns_len, 2);
	EQ(t->rows_len, 6);
	c = table_column(t, "mem__used_bytes");
	EQ(c, 1);
	OK(isnan(t->values[c][0]) && t->values[c][5] == 0.1);
	OK(t->values[0][0] == 0 && t->values[0][5] == 2);
	EQ(t->mono_ns[5], 2002);
	OK(table_column(t, "nothing") == SIZE_MAX);
	t = run_table(run, STREAM_SYSTEM, SCOPE_PROCESS);
	OK(t->rows_len == 3 && t->key[2] == 7 && t->values[0][2] == 8192);
	t = run_table(run, STREAM_SYSTEM, SCOPE_INTERFACE);
	OK(t->rows_len == 3 && t->names_len == 1 && strcmp(t->names[t->key[2]], "eth0") == 0);
	OK(!run_table(run, STREAM_SYSTEM, SCOPE_CORE));
	OK(!run_table(run, STREAM_DISK, SCOPE_PROCESS));
	EQ(run->processes_len, 1);
	EQ(run->processes[0].pid, 7);
	EQ(run->processes[0].start_ticks, 99);
	OK(run->processes[0].removed && run->processes[0].root);
	EQ(run->processes[0].end_mono_ns, 2500);
	OK(strcmp(run->processes[0].comm, "s\xffh") == 0);
	OK(strcmp(run->processes[0].alias, "job") == 0);
	EQ(run->sources_len, 1);
	OK(strcmp(run->sources[0].name, "cpu") == 0 && run->sources[0].reads == 3);
	OK(run->sources[0].failures == 2 && run->sources[0].first_failure_mono_ns == 1001);
	OK(strcmp(run->sources[0].reason, "") == 0);
	galvo_run_close(run);
	buf_finish(&b);
}

/* A stream of one writer, and where it lives. */
struct desk {
	char path[64];
	int dir_fd;
	struct writer *writer;
	struct stream *stream;
};

static bool desk_open(struct desk *d, const struct stream_config *config)
{
	return d->dir_fd >= 0 && writer_create(d->dir_fd, &d->writer, NULL) == GALVO_OK &&
	       writer_add(d->writer, config, &d->stream, NULL) == GALVO_OK &&
	       writer_start(d->writer, NULL) == GALVO_OK;
}

static void desk_close(struct desk *d)
{
	writer_destroy(d->writer);
	sample_remove(d->path, d->dir_fd);
}

/* Until the writer thread is done with n batches, written or not. */
static struct writer_totals wait_for(const struct desk *d, uint64_t n)
{
	struct writer_totals t;

	do
		writer_get_totals(d->writer, &t);
	while (t.messages + t.dropped_batches < n);
	return t;
}

static struct galvo_run *desk_read(const struct desk *d)
{
	struct galvo_run *run = NULL;

	OK(galvo_run_open(d->path, &run, NULL) == GALVO_OK);
	return run;
}

/*
 * The file is a pipe, as small as can be, that nobody reads: the first write cannot end, so that all three
 * batches are taken. What comes then is dropped, without waiting.
 */
static struct desk pipe_desk; /* reachable to the end: a writer left behind is no leak */
static char pipe_page[1 << 20];

static int pipe_open(struct desk *d)
{
	struct stream_config config = sample_config(STREAM_SYSTEM);
	int fd;

	d->dir_fd = sample_dir(d->path);
	if (mkfifoat(d->dir_fd, config.file_name, 0600) != 0)
		return -1;
	fd = openat(d->dir_fd, config.file_name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	fcntl(fd, F_SETPIPE_SZ, 4096);
	return OK(desk_open(d, &config)) ? fd : -1;
}

static void rows(struct stream *s, size_t n)
{
	double v[] = {1, 2};
	size_t i;

	for (i = 0; i < n; i++)
		stream_row(s, SCOPE_SYSTEM, i + 1, (struct row_key){0}, v, 2);
}

/* Takes from the pipe until `messages` are written and everything of them is here. */
static void pipe_drain(int fd, const struct desk *d, uint64_t messages, size_t *n)
{
	struct writer_totals t;

	do {
		ssize_t got = read(fd, pipe_page + *n, sizeof(pipe_page) - *n);

		*n += got > 0 ? (size_t)got : 0;
		writer_get_totals(d->writer, &t);
	} while (t.messages < messages || t.bytes_written > *n);
}

static void slow_disk(void)
{
	struct desk d = {0};
	struct flush_info info = sample_flush(1);
	struct galvo_run *run = NULL;
	int fd = pipe_open(&d), i;
	size_t n = 0;

	for (i = 0; i < 5; i++) { /* three are taken, two dropped */
		rows(d.stream, 4000);
		stream_flush(d.stream, &info);
	}
	EQ(stream_dropped_rows(d.stream), 8000);
	pipe_drain(fd, &d, 3, &n);
	EQ(wait_for(&d, 5).dropped_batches, 2);
	rows(d.stream, 1);
	stream_flush(d.stream, &info);
	pipe_drain(fd, &d, 4, &n);
	EQ(writer_stop(d.writer, 10 * NS_PER_S, NULL), GALVO_OK);
	OK(run_read_bytes(STREAM_SYSTEM, span_of(pipe_page, n), &run, NULL) == GALVO_OK);
	EQ(run->streams[0].messages, 4);
	EQ(run->streams[0].missing_messages, 2);
	EQ(run->streams[0].dropped_batches, 2);
	EQ(run->streams[0].dropped_rows, 8000);
	EQ(run->damages_len, 1);
	OK(strcmp(run->damages[0].text, "messages 3 to 4 are missing (dropped while recording: the "
	                                "disk was full or too slow)") == 0);
	galvo_run_close(run);
	close(fd);
	desk_close(&d);
}

static void hung_disk(void)
{
	struct desk *d = &pipe_desk;
	struct flush_info info = sample_flush(1);
	galvo_error e = {0};
	int fd = pipe_open(d);
	size_t n = 0;

	rows(d->stream, 4000);
	stream_flush(d->stream, &info);
	EQ(writer_stop(d->writer, 20 * NS_PER_MS, &e), GALVO_ERR_STATE);
	OK(strstr(e.text, "system_metrics.pb: the file system does not answer"));
	writer_destroy(d->writer);
	pipe_drain(fd, d, 1, &n); /* it may come back at any time */
	close(fd);
	sample_remove(d->path, d->dir_fd);
}

/* The limit lets the first message pass and cuts the second. A blocked SIGXFSZ kills nobody. */
static void full_disk(void)
{
	struct desk d = {.dir_fd = sample_dir(d.path)};
	struct stream_config config = sample_config(STREAM_SYSTEM);
	struct rlimit old, limit;
	struct galvo_run *run;
	galvo_error e = {0};
	struct stat st;

	getrlimit(RLIMIT_FSIZE, &old);
	OK(desk_open(&d, &config));
	sample_message(d.stream, 0);
	wait_for(&d, 1);
	fstatat(d.dir_fd, config.file_name, &st, 0);
	limit = (struct rlimit){(rlim_t)st.st_size + 100, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit);
	sample_message(d.stream, 1);
	EQ(wait_for(&d, 2).dropped_rows, 4);
	fstatat(d.dir_fd, config.file_name, &st, 0);
	EQ(st.st_size, limit.rlim_cur - 100);
	setrlimit(RLIMIT_FSIZE, &old);
	sample_message(d.stream, 2);
	EQ(wait_for(&d, 3).messages, 2);
	EQ(writer_stop(d.writer, 10 * NS_PER_S, &e), GALVO_ERR_IO);
	OK(strcmp(e.text, "system_metrics.pb: File too large") == 0);
	EQ(writer_stop(d.writer, 1, &e), GALVO_OK);
	run = desk_read(&d);
	EQ(run->streams[0].messages, 2);
	EQ(run->streams[0].missing_messages, 1);
	EQ(run->streams[0].bad_messages, 0);
	EQ(run->streams[0].dropped_batches, 1);
	galvo_run_close(run);
	desk_close(&d);
}

/* A batch that nobody flushes takes some more than was asked for, then drops rows. */
static void full_batch(void)
{
	struct desk d = {.dir_fd = sample_dir(d.path)};
	struct stream_config config = sample_config(STREAM_SYSTEM);
	struct flush_info info = sample_flush(1);
	struct galvo_run *run;

	config.batch_bytes = 4096;
	OK(desk_open(&d, &config));
	OK(!stream_is_full(d.stream));
	rows(d.stream, 1);
	OK(!stream_is_full(d.stream));
	rows(d.stream, 200);
	OK(stream_is_full(d.stream));
	rows(d.stream, 20000);
	OK(stream_dropped_rows(d.stream) > 10000);
	stream_row(d.stream, SCOPE_CORE, 1, (struct row_key){0}, NULL, 0); /* no such columns */
	info.stats.ticks = 1;
	stream_flush(d.stream, &info);
	EQ(writer_stop(d.writer, 10 * NS_PER_S, NULL), GALVO_OK);
	run = desk_read(&d);
	EQ(run->streams[0].rows + run->streams[0].dropped_rows, 20202);
	OK(!stream_is_full(d.stream));
	galvo_run_close(run);
	desk_close(&d);
}

/* Far more processes than a message has room for, the longest there can be; and no rows at all. */
static void crowded(void)
{
	enum { MANY = 8000 };
	struct desk d = {.dir_fd = sample_dir(d.path)};
	struct stream_config config = sample_config(STREAM_DISK);
	struct process_info *all = alloc_array(MANY, sizeof(*all));
	const struct process_info **list = alloc_array(MANY, sizeof(*list));
	static const struct stream_device devices[] = {{"sda", true, false}, {"dm-0", true, true}};
	struct flush_info info = sample_flush(1);
	struct galvo_run *run;
	size_t i;

	config.batch_bytes = 32 << 20;
	OK(desk_open(&d, &config));
	stream_flush(d.stream, &info);
	wait_for(&d, 1);
	for (i = 0; i < MANY; i++) {
		all[i].pid = all[i].ppid = UINT32_MAX - (uint32_t)i;
		all[i].start_ticks = all[i].first_mono_ns = all[i].end_mono_ns = UINT64_MAX;
		memset(all[i].comm, 'c', sizeof(all[i].comm) - 1);
		memset(all[i].command, 0xff, sizeof(all[i].command) - 1);
		memset(all[i].alias, 'a', sizeof(all[i].alias) - 1);
		list[i] = &all[i];
	}
	info.devices = devices;
	info.devices_len = 2;
	stream_flush(d.stream, &info);
	wait_for(&d, 2);
	info.processes = list;
	info.processes_len = MANY;
	stream_flush(d.stream, &info);
	EQ(writer_stop(d.writer, 10 * NS_PER_S, NULL), GALVO_OK);
	run = desk_read(&d);
	EQ(run->streams[0].messages, 3);
	EQ(run->damages_len, 1); /* there are no metadata */
	OK(run->processes_len > 5000 && strlen(run->processes[5000].command) == 159);
	EQ(run->processes_len + stream_dropped_rows(d.stream), MANY + 2);
	EQ(run->devices_len, 2);
	OK(strcmp(run->devices[1].name, "dm-0") == 0 && run->devices[1].stacked);
	galvo_run_close(run);
	desk_close(&d);
	free(list);
	free(all);
}

static void refusals(void)
{
	struct desk d = {.dir_fd = sample_dir(d.path)};
	struct stream_config config = sample_config(STREAM_SYSTEM);
	struct stream *s;
	galvo_error e = {0};

	EQ(writer_create(d.dir_fd, &d.writer, NULL), GALVO_OK);
	config.kind = (enum stream_kind)9;
	EQ(writer_add(d.writer, &config, &s, &e), GALVO_ERR_INVALID);
	config = sample_config(STREAM_SYSTEM);
	config.batch_bytes = SIZE_MAX;
	EQ(writer_add(d.writer, &config, &s, &e), GALVO_ERR_INVALID);
	config = sample_config(STREAM_SYSTEM);
	config.file_name = "no/such/place";
	EQ(writer_add(d.writer, &config, &s, &e), GALVO_ERR_ABSENT);
	OK(strstr(e.text, "no/such/place: "));
	EQ(writer_start(d.writer, NULL), GALVO_OK);
	config = sample_config(STREAM_SYSTEM);
	EQ(writer_add(d.writer, &config, &s, &e), GALVO_ERR_STATE);
	EQ(writer_start(d.writer, &e), GALVO_ERR_STATE);
	desk_close(&d);
	writer_destroy(NULL);
}

/* Two writers do not know of each other. */
static void two_at_once(void)
{
	struct desk a = {.dir_fd = sample_dir(a.path)}, b = {.dir_fd = sample_dir(b.path)};
	struct stream_config config = sample_config(STREAM_SYSTEM);
	struct galvo_run *run;
	uint64_t m;

	OK(desk_open(&a, &config) && desk_open(&b, &config));
	for (m = 0; m < 50; m++) {
		sample_message(a.stream, m);
		sample_message(b.stream, m);
		wait_for(&a, m + 1);
		wait_for(&b, m + 1);
	}
	EQ(writer_stop(a.writer, 10 * NS_PER_S, NULL), GALVO_OK);
	EQ(writer_stop(b.writer, 10 * NS_PER_S, NULL), GALVO_OK);
	run = desk_read(&b);
	EQ(run->streams[0].messages, 50);
	galvo_run_close(run);
	desk_close(&a);
	desk_close(&b);
}

static const struct tap_test tests[] = {
	{"round trip", round_trip},
	{"a slow disk costs batches, never time", slow_disk},
	{"a hung disk is left behind", hung_disk},
	{"a full disk leaves the file whole", full_disk},
	{"a full batch drops rows", full_batch},
	{"more processes than fit", crowded},
	{"refusals", refusals},
	{"two at once", two_at_once},
};
TAP_MAIN(tests)
