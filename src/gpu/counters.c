/* Hardware counters from beginning to end: what a caller asks for, and all devices together. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "driver.h"
#include "note.h"
#include "pen.h"

static const double HZ_MIN = 1;
static const uint64_t OPEN_TIMEOUT_NS = 10 * NS_PER_S, CLOSE_TIMEOUT_NS = 5 * NS_PER_S;
static const uint64_t FLUSH_INTERVAL_NS = 10 * NS_PER_S;
enum { DEVICES_MAX = 256, SAMPLES_MIN = 16 };

#define OF_ALL "GPU counters"

struct counters {
	struct world world;
	struct driver driver;
	const char **metrics; /* copies, and a NULL */
	struct device_wish wish;
	uint64_t open_timeout_ns;
	pid_t pid; /* a child after fork has another one, and no threads */

	struct device **devices;
	struct gpu_info *infos;
	size_t devices_len;
	const char *columns[ROW_MAX];
	size_t columns_len;
	struct notes notes;
	_Atomic uint32_t turns; /* of what devices have said since the start, which is behind those */
	struct pen pen;
	bool was_started;
	bool is_left_behind; /* a thread is still in a call, with memory of ours */
};

static bool is_ours(const struct counters *c)
{
	return getpid() == c->pid;
}

/* ---- notes --------------------------------------------------------------------------------------- */

bool counters_note_at(const struct counters *c, size_t i, const char **ret_subject,
                      const char **ret_text)
{
	size_t k;

	if (i < c->notes.len) {
		*ret_subject = c->notes.all[i]->subject;
		*ret_text = c->notes.all[i]->text;
		return true;
	}
	i -= c->notes.len;
	for (k = 0; k < c->devices_len * SAID_KINDS; k++) {
		const struct device *d = c->devices[k / SAID_KINDS];
		const struct said *said = &d->said[k % SAID_KINDS];

		if (atomic_load_explicit(&said->turn, memory_order_acquire) != i + 1)
			continue;
		*ret_subject = d->subject;
		*ret_text = said->text;
		return true;
	}
	return false;
}

/* ---- devices --------------------------------------------------------------------------------------- */

static galvo_status add_device(struct counters *c, uint32_t ordinal, galvo_error *reterr)
{
	struct device *d = alloc_array(1, sizeof(*d));
	size_t i;

	for (i = 0; i < c->devices_len; i++)
		if (c->devices[i]->info.index == ordinal) {
			free(d);
			return err_set(reterr, GALVO_ERR_INVALID, "GPU %u is named twice", ordinal);
		}
	if (!d)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	d->cuda = &c->driver.cuda;
	d->cupti = c->driver.cupti;
	d->wish = c->wish;
	d->info.index = ordinal;
	d->info.peak_dram_bytes_per_s = d->info.peak_pcie_bytes_per_s =
		d->info.peak_nvlink_bytes_per_s = NAN;
	d->wake = &c->pen.wake;
	d->turns = &c->turns;
	snprintf(d->subject, sizeof(d->subject), "GPU %u", ordinal);
	pthread_mutex_init(&d->words, NULL);
	c->infos[c->devices_len] = d->info;
	c->devices[c->devices_len++] = d;
	return GALVO_OK;
}

static galvo_status list_devices(struct counters *c, const struct counters_config *config,
                                 galvo_error *reterr)
{
	int there = 0, result = c->driver.cuda.device_get_count(&there);
	size_t n = config->devices_len + config->uuids_len, i;
	const bool is_named = n > 0;
	galvo_status status = GALVO_OK;
	uint32_t ordinal;

	if (result)
		return cuda_failed(reterr, "cuDeviceGetCount", result);
	if (!is_named)
		n = config->all ? (size_t)there : 1;
	if (n > DEVICES_MAX)
		return err_set(reterr, GALVO_ERR_INVALID, "more than %d GPUs", DEVICES_MAX);
	for (i = 0; i < config->devices_len; i++)
		if (config->devices[i] >= (uint32_t)there)
			return err_set(reterr, GALVO_ERR_INVALID,
			               "GPU %u is not there: CUDA sees %d, and counts from 0",
			               config->devices[i], there);
	c->devices = alloc_array(n, sizeof(*c->devices));
	c->infos = alloc_array(n, sizeof(*c->infos));
	if (!c->devices || !c->infos)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	for (i = 0; i < n && status == GALVO_OK; i++) {
		ordinal = i < config->devices_len ? config->devices[i] : (uint32_t)i;
		if (is_named && i >= config->devices_len)
			status = device_of_uuid(&c->driver.cuda, (uint32_t)there,
			                        config->uuids[i - config->devices_len], &ordinal, reterr);
		if (status == GALVO_OK)
			status = add_device(c, ordinal, reterr);
	}
	return status;
}

