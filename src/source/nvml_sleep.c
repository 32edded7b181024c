/* Whether all of NVIDIA's GPUs sleep: opening the library would wake them, and keep them awake. */
#include "nvml_device.h"

#define DEVICES "sys/bus/pci/devices"

enum { FILE_MAX_BYTES = 4096 };

static bool says(const struct world *w, const char *device, const char *file, const char *start,
                 struct buf *b)
{
	char path[sizeof(DEVICES) + 300];
	struct span text;

	snprintf(path, sizeof(path), DEVICES "/%.200s/%s", device, file);
	return file_read(w->root_fd, path, b, &text, NULL) == GALVO_OK && span_starts(text, start);
}

/* None of these files wakes anything. A display controller is of class 3. */
bool nvml_all_sleep(const struct world *w)
{
	size_t gpus = 0, asleep = 0;
	struct dirent *entry;
	struct buf b;
	DIR *dir = file_open_dir(w->root_fd, DEVICES);

	buf_init(&b, FILE_MAX_BYTES);
	while (dir && (entry = readdir(dir))) {
		if (!says(w, entry->d_name, "vendor", "0x10de", &b) ||
		    !says(w, entry->d_name, "class", "0x03", &b))
			continue;
		gpus++;
		asleep += says(w, entry->d_name, "power/runtime_status", "suspended", &b);
	}
	if (dir)
		closedir(dir);
	buf_finish(&b);
	return gpus && asleep == gpus;
}
