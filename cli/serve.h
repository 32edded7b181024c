/*
 * galvo serve, in parts: who may ask (gate), what is told to all viewers (hub), what a run has to tell
 * (feed), and the server that hands it out (http). The recording is only read.
 *
 * Threads: main takes connections and signals, one of libmicrohttpd talks to clients and never waits,
 * one reads the run. They meet in the hub, under its mutex.
 */
#ifndef GALVO_CLI_SERVE_H
#define GALVO_CLI_SERVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "cli.h"

enum {
	SERVE_PORT = 8425,       /* unless somebody has it */
	SERVE_VIEWERS_MAX = 32,  /* of news */
	SERVE_CONNECTIONS_MAX = 64,
	SERVE_EVENTS_MAX = 256,  /* kept for viewers that are late */
	SERVE_PING_S = 15,
};
#define SERVE_EVENT_BYTES_MAX ((size_t)16 << 20)

uint64_t serve_now_ns(void); /* CLOCK_MONOTONIC */

/* ---- bytes that several replies share (serve_body.c) --------------------------------------------- */

struct body {
	char *bytes;
	size_t len, cap;
	bool failed; /* there was no memory for it */
	atomic_int holders;
};

struct body *body_create(void); /* NULL: no memory */
struct body *body_keep(struct body *b);
void body_drop(struct body *b); /* NULL is fine */
int body_write(void *body, const void *bytes, size_t n); /* a galvo_write_fn */
__attribute__((format(printf, 2, 3))) void body_print(struct body *b, const char *fmt, ...);
/* A string of JSON with its quotes, whatever the bytes are. */
void body_put_text(struct body *b, const char *text);

/* ---- who may ask (serve_gate.c) -------------------------------------------------------------------- */

enum { TOKEN_CHARS = 32, GATE_NAMES_MAX = 8, GATE_NAME_BYTES = 300 };

struct gate {
	char token[TOKEN_CHARS + 1];
	char once[TOKEN_CHARS + 1]; /* for the browser that is opened here; "": used */
	char place[TOKEN_CHARS + 1]; /* all paths are below it: cookies ignore ports, and do not leave it */
	char names[GATE_NAMES_MAX][GATE_NAME_BYTES]; /* "localhost:8425": hosts that are this server */
	size_t names_len;
};

/* What a client says; NULL: nothing. */
struct gate_ask {
	const char *method, *host, *origin, *site; /* site: Sec-Fetch-Site */
	const char *own;  /* "127.0.0.1:8425", where it has come to; NULL: to the Unix socket */
};

bool gate_draw_token(char token[static TOKEN_CHARS + 1]); /* false: errno */
bool gate_is_token(const char *token, const char *text); /* takes as long whatever the text is */
/* 0: come in; else the HTTP status, and why. The token is not looked at. */
int gate_judge(const struct gate *g, const struct gate_ask *ask, const char **ret_why);
/* The name of the cookie: cookies ignore ports, so that its name has it. */
void gate_cookie_name(const char *host, char name[static 32]);
/* What of a path is below the place of the page, "/data"; NULL: it is not there. */
const char *gate_below(const struct gate *g, const char *path);
/* A finite decimal number and nothing else. */
bool gate_number(const char *text, double *ret);

/* ---- what is told to all (serve_hub.c) -------------------------------------------------------------- */

struct viewer;
struct wish;

struct hub {
	pthread_mutex_t mutex;
	struct body *events[SERVE_EVENTS_MAX]; /* that of sequence s is at s % SERVE_EVENTS_MAX */
	uint64_t first, next;                  /* sequences: those from first up to next are there */
	size_t event_bytes, event_bytes_max;
	struct body *gap, *ping, *hello;
	uint64_t pings;
	struct viewer *viewers;
	size_t viewers_len;
	struct wish *wishes; /* that nobody has taken up yet */
	uint64_t watched_ns; /* when somebody last was there */
	bool is_closing;
	int wake_fd; /* for the feed: there is a wish, a viewer, or an end */
	void (*suspend)(void *server, void *connection);
	void (*resume)(void *server, void *connection);
	void *server;
};

bool hub_init(struct hub *h);
void hub_finish(struct hub *h);
/* Nobody is told anything any more: viewers and wishes end. */
void hub_close(struct hub *h);
/* The next event, "news" or another, with one line of JSON; its number. The body is copied. */
uint64_t hub_tell(struct hub *h, const char *event, const struct body *line);
/* Nobody has watched: what was new has a number, and whoever comes later loads data anew. */
void hub_skip(struct hub *h);
uint64_t hub_newest(struct hub *h);
bool hub_reaches(struct hub *h, uint64_t after); /* all behind it is still there */
bool hub_is_watched(struct hub *h, uint64_t within_ns);
void hub_ping(struct hub *h);

