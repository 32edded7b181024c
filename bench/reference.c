/* The usual style of reading the kernel's files: open, read, close and sscanf, at every tick. */
#include "reference.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 64 << 10, PATH_BYTES = 320, LIST_EVERY = 10 };

static bool slurp(const char *path, char text[TEXT_BYTES])
{
	ssize_t got, len = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while ((got = read(fd, text + len, (size_t)(TEXT_BYTES - 1 - len))) > 0)
		len += got;
	close(fd);
	text[len] = '\0';
	return got >= 0;
}

static char *next_line(char *line)
{
	char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

static void read_cpus(struct reference *r, char *text)
{
	unsigned long long t[10];
	char name[32], *line;

	if (!slurp("/proc/stat", text))
		return;
	for (line = text; *line; line = next_line(line)) {
		if (strncmp(line, "cpu", 3) == 0 &&
		    sscanf(line, "%31s %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", name, &t[0],
		           &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &t[8], &t[9]) >= 5)
			r->sum += (double)(t[0] + t[2] + t[3]);
		else if (sscanf(line, "ctxt %llu", &t[0]) == 1 || sscanf(line, "processes %llu", &t[0]) == 1)
			r->sum += (double)t[0];
	}
}

/* Lines "key: number", of meminfo, status and io. */
static void read_keys(struct reference *r, const char *path, char *text)
{
	unsigned long long value;
	char key[64], *line;

	if (!slurp(path, text))
		return;
	for (line = text; *line; line = next_line(line))
		if (sscanf(line, "%63[^:]: %llu", key, &value) == 2)
			r->sum += (double)value;
}

static void read_disks(struct reference *r, char *text)
{
	unsigned long long v[11];
	unsigned major, minor;
	char name[64], *line;

	if (!slurp("/proc/diskstats", text))
		return;
	for (line = text; *line; line = next_line(line))
		if (sscanf(line, "%u %u %63s %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
		           &major, &minor, name, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7],
		           &v[8], &v[9], &v[10]) == 14)
			r->sum += (double)(v[2] + v[6]);
}

static void read_thread(struct reference *r, const char *path, char *text)
{
	unsigned long long run_ns, wait_ns, slices;

	if (slurp(path, text) && sscanf(text, "%llu %llu %llu", &run_ns, &wait_ns, &slices) == 3)
		r->sum += (double)run_ns;
}

static void read_threads(struct reference *r, pid_t pid, char *text)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", pid, entry->d_name);
		read_thread(r, path, text);
	}
	if (dir)
		closedir(dir);
}

/* Of a process or a thread. Returns the parent, 0: it could not be read. */
static pid_t read_stat(struct reference *r, const char *path, char *text)
{
	unsigned long user, system;
	int parent = 0;
	char *close_at;

	if (!slurp(path, text) || !(close_at = strrchr(text, ')')) ||
	    sscanf(close_at + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent, &user,
	           &system) != 3)
		return 0;
	r->sum += (double)(user + system);
	return parent;
}

static void read_process(struct reference *r, pid_t pid, char *text)
{
	unsigned long size, resident, shared;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_stat(r, path, text);
	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (slurp(path, text) && sscanf(text, "%lu %lu %lu", &size, &resident, &shared) == 3)
		r->sum += (double)resident;
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	read_keys(r, path, text);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	read_keys(r, path, text);
	if (r->has_threads)
		read_threads(r, pid, text);
}

void reference_tick(struct reference *r)
{
	char text[TEXT_BYTES];
	size_t i;

	read_cpus(r, text);
	read_keys(r, "/proc/meminfo", text);
	read_disks(r, text);
	for (i = 0; i < r->pids_len; i++)
		read_process(r, r->pids[i], text);
}

/* ---- with threads, and looking for children -------------------------------------------------- */

static void list_tasks(struct reference *r, pid_t pid)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	int tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%d", &tid) != 1)
			continue;
		if (r->tasks_len == r->tasks_cap) {
			size_t cap = r->tasks_cap ? r->tasks_cap * 2 : 64;
			void *tasks = realloc(r->tasks, cap * sizeof(*r->tasks));

			if (!tasks)
				break;
			r->tasks = tasks;
			r->tasks_cap = cap;
		}
		r->tasks[r->tasks_len++] = (struct reference_task){pid, tid};
	}
	if (dir)
		closedir(dir);
}

static void look_for_children(struct reference *r, char *text)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	pid_t parent;
	size_t i;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
		parent = read_stat(r, path, text);
		for (i = 0; i < r->pids_len; i++)
			r->sum += r->pids[i] == parent;
	}
	if (dir)
		closedir(dir);
}

void reference_track(struct reference *r)
{
	char text[TEXT_BYTES], path[PATH_BYTES];
	size_t i;

	if (r->tick++ % LIST_EVERY == 0) {
		look_for_children(r, text);
		r->tasks_len = 0;
		for (i = 0; i < r->pids_len; i++)
			list_tasks(r, r->pids[i]);
	}
	read_cpus(r, text);
	read_keys(r, "/proc/meminfo", text);
	read_disks(r, text);
	for (i = 0; i < r->pids_len; i++) {
		snprintf(path, sizeof(path), "/proc/%d/stat", r->pids[i]);
		read_stat(r, path, text);
		snprintf(path, sizeof(path), "/proc/%d/io", r->pids[i]);
		read_keys(r, path, text);
		snprintf(path, sizeof(path), "/proc/%d/status", r->pids[i]);
		read_keys(r, path, text);
	}
	for (i = 0; i < r->tasks_len; i++) {
		const struct reference_task *t = &r->tasks[i];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", t->pid, t->tid);
		read_stat(r, path, text);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", t->pid, t->tid);
		read_thread(r, path, text);
	}
}

void reference_finish(struct reference *r)
{
	free(r->tasks);
	r->tasks = NULL;
	r->tasks_len = r->tasks_cap = 0;
}
