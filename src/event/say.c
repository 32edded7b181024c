/* One message from outside: "GLVE", version, what, length of the name, time, token, name. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"

enum { SAID_VERSION = 1, SAID_HEAD_BYTES = SAID_BYTES_MAX - EVENT_NAME_MAX, PATIENCE_TRIES = 50 };
static const char magic[] = {'G', 'L', 'V', 'E'};

/* Numbers are little-endian, as on most machines, and on any. */
static void put_number(char *to, uint64_t v, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		to[i] = (char)(unsigned char)(v >> 8 * i & 0xff);
}

static uint64_t take_number(const char *from, size_t bytes)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < bytes; i++)
		v |= (uint64_t)(unsigned char)from[i] << 8 * i;
	return v;
}

size_t said_put(char *to, const struct said *s)
{
	memcpy(to, magic, sizeof(magic));
	put_number(to + 4, SAID_VERSION, 1);
	put_number(to + 5, (uint64_t)s->what, 1);
	put_number(to + 6, s->name.n, 2);
	put_number(to + 8, s->mono_ns, 8);
	put_number(to + 16, s->token, 8);
	if (s->name.n)
		memcpy(to + SAID_HEAD_BYTES, s->name.p, s->name.n);
	return SAID_HEAD_BYTES + s->name.n;
}

bool said_parse(struct span d, struct said *ret)
{
	uint64_t what, name_bytes;

	if (d.n < SAID_HEAD_BYTES || memcmp(d.p, magic, sizeof(magic)) != 0 ||
	    take_number(d.p + 4, 1) != SAID_VERSION)
		return false;
	what = take_number(d.p + 5, 1);
	name_bytes = take_number(d.p + 6, 2);
	if (what < GALVO_SAY_MARK || what > GALVO_SAY_END || name_bytes > EVENT_NAME_MAX ||
	    d.n != SAID_HEAD_BYTES + name_bytes)
		return false;
	*ret = (struct said){
		.what = (galvo_saying)what, .mono_ns = take_number(d.p + 8, 8),
		.token = take_number(d.p + 16, 8),
		.name = span_of(d.p + SAID_HEAD_BYTES, (size_t)name_bytes),
	};
	return true;
}

/* ---- saying it ------------------------------------------------------------------------------------- */

/* What root says is for whom it serves; anybody else speaks to a recorder of their own or root's. */
static galvo_status check_owner(const char *path, galvo_error *reterr)
{
	struct stat facts;

	if (lstat(path, &facts) != 0)
		return err_sys(reterr, errno, "no recorder at %s", path);
	if (!S_ISSOCK(facts.st_mode))
		return err_set(reterr, GALVO_ERR_ABSENT, "no recorder at %s: not a socket", path);
	if (facts.st_uid != geteuid() && facts.st_uid != 0 && geteuid() != 0)
		return err_set(reterr, GALVO_ERR_DENIED, "the recorder at %s is another user's", path);
	return GALVO_OK;
}

/* A full queue is the recorder's business for a moment, then ours: the caller is not to wait. */
static int send_patiently(int fd, const char *bytes, size_t n, const struct sockaddr_un *to)
{
	const struct timespec moment = {0, NS_PER_MS};
	size_t tries;
	ssize_t put;

	for (tries = 0; tries < PATIENCE_TRIES; tries++) {
		put = sendto(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL,
		             (const struct sockaddr *)to, sizeof(*to));
		if (put == (ssize_t)n)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return errno;
		nanosleep(&moment, NULL);
	}
	return EAGAIN;
}

galvo_status galvo_say(const char *socket_path, galvo_saying what, uint64_t token,
                       const char *name, size_t name_len, galvo_error *reterr)
{
	struct said said = {what, clock_real.mono_ns(&clock_real), token, span_of(name, name_len)};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char bytes[SAID_BYTES_MAX];
	galvo_status status;
	int fd, failed;

	if (what < GALVO_SAY_MARK || what > GALVO_SAY_END)
		return err_set(reterr, GALVO_ERR_INVALID, "%d is no galvo_saying", (int)what);
	if (name_len > EVENT_NAME_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "a name has at most %d bytes",
		               EVENT_NAME_MAX);
	if (strlen(socket_path) >= sizeof(to.sun_path))
		return err_set(reterr, GALVO_ERR_ABSENT, "no recorder at %s: too long a path",
		               socket_path);
	memcpy(to.sun_path, socket_path, strlen(socket_path));
	status = check_owner(socket_path, reterr);
	if (status != GALVO_OK)
		return status;
	fd = fd_keep(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	if (fd < 0)
		return err_sys(reterr, errno, "socket");
	failed = send_patiently(fd, bytes, said_put(bytes, &said), &to);
	close(fd);
	if (failed == ECONNREFUSED)
		return err_set(reterr, GALVO_ERR_STATE, "the recorder at %s is gone", socket_path);
	if (failed == EAGAIN)
		return err_set(reterr, GALVO_ERR_STATE, "the recorder at %s cannot keep up",
		               socket_path);
	return failed ? err_sys(reterr, failed, "no recorder at %s", socket_path) : GALVO_OK;
}
