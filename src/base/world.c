/* This machine's facts, looked up once: nobody else asks the system for them. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base.h"

static uint32_t positive(long value, uint32_t otherwise)
{
	return value > 0 && value <= INT32_MAX ? (uint32_t)value : otherwise;
}

/* proc/self is the number of who looks, as that proc has it. */
static bool is_foreign(int root_fd)
{
	char self[16];
	ssize_t n = readlinkat(root_fd, "proc/self", self, sizeof(self));
	uint64_t pid;

	return n > 0 && span_to_u64(span_of(self, (size_t)n), &pid) && pid != (uint64_t)getpid();
}

galvo_status world_open(struct world *w, const char *root, galvo_error *reterr)
{
	const char *path = root ? root : "/";
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return err_sys(reterr, errno, "CLOCK_MONOTONIC");
	*w = (struct world){
		.root_fd = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY),
		.live = !root || span_eq_str(span_str(root), "/"),
		.cpu_count = positive(sysconf(_SC_NPROCESSORS_ONLN), 1),
		.clk_tck = positive(sysconf(_SC_CLK_TCK), 100),
		.page_bytes = positive(sysconf(_SC_PAGESIZE), 4096),
		.clock = &clock_real,
	};
	if (w->root_fd < 0)
		return err_sys(reterr, errno, "%s", path);
	w->is_foreign = is_foreign(w->root_fd);
	return GALVO_OK;
}

galvo_status world_dup(struct world *ret, const struct world *from, galvo_error *reterr)
{
	*ret = *from;
	if (from->root_fd < 0)
		return GALVO_OK;
	ret->root_fd = fd_keep(fcntl(from->root_fd, F_DUPFD_CLOEXEC, 0));
	return ret->root_fd < 0 ? err_sys(reterr, errno, "the root of proc/ and sys/") : GALVO_OK;
}

const char *world_setting(const char *name)
{
	return secure_getenv(name);
}

void world_close(struct world *w)
{
	if (w->root_fd >= 0)
		close(w->root_fd);
	w->root_fd = -1;
}
