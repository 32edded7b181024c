/* The order of panels, and ids and keys of which no two are the same. */
#include "panels_parts.h"

/* Names of panels and curves, in order of the name, then of where they are. */
struct name {
	const char **at;
	size_t place;
};

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int names = strcmp(*x->at, *y->at);

	return names ? names : x->place < y->place ? -1 : x->place > y->place;
}

/* A backslash in a name is doubled, or an escape begins with it: none goes on with a number sign. */
static galvo_status part_names(struct panel_maker *m, struct name *names, size_t n,
                               galvo_error *reterr)
{
	const char *last;
	size_t i, k;

	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	for (i = 0; i < n; i = k) {
		last = *names[i].at;
		for (k = i + 1; k < n && !strcmp(*names[k].at, last); k++) {
			buf_printf(&m->text, "%s\\#%zu", last, k - i + 1);
			*names[k].at = panels_text(m->memory, &m->text);
			if (!*names[k].at)
				return panels_no_memory(reterr);
		}
	}
	return GALVO_OK;
}

static galvo_status part_all(struct panel_maker *m, galvo_error *reterr)
{
	struct panels *p = m->panels;
	size_t curves = 0, n = 0, i, k;
	struct name *names;
	galvo_status status;

	for (i = 0; i < p->panels_len; i++)
		curves += p->panels[i].curves_len;
	names = alloc_array(curves + p->panels_len, sizeof(*names));
	if (!names)
		return panels_no_memory(reterr);
	for (i = 0; i < p->panels_len; i++, n++)
		names[n] = (struct name){&p->panels[i].id, n};
	status = part_names(m, names, n, reterr);
	for (i = 0, n = 0; i < p->panels_len; i++)
		for (k = 0; k < p->panels[i].curves_len; k++, n++)
			names[n] = (struct name){&p->panels[i].curves[k].key, n};
	if (status == GALVO_OK)
		status = part_names(m, names, n, reterr);
	free(names);
	return status;
}

/* Groups in the order of their first panels. */
galvo_status panels_arrange(struct panel_maker *m, galvo_error *reterr)
{
	struct panels *p = m->panels;
	struct panel *sorted = alloc_array(p->panels_len, sizeof(*sorted));
	bool *is_done = alloc_array(p->panels_len, sizeof(*is_done));
	size_t n = 0, i, k;

	if (!sorted || !is_done) {
		free(sorted);
		free(is_done);
		return panels_no_memory(reterr);
	}
	for (i = 0; i < p->panels_len; i++)
		for (k = i; k < p->panels_len && !is_done[i]; k++)
			if (k > i && !is_done[k] && !strcmp(p->panels[k].group, p->panels[i].group)) {
				sorted[n++] = p->panels[k];
				is_done[k] = true;
			} else if (k == i) {
				sorted[n++] = p->panels[i];
			}
	free(is_done);
	free(p->panels);
	p->panels = sorted;
	return part_all(m, reterr);
}
