/* A file that is there whole or not at all: it is written beside its place and then put there. */
#ifndef GALVO_CLI_OUTFILE_H
#define GALVO_CLI_OUTFILE_H

#include <stdio.h>

#include "cli.h"

struct outfile {
	FILE *file;
	char *path;    /* what it is called */
	char *target;  /* where it will be: what a link leads to is replaced, not the link */
	char *scratch; /* where it is until then; NULL: there, as it is a device or a pipe */
	bool is_unnamed; /* scratch is what it will be called before it is in its place */
};

/* False: errno. */
bool outfile_open(struct outfile *, const char *path);
/* One of a new name in a folder for such things. */
bool outfile_open_temporary(struct outfile *, const char *name);
/*
 * The end of writing, which went as status and error have it: it is put in its place, or removed. The exit
 * status, with a line on stderr for what failed. `path` stays, for outfile_finish.
 */
int outfile_end(struct outfile *, galvo_status status, const galvo_error *error);
/* Puts it in its place, or removes it unless keep. False: errno. `path` stays, for outfile_finish. */
bool outfile_close(struct outfile *, bool keep);
void outfile_finish(struct outfile *);

#endif
