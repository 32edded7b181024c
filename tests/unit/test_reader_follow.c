/* Following a run that grows, byte by byte and live: each row is seen once, whatever happens to the files. */
#include <pthread.h>

#include "galvo/galvo.h"
#include "stream_sample.h"
#include "tap.h"
#include "wire/wire.h"

#define GIVEN(type, name) type name = {.struct_size = sizeof(type)}

enum { SCOPES_MAX = 8 };

/* All rows that were seen, a table a scope: instant, key and values as they are. */
struct seen {
	const char *scope[SCOPES_MAX];
	struct buf rows[SCOPES_MAX];
	size_t len;
	uint64_t messages, restarts;
};

static void seen_finish(struct seen *s)
{
	size_t i;

	for (i = 0; i < s->len; i++)
		buf_finish(&s->rows[i]);
	memset(s, 0, sizeof(*s));
}

static struct buf *rows_of(struct seen *s, const char *scope)
{
	size_t i;

	for (i = 0; i < s->len; i++)
		if (strcmp(s->scope[i], scope) == 0)
			return &s->rows[i];
	s->scope[s->len] = scope; /* static */
	buf_init(&s->rows[s->len], SIZE_MAX / 2);
	return &s->rows[s->len++];
}

static void see_run(struct seen *s, const galvo_run *run)
{
	GIVEN(galvo_run_table, t);
	GIVEN(galvo_run_column, column);
	size_t i, c, row;

	for (i = 0; galvo_run_table_at(run, i, &t, NULL) == GALVO_OK; i++) {
		struct buf *b = rows_of(s, t.scope);

		for (row = 0; row < t.rows_len; row++) {
			buf_put(b, &t.mono_ns[row], sizeof(t.mono_ns[row]));
			buf_put(b, &t.key[row], sizeof(t.key[row]));
			for (c = 0; galvo_run_column_at(run, i, c, &column, NULL) == GALVO_OK; c++)
				buf_put(b, &column.values[row], sizeof(column.values[row]));
		}
	}
}

static galvo_status poll_once(galvo_follower *f, struct seen *s)
{
	GIVEN(galvo_follower_news, news);
	galvo_error e = {0};
	galvo_status status = galvo_follower_poll(f, &news, &e);

	if (status < 0) {
		printf("# %s\n", e.text);
		return status;
	}
	s->messages += news.messages;
	s->restarts += news.has_restarted != 0;
	see_run(s, news.run);
	return status;
}

/* What was seen is what a reader finds in the whole run. */
static bool same_as(struct seen *s, const char *dir)
{
	struct seen all = {0};
	galvo_run *run;
	bool same = true;
	size_t i;

	EQ(galvo_run_open(dir, &run, NULL), GALVO_OK);
	see_run(&all, run);
	for (i = 0; i < all.len; i++) {
		struct buf *b = rows_of(s, all.scope[i]);

		same = same && b->len == all.rows[i].len && memcmp(b->p, all.rows[i].p, b->len) == 0;
	}
	same = same && all.len == s->len;
	seen_finish(&all);
	galvo_run_close(run);
	return same;
}

static galvo_follower *follow(const char *dir, int32_t from_now)
{
	galvo_follower *f = NULL;

	EQ(galvo_follower_open(dir, from_now, &f, NULL), GALVO_OK);
	return f;
}

static void append(int dir_fd, const char *name, const char *p, size_t n)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	size_t written;

	EQ(file_write_all(fd, p, n, &written), 0);
	close(fd);
}

static const char system_file[] = "system_metrics.pb";

/* ---- growing ------------------------------------------------------------------------------- */

static size_t whole_messages(struct span file, size_t at)
{
	struct span rest = file;
	size_t whole = 0;
	uint64_t n;

	while (wire_take_varint(&rest, &n) && (size_t)(rest.p - file.p) + n <= at) {
		rest = span_of(rest.p + n, rest.n - (size_t)n);
		whole++;
	}
	return whole;
}

static void byte_by_byte(void)
{
	struct seen seen = {0};
	struct buf b;
	struct span file = sample_bytes(3, &b);
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);
	size_t i;

	for (i = 0; i < file.n; i++) {
		append(fd, system_file, file.p + i, 1);
		if (!EQ(poll_once(f, &seen), GALVO_OK) ||
		    !EQ(seen.messages, whole_messages(file, i + 1)))
			break;
	}
	OK(same_as(&seen, path));
	EQ(seen.restarts, 0);
	galvo_follower_close(f);
	seen_finish(&seen);
	buf_finish(&b);
	sample_remove(path, fd);
}

static void from_now_on(void)
{
	struct seen seen = {0};
	struct buf b;
	struct span file = sample_bytes(3, &b);
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f;

	append(fd, system_file, file.p, file.n / 2); /* one message, and half of one */
	f = follow(path, 1);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 0);
	append(fd, system_file, file.p + file.n / 2, file.n - file.n / 2);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 2);
	galvo_follower_close(f);
	seen_finish(&seen);
	buf_finish(&b);
	sample_remove(path, fd);
}

