/* Samples on their way from the thread that makes values to the one that records: no lock, no waiting. */
#include "device.h"

bool queue_init(struct queue *q, size_t values, size_t at_least)
{
	size_t cap = 1;

	while (cap < at_least)
		cap *= 2;
	*q = (struct queue){
		.cell_bytes = sizeof(struct cell) + values * sizeof(double),
		.cap = cap,
	};
	q->cells = alloc_array(cap, q->cell_bytes);
	return q->cells != NULL;
}

void queue_finish(struct queue *q)
{
	free(q->cells);
	q->cells = NULL;
}

static struct cell *cell_at(const struct queue *q, uint64_t position)
{
	return (struct cell *)(void *)(q->cells + (position & (q->cap - 1)) * q->cell_bytes);
}

struct cell *queue_room(struct queue *q)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	if (tail - atomic_load_explicit(&q->head, memory_order_acquire) == q->cap)
		return NULL;
	return cell_at(q, tail);
}

void queue_put(struct queue *q)
{
	atomic_fetch_add_explicit(&q->tail, 1, memory_order_release);
}

const struct cell *queue_first(const struct queue *q)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	return head == atomic_load_explicit(&q->tail, memory_order_acquire) ? NULL
	                                                                    : cell_at(q, head);
}

void queue_take(struct queue *q)
{
	atomic_fetch_add_explicit(&q->head, 1, memory_order_release);
}
