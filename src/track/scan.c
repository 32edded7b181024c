/* The walk: children files of every followed process and of the adopter of orphans. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"

/* A process that is gone before we could look is no failure. */
static void admit(struct track *t, uint32_t pid, const struct newcomer *as, uint64_t mono_ns)
{
	struct tracked *e = pid ? track_find(t, pid) : NULL;
	struct newcomer who = *as;

	who.pid = pid;
	if (e)
		track_widen(t, e, who.streams);
	else if (pid && track_admit_child(t, &who, mono_ns) == GALVO_ERR_STATE)
		/* Whom the kernel has told of waits for its turn by itself. */
		t->must_walk |= !t->kernel || !candidate_find(t->kernel, pid);
}

/* Admits the children one task of a process lists. */
static galvo_status admit_children_of(struct track *t, int dir_fd, const char *path,
                                      const struct newcomer *as, uint64_t mono_ns)
{
	struct span text;
	galvo_status status;
	uint32_t pid;

	t->asked++;
	status = file_read(dir_fd, path, &t->children, &text, NULL);
	if (status != GALVO_OK)
		return status;
	while (process_children_take(&text, &pid))
		admit(t, pid, as, mono_ns);
	return GALVO_OK;
}

void track_ignore_children(struct track *t, uint32_t pid)
{
	const struct world *w = t->config.world;
	char path[TRACK_PATH_BYTES];
	struct process_stat stat;
	struct span list;
	uint32_t child;

	snprintf(path, sizeof(path), "proc/%u/task/%u/children", pid, pid);
	if (file_read(w->root_fd, path, &t->children, &list, NULL) != GALVO_OK)
		return;
	while (process_children_take(&list, &child)) {
		if (track_read_stat_of(w, child, &t->text, &stat) == GALVO_OK)
			track_ignore(t, child, stat.start_ticks);
	}
}

bool track_child_of(const struct track *t, const struct tracked *e, struct newcomer *ret)
{
	if (e ? e->follow == FOLLOW_NONE : !t->follows_tree)
		return false;
	*ret = (struct newcomer){
		.streams = e ? atomic_load(&e->streams) : STREAM_ALL,
		.follow = !e || e->follow == FOLLOW_TREE ? FOLLOW_TREE : FOLLOW_NONE,
	};
	return true;
}

bool track_is_wanted(struct track *t, uint32_t ppid, struct newcomer *ret)
{
	const struct tracked *parent = track_find(t, ppid);

	return (parent || (ppid && ppid == t->config.adopter_pid)) && track_child_of(t, parent, ret);
}

static bool is_number(const char *name, uint32_t *ret)
{
	uint64_t v;

	if (!span_to_u64(span_str(name), &v) || v > INT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* A child is listed under the thread that forked it, so every thread is asked. */
static galvo_status admit_children(struct track *t, struct tracked *e, uint64_t mono_ns)
{
	struct newcomer as;
	char name[TRACK_PATH_BYTES], path[TRACK_PATH_BYTES];
	const struct world *w = t->config.world;
	galvo_status status = GALVO_ERR_ABSENT;
	struct dirent *entry;
	struct stat facts;
	uint32_t tid;
	DIR *dir;
	int fd;

	if (!track_child_of(t, e, &as))
		return GALVO_DONE;
	fd = track_path(w, e, "task", path);
	/* A directory of tasks has a link for each, besides the two of every directory. */
	if (fstatat(fd, path, &facts, 0) == 0 && facts.st_nlink == 3) {
		snprintf(name, sizeof(name), "task/%u/children", e->info.pid);
		return admit_children_of(t, track_path(w, e, name, path), path, &as, mono_ns);
	}
	dir = file_open_dir(fd, path);
	if (!dir)
		return GALVO_ERR_ABSENT;
	while ((entry = readdir(dir))) {
		if (!is_number(entry->d_name, &tid))
			continue;
		snprintf(name, sizeof(name), "%u/children", tid);
		if (admit_children_of(t, dirfd(dir), name, &as, mono_ns) == GALVO_OK)
			status = GALVO_OK;
	}
	closedir(dir);
	return status;
}

/* For kernels without children files: whoever names a followed process as its parent. */
static void admit_by_parent(struct track *t, uint64_t mono_ns)
{
	const struct world *w = t->config.world;
	struct process_stat stat;
	struct dirent *entry;
	struct newcomer as;
	galvo_status status;
	uint32_t pid;
	DIR *dir = file_open_dir(w->root_fd, "proc");

	while (dir && (entry = readdir(dir))) {
		if (!is_number(entry->d_name, &pid) || track_find(t, pid))
			continue;
		pthread_mutex_unlock(&t->lock);
		status = track_read_stat_of(w, pid, &t->children, &stat);
		pthread_mutex_lock(&t->lock);
		if (status == GALVO_OK && track_is_wanted(t, stat.ppid, &as))
			admit(t, pid, &as, mono_ns);
	}
	if (dir)
		closedir(dir);
}

/* The first in the list after the one with that serial number, which was at *at. */
static struct tracked *next_after(const struct track *t, uint64_t serial, size_t *at)
{
	while (*at > 0 && (*at >= t->len || t->list[*at - 1]->serial > serial))
		--*at;
	while (*at < t->len && t->list[*at]->serial <= serial)
		++*at;
	return *at < t->len ? t->list[*at] : NULL;
}

void track_walk(struct track *t, uint64_t mono_ns)
{
	char path[TRACK_PATH_BYTES];
	bool lists_work = false;
	struct newcomer orphan;
	struct tracked *e;
	uint64_t serial = 0;
	size_t at = 0;

	t->asked = 0;
	t->has_refused = false;
	/* What is admitted lands at the end of the list, so its own children are found here too. */
	while ((e = next_after(t, serial, &at))) {
		serial = e->serial;
		if (atomic_load(&e->end_mono_ns))
			continue;
		e->refs++;
		lists_work |= admit_children(t, e, mono_ns) == GALVO_OK;
		track_unref(t, e);
	}
	if (t->config.adopter_pid && lists_work && track_child_of(t, NULL, &orphan)) {
		snprintf(path, sizeof(path), "proc/%u/task/%u/children", t->config.adopter_pid,
		         t->config.adopter_pid);
		admit_children_of(t, t->config.world->root_fd, path, &orphan, mono_ns);
	}
	if (!lists_work && t->alive)
		admit_by_parent(t, mono_ns);
}
