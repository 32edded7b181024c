/* A configuration while it is made of the message that a file describes. */
#ifndef GALVO_SUITE_LOAD_H
#define GALVO_SUITE_LOAD_H

#include <stdlib.h>

/* As a call, system is banned in whatever includes base.h: its namesake gets another name before. */
#define system system_block
#include "profiler_config.pb-c.h"
#undef system

#include "galvo/config.h"
#include "internal.h"

enum { CONFIG_NOTES_MAX = 32, DEVICE_NAME_MAX = 255 };

struct galvo_config {
	Galvo__ProfilerSuiteConfig *message; /* strings of suite are in it */
	galvo_suite_config suite;
	galvo_process *processes;
	char **gpus;            /* of the block: numbers of devices as text */
	const char **all_gpus;  /* those and what else it names */
	char *notes[CONFIG_NOTES_MAX];
	int32_t follow;
};

/* A configuration on its way: what is wrong with it names the file and the field. */
struct loading {
	galvo_config *config;
	const char *name;
	struct span text; /* that it is made of; empty: it was wire bytes */
	galvo_status status;
	galvo_error *reterr;
};

/* Fills config->suite from config->message. False: l->status. */
bool config_take(struct loading *l);
/* Beyond CONFIG_NOTES_MAX, and where memory is out, notes are lost. */
__attribute__((format(printf, 2, 3))) void config_note(struct loading *l, const char *fmt, ...);

#endif
