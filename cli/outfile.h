/* A file that is there whole or not at all: what is written to it is kept until all of it is there. */
#ifndef GALVO_CLI_OUTFILE_H
#define GALVO_CLI_OUTFILE_H

#include "cli.h"

struct outfile {
	const char *path; /* "-": standard output */
	char *bytes;
	size_t len, cap;
};

void outfile_init(struct outfile *f, const char *path);
/* For galvo_write_fn: an outfile. Non-zero: no memory. */
int outfile_write(void *f, const void *bytes, size_t n);
/*
 * Puts it into its place: a file is replaced, what is none (a pipe, a device) is written to. 0, or
 * EXIT_OF_GALVO with a line on stderr.
 */
int outfile_place(struct outfile *f);
void outfile_finish(struct outfile *f);

#endif
