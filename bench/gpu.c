/*
 * What sampling the counters of eight GPUs at 10 kHz costs, on the double of libcupti: CPU time of all
 * threads, less what the double's own calls take.
 */
#include <fcntl.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "measure.h"
#include "scene.h"
#include "scratch.h"

enum { GPUS = 8, READING = 500, READINGS = 200, SLOT_BYTES = 64 };
static const double HZ = 10000, TARGET_PCT = 15;
static const uint64_t INTERVAL_NS = 100000, RUN_NS = 8 * NS_PER_S;
static const char *metrics[] = {
	"gr__cycles_active.avg",
	"gr__cycles_elapsed.avg",
	"sm__cycles_active.avg",
	"sm__cycles_active.max",
	"sm__cycles_elapsed.avg",
	"sm__warps_active.avg",
	"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
	"pcie__read_bytes.sum",
	"pcie__write_bytes.sum",
};

struct bench {
	struct scene *scene;
	struct nvidia_places cuda, cupti;
	struct world world;
	char dir[SCRATCH_BYTES];
	int dir_fd;
	struct writer *writer;
	struct stream *stream;
	struct counters *counters;
};

/* ---- what the double takes itself ----------------------------------------------------------------- */

/* A session of PM sampling by hand, with nothing around its calls. */
struct bare {
	struct cupti cupti;
	struct gpu_set *set;
	void *object;
	uint8_t *image;
	size_t image_bytes;
	uint64_t samples, cpu_ns;
	double nonsense;
};

static int bare_start(struct bare *b, uint32_t slots)
{
	struct cupti_enable e = {.deviceIndex = 0};
	struct cupti_set_config c = {.pConfig = b->set->image,
	                             .configSize = b->set->image_bytes,
	                             .hardwareBufferSize = UINT64_C(1) << 32,
	                             .samplingInterval = INTERVAL_NS,
	                             .triggerMode = CUPTI_TIME_INTERVAL,
	                             .hwBufferAppendMode = CUPTI_KEEP_LATEST};
	struct cupti_data_size d = {.pMetricNames = b->set->names,
	                            .numMetrics = b->set->names_len,
	                            .maxSamples = slots};
	struct cupti_sampling s = {.structSize = CUPTI_BYTES_start};
	int result = CUPTI_CALL(&b->cupti, enable, &e);

	b->object = c.pPmSamplingObject = d.pPmSamplingObject = s.pPmSamplingObject =
		e.pPmSamplingObject;
	if (!result)
		result = cupti_set_config(&b->cupti, &c);
	if (!result)
		result = CUPTI_CALL(&b->cupti, data_size, &d);
	b->image_bytes = d.counterDataSize;
	b->image = calloc(1, b->image_bytes);
	return result ? result : b->cupti.start(&s);
}

static int bare_read(struct bare *b)
{
	struct cupti_data_initialize i = {.pPmSamplingObject = b->object,
	                                  .counterDataSize = b->image_bytes,
	                                  .pCounterData = b->image};
	struct cupti_decode d = {.pPmSamplingObject = b->object,
	                         .pCounterDataImage = b->image,
	                         .counterDataImageSize = b->image_bytes};
	struct cupti_data_info n = {.pCounterDataImage = b->image,
	                            .counterDataImageSize = b->image_bytes};
	struct cupti_sample_info s = {.pPmSamplingObject = b->object,
	                              .pCounterDataImage = b->image,
	                              .counterDataImageSize = b->image_bytes};
	double values[ROW_MAX];
	struct cupti_evaluate e = {.pHostObject = b->set->object,
	                           .pCounterDataImage = b->image,
	                           .counterDataImageSize = b->image_bytes,
	                           .ppMetricNames = b->set->names,
	                           .numMetrics = b->set->names_len,
	                           .pMetricValues = values};
	int result = CUPTI_CALL(&b->cupti, data_initialize, &i);
	uint64_t from = thread_cpu_ns(); /* images are made anew by galvo itself */

	if (!result)
		result = CUPTI_CALL(&b->cupti, decode, &d);
	if (!result)
		result = CUPTI_CALL(&b->cupti, data_info, &n);
	for (; !result && s.sampleIndex < n.numCompletedSamples; s.sampleIndex++, e.rangeIndex++) {
		result = CUPTI_CALL(&b->cupti, sample_info, &s) ||
		         CUPTI_CALL(&b->cupti, evaluate, &e);
		b->nonsense += values[0];
	}
	b->samples += n.numCompletedSamples;
	b->cpu_ns += thread_cpu_ns() - from;
	return result;
}

