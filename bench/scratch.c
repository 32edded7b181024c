/* A temporary directory for a run: made, and removed with the files that a run has. */
#include "scratch.h"

#include <errno.h>
#include <unistd.h>

#include "model/model.h"

enum { PATH_BYTES = SCRATCH_BYTES + 64 };

galvo_status scratch_make(char dir[SCRATCH_BYTES], galvo_error *reterr)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(dir, SCRATCH_BYTES, "%s/galvo-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (n > 0 && n < SCRATCH_BYTES && mkdtemp(dir))
		return GALVO_OK;
	dir[0] = '\0';
	return err_sys(reterr, errno, "a temporary directory");
}

static void remove_file(const char *dir, const char *name)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < PATH_BYTES)
		unlink(path);
}

void scratch_remove(char dir[SCRATCH_BYTES])
{
	if (!dir[0])
		return;
	remove_file(dir, stream_file_name(STREAM_SYSTEM));
	remove_file(dir, stream_file_name(STREAM_DISK));
	remove_file(dir, stream_file_name(STREAM_EVENTS));
	remove_file(dir, stream_file_name(STREAM_GPU));
	remove_file(dir, stream_file_name(STREAM_TELEMETRY));
	remove_file(dir, "session_metadata.pb");
	rmdir(dir);
	dir[0] = '\0';
}
