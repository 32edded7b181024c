/* What a device is: from the driver, and from sysfs what its link to the machine can do. */
#include <math.h>
#include <stdio.h>

#include "device.h"

enum { SYSFS_TEXT_BYTES = 64 << 10 };

static int attribute(const struct device *d, int device, int which)
{
	int value = 0;

	return d->cuda->device_get_attribute(&value, which, device) == CUDA_OK && value > 0 ? value
	                                                                                  : 0;
}

/* What stands at the beginning of a file in sysfs, up to a blank: "16.0" of "16.0 GT/s PCIe". */
static bool sysfs_word(const struct device *d, struct buf *buf, const char *path,
                       struct span *ret_word)
{
	struct span text, line;

	return d->wish.world->root_fd >= 0 &&
	       file_read(d->wish.world->root_fd, path, buf, &text, NULL) == GALVO_OK &&
	       span_take_line(&text, &line) && span_take_word(&line, ret_word);
}

/* Of the device's link, or of the port at its other end; NaN if it is not there. */
static double link_number(const struct device *d, const char *file)
{
	char path[96];
	struct span word;
	struct buf buf;
	double number;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", d->info.pci, file);
	buf_init(&buf, SYSFS_TEXT_BYTES);
	if (!d->info.pci[0] || !sysfs_word(d, &buf, path, &word) ||
	    !span_to_double(word, &number) || number <= 0)
		number = NAN;
	buf_finish(&buf);
	return number;
}

static void driver_put(struct device *d)
{
	struct span word;
	struct buf buf;

	buf_init(&buf, SYSFS_TEXT_BYTES);
	if (sysfs_word(d, &buf, "sys/module/nvidia/version", &word))
		utf8_copy(d->info.driver, sizeof(d->info.driver), word);
	buf_finish(&buf);
}

/*
 * Bytes a second and direction of the fastest link that both ends can make; it is slower while there is
 * nothing to do. Up to 5 GT/s 8 of 10 bits are data, from 64 on 236 of 256 bytes, else 128 of 130 bits.
 */
static double peak_pcie(const struct device *d)
{
	double speed = fmin(link_number(d, "max_link_speed"), link_number(d, "../max_link_speed"));
	double width = link_number(d, "current_link_width");
	double share = speed <= 5 ? 0.8 : speed < 64 ? 128.0 / 130 : 236.0 / 256;

	return speed * 1e9 * width * share / 8;
}

/* "GPU-" and what uuids look like; of an instance, "MIG-". */
static void uuid_put(char to[64], const unsigned char *bytes, bool is_instance)
{
	size_t i, n = (size_t)snprintf(to, 64, "%s", is_instance ? "MIG-" : "GPU-");

	for (i = 0; i < CUDA_UUID_BYTES; i++)
		n += (size_t)snprintf(to + n, 64 - n, "%s%02x",
		                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* As sysfs has it: four digits of domain where there are more of them that say nothing, small letters. */
static void pci_put(char to[32], const char *from)
{
	size_t i = 0;

	if (strcspn(from, ":") == 8 && !strncmp(from, "0000", 4))
		from += 4;
	for (; from[i] && i < 31; i++)
		to[i] = (char)(from[i] >= 'A' && from[i] <= 'F' ? from[i] + ('a' - 'A') : from[i]);
	to[i] = '\0';
}

galvo_status device_of_uuid(const struct cuda *cuda, uint32_t count, const char *uuid, uint32_t *ret_ordinal,
                            galvo_error *reterr)
{
	unsigned char bytes[CUDA_UUID_BYTES];
	char text[sizeof(((struct gpu_info *)0)->uuid)];
	uint32_t i, found = 0;
	int device;

	for (i = 0; i < count && cuda->device_get_uuid; i++) {
		if (cuda->device_get(&device, (int)i) || cuda->device_get_uuid(bytes, device))
			continue;
		uuid_put(text, bytes, false);
		if (!span_starts(span_str(text), uuid))
			continue;
		*ret_ordinal = i;
		found++;
	}
	if (found == 1)
		return GALVO_OK;
	return err_set(reterr, GALVO_ERR_INVALID, found ? "%.64s: the UUIDs of several GPUs begin so"
	                                                : "%.64s: CUDA sees no GPU of that UUID", uuid);
}

galvo_status device_facts(struct device *d, galvo_error *reterr)
{
	const struct cuda *cuda = d->cuda;
	struct gpu_info *info = &d->info;
	unsigned char uuid[CUDA_UUID_BYTES];
	char text[96] = "";
	size_t memory = 0;
	double clock_hz;
	int device, warp, result = cuda->device_get(&device, (int)info->index);

	if (result)
		return cuda_failed(reterr, "cuDeviceGet", result);
	result = cuda->device_get_name(text, sizeof(text), device);
	if (result)
		return cuda_failed(reterr, "cuDeviceGetName", result);
	utf8_copy(info->name, sizeof(info->name), span_of(text, strnlen(text, sizeof(text))));
	memcpy(info->vendor, "nvidia", sizeof("nvidia"));
	info->is_instance = strstr(info->name, " MIG ") != NULL;
	if (cuda->device_get_pci_bus_id(text, sizeof(text), device) == CUDA_OK)
		pci_put(info->pci, text);
	if (cuda->device_get_uuid && cuda->device_get_uuid(uuid, device) == CUDA_OK)
		uuid_put(info->uuid, uuid, info->is_instance);
	if (cuda->device_total_mem && cuda->device_total_mem(&memory, device) == CUDA_OK)
		info->memory_bytes = memory;
	info->sm_count = (uint32_t)attribute(d, device, CUDA_ATTRIBUTE_SM_COUNT);
	info->compute_major = (uint32_t)attribute(d, device, CUDA_ATTRIBUTE_CC_MAJOR);
	info->compute_minor = (uint32_t)attribute(d, device, CUDA_ATTRIBUTE_CC_MINOR);
	warp = attribute(d, device, CUDA_ATTRIBUTE_WARP_SIZE);
	if (warp)
		info->warps_per_sm =
			(uint32_t)(attribute(d, device, CUDA_ATTRIBUTE_THREADS_PER_SM) / warp);
	/* Two transfers a cycle: so drivers tell the clock, for HBM and GDDR alike. */
	clock_hz = 1e3 * attribute(d, device, CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ);
	info->peak_dram_bytes_per_s =
		2 * clock_hz * attribute(d, device, CUDA_ATTRIBUTE_BUS_WIDTH) / 8;
	if (info->peak_dram_bytes_per_s <= 0)
		info->peak_dram_bytes_per_s = NAN;
	info->peak_pcie_bytes_per_s = peak_pcie(d);
	info->peak_nvlink_bytes_per_s = NAN; /* libcuda does not tell */
	driver_put(d);
	return GALVO_OK;
}
