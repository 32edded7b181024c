/* Gives each file of the named directories to a fuzz target, in memory of exactly its size. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int replay(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	uint8_t *data;
	size_t n;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	n = (size_t)st.st_size;
	data = malloc(n ? n : 1);
	if (!data || read(fd, data, n) != (ssize_t)n)
		return -1;
	close(fd);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 1;
}

int main(int argc, char **argv)
{
	int i, got, count = 0;

	for (i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		struct dirent *entry;

		if (!dir) {
			perror(argv[i]);
			return 1;
		}
		while ((entry = readdir(dir))) {
			got = replay(dirfd(dir), entry->d_name);
			if (got < 0) {
				perror(entry->d_name);
				return 1;
			}
			count += got;
		}
		closedir(dir);
	}
	printf("%d inputs\n", count);
	return count == 0;
}