/* A damaged message is given up when another one follows; a torn one in the middle too. */
static void damage_on_the_way(void)
{
	GIVEN(galvo_follower_news, news);
	GIVEN(galvo_run_note, note);
	GIVEN(galvo_run_stream, s);
	struct buf b;
	struct span file = sample_bytes(4, &b);
	size_t quarter = file.n / 4;
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);

	b.p[quarter * 3 / 2] ^= 1;
	append(fd, system_file, file.p, quarter * 5 / 2);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	EQ(news.messages, 1);
	EQ(galvo_run_stream_at(news.run, 0, &s, NULL), GALVO_OK);
	EQ(s.damaged_messages, 1);
	EQ(galvo_run_note_at(news.run, 0, &note, NULL), GALVO_OK);
	OK(note.is_damage && note.offset > quarter / 2 && note.offset < quarter * 3 / 2);
	append(fd, system_file, file.p + quarter * 5 / 2, file.n - quarter * 5 / 2);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	EQ(news.messages, 2);
	EQ(galvo_run_stream_at(news.run, 0, &s, NULL), GALVO_OK);
	OK(s.damaged_messages == 0 && s.missing_messages == 0);
	EQ(galvo_run_note_at(news.run, 0, &note, NULL), GALVO_DONE);
	append(fd, system_file, file.p, 40); /* torn, and the recorder went on */
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	EQ(news.messages, 0);
	append(fd, system_file, file.p + quarter * 5 / 2, file.n - quarter * 5 / 2);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	OK(news.messages == 1 && galvo_run_note_at(news.run, 0, &note, NULL) == GALVO_OK);
	galvo_follower_close(f);
	buf_finish(&b);
	sample_remove(path, fd);
}

static void events_too(void)
{
	GIVEN(galvo_follower_news, news);
	GIVEN(galvo_run_region, r);
	GIVEN(galvo_run_mark, m);
	struct buf b;
	struct span file = sample_bytes_kind(2, &b, STREAM_EVENTS);
	size_t half = whole_messages(file, file.n / 2) ? file.n / 2 : file.n / 2 + 8;
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);

	append(fd, "events.pb", file.p, half);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	EQ(galvo_run_region_at(news.run, 0, &r, NULL), GALVO_OK);
	EQ(r.id, 1);
	EQ(galvo_run_region_at(news.run, 1, &r, NULL), GALVO_OK);
	OK(r.id == 100 && !r.end_mono_ns);
	append(fd, "events.pb", file.p + half, file.n - half);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_OK);
	EQ(galvo_run_region_at(news.run, 0, &r, NULL), GALVO_OK);
	EQ(r.id, 2);
	EQ(galvo_run_mark_at(news.run, 0, &m, NULL), GALVO_OK);
	EQ(m.mono_ns, 1004);
	EQ(galvo_run_mark_at(news.run, 2, &m, NULL), GALVO_DONE);
	galvo_follower_close(f);
	buf_finish(&b);
	sample_remove(path, fd);
}

/* ---- ends and beginnings ------------------------------------------------------------------- */

static void the_end(void)
{
	static const struct session running = {.hostname = "h", .galvo_version = "1"},
	                            stopped = {.hostname = "h", .galvo_version = "1",
	                                       .stop_mono_ns = 1};
	GIVEN(galvo_follower_news, news);
	GIVEN(galvo_run_note, note);
	struct seen seen = {0};
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);

	EQ(session_write(fd, &running, sample_catalog, NULL), GALVO_OK);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(sample_write(fd, 2), GALVO_OK);
	append(fd, system_file, "\x50\x0a", 2); /* what a crash leaves */
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 2);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(session_write(fd, &stopped, sample_catalog, NULL), GALVO_OK);
	EQ(galvo_follower_poll(f, &news, NULL), GALVO_DONE);
	EQ(galvo_run_note_at(news.run, 0, &note, NULL), GALVO_OK);
	OK(note.is_torn_tail);
	EQ(poll_once(f, &seen), GALVO_DONE);
	galvo_follower_close(f);
	seen_finish(&seen);
	sample_remove(path, fd);
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

static void restarted(void)
{
	struct seen seen = {0};
	struct buf b, e;
	struct span file = sample_bytes(4, &b), next = another(file),
	            events = sample_bytes_kind(2, &e, STREAM_EVENTS);
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);

	append(fd, system_file, file.p, file.n);
	append(fd, "events.pb", events.p, events.n);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 6);
	EQ(unlinkat(fd, system_file, 0), 0); /* the recorder is about to remove the events too */
	EQ(poll_once(f, &seen), GALVO_OK);
	OK(seen.restarts == 1 && seen.messages == 6);
	append(fd, system_file, next.p, next.n);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 6 + 3);
	EQ(unlinkat(fd, "events.pb", 0), 0);
	append(fd, "events.pb", another(events).p, another(events).n);
	EQ(poll_once(f, &seen), GALVO_OK);
	OK(seen.messages == 6 + 3 + 1 && seen.restarts == 1);

	/* Shorter, in place, and then as long as before with the same bytes. */
	close(openat(fd, system_file, O_WRONLY | O_TRUNC));
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.restarts, 2);
	append(fd, system_file, next.p, next.n);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 6 + 3 + 1 + 3);
	galvo_follower_close(f);
	seen_finish(&seen);
	buf_finish(&b);
	buf_finish(&e);
	sample_remove(path, fd);
}

