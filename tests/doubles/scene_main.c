/*
 * scene make TEXT FILE: a scene out of text. scene show FILE: what the doubles saw, calls and
 * violations.
 */
#include <fcntl.h>
#include <stdio.h>

#include "scene_text.h"

static int make(const char *text_path, const char *path)
{
	struct scene *s = scene_new(path);
	struct span text;
	galvo_error e;
	struct buf b;
	int status;

	buf_init(&b, 1 << 20);
	if (!s) {
		fprintf(stderr, "scene: cannot make %s\n", path);
		return 1;
	}
	status = file_read(AT_FDCWD, text_path, &b, &text, &e) ||
	         scene_parse(s, text_path, text, &e);
	if (status)
		fprintf(stderr, "scene: %s\n", e.text);
	buf_finish(&b);
	scene_unmap(s);
	return status != 0;
}

/* Exits with 1 if there are violations. */
static int show(const char *path)
{
	struct scene *s = scene_map(path);
	uint32_t i, violations;

	if (!s) {
		fprintf(stderr, "scene: %s is none\n", path);
		return 2;
	}
	for (i = 0; i < SCENE_COUNTS && s->counts[i].call[0]; i++)
		printf("call %s %u\n", s->counts[i].call, s->counts[i].calls);
	violations = s->violation_count;
	for (i = 0; i < violations && i < SCENE_VIOLATIONS; i++)
		printf("violation %s\n", s->violations[i]);
	scene_unmap(s);
	return violations != 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "make") == 0)
		return make(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2]);
	fprintf(stderr, "usage: scene make TEXT FILE | scene show FILE\n");
	return 2;
}