/* Waits until it is known what became of it. What is not opened in time is left to its thread. */
static galvo_status await_device(struct counters *c, size_t i, uint64_t timeout_ns,
                                 galvo_error *reterr)
{
	struct device *d = c->devices[i];
	uint32_t phase = OPENING;

	if (!flag_await(&d->opened, timeout_ns) &&
	    atomic_compare_exchange_strong(&d->phase, &phase, GIVEN_UP)) {
		const char *call = d->session.call;

		device_leave(d);
		c->is_left_behind = true;
		return err_set(reterr, GALVO_ERR_STATE, "%s has not returned for %llu s",
		               call ? call : "a call",
		               (unsigned long long)(timeout_ns / NS_PER_S));
	}
	flag_await(&d->opened, UINT64_MAX / 2);
	c->infos[i] = d->info;
	d->is_usable = d->set != NULL;
	if (!d->is_usable && reterr)
		*reterr = d->opening_error;
	return d->is_usable ? GALVO_OK : (galvo_status)d->opening_error.status;
}

static void tell_of_set(struct counters *c, struct device *d)
{
	char reason[REASON_BYTES];
	size_t i;

	for (i = 0; i < d->set->dropped_len; i++)
		note(&c->notes, OF_ALL, "%s is not recorded: %s", d->set->dropped[i].name,
		     d->set->dropped[i].why);
	if (d->session.plan.interval_ns != c->wish.interval_ns)
		note(&c->notes, d->subject, "samples are %llu ns apart: the chip counts no fewer cycles",
		     (unsigned long long)d->session.plan.interval_ns);
	if (d->set_error.text[0])
		note(&c->notes, d->subject, "what it has to count is not asked: %s", d->set_error.text);
	device_reason(d, reason);
	if (reason[0])
		note(&c->notes, d->subject, "%s; it is tried again", reason);
}

/*
 * One after the other: the first one loads what all need. Where one hangs, others may: they are not
 * waited for so long. Fails if no device can be sampled; an error of the user's goes before all others.
 */
static galvo_status open_devices(struct counters *c, galvo_error *reterr)
{
	galvo_status status, worst = GALVO_OK;
	uint64_t timeout_ns = c->open_timeout_ns;
	bool is_any = false;
	galvo_error error;
	size_t i;

	for (i = 0; i < c->devices_len; i++) {
		struct device *d = c->devices[i];

		err_clear(&error);
		status = device_start(d, &error);
		if (status == GALVO_OK)
			status = await_device(c, i, timeout_ns, &error);
		if (c->is_left_behind)
			timeout_ns = c->open_timeout_ns / 8;
		if (status == GALVO_OK) {
			is_any = true;
			tell_of_set(c, d);
			continue;
		}
		device_say(d, error.text);
		note(&c->notes, d->subject, "%s", error.text);
		if (worst == GALVO_OK ||
		    (worst != GALVO_ERR_INVALID && status == GALVO_ERR_INVALID)) {
			worst = status;
			if (reterr)
				*reterr = error;
		}
	}
	return is_any ? GALVO_OK : worst;
}