/* A file that is replaced by a longer copy of itself is the same recording: rsync does that. */
static void copied_over(void)
{
	struct seen seen = {0};
	struct buf b;
	struct span file = sample_bytes(4, &b);
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);

	append(fd, system_file, file.p, file.n / 2);
	EQ(poll_once(f, &seen), GALVO_OK);
	append(fd, "copy", file.p, file.n);
	EQ(renameat(fd, "copy", fd, system_file), 0);
	EQ(poll_once(f, &seen), GALVO_OK);
	OK(seen.restarts == 0 && same_as(&seen, path));
	galvo_follower_close(f);
	seen_finish(&seen);
	buf_finish(&b);
	sample_remove(path, fd);
}

static void directory_comes_and_goes(void)
{
	struct seen seen = {0};
	char path[64];
	int fd = sample_dir(path);
	galvo_follower *f = follow(path, 0);

	EQ(sample_write(fd, 2), GALVO_OK);
	EQ(poll_once(f, &seen), GALVO_OK);
	sample_remove(path, fd);
	EQ(poll_once(f, &seen), GALVO_OK);
	OK(seen.restarts == 1 && seen.messages == 2);
	EQ(mkdir(path, 0700), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	EQ(sample_write(fd, 3), GALVO_OK);
	EQ(poll_once(f, &seen), GALVO_OK);
	EQ(seen.messages, 2 + 3);
	galvo_follower_close(f);
	seen_finish(&seen);
	sample_remove(path, fd);
}

static void called_wrongly(void)
{
	GIVEN(galvo_follower_news, news);
	galvo_follower *f = NULL;
	char path[64];
	int fd = sample_dir(path);
	galvo_error e;

	EQ(galvo_follower_open(NULL, 0, &f, NULL), GALVO_ERR_INVALID);
	EQ(galvo_follower_open(path, 0, NULL, NULL), GALVO_ERR_INVALID);
	EQ(galvo_follower_open("/nonexistent", 0, &f, &e), GALVO_ERR_ABSENT);
	OK(!f && strstr(e.text, "/nonexistent"));
	EQ(galvo_follower_poll(NULL, &news, NULL), GALVO_ERR_INVALID);
	f = follow(path, 0);
	EQ(galvo_follower_poll(f, NULL, NULL), GALVO_ERR_INVALID);
	news.struct_size = 0;
	EQ(galvo_follower_poll(f, &news, &e), GALVO_ERR_INVALID);
	galvo_follower_close(f);
	galvo_follower_close(NULL);
	sample_remove(path, fd);
}

/* ---- live ---------------------------------------------------------------------------------- */

struct watcher {
	galvo_follower *follower;
	struct seen seen;
	galvo_status status;
};

/* Until the recording says that it has ended. */
static void *watch(void *arg)
{
	struct watcher *w = arg;

	do
		w->status = poll_once(w->follower, &w->seen);
	while (w->status == GALVO_OK);
	return NULL;
}

static void live(void)
{
	galvo_suite_config config = galvo_suite_config_default();
	struct watcher w = {.status = GALVO_OK};
	GIVEN(galvo_suite_stats, stats);
	galvo_suite *suite = NULL;
	pthread_t thread;
	char path[64];
	int fd = sample_dir(path);

	config.output_dir = path;
	config.system_hz = config.disk_hz = 500;
	config.flush_interval_ms = 5;
	EQ(galvo_suite_create(&config, &suite, NULL), GALVO_OK);
	EQ(galvo_suite_start(suite, NULL), GALVO_OK);
	w.follower = follow(path, 0);
	EQ(pthread_create(&thread, NULL, watch, &w), 0);
	while (stats.ticks < 200)
		EQ(galvo_suite_get_stats(suite, &stats, NULL), GALVO_OK);
	EQ(galvo_suite_stop(suite, NULL), GALVO_OK);
	pthread_join(thread, NULL);
	EQ(w.status, GALVO_DONE);
	OK(w.seen.messages > 10 && w.seen.restarts == 0);
	OK(same_as(&w.seen, path));
	galvo_follower_close(w.follower);
	galvo_suite_destroy(suite);
	seen_finish(&w.seen);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"byte by byte", byte_by_byte},
	{"from now on", from_now_on},
	{"damage on the way", damage_on_the_way},
	{"events too", events_too},
	{"the end", the_end},
	{"restarted", restarted},
	{"copied over", copied_over},
	{"a directory that comes and goes", directory_comes_and_goes},
	{"called wrongly", called_wrongly},
	{"live", live},
};
TAP_MAIN(tests)
