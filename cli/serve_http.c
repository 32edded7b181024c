/* The server: a table of paths, headers that keep other pages out, and streams of events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"
#include "serve_mhd.h"

enum { CONNECTION_BYTES = 32 << 10, CONNECTION_S = 10, NEWS_S = 60, STREAM_BLOCK = 16 << 10, STACK_BYTES = 256 << 10,
       DETAIL_END_S = 1000000000, ADDRESS_BYTES = 2000, ARGUMENTS_MAX = 16 };

struct http {
	struct mhd mhd;
	struct MHD_Daemon *daemon;
	struct hub *hub;
	struct gate *gate;
	struct waits waits;
	atomic_int connections;
};

struct request {
	struct http *http;
	struct MHD_Connection *connection;
	char own[GATE_NAME_BYTES]; /* where it came to; "": the Unix socket */
	bool has_wished;
	struct wish wish;
	struct viewer *viewer;
};

/* ---- replies --------------------------------------------------------------------------------------------- */

#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"

static void add_headers(const struct mhd *m, struct MHD_Response *r, const char *type)
{
	static const char *const headers[][2] = {
		{"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "
		                            "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
		                            "form-action 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		m->MHD_add_response_header(r, headers[i][0], headers[i][1]);
	m->MHD_add_response_header(r, "Content-Type", type);
}

static enum MHD_Result send_reply(struct request *q, int status, struct MHD_Response *r, const char *type)
{
	const struct mhd *m = &q->http->mhd;
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	add_headers(m, r, type);
	if (status == 405)
		m->MHD_add_response_header(r, "Allow", "GET, HEAD");
	if (status == 503)
		m->MHD_add_response_header(r, "Retry-After", "5");
	done = m->MHD_queue_response(q->connection, (unsigned)status, r);
	m->MHD_destroy_response(r);
	return done;
}

/* MHD wants bytes that it may write to, and does not write. */
static struct MHD_Response *static_response(const struct mhd *m, const char *bytes, size_t len)
{
	union {
		const char *ours;
		void *its;
	} p = {.ours = bytes};

	return m->MHD_create_response_from_buffer(len, p.its, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result say(struct request *q, int status, const char *text)
{
	const struct mhd *m = &q->http->mhd;
	char line[300];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	return send_reply(q, status, m->MHD_create_response_from_buffer((size_t)n, line, MHD_RESPMEM_MUST_COPY), TEXT);
}

static ssize_t read_body(void *ctx, uint64_t at, char *to, size_t most)
{
	const struct body *b = ctx;
	size_t n;

	if (at >= b->len)
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = b->len - (size_t)at < most ? b->len - (size_t)at : most;
	memcpy(to, b->bytes + at, n);
	return (ssize_t)n;
}

static void end_body(void *ctx)
{
	body_drop(ctx);
}

static enum MHD_Result send_body(struct request *q, struct body *b)
{
	struct MHD_Response *r = q->http->mhd.MHD_create_response_from_callback(
		b->len, STREAM_BLOCK, read_body, body_keep(b), end_body);

	if (!r)
		body_drop(b);
	return send_reply(q, 200, r, "application/json");
}

/* ---- paths ------------------------------------------------------------------------------------------------- */

static const char *argument(struct request *q, const char *name)
{
	return q->http->mhd.MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(struct request *q, const char *name)
{
	return q->http->mhd.MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result send_part(struct request *q, int32_t part, const char *type)
{
	const char *bytes;
	size_t len;
	galvo_error error;

	if (galvo_page_part_at(part, &bytes, &len, &error) != GALVO_OK)
		return say(q, 404, error.text);
	return send_reply(q, 200, static_response(&q->http->mhd, bytes, len), type);
}

static enum MHD_Result send_html(struct request *q)
{
	return send_part(q, GALVO_PAGE_HTML, HTML);
}

/* A browser asks for a picture of the page, and complains where there is none. */
static enum MHD_Result send_nothing(struct request *q)
{
	return send_reply(q, 204, static_response(&q->http->mhd, "", 0), TEXT);
}

static enum MHD_Result send_script(struct request *q)
{
	return send_part(q, GALVO_PAGE_SCRIPT, "text/javascript; charset=utf-8");
}

static enum MHD_Result send_style(struct request *q)
{
	return send_part(q, GALVO_PAGE_STYLE, "text/css; charset=utf-8");
}

/* The first time it waits for what the feed makes, the second time that is there. */
static enum MHD_Result send_wish(struct request *q)
{
	if (!q->has_wished) {
		q->has_wished = true;
		q->wish.connection = q->connection;
		if (hub_wish(q->http->hub, &q->wish))
			return MHD_YES;
	}
	if (q->wish.body)
		return send_body(q, q->wish.body);
	return say(q, q->wish.status == 200 ? 503 : q->wish.status, "There is no answer now.");
}

static enum MHD_Result send_data(struct request *q)
{
	return send_wish(q);
}

static enum MHD_Result send_detail(struct request *q)
{
	if (!gate_number(argument(q, "from"), &q->wish.from_s) || !gate_number(argument(q, "end"), &q->wish.end_s) ||
	    q->wish.from_s >= q->wish.end_s || q->wish.end_s <= 0 || q->wish.end_s >= DETAIL_END_S)
		return say(q, 400, "Expected detail?from=SECONDS&end=SECONDS, the end behind the beginning "
		                   "and above 0, below 1e9.");
	q->wish.is_detail = true;
	return send_wish(q);
}

static ssize_t read_news(void *ctx, uint64_t at, char *to, size_t most)
{
	struct request *q = ctx;
	ssize_t n = hub_read(q->http->hub, q->viewer, to, most);

	(void)at;
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static bool take_sequence(const char *text, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; text[i] >= '0' && text[i] <= '9' && i < 18; i++)
		v = v * 10 + (uint64_t)(text[i] - '0');
	*ret = v;
	return i > 0 && !text[i];
}

/* What the browser has seen last counts more than what the page asked for at first. */
static enum MHD_Result send_news(struct request *q)
{
	const char *after = header(q, "Last-Event-ID");
	uint64_t sequence = UINT64_MAX;

	after = after ? after : argument(q, "after");
	if (after && !take_sequence(after, &sequence))
		return say(q, 400, "Expected news?after=SEQUENCE, a whole number.");
	q->viewer = hub_enter(q->http->hub, q->connection, sequence);
	if (!q->viewer)
		return say(q, 503, "There are too many viewers.");
	q->http->mhd.MHD_set_connection_option(q->connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)NEWS_S);
	return send_reply(q, 200, q->http->mhd.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
	                  read_news, q, NULL), "text/event-stream");
}

static const struct {
	const char *path;
	enum MHD_Result (*send)(struct request *);
} paths[] = {
	{"/", send_html},   {"/data", send_data},       {"/detail", send_detail},
	{"/news", send_news}, {"/page.css", send_style}, {"/page.js", send_script},
};

/* ---- requests ------------------------------------------------------------------------------------------------ */

struct cookie {
	const struct gate *gate;
	const char *name;
	bool is_good;
};

static enum MHD_Result look_at_cookie(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct cookie *c = ctx;

	(void)kind;
	if (name && value && strcmp(name, c->name) == 0 && gate_is_token(c->gate->token, value))
		c->is_good = true;
	return MHD_YES;
}

static bool has_token(struct request *q, const char *cookie_name)
{
	struct cookie c = {.gate = q->http->gate, .name = cookie_name};

	q->http->mhd.MHD_get_connection_values(q->connection, MHD_COOKIE_KIND, look_at_cookie, &c);
	return c.is_good;
}

/*
 * Out of the address, where it would stay in the history, and into a cookie. A browser that comes from a file
 * keeps cookies back from where it is sent on to, until a page of ours sends it.
 */
static enum MHD_Result send_cookie(struct request *q, const char *name, bool is_once)
{
	static const char go_on[] = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/%s/\">\n";
	const struct mhd *m = &q->http->mhd;
	const struct gate *g = q->http->gate;
	char text[128 + TOKEN_CHARS], location[TOKEN_CHARS + 3], page[sizeof(go_on) + TOKEN_CHARS];
	int n = snprintf(page, sizeof(page), go_on, g->place);
	struct MHD_Response *r =
		m->MHD_create_response_from_buffer(is_once ? (size_t)n : 0, page, MHD_RESPMEM_MUST_COPY);

	snprintf(text, sizeof(text), "%s=%s; HttpOnly; SameSite=Strict; Path=/%s/", name, g->token, g->place);
	snprintf(location, sizeof(location), "/%s/", g->place);
	if (r) {
		m->MHD_add_response_header(r, "Set-Cookie", text);
		if (!is_once)
			m->MHD_add_response_header(r, "Location", location);
	}
	return send_reply(q, is_once ? 200 : 302, r, is_once ? HTML : TEXT);
}

/* Asked with the token that the browser of this desktop has got. */
static bool is_once(struct request *q, const char *path)
{
	const char *token = argument(q, "token");

	return strcmp(path, "/") == 0 && token && gate_is_token(q->http->gate->once, token);
}

static enum MHD_Result answer(struct request *q, const char *path)
{
	struct gate *g = q->http->gate;
	const char *token = argument(q, "token");
	bool is_root = strcmp(path, "/") == 0;
	char name[32];
	size_t i;

	gate_cookie_name(header(q, "Host"), name);
	if (is_root && token && gate_is_token(g->token, token))
		return send_cookie(q, name, false);
	if (is_once(q, path)) {
		memset(g->once, 0, sizeof(g->once));
		return send_cookie(q, name, true);
	}
	if (strcmp(path, "/favicon.ico") == 0)
		return send_nothing(q);
	if (!has_token(q, name))
		return say(q, 401, "This page is for those who have its address, with the token in it: "
		                   "galvo serve has printed it.");
	path = gate_below(g, path);
	for (i = 0; path && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strcmp(paths[i].path, path) == 0)
			return paths[i].send(q);
	return say(q, 404, "There is no such page here.");
}

static struct wait *wait_of(const struct http *s, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		s->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* *con_cls is the request from its first call on, which is made before a body is read. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_len, void **con_cls)
{
	struct http *s = ctx;
	struct request *q = *con_cls;
	const union MHD_ConnectionInfo *info;
	struct gate_ask ask;
	const char *why;
	int status;

	(void)version;
	(void)upload;
	if (q)
		return *upload_len ? MHD_NO : answer(q, path);
	q = calloc(1, sizeof(*q));
	if (!q)
		return MHD_NO;
	*con_cls = q;
	q->http = s;
	q->connection = connection;
	waits_end(&s->waits, wait_of(s, connection));
	info = s->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	ask = (struct gate_ask){
		.method = method,
		.host = header(q, "Host"),
		.origin = header(q, "Origin"),
		.site = is_once(q, path) ? NULL : header(q, "Sec-Fetch-Site"), /* from a file of ours */
		.own = info && socket_own_name(info->connect_fd, q->own) ? q->own : NULL,
	};
	status = gate_judge(s->gate, &ask, &why);
	return status ? say(q, status, why) : MHD_YES;
}

/*
 * libmicrohttpd says nothing to an address with more arguments than it has room for. *con_cls begins as
 * what this returns.
 */
static void *on_address(void *ctx, const char *address, struct MHD_Connection *connection)
{
	static const char reply[] = "HTTP/1.1 414 URI Too Long\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	const struct http *s = ctx;
	const union MHD_ConnectionInfo *info;
	size_t arguments = 0;
	const char *p;

	for (p = address; *p; p++)
		arguments += *p == '&';
	if (p - address <= ADDRESS_BYTES && arguments <= ARGUMENTS_MAX)
		return NULL;
	info = s->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info && send(info->connect_fd, reply, sizeof(reply) - 1, MSG_NOSIGNAL) > 0)
		shutdown(info->connect_fd, SHUT_WR);
	return NULL;
}

static void on_end(void *ctx, struct MHD_Connection *connection, void **con_cls,
                   enum MHD_RequestTerminationCode why)
{
	struct request *q = *con_cls;
	struct http *s = ctx;

	(void)why;
	if (!q)
		return;
	waits_begin(&s->waits, wait_of(s, connection));
	if (q->viewer)
		hub_leave(q->http->hub, q->viewer);
	body_drop(q->wish.body);
	free(q);
	*con_cls = NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
	struct http *s = ctx;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		info = s->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		*context = info ? waits_add(&s->waits, info->connect_fd) : NULL;
	} else {
		atomic_fetch_sub(&s->connections, 1);
		waits_remove(&s->waits, *context);
	}
}

/* ---- life ----------------------------------------------------------------------------------------------------- */

static void suspend(void *server, void *connection)
{
	((struct http *)server)->mhd.MHD_suspend_connection(connection);
}

static void resume(void *server, void *connection)
{
	((struct http *)server)->mhd.MHD_resume_connection(connection);
}

struct http *http_start(struct hub *h, struct gate *g)
{
	struct http *s = calloc(1, sizeof(*s));

	if (!s || !mhd_load(&s->mhd) || !waits_init(&s->waits, CONNECTION_S * 1000)) {
		free(s);
		return NULL;
	}
	s->hub = h;
	s->gate = g;
	h->server = s;
	h->suspend = suspend;
	h->resume = resume;
	s->daemon = s->mhd.MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
		on_request, s, MHD_OPTION_NOTIFY_COMPLETED, on_end, s, MHD_OPTION_URI_LOG_CALLBACK, on_address, s,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)(2 * SERVE_CONNECTIONS_MAX),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_S,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_END);
	if (s->daemon)
		return s;
	complain("libmicrohttpd does not start: %s", strerror(errno));
	waits_finish(&s->waits);
	free(s);
	return NULL;
}

/*
 * We count, and never come near its limit: libmicrohttpd 0.9.75 hangs behind a connection that it refuses.
 * Where there is no room, one that has not asked for anything goes.
 */
void http_add(struct http *s, int fd, const struct sockaddr *from, socklen_t from_len)
{
	int before = atomic_fetch_add(&s->connections, 1);

	if (before >= SERVE_CONNECTIONS_MAX + SERVE_CONNECTIONS_MAX / 4 ||
	    (before >= SERVE_CONNECTIONS_MAX && !waits_drop_oldest(&s->waits))) {
		atomic_fetch_sub(&s->connections, 1);
		close(fd);
	} else if (s->mhd.MHD_add_connection(s->daemon, fd, from, from_len) != MHD_YES) { /* and has closed it */
		atomic_fetch_sub(&s->connections, 1);
	}
}

bool http_sweep(struct http *s)
{
	waits_sweep(&s->waits);
	return atomic_load(&s->connections) > 0;
}

void http_stop(struct http *s)
{
	if (!s)
		return;
	s->mhd.MHD_stop_daemon(s->daemon);
	waits_finish(&s->waits);
	free(s);
}
