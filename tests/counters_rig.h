/* What tests of sampled counters share: a scene whose clock they move, a recording, and its rows. */
#ifndef GALVO_COUNTERS_RIG_H
#define GALVO_COUNTERS_RIG_H

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "gpu/gpu.h"
#include "nvidia_rig.h"

#define MOMENT_NS (NS_PER_MS / 4)
#define REAL_LIMIT_NS (20 * NS_PER_S) /* a loaded machine takes its time */

static const char *const two_metrics[] = {"sm__cycles_active.avg", "pcie__read_bytes.sum"};

/* ---- a clock that is the scene's -------------------------------------------------------------- */

static uint64_t scene_clock_mono(const struct clock *c)
{
	(void)c;
	return scene_mono_ns(scene);
}

static uint64_t scene_clock_wall(const struct clock *c)
{
	(void)c;
	return scene_wall_ns(scene);
}

/* Until when the threads sleep that do; 0: nobody has the place. */
static _Atomic uint64_t sleepers[64];

static void scene_clock_sleep(const struct clock *c, uint64_t deadline, _Atomic uint32_t *stop)
{
	uint64_t nobody;
	size_t i = 0;

	for (nobody = 0; !atomic_compare_exchange_strong(&sleepers[i], &nobody, deadline);
	     nobody = 0)
		i = (i + 1) % 64;
	while (!atomic_load(stop) && scene_clock_mono(c) < deadline)
		clock_real.sleep_until(&clock_real, clock_real.mono_ns(&clock_real) + MOMENT_NS,
		                       stop);
	atomic_store(&sleepers[i], 0);
}

static inline size_t asleep(void)
{
	uint64_t now = scene_mono_ns(scene);
	size_t i, n = 0;

	for (i = 0; i < 64; i++)
		n += atomic_load(&sleepers[i]) > now;
	return n;
}

static const struct clock scene_clock = {scene_clock_mono, scene_clock_mono, scene_clock_wall,
                                         scene_clock_sleep};

/* ---- a recording ------------------------------------------------------------------------------ */

/* The stream of the take that is on: time that is not real waits for its writer, which is. */
static struct stream *stream_on;

struct take {
	struct world world;
	struct nvidia_places cuda, cupti;
	char cuda_file[256], cupti_file[256];
	struct counters_config config;
	struct counters *counters;
	struct writer *writer;
	struct stream *stream;
	char dir[64];
	int dir_fd;
	const char *files[8]; /* below it, as a root */
	size_t files_len;
	galvo_error error;
};

/* A scene with that many GPUs of a chip, whose first sample is stretched by a little. */
static inline void take_stage(const char *chip, size_t n)
{
	scene_begin();
	while (n--)
		scene_add(scene, chip);
}

/* The usual: every device, 1 kHz, two metrics, below a root with nothing in it. */
static inline void take_init(struct take *t)
{
	memset(t, 0, sizeof(*t));
	stream_on = NULL;
	snprintf(t->dir, sizeof(t->dir), "/tmp/galvo-counters-XXXXXX");
	if (!mkdtemp(t->dir))
		abort();
	t->dir_fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->world = (struct world){.root_fd = t->dir_fd, .live = true, .clock = &scene_clock};
	snprintf(t->cuda_file, sizeof(t->cuda_file), "%s", double_path("lib/libcuda.so.1"));
	snprintf(t->cupti_file, sizeof(t->cupti_file), "%s", double_path("lib/libcupti.so.13"));
	t->cuda.file = t->cuda_file;
	t->cupti.file = t->cupti_file;
	t->config = (struct counters_config){
		.all = true,
		.frequency_hz = 1000,
		.metrics = two_metrics,
		.metrics_len = 2,
		.decode_interval_ns = 100 * NS_PER_MS,
		.cuda = &t->cuda,
		.cupti = &t->cupti,
		.world = &t->world,
	};
}

