/* Opening a device: may it be sampled, what is counted of it, with which session. */
#include <stdio.h>

#include "device.h"

#define PARAMS "proc/driver/nvidia/params"
#define MIB (UINT64_C(1) << 20)

enum {
	CYCLES_MIN = 20000, /* the shortest that is taken */
	ASSUMED_KHZ = 1000000,
	/* Readings: as often as so many samples come, but neither more nor less often than that. */
	SAMPLES_A_READING = 500,
	PACE_MIN_MS = 100,
	PACE_MAX_MS = 250,
	/* An image has room for what comes in the time of three readings, and a little more. */
	IMAGE_PACES = 3,
	IMAGE_MORE = 64,
	SLOTS_MAX = 50000,
	/* The hardware buffer has room for two seconds. */
	BUFFER_S = 2,
	BUFFER_MIN_MIB = 16,
	BUFFER_MAX_MIB = 512,
	QUEUE_S = 2, /* and so has what waits to be recorded */
};

/* ---- what went wrong --------------------------------------------------------------------------- */

/* Does the driver keep counters for administrators? -1: it does not tell. */
static int is_restricted(const struct world *world)
{
	struct span text, line, key, word;
	struct buf buf;
	uint64_t value;
	int is = -1;

	buf_init(&buf, 64 << 10);
	if (world->root_fd >= 0 &&
	    file_read(world->root_fd, PARAMS, &buf, &text, NULL) == GALVO_OK)
		while (is < 0 && span_take_line(&text, &line))
			if (span_cut(&line, ':', &key) &&
			    span_eq_str(span_trim(key), "RmProfilingAdminOnly") &&
			    span_take_word(&line, &word) && span_to_u64(word, &value))
				is = value != 0;
	buf_finish(&buf);
	return is;
}

galvo_status device_failed(const struct device *d, const char *call, int result,
                           galvo_error *reterr)
{
	int restricted;

	if (result != CUPTI_INSUFFICIENT_PRIVILEGES)
		return cupti_failed(reterr, call, result);
	restricted = is_restricted(d->wish.world);
	return err_set(reterr, GALVO_ERR_DENIED,
	               "%s (35): counters are for administrators%s: it takes CAP_SYS_ADMIN, or "
	               "NVreg_RestrictProfilingToAdminUsers=0",
	               call,
	               restricted > 0    ? " (RmProfilingAdminOnly is 1)"
	               : restricted == 0 ? ", though RmProfilingAdminOnly is 0"
	                                 : "");
}

/* ---- may it be sampled? -------------------------------------------------------------------------- */

static galvo_status check_support(struct device *d, galvo_error *reterr)
{
	struct cupti_device_supported p = {.api = CUPTI_API_PM};
	int result;

	result = d->cuda->device_get(&p.cuDevice, (int)d->info.index);
	if (result)
		return cuda_failed(reterr, "cuDeviceGet", result);
	pm_enter(&d->session, "cuptiProfilerDeviceSupported");
	result = pm_leave(&d->session, cupti_device_supported(&d->cupti, &p));
	if (result)
		return device_failed(d, "cuptiProfilerDeviceSupported", result, reterr);
	/* From 13.3 on there is "with limits", behind "supported". */
	if (p.isSupported >= CUPTI_SUPPORTED)
		return GALVO_OK;
#define LACKS(member) (p.member == CUPTI_UNSUPPORTED || p.member == CUPTI_LEVEL_DISABLED)
	return err_set(reterr, GALVO_ERR_ABSENT, "CUPTI cannot sample the counters of %s%s",
	               LACKS(architecture)          ? "GPUs of this architecture"
	               : LACKS(vGpu)                ? "virtual GPUs set up like this one"
	               : LACKS(confidentialCompute) ? "GPUs in confidential computing"
	               : LACKS(wsl)                 ? "GPUs below WSL"
	               : LACKS(sli)                 ? "GPUs in SLI"
	               : LACKS(cmp)                 ? "GPUs for mining"
	               : d->info.is_instance        ? "instances of a GPU (MIG)"
	                                            : "this GPU",
	               p.isSupported == CUPTI_LEVEL_DISABLED ? ": they are disabled" : "");
#undef LACKS
}

