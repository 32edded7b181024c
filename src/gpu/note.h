/* Inside sampling: what there is to say of what was left out, each once. */
#ifndef GALVO_GPU_NOTE_H
#define GALVO_GPU_NOTE_H

#include "base/base.h"

struct notes {
	struct note {
		char subject[16];
		char text[sizeof(((galvo_error *)0)->text) + 64];
	} **all; /* none of them moves */
	size_t len, cap;
};

__attribute__((format(printf, 3, 4))) void note(struct notes *n, const char *subject,
                                                const char *fmt, ...);
void notes_finish(struct notes *n);

#endif
