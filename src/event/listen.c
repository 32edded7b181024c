/* The socket of a recorder: who may speak, and which end belongs to which begin. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"

enum {
	HEARD_MAX = 4096,     /* regions that are open at once */
	BURST_MESSAGES = 1000,  /* between two looks at whether to stop */
	WINDOW_MESSAGES = 5000, /* in a window of… */
};
static const uint64_t WINDOW_NS = 100 * NS_PER_MS;

/* A region that was begun from outside. */
struct heard {
	uint64_t token, id;
	char *name;
	size_t name_bytes;
};

struct galvo_listener {
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd, stop_fd;
	galvo_tracker *tracker;
	pthread_t thread;
	bool is_running, has_dir, has_socket;
	/* the thread's */
	struct heard *heard;
	size_t heard_len, heard_cap;
	uint64_t window_mono_ns, window_messages;
};

/* ---- open and close -------------------------------------------------------------------------------- */

static galvo_status make_socket(galvo_listener *l, galvo_error *reterr)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int on = 1;

	memcpy(at.sun_path, l->path, sizeof(at.sun_path));
	l->fd = fd_keep(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	l->stop_fd = fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (l->fd < 0 || l->stop_fd < 0 ||
	    setsockopt(l->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
	    bind(l->fd, (const struct sockaddr *)&at, sizeof(at)) != 0)
		return err_sys(reterr, errno, "%s", l->path);
	l->has_socket = true;
	return GALVO_OK;
}

galvo_status galvo_listener_open(const char *dir, galvo_listener **ret_listener,
                                 galvo_error *reterr)
{
	galvo_listener *l = alloc_array(1, sizeof(*l));
	galvo_status status;
	int n;

	if (!l)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	l->fd = l->stop_fd = -1;
	n = snprintf(l->dir, sizeof(l->dir), "%s/" LISTENER_PREFIX "XXXXXX", dir);
	if (dir[0] != '/' || n < 0 || (size_t)n + sizeof("/" LISTENER_SOCKET) > sizeof(l->path))
		status = err_set(reterr, GALVO_ERR_INVALID, "%s: expected a short absolute path", dir);
	else if (!mkdtemp(l->dir)) /* mode 0700 */
		status = err_sys(reterr, errno, "%s", dir);
	else {
		l->has_dir = true;
		memcpy(l->path, l->dir, (size_t)n);
		memcpy(l->path + n, "/" LISTENER_SOCKET, sizeof("/" LISTENER_SOCKET));
		status = make_socket(l, reterr);
	}
	if (status != GALVO_OK) {
		galvo_listener_close(l);
		return status;
	}
	listener_sweep(dir);
	*ret_listener = l;
	return GALVO_OK;
}

const char *galvo_listener_path(const galvo_listener *l)
{
	return l->path;
}

void galvo_listener_close(galvo_listener *l)
{
	size_t i;

	if (!l)
		return;
	galvo_listener_stop(l);
	if (l->fd >= 0)
		close(l->fd);
	if (l->stop_fd >= 0)
		close(l->stop_fd);
	if (l->has_socket)
		unlink(l->path);
	if (l->has_dir)
		rmdir(l->dir);
	for (i = 0; i < l->heard_len; i++)
		free(l->heard[i].name);
	free(l->heard);
	free(l);
}

/* ---- what is said ---------------------------------------------------------------------------------- */

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void begin(galvo_listener *l, const struct said *s, uint32_t pid)
{
	struct heard *h;
	char *name = alloc_array(s->name.n, 1);

	if (!name || !grow_array((void **)&l->heard, &l->heard_cap, l->heard_len, sizeof(*h),
	                         HEARD_MAX)) {
		free(name);
		count(&l->tracker->ring->dropped);
		return;
	}
	if (s->name.n)
		memcpy(name, s->name.p, s->name.n);
	h = &l->heard[l->heard_len++];
	*h = (struct heard){s->token, tracker_begin(l->tracker, s->name, s->mono_ns, pid), name,
	                    s->name.n};
}

/* The innermost of that name and token. */
static void end(galvo_listener *l, const struct said *s)
{
	size_t i = l->heard_len;

	while (i > 0 && !(l->heard[i - 1].token == s->token &&
	                  span_eq(span_of(l->heard[i - 1].name, l->heard[i - 1].name_bytes),
	                          s->name)))
		i--;
	if (i == 0) {
		count(&l->tracker->ring->unmatched);
		return;
	}
	tracker_end(l->tracker, l->heard[i - 1].id, s->mono_ns);
	free(l->heard[i - 1].name);
	memmove(&l->heard[i - 1], &l->heard[i], (l->heard_len - i) * sizeof(*l->heard));
	l->heard_len--;
}

static bool is_too_many(galvo_listener *l, uint64_t now_mono_ns)
{
	if (now_mono_ns - l->window_mono_ns > WINDOW_NS) {
		l->window_mono_ns = now_mono_ns;
		l->window_messages = 0;
	}
	return l->window_messages++ >= WINDOW_MESSAGES;
}

/* Whose it is, as the kernel has it; false: it does not say. */
static bool take_sender(struct msghdr *m, struct ucred *ret)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return false;
	memcpy(ret, CMSG_DATA(c), sizeof(*ret));
	return ret->uid == geteuid() || ret->uid == 0;
}

