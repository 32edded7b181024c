/* Says what is wrong with a run, and copies what is sound of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

enum { LINE_MAX_BYTES = 1024 };

struct lines {
	galvo_write_fn write_fn; /* NULL: nobody listens */
	void *ctx;
	bool failed;
};

/* One line: "FILE: TEXT"; file names are foreign bytes. */
static void put_line(struct lines *out, const char *file, const char *text)
{
	char line[LINE_MAX_BYTES];
	struct buf b = {.p = line, .cap = sizeof(line), .max = sizeof(line)};

	buf_put_escaped(&b, span_str(file));
	buf_put_str(&b, ": ");
	buf_put_escaped(&b, span_str(text));
	buf_put(&b, "\n", 1);
	if (out->write_fn && !out->failed)
		out->failed = out->write_fn(out->ctx, b.p, b.len) != 0;
}

static void put_stream(struct lines *out, const struct run_stream *s)
{
	char text[LINE_MAX_BYTES / 2];
	struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};

	if (!s->present)
		return;
	buf_printf(&b, "%llu message%s, %llu row%s, ", (unsigned long long)s->messages,
	           s->messages == 1 ? "" : "s", (unsigned long long)s->rows,
	           s->rows == 1 ? "" : "s");
	buf_put_fixed(&b, (double)s->bytes / 1e6, 1);
	buf_put(&b, " MB", 4);
	put_line(out, s->file_name, text);
	if (s->dropped_rows) {
		snprintf(text, sizeof(text), "%llu row%s dropped while recording",
		         (unsigned long long)s->dropped_rows, s->dropped_rows == 1 ? "" : "s");
		put_line(out, s->file_name, text);
	}
}

static void put_session(struct lines *out, const struct session *s)
{
	if (s && !s->stop_mono_ns)
		put_line(out, SESSION_FILE, s->galvo_version[0]
		         ? "the recorder did not end the recording (killed?)"
		         : "says nothing of how the recording ended");
}

/* Batches that were dropped after the last message of every stream leave no gap to see. */
static bool put_lost_end(struct lines *out, const struct galvo_run *run)
{
	uint64_t seen = 0;
	char text[LINE_MAX_BYTES / 2];
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		seen += run->streams[i].dropped_batches;
	if (!run->session || !run->session->cost.present ||
	    run->session->cost.dropped_batches <= seen)
		return false;
	snprintf(text, sizeof(text), "%llu messages were dropped at the end of the recording",
	         (unsigned long long)(run->session->cost.dropped_batches - seen));
	put_line(out, SESSION_FILE, text);
	return true;
}

/* Damages name files by the pointer that the stream has. */
static void sum_up(const struct galvo_run *run, galvo_check_result *ret)
{
	size_t i, k;

	*ret = (galvo_check_result){
		.is_complete = run->session && run->session->stop_mono_ns,
	};
	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *s = &run->streams[i];

		ret->messages += s->messages;
		ret->rows += s->rows;
		ret->damaged_messages += s->bad_messages;
		ret->missing_messages += s->missing_messages;
		for (k = 0; k < run->damages_len; k++)
			if (run->damages[k].torn_tail && run->damages[k].file == s->file_name)
				ret->torn_bytes += s->bytes - run->damages[k].offset;
	}
	ret->is_sound = ret->is_complete && run->damages_len == 0;
}

/* When the recording ended, as far as its messages tell. */
static uint64_t last_mono_ns(const struct galvo_run *run)
{
	uint64_t last = run->session ? run->session->start_mono_ns : 0;
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].last_mono_ns > last)
			last = run->streams[i].last_mono_ns;
	return last;
}

static galvo_status check(const char *dir, struct lines *out, galvo_check_result *ret_result,
                          uint64_t *ret_last_mono_ns, galvo_error *reterr)
{
	struct galvo_run *run;
	galvo_status status = galvo_run_open(dir, &run, reterr);
	size_t i, k;

	if (status != GALVO_OK)
		return status;
	sum_up(run, ret_result);
	*ret_last_mono_ns = last_mono_ns(run);
	for (i = 0; i < run->streams_len; i++) {
		put_stream(out, &run->streams[i]);
		for (k = 0; k < run->damages_len; k++)
			if (run->damages[k].file == run->streams[i].file_name)
				put_line(out, run->damages[k].file, run->damages[k].text);
	}
	for (k = 0; k < run->damages_len; k++)
		if (strcmp(run->damages[k].file, SESSION_FILE) == 0)
			put_line(out, run->damages[k].file, run->damages[k].text);
	put_session(out, run->session);
	if (put_lost_end(out, run))
		ret_result->is_sound = 0;
	galvo_run_close(run);
	return out->failed ? err_set(reterr, GALVO_ERR_CALLBACK, "the caller stopped the check")
	                   : GALVO_OK;
}

