/* A run while it is read, and when that is done: arrays, and the memory that they are in. */
#include "reader.h"

enum {
	PROCESSES_LEAST = 1024,
};

void reading_init(struct reading *r)
{
	*r = (struct reading){0};
	interner_init(&r->process_keys, PROCESSES_LEAST);
	interner_init(&r->thread_keys, PROCESSES_LEAST);
	interner_init(&r->device_keys, SIZE_MAX);
	interner_init(&r->event_names, SIZE_MAX);
	buf_init(&r->streams, SIZE_MAX / 2);
	buf_init(&r->tables, SIZE_MAX / 2);
	buf_init(&r->processes, SIZE_MAX / 2);
	buf_init(&r->threads, SIZE_MAX / 2);
	buf_init(&r->devices, SIZE_MAX / 2);
	buf_init(&r->gpus, SIZE_MAX / 2);
	buf_init(&r->sources, SIZE_MAX / 2);
	buf_init(&r->damages, SIZE_MAX / 2);
	buf_init(&r->regions, SIZE_MAX / 2);
	buf_init(&r->marks, SIZE_MAX / 2);
	buf_init(&r->open_regions, SIZE_MAX / 2);
	buf_init(&r->anchors, SIZE_MAX / 2);
}

void reading_finish(struct reading *r)
{
	interner_finish(&r->process_keys);
	interner_finish(&r->thread_keys);
	interner_finish(&r->device_keys);
	interner_finish(&r->event_names);
	buf_finish(&r->streams);
	buf_finish(&r->tables);
	buf_finish(&r->processes);
	buf_finish(&r->threads);
	buf_finish(&r->devices);
	buf_finish(&r->gpus);
	buf_finish(&r->sources);
	buf_finish(&r->damages);
	buf_finish(&r->regions);
	buf_finish(&r->marks);
	buf_finish(&r->open_regions);
	buf_finish(&r->anchors);
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

static int compare_anchors(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return x->mono_ns < y->mono_ns ? -1 : x->mono_ns > y->mono_ns;
}

galvo_status reading_take(struct reading *r, const struct session *session,
                          struct galvo_run **ret_run, galvo_error *reterr)
{
	struct galvo_run run = {.session = session}, *result;
	const void *streams, *tables, *processes, *devices, *sources, *damages, *regions, *marks,
		*anchors, *threads, *gpus;

	if (r->anchors.len)
		qsort(r->anchors.p, r->anchors.len / sizeof(struct anchor), sizeof(struct anchor),
		      compare_anchors);
	result = arena_alloc(&r->arena, 1, sizeof(*result));
	if (!result || !name_devices(r) || !events_name(r) ||
	    !take(&r->arena, &r->streams, sizeof(*run.streams), &streams, &run.streams_len) ||
	    !take(&r->arena, &r->tables, sizeof(*run.tables), &tables, &run.tables_len) ||
	    !take(&r->arena, &r->processes, sizeof(*run.processes), &processes,
	          &run.processes_len) ||
	    !take(&r->arena, &r->threads, sizeof(*run.threads), &threads, &run.threads_len) ||
	    !take(&r->arena, &r->devices, sizeof(*run.devices), &devices, &run.devices_len) ||
	    !take(&r->arena, &r->gpus, sizeof(*run.gpus), &gpus, &run.gpus_len) ||
	    !take(&r->arena, &r->sources, sizeof(*run.sources), &sources, &run.sources_len) ||
	    !take(&r->arena, &r->regions, sizeof(*run.regions), &regions, &run.regions_len) ||
	    !take(&r->arena, &r->marks, sizeof(*run.marks), &marks, &run.marks_len) ||
	    !take(&r->arena, &r->anchors, sizeof(*run.anchors), &anchors, &run.anchors_len) ||
	    !take(&r->arena, &r->damages, sizeof(*run.damages), &damages, &run.damages_len))
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	run.streams = streams;
	run.tables = tables;
	run.processes = processes;
	run.threads = threads;
	run.devices = devices;
	run.gpus = gpus;
	run.sources = sources;
	run.damages = damages;
	run.anchors = anchors;
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

galvo_status run_read_bytes(enum stream_kind kind, struct span bytes, struct galvo_run **ret_run,
                            galvo_error *reterr)
{
	const struct stream_form *form = stream_form_of(kind);
	struct stream_progress progress;
	struct stream_build *build;
	struct reading r;
	galvo_status status;
	size_t taken;

	if (!form)
		return err_set(reterr, GALVO_ERR_INVALID, "no stream of kind %d", (int)kind);
	reading_init(&r);
	build = stream_build_create(&r, form, form->file_name, &STREAM_START, bytes.n);
	status = !build ? err_set(reterr, GALVO_ERR_NOMEM, "out of memory")
	                : stream_build_push(build, bytes, END_FINAL, &taken, reterr);
	if (status == GALVO_OK && !stream_build_take(build, &progress))
		status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	stream_build_destroy(build);
	if (status == GALVO_OK)
		status = reading_take(&r, NULL, ret_run, reterr);
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
