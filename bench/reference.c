/* The usual style of reading the kernel's files: open, read, close and sscanf, at every tick. */
#include "reference.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 64 << 10, PATH_BYTES = 320 };

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

static void read_process(struct reference *r, pid_t pid, char *text)
{
	unsigned long user, system, size, resident, shared;
	char path[PATH_BYTES], *close_at;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (slurp(path, text) && (close_at = strrchr(text, ')')) &&
	    sscanf(close_at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
	           &system) == 2)
		r->sum += (double)(user + system);
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
