/* One recording as the command line asks for it. */
#ifndef GALVO_CLI_RECORD_H
#define GALVO_CLI_RECORD_H

#include <pthread.h>

#include "cli.h"

enum { PROCESSES_MAX = 256, DISKS_MAX = 256, GPUS_MAX = 64, GPU_METRICS_MAX = 128 };

/* Words with commas between them. */
struct words {
	char text[8192];
	const char *all[GPU_METRICS_MAX];
	size_t len;
};

struct recording {
	galvo_suite_config config;
	char **argv; /* the command; argc 0: none */
	int argc;
	galvo_process processes[PROCESSES_MAX + 1]; /* with a command, the first is for it */
	size_t processes_len;
	const char *disks[DISKS_MAX];
	size_t disks_len;
	galvo_config *file;     /* of --config, or NULL: strings of config are in it */
	const char *alias;      /* of the command: that of the file's process 0, or NULL */
	bool names_command;     /* the file has a process 0 */
	bool has_file_processes, has_file_disks; /* and no option has replaced them */
	struct words gpus, gpu_metrics;
	bool has_gpu_options; /* of counters, but not the one that asks for them */
	bool no_gpu, asks_counters, asks_telemetry; /* options, not the file */
	bool is_machine_only, is_quiet, wants_report;
	double for_s; /* 0: until the end */
};

/* What ends galvo at once, as by default, while nothing is recorded yet: drivers may take their time. */
struct watch {
	pthread_t thread;
	bool is_there;
};

/* Behind the fork, as it is a thread; its signals are blocked. */
void watch_begin(struct watch *w);
void watch_end(struct watch *w);

/* Records; the exit status of galvo. */
int record(struct recording *r);
/* As many descriptors as we may have: every followed process needs some. */
void record_raise_descriptors(void);

#endif