static void hear(galvo_listener *l, struct span datagram, struct msghdr *m)
{
	const struct clock *clock = l->tracker->clock;
	uint64_t now_mono_ns = clock->mono_ns(clock);
	struct ring *ring = l->tracker->ring;
	struct ucred sender;
	struct said said;

	if (m->msg_flags & MSG_TRUNC || is_too_many(l, now_mono_ns) || !take_sender(m, &sender) ||
	    !said_parse(datagram, &said)) {
		count(&ring->refused);
		return;
	}
	if (said.mono_ns > now_mono_ns || said.mono_ns < atomic_load(&l->tracker->gate->start_mono_ns))
		said.mono_ns = now_mono_ns;
	if (said.what == GALVO_SAY_BEGIN)
		begin(l, &said, (uint32_t)sender.pid);
	else if (said.what == GALVO_SAY_END)
		end(l, &said);
	else
		tracker_mark(l->tracker, said.name, said.mono_ns, (uint32_t)sender.pid);
}

/* What has arrived, in bounds. */
static void hear_all(galvo_listener *l)
{
	char bytes[SAID_BYTES_MAX + 1];
	size_t left;

	for (left = BURST_MESSAGES; left > 0; left--) {
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec to = {bytes, sizeof(bytes)};
		struct msghdr m = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = control,
		                   .msg_controllen = sizeof(control)};
		ssize_t got = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return;
		hear(l, span_of(bytes, (size_t)got), &m);
	}
}

static void *run(void *arg)
{
	galvo_listener *l = arg;
	struct pollfd fds[] = {{.fd = l->fd, .events = POLLIN}, {.fd = l->stop_fd, .events = POLLIN}};

	pthread_setname_np(pthread_self(), "galvo-listen");
	while (!fds[1].revents) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			fds[1].revents = 0;
		hear_all(l);
	}
	return NULL;
}

galvo_status galvo_listener_start(galvo_listener *l, galvo_tracker *tracker, galvo_error *reterr)
{
	int failed;

	if (l->is_running || l->tracker || !tracker->ring || tracker->gpu)
		return err_set(reterr, GALVO_ERR_STATE, "listener: %s",
		               tracker->gpu ? "expected the tracker of the host"
		               : tracker->ring ? "started before" : "the tracker records nothing");
	l->tracker = tracker;
	failed = thread_start(&l->thread, run, l);
	if (failed)
		return err_sys(reterr, failed, "cannot start a thread");
	l->is_running = true;
	return GALVO_OK;
}

void galvo_listener_stop(galvo_listener *l)
{
	uint64_t one = 1;
	ssize_t put;

	if (!l->is_running)
		return;
	put = write(l->stop_fd, &one, sizeof(one));
	(void)put;
	pthread_join(l->thread, NULL);
	l->is_running = false;
}
