/* The directory of a run: its session, its files, and all of them read. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"


static const size_t FILE_BYTES_MAX = SIZE_MAX / 4;

galvo_status run_file_open(int dir_fd, const char *name, int *ret_fd, uint64_t *ret_bytes,
                           galvo_error *reterr)
{
	int fd = file_open(dir_fd, name, O_RDONLY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_sys(reterr, errno, "%s", name);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(reterr, GALVO_ERR_ABSENT, "%s: not a file", name);
	}
	*ret_fd = fd;
	*ret_bytes = (uint64_t)st.st_size;
	return GALVO_OK;
}

galvo_status run_file_read(int dir_fd, const char *name, struct buf *into, struct span *ret_bytes,
                           galvo_error *reterr)
{
	struct stat st;

	buf_init(into, FILE_BYTES_MAX);
	if (fstatat(dir_fd, name, &st, 0) != 0)
		return err_sys(reterr, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(reterr, GALVO_ERR_ABSENT, "%s: not a file", name);
	if (!buf_reserve(into, (size_t)st.st_size + 1))
		return err_set(reterr, GALVO_ERR_NOMEM, "%s: no memory for its %lld bytes", name,
		               (long long)st.st_size);
	return file_read(dir_fd, name, into, ret_bytes, reterr);
}

galvo_status run_dir_open(int at_fd, const char *dir, struct arena *a, int *ret_fd,
                          const struct session **ret_session, const char **ret_why,
                          galvo_error *reterr)
{
	struct buf file;
	struct span bytes;
	galvo_error e = {0};
	galvo_status status;
	int fd = file_open(at_fd, dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return err_sys(reterr, errno, "%s", dir);
	*ret_session = NULL;
	*ret_why = NULL;
	status = run_file_read(fd, SESSION_FILE, &file, &bytes, &e);
	if (status == GALVO_OK && bytes.n > SESSION_BYTES_MAX)
		status = err_set(&e, GALVO_ERR_MALFORMED, "%s: larger than any galvo writes",
		                 SESSION_FILE);
	if (status == GALVO_OK)
		status = session_read(a, bytes, ret_session, &e);
	buf_finish(&file);
	if (status == GALVO_OK) {
		*ret_fd = fd;
		return GALVO_OK;
	}
	*ret_why = arena_text(a, span_str(e.text));
	if (status == GALVO_ERR_NOMEM || !*ret_why) {
		close(fd);
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	*ret_fd = fd;
	return GALVO_OK;
}

/* A file of the directory itself, and not the metadata. */
static bool is_stream_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < NAME_MAX_BYTES &&
	       strcmp(name, SESSION_FILE) != 0;
}

/* Whether an earlier probe of the session has the same file, or the same kind if name is NULL. */
static bool is_named_before(const struct session *s, size_t before, enum stream_kind kind,
                            const char *name)
{
	size_t i;

	for (i = 0; s && i < before; i++)
		if (name ? strcmp(s->probes[i].file_name, name) == 0 : s->probes[i].kind == kind)
			return true;
	return false;
}

/* First those that the metadata name, then, for kinds they do not name, the usual names. */
bool run_stream_name(const struct session *s, size_t i, const struct stream_form **ret_form,
                     const char **ret_name)
{
	size_t named = !s ? 0 : s->probes_len < STREAM_FILES_MAX ? s->probes_len : STREAM_FILES_MAX;

	*ret_form = NULL;
	if (i < named) {
		*ret_name = s->probes[i].file_name;
		if (is_stream_name(*ret_name) && !is_named_before(s, i, 0, *ret_name))
			*ret_form = stream_form_of(s->probes[i].kind);
		return true;
	}
	if (i - named >= stream_forms_len)
		return false;
	*ret_name = stream_forms[i - named].file_name;
	if (!is_named_before(s, named, stream_forms[i - named].kind, NULL) &&
	    !is_named_before(s, named, 0, *ret_name))
		*ret_form = &stream_forms[i - named];
	return true;
}

