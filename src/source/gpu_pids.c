/* Whether the pids that a driver tells mean anything here: they are those of the machine's first namespace. */
#include "gpu_raw.h"

#include <unistd.h>

/* The kernel gives the first PID namespace this number, always (PROC_PID_INIT_INO). */
#define FIRST_NAMESPACE "pid:[4026531836]"

enum answer { YES, NO, UNKNOWN };

static enum answer is_of_first(const struct world *w, const char *path)
{
	char link[64];
	ssize_t n = readlinkat(w->root_fd, path, link, sizeof(link));

	if (n < 0)
		return UNKNOWN;
	return span_eq_str(span_of(link, (size_t)n), FIRST_NAMESPACE) ? YES : NO;
}

static size_t count_words(struct span line)
{
	struct span word;
	size_t n = 0;

	while (span_take_word(&line, &word))
		n++;
	return n;
}

/* NSpid:  91234   7: a number for each namespace that it is in, as far as this proc can see. */
static bool is_nested(const struct world *w)
{
	struct span text, line;
	bool is = false;
	struct buf b;

	buf_init(&b, 1 << 16);
	if (file_read(w->root_fd, "proc/self/status", &b, &text, NULL) == GALVO_OK)
		while (span_take_line(&text, &line))
			if (span_starts(line, "NSpid:"))
				is = count_words(line) > 2;
	buf_finish(&b);
	return is;
}

bool gpu_pids_are_ours(const struct world *w)
{
	/* The first process of a namespace is in it: who may look there knows. */
	enum answer answer = is_of_first(w, "proc/1/ns/pid");

	if (answer == UNKNOWN && !w->is_foreign)
		answer = is_of_first(w, "proc/self/ns/pid");
	if (answer == UNKNOWN)
		return !w->is_foreign && !is_nested(w);
	return answer == YES;
}
