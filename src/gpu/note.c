/* Keeps notes: what is said twice is kept once, and beyond some number nothing more. */
#include "note.h"

#include <stdarg.h>

enum { NOTES_MAX = 512 };

void note(struct notes *n, const char *subject, const char *fmt, ...)
{
	struct note one = {.subject = ""};
	void *all = n->all;
	va_list args;
	size_t i;

	utf8_copy(one.subject, sizeof(one.subject), span_str(subject));
	va_start(args, fmt);
	vsnprintf(one.text, sizeof(one.text), fmt, args);
	va_end(args);
	for (i = 0; i < n->len; i++)
		if (!strcmp(n->all[i]->subject, one.subject) && !strcmp(n->all[i]->text, one.text))
			return;
	if (!grow_array(&all, &n->cap, n->len, sizeof(struct note *), NOTES_MAX))
		return;
	n->all = all;
	n->all[n->len] = alloc_array(1, sizeof(one));
	if (n->all[n->len])
		*n->all[n->len++] = one;
}

void notes_finish(struct notes *n)
{
	size_t i;

	for (i = 0; i < n->len; i++)
		free(n->all[i]);
	free(n->all);
}