static galvo_status chip_put(struct device *d, galvo_error *reterr)
{
	struct cupti_chip_name p = {.deviceIndex = d->info.index};
	int result;

	pm_enter(&d->session, "cuptiDeviceGetChipName");
	result = pm_leave(&d->session, CUPTI_CALL(&d->cupti, chip_name, &p));
	if (result)
		return device_failed(d, "cuptiDeviceGetChipName", result, reterr);
	utf8_copy(d->info.chip, sizeof(d->info.chip), span_str(p.pChipName));
	return GALVO_OK;
}

/* Freed by the caller; NULL where there is none, as while another client has the counters. */
static uint8_t *take_availability(struct device *d, size_t *ret_bytes)
{
	struct cupti_availability p = {.deviceIndex = d->info.index};
	int result;

	pm_enter(&d->session, "cuptiPmSamplingGetCounterAvailability");
	result = pm_leave(&d->session, CUPTI_CALL(&d->cupti, availability, &p));
	if (result || !p.counterAvailabilityImageSize)
		return NULL;
	p.pCounterAvailabilityImage = alloc_array(p.counterAvailabilityImageSize, 1);
	if (!p.pCounterAvailabilityImage)
		return NULL;
	pm_enter(&d->session, "cuptiPmSamplingGetCounterAvailability");
	result = pm_leave(&d->session, CUPTI_CALL(&d->cupti, availability, &p));
	if (result) {
		free(p.pCounterAvailabilityImage);
		return NULL;
	}
	*ret_bytes = p.counterAvailabilityImageSize;
	return p.pCounterAvailabilityImage;
}

/* ---- what is counted --------------------------------------------------------------------------- */

static galvo_status choose(struct device *d, const uint8_t *availability, size_t bytes,
                           galvo_error *reterr)
{
	struct gpu_host *host = NULL;
	galvo_status status;

	pm_enter(&d->session, "the host side of CUPTI");
	status = gpu_host_open(&host, &d->cupti, d->info.chip, availability, bytes, reterr);
	if (status == GALVO_OK)
		status = gpu_set_choose(host, d->wish.metrics, d->wish.metrics_len, &d->set, reterr);
	gpu_host_close(host);
	pm_leave(&d->session, CUPTI_OK);
	return status;
}

/* What the GPU says it has may lack what it can count all the same: then it is not asked. */
static galvo_status choose_set(struct device *d, galvo_error *reterr)
{
	size_t bytes = 0;
	uint8_t *availability = take_availability(d, &bytes);
	galvo_status status;

	if (availability) {
		status = choose(d, availability, bytes, &d->set_error);
		free(availability);
		if (status == GALVO_OK) {
			err_clear(&d->set_error);
			return status;
		}
	}
	return choose(d, NULL, 0, reterr);
}

/* ---- the session --------------------------------------------------------------------------------- */

static uint64_t bounded(double v, uint64_t low, uint64_t high)
{
	return v < (double)low ? low : v > (double)high ? high : (uint64_t)v;
}

/*
 * How often is read, and how much has room. Each image is made anew for each reading, all of it, and has
 * some 16 KiB a sample: so there is room for a reading that comes late, but not for much more. The
 * buffer may have to wait for longer.
 */
