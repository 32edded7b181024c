/*
 * A program that records itself: a suite from a configuration, regions, a process added and removed.
 *
 * usage: full_system_profiling [-s] [-c CONFIG.pbtxt] [-o DIRECTORY]
 *
 * With -s a sidecar does the sampling, and what that costs is not this program's.
 */
#include <dirent.h>
#include <galvo/galvo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The build says where configs/example.pbtxt is. */
#ifndef EXAMPLE_CONFIG
#define EXAMPLE_CONFIG "example.pbtxt"
#endif

enum { THREADS = 2, NUMBERS = 4 << 20, COMPUTE_MS = 500, FILE_BYTES = 16 << 20, DIR_BYTES = 4096 };

struct work {
	double *numbers; /* one block, a part of it for each thread */
	char file[64];
};

struct part {
	const double *numbers;
	size_t n;
	double sum;
};

/* ---- the work -------------------------------------------------------------------------------------- */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Sums its part over and over, for a while. */
static void *compute(void *arg)
{
	struct part *part = arg;
	double end_s = now_s() + COMPUTE_MS / 1e3;
	size_t i;

	do {
		for (i = 0; i < part->n; i++)
			part->sum += part->numbers[i];
	} while (now_s() < end_s);
	return NULL;
}

static int set_up(struct work *work)
{
	size_t i;

	work->numbers = malloc(NUMBERS * sizeof(*work->numbers));
	for (i = 0; work->numbers && i < NUMBERS; i++)
		work->numbers[i] = (double)i;
	return work->numbers != NULL;
}

static int compute_in_threads(const struct work *work)
{
	pthread_t threads[THREADS];
	struct part parts[THREADS];
	size_t i, started;

	for (started = 0; started < THREADS; started++) {
		parts[started] = (struct part){
			.numbers = work->numbers + started * (NUMBERS / THREADS),
			.n = NUMBERS / THREADS,
		};
		if (pthread_create(&threads[started], NULL, compute, &parts[started]) != 0)
			break;
	}
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return started == THREADS;
}

static int write_file(struct work *work)
{
	FILE *file;
	int fd, done;

	snprintf(work->file, sizeof(work->file), "full_system_profiling-XXXXXX");
	fd = mkstemp(work->file);
	file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!file)
		return 0;
	done = fwrite(work->numbers, 1, FILE_BYTES, file) == FILE_BYTES;
	done = fclose(file) == 0 && done;
	return unlink(work->file) == 0 && done;
}

/* ---- a process beside it --------------------------------------------------------------------------- */

/* After fork this child only counts and waits for its end, which is all that is safe beside threads. */
static pid_t start_helper(void)
{
	volatile unsigned long counter = 0;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			counter = counter + 1;
	return pid;
}

static void end_helper(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

/* ---- what is recorded ------------------------------------------------------------------------------ */

static uint64_t begin(galvo_tracker *tracker, const char *name)
{
	return galvo_region_begin(tracker, name, strlen(name));
}

/* Computes, while a helper that the suite follows for as long is busy, too. */
static int compute_with_helper(galvo_suite *suite, const struct work *work, galvo_error *error)
{
	pid_t helper = start_helper();
	galvo_status status;
	int done;

	if (helper < 0)
		return 0;
	status = galvo_suite_add_process(suite, (uint32_t)helper, "helper", error);
	done = compute_in_threads(work);
	if (status == GALVO_OK)
		status = galvo_suite_remove_process(suite, (uint32_t)helper, error);
	end_helper(helper);
	if (status != GALVO_OK)
		fprintf(stderr, "the helper is not recorded: %s\n", error->text);
	return done && status == GALVO_OK;
}

/* The phases of the work, each a region. */
static int run_phases(galvo_suite *suite, galvo_error *error)
{
	galvo_tracker *host = galvo_suite_host_tracker(suite);
	struct work work = {0};
	uint64_t region;
	int done;

	region = begin(host, "setup");
	done = set_up(&work);
	galvo_region_end(host, region);

	region = begin(host, "compute");
	done = done && compute_with_helper(suite, &work, error);
	galvo_region_end(host, region);
	galvo_mark(host, "computed", strlen("computed"));

	region = begin(host, "write");
	done = done && write_file(&work);
	galvo_region_end(host, region);
	free(work.numbers);
	return done;
}

/* The suite that a file asks for. */
static galvo_status create_suite(const char *path, const char *output_dir, int has_sidecar,
                                 char dir[DIR_BYTES], galvo_suite **suite, galvo_error *error)
{
	galvo_suite_config chosen;
	galvo_config *config;
	galvo_status status = galvo_config_load(path, &config, error);

	if (status != GALVO_OK)
		return status;
	chosen = *galvo_config_suite(config);
	if (output_dir)
		chosen.output_dir = output_dir;
	if (has_sidecar)
		chosen.mode = GALVO_SIDECAR;
	snprintf(dir, DIR_BYTES, "%s", chosen.output_dir);
	status = galvo_suite_create(&chosen, suite, error);
	if (status == GALVO_OK)
		printf("recording; afterwards: galvo report %s\n", chosen.output_dir);
	galvo_config_destroy(config);
	return status;
}

/* What it asks for and this machine does not have, as GPUs. */
static void tell_notes(const galvo_suite *suite)
{
	galvo_note note = {.struct_size = sizeof(note)};
	size_t i;

	for (i = 0; galvo_suite_note_at(suite, i, &note, NULL) == GALVO_OK; i++)
		fprintf(stderr, "%s: %s\n", note.subject, note.text);
}

/* Which streams there are depends on the configuration, and on the machine. */
static void print_files(const char *dir)
{
	struct dirent **files;
	int i, n = scandir(dir, &files, NULL, alphasort);
	const char *between = "written: ";

	for (i = 0; i < n; i++) {
		if (strstr(files[i]->d_name, ".pb")) {
			printf("%s%s", between, files[i]->d_name);
			between = ", ";
		}
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *path = EXAMPLE_CONFIG, *output_dir = NULL;
	galvo_suite *suite = NULL;
	galvo_error error = {0};
	galvo_status status;
	int option, has_sidecar = 0, done = 0;
	char dir[DIR_BYTES] = "";

	while ((option = getopt(argc, argv, "sc:o:")) != -1) {
		if (option == '?') {
			fprintf(stderr, "usage: %s [-s] [-c CONFIG.pbtxt] [-o DIRECTORY]\n", argv[0]);
			return 2;
		}
		if (option == 's')
			has_sidecar = 1;
		else
			*(option == 'c' ? &path : &output_dir) = optarg;
	}
	status = create_suite(path, output_dir, has_sidecar, dir, &suite, &error);
	if (status == GALVO_OK)
		status = galvo_suite_start(suite, &error);
	if (status == GALVO_OK) {
		tell_notes(suite);
		done = run_phases(suite, &error);
		status = galvo_suite_stop(suite, &error);
	}
	if (status != GALVO_OK)
		fprintf(stderr, "%s\n", error.text);
	else
		print_files(dir);
	galvo_suite_destroy(suite);
	return done && status == GALVO_OK ? 0 : 1;
}
