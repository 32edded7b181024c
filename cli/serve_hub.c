/* What is told to all viewers: the last events, where each viewer is, and what clients wait for. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

struct viewer {
	struct viewer *next;
	void *connection;
	struct body *body; /* on its way */
	size_t sent;
	uint64_t wants;    /* the event that comes next */
	uint64_t pings;
	bool is_suspended;
};

uint64_t serve_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static struct body *frame(const char *text)
{
	struct body *b = body_create();

	if (b && body_write(b, text, strlen(text)) == 0)
		return b;
	body_drop(b);
	return NULL;
}

bool hub_init(struct hub *h)
{
	*h = (struct hub){.first = 2, .next = 2, .event_bytes_max = SERVE_EVENT_BYTES_MAX};
	pthread_mutex_init(&h->mutex, NULL);
	h->gap = frame("event: gap\ndata: {}\n\n");
	h->ping = frame(": ping\n\n");
	h->hello = frame("retry: 1000\n\n");
	h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return h->gap && h->ping && h->hello && h->wake_fd >= 0;
}

static void forget_first(struct hub *h)
{
	struct body **b = &h->events[h->first % SERVE_EVENTS_MAX];

	h->event_bytes -= (*b)->len;
	body_drop(*b);
	*b = NULL;
	h->first++;
}

static void forget_all(struct hub *h)
{
	while (h->first < h->next)
		forget_first(h);
}

void hub_finish(struct hub *h)
{
	forget_all(h);
	body_drop(h->gap);
	body_drop(h->ping);
	body_drop(h->hello);
	if (h->wake_fd >= 0)
		close(h->wake_fd);
	pthread_mutex_destroy(&h->mutex);
}

void hub_wake(struct hub *h)
{
	uint64_t one = 1;
	ssize_t n = write(h->wake_fd, &one, sizeof(one));

	(void)n; /* full is awake */
}

/* Under the mutex, which hub_read has where it suspends: no viewer is forgotten in between. */
static void resume_viewers(struct hub *h)
{
	struct viewer *v;

	for (v = h->viewers; v; v = v->next)
		if (v->is_suspended) {
			v->is_suspended = false;
			h->resume(h->server, v->connection);
		}
}

void hub_close(struct hub *h)
{
	struct wish *w;

	pthread_mutex_lock(&h->mutex);
	h->is_closing = true;
	resume_viewers(h);
	while ((w = h->wishes)) {
		h->wishes = w->next;
		w->status = 503;
		h->resume(h->server, w->connection);
	}
	pthread_mutex_unlock(&h->mutex);
	hub_wake(h);
}

/* ---- events ------------------------------------------------------------------------------------------ */

/* One line: blanks in place of line ends, of which JSON has none within its strings. */
static struct body *event_of(uint64_t sequence, const char *event, const struct body *line)
{
	struct body *b = body_create();
	size_t start, i;

	if (!b)
		return NULL;
	body_print(b, "id: %llu\nevent: %s\ndata: ", (unsigned long long)sequence, event);
	start = b->len;
	body_write(b, line->bytes, line->len);
	for (i = start; i < b->len; i++)
		if (b->bytes[i] == '\n' || b->bytes[i] == '\r')
			b->bytes[i] = ' ';
	body_write(b, "\n\n", 2);
	if (!b->failed)
		return b;
	body_drop(b);
	return NULL;
}

uint64_t hub_tell(struct hub *h, const char *event, const struct body *line)
{
	uint64_t sequence = h->next; /* which this thread alone changes */
	struct body *b = line->failed ? NULL : event_of(sequence, event, line);

	pthread_mutex_lock(&h->mutex);
	if (!b || b->len > h->event_bytes_max) { /* a gap is all that can be told */
		forget_all(h);
		h->first = h->next = sequence + 1;
		body_drop(b);
	} else {
		while (h->next - h->first >= SERVE_EVENTS_MAX ||
		       (h->first < h->next && h->event_bytes + b->len > h->event_bytes_max))
			forget_first(h);
		h->events[sequence % SERVE_EVENTS_MAX] = b;
		h->event_bytes += b->len;
		h->next = sequence + 1;
	}
	resume_viewers(h);
	pthread_mutex_unlock(&h->mutex);
	return sequence;
}

void hub_skip(struct hub *h)
{
	pthread_mutex_lock(&h->mutex);
	forget_all(h);
	h->first = ++h->next;
	resume_viewers(h);
	pthread_mutex_unlock(&h->mutex);
}

uint64_t hub_newest(struct hub *h)
{
	uint64_t newest;

	pthread_mutex_lock(&h->mutex);
	newest = h->next - 1;
	pthread_mutex_unlock(&h->mutex);
	return newest;
}

