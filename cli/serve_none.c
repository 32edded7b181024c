/* In place of the server, where galvo was built without the header of libmicrohttpd. */
#include "serve.h"

struct http *http_start(struct hub *h, struct gate *g)
{
	(void)h;
	(void)g;
	complain("this galvo was built without its server: libmicrohttpd-dev was missing");
	return NULL;
}

void http_add(struct http *s, int fd, const struct sockaddr *from, socklen_t from_len)
{
	(void)s;
	(void)fd;
	(void)from;
	(void)from_len;
}

bool http_sweep(struct http *s)
{
	(void)s;
	return false;
}

void http_stop(struct http *s)
{
	(void)s;
}
