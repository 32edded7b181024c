/* What galvo serve tells its viewers, whom it lets in, and what becomes of text: without a server. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve.h"
#include "tap.h"

/* A connection, as the server would have it. */
struct line {
	struct viewer *viewer;
	bool is_suspended;
	int resumed;
	char got[4096];
	size_t len;
};

static void suspend(void *server, void *connection)
{
	(void)server;
	((struct line *)connection)->is_suspended = true;
}

static void resume(void *server, void *connection)
{
	struct line *l = connection;

	(void)server;
	l->is_suspended = false;
	l->resumed++;
}

static void begin(struct hub *h)
{
	OK(hub_init(h));
	h->suspend = suspend;
	h->resume = resume;
}

static uint64_t tell(struct hub *h, const char *text)
{
	struct body *b = body_create();
	uint64_t sequence;

	body_write(b, text, strlen(text));
	sequence = hub_tell(h, "news", b);
	body_drop(b);
	return sequence;
}

/* Reads all that there is, in pieces. */
static const char *hear(struct hub *h, struct line *l, size_t piece)
{
	ssize_t n = 1;

	l->len = 0;
	while (!l->is_suspended && n > 0) {
		n = hub_read(h, l->viewer, l->got + l->len, piece);
		l->len += n > 0 ? (size_t)n : 0;
	}
	l->got[l->len] = '\0';
	return l->got;
}

static void in_order(void)
{
	struct line a = {0}, b = {0};
	struct hub h;
	uint64_t first;

	begin(&h);
	a.viewer = hub_enter(&h, &a, UINT64_MAX);
	OK(strstr(hear(&h, &a, 7), "retry: ") && a.is_suspended);
	first = tell(&h, "{\"x\":\n1}");
	OK(!a.is_suspended && a.resumed == 1);
	tell(&h, "two");
	hear(&h, &a, 7);
	EQ(strcmp(a.got, "id: 2\nevent: news\ndata: {\"x\": 1}\n\nid: 3\nevent: news\ndata: two\n\n"), 0);
	b.viewer = hub_enter(&h, &b, first);
	hear(&h, &b, 4096);
	OK(!strstr(b.got, "id: 2") && strstr(b.got, "data: two"));
	hub_ping(&h);
	EQ(strcmp(hear(&h, &a, 3), ": ping\n\n"), 0);
	EQ(hub_newest(&h), first + 1);
	OK(hub_reaches(&h, first) && hub_reaches(&h, first + 1) && !hub_reaches(&h, first + 2));
	hub_close(&h);
	EQ(hub_read(&h, a.viewer, a.got, 1), -1);
	OK(!b.is_suspended && !hub_enter(&h, &b, 0));
	hub_leave(&h, a.viewer);
	hub_leave(&h, b.viewer);
	EQ(h.viewers_len, 0);
	hub_finish(&h);
}

/* A viewer that takes nothing costs the one event it is at, and hears of a gap. */
static void slow(void)
{
	struct line l = {0};
	struct hub h;
	uint64_t last = 0;
	int i;

	begin(&h);
	l.viewer = hub_enter(&h, &l, UINT64_MAX);
	hear(&h, &l, 4096);
	tell(&h, "first");
	EQ(hub_read(&h, l.viewer, l.got, 5), 5); /* and then nothing */
	for (i = 0; i < 10 * SERVE_EVENTS_MAX; i++)
		last = tell(&h, "more");
	EQ(h.next - h.first, SERVE_EVENTS_MAX);
	OK(h.event_bytes < SERVE_EVENTS_MAX * 64);
	hear(&h, &l, 4096);
	EQ(strcmp(l.got, "\nevent: news\ndata: first\n\nevent: gap\ndata: {}\n\n"), 0);
	EQ(tell(&h, "on"), last + 1);
	OK(strstr(hear(&h, &l, 4096), "data: on"));
	hub_leave(&h, l.viewer);
	hub_finish(&h);
}