static void plan_sizes(struct device *d, struct pm_plan *plan)
{
	const struct device_wish *wish = &d->wish;
	double hz = 1e9 / (double)plan->interval_ns, room_ns;

	d->pace_ns = wish->decode_interval_ns
	                     ? bounded((double)wish->decode_interval_ns, NS_PER_MS, NS_PER_S * 3600)
	                     : bounded(SAMPLES_A_READING / hz * 1e9, PACE_MIN_MS * NS_PER_MS,
	                               PACE_MAX_MS * NS_PER_MS);
	plan->slots = wish->max_samples;
	if (!plan->slots)
		plan->slots = (uint32_t)bounded(hz * (double)d->pace_ns / 1e9 * IMAGE_PACES +
		                                        IMAGE_MORE,
		                                IMAGE_MORE, SLOTS_MAX);
	room_ns = plan->slots / (double)IMAGE_PACES / hz * 1e9;
	if ((double)d->pace_ns > room_ns)
		d->pace_ns = bounded(room_ns, NS_PER_MS, d->pace_ns);
	plan->buffer_bytes = wish->buffer_bytes;
	if (!plan->buffer_bytes)
		plan->buffer_bytes = bounded(hz * BUFFER_S * (double)d->set->sample_bytes,
		                             BUFFER_MIN_MIB * MIB, BUFFER_MAX_MIB * MIB);
}

/* Turing and GA100 know no time: they count cycles of the system's clock, which the SMs' is near to. */
static void plan_session(struct device *d)
{
	const char *chip = d->info.chip;
	bool is_turing = !strncmp(chip, "TU", 2);
	struct pm_plan *plan = &d->session.plan;
	int khz = 0, device = 0;

	*plan = (struct pm_plan){
		.ordinal = d->info.index,
		.set = d->set,
		.clock = d->wish.world->clock,
		.interval_ns = d->wish.interval_ns,
		.counts_cycles = is_turing || !strcmp(chip, "GA100"),
		.keeps_latest = !is_turing && d->cupti.sizes.set_config >
		                                      offsetof(struct cupti_set_config,
		                                               hwBufferAppendMode),
	};
	if (d->cuda->device_get(&device, (int)d->info.index) != CUDA_OK ||
	    d->cuda->device_get_attribute(&khz, CUDA_ATTRIBUTE_CLOCK_KHZ, device) != CUDA_OK ||
	    khz <= 0)
		khz = ASSUMED_KHZ;
	plan->interval_cycles = plan->interval_ns * (uint64_t)khz / 1000000;
	if (plan->interval_cycles < CYCLES_MIN) {
		plan->interval_cycles = CYCLES_MIN;
		if (plan->counts_cycles)
			plan->interval_ns = CYCLES_MIN * UINT64_C(1000000) / (uint64_t)khz;
	}
	plan_sizes(d, plan);
}

/* Another client may let go of it; nothing else changes by itself. */
static bool is_passing(int result)
{
	return result == CUPTI_HARDWARE_BUSY || result == CUPTI_INVALID_OPERATION ||
	       result == CUPTI_UNKNOWN || result == CUPTI_OUT_OF_MEMORY ||
	       result == CUPTI_NOT_READY;
}

static galvo_status open_session(struct device *d, galvo_error *reterr)
{
	galvo_error error;
	int result = pm_open(&d->session);

	if (!result)
		return GALVO_OK;
	device_failed(d, d->session.call, result, &error);
	if (!is_passing(result)) {
		if (reterr)
			*reterr = error;
		return error.status;
	}
	device_say(d, error.text);
	return GALVO_OK;
}

galvo_status device_open(struct device *d, galvo_error *reterr)
{
	galvo_status status;
	uint64_t samples;

	d->session.cupti = &d->cupti;
	d->session.counts = &d->counts;
	d->session.plan.clock = d->wish.world->clock;
	pm_enter(&d->session, "a call of libcuda");
	status = device_facts(d, reterr);
	pm_leave(&d->session, CUPTI_OK);
	if (status == GALVO_OK)
		status = check_support(d, reterr);
	if (status == GALVO_OK)
		status = chip_put(d, reterr);
	if (status == GALVO_OK)
		status = choose_set(d, reterr);
	if (status != GALVO_OK)
		return status;
	plan_session(d);
	samples = QUEUE_S * NS_PER_S / d->session.plan.interval_ns;
	if (samples < 2 * (uint64_t)d->session.plan.slots)
		samples = 2 * (uint64_t)d->session.plan.slots;
	if (!queue_init(&d->queue, d->set->names_len, samples))
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	return open_session(d, reterr);
}
