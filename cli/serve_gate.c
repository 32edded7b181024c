/* Who may ask a server on this machine: not another web page, not another name for it, nobody without the token. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "serve.h"

bool gate_draw_token(char token[static TOKEN_CHARS + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[TOKEN_CHARS / 2];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		errno = errno ? errno : EIO;
		return false;
	}
	for (i = 0; i < sizeof(random); i++) {
		token[2 * i] = digits[random[i] >> 4];
		token[2 * i + 1] = digits[random[i] & 15];
	}
	token[TOKEN_CHARS] = '\0';
	return true;
}

bool gate_is_token(const char *token, const char *text)
{
	volatile unsigned char differs = 0;
	size_t i, n = strlen(text);

	for (i = 0; i < TOKEN_CHARS; i++)
		differs |= (unsigned char)(token[i] ^ (i < n ? text[i] : 0));
	return !differs && n == TOKEN_CHARS && token[0];
}

const char *gate_below(const struct gate *g, const char *path)
{
	size_t n = strlen(g->place);

	return path[0] == '/' && n && strncmp(path + 1, g->place, n) == 0 && path[1 + n] == '/' ? path + 1 + n : NULL;
}

/* "localhost" and numbers of loopback, with or without a port: what a forwarded Unix socket is called. */
static bool is_loopback(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	size_t i, n, digits;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		n = strlen(names[i]);
		if (strncasecmp(host, names[i], n) != 0)
			continue;
		digits = host[n] == ':' ? strspn(host + n + 1, "0123456789") : 0;
		if (!host[n] || (digits > 0 && digits < 6 && !host[n + 1 + digits]))
			return true;
	}
	return false;
}

/* A browser leaves the port of HTTP away. */
static bool is_name(const char *name, const char *host)
{
	size_t n = strlen(name);

	if (strcasecmp(name, host) == 0)
		return true;
	return n > 3 && strcmp(name + n - 3, ":80") == 0 && strlen(host) == n - 3 &&
	       strncasecmp(name, host, n - 3) == 0;
}

static bool is_ours(const struct gate *g, const struct gate_ask *ask)
{
	size_t i;

	if (!ask->host)
		return false;
	if (!ask->own)
		return is_loopback(ask->host);
	if (is_name(ask->own, ask->host))
		return true;
	for (i = 0; i < g->names_len; i++)
		if (is_name(g->names[i], ask->host))
			return true;
	return false;
}

int gate_judge(const struct gate *g, const struct gate_ask *ask, const char **ret_why)
{
	static const char scheme[] = "http://";

	if (!is_ours(g, ask)) {
		*ret_why = "This server does not go by that name: open the address that galvo has printed.";
		return 421;
	}
	if (ask->origin && (strncmp(ask->origin, scheme, sizeof(scheme) - 1) != 0 ||
	                    strcasecmp(ask->origin + sizeof(scheme) - 1, ask->host) != 0)) {
		*ret_why = "Another page may not ask this server.";
		return 403;
	}
	if (ask->site && strcmp(ask->site, "same-origin") != 0 && strcmp(ask->site, "none") != 0) {
		*ret_why = "Another page may not lead here: open the address that galvo has printed.";
		return 403;
	}
	if (strcmp(ask->method, "GET") != 0 && strcmp(ask->method, "HEAD") != 0) {
		*ret_why = "This server can be read, and nothing else.";
		return 405;
	}
	return 0;
}

void gate_cookie_name(const char *host, char name[static 32])
{
	const char *port = host ? strrchr(host, ':') : NULL;
	size_t digits = port ? strspn(port + 1, "0123456789") : 0;

	if (!digits || digits > 5 || port[1 + digits])
		port = ":80";
	snprintf(name, 32, "galvo-%s", port + 1);
}

bool gate_number(const char *text, double *ret)
{
	char *end;

	if (!text || !text[0] || strlen(text) > 40 || text[strspn(text, "0123456789.eE+-")])
		return false;
	*ret = strtod(text, &end);
	return end != text && !*end && isfinite(*ret);
}
