/* Connections whose request has not come yet: they are given some time, and are the first to go. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "serve.h"

/* In a ring, the oldest first. */
struct wait {
	struct wait *before, *behind;
	int fd;
	uint64_t since_ns;
};

bool waits_init(struct waits *w, uint32_t head_ms)
{
	w->head_ms = head_ms;
	w->ring = calloc(1, sizeof(*w->ring));
	if (!w->ring)
		return false;
	w->ring->before = w->ring->behind = w->ring;
	return pthread_mutex_init(&w->mutex, NULL) == 0;
}

void waits_finish(struct waits *w)
{
	if (!w->ring)
		return;
	pthread_mutex_destroy(&w->mutex);
	free(w->ring);
	w->ring = NULL;
}

static void take_out(struct wait *at)
{
	at->before->behind = at->behind;
	at->behind->before = at->before;
	at->before = at->behind = at;
}

/* Under the mutex. */
static void begin(struct waits *w, struct wait *at)
{
	take_out(at);
	at->since_ns = serve_now_ns();
	at->before = w->ring->before;
	at->behind = w->ring;
	at->before->behind = at->behind->before = at;
}

struct wait *waits_add(struct waits *w, int fd)
{
	struct wait *at = calloc(1, sizeof(*at));

	if (!at)
		return NULL;
	at->fd = fd;
	at->before = at->behind = at;
	waits_begin(w, at);
	return at;
}

void waits_begin(struct waits *w, struct wait *at)
{
	if (!at)
		return;
	pthread_mutex_lock(&w->mutex);
	begin(w, at);
	pthread_mutex_unlock(&w->mutex);
}

void waits_end(struct waits *w, struct wait *at)
{
	if (!at)
		return;
	pthread_mutex_lock(&w->mutex);
	take_out(at);
	pthread_mutex_unlock(&w->mutex);
}

void waits_remove(struct waits *w, struct wait *at)
{
	waits_end(w, at);
	free(at);
}

/* The server sees the end of the connection and closes it: the number is not another one's until then. */
static void hang_up(struct wait *at)
{
	take_out(at);
	shutdown(at->fd, SHUT_RDWR);
}

void waits_sweep(struct waits *w)
{
	uint64_t now = serve_now_ns();

	pthread_mutex_lock(&w->mutex);
	while (w->ring->behind != w->ring && now - w->ring->behind->since_ns >= w->head_ms * UINT64_C(1000000))
		hang_up(w->ring->behind);
	pthread_mutex_unlock(&w->mutex);
}

bool waits_drop_oldest(struct waits *w)
{
	bool is_there;

	pthread_mutex_lock(&w->mutex);
	is_there = w->ring->behind != w->ring;
	if (is_there)
		hang_up(w->ring->behind);
	pthread_mutex_unlock(&w->mutex);
	return is_there;
}
