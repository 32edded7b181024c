/* Waits for changes in the directory of a run: the kernel tells of them, and a clock where it does not. */
#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve.h"

void look_init(struct look *l, const char *dir)
{
	*l = (struct look){.dir = dir, .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .watch = -1};
}

void look_finish(struct look *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = l->watch = -1;
}

/* Watches the directory that has the name now; another one may have come. */
static void attend(struct look *l)
{
	struct stat st;

	if (l->fd < 0)
		return;
	if (stat(l->dir, &st) != 0)
		st = (struct stat){0};
	if (l->watch >= 0 && st.st_dev == l->device && st.st_ino == l->inode)
		return;
	if (l->watch >= 0)
		inotify_rm_watch(l->fd, l->watch);
	l->watch = !st.st_ino ? -1
		: inotify_add_watch(l->fd, l->dir, IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO |
		                    IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
	l->device = st.st_dev;
	l->inode = st.st_ino;
}

static void drain(int fd)
{
	char bytes[4096];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

bool look_wait(struct look *l, int wake_fd, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = wake_fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};

	attend(l);
	fds[1].fd = l->watch >= 0 ? l->fd : -1;
	if (poll(fds, 2, timeout_ms) <= 0)
		return false;
	if (fds[1].revents)
		drain(l->fd);
	if (fds[0].revents)
		drain(wake_fd);
	return fds[0].revents != 0;
}
