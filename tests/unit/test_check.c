/* What a check tells beyond damage: when nobody looked, and what a repaired copy lacks. */
#include "galvo/run.h"
#include "stream_sample.h"
#include "tap.h"

static int collect(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return 0;
}

/* What it says must contain all of that. */
static galvo_check_result check_says(const char *path, const char *want)
{
	galvo_check_result r = {0};
	struct buf b = {.max = 1 << 16};

	OK(galvo_run_check(path, collect, &b, &r, NULL) == GALVO_OK);
	buf_put(&b, "", 1);
	if (!OK(b.p && strstr(b.p, want)))
		printf("# says: %s", b.p ? b.p : "");
	buf_finish(&b);
	return r;
}

static int session_make(int fd, uint64_t start_ns, uint64_t stop_ns)
{
	const struct session_probe probe = {STREAM_SYSTEM, "system_metrics.pb", 100};
	const struct session s = {.hostname = "host", .galvo_version = "1", .probes = &probe,
	                          .probes_len = 1, .start_mono_ns = start_ns, .stop_mono_ns = stop_ns};

	return session_write(fd, &s, sample_catalog, NULL);
}

/* Rows at 100 Hz but for a hole of 0.7 s; interfaces, which are read once a second, tell nothing. */
static void a_recorder_that_was_stopped(void)
{
	struct stream_config config = sample_config(STREAM_SYSTEM);
	struct flush_info info = sample_flush(13 * NS_PER_S);
	const double v[2] = {1, 2}, rx[1] = {0};
	struct writer *w = NULL;
	struct stream *s = NULL;
	galvo_check_result r;
	char path[64];
	int fd = sample_dir(path);
	uint64_t i;

	OK(writer_create(fd, &w, NULL) == GALVO_OK && writer_add(w, &config, &s, NULL) == GALVO_OK);
	OK(writer_start(w, NULL) == GALVO_OK);
	for (i = 1; i <= 200; i++)
		if (i <= 120 || i > 189)
			stream_row(s, SCOPE_SYSTEM, 10 * NS_PER_S + i * 10 * NS_PER_MS,
			           (struct row_key){0}, v, 2);
	for (i = 0; i < 3; i++)
		stream_row(s, SCOPE_INTERFACE, (10 + i) * NS_PER_S,
		           (struct row_key){.name = span_str("eth0")}, rx, 1);
	info.stats = (struct probe_stats){.ticks = 131, .missed_ticks = 69};
	stream_flush(s, &info);
	OK(writer_stop(w, 10 * NS_PER_S, NULL) == GALVO_OK);
	writer_destroy(w);
	OK(session_make(fd, 10 * NS_PER_S, 13 * NS_PER_S) == GALVO_OK);
	r = check_says(path, "system_metrics.pb: 69 of 200 ticks missed; longest hole 0.70 s after "
	                     "1.20 s\n");
	OK(r.is_sound); /* what was missed was never there to be lost */
	sample_remove(path, fd);
}

static void spoil(int dir_fd, off_t at)
{
	int fd = openat(dir_fd, "system_metrics.pb", O_RDWR);
	char c = 0;

	OK(pread(fd, &c, 1, at) == 1);
	c = (char)(c ^ 1);
	OK(pwrite(fd, &c, 1, at) == 1);
	close(fd);
}

/* The last message: nothing in the copy jumps, so that only the note tells. */
static void a_copy_says_what_it_lacks(void)
{
	static const char lost[] = "session_metadata.pb: 1 damaged message of system_metrics.pb was "
	                           "left out by galvo check --repair\n";
	char path[64], copy[80], again[80];
	int fd = sample_dir(path), copy_fd, again_fd;
	galvo_check_result r;
	struct stat st;

	OK(sample_write(fd, 3) == GALVO_OK && session_make(fd, 1, 99) == GALVO_OK);
	OK(fstatat(fd, "system_metrics.pb", &st, 0) == 0);
	spoil(fd, st.st_size - 20);
	OK(check_says(path, "are damaged").damaged_messages == 1);
	snprintf(copy, sizeof(copy), "%s-copy", path);
	OK(galvo_run_repair(path, copy, &r, NULL) == GALVO_OK && !r.is_sound && r.messages == 2);
	r = check_says(copy, lost);
	OK(r.is_sound && r.messages == 2);
	snprintf(again, sizeof(again), "%s-again", path);
	OK(galvo_run_repair(copy, again, &r, NULL) == GALVO_OK);
	check_says(again, lost);
	copy_fd = open(copy, O_RDONLY | O_DIRECTORY);
	again_fd = open(again, O_RDONLY | O_DIRECTORY);
	sample_remove(again, again_fd);
	sample_remove(copy, copy_fd);
	sample_remove(path, fd);
}

/* One in the middle: its number is missing in the copy too. */
static void what_is_missing_stays_missing(void)
{
	char path[64], copy[80];
	int fd = sample_dir(path), copy_fd;
	galvo_check_result r;
	struct stat st;

	OK(sample_write(fd, 3) == GALVO_OK && session_make(fd, 1, 99) == GALVO_OK);
	OK(fstatat(fd, "system_metrics.pb", &st, 0) == 0);
	spoil(fd, st.st_size / 2);
	snprintf(copy, sizeof(copy), "%s-copy", path);
	OK(galvo_run_repair(path, copy, NULL, NULL) == GALVO_OK);
	r = check_says(copy, "left out by galvo check --repair\n");
	OK(!r.is_sound && r.missing_messages == 1 && r.damaged_messages == 0);
	copy_fd = open(copy, O_RDONLY | O_DIRECTORY);
	sample_remove(copy, copy_fd);
	sample_remove(path, fd);
}

static const struct tap_test tests[] = {
	{"a recorder that was stopped", a_recorder_that_was_stopped},
	{"a copy says what it lacks", a_copy_says_what_it_lacks},
	{"what is missing stays missing", what_is_missing_stays_missing},
};
TAP_MAIN(tests)
