/* Any bytes are something that a suite and its sidecar say, or nothing: what is taken is put and taken again. */
#include "suite/sidecar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What was put of what was taken is the same when it is taken and put again. */
static void check_config(struct span bytes)
{
	struct sidecar_memory memory[2];
	galvo_suite_config config;
	struct buf put[2] = {0};
	bool is_sound = true;
	size_t i;

	for (i = 0; i < 2 && is_sound; i++) {
		buf_init(&put[i], SIDECAR_BYTES_MAX);
		is_sound = sidecar_take_config(bytes, &config, &memory[i], NULL) == GALVO_OK;
		if (is_sound)
			sidecar_put_config(&put[i], &config, 1);
		else if (i)
			abort();
		bytes = span_of(put[i].p, put[i].len);
		sidecar_memory_free(&memory[i]);
	}
	if (put[0].len != put[1].len || (put[0].len && memcmp(put[0].p, put[1].p, put[0].len) != 0))
		abort();
	buf_finish(&put[0]);
	buf_finish(&put[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span bytes = span_of((const char *)data, n);
	struct sidecar_message message;
	struct sidecar_memory memory;
	galvo_workload workload;
	galvo_child child;
	galvo_suite_stats stats;
	galvo_note note;
	galvo_gpu_device device;
	struct counters_sample sample;
	struct span rest = bytes;
	size_t values;

	while (drained_take(&rest, &sample, &values))
		if (values > ROW_MAX)
			abort();
	sidecar_take_note(bytes, &note, &memory, NULL);
	sidecar_memory_free(&memory);
	sidecar_take_gpu(bytes, &device, &memory, NULL);
	sidecar_memory_free(&memory);
	sidecar_take_workload(bytes, &workload, &memory, NULL);
	sidecar_memory_free(&memory);
	sidecar_take_child(bytes, &child, &memory, NULL);
	sidecar_memory_free(&memory);
	sidecar_take_stats(bytes, &stats, &memory, NULL);
	sidecar_memory_free(&memory);
	check_config(bytes);
	if (sidecar_take_message(bytes, &message, &memory, NULL) == GALVO_OK)
		check_config(message.body);
	sidecar_memory_free(&memory);
	return 0;
}