/* One column for each name that a device counts, in the order of the first one that does. */
static galvo_status make_columns(struct counters *c, galvo_error *reterr)
{
	size_t i, k, at;

	for (i = 0; i < c->devices_len; i++) {
		struct device *d = c->devices[i];

		for (k = 0; d->is_usable && k < d->set->names_len; k++) {
			for (at = 0; at < c->columns_len; at++)
				if (!strcmp(c->columns[at], d->set->names[k]))
					break;
			if (at == ROW_MAX)
				return err_set(reterr, GALVO_ERR_INVALID,
				               "the GPUs count more than %d metrics together",
				               ROW_MAX);
			if (at == c->columns_len) {
				c->columns[c->columns_len++] = d->set->names[k];
				d->adds_columns = true;
			}
			d->column[k] = (uint8_t)at;
		}
	}
	return GALVO_OK;
}

/* ---- life ------------------------------------------------------------------------------------------ */

static galvo_status take_config(struct counters *c, const struct counters_config *config,
                                galvo_error *reterr)
{
	static const char *const usual[] = {"default"};
	const char *const *metrics = config->metrics_len ? config->metrics : usual;
	double hz = config->frequency_hz == 0 ? COUNTERS_HZ_DEFAULT : config->frequency_hz;
	size_t n = config->metrics_len ? config->metrics_len : ARRAY_LEN(usual), i;

	if (config->max_samples && config->max_samples < SAMPLES_MIN)
		return err_set(reterr, GALVO_ERR_INVALID, "room for %u samples: it takes %d at least",
		               config->max_samples, SAMPLES_MIN);
	if (!(hz >= HZ_MIN && hz <= COUNTERS_HZ_MAX))
		return err_set(reterr, GALVO_ERR_INVALID,
		               "counters cannot be sampled at %g Hz: from %g to %g it goes", hz,
		               HZ_MIN, COUNTERS_HZ_MAX);
	c->metrics = alloc_array(n + 1, sizeof(*c->metrics));
	for (i = 0; c->metrics && i < n; i++) {
		c->metrics[i] = strdup(metrics[i]);
		if (!c->metrics[i])
			break;
	}
	if (!c->metrics || i < n)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	c->open_timeout_ns = config->open_timeout_ns ? config->open_timeout_ns : OPEN_TIMEOUT_NS;
	c->wish = (struct device_wish){
		.world = &c->world,
		.interval_ns = (uint64_t)(1e9 / hz + 0.5),
		.decode_interval_ns = config->decode_interval_ns,
		.buffer_bytes = config->buffer_bytes,
		.max_samples = config->max_samples,
		.metrics = c->metrics,
		.metrics_len = n,
	};
	c->pen.world = &c->world;
	c->pen.flush_interval_ns =
		config->flush_interval_ns ? config->flush_interval_ns : FLUSH_INTERVAL_NS;
	return GALVO_OK;
}

galvo_status counters_create(const struct counters_config *config, struct counters **ret,
                             galvo_error *reterr)
{
	struct counters *c = alloc_array(1, sizeof(*c));
	galvo_status status;

	if (!c)
		return err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	c->pid = getpid();
	status = world_dup(&c->world, config->world, reterr);
	if (status == GALVO_OK)
		status = take_config(c, config, reterr);
	if (status == GALVO_OK)
		status = driver_open(&c->driver, config->cuda, config->cupti, c->open_timeout_ns,
		                     reterr);
	c->is_left_behind = c->driver.is_left_behind;
	if (status == GALVO_OK && c->driver.was_loaded)
		note(&c->notes, OF_ALL,
		     "CUPTI was loaded before, by this program or an earlier recording: if the program uses "
		     "it, its own records of kernels may be missing while counters are sampled");
	if (status == GALVO_OK)
		status = list_devices(c, config, reterr);
	if (status == GALVO_OK)
		status = open_devices(c, reterr);
	if (status == GALVO_OK)
		status = make_columns(c, reterr);
	if (status == GALVO_OK) {
		c->pen.devices = c->devices;
		c->pen.infos = c->infos;
		c->pen.devices_len = c->devices_len;
		c->pen.columns_len = c->columns_len;
		if (!pen_init(&c->pen, config->drain_samples))
			status = err_set(reterr, GALVO_ERR_NOMEM, "out of memory");
	}
	if (status != GALVO_OK) {
		counters_destroy(c);
		return status;
	}
	*ret = c;
	return GALVO_OK;
}

