/* A run that grows: what is new in its files, poll by poll, whatever becomes of the recorder. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "follow.h"

enum { POLL_BYTES = 16 << 20 }; /* of a file in one poll */

struct galvo_follower {
	int at_fd; /* what a relative path is relative to */
	char *dir;
	struct follow_state state, tried;
	struct window window;
	struct galvo_run *run; /* the news of the last poll */
};

/* ---- one poll ------------------------------------------------------------------------------ */

struct poll {
	struct galvo_follower *follower;
	struct reading reading;
	const struct session *session;
	bool has_more, is_torn; /* is_torn: a file was replaced under the reader, next time is soon */
};

static galvo_status read_new(struct poll *p, struct followed *f, int fd, uint64_t bytes,
                             galvo_error *reterr)
{
	bool is_over = p->session && p->session->stop_mono_ns, is_end, ok;
	struct window *w = &p->follower->window;
	struct beginning now;
	struct stream_build *b = stream_build_create(&p->reading, f->form, f->name, &f->at,
	                                             bytes - f->at.offset);
	galvo_status status;
	int failed;

	if (!b)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	window_open(w, fd, f->at.offset, UINT64_MAX);
	status = window_feed(w, b, is_over ? END_FINAL : END_GROWS, POLL_BYTES, &is_end, &failed, reterr);
	ok = status != GALVO_OK || stream_build_take(b, &f->at);
	stream_build_destroy(b);
	if (!ok)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	if (status == GALVO_OK && failed)
		return err_sys(reterr, failed, "%s", f->name);
	beginning_read(fd, &now);
	p->is_torn = p->is_torn || !beginning_is(&now, &f->own);
	if (!f->own.len && f->at.offset) {
		f->own = now;
		f->own.len = f->at.offset < now.len ? (size_t)f->at.offset : now.len;
	}
	p->has_more = p->has_more || !is_end;
	return status;
}

static galvo_status poll_file(struct poll *p, struct followed *f, int dir_fd, galvo_error *reterr)
{
	struct beginning now;
	galvo_error why = {0};
	uint64_t bytes;
	int fd;
	galvo_status status = run_file_open(dir_fd, f->name, &fd, &bytes, &why);

	if (status == GALVO_ERR_ABSENT)
		return GALVO_OK;
	if (status != GALVO_OK)
		return err_set(reterr, status, "%s", why.text);
	beginning_read(fd, &now);
	if (f->stale.len && beginning_is(&now, &f->stale))
		bytes = 0;
	else
		f->stale.len = 0;
	if (bytes > f->at.offset)
		status = read_new(p, f, fd, bytes, reterr);
	close(fd);
	return status;
}

/* Without a directory there is nothing new, and perhaps an end of what was. */
static galvo_status poll_files(struct poll *p, galvo_error *reterr)
{
	struct galvo_follower *f = p->follower;
	struct follow_state *s = &f->tried;
	galvo_error why = {0};
	const char *ignored;
	galvo_status status;
	int dir_fd = -1;
	bool changed = false;
	size_t i;

	status = run_dir_open(f->at_fd, f->dir, &p->reading.arena, &dir_fd, &p->session, &ignored, &why);
	if (status != GALVO_OK && status != GALVO_ERR_ABSENT)
		return err_set(reterr, status, "%s", why.text);
	for (i = 0; i < s->files_len; i++)
		changed = followed_has_changed(&s->files[i], dir_fd) || changed;
	if (changed)
		follow_restart(s);
	if (dir_fd < 0)
		return GALVO_OK;
	follow_add_files(s, p->session);
	for (i = 0, status = GALVO_OK; i < s->files_len && status == GALVO_OK; i++)
		status = poll_file(p, &s->files[i], dir_fd, reterr);
	close(dir_fd);
	return status;
}

/* Counts what is new; DONE when nothing is and nothing will be. */
static galvo_status give_news(const struct poll *p, galvo_follower_news *ret_news,
                              galvo_error *reterr)
{
	const struct galvo_run *run = p->follower->run;
	galvo_follower_news news = {
		.run = run,
		.has_restarted = p->follower->state.has_restarted,
		.has_more = p->has_more,
	};
	galvo_status status;
	size_t i;

	for (i = 0; i < run->streams_len; i++) {
		news.messages += run->streams[i].messages;
		news.rows += run->streams[i].rows;
	}
	status = view_give("news", ret_news, &news, sizeof(news), reterr);
	if (status == GALVO_OK && !news.messages && !news.has_restarted && !news.has_more &&
	    p->session && p->session->stop_mono_ns)
		return GALVO_DONE;
	return status;
}

