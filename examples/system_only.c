/*
 * One profiler by itself: CPU, memory and this process, around a loop, into one file.
 *
 * usage: system_only [FILE]
 */
#include <galvo/galvo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 20, STEP_MS = 20, STEP_BYTES = 1 << 20 };

/* Memory grows by a step, and there is a while of rest. */
static int step(char **block, size_t i)
{
	const struct timespec rest = {0, STEP_MS * 1000000};
	char *grown = realloc(*block, (i + 1) * STEP_BYTES);

	if (!grown)
		return 0;
	*block = grown;
	memset(grown + i * STEP_BYTES, 1, STEP_BYTES);
	nanosleep(&rest, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	galvo_system_config config = galvo_system_config_default();
	galvo_process self = {0};
	galvo_profiler *profiler = NULL;
	galvo_error error;
	galvo_status status;
	char *block = NULL;
	size_t i = 0;

	config.output_file = argc > 1 ? argv[1] : "system_metrics.pb";
	config.frequency_hz = 200;
	self.pid = 0; /* the caller */
	self.alias = "loop";
	config.processes = &self;
	config.processes_len = 1;
	status = galvo_system_profiler_create(&config, &profiler, &error);
	if (status == GALVO_OK)
		status = galvo_profiler_start(profiler, &error);
	if (status == GALVO_OK) {
		while (i < STEPS && step(&block, i))
			i++;
		status = galvo_profiler_stop(profiler, &error);
	}
	if (status == GALVO_OK)
		printf("%zu steps are recorded in %s\n", i, config.output_file);
	else
		fprintf(stderr, "%s\n", error.text);
	galvo_profiler_destroy(profiler);
	free(block);
	return status == GALVO_OK && i == STEPS ? 0 : 1;
}