galvo_status galvo_run_check(const char *dir, galvo_write_fn write_fn, void *ctx,
                             galvo_check_result *ret_result, galvo_error *reterr)
{
	struct lines out = {write_fn, ctx, false};
	galvo_check_result result;
	uint64_t last;
	galvo_status status = check(dir, &out, &result, &last, reterr);

	if (status == GALVO_OK && ret_result)
		*ret_result = result;
	return status;
}

/* ---- repair -------------------------------------------------------------------------------- */

/* Sound frames as they stand in the file, lengths included. */
static galvo_status copy_stream(int from_fd, int to_fd, const struct stream_form *form,
                                const char *name, galvo_error *reterr)
{
	struct buf file;
	struct frame_scan scan = {.form = form};
	struct frame frame;
	galvo_status status;
	size_t written;
	int fd = -1, failed = 0;

	status = run_file_read(from_fd, name, &file, &scan.file, reterr);
	if (status != GALVO_OK)
		goto out;
	fd = file_open(to_fd, name, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		failed = errno;
	while (!failed && frame_next(&scan, &frame))
		if (frame.state == FRAME_SOUND)
			failed = file_write_all(fd, scan.file.p + frame.offset, frame.bytes,
			                        &written);
	if (fd >= 0 && close(fd) != 0 && !failed)
		failed = errno;
	if (failed)
		status = err_sys(reterr, failed, "%s", name);
out:
	buf_finish(&file);
	return status;
}

/*
 * A recorder that was killed has not said when it stopped: as far as anybody knows, with the last
 * message. That, and a note of it, are put behind its fields, as protobuf lets one do.
 */
static void put_ending(struct buf *session, uint64_t stop_mono_ns)
{
	enum { SESSION_NOTES = 102, SESSION_STOP = 106, NOTE_SUBJECT = 1, NOTE_TEXT = 2 };
	char note[128], ending[sizeof(note) + 3 * WIRE_VARINT_MAX], *p = note;

	p = wire_put_bytes(p, NOTE_SUBJECT, span_str("recording"));
	p = wire_put_bytes(p, NOTE_TEXT,
	                   span_str("not ended by the recorder; ends here with its last message"));
	p = wire_put_bytes(ending, SESSION_NOTES, span_of(note, (size_t)(p - note)));
	p = wire_put_u64(p, SESSION_STOP, stop_mono_ns);
	buf_put(session, ending, (size_t)(p - ending));
}

static galvo_status copy_session(int from_fd, int to_fd, uint64_t stop_mono_ns, galvo_error *reterr)
{
	struct buf file;
	struct span bytes;
	galvo_status status = run_file_read(from_fd, SESSION_FILE, &file, &bytes, reterr);

	file.len = status == GALVO_OK ? bytes.n : 0;
	if (stop_mono_ns)
		put_ending(&file, stop_mono_ns);
	if (status == GALVO_OK && file.failed)
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (status == GALVO_OK)
		status = file_replace(to_fd, SESSION_FILE, file.p, file.len, reterr);
	buf_finish(&file);
	return status;
}

static galvo_status copy_run(int from_fd, int to_fd, const struct session *session,
                             uint64_t stop_mono_ns, galvo_error *reterr)
{
	galvo_status status = session ? copy_session(from_fd, to_fd, stop_mono_ns, reterr)
	                              : GALVO_OK;
	const struct stream_form *form;
	const char *name;
	size_t i;

	for (i = 0; status == GALVO_OK && run_stream_name(session, i, &form, &name); i++) {
		if (form)
			status = copy_stream(from_fd, to_fd, form, name, reterr);
		if (status == GALVO_ERR_ABSENT)
			status = GALVO_OK;
	}
	return status;
}

galvo_status galvo_run_repair(const char *dir, const char *out_dir,
                              galvo_check_result *ret_result, galvo_error *reterr)
{
	struct lines nobody = {0};
	struct arena a = {0};
	const struct session *session;
	galvo_check_result result;
	const char *why;
	int from_fd = -1, to_fd = -1;
	uint64_t last;
	galvo_status status = check(dir, &nobody, &result, &last, reterr);

	if (status == GALVO_OK)
		status = run_dir_open(dir, &a, &from_fd, &session, &why, reterr);
	if (status != GALVO_OK)
		goto out;
	if (mkdir(out_dir, 0777) != 0 ||
	    (to_fd = file_open(AT_FDCWD, out_dir, O_RDONLY | O_DIRECTORY)) < 0) {
		status = err_sys(reterr, errno, "%s", out_dir);
		goto out;
	}
	status = copy_run(from_fd, to_fd, session, result.is_complete ? 0 : last, reterr);
	if (status != GALVO_OK)
		err_wrap(reterr, "%s", out_dir);
out:
	if (from_fd >= 0)
		close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
	arena_finish(&a);
	if (status == GALVO_OK && ret_result)
		*ret_result = result;
	return status;
}