/* `why` begins with the file's name, and so does the line that the note will stand in. */
static galvo_status note_unreadable(struct reading *r, const char *file, const char *why,
                                    galvo_error *reterr)
{
	size_t n = strlen(file);

	if (strncmp(why, file, n) == 0 && why[n] == ':')
		why += n + strspn(why + n, ": ");
	return reading_note(r, file, 0, false, "cannot be read: %s", why)
	               ? GALVO_OK : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}

static galvo_status add_absent(struct reading *r, const struct stream_form *form,
                               const char *file_name, const char *why, galvo_error *reterr)
{
	struct run_stream stream = {.kind = form->kind, .file_name = file_name};

	buf_put(&r->streams, &stream, sizeof(stream));
	if (r->streams.failed)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	return note_unreadable(r, file_name, why, reterr);
}

static galvo_status read_stream(struct reading *r, struct window *w,
                                const struct stream_form *form, const char *file_name, int fd,
                                uint64_t file_bytes, uint64_t end, galvo_error *reterr)
{
	struct stream_progress at = STREAM_START;
	struct stream_build *b = stream_build_create(r, form, file_name, &at,
	                                             file_bytes < end ? file_bytes : end);
	galvo_error why = {0};
	bool is_end, ok;
	int failed = 0;
	galvo_status status;

	if (!b)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	window_open(w, fd, 0, end);
	status = window_feed(w, b, END_FINAL, UINT64_MAX, &is_end, &failed, reterr);
	ok = status != GALVO_OK || stream_build_take(b, &at);
	if (ok && failed) {
		err_sys(&why, failed, "from byte %llu on", (unsigned long long)at.offset);
		status = note_unreadable(r, file_name, why.text, reterr);
	}
	stream_build_destroy(b);
	return ok ? status : err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
}

static uint64_t end_of(const struct run_cut *cuts, size_t n, const struct stream_form *form,
                       const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cuts[i].form == form && strcmp(cuts[i].name, name) == 0)
			return cuts[i].bytes;
	return cuts ? 0 : UINT64_MAX;
}

/* All streams that are there, and a note for each that is not and should be. */
static galvo_status add_streams(struct reading *r, int dir_fd, const struct session *session,
                                const struct run_cut *cuts, size_t cuts_len, galvo_error *reterr)
{
	const struct stream_form *form;
	galvo_status status = GALVO_OK;
	struct window w = {0};
	const char *name;
	uint64_t bytes;
	size_t i;
	int fd;

	for (i = 0; status == GALVO_OK && run_stream_name(session, i, &form, &name); i++) {
		galvo_error e = {0};

		if (!form)
			continue;
		status = run_file_open(dir_fd, name, &fd, &bytes, &e);
		if (status == GALVO_OK) {
			status = read_stream(r, &w, form, name, fd, bytes,
			                     end_of(cuts, cuts_len, form, name), reterr);
			close(fd);
		} else if (status == GALVO_ERR_ABSENT &&
		           !is_named_before(session, session ? session->probes_len : 0, 0, name)) {
			status = GALVO_OK;
		} else {
			status = add_absent(r, form, name, e.text, reterr);
		}
	}
	window_finish(&w);
	return status;
}

galvo_status run_read(int at_fd, const char *dir, const struct run_cut *cuts, size_t cuts_len,
                      galvo_run **ret_run, galvo_error *reterr)
{
	const struct session *session;
	struct reading r;
	galvo_status status;
	const char *why;
	int fd = -1;

	reading_init(&r);
	status = run_dir_open(at_fd, dir, &r.arena, &fd, &session, &why, reterr);
	if (status == GALVO_OK)
		status = add_streams(&r, fd, session, cuts, cuts_len, reterr);
	if (status == GALVO_OK && !session && r.streams.len == 0)
		status = err_set(reterr, GALVO_ERR_ABSENT,
		                 "%s: not a recorded run: no metadata and no streams", dir);
	else if (status == GALVO_OK && why)
		status = note_unreadable(&r, SESSION_FILE, why, reterr);
	if (status == GALVO_OK)
		status = reading_take(&r, session, ret_run, reterr);
	if (fd >= 0)
		close(fd);
	reading_finish(&r);
	return status;
}

galvo_status galvo_run_open(const char *dir, galvo_run **ret_run, galvo_error *reterr)
{
	return run_read(AT_FDCWD, dir, NULL, 0, ret_run, reterr);
}
