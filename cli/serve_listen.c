/* Where the server listens: loopback, an address that was asked for, or a Unix socket. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve.h"

enum { BACKLOG = 64, TRIES = 8 };

static bool keep(struct sockets *s, int fd)
{
	if (s->len == SOCKETS_MAX) {
		close(fd);
		return false;
	}
	s->fd[s->len++] = fd;
	return true;
}

/* A listening socket, or -1: errno. */
static int listen_at(const struct sockaddr *at, socklen_t len)
{
	int one = 1, why, fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (at->sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (at->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, at, len) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

static uint16_t port_of(int fd)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = {.any = {0}};
	socklen_t len = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &len) != 0)
		return 0;
	return ntohs(at.any.ss_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}

bool socket_own_name(int fd, char name[static GATE_NAME_BYTES])
{
	struct sockaddr_storage at = {0};
	socklen_t len = sizeof(at);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 || at.ss_family == AF_UNIX ||
	    getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
	                NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return false;
	snprintf(name, GATE_NAME_BYTES, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return true;
}

static void add_name(struct gate *g, const char *host, uint16_t port)
{
	if (g->names_len < GATE_NAMES_MAX)
		snprintf(g->names[g->names_len++], GATE_NAME_BYTES, "%s:%u", host, port);
}

/* ---- loopback ------------------------------------------------------------------------------------------- */

static int listen_loopback4(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return listen_at((struct sockaddr *)&at, sizeof(at));
}

static int listen_loopback6(uint16_t port)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(port),
	                          .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	return listen_at((struct sockaddr *)&at, sizeof(at));
}

/* The same port of both; a machine without IPv6 has the one. False: errno. */
static bool open_both(struct sockets *s, uint16_t port)
{
	int fd = listen_loopback4(port), fd6, why;

	if (fd < 0)
		return false;
	fd6 = listen_loopback6(port_of(fd));
	why = errno;
	if (fd6 < 0 && why == EADDRINUSE) { /* somebody else would be asked by the same name */
		close(fd);
		errno = why;
		return false;
	}
	return keep(s, fd) && (fd6 < 0 || keep(s, fd6));
}

static bool open_loopback(struct sockets *s, int port, struct gate *g)
{
	uint16_t first = (uint16_t)(port < 0 ? SERVE_PORT : port), got;
	bool is_open = open_both(s, first);
	int i;

	for (i = 0; !is_open && port <= 0 && errno == EADDRINUSE && i < TRIES; i++)
		is_open = open_both(s, 0);
	if (!is_open) {
		complain("cannot listen at 127.0.0.1:%u: %s", first, strerror(errno));
		return false;
	}
	got = port_of(s->fd[0]);
	add_name(g, "127.0.0.1", got);
	add_name(g, "localhost", got);
	add_name(g, "[::1]", got);
	snprintf(s->url_host, sizeof(s->url_host), "127.0.0.1:%u", got);
	return true;
}

/* ---- as asked for ------------------------------------------------------------------------------------------ */

/* Left by a server that was killed: nobody answers there. */
static bool is_deserted(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is;
	struct stat st;

	if (fd < 0)
		return false;
	is = connect(fd, (const struct sockaddr *)at, sizeof(*at)) != 0 && errno == ECONNREFUSED;
	close(fd);
	return is && lstat(at->sun_path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static bool open_unix(struct sockets *s, const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	mode_t before;
	int fd;

	if (!path[0] || strlen(path) >= sizeof(at.sun_path)) {
		complain("--listen: expected unix:PATH with at most %zu bytes of path", sizeof(at.sun_path) - 1);
		return false;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	if (is_deserted(&at))
		unlink(path);
	before = umask(0177); /* nobody else may connect, not for a moment */
	fd = listen_at((struct sockaddr *)&at, sizeof(at));
	umask(before);
	if (fd < 0) {
		complain("cannot listen at %s: %s", path, strerror(errno));
		return false;
	}
	memcpy(s->path, path, strlen(path) + 1);
	snprintf(s->url_host, sizeof(s->url_host), "localhost");
	return keep(s, fd);
}

/* What getaddrinfo(3) takes for a number it wraps, and blanks are fine with it. */
static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	double number;

	return digits > 0 && digits < 6 && !text[digits] && parse_number(text, &number) && number <= 65535;
}

/* "host:port" or "[host]:port" in two; without a port that is "". False: too long. */
static bool split(const char *text, char host[256], char port[8])
{
	bool is_bracketed = text[0] == '[';
	const char *end = is_bracketed ? strchr(text, ']') : strrchr(text, ':');
	const char *colon = is_bracketed ? (end && end[1] == ':' ? end + 1 : NULL) : end;

	if (is_bracketed && (!end || (end[1] && end[1] != ':')))
		return false;
	if (!is_bracketed && end && strchr(text, ':') != end)
		colon = end = NULL; /* a bare address of IPv6 */
	if (colon && !is_port(colon + 1))
		return false;
	text += is_bracketed;
	end = end ? end : text + strlen(text);
	if (end == text || end - text >= 256)
		return false;
	snprintf(host, 256, "%.*s", (int)(end - text), text);
	snprintf(port, 8, "%s", colon ? colon + 1 : "");
	return true;
}

static bool open_address(struct sockets *s, const char *text, int port_wanted, struct gate *g)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *all, *a;
	char host[256], port[8];
	int failed, fd, why = 0;

	if (!split(text, host, port)) {
		complain("--listen: expected ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH, a port up to 65535, got '%s'", text);
		return false;
	}
	if (port[0] && port_wanted >= 0) {
		complain("--listen %s has a port: expected no --port", text);
		return false;
	}
	if (!port[0])
		snprintf(port, sizeof(port), "%hu", (unsigned short)(port_wanted < 0 ? SERVE_PORT : port_wanted));
	failed = getaddrinfo(host, port, &hints, &all);
	if (failed) {
		complain("--listen %s: %s", text, gai_strerror(failed));
		return false;
	}
	for (a = all; a; a = a->ai_next) {
		fd = listen_at(a->ai_addr, a->ai_addrlen);
		if (fd < 0)
			why = errno;
		else if (!keep(s, fd))
			break;
	}
	freeaddrinfo(all);
	if (!s->len) {
		complain("cannot listen at %s: %s", text, strerror(why));
		return false;
	}
	add_name(g, host, port_of(s->fd[0]));
	snprintf(s->url_host, sizeof(s->url_host), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
	         port_of(s->fd[0]));
	return true;
}

bool sockets_open(struct sockets *s, const char *at, int port, struct gate *g)
{
	if (!at)
		return open_loopback(s, port, g);
	if (!strncmp(at, "unix:", 5))
		return open_unix(s, at + 5);
	return open_address(s, at, port, g);
}

void sockets_close(struct sockets *s)
{
	while (s->len)
		close(s->fd[--s->len]);
	if (s->path[0])
		unlink(s->path);
}
