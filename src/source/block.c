/* What a block device is: whole or a part, a path of another, stacked on others. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"

enum { PATH_BYTES = 320 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct span digits_dropped(struct span name)
{
	while (name.n && is_digit(name.p[name.n - 1]))
		name.n--;
	return name;
}

/* "sda1", "nvme0n1p2", "cciss/c0d0p1": a name that ends in a digit gets a 'p' before the number. */
static bool is_partition_name(struct span name)
{
	static const char *const lettered[] = {"sd", "hd", "vd", "xvd", "ubd"};
	struct span stem = digits_dropped(name);
	size_t i;

	if (stem.n == name.n || stem.n < 2)
		return false;
	if (stem.p[stem.n - 1] == 'p' && is_digit(stem.p[stem.n - 2]))
		return true;
	for (i = 0; i < ARRAY_LEN(lettered); i++)
		if (span_starts(stem, lettered[i]))
			return true;
	return false;
}

/* "nvme0c1n1": controller 1's path to the namespace that nvme0n1 is the head of. */
static bool is_path_name(struct span name)
{
	struct span stem = digits_dropped(name);
	size_t cut = stem.n;

	if (!span_starts(name, "nvme") || stem.n == name.n || cut < 2 || stem.p[cut - 1] != 'n')
		return false;
	stem = digits_dropped(span_of(stem.p, cut - 1));
	return stem.n < cut - 1 && stem.n > 4 && stem.p[stem.n - 1] == 'c' &&
	       is_digit(stem.p[stem.n - 2]);
}

static bool has_kind(struct span name, const char *const *kinds, size_t len)
{
	struct span stem = digits_dropped(name);
	size_t i;

	for (i = 0; i < len; i++)
		if (stem.n < name.n && span_eq_str(stem, kinds[i]))
			return true;
	return false;
}

static bool exists(const struct world *w, const char *folder, const char *name, const char *file)
{
	char path[PATH_BYTES];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s%s", folder, name, file);

	return n > 0 && (size_t)n < sizeof(path) && fstatat(w->root_fd, path, &st, 0) == 0;
}

static bool has_slaves(const struct world *w, const char *name)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "sys/block/%s/slaves", name);
	dir = file_open_dir(w->root_fd, path);
	if (!dir)
		return false;
	do
		entry = readdir(dir);
	while (entry && entry->d_name[0] == '.');
	closedir(dir);
	return entry != NULL;
}

static bool says_hidden(const struct world *w, const char *name)
{
	char path[PATH_BYTES], first = '0';
	int fd;

	snprintf(path, sizeof(path), "sys/block/%s/hidden", name);
	fd = file_open(w->root_fd, path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, &first, 1) != 1)
		first = '0';
	close(fd);
	return first == '1';
}

void block_device_look(const struct world *w, struct span name, struct block_device *ret)
{
	static const char *const above[] = {"dm-", "md", "loop", "zram", "bcache"};
	static const char *const not_asked[] = {"loop", "ram", "zram"};
	static const char *const zram[] = {"zram"};
	struct block_device d = {
		.whole = !is_partition_name(name),
		.hidden = is_path_name(name),
		.stacked = has_kind(name, above, ARRAY_LEN(above)),
	};
	char file[256];

	if (block_device_sysfs_name(name, file, sizeof(file))) {
		if (exists(w, "sys/block", file, "")) {
			d.whole = true;
			d.hidden = d.hidden || says_hidden(w, file);
			d.stacked = d.stacked || has_slaves(w, file);
		} else if (exists(w, "sys/class/block", file, "")) {
			d.whole = !exists(w, "sys/class/block", file, "/partition");
		}
	}
	d.by_default = d.whole && !d.hidden && !has_kind(name, not_asked, ARRAY_LEN(not_asked));
	d.when_used = d.whole && has_kind(name, zram, ARRAY_LEN(zram));
	*ret = d;
}

bool block_device_sysfs_name(struct span name, char *to, size_t cap)
{
	size_t i;

	if (name.n == 0 || name.n >= cap || memchr(name.p, '\0', name.n) ||
	    span_eq_str(name, ".") || span_eq_str(name, ".."))
		return false;
	for (i = 0; i < name.n; i++)
		to[i] = name.p[i] == '/' ? '!' : name.p[i];
	to[i] = '\0';
	return true;
}
