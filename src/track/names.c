/* Where the files of a process are, and what it calls itself: name, start of the command line. */
#include "internal.h"

int track_path(const struct world *w, const struct tracked *e, const char *name,
               char at[TRACK_PATH_BYTES])
{
	if (e->dir_fd >= 0) {
		/* At every tick, for every file: no formatting. Names of ours are short. */
		memcpy(at, name, strnlen(name, TRACK_PATH_BYTES - 1) + 1);
		at[TRACK_PATH_BYTES - 1] = '\0';
		return e->dir_fd;
	}
	snprintf(at, TRACK_PATH_BYTES, "proc/%u/%s", e->info.pid, name);
	return w->root_fd;
}

static void copy_text(char *to, size_t cap, struct span text)
{
	size_t n = text.n < cap - 1 ? text.n : cap - 1;

	memcpy(to, text.p, n);
	to[n] = '\0';
}

/* comm and command as they are now; what cannot be read stays as it was. */
void track_read_names(struct track *t, struct tracked *e)
{
	const struct world *w = t->config.world;
	char path[TRACK_PATH_BYTES];
	struct span text;
	size_t i;

	if (file_read(track_path(w, e, "comm", path), path, &t->text, &text, NULL) == GALVO_OK)
		copy_text(e->info.comm, sizeof(e->info.comm),
		          span_of(text.p, text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n));
	if (file_read(track_path(w, e, "cmdline", path), path, &t->text, &text, NULL) == GALVO_OK &&
	    text.n) {
		for (i = 0; i + 1 < text.n; i++)
			if (t->text.p[i] == '\0')
				t->text.p[i] = ' ';
		copy_text(e->info.command, sizeof(e->info.command), span_trim(text));
	}
	e->named_mono_ns = w->clock->mono_ns(w->clock);
}
