/* Reads the run that is served, on one thread for all viewers: news as they come, all of it on request. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

enum {
	PAUSE_MS = 100,      /* between polls: what several streams write comes together */
	POLL_MS = 1000,      /* where the kernel tells of changes; a file system of others may not */
	POLL_BLIND_MS = 250,
	POLL_IDLE_MS = 5000, /* while nobody looks */
	LINGER_S = 15,       /* that long after the last viewer somebody looks */
	FORGET_S = 60,       /* then a growing run is not kept in memory any more */
	OVERVIEW_S = 2,      /* one is shared for that long */
	OVERVIEW_COST = 10,  /* and for so many times what it took */
	POINTS_PER_S = 125,  /* of a curve in news: all of what has 100 Hz */
	POINTS_LEAST = 8,
	TURN_MS = 200,       /* of those who wait, then it is the turn of news */
};

struct feed {
	const char *dir;
	struct hub *hub;
	struct look look;
	pthread_t thread;
	galvo_follower *follower; /* NULL: there is no such directory yet */
	uint64_t zero_mono_ns;    /* where times begin; 0: not known yet */
	uint64_t start_mono_ns;   /* of the recording, as its metadata say; 0: they do not */
	galvo_page_memory *shown;
	bool is_over;             /* the recorder has ended it */
	bool is_awaited;          /* a client was told that there is nothing yet */
	char trouble[512];        /* why it cannot be read; "": it can */
	char complained[512];     /* what of it was on stderr last */
	galvo_run *run;           /* the past, up to `sequence` */
	galvo_summary *summary;
	struct body *overview;    /* of it; NULL: not made yet */
	uint64_t sequence;
	bool was_over;            /* when the overview was made */
	uint64_t made_ns, cost_ns;
	uint64_t ping_ns;
};

/* ---- the past ------------------------------------------------------------------------------------------ */

static void forget(struct feed *f)
{
	galvo_summary_destroy(f->summary);
	galvo_run_close(f->run);
	body_drop(f->overview);
	f->summary = NULL;
	f->run = NULL;
	f->overview = NULL;
}

/* 0: there is no row. They are in order of time. */
static uint64_t first_row_of(const galvo_run *run)
{
	galvo_run_table t = {.struct_size = sizeof(t)};
	uint64_t first = 0;
	size_t i;

	for (i = 0; galvo_run_table_at(run, i, &t, NULL) == GALVO_OK; i++)
		if (t.rows_len && (!first || t.mono_ns[0] < first))
			first = t.mono_ns[0];
	return first;
}

static uint64_t start_of(const galvo_run *run)
{
	galvo_run_info info = {.struct_size = sizeof(info)};

	return galvo_run_get_info(run, &info, NULL) == GALVO_OK ? info.start_mono_ns : 0;
}

/*
 * Whether the past that is in memory will do: it is up to date, or young, or was dear; and all news behind
 * it are there.
 */
static bool is_good(const struct feed *f)
{
	uint64_t age = serve_now_ns() - f->made_ns;

	if (!f->run || f->was_over != f->is_over)
		return false;
	if (f->sequence == hub_newest(f->hub))
		return true;
	return hub_reaches(f->hub, f->sequence) &&
	       (age < OVERVIEW_S * NS_PER_S || age < OVERVIEW_COST * f->cost_ns);
}

/* Exactly what polls have taken: the news behind it have nothing that it has, and lack nothing. */
static galvo_status need_past(struct feed *f, galvo_error *reterr)
{
	uint64_t began_ns = serve_now_ns();
	galvo_run *run;
	galvo_status status;

	if (is_good(f))
		return GALVO_OK;
	if (!f->follower) {
		*reterr = (galvo_error){.status = GALVO_ERR_ABSENT};
		return GALVO_ERR_ABSENT;
	}
	status = galvo_follower_past(f->follower, &run, reterr);
	if (status != GALVO_OK)
		return status;
	forget(f);
	f->run = run;
	f->sequence = hub_newest(f->hub);
	f->was_over = f->is_over;
	if (!f->start_mono_ns)
		f->start_mono_ns = start_of(run);
	if (!f->zero_mono_ns)
		f->zero_mono_ns = f->start_mono_ns ? f->start_mono_ns : first_row_of(run);
	if (!f->zero_mono_ns) { /* neither metadata nor a row */
		forget(f);
		*reterr = (galvo_error){.status = GALVO_ERR_ABSENT};
		return GALVO_ERR_ABSENT;
	}
	status = galvo_summary_create(run, &f->summary, reterr);
	f->made_ns = serve_now_ns();
	f->cost_ns = f->made_ns - began_ns;
	if (status != GALVO_OK)
		forget(f);
	return status;
}

/* ---- documents ------------------------------------------------------------------------------------------ */

