/* The writer thread: takes full batches in order, one write(2) each, and keeps the files whole. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "writer.h"

static const uint64_t DESTROY_TIMEOUT_NS = 5 * NS_PER_S;

galvo_status writer_create(int dir_fd, struct writer **ret_writer, galvo_error *reterr)
{
	struct writer *w = alloc_array(1, sizeof(*w));

	if (!w)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	w->dir_fd = dir_fd;
	*ret_writer = w;
	return GALVO_OK;
}

/* Children that were forked meanwhile have the descriptor, too. Returns errno. */
static int close_file(struct stream *s)
{
	int fd = s->fd;

	s->fd = -1;
	flock(fd, LOCK_UN);
	return close(fd) == 0 ? 0 : errno;
}

static void stream_destroy(struct stream *s)
{
	size_t i;

	for (i = 0; i < BATCHES; i++)
		free(s->batches[i].base);
	free(s->names);
	if (s->fd >= 0)
		close_file(s);
	free(s);
}

/* Number i of the columns, those of other streams left out; false past the end. */
static bool column_at(const struct stream_config *config, size_t i, enum scope *ret_scope,
                      const char **ret_name)
{
	struct catalog_row row;
	size_t at, n = 0;

	if (config->columns) {
		*ret_scope = SCOPE_GPU;
		*ret_name = i < config->columns_len ? config->columns[i] : NULL;
		return *ret_name != NULL;
	}
	for (at = 0; config->catalog_at(at, &row); at++) {
		if (row.stream != config->kind || n++ != i)
			continue;
		*ret_scope = row.scope;
		*ret_name = row.metric->name;
		return true;
	}
	return false;
}

/* Columns of this stream, a group a scope, in order of first appearance. */
static galvo_status names_build(struct stream *s, const struct stream_config *config,
                                galvo_error *reterr)
{
	size_t bytes = 0, i, k;
	enum scope scope;
	const char *name;
	char *p;

	for (i = 0; column_at(config, i, &scope, &name); i++) {
		const struct row_form *form = row_form_of_scope(s->form, scope);

		for (k = 0; k < s->scopes_len && s->scopes[k].form.scope != scope; k++)
			;
		if (!form || (k < s->scopes_len && s->scopes[k].columns_len == ROW_MAX))
			return err_set(reterr, GALVO_ERR_INVALID, "%s: no place for column %s",
			               config->file_name, name);
		if (k == s->scopes_len)
			s->scopes[s->scopes_len++].form = *form;
		s->scopes[k].columns_len++;
		bytes += strlen(name) + 2 * WIRE_VARINT_MAX;
	}
	s->names = p = alloc_array(bytes + ROW_FORMS_MAX * 4 * WIRE_VARINT_MAX, 1);
	if (!p)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (k = 0; k < s->scopes_len; k++) {
		char *start = nested_begin(p, TRACE_NAMES);

		p = wire_put_u64(start, NAMES_SCOPE, s->scopes[k].form.scope);
		for (i = 0; column_at(config, i, &scope, &name); i++)
			if (scope == s->scopes[k].form.scope)
				p = wire_put_bytes(p, NAMES_FQNS, span_str(name));
		p = nested_end(start, p);
	}
	s->names_bytes = (size_t)(p - s->names);
	return GALVO_OK;
}

