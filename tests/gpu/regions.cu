/*
 * Kernels of a known length between times without work, each in a region of the GPU: what regions and
 * counters tell of them has to agree with the host's clock and with CUDA's events.
 *
 * usage: gpu_regions CONFIG.pbtxt DIRECTORY
 *
 * Prints a line of JSON for each kernel: between which times of CLOCK_MONOTONIC it ran, and how long.
 */
#include <cuda_runtime.h>
#include <galvo/galvo.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { KERNELS = 30, KERNEL_US = 20000, REST_MS = 20, BLOCK = 256 };

/* Keeps all threads busy for that long by the GPU's timer. */
static __global__ void spin(unsigned long long ns)
{
	unsigned long long begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* True if it went well; one line if not. */
static bool good(cudaError_t result, const char *what)
{
	if (result != cudaSuccess)
		fprintf(stderr, "gpu_regions: %s: %s\n", what, cudaGetErrorString(result));
	return result == cudaSuccess;
}

struct rig {
	cudaStream_t stream;
	cudaEvent_t start, stop;
	int blocks;
};

static bool set_up(struct rig *rig)
{
	int sms = 0;

	if (!good(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "device") ||
	    !good(cudaStreamCreateWithFlags(&rig->stream, cudaStreamNonBlocking), "stream") ||
	    !good(cudaEventCreate(&rig->start), "event") || !good(cudaEventCreate(&rig->stop), "event"))
		return false;
	rig->blocks = 4 * sms;
	spin<<<rig->blocks, BLOCK, 0, rig->stream>>>(1000000);
	return good(cudaStreamSynchronize(rig->stream), "the first kernel");
}

static bool one_kernel(struct rig *rig, galvo_tracker *gpu, int number)
{
	unsigned long long before, begun, ended, after;
	uint64_t region;
	float ms = 0;

	before = now_ns();
	region = galvo_region_begin(gpu, "kernel", strlen("kernel"));
	begun = now_ns();
	cudaEventRecord(rig->start, rig->stream);
	spin<<<rig->blocks, BLOCK, 0, rig->stream>>>(KERNEL_US * 1000ull);
	cudaEventRecord(rig->stop, rig->stream);
	ended = now_ns();
	galvo_region_end(gpu, region);
	region = now_ns();
	if (!good(cudaStreamSynchronize(rig->stream), "a kernel"))
		return false;
	after = now_ns();
	if (!good(cudaEventElapsedTime(&ms, rig->start, rig->stop), "cudaEventElapsedTime"))
		return false;
	printf("{\"kernel\": %d, \"before_ns\": %llu, \"after_ns\": %llu, \"event_ms\": %.6f, "
	       "\"begin_call_ns\": %llu, \"end_call_ns\": %llu}\n",
	       number, before, after, ms, begun - before, (unsigned long long)region - ended);
	return true;
}

static bool run(galvo_suite *suite)
{
	galvo_tracker *gpu = galvo_suite_gpu_tracker(suite);
	galvo_error error = {};
	struct rig rig = {};

	if (!set_up(&rig))
		return false;
	if (galvo_tracker_set_stream(gpu, rig.stream, &error) != GALVO_OK) {
		fprintf(stderr, "gpu_regions: %s\n", error.text);
		return false;
	}
	for (int i = 0; i < KERNELS; i++) {
		rest(REST_MS);
		if (!one_kernel(&rig, gpu, i))
			return false;
	}
	rest(REST_MS);
	return true;
}

/* As the file has it, but for the directory. */
static galvo_status create_suite(const char *path, const char *dir, galvo_suite **suite,
                                 galvo_error *error)
{
	galvo_config *config;
	galvo_status status = galvo_config_load(path, &config, error);
	galvo_suite_config chosen;
	const char *note;

	if (status != GALVO_OK)
		return status;
	for (size_t i = 0; galvo_config_note_at(config, i, &note, NULL) == GALVO_OK; i++)
		fprintf(stderr, "%s\n", note);
	chosen = *galvo_config_suite(config);
	chosen.output_dir = dir;
	status = galvo_suite_create(&chosen, suite, error);
	galvo_config_destroy(config);
	return status;
}

int main(int argc, char **argv)
{
	galvo_suite *suite = NULL;
	galvo_error error = {};
	galvo_status status;
	bool done = false;
	int devices = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: gpu_regions CONFIG.pbtxt DIRECTORY\n");
		return 2;
	}
	if (!good(cudaGetDeviceCount(&devices), "no NVIDIA GPU here"))
		return 1;
	status = create_suite(argv[1], argv[2], &suite, &error);
	if (status == GALVO_OK)
		status = galvo_suite_start(suite, &error);
	if (status == GALVO_OK) {
		done = run(suite);
		status = galvo_suite_stop(suite, &error);
	}
	if (status != GALVO_OK)
		fprintf(stderr, "gpu_regions: %s\n", error.text);
	galvo_suite_destroy(suite);
	return done && status == GALVO_OK ? 0 : 1;
}
