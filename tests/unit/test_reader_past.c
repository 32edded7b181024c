/* What a follower has taken, read again as a whole run: it ends where the next poll goes on. */
#include "galvo/galvo.h"
#include "stream_sample.h"
#include "tap.h"
#include "wire/wire.h"

#define GIVEN(type, name) type name = {.struct_size = sizeof(type)}

static const char system_file[] = "system_metrics.pb";

static void append(int dir_fd, const char *name, const char *p, size_t n)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	size_t written;

	EQ(file_write_all(fd, p, n, &written), 0);
	close(fd);
}

/* Another recording, with other clocks: it begins with the second message of this one. */
static struct span another(struct span file)
{
	struct span rest = file;
	uint64_t n;

	if (!wire_take_varint(&rest, &n))
		return rest;
	return span_of(rest.p + n, rest.n - (size_t)n);
}

static size_t rows_of_past(galvo_follower *f)
{
	GIVEN(galvo_run_table, t);
	size_t i, rows = 0;
	galvo_run *run;

	if (!EQ(galvo_follower_past(f, &run, NULL), GALVO_OK))
		return 0;
	for (i = 0; galvo_run_table_at(run, i, &t, NULL) == GALVO_OK; i++)
		rows += t.rows_len;
	galvo_run_close(run);
	return rows;
}

/* Wherever the file is when it is asked for, it is what polls have given: no row more, no row less. */
static void the_past(void)
{
	GIVEN(galvo_follower_news, news);
	galvo_run *run = NULL;
	struct buf b;
	struct span file = sample_bytes(4, &b);
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = NULL;
	size_t at, next, rows = 0;

	EQ(galvo_follower_open(path, 0, &f, NULL), GALVO_OK);
	EQ(galvo_follower_past(f, &run, NULL), GALVO_ERR_ABSENT);
	for (at = 0; at < file.n; at = next) {
		next = at + 97 < file.n ? at + 97 : file.n;
		append(fd, system_file, file.p + at, next - at);
		if (at)
			EQ(rows_of_past(f), rows);
		EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
		rows += news.rows;
		EQ(rows_of_past(f), rows);
	}
	OK(rows > 4);
	EQ(unlinkat(fd, system_file, 0), 0);
	append(fd, system_file, another(file).p, another(file).n);
	EQ(galvo_follower_past(f, &run, NULL), GALVO_ERR_STATE);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	EQ(news.has_restarted, 1);
	EQ(rows_of_past(f), news.rows);
	EQ(galvo_follower_past(NULL, &run, NULL), GALVO_ERR_INVALID);
	OK(!run);
	galvo_follower_close(f);
	buf_finish(&b);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"the past is what polls have taken", the_past},
};
TAP_MAIN(tests)
