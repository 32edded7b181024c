/* The floor: one pread a file and one clock a process, at the cadence of the table of sources. */
#include "floor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { FILES_MAX = 1 << 16, PATH_BYTES = 320, TEXT_BYTES = 64 << 10 };
#define DISK_PERIOD_NS (100 * NS_PER_MS)

/* A file that cannot be opened costs galvo nothing either. */
static void add_file(struct floor *f, const struct world *w, const char *path, uint64_t every)
{
	int fd = openat(w->root_fd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!grow_array((void **)&f->files, &f->files_cap, f->files_len, sizeof(*f->files),
	                FILES_MAX)) {
		close(fd);
		return;
	}
	f->files[f->files_len++] = (struct floor_file){fd, every ? every : 1};
}

static uint64_t every_of(const struct source *source, const struct source_text *t,
                         uint64_t period_ns)
{
	uint64_t own_ns = source->period_ns;

	if (source->stream == STREAM_DISK && own_ns < DISK_PERIOD_NS)
		own_ns = DISK_PERIOD_NS;
	own_ns = own_ns < period_ns ? period_ns : own_ns;
	return own_ns / period_ns * (t->every ? t->every : 1);
}

static void add_of_processes(struct floor *f, const struct world *w, const struct source_text *t,
                             uint64_t every)
{
	char path[PATH_BYTES];
	size_t i;

	for (i = 0; i < f->pids_len; i++) {
		snprintf(path, sizeof(path), "proc/%d/%s", f->pids[i], t->path);
		add_file(f, w, path, every);
	}
}

/* A text that each device has for itself, of the devices recorded by default. */
static void add_of_devices(struct floor *f, const struct world *w, const struct source_text *t,
                           uint64_t every)
{
	int fd = openat(w->root_fd, "sys/block", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const char *rest = strchr(t->path, '%');
	char path[PATH_BYTES];
	struct dirent *entry;

	while (dir && rest && (entry = readdir(dir))) {
		struct block_device block;

		if (entry->d_name[0] == '.')
			continue;
		block_device_look(w, span_str(entry->d_name), &block);
		snprintf(path, sizeof(path), "%.*s%.40s%s", (int)(rest - t->path), t->path,
		         entry->d_name, rest + 2);
		if (block.by_default)
			add_file(f, w, path, every);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/*
 * Sources of one stream that read the same file share the reading: is this the first of them?
 * *every becomes the shortest of their periods, in ticks.
 */
static bool is_first(const struct source *source, const struct source_text *text, uint64_t *every,
                     uint64_t period_ns)
{
	bool is_seen = false, answer = false;
	size_t i, j;

	for (i = 0; i < source_table_len; i++) {
		const struct source *s = source_table[i];

		for (j = 0; j < s->texts_len && s->shape != SHAPE_PROCESS; j++) {
			const struct source_text *t = &s->texts[j];
			uint64_t n = every_of(s, t, period_ns);

			if (s->stream != source->stream || strcmp(t->path, text->path) != 0)
				continue;
			answer |= !is_seen && s == source && t == text;
			is_seen = true;
			*every = n < *every ? n : *every;
		}
	}
	return answer;
}

static void add_source(struct floor *f, const struct world *w, const struct source *source,
                       uint64_t period_ns)
{
	size_t i;

	for (i = 0; i < source->texts_len; i++) {
		const struct source_text *t = &source->texts[i];
		uint64_t every = every_of(source, t, period_ns);

		if (t->on_request)
			continue;
		if (source->shape == SHAPE_PROCESS)
			add_of_processes(f, w, t, every);
		else if (i && source->shape == SHAPE_LISTED)
			add_of_devices(f, w, t, every);
		else if (is_first(source, t, &every, period_ns))
			add_file(f, w, t->path, every);
	}
}

galvo_status floor_open(struct floor *f, const struct world *w, const pid_t *pids, size_t pids_len,
                        uint64_t period_ns, bool with_disk, galvo_error *reterr)
{
	size_t i;

	*f = (struct floor){.pids = pids, .pids_len = pids_len};
	for (i = 0; i < source_table_len; i++)
		if (source_table[i]->stream == STREAM_SYSTEM || with_disk)
			add_source(f, w, source_table[i], period_ns);
	if (f->files_len)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_ABSENT, "nothing that galvo reads can be opened here");
}

static clockid_t clock_of(unsigned pid)
{
	return (clockid_t)((~pid << 3) | 2); /* CPUCLOCK_SCHED of a process */
}

void floor_tick(struct floor *f)
{
	char text[TEXT_BYTES];
	struct timespec t;
	size_t i;

	f->tick++;
	for (i = 0; i < f->files_len; i++)
		if (f->tick % f->files[i].every == 0 &&
		    pread(f->files[i].fd, text, sizeof(text), 0) > 0)
			f->nonsense += (unsigned char)text[0];
	for (i = 0; i < f->pids_len; i++)
		if (clock_gettime(clock_of((unsigned)f->pids[i]), &t) == 0)
			f->nonsense += (uint64_t)t.tv_nsec;
}

void floor_close(struct floor *f)
{
	size_t i;

	for (i = 0; i < f->files_len; i++)
		close(f->files[i].fd);
	free(f->files);
	*f = (struct floor){0};
}