bool hub_reaches(struct hub *h, uint64_t after)
{
	bool reaches;

	pthread_mutex_lock(&h->mutex);
	reaches = after + 1 >= h->first && after < h->next;
	pthread_mutex_unlock(&h->mutex);
	return reaches;
}

bool hub_is_watched(struct hub *h, uint64_t within_ns)
{
	bool is_watched;

	pthread_mutex_lock(&h->mutex);
	if (h->viewers || h->wishes)
		h->watched_ns = serve_now_ns();
	is_watched = h->watched_ns && serve_now_ns() - h->watched_ns <= within_ns;
	pthread_mutex_unlock(&h->mutex);
	return is_watched;
}

void hub_ping(struct hub *h)
{
	pthread_mutex_lock(&h->mutex);
	h->pings++;
	resume_viewers(h);
	pthread_mutex_unlock(&h->mutex);
}

/* ---- viewers ------------------------------------------------------------------------------------------ */

struct viewer *hub_enter(struct hub *h, void *connection, uint64_t after)
{
	struct viewer *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	pthread_mutex_lock(&h->mutex);
	if (h->viewers_len >= SERVE_VIEWERS_MAX || h->is_closing) {
		h->pings++; /* some may be gone, and nobody has noticed */
		resume_viewers(h);
		pthread_mutex_unlock(&h->mutex);
		free(v);
		return NULL;
	}
	v->connection = connection;
	v->wants = after == UINT64_MAX ? h->next : after + 1;
	v->pings = h->pings;
	v->body = body_keep(h->hello);
	v->next = h->viewers;
	h->viewers = v;
	h->viewers_len++;
	h->watched_ns = serve_now_ns();
	pthread_mutex_unlock(&h->mutex);
	hub_wake(h);
	return v;
}

void hub_leave(struct hub *h, struct viewer *v)
{
	struct viewer **at;

	pthread_mutex_lock(&h->mutex);
	for (at = &h->viewers; *at && *at != v; at = &(*at)->next)
		;
	if (*at) {
		*at = v->next;
		h->viewers_len--;
	}
	h->watched_ns = serve_now_ns();
	pthread_mutex_unlock(&h->mutex);
	body_drop(v->body);
	free(v);
}

/* The next body for a viewer; false: there is nothing to be told. */
static bool turn_page(struct hub *h, struct viewer *v)
{
	body_drop(v->body);
	v->body = NULL;
	v->sent = 0;
	if (v->wants < h->first || v->wants > h->next) {
		v->body = body_keep(h->gap);
		v->wants = h->next;
	} else if (v->wants < h->next) {
		v->body = body_keep(h->events[v->wants % SERVE_EVENTS_MAX]);
		v->wants++;
	} else if (v->pings != h->pings) {
		v->body = body_keep(h->ping);
	}
	v->pings = h->pings;
	return v->body;
}

ssize_t hub_read(struct hub *h, struct viewer *v, char *to, size_t most)
{
	size_t n = 0;

	pthread_mutex_lock(&h->mutex);
	if (h->is_closing) {
		pthread_mutex_unlock(&h->mutex);
		return -1;
	}
	if ((!v->body || v->sent == v->body->len) && !turn_page(h, v)) {
		v->is_suspended = true;
		h->suspend(h->server, v->connection);
	} else {
		n = v->body->len - v->sent < most ? v->body->len - v->sent : most;
		memcpy(to, v->body->bytes + v->sent, n);
		v->sent += n;
	}
	pthread_mutex_unlock(&h->mutex);
	return (ssize_t)n;
}

/* ---- wishes ------------------------------------------------------------------------------------------- */

bool hub_wish(struct hub *h, struct wish *w)
{
	struct wish **at;
	bool is_open;

	pthread_mutex_lock(&h->mutex);
	is_open = !h->is_closing;
	w->status = 503;
	if (is_open) {
		for (at = &h->wishes; *at; at = &(*at)->next)
			;
		*at = w;
		w->next = NULL;
		h->suspend(h->server, w->connection);
	}
	pthread_mutex_unlock(&h->mutex);
	hub_wake(h);
	return is_open;
}

struct wish *hub_take_wish(struct hub *h)
{
	struct wish *w;

	pthread_mutex_lock(&h->mutex);
	w = h->wishes;
	if (w)
		h->wishes = w->next;
	h->watched_ns = w ? serve_now_ns() : h->watched_ns;
	pthread_mutex_unlock(&h->mutex);
	return w;
}

void hub_grant(struct hub *h, struct wish *w, int status, struct body *body)
{
	pthread_mutex_lock(&h->mutex);
	w->status = status;
	w->body = body;
	h->resume(h->server, w->connection);
	pthread_mutex_unlock(&h->mutex);
}
