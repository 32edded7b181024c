/* Files of a run that is followed: which they are, and whether they are still the same. */
#include <unistd.h>

#include "follow.h"

static void add_file(struct follow_state *s, const struct stream_form *form, const char *name)
{
	struct followed *file = &s->files[s->files_len];
	size_t i;

	for (i = 0; i < s->files_len; i++)
		if (s->files[i].form == form && strcmp(s->files[i].name, name) == 0)
			return;
	if (s->files_len == FOLLOWED_MAX)
		return;
	*file = (struct followed){.form = form, .at = STREAM_START};
	memcpy(file->name, name, strlen(name));
	s->files_len++;
}

void follow_add_files(struct follow_state *s, const struct session *session)
{
	const struct stream_form *form;
	const char *name;
	size_t i;

	for (i = 0; run_stream_name(session, i, &form, &name); i++)
		if (form)
			add_file(s, form, name);
}

void beginning_read(int fd, struct beginning *to)
{
	ssize_t n = pread(fd, to->bytes, sizeof(to->bytes), 0);

	to->len = n > 0 ? (size_t)n : 0;
}

bool beginning_is(const struct beginning *file, const struct beginning *b)
{
	return file->len >= b->len && memcmp(file->bytes, b->bytes, b->len) == 0;
}

void follow_restart(struct follow_state *s)
{
	size_t i;

	for (i = 0; i < s->files_len; i++) {
		struct followed *f = &s->files[i];

		if (f->own.len)
			f->stale = f->own;
		f->own.len = 0;
		f->at = STREAM_START;
	}
	s->has_restarted = true;
}

bool followed_has_changed(struct followed *f, int dir_fd)
{
	struct beginning now = {.len = 0};
	uint64_t bytes = 0;
	int fd;

	if (!f->own.len)
		return false;
	if (dir_fd >= 0 && run_file_open(dir_fd, f->name, &fd, &bytes, NULL) == GALVO_OK) {
		beginning_read(fd, &now);
		close(fd);
	}
	if (beginning_is(&now, &f->own) && bytes >= f->at.offset)
		return false;
	if (bytes < f->at.offset)
		f->own.len = 0; /* what is there now is new, even if it looks the same */
	return true;
}