/* CPU time of the double's calls for one sample, by a clock that is moved. */
static galvo_status measure_bare(struct bench *b, double *ret_ns, galvo_error *reterr)
{
	struct bare bare = {.samples = 0};
	struct cupti_sampling s = {.structSize = CUPTI_BYTES_start};
	struct gpu_host *host = NULL;
	struct cuda cuda;
	int i, result;
	galvo_status status = cuda_open(&cuda, &b->cuda, reterr);

	if (status == GALVO_OK)
		status = cupti_open(&bare.cupti, &b->cupti, 0, reterr);
	if (status == GALVO_OK)
		status = cupti_begin(&bare.cupti, &cuda, reterr);
	if (status == GALVO_OK)
		status = gpu_host_open(&host, &bare.cupti, "GH100", NULL, 0, reterr);
	if (status == GALVO_OK)
		status = gpu_set_choose(host, metrics, ARRAY_LEN(metrics), &bare.set, reterr);
	gpu_host_close(host);
	if (status != GALVO_OK)
		return status;
	b->scene->is_fake = 1;
	b->scene->fake_mono_ns = b->scene->begin_mono_ns;
	result = bare_start(&bare, READING * 4);
	for (i = 0; i < READINGS && !result; i++) {
		b->scene->fake_mono_ns += READING * INTERVAL_NS;
		result = bare_read(&bare);
	}
	*ret_ns = (double)bare.cpu_ns / (double)bare.samples;
	s.pPmSamplingObject = bare.object;
	bare.cupti.stop(&s);
	bare.cupti.disable(&s);
	b->scene->is_fake = 0;
	free(bare.image);
	gpu_set_free(bare.set);
	return result ? cupti_failed(reterr, "by hand", result) : GALVO_OK;
}

/* ---- the recording --------------------------------------------------------------------------------- */

static galvo_status begin(struct bench *b, galvo_error *reterr)
{
	struct counters_config config = {
		.all = true,
		.frequency_hz = HZ,
		.metrics = metrics,
		.metrics_len = ARRAY_LEN(metrics),
		.cuda = &b->cuda,
		.cupti = &b->cupti,
		.world = &b->world,
	};
	struct stream_config stream = {
		.kind = STREAM_GPU,
		.file_name = stream_file_name(STREAM_GPU),
		.hostname = "here",
		.frequency_hz = (uint64_t)HZ,
	};
	galvo_status status = counters_create(&config, &b->counters, reterr);

	if (status != GALVO_OK)
		return status;
	stream.columns = counters_columns(b->counters, &stream.columns_len);
	status = writer_create(b->dir_fd, &b->writer, reterr);
	if (status == GALVO_OK)
		status = writer_add(b->writer, &stream, &b->stream, reterr);
	if (status == GALVO_OK)
		status = writer_start(b->writer, reterr);
	return status == GALVO_OK ? counters_start(b->counters, b->stream, reterr) : status;
}

static galvo_status end(struct bench *b, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;

	counters_signal_stop(b->counters);
	if (!counters_join(b->counters, 10 * NS_PER_S))
		return err_set(reterr, GALVO_ERR_STATE, "a thread was left behind");
	status = writer_stop(b->writer, 10 * NS_PER_S, reterr);
	return status;
}

