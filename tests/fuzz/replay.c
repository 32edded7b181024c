/* Runs a fuzz target over the files of folders, each in memory of exactly its size. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int replay(const char *folder, const char *name)
{
	char path[4096];
	uint8_t *bytes;
	long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	if (f && fseek(f, 0, SEEK_END) == 0)
		n = ftell(f);
	bytes = n >= 0 ? malloc(n ? (size_t)n : 1) : NULL;
	if (!f || !bytes || fseek(f, 0, SEEK_SET) != 0 ||
	    fread(bytes, 1, (size_t)n, f) != (size_t)n) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, (size_t)n);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	size_t files = 0, failed = 0;
	struct dirent *entry;
	int i;

	for (i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);

		while (dir && (entry = readdir(dir)))
			if (entry->d_name[0] != '.') {
				failed += (size_t)replay(argv[i], entry->d_name);
				files++;
			}
		if (dir)
			closedir(dir);
	}
	printf("%zu files replayed\n", files);
	return files == 0 || failed != 0;
}
