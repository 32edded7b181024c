/*
 * Two declarations of one thing, side by side: rows of numbers that have to agree, and the proof
 * that a wrong one is seen.
 */
#ifndef GALVO_ABI_ROWS_H
#define GALVO_ABI_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct row {
	const char *what;
	const char *group; /* the struct it is of, or "" */
	long long ours, theirs;
	size_t at, bytes; /* of a member: where it lies and how long it is, as they have it */
};

#define BYTES_OF(type, member) sizeof(((type *)0)->member)
/* A struct of ours and theirs, where both end with the same member. */
#define SIZE(mine, yours) {"size of " #yours, #yours, sizeof(struct mine), sizeof(yours), 0, 0},
#define NUMBER(mine, yours) {#yours, "", (long long)(mine), (long long)(yours), 0, 0},
/* A member: its offset and its size. */
#define PAIR(mine, m, yours, y)                                                                    \
	{#yours "." #y " begins", #yours, offsetof(struct mine, m), offsetof(yours, y),            \
	 offsetof(yours, y), BYTES_OF(yours, y)},                                                  \
	{#yours "." #y " takes", #yours, BYTES_OF(struct mine, m), BYTES_OF(yours, y), 0, 0},
#define BOTH(mine, yours, m) PAIR(mine, m, yours, m)

static inline size_t rows_wrong(const struct row *rows, size_t n, const char **ret_first)
{
	size_t i, wrong = 0;

	for (i = 0; i < n; i++)
		if (rows[i].ours != rows[i].theirs && wrong++ == 0)
			*ret_first = rows[i].what;
	return wrong;
}

/* Where a thing of that many bytes may begin at the earliest. */
static inline size_t rows_aligned(size_t end, size_t bytes)
{
	size_t by = bytes == 2 || bytes == 4 || bytes == 8 ? bytes : 1;

	return (end + by - 1) / by * by;
}

/*
 * Members that the table forgets leave a hole, more than padding, before the next or the end of the
 * struct.
 */
static inline size_t rows_holes(const struct row *rows, size_t n, const char **ret_where)
{
	size_t i, end = 0, holes = 0;
	const char *group = "";

	for (i = 0; i < n; i++) {
		if (rows[i].group[0] == '\0')
			continue;
		if (strcmp(rows[i].group, group) != 0) {
			group = rows[i].group;
			end = 0;
		}
		if (rows[i].bytes == 0 && strncmp(rows[i].what, "size of ", 8) != 0)
			continue;
		if (rows[i].bytes ? rows[i].at > rows_aligned(end, rows[i].bytes) :
		                    (size_t)rows[i].theirs > rows_aligned(end, 8)) {
			holes++;
			*ret_where = rows[i].what;
		}
		end = rows[i].at + rows[i].bytes;
	}
	return holes;
}

/* Compares, then spoils each row in turn and sees that this row, and no other, is told. */
static inline int rows_run(struct row *rows, size_t n)
{
	const char *first = "", *hole = "";
	size_t i, wrong = rows_wrong(rows, n, &first), holes = rows_holes(rows, n, &hole), unseen = 0;
	struct row spoilt;

	for (i = 0; i < n; i++)
		if (rows[i].ours != rows[i].theirs)
			printf("# %s: %lld with us, %lld with them\n", rows[i].what, rows[i].ours,
			       rows[i].theirs);
	if (holes)
		printf("# %s: something is missing before it\n", hole);
	for (i = 0; i < n && wrong == 0 && holes == 0; i++) {
		rows[i].ours++;
		unseen += rows_wrong(rows, n, &first) != 1 || first != rows[i].what;
		rows[i].ours--;
		/*
		 * And so is a member that is left out, unless it is the last, or could be padding.
		 */
		if (i + 2 < n && rows[i].bytes && rows[i + 2].bytes &&
		    !strcmp(rows[i].group, rows[i + 2].group) &&
		    rows[i + 2].at > rows_aligned(rows[i].at, rows[i + 2].bytes)) {
			spoilt = rows[i];
			rows[i].bytes = 0;
			unseen += rows_holes(rows, n, &hole) == 0;
			rows[i] = spoilt;
		}
	}
	printf("%zu numbers compared, %zu differ, %zu holes, %zu spoilt ones unseen\n", n, wrong, holes,
	       unseen);
	return wrong || holes || unseen || n == 0;
}

#endif
