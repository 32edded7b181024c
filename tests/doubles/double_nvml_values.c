/* The double of libnvidia-ml: telemetry, from the curves of the scene. */
#include "double_nvml.h"

#include <string.h>
#include <time.h>

/* With MIG on, the GPU as a whole has no utilization. */
#define NOT_UNDER_MIG()                                                                            \
	do {                                                                                       \
		if (h.mig >= 0 || d->mig_current)                                                  \
			return NVML_NOT_SUPPORTED;                                                 \
	} while (0)

EXPORT(nvmlDeviceGetUtilizationRates, (void *handle, struct nvml_utilization *ret))
{
	int result;

	ENTER("nvmlDeviceGetUtilizationRates", handle);
	NOT_UNDER_MIG();
	result = nvml_curve32(h.device, CURVE_gpu_pct, &ret->gpu);
	return result ? result : nvml_curve32(h.device, CURVE_memory_pct, &ret->memory_pct);
}

static int memory_of(const struct scene_device *d, const struct nvml_handle *h,
                     struct nvml_memory_v2 *ret)
{
	int result;

	if (h->mig >= 0) {
		ret->total = d->migs[h->mig].memory_bytes;
		ret->used = d->migs[h->mig].used_bytes;
		ret->reserved = 0;
	} else {
		result = nvml_curve(h->device, CURVE_memory_used, &ret->used);
		if (!result)
			result = nvml_curve(h->device, CURVE_memory_reserved, &ret->reserved);
		if (result)
			return result;
		ret->total = d->memory_bytes;
	}
	ret->free = ret->total - ret->used - ret->reserved;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetMemoryInfo, (void *handle, struct nvml_memory *ret))
{
	struct nvml_memory_v2 m = {.version = 0};
	int result;

	ENTER("nvmlDeviceGetMemoryInfo", handle);
	result = memory_of(d, &h, &m);
	if (!result)
		*ret = (struct nvml_memory){m.total, m.free, m.used + m.reserved};
	return result;
}

EXPORT(nvmlDeviceGetMemoryInfo_v2, (void *handle, struct nvml_memory_v2 *ret))
{
	ENTER("nvmlDeviceGetMemoryInfo_v2", handle);
	if (ret->version != 0x02000028) {
		scene_violation("nvmlDeviceGetMemoryInfo_v2: version is %#x", ret->version);
		return NVML_ARGUMENT_VERSION_MISMATCH;
	}
	return memory_of(d, &h, ret);
}

EXPORT(nvmlDeviceGetTemperatureV, (void *handle, struct nvml_temperature *ret))
{
	unsigned value = 0;
	int result;

	ENTER("nvmlDeviceGetTemperatureV", handle);
	if (ret->version != 0x0100000c) {
		scene_violation("nvmlDeviceGetTemperatureV: version is %#x", ret->version);
		return NVML_ARGUMENT_VERSION_MISMATCH;
	}
	if (ret->sensorType != NVML_SENSOR_GPU)
		return NVML_INVALID_ARGUMENT;
	result = nvml_curve32(h.device, CURVE_temperature_c, &value);
	if (!result)
		ret->temperature = (int32_t)value;
	return result;
}

EXPORT(nvmlDeviceGetTemperature, (void *handle, int sensor, unsigned *ret))
{
	ENTER("nvmlDeviceGetTemperature", handle);
	return sensor == NVML_SENSOR_GPU ? nvml_curve32(h.device, CURVE_temperature_c, ret)
	                                 : NVML_INVALID_ARGUMENT;
}

