/*
 * Records the hardware counters of a GPU while it multiplies matrices with cuBLAS and adds vectors: the
 * GPU profiler by itself.
 *
 * usage: gemm_profiling [-d DEVICE] [-i ITERATIONS] [-o FILE]
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <galvo/galvo.h>
#include <galvo/gpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 4096, NUMBERS = SIDE * SIDE, BLOCK = 256, SYNC_EVERY = 100 };

static __global__ void add(float *to, const float *a, const float *b, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		to[i] = a[i] + b[i];
}

/* True if it went well; one line if not. */
static bool good(cudaError_t result, const char *what)
{
	if (result != cudaSuccess)
		fprintf(stderr, "gemm_profiling: %s: %s\n", what, cudaGetErrorString(result));
	return result == cudaSuccess;
}

static bool good(cublasStatus_t result, const char *what)
{
	if (result != CUBLAS_STATUS_SUCCESS)
		fprintf(stderr, "gemm_profiling: %s: %s\n", what, cublasGetStatusString(result));
	return result == CUBLAS_STATUS_SUCCESS;
}

/* ---- the work -------------------------------------------------------------------------------------- */

struct work {
	cudaStream_t stream;
	cublasHandle_t blas;
	float *a, *b, *c; /* matrices, and vectors as well */
};

static bool set_up(struct work *work)
{
	size_t bytes = NUMBERS * sizeof(float);

	return good(cudaStreamCreate(&work->stream), "cudaStreamCreate") &&
	       good(cublasCreate(&work->blas), "cublasCreate") &&
	       good(cublasSetStream(work->blas, work->stream), "cublasSetStream") &&
	       good(cublasSetMathMode(work->blas, CUBLAS_TF32_TENSOR_OP_MATH), "cublasSetMathMode") &&
	       good(cudaMalloc(&work->a, bytes), "cudaMalloc") &&
	       good(cudaMalloc(&work->b, bytes), "cudaMalloc") &&
	       good(cudaMalloc(&work->c, bytes), "cudaMalloc") &&
	       good(cudaMemset(work->a, 1, bytes), "cudaMemset") &&
	       good(cudaMemset(work->b, 1, bytes), "cudaMemset");
}

static void clean_up(struct work *work)
{
	cudaFree(work->a);
	cudaFree(work->b);
	cudaFree(work->c);
	if (work->blas)
		cublasDestroy(work->blas);
	if (work->stream)
		cudaStreamDestroy(work->stream);
}

static bool multiply(struct work *work)
{
	const float one = 1, zero = 0;

	return good(cublasSgemm(work->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, work->a,
	                        SIDE, work->b, SIDE, &zero, work->c, SIDE),
	            "cublasSgemm");
}

static bool add_vectors(struct work *work)
{
	add<<<NUMBERS / BLOCK, BLOCK, 0, work->stream>>>(work->c, work->a, work->b, NUMBERS);
	return good(cudaGetLastError(), "add");
}

/* The first half multiplies, the second adds; the GPU is waited for now and then. */
static bool run(struct work *work, long iterations, galvo_tracker *tracker)
{
	static const struct {
		const char *name;
		bool (*step)(struct work *);
	} phases[] = {{"gemm", multiply}, {"vector add", add_vectors}};
	bool done = true;

	for (const auto &phase : phases) {
		uint64_t region = galvo_region_begin(tracker, phase.name, strlen(phase.name));

		for (long i = 0; done && i < iterations; i++) {
			done = phase.step(work);
			if (i % SYNC_EVERY == SYNC_EVERY - 1)
				done = good(cudaStreamSynchronize(work->stream), phase.name) && done;
		}
		galvo_region_end(tracker, region);
	}
	return good(cudaStreamSynchronize(work->stream), "the work on the GPU") && done;
}

/* ---- what is recorded ------------------------------------------------------------------------------ */

static galvo_status create_profiler(uint32_t device, const char *file, galvo_profiler **profiler,
                                    galvo_error *error)
{
	galvo_gpu_config config = galvo_gpu_config_default();

	config.device_indices = &device;
	config.device_indices_len = 1;
	config.frequency_hz = 10000;
	config.flush_interval_ms = 5000;
	config.output_file = file;
	config.events_file = "gemm_events.pb"; /* for the regions, beside it */
	/* No metrics named: the default set, as far as the chip has it. */
	return galvo_gpu_profiler_create(&config, profiler, error);
}

static void show_device(galvo_profiler *profiler)
{
	galvo_gpu_device device = {};

	device.struct_size = sizeof(device);
	if (galvo_gpu_device_at(profiler, 0, &device, NULL) == GALVO_OK)
		printf("%s (%s): %u SMs, DRAM at up to %.0f GB/s\n", device.name, device.chip,
		       (unsigned)device.sm_count, device.peak_dram_bytes_per_s / 1e9);
}

/* Counters, the work, and the end of it. */
static bool record(uint32_t device, long iterations, const char *file, struct work *work)
{
	galvo_profiler *profiler = NULL;
	galvo_error error = {};
	galvo_status status = create_profiler(device, file, &profiler, &error);
	galvo_tracker *tracker;
	bool done = false;

	if (status == GALVO_OK)
		status = galvo_profiler_start(profiler, &error);
	if (status == GALVO_OK) {
		show_device(profiler);
		tracker = galvo_profiler_gpu_tracker(profiler);
		if (galvo_tracker_set_stream(tracker, work->stream, &error) != GALVO_OK)
			fprintf(stderr, "gemm_profiling: no regions: %s\n", error.text);
		done = run(work, iterations, tracker);
		status = galvo_profiler_stop(profiler, &error);
	}
	galvo_profiler_destroy(profiler);
	if (status != GALVO_OK)
		fprintf(stderr, "gemm_profiling: %s\n", error.text);
	else if (done)
		printf("counters are in %s\n", file);
	return done && status == GALVO_OK;
}

int main(int argc, char **argv)
{
	const char *file = "gpu_metrics.pb";
	int option, device = 0, devices = 0;
	long iterations = 1000;
	struct work work = {};
	bool done;

	while ((option = getopt(argc, argv, "d:i:o:")) != -1) {
		if (option == '?') {
			fprintf(stderr, "usage: %s [-d DEVICE] [-i ITERATIONS] [-o FILE]\n", argv[0]);
			return 2;
		}
		if (option == 'd')
			device = atoi(optarg);
		else if (option == 'i')
			iterations = atol(optarg);
		else
			file = optarg;
	}
	if (!good(cudaGetDeviceCount(&devices), "no NVIDIA GPU here") ||
	    !good(cudaSetDevice(device), "device"))
		return 1;
	done = set_up(&work) && record((uint32_t)device, iterations, file, &work);
	clean_up(&work);
	return done ? 0 : 1;
}