galvo_status galvo_follower_poll(galvo_follower *f, galvo_follower_news *ret_news,
                                 galvo_error *reterr)
{
	galvo_follower_news none = {0};
	struct poll p = {.follower = f};
	galvo_status status = GALVO_OK;

	if (!f)
		return err_set(reterr, GALVO_ERR_INVALID, "there is no follower");
	status = view_give("news", ret_news, &none, sizeof(none), reterr);
	if (status != GALVO_OK)
		return status;
	galvo_run_close(f->run);
	f->run = NULL;
	f->tried = f->state;
	f->tried.has_restarted = false;
	reading_init(&p.reading);
	status = poll_files(&p, reterr);
	if (status == GALVO_OK && p.is_torn) { /* nothing of it counts */
		reading_finish(&p.reading);
		reading_init(&p.reading);
		p.session = NULL;
		f->tried = f->state;
		f->tried.has_restarted = false;
	}
	if (status == GALVO_OK)
		status = reading_take(&p.reading, p.session, &f->run, reterr);
	reading_finish(&p.reading);
	if (status != GALVO_OK)
		return status;
	f->state = f->tried;
	return give_news(&p, ret_news, reterr);
}

/* ---- all that was before ------------------------------------------------------------------- */

/* Whether the files are those of which so much was taken. */
static bool is_still_there(const struct galvo_follower *f)
{
	int dir_fd = file_open(f->at_fd, f->dir, O_RDONLY | O_DIRECTORY);
	bool is_same = true;
	size_t i;

	for (i = 0; i < f->state.files_len; i++) {
		struct followed look = f->state.files[i];

		is_same = !followed_has_changed(&look, dir_fd) && is_same;
	}
	if (dir_fd >= 0)
		close(dir_fd);
	return is_same;
}

galvo_status galvo_follower_past(galvo_follower *f, galvo_run **ret_run, galvo_error *reterr)
{
	struct run_cut cuts[FOLLOWED_MAX];
	struct galvo_run *run = NULL;
	galvo_status status;
	size_t i;

	if (!f || !ret_run)
		return err_set(reterr, GALVO_ERR_INVALID, "a follower and a place are needed");
	for (i = 0; i < f->state.files_len; i++)
		cuts[i] = (struct run_cut){f->state.files[i].form, f->state.files[i].name,
		                           f->state.files[i].at.offset};
	status = run_read(f->at_fd, f->dir, cuts, f->state.files_len, &run, reterr);
	if (status == GALVO_OK && !is_still_there(f)) {
		galvo_run_close(run);
		return err_set(reterr, GALVO_ERR_STATE, "%s: another recording is in its place", f->dir);
	}
	if (status == GALVO_OK)
		*ret_run = run;
	return status;
}

/* ---- life ---------------------------------------------------------------------------------- */

static galvo_status skip_past(struct galvo_follower *f, galvo_error *reterr)
{
	galvo_follower_news news = {.struct_size = sizeof(news), .has_more = 1};
	galvo_status status = GALVO_OK;

	while (status == GALVO_OK && news.has_more)
		status = galvo_follower_poll(f, &news, reterr);
	return status == GALVO_DONE ? GALVO_OK : status;
}

galvo_status galvo_follower_open(const char *dir, int32_t from_now, galvo_follower **ret_follower,
                                 galvo_error *reterr)
{
	struct galvo_follower *f;
	galvo_status status = GALVO_OK;

	if (!dir || !ret_follower)
		return err_set(reterr, GALVO_ERR_INVALID, "a directory and a place are needed");
	f = alloc_array(1, sizeof(*f));
	if (!f)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	f->dir = alloc_array(strlen(dir) + 1, 1);
	f->at_fd = file_open(AT_FDCWD, ".", O_PATH | O_DIRECTORY);
	if (!f->dir)
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	else if (faccessat(f->at_fd, dir, R_OK | X_OK, AT_EACCESS) != 0)
		status = err_sys(reterr, errno, "%s", dir);
	else
		memcpy(f->dir, dir, strlen(dir));
	if (status == GALVO_OK && from_now)
		status = skip_past(f, reterr);
	if (status == GALVO_OK)
		*ret_follower = f;
	else
		galvo_follower_close(f);
	return status;
}

void galvo_follower_close(galvo_follower *f)
{
	if (!f)
		return;
	galvo_run_close(f->run);
	window_finish(&f->window);
	if (f->at_fd >= 0)
		close(f->at_fd);
	free(f->dir);
	free(f);
}
