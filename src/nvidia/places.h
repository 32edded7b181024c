/* Inside the room: the walk over all the places where a library may be. */
#ifndef GALVO_NVIDIA_PLACES_H
#define GALVO_NVIDIA_PLACES_H

#include "nvidia.h"

struct library {
	const char *const *names; /* SONAMEs, the best first, NULL behind the last */
	const char *const *usual; /* folders below nvidia_places.root; these three may be NULL */
	const char *const *home;  /* folders below a toolkit, which is then looked for */
	const char *const *python;
};

extern const char *const driver_folders[]; /* of drivers' libraries, NULL behind the last */

/*
 * Is this one good? Takes the handle over when it is (true). If not, writes the reason; the library
 * is then unloaded.
 */
typedef bool (*library_judge)(void *ctx, void *handle, galvo_error *reterr);

/* Offers each library that is found until one is good, which nobody unloads. */
galvo_status library_find(const struct library *library, const struct nvidia_places *where,
                          library_judge judge, void *ctx, galvo_error *reterr);

#endif
