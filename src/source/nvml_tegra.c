/* Jetson: libnvidia-ml tells little of its GPU; load and temperature are in sysfs. */
#include "nvml_device.h"

#include <fcntl.h>
#include <unistd.h>

#define THERMAL "sys/class/thermal"

static bool read_text(const struct world *w, const char *path, struct buf *b, struct span *ret)
{
	if (file_read(w->root_fd, path, b, ret, NULL) != GALVO_OK)
		return false;
	*ret = span_trim(*ret);
	return true;
}

/* The zone that is called gpu-thermal, on older ones GPU-therm. */
static void find_thermal(struct nvml_library *l, struct buf *b)
{
	char path[sizeof(THERMAL) + 300];
	struct dirent *entry;
	struct span type;
	DIR *dir = file_open_dir(l->world->root_fd, THERMAL);

	while (dir && !l->thermal_path[0] && (entry = readdir(dir))) {
		if (!span_starts(span_str(entry->d_name), "thermal_zone"))
			continue;
		snprintf(path, sizeof(path), THERMAL "/%s/type", entry->d_name);
		if (read_text(l->world, path, b, &type) &&
		    (span_eq_str(type, "gpu-thermal") || span_eq_str(type, "GPU-therm")))
			snprintf(l->thermal_path, sizeof(l->thermal_path), THERMAL "/%.32s/temp",
			         entry->d_name);
	}
	if (dir)
		closedir(dir);
}

void tegra_look(struct nvml_library *l)
{
	/* By generation: Orin, Xavier, the older ones. */
	static const char *const loads[] = {
		"sys/devices/platform/gpu.0/load",
		"sys/devices/platform/bus@0/17000000.gpu/load",
		"sys/devices/platform/17000000.ga10b/load",
		"sys/devices/platform/17000000.gv11b/load",
		"sys/devices/gpu.0/load",
	};
	struct buf b;
	size_t i;

	for (i = 0; i < ARRAY_LEN(loads) && !l->load_path[0]; i++)
		if (faccessat(l->world->root_fd, loads[i], R_OK, 0) == 0)
			snprintf(l->load_path, sizeof(l->load_path), "%s", loads[i]);
	if (!l->load_path[0])
		return;
	buf_init(&b, TEGRA_TEXT_MAX_BYTES);
	find_thermal(l, &b);
	buf_finish(&b);
}

static void read_number(struct gpu_device *d, const char *path, unsigned field, struct raw *r)
{
	struct span text;
	uint64_t number;

	if (path[0] && !(r->present & FIELD(field)) &&
	    read_text(d->library->world, path, &d->text, &text) && span_to_u64(text, &number))
		raw_put(r, field, number);
}

/* The load is in thousandths, the temperature in those of a degree. */
void tegra_read(struct gpu_device *d, struct raw *r)
{
	if (!d->library->load_path[0])
		return;
	read_number(d, d->library->load_path, GPU_UTILIZATION_PERMILLE, r);
	read_number(d, d->library->thermal_path, GPU_TEMPERATURE_MC, r);
}
