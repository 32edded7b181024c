/* An opened run: its directory, its session, all of its streams in columns. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

enum {
	SESSION_BYTES_MAX = 4 << 20,
	FILES_MAX = 16,           /* streams of a run */
	PROCESS_WIRE_BYTES = 32,  /* fewer bytes than an honest message spends on a process */
	PROCESSES_LEAST = 1024,
};

static const size_t FILE_BYTES_MAX = SIZE_MAX / 4;

void reading_init(struct reading *r)
{
	*r = (struct reading){0};
	interner_init(&r->process_keys, PROCESSES_LEAST);
	interner_init(&r->device_keys, SIZE_MAX);
	interner_init(&r->event_names, SIZE_MAX);
	buf_init(&r->streams, SIZE_MAX / 2);
	buf_init(&r->tables, SIZE_MAX / 2);
	buf_init(&r->processes, SIZE_MAX / 2);
	buf_init(&r->devices, SIZE_MAX / 2);
	buf_init(&r->sources, SIZE_MAX / 2);
	buf_init(&r->damages, SIZE_MAX / 2);
	buf_init(&r->regions, SIZE_MAX / 2);
	buf_init(&r->marks, SIZE_MAX / 2);
	buf_init(&r->open_regions, SIZE_MAX / 2);
}

void reading_finish(struct reading *r)
{
	interner_finish(&r->process_keys);
	interner_finish(&r->device_keys);
	interner_finish(&r->event_names);
	buf_finish(&r->streams);
	buf_finish(&r->tables);
	buf_finish(&r->processes);
	buf_finish(&r->devices);
	buf_finish(&r->sources);
	buf_finish(&r->damages);
	buf_finish(&r->regions);
	buf_finish(&r->marks);
	buf_finish(&r->open_regions);
	arena_finish(&r->arena);
}

/* The array of a buf in the arena. */
static bool take(struct arena *a, const struct buf *b, size_t size, const void **ret, size_t *ret_n)
{
	*ret_n = b->len / size;
	*ret = arena_copy(a, b->p, *ret_n, size);
	return *ret != NULL;
}

/* Devices were counted while their names were on the move. */
static bool name_devices(struct reading *r)
{
	const char *const *names = interner_export(&r->device_keys, &r->arena);
	struct run_device *devices = (struct run_device *)(void *)r->devices.p;
	size_t i;

	for (i = 0; names && i < r->device_keys.len; i++)
		devices[i].name = names[i];
	return names != NULL;
}

/* Makes the run of what was read; the arena becomes the run's. */
static galvo_status reading_take(struct reading *r, const struct session *session,
                                 struct galvo_run **ret_run, galvo_error *reterr)
{
	struct galvo_run run = {.session = session}, *result;
	const void *streams, *tables, *processes, *devices, *sources, *damages, *regions, *marks;

	result = arena_alloc(&r->arena, 1, sizeof(*result));
	if (!result || !name_devices(r) || !events_name(r) ||
	    !take(&r->arena, &r->streams, sizeof(*run.streams), &streams, &run.streams_len) ||
	    !take(&r->arena, &r->tables, sizeof(*run.tables), &tables, &run.tables_len) ||
	    !take(&r->arena, &r->processes, sizeof(*run.processes), &processes,
	          &run.processes_len) ||
	    !take(&r->arena, &r->devices, sizeof(*run.devices), &devices, &run.devices_len) ||
	    !take(&r->arena, &r->sources, sizeof(*run.sources), &sources, &run.sources_len) ||
	    !take(&r->arena, &r->regions, sizeof(*run.regions), &regions, &run.regions_len) ||
	    !take(&r->arena, &r->marks, sizeof(*run.marks), &marks, &run.marks_len) ||
	    !take(&r->arena, &r->damages, sizeof(*run.damages), &damages, &run.damages_len))
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	run.streams = streams;
	run.tables = tables;
	run.processes = processes;
	run.devices = devices;
	run.sources = sources;
	run.damages = damages;
	run.regions = regions;
	run.marks = marks;
	run.memory = r->arena.top;
	r->arena.top = NULL;
	*result = run;
	*ret_run = result;
	return GALVO_OK;
}