/* One number, one curve. */
#define ONE(function, type, curve)                                                                 \
	EXPORT(function, (void *handle, type *ret))                                                \
	{                                                                                          \
		uint64_t value = 0;                                                                \
		int result;                                                                        \
                                                                                                   \
		ENTER(#function, handle);                                                          \
		result = nvml_curve(h.device, CURVE_##curve, &value);                              \
		if (!result)                                                                       \
			*ret = (type)value;                                                        \
		return result;                                                                     \
	}
ONE(nvmlDeviceGetPowerUsage, unsigned, power_mw)
ONE(nvmlDeviceGetEnforcedPowerLimit, unsigned, power_limit_mw)
ONE(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, energy_mj)
ONE(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, clock_reasons)
ONE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, clock_reasons)
ONE(nvmlDeviceGetPerformanceState, int, performance_state)
ONE(nvmlDeviceGetFanSpeed, unsigned, fan_pct)
#undef ONE

/* One number that never changes. */
#define FIXED(function, number)                                                                    \
	EXPORT(function, (void *handle, unsigned *ret))                                            \
	{                                                                                          \
		ENTER(#function, handle);                                                          \
		*ret = number;                                                                     \
		return NVML_OK;                                                                    \
	}
FIXED(nvmlDeviceGetCurrPcieLinkGeneration, 5)
FIXED(nvmlDeviceGetCurrPcieLinkWidth, 16)
FIXED(nvmlDeviceGetMaxPcieLinkGeneration, 5)
FIXED(nvmlDeviceGetMaxPcieLinkWidth, 16)
FIXED(nvmlDeviceGetPersistenceMode, 1)
#undef FIXED

EXPORT(nvmlDeviceGetClockInfo, (void *handle, int type, unsigned *ret))
{
	static const int curves[] = {CURVE_graphics_mhz, CURVE_sm_mhz, CURVE_memory_mhz,
	                             CURVE_video_mhz};

	ENTER("nvmlDeviceGetClockInfo", handle);
	if (type < NVML_GRAPHICS || type > NVML_VIDEO)
		return NVML_INVALID_ARGUMENT;
	return nvml_curve32(h.device, curves[type], ret);
}

EXPORT(nvmlDeviceGetMaxClockInfo, (void *handle, int type, unsigned *ret))
{
	static const unsigned mhz[] = {1980, 1980, 2619, 1545};

	ENTER("nvmlDeviceGetMaxClockInfo", handle);
	if (type < NVML_GRAPHICS || type > NVML_VIDEO)
		return NVML_INVALID_ARGUMENT;
	*ret = mhz[type];
	return NVML_OK;
}

EXPORT(nvmlDeviceGetPcieThroughput, (void *handle, int counter, unsigned *ret))
{
	ENTER("nvmlDeviceGetPcieThroughput", handle);
	if (counter != NVML_TX && counter != NVML_RX)
		return NVML_INVALID_ARGUMENT;
	/* The real one measures for that long. */
	if (!scene_of_process()->is_fake)
		nanosleep(&(struct timespec){0, 20000000}, NULL);
	return nvml_curve32(h.device,
	                    counter == NVML_TX ? CURVE_pcie_tx_kb_per_s : CURVE_pcie_rx_kb_per_s,
	                    ret);
}

EXPORT(nvmlDeviceGetNvLinkState, (void *handle, unsigned link, unsigned *ret))
{
	ENTER("nvmlDeviceGetNvLinkState", handle);
	if (link >= NVML_MAX_LINKS)
		return NVML_INVALID_ARGUMENT;
	if (link >= d->link_count)
		return NVML_NOT_SUPPORTED;
	*ret = 1;
	return NVML_OK;
}

static int two(uint32_t device, int curve, unsigned *ret_pct, unsigned *ret_period)
{
	*ret_period = 167000;
	return nvml_curve32(device, curve, ret_pct);
}

EXPORT(nvmlDeviceGetEncoderUtilization, (void *handle, unsigned *ret, unsigned *ret_period))
{
	ENTER("nvmlDeviceGetEncoderUtilization", handle);
	NOT_UNDER_MIG();
	return two(h.device, CURVE_encoder_pct, ret, ret_period);
}

EXPORT(nvmlDeviceGetDecoderUtilization, (void *handle, unsigned *ret, unsigned *ret_period))
{
	ENTER("nvmlDeviceGetDecoderUtilization", handle);
	NOT_UNDER_MIG();
	return two(h.device, CURVE_decoder_pct, ret, ret_period);
}

EXPORT(nvmlDeviceGetEccMode, (void *handle, unsigned *ret_current, unsigned *ret_pending))
{
	ENTER("nvmlDeviceGetEccMode", handle);
	*ret_current = *ret_pending = 1;
	return NVML_OK;
}

EXPORT(nvmlDeviceGetTotalEccErrors, (void *handle, int error, int counter, unsigned long long *ret))
{
	uint64_t value = 0;
	int result;

	ENTER("nvmlDeviceGetTotalEccErrors", handle);
	if (error < 0 || error > 1 || counter < 0 || counter > 1)
		return NVML_INVALID_ARGUMENT;
	result = nvml_curve(h.device,
	                    error == NVML_CORRECTED ? CURVE_ecc_corrected : CURVE_ecc_uncorrected,
	                    &value);
	if (!result)
		*ret = value;
	return result;
}

/* ---- fields ---------------------------------------------------------------------------------- */

struct field {
	uint32_t id;
	int curve; /* -1: `number` */
	int type;
	uint32_t number;
};

static const struct field fields[] = {
	{3, CURVE_ecc_corrected, NVML_ULLONG, 0},
	{4, CURVE_ecc_uncorrected, NVML_ULLONG, 0},
	{5, CURVE_ecc_corrected, NVML_ULLONG, 0},
	{6, CURVE_ecc_uncorrected, NVML_ULLONG, 0},
	{74, CURVE_slowed_power_ns, NVML_ULLONG, 0},
	{76, CURVE_slowed_sync_ns, NVML_ULLONG, 0},
	{82, CURVE_memory_temperature_c, NVML_UINT, 0},
	{83, CURVE_energy_mj, NVML_ULLONG, 0},
	{90, -1, NVML_UINT, 26562},
	{91, -1, NVML_UINT, 0},
	{94, CURVE_pcie_replays, NVML_UINT, 0},
	{138, CURVE_nvlink_tx_kib, NVML_ULLONG, 0},
	{139, CURVE_nvlink_rx_kib, NVML_ULLONG, 0},
	{164, -1, NVML_UINT, 26562},
	{165, -1, NVML_UINT, 1},
	{166, -1, NVML_UINT, 4},
	{185, CURVE_power_average_mw, NVML_UINT, 0},
	{186, CURVE_power_mw, NVML_UINT, 0},
	{187, -1, NVML_UINT, 200000},
	{188, -1, NVML_UINT, 700000},
	{189, -1, NVML_UINT, 700000},
	{190, CURVE_power_limit_mw, NVML_UINT, 0},
	{192, CURVE_power_limit_mw, NVML_UINT, 0},
	{197, CURVE_pcie_tx_bytes, NVML_ULLONG, 0},
	{198, CURVE_pcie_rx_bytes, NVML_ULLONG, 0},
	{202, CURVE_nvlink_tx_kib, NVML_ULLONG, 0},
	{204, CURVE_nvlink_rx_kib, NVML_ULLONG, 0},
	{269, CURVE_slowed_thermal_ns, NVML_ULLONG, 0},
	{270, CURVE_slowed_thermal_ns, NVML_ULLONG, 0},
	{271, CURVE_slowed_brake_ns, NVML_ULLONG, 0},
};

/* NVLinks of the fifth generation are asked for one by one, older ones also all together. */
static int link_result(const struct scene_device *d, uint32_t field, uint32_t link)
{
	switch (field) {
	case NVML_FIELD_NVLINK_DATA_TX_KIB:
	case NVML_FIELD_NVLINK_DATA_RX_KIB:
		if (d->nvlink5 || d->link_count == 0)
			return NVML_NOT_SUPPORTED;
		return link == NVML_ALL_LINKS || link < d->link_count ? NVML_OK
		                                                      : NVML_INVALID_ARGUMENT;
	case NVML_FIELD_NVLINK5_TX_BYTES:
	case NVML_FIELD_NVLINK5_RX_BYTES:
		return d->nvlink5 && link < d->link_count ? NVML_OK : NVML_NOT_SUPPORTED;
	default: return NVML_OK;
	}
}

static int field_value(uint32_t device, const struct scene_device *d, const struct field *f,
                       uint32_t scope, uint64_t *ret)
{
	int result = link_result(d, f->id, scope);

	if (result)
		return result;
	if (f->curve >= 0)
		result = nvml_curve(device, f->curve, ret);
	else
		*ret = f->id == NVML_FIELD_NVLINK_COUNT ? d->link_count : f->number;
	/* The curve is of one link, in KiB. */
	if (scope == NVML_ALL_LINKS)
		*ret *= d->link_count;
	if (f->id == NVML_FIELD_NVLINK5_TX_BYTES || f->id == NVML_FIELD_NVLINK5_RX_BYTES)
		*ret *= 1024;
	return result;
}

static void give_field(uint32_t device, const struct scene_device *d, struct nvml_field_value *v)
{
	const struct field *f = NULL;
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].id == v->fieldId)
			f = &fields[i];
	v->timestamp = (int64_t)(scene_wall_ns(scene_of_process()) / 1000);
	v->latencyUsec = 0;
	v->nvmlReturn = f ? field_value(device, d, f, v->scopeId, &value) : NVML_NOT_SUPPORTED;
	if (v->nvmlReturn)
		return;
	v->valueType = f->type;
	memset(&v->value, 0, sizeof(v->value));
	if (v->valueType == NVML_UINT)
		v->value.uiVal = (uint32_t)value;
	else
		v->value.ullVal = value;
}