static struct body *document(const struct feed *f, const galvo_run *run,
                             galvo_page_data_options *options, galvo_error *reterr)
{
	struct body *b = body_create();
	galvo_status status = GALVO_ERR_NOMEM;

	options->struct_size = sizeof(*options);
	options->zero_mono_ns = f->zero_mono_ns;
	options->is_live = !f->is_over;
	options->memory = f->shown;
	if (b)
		status = galvo_page_data(run, options, body_write, b, reterr);
	if (status == GALVO_OK && !b->failed)
		return b;
	body_drop(b);
	return NULL;
}

/* A page that has nothing to show yet says what it waits for. */
static struct body *waiting(const struct feed *f, const char *why)
{
	struct body *b = body_create();

	if (!b)
		return NULL;
	body_print(b, "{\"format\":1,\"kind\":\"overview\",\"generator\":\"galvo %s\",\"title\":",
	           galvo_version());
	body_put_text(b, f->dir);
	body_print(b, ",\"live\":true,\"sequence\":\"%llu\",\"resolution\":\"\",\"waiting\":",
	           (unsigned long long)hub_newest(f->hub));
	body_put_text(b, why);
	body_print(b, ",\"runs\":[],\"blocks\":{}}\n");
	return b;
}

static void give_overview(struct feed *f, struct wish *w)
{
	galvo_page_data_options options = {.kind = GALVO_PAGE_OVERVIEW};
	galvo_error error = {0};
	galvo_status status = need_past(f, &error);
	uint64_t began_ns = serve_now_ns();
	char why[600];

	if (status == GALVO_OK && !f->is_over && !first_row_of(f->run)) {
		snprintf(why, sizeof(why), "%s: the recording has begun, nothing is written yet", f->dir);
		f->is_awaited = true;
		hub_grant(f->hub, w, 200, waiting(f, why));
		return;
	}
	if (status == GALVO_OK && !f->overview) {
		options.sequence = f->sequence;
		options.summary = f->summary;
		f->overview = document(f, f->run, &options, &error);
		f->cost_ns += serve_now_ns() - began_ns;
	}
	if (status == GALVO_OK && f->overview) {
		hub_grant(f->hub, w, 200, body_keep(f->overview));
		return;
	}
	if (f->trouble[0])
		snprintf(why, sizeof(why), "%s", f->trouble);
	else if (status == GALVO_ERR_ABSENT || status == GALVO_ERR_STATE)
		snprintf(why, sizeof(why), "%s: nothing is recorded there yet", f->dir);
	else
		snprintf(why, sizeof(why), "%s", error.text[0] ? error.text : "out of memory");
	f->is_awaited = true;
	hub_grant(f->hub, w, 200, waiting(f, why));
}

static void give_detail(struct feed *f, struct wish *w)
{
	galvo_page_data_options options = {.kind = GALVO_PAGE_DETAIL, .from_s = w->from_s,
	                                   .end_s = w->end_s};
	galvo_error error = {0};
	struct body *b = NULL;

	if (need_past(f, &error) == GALVO_OK) {
		options.summary = f->summary;
		b = document(f, f->run, &options, &error);
	}
	hub_grant(f->hub, w, b ? 200 : 503, b);
}

/* ---- news ------------------------------------------------------------------------------------------------ */

static void tell(struct feed *f, const char *event, struct body *b)
{
	if (b && !b->failed)
		hub_tell(f->hub, event, b);
	else
		hub_skip(f->hub);
	body_drop(b);
}

static void tell_state(struct feed *f, const char *event)
{
	struct body *b = body_create();

	if (b)
		body_print(b, "{\"live\":%s}", f->is_over ? "false" : "true");
	tell(f, event, b);
}

/* The time that its rows span, of those of the table that spans most. */
static uint64_t span_of(const galvo_run *run)
{
	galvo_run_table t = {.struct_size = sizeof(t)};
	uint64_t span = 0, own;
	size_t i;

	for (i = 0; galvo_run_table_at(run, i, &t, NULL) == GALVO_OK; i++) {
		own = t.rows_len && t.mono_ns[t.rows_len - 1] > t.mono_ns[0]
		    ? t.mono_ns[t.rows_len - 1] - t.mono_ns[0] : 0;
		span = own > span ? own : span;
	}
	return span;
}

/* News are for viewers; while there are none, a number is used up, so that who comes is told to begin anew. */
static void tell_news(struct feed *f, const galvo_run *run)
{
	galvo_page_data_options options = {.kind = GALVO_PAGE_NEWS, .sequence = hub_newest(f->hub) + 1};
	galvo_error error = {0};

	if (!f->zero_mono_ns)
		f->zero_mono_ns = f->start_mono_ns;
	if (!hub_is_watched(f->hub, LINGER_S * NS_PER_S) || !f->zero_mono_ns) {
		hub_skip(f->hub);
		return;
	}
	options.buckets = (uint32_t)(span_of(run) / (NS_PER_S / POINTS_PER_S)) + POINTS_LEAST;
	tell(f, "news", document(f, run, &options, &error));
}

/* Its metadata and its streams are renewed one after the other. */
static bool is_another(struct feed *f, const galvo_run *run)
{
	uint64_t start = start_of(run), before = f->start_mono_ns;

	f->start_mono_ns = start ? start : before;
	return before && start && start != before;
}

