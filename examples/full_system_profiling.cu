/*
 * A CUDA program that records itself: a suite from a configuration, regions of the host and of the
 * GPU, a process added and removed.
 *
 * usage: full_system_profiling_cuda [-c CONFIG.pbtxt] [-o DIRECTORY]
 *
 * full_system_profiling.c is the same without CUDA.
 */
#include <cuda_runtime.h>
#include <galvo/galvo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/* The build says where configs/example.pbtxt is. */
#ifndef EXAMPLE_CONFIG
#define EXAMPLE_CONFIG "example.pbtxt"
#endif

enum { NUMBERS = 1 << 25, BLOCK = 256, STEPS = 5, ADDITIONS = 40 };

static __global__ void add(float *to, const float *a, const float *b, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		to[i] = a[i] + b[i];
}

/* ---- the work -------------------------------------------------------------------------------------- */

struct work {
	std::vector<float> host;
	float *a, *b, *sum; /* on the GPU */
	cudaStream_t stream;
};

/* True if it went well; one line if not. */
static bool good(cudaError_t result, const char *what)
{
	if (result != cudaSuccess)
		fprintf(stderr, "full_system_profiling: %s: %s\n", what, cudaGetErrorString(result));
	return result == cudaSuccess;
}

static bool set_up(struct work *work)
{
	size_t bytes = NUMBERS * sizeof(float);

	work->host.assign(NUMBERS, 1.0f);
	return good(cudaMalloc(&work->a, bytes), "cudaMalloc") &&
	       good(cudaMalloc(&work->b, bytes), "cudaMalloc") &&
	       good(cudaMalloc(&work->sum, bytes), "cudaMalloc");
}

static void clean_up(struct work *work)
{
	cudaFree(work->a);
	cudaFree(work->b);
	cudaFree(work->sum);
	cudaStreamDestroy(work->stream);
}

/* ---- what is recorded ------------------------------------------------------------------------------ */

static uint64_t begin(galvo_tracker *tracker, const char *name)
{
	return galvo_region_begin(tracker, name, strlen(name));
}

/* To the GPU, and additions there; each a region on the clock of the GPU. Nothing here waits for it. */
static bool one_step(struct work *work, galvo_tracker *gpu)
{
	size_t bytes = NUMBERS * sizeof(float);
	uint64_t region = begin(gpu, "copy");
	bool done = good(cudaMemcpyAsync(work->a, work->host.data(), bytes, cudaMemcpyHostToDevice,
	                                 work->stream),
	                 "cudaMemcpyAsync") &&
	            good(cudaMemcpyAsync(work->b, work->a, bytes, cudaMemcpyDeviceToDevice,
	                                 work->stream),
	                 "cudaMemcpyAsync");

	galvo_region_end(gpu, region);
	region = begin(gpu, "add");
	for (int i = 0; done && i < ADDITIONS; i++)
		add<<<(NUMBERS + BLOCK - 1) / BLOCK, BLOCK, 0, work->stream>>>(work->sum, work->a,
		                                                              work->b, NUMBERS);
	galvo_region_end(gpu, region);
	galvo_mark(gpu, "step", strlen("step"));
	return done && good(cudaGetLastError(), "add");
}

/* A process that the suite follows for as long as the GPU works. */
static bool work_with_helper(galvo_suite *suite, struct work *work, galvo_tracker *gpu)
{
	galvo_error error = {};
	pid_t helper = fork();
	bool done = helper > 0;

	if (helper == 0)
		for (volatile unsigned long counter = 0;;)
			counter = counter + 1;
	if (done && galvo_suite_add_process(suite, (uint32_t)helper, "helper", &error) != GALVO_OK)
		fprintf(stderr, "the helper is not recorded: %s\n", error.text);
	for (int i = 0; done && i < STEPS; i++)
		done = one_step(work, gpu);
	done = good(cudaStreamSynchronize(work->stream), "the work on the GPU") && done;
	galvo_suite_remove_process(suite, (uint32_t)helper, NULL);
	if (helper > 0) {
		kill(helper, SIGTERM);
		waitpid(helper, NULL, 0);
	}
	return done;
}

static bool run_phases(galvo_suite *suite)
{
	galvo_tracker *host = galvo_suite_host_tracker(suite), *gpu = galvo_suite_gpu_tracker(suite);
	galvo_error error = {};
	struct work work = {};
	uint64_t region = begin(host, "setup");
	bool done = good(cudaStreamCreate(&work.stream), "cudaStreamCreate") && set_up(&work);

	galvo_region_end(host, region);
	if (done && galvo_tracker_set_stream(gpu, work.stream, &error) != GALVO_OK)
		fprintf(stderr, "no regions of the GPU: %s\n", error.text);
	region = begin(host, "compute");
	done = done && work_with_helper(suite, &work, gpu);
	galvo_region_end(host, region);
	galvo_mark(host, "computed", strlen("computed"));
	clean_up(&work);
	return done;
}

/* The suite that a file asks for; its notes say what it asks for in vain. */
static galvo_status create_suite(const char *path, const char *output_dir, galvo_suite **suite,
                                 galvo_error *error)
{
	galvo_suite_config chosen;
	galvo_config *config;
	galvo_status status = galvo_config_load(path, &config, error);
	const char *note;

	if (status != GALVO_OK)
		return status;
	for (size_t i = 0; galvo_config_note_at(config, i, &note, NULL) == GALVO_OK; i++)
		fprintf(stderr, "%s\n", note);
	chosen = *galvo_config_suite(config);
	if (output_dir)
		chosen.output_dir = output_dir;
	status = galvo_suite_create(&chosen, suite, error);
	if (status == GALVO_OK)
		printf("recording; afterwards: galvo report %s\n", chosen.output_dir);
	galvo_config_destroy(config);
	return status;
}

int main(int argc, char **argv)
{
	const char *path = EXAMPLE_CONFIG, *output_dir = NULL;
	galvo_suite *suite = NULL;
	galvo_error error = {};
	galvo_status status;
	int option, devices = 0;
	bool done = false;

	while ((option = getopt(argc, argv, "c:o:")) != -1) {
		if (option == '?') {
			fprintf(stderr, "usage: %s [-c CONFIG.pbtxt] [-o DIRECTORY]\n", argv[0]);
			return 2;
		}
		*(option == 'c' ? &path : &output_dir) = optarg;
	}
	if (!good(cudaGetDeviceCount(&devices), "no NVIDIA GPU here"))
		return 1;
	status = create_suite(path, output_dir, &suite, &error);
	if (status == GALVO_OK)
		status = galvo_suite_start(suite, &error);
	if (status == GALVO_OK) {
		done = run_phases(suite);
		status = galvo_suite_stop(suite, &error);
	}
	if (status != GALVO_OK)
		fprintf(stderr, "%s\n", error.text);
	galvo_suite_destroy(suite);
	return done && status == GALVO_OK ? 0 : 1;
}