/* Devices that were never sampled have their threads still. */
static bool end_devices(struct counters *c)
{
	size_t i;

	for (i = 0; i < c->devices_len; i++)
		device_signal_stop(c->devices[i]);
	for (i = 0; i < c->devices_len; i++)
		if (c->devices[i]->has_decoder &&
		    !flag_await(&c->devices[i]->decoder_done, CLOSE_TIMEOUT_NS))
			return false;
	return true;
}

void counters_destroy(struct counters *c)
{
	size_t i;

	if (!c || !is_ours(c) || c->is_left_behind || !end_devices(c))
		return;
	for (i = 0; i < c->devices_len; i++)
		device_destroy(c->devices[i]);
	pen_finish(&c->pen);
	notes_finish(&c->notes);
	for (i = 0; c->metrics && c->metrics[i]; i++)
		free((void *)(uintptr_t)c->metrics[i]);
	free(c->metrics);
	free(c->devices);
	free(c->infos);
	world_close(&c->world);
	free(c);
}

galvo_status counters_start(struct counters *c, struct stream *stream, galvo_error *reterr)
{
	galvo_status status;
	size_t i;

	if (!is_ours(c) || c->was_started)
		return err_set(reterr, GALVO_ERR_STATE, "counters are sampled once, where they were opened");
	c->was_started = true;
	c->pen.stream = stream;
	status = pen_start(&c->pen, reterr);
	for (i = 0; i < c->devices_len && status == GALVO_OK; i++)
		if (c->devices[i]->has_decoder)
			status = device_go(c->devices[i], reterr);
	if (status != GALVO_OK) {
		counters_signal_stop(c);
		counters_join(c, NS_PER_S);
	}
	return status;
}

void counters_signal_stop(struct counters *c)
{
	size_t i;

	if (!is_ours(c))
		return;
	for (i = 0; i < c->devices_len; i++)
		device_signal_stop(c->devices[i]);
	clock_wake(&c->pen.stop);
	clock_wake(&c->pen.wake);
}

bool counters_join(struct counters *c, uint64_t timeout_ns)
{
	size_t i;

	if (!is_ours(c))
		return true;
	if (!pen_join(&c->pen, timeout_ns))
		c->is_left_behind = true;
	for (i = 0; i < c->devices_len && c->is_left_behind; i++)
		device_leave(c->devices[i]);
	return !c->is_left_behind;
}

bool counters_hold_stream(const struct counters *c)
{
	return c->pen.is_left_behind;
}

/* ---- what there is to know -------------------------------------------------------------------------- */

const char *const *counters_columns(const struct counters *c, size_t *ret_n)
{
	*ret_n = c->columns_len;
	return c->columns;
}

galvo_status counters_catalog(const struct counters *c, struct buf *into, galvo_error *reterr)
{
	galvo_status status = GALVO_OK;
	size_t i;

	for (i = 0; i < c->devices_len && status == GALVO_OK; i++)
		if (c->devices[i]->adds_columns)
			status = gpu_set_catalog(c->devices[i]->set, into, reterr);
	return status;
}

bool counters_device_at(const struct counters *c, size_t i, struct gpu_info *ret)
{
	if (i >= c->devices_len)
		return false;
	*ret = c->infos[i];
	return true;
}

uint64_t counters_interval_ns(const struct counters *c)
{
	return c->wish.interval_ns;
}

void counters_count(const struct counters *c, struct counters_counts *ret)
{
	size_t i;

	*ret = (struct counters_counts){.thread_cpu_ns = pen_cpu_ns(&c->pen)};
	for (i = 0; i < c->devices_len; i++) {
		const struct decode_counts *n = &c->devices[i]->counts;

		ret->ticks += n->decodes;
		ret->missed_ticks += n->failures + n->full_images;
		ret->samples += n->samples;
		ret->lost_samples += n->unwritten;
	}
}

galvo_status counters_drain(struct counters *c, struct counters_sample *ret,
                            uint64_t *ret_overwritten)
{
	return is_ours(c) ? pen_drain(&c->pen, ret, ret_overwritten) : GALVO_DONE;
}
