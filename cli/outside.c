/* GALVO_SOCKET: where the workload speaks to its recorder, both ends of it. */
#include "outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A directory of the user's own if there is one; the listener makes another in it. */
galvo_listener *outside_listen(void)
{
	const char *dirs[] = {getenv("XDG_RUNTIME_DIR"), "/tmp"};
	galvo_listener *listener;
	galvo_error error = {0};
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i] && dirs[i][0] == '/' &&
		    galvo_listener_open(dirs[i], &listener, &error) == GALVO_OK) {
			setenv(OUTSIDE_VARIABLE, galvo_listener_path(listener), 1);
			return listener;
		}
	unsetenv(OUTSIDE_VARIABLE); /* it would be another recorder's */
	complain("what `galvo mark` and `galvo region` say is not recorded: %s", error.text);
	return NULL;
}

galvo_status outside_say(galvo_saying what, uint64_t token, const char *name, galvo_error *reterr)
{
	const char *path = getenv(OUTSIDE_VARIABLE);

	if (path && path[0])
		return galvo_say(path, what, token, name, strlen(name), reterr);
	reterr->status = GALVO_ERR_ABSENT;
	snprintf(reterr->text, sizeof(reterr->text),
	         "no recorder: " OUTSIDE_VARIABLE " is not set; galvo record sets it for its command");
	return GALVO_ERR_ABSENT;
}

int outside_say_or_fail(galvo_saying what, const char *name)
{
	galvo_error error;

	if (outside_say(what, 0, name, &error) == GALVO_OK)
		return 0;
	complain("%s", error.text);
	return EXIT_OF_GALVO;
}