static void take_news(struct feed *f, const galvo_follower_news *news)
{
	if (is_another(f, news->run) || news->has_restarted || (news->messages && f->is_awaited)) {
		forget(f);
		galvo_page_memory_destroy(f->shown);
		f->shown = NULL;
		galvo_page_memory_create(&f->shown, NULL); /* without it news are a little worse */
		f->zero_mono_ns = 0;
		f->is_over = f->is_awaited = false;
		tell_state(f, "restart");
	} else if (news->messages) {
		f->is_over = false;
		tell_news(f, news->run);
	}
}

/* What cannot be read, and why, for whoever waits; on stderr once. */
static void note_trouble(struct feed *f, galvo_status status, const galvo_error *error)
{
	const char *why = "";

	if (status != GALVO_OK && status != GALVO_DONE && status != GALVO_ERR_ABSENT)
		why = error->text[0] ? error->text : "out of memory";
	if (strcmp(f->trouble, why) == 0)
		return;
	snprintf(f->trouble, sizeof(f->trouble), "%s", why);
	if (why[0] && strcmp(f->complained, f->trouble) != 0) {
		memcpy(f->complained, f->trouble, sizeof(f->complained));
		complain("%s", f->trouble);
	}
	if (f->is_awaited)
		tell_state(f, "restart");
}

static void poll_run(struct feed *f)
{
	galvo_follower_news news = {.struct_size = sizeof(news)};
	galvo_error error = {0};
	galvo_status status = GALVO_OK;
	bool is_first = !f->follower;

	if (is_first)
		status = galvo_follower_open(f->dir, 1, &f->follower, &error);
	if (status != GALVO_OK) {
		note_trouble(f, status, &error);
		return;
	}
	do {
		status = galvo_follower_poll(f->follower, &news, &error);
		if (status == GALVO_OK)
			take_news(f, &news);
	} while (status == GALVO_OK && news.has_more);
	note_trouble(f, status, &error);
	if (is_first && f->is_awaited) {
		f->is_awaited = false;
		tell_state(f, "restart");
	}
	if (status == GALVO_DONE && !f->is_over) {
		f->is_over = true;
		tell_state(f, "end");
	}
}

/* ---- the thread ------------------------------------------------------------------------------------------- */

static int pause_ms(const struct feed *f)
{
	if (!hub_is_watched(f->hub, LINGER_S * NS_PER_S))
		return POLL_IDLE_MS;
	return f->look.watch >= 0 ? POLL_MS : POLL_BLIND_MS;
}

static bool is_closing(struct hub *h)
{
	bool is;

	pthread_mutex_lock(&h->mutex);
	is = h->is_closing;
	pthread_mutex_unlock(&h->mutex);
	return is;
}

/* Whoever asks again and again waits for news like all others: the rest comes after the next poll. */
static void grant_wishes(struct feed *f)
{
	uint64_t began_ns = serve_now_ns();
	struct wish *w;

	while ((w = hub_take_wish(f->hub))) {
		if (w->is_detail)
			give_detail(f, w);
		else
			give_overview(f, w);
		if (serve_now_ns() - began_ns >= TURN_MS * NS_PER_MS && !is_closing(f->hub)) {
			hub_wake(f->hub);
			return;
		}
	}
}

static void *run(void *arg)
{
	struct feed *f = arg;
	struct look none = {.fd = -1, .watch = -1, .dir = f->dir};

	while (!is_closing(f->hub)) {
		uint64_t now = serve_now_ns();

		poll_run(f);
		grant_wishes(f);
		if (now - f->ping_ns >= SERVE_PING_S * NS_PER_S) {
			f->ping_ns = now;
			hub_ping(f->hub);
		}
		if (!f->is_over && !hub_is_watched(f->hub, FORGET_S * NS_PER_S))
			forget(f);
		/* A busy recorder is not polled all the time, but whoever waits is served at once. */
		if (!look_wait(hub_is_watched(f->hub, LINGER_S * NS_PER_S) ? &f->look : &none,
		               f->hub->wake_fd, pause_ms(f)))
			look_wait(&none, f->hub->wake_fd, PAUSE_MS);
	}
	grant_wishes(f);
	return NULL;
}

struct feed *feed_start(const char *dir, struct hub *h)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dir = dir;
	f->hub = h;
	f->ping_ns = serve_now_ns();
	look_init(&f->look, dir);
	galvo_page_memory_create(&f->shown, NULL);
	errno = pthread_create(&f->thread, NULL, run, f);
	if (!errno)
		return f;
	look_finish(&f->look);
	free(f);
	return NULL;
}

void feed_stop(struct feed *f)
{
	if (!f)
		return;
	pthread_join(f->thread, NULL);
	forget(f);
	galvo_follower_close(f->follower);
	galvo_page_memory_destroy(f->shown);
	look_finish(&f->look);
	free(f);
}