/* At full size at once; the kernel gives pages only to what is written. */
static galvo_status batches_build(struct stream *s, galvo_error *reterr)
{
	size_t bytes = FRONT_BYTES + s->names_bytes + s->batch_bytes + ROWS_SLACK_BYTES +
	               ITEMS_BYTES + STATS_BYTES;
	size_t i;

	for (i = 0; i < BATCHES; i++) {
		s->batches[i].base = malloc(bytes);
		if (!s->batches[i].base)
			return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	return GALVO_OK;
}

/*
 * Locked as long as it is written; whoever replaces it has the lock, or finds that it has not. Where a
 * file system knows no locks, nobody is kept out.
 */
static galvo_status claim(struct stream *s, galvo_error *reterr)
{
	struct stat named, opened;
	bool is_taken = flock(s->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

	if (fstatat(s->writer->dir_fd, s->file_name, &named, AT_SYMLINK_NOFOLLOW) != 0)
		is_taken |= errno == ENOENT;
	else
		is_taken |= fstat(s->fd, &opened) == 0 && named.st_ino != opened.st_ino;
	if (is_taken)
		return err_set(reterr, GALVO_ERR_DENIED, "%s: another profiler has just replaced it",
		               s->file_name);
	return GALVO_OK;
}

galvo_status writer_add(struct writer *w, const struct stream_config *config,
                        struct stream **ret_stream, galvo_error *reterr)
{
	galvo_status status;
	struct stream *s;

	if (w->running || w->streams_len == STREAMS_MAX)
		return err_set(reterr, GALVO_ERR_STATE, "%s: too late, or too many streams",
		               config->file_name);
	if (!stream_form_of(config->kind) || config->batch_bytes > BATCH_BYTES_MAX ||
	    strlen(config->file_name) >= NAME_MAX_BYTES)
		return err_set(reterr, GALVO_ERR_INVALID, "%s: not a stream that can be written",
		               config->file_name);
	s = alloc_array(1, sizeof(*s));
	if (!s)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	s->writer = w;
	s->form = stream_form_of(config->kind);
	s->frequency_hz = config->frequency_hz;
	s->cpu_count = config->cpu_count;
	s->gpu_offset_ns = config->gpu_offset_ns;
	s->batch_bytes = config->batch_bytes ? config->batch_bytes : BATCH_BYTES_DEFAULT;
	memcpy(s->file_name, config->file_name, strlen(config->file_name));
	utf8_copy(s->hostname, sizeof(s->hostname), span_str(config->hostname));
	s->fd = -1;
	status = names_build(s, config, reterr);
	if (status == GALVO_OK)
		status = batches_build(s, reterr);
	if (status != GALVO_OK)
		goto fail;
	s->fd = file_open(w->dir_fd, s->file_name, O_WRONLY | O_CREAT | O_APPEND |
	                                              (config->is_new ? O_EXCL : O_TRUNC));
	if (s->fd < 0)
		status = err_sys(reterr, errno, "%s", s->file_name);
	else if (config->is_new)
		status = claim(s, reterr);
	if (status != GALVO_OK)
		goto fail;
	w->streams[w->streams_len++] = s;
	*ret_stream = s;
	return GALVO_OK;
fail:
	stream_destroy(s);
	return status;
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* The first failure of the run is the one that writer_stop tells. */
static void note_error(struct stream *s, int sys_errno)
{
	if (s->writer->first_error.status == GALVO_OK)
		err_sys(&s->writer->first_error, sys_errno, "%s", s->file_name);
}

/* Seals the message, then one write. A short write goes on; a failed one leaves no trace. */
static void batch_write(struct stream *s, struct batch *b)
{
	char *message = b->base + b->start_bytes, *seal = b->base + b->end_bytes - SEAL_BYTES;
	struct span rest = span_of(message, b->end_bytes - b->start_bytes);
	size_t written, bytes = rest.n;
	uint64_t length;
	int failed;

	wire_take_varint(&rest, &length);
	wire_put_fixed32(seal, TRACE_CHECKSUM,
	                 (uint32_t)crc32_z(0, (const unsigned char *)rest.p,
	                                   (size_t)(seal - rest.p)));
	failed = file_write_all(s->fd, message, bytes, &written);
	if (!failed) {
		s->file_bytes += bytes;
		atomic_fetch_add_explicit(&s->bytes_written, bytes, memory_order_relaxed);
		atomic_fetch_add_explicit(&s->messages, 1, memory_order_release);
		return;
	}
	/* What was written of it is cut off again; where that fails too, readers step over it. */
	if (written && ftruncate(s->fd, (off_t)s->file_bytes) != 0)
		s->file_bytes += written;
	note_error(s, failed);
	atomic_fetch_add_explicit(&s->dropped_rows, b->rows, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->dropped_batches, 1, memory_order_release);
}

/* The full batch that was flushed first; NULL: none is full. */
static struct batch *batch_next(struct stream *s)
{
	struct batch *first = NULL;
	size_t i;

	for (i = 0; i < BATCHES; i++) {
		struct batch *b = &s->batches[i];

		if (atomic_load_explicit(&b->state, memory_order_acquire) == BATCH_FULL &&
		    (!first || b->sequence < first->sequence))
			first = b;
	}
	return first;
}

/* Writes all that is full. A batch is free again only when its bytes are the kernel's. */
static void drain(struct writer *w)
{
	struct batch *b;
	size_t i;

	for (i = 0; i < w->streams_len; i++) {
		struct stream *s = w->streams[i];

		atomic_store_explicit(&w->at_work, s, memory_order_relaxed);
		while ((b = batch_next(s))) {
			batch_write(s, b);
			atomic_store_explicit(&b->state, BATCH_FREE, memory_order_release);
		}
	}
	atomic_store_explicit(&w->thread_cpu_ns, thread_cpu_ns(), memory_order_relaxed);
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	bool stopping = false;
	int failed;
	size_t i;

	pthread_setname_np(pthread_self(), "galvo-write");
	while (!stopping) {
		clock_real.sleep_until(&clock_real, UINT64_MAX, &w->wake);
		/* This sees what was flushed before the wake; what comes later wakes again. */
		atomic_exchange_explicit(&w->wake, 0, memory_order_acq_rel);
		stopping = atomic_load_explicit(&w->stopping, memory_order_acquire);
		drain(w);
	}
	/* Network file systems tell of a full disk only here. */
	for (i = 0; i < w->streams_len; i++) {
		struct stream *s = w->streams[i];

		atomic_store_explicit(&w->at_work, s, memory_order_relaxed);
		failed = close_file(s);
		if (failed)
			note_error(s, failed);
	}
	clock_wake(&w->drained);
	clock_real.sleep_until(&clock_real, UINT64_MAX, &w->last);
	if (w->last_name)
		file_replace(w->dir_fd, w->last_name, w->last_file.p, w->last_file.len, &w->last_error);
	clock_wake(&w->done);
	return NULL;
}

galvo_status writer_start(struct writer *w, galvo_error *reterr)
{
	int failed;

	if (w->running || atomic_load(&w->drained))
		return err_set(reterr, GALVO_ERR_STATE, "the writer was started before");
	failed = thread_start(&w->thread, writer_main, w);
	if (failed)
		return err_sys(reterr, failed, "starting the writer's thread");
	w->running = true;
	return GALVO_OK;
}

/* Until the thread has got so far; or it is left behind, with all that it may still use. */
static galvo_status await(struct writer *w, _Atomic uint32_t *what, uint64_t timeout_ns,
                          galvo_error *reterr)
{
	const struct stream *at_work;
	uint64_t deadline_ns;

	if (__builtin_add_overflow(clock_real.mono_ns(&clock_real), timeout_ns, &deadline_ns))
		deadline_ns = UINT64_MAX;
	clock_real.sleep_until(&clock_real, deadline_ns, what);
	if (atomic_load_explicit(what, memory_order_acquire))
		return GALVO_OK;
	thread_leave(w->thread);
	w->running = false;
	w->abandoned = true;
	at_work = atomic_load(&w->at_work);
	return err_set(reterr, GALVO_ERR_STATE,
	               "%s: the file system does not answer; what was not written is lost",
	               w->last_name ? w->last_name : at_work ? at_work->file_name : "writer");
}

static galvo_status give(const galvo_error *error, galvo_error *reterr)
{
	if (error->status != GALVO_OK && reterr)
		*reterr = *error;
	return (galvo_status)error->status;
}

galvo_status writer_drain(struct writer *w, uint64_t timeout_ns, galvo_error *reterr)
{
	galvo_status status;

	if (!w->running || w->is_drained)
		return GALVO_OK;
	w->is_drained = true;
	atomic_store_explicit(&w->stopping, true, memory_order_release);
	clock_wake(&w->wake);
	status = await(w, &w->drained, timeout_ns, reterr);
	return status == GALVO_OK ? give(&w->first_error, reterr) : status;
}

galvo_status writer_put_last(struct writer *w, const char *name, struct buf *bytes,
                             uint64_t timeout_ns, galvo_error *reterr)
{
	galvo_status status;

	if (!w->running || !w->is_drained || w->last_name)
		return err_set(reterr, GALVO_ERR_STATE, "%s: the writer is not at its end", name);
	w->last_name = name;
	w->last_file = *bytes;
	*bytes = (struct buf){0};
	clock_wake(&w->last);
	status = await(w, &w->done, timeout_ns, reterr);
	return status == GALVO_OK ? give(&w->last_error, reterr) : status;
}

galvo_status writer_stop(struct writer *w, uint64_t timeout_ns, galvo_error *reterr)
{
	galvo_status status = writer_drain(w, timeout_ns, reterr);

	if (!w->running)
		return status;
	clock_wake(&w->last);
	pthread_join(w->thread, NULL);
	w->running = false;
	return status;
}

bool writer_destroy(struct writer *w)
{
	size_t i;

	if (!w)
		return true;
	writer_stop(w, DESTROY_TIMEOUT_NS, NULL);
	if (w->abandoned)
		return false; /* its thread may still come back and use all this */
	for (i = 0; i < w->streams_len; i++)
		stream_destroy(w->streams[i]);
	buf_finish(&w->last_file);
	free(w);
	return true;
}

void writer_get_totals(const struct writer *w, struct writer_totals *ret)
{
	size_t i;

	*ret = (struct writer_totals){
		.thread_cpu_ns = atomic_load_explicit(&w->thread_cpu_ns, memory_order_relaxed),
	};
	for (i = 0; i < w->streams_len; i++) {
		const struct stream *s = w->streams[i];

		/* Messages first: their bytes and rows are then counted too. */
		ret->messages += atomic_load_explicit(&s->messages, memory_order_acquire);
		ret->dropped_batches +=
			atomic_load_explicit(&s->dropped_batches, memory_order_acquire);
		ret->bytes_written += atomic_load_explicit(&s->bytes_written, memory_order_relaxed);
		ret->thread_cpu_ns += atomic_load_explicit(&s->owner_cpu_ns, memory_order_relaxed);
		ret->dropped_rows += atomic_load_explicit(&s->dropped_rows, memory_order_relaxed);
	}
}