/* after UINT64_MAX: from now on. NULL: there are too many. */
struct viewer *hub_enter(struct hub *h, void *connection, uint64_t after);
void hub_leave(struct hub *h, struct viewer *v);
/* As much as there is; 0: nothing, and the connection is suspended; -1: the end. */
ssize_t hub_read(struct hub *h, struct viewer *v, char *to, size_t most);

/* What a client waits for, and only the feed can make. */
struct wish {
	struct wish *next;
	void *connection;
	bool is_detail;
	double from_s, end_s;
	struct body *body; /* NULL: there is none, and the status says why */
	int status;        /* of HTTP */
};

bool hub_wish(struct hub *h, struct wish *w); /* suspends its connection; false: this is the end */
struct wish *hub_take_wish(struct hub *h);
void hub_grant(struct hub *h, struct wish *w, int status, struct body *body); /* takes the body */
void hub_wake(struct hub *h);

/* ---- what the run tells (serve_feed.c, serve_look.c) ------------------------------------------------- */

/* Waits for changes in a directory, which may come, go and come again. */
struct look {
	const char *dir;
	int fd, watch; /* -1: none */
	uint64_t device, inode;
};

void look_init(struct look *l, const char *dir);
void look_finish(struct look *l);
/* Until something has changed, wake_fd is readable or the time is over. True: it was woken up. */
bool look_wait(struct look *l, int wake_fd, int timeout_ms);

struct feed;

struct feed *feed_start(const char *dir, struct hub *h); /* NULL: errno */
void feed_stop(struct feed *f); /* after hub_close; NULL is fine */

/* ---- connections that say nothing (serve_waits.c) ------------------------------------------------------ */

struct wait;

struct waits {
	pthread_mutex_t mutex;
	struct wait *ring;
	uint32_t head_ms; /* so long a request may take to come */
};

bool waits_init(struct waits *w, uint32_t head_ms);
void waits_finish(struct waits *w);
struct wait *waits_add(struct waits *w, int fd); /* NULL, there is no memory, is fine below */
void waits_begin(struct waits *w, struct wait *at); /* for a request, from now on */
void waits_end(struct waits *w, struct wait *at);   /* its head has come, however slowly */
void waits_remove(struct waits *w, struct wait *at); /* before its descriptor is closed */
void waits_sweep(struct waits *w);       /* hangs up on those that have had their time */
bool waits_drop_oldest(struct waits *w); /* hangs up on one, to make room; false: none waits */

/* ---- the server (serve_http.c, serve_listen.c, serve_mhd.c) -------------------------------------------- */

enum { SOCKETS_MAX = 9 };

struct sockets {
	int fd[SOCKETS_MAX];
	size_t len;
	char path[108]; /* of a Unix socket that is ours to remove */
	char url_host[GATE_NAME_BYTES]; /* "127.0.0.1:8425" for the URL */
};

/* "ADDR", "ADDR:PORT", "[ADDR]:PORT" or "unix:PATH"; NULL: loopback alone. port 0: a free one, and -1 the usual one or a
 * free one. Names that it may be called by go to the gate. False: stderr says why. */
bool sockets_open(struct sockets *s, const char *listen_at, int port, struct gate *g);
void sockets_close(struct sockets *s);
/* "127.0.0.1:80" of where a connection has come to; false: a Unix socket. */
bool socket_own_name(int fd, char name[static GATE_NAME_BYTES]);

struct http;

struct http *http_start(struct hub *h, struct gate *g); /* NULL: stderr says why */
void http_add(struct http *s, int fd, const struct sockaddr *from, socklen_t from_len);
bool http_sweep(struct http *s); /* now and then; false: there are no connections */
void http_stop(struct http *s); /* after hub_close; NULL is fine */

/* ---- this machine (serve_live.c) ------------------------------------------------------------------------ */

struct live {
	galvo_suite *suite;
	galvo_process processes[256];
	size_t processes_len;
	const char *keep_dir; /* NULL: it goes when we go */
	char dir[4096];
};

bool live_start(struct live *l); /* false: stderr says why */
int live_stop(struct live *l);   /* the exit status */

#endif
