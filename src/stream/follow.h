/* Inside the follower: the files that it reads on. */
#ifndef GALVO_STREAM_FOLLOW_H
#define GALVO_STREAM_FOLLOW_H

#include "view.h"

enum {
	FIRST_BYTES = 512, /* a header with its clocks is in them: no two recordings begin alike */
	FOLLOWED_MAX = 2 * STREAM_FILES_MAX,
};

/* How a file begins. */
struct beginning {
	char bytes[FIRST_BYTES];
	size_t len; /* 0: none */
};

struct followed {
	const struct stream_form *form;
	char name[NAME_MAX_BYTES];
	struct stream_progress at;
	struct beginning own;   /* of what was read; it stays while the file is the same */
	struct beginning stale; /* of the recording before, whose file may still be there */
};

/* What one poll changes, and only if it does not fail. */
struct follow_state {
	struct followed files[FOLLOWED_MAX];
	size_t files_len;
	bool has_restarted;
};

/* The first bytes of a file. */
void beginning_read(int fd, struct beginning *to);
bool beginning_is(const struct beginning *file, const struct beginning *b);
/* What the session names and is not followed yet. */
void follow_add_files(struct follow_state *s, const struct session *session);
/* The file, of which something was read, is another one now, or shorter, or gone. */
bool followed_has_changed(struct followed *f, int dir_fd);
/* Another recording: what is still there of the last one is not read again. */
void follow_restart(struct follow_state *s);

#endif
