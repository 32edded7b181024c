/* The program galvo-sidecar, which libgalvo starts: all that it needs comes through its descriptor 3. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sidecar.h"

/* Where the kernel could not do it when we began (before Linux 5.9). */
static void close_others(void)
{
	struct world here;
	uint64_t number;
	struct dirent *entry;
	DIR *dir = NULL;

	if (world_open(&here, NULL, NULL) == GALVO_OK)
		dir = file_open_dir(here.root_fd, "proc/self/fd");
	while (dir && (entry = readdir(dir)))
		if (span_to_u64(span_str(entry->d_name), &number) && number > SIDECAR_FD &&
		    (int)number != dirfd(dir) && (int)number != here.root_fd)
			close((int)number);
	if (dir)
		closedir(dir);
	world_close(&here);
}

int main(void)
{
	int kind = 0;
	socklen_t n = sizeof(kind);

	if (getsockopt(SIDECAR_FD, SOL_SOCKET, SO_TYPE, &kind, &n) != 0 || kind != SOCK_SEQPACKET) {
		dprintf(STDERR_FILENO, SIDECAR_PROGRAM " %s: is started by libgalvo, see galvo-suite(3)\n",
		        galvo_version());
		return 2;
	}
	fcntl(SIDECAR_FD, F_SETFD, FD_CLOEXEC);
	close_others();
	sidecar_serve(SIDECAR_FD);
	return 0;
}