void galvo_run_close(galvo_run *run)
{
	struct arena a = {run ? run->memory : NULL};

	arena_finish(&a);
}

/* A hostile file cannot make the list of processes many times its own size. */
static galvo_status add_stream(struct reading *r, const struct stream_form *form,
                               const char *file_name, struct span bytes, galvo_error *reterr)
{
	r->process_keys.max += bytes.n / PROCESS_WIRE_BYTES;
	return reading_add_stream(r, form, file_name, bytes, reterr);
}

galvo_status run_read_bytes(enum stream_kind kind, struct span bytes, struct galvo_run **ret_run,
                            galvo_error *reterr)
{
	const struct stream_form *form = stream_form_of(kind);
	struct reading r;
	galvo_status status;

	if (!form)
		return err_set(reterr, GALVO_ERR_INVALID, "no stream of kind %d", (int)kind);
	reading_init(&r);
	status = add_stream(&r, form, form->file_name, bytes, reterr);
	if (status == GALVO_OK)
		status = reading_take(&r, NULL, ret_run, reterr);
	reading_finish(&r);
	return status;
}

/* ---- the directory ------------------------------------------------------------------------- */

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

galvo_status run_dir_open(const char *dir, struct arena *a, int *ret_fd,
                          const struct session **ret_session, const char **ret_why,
                          galvo_error *reterr)
{
	struct buf file;
	struct span bytes;
	galvo_error e = {0};
	galvo_status status;
	int fd = file_open(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);

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
	size_t named = !s ? 0 : s->probes_len < FILES_MAX ? s->probes_len : FILES_MAX;

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

/* All streams that are there, and a note for each that is not and should be. */
static galvo_status add_streams(struct reading *r, int dir_fd, const struct session *session,
                                galvo_error *reterr)
{
	const struct stream_form *form;
	galvo_status status = GALVO_OK;
	const char *name;
	size_t i;

	for (i = 0; status == GALVO_OK && run_stream_name(session, i, &form, &name); i++) {
		struct span bytes;
		galvo_error e = {0};
		struct buf file;

		if (!form)
			continue;
		status = run_file_read(dir_fd, name, &file, &bytes, &e);
		if (status == GALVO_OK)
			status = add_stream(r, form, name, bytes, reterr);
		else if (status == GALVO_ERR_NOMEM)
			err_set(reterr, status, "%s", e.text);
		else if (status == GALVO_ERR_ABSENT &&
		         !is_named_before(session, session ? session->probes_len : 0, 0, name))
			status = GALVO_OK;
		else
			status = add_absent(r, form, name, e.text, reterr);
		buf_finish(&file);
	}
	return status;
}

galvo_status galvo_run_open(const char *dir, galvo_run **ret_run, galvo_error *reterr)
{
	const struct session *session;
	struct reading r;
	galvo_status status;
	const char *why;
	int fd = -1;

	reading_init(&r);
	status = run_dir_open(dir, &r.arena, &fd, &session, &why, reterr);
	if (status == GALVO_OK)
		status = add_streams(&r, fd, session, reterr);
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

/* ---- looking things up --------------------------------------------------------------------- */

const struct table *run_table(const struct galvo_run *run, enum stream_kind kind, enum scope scope)
{
	size_t i;

	for (i = 0; i < run->tables_len; i++)
		if (run->tables[i].stream == kind && run->tables[i].scope == scope)
			return &run->tables[i];
	return NULL;
}

size_t table_column(const struct table *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->columns_len; i++)
		if (strcmp(t->columns[i], name) == 0)
			return i;
	return SIZE_MAX;
}
