/* The tree of processes: who started whom, by identity, safe against what a damaged file claims. */
#include "figure.h"

#define TWINS_MAX 64 /* ancestors started within one clock tick */

struct tree {
	uint32_t *parent, *first_child, *next; /* indices of processes, SLOT_NONE at the ends */
	uint32_t *by_age;
	uint32_t *place; /* index in the order of the tree */
	size_t len;
};

static void tree_finish(struct tree *t)
{
	free(t->parent);
	free(t->first_child);
	free(t->next);
	free(t->by_age);
	free(t->place);
}

static galvo_status tree_init(struct tree *t, size_t len, galvo_error *reterr)
{
	*t = (struct tree){
		.parent = alloc_array(len, sizeof(uint32_t)),
		.first_child = alloc_array(len, sizeof(uint32_t)),
		.next = alloc_array(len, sizeof(uint32_t)),
		.by_age = alloc_array(len, sizeof(uint32_t)),
		.place = alloc_array(len, sizeof(uint32_t)),
		.len = len,
	};
	if (t->parent && t->first_child && t->next && t->by_age && t->place)
		return GALVO_OK;
	tree_finish(t);
	return err_set(reterr, GALVO_ERR_NOMEM, "no memory for a tree of %zu processes", len);
}

static int compare_age(const void *a, const void *b, void *ctx)
{
	const struct summary_process *processes = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x = processes[i].info->start_ticks, y = processes[j].info->start_ticks;

	return x != y ? (x < y ? -1 : 1) : i < j ? -1 : i > j;
}

/*
 * A parent is older than its child, which rules out cycles; only among processes of one clock tick
 * could there be one, so those are walked.
 */
static uint32_t parent_of(const struct tree *t, const struct process_index *x, uint32_t child)
{
	uint64_t ticks = x->processes[child].start_ticks;
	uint32_t parent = process_index_parent(x, &x->processes[child]), i = parent;
	int steps;

	for (steps = 0; i != SLOT_NONE && x->processes[i].start_ticks == ticks; steps++) {
		if (i == child || steps == TWINS_MAX)
			return SLOT_NONE;
		i = t->parent[i];
	}
	return parent;
}

/* A process that is not a root was found below one: with only one root, it belongs there. */
static void adopt(struct galvo_summary *s, struct tree *t)
{
	uint32_t root = SLOT_NONE, i;
	size_t roots = 0;

	for (i = 0; i < t->len; i++)
		if (t->parent[i] == SLOT_NONE && s->processes[i].info->root) {
			root = i;
			roots++;
		}
	if (roots != 1)
		return;
	for (i = 0; i < t->len; i++)
		if (t->parent[i] == SLOT_NONE && i != root) {
			t->parent[i] = root;
			s->processes[i].adopted = true;
		}
}

static void push(struct tree *t, uint32_t *head, uint32_t i)
{
	t->next[i] = *head;
	*head = i;
}

/* Sibling lists, the oldest first; at the top, roots before strays. Returns the head of the top. */
static uint32_t siblings_link(const struct galvo_summary *s, struct tree *t)
{
	uint32_t top = SLOT_NONE;
	int roots;
	size_t n;

	for (n = 0; n < t->len; n++)
		t->first_child[n] = SLOT_NONE;
	for (roots = 0; roots <= 1; roots++)
		for (n = t->len; n-- > 0;) {
			uint32_t i = t->by_age[n], parent = t->parent[i];

			if (parent == SLOT_NONE && s->processes[i].info->root == (roots == 1))
				push(t, &top, i);
			else if (parent != SLOT_NONE && roots)
				push(t, &t->first_child[parent], i);
		}
	return top;
}

/* Depth first, without recursion: a chain may be as long as there are processes. */
static void walk(const struct galvo_summary *s, struct tree *t, uint32_t top,
                 struct summary_process *sorted)
{
	uint32_t i = top, depth = 0;
	size_t n = 0;

	while (i != SLOT_NONE) {
		uint32_t parent = t->parent[i];

		t->place[i] = (uint32_t)n;
		sorted[n] = s->processes[i];
		sorted[n].depth = depth;
		sorted[n++].parent = parent == SLOT_NONE ? SIZE_MAX : t->place[parent];
		if (t->first_child[i] != SLOT_NONE) {
			i = t->first_child[i];
			depth++;
			continue;
		}
		while (i != SLOT_NONE && t->next[i] == SLOT_NONE) {
			i = t->parent[i];
			depth -= depth > 0;
		}
		if (i != SLOT_NONE)
			i = t->next[i];
	}
}

galvo_status tree_arrange(struct galvo_summary *s, const struct process_index *x,
                          galvo_error *reterr)
{
	struct summary_process *sorted = alloc_array(s->processes_len, sizeof(*sorted));
	struct tree t = {0};
	galvo_status status;
	uint32_t i;

	if (!sorted)
		return err_set(reterr, GALVO_ERR_NOMEM, "no memory for %zu processes",
		               s->processes_len);
	if ((status = tree_init(&t, s->processes_len, reterr)) != GALVO_OK) {
		free(sorted);
		return status;
	}
	for (i = 0; i < t.len; i++) {
		t.by_age[i] = i;
		t.parent[i] = SLOT_NONE;
	}
	for (i = 0; i < t.len; i++)
		t.parent[i] = parent_of(&t, x, i);
	qsort_r(t.by_age, t.len, sizeof(*t.by_age), compare_age, s->processes);
	adopt(s, &t);
	walk(s, &t, siblings_link(s, &t), sorted);
	free(s->processes);
	s->processes = sorted;
	tree_finish(&t);
	return GALVO_OK;
}