EXPORT(nvmlDeviceGetFieldValues, (void *handle, int n, struct nvml_field_value *values))
{
	int i;

	ENTER("nvmlDeviceGetFieldValues", handle);
	if (n <= 0 || !values)
		return NVML_INVALID_ARGUMENT;
	for (i = 0; i < n; i++)
		give_field(h.device, d, &values[i]);
	return NVML_OK;
}

EXPORT(nvmlDeviceGetSamples, (void *handle, int type, unsigned long long last_seen, int *ret_type,
                              unsigned *count, struct nvml_sample *samples))
{
	static const int curves[] = {CURVE_power_mw,    CURVE_gpu_pct,     CURVE_memory_pct,
	                             CURVE_encoder_pct, CURVE_decoder_pct, CURVE_sm_mhz,
	                             CURVE_memory_mhz};
	const struct scene *s = scene_of_process();
	uint64_t now = scene_now_ns(s), wall = scene_wall_ns(s), every = 20000000, age;
	unsigned n = 0, room = *count;

	ENTER("nvmlDeviceGetSamples", handle);
	NOT_UNDER_MIG();
	if (type < 0 || type >= (int)ARRAY_LEN(curves))
		return NVML_INVALID_ARGUMENT;
	if (d->curves[curves[type]].result)
		return d->curves[curves[type]].result;
	*ret_type = NVML_UINT;
	if (!samples) {
		*count = 120;
		return NVML_OK;
	}
	for (age = 120 * every; age > 0 && n < room; age -= every) {
		uint64_t then = now / every * every + every - age,
			 stamp = (wall - now + then) / 1000;

		if (age > now || then > now || stamp <= last_seen)
			continue;
		samples[n].timeStamp = stamp;
		samples[n].sampleValue.ullVal = 0;
		samples[n++].sampleValue.uiVal =
			(uint32_t)scene_curve_at(s, h.device, curves[type], then);
	}
	*count = n;
	return n ? NVML_OK : NVML_NOT_FOUND;
}
