/* What recorders that were killed left behind: sockets that nobody listens to, and their directories. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"

static const uint64_t BEGINNING_NS = 60 * NS_PER_S; /* no listener is without its socket for so long */

enum { ENTRIES_MAX = 10000 }; /* of a directory that is looked through: more are not worth the time */

/* A socket whose owner is gone refuses. One that is there, takes the connection, and notices nothing. */
static bool is_refused(const char *dir, const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd, n;
	bool refused;

	n = snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s/" LISTENER_SOCKET, dir, name);
	if (n < 0 || (size_t)n >= sizeof(at.sun_path))
		return false;
	fd = fd_keep(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) != 0 &&
	          errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

static bool is_old(const struct stat *facts)
{
	uint64_t now_wall_ns = clock_real.wall_ns(&clock_real);

	return (uint64_t)facts->st_mtim.tv_sec * NS_PER_S + BEGINNING_NS < now_wall_ns;
}

/* Only a directory of ours, with a socket of ours in it, or nothing. */
static void sweep_one(int base_fd, const char *dir, const char *name)
{
	struct stat facts, inner;
	int fd = file_open(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	if (fd < 0)
		return;
	if (fstat(fd, &facts) != 0 || facts.st_uid != geteuid()) {
		/* somebody else's */
	} else if (fstatat(fd, LISTENER_SOCKET, &inner, AT_SYMLINK_NOFOLLOW) != 0) {
		if (is_old(&facts))
			unlinkat(base_fd, name, AT_REMOVEDIR); /* if it is empty */
	} else if (S_ISSOCK(inner.st_mode) && inner.st_uid == geteuid() && is_refused(dir, name)) {
		unlinkat(fd, LISTENER_SOCKET, 0);
		unlinkat(base_fd, name, AT_REMOVEDIR);
	}
	close(fd);
}

void listener_sweep(const char *dir)
{
	size_t prefix = sizeof(LISTENER_PREFIX) - 1, i;
	DIR *d = file_open_dir(AT_FDCWD, dir);
	struct dirent *entry;

	for (i = 0; d && i < ENTRIES_MAX && (entry = readdir(d)); i++)
		if (strncmp(entry->d_name, LISTENER_PREFIX, prefix) == 0 &&
		    strlen(entry->d_name) == prefix + LISTENER_RANDOM)
			sweep_one(dirfd(d), dir, entry->d_name);
	if (d)
		closedir(d);
}