static void print(const struct bench *b, const galvo_run *run, double bare_ns, uint64_t cpu_ns,
                  uint64_t real_ns)
{
	const struct table *rows = run_table(run, STREAM_GPU, SCOPE_GPU);
	struct decode_stats sum = {.gpu = 0};
	struct counters_counts n;
	double seconds = (double)real_ns / 1e9, all, bare, share;
	size_t i;

	counters_count(b->counters, &n);
	for (i = 0; i < run->gpus_len; i++) {
		const struct decode_stats *d = &run->gpus[i].decode;

#define X(member, field, meaning) sum.member += d->member;
		DECODE_COUNTS(X)
#undef X
	}
	all = 100 * (double)cpu_ns / (double)real_ns;
	bare = 100 * bare_ns * (double)n.samples / (double)real_ns;
	share = all - bare;
	printf("%d GPUs at %g Hz, %zu metrics, %.1f s: %llu samples, %zu rows in the file\n", GPUS, HZ,
	       ARRAY_LEN(metrics), seconds, (unsigned long long)n.samples,
	       rows ? rows->rows_len : 0);
	printf("lost: %llu unwritten, %llu overflows, %llu full images, %llu ms without samples\n",
	       (unsigned long long)sum.unwritten, (unsigned long long)sum.overflows,
	       (unsigned long long)sum.full_images, (unsigned long long)(sum.missing_ns / NS_PER_MS));
	printf("CPU of all threads %.2f %% of one core; of that the double's calls %.2f %% (%.0f ns a "
	       "sample)\n",
	       all, bare, bare_ns);
	printf("galvo: %.2f %% of one core, %.0f ns a sample", share,
	       share * 1e7 * seconds / (double)n.samples);
	if (b->scene->slot_bytes == SLOT_BYTES)
		printf("   <= %g %%, nothing lost: %s", TARGET_PCT,
		       share <= TARGET_PCT && !sum.unwritten && !sum.overflows && !sum.full_images
		               ? "pass"
		               : "miss");
	printf("\n");
}

static galvo_status record(struct bench *b, galvo_error *reterr)
{
	uint64_t cpu_ns, real_ns, mine_ns;
	galvo_run *run = NULL;
	double bare_ns;
	galvo_status status = measure_bare(b, &bare_ns, reterr);

	if (status == GALVO_OK)
		status = begin(b, reterr);
	if (status != GALVO_OK)
		return status;
	cpu_ns = cpu_now_ns();
	mine_ns = thread_cpu_ns();
	real_ns = clock_real.mono_ns(&clock_real);
	measure_sleep(RUN_NS);
	real_ns = clock_real.mono_ns(&clock_real) - real_ns;
	status = end(b, reterr); /* and it is part of what it costs */
	cpu_ns = cpu_now_ns() - cpu_ns - (thread_cpu_ns() - mine_ns);
	if (status == GALVO_OK)
		status = galvo_run_open(b->dir, &run, reterr);
	if (status == GALVO_OK)
		print(b, run, bare_ns, cpu_ns, real_ns);
	galvo_run_close(run);
	return status;
}

/* A scene of which the doubles keep no books, so that they cost little themselves. */
static bool stage(struct bench *b, char *path, size_t bytes, uint32_t slot_bytes)
{
	int i;

	snprintf(path, bytes, "%s/scene", b->dir);
	setenv(SCENE_VARIABLE, path, 1);
	b->scene = scene_new(path);
	if (!b->scene)
		return false;
	for (i = 0; i < GPUS; i++)
		scene_add(b->scene, "GH100");
	b->scene->is_light = 1;
	b->scene->slot_bytes = slot_bytes;
	return true;
}

int main(int argc, char **argv)
{
	uint64_t slot_bytes = SLOT_BYTES;
	struct bench b = {.cuda = {.file = DOUBLES "/lib/libcuda.so.1"},
	                  .cupti = {.file = DOUBLES "/lib/libcupti.so.13"}};
	char scene[SCRATCH_BYTES + 16];
	galvo_error error;
	galvo_status status = scratch_make(b.dir, &error);

	/* As many bytes of an image a sample: the real one has some 16 KiB. */
	if (argc > 1 && !span_to_u64(span_str(argv[1]), &slot_bytes))
		return 2;
	if (status == GALVO_OK) {
		b.dir_fd = open(b.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		b.world = (struct world){.root_fd = b.dir_fd, .live = true, .clock = &clock_real};
		status = stage(&b, scene, sizeof(scene), (uint32_t)slot_bytes)
		                 ? record(&b, &error)
		                 : err_set(&error, GALVO_ERR_IO, "%s cannot be made", scene);
		counters_destroy(b.counters);
		writer_destroy(b.writer);
		unlink(scene);
		close(b.dir_fd);
	}
	if (status != GALVO_OK)
		fprintf(stderr, "%s\n", error.text);
	scratch_remove(b.dir);
	return status != GALVO_OK;
}
