/* What the workload says from outside: the recorder's end and the speaker's. */
#ifndef GALVO_CLI_OUTSIDE_H
#define GALVO_CLI_OUTSIDE_H

#include "cli.h"

#define OUTSIDE_VARIABLE "GALVO_SOCKET"

/* Opens a listener and puts its path into our environment, for the workload to inherit. NULL: there
 * is none, and that has been said. Call before there are threads. */
galvo_listener *outside_listen(void);

/* To the recorder that the environment names. */
galvo_status outside_say(galvo_saying what, uint64_t token, const char *name, galvo_error *reterr);
/* 0, or EXIT_OF_GALVO with a line on stderr. */
int outside_say_or_fail(galvo_saying what, const char *name);

#endif
