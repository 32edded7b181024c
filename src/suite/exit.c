/* A program that ends without stopping its recording: what exit(3) calls, and dlclose(3). */
#include <time.h>
#include <unistd.h>

#include "internal.h"

/*
 * The C++ ABI's, which C libraries have: with an argument, so that nothing need be kept in a global,
 * and called when this library (or what it is linked into) is unloaded, too.
 */
extern int __cxa_atexit(void (*body)(void *), void *arg, void *dso);
extern void *__dso_handle __attribute__((visibility("hidden")));

enum { EXIT_PATIENCE_MS = 20000 };

struct exit_cell {
	pthread_mutex_t mutex;
	galvo_suite *suite; /* NULL: destroyed */
	pid_t owner;
};

/* exit may be called in the midst of destroy, by a signal handler say: then nobody can be waited for. */
static bool lock(struct exit_cell *c)
{
	const struct timespec moment = {0, NS_PER_MS};
	size_t i;

	for (i = 0; i < EXIT_PATIENCE_MS; i++) {
		if (pthread_mutex_trylock(&c->mutex) == 0)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* On whatever thread called exit; others are still at work, and may destroy the suite now. */
static void at_exit(void *arg)
{
	struct exit_cell *c = arg;
	bool is_over;

	if (c->owner != getpid() || !lock(c))
		return; /* a child of a fork: nothing of it is ours */
	is_over = !c->suite;
	if (c->suite)
		galvo_suite_stop(c->suite, NULL);
	pthread_mutex_unlock(&c->mutex);
	if (is_over)
		free(c);
}

galvo_status suite_exit_prepare(struct galvo_suite *s, galvo_error *reterr)
{
	struct exit_cell *c;

	if (!s->config.stop_at_exit)
		return GALVO_OK;
	c = alloc_array(1, sizeof(*c));
	if (c) {
		pthread_mutex_init(&c->mutex, NULL);
		c->suite = s;
		c->owner = s->owner;
	}
	if (!c || __cxa_atexit(at_exit, c, &__dso_handle) != 0) {
		free(c);
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	s->exit_cell = c;
	return GALVO_OK;
}

void suite_exit_lock(struct galvo_suite *s)
{
	if (s->exit_cell)
		pthread_mutex_lock(&s->exit_cell->mutex);
}

void suite_exit_forget(struct galvo_suite *s)
{
	struct exit_cell *c = s->exit_cell;

	s->exit_cell = NULL;
	if (!c)
		return;
	c->suite = NULL;
	pthread_mutex_unlock(&c->mutex);
}