static void bounded_bytes(void)
{
	struct line l = {0};
	struct hub h;
	uint64_t first;

	begin(&h);
	h.event_bytes_max = 100;
	first = tell(&h, "0123456789");
	tell(&h, "0123456789");
	OK(hub_reaches(&h, first - 1));
	tell(&h, "0123456789");
	OK(!hub_reaches(&h, first - 1) && hub_reaches(&h, first) && h.event_bytes <= 100);
	tell(&h, "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789");
	EQ(h.event_bytes, 0); /* too much for anybody: all have to load anew */
	OK(hub_reaches(&h, hub_newest(&h)) && !hub_reaches(&h, hub_newest(&h) - 1));
	l.viewer = hub_enter(&h, &l, first);
	OK(strstr(hear(&h, &l, 4096), "event: gap"));
	hub_leave(&h, l.viewer);
	first = hub_newest(&h);
	hub_skip(&h);
	OK(hub_newest(&h) == first + 1 && !hub_reaches(&h, first));
	hub_finish(&h);
}

static void wishes(void)
{
	struct line l = {0};
	struct wish w[3] = {{.connection = &l}, {.connection = &l}, {.connection = &l}};
	struct body *b;
	struct hub h;

	begin(&h);
	OK(!hub_take_wish(&h) && !hub_is_watched(&h, 1000000000));
	OK(hub_wish(&h, &w[0]) && hub_wish(&h, &w[1]));
	OK(l.is_suspended && hub_is_watched(&h, 1000000000));
	OK(hub_take_wish(&h) == &w[0]);
	b = body_create();
	hub_grant(&h, &w[0], 200, b);
	OK(w[0].status == 200 && w[0].body == b && !l.is_suspended);
	hub_close(&h);
	OK(w[1].status == 503 && !w[1].body && !hub_take_wish(&h));
	OK(!hub_wish(&h, &w[2]) && w[2].status == 503 && !l.is_suspended);
	body_drop(b);
	hub_finish(&h);
}

/* ---- connections that say nothing -------------------------------------------------------------------- */

static bool is_over(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

static void waiting(void)
{
	struct waits late, room;
	struct wait *w[4];
	int pairs[4][2], i;

	OK(waits_init(&late, 0) && waits_init(&room, 1000000));
	for (i = 0; i < 4; i++) {
		EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]), 0);
		w[i] = waits_add(i < 1 ? &late : &room, pairs[i][0]);
		OK(w[i]);
	}
	waits_sweep(&room);
	OK(!is_over(pairs[1][1]));
	waits_sweep(&late);
	OK(is_over(pairs[0][1])); /* its time was over */
	waits_end(&room, w[1]);   /* this one has asked */
	OK(waits_drop_oldest(&room) && !is_over(pairs[1][1]) && is_over(pairs[2][1]) && !is_over(pairs[3][1]));
	waits_begin(&room, w[1]);
	OK(waits_drop_oldest(&room) && is_over(pairs[3][1]) && !is_over(pairs[1][1]));
	OK(waits_drop_oldest(&room) && is_over(pairs[1][1]) && !waits_drop_oldest(&room));
	waits_begin(&room, NULL);
	for (i = 0; i < 4; i++) {
		waits_remove(i < 1 ? &late : &room, w[i]);
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
	waits_finish(&late);
	waits_finish(&room);
}

/* ---- the gate --------------------------------------------------------------------------------------- */

static void who_may_ask(void)
{
	static const struct {
		struct gate_ask ask;
		int status;
	} rows[] = {
		{{"GET", "h:1", NULL, NULL, "h:1"}, 0},
		{{"HEAD", "h:1", "http://h:1", "same-origin", "h:1"}, 0},
		{{"GET", "name:1", "http://name:1", "none", "h:1"}, 0},
		{{"GET", "NAME:1", "http://name:1", NULL, "h:1"}, 0},
		{{"GET", "H", NULL, NULL, "h:80"}, 0},
		{{"GET", "LocalHost:8", NULL, NULL, NULL}, 0},
		{{"GET", NULL, NULL, NULL, "h:1"}, 421},
		{{"GET", "", NULL, NULL, "h:1"}, 421},
		{{"GET", "h:2", NULL, NULL, "h:1"}, 421},
		{{"GET", "h", NULL, NULL, "h:1"}, 421},
		{{"GET", "h", "http://h", NULL, "h:80"}, 0},
		{{"GET", "h:8", NULL, NULL, "h:80"}, 421},
		{{"GET", "h:1", "http://name:1", NULL, "h:1"}, 403},
		{{"GET", "h:1", "http://h:11", NULL, "h:1"}, 403},
		{{"GET", "h:1", "", NULL, "h:1"}, 403},
		{{"GET", "h:1", "http://", NULL, "h:1"}, 403},
		{{"GET", "h:1", NULL, "", "h:1"}, 403},
		{{"GET", "h:1", NULL, "same-site", "h:1"}, 403},
		{{"get", "h:1", NULL, NULL, "h:1"}, 405},
		{{"POST", "h:1", NULL, NULL, "h:1"}, 405},
		{{"POST", "evil:1", NULL, NULL, "h:1"}, 421},
		{{"GET", "localhost:65535", NULL, NULL, NULL}, 0},
		{{"GET", "localhost:655350", NULL, NULL, NULL}, 421},
		{{"GET", "localhost:8x", NULL, NULL, NULL}, 421},
		{{"GET", "localhost.", NULL, NULL, NULL}, 421},
		{{"GET", "name:1", NULL, NULL, NULL}, 421},
	};
	const struct gate g = {.names = {"name:1"}, .names_len = 1};
	const char *why = NULL;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!EQ(gate_judge(&g, &rows[i].ask, &why), rows[i].status))
			printf("# in row %zu\n", i);
}