/* A file below the root; `path` has to stay. */
static inline void take_put_file(struct take *t, const char *path, const char *text)
{
	char folder[160];
	char *slash;
	int fd;

	snprintf(folder, sizeof(folder), "%s", path);
	for (slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(t->dir_fd, folder, 0700);
		*slash = '/';
	}
	fd = openat(t->dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (OK(fd >= 0))
		OK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	t->files[t->files_len++] = path;
}

/* And the folders that it alone was in. */
static inline void take_remove_file(struct take *t, const char *path)
{
	char folder[160];
	char *slash;

	unlinkat(t->dir_fd, path, 0);
	snprintf(folder, sizeof(folder), "%s", path);
	while ((slash = strrchr(folder, '/'))) {
		*slash = '\0';
		unlinkat(t->dir_fd, folder, AT_REMOVEDIR);
	}
}

static inline bool take_create(struct take *t)
{
	bool is_fine = counters_create(&t->config, &t->counters, &t->error) == GALVO_OK;

	if (!OK(is_fine))
		printf("# %s\n", t->error.text);
	return is_fine;
}

static inline bool take_start(struct take *t)
{
	struct stream_config config = {
		.kind = STREAM_GPU,
		.file_name = stream_file_name(STREAM_GPU),
		.hostname = "here",
		.frequency_hz = (uint64_t)t->config.frequency_hz,
	};

	config.columns = counters_columns(t->counters, &config.columns_len);
	if (!OK(writer_create(t->dir_fd, &t->writer, &t->error) == GALVO_OK) ||
	    !OK(writer_add(t->writer, &config, &t->stream, &t->error) == GALVO_OK) ||
	    !OK(writer_start(t->writer, &t->error) == GALVO_OK) ||
	    !OK(counters_start(t->counters, t->stream, &t->error) == GALVO_OK))
		return false;
	stream_on = t->stream;
	return true;
}

static inline bool take_begin(struct take *t)
{
	return take_create(t) && take_start(t);
}

static inline bool is_before(uint64_t real_ns)
{
	return clock_real.mono_ns(&clock_real) < real_ns;
}

static inline void rest_a_moment(void)
{
	const struct timespec moment = {0, MOMENT_NS};

	nanosleep(&moment, NULL);
}

/* Waits until it holds; false: it does not. */
#define AWAIT(claim)                                                                               \
	do {                                                                                       \
		uint64_t limit_ = clock_real.mono_ns(&clock_real) + REAL_LIMIT_NS;                 \
		bool holds_;                                                                       \
                                                                                                   \
		while (!(holds_ = (claim)) && is_before(limit_))                                   \
			rest_a_moment();                                                           \
		tap_claim(holds_, #claim, __FILE__, __LINE__);                                     \
	} while (0)

static inline uint64_t ticks_of(const struct take *t)
{
	struct counters_counts n;

	counters_count(t->counters, &n);
	return n.ticks;
}

static inline uint64_t samples_of(const struct take *t)
{
	struct counters_counts n;

	counters_count(t->counters, &n);
	return n.samples;
}

/* That many decoders, and the stream's owner, have nothing to do until time passes. */
static inline void await_asleep(size_t decoders)
{
	AWAIT(asleep() == decoders + 1);
}

/* Time passes, and so many decoders have done what they had to. What they flushed is written. */
static inline void take_pass(uint64_t ms, size_t decoders)
{
	uint64_t dropped;

	await_asleep(decoders);
	pass_ms(ms);
	await_asleep(decoders);
	if (stream_on)
		AWAIT(stream_is_settled(stream_on, &dropped));
}

/* Stops all of it and reads it back. */
static inline galvo_run *take_end(struct take *t)
{
	galvo_run *run = NULL;

	stream_on = NULL;
	counters_signal_stop(t->counters);
	OK(counters_join(t->counters, 10 * NS_PER_S));
	counters_destroy(t->counters);
	OK(writer_stop(t->writer, 5 * NS_PER_S, &t->error) == GALVO_OK);
	OK(writer_destroy(t->writer));
	if (!OK(galvo_run_open(t->dir, &run, &t->error) == GALVO_OK))
		printf("# %s\n", t->error.text);
	return run;
}

static inline void take_remove(struct take *t, galvo_run *run)
{
	galvo_run_close(run);
	while (t->files_len)
		take_remove_file(t, t->files[--t->files_len]);
	unlinkat(t->dir_fd, stream_file_name(STREAM_GPU), 0);
	close(t->dir_fd);
	OK(rmdir(t->dir) == 0);
	scene_end();
}

/* Notes with those words. */
static inline size_t notes_with(const struct take *t, const char *subject, const char *words)
{
	const char *about, *text;
	size_t i, n = 0;

	for (i = 0; counters_note_at(t->counters, i, &about, &text); i++)
		n += strcmp(about, subject) == 0 && strstr(text, words);
	return n;
}

static inline bool says(const char *text, const char *words)
{
	if (strstr(text, words))
		return true;
	printf("# not in \"%s\": %s\n", text, words);
	return false;
}

/* ---- what is in it ---------------------------------------------------------------------------- */

static inline const struct decode_stats *decode_of(const galvo_run *run, size_t gpu)
{
	static const struct decode_stats none;

	if (!run || gpu >= run->gpus_len || !run->gpus[gpu].has_decode)
		return &none;
	return &run->gpus[gpu].decode;
}

static inline const struct table *rows_of(const galvo_run *run)
{
	static const struct table none;
	const struct table *t = run ? run_table(run, STREAM_GPU, SCOPE_GPU) : NULL;

	return t ? t : &none;
}

static inline size_t rows_of_gpu(const galvo_run *run, uint32_t gpu)
{
	const struct table *t = rows_of(run);
	size_t i, n = 0;

	for (i = 0; i < t->rows_len; i++)
		n += run->gpus[t->key[i]].info.index == gpu;
	return n;
}

/*
 * Rows whose values are those that the scene says for that time, which is converted back exactly; how
 * many there are that are not.
 */
static inline size_t rows_wrong(const galvo_run *run)
{
	const struct table *t = rows_of(run);
	size_t i, k, wrong = 0;

	for (i = 0; i < t->rows_len; i++) {
		uint32_t gpu = run->gpus[t->key[i]].info.index;
		uint64_t start = t->mono_ns[i] - t->duration_ns[i] - scene->begin_mono_ns;
		bool is_wrong = false;

		for (k = 0; k < t->columns_len; k++)
			is_wrong |= t->values[k][i] != scene_metric(scene, gpu, t->columns[k],
			                                            start, t->duration_ns[i]);
		if (is_wrong && !wrong)
			printf("# row %zu of GPU %u at %llu ns: %g, not %g\n", i, gpu,
			       (unsigned long long)start, t->values[0][i],
			       scene_metric(scene, gpu, t->columns[0], start, t->duration_ns[i]));
		wrong += is_wrong;
	}
	return wrong;
}

#endif
