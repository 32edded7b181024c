/*
 * What galvo can and cannot see here: each thing is tried, and what was found comes with what it means
 * for a recording and how to change it.
 *
 *     galvo_finding f = {.struct_size = sizeof(f)};
 *     size_t i;
 *     if (galvo_doctor_create(NULL, &doctor, &error) == GALVO_OK)
 *         for (i = 0; galvo_doctor_finding_at(doctor, i, &f, &error) == GALVO_OK; i++)
 *             if (f.verdict == GALVO_VERDICT_NO)
 *                 puts(f.found);
 *     galvo_doctor_destroy(doctor);
 */
#ifndef GALVO_DOCTOR_H
#define GALVO_DOCTOR_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum galvo_verdict {
	GALVO_VERDICT_UNKNOWN = 0,
	GALVO_VERDICT_YES = 1,
	GALVO_VERDICT_PARTLY = 2,
	GALVO_VERDICT_NO = 3,
	GALVO_VERDICT_NOT_APPLICABLE = 4, /* there is nothing here that it could be asked of */
	GALVO_VERDICT_WIDTH = 0x7fffffff
} galvo_verdict;

/* What a recording by this galvo loses where the verdict is no. */
typedef enum galvo_need {
	GALVO_NEED_NONE = 0, /* nothing */
	GALVO_NEED_SOME = 1, /* some figures, or some processes */
	GALVO_NEED_ALL = 2,  /* what makes a recording of one's own processes worth while */
	GALVO_NEED_WIDTH = 0x7fffffff
} galvo_need;

/* Strings are never NULL; one line each. */
typedef struct galvo_finding {
	size_t struct_size;
	const char *id;      /* stable: "process-io" */
	const char *group;   /* what it is about: "processes" */
	const char *title;   /* what the verdict answers: "I/O counters of other users' processes" */
	int32_t verdict;     /* a galvo_verdict */
	int32_t need;        /* a galvo_need */
	const char *found;   /* any bytes: names of files and the like are in it */
	const char *meaning; /* for a recording; "": nothing is to be said */
	const char *remedy;  /* a command, or a parameter; "": nothing is to be done */
} galvo_finding;

typedef struct galvo_doctor_config {
	size_t struct_size;
	const char *root;       /* where proc/ and sys/ are; NULL: this machine */
	const char *output_dir; /* where a recording would go, or the directory that it would be made in;
	                           NULL: the working directory */
} galvo_doctor_config;

typedef struct galvo_doctor galvo_doctor;

/*
 * Looks at everything, which takes milliseconds: files are opened, system calls are made. Where there is
 * a driver of GPUs its libraries are loaded, stay loaded, and are asked, which may take seconds, 15 at
 * most. Nothing is left changed. NULL: the defaults.
 * ABSENT: below that root there is no proc.
 */
GALVO_API galvo_status galvo_doctor_create(const galvo_doctor_config *config,
                                           galvo_doctor **ret_doctor, galvo_error *reterr);
GALVO_API void galvo_doctor_destroy(galvo_doctor *doctor); /* NULL is fine */
/* Findings by group; DONE past the last one. Strings live as long as the doctor. Any thread. */
GALVO_API galvo_status galvo_doctor_finding_at(const galvo_doctor *doctor, size_t i,
                                               galvo_finding *ret_finding, galvo_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