static void tokens(void)
{
	char a[TOKEN_CHARS + 1] = "", b[TOKEN_CHARS + 1] = "", name[32];

	OK(!gate_is_token(a, "")); /* none was drawn: none fits */
	OK(!gate_is_token(a, "00000000000000000000000000000000"));
	OK(gate_draw_token(a) && gate_draw_token(b) && strcmp(a, b) != 0 && strlen(a) == TOKEN_CHARS);
	OK(gate_is_token(a, a) && !gate_is_token(a, b) && !gate_is_token(a, "") && !gate_is_token(a, a + 1));
	gate_cookie_name("[::1]:8425", name);
	EQ(strcmp(name, "galvo-8425"), 0);
	gate_cookie_name("[::1]", name);
	EQ(strcmp(name, "galvo-80"), 0);
	gate_cookie_name("x:1;y=2", name);
	EQ(strcmp(name, "galvo-80"), 0);
	gate_cookie_name(NULL, name);
	EQ(strcmp(name, "galvo-80"), 0);
}

static void places(void)
{
	static const struct gate g = {.place = "0123"}, none;

	EQ(strcmp(gate_below(&g, "/0123/data"), "/data"), 0);
	EQ(strcmp(gate_below(&g, "/0123/"), "/"), 0);
	OK(!gate_below(&g, "/0123") && !gate_below(&g, "/") && !gate_below(&g, "0123/data"));
	OK(!gate_below(&g, "/01234/data") && !gate_below(&g, "/0124/data") && !gate_below(&g, "/data"));
	OK(!gate_below(&none, "//data"));
}

static void numbers(void)
{
	static const char *const bad[] = {"", "x", "1x", "nan", "inf", "-inf", "1e999", "0x10", " 1", "1 ", "--1", "1,5",
	                                  ".", "e", "1e", "11111111111111111111111111111111111111111"};
	double v = 0;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!OK(!gate_number(bad[i], &v)))
			printf("# '%s'\n", bad[i]);
	OK(!gate_number(NULL, &v));
	OK(gate_number("-1.5e2", &v) && v == -150);
	OK(gate_number("0", &v) && v == 0);
}

static void text_of_json(void)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{"plain", "\"plain\""},
		{"\"\\\n\t\x7f", "\"\\u0022\\u005c\\u000a\\u0009\\u007f\""},
		{"</script>", "\"\\u003c/script>\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xff\xc0\x80\xed\xa0\x80\xe2\x82", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct body *b = body_create();

		body_put_text(b, rows[i].text);
		if (!OK(b->len == strlen(rows[i].json) && !memcmp(b->bytes, rows[i].json, b->len)))
			printf("# row %zu: %.*s\n", i, (int)b->len, b->bytes);
		body_drop(b);
	}
}

static const struct tap_test tests[] = {
	{"events come in order, to each from where it is", in_order},
	{"a slow viewer hears of a gap", slow},
	{"what is kept is bounded", bounded_bytes},
	{"wishes", wishes},
	{"who asks for nothing has to go", waiting},
	{"who may ask", who_may_ask},
	{"tokens", tokens},
	{"places", places},
	{"numbers", numbers},
	{"text of JSON", text_of_json},
};
TAP_MAIN(tests)
