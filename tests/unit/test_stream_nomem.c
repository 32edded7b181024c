/* Memory that runs out at every single allocation: a clear failure, and nothing leaks. */
#include "galvo/galvo.h"
#include "stream_sample.h"
#include "tap.h"

static long countdown; /* allocations until one fails; negative: never */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool is_out(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return is_out() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_out() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return is_out() ? NULL : __real_realloc(p, n);
}

/* Calls until it succeeds, one allocation further each time. How many failed. */
static long sweep(galvo_status (*call)(const char *dir, galvo_error *reterr), const char *dir)
{
	galvo_status status = GALVO_ERR_NOMEM;
	long n;

	for (n = 0; status == GALVO_ERR_NOMEM && n < 1000; n++) {
		galvo_error e = {0};

		countdown = n;
		status = call(dir, &e);
		countdown = -1;
		if (status == GALVO_ERR_NOMEM)
			OK(e.text[0]);
	}
	EQ(status, GALVO_OK);
	return n - 1;
}

static galvo_status open_once(const char *dir, galvo_error *reterr)
{
	struct galvo_run *run;
	galvo_status status = galvo_run_open(dir, &run, reterr);

	if (status == GALVO_OK)
		galvo_run_close(run);
	return status;
}

static galvo_status check_once(const char *dir, galvo_error *reterr)
{
	return galvo_run_check(dir, NULL, NULL, NULL, reterr);
}

static galvo_status session_once(const char *dir, galvo_error *reterr)
{
	static const struct session s = {.hostname = "h", .galvo_version = "1", .stop_mono_ns = 1};
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	galvo_status status = session_write(fd, &s, sample_catalog, reterr);

	close(fd);
	return status;
}

static galvo_status writer_once(const char *dir, galvo_error *reterr)
{
	struct stream_config config = sample_config(STREAM_DISK);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct writer *w = NULL;
	struct stream *s;
	galvo_status status = writer_create(fd, &w, reterr);

	if (status == GALVO_OK)
		status = writer_add(w, &config, &s, reterr);
	writer_destroy(w);
	close(fd);
	return status;
}

static galvo_status reader_once(const char *dir, galvo_error *reterr)
{
	galvo_reader *reader;
	galvo_run *run;
	long before = countdown;
	galvo_status status;

	countdown = -1;
	OK(galvo_run_open(dir, &run, NULL) == GALVO_OK);
	countdown = before;
	status = galvo_reader_create(run, 1, &reader, reterr);
	if (status == GALVO_OK)
		galvo_reader_destroy(reader);
	galvo_run_close(run);
	return status;
}

static galvo_status follow_once(const char *dir, galvo_error *reterr)
{
	galvo_follower_news news = {.struct_size = sizeof(news)};
	galvo_follower *f;
	galvo_status status = galvo_follower_open(dir, 0, &f, reterr);

	if (status != GALVO_OK)
		return status;
	status = galvo_follower_poll(f, &news, reterr);
	if (status == GALVO_ERR_NOMEM) { /* what failed was not taken */
		countdown = -1;
		OK(galvo_follower_poll(f, &news, NULL) == GALVO_OK && news.messages == 4);
	}
	galvo_follower_close(f);
	return status == GALVO_DONE ? GALVO_OK : status;
}

static void out_of_memory(void)
{
	char path[64];
	int fd;

	countdown = -1;
	fd = sample_dir(path);
	OK(sample_write(fd, 2) == GALVO_OK);
	OK(sample_write_kind(fd, 2, STREAM_EVENTS) == GALVO_OK);
	OK(sweep(session_once, path) > 0);
	OK(sweep(open_once, path) > 20);
	OK(sweep(check_once, path) > 20);
	OK(sweep(writer_once, path) > 4);
	OK(sweep(reader_once, path) > 4);
	OK(sweep(follow_once, path) > 20);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"out of memory", out_of_memory},
};
TAP_MAIN(tests)
