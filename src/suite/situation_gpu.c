/* Whether GPUs are there and let us in. Nothing here starts a driver: devices are never opened. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "situation.h"

/* Names below dev/ of that beginning: how many, how many may be opened, the first that may not. */
static size_t count_devices(const struct situation *s, const char *folder, const char *start,
                            size_t *ret_open, char first[FOUND_BYTES])
{
	DIR *dir = file_open_dir(s->world->root_fd, folder);
	struct dirent *entry;
	size_t n = 0, len = strlen(start);

	*ret_open = 0;
	while (dir && (entry = readdir(dir))) {
		const char *rest = entry->d_name + len;

		if (strncmp(entry->d_name, start, len) != 0 || *rest < '0' || *rest > '9')
			continue;
		n++;
		if (faccessat(dirfd(dir), entry->d_name, R_OK | W_OK, AT_EACCESS) == 0)
			++*ret_open;
		else if (n - *ret_open == 1)
			snprintf(first, FOUND_BYTES, "/%s/%.200s", folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

bool situation_has_nvidia(const struct situation *s)
{
	char first[FOUND_BYTES];
	size_t may_open;

	return count_devices(s, "dev", "nvidia", &may_open, first) > 0;
}

/* A display controller of NVIDIA on the bus. */
static bool has_nvidia_on_bus(struct situation *s)
{
	DIR *dir = file_open_dir(s->world->root_fd, "sys/bus/pci/devices");
	struct dirent *entry;
	struct span text;
	char path[512];
	bool is_there = false;

	while (dir && !is_there && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vendor", entry->d_name);
		if (!situation_read(s, path, &text) || !span_starts(text, "0x10de"))
			continue;
		snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/class", entry->d_name);
		is_there = situation_read(s, path, &text) && span_starts(text, "0x03");
	}
	if (dir)
		closedir(dir);
	return is_there;
}

void look_nvidia_driver(struct situation *s, struct finding *f)
{
	char first[FOUND_BYTES] = "", name[64] = "of no known version";
	struct span text, version;
	size_t may_open, n = count_devices(s, "dev", "nvidia", &may_open, first);
	bool has_driver = situation_read(s, "proc/driver/nvidia/version", &text);

	if (has_driver && parse_nvidia_version(text, &version))
		utf8_copy(name, sizeof(name), version);
	if (!has_driver && n == 0 && !has_nvidia_on_bus(s)) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "no NVIDIA GPU");
	} else if (!has_driver) {
		finding_is(f, GALVO_VERDICT_NO, "an NVIDIA GPU without its driver");
		finding_means(f, "nothing of it can be recorded");
		finding_cure(f, "sudo modprobe nvidia");
	} else if (n == 0) {
		finding_is(f, GALVO_VERDICT_NO, "driver %s, and no /dev/nvidia0", name);
		finding_means(f, "nothing of the GPU can be recorded");
		finding_cure(f, !s->in_other_pids ? "sudo nvidia-modprobe -c 0 -u"
		                                 : "docker run --gpus all …");
	} else if (faccessat(s->world->root_fd, "dev/nvidiactl", F_OK, 0) != 0) {
		finding_is(f, GALVO_VERDICT_NO, "driver %s, and no /dev/nvidiactl", name);
		finding_means(f, "nothing of the GPU can be recorded");
		finding_cure(f, !s->in_other_pids ? "sudo nvidia-modprobe -c 255"
		                                 : "docker run --gpus all …");
	} else if (may_open < n) {
		finding_is(f, may_open ? GALVO_VERDICT_PARTLY : GALVO_VERDICT_NO,
		           "driver %s; %s and %zu more of %zu devices are closed to us", name, first,
		           n - may_open - 1, n);
		finding_means(f, "nothing of these GPUs can be recorded");
		finding_cure(f, "sudo chmod a+rw %s", first);
	} else {
		finding_is(f, GALVO_VERDICT_YES, "driver %s, %zu device%s", name, n, n == 1 ? "" : "s");
	}
}

void look_nvidia_counters(struct situation *s, struct finding *f)
{
	struct span text, value;

	if (!situation_read(s, "proc/driver/nvidia/params", &text)) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "no driver of NVIDIA");
		return;
	}
	if (!parse_field(text, "RmProfilingAdminOnly", &value)) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "the driver does not tell who may count");
		return;
	}
	if (span_eq_str(value, "0")) {
		finding_is(f, GALVO_VERDICT_YES, "RmProfilingAdminOnly is 0: everybody may count");
		return;
	}
	if (situation_can(s, CAP_SYS_ADMIN) && !s->in_other_users) {
		finding_is(f, GALVO_VERDICT_YES, "for administrators, as we are (CAP_SYS_ADMIN)");
		return;
	}
	if (!s->knows_caps) {
		finding_is(f, GALVO_VERDICT_UNKNOWN, "for administrators; capabilities are not told");
		return;
	}
	finding_is(f, GALVO_VERDICT_NO, "RmProfilingAdminOnly is 1, and we lack CAP_SYS_ADMIN");
	finding_means(f, "hardware counters of the GPU are refused (ERR_NVGPUCTRPERM); load, memory and "
	                 "power are not");
	finding_cure(f, "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee "
	                "/etc/modprobe.d/nvidia-counters.conf  # then reboot");
}

void look_render_nodes(struct situation *s, struct finding *f)
{
	char first[FOUND_BYTES] = "";
	size_t may_open, n = count_devices(s, "dev/dri", "renderD", &may_open, first);

	if (n == 0) {
		finding_is(f, GALVO_VERDICT_NOT_APPLICABLE, "no render node in /dev/dri");
		return;
	}
	if (may_open == n) {
		finding_is(f, GALVO_VERDICT_YES, "%zu, all open to us", n);
		return;
	}
	finding_is(f, may_open ? GALVO_VERDICT_PARTLY : GALVO_VERDICT_NO,
	           "%zu of %zu closed to us: %s", n - may_open, n, first);
	finding_means(f, "programs of this user cannot use that GPU; what others use of it can be seen "
	                 "where their /proc files can");
	finding_cure(f, "sudo usermod -aG render $USER  # or video; then log in again");
}
