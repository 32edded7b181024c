/* Copies what is sound of a run, and says in the copy what is not there. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

enum { NOTE_BYTES = 512 };

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

/* Protobuf lets one put more fields behind those of a message. */
static void add_note(struct buf *session, const char *text)
{
	enum { SESSION_NOTES = 102, NOTE_SUBJECT = 1, NOTE_TEXT = 2 };
	char note[NOTE_BYTES], framed[NOTE_BYTES + 2 * WIRE_VARINT_MAX], *p = note;

	p = wire_put_bytes(p, NOTE_SUBJECT, span_str(REPAIR_SUBJECT));
	p = wire_put_bytes(p, NOTE_TEXT, span_str(text));
	p = wire_put_bytes(framed, SESSION_NOTES, span_of(note, (size_t)(p - note)));
	buf_put(session, framed, (size_t)(p - framed));
}

static bool has_torn_tail(const struct galvo_run *run, const struct run_stream *s)
{
	size_t i;

	for (i = 0; i < run->damages_len; i++)
		if (run->damages[i].torn_tail && run->damages[i].file == s->file_name)
			return true;
	return false;
}

/* The copy has no trace of what it lacks but this. */
static void add_losses(struct buf *session, const struct galvo_run *run)
{
	char text[NOTE_BYTES / 2], name[NAME_MAX_BYTES / 2];
	size_t i;

	for (i = 0; i < run->streams_len; i++) {
		const struct run_stream *s = &run->streams[i];

		utf8_copy(name, sizeof(name), span_str(s->file_name));
		if (s->bad_messages) {
			snprintf(text, sizeof(text),
			         "%llu damaged message%s of %s %s left out by galvo check --repair",
			         (unsigned long long)s->bad_messages,
			         s->bad_messages == 1 ? "" : "s", name, s->bad_messages == 1 ? "was" : "were");
			add_note(session, text);
		}
		if (has_torn_tail(run, s)) {
			snprintf(text, sizeof(text),
			         "a message cut short at the end of %s was left out by galvo check "
			         "--repair",
			         name);
			add_note(session, text);
		}
	}
}

/*
 * A recorder that was killed has not said when it stopped: as far as anybody knows, with the last
 * message.
 */
static void add_ending(struct buf *session, const struct galvo_run *run)
{
	enum { SESSION_STOP = 106 };
	uint64_t last = run->session->start_mono_ns;
	char stop[2 * WIRE_VARINT_MAX];
	size_t i;

	for (i = 0; i < run->streams_len; i++)
		if (run->streams[i].last_mono_ns > last)
			last = run->streams[i].last_mono_ns;
	add_note(session, "not ended by the recorder; ends here with its last message");
	buf_put(session, stop, (size_t)(wire_put_u64(stop, SESSION_STOP, last) - stop));
}

static galvo_status copy_session(int from_fd, int to_fd, const struct galvo_run *run,
                                 galvo_error *reterr)
{
	struct buf file;
	struct span bytes;
	galvo_status status = run_file_read(from_fd, SESSION_FILE, &file, &bytes, reterr);

	file.len = status == GALVO_OK ? bytes.n : 0;
	add_losses(&file, run);
	if (!run->session->stop_mono_ns)
		add_ending(&file, run);
	if (status == GALVO_OK && file.failed)
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (status == GALVO_OK)
		status = file_replace(to_fd, SESSION_FILE, file.p, file.len, reterr);
	buf_finish(&file);
	return status;
}

static galvo_status copy_run(int from_fd, int to_fd, const struct galvo_run *run,
                             galvo_error *reterr)
{
	const struct session *session = run->session;
	galvo_status status = session ? copy_session(from_fd, to_fd, run, reterr) : GALVO_OK;
	const struct stream_form *form;
	const char *name;
	size_t i;

	for (i = 0; status == GALVO_OK && run_stream_name(session, i, &form, &name); i++) {
		galvo_error e = {0};

		if (form)
			status = copy_stream(from_fd, to_fd, form, name, &e);
		if (status == GALVO_ERR_ABSENT)
			status = GALVO_OK;
		else if (status != GALVO_OK && reterr)
			*reterr = e;
	}
	return status;
}

galvo_status galvo_run_repair(const char *dir, const char *out_dir,
                              galvo_check_result *ret_result, galvo_error *reterr)
{
	struct galvo_run *run = NULL;
	galvo_check_result result;
	int from_fd = -1, to_fd = -1;
	galvo_status status = galvo_run_open(dir, &run, reterr);

	if (status != GALVO_OK)
		return status;
	run_sum_up(run, &result);
	from_fd = file_open(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
	if (from_fd < 0) {
		status = err_sys(reterr, errno, "%s", dir);
		goto out;
	}
	if (mkdir(out_dir, 0777) != 0 ||
	    (to_fd = file_open(AT_FDCWD, out_dir, O_RDONLY | O_DIRECTORY)) < 0) {
		status = err_sys(reterr, errno, "%s", out_dir);
		goto out;
	}
	status = copy_run(from_fd, to_fd, run, reterr);
	if (status != GALVO_OK)
		err_wrap(reterr, "%s", out_dir);
out:
	if (from_fd >= 0)
		close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
	galvo_run_close(run);
	if (status == GALVO_OK && ret_result)
		*ret_result = result;
	return status;
}
