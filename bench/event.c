/*
 * What a region and a mark cost their caller, without a sidecar and with one, beside a bare look at the clock.
 *
 * usage: bench_event [LIBCUDA]
 *
 * Those of the GPU are on a driver that does nothing, or on LIBCUDA, libcuda.so.1 say.
 */
#include "galvo/galvo.h"
#include "nvidia/nvidia.h"
#include "scratch.h"

/* What CUDA does for a region of the GPU without galvo: two events recorded into a stream. */
struct driver {
	struct cuda cuda;
	void *context, *stream, *event;
};

enum { ROUNDS = 400, CALLS = 500 };

static uint64_t now_ns(void)
{
	return clock_real.mono_ns(&clock_real);
}

/* One round of each: ns for CALLS calls. The regions of a round begin all, then end all. */
struct round {
	uint64_t clock_ns, begin_ns, end_ns, mark_ns;
};

static struct round measure(galvo_tracker *tracker, uint64_t *ids)
{
	static const char name[] = "forward pass";
	struct round r;
	uint64_t from_ns, sum = 0;
	int i;

	from_ns = now_ns();
	for (i = 0; i < CALLS; i++)
		sum += now_ns();
	r.clock_ns = now_ns() - from_ns;
	from_ns = now_ns();
	for (i = 0; i < CALLS; i++)
		ids[i] = galvo_region_begin(tracker, name, sizeof(name) - 1);
	r.begin_ns = now_ns() - from_ns;
	from_ns = now_ns();
	for (i = 0; i < CALLS; i++)
		galvo_region_end(tracker, ids[i]);
	r.end_ns = now_ns() - from_ns;
	from_ns = now_ns();
	for (i = 0; i < CALLS; i++)
		galvo_mark(tracker, name, sizeof(name) - 1);
	r.mark_ns = now_ns() - from_ns;
	return sum ? r : (struct round){0};
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median of a member over all rounds, ns a call. */
static double median(const struct round *rounds, size_t offset)
{
	uint64_t v[ROUNDS];
	size_t i;

	for (i = 0; i < ROUNDS; i++)
		memcpy(&v[i], (const char *)&rounds[i] + offset, sizeof(v[i]));
	qsort(v, ROUNDS, sizeof(v[0]), compare);
	return (double)v[ROUNDS / 2] / CALLS;
}

static void print(const struct round *rounds)
{
	static const struct { const char *what; size_t offset; } rows[] = {
		{"clock_gettime", offsetof(struct round, clock_ns)},
		{"galvo_region_begin", offsetof(struct round, begin_ns)},
		{"galvo_region_end", offsetof(struct round, end_ns)},
		{"galvo_mark", offsetof(struct round, mark_ns)},
	};
	double floor_ns = median(rounds, 0);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double ns = median(rounds, rows[i].offset);

		printf("%-20s %7.1f ns  %5.2f x the clock\n", rows[i].what, ns, ns / floor_ns);
	}
}

static galvo_status load(struct driver *d, const char *file, galvo_error *reterr)
{
	const struct nvidia_places where = {.file = file};
	galvo_status status = cuda_open(&d->cuda, &where, reterr);
	int result;

	if (status != GALVO_OK)
		return status;
	result = d->cuda.init(0);
	if (!result)
		result = d->cuda.primary_retain(&d->context, 0);
	if (!result)
		result = d->cuda.ctx_set_current(d->context);
	if (!result)
		result = d->cuda.stream_create(&d->stream, CUDA_STREAM_NON_BLOCKING);
	if (!result)
		result = d->cuda.event_create(&d->event, CUDA_EVENT_DEFAULT);
	return result ? cuda_failed(reterr, file, result) : GALVO_OK;
}

/* The floor of it: ns a call. */
static double time_record(const struct driver *d)
{
	uint64_t from_ns = now_ns();
	int i, failed = 0;

	for (i = 0; i < CALLS; i++)
		failed |= d->cuda.event_record(d->event, d->stream);
	return failed ? 0 : (double)(now_ns() - from_ns) / CALLS;
}

static galvo_status run(struct round *rounds, galvo_suite *suite, galvo_tracker *tracker,
                        galvo_error *reterr)
{
	static uint64_t ids[CALLS];
	const struct timespec moment = {0, 5 * NS_PER_MS};
	galvo_status status = galvo_suite_start(suite, reterr);
	int i;

	for (i = 0; i < ROUNDS && status == GALVO_OK; i++) {
		rounds[i] = measure(tracker, ids);
		nanosleep(&moment, NULL); /* a workload that says nothing but this is none */
	}
	return status == GALVO_OK ? galvo_suite_stop(suite, reterr) : status;
}

/* On the host, or on the driver's stream. */
static galvo_status run_in(int32_t mode, const char *dir, const struct driver *d, galvo_error *reterr)
{
	static struct round rounds[ROUNDS];
	galvo_suite_config config = galvo_suite_config_default();
	galvo_suite *suite = NULL;
	galvo_status status;

	config.output_dir = dir;
	config.overwrite = 1;
	config.mode = mode;
	status = galvo_suite_create(&config, &suite, reterr);
	if (status == GALVO_OK && d)
		status = galvo_tracker_set_stream(galvo_suite_gpu_tracker(suite), d->stream, reterr);
	if (status == GALVO_OK)
		status = run(rounds, suite, d ? galvo_suite_gpu_tracker(suite)
		                              : galvo_suite_host_tracker(suite), reterr);
	if (status == GALVO_OK) {
		printf("%s%s\n", d ? "on the GPU, " : "",
		       mode == GALVO_SIDECAR ? "with a sidecar" : "in the process");
		if (d)
			printf("%-20s %7.1f ns\n", "cuEventRecord", time_record(d));
		print(rounds);
	}
	galvo_suite_destroy(suite);
	return status;
}

int main(int argc, char **argv)
{
	char dir[SCRATCH_BYTES];
	galvo_error error;
	galvo_status status = scratch_make(dir, &error);
	struct driver driver;

	if (status == GALVO_OK)
		status = run_in(GALVO_IN_PROCESS, dir, NULL, &error);
	if (status == GALVO_OK)
		status = run_in(GALVO_SIDECAR, dir, NULL, &error);
	if (status == GALVO_OK)
		status = load(&driver, argc > 1 ? argv[1] : NULL_CUDA, &error);
	if (status == GALVO_OK)
		status = run_in(GALVO_IN_PROCESS, dir, &driver, &error);
	if (status == GALVO_OK)
		status = run_in(GALVO_SIDECAR, dir, &driver, &error);
	if (status != GALVO_OK)
		fprintf(stderr, "%s\n", error.text);
	scratch_remove(dir);
	return status != GALVO_OK;
}
