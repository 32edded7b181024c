/* Lines and areas of a picture, point by point. */
#include "plot.h"

#define PATH_POINTS_MAX (SIZE_MAX / sizeof(struct path_point) / 2)

static void put(struct path *p, double x, double y, bool moves)
{
	void *all = p->p;

	if (p->len == p->cap && !grow_array(&all, &p->cap, p->len, sizeof(*p->p), PATH_POINTS_MAX))
		all = NULL;
	if (!all) {
		p->failed = true;
		return;
	}
	p->p = all;
	p->p[p->len++] = (struct path_point){x, y, moves};
}

void path_move(struct path *p, double x, double y)
{
	put(p, x, y, true);
}

/* What lies on the way is not said: steps along an axis come in many pieces. */
void path_line(struct path *p, double x, double y)
{
	struct path_point *last = p->len ? &p->p[p->len - 1] : NULL;

	if (last && !last->moves && p->len > 1) {
		const struct path_point *before = last - 1;

		if (last->y == y && before->y == y && (before->x <= last->x) == (last->x <= x)) {
			last->x = x;
			return;
		}
	}
	put(p, x, y, p->len == 0);
}

void path_rect(struct path *p, struct rect r)
{
	path_move(p, r.x, r.y);
	path_line(p, r.x + r.w, r.y);
	path_line(p, r.x + r.w, r.y + r.h);
	path_line(p, r.x, r.y + r.h);
}

void path_clear(struct path *p)
{
	p->len = 0;
}

void path_finish(struct path *p)
{
	free(p->p);
	*p = (struct path){0};
}

size_t dash_parts(enum dash d, double width, double ret_parts[DASH_PARTS])
{
	static const double parts[DASHES][DASH_PARTS] = {
		{0, 0, 0, 0}, {5, 2.5, 0, 0}, {1.2, 1.8, 0, 0}, {5, 2, 1.2, 2}};
	size_t i, n = d == DASH_NONE ? 0 : d == DASH_BOTH ? 4 : 2;

	for (i = 0; i < n; i++)
		ret_parts[i] = parts[d][i] * width;
	return n;
}
