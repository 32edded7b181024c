/* Lines: something that changes with time, straight between its points. */
#include <math.h>

#include "figure.h"

galvo_status line_make(struct line *l, size_t points, galvo_error *reterr)
{
	*l = (struct line){.mono_ns = alloc_array(points, sizeof(*l->mono_ns)),
	                   .value = alloc_array(points, sizeof(*l->value))};
	if (!l->mono_ns || !l->value)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu ticks", points);
	return GALVO_OK;
}

void line_finish(struct line *l)
{
	free(l->mono_ns);
	free(l->value);
	*l = (struct line){0};
}

void line_add(struct line *l, uint64_t mono_ns, double value)
{
	l->mono_ns[l->len] = mono_ns;
	l->value[l->len++] = value;
}

size_t line_find(const struct line *l, uint64_t mono_ns)
{
	return count_below(l->mono_ns, l->len, mono_ns);
}

static double line_at(const struct line *l, uint64_t mono_ns)
{
	size_t i = line_find(l, mono_ns);
	double share;

	if (i == 0 || i == l->len)
		return l->value[i ? i - 1 : 0];
	share = (double)(mono_ns - l->mono_ns[i - 1]) / (double)(l->mono_ns[i] - l->mono_ns[i - 1]);
	return l->value[i - 1] + share * (l->value[i] - l->value[i - 1]);
}

double line_grown(const struct line *l, uint64_t from_ns, uint64_t to_ns)
{
	if (l->len == 0 || to_ns < l->mono_ns[0] || from_ns > l->mono_ns[l->len - 1])
		return NAN;
	return line_at(l, to_ns) - line_at(l, from_ns);
}
